"""The interval rows of a run as columns: rates, raw fields, and what server and host counted.

A column is a function from a run and a range of its rows to an array. Which name means which
column is decided here; nothing is read before it is asked for.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchkit.errors import MetricError, unknown_name
from benchkit.record import DRAIN, MEASUREMENT, SERIES_DTYPE, WARMUP
from benchkit.stored import StoredRun

Column = Callable[[StoredRun, slice], NDArray[Any]]

_PHASES = {
    "warmup": (WARMUP, WARMUP),
    "measurement": (MEASUREMENT, MEASUREMENT),
    "drain": (DRAIN, DRAIN),
    "all": (WARMUP, DRAIN),
}

_RATES = {
    "tps": "committed",
    "reads_per_s": "reads",
    "writes_per_s": "writes",
    "other_per_s": "other",
    "errors_per_s": "errors",
    "retries_per_s": "retries",
}
"""Metric -> the count of an interval that becomes it when divided by the interval's length."""

_RESPONSES = {
    "latency_mean": "response_mean_s",
    "latency_p50": "response_p50_s",
    "latency_p95": "response_p95_s",
    "latency_p99": "response_p99_s",
    "latency_max": "response_max_s",
}

_PER_SECOND = "_per_s"


def find_column(name: str, runs: Sequence[StoredRun]) -> Column:
    """Return the column of that name.

    Parameters
    ----------
    name : str
        A metric, a field of ``series.npy``, or one of ``monitor.npy`` of any of the runs.
    runs : sequence of StoredRun

    Raises
    ------
    MetricError
        If there is none; the message names the nearest.
    """
    if name == "qps":
        return lambda run, rows: _count_executed(run, rows) / run.series()["elapsed_s"][rows]
    if name in _RATES:
        return _rate(_RATES[name])
    field = _RESPONSES.get(name, name)
    fields = SERIES_DTYPE.names or ()
    if field in fields:
        return lambda run, rows: run.series()[field][rows]
    monitored = {each for run in runs for each in run.monitor_fields()}
    if name in monitored:
        return lambda run, rows: run.monitored(name)[rows]
    counter = name.removesuffix(_PER_SECOND)
    if counter in monitored:
        return lambda run, rows: run.monitored(counter)[rows] / run.series()["elapsed_s"][rows]
    known = ["qps", *_RATES, *_RESPONSES, *fields, *sorted(monitored)]
    raise MetricError(unknown_name("series", name, known))


def phase_slice(run: StoredRun, phase: str) -> slice:
    """Return where the rows of a phase are; phases follow one another."""
    if phase not in _PHASES:
        raise MetricError(unknown_name("phase", phase, _PHASES))
    phases = run.series()["phase"]
    first, last = _PHASES[phase]
    start = np.searchsorted(phases, first, side="left")
    return slice(int(start), int(np.searchsorted(phases, last, side="right")))


def _rate(count: str) -> Column:
    def column(run: StoredRun, rows: slice) -> NDArray[Any]:
        series = run.series()[rows]
        rate: NDArray[Any] = series[count] / series["elapsed_s"]
        return rate

    return column


def _count_executed(run: StoredRun, rows: slice) -> NDArray[np.int64]:
    """Return how many statements of each interval did what they should."""
    series = run.series()[rows]
    done: NDArray[np.int64] = series["statements"] - series["errors"]
    return done
