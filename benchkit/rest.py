"""Waiting until servers have come to rest: nothing of the load or the last run goes on.

At rest, a server uses no CPU to speak of, its purge has stopped (the history list keeps its
length), and so has its page flushing: the dirty pages are fewer than it flushes in a second
(``innodb_io_capacity``), or they stay as many for longer than that.
"""

import math
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

import psutil

from benchkit._core import Connection
from benchkit.endpoint import Reachable
from benchkit.errors import DatabaseError

_QUIET_S = 0.3
_FLUSHING_S = 1.2  # idle servers flush once a second
_IDLE_SHARE = 0.1  # of one CPU; the sampling itself takes a little, a tick is a thirtieth
_PAUSE_S = 0.1

_MAY_NOT = 1227  # a global privilege is missing
_CAPACITY = "SHOW GLOBAL VARIABLES LIKE 'innodb_io_capacity'"
_HISTORY = "SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'"
_DIRTY = "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'"


class Rest(NamedTuple):
    """How servers came to rest.

    Attributes
    ----------
    settled : bool
        False when the limit came first.
    waited_s : float
    history_length : int
        Transactions that purge has still to clean up after, over all servers.
    dirty_pages : int
    cpu_share : float
        Of one CPU, at the end; NaN where no server's process can be seen.
    """

    settled: bool
    waited_s: float
    history_length: int
    dirty_pages: int
    cpu_share: float


class _Sample(NamedTuple):
    time_s: float
    cpu_s: float
    history_length: int
    dirty_pages: int


def await_rest(servers: Iterable[Reachable], limit_s: float) -> Rest:
    """Wait until all servers are at rest, or the limit has passed.

    Parameters
    ----------
    servers : iterable of Reachable
        Running; the CPU is watched of those whose process is known.
    limit_s : float

    Raises
    ------
    DatabaseError, ServerError
        When one does not answer.
    """
    watched = [(server.session(), server.pid) for server in servers]
    try:
        return _await_rest(watched, limit_s)
    finally:
        for session, _ in watched:
            session.close()


def _await_rest(watched: list[tuple[Connection, int | None]], limit_s: float) -> Rest:
    few_pages = sum(_number(session, _CAPACITY) for session, _ in watched)
    samples: deque[_Sample] = deque([_sample(watched)])
    started = samples[0].time_s
    while True:
        time.sleep(_PAUSE_S)
        samples.append(_sample(watched))
        last = samples[-1]
        needed_s = _QUIET_S if last.dirty_pages <= few_pages else _FLUSHING_S
        while last.time_s - samples[1].time_s >= needed_s:
            samples.popleft()
        lasted_s = last.time_s - samples[0].time_s
        cpu_share = (last.cpu_s - samples[0].cpu_s) / lasted_s
        settled = lasted_s >= needed_s and _is_quiet(samples, cpu_share, few_pages)
        waited_s = last.time_s - started
        if settled or waited_s >= limit_s:
            return Rest(settled, waited_s, last.history_length, last.dirty_pages, cpu_share)


def _is_quiet(samples: Iterable[_Sample], cpu_share: float, few_pages: int) -> bool:
    histories = {sample.history_length for sample in samples}
    pages = {max(sample.dirty_pages, few_pages) for sample in samples}
    busy = cpu_share > _IDLE_SHARE  # NaN is not
    return len(histories) == len(pages) == 1 and not busy


def _sample(watched: list[tuple[Connection, int | None]]) -> _Sample:
    cpu_s = sum(_cpu_s(pid) for _, pid in watched)
    history = sum(_number(session, _HISTORY) for session, _ in watched)
    dirty = sum(_number(session, _DIRTY) for session, _ in watched)
    return _Sample(time.monotonic(), cpu_s, history, dirty)


def _cpu_s(pid: int | None) -> float:
    if pid is not None:
        with suppress(psutil.Error):
            times = psutil.Process(pid).cpu_times()
            return float(times.user + times.system)
    return math.nan


def _number(session: Connection, sql: str) -> int:
    """Return the number a query ends with; 0 where the account may not ask."""
    try:
        rows = session.query(sql)
    except DatabaseError as error:
        if error.number != _MAY_NOT:
            raise
        return 0
    return int(rows[0][-1] or 0) if rows else 0


_MAY_NOT = 1227  # a global privilege is missing
