"""TPROC-C's tables as they are loaded: definitions, counts, values, and schemas of others."""

import os
from dataclasses import replace

import numpy as np
import pytest
import reference
from processes import start_script
from scipy import stats

from benchkit._core import draw
from benchkit.consistency import look_at
from benchkit.errors import RunError
from benchkit.generators import last_name
from benchkit.suites import existing
from benchkit.suites.native import LoadOrder, drop_data, ensure_loaded
from benchkit.workloads import Transaction, Workload, tprocc
from benchkit.workloads import tprocc_data as data
from benchkit.workloads import tprocc_schema as schema
from benchkit.workloads.tprocc_conditions import CONDITIONS

P_VALUE = 1e-4
PROCEDURES = ("NEWORD", "PAYMENT", "DELIVERY", "OSTAT", "SLEV")
LETTERS = "[A-Za-z0-9]"


def workload(flavour, **changes):
    made = schema.Schema(1, flavour)
    return Workload(
        f"tprocc/{flavour}:load",
        (Transaction("none", ()),),
        data.tables(made),
        routines=schema.ANALYZE,
        database_options=schema.DATABASE_OPTIONS,
        **changes,
    )


def order_for(flavour, data_id, threads):
    return LoadOrder(workload(flavour), workers=1, threads=threads, seed=5, data_id=data_id)


def ignore(_):
    """Take a progress report."""


class Tables:
    """One loaded warehouse."""

    def __init__(self, server, flavour, loaded):
        self.server, self.flavour, self.loaded = server, flavour, loaded

    def session(self):
        return self.server.session(self.loaded.database)

    def query(self, sql):
        with self.session() as session:
            return session.query(sql)

    def column(self, sql):
        """Return the first column of a query, as texts or None."""
        return [row[0] for row in self.query(sql)]

    def numbers(self, sql):
        """Return the first column of a query as an array of float."""
        return np.array(self.column(sql), dtype=float)

    def share(self, table, condition, among="1"):
        """Return (how many rows fulfil a condition, of how many)."""
        ((found, of),) = self.query(f"SELECT SUM({condition}), COUNT(*) FROM {table} WHERE {among}")
        return int(found), int(of)


def load_warehouse(server, flavour):
    yield Tables(server, flavour, ensure_loaded(server, order_for(flavour, flavour, 4), ignore))
    drop_data(server, flavour)


@pytest.fixture(scope="module")
def hammerdb(server):
    yield from load_warehouse(server, schema.HAMMERDB)


@pytest.fixture(scope="module")
def spec(server):
    yield from load_warehouse(server, schema.SPEC)


@pytest.fixture(scope="module", params=["hammerdb", "spec"])
def tables(request):
    return request.getfixturevalue(request.param)


# How it is loaded


LOADING = """
import sys
sys.path[:0] = sys.argv[3:]
import test_tprocc_load as t
from benchkit.server import Server

server = Server.connect(socket=sys.argv[1], user="root")
t.ensure_loaded(server, t.order_for(sys.argv[2], "killed", 2), lambda rows: print(rows, flush=True))
"""


def test_killed_load_is_gone_on_with_to_the_same_checksums(server, spec):
    arguments = server.endpoint["socket"], spec.flavour, os.path.dirname(__file__)
    with start_script(LOADING, *arguments) as process:
        while int(process.stdout.readline()) < 350_000:
            pass
        process.kill()
    loaded = ensure_loaded(server, order_for(spec.flavour, "killed", 1), ignore)
    with server.session(loaded.database) as session:
        assert violated(session, spec.flavour) == set()
    drop_data(server, "killed")
    assert loaded.checksums == spec.loaded.checksums
    assert loaded.rows == spec.loaded.rows
    assert loaded.rows_before > 0


def test_one_thread_loads_the_same_as_four(server, hammerdb):
    loaded = ensure_loaded(server, order_for(hammerdb.flavour, "alone", 1), ignore)
    drop_data(server, "alone")
    assert loaded.checksums == hammerdb.loaded.checksums
    assert set(loaded.checksums) == set(schema.TABLES)
    assert None not in loaded.checksums.values()


