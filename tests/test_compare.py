"""Comparisons: the numbers, and how they read as text and as HTML."""

import re
from dataclasses import replace

import numpy as np
import pytest
from factory import (
    WORKLOAD,
    Plan,
    default_tps,
    drop_histograms,
    make_record,
    make_study,
    save_run,
)

from benchkit.errors import ComparisonError, MetricError
from benchkit.inventory import compute_means
from benchkit.results import load
from benchkit.store import StudyFolder

READ_ONLY = "sysbench/1.1:oltp_read_only"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    plan = Plan(absent=(("flush=2", 4, 1), ("flush=2", 4, 2), ("flush=2", 4, 3)))
    return load(make_study(tmp_path_factory.mktemp("data") / "study", plan).path)


def results_of(path, **changes):
    return load(make_study(path / "study", Plan(**changes)).path)


# The numbers


def test_frame_has_means_ratios_and_n(results):
    frame = results.compare("tps").frame
    assert list(frame.columns) == [
        "workload",
        "threads",
        "baseline",
        "flush=2",
        "flush=2 / baseline",
        "n baseline",
        "n flush=2",
        "sd baseline",
        "sd flush=2",
    ]
    mean = {s: np.mean([default_tps(s, 1, i) for i in (1, 2, 3)]) for s in ("baseline", "flush=2")}
    assert frame["threads"].tolist() == [1, 4]
    assert frame["baseline"][0] == pytest.approx(mean["baseline"])
    assert frame["flush=2 / baseline"][0] == pytest.approx(mean["flush=2"] / mean["baseline"])
    assert frame["n flush=2"].tolist() == [3, 0]
    assert frame["sd baseline"][0] == pytest.approx(np.std([181, 182, 183]))


def test_absent_cell_is_nan_in_the_frame(results):
    frame = results.compare("tps").frame
    assert frame[["flush=2", "flush=2 / baseline"]].iloc[1].isna().all()


def test_baseline_can_be_any_dataset_and_comes_first(results):
    comparison = results.compare("tps", baseline="flush=2")
    assert [column.label for column in comparison.columns] == ["flush=2", "baseline"]
    assert comparison.ratio("baseline")[0] == pytest.approx(182 / 172)


def test_columns_hold_the_spread(results):
    column = results.compare("tps").columns[0]
    assert (column.minimum[0], column.maximum[0]) == (181, 183)
    assert column.sd[0] == pytest.approx(np.std([181, 182, 183]))


def test_ratio_to_zero_is_absent(results):
    comparison = results.compare("errors_per_s")
    assert np.isnan(comparison.ratio("flush=2")).all()
    assert repr(comparison).splitlines()[-2].split() == ["1", "0.0", "0.0", "-", "3"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "tpss"}, "unknown metric 'tpss': did you mean 'tps'"),
        ({"metric": "tps", "baseline": "baselin"}, "unknown baseline 'baselin': did you mean 'b"),
        ({"metric": "load_rows_per_s"}, "no run has the metric 'load_rows_per_s'"),
    ],
)
def test_what_is_not_there_cannot_be_compared(results, arguments, message):
    with pytest.raises(MetricError, match=message):
        results.compare(**arguments)


def test_ratio_of_an_unknown_dataset_is_an_error(results):
    with pytest.raises(MetricError, match="unknown dataset 'x'"):
        results.compare("tps").ratio("x")


def test_only_runs_of_one_workload_are_compared_with_each_other(tmp_path):
    results = results_of(tmp_path, servers=("a", "b"), workloads=(WORKLOAD, READ_ONLY))
    comparison = results.compare("tps", baseline="b · oltp_read_only")
    assert [column.label for column in comparison.columns] == ["b", "a"]
    assert comparison.rows == ((WORKLOAD, 1), (WORKLOAD, 4), (READ_ONLY, 1), (READ_ONLY, 4))
    assert READ_ONLY in repr(comparison)
    assert READ_ONLY in comparison._repr_html_()


