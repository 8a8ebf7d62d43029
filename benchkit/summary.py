"""One number for the iterations of a dataset at each thread count.

The only place that knows how: a mean of the iterations, but for response times the percentile,
maximum or mean of all their transactions together, from histograms that are merged. Percentiles
are never averaged: of several runs without histograms there is none, and `Summary` says so. The
least and the largest value need no histograms; means are averaged without them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchkit import _core
from benchkit._core import Histogram
from benchkit.dataset import Dataset
from benchkit.errors import MetricError
from benchkit.hlog import merge_histograms
from benchkit.metrics import ALL_RESPONSE_PERCENTILES

_NS_PER_S = 1e9
_MEAN = "latency_mean"
_EXTREMES = {"latency_min": "min", "latency_max": "max"}


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """A metric of a dataset over its thread counts.

    Parameters
    ----------
    values : ndarray
        One for each of `Dataset.threads`; NaN where no iteration has the metric.
    merged : bool
        Each value is of all iterations' transactions together; otherwise, a mean of iterations.
    lost : bool
        Some value is absent though iterations have the metric: it needs their histograms.
    """

    values: NDArray[np.float64]
    merged: bool
    lost: bool = False


def is_response_time(metric: str) -> bool:
    """Return whether a metric can be had from merged histograms."""
    return metric == _MEAN or metric in ALL_RESPONSE_PERCENTILES


def summarise(dataset: Dataset, metrics: Sequence[str]) -> dict[str, Summary]:
    """Return each metric's summary; histograms are read only where one needs them.

    Raises
    ------
    MetricError
        If there is no such metric.
    """
    arrays = {name: dataset.array(name) for name in metrics}
    pooled = {name: array for name, array in arrays.items() if is_response_time(name)}
    histograms: list[Histogram | None] = []
    if pooled:
        measured = np.logical_or.reduce([~np.isnan(array) for array in pooled.values()])
        histograms = [
            _merge(dataset, threads, dataset.iterations[there].tolist())
            for threads, there in zip(dataset.threads.tolist(), measured, strict=True)
        ]
    return {
        name: _summary(name, array, histograms if name in pooled else [])
        for name, array in arrays.items()
    }


def _merge(dataset: Dataset, threads: int, iterations: list[int]) -> Histogram | None:
    """Return the histogram of these runs; None unless all of them have one."""
    try:
        return merge_histograms(dataset.histogram(threads, each) for each in iterations)
    except MetricError:
        return None


def _summary(
    metric: str, array: NDArray[np.float64], histograms: list[Histogram | None]
) -> Summary:
    means = np.array([_core.describe(row)["mean"] for row in array])
    there = ~np.isnan(means)
    if not there.any() or not histograms:
        return Summary(means, False)
    found = [each for each, is_there in zip(histograms, there, strict=True) if is_there]
    whole = [histogram for histogram in found if histogram is not None]
    if len(whole) < len(found):
        return _without_histograms(metric, array, means)
    means[there] = [_value_s(metric, histogram) for histogram in whole]
    return Summary(means, True)


def _without_histograms(
    metric: str, array: NDArray[np.float64], means: NDArray[np.float64]
) -> Summary:
    """Return what single values tell of all transactions together."""
    if metric == _MEAN:
        return Summary(means, False)
    if metric in _EXTREMES:
        found = [_core.describe(row)[_EXTREMES[metric]] for row in array]
        return Summary(np.array(found), True)
    several = (~np.isnan(array)).sum(axis=1) > 1
    return Summary(np.where(several, np.nan, means), not several.any(), bool(several.any()))


def _value_s(metric: str, histogram: Histogram) -> float:
    if metric == _MEAN:
        return histogram.mean / _NS_PER_S
    return float(histogram.percentile(ALL_RESPONSE_PERCENTILES[metric])) / _NS_PER_S