# Counts


def test_every_table_has_its_rows(tables):
    wanted = {
        "item": 100_000,
        "warehouse": 1,
        "district": 10,
        "customer": 30_000,
        "history": 30_000,
        "stock": 100_000,
        "orders": 30_000,
        "new_order": 9_000,
    }
    for name, rows in wanted.items():
        assert tables.column(f"SELECT COUNT(*) FROM {name}") == [str(rows)], name
    (lines,) = tables.numbers("SELECT COUNT(*) FROM order_line")
    assert tables.loaded.rows == sum(wanted.values()) + lines


def test_keys_are_whole(tables):
    for sql, wanted in (
        ("SELECT MIN(i_id), MAX(i_id) FROM item", ("1", "100000")),
        ("SELECT MIN(s_i_id), MAX(s_i_id) FROM stock", ("1", "100000")),
        ("SELECT MIN(d_id), MAX(d_id), MIN(d_w_id) FROM district", ("1", "10", "1")),
    ):
        assert tables.query(sql) == [wanted]
    for name, d, o in (("customer", "c_d_id", "c_id"), ("orders", "o_d_id", "o_id")):
        ends = f"SELECT DISTINCT MIN({o}), MAX({o}), COUNT(*) FROM {name} GROUP BY {d}"
        assert tables.query(ends) == [("1", "3000", "3000")]
    ends = "SELECT DISTINCT MIN(no_o_id), MAX(no_o_id), COUNT(*) FROM new_order GROUP BY no_d_id"
    assert tables.query(ends) == [("2101", "3000", "900")]
    alike = (
        "SELECT COUNT(*) FROM history JOIN customer ON (h_c_w_id, h_c_d_id, h_c_id) = "
        "(c_w_id, c_d_id, c_id) WHERE h_w_id = c_w_id AND h_d_id = c_d_id"
    )
    assert tables.column(alike) == ["30000"]


def test_order_lines_agree_with_their_orders(tables):
    wrong = (
        "SELECT o_d_id, o_id FROM orders LEFT JOIN order_line ON (ol_w_id, ol_d_id, ol_o_id) = "
        "(o_w_id, o_d_id, o_id) GROUP BY o_w_id, o_d_id, o_id, o_ol_cnt "
        "HAVING o_ol_cnt <> COUNT(*) OR MIN(ol_number) <> 1 OR MAX(ol_number) <> o_ol_cnt"
    )
    assert tables.query(wrong) == []


# Values


def check_uniform(drawn, low, high):
    offsets = np.asarray(drawn).round().astype(int) - low
    assert offsets.min() >= 0 and offsets.max() <= high - low
    assert reference.chi_square_p(offsets, reference.uniform_pmf(high - low + 1)) > P_VALUE


@pytest.mark.parametrize(
    ("table", "expression", "low", "high"),
    [
        ("orders", "o_ol_cnt", 5, 15),
        ("item", "i_im_id", 1, 10_000),
        ("item", "i_price * 100", 100, 10_000),
        ("item", "LENGTH(i_name)", 14, 24),
        ("stock", "s_quantity", 10, 100),
        ("order_line", "ol_i_id", 1, 100_000),
        ("customer", "LENGTH(c_first)", 8, 16),
        ("customer", "LENGTH(c_street_1)", 10, 20),
        ("customer", "LENGTH(c_data)", 300, 500),
        ("history", "LENGTH(h_data)", 12, 24),
    ],
)
def test_values_are_uniform_over_their_range(tables, table, expression, low, high):
    check_uniform(tables.numbers(f"SELECT {expression} FROM {table}"), low, high)


