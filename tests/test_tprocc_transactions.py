"""What TPROC-C's transactions do to the data: both flavours, by procedure and by client SQL.

The database is that of `tprocc_data`; what is expected is computed here anew.
"""

from decimal import ROUND_HALF_UP, Decimal

import pytest
from scratch import make_driver
from tprocc_data import LINES, ORDERS, UNDELIVERED, tprocc_database
from tprocc_steps import (
    MODES,
    keep_first,
    run_transaction,
    see_registers,
    transaction_of,
)

from benchkit import workloads
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
    ids = [100 * count + place for place in range(count)]
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


@pytest.mark.parametrize("c_id", [2001, 2002])  # good credit, bad credit
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
    assert data.query(history) == [
        (str(c_id), "5", "2", "3", "1", f"{paid:.2f}", f"ware{gap}dist")
    ]


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
    where = "WHERE c_w_id = 2 AND c_d_id = 5 AND c_id = 2004"
    data.query(f"UPDATE customer SET c_data = REPEAT('x', 500) {where}")
    amount = {"hammerdb6": 7, "spec": 700}[flavour]
    run_transaction(data, "payment", options, c_id=2004, c_last="", amount=amount, **PAYER)
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
def fresh(server, flavour):
    """Return the data as nobody has changed them; the module's database is dropped for it."""
    with tprocc_database(server, flavour, WAREHOUSES) as data:
        yield data
