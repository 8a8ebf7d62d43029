"""The driver against a real server: what it counts, how it retries, how it stops."""

import json
import os
import signal
import socket
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from processes import start_script, wait_until
from scratch import (
    NAME,
    check_accounting,
    make_driver,
    make_workload,
    statement,
    transaction,
)

from benchkit import generators as g
from benchkit._core import Driver, Program
from benchkit.errors import DatabaseError, RunError, WorkloadError
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
    Rollback,
    Transaction,
    Workload,
    null,
)

MEASUREMENT = 1
ROW = g.uniform(1, 4)


def rows_of(result, phase=MEASUREMENT):
    return result["rows"][result["rows"]["phase"] == phase]


def sleepers(scratch):
    """Return the ids of the connections that are inside SELECT SLEEP()."""
    return scratch.numbers(
        "SELECT id FROM information_schema.processlist "
        f"WHERE db = '{NAME}' AND info LIKE 'SELECT SLEEP%'"
    )


def two_rows(scratch):
    scratch.query(
        "CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (1, 0), (2, 0)"
    )


def update(row):
    return Execute(f"UPDATE t SET n = n + 1 WHERE id = {row}", name="update")


class TestCounts:
    def test_statements_are_counted_as_the_server_counts_them(self, scratch):
        scratch.query(
            "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT)",
            "INSERT INTO t VALUES (1, 0), (2, 0), (3, 0), (4, 0)",
        )
        workload = make_workload(
            Begin(),
            Execute("SELECT n FROM t WHERE id = ?", (ROW,)),
            Repeat(2, (Execute("SELECT COUNT(*) FROM t", name="count"),)),
            Execute("INSERT INTO t (n) VALUES (1)"),
            Execute("UPDATE t SET n = n + 1 WHERE id = ?", (ROW,)),
            Execute("DELETE FROM t WHERE id > 4 LIMIT 1"),
            Choose(((1, (Rollback(),)), (3, (Commit(),)))),
        )
        names = ["select", "insert", "update", "delete", "begin", "commit", "rollback"]
        before = scratch.status(*[f"Com_{name}" for name in names])
        result = scratch.run(workload, threads=3, transactions=200)
        after = scratch.status(*before)
        counted = dict.fromkeys(names, 0)
        for s in result["statements"]:
            counted[s["kind"]] += s["executions"]
        # The workers' retries after deadlocks are part of both.
        assert counted == {name: after[f"Com_{name}"] - before[f"Com_{name}"] for name in names}
        main = transaction(result)
        assert main["committed"] + main["rolled_back"] == 200
        assert 0 < main["rolled_back"] < main["committed"]
        check_accounting(result)

    def test_reads_and_writes_are_told_apart(self, scratch):
        two_rows(scratch)
        workload = make_workload(
            Execute("SELECT n FROM t WHERE id = 9", name="no_row"),
            Execute("SELECT n FROM t", name="rows"),
            update(1),
            Execute("UPDATE t SET n = 0 WHERE id = 9", name="no_update"),
        )
        result = scratch.run(workload, transactions=5)
        counts = {
            s["name"]: (s["executions"], s["results"], s["writes"], s["errors"])
            for s in result["statements"]
            if s["executions"]
        }
        assert counts == {
            "no_row": (5, 5, 0, 0),
            "rows": (5, 5, 0, 0),
            "update": (5, 0, 5, 0),
            "no_update": (5, 0, 0, 0),
        }

    @pytest.mark.parametrize("threads", [1, 3, 8])
    def test_counted_run_measures_exactly_its_number(self, scratch, threads):
        workload = make_workload(Execute("SELECT 1"))
        result = scratch.run(workload, threads=threads, transactions=501, warmup_s=0.1)
        assert result["stopped_by"] == "count"
        assert transaction(result)["committed"] == 501
        assert statement(result, "select")["executions"] == 501
        assert rows_of(result)["committed"].sum() == 501
        assert result["accounting"]["committed"] > 501

    def test_rows_of_the_measurement_add_up_to_its_totals(self, scratch):
        two_rows(scratch)
        workload = make_workload(
            Begin(), update(1), update(2), Choose(((1, (Commit(),)), (1, (Rollback(),))))
        )
        result = scratch.run(workload, threads=3, duration_s=0.5, warmup_s=0.1, interval_s=0.1)
        rows, main = rows_of(result), transaction(result)
        for name in ("committed", "rolled_back", "failed", "retries"):
            assert rows[name].sum() == main[name]
        totals = {
            key: sum(s[key] for s in result["statements"])
            for key in ("executions", "results", "writes", "errors")
        }
        assert rows["statements"].sum() == totals["executions"]
        assert rows["reads"].sum() == totals["results"]
        assert rows["writes"].sum() == totals["writes"]
        assert rows["errors"].sum() == totals["errors"]
        whole = rows["reads"] + rows["writes"] + rows["other"] + rows["errors"]
        assert (whole == rows["statements"]).all() and (rows["other"] >= 0).all()
        assert rows["elapsed_s"].sum() == pytest.approx(result["measured_s"])
        check_accounting(result)

    def test_warmup_is_counted_apart(self, scratch):
        workload = make_workload(Execute("SELECT 1"))
        result = scratch.run(workload, duration_s=0.2, warmup_s=0.3, interval_s=0.1)
        select = statement(result, "select")
        assert result["warmup_s"] == 0.3 and result["measured_s"] == pytest.approx(0.2)
        assert 0 < select["executions"] < select["executions_in_all_phases"]
        assert transaction(result)["committed"] < result["accounting"]["committed"]
        assert [row["phase"] for row in result["rows"]][:5] == [0, 0, 0, 1, 1]
        assert transaction(result)["response"].total == transaction(result)["committed"]

    def test_measured_response_times_are_those_of_the_statements(self, scratch):
        result = scratch.run(make_workload(Execute("DO SLEEP(0.05)")), transactions=3)
        for measured in (transaction(result), result["statements"][0]):
            assert measured["response"].min > 50e6 and measured["response"].total == 3

    def test_histograms_told_with_the_rows_add_up_to_the_result(self, scratch):
        told = {}

        def on_interval(row, histograms):
            for tag, histogram in histograms:
                told.setdefault(tag, []).append(histogram)

        workload = make_workload(Execute("SELECT 1"))
        driver = make_driver(
            workload, scratch.endpoint, threads=2, duration_s=0.3, warmup_s=0.1, interval_s=0.1
        )
        result = driver.run(on_interval)
        for tag, whole in (
            ("transaction.main", transaction(result)["response"]),
            ("statement.select", statement(result, "select")["response"]),
        ):
            merged = told[tag][0].copy()
            for histogram in told[tag][1:]:
                merged.merge(histogram)
            assert merged == whole
        assert "warmup.transaction.main" in told

    def test_cpu_time_of_the_workers_is_told(self):
        result = make_driver(null(), None, duration_s=0.2).run()
        assert 0.02 < result["cpu_user_s"] + result["cpu_system_s"] < 2