def test_discounts_and_taxes_are_of_the_flavour(tables):
    step, tax = {"hammerdb6": (100, (0.10, 0.20)), "spec": (10_000, (0.0, 0.20))}[tables.flavour]
    discounts = tables.numbers("SELECT c_discount FROM customer") * step
    check_uniform(discounts, 0, step // 2)
    taxes = tables.numbers("SELECT d_tax FROM district UNION ALL SELECT w_tax FROM warehouse")
    assert tax[0] <= taxes.min() and taxes.max() <= tax[1]
    assert np.allclose(taxes * step, (taxes * step).round())
    assert len(set(taxes)) > 3


def check_share(found, wanted):
    count, of = found
    assert stats.binomtest(count, of, wanted).pvalue > P_VALUE, found


def test_shares_are_of_the_flavour(tables):
    credit = {"hammerdb6": 0.5, "spec": 0.1}[tables.flavour]
    check_share(tables.share("customer", "c_credit = 'BC'", "c_credit IN ('BC', 'GC')"), credit)
    check_share(tables.share("item", "i_data LIKE '%original%'"), 0.1)
    check_share(tables.share("stock", "s_data LIKE '%original%'"), 0.1)


def test_original_of_hammerdb_takes_one_character_out(tables):
    shortest = {"hammerdb6": "25", "spec": "26"}[tables.flavour]
    for name, column in (("item", "i_data"), ("stock", "s_data")):
        lengths = f"SELECT MIN(LENGTH({column})), MAX(LENGTH({column})) FROM {name}"
        assert tables.query(lengths) == [(shortest, "50")]


def test_constant_values_are_those_of_the_definition(tables):
    for sql, wanted in (
        ("SELECT DISTINCT w_ytd FROM warehouse", ("300000.00",)),
        ("SELECT DISTINCT d_ytd, d_next_o_id FROM district", ("30000.00", "3001")),
        (
            "SELECT DISTINCT c_middle, c_credit_lim, c_balance, c_ytd_payment, c_payment_cnt, "
            "c_delivery_cnt FROM customer",
            ("OE", "50000.00", "-10.00", "10.00", "1", "0"),
        ),
        ("SELECT DISTINCT h_amount FROM history", ("10.00",)),
        ("SELECT DISTINCT s_ytd, s_order_cnt, s_remote_cnt FROM stock", ("0", "0", "0")),
        ("SELECT DISTINCT o_all_local FROM orders", ("1",)),
        ("SELECT DISTINCT ol_supply_w_id, ol_quantity FROM order_line", ("1", "5")),
    ):
        assert tables.query(sql) == [wanted]


def test_times_are_the_same_at_every_load(tables):
    times = tables.query(
        "SELECT DISTINCT c_since FROM customer UNION SELECT h_date FROM history "
        "UNION SELECT o_entry_d FROM orders UNION SELECT ol_delivery_d FROM order_line "
        "WHERE ol_delivery_d IS NOT NULL"
    )
    assert times == [("2026-01-01 00:00:00",)]


def test_orders_from_2101_on_are_not_delivered(tables):
    wrong = "SELECT COUNT(*) FROM orders WHERE (o_carrier_id IS NULL) <> (o_id > 2100)"
    assert tables.column(wrong) == ["0"]
    wrong = "SELECT COUNT(*) FROM order_line WHERE (ol_delivery_d IS NULL) <> (ol_o_id > 2100)"
    assert tables.column(wrong) == ["0"]
    carriers = "SELECT o_carrier_id FROM orders WHERE o_carrier_id IS NOT NULL"
    check_uniform(tables.numbers(carriers), 1, 10)


def test_delivered_lines_of_hammerdb_have_an_amount_and_others_none(hammerdb):
    assert hammerdb.column("SELECT DISTINCT ol_amount FROM order_line WHERE ol_o_id > 2100") == [
        "0"
    ]
    amounts = hammerdb.numbers("SELECT ol_amount FROM order_line WHERE ol_o_id <= 2100")
    cents = np.arange(10, 10_001)
    rounded = np.bincount((cents + 50) // 100, minlength=101) / len(cents)  # half up
    assert reference.chi_square_p(amounts.astype(int), rounded) > P_VALUE


def test_lines_of_spec_have_an_amount_until_they_are_delivered(spec):
    assert spec.column("SELECT DISTINCT ol_amount FROM order_line WHERE ol_o_id <= 2100") == [
        "0.00"
    ]
    amounts = spec.numbers("SELECT ol_amount * 100 FROM order_line WHERE ol_o_id > 2100")
    check_uniform(amounts, 1, 999_999)


def customers_of_orders(tables):
    rows = tables.query("SELECT o_d_id, o_id, o_c_id FROM orders ORDER BY 1, 2")
    return np.array(rows, dtype=int)[:, 2].reshape(10, 3000)


def test_ordering_customers_of_hammerdb_are_not_before_their_order(hammerdb):
    drawn = customers_of_orders(hammerdb)
    assert (drawn >= np.arange(1, 3001)).all()
    shares = (drawn - np.arange(1, 3001)) / (3001 - np.arange(1, 3001))
    middle = shares[:, :2000].flatten()
    assert reference.chi_square_p((middle * 20).astype(int), reference.uniform_pmf(20)) > P_VALUE
    assert all(1400 < len(set(district)) < 1600 for district in drawn.tolist())


def test_every_customer_of_spec_has_one_order(spec):
    drawn = customers_of_orders(spec)
    assert (np.sort(drawn, axis=1) == np.arange(1, 3001)).all()
    assert len({tuple(district) for district in drawn.tolist()}) == 10
    assert reference.spearman_p(drawn[0], np.arange(3000)) > P_VALUE


def test_last_names_follow_the_number_of_the_customer_then_nurand(tables):
    names = draw(last_name(in_order=True).spec(), 1000)
    rows = tables.query("SELECT c_d_id, c_id, c_last FROM customer ORDER BY 1, 2")
    last = np.array([names.index(row[2]) for row in rows]).reshape(10, 3000)
    assert (last[:, :1000] == np.arange(1000)).all()
    constant = {"hammerdb6": 123, "spec": data.LAST_NAME_C_LOAD["spec"]}[tables.flavour]
    pmf = reference.nurand_pmf(255, 0, 999, constant)
    assert reference.chi_square_p(last[:, 1000:].flatten(), pmf) > P_VALUE
    assert reference.chi_square_p(last[:, 1000:].flatten(), np.roll(pmf, 9)) < P_VALUE


def test_texts_look_as_they_should(tables):
    zip_code = "[0-9]{4}11111"
    shapes = {
        ("customer", "c_zip"): zip_code,
        ("customer", "c_phone"): "[0-9]{16}",
        ("customer", "c_state"): LETTERS + "{2}",
        ("customer", "c_data"): LETTERS + "+",
        ("district", "d_name"): LETTERS + "{6,10}",
        ("warehouse", "w_zip"): zip_code,
        ("stock", "s_dist_01"): LETTERS + "{24}",
        ("stock", "s_dist_10"): LETTERS + "{24}",
        ("order_line", "ol_dist_info"): LETTERS + "{24}",
    }
    for (table, column), shape in shapes.items():
        wrong = f"SELECT COUNT(*) FROM {table} WHERE NOT {column} REGEXP BINARY '^{shape}$'"
        assert tables.column(wrong) == ["0"], column


def test_numbers_of_hammerdb_are_filled_up_at_their_end(tables):
    found = tables.share("customer", "c_zip LIKE '0%'")
    check_share(found, {"hammerdb6": 0.0001, "spec": 0.1}[tables.flavour])


# Conditions


def violated(session, flavour, moment="load"):
    findings = look_at(session, CONDITIONS[flavour], moment)
    return {found.condition for found in findings if found.violations}


def test_all_hold_after_the_load(tables):
    with tables.session() as session:
        assert violated(session, tables.flavour) == set()


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ("UPDATE warehouse SET w_ytd = w_ytd + 1", {1, 8}),
        ("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 2", {2}),
        ("DELETE FROM new_order WHERE no_d_id = 3 AND no_o_id = 2500", {3, 5, 11}),
        ("DELETE FROM order_line WHERE ol_d_id = 4 AND ol_o_id = 2200 AND ol_number = 1", {4, 6}),
        ("UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 5 AND o_id = 7", {5, 7}),
        ("INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 6, 3001)", {2, 5, 11}),
        ("UPDATE history SET h_amount = 11 WHERE h_c_id = 1 AND h_d_id = 1", {8, 9, 10}),
        ("UPDATE customer SET c_balance = c_balance + 1 WHERE c_d_id = 8 AND c_id = 9", {10, 12}),
    ],
)
def test_what_is_broken_is_found(tables, change, broken):
    known = {condition.name for condition in CONDITIONS[tables.flavour]}
    with tables.session() as session:
        session.query("START TRANSACTION")
        session.query(change)
        found = violated(session, tables.flavour)
        session.query("ROLLBACK")
    assert found == {f"condition {number}" for number in broken} & known


