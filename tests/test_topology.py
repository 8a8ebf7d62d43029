"""Replicas: made, attached, watched, compared; what happens when one breaks, and what is left."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import psutil
import pytest
from installs import ALL, MARIADB_11_8, MYSQL_9_7, find_install
from processes import start_script, wait_until
from studies import Watch, small_study

import benchkit as bk
from benchkit import replication
from benchkit.errors import ConfigError, DatabaseError, InconsistentError, ReplicaError
from benchkit.replication import binlog_growth, count_transactions
from benchkit.topology import LagHistory, await_caught_up, compare_replicas

TINY = bk.Config("tiny", {"innodb_buffer_pool_size": "32M"})
WRITES = bk.workloads.oltp_write_only(rows=200)


# Values


@pytest.mark.parametrize(
    ("position", "count"),
    [
        ("", 0),
        ("0-1-17", 17),
        ("0-1-17,3-2-5", 22),
        ("94b745ab-ecfe-11f1-929a-02fc00000001:1-5", 5),
        ("94b745ab-ecfe-11f1-929a-02fc00000001:1-5:8,aa2b1d44-ecfe-11f1-a67a-02fc00000001:3", 7),
    ],
)
def test_positions_stand_for_numbers_of_transactions(position, count):
    assert count_transactions(position) == count


def test_lag_is_the_age_of_what_is_applied():
    history = LagHistory()
    for time_s, written in [(0, 0), (1, 100), (2, 200), (3, 400)]:
        history.add(time_s, written)
    assert history.lag_s(400) == history.lag_s(500) == 0
    assert history.lag_s(300) == pytest.approx(0.5)
    assert history.lag_s(300) == pytest.approx(0.5)
    history.add(4, 400)
    assert history.lag_s(350) == pytest.approx(4 - 2.75)


def test_lag_of_what_was_written_before_the_first_sample_is_at_least_that_old():
    history = LagHistory()
    history.add(10, 100)
    history.add(12, 100)
    assert history.lag_s(50) == 2


def test_growth_of_binary_logs_survives_rotation_and_purging():
    assert binlog_growth({"b.1": 10}, {"b.1": 25}) == 15
    assert binlog_growth({"b.1": 10, "b.2": 5}, {"b.2": 9, "b.3": 4}) == 8
    assert binlog_growth({"b.1": 10}, {"b.2": 9}) is None
    assert binlog_growth({}, {}) is None


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"skip_log_bin": True}, {}, "sets skip_log_bin, but.*needs its binary log"),
        ({"log_bin": False}, {}, "sets log_bin to False"),
        ({"gtid_mode": "OFF"}, {}, "sets gtid_mode to 'OFF'"),
        ({}, {"replicas": -1}, "replicas must be an integer from 0"),
        ({}, {"attach": "later"}, "unknown attach 'later'"),
        ({}, {"replicas": 0, "replica_config": TINY}, "replica_config is given, but replicas=0"),
        ({"server_id": 7}, {"replica_config": bk.Config("r", {"server_id": 7})}, "same server_id"),
        ({}, {"replica_config": bk.Config("r", {"datadir": "/x"})}, "sets datadir"),
    ],
)
def test_contradictions_are_refused_at_once(options, arguments, message):
    with pytest.raises(ConfigError, match=message):
        bk.Server(bk.Config("p", options), **{"replicas": 1, **arguments})


def test_data_outside_the_directory_that_is_copied_are_refused():
    for name, value in {"log_bin": "/mnt/binlog", "innodb_undo_directory": "../undo"}.items():
        with pytest.raises(ConfigError, match=f"{name}={value}: a replica is made from a copy"):
            bk.Server(TINY.replace("p", **{name: value}), replicas=1)
    bk.Server(TINY.replace("p", log_bin="logs/binlog"), replicas=1)


def test_topology_makes_another_run():
    plans = [
        small_study([bk.Server(TINY, **topology)]).plan().runs[0].id
        for topology in ({}, {"replicas": 1}, {"replicas": 2}, {"replicas": 1, "attach": "image"})
    ]
    assert len(set(plans)) == 4


# Pairs of servers


# What products differ in is the same in both ways.
@pytest.fixture(params=[(ALL[0], "image"), *((label, "before_load") for label in ALL)])
def pair(request, memory):
    """Return a server and its replica, attached in each way, with three rows."""
    label, attach = request.param
    server = bk.Server(TINY, find_install(label), replicas=1, attach=attach)
    with server:
        server.query("CREATE DATABASE d")
        server.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        if attach == "image":
            assert server.replicas == []
            server.attach_replicas()
        server.query("INSERT INTO d.t VALUES (1), (2), (3)")
        yield server
    assert list(memory.iterdir()) == []


def files_with(secret, *folders):
    """Return the files in which a text is."""
    paths = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return [path for path in paths if secret.encode() in path.read_bytes()]


def test_replica_follows_over_restarts_and_breaks_in_its_own_words(pair, memory, monkeypatch):
    secrets = []
    make_account = replication.make_account
    monkeypatch.setattr(
        replication, "make_account", lambda s: secrets.append(make_account(s)) or secrets[-1]
    )
    await_caught_up(pair)
    assert compare_replicas(pair, "d")["t"].rows == 3
    pair.restart()
    pair.query("INSERT INTO d.t VALUES (4)")
    await_caught_up(pair)
    assert compare_replicas(pair, "d")["t"].rows == 4
    check_access(pair, memory, secrets)

    with pair.replicas[0].session("d") as session:
        session.query("SET SESSION sql_log_bin = 0")
        session.query("INSERT INTO t VALUES (9)")
    with pytest.raises(InconsistentError, match="table t has 5 rows instead of 4"):
        compare_replicas(pair, "d")
    pair.query("INSERT INTO d.t VALUES (9)")
    with pytest.raises(ReplicaError, match="replica 1 of .* has stopped: .*Duplicate entry '9'"):
        await_caught_up(pair)

    pair.drop_replicas()
    assert pair.replicas == []
    pair.attach_replicas()
    await_caught_up(pair)
    assert compare_replicas(pair, "d")["t"].rows == 5


SEMI_SYNC = {
    MARIADB_11_8: ({}, "rpl_semi_sync_master", {}, "rpl_semi_sync_slave"),
    MYSQL_9_7: (
        {"plugin_load_add": "semisync_source.so"},
        "rpl_semi_sync_source",
        {"plugin_load_add": "semisync_replica.so"},
        "rpl_semi_sync_replica",
    ),
}


@pytest.mark.parametrize("label", SEMI_SYNC)
def test_replica_acknowledges_where_both_are_told_to(label, memory):
    plugin, source, replica_plugin, replica = SEMI_SYNC[label]
    config = TINY.replace("semi-sync", **plugin, **{f"{source}_enabled": True})
    replica_config = bk.Config("r", {**replica_plugin, f"{replica}_enabled": True})
    with bk.Server(config, find_install(label), replicas=1, replica_config=replica_config) as pair:
        pair.query("CREATE DATABASE d")
        await_caught_up(pair)
        status = dict(pair.query(f"SHOW GLOBAL STATUS LIKE '{source}%'"))
    assert (status[f"{source.capitalize()}_clients"], status[f"{source.capitalize()}_status"]) == (
        "1",
        "ON",
    )
    assert int(status[f"{source.capitalize()}_yes_tx"]) >= 1


def check_access(server, folder, secrets):
    """The port is there for the replica only, and its password nowhere on disk."""
    listening = [
        connection.laddr
        for pid in (server.pid, server.replicas[0].pid)
        for connection in psutil.Process(pid).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert [address.ip for address in listening] == ["127.0.0.1"]
    with pytest.raises(DatabaseError, match="Access denied"):
        bk._core.Connection(host="127.0.0.1", port=listening[0].port, user="root")
    (secret,) = secrets
    in_memory = Path("/dev/shm")
    kept = [path for path in files_with(secret, folder) if path.name != "master_info_file"]
    assert kept == []
    held = files_with(secret, *in_memory.glob("benchkit-[!t]*"))
    assert all(path.parent.stat().st_mode & 0o777 == 0o700 for path in held)
    for process in psutil.process_iter():
        try:
            assert secret not in " ".join([*process.cmdline(), *process.environ().values()])
        except psutil.Error:
            continue


def test_two_replicas_have_their_own_options(memory):
    config = bk.Config("other", {"innodb_buffer_pool_size": "48M", "server_id": 50})
    cpu = min(os.sched_getaffinity(0))
    with bk.Server(TINY, replicas=2, replica_config=config, replica_cpus=[cpu]) as server:
        assert [os.sched_getaffinity(each.pid) for each in server.replicas] == [{cpu}] * 2
        server.query("CREATE DATABASE d")
        await_caught_up(server)
        found = [
            replica.query("SELECT @@server_id, @@innodb_buffer_pool_size >> 20, @@read_only")[0]
            for replica in server.replicas
        ]
        assert found == [("50", "48", "1"), ("51", "48", "1")]
        assert server.query("SELECT @@server_id") == [("1",)]


# Studies


@pytest.fixture
def two(memory):
    """Return a server with a replica, and one without."""
    return [bk.Server(TINY.replace("attached"), replicas=1), bk.Server(TINY.replace("alone"))]


def two_study(servers, **changes):
    return small_study(
        servers,
        workloads=[WRITES],
        transactions=0,
        iteration_mode="preserve",
        order="sequential",
        **{"duration": "2s", **changes},
    )


def test_a_study_samples_lag_and_compares(memory, tmp_path):
    config = TINY.replace("tiny", report_password="hunter2")
    server = bk.Server(config, replicas=1, attach="image")
    study = small_study(
        [server],
        workloads=[WRITES],
        transactions=0,
        duration="2s",
        iterations=2,
        threads=[2],
        checks="full",
    )
    results = study.run(tmp_path)
    (dataset,) = results
    lags = dataset.series("replica_lag_s", threads=2)
    assert lags.shape == (2, 2)
    assert (lags >= 0).all()
    for record in dataset.records:
        said = record.replication
        assert said["attach"] == "image"
        assert said["primary_options"] == {"log_bin": "binlog", "server_id": 1}
        assert said["tables"]["sbtest1"]["rows"] == 200
        assert record.checks["tables"]["sbtest1"] == said["tables"]["sbtest1"]
        assert said["replicas"][0]["options"]["server_id"] == 2
        assert record.preparation["image"] in ("taken", "found")
        assert record.metrics["replica_lag_max"] >= record.metrics["replica_lag_mean"]
        assert record.metrics["replica_catch_up"] >= 0
        assert record.metrics["binlog_bytes_per_transaction"] > 100
    assert files_with("hunter2", tmp_path) == []
    assert "Replicas\t1, attached from an image" in results.compare("tps").table("taf").render(
        "text"
    )
    assert list(memory.iterdir()) == []


def kill(replica):
    os.kill(replica.pid, signal.SIGKILL)


def make_conflict(replica):
    database = next(n for (n,) in replica.query("SHOW DATABASES") if n.startswith("bench_"))
    replica.query(f"DROP TABLE `{database}`.sbtest1")


def add_quietly(replica):
    database = next(n for (n,) in replica.query("SHOW DATABASES") if n.startswith("bench_"))
    replica.query(f"INSERT INTO `{database}`.sbtest1 (id) VALUES (1000000)")


@pytest.mark.parametrize(
    "broken",
    [
        (kill, "replica", "replica 1 of server 'attached' has died"),
        (make_conflict, "replica", "replica 1 of server 'attached' has stopped: .*doesn't exist"),
        (add_quietly, "inconsistent", "table sbtest1 has 201 rows instead of 200"),
    ],
)
def test_a_broken_replica_fails_its_run_and_the_study_goes_on(
    two, tmp_path, memory, monkeypatch, broken
):
    break_it, kind, message = broken

    def act(row):
        if not done:
            done.append(row)
            break_it(placed["attached"].replicas[0])

    def note_and_start(server):
        placed[server.name] = server
        return start(server)

    done, placed, start = [], {}, bk.Server.start
    monkeypatch.setattr(bk.Server, "start", note_and_start)
    with monkeypatch.context() as patch:
        Watch(on_row=act).install(patch)
        with pytest.warns(bk.StudyWarning, match=message):
            results = two_study(two, iterations=2).run(tmp_path)
    assert {d.server: [r.factors.iteration for r in d.records] for d in results} == {
        "attached": [2],
        "alone": [1, 2],
    }
    (failed,) = (tmp_path / "failed").glob("*/run.json")
    assert json.loads(failed.read_text())["failure"]["kind"] == kind
    two_study(two, iterations=2).run(tmp_path)
    assert list(memory.iterdir()) == []


def test_a_hung_replica_holds_up_neither_rows_nor_what_is_read_of_its_primary(
    memory, tmp_path, monkeypatch
):
    def act(row):
        rows.append(row)
        if len(rows) in (1, 4):
            number = signal.SIGSTOP if len(rows) == 1 else signal.SIGCONT
            os.kill(servers[0].replicas[0].pid, number)

    def note_and_start(server):
        servers.append(server)
        return start(server)

    rows, servers, start = [], [], bk.Server.start
    monkeypatch.setattr(bk.Server, "start", note_and_start)
    Watch(on_row=act).install(monkeypatch)
    attached = bk.Server(TINY.replace("attached"), replicas=1)
    (dataset,) = two_study([attached], duration="6s").run(tmp_path)
    lags = dataset.series("replica_lag_s", threads=1)
    assert lags.shape == (1, 6)
    assert not np.isnan(lags[0, -1])


ATTACHED = """
import sys, benchkit as bk

