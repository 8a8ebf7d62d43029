"""From what an importer found to ordinary stored runs.

The file itself is kept beside them, so that an import can be done again. Several files may go
into one folder: with the same label, scale and configuration they make one dataset, and equal
thread counts become iterations in the order of the files.
"""

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchkit._core import Histogram
from benchkit.errors import StoreError
from benchkit.hlog import format_header, format_line
from benchkit.importers.model import Facts, Imported, ImportedRun
from benchkit.importers.rows import columns_of
from benchkit.importers.source import file_sha256
from benchkit.metrics import PERCENT_METRIC
from benchkit.record import (
    IMPORTED_SERIES_DTYPE,
    MEASUREMENT,
    UNKNOWN_THREADS,
    Factors,
    RunRecord,
    run_id,
)
from benchkit.store import StudyFolder
from benchkit.version import get_version

_NS_PER_S = 1e9
_SCALE = {
    "warehouses": "warehouses",
    "count_ware": "warehouses",
    "tables": "tables",
    "oltp_tables_count": "tables",
    "rows": "rows",
    "table_size": "rows",
    "oltp_table_size": "rows",
}
"""How files call what says how large the data are, and how we do."""


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

    def server(self, run: ImportedRun) -> str:
        """Return what a run's dataset is called; the label alone where it says enough."""
        if self.label is None:
            return run.dataset
        alike = {r.dataset for r in self.imported.runs if r.workload == run.workload}
        return self.label if len(alike) == 1 else f"{self.label} · {run.dataset}"


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
        When a file was imported into the folder before, or the folder is something else's, or
        runs and percentages would share a study.
    """
    _check_kinds(Path(folder), sources)
    study = StudyFolder.create(folder, _description(Path(folder), name, sources[0].imported))
    with study.lock():
        taken = _Taken(study)
        for source in sources:
            taken.check_new(source.path)
        placed = [(source, taken.place(source)) for source in sources]
        study = StudyFolder.create(folder, _with_datasets(study.study, placed))
        for source, places in placed:
            kept = study.save_source(source.path)
            for run, factors in zip(source.imported.runs, places, strict=True):
                record = _record(study, source, run, kept, factors)
                study.save_run(record, _Series(run.series), _log(run), {})


def _check_kinds(folder: Path, sources: Sequence[Source]) -> None:
    """Raise StoreError where percentages would stand beside what they are no part of."""
    kinds = {source.imported.primary == PERCENT_METRIC: source.path for source in sources}
    if (folder / "study.json").exists():
        for stored in StudyFolder.open(folder).runs():
            kinds.setdefault(PERCENT_METRIC in stored.record.metrics, folder)
    if len(kinds) > 1:
        raise StoreError(
            f"{kinds[True]} has percentages of a baseline, {kinds[False]} has measurements: one "
            "study cannot hold both, so import them into folders of their own"
        )


class _Taken:
    """Which runs a folder has, so that further files go on from there."""

    def __init__(self, study: StudyFolder) -> None:
        self._study = study
        self._order = 0
        self._iterations: dict[tuple[str, str, int], set[int]] = {}
        self._setups: dict[tuple[str, str], list[str]] = {}
        self._hashes: set[str] = set()
        for stored in study.runs():
            record, factors = stored.record, stored.record.factors
            self._hashes.add((record.source or {}).get("sha256", ""))
            self._order = max(self._order, factors.order)
            key = (factors.server, factors.workload, factors.threads)
            self._iterations.setdefault(key, set()).add(factors.iteration)
            name = str(record.identity.get("dataset", factors.server))
            self._number(name, factors.workload, str(record.identity.get("setup", "")))

    def check_new(self, path: Path) -> None:
        """Raise StoreError when the file was imported into the folder before."""
        sha256 = file_sha256(path)
        if sha256 in self._hashes:
            raise StoreError(f"{path} was imported into {self._study.path} before")
        self._hashes.add(sha256)

    def place(self, source: Source) -> list[Factors]:
        """Return the places of a file's runs: equal setups share a dataset, others are numbered.

        Iterations keep their numbers in the file, counted on from those of earlier files.
        """
        before = {key: max(taken) for key, taken in self._iterations.items()}
        places = []
        for run in source.imported.runs:
            self._order += 1
            name = source.server(run)
            number = self._number(name, run.workload, _setup(run))
            server = name if number == 1 else f"{name} #{number}"
            threads = UNKNOWN_THREADS if run.threads is None else run.threads
            key = (server, run.workload, threads)
            taken = self._iterations.setdefault(key, set())
            iteration = before.get(key, 0) + run.iteration
            if iteration in taken:
                iteration = max(taken) + 1
            taken.add(iteration)
            places.append(Factors(*key, iteration, self._order, iteration))
        return places

    def _number(self, name: str, workload: str, setup: str) -> int:
        """Return which of the different setups of one name this is, from 1."""
        setups = self._setups.setdefault((name, workload), [])
        if setup not in setups:
            setups.append(setup)
        return setups.index(setup) + 1


def _setup(run: ImportedRun) -> str:
    """Return what must be the same throughout a dataset: scale and configuration."""
    setup = repr((sorted(scale_of(run.extra).items()), run.facts.config))
    return hashlib.sha256(setup.encode(errors="replace")).hexdigest()[:12]


def scale_of(extra: Mapping[str, object]) -> dict[str, object]:
    """Return how large the data of an imported run are, as far as its file says so."""
    found: dict[str, object] = {}
    for part in (extra, extra.get("options"), extra.get("settings")):
        for name, value in part.items() if isinstance(part, Mapping) else ():
            key = str(name).replace("-", "_")
            ours = _SCALE.get(key) or _SCALE.get(key.partition("_")[2])
            if ours and isinstance(value, int | float | str):
                found.setdefault(ours, _whole(value))
    return found


def _whole(value: float | str) -> object:
    text = str(value).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else text


def _description(folder: Path, name: str, first: Imported) -> dict[str, Any]:
    """Return what ``study.json`` says: what it said before, or what the first file says."""
    if (folder / "study.json").exists():
        return {**StudyFolder.open(folder).study, "name": name}
    return {
        "name": name,
        "datasets": [],
        "title": first.title,
        "comment": first.comment,
        "primary": first.primary,
        "tool": {"name": "benchkit", "version": get_version()},
    }


def _with_datasets(
    study: Mapping[str, Any], placed: Sequence[tuple[Source, Sequence[Factors]]]
) -> dict[str, Any]:
    datasets = list(study.get("datasets", []))
    for factors in (each for _, places in placed for each in places):
        dataset = {"server": factors.server, "workload": factors.workload}
        if dataset not in datasets:
            datasets.append(dataset)
    return {**study, "datasets": datasets}


def _record(
    study: StudyFolder,
    source: Source,
    run: ImportedRun,
    kept: Mapping[str, Any],
    factors: Factors,
) -> RunRecord:
    identity = {
        "server": factors.server,
        "workload": factors.workload,
        "threads": factors.threads,
        "iteration": factors.iteration,
        "dataset": source.server(run),
        "setup": _setup(run),
        "source": kept["sha256"],
        "line": run.line,
    }
    return RunRecord(
        id=run_id(identity),
        study=study.name,
        status="complete",
        factors=factors,
        identity=identity,
        time={},
        measured_s=math.nan if run.duration_s is None else run.duration_s,
        warmup_s=math.nan,
        metrics=run.metrics,
        warnings=run.warnings,
        workload={"identity": run.workload, "parameters": scale_of(run.extra)},
        config_ref=_save_config(study, run.facts),
        facts={
            "label": source.server(run) if source.label else run.label,
            **asdict(run.facts),
            "extra": dict(run.extra),
        },
        source={"format": source.imported.format, "line": run.line, **kept},
        tool={"name": "benchkit", "version": get_version()},
    )


def _save_config(study: StudyFolder, facts: Facts) -> str | None:
    if facts.config is None:
        return None
    lines = [name if value is None else f"{name}={value}" for name, value in facts.config]
    text = "\n".join(["[mysqld]", *lines, ""])
    return study.save_config(text.encode(errors="replace").decode())


class _Series:
    """The rows of a run as `StudyFolder.save_run` takes them: a block when it is asked for."""

    def __init__(self, rows: Sequence[Mapping[str, float]]) -> None:
        self.dtype = IMPORTED_SERIES_DTYPE
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, part: slice) -> NDArray[np.void]:
        start, stop, _ = part.indices(len(self))
        block = np.full(stop - start, np.nan, self.dtype)
        block["phase"] = MEASUREMENT
        for name, column in columns_of(self._rows, start, stop).items():
            if name in (self.dtype.names or ()):
                block[name] = column
        return block


def _log(run: ImportedRun) -> str:
    """Return the text of ``latency.hlog``: one interval, the whole run."""
    header = format_header(0.0)
    if not run.histogram:
        return header
    histogram = Histogram()
    for seconds, count in run.histogram:
        if 0 <= seconds * _NS_PER_S <= histogram.highest and count > 0:
            histogram.record(round(seconds * _NS_PER_S), count)
    length_s = run.duration_s or 0.0
    return header + format_line("transaction.imported", 0.0, length_s, histogram)
