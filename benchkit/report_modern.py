"""The "modern" style: what the "taf" style leaves its readers to find out.

Columns have labels that tell them apart; changes have a percentage and a direction, and say when
the iterations of both sides overlap; every iteration is shown; of the options and facts only those
that differ. Pure functions from a report's subject to sections of formatted cells.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchkit.dataset import Dataset
from benchkit.differences import Difference, differing_facts, differing_options, unique_labels
from benchkit.importers.model import Facts
from benchkit.metrics import Metric
from benchkit.record import threads_text
from benchkit.report_data import (
    Bench,
    Subject,
    conditions_of,
    facts_of,
    printed_label,
    tag_of,
    values_of,
    values_together,
)
from benchkit.report_taf import MISSING, NO_ITERATION, Section
from benchkit.report_write import CHANGE, LEGEND, short_heads
from benchkit.spread import Spread, describe_iterations
from benchkit.summary import is_response_time
from benchkit.units import decimals_for, format_number

BETTER, WORSE, SAME = "better", "worse", "no change"
OVERLAP = "overlap"

TOGETHER = "all together"
"""What stands in place of a mean of response times."""

_STATISTICS = (
    ("standard deviation", "sd"),
    ("min", "minimum"),
    ("median", "median"),
    ("max", "maximum"),
)
_OF_EACH_RUN = ("DB Generated Config Run File", "AutoGen Prop File", "Test Case Tag")
"""Facts that differ between any two columns and say nothing."""


@dataclass(frozen=True, slots=True)
class _Values:
    """One metric of all columns, in the unit people read.

    Parameters
    ----------
    metric : Metric
    columns : tuple of dict
        Thread count -> iterations.
    together : tuple of dict
        Thread count -> all iterations together: their mean, or what their histograms say.
    """

    metric: Metric
    columns: tuple[dict[int, tuple[float, ...]], ...]
    together: tuple[dict[int, float], ...]

    @property
    def decimals(self) -> int:
        sizes = [
            abs(value)
            for column in self.columns
            for values in column.values()
            for value in values
            if value and math.isfinite(value)
        ]
        return decimals_for(min(sizes, default=0.0))

    def at(self, threads: int) -> list[tuple[float, ...]]:
        return [column.get(threads, ()) for column in self.columns]

    def together_at(self, threads: int) -> list[float]:
        return [column.get(threads, math.nan) for column in self.together]

    def spreads(self, threads: int) -> list[Spread]:
        return [describe_iterations(values) for values in self.at(threads)]


def modern_sections(subject: Subject, *, short: bool = False) -> tuple[Section, ...]:
    """Return the tables of a comparison, workload by workload.

    Parameters
    ----------
    subject : Subject
    short : bool
        Whether columns with labels that fit no head are called A, B, C, which a table explains.
    """
    several = len(subject.benches) > 1
    return tuple(
        Section(f"{bench.workload}: {section.title}", section.header, section.rows)
        if several
        else section
        for bench in subject.benches
        for section in _bench_sections(bench, subject.metrics, short)
    )


def modern_notes(subject: Subject) -> tuple[str, ...]:
    """Return the notes of a report: how changes are meant, and what runs warned of."""
    first = f"changes are relative to the first column; {OVERLAP!r}: the ranges of both sides meet"
    warnings = dict.fromkeys(
        f"{label}: {warning}"
        for bench in subject.benches
        for label, dataset in bench.columns
        if dataset
        for record in dataset.records
        for warning in record.warnings
    )
    return (first, *subject.notes, *warnings)


def change_text(new: Spread, old: Spread, means: tuple[float, float], metric: Metric) -> str:
    """Return how a value changed in percent, and whether that is better or worse.

    Parameters
    ----------
    new, old : Spread
        Of the iterations.
    means : (new, old)
        What is compared; NaN where it is absent.
    metric : Metric
    """
    value, base = means
    change = 100 * (value / base - 1) if base else math.nan
    if not math.isfinite(change):
        return NO_ITERATION
    if value == base:
        return f"0.00 % {SAME}"
    text = f"{change:+.2f} %"
    if metric.higher_is_better is not None:
        text = f"{text} {BETTER if (value > base) == metric.higher_is_better else WORSE}"
    overlap = new.minimum <= old.maximum and old.minimum <= new.maximum
    return f"{text} ({OVERLAP})" if overlap and min(new.n, old.n) > 1 else text


def column_labels(bench: Bench) -> list[str]:
    """Return labels that tell a bench's columns apart."""
    datasets = [dataset for _, dataset in bench.columns]
    printed = [printed_label(label, dataset) for label, dataset in bench.columns]
    tags = [tag_of(dataset) for dataset in datasets]
    return unique_labels(printed, tags, [facts_of(dataset).config for dataset in datasets])


