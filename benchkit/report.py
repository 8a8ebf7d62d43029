"""Comparison reports: the styles by name, and the formats they can be written in.

A report is made of tables of formatted cells (`Section`); a style makes the tables, a format
writes them. The styles are "taf" (as the framework's reports), "percent" (tests against thread
counts, in percent of the baseline) and "modern".
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchkit.errors import MetricError, unknown_name
from benchkit.importers.model import Facts
from benchkit.metrics import PERCENT_METRIC, Metric
from benchkit.record import UNKNOWN_THREADS, Json
from benchkit.report_data import (
    Bench,
    Subject,
    printed_label,
    report_data,
    values_of,
    values_together,
)
from benchkit.report_modern import modern_notes, modern_sections
from benchkit.report_taf import (
    DatasetData,
    PercentTable,
    Section,
    percent_of_baseline,
    percent_section,
    percent_text,
    taf_sections,
    taf_text,
)
from benchkit.report_write import (
    write_csv,
    write_html,
    write_json,
    write_markdown,
    write_page,
    write_text,
)
from benchkit.store import save_text

_UNITS = {"qps": "q/s", "tps": "t/s"}
"""Units as captions of percent tables have them."""

_SUFFIXES = {
    ".txt": "text",
    ".tsv": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".csv": "csv",
    ".json": "json",
}


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison in one of the styles; ``str(report)`` is its text.

    Parameters
    ----------
    title, comment : str
        May be empty.
    sections : tuple of Section
        Tables of formatted cells.
    notes : tuple of str
    plain : str
        The text, as the style lays it out.
    pages : tuple of Section
        The tables as people read them in Markdown and HTML; by default `sections`, which
        programs read.
    """

    title: str
    comment: str
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    plain: str
    pages: tuple[Section, ...] = ()

    def render(self, form: str) -> str:
        """Return the report as ``"text"``, ``"markdown"``, ``"html"``, ``"csv"`` or ``"json"``.

        Raises
        ------
        MetricError
            If there is no such format.
        """
        if form not in FORMS:
            raise MetricError(unknown_name("format", form, FORMS))
        return FORMS[form](self)

    def save(self, path: str | os.PathLike[str], form: str | None = None) -> Path:
        """Write the report to a file, in the format that its ending says, and return its path.

        Raises
        ------
        MetricError
            If there is no such format.
        StoreError
            If the file cannot be written.
        """
        suffix = Path(path).suffix
        return save_text(path, self.render(form or _SUFFIXES.get(suffix.lower(), suffix)))

    def __str__(self) -> str:
        return self.plain

    def __repr__(self) -> str:
        return self.plain

    def _repr_html_(self) -> str:
        return write_html(self.title, self.comment, self.pages or self.sections, self.notes)

    def _repr_markdown_(self) -> str:
        return write_markdown(self.title, self.comment, self.pages or self.sections, self.notes)


FORMS: dict[str, Callable[[Report], str]] = {
    "text": lambda r: r.plain,
    "markdown": lambda r: r._repr_markdown_(),
    "html": lambda r: write_page(r.title or "benchkit", r._repr_html_()),
    "csv": lambda r: write_csv(r.sections),
    "json": lambda r: write_json(r.title, r.comment, r.sections, r.notes),
}
"""How a report can be written."""


def make_report(subject: Subject, style: str) -> Report:
    """Return a report in one of `STYLES`.

    Raises
    ------
    MetricError
        If there is no such style, or it cannot show the subject.
    """
    if style not in STYLES:
        raise MetricError(unknown_name("style", style, STYLES))
    return STYLES[style](subject)


def _taf(subject: Subject) -> Report:
    metric = _only_metric(subject, "taf")
    tables = [report_data(subject, bench, metric) for bench in subject.benches]
    several = len(tables) > 1
    sections = tuple(
        replace(section, title=f"{bench.workload}: {section.title}") if several else section
        for bench, table in zip(subject.benches, tables, strict=True)
        for section in taf_sections(table)
    )
    plain = _with_notes("\n".join(map(taf_text, tables)), subject.warnings)
    return Report(tables[0].title, tables[0].comment, sections, subject.warnings, plain)


