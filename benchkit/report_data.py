"""What a report shows: the columns of a comparison, their facts, options and values.

From stored runs, imported or our own, to the values that the styles lay out. What an imported
file said of its dataset is taken as it is; for our own runs the same facts are put together from
the host, the server, the configuration and the workload.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchkit.dataset import Dataset
from benchkit.differences import Work
from benchkit.importers.model import Facts, Rows
from benchkit.importers.taf_names import parse_option
from benchkit.metrics import Metric
from benchkit.record import Json, RunRecord
from benchkit.report_taf import DatasetData, ReportData, metric_label

_GIB = 2**30
_SYSTEM = {
    "host": "Host",
    "cpu": "CPU",
    "cpu_count": "CPU Count",
    "core_count": "Core Count",
    "socket_count": "Socket Count",
    "os": "OS",
    "os_version": "OS Version",
    "kernel": "OS Kernel",
}
_COLD_MODES = ("restart", "restore")
_TAG = "Test Case Tag"

UNLIKE = "unlike work is compared: "
"""How a note begins that every style has to show."""


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
    def unlike(self) -> tuple[str, ...]:
        """The notes that say why the columns are not to be compared."""
        return tuple(note for note in self.notes if note.startswith(UNLIKE))


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
    options = None if config is None else [parse_option(line) for line in config.splitlines()]
    return Facts(
        system=tuple(_system_rows(first.environment())),
        database=tuple(_database_rows(first.record)),
        test=tuple(_test_rows(dataset)),
        config=None if options is None else tuple(option for option in options if option),
    )


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


def _system_rows(environment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, label in _SYSTEM.items():
        if environment.get(name) is not None:
            yield label, str(environment[name])
    if environment.get("ram_bytes"):
        yield "RAM", f"{environment['ram_bytes'] / _GIB:.2f} GB"


def _database_rows(record: RunRecord) -> Iterator[tuple[str, str]]:
    server, parameters = record.server, record.workload.get("parameters", {})
    values = {
        "Database Maker": server.get("product"),
        "Database Version": server.get("version"),
        "Engine": parameters.get("storage_engine"),
        "Install Dir": server.get("install"),
    }
    return ((label, str(value)) for label, value in values.items() if value)


def _test_rows(dataset: Dataset) -> Iterator[tuple[str, str]]:
    record = dataset.records[0]
    suite, _, test = dataset.workload.rpartition(":")
    identity = record.identity
    values = {
        "Test Suite": suite,
        "Test Name": test,
        "Duration": identity.get("duration_s"),
        "Transactions": identity.get("transactions"),
        "Warmup": identity.get("warmup_s"),
        "Iterations": len(dataset.iterations),
        "Iteration Mode": _mode_text(identity.get("iteration_mode")),
        "Replicas": identity.get("replicas"),
        "Threads": ", ".join(map(str, dataset.threads)),
        "Timestamp": min((r.time.get("start_utc") or "" for r in dataset.records), default=""),
    }
    yield from ((label, _number(value)) for label, value in values.items() if value)
    for name, value in sorted(record.workload.get("parameters", {}).items()):
        yield name.replace("_", " ").capitalize(), _number(value)


def _mode_text(mode: str | None) -> str | None:
    return f"{mode} (cold caches)" if mode in _COLD_MODES else mode


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
