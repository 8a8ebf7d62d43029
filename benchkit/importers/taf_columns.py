"""One column of a comparison report, and the runs that it stands for."""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from benchkit.importers.model import Facts, ImportedRun
from benchkit.importers.taf_names import (
    MISSING,
    duration_s,
    implausible,
    metric_of,
    own_name,
    scale,
    workload_identity,
)

_TAG = "Test Case Tag"
MEAN_ONLY = "only the mean over the iterations is known"
MEAN_ROUNDING = 0.0101  # of a mean and of the iterations it is of
COPIES = "more of the same in the file: the copies were left out"


@dataclass(slots=True)
class Column:
    """What a report says about one dataset.

    Parameters
    ----------
    label : str
        The column's header.
    values : dict
        threads -> iteration -> (value, line).
    means : dict
        threads -> (mean, line), where there are no iterations.
    """

    label: str
    system: dict[str, str] = field(default_factory=dict)
    database: dict[str, str] = field(default_factory=dict)
    test: dict[str, str] = field(default_factory=dict)
    config: tuple[tuple[str, str | None], ...] | None = None
    values: dict[int, dict[int, tuple[float, int]]] = field(default_factory=dict)
    means: dict[int, tuple[float, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def add_fact(self, section: str, label: str, value: str) -> None:
        """Keep a fact; the first of several with one label counts."""
        if label and value not in MISSING:
            getattr(self, section).setdefault(label, value)

    def add_value(self, threads: int, iteration: int, value: float, line: int) -> None:
        """Keep an iteration's value; the first of several counts."""
        self.values.setdefault(threads, {}).setdefault(iteration, (value, line))

    def add_mean(self, threads: int, mean: float, line: int) -> None:
        """Keep a mean whose iterations are not in the file."""
        self.means.setdefault(threads, (mean, line))

    def warn(self, message: str) -> None:
        """Note something about the dataset that is not certain."""
        self.warnings.append(message)

    def values_at(self, threads: int) -> list[float]:
        """Return the iterations' values at a thread count."""
        return [value for value, _ in self.values.get(threads, {}).values()]

    def drop_foreign(
        self, threads: int, mean: float | None, low: float | None, high: float | None
    ) -> list[int]:
        """Drop iterations that the three agree upon to be of another table; return which."""
        values = self.values_at(threads)
        if not values or mean is None or low is None or high is None or not low <= mean <= high:
            return []
        if abs(math.fsum(values) / len(values) - mean) <= MEAN_ROUNDING:
            return []
        found = self.values[threads]
        outside = [at for at, (value, _) in found.items() if not low <= value <= high]
        for iteration in outside:
            del found[iteration]
        return outside

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
    """Return a run for each iteration of each dataset, dataset by dataset.

    A mean without iterations is a run without the metric, and stays in what else was read.
    """
    columns = list(columns)
    return tuple(
        run
        for column, dataset in zip(columns, _dataset_names(columns), strict=True)
        for run in _column_runs(column, dataset, metric)
    )


def without_copies(
    reports: Iterable[tuple[ImportedRun, ...]],
) -> tuple[list[tuple[ImportedRun, ...]], int]:
    """Return the reports whose values are not all in an earlier one, and how many are left out.

    The same datasets with the same values of the same iterations are a copy, whole or not.
    """
    kept: list[tuple[ImportedRun, ...]] = []
    seen: dict[Hashable, list[set[Hashable]]] = {}
    copies = 0
    for runs in reports:
        values = set(map(_identity, runs))
        if values and any(values <= earlier for earlier in seen.get(next(iter(values)), ())):
            copies += 1
            continue
        kept.append(runs)
        for value in values:
            seen.setdefault(value, []).append(values)
    return kept, copies


def _identity(run: ImportedRun) -> Hashable:
    values = sorted(run.metrics.items()), sorted(map(str, run.extra.items()))
    return run.dataset, run.workload, run.threads, run.iteration, str(values)


def flagged(runs: Sequence[ImportedRun], warning: str) -> Iterator[ImportedRun]:
    """Yield the runs, the first of them with a further warning, if there is one."""
    for number, run in enumerate(runs):
        yield run if number or not warning else replace(run, warnings=(*run.warnings, warning))


def _column_runs(column: Column, dataset: str, metric: str) -> Iterable[ImportedRun]:
    facts = column.facts
    suite, test = column.test.get("Test Suite", ""), column.test.get("Test Name", "")
    seconds = duration_s(suite, column.test.get("Duration", ""))
    extra = scale(facts.test)
    if _TAG in column.test:
        extra["test_case_tag"] = column.test[_TAG]
    for threads, iteration, value, line in sorted(_values(column)):
        metrics, other = _metrics(metric, value)
        warnings = [*column.warnings, *implausible({metric: value}).values()]
        if threads in column.means:
            metrics, other = {}, {"mean": value}
            warnings.append(MEAN_ONLY)
        yield ImportedRun(
            dataset=dataset,
            label=column.label,
            workload=workload_identity(suite, test),
            threads=threads,
            iteration=iteration,
            metrics=metrics,
            duration_s=seconds,
            facts=facts,
            extra={**extra, **other},
            warnings=tuple(warnings),
            line=line,
        )


def _values(column: Column) -> Iterable[tuple[int, int, float, int]]:
    """Yield (threads, iteration, value, line)."""
    for threads, found in column.values.items():
        for iteration, (value, line) in found.items():
            yield threads, iteration, value, line
    for threads, (mean, line) in column.means.items():
        yield threads, 1, mean, line


def _metrics(name: str, value: float) -> tuple[dict[str, float], dict[str, float]]:
    """Return a value as a metric; by the file's own name where it is none of ours."""
    ours = metric_of(name) or (own_name(name), 1.0)
    if not ours[0] or implausible({name: value}):
        return {}, {name or "value": value}
    return {ours[0]: value / ours[1]}, {}


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
