"""The rows of HammerDB's transaction counter: rates, their times, and which are of the test.

The counter starts before a test and runs on after its end, and a log does not write when a row
was taken; both are told from what stands around the rows, or from the rows themselves.
"""

import math
import statistics
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np

from benchkit.importers.rows import BlockRows, Columns
from benchkit.record import DRAIN, MEASUREMENT, WARMUP

UNKNOWN = 255
"""The phase of a row while nothing said where it belongs."""

_USUAL_INTERVAL_S = 10.0


@dataclass(slots=True)
class Counts:
    """Rows of the transaction counter: transactions per minute, usually every ten seconds."""

    name: str = ""
    times_s: "array[float]" = field(default_factory=lambda: array("d"))
    values: "array[float]" = field(default_factory=lambda: array("d"))
    phases: bytearray = field(default_factory=bytearray)

    def add(self, value: float, time_s: float, phase: int) -> None:
        """Append a row."""
        self.values.append(value)
        self.times_s.append(time_s)
        self.phases.append(phase)


class CountRows(BlockRows):
    """The counter's rows: when they were taken, how long after the one before, in which phase."""

    def __init__(self, times_s: Sequence[float], phases: Sequence[int]) -> None:
        self._times_s = np.array(times_s, np.float64)
        self._phases = np.array(phases, np.uint8)

    def __len__(self) -> int:
        return len(self._times_s)

    def columns(self, start: int, stop: int) -> Columns:
        """Return rows as columns; the first row of all has no length."""
        elapsed_s = np.diff(self._times_s[max(start - 1, 0) : stop], prepend=nan)
        elapsed_s = elapsed_s[-(stop - start) :] if stop > start else elapsed_s[:0]
        elapsed_s[~(elapsed_s > 0)] = nan
        return {
            "time_s": self._times_s[start:stop],
            "phase": self._phases[start:stop].astype(np.float64),
            "elapsed_s": elapsed_s,
        }


def series(counts: Counts, extra: dict[str, object]) -> Sequence[Mapping[str, float]]:
    """Return the rows; the rates and what they amount to go to `extra`."""
    if not counts.values:
        return ()
    times = _times(counts, extra)
    phases = _phases(counts, times, extra)
    if not counts.values[0] and phases[0] == MEASUREMENT:
        phases[0] = WARMUP  # its first row is of no time: there was no count before it
    measured = [
        value for value, phase in zip(counts.values, phases, strict=True) if phase == MEASUREMENT
    ]
    extra["tcount_name"] = counts.name
    extra["tcount_tpm"] = list(counts.values)
    if measured:
        extra["tcount_mean_tpm"] = statistics.fmean(measured)
    return CountRows(times, phases)


def _times(counts: Counts, extra: dict[str, object]) -> list[float]:
    """Return seconds from the first row, or from one interval before where none are written."""
    if any(math.isnan(time_s) for time_s in counts.times_s):
        interval_s = _interval(counts, extra)
        extra["tcount_interval_s"] = interval_s
        start = 0 if counts.values[0] == 0 else 1
        return [(start + i) * interval_s for i in range(len(counts.values))]
    order = sorted(range(len(counts.values)), key=counts.times_s.__getitem__)
    for name in ("times_s", "values"):
        column = getattr(counts, name)
        setattr(counts, name, array("d", [column[i] for i in order]))
    counts.phases = bytearray(counts.phases[i] for i in order)
    first = counts.times_s[0]
    return [time_s - first for time_s in counts.times_s]


def _interval(counts: Counts, extra: dict[str, object]) -> float:
    """Return the rows' distance, which the log does not say but its test period tells."""
    minutes = extra.get("duration_minutes")
    rows = counts.phases.count(MEASUREMENT)
    if not isinstance(minutes, float) or minutes <= 0 or not rows or DRAIN not in counts.phases:
        return _USUAL_INTERVAL_S
    interval_s = minutes * 60 / rows
    near = abs(interval_s - _USUAL_INTERVAL_S) < 0.2 * _USUAL_INTERVAL_S
    return _USUAL_INTERVAL_S if near or rows < 3 else float(round(interval_s) or 1)


def _phases(counts: Counts, times: list[float], extra: dict[str, object]) -> list[int]:
    """Return each row's phase: as the log has it, by the configured minutes, or by its look."""
    if any(phase != UNKNOWN for phase in counts.phases):
        return [WARMUP if phase == UNKNOWN else phase for phase in counts.phases]
    rampup, minutes = extra.get("rampup_minutes"), extra.get("duration_minutes")
    if isinstance(rampup, float) and isinstance(minutes, float):
        start_s, end_s = rampup * 60, (rampup + minutes) * 60
        return [
            WARMUP if time_s <= start_s else MEASUREMENT if time_s < end_s else DRAIN
            for time_s in times
        ]
    return _phases_by_look(counts.values)


def _phases_by_look(values: "array[float]") -> list[int]:
    """Return phases for rows of which only the rates are known.

    Rows of almost nothing at either end are outside the test, and the row next to them covers
    only a part of it.
    """
    little = 0.05 * statistics.median(values)
    busy = [i for i, value in enumerate(values) if value > little]
    if not busy:
        return [WARMUP] * len(values)
    first, last = busy[0], busy[-1]
    first += first > 0
    last -= last < len(values) - 1
    return [WARMUP if i < first else DRAIN if i > last else MEASUREMENT for i in range(len(values))]
