"""Which numbers of a run cannot be true, or cannot be true together.

Nothing is corrected. An impossible number (a counter that ran below zero, a rate of nothing by
nothing) is kept out of the metrics and stays among the extra values; a doubtful one stays where
it is. Either is named in the run's warnings.
"""

from collections.abc import Iterator, Mapping
from math import isfinite

from benchkit.importers.sysbench_series import RATE_MAX

UNDERFLOW = 2**63
"""Counts from here on are below zero, read as unsigned."""

_LONGEST_S = 1e7
_CLAMP_S = 100.0
_TOLERANCE = 0.05
_NEARLY = 100_000
_MEAN_ROUNDED_S = 6e-6

_RATES = (
    ("transactions", "tps"),
    ("queries", "qps"),
    ("rw_requests", "rw_per_s"),
    ("errors", "errors_per_s"),
    ("reconnects", "reconnects_per_s"),
    ("events", "events_per_s"),
)


def find_impossible(values: Mapping[str, float]) -> Mapping[str, str]:
    """Return the names of numbers that no run can have, each with its reason."""
    reasons: dict[str, str] = {}
    for name, value in values.items():
        is_time = name.startswith("latency_") or name.endswith("_s") and "per_s" not in name
        if not isfinite(value):
            reasons[name] = f"{name} is {value}, not a number"
        elif value < 0:
            reasons[name] = f"{name} is {value:g}, below zero"
        elif value >= UNDERFLOW or (is_time and value > _LONGEST_S * _scale(name)):
            reasons[name] = f"{name} is {value}: a counter that ran below zero or over"
        elif "per_s" in name and value >= RATE_MAX:
            reasons[name] = f"{name} is {value:g}: more than any server does"
    return reasons


def find_doubtful(
    values: Mapping[str, float], threads: int | None, comparable: bool
) -> Iterator[str]:
    """Yield what does not fit together, one sentence each.

    Parameters
    ----------
    values : mapping
        Without impossible ones.
    threads : int or None
    comparable : bool
        Counts and total time cover the same span; after a checkpoint they do not.
    """
    yield from _doubtful_latency(values)
    for name in ("errors", "reconnects", "deadlocks"):
        if 0 < 2**32 - values.get(name, 0) <= _NEARLY:
            yield f"{name} is {values[name]}, as a 32-bit counter that ran below zero"
    parts = [values[name] for name in ("reads", "writes", "others") if name in values]
    total = values.get("total", sum(parts))
    if len(parts) == 3 and sum(parts) != total:
        yield f"read, write and other add up to {sum(parts)}, but the total is {total}"
    if "total" in values and "queries" in values and values["total"] != values["queries"]:
        yield f"the total of queries is {values['total']}, but 'queries' says {values['queries']}"
    if comparable:
        yield from _doubtful_rates(values)
        yield from _doubtful_events(values, threads)


def _doubtful_latency(values: Mapping[str, float]) -> Iterator[str]:
    low, mean, high = (values.get(f"latency_{name}") for name in ("min", "mean", "max"))
    if low is not None and high is not None and low > high:
        yield f"the shortest response time {_ms(low)} is above the longest {_ms(high)}"
    if mean is not None and low is not None and mean < low:
        yield f"the mean response time {_ms(mean)} is below the shortest {_ms(low)}"
    if mean is not None and high is not None and mean > high:
        yield f"the mean response time {_ms(mean)} is above the longest {_ms(high)}"
    for name, value in values.items():
        if not name.startswith("latency_p"):
            continue
        which = f"the {name.removeprefix('latency_p')} % percentile {_ms(value)}"
        if low is not None and value < low:
            yield f"{which} is below the shortest response time {_ms(low)}"
        if high is not None and value > high * 1.02 + 1e-5:
            yield f"{which} is above the longest response time {_ms(high)}"
        if value == _CLAMP_S:
            yield f"{which} is where sysbench's histogram ends"


def _doubtful_rates(values: Mapping[str, float]) -> Iterator[str]:
    time_s = values.get("total_time_s")
    if time_s == 0:
        yield "the total time is 0 s"
    if not time_s:
        return
    for count, rate in _RATES:
        if count not in values or rate not in values:
            continue
        expected = values[count] / time_s
        if abs(values[rate] - expected) > _TOLERANCE * max(expected, values[rate]) + 0.01:
            yield f"{rate} is {values[rate]:g}, but {count} by total time is {expected:g}"


def _doubtful_events(values: Mapping[str, float], threads: int | None) -> Iterator[str]:
    """Compare the number of events with what each thread did, and with how long all took."""
    events, share = values.get("events"), values.get("events_per_thread")
    if events is None:
        return
    if share is not None and threads and abs(events - share * threads) > 0.01 * events + 0.5:
        yield f"events is {events}, but {threads} threads of {share:g} each are {share * threads:g}"
    sum_s = values.get("latency_sum_s", values.get("event_execution_s"))
    mean_s = values.get("latency_mean")
    if sum_s is None or mean_s is None:
        return
    expected_s = events * mean_s
    if abs(expected_s - sum_s) > _TOLERANCE * max(expected_s, sum_s) + events * _MEAN_ROUNDED_S:
        yield f"{events} events of {_ms(mean_s)} are {expected_s:g} s, but their sum is {sum_s:g} s"


def _ms(value_s: float) -> str:
    return f"{value_s * 1e3:g} ms"


def _scale(name: str) -> float:
    """Return 1, or more for sums over all threads, which may be longer than any run."""
    return 1e6 if "sum" in name or "execution" in name else 1.0