class TestErrors:
    def test_deadlocks_are_counted_and_retried(self, scratch):
        two_rows(scratch)
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

    def test_lock_wait_timeout_rolls_back_before_the_retry(self, scratch):
        two_rows(scratch)
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

    def test_tolerated_error_fails_the_transaction_and_the_run_goes_on(self, scratch):
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

    def test_unexpected_error_ends_the_run(self, scratch):
        scratch.query("CREATE TABLE t (a TINYINT)")
        workload = make_workload(Execute("INSERT INTO t VALUES (?)", (g.uniform(120, 130),)))
        result = scratch.run(workload, threads=2, duration_s=60)
        assert result["stopped_by"] == "error"
        assert result["error"]["number"] == 1264 and result["error"]["sqlstate"] == "22003"
        assert "Out of range value for column 'a'" in result["error"]["message"]
        assert transaction(result)["failed"] >= 1
        assert result["measured_s"] < 30
        check_accounting(result)

    def test_error_behind_the_first_rows_of_a_result_is_noticed(self, scratch):
        two_rows(scratch)
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

    def test_statement_that_cannot_be_prepared_is_an_error_of_the_start(self, scratch):
        driver = make_driver(
            make_workload(Execute("SELECT 1 FROM absent")),
            scratch.endpoint,
            duration_s=60,
            threads=3,
        )
        with pytest.raises(DatabaseError, match="absent") as caught:
            driver.run()
        assert (caught.value.number, caught.value.sqlstate) == (1146, "42S02")
        assert driver.result() is None
        with pytest.raises(RuntimeError, match="a driver runs once"):
            driver.run()

    def test_number_of_parameters_must_fit(self, scratch):
        workload = make_workload(Execute("SELECT ? + ?", (ROW,)))
        with pytest.raises(WorkloadError, match="2 parameter marks but 1 values"):
            scratch.run(workload, transactions=1)

    def test_statement_that_only_text_can_carry_is_sent_as_text(self, scratch):
        two_rows(scratch)
        steps = (Execute("LOCK TABLES t WRITE"), update(1), Execute("UNLOCK TABLES"))
        result = scratch.run(make_workload(*steps), transactions=3)
        assert transaction(result)["committed"] == 3

    def test_refused_connection_says_where(self):
        endpoint = {"socket": "/nonexistent/mysql.sock"}
        with pytest.raises(DatabaseError, match="/nonexistent/mysql.sock") as caught:
            make_driver(make_workload(Begin()), endpoint, threads=4).run()
        assert caught.value.number == 2002

    def test_too_many_connections_fail_the_start(self, scratch):
        (limit,) = scratch.numbers("SELECT @@max_connections")
        scratch.query("SET GLOBAL max_connections = 10")
        try:
            with pytest.raises(DatabaseError, match="Too many connections") as caught:
                scratch.run(make_workload(Execute("SELECT 1")), threads=30, duration_s=60)
        finally:
            scratch.query(f"SET GLOBAL max_connections = {limit}")
        assert caught.value.number == 1040

    def test_killed_server_ends_the_run(self, small_config):
        with Server(small_config) as server:

            def kill(row, histograms):
                if server.running:
                    os.kill(server.pid, signal.SIGKILL)
                    wait_until(lambda: not server.running)

            workload = make_workload(
                Execute("SELECT 1"), Execute("SELECT 2", keep=(("a", "integer"),))
            )
            driver = make_driver(
                workload, server.endpoint, threads=4, duration_s=60, interval_s=0.1
            )
            result = driver.run(kill)
        assert result["stopped_by"] == "error"
        assert result["error"]["number"] in (2006, 2013)
        assert transaction(result)["committed"] > 0
        check_accounting(result)

    def test_killed_connection_ends_the_run(self, scratch):
        killed = []

        def kill(row, histograms):
            if not killed:
                killed.append(sleepers(scratch)[0])
                scratch.query(f"KILL {killed[0]}")

        workload = make_workload(Execute("SELECT SLEEP(0.2)"))
        driver = make_driver(workload, scratch.endpoint, threads=3, duration_s=60, interval_s=0.1)
        result = driver.run(kill)
        assert result["stopped_by"] == "error"
        assert result["error"]["number"] in (1927, 2006, 2013)