def _percent(subject: Subject) -> Report:
    metric = _only_metric(subject, "percent")
    tables = list(_percent_tables(subject, metric))
    sections = tuple(map(percent_section, tables))
    plain = _with_notes("\n".join(map(percent_text, tables)), subject.warnings)
    return Report(tables[0].title, tables[0].comment, sections, subject.warnings, plain)


def _with_notes(plain: str, notes: Sequence[str]) -> str:
    """Return a text with notes below it; without any, exactly as it is."""
    return plain + "".join(f"\nnote: {' '.join(note.split())}\n" for note in notes)


def _percent_tables(subject: Subject, metric: Metric) -> Iterator[PercentTable]:
    if metric.name == PERCENT_METRIC:
        yield _imported_percents(subject, metric)
        return
    width = len(subject.benches[0].columns)
    if width < 2:
        raise MetricError("the percent style needs a baseline and something to compare with it")
    unit = _UNITS.get(metric.name, metric.shown_unit)
    names = _test_names(subject)
    for column in range(1, width):
        tests = [
            (name, _data(bench, column, metric), _data(bench, 0, metric))
            for name, bench in zip(names, subject.benches, strict=True)
        ]
        yield percent_of_baseline(subject.title, subject.comment, unit, tests)


def _imported_percents(subject: Subject, metric: Metric) -> PercentTable:
    """Return the cells of imported percent tables, which need no baseline."""
    datasets = [(label, d) for bench in subject.benches for label, d in bench.columns if d]
    facts = [(dataset.records[0].facts or {}).get("extra", {}) for _, dataset in datasets]
    values = [values_of(dataset, metric) for _, dataset in datasets]
    threads = sorted({at for cells in values for at in cells})
    rows = tuple(
        (label, _row(cells, threads) or str(extra.get("text", "")))
        for (label, _), cells, extra in zip(datasets, values, facts, strict=True)
    )
    first: Json = facts[0] if facts else {}
    return PercentTable(
        subject.title,
        subject.comment,
        str(first.get("candidate", "candidate")),
        str(first.get("baseline", "baseline")),
        str(first.get("unit", "")),
        tuple(threads),
        rows,
    )


def _row(values: Mapping[int, Sequence[float]], threads: Sequence[int]) -> tuple[float, ...]:
    """Return the first value at each thread count; nothing where there is none at all."""
    return tuple(values.get(at, (math.nan,))[0] for at in threads) if values else ()


def _test_names(subject: Subject) -> list[str]:
    """Return what the tests are called: short names where these tell them apart."""
    names = [bench.workload for bench in subject.benches]
    short = [name.rpartition(":")[2] for name in names]
    return short if len(set(short)) == len(short) else names


def _data(bench: Bench, column: int, metric: Metric) -> DatasetData:
    label, dataset = bench.columns[column]
    together = values_together(dataset, metric)
    values = {at: (value,) for at, value in together.items() if at != UNKNOWN_THREADS}
    return DatasetData(" ".join(printed_label(label, dataset).split()), Facts(), values)


def _modern(subject: Subject) -> Report:
    names = ", ".join(metric.name for metric in subject.metrics)
    title = subject.title or f"Comparison of {names}"
    notes, sections = modern_notes(subject), modern_sections(subject)
    pages = modern_sections(subject, short=True)
    plain = write_text(title, subject.comment, pages, notes)
    return Report(title, subject.comment, sections, notes, plain, pages)


def _only_metric(subject: Subject, style: str) -> Metric:
    if len(subject.metrics) > 1:
        raise MetricError(f"the {style} style shows one metric, the modern style several")
    return subject.metrics[0]


STYLES: dict[str, Callable[[Subject], Report]] = {
    "taf": _taf,
    "percent": _percent,
    "modern": _modern,
}
"""How a comparison can be laid out."""
