"""Datasets side by side: one metric per thread count, and ratios to a baseline.

A column is a server setup, a row a workload and a thread count, so that only like is compared
with like. This module computes the comparison and shows it as text and as HTML; a cell without
a run shows as missing, never as 0.
"""

import html
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchkit.columns import Column, Row, make_column, merging_notes, spread_notes
from benchkit.differences import reasons_against
from benchkit.errors import ComparisonError, MetricError, unknown_name
from benchkit.metrics import PERCENT_METRIC, Metric, find_metric
from benchkit.record import threads_text
from benchkit.report import Report, make_report
from benchkit.report_data import UNLIKE, Bench, Subject, match_benches, work_of
from benchkit.report_write import short_heads
from benchkit.units import decimals_for, format_number, one_line

if TYPE_CHECKING:
    import pandas
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

    from benchkit.dataset import Dataset

Setup = tuple[str, str]
"""Server and study: what all datasets of a column share."""

MISSING = "(missing)"
NO_RATIO = "-"
_HEAD_WIDTH = 14
_REASONS = 4
_ALL_THE_SAME = "allow_different=True, or --allow-different, compares them all the same"


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """One metric of several datasets, with ratios to a baseline.

    Parameters
    ----------
    metric : Metric
    baseline : str
        The label of the column that ratios refer to.
    rows : tuple of (workload, threads)
    columns : tuple of Column
        The baseline first.
    notes : tuple of str
        What a reader should know before trusting the ratios.
    benches : tuple of Bench
        The datasets of each workload, in the order of `columns`.
    also : tuple of Comparison
        Of the same datasets, by the further metrics that were asked for.
    heading : (title, comment)
        What the study says of itself; may be empty.
    has_ratios : bool
        Imported percentages of different tests have none unless they are asked for.
    """

    metric: Metric
    baseline: str
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    benches: tuple[Bench, ...] = ()
    also: "tuple[Comparison, ...]" = ()
    heading: tuple[str, str] = ("", "")
    has_ratios: bool = True

    def ratio(self, label: str) -> NDArray[np.float64]:
        """Return a column's means divided by the baseline's; NaN where there is no such ratio."""
        by_label = {column.label: column.mean for column in self.columns}
        if label not in by_label:
            raise MetricError(unknown_name("dataset", label, by_label))
        base = by_label[self.baseline]
        return by_label[label] / np.where(base == 0, np.nan, base)

    @property
    def frame(self) -> "pandas.DataFrame":
        """The comparison as numbers, one row per workload and thread count.

        The columns are workload, threads, each dataset's mean (of response times, the value of
        all iterations together) under its label, each ratio as ``<label> / <baseline>``, each
        number of iterations as ``n <label>``, and the population standard deviation of the
        iterations' own values as ``sd <label>``. Values are in the metric's unit.
        """
        import pandas as pd

        others = self.columns[1:] if self.has_ratios else ()
        return pd.DataFrame(
            {
                "workload": [workload for workload, _ in self.rows],
                "threads": [threads for _, threads in self.rows],
                **{column.label: column.mean for column in self.columns},
                **{f"{c.label} / {self.baseline}": self.ratio(c.label) for c in others},
                **{f"n {column.label}": column.n for column in self.columns},
                **{f"sd {column.label}": column.sd for column in self.columns},
            }
        )

    def table(self, style: str = "modern") -> Report:
        """Return the comparison as a report.

        Parameters
        ----------
        style : {"modern", "taf", "percent"}
            "modern" has unique labels, changes with their direction, every iteration, and what
            differs between the columns; "taf" is laid out as TAF's reports, "percent" as tests
            against thread counts, in percent of the baseline.

        Raises
        ------
        MetricError
            If there is no such style, or it cannot show this comparison.
        ComparisonError
            If the style compares what has no ratios.
        """
        if style in ("modern", "taf") and not all(c.has_ratios for c in (self, *self.also)):
            raise ComparisonError(
                f"a percent table's tests are not to be compared with each other, as the {style} "
                f"style does: use the percent style. {_ALL_THE_SAME}"
            )
        metrics = (self.metric, *(other.metric for other in self.also))
        return make_report(Subject(*self.heading, metrics, self.benches, self.notes), style)

    @property
    def title(self) -> str:
        """What is compared, in which unit, and which direction is better."""
        metric = self.metric
        what = dict.fromkeys((metric.axis_label, metric.direction))
        what.pop(metric.name, None)
        return f"{one_line(metric.name)}: {', '.join(what)}"

    @property
    def subtitle(self) -> str:
        """How to read the cells."""
        ratio = (
            f"; ratio to {one_line(self.baseline)}"
            if len(self.columns) > 1 and self.has_ratios
            else ""
        )
        return f"{'of all n iterations together' if self.merged else 'mean of n iterations'}{ratio}"

    @property
    def merged(self) -> bool:
        """Whether cells are of all iterations' transactions together; the notes name others."""
        return any(column.merged for column in self.columns)

    def cells(self) -> list[tuple[str, list[str]]]:
        """Return the head and the texts of each column, as people read them in one table.

        The first is the workload, where there are several.
        """
        labels = [one_line(column.label) for column in self.columns]
        columns = _strips(self, list(range(1, len(self.columns))), labels)
        workloads = [one_line(workload) for workload, _ in self.rows]
        return [("workload", workloads), *columns] if len(set(workloads)) > 1 else columns

    def __rich_console__(
        self, console: "Console", options: "ConsoleOptions"
    ) -> "Iterator[RenderableType]":
        from rich.text import Text

        yield Text(self.title, style="bold")
        yield Text(self.subtitle)
        labels = [one_line(column.label) for column in self.columns]
        heads = short_heads(labels, _HEAD_WIDTH)
        if heads != labels:
            yield ""
            yield from (Text(f"{a}  {b}") for a, b in zip(heads, labels, strict=True))
        yield from _text_tables(self, heads, console, options)
        if self.notes:
            yield ""
        for note in self.notes:
            yield Text(f"note: {one_line(note)}", style="italic")
        for other in self.also:
            yield ""
            yield other

    def __repr__(self) -> str:
        from rich.console import Console

        width = shutil.get_terminal_size((100, 24)).columns
        console = Console(width=width, color_system=None, force_jupyter=False, markup=False)
        with console.capture() as capture:
            console.print(self)
        return "\n".join(line.rstrip() for line in capture.get().splitlines())

    def _repr_html_(self) -> str:
        return "".join(map(_html, (self, *self.also)))


