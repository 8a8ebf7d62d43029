"""The interval rows of a sysbench run, as columns of numbers.

What sysbench prints are rates; `IntervalRows` gives the counts behind them as well, and the
interval's length, which the rate with the most digits reveals: 2200 statements at 219.96 per
second took 10.002 s.
"""

from array import array
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from benchkit.importers.rows import BLOCK_ROWS, BlockRows, Columns, RowSpool
from benchkit.importers.sysbench_rows import Row

RATE_MAX = 1e12
"""No server does so much in a second: the counter behind such a rate ran below zero."""

_STEPS_MAX = 1000
"""Different distances of rows that are counted to tell the usual one."""

_COUNTS = {
    "committed": "tps",
    "statements": "qps",
    "reads": "reads_per_s",
    "writes": "writes_per_s",
    "other": "other_per_s",
    "errors": "errors_per_s",
}
_RESPONSES = {
    "response_p50_s": "latency_p50",
    "response_p95_s": "latency_p95",
    "response_p99_s": "latency_p99",
    "response_max_s": "latency_p100",
}


@dataclass(frozen=True, slots=True)
class _Block:
    """Where a block of rows is, and which columns it has."""

    place: int
    count: int
    names: tuple[str, ...]


class RowTable:
    """The rows of a run while it is read; but for the latest they are in the spool.

    Parameters
    ----------
    spool : RowSpool
    """

    def __init__(self, spool: RowSpool) -> None:
        self.threads = 0
        self.impossible = 0
        self.positive: set[str] = set()
        self.first_s = self.last_s = nan
        self._spool = spool
        self._latest: dict[str, array[float]] = {"time_s": array("d")}
        self._blocks: list[_Block] = []
        self._count = 0
        self._steps: dict[float, int] = {}

    def __len__(self) -> int:
        return self._count

    def add(self, row: Row) -> None:
        """Add a row; a queue's row belongs to the row before it."""
        self.threads = max(self.threads, int(row.values.get("threads", 0)))
        joins = self._count and row.time_s == self.last_s and "queue_length" in row.values
        if not joins:
            self._begin_row(row.time_s)
        for name, value in row.values.items():
            self._column(name)[-1] = value
            if value > 0:
                self.positive.add(name)
            self.impossible += not 0 <= value < RATE_MAX

    def seal(self) -> None:
        """Put all rows into the spool: the run has ended."""
        count = len(self._latest["time_s"])
        if count:
            block = np.array([np.frombuffer(each) for each in self._latest.values()])
            self._blocks.append(_Block(self._spool.write(block), count, tuple(self._latest)))
        self._latest = {"time_s": array("d")}

    def interval_s(self) -> float:
        """Return the usual distance of two rows; NaN for a single row."""
        usual = max(self._steps, key=self._steps.__getitem__, default=nan)
        return usual if usual > 0 else nan

    def uneven(self, interval_s: float) -> int:
        """Return how many rows come later than an interval after the row before, or not later."""
        is_late = self.first_s > 1.5 * interval_s
        steps = self._steps.items()
        return is_late + sum(count for step, count in steps if step <= 0 or step > 1.5 * interval_s)

    def has(self, name: str) -> bool:
        """Whether any row has a value of this name."""
        return name in self._latest or any(name in block.names for block in self._blocks)

    def columns(self, start: int, stop: int) -> dict[str, NDArray[np.float64]]:
        """Return some rows of a sealed table as they were printed."""
        found: dict[str, NDArray[np.float64]] = {"time_s": np.full(stop - start, nan)}
        begin = 0
        for block in self._blocks:
            first, last = max(start, begin), min(stop, begin + block.count)
            if first < last:
                values = self._spool.read(block.place, (len(block.names), block.count))
                for name, column in zip(block.names, values, strict=True):
                    target = found.setdefault(name, np.full(stop - start, nan))
                    target[first - start : last - start] = column[first - begin : last - begin]
            begin += block.count
        return found

    def _begin_row(self, time_s: float) -> None:
        if len(self._latest["time_s"]) == BLOCK_ROWS:
            self.seal()
        for column in self._latest.values():
            column.append(nan)
        self._latest["time_s"][-1] = time_s
        if not self._count:
            self.first_s = time_s
        else:
            self._count_step(time_s - self.last_s)
        self.last_s = time_s
        self._count += 1

    def _count_step(self, step: float) -> None:
        if step in self._steps or len(self._steps) < _STEPS_MAX:
            self._steps[step] = self._steps.get(step, 0) + 1

    def _column(self, name: str) -> "array[float]":
        if name not in self._latest:
            self._latest[name] = array("d", [nan]) * len(self._latest["time_s"])
        return self._latest[name]


class IntervalRows(BlockRows):
    """The rows of a run with what follows from them.

    Parameters
    ----------
    table : RowTable
        Sealed.
    interval_s : float
        The distance of rows; NaN where nothing tells it.
    """

    def __init__(self, table: RowTable, interval_s: float) -> None:
        self._table = table
        self._interval_s = interval_s

    def __len__(self) -> int:
        return len(self._table)

    def columns(self, start: int, stop: int) -> Columns:
        """Return rows with the fields of stored series besides the printed ones."""
        before = max(start - 1, 0)
        with_previous = self._table.columns(before, stop)
        printed = {name: column[start - before :] for name, column in with_previous.items()}
        found = dict(printed)
        elapsed_s = self._elapsed_s(np.diff(with_previous["time_s"], prepend=0.0), printed)
        found["elapsed_s"] = elapsed_s[-len(printed["time_s"]) :]
        for count, rate in _COUNTS.items():
            if rate in printed:
                found[count] = np.round(printed[rate] * found["elapsed_s"])
        for response, name in _RESPONSES.items():
            if name in printed:
                found[response] = printed[name]
        return found

    def _elapsed_s(self, since: NDArray[np.float64], printed: Columns) -> NDArray[np.float64]:
        """Return the intervals' lengths; NaN where times do not grow and nothing says more."""
        since = since[-len(printed["time_s"]) :]
        nominal = np.full_like(since, self._interval_s)
        shorter = np.isnan(nominal) | ((since > 0) & (since < nominal))
        nominal[shorter] = since[shorter]
        nominal[nominal <= 0] = nan
        rates = [printed[name] for name in _COUNTS.values() if name in printed]
        rate = np.max([np.zeros_like(since), *(np.nan_to_num(each) for each in rates)], axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            measured = np.round(rate * nominal) / rate
            fits = (rate > 0) & (np.abs(measured / nominal - 1) < 0.05)
        return np.where(fits, measured, nominal)
