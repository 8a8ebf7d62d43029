"""Studies: what they take, what they write, and how a folder grows with its study."""

import json
import threading
from dataclasses import replace

import numpy as np
import pytest
from studies import POINT_SELECT, connect_to, databases, files_below, small_study

import benchkit as bk
from benchkit.errors import StoreError, StudyError
from benchkit.home import find_home, make_home, remove_abandoned
from benchkit.store import StudyFolder

OTHER_ROWS = bk.workloads.oltp_point_select(rows=300)


@pytest.fixture
def running(server):
    yield connect_to(server)
    assert not databases(server)


def run_ids(path):
    return {folder.name for folder in (path / "runs").iterdir()}


def study_json(path):
    return json.loads((path / "study.json").read_text())


# Describing


def test_plan_and_description_touch_neither_disk_nor_server(data_base):
    before = files_below(data_base)
    study = small_study([bk.Server(bk.Config("private"))])
    assert "private" in repr(study.plan())
    assert "private" in study.plan()._repr_html_()
    assert repr(study).startswith("<Study 'small': 1 run")
    assert files_below(data_base) == before


def test_numpy_integers_are_integers():
    study = small_study(
        [bk.Server(bk.Config("a"))],
        threads=2 ** np.arange(3),
        iterations=np.int64(2),
        seed=np.uint8(7),
        transactions=np.int32(5),
    )
    assert study.grid.threads == (1, 2, 4)
    json.dumps(study.describe())


def test_one_thread_count_needs_no_list():
    assert small_study([bk.Server(bk.Config("a"))], threads=4).grid.threads == (4,)


# Running


def test_run_returns_what_it_stored(running, tmp_path):
    results = small_study([running], threads=[1, 2], iterations=2).run(tmp_path / "s")
    (dataset,) = results
    assert dataset.array("committed").tolist() == [[20, 20], [20, 20]]
    assert repr(bk.load(tmp_path / "s")) == repr(results)
    assert study_json(tmp_path / "s")["threads"] == [1, 2]


def test_a_complete_study_leaves_nothing_but_its_folder(running, tmp_path, data_base):
    before = set(data_base.iterdir())
    small_study([running]).run(tmp_path / "s")
    assert set(data_base.iterdir()) == before
    assert not databases(running)


def test_the_same_line_measures_nothing_again(running, tmp_path):
    study = small_study([running], iterations=2)
    study.run(tmp_path / "s")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "s" / "runs").iterdir()}
    study.run(tmp_path / "s")
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "s" / "runs").iterdir()}
    assert after == before


def test_a_study_runs_in_a_thread_that_is_not_the_main_one(running, tmp_path):
    stored = []
    study = small_study([running])
    worker = threading.Thread(target=lambda: stored.append(study.run(tmp_path / "s")))
    worker.start()
    worker.join()
    assert len(stored[0]["small"].records) == 1


