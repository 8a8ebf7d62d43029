"""Bad input: each kind has its own clear message, and nothing is written."""

import json
import re
import socket
import subprocess
from contextlib import contextmanager
from dataclasses import replace

import pytest
from disks import small_disk
from studies import POINT_SELECT, connect_to, files_below, small_study, statement_workload

import benchkit as bk
from benchkit.account import give, server_account
from benchkit.errors import (
    ConfigError,
    MetricError,
    RunError,
    ServerError,
    StoreError,
    StudyError,
    StudyWarning,
    WorkloadError,
)

PRIVATE = bk.Server(bk.Config("private"))
TINY = bk.Config("tiny", {"innodb_buffer_pool_size": "32M"})


@pytest.fixture
def running(server):
    return connect_to(server)


@pytest.fixture
def stored(running, tmp_path):
    """Return the folder of a complete study of one run."""
    small_study([running]).run(tmp_path / "stored")
    return tmp_path / "stored"


@pytest.fixture
def unchanged(data_base):
    """Return a context that fails when anything was made or removed in folders inside it."""

    @contextmanager
    def watch(*folders):
        def look():
            return [files_below(folder) for folder in (data_base, *folders)]

        before = look()
        yield
        assert look() == before

    return watch


def only_file(stored, name):
    (file,) = stored.glob(f"runs/*/{name}")
    return file


def edit(file, **changes):
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


# Names


def test_unknown_workload():
    with pytest.raises(WorkloadError, match="unknown workload 'oltp_reed_only': did you mean "):
        bk.workloads.find("oltp_reed_only")


def test_unknown_option_of_a_workload():
    with pytest.raises(WorkloadError, match="option of oltp_read_only 'row': did you mean 'rows'"):
        bk.workloads.oltp_read_only(row=5)


def test_unknown_order():
    with pytest.raises(StudyError, match="unknown order 'blockd': did you mean 'blocked'"):
        small_study([PRIVATE], order="blockd")


def test_unknown_metric(stored):
    with pytest.raises(MetricError, match="unknown metric 'tpss': did you mean 'tps'"):
        bk.load(stored).compare("tpss")


def test_unknown_attribute_of_workloads():
    with pytest.raises(AttributeError, match="'oltp_red_only': did you mean 'oltp_read_only'"):
        bk.workloads.oltp_red_only()


def test_options_that_are_no_mapping():
    with pytest.raises(ConfigError, match=r"options must be a mapping .* not \['a'\]"):
        bk.Config("x", ["a"])


def test_sql_with_a_nul_character():
    with pytest.raises(WorkloadError, match="sql must be a text without NUL characters"):
        statement_workload("SELECT 1\0")
    with pytest.raises(WorkloadError, match="item 1 of session must be a text without NUL"):
        statement_workload("SELECT 1", session=("SET @a = 1\0",))


@pytest.mark.parametrize("change", [{"duration": 1e12}, {"warmup": "12000d"}])
def test_duration_without_end_in_sight(change):
    with pytest.raises(StudyError, match="must be at most 1000000000 s, not "):
        small_study([PRIVATE], **change)


@pytest.mark.filterwarnings("ignore::benchkit.errors.StudyWarning")
def test_table_of_no_database(running, tmp_path):
    study = small_study([running], workloads=[statement_workload("SELECT * FROM t")])
    (failure,) = study.measure(tmp_path / "s")
    assert 'give it session=("USE db",) or tables' in failure.message


def test_unknown_option_of_a_server(tmp_path, unchanged):
    server = bk.Server(bk.Config("wrong", {"innodb_bufer_pool_size": "64M"}))
    message = "innodb_bufer_pool_size; did you mean innodb_buffer_po"
    for path in (tmp_path, tmp_path / "s"):
        with unchanged(tmp_path), pytest.raises(ServerError, match=message):
            small_study([server]).run(path)


@pytest.mark.parametrize("port", [0, -1, 65536, "3306", 33.5, True])
def test_port_that_is_none(port):
    with pytest.raises(ConfigError, match=f"port must be an integer from 1 to 65535, not {port!r}"):
        bk.Server(TINY, port=port)


