"""One stored run, and reading what is stored; `store` writes it.

Every failure, of the disk or of what is found on it, is a StoreError that names the file.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchkit.errors import StoreError
from benchkit.hlog import HistogramLog
from benchkit.hlog import parse as parse_log
from benchkit.record import SERIES_DTYPE, RunRecord

MONITOR_FILE = "monitor.npy"
"""What server and host counted, a row for each of ``series.npy``; not every run has it."""

PROFILE_FILE = "profile.folded"
"""Stacks of the server's process, of a run that was profiled."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A finished run: its record, and the larger files, read when they are asked for."""

    path: Path
    record: RunRecord

    def series(self) -> NDArray[np.void]:
        """Return the interval rows as a read-only memory map of `SERIES_DTYPE`'s fields.

        Raises
        ------
        StoreError
            If the file is missing, truncated, or has other fields.
        """
        path = self._file("series.npy")
        rows = _read_array(path)
        missing = set(SERIES_DTYPE.names or ()) - set(rows.dtype.names or ())
        if missing:
            raise StoreError(f"{path} lacks the fields {', '.join(sorted(missing))}")
        if np.any(np.diff(rows["phase"]) < 0):
            raise StoreError(f"{path} has its phases out of order; they should never decrease")
        return rows

    def monitor_fields(self) -> tuple[str, ...]:
        """Return what the server and the host were asked for; empty where nothing was."""
        return self._monitor().dtype.names or ()

    def monitored(self, name: str) -> NDArray[np.float64]:
        """Return a column of what the server and the host counted, row by row of `series`.

        All NaN where this run has no such column.

        Raises
        ------
        StoreError
            If the file is missing, truncated, or does not fit the series.
        """
        rows = self._monitor()
        if name in (rows.dtype.names or ()):
            return rows[name]
        return np.full(len(self.series()), np.nan)

    def _monitor(self) -> NDArray[np.void]:
        if MONITOR_FILE not in self.record.files:
            return np.empty(0, [])
        path = self._file(MONITOR_FILE)
        rows = _read_array(path)
        if len(rows) != len(self.series()):
            raise StoreError(
                f"{path} has {len(rows)} rows; its run's series has {len(self.series())}"
            )
        return rows

    def log(self) -> HistogramLog:
        """Return the histograms of every interval; their counts are decoded when asked for.

        Raises
        ------
        StoreError
            If the file is missing, truncated or damaged.
        """
        path = self._file("latency.hlog")
        try:
            return parse_log(path.read_text(encoding="utf-8"))
        except (StoreError, UnicodeDecodeError, OSError) as error:
            raise StoreError(f"{path}: {error}") from error

    def profile(self) -> dict[str, int]:
        """Return folded stacks of the server and their samples; empty if none were taken.

        Raises
        ------
        StoreError
            If the file is missing, truncated or damaged.
        """
        if PROFILE_FILE not in self.record.files:
            return {}
        path = self._file(PROFILE_FILE)
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            pairs = (line.rpartition(" ") for line in lines)
            return {stack: int(samples) for stack, _, samples in pairs}
        except (ValueError, OSError) as error:
            raise StoreError(f"{path} is not a list of folded stacks: {error}") from error

    def status(self) -> dict[str, Any]:
        """Return the server's status before and after, and its variables."""
        return read_object(self._file("status.json"))

    def config(self) -> str | None:
        """Return the text of the server's configuration; None where there is none.

        Raises
        ------
        StoreError
            If the file is missing or cannot be read.
        """
        reference = self.record.config_ref
        if reference is None:
            return None
        path = self._study / reference
        try:
            return path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError) as error:
            raise StoreError(f"{path} cannot be read: {error}") from error

    def environment(self) -> dict[str, Any]:
        """Return the facts about the host; empty where there are none.

        Raises
        ------
        StoreError
            If the file is missing or cannot be read.
        """
        reference = self.record.env_ref
        return {} if reference is None else read_object(self._study / reference)

    @property
    def _study(self) -> Path:
        return self.path.parent.parent

    def _file(self, name: str) -> Path:
        """Return the path of a file of the run, once its size is what the record says."""
        path = self.path / name
        try:
            found = path.stat().st_size
        except FileNotFoundError as error:
            raise StoreError(f"{path} is missing; its run is not usable without it") from error
        written = self.record.files.get(name, {}).get("bytes", found)
        if found != written:
            change = "truncated" if found < written else "changed"
            raise StoreError(f"{path} is {change}: it has {found} bytes, {written} were written")
        return path


def _read_array(path: Path) -> NDArray[np.void]:
    """Return a read-only memory map of a structured array's file."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except (ValueError, EOFError, OSError) as error:
        raise StoreError(f"{path} is not a readable array: {error}") from error


def read_object(path: Path) -> dict[str, Any]:
    """Return the object of a JSON file."""
    try:
        value = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise StoreError(
            f"{path} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        ) from error
    except (UnicodeDecodeError, OSError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise StoreError(f"{path} should hold a JSON object, not {str(value)[:40]!r}")
    return value


def read_run(folder: Path, study: str) -> StoredRun | None:
    """Return the run in a folder; None if the folder is unfinished."""
    file = folder / "run.json"
    if not file.is_file():
        return None
    data = read_object(file)
    try:
        record = RunRecord.from_json(data)
    except StoreError as error:
        raise StoreError(f"{file} {error}") from error
    if record.id != folder.name.partition(".")[0]:  # an attempt has its number after the dot
        raise StoreError(
            f"{folder} holds run {record.id}; a run's folder should have its id as name"
        )
    if record.study != study:
        raise StoreError(f"{file} is of study {record.study!r}, but lies in a folder of {study!r}")
    return StoredRun(folder, record)
