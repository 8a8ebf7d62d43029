"""How a driver stops, at every moment; several at once, and what they leave behind."""

import json
import os
import signal
import socket
import threading
import time
from pathlib import Path

import pytest
from processes import start_script, wait_until
from scratch import (
    check_accounting,
    make_driver,
    make_workload,
    measurement_rows,
    statement,
    transaction,
)

from benchkit import generators as g
from benchkit._core import Driver, Program
from benchkit.errors import DatabaseError, RunError
from benchkit.workloads import (
    Begin,
    Commit,
    Execute,
    null,
)


def test_stop_from_another_thread_ends_a_run_without_limit():
    driver = make_driver(null(), None, threads=2, interval_s=0.05)
    began = threading.Event()
    stopper = threading.Thread(target=lambda: (began.wait(), driver.stop()))
    stopper.start()
    result = driver.run(lambda row, histograms: began.set())
    stopper.join()
    assert result["stopped_by"] == "request"
    assert result["accounting"]["scheduled"] == result["accounting"]["committed"]


def test_stop_in_the_warmup_measures_nothing():
    driver = make_driver(null(), None, warmup_s=60, duration_s=1, interval_s=0.05)
    result = driver.run(lambda row, histograms: driver.stop())
    assert result["stopped_by"] == "request" and result["measured_s"] == 0
    assert 0 < result["warmup_s"] < 60 and len(measurement_rows(result)) == 0
    assert transaction(result, "null")["committed"] == 0


def test_stop_before_the_run_is_not_forgotten():
    driver = make_driver(null(), None, duration_s=60)
    driver.stop()
    with pytest.raises(RunError, match="stopped before all workers were connected"):
        driver.run()
    assert driver.result() is None


def test_stop_after_the_run_changes_nothing():
    driver = make_driver(null(), None, transactions=10)
    driver.run()
    driver.stop()
    assert driver.result()["stopped_by"] == "count"


def test_driver_runs_once():
    driver = make_driver(null(), None, transactions=10)
    driver.run()
    with pytest.raises(RuntimeError, match="a driver runs once"):
        driver.run()
    assert transaction(driver.result(), "null")["committed"] == 10


def test_driver_may_be_dropped_without_a_run(scratch):
    driver = make_driver(make_workload(Execute("SELECT 1")), scratch.endpoint, threads=8)
    assert driver.result() is None
    del driver


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_exception_of_the_callback_stops_the_run(scratch, kind):
    def fail(row, histograms):
        raise kind("enough")

    workload = make_workload(Execute("SELECT 1"))
    driver = make_driver(workload, scratch.endpoint, threads=2, interval_s=0.05)
    with pytest.raises(kind, match="enough"):
        driver.run(fail)
    result = driver.result()
    assert result["stopped_by"] == "request" and result["error"] is None
    assert measurement_rows(result)["committed"].sum() == transaction(result)["committed"] > 0
    check_accounting(result)


def test_blocked_statements_of_a_stopped_run_are_in_flight_not_errors(scratch):
    workload = make_workload(Begin(), Execute("SELECT SLEEP(100)"), Commit())
    driver = make_driver(workload, scratch.endpoint, threads=3, interval_s=0.05)
    result = driver.run(lambda row, histograms: driver.stop())
    assert result["accounting"]["in_flight"] == 3 and result["errors"] == []
    assert statement(result, "begin")["executions"] == 3
    assert statement(result, "select")["executions_in_all_phases"] == 0


def test_statements_that_take_too_long_are_cut_off(scratch):
    workload = make_workload(Execute("SELECT SLEEP(100)"))
    result = scratch.run(workload, threads=2, duration_s=0.1, drain_s=0.1)
    assert result["stopped_by"] == "time" and result["accounting"]["in_flight"] == 2


def test_transaction_begun_in_time_may_end_in_the_drain(scratch):
    result = scratch.run(make_workload(Execute("DO SLEEP(0.5)")), duration_s=0.2)
    assert result["accounting"]["committed"] == 1 and transaction(result)["committed"] == 0
    assert list(result["rows"]["committed"]) == [0, 1]


