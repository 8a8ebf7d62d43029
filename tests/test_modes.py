"""Iteration modes: which is the default, which are refused, and what each run finds."""

import json
import os
import shutil

import pytest
from disks import small_disk
from studies import POINT_SELECT, Watch, connect_to, databases, small_study, statement_workload

import benchkit as bk
from benchkit import execute
from benchkit.errors import DatabaseError, DiskFullError, StudyError
from benchkit.generators import sequence
from benchkit.modes import MODES
from benchkit.room import Room
from benchkit.workloads import InsertRows, Table, Transaction, Workload

ADD_ONE = "UPDATE t SET n = n + 1"
T = Table("t", "CREATE TABLE t (id INT, n INT DEFAULT 0)", (("id", sequence()),), rows=10)


def adding(**rules):
    """Return a workload that leaves in the table how often it ran."""
    return statement_workload(ADD_ONE, (T,), **rules)


TINY = bk.Config("small", {"innodb_buffer_pool_size": "32M", "innodb_log_file_size": "8M"})


@pytest.fixture
def private(memory):
    """Return a private server, whose data go below a folder of this test."""
    return bk.Server(TINY)


# Which mode


@pytest.mark.parametrize(
    ("sql", "writes"),
    [
        ("SELECT * FROM t FOR UPDATE", False),
        ("/* INSERT */ SELECT 1", False),
        ("(SELECT 1) UNION (SELECT 2)", False),
        ("WITH a AS (SELECT 1) SELECT * FROM a", False),
        ("SHOW STATUS", False),
        ("UPDATE t SET n = 1", True),
        ("insert into t values (1)", True),
        ("CALL p()", True),
        ("TRUNCATE t", True),
    ],
)
def test_a_workload_knows_whether_it_writes(sql, writes):
    assert statement_workload(sql).writes == writes
    assert bk.workloads.null().writes is False
    nested = bk.workloads.Repeat(2, (bk.workloads.Execute(sql),))
    assert Workload("x", (Transaction("x", (nested,)),)).writes == writes
    session = Workload("x", POINT_SELECT.transactions, session=(sql,))
    assert session.writes == writes


def test_rows_that_are_inserted_in_packets_are_writes():
    step = InsertRows("INSERT INTO t (id) VALUES", ("worker",))
    assert Workload("x", (Transaction("x", (step,)),)).writes


def test_workloads_of_sysbench_write_as_their_names_say():
    reading = {name for name in bk.workloads.names() if not bk.workloads.find(name).writes}
    assert {"oltp_read_only", "oltp_point_select", "null"} <= reading
    assert not reading & {"oltp_read_write", "oltp_insert", "oltp_write_only", "oltp_delete"}


def modes(servers, **changes):
    """Return the mode of each server and workload."""
    plan = small_study(servers, workloads=[POINT_SELECT, adding()], **changes).plan()
    return {(run.setup.name, run.workload.writes): run.mode for run in plan}


def test_default_is_restart_for_reads_restore_for_writes_and_preserve_elsewhere(server):
    servers = [bk.Server(bk.Config("ours")), connect_to(server, "theirs")]
    assert modes(servers) == {
        ("ours", False): "restart",
        ("ours", True): "restore",
        ("theirs", False): "preserve",
        ("theirs", True): "preserve",
    }


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_that_is_asked_for_is_taken(mode):
    assert set(modes([bk.Server(bk.Config("ours"))], iteration_mode=mode).values()) == {mode}


@pytest.mark.parametrize("mode", ["restart", "restore"])
def test_a_server_that_is_not_ours_is_not_stopped(server, mode):
    servers = [bk.Server(bk.Config("ours")), connect_to(server, "theirs")]
    with pytest.raises(StudyError, match=f"'{mode}' stops and.*'theirs'.*'preserve' or 'reset'"):
        modes(servers, iteration_mode=mode)


def test_a_misspelt_mode_is_answered_with_the_nearest():
    with pytest.raises(StudyError, match="iteration_mode 'restor': did you mean 'restor"):
        small_study([bk.Server(bk.Config("ours"))], iteration_mode="restor")