def compare_datasets(
    datasets: "Iterable[Dataset]",
    metric: str,
    baseline: str | None = None,
    *,
    allow_different: bool = False,
) -> Comparison:
    """Return datasets side by side.

    Parameters
    ----------
    datasets : iterable of Dataset
    metric : str
    baseline : str, optional
        A dataset's label or server; by default the first dataset.
    allow_different : bool
        Compare what differs in workload, scale or metric all the same, and note it.

    Raises
    ------
    MetricError
        If there is no such metric or baseline, or no dataset has the metric.
    ComparisonError
        If the datasets differ in workload, scale or metric.
    """
    chosen = list(datasets)
    found = find_metric(metric, {name for dataset in chosen for name in dataset.metrics})
    if not any(metric in dataset.metrics for dataset in chosen):
        raise MetricError(f"no run has the metric {metric!r}, so there is nothing to compare")
    labels = _setup_labels(chosen)
    base = _baseline_setup(chosen, labels, baseline)
    setups = sorted(labels, key=lambda setup: setup != base)
    by_setup = [[dataset for dataset in chosen if _setup(dataset) == s] for s in setups]
    reasons = _reasons(by_setup, metric)
    has_ratios = not reasons or allow_different
    if metric != PERCENT_METRIC and not has_ratios:
        raise ComparisonError(
            f"these are not to be compared: {'; '.join(reasons[:_REASONS])}"
            f"{' and more' if len(reasons) > _REASONS else ''}. {_ALL_THE_SAME}"
        )
    benches = match_benches([labels[setup] for setup in setups], by_setup)
    rows = _rows(benches)
    columns = tuple(
        make_column(labels[setup], number, benches, rows, metric)
        for number, setup in enumerate(setups)
    )
    notes = (
        *(f"{UNLIKE}{reason}" for reason in reasons if has_ratios),
        *merging_notes(found, columns),
        *spread_notes(columns),
    )
    return Comparison(found, labels[base], rows, columns, notes, benches, has_ratios=has_ratios)


