"""What TPROC-C's transactions do to the data: both flavours, by procedure and by client SQL.

The database is that of `tprocc_data`; what is expected is computed here anew.
"""

from collections import Counter
from decimal import ROUND_HALF_UP, Decimal

import pytest
from scratch import make_driver
from tprocc_data import LINES, ORDERS, UNDELIVERED, refill, tprocc_database
from tprocc_steps import (
    MODES,
    keep_first,
    run_transaction,
    see_registers,
    transaction_of,
)

from benchkit import workloads
from benchkit.generators import uniform
from benchkit.workloads.tprocc_procedures import create_procedures
from benchkit.workloads.tprocc_rules import DRAWS

WAREHOUSES = 2
FLAVOURS = ("hammerdb6", "spec")


@pytest.fixture(scope="module", params=FLAVOURS)
def flavour(request):
    return request.param


@pytest.fixture(scope="module")
def data(server, flavour):
    with tprocc_database(server, flavour, WAREHOUSES) as data:
        data.query("CREATE TABLE seen (c_id INT, o_id INT)")
        yield data


@pytest.fixture(params=MODES)
def options(request, flavour):
    """Return the options of one mode; the same statements whatever the warehouse."""
    return {"warehouses": WAREHOUSES, "flavour": flavour, **MODES[request.param]}


def row(data, sql):
    """Return the one row of a query."""
    (found,) = data.query(sql)
    return found


# Customers by last name


def make_namesakes(data, count):
    """Give `count` customers of district 3 one name, the last id the first in the alphabet."""
    ids = [20 * count + place for place in range(count)]
    data.query(
        f"UPDATE customer SET c_last = 'SAME{count}', c_first = CONCAT('n', 9999 - c_id), "
        f"c_credit = 'GC' WHERE c_w_id = 1 AND c_d_id = 3 AND c_id IN "
        f"({', '.join(map(str, ids))})"
    )
    return ids[::-1]


