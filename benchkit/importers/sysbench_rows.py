"""sysbench's interval rows: ``[ 10s ] thds: 8 tps: 1.00 qps: ...`` of every version.

Reads one row into numbers, and keeps the rows of a run as columns of numbers. What sysbench
prints are rates; `IntervalRows` gives the counts behind them as well, and the interval's length,
which the rate with the most digits reveals: 2200 statements at 219.96 per second took 10.002 s.
"""

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import overload

_NUMBER = r"-?\d{1,24}(?:\.\d{1,12})?"
_HEAD = re.compile(
    r"(?:\[\s{0,6}|^\s{0,8})(\d{1,9}(?:\.\d{1,9})?)\s?s\s{0,3}\]\s{0,4}"
    r"(?=thds|threads|tps|qps|eps|events|reads|queue|Checkpoint|\d{1,12}\.\d\d Mi?B)"
)
_PLAIN = re.compile(
    r"\[ {1,4}(\d{1,9})s \] thds: (\d{1,7}) tps: (\d+\.\d\d) qps: (\d+\.\d\d) "
    r"\(r/w/o: (\d+\.\d\d)/(\d+\.\d\d)/(\d+\.\d\d)\) lat \(ms,(\d{1,3})%\): (\d+\.\d\d) "
    r"err/s:? (\d+\.\d\d) reconn/s:? (\d+\.\d\d)\s*"
)
_FIELD = re.compile(
    rf"""(?P<threads>thds|threads)\s?:\s{{0,8}}(?P<v1>\d{{1,9}})
    |(?P<key>tps|qps|eps|events/s|reads/s|writes/s|reads|writes|errors/s|errors|err/s
      |reconnects/s|reconnects|reconn/s|fsyncs|queue\s?length|concurrency)
      \s?:?\s{{0,8}}(?P<v2>{_NUMBER})(?P<mib>\s?Mi?B/s)?
    |r/w/o\s?:\s{{0,8}}(?P<r>{_NUMBER})\s?/\s?(?P<w>{_NUMBER})\s?/\s?(?P<o>{_NUMBER})
    |lat(?:ency)?\s?\((?P<u1>[mun]?s)\s?,\s?(?P<p1>\d{{1,3}})\s?%\)\s?:?\s{{0,8}}(?P<v3>{_NUMBER})
    |(?:response\s?time|latency)\s?:\s{{0,8}}(?P<v4>{_NUMBER})\s?(?P<u2>[mun]?s)
      (?:\s?\((?P<p2>\d{{1,3}})\s?%\))?
    |(?P<rate>{_NUMBER})\s?Mi?B/sec
    """,
    re.VERBOSE,
)
_FRAGMENT = re.compile(r"[a-z/(][a-z/ (,\d%]{0,24}\)?:?\s{0,8}[\d.]{0,24}[mun]?")
_NAMES = {
    "tps": "tps",
    "qps": "qps",
    "eps": "events_per_s",
    "events/s": "events_per_s",
    "reads": "reads_per_s",
    "reads/s": "reads_per_s",
    "writes": "writes_per_s",
    "writes/s": "writes_per_s",
    "err/s": "errors_per_s",
    "errors": "errors_per_s",
    "errors/s": "errors_per_s",
    "reconn/s": "reconnects_per_s",
    "reconnects": "reconnects_per_s",
    "reconnects/s": "reconnects_per_s",
    "fsyncs": "fsyncs_per_s",
    "queuelength": "queue_length",
    "concurrency": "concurrency",
}
_MIB_NAMES = {"reads_per_s": "read_mib_per_s", "writes_per_s": "written_mib_per_s"}
_POWERS = {"s": 0, "ms": -3, "us": -6, "ns": -9}

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


@dataclass(frozen=True, slots=True)
class Row:
    """One interval row.

    Parameters
    ----------
    time_s : float
        As printed: since the start of the run.
    values : mapping of str to float
        By the names of ``metrics.py``, in its units; ``threads``, ``queue_length`` and
        ``concurrency`` besides.
    whole : bool
        False where the row breaks off.
    """

    time_s: float
    values: Mapping[str, float]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """``[ 30s ] Checkpoint report:``: the totals that follow are not the last."""

    time_s: float


