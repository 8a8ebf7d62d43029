"""Figures: what is drawn, as numbers; how it looks is for eyes."""

import matplotlib
import numpy as np
import pytest
from factory import WORKLOAD, Plan, default_tps, drop_histograms, make_study

from benchkit import plot
from benchkit._core import Histogram
from benchkit.errors import MetricError
from benchkit.results import load

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    plan = Plan(absent=(("flush=2", 4, 3),))
    return load(make_study(tmp_path_factory.mktemp("data") / "study", plan).path)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_throughput_draws_a_line_of_means_per_dataset(results):
    axes = plot.throughput(results)
    assert legend(axes) == ["baseline", "flush=2"]
    line = axes.get_lines()[0]
    assert line.get_xdata().tolist() == [1, 4]
    expected = [np.mean([default_tps("baseline", t, i) for i in (1, 2, 3)]) for t in (1, 4)]
    np.testing.assert_allclose(line.get_ydata(), expected)


def test_throughput_draws_a_dot_for_every_run_and_none_for_an_absent_one(results):
    axes = plot.throughput(results)
    drawn = [np.ma.count(dots.get_offsets()[:, 1]) for dots in axes.collections]
    assert drawn == [6, 5]


def test_throughput_axes_start_at_zero_and_name_their_units(results):
    axes = plot.throughput(results)
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylabel() == "throughput (transactions/s)"
    assert (axes.get_xlabel(), ticks(axes.xaxis)) == ("threads", ["1", "4"])


def test_response_time_is_drawn_in_milliseconds(results):
    axes = plot.throughput(results, "latency_p95")
    assert axes.get_ylabel() == "95th percentile response time (ms)"


def test_response_times_have_a_line_through_all_iterations_together(results):
    baseline = results["baseline"]
    axes = plot.throughput(results, "latency_p95")
    expected = [baseline.histogram(threads).percentile(95) / 1e6 for threads in (1, 4)]
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), expected)
    dots = axes.collections[0].get_offsets()[:, 1]
    np.testing.assert_allclose(dots, 1000 * baseline.array("latency_p95").ravel())
    assert "line: all together, dots: each" in axes.get_title(loc="left")


def test_percentiles_without_histograms_have_dots_and_no_line(tmp_path):
    results = load(drop_histograms(make_study(tmp_path / "study")).path)
    axes = plot.throughput(results, "latency_p95")
    assert np.isnan(axes.get_lines()[0].get_ydata()).all()
    assert "no line where there are no histograms" in axes.get_title(loc="left")


def test_figure_says_direction_workload_and_number_of_iterations(results):
    title = plot.throughput(results).get_title(loc="left")
    assert WORKLOAD in title
    assert "higher is better" in title
    assert "n = 3 iterations" in title


def test_single_iteration_is_said(tmp_path):
    results = load(make_study(tmp_path / "study", Plan(iterations=(1,))).path)
    assert "one iteration" in plot.throughput(results).get_title(loc="left")


def test_given_axes_are_drawn_on_and_returned(results):
    from matplotlib import pyplot

    _, (left, right) = pyplot.subplots(1, 2)
    assert plot.throughput(results, ax=left) is left
    assert plot.percentiles(results, ax=right) is right


def test_settings_of_matplotlib_stay_as_they_are(results):
    before = dict(matplotlib.rcParams)
    plot.throughput(results)
    plot.percentiles(results)
    assert dict(matplotlib.rcParams) == before


def test_datasets_differ_in_colour_and_marker(tmp_path):
    servers = tuple("abcdefghi")
    plan = Plan(servers=servers, threads=(1,), iterations=(1,))
    lines = plot.throughput(load(make_study(tmp_path / "study", plan).path)).get_lines()
    styles = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}
    assert len(styles) == len(servers)


def test_metric_that_is_zero_everywhere_is_drawn(results):
    assert plot.throughput(results, "errors_per_s").get_ylim() == (0, 1)


def test_nothing_to_draw_is_an_error(results):
    with pytest.raises(MetricError, match="no run has the metric 'latency_max'"):
        plot.throughput(results, "latency_max")
    with pytest.raises(MetricError, match="no run has the metric 'load_rows_per_s'"):
        plot.throughput(results, "load_rows_per_s")
    with pytest.raises(MetricError, match="unknown metric"):
        plot.throughput(results, "speed")
    with pytest.raises(MetricError, match="nothing to draw"):
        plot.percentiles([])


# Percentiles


def test_curve_follows_the_histogram_and_ends_where_ten_samples_lie_beyond():
    histogram = Histogram()
    histogram.record_many(np.arange(1, 1001) * 1_000_000)
    curve = plot.percentile_curve(histogram)
    assert curve.samples == 1000
    assert curve.percentile[0] == 0
    assert curve.percentile[-1] == pytest.approx(99)
    assert curve.response_time_s[-1] == pytest.approx(0.99, rel=1e-3)
    assert np.all(np.diff(curve.response_time_s) >= 0)


@pytest.mark.parametrize("samples", [0, 1, 10])
def test_curve_of_too_few_samples_is_empty(samples):
    histogram = Histogram()
    histogram.record_many(np.full(samples, 5_000_000))
    curve = plot.percentile_curve(histogram)
    assert (curve.percentile.size, curve.samples) == (0, samples)


def test_percentiles_of_results_are_at_the_largest_common_thread_count(results):
    axes = plot.percentiles(results)
    assert legend(axes) == ["baseline (n = 6,000)", "flush=2 (n = 4,000)"]
    assert "4 threads" in axes.get_title(loc="left")


def test_percentiles_of_a_dataset_have_a_curve_for_each_thread_count(results):
    axes = plot.percentiles(results["baseline"])
    assert legend(axes) == ["1 thread (n = 6,000)", "4 threads (n = 6,000)"]


def test_percentile_axis_stretches_the_tail(results):
    axes = plot.percentiles(results["baseline"], threads=1)
    assert ticks(axes.xaxis) == ["0", "50", "90", "99"]
    line = axes.get_lines()[0]
    at_99 = np.interp(100, line.get_xdata(), line.get_ydata())
    expected = results["baseline"].histogram(threads=1).percentile(99) / 1e6
    assert at_99 == pytest.approx(expected, rel=0.02)
    assert axes.get_ylabel() == "response time (ms)"


def test_percentiles_without_a_common_thread_count_are_an_error(tmp_path):
    plan = Plan(absent=(("flush=2", 4, 1), ("baseline", 1, 1)), iterations=(1,))
    results = load(make_study(tmp_path / "study", plan).path)
    with pytest.raises(MetricError, match="no thread count in common"):
        plot.percentiles(results)


def test_too_few_transactions_are_said_in_the_legend(results):
    axes = plot.percentiles(results["baseline"], threads=1)
    histogram = Histogram()
    histogram.record_many(np.full(5, 1_000_000))
    plot._draw_percentiles(axes, "few", histogram, plot._style(1))
    assert axes.get_lines()[-1].get_label() == "few (n = 5, too few to draw)"


@pytest.mark.parametrize(
    ("nines", "text"), [(1, "90"), (2, "99"), (3, "99.9"), (4, "99.99"), (6, "99.9999")]
)
def test_nines_are_written_as_percentiles(nines, text):
    assert plot._nines_text(nines) == text
