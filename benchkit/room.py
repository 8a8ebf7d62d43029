"""Whether the disks that servers write to have room left while a run goes on.

A server that cannot write its binary log waits until somebody makes room, and every client with
it: the run would never end.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from benchkit.errors import DiskFullError
from benchkit.server import Server
from benchkit.units import format_size

_LEAST_BYTES = 1 << 20


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
                raise DiskFullError(
                    f"the disk below {folder} is full, {format_size(free)} are left: free some, "
                    "use fewer rows or shorter runs, or set BENCHKIT_DATA to a folder on a larger "
                    "disk"
                )
        return {}

    def close(self) -> None:
        """Nothing is open."""


def room_of(server: Server) -> Room:
    """Return what looks after the disk of a private server."""
    return Room([server.directory] if server.private and server.directory else [])
