"""Study folders on disk; the only module that reads or writes them.

    study.json                plan and name, schema benchkit.study/1; ``datasets`` lists server
                              and workload of each, in the order results show them
    study.lock                locked while a process runs the study
    configs/<sha12>.cnf       rendered server configs, and the files servers read, by content
            <sha12>.properties  what describes a dataset, so that it can be run again
    env/<sha12>.json          facts about hosts, by content
    runs/<run id>/            run.json, series.npy, latency.hlog, status.json, monitor.npy
    failed/<run id>.<n>/      attempts that did not finish, with server.log; never loaded

A run is built in ``runs/.tmp-*``, every file synced, ``run.json`` last, and appears under its
final name by one rename: a reader sees all of it or nothing, whatever kills the writer. What is
stored never changes. Every failure, of the disk or of what is found on it, is a StoreError that
names the file.
"""

import errno
import fcntl
import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from benchkit.errors import StoreError
from benchkit.record import SERIES_DTYPE, Json, RunRecord, check_schema, to_plain
from benchkit.stored import StoredRun, read_object, read_run

STUDY_SCHEMA = "benchkit.study/1"

_UNFINISHED = ".tmp-"
_FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_PIECE_ROWS = 4096


class SeriesRows(Protocol):
    """Interval rows as an array has them, or something that makes the array of each slice."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the rows."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> NDArray[np.void]: ...


@dataclass(frozen=True, slots=True)
class StudyFolder:
    """A folder that holds one study; `open` or `create` it.

    Parameters
    ----------
    path : Path
    study : dict
        What ``study.json`` holds: schema, name, and the plan.
    """

    path: Path
    study: dict[str, Any]

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Return the study folder at `path`.

        Raises
        ------
        StoreError
            If there is no such folder, it is none of a study, or a newer release wrote it.
        """
        folder = Path(path)
        if not folder.is_dir():
            what = "is a file, not a study folder" if folder.exists() else "does not exist"
            raise StoreError(f"{folder} {what}")
        file = folder / "study.json"
        if not file.is_file():
            raise StoreError(f"{folder} is not a study folder{_nearby_studies(folder)}")
        study = read_object(file)
        try:
            check_schema(study.get("schema"), STUDY_SCHEMA)
        except StoreError as error:
            raise StoreError(f"{file} {error}") from error
        if not isinstance(study.get("name"), str):
            raise StoreError(f"{file} has no name; it should have one, as text")
        return cls(folder, study)

    @classmethod
    def create(cls, path: str | os.PathLike[str], study: Mapping[str, Any]) -> Self:
        """Return the study folder at `path`, made or brought up to date with `study`.

        A folder that already holds a study of this name keeps its runs and takes the new plan.

        Parameters
        ----------
        path : path-like
            A folder of this study, an empty one, or one that does not exist yet.
        study : mapping
            With a ``name``; the schema is added.

        Raises
        ------
        StoreError
            If the folder holds another study or other files, or cannot be written.
        """
        folder = Path(path)
        wanted: dict[str, Any] = {**_as_json_object(study), "schema": STUDY_SCHEMA}
        if (folder / "study.json").exists():
            found = cls.open(folder)
            found.check_name(wanted["name"])
            if found.study == wanted:
                return found
        elif folder.exists():
            _check_empty(folder)
        with _writing(folder):
            for name in ("runs", "failed", "configs", "env"):
                (folder / name).mkdir(parents=True, exist_ok=True)
        _write_file(folder / "study.json", _json_bytes(wanted))
        return cls(folder, wanted)

    @property
    def name(self) -> str:
        """The study's name."""
        return str(self.study["name"])

    def check_name(self, name: str) -> None:
        """Raise StoreError if the folder is another study's."""
        if self.name != name:
            raise StoreError(
                f"{self.path} belongs to study {self.name!r}, not {name!r}: use another folder"
            )

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for writing, and remove what a killed writer left unfinished.

        Raises
        ------
        StoreError
            If another process holds it.
        """
        handle = _take_lock(self.path / "study.lock")
        try:
            self._remove_unfinished()
            yield
        finally:
            handle.close()

    def _remove_unfinished(self) -> None:
        for folder in (self.path, *(self.path / name for name in ("runs", "failed"))):
            for path in folder.glob(f"{_UNFINISHED}*"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def discard(self) -> None:
        """Remove all that `create` and `lock` made, for a study of which no run was begun."""
        for name in ("runs", "failed", "configs", "env"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        for name in ("study.json", "study.lock"):
            (self.path / name).unlink(missing_ok=True)

    def completed(self) -> set[str]:
        """Return the ids of the runs that are stored whole."""
        return {run.record.id for run in self.runs()}

    def runs(self) -> list[StoredRun]:
        """Return the finished runs in the order of the plan; unfinished folders are ignored.

        Only each ``run.json`` is read.

        Raises
        ------
        StoreError
            If one is not JSON, lacks a field, is of another study, or of a newer schema.
        """
        folder = self.path / "runs"
        if not folder.is_dir():
            return []
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
        found = [read_run(folder / name, self.name) for name in names]
        runs = [run for run in found if run is not None]
        return sorted(runs, key=lambda run: (run.record.factors.order, run.record.id))

    def failed(self) -> list[StoredRun]:
        """Return the attempts that did not finish, in the order in which they started.

        Raises
        ------
        StoreError
            As `runs`.
        """
        folders = (self.path / "failed").glob("[!.]*")
        found = [read_run(folder, self.name) for folder in folders]
        attempts = [run for run in found if run is not None]
        return sorted(attempts, key=lambda run: (run.record.time.get("start_utc", ""), run.path))

    def read_config(self, sha12: str) -> str | None:
        """Return the text that `save_config` stored under this hash; None where it is not."""
        file = self.path / "configs" / f"{sha12}.cnf"
        return file.read_text(encoding="utf-8") if file.is_file() else None

    def save_run(
        self,
        record: RunRecord,
        series: SeriesRows,
        log: str,
        status: Json,
        *,
        more: Mapping[str, bytes] = MappingProxyType({}),
    ) -> Path:
        """Store a complete run and return its folder.

        Parameters
        ----------
        record : RunRecord
            Its `files` are filled in here.
        series : ndarray, or what gives one for a slice
            Of `SERIES_DTYPE`'s fields. It is taken in slices, so that it need not be in memory.
        log : str
            The text of ``latency.hlog``.
        status : mapping
            The server's status before and after, and its variables.
        more : mapping of str to bytes
            Further files of the run, by name.

        Raises
        ------
        StoreError
            If the run is not complete, is stored already, or cannot be written. Then nothing
            of it stays.
        """
        target = self.path / "runs" / record.id
        if record.status != "complete":
            raise StoreError(f"run {record.id} is {record.status}; only complete runs are results")
        if target.exists():
            raise StoreError(f"{target} exists already; a stored run never changes")
        files = {**_in_pieces(more), **_run_files(series, log, status)}
        return _store_folder(target, record, files)

    def save_failed(
        self,
        record: RunRecord,
        series: SeriesRows,
        log: str,
        status: Json,
        server_log: str,
        *,
        more: Mapping[str, bytes] = MappingProxyType({}),
    ) -> Path:
        """Keep an attempt that did not finish, with the end of the server's error log.

        Returns the folder, ``failed/<run id>.<n>``; readers of results never look there.
        """
        folder = self.path / "failed"
        attempt = 1
        while (folder / f"{record.id}.{attempt}").exists():
            attempt += 1
        files = {
            **_in_pieces(more),
            **_run_files(series, log, status),
            "server.log": [server_log.encode(errors="surrogateescape")],
        }
        return _store_folder(folder / f"{record.id}.{attempt}", record, files)

    def save_config(self, text: str) -> str:
        """Store a server's rendered config and return its path inside the folder."""
        return self._save_by_content("configs", ".cnf", text.encode())

    def save_properties(self, text: str) -> str:
        """Store a properties file and return its path inside the folder."""
        return self._save_by_content("configs", ".properties", text.encode())

    def save_environment(self, facts: Json) -> str:
        """Store the facts about the host and return their path inside the folder."""
        return self._save_by_content("env", ".json", _json_bytes(_as_json_object(facts)))

    def save_source(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Keep a file that runs were imported from; return its place here, hash and size."""
        with Path(path).open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        target = self.path / "source" / sha256[:12] / Path(path).name
        if not target.exists():
            _copy_file(Path(path), target)
        kept = target.relative_to(self.path)
        return {"file": str(kept), "sha256": sha256, "bytes": target.stat().st_size}

    def _save_by_content(self, kind: str, suffix: str, content: bytes) -> str:
        name = f"{kind}/{hashlib.sha256(content).hexdigest()[:12]}{suffix}"
        if not (self.path / name).exists():
            _write_file(self.path / name, content)
        return name


def _as_json_object(mapping: Mapping[str, Any]) -> dict[str, Any]:
    plain = to_plain(mapping)
    assert isinstance(plain, dict)
    return plain


# Reading


def open_run(path: str | os.PathLike[str]) -> StoredRun:
    """Return the run in a folder below a study's ``runs/`` or ``failed/``.

    Raises
    ------
    StoreError
        If the folder holds no run, or something this release cannot read.
    """
    folder = Path(path).absolute()
    study = StudyFolder.open(folder.parent.parent)
    run = read_run(folder, study.name)
    if run is None:
        raise StoreError(f"{folder} has no run.json: it is not a run")
    return run


def _nearby_studies(folder: Path) -> str:
    """Say which studies the folder holds, or what makes one."""
    names = sorted(path.parent.name for path in folder.glob("*/study.json"))
    if names:
        return f", but holds some: {', '.join(names[:5])}"
    return ": it holds no study.json"


def _check_empty(folder: Path) -> None:
    if not folder.is_dir():
        raise StoreError(f"{folder} is a file; a study needs a folder")
    names = {path.name for path in folder.iterdir() if not path.name.startswith(_UNFINISHED)}
    if names - {"runs", "failed", "configs", "env", "source"}:
        raise StoreError(
            f"{folder} is not empty and not a study folder: use an empty folder or a new name"
        )


# Writing


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Turn what the disk says into a StoreError that names `target`."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL_DISK:
            raise StoreError(
                f"no space left to write {target}; nothing of it was kept. "
                "Free some space and start again: what is stored stays"
            ) from error
        raise StoreError(f"cannot write {target}: {error.strerror or error}") from error


def _take_lock(path: Path) -> IO[str]:
    """Return the open lock file; the lock lasts until it is closed, or the process ends."""
    with _writing(path):
        handle = path.open("a+", encoding="utf-8")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        handle.seek(0)
        owner = handle.read().strip() or "unknown"
        handle.close()
        raise StoreError(f"{path.parent} is in use by another process (pid {owner})") from error
    with _writing(path):
        handle.truncate(0)
        handle.write(f"{os.getpid()}\n")
        handle.flush()
    return handle


def _json_bytes(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, allow_nan=False) + "\n").encode()


def _run_files(series: SeriesRows, log: str, status: Json) -> dict[str, Iterable[bytes]]:
    """Return the pieces of each file of a run."""
    assert series.dtype.names == SERIES_DTYPE.names, f"a series of {series.dtype}"
    return {
        "series.npy": _array_pieces(series),
        "latency.hlog": [log.encode()],
        "status.json": [_json_bytes(_as_json_object(status))],
    }


def _array_pieces(series: SeriesRows) -> Iterator[bytes]:
    """Yield an array file, of NumPy's format 1.0."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header,
        {
            "descr": np.lib.format.dtype_to_descr(series.dtype),
            "fortran_order": False,
            "shape": (len(series),),
        },
    )
    yield header.getvalue()
    for start in range(0, len(series), _PIECE_ROWS):
        yield series[start : start + _PIECE_ROWS].tobytes()


