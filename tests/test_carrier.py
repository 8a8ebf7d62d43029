"""Several workers on one thread: which ones may share it, and that it makes no difference."""

import json
import os

import pytest
from processes import start_script
from scratch import (
    check_accounting,
    make_driver,
    make_workload,
    measurement_rows,
    statement,
    transaction,
    update,
)

from benchkit import generators as g
from benchkit.workloads import (
    Begin,
    Choose,
    Commit,
    Execute,
    InsertRows,
    Let,
    Repeat,
    Transaction,
    Workload,
)

ROW = g.uniform(1, 4)
SELECT = Execute("SELECT 1")
PROCESSORS = sorted(os.sched_getaffinity(0))


@pytest.fixture
def one_thread():
    """Let workers that may share a thread share one."""
    yield from _on_processors(PROCESSORS[:1])


@pytest.fixture(params=sorted({1, 2, len(PROCESSORS)} & set(range(1, len(PROCESSORS) + 1))))
def processors(request):
    """Return on how many processors this process may run."""
    for _ in _on_processors(PROCESSORS[: request.param]):
        yield request.param


def _on_processors(some):
    os.sched_setaffinity(0, some)
    try:
        yield
    finally:
        os.sched_setaffinity(0, PROCESSORS)


def test_workers_share_a_thread_for_each_processor(scratch, processors):
    result = scratch.run(make_workload(SELECT), threads=64, transactions=200)
    assert result["os_threads"] == processors
    assert scratch.run(make_workload(SELECT), transactions=10)["os_threads"] == 1


@pytest.mark.parametrize(
    "steps",
    [
        (SELECT, Repeat(3, (Let("a", ROW), Execute("SELECT ?", ("a",))))),
        (Choose(((1, (SELECT,)), (2, (Begin(), Commit())))),),
        (Choose(((1, (SELECT,)), (2, ()))), SELECT),
        (Repeat(2, (Repeat(2, (SELECT,)),)),),
    ],
)
def test_workers_that_execute_all_the_time_share_a_thread(scratch, one_thread, steps):
    result = scratch.run(make_workload(*steps), threads=5, transactions=50)
    assert result["os_threads"] == 1
    assert transaction(result)["committed"] == 50


@pytest.mark.parametrize(
    "steps",
    [
        (Choose(((1, (SELECT,)), (2, ()))),),
        (SELECT, Repeat(3, (Let("a", ROW),))),
        (SELECT, Repeat(3, (Choose(((1, (SELECT,)), (2, ()))),))),
        (Repeat(0, (SELECT,)),),
        (InsertRows("INSERT INTO t VALUES", (ROW,)), SELECT),
    ],
)
def test_workers_that_may_hold_up_others_have_threads_of_their_own(scratch, one_thread, steps):
    scratch.query("CREATE TABLE t (a INT)")
    result = scratch.run(make_workload(*steps), threads=3, transactions=50)
    assert result["os_threads"] == 3
    assert transaction(result)["committed"] == 50


def test_workers_that_reconnect_have_threads_of_their_own(scratch, one_thread):
    workload = make_workload(SELECT, reconnect_every=5)
    assert scratch.run(workload, threads=3, transactions=50)["os_threads"] == 3


def test_one_silent_transaction_among_several_is_enough(scratch, one_thread):
    workload = Workload("test", (Transaction("a", (SELECT,)), Transaction("b", ())))
    assert scratch.run(workload, threads=3, transactions=50)["os_threads"] == 3


def test_sixty_four_workers_are_counted_as_the_server_counts_them(scratch, one_thread):
    scratch.query(
        "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT)", "INSERT INTO t VALUES (1, 1)"
    )
    workload = make_workload(
        Begin(),
        Repeat(2, (Execute("SELECT COUNT(*) FROM t WHERE id = ?", (ROW,), name="select"),)),
        Execute("INSERT INTO t (n) VALUES (?)", (ROW,)),
        Execute("DELETE FROM t WHERE id = 0", rollback_if_none=True),
        Commit(),
    )
    names = [f"Com_{name}" for name in ("select", "insert", "delete", "begin", "rollback")]
    before = scratch.status(*names)
    result = scratch.run(workload, threads=64, transactions=500, warmup_s=0.05, interval_s=0.05)
    after = scratch.status(*names)
    counted = {f"Com_{s['kind']}": s["executions_in_all_phases"] for s in result["statements"]}
    del counted["Com_commit"]
    assert counted == {name: after[name] - before[name] for name in names}
    assert result["os_threads"] == 1 and result["errors"] == []
    assert (
        transaction(result)["rolled_back"] == 500 == measurement_rows(result)["rolled_back"].sum()
    )
    assert transaction(result)["committed"] == 0 and scratch.numbers("SELECT id FROM t") == [1]
    check_accounting(result)