def with_more(first: Comparison, others: Sequence[Comparison]) -> Comparison:
    """Return a comparison together with those of the same datasets by further metrics."""
    return replace(first, also=tuple(others))


def _reasons(by_setup: "list[list[Dataset]]", metric: str) -> list[str]:
    """Say why setups cannot be compared with the first."""
    works = [[work_of(dataset) for dataset in datasets] for datasets in by_setup]
    reasons = (reason for other in works[1:] for reason in reasons_against(works[0], other, metric))
    return list(dict.fromkeys(reasons))


def _setup(dataset: "Dataset") -> Setup:
    return dataset.server, dataset.study


def _setup_labels(datasets: "list[Dataset]") -> dict[Setup, str]:
    """Return a label for each setup: the server's name, and the study's where needed."""
    setups = list(dict.fromkeys(_setup(dataset) for dataset in datasets))
    if len({server for server, _ in setups}) == len(setups):
        return {setup: setup[0] for setup in setups}
    return {setup: " · ".join(setup) for setup in setups}


def _baseline_setup(
    datasets: "list[Dataset]", labels: dict[Setup, str], baseline: str | None
) -> Setup:
    if baseline is None:
        return _setup(datasets[0])
    known = {label: setup for setup, label in labels.items()}
    known |= {dataset.label: _setup(dataset) for dataset in datasets}
    if baseline not in known:
        raise MetricError(unknown_name("baseline", baseline, known))
    return known[baseline]


def _rows(benches: tuple[Bench, ...]) -> tuple[Row, ...]:
    """Return every workload with every thread count that some dataset has."""
    return tuple(
        (bench.workload, threads)
        for bench in benches
        for threads in sorted({n for _, d in bench.columns if d for n in d.threads.tolist()})
    )


# Cells as text


def _shown_means(comparison: Comparison) -> list[list[str]]:
    """Return each column's means in the shown unit, all with the same number of decimals."""
    scaled = [column.mean * comparison.metric.shown_scale for column in comparison.columns]
    sizes = np.abs(np.concatenate(scaled))
    positive = sizes[np.isfinite(sizes) & (sizes > 0)]
    decimals = decimals_for(float(positive.min()) if positive.size else 0.0)
    return [[_number(value, decimals) for value in means] for means in scaled]


def _number(value: float, decimals: int) -> str:
    return MISSING if np.isnan(value) else format_number(value, decimals)


def _shown_ratios(comparison: Comparison, column: Column) -> list[str]:
    return [_ratio_text(ratio) for ratio in comparison.ratio(column.label)]


def _ratio_text(ratio: float) -> str:
    return NO_RATIO if np.isnan(ratio) else f"{ratio:.3f}x {100 * (ratio - 1):+6.1f} %"


def _shown_n(columns: tuple[Column, ...], row: int) -> str:
    """Return the number of iterations; one for each column where they differ."""
    counts = [str(column.n[row]) for column in columns]
    return counts[0] if len(set(counts)) == 1 else " / ".join(counts)


def _strips(
    comparison: Comparison, others: list[int], heads: Sequence[str]
) -> list[tuple[str, list[str]]]:
    """Return (head, cells) of each column of a table: the baseline and these others."""
    means = _shown_means(comparison)
    shown = tuple(comparison.columns[number] for number in [0, *others])
    strips = [("threads", [threads_text(threads) for _, threads in comparison.rows])]
    for number, column in zip([0, *others], shown, strict=True):
        strips.append((heads[number], means[number]))
        if number and comparison.has_ratios:
            strips.append(("ratio", _shown_ratios(comparison, column)))
    strips.append(("n", [_shown_n(shown, row) for row in range(len(comparison.rows))]))
    return strips


