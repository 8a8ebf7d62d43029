"""What a server and its machine count: one reading of all of it.

A reading is a mapping of name to number. Most names are counters, which only grow; `is_level`
tells those that go up and down. What is not there to be read (another machine's processes,
another user's files) is left out, never 0.
"""

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import psutil

from benchkit._core import Connection

Reading = dict[str, float]

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

_LEVELS = re.compile(
    r"threads_(?!created)|threadpool_|delayed_insert_threads|not_flushed_delayed_rows"
    r"|open_|key_blocks_|key_cache_|aria_pagecache_blocks_|memory_|prepared_stmt_count"
    r"|max_(?:used|tmp_space_used)|tmp_space_used|stack_usage|table_open_cache_active_instances"
    r"|qcache_(?:free|total)|replica_|slave_|slaves_|seconds_behind|tc_log_(?:page|max)|uptime"
    r"|rpl_semi_sync_\w+_(?:clients|avg_wait_time)|ssl_(?:used_)?session_cache_(?:size|entries)"
    r"|innodb_(?:async_(?:reads|writes)_(?:pending|tasks_running|queue_size)"
    r"|onlineddl_\w+_used|buffer_pool_resize_status)"
    r"|wsrep_(?:cluster|local_state|flow_control_paused$)"
    r"|innodb_buffer_pool_(?:pages_(?:data|dirty|free|misc|total|old)$|bytes_)"
    r"|innodb_(?:data|os_log)_pending|innodb_row_lock_(?:current_waits|time_(?:avg|max))"
    r"|innodb_(?:history_list_length|checkpoint_|mem_|ibuf_(?:free|size|segment)|num_open_files"
    r"|page_size|adaptive_hash_(?:hash|non_hash)_table|undo_tablespaces|redo_log_)"
    r"|server_rss|client_rss|host_memory"
)


def is_level(name: str) -> bool:
    """Tell whether a number goes up and down, so that its value counts and not its growth."""
    return _LEVELS.match(name) is not None


def read_status(admin: Connection) -> Reading:
    """Return every number of SHOW GLOBAL STATUS, by its name in lower case.

    Raises
    ------
    DatabaseError
        When the server is gone.
    """
    pairs = admin.query("SHOW GLOBAL STATUS")
    return {
        str(name).lower(): float(value)
        for name, value in pairs
        if value is not None and _NUMBER.fullmatch(value)
    }


def read_numbers(admin: Connection, queries: Iterable[tuple[str, str]]) -> Reading:
    """Return the numbers that some queries find, by the names they are given with.

    Raises
    ------
    DatabaseError
        When the server is gone, or refuses a query.
    """
    found = {name: admin.query(sql)[0][0] for name, sql in queries}
    return {name: float(value) for name, value in found.items() if value is not None}


class Host:
    """The machine, this process, and a server's process.

    Parameters
    ----------
    pids : mapping of str to int
        Processes whose time and memory are wanted, by the prefix of their numbers' names.
    """

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._processes: dict[str, psutil.Process] = {}
        for prefix, pid in pids.items():
            with suppress(psutil.Error):
                self._processes[prefix] = psutil.Process(pid)

    def read(self) -> Reading:
        """Return CPU times in seconds, bytes and operations of disks, context switches."""
        reading: Reading = {}
        for read in _MACHINE:
            with suppress(psutil.Error, OSError, RuntimeError):
                reading |= read()
        for prefix, process in self._processes.items():
            for name, read_process in _PROCESS.items():
                with suppress(psutil.Error, OSError):
                    reading[f"{prefix}_{name}"] = read_process(process)
        return reading


def _read_cpu() -> Reading:
    times = psutil.cpu_times()
    # A guest's time is counted in user time already.
    return {
        "host_cpu_user_s": times.user + times.nice,
        "host_cpu_system_s": times.system,
        "host_cpu_irq_s": times.irq + times.softirq,
        "host_cpu_idle_s": times.idle,
        "host_cpu_iowait_s": times.iowait,
        "host_cpu_steal_s": times.steal,
    }


def _read_switches() -> Reading:
    return {"host_context_switches": float(psutil.cpu_stats().ctx_switches)}


def _read_disks() -> Reading:
    disks = psutil.disk_io_counters(nowrap=False)
    if disks is None:
        return {}
    return {
        "host_disk_reads": float(disks.read_count),
        "host_disk_writes": float(disks.write_count),
        "host_disk_read_bytes": float(disks.read_bytes),
        "host_disk_written_bytes": float(disks.write_bytes),
    }


def _read_memory() -> Reading:
    return {"host_memory_available_bytes": float(psutil.virtual_memory().available)}


_MACHINE: tuple[Callable[[], Reading], ...] = (
    _read_cpu,
    _read_switches,
    _read_disks,
    _read_memory,
)


def _read_process_cpu(process: psutil.Process) -> float:
    """Return user and system time; another process's in the ticks of the kernel."""
    if process.pid == os.getpid():
        return time.process_time()
    return float(sum(process.cpu_times()[:2]))


_PROCESS: dict[str, Callable[[psutil.Process], float]] = {
    "cpu_s": _read_process_cpu,
    "rss_bytes": lambda process: float(process.memory_info().rss),
    "context_switches": lambda process: float(sum(process.num_ctx_switches())),
    "read_bytes": lambda process: float(process.io_counters().read_bytes),
    "written_bytes": lambda process: float(process.io_counters().write_bytes),
}
