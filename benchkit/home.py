"""Where a study's private servers have their data from one call to the next.

    <BENCHKIT_DATA>/study-<data id>/study       where the study's folder is
    <BENCHKIT_DATA>/study-<data id>/<server>/   the directory of one server

Not in the study's folder, which may lie where the user that servers run as cannot go; and found
by an id that ``study.json`` keeps, so that a folder may be moved. A home goes away when its
study is complete, or when the next study begins after its folder was removed or replaced.
"""

import fcntl
import hashlib
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from benchkit.datadir import LOCK_NAME, make_temporary_base, told_as_server_error
from benchkit.plan import Setup

_PREFIX = "study-"
_OWNER = "study"


def new_data_id() -> str:
    """Return an id for the data of a new study."""
    return os.urandom(6).hex()


def find_home(data_id: str) -> Path:
    """Return where the home with this id is, or would be.

    Raises
    ------
    ServerError
        When the folder of all homes cannot be used.
    """
    return make_temporary_base() / f"{_PREFIX}{data_id}"


def make_home(home: Path, study: Path) -> None:
    """Make a study's home, if it is not there, and note where the study's folder is.

    Raises
    ------
    ServerError
        When that cannot be written.
    """
    with told_as_server_error(home):
        home.mkdir(exist_ok=True)
        home.chmod(0o755)  # whatever the umask: the server's user must get through
        owner, unfinished = home / _OWNER, home / f".{_OWNER}-{os.getpid()}"
        unfinished.write_bytes(os.fsencode(study.resolve()) + b"\n")
        unfinished.replace(owner)  # at once: without its study a home would be abandoned


def remove_home(home: Path) -> None:
    """Remove a home with all that is in it."""
    shutil.rmtree(home, ignore_errors=True)


def remove_abandoned(base: Path) -> None:
    """Remove the homes of studies whose folders are gone, unless a server runs there."""
    for owner in base.glob(f"{_PREFIX}*/{_OWNER}"):
        with suppress(OSError):  # another process removes it as well
            study = Path(os.fsdecode(owner.read_bytes().rstrip(b"\n")))
            if not _belongs(owner.parent, study) and not _is_used(owner.parent):
                remove_home(owner.parent)


def server_folder(home: Path, setup: Setup) -> Path:
    """Return a server's directory: readable, and different for different setups."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", setup.name).strip("-.")[:40]
    return home / f"{readable or 'server'}-{hashlib.sha256(repr(setup).encode()).hexdigest()[:8]}"


def _belongs(home: Path, study: Path) -> bool:
    """Tell whether a study's folder is there, and not another's of the same name."""
    with suppress(FileNotFoundError, NotADirectoryError):
        data_id = os.fsencode(home.name.removeprefix(_PREFIX))
        return data_id in (study / "study.json").read_bytes()
    return False


def _is_used(home: Path) -> bool:
    locks = (*home.glob(f"*/{LOCK_NAME}"), *home.glob(f"*/replica-*/{LOCK_NAME}"))
    return any(_is_locked(lock) for lock in locks)


def _is_locked(lock: Path) -> bool:
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
