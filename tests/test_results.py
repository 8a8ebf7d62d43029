"""Loading studies: which runs make a dataset, what it is called, and tables of all runs."""

import json
from dataclasses import replace

import numpy as np
import pytest
from factory import WORKLOAD, Plan, default_tps, make_record, make_study, save_run

from benchkit import terminal
from benchkit.errors import MetricError, StoreError
from benchkit.inventory import compute_means, take_inventory
from benchkit.results import load
from benchkit.store import StudyFolder
from benchkit.views import runs_view

READ_ONLY = "sysbench/1.1:oltp_read_only"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    plan = Plan(absent=(("flush=2", 4, 3),))
    return load(make_study(tmp_path_factory.mktemp("data") / "study", plan).path)


def study(path, **changes):
    return make_study(path / changes.get("name", "study"), Plan(**changes)).path


def rewrite(path, change):
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def test_results_are_an_ordered_collection_of_datasets(results):
    assert results.labels == ("baseline", "flush=2")
    assert [dataset.label for dataset in results] == ["baseline", "flush=2"]
    assert len(results) == 2
    assert "baseline" in results
    assert results["flush=2"].server == "flush=2"
    assert results._ipython_key_completions_() == ["baseline", "flush=2"]


def test_unknown_label_is_an_error_with_the_nearest(results):
    with pytest.raises(MetricError, match="unknown dataset 'base': did you mean 'baseline'"):
        results["base"]


def test_datasets_come_in_the_order_of_the_study_not_of_the_runs(tmp_path):
    folder = make_study(tmp_path / "study", Plan(servers=("b", "a")))
    for path in folder.path.glob("runs/*/run.json"):
        rewrite(path, lambda data: data["factors"].update(order=-ord(data["factors"]["server"])))
    assert load(folder.path).labels == ("b", "a")


@pytest.mark.parametrize(
    ("changes", "labels"),
    [
        ([{"servers": ("a", "b")}], ("a", "b")),
        (
            [{"servers": ("a", "b"), "workloads": (WORKLOAD, READ_ONLY)}],
            (
                "a · oltp_point_select",
                "a · oltp_read_only",
                "b · oltp_point_select",
                "b · oltp_read_only",
            ),
        ),
        (
            [{"name": "may", "servers": ("a",)}, {"name": "june", "servers": ("a",)}],
            ("a · may", "a · june"),
        ),
        (
            [{"servers": ("a",), "workloads": ("sysbench/1.0:x", "sysbench/1.1:x")}],
            ("a · sysbench/1.0:x · synthetic", "a · sysbench/1.1:x · synthetic"),
        ),
    ],
)
def test_labels_are_as_short_as_tells_datasets_apart(tmp_path, changes, labels):
    assert load([study(tmp_path, **change) for change in changes]).labels == labels


def test_two_studies_of_one_name_are_an_error_that_names_both(tmp_path):
    first, second = make_study(tmp_path / "one").path, make_study(tmp_path / "two").path
    with pytest.raises(StoreError, match=f"{first} and {second} both hold a study named 'synth"):
        load([first, second])


def test_same_iteration_of_two_plans_is_an_error_that_names_both(tmp_path):
    folder = make_study(tmp_path / "study")
    record = make_record(Plan(), "baseline", WORKLOAD, 1, 1)
    save_run(folder, Plan(), replace(record, id="0" * 16))
    message = "0000 and .* both iteration 1 of server 'baseline' .* with 1 threads, from different"
    with pytest.raises(StoreError, match=message):
        load(folder.path)


def test_runs_of_different_settings_are_not_taken_for_one_dataset(tmp_path):
    folder = make_study(tmp_path / "study")
    path = next(iter(folder.path.glob("runs/*/run.json")))
    rewrite(path, lambda data: data["identity"].update(duration_s=600.0))
    with pytest.raises(StoreError, match="holds runs of different plans: duration_s is "):
        load(folder.path)


@pytest.mark.parametrize(
    ("with_nopm", "metric"), [({"a", "b"}, "nopm"), ({"a"}, "tps"), (set(), "tps")]
)
def test_nopm_is_compared_where_all_datasets_have_it(tmp_path, capsys, with_nopm, metric):
    folder = make_study(tmp_path / "study", Plan(servers=("a", "b")))
    for path in folder.path.glob("runs/*/run.json"):
        if json.loads(path.read_text())["factors"]["server"] in with_nopm:
            rewrite(path, lambda data: data["metrics"].update(nopm=1000.0))
    found = load(folder.path)
    assert found.primary_metric == found.compare().metric.name == metric
    assert next(iter(compute_means(found)[0].values)) == metric
    terminal.draw(runs_view(take_inventory(folder.path)))
    assert metric in capsys.readouterr().out


def test_study_without_runs_loads_as_empty(tmp_path):
    folder = StudyFolder.create(tmp_path / "study", {"name": "x"})
    results = load(folder.path)
    assert len(results) == 0
    assert repr(results) == "<Results: no runs yet>"
    assert results._repr_html_() == "<p>No runs yet.</p>"
    assert len(results.to_pandas()) == 0


@pytest.mark.parametrize("datasets", [7, ["a"], [{"server": "a"}]])
def test_datasets_of_another_form_are_an_error(tmp_path, datasets):
    folder = StudyFolder.create(tmp_path / "study", {"name": "x", "datasets": datasets})
    with pytest.raises(StoreError, match=r"study\.json has wrong datasets"):
        load(folder.path)


def test_missing_folder_is_an_error(tmp_path):
    with pytest.raises(StoreError, match="does not exist"):
        load(tmp_path / "nowhere")


# Tables


def test_frame_has_one_row_per_run(results):
    frame = results.to_pandas()
    assert len(frame) == 11
    assert list(frame.columns[:6]) == [
        "dataset",
        "study",
        "server",
        "workload",
        "threads",
        "iteration",
    ]
    row = frame.query("dataset == 'flush=2' and threads == 4 and iteration == 2").iloc[0]
    assert row["tps"] == default_tps("flush=2", 4, 2)
    assert row["measured_s"] == 3.0
    assert row["start_utc"] == "2026-01-01T00:00:00Z"


def test_frame_has_nan_where_a_value_is_absent(results):
    frame = results.to_pandas()
    assert (frame["latency_p999"].isna() == (frame["threads"] == 1)).all()
    assert "latency_max" not in frame


def test_xarray_has_the_documented_dimensions_and_attributes(results):
    pytest.importorskip("xarray")
    cube = results.to_xarray()
    assert dict(cube.sizes) == {"dataset": 2, "threads": 2, "iteration": 3}
    assert cube.tps.sel(dataset="flush=2", threads=4, iteration=2) == default_tps("flush=2", 4, 2)
    assert np.isnan(cube.tps.sel(dataset="flush=2", threads=4, iteration=3))
    assert cube.latency_p95.attrs == {
        "units": "s",
        "long_name": "95th percentile response time",
        "higher_is_better": 0,
    }


def test_repr_lists_the_datasets(results):
    first, *lines = repr(results).splitlines()
    assert first == "<Results: 2 datasets>"
    assert lines == [f"  {dataset!r}" for dataset in results]


def test_html_is_escaped(tmp_path):
    plan = Plan(servers=("<script>alert(1)</script>",), threads=(1,), iterations=(1,))
    page = load(make_study(tmp_path / "study", plan).path)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