class TestSteps:
    @pytest.mark.parametrize(
        "step",
        [
            Execute("SELECT n FROM t WHERE id = 9", rollback_if_none=True),
            Execute("SELECT n FROM t WHERE id = 9", keep=(("a", "text"),), rollback_if_none=True),
            Execute("UPDATE t SET n = 1 WHERE id = 9", rollback_if_none=True),
        ],
    )
    def test_missing_row_rolls_back(self, scratch, step):
        two_rows(scratch)
        before = scratch.status("Com_rollback", "Com_commit")
        workload = make_workload(Begin(), update(1), step, update(2), Commit())
        result = scratch.run(workload, transactions=10)
        after = scratch.status("Com_rollback", "Com_commit")
        assert transaction(result)["rolled_back"] == 10
        assert after["Com_rollback"] - before["Com_rollback"] == 10
        assert after["Com_commit"] == before["Com_commit"]
        assert scratch.numbers("SELECT n FROM t") == [0, 0]
        check_accounting(result)

    def test_row_that_is_there_does_not_roll_back(self, scratch):
        two_rows(scratch)
        workload = make_workload(
            Execute("SELECT n FROM t", rollback_if_none=True),
            Execute("SELECT n FROM t", keep=(("a", "integer"),), rollback_if_none=True),
            Execute("UPDATE t SET n = n + 1 WHERE id = 1", rollback_if_none=True),
        )
        assert transaction(scratch.run(workload, transactions=3))["committed"] == 3

    def test_columns_of_the_first_row_are_kept(self, scratch):
        scratch.query(
            "CREATE TABLE t "
            "(id INT PRIMARY KEY, i BIGINT, r DOUBLE, x VARCHAR(100), d DECIMAL(9, 2))",
            "INSERT INTO t VALUES (1, -7, 0.1, 'gruß', 12.50), (2, 8, 2.5, 'other', 1), "
            "(3, NULL, NULL, NULL, NULL)",
            "CREATE TABLE copy LIKE t",
        )
        columns = (("i", "integer"), ("r", "real"), ("x", "text"), ("d", "text"))
        workload = make_workload(
            Let("id", g.sequence()),
            Execute(
                "SELECT i, r, x, d, id FROM t WHERE id >= ? ORDER BY id", ("id",), keep=columns
            ),
            Execute("SELECT id, i FROM t WHERE id = ?", ("id",), keep=(("same", "integer"),)),
            Execute("INSERT INTO copy VALUES (?, ?, ?, ?, ?)", ("same", "i", "r", "x", "d")),
        )
        result = scratch.run(workload, transactions=3)
        assert transaction(result)["committed"] == 3
        assert scratch.query("SELECT * FROM copy ORDER BY id") == scratch.query(
            "SELECT * FROM t ORDER BY id"
        )

    def test_without_a_row_kept_registers_are_null(self, scratch):
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

    def test_kept_text_that_does_not_fit_ends_the_run(self, scratch):
        workload = make_workload(Execute("SELECT REPEAT('x', 5000)", keep=(("a", "text"),)))
        result = scratch.run(workload, transactions=1)
        assert result["stopped_by"] == "error"
        assert "kept column 1 has 5000 bytes" in result["error"]["message"]

    def test_more_columns_than_there_are_cannot_be_kept(self, scratch):
        keep = (("a", "integer"), ("b", "integer"))
        result = scratch.run(make_workload(Execute("SELECT 1", keep=keep)), transactions=1)
        assert "2 columns are to be kept but the result has 1" in result["error"]["message"]

    def test_branches_are_chosen_by_weight(self, scratch):
        workload = make_workload(
            Choose(((1, (Execute("DO 1", name="one"),)), (3, (Execute("DO 3", name="three"),))))
        )
        result = scratch.run(workload, transactions=4000)
        assert statement(result, "one")["executions"] == pytest.approx(1000, abs=5 * 27.4)
        assert statement(result, "three")["executions"] == pytest.approx(3000, abs=5 * 27.4)

    def test_transactions_are_mixed_by_weight(self):
        workload = Workload("test", (Transaction("a", (), 1), Transaction("b", (), 3)))
        result = make_driver(workload, None, threads=2, transactions=40_000).run()
        assert transaction(result, "a")["committed"] == pytest.approx(10_000, abs=5 * 86.6)
        assert sum(t["committed"] for t in result["transactions"]) == 40_000

    def test_repeats_nest(self, scratch):
        def do(name):
            return Execute("DO 1", name=name)

        workload = make_workload(
            Repeat(0, (do("never"),)),
            Repeat(2, (do("outer"), Repeat(3, (do("inner"),)), Repeat(0, (do("never"),)))),
            do("after"),
        )
        result = scratch.run(workload, transactions=5)
        counts = {
            s["name"]: s["executions"] for s in result["statements"] if s["name"] != "rollback"
        }
        assert counts == {"never": 0, "outer": 10, "inner": 30, "after": 5}

    def test_tables_are_chosen_by_their_number(self, scratch):
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

    def test_register_that_leaves_its_range_ends_the_run(self, scratch):
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

    def test_session_statements_run_at_each_login(self, scratch):
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
    def test_inserted_rows_are_sent_in_packets_of_half_a_mebibyte(self, scratch, rows, packets):
        scratch.query("CREATE TABLE t (a INT, b VARCHAR(1000))")
        row = InsertRows("INSERT INTO t VALUES", (g.sequence(), g.alphanumeric(1000, 1000)))
        result = scratch.run(make_workload(Repeat(rows, (row,))), transactions=1)
        insert = statement(result, "insert_rows")
        assert (insert["executions"], insert["writes"]) == (packets, packets)
        assert scratch.numbers("SELECT COUNT(DISTINCT a) FROM t") == [rows]

    def test_rows_that_the_server_turns_down_are_not_sent_again(self, scratch):
        scratch.query("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(1000))")
        row = InsertRows("INSERT INTO t VALUES", (g.constant(1), g.alphanumeric(1000, 1000)))
        result = scratch.run(make_workload(row), transactions=1200)
        assert transaction(result)["failed"] == 2
        assert statement(result, "insert_rows")["errors"] == 3
        assert result["error"] is None


