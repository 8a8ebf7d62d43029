"""Metrics of others' files that benchkit does not know: compared and printed by their own name."""

import math

import pytest
import taf_writer
from imports import dataset, imported, report_of

from benchkit import plot
from benchkit.errors import MetricError


@pytest.fixture(params=["QphH", "IOPS"])
def results(request, tmp_path):
    text = report_of(
        dataset("11.8", 1.0, 2.0, 3.0), dataset("12.1", 4.0, 5.0), metric=request.param
    )
    return imported(tmp_path, text)


def test_metric_is_the_reports_and_is_compared_without_being_named(results):
    metric = results.primary_metric
    assert results.metrics == (metric,)
    comparison = results.compare()
    assert comparison.metric.name == metric
    assert comparison.ratio("Mariadb 12.1").tolist() == [2.25]


def test_taf_style_prints_it_under_its_own_name(results):
    metric = results.primary_metric
    text = str(results.compare().table("taf"))
    assert f"Comparison: {metric}\n" in text
    assert "Mean\t2.00\t4.50\t2.50" in text


@pytest.mark.parametrize("style", [None, "modern"])
def test_nothing_is_called_better(results, style):
    comparison = results.compare()
    text = str(comparison.table(style) if style else comparison)
    assert "unit and better direction unknown" in text
    assert "% better" not in text and "% worse" not in text
    assert "()" not in text


def test_it_is_in_frames_cubes_and_figures(results):
    metric = results.primary_metric
    assert results.to_pandas()[metric].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    variable = results.to_xarray()[metric]
    assert variable.attrs == {"units": "", "long_name": metric}
    assert math.isnan(variable.values[1, 0, 2])
    assert plot.throughput(results, metric).get_ylabel() == metric


def test_other_names_are_still_errors(results):
    with pytest.raises(MetricError, match="unknown metric 'nonsense'"):
        results.compare("nonsense")


def test_metric_that_only_one_side_has_is_refused_or_missing(tmp_path):
    from benchkit import load

    imported(tmp_path, report_of(dataset("1", 1.0), dataset("2", 2.0), metric="IOPS"), "a")
    imported(tmp_path, report_of(dataset("3", 1.0), dataset("4", 2.0)), "b")
    both = load([tmp_path / "a", tmp_path / "b"])
    with pytest.raises(Exception, match="has no IOPS"):
        both.compare("IOPS")
    assert "(missing)" in repr(both.compare("IOPS", allow_different=True))


def test_primary_metric_of_a_result_file_is_compared(tmp_path):
    series = taf_writer.one_series(iterations=2)
    text = taf_writer.json_report(series).replace('"TPS"', '"IOPS"')
    found = imported(tmp_path, text)
    assert found.primary_metric == "IOPS"
    assert found.compare().columns[0].mean.tolist() == [213.49]