def test_deadlocks_between_workers_of_one_thread_are_retried(scratch, one_thread):
    scratch.make_two_rows()
    workload = Workload(
        "test",
        tuple(
            Transaction(name, (Begin(), update(first), update(second), Commit()))
            for name, first, second in (("up", 1, 2), ("down", 2, 1))
        ),
    )
    result = scratch.run(workload, threads=2, transactions=400)
    (deadlock,) = result["errors"]
    assert result["os_threads"] == 1 and deadlock["number"] == 1213
    assert sum(t["retries"] for t in result["transactions"]) == deadlock["count"] > 0
    assert statement(result, "rollback")["executions"] == deadlock["count"]
    assert scratch.numbers("SELECT n FROM t") == [400, 400]
    check_accounting(result)


SCAN = "SELECT id, pad FROM t WHERE id >= (? - 1) * 1000 FOR UPDATE"


@pytest.mark.parametrize("statement", [SCAN, "CALL p(?)"])
def test_worker_that_waits_in_the_middle_of_a_result_holds_up_no_other(
    scratch, one_thread, statement
):
    """Worker 1 gets rows until it comes to one that is locked; worker 2 gets none at all."""
    scratch.query(
        "CREATE TABLE t (id INT PRIMARY KEY, pad VARCHAR(1000))",
        "INSERT INTO t SELECT seq, REPEAT('x', 1000) FROM seq_1_to_100",
        "CREATE PROCEDURE p(w INT) BEGIN SELECT REPEAT('x', 50000); "
        "UPDATE t SET pad = '' WHERE id = 200 - w * 100; END",
    )
    seen = []

    def watch(row, histograms):
        seen.append(row["committed"])
        if len(seen) == 6:
            driver.stop()

    workload = make_workload(Execute(statement, ("worker",)))
    driver = make_driver(workload, scratch.endpoint, threads=2, interval_s=0.05)
    with scratch.server.session() as holder:
        holder.query(f"USE {scratch.endpoint['database']}")
        holder.query("BEGIN")
        holder.query("SELECT * FROM t WHERE id = 100 FOR UPDATE")
        result = driver.run(watch)
    assert result["os_threads"] == 1 and result["errors"] == []
    assert all(seen[1:6])
    assert result["accounting"]["in_flight"] == 1


def test_error_of_one_worker_ends_the_run_of_all(scratch, one_thread):
    scratch.query("CREATE TABLE t (a TINYINT)")
    insert = Execute("INSERT INTO t SELECT 1000 FROM dual WHERE ? = 3", ("worker",), name="insert")
    sleep = Execute("SELECT SLEEP(IF(? = 2, 100, 0))", ("worker",), name="sleep")
    workload = make_workload(insert, sleep)
    result = scratch.run(workload, threads=3, duration_s=60)
    assert result["os_threads"] == 1 and result["stopped_by"] == "error"
    assert result["error"]["number"] == 1264
    assert transaction(result)["failed"] == 1
    assert result["accounting"]["in_flight"] >= 1
    assert result["measured_s"] < 30
    check_accounting(result)


def test_blocked_workers_of_a_stopped_run_are_in_flight(scratch, one_thread):
    workload = make_workload(Begin(), Execute("SELECT SLEEP(100)"), Commit())
    driver = make_driver(workload, scratch.endpoint, threads=8, interval_s=0.05)
    result = driver.run(lambda row, histograms: driver.stop())
    assert result["os_threads"] == 1 and result["errors"] == []
    assert result["accounting"]["in_flight"] == 8
    assert statement(result, "begin")["executions"] == 8


@pytest.mark.parametrize(("threads", "policy"), [(4, os.SCHED_BATCH), (1, os.SCHED_OTHER)])
def test_thread_of_several_workers_lets_the_server_go_first(scratch, one_thread, threads, policy):
    workload = make_workload(Execute("SELECT SLEEP(0.01)"))
    driver = make_driver(workload, scratch.endpoint, threads=threads, interval_s=0.05)
    seen = []

    def look(row, histograms):
        tids = {int(tid) for tid in os.listdir("/proc/self/task")} - before
        seen.extend(os.sched_getscheduler(tid) for tid in tids)
        driver.stop()

    before = {int(tid) for tid in os.listdir("/proc/self/task")}
    driver.run(look)
    assert seen[0] == policy
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_more_workers_than_file_descriptors_fail_the_start(scratch):
    with start_script(FEW_DESCRIPTORS, json.dumps(scratch.endpoint)) as process:
        said = process.stdout.read()
    assert process.returncode == 0
    assert "(24" in said or "Too many open files" in said


FEW_DESCRIPTORS = """
import json, resource, sys
from benchkit._core import Driver, Program
from benchkit.errors import BenchkitError
from benchkit.workloads import Execute, Transaction, Workload

resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
program = Program(Workload("test", (Transaction("main", (Execute("SELECT 1"),)),)).spec())
driver = Driver(program, json.loads(sys.argv[1]), threads=64, duration_s=60)
try:
    driver.run()
except BenchkitError as error:
    print(error, flush=True)
"""
