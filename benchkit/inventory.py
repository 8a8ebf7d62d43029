"""Stored studies in a few values: which there are, how much is done, and their means.

What ``benchkit ls`` and ``benchkit show`` print. Reads by way of the store; draws nothing.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchkit import workloads
from benchkit.dataset import Dataset
from benchkit.errors import StoreError
from benchkit.plan import Plan
from benchkit.record import RunRecord
from benchkit.results import Results, load
from benchkit.store import StudyFolder
from benchkit.stored import StoredRun
from benchkit.summary import summarise

MEANS = ("tps", "qps", "latency_p50", "latency_p95", "latency_p99", "errors_per_s")
"""The metrics of a `MeanRow`, in the order tables show them; others may come before them."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a study folder holds.

    Attributes
    ----------
    folder : StudyFolder
    results : Results
        The runs that are complete.
    attempts : tuple of StoredRun
        Those that failed or were interrupted.
    servers, workloads : tuple of str
        In the study's order.
    planned : int or None
        How many runs the study has; None where it does not say.
    """

    folder: StudyFolder
    results: Results
    attempts: tuple[StoredRun, ...]
    servers: tuple[str, ...]
    workloads: tuple[str, ...]
    planned: int | None

    @property
    def records(self) -> list[RunRecord]:
        """The records of the stored runs, in the order of the plan."""
        records = (record for dataset in self.results for record in dataset.records)
        return sorted(records, key=lambda record: record.factors.order)

    @property
    def progress(self) -> str:
        """How many of the planned runs are stored."""
        return str(len(self.records)) + (f" of {self.planned}" if self.planned else "")

    @property
    def failed(self) -> int:
        """How many attempts failed, not counting runs that a later attempt completed."""
        return sum(
            attempt.record.status == "failed" and not self.completed(attempt)
            for attempt in self.attempts
        )

    def completed(self, attempt: StoredRun) -> bool:
        """Return whether the run of an attempt is stored by now."""
        return any(record.id == attempt.record.id for record in self.records)

    @property
    def ended(self) -> str:
        """When the last stored run ended, in UTC; empty where there is none."""
        return max((str(record.time.get("end_utc", "")) for record in self.records), default="")


@dataclass(frozen=True, slots=True)
class MeanRow:
    """A dataset at one thread count: the number of iterations, and each metric over them.

    How a metric is taken over iterations is `summarise`'s to say.
    """

    dataset: str
    threads: int
    n: int
    values: Mapping[str, float]


def find_studies(path: str | os.PathLike[str]) -> list[Path]:
    """Return the study folders at and below a folder, sorted; hidden folders are left out.

    Raises
    ------
    StoreError
        If there is no such folder.
    """
    if not Path(path).is_dir():
        raise StoreError(f"{path} is not a folder")
    found = []
    for folder, below, files in os.walk(path):
        is_study = "study.json" in files
        below[:] = [] if is_study else [name for name in below if not name.startswith(".")]
        if is_study:
            found.append(Path(folder))
    return sorted(found)


def take_inventory(path: str | os.PathLike[str]) -> Inventory:
    """Return what the study folder at `path` holds.

    Raises
    ------
    StoreError
        If there is none, or something in it cannot be read.
    """
    folder, results = StudyFolder.open(path), load(path)
    datasets = [(d["server"], d["workload"]) for d in folder.study.get("datasets", [])]
    return Inventory(
        folder=folder,
        results=results,
        attempts=tuple(folder.failed()),
        servers=tuple(dict.fromkeys(server for server, _ in datasets)),
        workloads=tuple(dict.fromkeys(workload for _, workload in datasets)),
        planned=_count_planned(folder.study, len(datasets)),
    )


def _count_planned(study: Mapping[str, Any], datasets: int) -> int | None:
    threads, iterations = study.get("threads"), study.get("iterations")
    if not isinstance(threads, list) or not isinstance(iterations, int):
        return None
    return datasets * len(threads) * iterations


def count_stored(plan: Plan, path: str | os.PathLike[str]) -> int:
    """Return how many runs of a plan are stored in a folder, which need not exist.

    Raises
    ------
    StoreError
        If the folder cannot be read.
    """
    if not (Path(path) / "study.json").exists():
        return 0
    stored = {run.record.id for run in StudyFolder.open(path).runs()}
    return sum(run.id in stored for run in plan)


def compute_means(results: Results) -> list[MeanRow]:
    """Return a row for each dataset and thread count, with the metric that a report is about."""
    first = results.primary_metric
    names = MEANS if first in MEANS else (first, *MEANS)
    return [row for dataset in results for row in _mean_rows(dataset, names)]


def _mean_rows(dataset: Dataset, names: Sequence[str]) -> Iterator[MeanRow]:
    summaries = summarise(dataset, names)
    for row, threads in enumerate(dataset.threads.tolist()):
        n = sum(record.factors.threads == threads for record in dataset.records)
        values = {name: float(summaries[name].values[row]) for name in names}
        yield MeanRow(dataset.label, threads, n, values)


def chosen_options(identity: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a workload that are not its defaults; all, if it is a user's."""
    if identity not in workloads.identities():
        return dict(parameters)
    defaults = dict(workloads.find(identity).parameters)
    return {name: value for name, value in parameters.items() if defaults.get(name) != value}