def seconds(number: str, unit: str) -> float:
    """Return a printed time in seconds, rounded once: ``"5.47"``, ``"ms"`` gives 0.00547."""
    if number[-1].isdecimal() and "e" not in number.lower():
        return float(f"{number}e{_POWERS[unit]}")
    return float(number) * 10.0 ** _POWERS[unit]


def split_rows(text: str) -> list[Row | Checkpoint | str]:
    """Return the interval rows in a line, and the text between them, in order.

    Usually that is one text, or one row; but line breaks may be lost.
    """
    if plain := _PLAIN.fullmatch(text):
        return [_plain_row(plain)]
    heads = list(_HEAD.finditer(text)) if "]" in text else []
    if not heads:
        return [text]
    found: list[Row | Checkpoint | str] = [text[: heads[0].start()]]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        row, after = _read_row(float(head[1]), text[head.end() : end])
        found += [row, after] if row else [after]
    return [part for part in found if part != ""]


def latency_name(percentile: str) -> str:
    """Return the metric of a percentile as printed: ``"95"`` gives ``latency_p95``."""
    whole, _, part = percentile.partition(".")
    return f"latency_p{int(whole)}{part.rstrip('0')}"


def _plain_row(match: re.Match[str]) -> Row:
    tps = float(match[3])
    values = {
        "threads": float(match[2]),
        "tps": tps,
        "qps": float(match[4]),
        "reads_per_s": float(match[5]),
        "writes_per_s": float(match[6]),
        "other_per_s": float(match[7]),
        "errors_per_s": float(match[10]),
        "reconnects_per_s": float(match[11]),
    }
    latency = seconds(match[9], "ms")
    if latency or tps:
        values[latency_name(match[8])] = latency
    return Row(float(match[1]), values)


def _read_row(time_s: float, text: str) -> tuple[Row | Checkpoint | None, str]:
    """Return what a row holds, and the text behind it."""
    if text.startswith("Checkpoint"):
        return Checkpoint(time_s), text.partition(":")[2]
    values: dict[str, float] = {}
    end = 0
    for match in _FIELD.finditer(text):
        if match.start() - end > 16:
            break
        end = match.end()
        _add_field(values, match)
    if not values:
        return None, text
    after = text[end:].strip(" \t,;)")
    whole = _is_whole(values, text[:end], after)
    if not whole:
        values.popitem()
    _drop_unmeasured(values)
    return Row(time_s, values, whole), after if whole else ""


def _add_field(values: dict[str, float], match: re.Match[str]) -> None:
    if match["threads"]:
        values["threads"] = float(match["v1"])
    elif match["key"]:
        name = _NAMES["".join(match["key"].split())]
        name = _MIB_NAMES.get(name, name) if match["mib"] else name
        values[name] = float(match["v2"])
    elif match["r"]:
        values["reads_per_s"] = float(match["r"])
        values["writes_per_s"] = float(match["w"])
        values["other_per_s"] = float(match["o"])
    elif match["rate"]:
        values["transferred_mib_per_s"] = float(match["rate"])
    elif number := match["v3"] or match["v4"]:
        percentile = match["p1"] or match["p2"]
        name = latency_name(percentile) if percentile else "latency"
        values[name] = seconds(number, match["u1"] or match["u2"])


def _is_whole(values: dict[str, float], text: str, after: str) -> bool:
    """Whether the last field of this kind of row is there, with both of its decimals."""
    if "qps" in values or "errors_per_s" in values:
        return "reconnects_per_s" in values and _has_decimals(text)
    if _FRAGMENT.fullmatch(after):
        return False
    if "tps" in values or "events_per_s" in values:
        last = next(reversed(values))
        return last.startswith("latency") or (last == "writes_per_s" and _has_decimals(text))
    return "threads" not in values


def _has_decimals(text: str) -> bool:
    return len(text) > 3 and (text[-3] == "." or text[-1] == ")")


def _drop_unmeasured(values: dict[str, float]) -> None:
    """Leave out the percentile 0.00 of an interval in which nothing ended."""
    if values.get("tps", values.get("events_per_s", 1.0)) == 0.0:
        for name in [name for name in values if name.startswith("latency")]:
            if values[name] == 0.0:
                del values[name]


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