# Text


def _text_tables(
    comparison: Comparison, heads: list[str], console: "Console", options: "ConsoleOptions"
) -> "Iterator[RenderableType]":
    """Yield a heading and tables for each workload; one workload needs no heading."""
    from rich.text import Text

    workloads = dict.fromkeys(workload for workload, _ in comparison.rows)
    for workload in workloads:
        rows = [row for row, (name, _) in enumerate(comparison.rows) if name == workload]
        yield ""
        if len(workloads) > 1:
            yield Text(one_line(workload), style="bold")
        tables = partial(_text_table, comparison, heads, rows)
        yield from _tables_that_fit(tables, len(heads), console, options)


def _tables_that_fit(
    table_of: "Callable[[list[int]], Table]",
    width: int,
    console: "Console",
    options: "ConsoleOptions",
) -> "Iterator[RenderableType]":
    """Yield tables no wider than the console, each with the baseline and some others."""
    from rich.measure import Measurement

    unlimited = options.update(max_width=10_000)
    others = list(range(1, width))
    while True:
        take = len(others)
        table = table_of(others)
        while take > 1 and Measurement.get(console, unlimited, table).maximum > options.max_width:
            take -= 1
            table = table_of(others[:take])
        yield table
        others = others[take:]
        if not others:
            return
        yield ""


def _text_table(
    comparison: Comparison, heads: list[str], rows: list[int], others: list[int]
) -> "Table":
    """Return a table of these rows, of the baseline and of the columns with these numbers."""
    from rich import box
    from rich.table import Table

    strips = _strips(comparison, others, heads)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head, _ in strips:
        table.add_column(_head(head), justify="right", overflow="fold")
    for row in rows:
        table.add_row(*(cells[row] for _, cells in strips))
    return table


def _head(label: str) -> "RenderableType":
    """Return a label as a column's head, in lines of limited width."""
    from rich.text import Text

    return Text("\n".join(textwrap.wrap(label, _HEAD_WIDTH)))


# HTML

_NUMBER_CELL = "text-align:right;font-variant-numeric:tabular-nums;white-space:pre"


def _html(comparison: Comparison) -> str:
    strips = comparison.cells()
    body = "".join(
        "<tr>" + "".join(_html_cell(text) for text in row) + "</tr>"
        for row in zip(*(cells for _, cells in strips), strict=True)
    )
    notes = "".join(f"<p><em>{html.escape(one_line(n))}</em></p>" for n in comparison.notes)
    return (
        f'<div style="overflow-x:auto"><table><caption style="text-align:left;white-space:nowrap">'
        f"<strong>{html.escape(comparison.title)}</strong><br>"
        f"{html.escape(comparison.subtitle)}</caption>"
        f"<thead>{_html_heads(comparison, strips[0][0] == 'workload')}</thead>"
        f"<tbody>{body}</tbody></table>{notes}</div>"
    )


def _html_heads(comparison: Comparison, with_workload: bool) -> str:
    """Return two rows: the datasets, and below each of the others its mean and ratio."""
    names = ["workload", "threads"] if with_workload else ["threads"]
    tall = "".join(f'<th rowspan="2">{name}</th>' for name in names)
    base, *others = (html.escape(one_line(column.label)) for column in comparison.columns)
    span = 2 if comparison.has_ratios else 1
    wide = "".join(f'<th colspan="{span}" style="text-align:center">{name}</th>' for name in others)
    value = "together" if comparison.merged else "mean"
    pairs = f"<th>{value}</th>{'<th>ratio</th>' if span > 1 else ''}" * len(others)
    return (
        f'<tr>{tall}<th style="text-align:center">{base}</th>{wide}<th rowspan="2">n</th></tr>'
        f"<tr><th>{value}</th>{pairs}</tr>"
    )


def _html_cell(text: str) -> str:
    faded = ";opacity:.6" if text in (MISSING, NO_RATIO) else ""
    return f'<td style="{_NUMBER_CELL}{faded}">{html.escape(text)}</td>'