def test_two_studies_run_at_once_on_one_server(running, tmp_path):
    studies = [small_study([running], name=name, transactions=2000) for name in ("one", "two")]
    workers = [
        threading.Thread(target=study.run, args=[tmp_path / study.name]) for study in studies
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    results = bk.load([tmp_path / "one", tmp_path / "two"])
    assert [dataset.array("committed").tolist() for dataset in results] == [[[2000]]] * 2


def test_home_that_is_just_made_is_not_taken_for_abandoned(tmp_path):
    study, home = tmp_path / "study", tmp_path / "study-0123456789ab"
    study.mkdir()
    (study / "study.json").write_text('{"data_id": "0123456789ab"}')
    make_home(home, study)
    over = threading.Event()

    def make():
        while not over.is_set():
            make_home(home, study)

    maker = threading.Thread(target=make)
    maker.start()
    (home / "data").mkdir()
    for _ in range(500):
        remove_abandoned(tmp_path)
    over.set()
    maker.join()
    assert (home / "data").exists()


# Growing


@pytest.mark.parametrize(
    "more",
    [
        {"threads": [2, 1]},
        {"iterations": 2},
        {"workloads": [OTHER_ROWS, POINT_SELECT]},
    ],
    ids=["threads", "iterations", "workloads"],
)
def test_a_grown_study_runs_only_what_is_new(running, tmp_path, more):
    small_study([running]).run(tmp_path)
    first = run_ids(tmp_path)
    stamps = {name: (tmp_path / "runs" / name / "run.json").stat().st_mtime_ns for name in first}
    results = small_study([running], **more).run(tmp_path)
    assert len(run_ids(tmp_path)) == 2
    assert sum(len(dataset.records) for dataset in results) == 2
    for name, stamp in stamps.items():
        assert (tmp_path / "runs" / name / "run.json").stat().st_mtime_ns == stamp


def test_a_study_grows_by_a_server(server, tmp_path):
    first = connect_to(server, "first")
    small_study([first]).run(tmp_path)
    results = small_study([first, connect_to(server, "second")]).run(tmp_path)
    assert results.labels == ("first", "second")


def test_runs_keep_to_their_workload_when_another_of_its_name_comes(running, tmp_path):
    small_study([running]).run(tmp_path)
    both = small_study([running], workloads=[POINT_SELECT, OTHER_ROWS], iterations=2)
    results = both.run(tmp_path)
    assert [dataset.workload for dataset in results] == [
        "sysbench/1.1:oltp_point_select[rows=200]",
        "sysbench/1.1:oltp_point_select[rows=300]",
    ]
    assert [len(dataset.records) for dataset in results] == [2, 2]
    assert set(results.to_pandas()["workload"]) == {dataset.workload for dataset in results}


def test_a_smaller_study_keeps_all_results(running, tmp_path):
    small_study([running], threads=[1, 2]).run(tmp_path)
    results = small_study([running], threads=[2]).run(tmp_path)
    assert results["small"].threads.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"transactions": 30}, "transactions = 20, now it is 30"),
        ({"duration": "5s"}, "duration_s = None, now it is 5.0"),
        ({"warmup": "1s"}, "warmup_s = 0.0, now it is 1.0"),
        ({"seed": 2}, "seed = 1, now it is 2"),
        ({"order": "sequential"}, "order = 'blocked', now it is 'sequential'"),
        ({"workloads": [OTHER_ROWS]}, "has runs of sysbench/1.1:oltp_point_select with other"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_study_with_runs_keeps_its_settings(running, tmp_path, change, message):
    small_study([running]).run(tmp_path)
    before = study_json(tmp_path)
    with pytest.raises(StudyError, match=message):
        small_study([running], **change).run(tmp_path)
    assert study_json(tmp_path) == before


def test_a_server_may_not_change_under_its_name(running, tmp_path, folder):
    small_study([running]).run(tmp_path)
    changed = bk.Server(bk.Config(running.name, {"innodb_flush_log_at_trx_commit": 0}))
    with pytest.raises(StudyError, match="another configuration.*or replicas.*another name"):
        small_study([changed]).run(tmp_path)


def test_a_server_may_not_be_upgraded_during_a_study(running, tmp_path):
    small_study([running]).run(tmp_path)
    (file,) = (tmp_path / "runs").glob("*/run.json")
    record = json.loads(file.read_text())
    record["server"]["version"] = "10.4.1-MariaDB"
    file.write_text(json.dumps(record))
    with pytest.raises(StudyError, match="the stored runs are of 10.4.1-MariaDB"):
        small_study([running], iterations=2).run(tmp_path)


def test_settings_are_free_until_something_is_measured(running, tmp_path):
    wrong = replace(POINT_SELECT, session=("SELECT nothing",))
    with pytest.warns(bk.StudyWarning):
        small_study([running], workloads=[wrong]).run(tmp_path)
    assert len(small_study([running], transactions=30).run(tmp_path)) == 1


# Folders


def test_a_folder_may_move_between_two_calls(running, tmp_path, data_base):
    failing = replace(POINT_SELECT, identity="x:fails", session=("SELECT nothing",))
    study = small_study([running], workloads=[POINT_SELECT, failing])
    with pytest.warns(bk.StudyWarning):
        study.run(tmp_path / "here")
    made = databases(running)
    (tmp_path / "here").rename(tmp_path / "there")
    with pytest.warns(bk.StudyWarning):
        study.run(tmp_path / "there")
    assert databases(running) == made
    assert len(small_study([running]).run(tmp_path / "there")) == 1
    assert not databases(running)


def test_two_processes_do_not_work_in_one_folder(running, tmp_path):
    study = small_study([running])
    study.run(tmp_path)
    holder = StudyFolder.open(tmp_path)
    before = study_json(tmp_path)
    with holder.lock(), pytest.raises(StoreError, match="in use by another process"):
        small_study([running], iterations=2).run(tmp_path)
    assert study_json(tmp_path) == before


@pytest.mark.parametrize("folder", ["gone", "s", "damaged"])
def test_data_of_a_study_whose_folder_is_not_its_own_go_with_the_next(
    running, tmp_path, data_base, folder
):
    """Its folder is gone, or holds the next study, or what is no study any more."""
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "study.json").write_bytes(b"\xff\xfe")
    make_home(data_base / "study-0123456789ab", tmp_path / folder)
    small_study([running]).run(tmp_path / "s")
    assert not (data_base / "study-0123456789ab").exists()


def test_results_survive_a_server_that_is_gone_before_the_data_are(small_config, tmp_path):
    with bk.Server(small_config) as server:
        study = small_study([connect_to(server)])
        study.run(tmp_path)
        home = find_home(study_json(tmp_path)["data_id"])
        home.mkdir()  # as if the first call had been killed at its very end
    with pytest.warns(bk.StudyWarning, match="could not be removed"):
        assert len(study.run(tmp_path)) == 1
    home.rmdir()


def test_database_of_somebody_else_is_not_to_be_reset(running):
    existing = bk.workloads.tprocc(existing="tpcc")
    with pytest.raises(
        StudyError, match="database 'tpcc' is not benchkit's to drop: use 'preserve'"
    ):
        small_study([running], workloads=[existing], iteration_mode="reset")