class TestChance:
    INSERT = make_workload(
        Execute("INSERT INTO t (worker, a) VALUES (?, ?)", ("worker", g.uniform(1, 10**9)))
    )

    def draws(self, scratch, **options):
        """Return each worker's draws in order."""
        scratch.query(
            "CREATE OR REPLACE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, worker INT, a INT)"
        )
        scratch.run(self.INSERT, **options)
        return [
            scratch.numbers(f"SELECT a FROM t WHERE worker = {worker} ORDER BY id")
            for worker in range(1, options.get("threads", 1) + 1)
        ]

    def test_same_seed_draws_the_same(self, scratch):
        (first,) = self.draws(scratch, seed=5, transactions=50)
        (again,) = self.draws(scratch, seed=5, transactions=50)
        (other,) = self.draws(scratch, seed=6, transactions=50)
        assert first == again and not set(first) & set(other)

    def test_each_worker_has_its_own_stream_whatever_the_number_of_workers(self, scratch):
        (alone,) = self.draws(scratch, seed=5, transactions=200)
        together = self.draws(scratch, seed=5, transactions=400, threads=2)
        common = min(len(alone), len(together[0]))
        assert common > 0 and alone[:common] == together[0][:common]
        assert not set(together[0]) & set(together[1])


class TestStop:
    def test_stop_from_another_thread_ends_a_run_without_limit(self):
        driver = make_driver(null(), None, threads=2, interval_s=0.05)
        began = threading.Event()
        stopper = threading.Thread(target=lambda: (began.wait(), driver.stop()))
        stopper.start()
        result = driver.run(lambda row, histograms: began.set())
        stopper.join()
        assert result["stopped_by"] == "request"
        assert result["accounting"]["scheduled"] == result["accounting"]["committed"]

    def test_stop_in_the_warmup_measures_nothing(self):
        driver = make_driver(null(), None, warmup_s=60, duration_s=1, interval_s=0.05)
        result = driver.run(lambda row, histograms: driver.stop())
        assert result["stopped_by"] == "request" and result["measured_s"] == 0
        assert 0 < result["warmup_s"] < 60 and len(rows_of(result)) == 0
        assert transaction(result, "null")["committed"] == 0

    def test_stop_before_the_run_is_not_forgotten(self):
        driver = make_driver(null(), None, duration_s=60)
        driver.stop()
        with pytest.raises(RunError, match="stopped before all workers were connected"):
            driver.run()
        assert driver.result() is None

    def test_stop_after_the_run_changes_nothing(self):
        driver = make_driver(null(), None, transactions=10)
        driver.run()
        driver.stop()
        assert driver.result()["stopped_by"] == "count"

    def test_driver_runs_once(self):
        driver = make_driver(null(), None, transactions=10)
        driver.run()
        with pytest.raises(RuntimeError, match="a driver runs once"):
            driver.run()
        assert transaction(driver.result(), "null")["committed"] == 10

    def test_driver_may_be_dropped_without_a_run(self, scratch):
        driver = make_driver(make_workload(Begin()), scratch.endpoint, threads=8)
        assert driver.result() is None
        del driver

    @pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
    def test_exception_of_the_callback_stops_the_run(self, scratch, kind):
        def fail(row, histograms):
            raise kind("enough")

        workload = make_workload(Execute("SELECT 1"))
        driver = make_driver(workload, scratch.endpoint, threads=2, interval_s=0.05)
        with pytest.raises(kind, match="enough"):
            driver.run(fail)
        result = driver.result()
        assert result["stopped_by"] == "request" and result["error"] is None
        assert rows_of(result)["committed"].sum() == transaction(result)["committed"] > 0
        check_accounting(result)

    def test_blocked_statements_of_a_stopped_run_are_in_flight_not_errors(self, scratch):
        workload = make_workload(Begin(), Execute("SELECT SLEEP(100)"), Commit())
        driver = make_driver(workload, scratch.endpoint, threads=3, interval_s=0.05)
        result = driver.run(lambda row, histograms: driver.stop())
        assert result["accounting"]["in_flight"] == 3 and result["errors"] == []
        assert statement(result, "begin")["executions"] == 3
        assert statement(result, "select")["executions_in_all_phases"] == 0

    def test_statements_that_take_too_long_are_cut_off(self, scratch):
        workload = make_workload(Execute("SELECT SLEEP(100)"))
        result = scratch.run(workload, threads=2, duration_s=0.1, drain_s=0.1)
        assert result["stopped_by"] == "time" and result["accounting"]["in_flight"] == 2

    def test_transaction_begun_in_time_may_end_in_the_drain(self, scratch):
        result = scratch.run(make_workload(Execute("DO SLEEP(0.5)")), duration_s=0.2)
        assert result["accounting"]["committed"] == 1 and transaction(result)["committed"] == 0
        assert list(result["rows"]["committed"]) == [0, 1]

    def test_stop_while_reconnecting_is_clean(self, scratch):
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

    def test_server_that_never_answers_is_given_up(self, silent_socket):
        endpoint = {"socket": str(silent_socket), "connect_timeout_s": 1}
        driver = make_driver(make_workload(Begin()), endpoint, threads=3)
        with pytest.raises(DatabaseError) as caught:
            driver.run()
        assert caught.value.number in (2002, 2013)

    def test_stop_while_connecting_is_told(self, silent_socket):
        endpoint = {"socket": str(silent_socket), "connect_timeout_s": 2}
        driver = make_driver(make_workload(Begin()), endpoint, threads=3)
        stopper = threading.Timer(0.2, driver.stop)
        stopper.start()
        with pytest.raises(RunError, match="stopped before all workers were connected"):
            driver.run()
        stopper.join()

    def test_interrupt_ends_a_blocked_run_and_leaves_its_result(self, scratch):
        with start_script(BLOCKED, json.dumps(scratch.endpoint)) as process:
            wait_until(lambda: len(sleepers(scratch)) == 4)
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


