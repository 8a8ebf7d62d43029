"""What workers do on a real server: every kind of step, chance, and errors."""

import os
import signal

import pytest
from processes import wait_until
from scratch import check_accounting, make_driver, make_workload, statement, transaction, update

from benchkit import generators as g
from benchkit._core import Driver, Program
from benchkit.errors import DatabaseError, WorkloadError
from benchkit.server import Server
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


INSERT = make_workload(
    Execute("INSERT INTO t (worker, a) VALUES (?, ?)", ("worker", g.uniform(1, 10**9)))
)


def draws(scratch, **options):
    """Return each worker's draws in order."""
    scratch.query(
        "CREATE OR REPLACE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, worker INT, a INT)"
    )
    scratch.run(INSERT, **options)
    return [
        scratch.numbers(f"SELECT a FROM t WHERE worker = {worker} ORDER BY id")
        for worker in range(1, options.get("threads", 1) + 1)
    ]


def test_same_seed_draws_the_same(scratch):
    (first,) = draws(scratch, seed=5, transactions=50)
    (again,) = draws(scratch, seed=5, transactions=50)
    (other,) = draws(scratch, seed=6, transactions=50)
    assert first == again and not set(first) & set(other)


def test_each_worker_has_its_own_stream_whatever_the_number_of_workers(scratch):
    (alone,) = draws(scratch, seed=5, transactions=200)
    together = draws(scratch, seed=5, transactions=400, threads=2)
    common = min(len(alone), len(together[0]))
    assert common > 0 and alone[:common] == together[0][:common]
    assert not set(together[0]) & set(together[1])


def test_deadlocks_are_counted_and_retried(scratch):
    scratch.make_two_rows()
    workload = Workload(
        "test",
        tuple(
            Transaction(name, (Begin(), update(first), update(second), Commit()))
            for name, first, second in (("up", 1, 2), ("down", 2, 1))
        ),
    )
    before = scratch.status("Com_rollback")
    result = scratch.run(workload, threads=5, transactions=400)
    after = scratch.status("Com_rollback")
    (deadlock,) = result["errors"]
    assert (deadlock["number"], deadlock["sqlstate"]) == (1213, "40001")
    assert deadlock["statement"] == "update" and "Deadlock" in deadlock["message"]
    retries = sum(t["retries"] for t in result["transactions"])
    assert retries == deadlock["count"] == statement(result, "update")["errors"] > 0
    assert after["Com_rollback"] - before["Com_rollback"] == retries
    assert statement(result, "rollback")["executions"] == retries
    assert scratch.numbers("SELECT n FROM t") == [400, 400]
    check_accounting(result)


def test_lock_wait_timeout_rolls_back_before_the_retry(scratch):
    scratch.make_two_rows()
    scratch.query("BEGIN", "UPDATE t SET n = 100 WHERE id = 2")

    def release(row, histograms):
        if row["errors"]:
            scratch.query("ROLLBACK")

    workload = make_workload(
        Begin(),
        update(1),
        update(2),
        Commit(),
        session=("SET SESSION innodb_lock_wait_timeout = 1",),
    )
    driver = make_driver(workload, scratch.endpoint, transactions=1, interval_s=0.05)
    result = driver.run(release)
    assert [e["number"] for e in result["errors"]] == [1205]
    assert transaction(result)["retries"] >= 1
    assert scratch.numbers("SELECT n FROM t") == [1, 1]


def test_tolerated_error_fails_the_transaction_and_the_run_goes_on(scratch):
    scratch.query("CREATE TABLE t (id INT PRIMARY KEY)", "CREATE TABLE log (a INT)")
    workload = make_workload(
        Begin(),
        Execute("INSERT INTO log VALUES (1)", name="log"),
        Execute("INSERT INTO t VALUES (?)", (g.uniform(1, 20),)),
        Commit(),
    )
    result = scratch.run(workload, threads=2, transactions=200)
    main = transaction(result)
    inserted = scratch.numbers("SELECT COUNT(*) FROM t")[0]
    assert result["error"] is None and result["stopped_by"] == "count"
    assert main["committed"] == inserted and main["failed"] == 200 - inserted > 0
    assert scratch.numbers("SELECT COUNT(*) FROM log") == [inserted]
    assert [e["number"] for e in result["errors"] if e["count"] == main["failed"]] == [1062]
    check_accounting(result)


def test_unexpected_error_ends_the_run(scratch):
    scratch.query("CREATE TABLE t (a TINYINT)")
    workload = make_workload(Execute("INSERT INTO t VALUES (?)", (g.uniform(120, 130),)))
    result = scratch.run(workload, threads=2, duration_s=60)
    assert result["stopped_by"] == "error"
    assert result["error"]["number"] == 1264 and result["error"]["sqlstate"] == "22003"
    assert "Out of range value for column 'a'" in result["error"]["message"]
    assert transaction(result)["failed"] >= 1
    assert result["measured_s"] < 30
    check_accounting(result)


def test_error_behind_the_first_rows_of_a_result_is_noticed(scratch):
    scratch.make_two_rows()
    second_row_fails = "SELECT (SELECT id FROM t a WHERE a.id <= b.id) FROM t b ORDER BY id"
    workload = make_workload(
        Execute(second_row_fails),
        Execute(second_row_fails, keep=(("a", "integer"),)),
        tolerate=(1242,),
    )
    result = scratch.run(workload, transactions=7)
    assert transaction(result)["failed"] == 7
    kept = make_workload(Execute(second_row_fails, keep=(("a", "integer"),)), tolerate=(1242,))
    assert transaction(scratch.run(kept, transactions=7))["failed"] == 7