@pytest.mark.parametrize(
    "option",
    [
        {"innodb_log_group_home_dir": "/mnt/log"},
        {"innodb_data_file_path": "ibdata1:12M;/mnt/ibdata2:12M:autoextend"},
        {"log_bin": "../binlog"},
    ],
)
def test_data_that_an_image_would_lack_are_refused_before_anything_starts(option, tmp_path):
    ((name, value),) = option.items()
    server = bk.Server(bk.Config("spread", option))
    with pytest.raises(StudyError, match="'spread' has data elsewhere: ") as refused:
        small_study([server], iteration_mode="restore").run(tmp_path / "s")
    assert f"{name}={value}" in str(refused.value)
    assert not (tmp_path / "s").exists()


def test_a_run_in_another_mode_is_another_run():
    ids = [
        {run.id for run in small_study([bk.Server(bk.Config("a"))], iteration_mode=mode).plan()}
        for mode in MODES
    ]
    assert len(set.union(*ids)) == len(MODES)


# What runs find


def executed(server, path, monkeypatch=None, **changes):
    """Run three iterations that each add one; return how it found the table each time."""
    found = []

    def look(row):
        (database,) = databases(server_of_run())
        found.append(int(server_of_run().query(f"SELECT MAX(n) FROM `{database}`.t")[0][0]))

    def server_of_run():
        return placed[-1]

    placed = []
    original = execute.measure

    def measure(server, *rest):
        placed.append(server)
        look(None)
        pids.append(server.pid)
        return original(server, *rest)

    pids = []
    monkeypatch.setattr(execute, "measure", measure)
    study = small_study([server], workloads=[adding()], transactions=5, iterations=3, **changes)
    results = study.run(path)
    (dataset,) = results
    return found, pids, dataset.records


def test_preserve_leaves_server_and_data_as_they_are(private, tmp_path, monkeypatch):
    found, pids, _ = executed(private, tmp_path, monkeypatch, iteration_mode="preserve")
    assert found == [0, 5, 10]
    assert len(set(pids)) == 1


def test_restart_starts_the_server_anew_on_the_same_data(private, tmp_path, monkeypatch):
    found, pids, records = executed(private, tmp_path, monkeypatch, iteration_mode="restart")
    assert found == [0, 5, 10]
    assert len(set(pids)) == 3
    for record in records:
        assert record.preparation["iteration_mode"] == "restart"


def test_restore_puts_the_loaded_data_back(private, tmp_path, monkeypatch):
    found, pids, records = executed(private, tmp_path, monkeypatch)
    assert found == [0, 0, 0]
    assert len(set(pids)) == 3
    assert [record.preparation["image"] for record in records] == ["taken", "found", "found"]
    assert [record.load["reused"] for record in records] == [False, True, True]
    assert len({str(record.load["checksums"]) for record in records}) == 1
    assert all(record.preparation["restore_s"] > 0 for record in records)


def test_reset_loads_again(private, tmp_path, monkeypatch):
    found, pids, records = executed(private, tmp_path, monkeypatch, iteration_mode="reset")
    assert found == [0, 0, 0]
    assert len(set(pids)) == 1
    assert not any(record.load["reused"] for record in records)


def test_reset_works_on_a_server_that_is_not_ours(server, tmp_path, monkeypatch):
    theirs = connect_to(server)
    found, _, _ = executed(theirs, tmp_path, monkeypatch, iteration_mode="reset")
    assert found == [0, 0, 0]
    assert not databases(server)


def test_fresh_data_are_not_loaded_again_where_they_are_restored(private, tmp_path):
    study = small_study(
        [private], workloads=[adding(fresh_data=True)], threads=[1, 2], iteration_mode="restore"
    )
    (dataset,) = study.run(tmp_path)
    assert sorted(record.load["reused"] for record in dataset.records) == [False, True]


def test_each_image_holds_one_workload_only(private, tmp_path, monkeypatch):
    seen = []
    original = execute.measure

    def measure(server, *rest):
        seen.append(len(databases(server)))
        return original(server, *rest)

    monkeypatch.setattr(execute, "measure", measure)
    workloads = [adding(), bk.workloads.oltp_write_only(rows=100)]
    small_study([private], workloads=workloads, iterations=2).run(tmp_path)
    assert seen == [1, 1, 1, 1]


def test_an_interrupted_study_goes_on_with_the_image_it_has(private, tmp_path, monkeypatch, memory):
    def act(step):
        if step == "connecting":
            steps.append(step)
        if len(steps) == 2:
            steps.append("interrupted")
            raise KeyboardInterrupt

    steps = []
    study = small_study([private], workloads=[adding()], iterations=2)
    with monkeypatch.context() as patch:
        Watch(on_step=act).install(patch)
        with pytest.raises(KeyboardInterrupt):
            study.run(tmp_path)
    assert list(memory.glob("study-*/*/image-*"))
    (dataset,) = study.run(tmp_path)
    assert [record.preparation["image"] for record in dataset.records] == ["taken", "found"]
    assert list(memory.iterdir()) == []