def test_stop_while_reconnecting_is_clean(scratch):
    for _ in range(10):
        driver = make_driver(
            make_workload(Execute("SELECT 1"), reconnect_every=1),
            scratch.endpoint,
            threads=6,
            interval_s=0.02,
        )
        result = driver.run(lambda row, histograms, driver=driver: driver.stop())
        assert result["error"] is None and result["errors"] == []
        check_accounting(result)


def test_server_that_never_answers_is_given_up(silent_socket):
    endpoint = {"socket": str(silent_socket), "connect_timeout_s": 1}
    driver = make_driver(make_workload(Execute("SELECT 1")), endpoint, threads=3)
    with pytest.raises(DatabaseError) as caught:
        driver.run()
    assert caught.value.number in (2002, 2013)


def test_stop_while_connecting_is_told(silent_socket):
    endpoint = {"socket": str(silent_socket), "connect_timeout_s": 2}
    driver = make_driver(make_workload(Execute("SELECT 1")), endpoint, threads=3)
    stopper = threading.Timer(0.2, driver.stop)
    stopper.start()
    with pytest.raises(RunError, match="stopped before all workers were connected"):
        driver.run()
    stopper.join()


def test_interrupt_ends_a_blocked_run_and_leaves_its_result(scratch):
    earlier = set(scratch.sleepers())  # the server lets an abandoned SLEEP run on
    with start_script(BLOCKED, json.dumps(scratch.endpoint)) as process:
        wait_until(lambda: len(set(scratch.sleepers()) - earlier) == 4)
        sent_s = time.monotonic()
        process.send_signal(signal.SIGINT)
        result = json.loads(process.stdout.readline())
        took_s = time.monotonic() - sent_s
    print(f"the run ended {took_s:.3f} s after the signal")
    assert took_s < 2
    assert process.returncode == 0
    assert result["stopped_by"] == "request"
    assert result["accounting"]["in_flight"] == 4
    assert statement(result, "select_1")["executions"] == 4


BLOCKED = """
import json, sys
from benchkit._core import Driver, Program
from benchkit.workloads import Execute, Transaction, Workload

steps = Execute("SELECT 1", name="select_1"), Execute("SELECT SLEEP(30)", name="sleep")
program = Program(Workload("test", (Transaction("main", steps),)).spec())
driver = Driver(program, json.loads(sys.argv[1]), threads=4)
try:
    driver.run()
except KeyboardInterrupt:
    print(json.dumps(driver.result(), default=lambda value: None), flush=True)
"""


@pytest.fixture
def silent_socket(folder):
    """Return a socket that takes connections but never says a word."""
    path = folder / "silent.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(16)
        yield path


def test_two_drivers_run_at_once(scratch):
    scratch.query("CREATE TABLE t (a INT)")
    results = {}

    def run(name):
        insert = Execute("INSERT INTO t VALUES (?)", (g.constant(name),))
        results[name] = scratch.run(make_workload(insert), threads=2, transactions=300)

    threads = [threading.Thread(target=run, args=(name,)) for name in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scratch.query("SELECT a, COUNT(*) FROM t GROUP BY a ORDER BY a") == [
        ("1", "300"),
        ("2", "300"),
    ]
    assert all(transaction(result)["committed"] == 300 for result in results.values())


def test_a_thousand_workers_share_a_run():
    result = make_driver(null(), None, threads=1000, duration_s=0.2, warmup_s=0.1).run()
    assert transaction(result, "null")["committed"] > 1000
    check_accounting(result)


@pytest.mark.parametrize("needs_server", [False, True])
def test_drivers_leave_no_memory_behind(scratch, needs_server):
    steps = (Execute("SELECT 1"),) if needs_server else ()
    program = Program(make_workload(*steps).spec())

    def run(times):
        for _ in range(times):
            Driver(program, scratch.endpoint, threads=2, transactions=20).run()
        return resident_bytes()

    before = run(50)
    assert run(200) - before < 4 * 2**20


def resident_bytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