def _bench_sections(bench: Bench, metrics: Sequence[Metric], short: bool) -> list[Section]:
    full = column_labels(bench)
    labels = short_heads(full) if short else full
    datasets = [dataset for _, dataset in bench.columns]
    found = [
        _Values(
            metric,
            tuple(values_of(dataset, metric) for dataset in datasets),
            tuple(values_together(dataset, metric) for dataset in datasets),
        )
        for metric in metrics
    ]
    threads = sorted({at for values in found for column in values.columns for at in column})
    facts = [facts_of(dataset) for dataset in datasets]
    return [
        *([] if labels == full else [_legend(labels, full)]),
        _overview(labels, found, threads),
        *(_iterations(labels, values, at) for at in threads for values in found),
        _options(labels, facts),
        _differences(labels, datasets, facts),
    ]


def _legend(letters: Sequence[str], labels: Sequence[str]) -> Section:
    return Section(
        "Columns: changes are relative to the first",
        (LEGEND, "dataset"),
        tuple(zip(letters, labels, strict=True)),
    )


def _overview(labels: Sequence[str], found: Sequence[_Values], threads: Sequence[int]) -> Section:
    """Return all metrics side by side: each column's mean and its change."""
    heads = ["Threads"]
    for values in found:
        name = f"{values.metric.name}: " if len(found) > 1 else ""
        for number, label in enumerate(labels):
            heads += [f"{name}{label}", CHANGE] if number else [f"{name}{label}"]
    rows = tuple(
        (threads_text(at), *(cell for values in found for cell in _mean_cells(values, at)))
        for at in threads
    )
    return Section("Means: " + "; ".join(_described(v.metric) for v in found), tuple(heads), rows)


def _mean_cells(values: _Values, threads: int) -> Iterable[str]:
    together, spreads = values.together_at(threads), values.spreads(threads)
    for number, (value, spread) in enumerate(zip(together, spreads, strict=True)):
        yield _cell(value, values.decimals)
        if number:
            yield change_text(spread, spreads[0], (value, together[0]), values.metric)


def _iterations(labels: Sequence[str], values: _Values, threads: int) -> Section:
    """Return the statistics and all iterations of one metric at one thread count."""
    decimals, spreads = values.decimals, values.spreads(threads)
    rows = [("n", *(str(spread.n) for spread in spreads))]
    name = TOGETHER if is_response_time(values.metric.name) else "mean"
    rows.append((name, *(_cell(value, decimals) for value in values.together_at(threads))))
    rows += [
        (name, *(_cell(getattr(spread, field), decimals) for spread in spreads))
        for name, field in _STATISTICS
    ]
    rows.append(("CoV (%)", *(_cell(100 * spread.cov, 2) for spread in spreads)))
    columns = values.at(threads)
    for number in range(max(map(len, columns))):
        cells = (
            _cell(column[number] if number < len(column) else math.nan, decimals, NO_ITERATION)
            for column in columns
        )
        rows.append((f"iteration {number + 1}", *cells))
    unit = f" ({values.metric.shown_unit})" if values.metric.unit else ""
    title = f"{values.metric.name}, {threads_text(threads)} threads{unit}"
    return Section(title, ("", *labels), tuple(rows))


def _options(labels: Sequence[str], facts: Sequence[Facts]) -> Section:
    if all(fact.config is None for fact in facts):
        return Section("Options: none are known", (), ())
    found = differing_options([fact.config for fact in facts])
    return _difference_section("Options that differ", "Option", labels, found)


def _differences(
    labels: Sequence[str], datasets: Sequence[Dataset | None], facts: Sequence[Facts]
) -> Section:
    """Return what else is not the same: host, server, dates, workload and its parameters."""
    columns = [
        {
            **dict((*fact.system, *fact.database, *fact.test)),
            **({"Workload": dataset.workload, "Source": _source(dataset)} if dataset else {}),
        }
        for fact, dataset in zip(facts, datasets, strict=True)
    ]
    found = [d for d in differing_facts(columns) if d.name not in _OF_EACH_RUN]
    conditions = [conditions_of(dataset) for dataset in datasets]
    found += [d for d in differing_facts(conditions) if len({*d.values} - {MISSING}) > 1]
    return _difference_section("What else differs", "Property", labels, found)


def _source(dataset: Dataset) -> str:
    """Return where the numbers come from: formats of files, or benchkit's own runs."""
    formats = (str((record.source or {}).get("format", "")) for record in dataset.records)
    return ", ".join(dict.fromkeys(formats)) or "benchkit"


def _difference_section(
    title: str, head: str, labels: Sequence[str], found: Sequence[Difference]
) -> Section:
    if not found:
        return Section(f"{title}: none", (), ())
    return Section(title, (head, *labels), tuple((d.name, *d.values) for d in found))


def _described(metric: Metric) -> str:
    return ", ".join(dict.fromkeys((metric.name, metric.axis_label, metric.direction)))


def _cell(value: float, decimals: int, absent: str = MISSING) -> str:
    return absent if math.isnan(value) else format_number(value, decimals)