def test_finding_says_where_and_how_many(tables):
    with tables.session() as session:
        session.query("START TRANSACTION")
        session.query("UPDATE district SET d_ytd = d_ytd - 1")
        (found,) = look_at(session, [CONDITIONS[tables.flavour][8]], "run")
        session.query("ROLLBACK")
    assert found.violated
    assert found.violations == 10
    assert "w_id = 1, d_id = 1, d_ytd = 29999.00, paid = 30000.00" in str(found)
    assert str(found).endswith("and 7 more")


# Schemas of others


@pytest.fixture
def foreign(server, tables):
    """Return a database such as HammerDB leaves, borrowed from the load."""
    name, ours = "hammerdb_tpcc", tables.loaded.database
    moved = ", ".join(f"{ours}.{t} TO {name}.{t}" for t in schema.TABLES)
    back = ", ".join(f"{name}.{t} TO {ours}.{t}" for t in schema.TABLES)
    server.query(f"CREATE DATABASE {name}")
    server.query(f"RENAME TABLE {moved}")
    for procedure in PROCEDURES:
        server.query(f"CREATE PROCEDURE {name}.{procedure}() SELECT 1")
    yield name
    server.query(f"RENAME TABLE {back}")
    server.query(f"DROP DATABASE {name}")


def using(name, flavour, **changes):
    made = replace(workload(flavour, **changes), existing=name)
    calls = tuple(f"CREATE PROCEDURE {each}() BEGIN END" for each in PROCEDURES)
    return LoadOrder(replace(made, routines=calls), 1, 1, 5, "using")


