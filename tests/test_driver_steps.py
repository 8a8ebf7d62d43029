"""Every kind of step, on a real server."""

import pytest
from scratch import check_accounting, make_driver, make_workload, statement, transaction, update

from benchkit import generators as g
from benchkit.workloads import (
    Begin,
    Choose,
    Commit,
    Execute,
    InsertRows,
    Let,
    Offset,
    Repeat,
    Transaction,
    Workload,
)


@pytest.mark.parametrize(
    "step",
    [
        Execute("SELECT n FROM t WHERE id = 9", rollback_if_none=True),
        Execute("SELECT n FROM t WHERE id = 9", keep=(("a", "text"),), rollback_if_none=True),
        Execute("UPDATE t SET n = 1 WHERE id = 9", rollback_if_none=True),
    ],
)
def test_missing_row_rolls_back(scratch, step):
    scratch.make_two_rows()
    before = scratch.status("Com_rollback", "Com_commit")
    workload = make_workload(Begin(), update(1), step, update(2), Commit())
    result = scratch.run(workload, transactions=10)
    after = scratch.status("Com_rollback", "Com_commit")
    assert transaction(result)["rolled_back"] == 10
    assert after["Com_rollback"] - before["Com_rollback"] == 10
    assert after["Com_commit"] == before["Com_commit"]
    assert scratch.numbers("SELECT n FROM t") == [0, 0]
    check_accounting(result)


def test_row_that_is_there_does_not_roll_back(scratch):
    scratch.make_two_rows()
    workload = make_workload(
        Execute("SELECT n FROM t", rollback_if_none=True),
        Execute("SELECT n FROM t", keep=(("a", "integer"),), rollback_if_none=True),
        Execute("UPDATE t SET n = n + 1 WHERE id = 1", rollback_if_none=True),
    )
    assert transaction(scratch.run(workload, transactions=3))["committed"] == 3


def test_columns_of_the_first_row_are_kept(scratch):
    scratch.query(
        "CREATE TABLE t (id INT PRIMARY KEY, i BIGINT, r DOUBLE, x VARCHAR(100), d DECIMAL(9, 2))",
        "INSERT INTO t VALUES (1, -7, 0.1, 'gruß', 12.50), (2, 8, 2.5, 'other', 1), "
        "(3, NULL, NULL, NULL, NULL)",
        "CREATE TABLE copy LIKE t",
    )
    columns = (("i", "integer"), ("r", "real"), ("x", "text"), ("d", "text"))
    workload = make_workload(
        Let("id", g.sequence()),
        Execute("SELECT i, r, x, d, id FROM t WHERE id >= ? ORDER BY id", ("id",), keep=columns),
        Execute("SELECT id, i FROM t WHERE id = ?", ("id",), keep=(("same", "integer"),)),
        Execute("INSERT INTO copy VALUES (?, ?, ?, ?, ?)", ("same", "i", "r", "x", "d")),
    )
    result = scratch.run(workload, transactions=3)
    assert transaction(result)["committed"] == 3
    assert scratch.query("SELECT * FROM copy ORDER BY id") == scratch.query(
        "SELECT * FROM t ORDER BY id"
    )


def test_without_a_row_kept_registers_are_null(scratch):
    scratch.query("CREATE TABLE t (id INT)", "CREATE TABLE seen (a INT, b INT)")
    workload = make_workload(
        Let("a", g.constant(5)),
        Execute("SELECT id FROM t", keep=(("a", "integer"),)),
        Let("b", Offset("a", 1)),
        Execute("INSERT INTO seen VALUES (?, ?)", ("a", "b")),
        Let("a", g.constant(5)),
        Let("b", Offset("a", 1)),
        Execute("INSERT INTO seen VALUES (?, ?)", ("a", "b")),
    )
    scratch.run(workload, transactions=1)
    assert scratch.query("SELECT a, b FROM seen") == [(None, None), ("5", "6")]


def test_kept_text_that_does_not_fit_ends_the_run(scratch):
    workload = make_workload(Execute("SELECT REPEAT('x', 5000)", keep=(("a", "text"),)))
    result = scratch.run(workload, transactions=1)
    assert result["stopped_by"] == "error"
    assert "kept column 1 has 5000 bytes" in result["error"]["message"]


def test_more_columns_than_there_are_cannot_be_kept(scratch):
    keep = (("a", "integer"), ("b", "integer"))
    result = scratch.run(make_workload(Execute("SELECT 1", keep=keep)), transactions=1)
    assert "2 columns are to be kept but the result has 1" in result["error"]["message"]


