"""The interval rows of a sysbench run, as columns of numbers.

What sysbench prints are rates; `IntervalRows` gives the counts behind them as well, and the
interval's length, which the rate with the most digits reveals: 2200 statements at 219.96 per
second took 10.002 s.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import overload

from benchkit.importers.sysbench_rows import Row

ROWS_MAX = 1_000_000
"""Interval rows that are kept of a file: more than eleven days at one a second."""

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


class RowTable:
    """The rows of a run while it is read: a column of numbers per field."""

    def __init__(self) -> None:
        self.columns: dict[str, array[float]] = {"time_s": array("d")}
        self.threads = 0
        self.count = 0

    def __len__(self) -> int:
        return len(self.columns["time_s"])

    @property
    def first_s(self) -> float:
        """The time of the first row."""
        return self.columns["time_s"][0]

    @property
    def last_s(self) -> float:
        """The time of the last row."""
        return self.columns["time_s"][-1]

    def add(self, row: Row, keep: bool = True) -> None:
        """Add a row, or only count it; a queue's row belongs to the row before it."""
        self.threads = max(self.threads, int(row.values.get("threads", 0)))
        if len(self) and row.time_s == self.last_s and "queue_length" in row.values:
            for name, value in row.values.items():
                self._column(name)[-1] = value
            return
        self.count += 1
        if not keep:
            return
        for column in self.columns.values():
            column.append(nan)
        self.columns["time_s"][-1] = row.time_s
        for name, value in row.values.items():
            self._column(name)[-1] = value

    def _column(self, name: str) -> "array[float]":
        if name not in self.columns:
            self.columns[name] = array("d", [nan]) * len(self)
        return self.columns[name]

    def interval_s(self) -> float:
        """Return the usual distance of two rows; NaN for a single row."""
        times = self.columns["time_s"]
        steps: dict[float, int] = {}
        for before, after in zip(times[:1000], times[1:1001], strict=False):
            steps[after - before] = steps.get(after - before, 0) + 1
        usual = max(steps, key=steps.__getitem__, default=nan)
        return usual if usual > 0 else nan


class IntervalRows(Sequence[Mapping[str, float]]):
    """The rows of a run as mappings, each made when it is asked for.

    Parameters
    ----------
    table : RowTable
    interval_s : float
        The distance of rows where the file says it, else NaN.
    """

    def __init__(self, table: RowTable, interval_s: float = nan) -> None:
        self._columns = table.columns
        self._interval_s = table.interval_s() if isnan(interval_s) else interval_s

    def __len__(self) -> int:
        return len(self._columns["time_s"])

    def __iter__(self) -> Iterator[Mapping[str, float]]:
        return map(self._row, range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Mapping[str, float]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Mapping[str, float], ...]: ...
    def __getitem__(
        self, index: int | slice
    ) -> Mapping[str, float] | tuple[Mapping[str, float], ...]:
        places = range(len(self))[index]
        return self._row(places) if isinstance(places, int) else tuple(map(self._row, places))

    def _row(self, place: int) -> Mapping[str, float]:
        printed = {n: c[place] for n, c in self._columns.items() if not isnan(c[place])}
        row = dict(printed)
        elapsed_s = self._elapsed_s(place, printed)
        if not isnan(elapsed_s):
            row["elapsed_s"] = elapsed_s
            for count, rate in _COUNTS.items():
                if rate in printed:
                    row[count] = float(round(printed[rate] * elapsed_s))
        for response, name in _RESPONSES.items():
            if name in printed:
                row[response] = printed[name]
        return row

    def _elapsed_s(self, place: int, printed: Mapping[str, float]) -> float:
        times = self._columns["time_s"]
        since = times[place] - (times[place - 1] if place else 0.0)
        nominal = self._interval_s
        if isnan(nominal) or 0 < since < nominal:
            nominal = since
        if nominal <= 0:
            return nan
        rate = max((printed.get(name, 0.0) for name in _COUNTS.values()), default=0.0)
        measured = round(rate * nominal) / rate if rate > 0 else nominal
        return measured if abs(measured / nominal - 1) < 0.05 else nominal
