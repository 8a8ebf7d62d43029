"""Executing plans on real servers: what is stored, what fails, and what goes on."""

import json
import os
import signal
from dataclasses import replace

import pytest
from processes import is_alive
from studies import POINT_SELECT, Watch, connect_to, databases, small_study, statement_workload

import benchkit as bk
from benchkit import preflight
from benchkit.errors import RunError, ServerError
from benchkit.home import find_home

FAILING = replace(POINT_SELECT, identity="test:failing", session=("SELECT nothing",))


@pytest.fixture
def running(server):
    yield connect_to(server)
    assert not databases(server)


@pytest.fixture
def private(small_config, folder, monkeypatch):
    """Return two private servers, whose data go below a folder of this test."""
    monkeypatch.setenv("BENCHKIT_DATA", str(folder))
    return [bk.Server(small_config), bk.Server(small_config.replace("second", sync_binlog=0))]


def records(path, kind="runs"):
    return [json.loads(file.read_text()) for file in sorted((path / kind).glob("*/run.json"))]


def finish(path, running):
    """Complete a study of which runs failed, so that its data are dropped."""
    small_study([running]).run(path)


# What is stored


def test_run_is_stored_with_all_that_explains_it(private, tmp_path):
    small_study(private[:1], threads=[2], warmup="0.2s", seed=5).run(tmp_path)
    (record,) = records(tmp_path)
    assert record["status"] == "complete"
    assert record["failure"] is None
    assert record["factors"] | {"server": "small", "threads": 2, "block": 1} == record["factors"]
    assert record["identity"]["seed"] == 5
    assert record["server"]["product"] == "MariaDB"
    assert record["workload"]["parameters"]["rows"] == 200
    assert record["load"]["rows"] == 200
    assert list(record["load"]["checksums"]) == ["sbtest1"]
    assert record["accounting"]["scheduled"] >= 20
    config = (tmp_path / record["config_ref"]).read_text()
    assert "innodb_flush_log_at_trx_commit = 2" in config
    assert "cpu_count" in json.loads((tmp_path / record["env_ref"]).read_text())


def test_status_and_variables_are_stored_beside_the_run(running, tmp_path):
    small_study([running]).run(tmp_path)
    (file,) = (tmp_path / "runs").glob("*/status.json")
    status = json.loads(file.read_text())
    selects = [int(status[when]["Com_select"]) for when in ("before", "after")]
    assert selects[1] - selects[0] >= 20
    assert status["variables"]["innodb_flush_log_at_trx_commit"] == "2"


def test_data_are_loaded_once_for_all_runs_of_a_dataset(running, tmp_path):
    small_study([running], threads=[1, 2], iterations=2).run(tmp_path)
    loads = [record["load"] for record in records(tmp_path)]
    assert sorted(load["reused"] for load in loads) == [False, True, True, True]
    assert len({str(load["checksums"]) for load in loads}) == 1


def test_only_the_run_that_loaded_has_a_load_rate(running, tmp_path):
    small_study([running], iterations=3).run(tmp_path)
    rates = {r["load"]["reused"]: r["metrics"].get("load_rows_per_s") for r in records(tmp_path)}
    assert rates[True] is None
    assert rates[False] > 0


def test_fresh_data_are_loaded_for_every_run(running, tmp_path):
    workload = bk.workloads.oltp_delete(rows=100)
    small_study([running], workloads=[workload], iterations=3).run(tmp_path)
    loads = [record["load"] for record in records(tmp_path)]
    assert [load["reused"] for load in loads] == [False] * 3
    assert len({str(load["checksums"]) for load in loads}) == 1


def test_workloads_that_differ_in_an_option_are_two_datasets(running, tmp_path):
    sizes = [bk.workloads.oltp_point_select(rows=rows) for rows in (100, 300)]
    results = small_study([running], workloads=sizes).run(tmp_path)
    assert results.labels == (
        "small · oltp_point_select[rows=100]",
        "small · oltp_point_select[rows=300]",
    )
    loads = [record["load"] for record in records(tmp_path)]
    assert {load["rows"] for load in loads} == {100, 300}
    assert len({load["database"] for load in loads}) == 2


def test_private_servers_are_measured_and_gone(private, tmp_path, folder):
    results = small_study(private, iterations=2).run(tmp_path)
    assert results.labels == ("small", "second")
    assert [len(dataset.records) for dataset in results] == [2, 2]
    assert list(folder.iterdir()) == []


def test_directory_of_the_user_is_kept_without_the_data(small_config, folder, tmp_path):
    own = folder / "own"
    small_study([bk.Server(small_config, directory=own)]).run(tmp_path)
    with bk.Server(small_config, directory=own) as server:
        assert not databases(server)


def test_run_in_which_nothing_is_committed_says_so(running, tmp_path):
    nothing = statement_workload("SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1062")
    small_study([running], workloads=[nothing], transactions=0, duration="0.2s").run(tmp_path)
    (record,) = records(tmp_path)
    assert "no transaction was committed in the measurement" in record["warnings"]
    assert record["metrics"]["tps"] == 0
    assert record["metrics"]["latency_p95"] is None


# What fails


