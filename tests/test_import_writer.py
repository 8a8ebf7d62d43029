"""Imports as stored runs: datasets, iterations, series, histograms, and the file beside them."""

import hashlib
import json
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imports import dataset, imported, report_of, write
from mutation import mutate

from benchkit import from_auto, from_hammerdb, from_sysbench, from_taf, load
from benchkit.errors import BenchkitError, StoreError, StudyWarning
from benchkit.importers.model import Facts, Imported, ImportedRun, ImportFormatError
from benchkit.importers.writer import Source, scale_of, store_imports
from benchkit.record import UNKNOWN_THREADS
from benchkit.store import StudyFolder


def run(**changes):
    known = {
        "dataset": "a",
        "label": "A",
        "workload": "sysbench/1.0:x",
        "threads": 4,
        "iteration": 1,
        "metrics": {"tps": 100.0},
    }
    return ImportedRun(**{**known, **changes})


def stored(folder, *files, **how):
    """Store lists of runs, a file each, and load them."""
    sources = [
        Source(write(folder / f"{n}.log", f"file {n} {how}"), Imported("a log", tuple(runs)), **how)
        for n, runs in enumerate(files)
    ]
    store_imports(folder / "study", "imports", sources)
    return load(folder / "study")


# Datasets and iterations


def test_files_of_one_label_make_one_dataset_with_iterations(tmp_path):
    results = stored(tmp_path, [run(dataset="a")], [run(dataset="b")], label="11.8")
    assert results.labels == ("11.8",)
    assert results["11.8"].iterations.tolist() == [1, 2]


def test_label_does_not_merge_what_a_file_keeps_apart(tmp_path):
    results = stored(tmp_path, [run(dataset="a"), run(dataset="b")], label="x")
    assert results.labels == ("x · a", "x · b")


@pytest.mark.parametrize(
    "other",
    [
        {"extra": {"warehouses": 100}},
        {"facts": Facts(config=(("log_bin", None),))},
        {"extra": {"options": {"table-size": "5000"}}},
    ],
)
def test_other_scale_or_configuration_is_another_dataset(tmp_path, other):
    results = stored(tmp_path, [run(extra={"warehouses": 5})], [run(**other)], label="x")
    assert results.labels == ("x", "x #2")


def test_iterations_keep_their_numbers_where_one_is_missing(tmp_path):
    results = stored(tmp_path, [run(iteration=1), run(iteration=3)], [run(iteration=2)])
    assert results["a"].iterations.tolist() == [1, 3, 5]


def test_equal_iterations_of_a_file_are_counted_on(tmp_path):
    assert stored(tmp_path, [run(), run(), run()])["a"].iterations.tolist() == [1, 2, 3]


def test_runs_of_different_lengths_are_one_dataset(tmp_path):
    results = stored(tmp_path, [run(duration_s=60.0), run(duration_s=60.1), run(duration_s=None)])
    assert results.to_pandas()["measured_s"].tolist() == pytest.approx(
        [60.0, 60.1, math.nan], nan_ok=True
    )


def test_later_import_adds_to_a_folder(tmp_path):
    for version, values in (("1", [10.0]), ("2", [20.0, 21.0])):
        path = write(tmp_path / f"{version}.txt", report_of(dataset(version, *values)))
        results = from_taf(path, tmp_path / "study")
    assert results.labels == ("Mariadb 1", "Mariadb 2")
    assert StudyFolder.open(tmp_path / "study").name == "1"


def test_file_that_was_imported_is_refused(tmp_path):
    path = write(tmp_path / "a.txt", report_of(dataset("1", 10.0)))
    from_taf(path, tmp_path / "study")
    with pytest.raises(StoreError, match=r"a\.txt was imported into .* before"):
        from_taf(path, tmp_path / "study")


def test_folder_of_something_else_is_refused(tmp_path):
    path = write(tmp_path / "a.txt", report_of(dataset("1", 10.0)))
    write(tmp_path / "holiday.jpg", "")
    with pytest.raises(StoreError, match="not empty and not a study folder"):
        from_taf(path, tmp_path)


# What is stored


