"""Studies that are interrupted or killed, and go on where they were."""

import json
import os
import random
import signal
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from processes import start_script, wait_until
from studies import Watch, connect_to, databases, files_below, small_study

import benchkit as bk
from benchkit import hlog
from benchkit.errors import StoreError
from benchkit.record import MEASUREMENT, WARMUP

KILLS = 10

SIX_RUNS = """
import sys, benchkit as bk

small = bk.Config("small", {"innodb_buffer_pool_size": "64M", "innodb_log_file_size": "8M"})
study = bk.Study(
    "six",
    servers=[bk.Server(small), bk.Server(small.replace("relaxed", sync_binlog=0))],
    workloads=[bk.workloads.oltp_read_write(rows=2000)],
    threads=[1, 2, 3],
    iterations=1,
    duration="0.3s",
    warmup="0.1s",
)
print(len(study.plan()), flush=True)
results = study.run(sys.argv[1])
print(sum(len(dataset.records) for dataset in results), flush=True)
"""


@pytest.fixture
def data(folder, monkeypatch):
    """Return a folder of this test's own for the data of servers."""
    path = folder / "data"
    path.mkdir()
    path.chmod(0o755)
    monkeypatch.setenv("BENCHKIT_DATA", str(path))
    return path


def processes_of(folder):
    """Return the processes whose command line names a folder: its servers and watchdogs."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = file.read_bytes()
        except OSError:  # it has just ended
            continue
        if str(folder).encode() in command and int(file.parent.name) != os.getpid():
            found.append(int(file.parent.name))
    return found


def kill_at(path, delay_s):
    """Start the study and kill it; return whether it had ended by itself before."""
    process = start_script(SIX_RUNS, path)
    with process:
        assert process.stdout.readline() == "6\n"
        try:
            process.wait(delay_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            return False
    assert process.returncode == 0
    return True


def check_stored(path):
    """Check that every stored run can be read whole; return how many there are."""
    results = bk.load(path)
    for record in (record for dataset in results for record in dataset.records):
        folder = path / "runs" / record.id
        for name, facts in record.files.items():
            assert (folder / name).stat().st_size == facts["bytes"]
        assert len(np.load(folder / "series.npy")) > 0
        assert hlog.parse((folder / "latency.hlog").read_text()).tags
    return sum(len(dataset.records) for dataset in results)


def test_a_study_that_is_killed_ten_times_ends_with_exactly_its_runs(folder, data):
    moments = random.Random(20)
    kills, number = 0, 1
    while kills < KILLS:
        path = folder / f"results-{number}"
        if kill_at(path, moments.uniform(0.0, 5.0)):
            assert check_stored(path) == 6
            number += 1
            continue
        kills += 1
        if (path / "study.json").exists():
            check_stored(path)

    process = start_script(SIX_RUNS, path)
    output, _ = process.communicate()
    assert output == "6\n6\n"
    assert check_stored(path) == 6
    assert len(list((path / "runs").iterdir())) == 6
    assert not list((path / "failed").iterdir())
    wait_until(lambda: not processes_of(data))
    assert list(data.iterdir()) == []


# Ctrl-C


def send_interrupt():
    """Interrupt this process from another thread, as the terminal does."""
    threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()


def only_failed(path):
    (folder,) = (path / "failed").iterdir()
    return folder, json.loads((folder / "run.json").read_text())


def drop_all(server):
    """Drop what an interrupted study left, which nobody resumes."""
    for name in databases(server):
        server.query(f"DROP DATABASE {name}")


def interrupt(study, path, watch, monkeypatch):
    """Run a study until `watch` interrupts it; return what was kept of the run."""
    with monkeypatch.context() as patch:
        watch.install(patch)
        with pytest.raises(KeyboardInterrupt):
            study.run(path)
    return only_failed(path)


@pytest.mark.parametrize(
    ("phase", "warmup", "duration"), [(WARMUP, "60s", "1s"), (MEASUREMENT, "0.2s", "60s")]
)
def test_ctrl_c_keeps_what_was_measured(server, tmp_path, monkeypatch, phase, warmup, duration):
    def act(row):
        if row["phase"] == phase:
            send_interrupt()

    study = small_study(
        [connect_to(server)], warmup=warmup, duration=duration, transactions=0, threads=[2]
    )
    folder, record = interrupt(study, tmp_path, Watch(on_row=act), monkeypatch)
    assert record["status"] == "interrupted"
    rows = np.load(folder / "series.npy")
    assert rows["committed"][rows["phase"] == phase].sum() > 0
    prefix = {WARMUP: "warmup.", MEASUREMENT: ""}[phase]
    log = hlog.parse((folder / "latency.hlog").read_text())
    merged = log.merged([f"{prefix}transaction.oltp_point_select"])
    assert merged.total == rows["committed"][rows["phase"] == phase].sum()
    assert record["accounting"]["scheduled"] == rows["committed"].sum()
    assert (record["metrics"]["tps"] is None) == (phase == WARMUP)
    drop_all(server)


def test_server_is_not_asked_after_ctrl_c(server, tmp_path, monkeypatch):
    def hang(database=None):
        raise AssertionError("a hung server would never answer")

    def act(row):
        monkeypatch.setattr(connected, "session", hang)
        send_interrupt()

    connected = connect_to(server)
    study = small_study([connected], duration="60s", transactions=0)
    _, record = interrupt(study, tmp_path, Watch(on_row=act), monkeypatch)
    assert record["server"]["socket"] == server.endpoint["socket"]
    assert record["server"]["version"] == server.version
    drop_all(server)


def test_ctrl_c_stops_a_load_and_the_same_line_loads_again(server, tmp_path, monkeypatch):
    def act(step):
        if step.startswith("loading "):
            send_interrupt()

    study = small_study(
        [connect_to(server)], workloads=[bk.workloads.oltp_point_select(rows=100_000)]
    )
    folder, record = interrupt(study, tmp_path, Watch(on_step=act), monkeypatch)
    assert record["status"] == "interrupted"
    assert record["load"] is None
    assert len(np.load(folder / "series.npy")) == 0
    results = study.run(tmp_path)
    (stored,) = results["small"].records
    assert stored.load["rows"] == 100_000
    assert not stored.load["reused"]
    assert not databases(server)


def test_ctrl_c_at_a_server_start_leaves_no_server(small_config, data, tmp_path, monkeypatch):
    def interrupt_once_it_runs():
        def runs():
            return any(data.glob("study-*/*/run/*"))

        wait_until(runs)
        send_interrupt()

    def act(step):
        if step == "starting small":
            threading.Thread(target=interrupt_once_it_runs).start()

    study = small_study([bk.Server(small_config)])
    with monkeypatch.context() as patch:
        Watch(on_step=act).install(patch)
        with pytest.raises(KeyboardInterrupt):
            study.run(tmp_path)
    assert not processes_of(data)
    assert len(study.run(tmp_path)["small"].records) == 1
    assert list(data.iterdir()) == []


def test_ctrl_c_in_a_run_stops_the_private_server(small_config, data, tmp_path, monkeypatch):
    study = small_study([bk.Server(small_config)], transactions=0, duration="60s")
    watch = Watch(on_row=lambda row: send_interrupt())
    interrupt(study, tmp_path, watch, monkeypatch)
    assert not processes_of(data)
    (home,) = data.iterdir()
    assert (home / "study").exists()


# Two at once


LONG_RUN = """
import sys, benchkit as bk

server = bk.Server.connect(socket=sys.argv[2], user="root", name="small")
bk.Study("small", [server], [bk.workloads.null()], 1, 1, "300s", 0).run(sys.argv[1])
"""


def test_second_process_is_told_who_works_in_the_folder(server, tmp_path):
    lock = tmp_path / "study.lock"
    first = start_script(LONG_RUN, tmp_path, server.endpoint["socket"])
    with first:
        wait_until(lambda: lock.exists() and lock.read_text() == f"{first.pid}\n")
        before = files_below(tmp_path / "runs")
        with pytest.raises(StoreError, match=f"in use by another process .pid {first.pid}"):
            small_study([connect_to(server)]).run(tmp_path)
        assert files_below(tmp_path / "runs") == before
        first.send_signal(signal.SIGINT)
    assert first.returncode == -signal.SIGINT
