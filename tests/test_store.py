"""Study folders: what is written, what is refused, and what survives a crash."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from disks import small_disk
from factory import WORKLOAD, Plan, make_record, make_series, make_study, save_run

from benchkit.errors import StoreError
from benchkit.record import SERIES_DTYPE
from benchkit.store import StudyFolder

PLAN = Plan(servers=("baseline",), threads=(1,), iterations=(1, 2))


@pytest.fixture
def folder(tmp_path):
    return make_study(tmp_path / "study", PLAN)


def only_run(folder):
    return folder.runs()[0]


def new_record(iteration=9):
    return make_record(PLAN, "baseline", WORKLOAD, 1, iteration)


def names(folder):
    return sorted(str(path.relative_to(folder.path)) for path in folder.path.rglob("*"))


def edit_json(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


# What is stored


def test_stored_run_reads_back_as_it_was(folder):
    run = only_run(folder)
    record = make_record(PLAN, "baseline", WORKLOAD, 1, 1)
    assert repr(replace(run.record, files={})) == repr(record)
    np.testing.assert_array_equal(run.series(), make_series(record, PLAN.seconds))
    assert run.log().tags == (
        "warmup.transaction.point_select",
        "transaction.point_select",
        "statement.select",
    )
    assert run.status()["after"] == {"Com_select": "9"}


def test_series_is_a_memory_map(folder):
    series = only_run(folder).series()
    assert isinstance(series, np.memmap)
    assert not series.flags.writeable


def test_empty_series_reads_back(folder):
    path = folder.save_run(new_record(), np.empty(0, SERIES_DTYPE), "", {})
    assert len(folder.runs()[-1].series()) == 0
    assert path.name == new_record().id


def test_run_folder_holds_the_documented_files_and_their_hashes(folder):
    run = only_run(folder)
    assert {path.name for path in run.path.iterdir()} == {*run.record.files, "run.json"}
    assert set(run.record.files) == {"series.npy", "latency.hlog", "status.json"}


def test_runs_come_in_the_order_of_the_plan(tmp_path):
    folder = make_study(tmp_path / "study", replace(PLAN, iterations=(3, 1, 2)))
    assert [run.record.factors.order for run in folder.runs()] == [1, 2, 3]


def test_completed_is_the_ids_of_the_runs(folder):
    assert folder.completed() == {run.record.id for run in folder.runs()}
    assert len(folder.completed()) == 2


def test_config_and_environment_are_stored_once_under_their_content(folder):
    before = folder.save_config("[mariadbd]\nport=1\n")
    assert folder.save_config("[mariadbd]\nport=1\n") == before
    assert folder.save_config("[mariadbd]\nport=2\n") != before
    assert (folder.path / before).read_text() == "[mariadbd]\nport=1\n"
    facts = folder.save_environment({"cpu_count": 2, "governor": None})
    assert json.loads((folder.path / facts).read_text()) == {"cpu_count": 2, "governor": None}


def test_failed_attempts_are_kept_apart_and_numbered(folder):
    record = replace(new_record(), status="failed", failure={"kind": "ServerError"})
    series = make_series(record, 1)
    first = folder.save_failed(record, series, "", {}, "the last words")
    second = folder.save_failed(record, series, "", {}, "again")
    assert [first.name, second.name] == [f"{record.id}.1", f"{record.id}.2"]
    assert (first / "server.log").read_text() == "the last words"
    assert record.id not in folder.completed()


def test_server_text_that_is_not_utf8_is_kept(folder):
    record = replace(new_record(), status="failed", warnings=("caf\udce9",))
    path = folder.save_failed(record, make_series(record, 1), "", {}, "caf\udce9")
    assert (path / "server.log").read_bytes() == b"caf\xe9"
    assert json.loads((path / "run.json").read_text())["warnings"] == ["caf\udce9"]


def test_folder_can_be_moved(folder, tmp_path):
    folder.path.rename(tmp_path / "elsewhere")
    moved = StudyFolder.open(tmp_path / "elsewhere")
    assert len(only_run(moved).series()) == PLAN.seconds + 2


def test_no_absolute_path_is_stored(folder, tmp_path):
    for path in folder.path.rglob("*"):
        if path.is_file():
            assert str(tmp_path).encode() not in path.read_bytes()


# What a study's folder may be


def test_grown_study_keeps_its_runs_and_takes_the_new_plan(folder):
    again = StudyFolder.create(folder.path, {"name": PLAN.name, "threads": [1, 2]})
    assert len(again.runs()) == 2
    assert StudyFolder.open(folder.path).study["threads"] == [1, 2]


def test_folder_of_another_study_is_refused(folder):
    with pytest.raises(StoreError, match="belongs to study 'synthetic', not 'other'"):
        StudyFolder.create(folder.path, {"name": "other"})
    assert StudyFolder.open(folder.path).name == "synthetic"


def test_folder_with_foreign_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(StoreError, match="is not empty and not a study folder"):
        StudyFolder.create(tmp_path, {"name": "x"})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_folder_whose_creation_was_killed_is_taken_over(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / ".tmp-study.json-1234").write_text("{")
    folder = StudyFolder.create(tmp_path, {"name": "x"})
    with folder.lock():
        assert not list(tmp_path.glob(".tmp-*"))


def test_file_in_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="is a file; a study needs a folder"):
        StudyFolder.create(tmp_path / "file", {"name": "x"})
    with pytest.raises(StoreError, match="is a file, not a study folder"):
        StudyFolder.open(tmp_path / "file")


def test_folder_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(StoreError, match="nowhere does not exist"):
        StudyFolder.open(tmp_path / "nowhere")


def test_folder_without_study_is_an_error(tmp_path):
    with pytest.raises(StoreError, match="is not a study folder: it holds no study.json"):
        StudyFolder.open(tmp_path)


def test_folder_of_studies_names_them(folder):
    with pytest.raises(StoreError, match="is not a study folder, but holds some: study"):
        StudyFolder.open(folder.path.parent)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": "benchkit.study/7"}, r"study.json has schema 'benchkit.study/7', .*newer"),
        ({"schema": "thesis"}, "should be 'benchkit.study/1'"),
        ({"name": None}, "study.json has no name"),
    ],
)
def test_study_that_cannot_be_read_is_an_error(folder, changes, message):
    edit_json(folder.path / "study.json", **changes)
    with pytest.raises(StoreError, match=message):
        StudyFolder.open(folder.path)


# Damage


def test_run_json_that_is_not_json_is_an_error_with_file_and_line(folder):
    file = only_run(folder).path / "run.json"
    file.write_text('{\n "id": oops\n}')
    with pytest.raises(StoreError, match=rf"{file} is not JSON: .* in line 2, column 8"):
        folder.runs()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b"[1]", "should hold a JSON object, not '\\[1\\]'"),
        (b"\xff\xfe\xff", "cannot be read"),
    ],
)
def test_run_json_of_other_content_is_an_error(folder, content, message):
    file = only_run(folder).path / "run.json"
    file.write_bytes(content)
    with pytest.raises(StoreError, match=message):
        folder.runs()


def test_wrong_field_of_a_run_is_an_error_that_names_the_file(folder):
    file = only_run(folder).path / "run.json"
    edit_json(file, measured_s="long")
    with pytest.raises(StoreError, match=rf"{file} has 'long' as measured_s"):
        folder.runs()


def test_run_of_a_newer_release_is_an_error(folder):
    edit_json(only_run(folder).path / "run.json", schema="benchkit.run/2")
    with pytest.raises(StoreError, match=r"run\.json has schema 'benchkit.run/2', .*newer"):
        folder.runs()


def test_copied_run_folder_is_an_error(folder):
    path = only_run(folder).path
    path.rename(path.with_name("copy"))
    with pytest.raises(StoreError, match="copy holds run .* its id as name"):
        folder.runs()


def test_run_of_another_study_is_an_error(folder):
    edit_json(only_run(folder).path / "run.json", study="other")
    with pytest.raises(StoreError, match="is of study 'other', but lies in a folder of 'synth"):
        folder.runs()


@pytest.mark.parametrize("name", ["series.npy", "latency.hlog", "status.json"])
def test_truncated_file_is_an_error_with_both_sizes(folder, name):
    run = only_run(folder)
    size = run.record.files[name]["bytes"]
    os.truncate(run.path / name, size - 5)
    readers = {"series.npy": run.series, "latency.hlog": run.log, "status.json": run.status}
    message = rf"{name} is truncated: it has {size - 5} bytes, {size} were written"
    with pytest.raises(StoreError, match=message):
        readers[name]()


def test_truncated_series_is_an_error_even_without_a_recorded_size(folder):
    run = only_run(folder)
    os.truncate(run.path / "series.npy", 200)
    with pytest.raises(StoreError, match=r"series\.npy is not a readable array"):
        replace(run, record=replace(run.record, files={})).series()


def test_missing_file_is_an_error(folder):
    run = only_run(folder)
    (run.path / "series.npy").unlink()
    with pytest.raises(StoreError, match=r"series\.npy is missing"):
        run.series()


def test_series_without_a_field_is_an_error(folder):
    run = only_run(folder)
    np.save(run.path / "series.npy", np.zeros(3, [("time_s", "<f8")]))
    with pytest.raises(StoreError, match="lacks the fields committed, "):
        replace(run, record=replace(run.record, files={})).series()


def test_series_with_more_fields_than_known_is_read(folder):
    run = only_run(folder)
    np.save(run.path / "series.npy", np.zeros(3, [*SERIES_DTYPE.descr, ("mood", "<i8")]))
    assert len(replace(run, record=replace(run.record, files={})).series()) == 3


def test_phases_out_of_order_are_an_error(folder):
    record = new_record()
    series = make_series(record, 3)
    series["phase"] = series["phase"][::-1]
    folder.save_run(record, series, "", {})
    with pytest.raises(StoreError, match="phases out of order"):
        folder.runs()[-1].series()


def test_damaged_log_is_an_error_with_its_line(folder):
    record = new_record()
    folder.save_run(record, make_series(record, 1), "#[comment]\nnonsense\n", {})
    with pytest.raises(StoreError, match=r"latency\.hlog: line 2 is 'nonsense'"):
        folder.runs()[-1].log()


# Refused writes


def test_stored_run_never_changes(folder):
    with pytest.raises(StoreError, match="exists already; a stored run never changes"):
        save_run(folder, PLAN, only_run(folder).record)


def test_unfinished_run_is_not_taken_as_a_result(folder):
    record = replace(new_record(), status="interrupted")
    with pytest.raises(StoreError, match="is interrupted; only complete runs are results"):
        save_run(folder, PLAN, record)


def test_second_process_is_told_who_holds_the_folder(folder):
    program = (
        "import sys; from benchkit.store import StudyFolder\n"
        "with StudyFolder.open(sys.argv[1]).lock():\n"
        "    print('locked', flush=True); sys.stdin.read()\n"
    )
    with start_python(program, folder.path) as child:
        assert child.stdout.readline() == "locked\n"
        with (
            pytest.raises(StoreError, match=rf"in use by another process \(pid {child.pid}\)"),
            folder.lock(),
        ):
            pass
        child.stdin.close()
        child.wait()
        with folder.lock():
            pass


def test_locking_removes_what_a_killed_writer_left(folder):
    unfinished = folder.path / "runs" / ".tmp-0123-abcd"
    unfinished.mkdir()
    (unfinished / "series.npy").write_text("half")
    with folder.lock():
        assert not unfinished.exists()
    assert len(folder.runs()) == 2


def test_unfinished_folders_are_ignored(folder):
    run = only_run(folder)
    (folder.path / "runs" / ".tmp-0123-abcd").mkdir()
    (folder.path / "runs" / ".tmp-0123-abcd" / "run.json").write_text("{")
    (folder.path / "runs" / "0123456789abcdef").mkdir()
    (run.path / "run.json").unlink()
    assert len(folder.runs()) == 1


# No space


def test_full_disk_is_an_error_and_leaves_nothing_half_written(tmp_path):
    with small_disk(tmp_path / "disk", "1m") as disk:
        folder = make_study(disk / "study", PLAN)
        before = names(folder)
        record = new_record()
        series = make_series(record, 20_000)
        with pytest.raises(StoreError, match="no space left to write .*nothing of it was kept"):
            folder.save_run(record, series, "", {})
        with pytest.raises(StoreError, match="no space left"):
            folder.save_config("x" * (2 << 20))
        assert names(folder) == before
        assert save_run(folder, PLAN, record).is_dir()


def test_file_beyond_the_size_limit_is_an_error_and_leaves_nothing(folder):
    before = names(folder)
    record = new_record()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(StoreError, match="no space left to write"):
            folder.save_run(record, make_series(record, 1000), "", {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert names(folder) == before


def test_study_folder_that_cannot_be_made_is_an_error():
    with pytest.raises(StoreError, match="cannot write /proc/study"):
        StudyFolder.create("/proc/study", {"name": "x"})


# Crashes

WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from factory import WORKLOAD, Plan, make_record, save_run
from benchkit.store import StudyFolder
plan = Plan(seconds=2)
folder = StudyFolder.create(sys.argv[1], {"name": plan.name})
with folder.lock():
    done = folder.completed()
    print("writing", flush=True)
    for iteration in range(1, 10_000):
        record = make_record(plan, "baseline", WORKLOAD, 1, iteration)
        if record.id not in done:
            save_run(folder, plan, record)
"""


