"""Study folders as datasets: which runs belong together, and what each is called.

`load` reads every ``run.json`` of one or more study folders and returns `Results`, an ordered
collection of datasets. Tables for pandas and xarray are made here; comparing is
``compare.py``'s and drawing ``plot.py``'s.
"""

import html
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from benchkit.dataset import Dataset
from benchkit.errors import MetricError, StoreError, unknown_name
from benchkit.metrics import find_metric, in_order
from benchkit.record import UNKNOWN_THREADS, Json, RunRecord, threads_text
from benchkit.store import StudyFolder
from benchkit.stored import StoredRun

if TYPE_CHECKING:
    import pandas
    import xarray

    from benchkit.compare import Comparison

Group = tuple[str, str, str]
"""Study, server and workload: what all runs of a dataset share."""

_SHARED_IDENTITY = (
    "config",
    "install",
    "workload_fingerprint",
    "duration_s",
    "transactions",
    "warmup_s",
)
"""Fields of a run's identity that must be the same throughout a dataset."""

_LABELS: tuple[Callable[[Group], str], ...] = (
    lambda group: group[1],
    lambda group: f"{group[1]} · {_short(group[2])}",
    lambda group: f"{group[1]} · {group[0]}",
    lambda group: f"{group[1]} · {_short(group[2])} · {group[0]}",
)
"""Ways to name datasets, shortest first; the last but one may still be ambiguous."""


