"""TPROC-C under load: counts, the mix, and what concurrency does to balances."""

from dataclasses import replace

import pytest
from scratch import make_driver
from tprocc_data import ORDERS, UNDELIVERED, tprocc_database
from tprocc_steps import on_small_data

from benchkit import workloads
from benchkit._core import Driver, Program
from benchkit.errors import WorkloadError
from benchkit.generators import uniform

FLAVOURS = ("hammerdb6", "spec")
WAREHOUSES = 2

# What customers owe by their history and delivered orders; hammerdb6 adds payments.
WRONG_BALANCES = """
    SELECT COUNT(*) FROM customer
    LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history
      GROUP BY 1, 2, 3) AS p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
    LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered FROM orders
      JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
      WHERE ol_delivery_d IS NOT NULL AND o_id > {first} GROUP BY 1, 2, 3) AS o
      ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    WHERE c_balance <> -10 + IFNULL(delivered, 0) {sign} IFNULL(paid, 0)"""


def wrong_balances(data, flavour):
    sign = "+" if flavour == "hammerdb6" else "-"
    return data.numbers(WRONG_BALANCES.format(first=ORDERS - UNDELIVERED, sign=sign))[0]


@pytest.fixture(params=FLAVOURS)
def flavour(request):
    return request.param


@pytest.fixture
def data(server, flavour):
    with tprocc_database(server, flavour, WAREHOUSES) as data:
        yield data


def crowded(flavour, **options):
    """Return the workload with all customers' business done by three in each district."""
    made = workloads.tprocc(warehouses=WAREHOUSES, flavour=flavour, mix="deck", **options)
    return on_small_data(made, {"c_id": uniform(1, 3), "by_name": 0, "c_last": ""})


def test_server_and_client_count_the_same_and_payments_are_lost_as_in_hammerdb(data, flavour):
    before = data.status("Com_commit", "Com_rollback")
    orders = data.numbers("SELECT SUM(d_next_o_id) FROM district")[0]
    options = {"threads": 8, "transactions": 4600, "seed": 5}
    result = make_driver(crowded(flavour), data.endpoint, **options).run()
    assert result["error"] is None, result["error"]
    after = data.status("Com_commit", "Com_rollback")
    kinds = {t["name"]: t for t in result["transactions"]}
    committed = sum(t["committed"] for t in kinds.values())
    rolled_back = sum(t["rolled_back"] for t in kinds.values())
    server = sum(after.values()) - sum(before.values())
    new_orders = data.numbers("SELECT SUM(d_next_o_id) FROM district")[0] - orders
    assert new_orders == kinds["new_order"]["committed"]
    assert after["Com_commit"] - before["Com_commit"] == committed
    retries = sum(t["retries"] for t in kinds.values())
    assert server == committed + rolled_back + retries
    assert 2.28 < (committed + rolled_back) / new_orders < 2.37
    lost = wrong_balances(data, flavour)
    assert lost > 0 if flavour == "hammerdb6" else lost == 0


def test_client_sql_loses_no_payment_in_spec(server):
    with tprocc_database(server, "spec", WAREHOUSES) as data:
        workload = crowded("spec", procedures=False)
        result = make_driver(workload, data.endpoint, threads=8, transactions=460).run()
        assert result["error"] is None, result["error"]
        assert wrong_balances(data, "spec") == 0


@pytest.mark.parametrize("isolation", ["read-committed", "serializable"])
@pytest.mark.parametrize("snapshot", ["off", "server"])
def test_sessions_have_the_isolation_that_was_asked_for(scratch, isolation, snapshot):
    workload = workloads.tprocc(isolation=isolation, innodb_snapshot_isolation=snapshot)
    for sql in workload.session:
        scratch.query(sql)
    assert scratch.query("SELECT @@tx_isolation, @@autocommit") == [(isolation.upper(), "0")]
    listed = "SHOW SESSION VARIABLES LIKE 'innodb_snapshot_isolation'"
    if snapshot == "off" and scratch.query(listed):
        assert scratch.query(listed)[0][1] == "OFF"
    scratch.query("SET autocommit = 1")


