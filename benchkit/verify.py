"""Whether a stored study is as it was written, and its servers were loaded with the same data.

Reads every file of every run; changes nothing.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchkit.checks import Setup, Setups
from benchkit.record import RunRecord
from benchkit.store import StudyFolder
from benchkit.stored import StoredRun


@dataclass(frozen=True, slots=True)
class Verification:
    """What was looked at, and what is wrong.

    Parameters
    ----------
    runs, files : int
    problems : tuple of str
        Each with the file, or the run, that it is about.
    """

    runs: int
    files: int
    problems: tuple[str, ...]


def verify_study(path: str | os.PathLike[str]) -> Verification:
    """Compare a study's files with the hashes in its records, and the data of its servers.

    Raises
    ------
    StoreError
        When there is no study, or a record cannot be read.
    """
    folder = StudyFolder.open(path)
    runs = folder.runs()
    hashes = {file: sha for run in runs for file, sha in _hashes(folder.path, run)}
    problems = [text for file, sha in hashes.items() if (text := _check_file(file, sha))]
    return Verification(len(runs), len(hashes), (*problems, *_compare_loads(runs)))


def _hashes(study: Path, run: StoredRun) -> Iterator[tuple[Path, str]]:
    """Yield the files of a run, and how the hash of each begins."""
    record = run.record
    for name, facts in record.files.items():
        yield run.path / name, str(facts["sha256"])
    for reference in _references(record):
        yield study / reference, Path(reference).stem
    source = record.source or {}
    if source.get("file") and source.get("sha256"):
        yield study / str(source["file"]), str(source["sha256"])


def _references(record: RunRecord) -> Iterator[str]:
    """Yield the files that are called by their content, by their place in the study's folder."""
    started = record.server.get("config") or {}
    properties = record.properties or {}
    for reference in (record.config_ref, record.env_ref, started.get("run_file_ref")):
        if reference:
            yield str(reference)
    if properties.get("ref"):
        yield str(properties["ref"])


def _check_file(path: Path, sha256: str) -> str | None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    return None if found.startswith(sha256) else f"{path} is not what was written"


def _compare_loads(runs: list[StoredRun]) -> Iterator[str]:
    setups = Setups()
    for run in runs:
        record = run.record
        if record.load is not None:
            fingerprint = str(record.identity.get("workload_fingerprint"))
            setup = Setup(record.factors.server, str(record.server.get("product")), record.load)
            yield from (f"run {record.id}: {text}" for text in setups.compare(fingerprint, setup))