def expected_namesake(flavour, sorted_ids):
    """Return the id that the flavour's payments and order status take out of the sorted ones."""
    count = len(sorted_ids)
    if flavour == "spec":
        return sorted_ids[(count + 1) // 2 - 1]
    even = count + count % 2
    return sorted_ids[min(even // 2, count - 1)]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_payment_by_name_takes_the_row_of_the_flavour(data, flavour, options, count):
    wanted = expected_namesake(flavour, make_namesakes(data, count))
    changed = "SELECT h_c_id FROM history WHERE h_w_id = 1"
    data.query("DELETE FROM history")
    place = {"w_id": 1, "d_id": 3, "c_d_id": 3, "c_w_id": 1}
    run_transaction(data, "payment", options, by_name=1, c_last=f"SAME{count}", **place)
    assert data.numbers(changed) == [wanted]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_order_status_by_name_takes_the_row_of_the_flavour(data, flavour, count):
    wanted = expected_namesake(flavour, make_namesakes(data, count))
    data.query(
        "SET @c_id = 7, @c_last = " + f"'SAME{count}'",
        "CALL OSTAT(1, 3, @c_id, 1, @c_last, @first, @middle, @balance, @o_id, @at, @carrier)",
    )
    assert row(data, "SELECT @c_id")[0] == str(wanted)
    data.query("DELETE FROM seen")
    client = workloads.tprocc(warehouses=WAREHOUSES, flavour=flavour, procedures=False)
    inputs = {"w_id": 1, "d_id": 3, "c_id": 7, "by_name": 1, "c_last": f"SAME{count}"}
    seeing = see_registers(transaction_of(client, "order_status", inputs), "c_id", "o_id")
    assert make_driver(seeing, data.endpoint, transactions=1).run()["error"] is None
    assert data.numbers("SELECT c_id FROM seen") == [wanted]


def test_order_status_finds_the_last_order_of_the_customer(data, flavour):
    data.query(
        "DELETE FROM seen",
        "UPDATE orders SET o_c_id = 8 WHERE o_id IN (8, 12) AND o_d_id = 4",
        "SET @c_id = 8, @c_last = ''",
        "CALL OSTAT(2, 4, @c_id, 0, @c_last, @first, @middle, @balance, @o_id, @at, @carrier)",
    )
    assert row(data, "SELECT @o_id, @first, @carrier, @balance") == ("12", "first8", "5", "-10.00")
    client = workloads.tprocc(warehouses=WAREHOUSES, flavour=flavour, procedures=False)
    inputs = {"w_id": 2, "d_id": 4, "c_id": 8, "by_name": 0, "c_last": ""}
    seeing = see_registers(transaction_of(client, "order_status", inputs), "c_id", "o_id")
    make_driver(seeing, data.endpoint, transactions=1).run()
    assert data.query("SELECT * FROM seen") == [("8", "12")]


# Payment

PAYER = {"w_id": 1, "d_id": 3, "c_w_id": 2, "c_d_id": 5, "by_name": 0}


@pytest.mark.parametrize("c_id", [201, 202])  # good credit, bad credit
def test_payment_writes_what_the_flavour_says(data, flavour, options, c_id):
    sums = (
        "SELECT (SELECT w_ytd FROM warehouse WHERE w_id = 1), "
        "(SELECT d_ytd FROM district WHERE d_w_id = 1 AND d_id = 3)"
    )
    customer = (
        "SELECT c_balance, c_ytd_payment, c_payment_cnt, c_data FROM customer "
        f"WHERE c_w_id = 2 AND c_d_id = 5 AND c_id = {c_id}"
    )
    data.query("DELETE FROM history")
    before, was = row(data, sums), row(data, customer)
    amount = {"hammerdb6": 1234, "spec": 123_456}[flavour]
    paid = {"hammerdb6": Decimal(1234), "spec": Decimal("1234.56")}[flavour]
    run_transaction(data, "payment", options, c_id=c_id, c_last="", amount=amount, **PAYER)
    assert [Decimal(a) - Decimal(b) for a, b in zip(row(data, sums), before, strict=True)] == [
        paid,
        paid,
    ]
    balance, ytd, count, text = row(data, customer)
    sign, counted = {"hammerdb6": (1, 0), "spec": (-1, 1)}[flavour]
    assert Decimal(balance) - Decimal(was[0]) == sign * paid
    assert Decimal(ytd) - Decimal(was[1]) == counted * paid
    assert int(count) - int(was[2]) == counted
    check_credit_data(flavour, c_id, text, was[3])
    gap = {"hammerdb6": " ", "spec": "    "}[flavour]
    history = "SELECT h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_amount, h_data FROM history"
    assert data.query(history) == [(str(c_id), "5", "2", "3", "1", f"{paid:.2f}", f"ware{gap}dist")]


def check_credit_data(flavour, c_id, text, before):
    """Only a customer of bad credit gets the payment written before its data."""
    if c_id % 2:
        assert text == before
    elif flavour == "spec":
        assert text == f"{c_id} 5 2 3 1 1234.56 {before}"[:500]
    else:
        assert text.startswith(f"{c_id} 5 2 3 1 1,234.0020")
        assert text.endswith("ware dist" + before)


def test_long_credit_data_is_cut_as_the_flavour_does(data, flavour, options):
    where = "WHERE c_w_id = 2 AND c_d_id = 5 AND c_id = 204"
    data.query(f"UPDATE customer SET c_data = REPEAT('x', 500) {where}")
    amount = {"hammerdb6": 7, "spec": 700}[flavour]
    run_transaction(data, "payment", options, c_id=204, c_last="", amount=amount, **PAYER)
    text = str(row(data, f"SELECT c_data FROM customer {where}")[0])
    new = len(text) - text.count("x")
    assert len(text) == {"hammerdb6": 500 - new, "spec": 500}[flavour]


def test_payment_from_elsewhere_goes_to_another_warehouse(data, flavour, options):
    data.query("DELETE FROM history")
    run_transaction(data, "payment", options, times=400, w_id=2)
    homes = data.query("SELECT h_c_w_id, COUNT(*), SUM(h_c_d_id = h_d_id) FROM history GROUP BY 1")
    remote, home = (tuple(map(int, counts)) for counts in sorted(homes))
    assert (remote[0], home[0], home[1]) == (1, 2, home[2])
    assert 25 < remote[1] < 100  # 15 % of 400 is 60


# New order

LINE_COLUMNS = (
    "ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info, "
    "s_quantity, s_ytd, s_order_cnt, s_remote_cnt"
)


def expected_amount(flavour, quantity, item):
    """Return ol_amount as it is stored: hammerdb6 rounds to cents and then to whole numbers."""
    price = Decimal(1 + item % 100)
    if flavour == "spec":
        return quantity * price
    amount = quantity * price * Decimal("1.3") * Decimal("0.9")
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP).quantize(Decimal(1), ROUND_HALF_UP)


def expected_stock(flavour, item, quantity):
    """Return s_quantity after the first sale of an item."""
    stock = 10 + item % 91
    enough = stock > quantity if flavour == "hammerdb6" else stock >= quantity + 10
    return stock - quantity + (0 if enough else 91)


@pytest.fixture
def fresh(data):
    """Return the data as nobody has changed them."""
    refill(data)
    return data


@pytest.fixture
def sold(fresh, options):
    """Return the data after new orders of district 2, with what each did."""
    ends = run_transaction(fresh, "new_order", options, times=25, w_id=1, d_id=2, c_id=77)
    return fresh, ends


def test_new_order_writes_what_the_flavour_says(sold, flavour):
    data, ends = sold
    lines = data.query(
        f"SELECT {LINE_COLUMNS} FROM order_line JOIN stock ON s_i_id = ol_i_id AND "
        f"s_w_id = ol_supply_w_id WHERE ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id > {ORDERS}"
    )
    sales = Counter((line[2], line[3]) for line in lines)
    once = [line for line in lines if sales[line[2], line[3]] == 1]
    assert len(once) > len(lines) / 2
    for _, _, item, supplier, quantity, amount, dist, stock, ytd, count, remote in once:
        assert 1 <= int(quantity) <= 10
        assert dist == "dist02"
        assert Decimal(amount) == expected_amount(flavour, int(quantity), int(item))
        assert int(stock) == expected_stock(flavour, int(item), int(quantity))
        counters = (int(quantity), 1, int(supplier != "1")) if flavour == "spec" else (0, 0, 0)
        assert (int(ytd), int(count), int(remote)) == counters
    check_orders(data, ends["committed"], lines)


def check_orders(data, committed, lines):
    """Each order has its lines, is new, and says whether they all come from its warehouse."""
    orders = data.query(
        "SELECT o_id, o_c_id, o_carrier_id, o_ol_cnt, o_all_local FROM orders "
        f"WHERE o_w_id = 1 AND o_d_id = 2 AND o_id > {ORDERS} ORDER BY o_id"
    )
    (next_order,) = data.numbers("SELECT d_next_o_id FROM district WHERE d_w_id = 1 AND d_id = 2")
    assert [int(order[0]) for order in orders] == list(range(ORDERS + 1, next_order))
    assert len(orders) == committed
    for o_id, c_id, carrier, count, all_local in orders:
        of_order = [line for line in lines if line[0] == o_id]
        assert sorted(int(line[1]) for line in of_order) == list(range(1, int(count) + 1))
        assert 5 <= int(count) <= 15
        assert (c_id, carrier) == ("77", None)
        assert all_local == str(int(all(line[3] == "1" for line in of_order)))
    new = f"SELECT no_o_id FROM new_order WHERE no_w_id = 1 AND no_d_id = 2 AND no_o_id > {ORDERS}"
    assert data.numbers(new + " ORDER BY 1") == [int(order[0]) for order in orders]


def test_an_order_of_an_unused_item_is_rolled_back(data, flavour):
    client = {"warehouses": WAREHOUSES, "flavour": flavour, "procedures": False}
    tables = ("orders", "new_order", "order_line", "district", "stock")
    before = [data.query(f"CHECKSUM TABLE {table}") for table in tables]
    ends = run_transaction(data, "new_order", client, times=3, unused=1)
    assert ends == {"committed": 0, "rolled_back": 3, "failed": 0}
    assert [data.query(f"CHECKSUM TABLE {table}") for table in tables] == before


def test_rolled_back_orders_are_counted_as_such(data, flavour, options):
    """About one in a hundred; the procedure does not tell, so that its number must."""
    before = data.status("Com_commit", "Com_rollback")
    orders = data.numbers("SELECT SUM(d_next_o_id) FROM district")[0]
    # The client's own draw can be made more likely, and then fewer orders do.
    odds = {} if options.get("procedures", True) else {"unused": uniform(1, 20)}
    times = 100 if odds else 700
    ends = run_transaction(data, "new_order", options, times, ol_cnt=5, **odds)
    after = data.status("Com_commit", "Com_rollback")
    assert ends["rolled_back"] == after["Com_rollback"] - before["Com_rollback"] > 0
    assert ends["committed"] == after["Com_commit"] - before["Com_commit"]
    assert ends["committed"] == data.numbers("SELECT SUM(d_next_o_id) FROM district")[0] - orders
    assert ends["rolled_back"] < 25


def test_one_order_in_so_many_is_rolled_back():
    assert [DRAWS[flavour].unused_item_in for flavour in FLAVOURS] == [99, 100]
    for flavour in FLAVOURS:
        new_order = create_procedures(flavour)[0]
        assert f"RAND() * {DRAWS[flavour].unused_item_in})" in new_order


# Delivery

DELIVERED = {
    "oldest": "SELECT MIN(no_o_id) FROM new_order WHERE no_w_id = 1 GROUP BY no_d_id",
    "balances": "SELECT c_balance, c_delivery_cnt FROM customer WHERE c_w_id = 1 AND c_id = ",
}


def test_delivery_takes_the_oldest_order_of_each_district(fresh, flavour, options):
    first = ORDERS - UNDELIVERED + 1
    run_transaction(fresh, "delivery", options, w_id=1, carrier_id=7)
    assert fresh.numbers(DELIVERED["oldest"]) == [first + 1] * 10
    orders = f"SELECT o_carrier_id FROM orders WHERE o_w_id = 1 AND o_id = {first}"
    assert fresh.numbers(orders) == [7] * 10
    undelivered = f"SELECT COUNT(*) FROM order_line WHERE ol_w_id = 1 AND ol_o_id = {first} AND "
    assert fresh.numbers(undelivered + "ol_delivery_d IS NULL") == [0]
    balance = f"{10 * LINES - 10:.2f}"
    counted = "1" if flavour == "spec" else "0"
    assert fresh.query(DELIVERED["balances"] + str(first)) == [(balance, counted)] * 10


def test_a_district_without_an_order_is_left_out_or_gets_the_last_number_again(
    fresh, flavour, options
):
    first = ORDERS - UNDELIVERED + 1
    fresh.query("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id IN (4, 5)")
    fresh.query(
        f"UPDATE orders SET o_carrier_id = 3 WHERE o_w_id = 1 AND o_d_id IN (4, 5) "
        f"AND o_id = {first}"
    )
    run_transaction(fresh, "delivery", options, w_id=1, carrier_id=7)
    carriers = fresh.numbers(
        f"SELECT o_carrier_id FROM orders WHERE o_w_id = 1 AND o_id = {first} ORDER BY o_d_id"
    )
    again = 7 if flavour == "hammerdb6" else 3
    assert carriers == [7, 7, 7, again, again, 7, 7, 7, 7, 7]


# Stock level


def test_stock_level_counts_the_items_of_the_last_twenty_orders(data, flavour):
    wanted = data.numbers(
        "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_i_id = ol_i_id "
        "JOIN district ON d_id = ol_d_id AND d_w_id = ol_w_id WHERE ol_w_id = 2 AND ol_d_id = 6 "
        "AND s_w_id = 2 AND ol_o_id BETWEEN d_next_o_id - 20 AND d_next_o_id - 1 "
        "AND s_quantity < 17"
    )
    data.query("CALL SLEV(2, 6, 17, @low)", "DELETE FROM seen")
    assert data.numbers("SELECT @low") == wanted != [0]
    client = workloads.tprocc(warehouses=WAREHOUSES, flavour=flavour, procedures=False)
    inputs = {"w_id": 2, "stock_d_id": 6, "threshold": 17}
    counting = keep_first(transaction_of(client, "stock_level", inputs), "count_low_stock", "c_id")
    seeing = see_registers(counting, "c_id", "next")
    assert make_driver(seeing, data.endpoint, transactions=1).run()["error"] is None
    assert data.numbers("SELECT c_id FROM seen") == wanted