def test_file_is_kept_with_its_hash(tmp_path):
    text = report_of(dataset("1", 10.0))
    record = imported(tmp_path, text)["Mariadb 1"].records[0]
    kept = tmp_path / "report" / record.source["file"]
    assert kept.read_text() == text
    assert record.source["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert record.source["format"] == "taf report"


def test_unknown_threads_and_values_are_missing(tmp_path):
    results = stored(tmp_path, [run(threads=None, metrics={"tps": math.nan})])
    assert results["a"].threads.tolist() == [UNKNOWN_THREADS]
    assert np.isnan(results["a"].array("tps")).all()
    assert results.metrics == ()
    assert "threads (missing)" in repr(results)


def test_series_has_the_fields_of_the_file_and_no_others(tmp_path):
    rows = ({"time_s": 10.0, "elapsed_s": 10.0, "committed": 500.0}, {"time_s": 20.0})
    series = stored(tmp_path, [run(series=rows)])["a"].series
    assert series("time_s", iteration=1).tolist() == [10.0, 20.0]
    assert series("tps", iteration=1).tolist() == pytest.approx([50.0, math.nan], nan_ok=True)
    assert np.isnan(series("latency_p95", iteration=1)).all()


def test_histogram_is_stored_with_its_counts(tmp_path):
    buckets = ((0.001, 90), (0.010, 9), (1e9, 1), (-1.0, 5), (0.1, 10**12))
    histogram = stored(tmp_path, [run(histogram=buckets)])["a"].histogram()
    assert histogram.total == 99 + 10**12
    assert histogram.min == pytest.approx(1e6, rel=1e-3)


def test_imports_become_frames_and_cubes(tmp_path):
    pytest.importorskip("xarray")
    results = stored(tmp_path, [run(), run(threads=8, metrics={"tpm": 5.0})])
    assert results.to_pandas()["tpm"].tolist() == pytest.approx([math.nan, 5.0], nan_ok=True)
    assert dict(results.to_xarray().sizes) == {"dataset": 1, "threads": 2, "iteration": 1}


@given(
    label=st.text(max_size=20),
    extra=st.dictionaries(st.text(max_size=5), st.floats() | st.integers() | st.text(max_size=5)),
    metrics=st.dictionaries(st.sampled_from(["tps", "qps"]), st.floats()),
)
def test_whatever_a_parser_finds_can_be_stored(tmp_path_factory, label, extra, metrics):
    folder = tmp_path_factory.mktemp("any")
    facts = Facts(system=((label, label),), config=((label, label),))
    results = stored(
        folder,
        [run(dataset=label, label=label, extra=extra, metrics=metrics, facts=facts)],
    )
    assert len(results) == 1
    for path in folder.glob("study/runs/*/run.json"):
        json.loads(path.read_text(), parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("extra", "scale"),
    [
        ({"warehouses": 5}, {"warehouses": 5}),
        ({"options": {"oltp-table-size": "2000000"}}, {"rows": 2000000}),
        ({"options": {"tables": 8, "threads": 4}}, {"tables": 8}),
        ({"settings": {"maria_count_ware": "400"}}, {"warehouses": 400}),
        ({"rows": None, "options": None}, {}),
    ],
)
def test_scale_is_found_whatever_it_is_called(extra, scale):
    assert scale_of(extra) == scale


# Reading files


def test_without_a_folder_results_last_as_long_as_python(tmp_path):
    path = write(tmp_path / "a.txt", report_of(dataset("1", 10.0)))
    results = from_taf(path)
    assert results["Mariadb 1"].array("tps").tolist() == [[10.0]]
    assert not list(tmp_path.glob("*/study.json"))


def test_file_of_another_format_is_an_error_that_names_the_formats(tmp_path):
    path = write(tmp_path / "a.txt", "hello\n")
    for importer, name in (
        (from_taf, "taf report"),
        (from_sysbench, "sysbench log"),
        (from_hammerdb, "hammerdb log"),
    ):
        with pytest.raises(ImportFormatError, match=f"a.txt is none of these: .*{name}"):
            importer(path)


def test_missing_file_is_an_error(tmp_path):
    with pytest.raises(ImportFormatError, match=r"cannot read .*nowhere\.txt: No such file"):
        from_taf(tmp_path / "nowhere.txt")


def test_damaged_file_is_an_error_with_file_and_line(tmp_path):
    text = report_of(dataset("1", 10.0), dataset("2", 20.0)).replace("Max\t", "Max\tx\t")
    path = write(tmp_path / "a.txt", text)
    line = next(n for n, line in enumerate(text.splitlines(), 1) if line.startswith("Max"))
    with pytest.raises(ImportFormatError, match=rf"a\.txt, line {line}: Max"):
        from_taf(path, tmp_path / "study")
    assert not (tmp_path / "study").exists()
    with pytest.warns(StudyWarning, match=rf"a\.txt, line {line}: Max"):
        results = from_taf(path, tmp_path / "study", lenient=True)
    assert results["Mariadb 2"].array("tps").tolist() == [[20.0]]


def test_folder_stands_for_its_files(tmp_path):
    logs = tmp_path / "logs" / "deep"
    logs.mkdir(parents=True)
    write(logs / "1.txt", report_of(dataset("1", 10.0)))
    write(logs / "2.txt", report_of(dataset("2", 20.0)))
    write(logs / ".hidden", report_of(dataset("3", 30.0)))
    write(logs / "notes", "hello\n")
    with pytest.warns(StudyWarning, match="notes: was left out: it is none of these: taf report"):
        results = from_taf(tmp_path / "logs")
    assert results.labels == ("Mariadb 1", "Mariadb 2")


def test_folder_without_results_is_an_error(tmp_path):
    write(tmp_path / "notes", "hello\n")
    with pytest.raises(ImportFormatError, match="there is no run to import"):
        from_taf(tmp_path)
    with pytest.raises(ImportFormatError, match="no file was given"):
        from_taf([])


def test_what_is_left_of_a_damaged_file_can_be_compared_or_is_our_error(tmp_path):
    rng = random.Random(7)
    text = report_of(dataset("1", 10.0, 11.0), dataset("2", 20.0, config={"log_bin": None}))
    outcomes = {True: 0, False: 0}
    for number in range(200):
        try:
            results = imported(tmp_path, mutate(text, rng), f"{number}", lenient=True)
            comparison = results.compare(allow_different=True)
            for style in ("taf", "modern"):
                assert comparison.table(style).render("html")
            outcomes[True] += 1
        except BenchkitError:
            outcomes[False] += 1
    assert min(outcomes.values()) > 0


def test_frame_of_any_files_tells_source_threads_and_warnings(tmp_path):
    result = "TEST RESULT : System achieved 42333 NOPM from 4294967295 MariaDB TPM"
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "hdb.log").write_text(f"Vuser 1:{result}\n")
    frame = from_auto(tmp_path / "in", tmp_path / "study").to_pandas()
    assert frame["source"].tolist() == ["hdb.log"]
    assert frame["threads"].isna().tolist() == [True]
    assert "ran below zero" in frame["warnings"][0]