def make_typo(folder, taken):
    return bk.Server(TINY.replace("wrong", innodb_bufer_pool_size="64M"))


def make_small_pool(folder, taken):
    return bk.Server(TINY.replace("wrong", innodb_buffer_pool_size="1M"))


def take_port(folder, taken):
    return bk.Server(TINY.replace("wrong"), port=taken.getsockname()[1])


def make_old_data(folder, taken):
    made_by = {"product": "MariaDB", "version": "13.1.2-MariaDB"}
    (folder / "own" / "data").mkdir(parents=True)
    (folder / "own" / "made_by.json").write_text(json.dumps(made_by))
    for path in (folder / "own", folder / "own" / "data"):
        give(path, server_account())
    return bk.Server(TINY.replace("wrong"), directory=folder / "own")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (make_typo, "innodb_bufer_pool_size; did you mean innodb_buffer_pool_size"),
        (make_small_pool, r"InnoDB: innodb_page_size=16384 requires innodb_buffer_pool_size >= \d"),
        (take_port, "server 'wrong' did not start .*: its TCP port is taken"),
        (make_old_data, "13.1.2"),
    ],
)
def test_a_study_goes_on_without_a_server_that_does_not_start(
    make, message, folder, memory, tmp_path
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        servers = [bk.Server(TINY.replace("good")), make(folder, taken)]
        with pytest.warns(StudyWarning) as told:
            failures = small_study(servers, iterations=2).measure(tmp_path / "s")
    assert re.search(f"goes on without: .*{message}", str(told[0].message), re.DOTALL)
    assert [failure.run.setup.name for failure in failures] == ["wrong"] * 2
    assert all(re.search(message, failure.message) for failure in failures)
    (dataset,) = bk.load(tmp_path / "s")
    assert [(r.factors.server, r.factors.iteration) for r in dataset.records] == [
        ("good", 1),
        ("good", 2),
    ]


# Values of a study


@pytest.mark.parametrize("threads", [0, -1, 65537, 1.5, "4", True, [1, 0], [1, None], None])
def test_wrong_threads(threads):
    with pytest.raises(StudyError, match="threads must be an integer from 1 to 65536, not "):
        small_study([PRIVATE], threads=threads)


@pytest.mark.parametrize("duration", ["5 parsecs", "", "-1s", -1, float("nan"), float("inf")])
def test_wrong_duration(duration):
    with pytest.raises(StudyError, match="is not a duration: write a number of seconds"):
        small_study([PRIVATE], duration=duration)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "a study needs a printable name, not ''"),
        ({"name": 5}, "a study needs a printable name, not 5"),
        ({"servers": []}, "needs at least one server"),
        ({"servers": [PRIVATE, PRIVATE]}, "servers holds 'private' twice"),
        ({"servers": PRIVATE}, "servers must be a list of Server objects"),
        ({"servers": ["private"]}, "servers must be a list of Server objects"),
        ({"workloads": []}, "needs at least one workload"),
        ({"workloads": POINT_SELECT}, "workloads must be a list of Workload objects"),
        ({"workloads": [POINT_SELECT] * 2}, "twice"),
        ({"threads": []}, "needs at least one thread count"),
        ({"threads": [1, 2, 1]}, "threads holds 1 twice"),
        ({"iterations": 0}, "iterations must be an integer from 1"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"transactions": -1}, "transactions must be an integer from 0"),
        ({"transactions": 0}, "needs an end of each run"),
        ({"duration": 0}, "duration must be above 0"),
        ({"loader_threads": 0}, "loader_threads must be an integer from 1"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_wrong_study(change, message):
    with pytest.raises(StudyError, match=message):
        small_study(**{"servers": [PRIVATE], **change})


def test_workloads_that_differ_only_in_what_has_no_effect():
    same = [replace(POINT_SELECT, parameters=(("note", note),)) for note in ("a", "b")]
    with pytest.raises(StudyError, match=r"\[note=b\] do exactly the same"):
        small_study([PRIVATE], workloads=same)


def test_servers_in_one_directory(folder):
    servers = [bk.Server(bk.Config(name), directory=folder) for name in "ab"]
    with pytest.raises(StudyError, match="two servers have the same directory"):
        small_study(servers)


# Servers and workloads


def test_server_path_that_does_not_exist(tmp_path, unchanged):
    server = bk.Server(bk.Config("private"), install="/opt/no-such-server")
    with unchanged(tmp_path), pytest.raises(ServerError, match="/opt/no-such-server is not a"):
        small_study([server]).run(tmp_path / "s")


def test_datadir_already_in_use(small_config, folder, tmp_path):
    used = bk.Server(small_config, directory=folder / "own")
    with used, pytest.raises(ServerError, match=f"{folder}/own is in use by server process"):
        other = bk.Server(small_config.replace("other"), directory=folder / "own")
        small_study([other]).run(tmp_path)
    assert not list(tmp_path.iterdir())


# Folders


def test_results_path_that_is_a_file(tmp_path, unchanged):
    file = tmp_path / "results"
    file.write_text("")
    for path, message in [(file, "results is a file"), (file / "below", "cannot write")]:
        with unchanged(tmp_path), pytest.raises(StoreError, match=message):
            small_study([PRIVATE]).run(path)


def test_folder_that_holds_something_else(tmp_path, unchanged):
    (tmp_path / "thesis.tex").write_text("")
    with unchanged(tmp_path), pytest.raises(StoreError, match="not empty and not a study folder"):
        small_study([PRIVATE]).run(tmp_path)


@pytest.mark.parametrize("name", ["study.json", "run.json"])
def test_folder_of_a_newer_release(running, stored, unchanged, name):
    file = stored / name if name == "study.json" else only_file(stored, name)
    schema = json.loads(file.read_text())["schema"].replace("/1", "/99")
    edit(file, schema=schema)
    message = f"{file} has schema '{schema}', written by a newer benchkit"
    for call in (lambda: bk.load(stored), lambda: small_study([running]).run(stored)):
        with unchanged(stored), pytest.raises(StoreError, match=message):
            call()


def test_run_that_is_not_json(running, stored, unchanged):
    file = only_file(stored, "run.json")
    file.write_text(file.read_text()[:-200])
    for call in (lambda: bk.load(stored), lambda: small_study([running]).run(stored)):
        with unchanged(stored), pytest.raises(StoreError, match=f"{file} is not JSON: .* in line"):
            call()


def test_truncated_series(stored):
    file = only_file(stored, "series.npy")
    file.write_bytes(file.read_bytes()[:-8])
    (dataset,) = bk.load(stored)
    with pytest.raises(StoreError, match=f"{file} is truncated"):
        dataset.series("tps")


def test_folder_of_another_study(running, stored, unchanged):
    message = "belongs to study 'small', not 'other': use another folder"
    with unchanged(stored), pytest.raises(StoreError, match=message):
        small_study([running], name="other").run(stored)


def test_two_studies_of_one_name(running, stored, tmp_path):
    small_study([running]).run(tmp_path / "second")
    with pytest.raises(StoreError, match="both hold a study named 'small'"):
        bk.load([stored, tmp_path / "second"])


# Disks


@pytest.fixture
def tiny_disk(tmp_path):
    """Return a file system of its own without much room; only root can make one."""
    with small_disk(tmp_path / "disk", "40k") as disk:
        yield disk


def test_no_room_for_the_results(running, tiny_disk):
    study = small_study([running])
    with pytest.raises(StoreError, match=f"no space left to write {tiny_disk}/runs/.* Free some"):
        study.run(tiny_disk)
    assert not [name for name in files_below(tiny_disk) if ".tmp-" in name]
    subprocess.run(["mount", "-o", "remount,size=10M", tiny_disk], check=True)
    assert len(study.run(tiny_disk)["small"].records) == 1


def test_no_room_for_the_data(tiny_disk, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCHKIT_DATA", str(tiny_disk))
    with pytest.raises(RunError, match=f"are to be loaded to {tiny_disk}/.*, where only"):
        small_study([PRIVATE]).run(tmp_path / "s")
    assert not (tmp_path / "s").exists()