def test_schema_of_hammerdb_is_recognised_and_used_as_it_is(server, tables, foreign):
    loaded = ensure_loaded(server, using(foreign, tables.flavour), ignore)
    assert (loaded.reused, loaded.database) == (True, foreign)
    assert loaded.checksums == tables.loaded.checksums
    server.query(f"DROP PROCEDURE {foreign}.OSTAT")  # client SQL calls none
    made = tprocc(flavour=tables.flavour, procedures=False, existing=foreign)
    assert ensure_loaded(server, LoadOrder(made, 1, 1, 5, "using"), ignore).reused
    drop_data(server, "using")
    with server.session() as admin:
        assert existing.is_tprocc(existing.table_names(admin, foreign))


BROKEN = {
    "DROP PROCEDURE {db}.OSTAT": "has no procedure OSTAT; .*procedures=False",
    "RENAME TABLE {db}.item TO {db}.items": "is no TPROC-C schema: it has no table item",
    "UPDATE {db}.warehouse SET w_ytd = w_ytd + 1": "condition 1 .* w_id = 1, w_ytd = 300001",
    "UPDATE {db}.district SET d_next_o_id = 3002 WHERE d_id = 3": "condition 2 ",
    "UPDATE {db}.new_order SET no_o_id = 2000 WHERE no_d_id = 1 AND no_o_id = 2200": "condition 3",
    "UPDATE {db}.orders SET o_ol_cnt = 99 WHERE o_d_id = 1 AND o_id = 1": "condition 4 ",
    "UPDATE {db}.warehouse SET w_id = 2": "has 2 warehouses, not 1; give warehouses=2",
}
MENDED = {
    "DROP PROCEDURE": "CREATE PROCEDURE {db}.OSTAT() SELECT 1",
    "RENAME": "RENAME TABLE {db}.items TO {db}.item",
    "UPDATE {db}.warehouse SET w_ytd": "UPDATE {db}.warehouse SET w_ytd = w_ytd - 1",
    "UPDATE {db}.district": "UPDATE {db}.district SET d_next_o_id = 3001",
    "UPDATE {db}.new_order": "UPDATE {db}.new_order SET no_o_id = 2200 WHERE no_o_id = 2000",
    "UPDATE {db}.orders": "UPDATE {db}.orders SET o_ol_cnt = (SELECT COUNT(*) FROM "
    "{db}.order_line WHERE ol_d_id = 1 AND ol_o_id = 1) WHERE o_d_id = 1 AND o_id = 1",
    "UPDATE {db}.warehouse SET w_id": "UPDATE {db}.warehouse SET w_id = 1",
}


