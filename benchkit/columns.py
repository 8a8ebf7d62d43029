"""One metric of a server setup over the rows of a comparison, and what to know of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchkit import _core
from benchkit.metrics import Metric
from benchkit.report_data import NO_HISTOGRAMS, Bench
from benchkit.summary import is_response_time, summarise

Row = tuple[str, int]
"""Workload and thread count."""

_ENOUGH_ITERATIONS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A server setup's values over the rows of a comparison; NaN and n = 0 where absent.

    Parameters
    ----------
    label : str
    n : ndarray of int
        Iterations that have the metric.
    mean : ndarray
        Over those iterations; of response times, what `merged` says.
    sd, minimum, maximum : ndarray
        Of the iterations' own values; `sd` is of the population.
    merged : bool
        `mean` holds values of all iterations' transactions together instead.
    lost : bool
        Some of `mean` are absent because they need histograms.
    """

    label: str
    n: NDArray[np.int64]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]
    merged: bool = False
    lost: bool = False


def make_column(
    label: str, number: int, benches: tuple[Bench, ...], rows: tuple[Row, ...], metric: str
) -> Column:
    """Return one metric of the datasets that stand in a column of the benches."""
    values: dict[Row, NDArray[np.float64]] = {}
    means: dict[Row, float] = {}
    merged = []
    lost = False
    for bench in benches:
        _, dataset = bench.columns[number]
        if dataset is None or metric not in dataset.metrics:
            continue
        keys = [(bench.workload, threads) for threads in dataset.threads.tolist()]
        summary = summarise(dataset, [metric])[metric]
        values.update(zip(keys, dataset.array(metric), strict=True))
        means.update(zip(keys, summary.values, strict=True))
        merged.append(summary.merged)
        lost |= summary.lost
    summaries = [_core.describe(values.get(row, np.empty(0))) for row in rows]
    sd, low, high = (np.array([s[name] for s in summaries]) for name in ("sd", "min", "max"))
    mean = np.array([means.get(row, np.nan) for row in rows])
    n = np.array([summary["n"] for summary in summaries], np.int64)
    return Column(label, n, mean, sd, low, high, bool(merged) and all(merged), lost)


def merging_notes(metric: Metric, columns: Sequence[Column]) -> Iterator[str]:
    """Say where response times could not be taken from all iterations together."""
    if not is_response_time(metric.name):
        return
    lost = ", ".join(column.label for column in columns if column.lost)
    if lost:
        yield (
            f"{NO_HISTOGRAMS}there is no {metric.label} of all iterations together in {lost}; "
            "percentiles are not averaged, each iteration has its own"
        )
    means = [c.label for c in columns if c.n.max() > 1 and not c.merged and not c.lost]
    if means:
        yield f"{NO_HISTOGRAMS}{', '.join(means)}: mean of the iterations' {metric.label}"


def spread_notes(columns: tuple[Column, ...]) -> Iterator[str]:
    """Say where there are too few iterations to tell a difference from noise."""
    fewest = min(int(n) for column in columns for n in column.n if n)
    if fewest == 1:
        yield "a single iteration says nothing about how far repeats would differ"
    elif fewest < _ENOUGH_ITERATIONS:
        yield f"with {fewest} iterations a difference may well be noise"
