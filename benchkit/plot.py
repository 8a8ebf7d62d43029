"""Figures of results: throughput over threads, and response times by percentile.

Every function takes ``ax=None``, draws, and returns the axes; none shows a figure or touches
matplotlib's settings. Colours are Okabe and Ito's, which people with any colour vision can tell
apart, and every dataset has its own marker besides. What is drawn comes from `Dataset.array`
and from `percentile_curve`, for those who want to draw it themselves.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchkit._core import Histogram
from benchkit.dataset import Dataset
from benchkit.errors import MetricError
from benchkit.metrics import find_metric
from benchkit.summary import Summary, summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", ":", "-.")

FEWEST_BEYOND = 10
"""A percentile is drawn only where at least this many samples lie beyond it."""


@dataclass(frozen=True, slots=True, eq=False)
class PercentileCurve:
    """Response times by percentile, as far as the samples carry.

    Parameters
    ----------
    percentile : ndarray
        From 0 upward, closer together towards 100.
    response_time_s : ndarray
    samples : int
        How many response times the curve stands on.
    """

    percentile: NDArray[np.float64]
    response_time_s: NDArray[np.float64]
    samples: int


def percentile_curve(histogram: Histogram) -> PercentileCurve:
    """Return the response times of a histogram by percentile.

    The curve ends where fewer than `FEWEST_BEYOND` samples lie beyond; it is empty if there are
    too few samples for any.

    Parameters
    ----------
    histogram : Histogram
        In nanoseconds.
    """
    samples = histogram.total
    if samples <= FEWEST_BEYOND:
        return PercentileCurve(np.empty(0), np.empty(0), samples)
    beyond = np.geomspace(1.0, FEWEST_BEYOND / samples, 400)
    percentile = 100 * (1 - beyond)
    return PercentileCurve(percentile, histogram.percentile(percentile) / 1e9, samples)


def throughput(
    results: Iterable[Dataset], metric: str = "tps", *, ax: "Axes | None" = None
) -> "Axes":
    """Draw a metric over thread counts: a line, and a dot for every iteration.

    The line goes through the means; of response times, through the values of all iterations
    together.

    Parameters
    ----------
    results : Results, or any datasets
    metric : str
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    MetricError
        If there is no such metric, or nothing to draw.
    """
    datasets = [dataset for dataset in results if metric in dataset.metrics]
    found = find_metric(metric, [metric] if datasets else [])
    if not datasets:
        raise MetricError(f"no run has the metric {metric!r}, so there is nothing to draw")
    axes = _new_axes() if ax is None else ax
    summaries = [
        _draw_iterations(axes, dataset, metric, _style(number))
        for number, dataset in enumerate(datasets)
    ]
    _thread_axis(axes, datasets)
    axes.set_ylim(0, 1.08 * axes.dataLim.y1 if axes.dataLim.y1 > 0 else 1)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_ylabel(found.axis_label)
    _explain(axes, datasets, f"{found.direction}; {_iteration_note(datasets, summaries)}")
    return axes


def percentiles(
    results: Dataset | Iterable[Dataset], threads: int | None = None, *, ax: "Axes | None" = None
) -> "Axes":
    """Draw response times by percentile, on an axis that stretches the tail.

    Each curve merges the histograms of all iterations, and ends where fewer than
    `FEWEST_BEYOND` transactions lie beyond.

    Parameters
    ----------
    results : Dataset, Results, or any datasets
    threads : int, optional
        By default, all thread counts of a single dataset, and of several datasets the largest
        thread count that all of them have.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    MetricError
        If there is no such thread count, or nothing to draw.
    """
    if isinstance(results, Dataset):
        datasets = [results]
        counts = results.threads.tolist() if threads is None else [threads]
    else:
        datasets = list(results)
        if not datasets:
            raise MetricError("there are no datasets, so there is nothing to draw")
        counts = [_common_threads(datasets) if threads is None else threads]
    axes = _new_axes() if ax is None else ax
    pairs = [(dataset, count) for dataset in datasets for count in counts]
    for number, (dataset, count) in enumerate(pairs):
        name = dataset.label if len(datasets) > 1 else _threads_text(count)
        _draw_percentiles(axes, name, dataset.histogram(threads=count), _style(number))
    _percentile_axis(axes)
    _response_axis(axes)
    where = f"{_threads_text(counts[0])}; " if len(counts) == 1 else ""
    _explain(
        axes,
        datasets,
        f"{where}n transactions in all iterations; curves end where fewer than "
        f"{FEWEST_BEYOND} lie beyond",
    )
    return axes


def _new_axes() -> "Axes":
    from matplotlib import pyplot

    axes: Axes = pyplot.subplots(figsize=(7.2, 4.4), layout="constrained")[1]
    return axes


def _style(number: int) -> dict[str, Any]:
    """Return colour, marker and line style of the dataset with this number, from 0."""
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _LINES[number // len(_COLOURS) % len(_LINES)],
    }


def _threads_text(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def _draw_iterations(axes: "Axes", dataset: Dataset, metric: str, style: dict[str, Any]) -> Summary:
    """Draw a dot for every run and a line of its summary, which is returned."""
    scale = find_metric(metric, dataset.metrics).shown_scale
    values = dataset.array(metric) * scale
    summary = summarise(dataset, [metric])[metric]
    line = summary.values * scale
    axes.plot(dataset.threads, line, label=dataset.label, markevery=[], markersize=5, **style)
    axes.scatter(
        np.repeat(dataset.threads, values.shape[1]),
        values.ravel(),
        s=26,
        color=style["color"],
        marker=style["marker"],
        alpha=0.65,
        linewidths=0,
        zorder=3,
    )
    return summary


def _thread_axis(axes: "Axes", datasets: list[Dataset]) -> None:
    """Mark the thread counts that were run, on a logarithmic axis."""
    counts = np.unique(np.concatenate([dataset.threads for dataset in datasets]))
    axes.set_xscale("log", base=2)
    axes.set_xlim(counts[0] / 1.25, counts[-1] * 1.25)
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.set_xlabel("threads")


def _iteration_note(datasets: list[Dataset], summaries: list[Summary]) -> str:
    counts = {len(dataset.iterations) for dataset in datasets}
    fewest, most = min(counts), max(counts)
    if most == 1:
        return "one iteration, so its spread is unknown"
    n = str(most) if fewest == most else f"{fewest} to {most}"
    if any(summary.lost for summary in summaries):
        return f"dots: each of n = {n} iterations; no line where there are no histograms"
    line = "all together" if all(summary.merged for summary in summaries) else "mean"
    return f"line: {line}, dots: each of n = {n} iterations"


def _common_threads(datasets: list[Dataset]) -> int:
    """Return the largest thread count that all datasets have."""
    common = set.intersection(*(set(dataset.threads.tolist()) for dataset in datasets))
    if not common:
        raise MetricError("the datasets have no thread count in common; choose one with threads=")
    return int(max(common))


def _draw_percentiles(axes: "Axes", name: str, histogram: Histogram, style: dict[str, Any]) -> None:
    """Draw a curve with a marker at its end."""
    curve = percentile_curve(histogram)
    few = "" if curve.percentile.size else ", too few to draw"
    axes.plot(
        1 / (1 - curve.percentile / 100),
        curve.response_time_s * 1000,
        label=f"{name} (n = {curve.samples:,}{few})",
        markersize=5,
        markevery=[-1] if curve.percentile.size else [],
        **style,
    )


def _percentile_axis(axes: "Axes") -> None:
    """Label 1/(1-p) by percentile: 0, 50, 90, 99, 99.9 and so on."""
    axes.set_xscale("log")
    right = axes.get_xlim()[1]
    nines = range(1, 9)
    ticks = {1.0: "0", 2.0: "50", **{10.0**n: _nines_text(n) for n in nines if 10**n <= right}}
    axes.set_xlim(1, right)
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    axes.set_xlabel("percentile")


def _nines_text(nines: int) -> str:
    """Return the percentile that leaves 10**-nines beyond."""
    return f"{100 - 100 / 10**nines:.{max(nines - 2, 0)}f}"


def _response_axis(axes: "Axes") -> None:
    """Make the vertical axis logarithmic, labelled in plain milliseconds."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel("response time (ms)")


def _explain(axes: "Axes", datasets: list[Dataset], note: str) -> None:
    """Add grid, legend, the workload where there is one, and how to read the figure."""
    workloads = list(dict.fromkeys(dataset.workload for dataset in datasets))
    head = f"{workloads[0]}\n" if len(workloads) == 1 else ""
    axes.set_title(head + note, loc="left", fontsize="small")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