@contextmanager
def start_python(program, *arguments):
    """Run a program in a child that does not outlive the block."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as child:
        try:
            yield child
        finally:
            child.kill()


def test_killed_writer_never_leaves_a_half_run_visible(tmp_path):
    path = tmp_path / "study"
    chance = random.Random(1)
    stored = 0
    for _ in range(8):
        with start_python(WRITER, path, Path(__file__).parent) as child:
            assert child.stdout.readline() == "writing\n"
            time.sleep(chance.uniform(0.0, 0.15))  # the kill falls anywhere in a save
            child.send_signal(signal.SIGKILL)
        runs = StudyFolder.open(path).runs()
        assert len(runs) >= stored
        for run in runs[stored:]:
            assert len(run.series()) == 4
            assert not run.log().torn
            run.status()
        stored = len(runs)
    assert stored > 8
    with StudyFolder.open(path).lock():
        assert not list((path / "runs").glob(".tmp-*"))


def test_failure_between_two_files_leaves_no_trace(folder, monkeypatch):
    before = names(folder)
    written = []

    def interrupt(path, pieces):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(path.write_bytes(b"".join(pieces)))
        return {}

    monkeypatch.setattr("benchkit.store._write_synced", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_run(folder, PLAN, new_record())
    assert names(folder) == before
