"""What server and host counted stands beside the run's own rows, and costs are computed from it."""

import os
import signal
import threading
import time
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from studies import Watch, connect_to, small_study

import benchkit as bk
from benchkit.counters import is_level
from benchkit.errors import DatabaseError, MetricError, RunError, StudyWarning
from benchkit.monitor import Monitor, Watched
from benchkit.plan import Timing
from benchkit.stored import MONITOR_FILE
from benchkit.workloads.rate import Rate

WRITING = bk.workloads.oltp_update_non_index(rows=500)


def private_study(config, **changes):
    return small_study(
        [bk.Server(config)],
        workloads=[WRITING],
        threads=[2],
        transactions=0,
        **{"warmup": "1s", "duration": "2.5s", **changes},
    )


@pytest.fixture(scope="module")
def dataset(small_config, tmp_path_factory):
    config = small_config.replace("durable", innodb_flush_log_at_trx_commit=1, log_bin=None)
    return private_study(config).run(tmp_path_factory.mktemp("monitor") / "s")["durable"]


def test_server_counters_have_the_time_base_of_the_run(dataset):
    updates = dataset.series("com_update", iteration=1)
    committed = dataset.series("committed", iteration=1)
    assert updates.shape == committed.shape
    # A reading takes its time on a busy machine, so a row may have some of the next one's.
    assert updates == pytest.approx(committed, rel=0.5, abs=200)
    everything = dataset.series("com_update", iteration=1, phase="all").sum()
    committed = dataset.series("committed", iteration=1, phase="all").sum()
    assert everything == pytest.approx(committed, rel=0.1)


def test_series_of_all_iterations_and_rates_work_as_for_any_metric(dataset):
    fsyncs = dataset.series("innodb_data_fsyncs", threads=2)
    rates = dataset.series("innodb_data_fsyncs_per_s", threads=2)
    assert fsyncs.shape == dataset.series("tps", threads=2).shape
    np.testing.assert_allclose(rates, fsyncs / dataset.series("elapsed_s", threads=2))


def test_levels_are_values_not_growth(dataset):
    statements = dataset.series("prepared_stmt_count", iteration=1)
    assert np.ptp(statements[:-1]) == 0  # the last reading may come when the workers are gone
    assert np.all(dataset.series("server_rss_bytes", iteration=1) > 1e6)


def test_host_and_processes_are_read_too(dataset):
    busy = dataset.series("host_cpu_user_s", iteration=1)
    assert np.all(busy >= 0)
    assert dataset.series("server_cpu_s", iteration=1).sum() > 0
    assert dataset.series("client_cpu_s", iteration=1).sum() > 0


def test_unknown_series_is_refused_with_the_nearest_name(dataset):
    with pytest.raises(MetricError, match="innodb_data_fsyncs"):
        dataset.series("inodb_data_fsyncs")


def test_costs_are_per_committed_transaction(dataset):
    (record,) = dataset.records
    committed = record.metrics["committed"]
    for metric, counter, factor in [
        ("fsyncs_per_transaction", "innodb_data_fsyncs", 1),
        ("binlog_bytes_per_transaction", "binlog_bytes_written", 1),
        ("server_cpu_us_per_transaction", "server_cpu_s", 1e6),
    ]:
        total = dataset.series(counter, iteration=1).sum()
        assert record.metrics[metric] == pytest.approx(factor * total / committed), metric
    assert dataset.array("fsyncs_per_transaction")[0, 0] > 0.3


def test_costs_tell_durable_commits_from_lazy_ones(dataset, small_config, tmp_path):
    lazy = private_study(small_config, duration="1s", warmup=0).run(tmp_path / "s")["small"]
    assert lazy.array("fsyncs_per_transaction") < 0.5 * dataset.array("fsyncs_per_transaction")


def test_server_of_somebody_else_has_its_status_read_but_no_process(server, tmp_path):
    study = small_study([connect_to(server)], transactions=0, duration="1s")
    (record,) = study.run(tmp_path / "s")["small"].records
    assert "client_cpu_us_per_transaction" in record.metrics
    assert "server_cpu_us_per_transaction" not in record.metrics
    assert MONITOR_FILE in record.files


def test_run_of_a_server_that_dies_keeps_what_was_read(small_config, tmp_path, monkeypatch):
    server = bk.Server(small_config)
    study = private_study(small_config, duration="30s", warmup=0, iterations=1)

    @dataclass
    class Killer(Watch):
        rows: list[object] = field(default_factory=list)

        def show_row(self, row):
            self.rows.append(row)
            if len(self.rows) == 2:
                os.kill(study_server().pid, signal.SIGKILL)

    def study_server():
        return placed[0]

    placed = []
    place = bk.Server.placed
    monkeypatch.setattr(
        bk.Server, "placed", lambda self, at: placed.append(place(self, at)) or placed[-1]
    )
    Killer().install(monkeypatch)
    with pytest.warns(StudyWarning, match="went away"):
        study.run(tmp_path / "s")
    assert not server.running
    (kept,) = (tmp_path / "s" / "failed").iterdir()
    rows = np.load(kept / MONITOR_FILE)
    assert rows["com_update"][0] > 0


