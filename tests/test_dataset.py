"""A dataset's arrays, series and histograms."""

from dataclasses import replace

import numpy as np
import pytest
from factory import (
    WORKLOAD,
    Plan,
    default_tps,
    make_record,
    make_study,
    response_times_ns,
    save_run,
)

from benchkit.errors import MetricError
from benchkit.results import load
from benchkit.store import StudyFolder

PLAN = Plan(absent=(("baseline", 4, 2),))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return load(make_study(tmp_path_factory.mktemp("data") / "study", PLAN).path)["baseline"]


def record_of(threads, iteration):
    return make_record(PLAN, "baseline", WORKLOAD, threads, iteration)


def test_axes_are_threads_and_iterations_in_order(dataset):
    assert dataset.threads.tolist() == [1, 4]
    assert dataset.iterations.tolist() == [1, 2, 3]


def test_array_holds_every_run_and_nan_where_one_is_absent(dataset):
    expected = [[default_tps("baseline", t, i) for i in (1, 2, 3)] for t in (1, 4)]
    expected[1][1] = np.nan
    np.testing.assert_array_equal(dataset.array("tps"), expected)


def test_metric_that_no_run_has_is_nan_and_not_zero(dataset):
    assert np.isnan(dataset.array("load_rows_per_s")).all()
    assert "load_rows_per_s" not in dataset.metrics


def test_metric_that_was_not_measured_is_nan(dataset):
    assert np.isnan(dataset.array("latency_p999")).all(axis=1).tolist() == [True, False]
    assert np.isnan(dataset.array("latency_max")).all()
    assert "latency_p999" in dataset.metrics
    assert "latency_max" not in dataset.metrics


def test_unknown_metric_is_an_error_with_the_nearest(dataset):
    with pytest.raises(MetricError, match="did you mean 'tps'"):
        dataset.array("tpss")


def test_records_are_in_order_of_threads_and_iterations(dataset):
    cells = [(r.factors.threads, r.factors.iteration) for r in dataset.records]
    assert cells == [(1, 1), (1, 2), (1, 3), (4, 1), (4, 3)]


def test_repr_says_what_it_is(dataset):
    assert repr(dataset) == (
        "<Dataset 'baseline': sysbench/1.1:oltp_point_select on baseline, threads 1, 4, 5 runs>"
    )


# Series


def test_series_has_a_row_for_each_iteration(dataset):
    series = dataset.series("tps", threads=1)
    assert series.shape == (3, PLAN.seconds)
    np.testing.assert_array_equal(series[:, 0], [181, 182, 183])


def test_row_of_an_absent_iteration_is_nan(dataset):
    series = dataset.series("tps", threads=4)
    assert np.isnan(series).all(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        ("measurement", [181, 181, 181]),
        ("warmup", [7]),
        ("drain", [1]),
        ("all", [7, 181, 181, 181, 1]),
    ],
)
def test_phases_are_chosen_by_name(dataset, phase, expected):
    assert dataset.series("qps", threads=1, iteration=1, phase=phase).tolist() == expected


@pytest.mark.parametrize("phase", ["measurement", "all"])
def test_raw_field_of_one_iteration_is_a_view_of_the_file(dataset, phase):
    times = dataset.series("time_s", threads=1, iteration=2, phase=phase)
    assert isinstance(times, np.memmap)
    assert not times.flags.owndata
    assert not times.flags.writeable


def test_response_times_go_by_metric_or_field_name(dataset):
    by_metric = dataset.series("latency_p95", threads=1, iteration=1)
    by_field = dataset.series("response_p95_s", threads=1, iteration=1)
    np.testing.assert_array_equal(by_metric, by_field)


def test_shorter_iterations_are_padded_with_nan(tmp_path):
    folder = make_study(tmp_path / "study", Plan(servers=("a",), threads=(1,), iterations=(1,)))
    longer = Plan(servers=("a",), threads=(1,), seconds=5)
    record = make_record(longer, "a", WORKLOAD, 1, 2)
    record = replace(record, identity={**record.identity, "duration_s": 3.0})
    save_run(folder, longer, record)
    series = load(folder.path)["a"].series("committed", threads=1)
    assert series.shape == (2, 5)
    assert np.isnan(series).tolist() == [[False] * 3 + [True] * 2, [False] * 5]


def test_threads_may_be_left_out_where_there_is_one(tmp_path):
    plan = Plan(servers=("a",), threads=(8,), iterations=(1,))
    dataset = load(make_study(tmp_path / "study", plan).path)["a"]
    assert dataset.series("tps").shape == (1, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs threads=; it has 1, 4"),
        ({"threads": 3}, "has no runs with 3 threads; it has 1, 4"),
        ({"threads": 4, "iteration": 2}, "has no iteration 2 with 4 threads; it has 1, 3"),
        ({"threads": 1, "phase": "warm"}, "unknown phase 'warm': did you mean 'warmup'"),
    ],
)
def test_series_that_is_not_there_is_an_error_with_what_is(dataset, arguments, message):
    with pytest.raises(MetricError, match=message):
        dataset.series("tps", **arguments)


def test_series_of_a_metric_without_intervals_is_an_error(dataset):
    with pytest.raises(MetricError, match="unknown series 'load_rows_per_s'"):
        dataset.series("load_rows_per_s", threads=1)


# Histograms


def exact(threads, iterations):
    times = [response_times_ns(record_of(threads, i)) for i in iterations]
    return np.sort(np.concatenate(times))


def test_histogram_merges_intervals_and_iterations(dataset):
    histogram = dataset.histogram(threads=4)
    times = exact(4, [1, 3])
    assert histogram.total == len(times)
    percentiles = [50, 95, 99, 99.9]
    ranks = np.ceil(np.round(np.array(percentiles) * len(times) / 100, 6)).astype(int) - 1
    np.testing.assert_allclose(histogram.percentile(percentiles), times[ranks], rtol=1e-3)


def test_histogram_of_everything_merges_all_runs(dataset):
    assert dataset.histogram().total == 5 * 2000


@pytest.mark.parametrize(
    ("arguments", "total"),
    [
        ({"threads": 1, "iteration": 2}, 2000),
        ({"iteration": 2}, 2000),
        ({"tag": "statement.select", "threads": 1}, 6000),
        ({"phase": "warmup", "threads": 1}, 21),
        ({"tag": "transaction.point_select", "phase": "warmup"}, 35),
    ],
)
def test_histogram_takes_the_runs_and_tags_asked_for(dataset, arguments, total):
    assert dataset.histogram(**arguments).total == total


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tag": "statement.selekt"}, "unknown tag 'statement.selekt': did you mean 'statement"),
        ({"threads": 3}, "has no runs with 3 threads"),
        ({"iteration": 9}, "has no iteration 9; it has 1, 2, 3"),
        ({"threads": 4, "iteration": 2}, "has no iteration 2 with 4 threads"),
        ({"phase": "drain"}, "no response times of the drain: no transaction was committed in it"),
        ({"phase": "all"}, "unknown phase 'all'"),
    ],
)
def test_histogram_that_is_not_there_is_an_error_with_what_is(dataset, arguments, message):
    with pytest.raises(MetricError, match=message):
        dataset.histogram(**arguments)


def test_reading_leaves_the_folder_as_it_was(tmp_path):
    folder = make_study(tmp_path / "study")
    before = sorted(folder.path.rglob("*"))
    dataset = load(folder.path)["baseline"]
    dataset.series("tps", threads=1)
    dataset.histogram()
    assert sorted(folder.path.rglob("*")) == before
    assert StudyFolder.open(folder.path).study == folder.study
