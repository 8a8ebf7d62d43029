"""The driver against a real server: what it counts, chance, and its options."""

import numpy as np
import pytest
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
from benchkit._core import Driver
from benchkit.errors import WorkloadError
from benchkit.workloads import Begin, Choose, Commit, Execute, Repeat, Rollback, null

ROW = g.uniform(1, 4)


def test_statements_are_counted_as_the_server_counts_them(scratch):
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


def test_reads_and_writes_are_told_apart(scratch):
    scratch.make_two_rows()
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
def test_counted_run_measures_exactly_its_number(scratch, threads):
    workload = make_workload(Execute("SELECT 1"))
    result = scratch.run(workload, threads=threads, transactions=501, warmup_s=0.1)
    assert result["stopped_by"] == "count"
    assert transaction(result)["committed"] == 501
    assert statement(result, "select")["executions"] == 501
    assert measurement_rows(result)["committed"].sum() == 501
    assert result["accounting"]["committed"] > 501


def test_rows_of_the_measurement_add_up_to_its_totals(scratch):
    scratch.make_two_rows()
    workload = make_workload(
        Begin(), update(1), update(2), Choose(((1, (Commit(),)), (1, (Rollback(),))))
    )
    result = scratch.run(workload, threads=3, duration_s=0.5, warmup_s=0.1, interval_s=0.1)
    rows, main = measurement_rows(result), transaction(result)
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


def test_warmup_is_counted_apart(scratch):
    workload = make_workload(Execute("SELECT 1"))
    result = scratch.run(workload, duration_s=0.2, warmup_s=0.3, interval_s=0.1)
    select = statement(result, "select")
    assert result["warmup_s"] == 0.3 and result["measured_s"] == pytest.approx(0.2)
    assert 0 < select["executions"] < select["executions_in_all_phases"]
    assert transaction(result)["committed"] < result["accounting"]["committed"]
    assert [row["phase"] for row in result["rows"]][:5] == [0, 0, 0, 1, 1]
    assert transaction(result)["response"].total == transaction(result)["committed"]


def test_measured_response_times_are_those_of_the_statements(scratch):
    result = scratch.run(make_workload(Execute("DO SLEEP(0.05)")), transactions=3)
    for measured in (transaction(result), result["statements"][0]):
        assert measured["response"].min > 50e6 and measured["response"].total == 3


def test_histograms_told_with_the_rows_add_up_to_the_result(scratch):
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


def test_cpu_time_of_the_workers_is_told():
    result = make_driver(null(), None, duration_s=0.2).run()
    assert 0.02 < result["cpu_user_s"] + result["cpu_system_s"] < 2


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
def test_options_out_of_range_are_named(options, kind, message):
    with pytest.raises(kind, match=message):
        make_driver(null(), None, **options)


def test_statements_need_an_endpoint():
    with pytest.raises(WorkloadError, match="executes statements: it needs a server"):
        make_driver(make_workload(Execute("SELECT 1")), None)


def test_endpoint_is_a_dict():
    with pytest.raises(TypeError, match="endpoint is a dict or None, not <class 'list'>"):
        make_driver(null(), [])


def test_program_is_a_program():
    with pytest.raises(TypeError, match="a Program is needed, not <class 'dict'>"):
        Driver({}, None)


def test_rows_are_a_structured_array_of_eight_byte_fields():
    rows = make_driver(null(), None, duration_s=0.1, interval_s=0.05).run()["rows"]
    assert rows.dtype.names[:4] == ("time_s", "elapsed_s", "phase", "committed")
    assert {rows.dtype[name].str for name in rows.dtype.names} == {"<f8", "<i8"}
    assert np.isfinite(rows["time_s"]).all()