class TestMany:
    def test_two_drivers_run_at_once(self, scratch):
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

    def test_a_thousand_workers_share_a_run(self):
        result = make_driver(null(), None, threads=1000, duration_s=0.2, warmup_s=0.1).run()
        assert transaction(result, "null")["committed"] > 1000
        check_accounting(result)

    @pytest.mark.parametrize("needs_server", [False, True])
    def test_drivers_leave_no_memory_behind(self, scratch, needs_server):
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


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "kind", "message"),
        [
            ({"threads": 0}, WorkloadError, "threads must be 1 to 65536, not 0"),
            ({"threads": -1}, WorkloadError, "threads must be 1 to 65536, not -1"),
            ({"threads": 2**32 + 1}, WorkloadError, "threads must be 1 to 65536, not 4294967297"),
            ({"transactions": -1}, WorkloadError, "must not be negative"),
            ({"interval_s": 0.001}, WorkloadError, "an interval must last 0.01 s or more"),
            ({"duration_s": -1}, ValueError, "duration_s must be 0 to 1e9 seconds"),
            ({"warmup_s": float("nan")}, ValueError, "warmup_s must be 0 to 1e9 seconds"),
            ({"drain_s": float("inf")}, ValueError, "drain_s must be 0 to 1e9 seconds"),
        ],
    )
    def test_options_out_of_range_are_named(self, options, kind, message):
        with pytest.raises(kind, match=message):
            make_driver(null(), None, **options)

    def test_statements_need_an_endpoint(self):
        with pytest.raises(WorkloadError, match="executes statements: it needs a server"):
            make_driver(make_workload(Begin()), None)

    def test_endpoint_is_a_dict(self):
        with pytest.raises(TypeError, match="endpoint is a dict or None, not <class 'list'>"):
            make_driver(null(), [])

    def test_program_is_a_program(self):
        with pytest.raises(TypeError, match="a Program is needed, not <class 'dict'>"):
            Driver({}, None)

    def test_rows_are_a_structured_array_of_eight_byte_fields(self):
        rows = make_driver(null(), None, duration_s=0.1, interval_s=0.05).run()["rows"]
        assert rows.dtype.names[:4] == ("time_s", "elapsed_s", "phase", "committed")
        assert {rows.dtype[name].str for name in rows.dtype.names} == {"<f8", "<i8"}
        assert np.isfinite(rows["time_s"]).all()