def test_failed_run_is_kept_and_the_others_are_measured(running, tmp_path):
    study = small_study([running], workloads=[FAILING, POINT_SELECT], threads=[1, 2])
    with pytest.warns(bk.StudyWarning, match="2 runs failed.*\n.*Unknown column 'nothing'"):
        results = study.run(tmp_path)
    assert results.labels == ("small",)
    assert len(results["small"].records) == 2
    failed = records(tmp_path, "failed")
    assert [record["status"] for record in failed] == ["failed", "failed"]
    assert failed[0]["failure"]["kind"] == "database"
    assert "nothing" in failed[0]["failure"]["message"]
    finish(tmp_path, running)


def test_study_in_which_nothing_succeeds_is_given_up(running, tmp_path):
    study = small_study([running], workloads=[FAILING], threads=[1, 2, 4], iterations=50)
    with pytest.raises(RunError, match="nothing succeeds: 3 runs failed"):
        study.run(tmp_path)
    assert len(records(tmp_path, "failed")) == 3
    finish(tmp_path, running)


def test_server_that_dies_in_a_run_costs_that_run_only(private, tmp_path, folder, monkeypatch):
    killed = []

    def kill_once(row):
        if not killed:
            (file,) = folder.glob("study-*/*/run/mariadbd.pid")
            killed.append(int(file.read_text()))
            os.kill(killed[0], signal.SIGKILL)

    study = small_study(private, threads=[1, 2], transactions=0, duration="1.3s")
    with monkeypatch.context() as patch:
        Watch(on_row=kill_once).install(patch)
        with pytest.warns(bk.StudyWarning, match="1 run failed.*\n.*went away"):
            results = study.run(tmp_path)
    assert sum(len(dataset.records) for dataset in results) == 3
    (failed,) = records(tmp_path, "failed")
    assert "went away: a worker met error 2013" in failed["failure"]["message"]
    assert failed["metrics"]["committed"] > 0
    (log,) = (tmp_path / "failed").glob("*/server.log")
    assert "ready for connections" in log.read_text()
    assert not is_alive(killed[0])

    results = study.run(tmp_path)
    assert sum(len(dataset.records) for dataset in results) == 4
    assert len(records(tmp_path, "failed")) == 1
    assert list(folder.iterdir()) == []


# What is found out before the first run


def test_that_no_server_starts_is_found_out_at_once(tmp_path, small_config):
    broken = [
        bk.Server(small_config.replace(name, innodb_bufer_pool_size="1G")) for name in ("a", "b")
    ]
    with pytest.raises(ServerError, match="innodb_buffer_pool_size"):
        small_study(broken, iterations=2).run(tmp_path)
    assert records(tmp_path) == records(tmp_path, "failed") == []


def test_server_with_too_few_connections_is_found_out_at_once(private, tmp_path, small_config):
    tight = bk.Server(small_config.replace("tight", max_connections=10))
    with pytest.raises(RunError, match="11 threads.*max_connections = 11, but it is 10"):
        small_study([private[0], tight], threads=[1, 11]).run(tmp_path)
    assert records(tmp_path) == records(tmp_path, "failed") == []


def test_server_with_too_few_statements_is_found_out_at_once(tmp_path, small_config):
    tight = bk.Server(small_config.replace("tight", max_prepared_stmt_count=20))
    many = bk.workloads.oltp_point_select(rows=10, tables=6)
    with pytest.raises(RunError, match="max_prepared_stmt_count = 24, but it is 20"):
        small_study([tight], workloads=[many], threads=[1, 4]).run(tmp_path)


def test_server_without_autocommit_is_refused(tmp_path, small_config):
    with pytest.raises(RunError, match="autocommit = OFF"):
        small_study([bk.Server(small_config.replace("off", autocommit=0))]).run(tmp_path)


def test_too_few_open_files_are_found_out_at_once(running, tmp_path, monkeypatch):
    monkeypatch.setattr(preflight.resource, "getrlimit", lambda which: (256, 256))
    with pytest.raises(RunError, match="200 threads need 264 open files.*256.*ulimit -n"):
        small_study([running], threads=[200]).run(tmp_path)


def test_disk_too_small_for_the_data_is_found_out_at_once(private, tmp_path, folder):
    huge = bk.workloads.oltp_point_select(rows=2_000_000_000, tables=1000)
    with pytest.raises(RunError, match=f"TiB are to be loaded to {folder}.*BENCHKIT_DATA"):
        small_study(private, workloads=[huge]).run(tmp_path)
    assert not list(folder.glob("*/*/data"))


def test_running_private_server_is_not_used_by_a_study(server, tmp_path):
    with pytest.raises(ServerError, match=r"'small' is running: stop\(\) it"):
        small_study([server]).run(tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_home_is_reachable_whatever_the_umask(private, tmp_path, folder):
    before = os.umask(0o077)
    try:
        small_study(private[:1]).run(tmp_path)
    finally:
        os.umask(before)
    assert list(folder.iterdir()) == []


def test_data_removed_by_hand_are_loaded_again(running, server, tmp_path):
    study = small_study([running], workloads=[POINT_SELECT, FAILING])
    with pytest.warns(bk.StudyWarning):
        study.run(tmp_path)
    for name in databases(server):
        server.query(f"DROP DATABASE {name}")
    home = find_home(json.loads((tmp_path / "study.json").read_text())["data_id"])
    assert home.exists()
    assert len(small_study([running], iterations=2).run(tmp_path)["small"].records) == 2
    assert not home.exists()
