"""One column of a comparison report, and the runs that it stands for."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from benchkit.importers.model import Facts, ImportedRun
from benchkit.importers.taf_names import (
    MISSING,
    duration_s,
    implausible,
    metric_of,
    scale,
    workload_identity,
)

_TAG = "Test Case Tag"
MEAN_ONLY = "only the mean over the iterations is known"


@dataclass(slots=True)
class Column:
    """What a report says about one dataset.

    Parameters
    ----------
    label : str
        The column's header.
    values : dict
        (threads, iteration) -> (value, line).
    means : dict
        threads -> (mean, line), where there are no iterations.
    """

    label: str
    system: dict[str, str] = field(default_factory=dict)
    database: dict[str, str] = field(default_factory=dict)
    test: dict[str, str] = field(default_factory=dict)
    config: tuple[tuple[str, str | None], ...] | None = None
    values: dict[tuple[int, int], tuple[float, int]] = field(default_factory=dict)
    means: dict[int, tuple[float, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def add_fact(self, section: str, label: str, value: str) -> None:
        """Keep a fact; the first of several with one label counts."""
        if label and value not in MISSING:
            getattr(self, section).setdefault(label, value)

    def add_value(self, threads: int, iteration: int, value: float, line: int) -> None:
        """Keep an iteration's value; the first of several counts."""
        self.values.setdefault((threads, iteration), (value, line))

    def add_mean(self, threads: int, mean: float, line: int) -> None:
        """Keep a mean whose iterations are not in the file."""
        self.means.setdefault(threads, (mean, line))

    def warn(self, message: str) -> None:
        """Note something about the dataset that is not certain."""
        self.warnings.append(message)

    def values_at(self, threads: int) -> list[float]:
        """Return the iterations' values at a thread count."""
        return [value for (at, _), (value, _) in self.values.items() if at == threads]

    @property
    def facts(self) -> Facts:
        """The column's part of the information tables."""
        return Facts(
            tuple(self.system.items()),
            tuple(self.database.items()),
            tuple(self.test.items()),
            self.config,
        )


def runs_of(columns: Iterable[Column], metric: str) -> tuple[ImportedRun, ...]:
    """Return a run for each iteration of each dataset, dataset by dataset."""
    columns = list(columns)
    return tuple(
        run
        for column, dataset in zip(columns, _dataset_names(columns), strict=True)
        for run in _column_runs(column, dataset, metric)
    )


def _column_runs(column: Column, dataset: str, metric: str) -> Iterable[ImportedRun]:
    facts = column.facts
    suite, test = column.test.get("Test Suite", ""), column.test.get("Test Name", "")
    seconds = duration_s(suite, column.test.get("Duration", ""))
    extra = scale(facts.test)
    if _TAG in column.test:
        extra["test_case_tag"] = column.test[_TAG]
    found = [(key, *value, ()) for key, value in column.values.items()]
    found += [((threads, 1), *mean, (MEAN_ONLY,)) for threads, mean in column.means.items()]
    for (threads, iteration), value, line, warnings in sorted(found):
        metrics, unknown = _metrics(metric, value)
        yield ImportedRun(
            dataset=dataset,
            label=column.label,
            workload=workload_identity(suite, test),
            threads=threads,
            iteration=iteration,
            metrics=metrics,
            duration_s=seconds,
            facts=facts,
            extra={**extra, **unknown},
            warnings=(*column.warnings, *warnings, *implausible(metrics, seconds)),
            line=line,
        )


def _metrics(name: str, value: float) -> tuple[dict[str, float], dict[str, float]]:
    ours = metric_of(name)
    if ours is None:
        return {}, {name or "value": value}
    return {ours[0]: value * ours[1]}, {}


def _dataset_names(columns: list[Column]) -> list[str]:
    """Return names that differ: the tags, else the headers, numbered where they repeat."""
    tags = [column.test.get(_TAG, "") for column in columns]
    if all(tags) and len(set(tags)) == len(tags):
        return tags
    labels = [column.label for column in columns]
    return [
        label if labels.count(label) == 1 else f"{label} #{index}"
        for index, label in enumerate(labels, 1)
    ]