@pytest.fixture
def unlike(tmp_path):
    """Two studies that call different work by one name."""
    plan = Plan(name="june", servers=("b",))
    may = make_study(tmp_path / "may", Plan(name="may", servers=("a",)))
    june = make_study(tmp_path / "june", replace(plan, threads=()))
    record = make_record(plan, "b", WORKLOAD, 1, 1)
    other = {**record.identity, "workload_fingerprint": "smaller tables"}
    save_run(june, plan, replace(record, identity=other))
    return load([may.path, june.path])


def test_different_parameters_of_a_workload_are_refused(unlike):
    with pytest.raises(ComparisonError, match=f"{WORKLOAD} had different parameters in a and b"):
        unlike.compare("tps")


def test_unlike_work_can_be_compared_all_the_same(unlike):
    comparison = unlike.compare("tps", allow_different=True)
    assert comparison.rows == ((WORKLOAD, 1), (WORKLOAD, 4))
    assert f"unlike work is compared: {WORKLOAD} had different" in repr(comparison)


def test_workloads_of_other_names_are_refused_or_stand_side_by_side(tmp_path):
    may = make_study(tmp_path / "may", Plan(name="may", servers=("a",)))
    june = make_study(tmp_path / "june", Plan(name="june", servers=("b",), workloads=(READ_ONLY,)))
    results = load([may.path, june.path])
    message = f"a has the workload {WORKLOAD}, b has {READ_ONLY}"
    with pytest.raises(ComparisonError, match=message):
        results.compare("tps")
    comparison = results.compare("tps", allow_different=True)
    assert [threads for _, threads in comparison.rows] == [1, 4]
    assert not np.isnan(comparison.ratio("b")).any()


def test_several_metrics_are_shown_below_one_another(results):
    comparison = results.compare(["tps", "latency_p95"])
    assert [other.metric.name for other in comparison.also] == ["latency_p95"]
    assert "mean of n iterations" in repr(comparison)
    assert "of all n iterations together" in repr(comparison)
    assert comparison._repr_html_().count("<table>") == 2


def test_single_iteration_is_noted(tmp_path):
    comparison = results_of(tmp_path, iterations=(1,)).compare("tps")
    assert "a single iteration" in repr(comparison)
    assert "a single iteration" in comparison._repr_html_()


def test_two_iterations_are_noted_and_three_are_not(tmp_path, results):
    two = results_of(tmp_path, iterations=(1, 2)).compare("tps")
    assert "note: with 2 iterations a difference may well be noise" in repr(two)
    assert not results.compare("tps").notes


# Response times


def test_percentile_is_that_of_all_iterations_together_as_in_show(results):
    comparison = results.compare("latency_p95")
    expected = results["baseline"].histogram(threads=1).percentile(95) / 1e9
    assert comparison.columns[0].mean[0] == expected
    assert compute_means(results)[0].values["latency_p95"] == expected
    assert repr(comparison).splitlines()[1].startswith("of all n iterations together; ratio to")
    assert "<th>together</th>" in comparison._repr_html_()


def test_mean_and_longest_are_of_all_iterations_together(tmp_path):
    folder = StudyFolder.create(tmp_path / "s", {"name": "synthetic"})
    for iteration in (1, 2):
        record = make_record(Plan(), "a", WORKLOAD, 1, iteration)
        metrics = {"latency_mean": 1.0, "latency_max": 1.0}
        save_run(folder, Plan(), replace(record, metrics={**record.metrics, **metrics}))
    results = load(folder.path)
    histogram = results["a"].histogram()
    (mean,) = results.compare("latency_mean").columns
    (longest,) = results.compare("latency_max").columns
    assert mean.mean[0] == histogram.mean / 1e9
    assert longest.mean[0] == histogram.percentile(100) / 1e9


@pytest.mark.parametrize("name", ["p25", "p50", "p75", "p95", "p99", "p999"])
@pytest.mark.parametrize("style", [None, "taf", "modern"])
def test_percentiles_of_several_iterations_are_never_averaged(tmp_path, name, style):
    metric = f"latency_{name}"
    folder = make_study(tmp_path / "study", Plan(latencies=(metric,)))
    comparison = load(drop_histograms(folder).path).compare(metric)
    assert np.isnan(comparison.columns[0].mean).all()
    shown = " ".join(str(comparison.table(style) if style else comparison).split())
    what = comparison.metric.label
    assert f"no histograms: there is no {what} of all iterations together in baseline" in shown


