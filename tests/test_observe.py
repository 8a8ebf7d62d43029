"""The numbers of a record are what the rows and histograms of the run say."""

import math

import numpy as np
import pytest
from studies import POINT_SELECT, connect_to, small_study, statement_workload

import benchkit as bk
from benchkit import observe
from benchkit._core import Driver, Histogram, Program
from benchkit.record import MEASUREMENT
from benchkit.workloads import Rules


@pytest.fixture(scope="module")
def dataset(server, tmp_path_factory):
    """Return one run of a mixed workload with a warmup, some seconds and three threads."""
    study = small_study(
        [connect_to(server)],
        workloads=[bk.workloads.oltp_read_write(rows=500)],
        threads=[3],
        transactions=0,
        warmup="0.5s",
        duration="2.5s",
    )
    return study.run(tmp_path_factory.mktemp("observe") / "s")["small"]


@pytest.fixture(scope="module")
def record(dataset):
    (record,) = dataset.records
    return record


def total(dataset, field):
    return dataset.series(field, iteration=1).sum()


@pytest.mark.parametrize(
    ("metric", "field"),
    [
        ("tps", "committed"),
        ("reads_per_s", "reads"),
        ("writes_per_s", "writes"),
        ("other_per_s", "other"),
        ("errors_per_s", "errors"),
        ("retries_per_s", "retries"),
    ],
)
def test_rate_is_the_rows_count_by_the_measured_time(dataset, record, metric, field):
    assert record.metrics[metric] == total(dataset, field) / record.measured_s


def test_statement_rate_is_that_of_those_that_did_not_fail(dataset, record):
    done = total(dataset, "statements") - total(dataset, "errors")  # a deadlock, say
    assert record.metrics["qps"] == done / record.measured_s


def test_failed_statements_are_in_no_statement_rate(server, tmp_path):
    failing = statement_workload("SELECT (SELECT 1 UNION SELECT 2)", rules=Rules(tolerate=(1242,)))
    study = small_study([connect_to(server)], workloads=[POINT_SELECT, failing])
    works, fails = study.run(tmp_path / "s")
    for dataset in (works, fails):
        (lasted,) = dataset.series("elapsed_s")
        done = (dataset.series("qps") * lasted).sum() / lasted.sum()
        assert done == pytest.approx(dataset.array("qps")[0, 0])
    assert works.array("errors_per_s") == 0 < fails.array("errors_per_s")


def test_rows_fill_the_measured_time(dataset, record):
    assert total(dataset, "elapsed_s") == pytest.approx(record.measured_s, abs=1e-6)


def test_counts_are_those_of_the_rows(dataset, record):
    assert record.metrics["committed"] == total(dataset, "committed")
    assert record.metrics["failed"] == total(dataset, "failed") == 0


def test_statements_of_every_kind_add_up_to_the_rows(dataset, record):
    assert sum(s.executions for s in record.statements) == total(dataset, "statements")
    assert sum(s.errors for s in record.statements) == total(dataset, "errors")
    assert sum(s.results for s in record.statements) == total(dataset, "reads")
    assert sum(s.writes for s in record.statements) == total(dataset, "writes")


def test_transactions_add_up_to_the_rows(dataset, record):
    assert sum(t.committed for t in record.transactions) == total(dataset, "committed")


def test_every_scheduled_transaction_is_accounted_for(dataset, record):
    accounting = record.accounting
    assert accounting.committed == dataset.series("committed", iteration=1, phase="all").sum()
    assert accounting.scheduled == (
        accounting.committed + accounting.rolled_back + accounting.failed + accounting.in_flight
    )


def test_response_times_are_those_of_the_merged_log(dataset, record):
    """But for what the log rounds to three digits."""
    merged = dataset.histogram()
    at = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p999": 99.9, "max": 100.0}
    expected_s = {name: merged.percentile(percentile) / 1e9 for name, percentile in at.items()}
    expected_s["mean"] = merged.mean / 1e9
    for name, value in expected_s.items():
        assert record.metrics[f"latency_{name}"] == pytest.approx(value, rel=1e-3)
    (transaction,) = record.transactions
    assert transaction.response.p95_s == record.metrics["latency_p95"]


