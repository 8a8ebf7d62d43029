"""Server and host figures of a run, about once a second, in the time base of its series.

A thread of its own reads them, when the run begins, where its phases meet and every second: a
server that does not answer any more holds up neither the run nor Ctrl-C. From what was read,
`Monitor.table` makes one row for each row of the run's series.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from benchkit._core import Connection
from benchkit.counters import Host, Reading, is_level, read_numbers, read_status
from benchkit.errors import DatabaseError, RunError, ServerError
from benchkit.plan import Timing
from benchkit.server import Server
from benchkit.started import await_start, since_s

Floats = NDArray[np.float64]

_INTERVAL_S = 1.0
_FAREWELL_S = 1.0  # how long the last reading may take
_LATE_S = 0.25  # a row whose end is this long after the last reading has none


@dataclass(frozen=True, slots=True)
class _Reading:
    time_s: float  # from the start of the warmup
    values: Reading


class Source(Protocol):
    """Numbers from elsewhere than the server and its machine, such as its replicas."""

    def read(self) -> Reading:
        """Return them by name; of what raises a DatabaseError or RunError no more is asked."""

    def close(self) -> None:
        """Give up what `read` has opened."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A run to be watched.

    Parameters
    ----------
    server : Server
        Running. Of one that is not private only the status is read.
    timing : Timing
        When the phases of the run meet.
    start_ns : callable
        Returns when the run's warmup began, by ``time.monotonic_ns``; None before.
    database : str or None
        Where `queries` are.
    queries : sequence of (name, SELECT)
        Numbers to read beside the server's status.
    sources : sequence of Source
        What else to read; used by the monitor's thread only.
    """

    server: Server
    timing: Timing
    start_ns: Callable[[], int | None]
    database: str | None = None
    queries: Sequence[tuple[str, str]] = ()
    sources: Sequence[Source] = ()


class Monitor:
    """Reads a server and its machine while a run goes on; a context manager around the run.

    Parameters
    ----------
    watched : Watched
    counters : bool
        Read the server's status and the host; without, the sources only, which find what would
        spoil the run.

    Attributes
    ----------
    notes : list of str
        What could not be read.
    """

    def __init__(self, watched: Watched, *, counters: bool = True) -> None:
        pid = watched.server.pid
        pids = {} if pid is None else {"server": pid}
        self.notes: list[str] = []
        self._watched = watched
        self._counters = counters
        self._host = Host({"client": os.getpid(), **pids})
        self._admin: Connection | None = None
        self._thread = threading.Thread(target=self._read_on, name="monitor", daemon=True)
        self._ended = threading.Event()
        self._readings: list[_Reading] = []
        self._sources = list(watched.sources)
        self._problem: RunError | None = None

    def __enter__(self) -> Self:
        if self._counters:
            try:
                self._admin = self._watched.server.session(self._watched.database)
            except (DatabaseError, ServerError) as error:
                self.notes.append(f"the server's counters were not read: {error}")
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join(_FAREWELL_S)

    def check(self) -> None:
        """Raise the RunError that a source has met: the run is not worth going on with."""
        if self._problem is not None:
            raise self._problem

    def table(self, ends_s: Floats) -> NDArray[np.void]:
        """Return what was read, as a row for each interval.

        Parameters
        ----------
        ends_s : ndarray, shape (rows,)
            When the intervals end, counted from the start of the warmup.

        Returns
        -------
        ndarray, shape (rows,)
            A field for each counter that moved, with its growth in the interval, and for each
            level, with its value at the interval's end. NaN where there was no reading.
        """
        readings = self._readings[:]
        columns: dict[str, Floats] = {}
        for name in sorted(set().union(*(reading.values for reading in readings))):
            known = [reading for reading in readings if name in reading.values]
            times = np.array([reading.time_s for reading in known])
            values = np.array([reading.values[name] for reading in known])
            level = is_level(name)
            column = (_levels if level else _growths)(times, values, ends_s)
            if level or np.nansum(column):
                columns[name] = column
        table = np.empty(len(ends_s), [(name, "<f8") for name in columns])
        for name, column in columns.items():
            table[name] = column
        return table

    def _read_on(self) -> None:
        start_ns = await_start(self._watched.start_ns, self._ended)
        if start_ns is not None:
            for due_s in self._due_times():
                self._ended.wait(max(0.0, due_s - since_s(start_ns)))
                self._readings.append(self._read(start_ns))
                if self._ended.is_set():
                    break
        for each in (self._admin, *self._sources):
            if each is not None:
                each.close()

    def _due_times(self) -> Iterator[float]:
        """Yield when to read: at the ends of the intervals, which begin anew with each phase."""
        begin_s = 0.0
        timing = self._watched.timing
        for length_s in (timing.warmup_s, timing.duration_s):
            if length_s is None:
                break
            yield from np.arange(begin_s, begin_s + length_s, _INTERVAL_S).tolist()
            begin_s += length_s
        yield from (begin_s + number * _INTERVAL_S for number in count())

    def _read(self, start_ns: int) -> _Reading:
        before_s = since_s(start_ns)
        values = self._host.read() if self._counters else {}
        if self._admin is not None:
            try:
                values |= read_status(self._admin)
                values |= read_numbers(self._admin, self._watched.queries)
            except DatabaseError as error:
                self._admin.close()
                self._admin = None
                self.notes.append(f"the server's counters were not read to the end: {error}")
        for source in self._sources[:]:
            values |= self._ask(source)
        return _Reading((before_s + since_s(start_ns)) / 2, values)

    def _ask(self, source: Source) -> Reading:
        try:
            return source.read()
        except RunError as error:
            self._problem = error
        except (DatabaseError, ServerError) as error:
            self.notes.append(f"what was read beside the run is not whole: {error}")
        self._sources.remove(source)
        source.close()
        return {}


def _levels(times: Floats, values: Floats, ends_s: Floats) -> Floats:
    """Return the value that was read nearest to each end."""
    nearest = np.abs(times[:, np.newaxis] - ends_s).argmin(axis=0)
    return np.where(ends_s > times[-1] + _LATE_S, np.nan, values[nearest])


def _growths(times: Floats, values: Floats, ends_s: Floats) -> Floats:
    """Return how much a counter grew in each interval; NaN where it was set back."""
    at_ends = np.interp(ends_s, times, values)
    at_ends[ends_s > times[-1] + _LATE_S] = np.nan
    grown = np.diff(at_ends, prepend=values[0])
    return np.where(grown < 0, np.nan, grown)