def test_branches_are_chosen_by_weight(scratch):
    workload = make_workload(
        Choose(((1, (Execute("DO 1", name="one"),)), (3, (Execute("DO 3", name="three"),))))
    )
    result = scratch.run(workload, transactions=4000)
    assert statement(result, "one")["executions"] == pytest.approx(1000, abs=5 * 27.4)
    assert statement(result, "three")["executions"] == pytest.approx(3000, abs=5 * 27.4)


def test_transactions_are_mixed_by_weight():
    workload = Workload("test", (Transaction("a", (), 1), Transaction("b", (), 3)))
    result = make_driver(workload, None, threads=2, transactions=40_000).run()
    assert transaction(result, "a")["committed"] == pytest.approx(10_000, abs=5 * 86.6)
    assert sum(t["committed"] for t in result["transactions"]) == 40_000


def test_repeats_nest(scratch):
    def do(name):
        return Execute("DO 1", name=name)

    workload = make_workload(
        Repeat(0, (do("never"),)),
        Repeat(2, (do("outer"), Repeat(3, (do("inner"),)), Repeat(0, (do("never"),)))),
        do("after"),
    )
    result = scratch.run(workload, transactions=5)
    counts = {s["name"]: s["executions"] for s in result["statements"] if s["name"] != "rollback"}
    assert counts == {"never": 0, "outer": 10, "inner": 30, "after": 5}


def test_tables_are_chosen_by_their_number(scratch):
    for n in (1, 2, 3):
        scratch.query(f"CREATE TABLE t{n} (a INT)")
    workload = make_workload(
        Let("table", g.uniform(1, 2)),
        Let("next", Offset("table", 1)),
        Execute("INSERT INTO t{table} VALUES (?)", ("table",)),
        Execute("INSERT INTO t{next} VALUES (?)", ("next",)),
    )
    scratch.run(workload, threads=2, transactions=50)
    for n in (1, 2, 3):
        assert set(scratch.numbers(f"SELECT a FROM t{n}")) == {n}


def test_register_that_leaves_its_range_ends_the_run(scratch):
    scratch.query("CREATE TABLE t1 (a INT)", "CREATE TABLE t9 (a INT)")
    workload = make_workload(
        Let("a", g.uniform(1, 1)),
        Repeat(
            2,
            (
                Let("table", Offset("a", 0)),
                Execute("INSERT INTO t{table} VALUES (1)"),
                Let("a", g.uniform(9, 9)),
            ),
        ),
    )
    result = scratch.run(workload, transactions=1)
    assert "register 'table' is 9, outside the range" in result["error"]["message"]


def test_session_statements_run_at_each_login(scratch):
    scratch.query("CREATE TABLE t (a INT)")
    workload = make_workload(
        Execute("INSERT INTO t VALUES (@n)"),
        session=("SET @n = 41", "SET @n = @n + 1"),
        reconnect_every=3,
    )
    before = scratch.status("Connections", "Com_set_option")
    scratch.run(workload, transactions=10)
    after = scratch.status("Connections", "Com_set_option")
    assert after["Connections"] - before["Connections"] == 4
    assert after["Com_set_option"] - before["Com_set_option"] >= 8
    assert scratch.numbers("SELECT DISTINCT a FROM t") == [42]


@pytest.mark.parametrize(("rows", "packets"), [(0, 0), (1, 1), (500, 1), (1200, 3)])
def test_inserted_rows_are_sent_in_packets_of_half_a_mebibyte(scratch, rows, packets):
    scratch.query("CREATE TABLE t (a INT, b VARCHAR(1000))")
    row = InsertRows("INSERT INTO t VALUES", (g.sequence(), g.alphanumeric(1000, 1000)))
    result = scratch.run(make_workload(Repeat(rows, (row,))), transactions=1)
    insert = statement(result, "insert_rows")
    assert (insert["executions"], insert["writes"]) == (packets, packets)
    assert scratch.numbers("SELECT COUNT(DISTINCT a) FROM t") == [rows]


def test_rows_that_the_server_turns_down_are_not_sent_again(scratch):
    scratch.query("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(1000))")
    row = InsertRows("INSERT INTO t VALUES", (g.constant(1), g.alphanumeric(1000, 1000)))
    result = scratch.run(make_workload(row), transactions=1200)
    assert transaction(result)["failed"] == 2
    assert statement(result, "insert_rows")["errors"] == 3
    assert result["error"] is None
