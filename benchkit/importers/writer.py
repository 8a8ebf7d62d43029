"""From what an importer found to ordinary stored runs.

The file itself is kept beside them, so that an import can be done again. Several files may go
into one folder: with the same label they make one dataset, and equal thread counts become
iterations in the order of the files.
"""

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchkit._core import Histogram
from benchkit.errors import StoreError
from benchkit.hlog import format_header, format_line
from benchkit.importers.model import Facts, Imported, ImportedRun
from benchkit.record import (
    IMPORTED_SERIES_DTYPE,
    MEASUREMENT,
    Factors,
    RunRecord,
    run_id,
)
from benchkit.store import StudyFolder
from benchkit.version import get_version

UNKNOWN_THREADS = 0
"""Stored where a file does not say how many threads there were; no run has none."""

_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class Source:
    """A file and what was found in it.

    Parameters
    ----------
    path : Path
    imported : Imported
    label : str or None
        What to call its dataset; by default what the file says.
    """

    path: Path
    imported: Imported
    label: str | None = None


def store_imports(folder: str | os.PathLike[str], name: str, sources: Sequence[Source]) -> None:
    """Store the runs of files as a study.

    Parameters
    ----------
    folder : path-like
        A new folder, or one with earlier imports of the same name.
    name : str
        The study's name.
    sources : sequence of Source

    Raises
    ------
    StoreError
        When a file was imported into the folder before, or the folder is something else's.
    """
    study = _open(Path(folder), name, sources)
    with study.lock():
        taken = _Taken(study)
        for source in sources:
            kept = study.save_source(source.path)
            taken.check_new(kept["sha256"], source.path)
            for run in source.imported.runs:
                factors = taken.next(source, run)
                config_ref = _save_config(study, run.facts)
                record = _record(name, source, run, kept, factors)
                record = replace(record, config_ref=config_ref)
                study.save_run(record, _series(run), _log(run), {})


class _Taken:
    """Which iterations a folder has, so that further files go on from there."""

    def __init__(self, study: StudyFolder) -> None:
        self._order = 0
        self._iterations: Counter[tuple[str, str, int]] = Counter()
        self._study = study
        self._sources: set[str] = set()
        for stored in study.runs():
            self._sources.add((stored.record.source or {}).get("sha256", ""))
            factors = stored.record.factors
            self._order = max(self._order, factors.order)
            self._iterations[factors.server, factors.workload, factors.threads] += 1

    def check_new(self, sha256: str, path: Path) -> None:
        """Raise StoreError when the file was imported into the folder before."""
        if sha256 in self._sources:
            raise StoreError(f"{path} was imported into {self._study.path} before")
        self._sources.add(sha256)

    def next(self, source: Source, run: ImportedRun) -> Factors:
        """Return the place of a run among those of its dataset."""
        self._order += 1
        server = source.label or run.dataset
        threads = UNKNOWN_THREADS if run.threads is None else run.threads
        key = (server, run.workload, threads)
        self._iterations[key] += 1
        iteration = self._iterations[key]
        return Factors(server, run.workload, threads, iteration, self._order, iteration)


def _open(folder: Path, name: str, sources: Sequence[Source]) -> StudyFolder:
    datasets: list[dict[str, str]] = []
    if (folder / "study.json").exists():
        datasets += StudyFolder.open(folder).study.get("datasets", [])
    for source in sources:
        for run in source.imported.runs:
            dataset = {"server": source.label or run.dataset, "workload": run.workload}
            if dataset not in datasets:
                datasets.append(dataset)
    first = sources[0].imported
    description = {
        "name": name,
        "datasets": datasets,
        "title": first.title,
        "comment": first.comment,
        "primary": first.primary,
        "tool": {"name": "benchkit", "version": get_version()},
    }
    return StudyFolder.create(folder, description)


def _record(
    study: str, source: Source, run: ImportedRun, kept: Mapping[str, Any], factors: Factors
) -> RunRecord:
    identity = {
        "server": factors.server,
        "workload": factors.workload,
        "threads": factors.threads,
        "iteration": factors.iteration,
        "source": kept["sha256"],
        "line": run.line,
        "duration_s": run.duration_s,
    }
    return RunRecord(
        id=run_id(identity),
        study=study,
        status="complete",
        factors=factors,
        identity=identity,
        time={},
        measured_s=math.nan if run.duration_s is None else run.duration_s,
        warmup_s=math.nan,
        metrics=run.metrics,
        warnings=run.warnings,
        workload={"identity": run.workload},
        facts=_facts(run),
        source={"format": source.imported.format, "line": run.line, **kept},
        tool={"name": "benchkit", "version": get_version()},
    )


def _facts(run: ImportedRun) -> dict[str, Any]:
    return {"label": run.label, **asdict(run.facts), "extra": dict(run.extra)}


def _save_config(study: StudyFolder, facts: Facts) -> str | None:
    if facts.config is None:
        return None
    lines = [name if value is None else f"{name}={value}" for name, value in facts.config]
    return study.save_config("\n".join(["[mariadbd]", *lines, ""]))


def _series(run: ImportedRun) -> NDArray[np.void]:
    rows = np.full(len(run.series), np.nan, IMPORTED_SERIES_DTYPE)
    rows["phase"] = MEASUREMENT
    for row, values in zip(rows, run.series, strict=True):
        for field, value in values.items():
            if field in (IMPORTED_SERIES_DTYPE.names or ()):
                row[field] = value
    return rows


def _log(run: ImportedRun) -> str:
    """Return the text of ``latency.hlog``: one interval, the whole run."""
    header = format_header(0.0)
    if not run.histogram:
        return header
    histogram = Histogram()
    for seconds, count in run.histogram:
        histogram.record(round(seconds * _NS_PER_S), count)
    length_s = run.duration_s or 0.0
    return header + format_line("transaction.imported", 0.0, length_s, histogram)
