"""What a run makes of errors: of statements, connections and the server itself."""

import os
import signal

import pytest
from processes import wait_until
from scratch import check_accounting, make_driver, make_workload, statement, transaction, update

from benchkit import generators as g
from benchkit._core import Driver, Program
from benchkit.errors import DatabaseError, WorkloadError
from benchkit.server import Server
from benchkit.workloads import Begin, Commit, Execute, Transaction, Workload


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
