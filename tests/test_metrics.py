"""The vocabulary of metrics."""

from pathlib import Path

import pytest

from benchkit.errors import MetricError
from benchkit.metrics import METRICS, find_metric


def test_unknown_metric_is_an_error_that_names_the_nearest():
    with pytest.raises(MetricError, match="unknown metric 'tpss': did you mean 'tps'"):
        find_metric("tpss")


def test_registry_holds_each_metric_under_its_name():
    assert all(find_metric(name).name == name for name in METRICS)


def test_every_metric_explains_itself():
    assert all(m.label and m.description.endswith(".") for m in METRICS.values())


def test_response_times_are_shown_in_milliseconds():
    metric = find_metric("latency_p95")
    assert (metric.unit, metric.shown_unit, metric.shown_scale) == ("s", "ms", 1000.0)
    assert metric.axis_label == "95th percentile response time (ms)"


def test_counts_have_no_unit_on_the_axis():
    assert find_metric("committed").axis_label == "committed transactions"


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("tps", "higher is better"),
        ("latency_p99", "lower is better"),
        ("errors_per_s", "lower is better"),
        ("client_cpu_us_per_statement", "lower is better"),
        ("load_rows_per_s", "higher is better"),
    ],
)
def test_direction_is_said_in_words(name, direction):
    assert find_metric(name).direction == direction


def test_readme_lists_every_metric():
    readme = (Path(__file__).resolve().parent.parent / "README.md").read_text()
    assert [name for name in METRICS if f"`{name}`" not in readme] == []