def test_percentiles_of_the_rows_are_those_of_their_lines_in_the_log(dataset):
    rows = dataset.series("response_p95_s", iteration=1)
    largest = dataset.series("response_max_s", iteration=1)
    assert largest.max() >= rows.max() > 0


def test_statements_have_response_times(record):
    executed = [statement for statement in record.statements if statement.executions]
    assert len(executed) >= 4
    for statement in executed:
        assert 0 < statement.response.p50_s <= statement.response.p99_s <= statement.response.max_s


def test_client_cost_is_cpu_by_statement(record):
    cpu_s = record.client["cpu_user_s"] + record.client["cpu_system_s"]
    expected_us = 1e6 * cpu_s / record.client["statements"]
    assert record.metrics["client_cpu_us_per_statement"] == pytest.approx(expected_us)


@pytest.mark.parametrize(("os_threads", "share"), [(1, 1.5), (2, 0.75), (64, 0.375)])
def test_driver_is_busy_by_the_processors_that_its_threads_can_use(os_threads, share):
    times = {"cpu_user_s": 1.0, "cpu_system_s": 2.0, "warmup_s": 0.5, "measured_s": 1.5}
    result = {**times, "os_threads": os_threads}
    assert observe.busy_share(result, processors=4) == pytest.approx(share)


def run_driver(**options):
    return Driver(Program(bk.workloads.null().spec()), None, **options).run()


def test_what_was_not_measured_is_nan():
    """A run that is stopped in its warmup has counts of 0, but neither rates nor times."""
    driver = Driver(Program(bk.workloads.null().spec()), None, warmup_s=60, duration_s=1)
    result = driver.run(lambda row, histograms: driver.stop())
    metrics = observe.compute_metrics(result)
    assert metrics["committed"] == 0
    unknown = {name for name, value in metrics.items() if math.isnan(value)}
    assert unknown >= {"tps", "qps", "errors_per_s", "latency_mean", "latency_p95", "latency_max"}


def test_null_workload_has_no_statements():
    result = run_driver(transactions=1000)
    metrics = observe.compute_metrics(result)
    assert metrics["committed"] == 1000
    assert metrics["qps"] == 0
    assert math.isnan(metrics["client_cpu_us_per_statement"])
    assert observe.observe_statements(result) == ()
    rows = result["rows"]
    assert np.sum(rows["committed"][rows["phase"] == MEASUREMENT]) == 1000


def test_errors_are_counted_by_number_and_statement(server, tmp_path):
    step = bk.workloads.Execute("SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1062", name="refuse")
    workload = bk.workloads.Workload("my:errors", (bk.workloads.Transaction("refused", (step,)),))
    study = small_study([connect_to(server)], workloads=[workload], transactions=0, duration="0.5s")
    (record,) = study.run(tmp_path)["small"].records
    (error,) = record.errors
    assert (error.number, error.sqlstate, error.statement) == (1062, "45000", "refuse")
    assert record.metrics["failed"] > 0
    # One may fail in the measurement whose rollback ends after it.
    assert abs(error.count - record.metrics["failed"]) <= 1
    assert record.metrics["errors_per_s"] == error.count / record.measured_s
    assert any("transactions failed" in warning for warning in record.warnings)


def test_point_select_reads_one_row_set_per_transaction(server, tmp_path):
    study = small_study([connect_to(server)], workloads=[POINT_SELECT], transactions=100)
    (record,) = study.run(tmp_path)["small"].records
    assert record.metrics["reads_per_s"] == record.metrics["qps"] == record.metrics["tps"]


def test_statement_histograms_are_as_fine_as_those_of_transactions():
    result = run_driver(transactions=10)
    histograms = [entry["response"] for entry in (*result["statements"], *result["transactions"])]
    default = Histogram()
    assert {(h.digits, h.highest) for h in histograms} == {(default.digits, default.highest)}


def test_response_of_an_hour_is_within_the_layout():
    histogram = Histogram()
    histogram.record(3_600_000_000_000)
    assert histogram.overflow == 0
    decoded = Histogram.decode(histogram.encode())
    assert decoded == histogram