def test_a_users_directory_is_left_without_images(memory, tmp_path, monkeypatch):
    """What is in it besides stays, whatever state the runs left it in."""
    mine = memory / "mine"
    with bk.Server(TINY, directory=mine) as server:
        server.query("CREATE DATABASE precious")
    found, _, _ = executed(bk.Server(TINY, directory=mine), tmp_path, monkeypatch)
    assert found == [0, 0, 0]
    assert not list(mine.glob("image-*"))
    with bk.Server(TINY, directory=mine) as server:
        assert ("precious",) in server.query("SHOW DATABASES")
        assert not databases(server)


def test_a_workload_without_tables_is_restored_too(private, tmp_path):
    workload = statement_workload("CREATE OR REPLACE TABLE mysql.mine (id INT)")
    (dataset,) = small_study([private], workloads=[workload], iterations=2).run(tmp_path)
    assert [record.preparation["image"] for record in dataset.records] == ["taken", "found"]


def test_test_info_says_the_mode(private, tmp_path):
    results = small_study([private]).run(tmp_path)
    text = results.compare("tps").table("taf").render("text")
    assert "Iteration Mode\trestart (cold caches)" in text


# Disks


@pytest.fixture
def cramped_disk(memory):
    """Return a small file system of its own."""
    with small_disk(memory / "small", "150m") as disk:
        yield disk


def test_a_disk_that_fills_up_fails_its_server_only(cramped_disk, tmp_path, monkeypatch):
    monkeypatch.setattr(execute, "check_space", lambda needed: None)
    servers = [
        bk.Server(TINY.replace("cramped"), directory=cramped_disk / "server"),
        bk.Server(TINY.replace("roomy")),
    ]
    workload = bk.workloads.oltp_point_select(rows=600_000)
    with pytest.warns(bk.StudyWarning, match=r"cramped.*the disk .*small.* is full"):
        results = small_study(servers, workloads=[workload]).run(tmp_path)
    assert [dataset.server for dataset in results] == ["roomy"]
    (failed,) = (tmp_path / "failed").glob("*/run.json")
    assert json.loads(failed.read_text())["metrics"] == {}


def test_a_disk_that_fills_up_under_a_run_ends_it(cramped_disk, tmp_path, monkeypatch):
    def fill(row):
        ballast = cramped_disk / "ballast"
        if not ballast.exists():
            free = shutil.disk_usage(cramped_disk).free
            with ballast.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, free - (1 << 20))

    servers = [
        bk.Server(TINY.replace("cramped", log_bin="binlog"), directory=cramped_disk / "server"),
        bk.Server(TINY.replace("roomy")),
    ]
    study = small_study(
        servers,
        workloads=[bk.workloads.oltp_update_non_index(rows=200)],
        transactions=0,
        duration="4s",
        iteration_mode="preserve",
    )
    with monkeypatch.context() as patch:
        Watch(on_row=fill).install(patch)
        (failure,) = study.measure(tmp_path)  # the server would wait for ever
    assert "the disk below" in failure.message and "is full" in failure.message
    assert [dataset.server for dataset in bk.load(tmp_path)] == ["roomy"]


def test_a_table_is_full_because_the_disk_is_or_for_a_reason_of_its_own(tmp_path):
    full, other = (DatabaseError("no", number, "HY000") for number in (1114, 1213))
    with small_disk(tmp_path / "small", "10m") as disk:
        told = Room([disk]).explain(full)
        assert isinstance(told, DiskFullError) and f"below {disk} is full (no)" in str(told)
        assert Room([disk]).explain(other) is other
    assert Room([tmp_path]).explain(full) is full


def test_room_for_images_is_checked_before_anything_starts(private, tmp_path, monkeypatch):
    def note(sizes):
        needed.update(sizes)
        raise KeyboardInterrupt

    needed = {}
    monkeypatch.setattr(execute, "check_space", note)
    for mode in ("preserve", "restore"):
        study = small_study([private], name=mode, iteration_mode=mode)
        with pytest.raises(KeyboardInterrupt):
            study.run(tmp_path / mode)
    preserve, restore = needed.values()
    assert restore == 3 * preserve
