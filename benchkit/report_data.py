"""What a report shows: the columns of a comparison, their facts, options and values.

From stored runs, imported or our own, to the values that the styles lay out. What an imported
file said of its dataset is taken as it is; for our own runs the same facts are put together from
the host, the server, the configuration and the workload.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchkit.dataset import Dataset
from benchkit.differences import Work
from benchkit.importers.model import Facts, Rows
from benchkit.importers.taf_names import parse_option
from benchkit.metrics import Metric
from benchkit.record import Json
from benchkit.report_facts import condition_rows, database_rows, system_rows, test_rows
from benchkit.report_taf import DatasetData, ReportData, metric_label
from benchkit.summary import summarise

_TAG = "Test Case Tag"

UNLIKE = "unlike work is compared: "
"""How a note begins that every style has to show."""

NO_HISTOGRAMS = "no histograms: "
"""How a note begins that says what cannot be had of imported response times."""


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """A workload, and the dataset of each column under it; None where a column has none."""

    workload: str
    columns: tuple[tuple[str, Dataset | None], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What a report is about.

    Parameters
    ----------
    title, comment : str
        What the study says of itself; may be empty.
    metrics : tuple of Metric
    benches : tuple of Bench
        All with the same columns, the baseline first.
    notes : tuple of str
        What a reader should know before trusting the numbers.
    """

    title: str
    comment: str
    metrics: tuple[Metric, ...]
    benches: tuple[Bench, ...]
    notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes that every style shows: why not to compare, and what cannot be had."""
        return tuple(note for note in self.notes if note.startswith((UNLIKE, NO_HISTOGRAMS)))


def match_benches(
    labels: Sequence[str], by_column: Sequence[Sequence[Dataset]]
) -> tuple[Bench, ...]:
    """Return the datasets of each workload.

    Where the columns have as many workloads each, but none that all have, the first of one
    stands beside the first of the others.

    Parameters
    ----------
    labels : sequence of str
    by_column : sequence of sequences of Dataset
        The datasets of each column.
    """
    names = [[dataset.workload for dataset in datasets] for datasets in by_column]
    shared = set(names[0]).intersection(*names[1:])
    if not shared and len({len(each) for each in names}) == 1:
        return tuple(
            Bench(_joined(datasets), tuple(zip(labels, datasets, strict=True)))
            for datasets in zip(*by_column, strict=True)
        )
    return tuple(
        Bench(workload, tuple(zip(labels, _under(workload, by_column), strict=True)))
        for workload in dict.fromkeys(name for each in names for name in each)
    )


def _joined(datasets: Iterable[Dataset]) -> str:
    return " / ".join(dict.fromkeys(dataset.workload for dataset in datasets))


def _under(workload: str, by_column: Sequence[Sequence[Dataset]]) -> Iterator[Dataset | None]:
    """Yield each column's dataset under a workload."""
    for datasets in by_column:
        yield next((dataset for dataset in datasets if dataset.workload == workload), None)


def work_of(dataset: Dataset) -> Work:
    """Return what a dataset executed, as far as it decides what it may be compared with."""
    first = dataset.records[0]
    return Work(
        dataset.label,
        dataset.workload,
        first.workload.get("parameters") or {},
        first.identity.get("workload_fingerprint"),
        dataset.metrics if first.source else None,
    )


def report_data(subject: Subject, bench: Bench, metric: Metric) -> ReportData:
    """Return one workload's datasets as the "taf" style shows them."""
    datasets = tuple(
        DatasetData(printed_label(label, dataset), facts_of(dataset), values_of(dataset, metric))
        for label, dataset in bench.columns
    )
    title = subject.title or bench.workload
    comment = subject.comment or next(d.study for _, d in bench.columns if d is not None)
    return ReportData(title, comment, metric_label(metric.name), datasets)


def values_of(dataset: Dataset | None, metric: Metric) -> dict[int, tuple[float, ...]]:
    """Return a metric of iteration 1, 2, ... at each thread count, in the unit people read."""
    found: dict[int, dict[int, float]] = {}
    for record in dataset.records if dataset else ():
        value = record.metrics.get(metric.name, math.nan) * metric.shown_scale
        if not math.isnan(value):
            found.setdefault(record.factors.threads, {})[record.factors.iteration] = value
    return {
        threads: tuple(values.get(number, math.nan) for number in range(1, max(values) + 1))
        for threads, values in found.items()
    }


def values_together(dataset: Dataset | None, metric: Metric) -> dict[int, float]:
    """Return a metric of all iterations together at each thread count, as people read it."""
    if dataset is None or metric.name not in dataset.metrics:
        return {}
    found = summarise(dataset, [metric.name])[metric.name].values * metric.shown_scale
    return dict(zip(dataset.threads.tolist(), found.tolist(), strict=True))


def tag_of(dataset: Dataset | None) -> str:
    """Return the tag that a file gave its dataset; empty where there is none."""
    return dict(facts_of(dataset).test).get(_TAG, "")


def printed_label(label: str, dataset: Dataset | None) -> str:
    """Return how the file that a dataset came from calls it; its own label if it is ours."""
    facts = dataset.records[0].facts if dataset else None
    return str(facts.get("label") or label) if facts else label


def facts_of(dataset: Dataset | None) -> Facts:
    """Return what is known of a dataset, by its first run."""
    if dataset is None:
        return Facts()
    first = dataset.runs[0]
    if first.record.facts is not None:
        return _stored_facts(first.record.facts)
    config = first.config()
    return Facts(
        system=tuple(system_rows(first.environment())),
        database=tuple(database_rows(first.record)),
        test=tuple(test_rows(dataset.workload, dataset.records)),
        config=None if config is None else _options(config),
    )


def _options(config: str) -> tuple[tuple[str, str | None], ...]:
    """Return a configuration's options; the values of one that is given several times as one."""
    found: dict[str, str | None] = {}
    for name, value in filter(None, map(parse_option, config.splitlines())):
        found[name] = f"{found[name]}, {value}" if name in found else value
    return tuple(found.items())


def conditions_of(dataset: Dataset | None) -> dict[str, str]:
    """Return what else of the host decides how fast a dataset is; empty where none is known."""
    if dataset is None or dataset.records[0].source is not None:
        return {}
    return dict(condition_rows(dataset.runs[0].environment(), dataset.records[0]))


def _stored_facts(facts: Json) -> Facts:
    config = facts.get("config")
    return Facts(
        _pairs(facts.get("system")),
        _pairs(facts.get("database")),
        _pairs(facts.get("test")),
        None if config is None else tuple((str(name), _text(value)) for name, value in config),
    )


def _pairs(rows: Any) -> Rows:
    return tuple((str(label), str(value)) for label, value in rows or ())


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