def test_schema_that_is_not_whole_is_refused_with_the_reason(server, tables, foreign):
    for (breaking, message), mending in zip(BROKEN.items(), MENDED.values(), strict=True):
        server.query(breaking.format(db=foreign))
        try:
            with pytest.raises(RunError, match=message):
                ensure_loaded(server, using(foreign, tables.flavour), ignore)
        finally:
            server.query(mending.format(db=foreign))


def test_schema_of_the_other_flavour_is_refused(server, tables, foreign):
    other = {"hammerdb6": "spec", "spec": "hammerdb6"}[tables.flavour]
    with pytest.raises(RunError, match=f"give flavour='{tables.flavour}'"):
        ensure_loaded(server, using(foreign, other), ignore)


def test_schema_without_all_rows_or_indexes_is_refused(server, scratch):
    for name in schema.TABLES:
        scratch.query(schema.create_table(schema.Schema(1), name))
    scratch.query("INSERT INTO warehouse (w_id) VALUES (1)")
    database = scratch.endpoint["database"]
    with pytest.raises(
        RunError, match="only partly loaded: table district has 0 rows, with 1 ware"
    ):
        ensure_loaded(server, using(database, "hammerdb6"), ignore)
    scratch.query("ALTER TABLE stock DROP PRIMARY KEY")
    with pytest.raises(RunError, match="no index on table stock"):
        ensure_loaded(server, using(database, "hammerdb6"), ignore)


@pytest.mark.parametrize("name", ["no_such_database", "benchkit_scratch"])
def test_database_without_tables_is_refused(server, scratch, name):
    with pytest.raises(RunError, match=f"there are no tables in a database '{name}'"):
        ensure_loaded(server, using(name, "hammerdb6"), ignore)


def test_database_of_a_study_is_not_taken_for_somebody_elses(server, hammerdb):
    with pytest.raises(RunError, match="is a study's own"):
        ensure_loaded(server, using(hammerdb.loaded.database, "hammerdb6"), ignore)


def test_schema_of_hammerdb_in_the_way_is_named_and_kept(server):
    order = order_for("hammerdb6", "in_the_way", 1)
    server.query(f"CREATE DATABASE {order.database}")
    with server.session(order.database) as session:
        for name in schema.TABLES:
            session.query(schema.create_table(schema.Schema(1), name))
    with pytest.raises(RunError, match=f"nine tables .* existing='{order.database}'"):
        ensure_loaded(server, order, ignore)
    assert server.query(f"SELECT COUNT(*) FROM {order.database}.item") == [("0",)]
    server.query(f"DROP DATABASE {order.database}")