def load(path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> "Results":
    """Return the stored results of one or more studies.

    Parameters
    ----------
    path : path-like, or a sequence of them
        Study folders. No server is needed, and nothing is written.

    Raises
    ------
    StoreError
        If a folder is missing, is none of a study, holds something this release cannot read,
        or holds runs that do not belong together; or if two of the studies have one name.
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    folders = [StudyFolder.open(each) for each in paths]
    _check_study_names(folders)
    groups: dict[Group, list[StoredRun]] = {}
    for folder in folders:
        groups.update(_group_runs(folder))
    for group, runs in groups.items():
        _check_dataset(group, runs)
    labels = _labels(list(groups))
    datasets = [Dataset(labels[group], runs) for group, runs in groups.items()]
    return Results(datasets, [folder.study for folder in folders])


def _check_study_names(folders: list[StudyFolder]) -> None:
    seen: dict[str, StudyFolder] = {}
    for folder in folders:
        if folder.name in seen:
            raise StoreError(
                f"{seen[folder.name].path} and {folder.path} both hold a study named "
                f"{folder.name!r}; load studies of different names, or one of the two"
            )
        seen[folder.name] = folder


def _group_runs(folder: StudyFolder) -> dict[Group, list[StoredRun]]:
    """Return the folder's runs by dataset, in the order in which the study lists them.

    A workload is called what ``study.json`` calls it now: the name that tells it apart may have
    grown with the study since a run was stored.
    """
    try:
        datasets = folder.study.get("datasets", [])
        listed = [(d["server"], d["workload"]) for d in datasets]
        names = {d["fingerprint"]: d["workload"] for d in datasets if "fingerprint" in d}
    except (TypeError, KeyError) as error:
        raise StoreError(
            f"{folder.path / 'study.json'} has wrong datasets: each needs a server and a workload"
        ) from error
    groups: dict[Group, list[StoredRun]] = {(folder.name, *dataset): [] for dataset in listed}
    for stored in folder.runs():
        run = _rename_workload(stored, names)
        factors = run.record.factors
        groups.setdefault((folder.name, factors.server, factors.workload), []).append(run)
    return {group: runs for group, runs in groups.items() if runs}


def _rename_workload(run: StoredRun, names: Mapping[object, str]) -> StoredRun:
    factors = run.record.factors
    name = names.get(run.record.identity.get("workload_fingerprint"), factors.workload)
    if name == factors.workload:
        return run
    renamed = replace(factors, workload=name)
    return replace(run, record=replace(run.record, factors=renamed))


def _check_dataset(group: Group, runs: list[StoredRun]) -> None:
    """Raise StoreError if runs of different plans would be taken for one dataset."""
    cells: dict[tuple[int, int], StoredRun] = {}
    for run in runs:
        _check_same_identity(group, runs[0], run)
        factors = run.record.factors
        other = cells.setdefault((factors.threads, factors.iteration), run)
        if other is not run:
            raise StoreError(
                f"{other.path} and {run.path} are both iteration {factors.iteration} of "
                f"{_described(group)} with {factors.threads} threads, from different plans; "
                "move one of them out of the folder"
            )


def _check_same_identity(group: Group, first: StoredRun, run: StoredRun) -> None:
    for name in _SHARED_IDENTITY:
        values = [each.record.identity.get(name) for each in (first, run)]
        if values[0] != values[1]:
            raise StoreError(
                f"{_described(group)} holds runs of different plans: {name} is {values[0]!r} in "
                f"{first.path} and {values[1]!r} in {run.path}; keep them in separate studies"
            )


def _described(group: Group) -> str:
    return f"server {group[1]!r} under {group[2]!r} in study {group[0]!r}"


def _short(workload: str) -> str:
    """Return a workload's identity without its personality."""
    return workload.rpartition(":")[2]


def _labels(groups: list[Group]) -> dict[Group, str]:
    """Return the shortest kind of label that tells all datasets apart."""
    for label in _LABELS:
        names = {group: label(group) for group in groups}
        if len(set(names.values())) == len(groups):
            return names
    return {group: " · ".join((group[1], group[2], group[0])) for group in groups}


class Results:
    """An ordered collection of datasets; made by `load`.

    Iterating yields the datasets, ``results[label]`` one of them.
    """

    def __init__(self, datasets: Sequence[Dataset], studies: Sequence[Json] = ()) -> None:
        self._datasets = {dataset.label: dataset for dataset in datasets}
        self._studies = studies

    @property
    def labels(self) -> tuple[str, ...]:
        """The datasets' labels, in the order of the study."""
        return tuple(self._datasets)

    def __len__(self) -> int:
        return len(self._datasets)

    def __iter__(self) -> Iterator[Dataset]:
        return iter(self._datasets.values())

    def __contains__(self, label: object) -> bool:
        return label in self._datasets

    def __getitem__(self, label: str) -> Dataset:
        if label not in self._datasets:
            raise MetricError(unknown_name("dataset", label, self._datasets))
        return self._datasets[label]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._datasets)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that some run has a value of."""
        return in_order({name for dataset in self for name in dataset.metrics})

    def to_pandas(self) -> "pandas.DataFrame":
        """Return one row per run: its factors, when it ran, and its metrics.

        Returns
        -------
        DataFrame
            With the columns dataset, study, server, workload, threads, iteration, block, order,
            start_utc, measured_s, run, source (the file an imported run is from), warnings (one
            text; empty where nothing is doubtful), and one for each of `metrics`; NaN where
            absent. A thread count that an imported file does not tell is ``pd.NA``.
        """
        import pandas as pd

        rows = [(dataset.label, record) for dataset in self for record in dataset.records]
        columns: dict[str, Any] = {
            name: [value(*row) for row in rows] for name, value in _COLUMNS.items()
        }
        if UNKNOWN_THREADS in columns["threads"]:
            known = [None if at == UNKNOWN_THREADS else at for at in columns["threads"]]
            columns["threads"] = pd.array(known, dtype="Int64")
        for name in self.metrics:
            columns[name] = [record.metrics.get(name, np.nan) for _, record in rows]
        return pd.DataFrame(columns)

    def to_xarray(self) -> "xarray.Dataset":
        """Return every metric over dataset, threads and iteration; NaN where absent.

        Each variable's attributes are units, long_name and, where it is known, higher_is_better.
        """
        try:
            import xarray
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "to_xarray() needs xarray: pip install 'mariadb-benchkit[xarray]'"
            ) from error

        dimensions = ("dataset", "threads", "iteration")
        threads = np.unique(np.concatenate([[], *(d.threads for d in self)])).astype(np.int64)
        iterations = np.unique(np.concatenate([[], *(d.iterations for d in self)])).astype(np.int64)
        variables = {}
        for name in self.metrics:
            cube = np.full((len(self), len(threads), len(iterations)), np.nan)
            for plane, dataset in zip(cube, self, strict=True):
                rows = np.searchsorted(threads, dataset.threads)
                columns = np.searchsorted(iterations, dataset.iterations)
                if name in dataset.metrics:
                    plane[np.ix_(rows, columns)] = dataset.array(name)
            metric = find_metric(name, self.metrics)
            attributes: dict[str, Any] = {"units": metric.unit, "long_name": metric.label}
            if metric.higher_is_better is not None:
                attributes["higher_is_better"] = int(metric.higher_is_better)
            variables[name] = (dimensions, cube, attributes)
        coordinates = {
            "dataset": list(self.labels),
            "threads": threads,
            "iteration": iterations,
        }
        return xarray.Dataset(variables, coordinates)

    @property
    def primary_metric(self) -> str:
        """The metric that an imported report is about, where it says so.

        Otherwise nopm, if all datasets have it, as those of TPROC-C do; else tps.
        """
        found = self.metrics
        stated = [str(study.get("primary")) for study in self._studies]
        usual = [*(["nopm"] if all("nopm" in each.metrics for each in self) else []), "tps"]
        return next((name for name in (*stated, *usual, *found) if name in found), "tps")

    def compare(
        self,
        metric: str | Sequence[str] | None = None,
        *,
        baseline: str | None = None,
        allow_different: bool = False,
    ) -> "Comparison":
        """Return the datasets side by side.

        Parameters
        ----------
        metric : str, or a sequence of them
            By default `primary_metric`.
        baseline : str, optional
            The label of the dataset that ratios refer to; by default the first.
        allow_different : bool
            Compare datasets that differ in workload, scale or metric all the same, and note it.

        Raises
        ------
        MetricError
            If there is no such metric or dataset.
        ComparisonError
            If the datasets differ in workload, scale or metric.
        """
        from benchkit.compare import compare_datasets, with_more

        metrics = [metric or self.primary_metric] if isinstance(metric, str | None) else metric
        found = [
            compare_datasets(self, name, baseline, allow_different=allow_different)
            for name in dict.fromkeys(metrics or [self.primary_metric])
        ]
        return with_more(replace(found[0], heading=self._heading()), found[1:])

    def report(
        self,
        path: str | os.PathLike[str],
        style: str = "modern",
        *,
        metric: str | Sequence[str] | None = None,
        baseline: str | None = None,
        allow_different: bool = False,
    ) -> Path:
        """Write a comparison of the datasets to a file, and return its path.

        Parameters
        ----------
        path : path-like
            Its ending says the format: ``.html``, ``.md``, ``.txt``, ``.csv`` or ``.json``.
        style : {"modern", "taf", "percent"}
        metric, baseline, allow_different
            As for `compare`.

        Raises
        ------
        MetricError
            If there is no such metric, dataset, style or format.
        ComparisonError
            If the datasets differ in workload, scale or metric.
        StoreError
            If the file cannot be written.
        """
        comparison = self.compare(metric, baseline=baseline, allow_different=allow_different)
        return comparison.table(style).save(path)

    def _heading(self) -> tuple[str, str]:
        """Return title and comment of the first study that has any."""
        headings = ((str(s.get("title") or ""), str(s.get("comment") or "")) for s in self._studies)
        return next((heading for heading in headings if any(heading)), ("", ""))

    def __repr__(self) -> str:
        if not self._datasets:
            return "<Results: no runs yet>"
        lines = [f"<Results: {len(self)} datasets>", *(f"  {dataset!r}" for dataset in self)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if not self._datasets:
            return "<p>No runs yet.</p>"
        head = "".join(f"<th>{name}</th>" for name in _SUMMARY)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(v(d))}</td>" for v in _SUMMARY.values()) + "</tr>"
            for d in self
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


_COLUMNS: dict[str, Callable[[str, RunRecord], Any]] = {
    "dataset": lambda label, record: label,
    "study": lambda label, record: record.study,
    "server": lambda label, record: record.factors.server,
    "workload": lambda label, record: record.factors.workload,
    "threads": lambda label, record: record.factors.threads,
    "iteration": lambda label, record: record.factors.iteration,
    "block": lambda label, record: record.factors.block,
    "order": lambda label, record: record.factors.order,
    "start_utc": lambda label, record: record.time.get("start_utc"),
    "measured_s": lambda label, record: record.measured_s,
    "run": lambda label, record: record.id,
    "source": lambda label, record: PurePath(record.source["file"]).name if record.source else None,
    "warnings": lambda label, record: "; ".join(record.warnings),
}
"""The columns of `Results.to_pandas` that are not metrics."""

_SUMMARY: dict[str, Callable[[Dataset], str]] = {
    "dataset": lambda dataset: dataset.label,
    "server": lambda dataset: dataset.server,
    "workload": lambda dataset: dataset.workload,
    "threads": lambda dataset: ", ".join(map(threads_text, dataset.threads)),
    "runs": lambda dataset: str(len(dataset.records)),
    "warnings": lambda dataset: str(sum(len(record.warnings) for record in dataset.records)),
}
"""The columns of the table that stands for `Results` in a notebook."""