def array_bytes(array: NDArray[np.void]) -> bytes:
    """Return a structured array as the bytes of an ``.npy`` file."""
    return b"".join(_array_pieces(array))


def save_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text to a file of the user's, over what is there, and return its path.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    target = Path(path)
    try:
        target.write_bytes(text.encode(errors="replace"))
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror or error}") from error
    return target


def _in_pieces(files: Mapping[str, bytes]) -> dict[str, Iterable[bytes]]:
    return {name: [content] for name, content in files.items()}


def _store_folder(target: Path, record: RunRecord, files: Mapping[str, Iterable[bytes]]) -> Path:
    """Build the folder of a run beside `target` and rename it into place."""
    unfinished = _unfinished_name(target)
    try:
        with _writing(target):
            unfinished.mkdir(parents=True)
            written = {name: _write_synced(unfinished / name, files[name]) for name in files}
            run_json = _json_bytes(replace(record, files=written).to_json())
            _write_synced(unfinished / "run.json", [run_json])
            _sync_folder(unfinished)
            unfinished.rename(target)
            _sync_folder(target.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target


def _write_file(target: Path, content: bytes) -> None:
    """Write one file whole or not at all."""
    unfinished = _unfinished_name(target)
    try:
        with _writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            _write_synced(unfinished, [content])
            unfinished.replace(target)
            _sync_folder(target.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _copy_file(source: Path, target: Path) -> None:
    """Copy one file whole or not at all, in pieces: it may be large."""
    unfinished = _unfinished_name(target)
    try:
        with _writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, unfinished)
            unfinished.replace(target)
            _sync_folder(target.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _unfinished_name(target: Path) -> Path:
    return target.parent / f"{_UNFINISHED}{target.name}-{os.urandom(4).hex()}"


def _write_synced(path: Path, pieces: Iterable[bytes]) -> dict[str, str | int]:
    """Write a file to the disk; return its hash and size."""
    digest = hashlib.sha256()
    with path.open("xb") as file:
        for piece in pieces:
            file.write(piece)
            digest.update(piece)
        file.flush()
        os.fsync(file.fileno())
        return {"sha256": digest.hexdigest(), "bytes": file.tell()}


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
