"""From what the driver counted to the numbers of a run's record."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchkit._core import Histogram
from benchkit.metrics import RESPONSE_PERCENTILES
from benchkit.record import (
    MEASUREMENT,
    Accounting,
    ErrorCount,
    Response,
    StatementResult,
    TransactionResult,
)

_NS_PER_S = 1e9
_SHORT_S = 0.5


def observe_statements(result: Mapping[str, Any]) -> tuple[StatementResult, ...]:
    """Return each statement's counts and times in the measurement."""
    return tuple(
        StatementResult(
            name=s["name"],
            kind=s["kind"],
            executions=s["executions"],
            results=s["results"],
            writes=s["writes"],
            errors=s["errors"],
            response=_response(s["response"]),
        )
        for s in result["statements"]
        if s["executions_in_all_phases"]
    )


def observe_transactions(result: Mapping[str, Any]) -> tuple[TransactionResult, ...]:
    """Return each transaction kind's counts and times in the measurement."""
    return tuple(
        TransactionResult(
            name=t["name"],
            committed=t["committed"],
            rolled_back=t["rolled_back"],
            failed=t["failed"],
            retries=t["retries"],
            response=_response(t["response"]),
        )
        for t in result["transactions"]
    )


def observe_errors(result: Mapping[str, Any]) -> tuple[ErrorCount, ...]:
    """Return the errors of the measurement, by number and statement."""
    return tuple(
        ErrorCount(
            number=e["number"],
            sqlstate=e["sqlstate"],
            message=e["message"],
            statement=e["statement"],
            count=e["count"],
        )
        for e in result["errors"]
        if e["phase"] == "measurement"
    )


def observe_accounting(result: Mapping[str, Any]) -> Accounting:
    """Return where every scheduled transaction of all phases went."""
    return Accounting(**result["accounting"])


def observe_client(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the CPU time of the worker threads and their statements, over all phases."""
    return {
        "cpu_user_s": result["cpu_user_s"],
        "cpu_system_s": result["cpu_system_s"],
        "statements": result["statements_in_all_phases"],
    }


def compute_metrics(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the run's metrics, as defined in ``metrics.py``; NaN where nothing was measured."""
    seconds = result["measured_s"]
    statements = result["statements"]
    transactions = result["transactions"]
    executions = sum(s["executions"] for s in statements)
    errors = sum(s["errors"] for s in statements)
    reads = sum(s["results"] for s in statements)
    writes = sum(s["writes"] for s in statements)
    committed = sum(t["committed"] for t in transactions)
    rates = {
        "tps": committed,
        "qps": executions - errors,
        "reads_per_s": reads,
        "writes_per_s": writes,
        "other_per_s": executions - errors - reads - writes,
        "errors_per_s": errors,
        "retries_per_s": sum(t["retries"] for t in transactions),
    }
    counts = {
        "committed": float(committed),
        "failed": float(sum(t["failed"] for t in transactions)),
    }
    return {
        **{name: _ratio(count, seconds) for name, count in rates.items()},
        **counts,
        **_latencies([t["response"] for t in transactions]),
        "client_cpu_us_per_statement": _ratio(
            1e6 * (result["cpu_user_s"] + result["cpu_system_s"]),
            result["statements_in_all_phases"],
        ),
    }


_COSTS = {
    # metric: (what is counted, factor to the metric's unit)
    "fsyncs_per_transaction": ("innodb_data_fsyncs", 1.0),
    "log_bytes_per_transaction": ("innodb_os_log_written", 1.0),
    "pages_written_per_transaction": ("innodb_pages_written", 1.0),
    "binlog_bytes_per_transaction": ("binlog_bytes_written", 1.0),
    "server_cpu_us_per_transaction": ("server_cpu_s", 1e6),
    "client_cpu_us_per_transaction": ("client_cpu_s", 1e6),
}


def compute_costs(
    result: Mapping[str, Any], monitored: NDArray[np.void] | None
) -> dict[str, float]:
    """Return what a committed transaction cost server and host, on average.

    Parameters
    ----------
    result : mapping
        What the driver measured.
    monitored : structured ndarray or None
        What was counted, row by row of ``result["rows"]``.

    Returns
    -------
    dict
        Only what was counted: counters that did not move, or are not there, are left out;
        all of them where the measurement was too short for readings to tell.
    """
    if monitored is None or result["measured_s"] < _SHORT_S:
        return {}
    rows = result["rows"]
    measured = rows["phase"] == MEASUREMENT
    committed = int(rows["committed"][measured].sum())
    return {
        metric: factor * float(monitored[name][measured].sum()) / committed
        for metric, (name, factor) in _COSTS.items()
        if committed and name in (monitored.dtype.names or ())
    }


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else math.nan


def _latencies(histograms: list[Histogram]) -> dict[str, float]:
    merged = Histogram()
    for histogram in histograms:
        merged.merge(histogram)
    if not merged.total:
        return dict.fromkeys(("latency_mean", *RESPONSE_PERCENTILES), math.nan)
    percentiles = merged.percentile(list(RESPONSE_PERCENTILES.values())) / _NS_PER_S
    return {
        "latency_mean": merged.mean / _NS_PER_S,
        **dict(zip(RESPONSE_PERCENTILES, map(float, percentiles), strict=True)),
    }


def _response(histogram: Histogram) -> Response:
    if not histogram.total:
        return Response()
    p50, p95, p99 = (float(p) / _NS_PER_S for p in histogram.percentile([50.0, 95.0, 99.0]))
    return Response(histogram.mean / _NS_PER_S, p50, p95, p99, histogram.max / _NS_PER_S)
