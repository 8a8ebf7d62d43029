"""Which user a private server runs as, and whether that user can get where it must.

A server refuses to run as root; started by root it runs as ``mysql``, or ``nobody`` where
there is no such user. Started by anyone else it runs as that user.
"""

import os
import pwd
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchkit.errors import ServerError

_NAMES = ("mysql", "nobody")

# Run as the user in question, so that access lists and the like count too.
_FIND_BLOCKING = 'for folder; do [ -x "$folder" ] || { echo "$folder"; exit; }; done'


@dataclass(frozen=True, slots=True)
class Account:
    """A user to drop to."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]


def server_account() -> Account | None:
    """Return the user that root's servers run as; None when not root: no dropping.

    Raises
    ------
    ServerError
        When there is no user to drop to.
    """
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = next((known[name] for name in _NAMES if name in known), None)
    if entry is None:
        raise ServerError(
            "a server does not run as root, and this machine has neither a user "
            f"{' nor '.join(_NAMES)}: useradd --system mysql"
        )
    groups = tuple(os.getgrouplist(entry.pw_name, entry.pw_gid))
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, groups)


def check_reachable(path: Path, account: Account | None) -> None:
    """Raise ServerError, naming the folder in the way, if the account cannot enter `path`."""
    if account is None:
        return
    blocking = _first_blocking([*reversed(path.parents), path], account)
    if blocking:
        raise ServerError(
            f"the server runs as user {account.name}, which cannot enter {blocking} on the way "
            f"to {path}: choose a directory elsewhere (BENCHKIT_DATA sets where temporary ones "
            f"go), or chmod o+x {blocking}"
        )


def give(path: Path, account: Account | None) -> None:
    """Make a file or folder belong to the account."""
    if account is not None:
        os.chown(path, account.uid, account.gid)


def _first_blocking(folders: Iterable[Path], account: Account) -> str:
    answer = subprocess.run(
        ["/bin/sh", "-c", _FIND_BLOCKING, "sh", *map(str, folders)],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        user=account.uid,
        group=account.gid,
        extra_groups=account.groups,
    )
    return answer.stdout.rstrip("\n")