def test_statement_that_cannot_be_prepared_is_an_error_of_the_start(scratch):
    driver = make_driver(
        make_workload(Execute("SELECT 1 FROM absent")), scratch.endpoint, duration_s=60, threads=3
    )
    with pytest.raises(DatabaseError, match="absent") as caught:
        driver.run()
    assert (caught.value.number, caught.value.sqlstate) == (1146, "42S02")
    assert driver.result() is None
    with pytest.raises(RuntimeError, match="a driver runs once"):
        driver.run()


def test_number_of_parameters_must_fit(scratch):
    spec = make_workload(Execute("SELECT ? + ?", (g.uniform(1, 4), g.uniform(1, 4)))).spec()
    steps = spec["transactions"][0][2]
    steps[-1][3].pop()
    with pytest.raises(WorkloadError, match="2 parameter marks but 1 values: SELECT"):
        Driver(Program(spec), scratch.endpoint, transactions=1).run()


def test_statement_that_only_text_can_carry_is_sent_as_text(scratch):
    scratch.make_two_rows()
    steps = (Execute("LOCK TABLES t WRITE"), update(1), Execute("UNLOCK TABLES"))
    result = scratch.run(make_workload(*steps), transactions=3)
    assert transaction(result)["committed"] == 3


def test_refused_connection_says_where():
    endpoint = {"socket": "/nonexistent/mysql.sock"}
    with pytest.raises(DatabaseError, match="/nonexistent/mysql.sock") as caught:
        make_driver(make_workload(Execute("SELECT 1")), endpoint, threads=4).run()
    assert caught.value.number == 2002


def test_too_many_connections_fail_the_start(scratch):
    (limit,) = scratch.numbers("SELECT @@max_connections")
    scratch.query("SET GLOBAL max_connections = 10")
    try:
        with pytest.raises(DatabaseError, match="Too many connections") as caught:
            scratch.run(make_workload(Execute("SELECT 1")), threads=30, duration_s=60)
    finally:
        scratch.query(f"SET GLOBAL max_connections = {limit}")
    assert caught.value.number == 1040


def test_killed_server_ends_the_run(small_config):
    with Server(small_config) as server:

        def kill(row, histograms):
            if server.running:
                os.kill(server.pid, signal.SIGKILL)
                wait_until(lambda: not server.running)

        workload = make_workload(Execute("SELECT 1"), Execute("SELECT 2", keep=(("a", "integer"),)))
        driver = make_driver(workload, server.endpoint, threads=4, duration_s=60, interval_s=0.1)
        result = driver.run(kill)
    assert result["stopped_by"] == "error"
    assert result["error"]["number"] in (2006, 2013)
    assert transaction(result)["committed"] > 0
    check_accounting(result)


def test_killed_connection_ends_the_run(scratch):
    killed = []

    def kill(row, histograms):
        if not killed:
            killed.append(scratch.sleepers()[0])
            scratch.query(f"KILL {killed[0]}")

    workload = make_workload(Execute("SELECT SLEEP(0.2)"))
    driver = make_driver(workload, scratch.endpoint, threads=3, duration_s=60, interval_s=0.1)
    result = driver.run(kill)
    assert result["stopped_by"] == "error"
    assert result["error"]["number"] in (1927, 2006, 2013)


@pytest.fixture
def large_packets(scratch):
    """Let new connections send statements of up to 64 MB."""
    (limit,) = scratch.numbers("SELECT @@GLOBAL.max_allowed_packet")
    scratch.query("SET GLOBAL max_allowed_packet = 67108864")
    yield
    scratch.query(f"SET GLOBAL max_allowed_packet = {limit}")


def test_parameters_together_may_be_longer_than_a_packet(scratch, large_packets):
    count, length = 17, 1_000_000
    scratch.query("CREATE TABLE seen (a BIGINT)")
    lengths = " + ".join(["LENGTH(?)"] * count)
    texts = (g.alphanumeric(length, length),) * count
    workload = make_workload(Execute(f"INSERT INTO seen SELECT {lengths}", texts))
    result = scratch.run(workload, transactions=2)
    assert result["error"] is None
    assert scratch.numbers("SELECT a FROM seen") == [count * length] * 2


def test_last_rows_are_sent_once_more_when_they_are_to_be_retried(scratch):
    scratch.query("CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    row = InsertRows("INSERT INTO t VALUES", (g.constant(1),))
    result = scratch.run(make_workload(row, retry=(1062,), tolerate=()), transactions=1, drain_s=60)
    assert statement(result, "insert_rows")["errors"] == 2
    assert statement(result, "rollback")["executions"] == 1
    assert result["error"] is None


@pytest.mark.parametrize("mode", ["", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"])
def test_inserted_texts_do_not_depend_on_the_sql_mode(scratch, mode):
    texts = ("it's", "a\\b", "\\", "'", "ä\\'ß", "\\'); --", "")
    scratch.query("CREATE TABLE t (a VARCHAR(20), b VARCHAR(20) CHARACTER SET latin1)")
    rows = (
        InsertRows("INSERT INTO t VALUES", (g.constant(text), g.constant(text))) for text in texts
    )
    workload = make_workload(*rows, session=(f"SET SESSION sql_mode = '{mode}'",))
    result = scratch.run(workload, transactions=1)
    assert result["error"] is None
    assert set(scratch.query("SELECT a, b FROM t")) == {(text, text) for text in texts}