@pytest.mark.parametrize("style", [None, "taf", "modern"])
def test_means_without_histograms_are_noted(tmp_path, style):
    folder = make_study(tmp_path / "study", Plan(latencies=("latency_mean",)))
    comparison = load(drop_histograms(folder).path).compare("latency_mean")
    shown = " ".join(str(comparison.table(style) if style else comparison).split())
    assert "no histograms: baseline, flush=2: mean of the iterations' mean resp" in shown


@pytest.mark.parametrize("name, pick", [("min", np.min), ("max", np.max)])
def test_extremes_of_all_iterations_need_no_histograms(tmp_path, name, pick):
    metric = f"latency_{name}"
    folder = make_study(tmp_path / "study", Plan(latencies=(metric,)))
    results = load(drop_histograms(folder).path)
    comparison = results.compare(metric)
    expected = pick(results["baseline"].array(metric), axis=1)
    assert comparison.columns[0].mean == pytest.approx(expected)
    assert "no histograms" not in repr(comparison)


def test_percentile_of_a_single_iteration_needs_no_histogram(tmp_path):
    folder = drop_histograms(make_study(tmp_path / "study", Plan(iterations=(1,))))
    comparison = load(folder.path).compare("latency_p95")
    assert not np.isnan(comparison.columns[0].mean).any()
    assert "no histograms" not in repr(comparison)


# Text


def test_text_names_metric_unit_direction_and_baseline(results):
    lines = repr(results.compare("tps")).splitlines()
    assert lines[0] == "tps: throughput (transactions/s), higher is better"
    assert lines[1] == "mean of n iterations; ratio to baseline"


def test_response_times_are_shown_in_milliseconds(results):
    lines = repr(results.compare("latency_p95")).splitlines()
    assert lines[0] == "latency_p95: 95th percentile response time (ms), lower is better"
    shown = results["baseline"].histogram(threads=1).percentile(95) / 1e6
    assert re.search(rf" 1 +{shown:.1f} ", "\n".join(lines))


def test_text_shows_absent_cells_as_missing(results):
    *_, last = repr(results.compare("tps")).splitlines()
    assert last.split() == ["4", "482.0", "(missing)", "-", "3", "/", "0"]


def test_text_shows_means_ratio_and_change(results):
    line = repr(results.compare("tps")).splitlines()[-2]
    assert line.split() == ["1", "182.0", "172.0", "0.945x", "-5.5", "%", "3"]


def test_text_has_no_colour_codes_and_no_trailing_spaces(results):
    text = repr(results.compare("tps"))
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_wide_comparison_is_split_into_tables_that_fit(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    servers = tuple(f"server with a rather long name {i}" for i in range(6))
    text = repr(results_of(tmp_path, servers=servers, iterations=(1, 2)).compare("tps"))
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert text.count("threads") > 1
    for server in range(6):
        assert str(server) in text


def test_label_in_brackets_is_not_taken_for_markup(tmp_path):
    text = repr(results_of(tmp_path, servers=("[bold]a[/bold]", "b")).compare("tps"))
    assert "[bold]a[/bold]" in text


# HTML


def test_html_shows_the_same_cells_as_the_text(results):
    page = results.compare("tps")._repr_html_()
    cells = re.findall(r"<td [^>]*>([^<]*)</td>", page)
    assert [" ".join(cell.split()) for cell in cells] == [
        "1", "182.0", "172.0", "0.945x -5.5 %", "3",
        "4", "482.0", "(missing)", "-", "3 / 0",
    ]  # fmt: skip
    assert "higher is better" in page


def test_html_is_escaped(tmp_path):
    page = results_of(tmp_path, servers=("<b>a", "<script>x</script>")).compare("tps")._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "ratio to &lt;b&gt;a" in page


def test_html_is_balanced(results):
    page = results.compare("tps")._repr_html_()
    for tag in ("div", "table", "thead", "tbody", "tr", "td", "th", "caption", "strong"):
        assert len(re.findall(rf"<{tag}[ >]", page)) == page.count(f"</{tag}>")
