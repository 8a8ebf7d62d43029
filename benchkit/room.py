"""Whether the disks that servers write to have room left while a run goes on.

A server that cannot write its binary log waits until somebody makes room, and every client with
it: the run would never end.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from benchkit.errors import BenchkitError, DatabaseError, DiskFullError
from benchkit.server import Server
from benchkit.units import format_size

_LEAST_BYTES = 1 << 20
_GROWTH_BYTES = 64 << 20  # by as much a table space may have to grow at once
_FULL = frozenset({3, 1021, 1026, 1114})  # a write failed, or a table cannot grow


class Room:
    """A source for the monitor's thread, which has no numbers but may find a disk full.

    Parameters
    ----------
    folders : iterable of Path
        Where servers have their data.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = list(folders)

    def read(self) -> dict[str, float]:
        """Raise DiskFullError when a disk has no room left."""
        for folder in self._folders:
            free = shutil.disk_usage(folder).free
            if free < _LEAST_BYTES:
                raise _full(folder, f"{format_size(free)} are left")
        return {}

    def explain(self, error: BenchkitError) -> BenchkitError:
        """Return DiskFullError for a server's error that comes of a full disk; else the error."""
        if isinstance(error, DatabaseError) and error.number in _FULL:
            for folder in self._folders:
                if shutil.disk_usage(folder).free < _GROWTH_BYTES:
                    return _full(folder, str(error))
        return error

    def close(self) -> None:
        """Nothing is open."""


def _full(folder: Path, how: str) -> DiskFullError:
    return DiskFullError(
        f"the disk below {folder} is full ({how}): free some, use fewer rows or shorter runs, or "
        "set BENCHKIT_DATA to a folder on a larger disk"
    )


def room_of(server: Server) -> Room:
    """Return what looks after the disk of a private server."""
    return Room([server.directory] if server.private and server.directory else [])