tiny = bk.Config("tiny", {"innodb_buffer_pool_size": "32M"})
server = bk.Server(tiny, replicas=1)
workload = bk.workloads.oltp_write_only(rows=200)
class Told(bk.execute.Progress):
    def show_row(self, row):
        print("runs", flush=True)
bk.execute.make_progress = lambda runs, enabled: Told(runs)
bk.Study("attached", [server], [workload], 1, 1, "300s", 0).run(sys.argv[1])
"""


def processes_of(folder):
    found = []
    for process in psutil.process_iter():
        try:
            if str(folder) in " ".join(process.cmdline()) and process.pid != os.getpid():
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_of_a_study_that_is_ended(tmp_path, memory, number):
    before = set(Path("/dev/shm").glob("benchkit-[!t]*"))
    script = ATTACHED.replace("import sys, ", "import sys, benchkit.execute, ")
    with start_script(script, tmp_path / "results") as process:
        assert process.stdout.readline() == "runs\n"
        assert len(processes_of(memory)) == 4  # two servers, two watchdogs
        made = set(Path("/dev/shm").glob("benchkit-[!t]*")) - before
        process.send_signal(number)
        process.communicate()
    wait_until(lambda: not processes_of(memory))
    wait_until(lambda: not any(folder.exists() for folder in made))
    assert not [path for path in memory.rglob("*") if path.is_socket()]