def test_snapshot_isolation_is_set_unasked_so_that_servers_without_it_refuse():
    workload = workloads.tprocc(innodb_snapshot_isolation="on")
    assert workload.session[-1] == "SET SESSION innodb_snapshot_isolation = ON"


def draws_only(workload):
    """Return the workload choosing its transactions, which do nothing."""
    kinds = tuple(replace(t, steps=()) for t in workload.transactions)
    return replace(workload, transactions=kinds, session=())


@pytest.mark.parametrize("mix", ["weights", "deck"])
def test_the_mix_is_that_of_hammerdb(mix):
    workload = draws_only(workloads.tprocc(mix=mix))
    result = Driver(Program(workload.spec()), None, seed=3, transactions=100_000).run()
    shares = {t["name"]: t["committed"] / 100_000 for t in result["transactions"]}
    expected = dict.fromkeys(("new_order", "payment"), 10 / 23)
    expected |= dict.fromkeys(("delivery", "stock_level", "order_status"), 1 / 23)
    assert shares == pytest.approx(expected, abs=0.003)


@pytest.mark.parametrize(
    ("home", "workers", "owned"),
    [
        ("partitioned", 2, [{1, 3, 5}, {2, 4}]),
        ("partitioned", 7, [{1}, {2}, {3}, {4}, {5}, {1}, {2}]),
        ("all", 2, [{1, 2, 3, 4, 5}] * 2),
    ],
)
def test_workers_have_the_warehouses_of_their_mode(scratch, home, workers, owned):
    scratch.query("CREATE TABLE seen (worker INT, w_id INT)")
    workload = workloads.tprocc(warehouses=5, home=home)
    delivery = next(t for t in workload.transactions if t.name == "delivery")
    see = workloads.Execute("INSERT INTO seen VALUES (?, ?)", ("worker", "w_id"))
    kind = workloads.Transaction("see", (*delivery.steps[:-1], see))
    seeing = workloads.Workload("test", (kind,), set_up=workload.set_up)
    make_driver(seeing, scratch.endpoint, threads=workers, transactions=60 * workers).run()
    rows = scratch.query("SELECT DISTINCT worker, w_id FROM seen")
    seen = [{int(w) for n, w in rows if int(n) == worker} for worker in range(1, workers + 1)]
    if home == "partitioned" and workers == 2:  # ceil(5 / 2) turns each: the last comes round
        owned = [{1, 3, 5}, {2, 4, 1}]
    assert all(one <= other for one, other in zip(seen, owned, strict=True))
    assert set.union(*seen) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"warehouses": 0}, "warehouses must be an integer from 1 to 100000, not 0"),
        ({"flavour": "hammerdb"}, "unknown flavour 'hammerdb': did you mean 'hammerdb6'?"),
        ({"home": "any"}, "unknown home 'any'"),
        ({"procedures": False, "protocol": "hammerdb"}, "protocol acts only with procedures True"),
        ({"count_ware": 5}, "unknown option of tprocc 'count_ware': did you mean warehouses?"),
        ({"maria_keyandthink": True}, "did you mean key_and_think?"),
        ({"isolation": "repeatable_read"}, "did you mean 'repeatable-read'?"),
    ],
)
def test_wrong_options_are_refused_with_what_is_right(options, message):
    with pytest.raises(WorkloadError) as error:
        workloads.tprocc(**options)
    assert message in str(error.value)


def test_users_key_and_think_as_in_hammerdb_or_in_the_specification():
    pauses = {}
    for flavour in FLAVOURS:
        made = workloads.tprocc(flavour=flavour, key_and_think=True)
        pauses[flavour] = {
            t.name: (dict(t.keying.arguments)["value"], *dict(t.thinking.arguments).values())
            for t in made.transactions
        }
    assert pauses["hammerdb6"]["new_order"] == (18, 12.0, 1e6, True)
    assert pauses["hammerdb6"]["delivery"] == (2, 10.0, 1e6, True)
    assert pauses["hammerdb6"]["order_status"] == (2, 5.0, 1e6, True)
    assert pauses["spec"]["delivery"] == (2, 5.0, 10.0, False)
    assert pauses["spec"]["order_status"] == (2, 10.0, 10.0, False)
    assert all(t.keying is None for t in workloads.tprocc().transactions)