def test_stopped_server_does_not_hold_up_the_end(small_config):
    with bk.Server(small_config) as server:
        pid = server.pid
        with Monitor(Watched(server, Timing(0.0, 1.0, 0), lambda: 1)) as monitor:
            os.kill(pid, signal.SIGSTOP)
        os.kill(pid, signal.SIGCONT)
        assert len(monitor.table(np.array([1e9]))) == 1


class Unfit:
    """A source that is read once and then finds that the run is not worth going on with."""

    def __init__(self):
        self.read_before, self.closed = False, threading.Event()

    def read(self):
        if self.read_before:
            raise RunError("a replica broke")
        self.read_before = True
        return {"replica_lag_s": 3.0}

    def close(self):
        self.closed.set()


def test_source_that_finds_the_run_unfit_is_heard_and_asked_no_more():
    source = Unfit()
    idle = bk.Server(bk.Config("idle"))
    with Monitor(Watched(idle, Timing(0.0, 1.0, 0), time.monotonic_ns, sources=[source])) as m:
        m.check()
        assert source.closed.wait(60)
        with pytest.raises(RunError, match="a replica broke"):
            m.check()
    assert m.table(np.array([0.0]))["replica_lag_s"].tolist() == [3.0]


def table(readings, ends):
    """Return what a monitor makes of given readings, (time, value of a counter)."""
    monitor = Monitor(Watched(bk.Server(bk.Config("idle")), Timing(0.0, 1.0, 0), int))
    monitor._readings = [
        type("Reading", (), {"time_s": t, "values": {"counter": v}})() for t, v in readings
    ]
    return monitor.table(np.array(ends))


def test_growth_is_cut_where_intervals_meet():
    rows = table([(0.0, 10.0), (1.0, 20.0), (3.0, 60.0)], [1.0, 2.0, 3.0])
    assert rows["counter"].tolist() == [10.0, 20.0, 20.0]


def test_growth_is_absent_after_the_last_reading_and_where_a_counter_was_set_back():
    rows = table([(0.0, 10.0), (1.0, 20.0), (2.0, 5.0), (3.0, 6.0)], [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(rows["counter"], [10.0, np.nan, 1.0, np.nan])


def test_run_too_short_for_readings_has_no_costs(server, tmp_path):
    (record,) = small_study([connect_to(server)]).run(tmp_path / "s")["small"].records
    assert not [name for name in record.metrics if name.endswith("_per_transaction")]


def test_counters_that_did_not_move_are_left_out():
    assert table([(0.0, 7.0), (1.0, 7.0)], [1.0]).dtype.names == ()


def test_no_reading_at_all_gives_rows_without_fields():
    assert table([], [1.0, 2.0]).shape == (2,)


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("threads_running", True),
        ("threads_created", False),
        ("innodb_buffer_pool_pages_dirty", True),
        ("innodb_buffer_pool_pages_flushed", False),
        ("open_files", True),
        ("opened_files", False),
        ("com_select", False),
        ("innodb_row_lock_time", False),
        ("innodb_row_lock_time_avg", True),
        ("threadpool_idle_threads", True),
        ("threadpool_threads", True),
        ("slow_launch_threads", False),
        ("delayed_insert_threads", True),
        ("slaves_connected", True),
        ("aria_pagecache_blocks_not_flushed", True),
        ("aria_pagecache_reads", False),
        ("innodb_async_reads_pending", True),
        ("innodb_async_writes_queue_size", True),
        ("innodb_async_writes_tasks_running", True),
        ("innodb_async_writes_total_count", False),
        ("innodb_onlineddl_rowlog_pct_used", True),
        ("innodb_buffer_pool_resize_status_progress", True),
        ("rpl_semi_sync_master_clients", True),
        ("rpl_semi_sync_source_net_avg_wait_time", True),
        ("rpl_semi_sync_master_yes_tx", False),
        ("tmp_space_used", True),
        ("max_tmp_space_used", True),
        ("ssl_used_session_cache_entries", True),
        ("ssl_session_cache_hits", False),
    ],
)
def test_levels_are_told_from_counters(name, level):
    assert is_level(name) is level


def test_counters_that_could_not_be_read_are_said(server, monkeypatch):
    def refuse(self, database=None):
        raise DatabaseError("too many connections", 1040, "08004")

    monkeypatch.setattr(bk.Server, "session", refuse)
    with Monitor(Watched(server, Timing(0.0, 1.0, 0), lambda: 1, "none")) as monitor:
        pass
    assert monitor.notes == ["the server's counters were not read: too many connections"]


def test_query_that_fails_ends_the_counters_and_is_said(server, tmp_path):
    wrong = replace(WRITING, rates=(Rate("nopm", ("x",), ("y",), queries=(("x", "SELECT y"),)),))
    study = small_study([connect_to(server)], workloads=[wrong], transactions=0, duration="1.5s")
    (record,) = study.run(tmp_path / "s")["small"].records
    assert any("counters were not read to the end" in text for text in record.warnings)


def test_run_without_monitor_has_no_counters(server, tmp_path):
    study = small_study([connect_to(server)], monitor=False, transactions=0, duration="1s")
    (record,) = study.run(tmp_path / "s")["small"].records
    assert MONITOR_FILE not in record.files
    assert "fsyncs_per_transaction" not in record.metrics
