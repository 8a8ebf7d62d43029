"""The rates that a workload is known by: as the server counted them, and as the client did.

Two counts of one thing find what neither shows alone: other clients of the server, procedures
that fail without an error, counters that were reset.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchkit.record import MEASUREMENT
from benchkit.workloads.rate import Rate

_AGREEMENT = 0.01
_TPM_PER_NOPM = (2.25, 2.40)  # 23 transactions, of which 10 x 0.99 new orders commit: 2.32
_OTHERS_PER_ORDER = 1.3  # of 23 transactions 10 are new orders
_SIGMAS = 3.0
_ALWAYS_MOVES = "queries"  # where the server's counters could be read at all
_SECONDS_PER_MINUTE = 60.0
_ENOUGH = 1000  # transactions; with fewer, chance alone may look like disagreement


def compute_rates(
    result: Mapping[str, Any], monitored: NDArray[np.void] | None, rates: Iterable[Rate]
) -> dict[str, float]:
    """Return each rate per minute by both counts; one that could not be counted is left out.

    Parameters
    ----------
    result : mapping
        What the driver measured.
    monitored : structured ndarray or None
        What the server counted, row by row of ``result["rows"]``.
    rates : iterable of Rate
    """
    minutes = result["measured_s"] / _SECONDS_PER_MINUTE
    metrics = {}
    for rate in rates if minutes else ():
        at_server = _growth(result["rows"], monitored, rate)
        if not math.isnan(at_server):
            metrics[rate.metric] = at_server / minutes
        metrics[f"{rate.metric}_client"] = _count(result["transactions"], rate) / minutes
    return metrics


def doubt_rates(metrics: Mapping[str, float], committed: int) -> list[str]:
    """Say which of the rates in a run's metrics look wrong.

    Parameters
    ----------
    metrics : mapping of str to float
    committed : int
        Transactions of the measurement.
    """
    if committed < _ENOUGH:
        return []
    doubts = []
    for name in (name for name in metrics if f"{name}_client" in metrics):
        ours, theirs = metrics[f"{name}_client"], metrics[name]
        if abs(theirs - ours) > _AGREEMENT * max(ours, theirs):
            doubts.append(
                f"{name}: the server counted {theirs:,.0f}, the client {ours:,.0f} per minute"
            )
    low, high = _TPM_PER_NOPM
    nopm, tpm = metrics.get("nopm", 0.0), metrics.get("tpm", math.nan)
    chance = _SIGMAS * math.sqrt(_OTHERS_PER_ORDER / committed)  # where the mix is drawn
    low, high = low * (1 - chance), high * (1 + chance)
    if nopm and not math.isnan(tpm) and not low <= tpm / nopm <= high:
        doubts.append(f"TPM / NOPM is {tpm / nopm:.3f}, outside {low:.2f} to {high:.2f}")
    return doubts


def _growth(rows: NDArray[np.void], monitored: NDArray[np.void] | None, rate: Rate) -> float:
    """Return how much the server's counters grew in the measurement."""
    if monitored is None:
        return math.nan
    names = set(monitored.dtype.names or ())
    moved = names & set(rate.counters)  # a counter that did not has no column
    if not moved and _ALWAYS_MOVES not in names:
        return math.nan
    measured = rows["phase"] == MEASUREMENT
    return float(sum(monitored[name][measured].sum() for name in moved))


def _count(transactions: Iterable[Mapping[str, Any]], rate: Rate) -> int:
    fields = ["committed"]
    if rate.every_attempt:
        fields += ["rolled_back", "failed", "retries"]
    return sum(int(t[f]) for t in transactions if t["name"] in rate.transactions for f in fields)
