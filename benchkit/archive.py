"""Vendors' archives of server binaries: unpacked whole or not at all, and nowhere else.

An archive is a stranger's: what it holds may not lie, or point, outside the folder it is unpacked
to, be anything but files, folders and links, or be larger than the disk.
"""

import posixpath
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from tqdm.std import tqdm

from benchkit.errors import ServerError
from benchkit.install import ARCHIVE_ENDINGS, Install
from benchkit.stage import building
from benchkit.units import format_size

MEMBERS_MAX = 200_000
_KEPT_FREE_BYTES = 64 * 2**20


def unpack_server(archive: Path, directory: Path, progress: bool = True) -> Install:
    """Unpack a vendor's archive into a folder of its own below `directory`.

    Parameters
    ----------
    archive : Path
        A ``.tar.gz`` or ``.tar.xz``.
    directory : Path
        Made if it is not there. The install has the name of the folder that the archive holds.
    progress : bool
        Show a bar over the archive's bytes.

    Returns
    -------
    Install
        Which can be used.

    Raises
    ------
    ServerError
        When the archive is damaged, unsafe or not of a server that runs here; when the install's
        folder exists already. Nothing is left of it then.
    """
    if not archive.name.endswith(ARCHIVE_ENDINGS):
        raise ServerError(
            f"{archive} is not an archive of server binaries: wanted {', '.join(ARCHIVE_ENDINGS)}"
        )
    if not archive.is_file():
        raise ServerError(f"there is no archive {archive}")
    target = directory.expanduser().absolute() / _stem(archive)
    _check_free(target)
    with _told(archive), building(target) as folder:
        files = folder / "files"
        files.mkdir()
        with _opened(archive, progress) as tar:
            for member in _checked(tar, archive, _room(folder)):
                tar.extract(member, files)
        made = _top(files)
        if made != files:
            target = target.with_name(made.name)
            _check_free(target)
        Install(made).check()
        made.rename(target)
    return Install(target)


def _check_free(target: Path) -> None:
    if target.exists():
        raise ServerError(f"{target} exists already: use it, remove it, or choose another folder")


def _stem(archive: Path) -> str:
    ending = next(ending for ending in ARCHIVE_ENDINGS if archive.name.endswith(ending))
    return archive.name.removesuffix(ending)


def _room(folder: Path) -> int:
    """Return how many bytes an archive may unpack to."""
    return max(shutil.disk_usage(folder).free - _KEPT_FREE_BYTES, 0)


def _top(files: Path) -> Path:
    """Return the one folder that an archive of a vendor holds, or else all of it."""
    entries = list(files.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else files


@contextmanager
def _told(archive: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError) as error:
        raise ServerError(f"{archive} is damaged, or no archive: {error}") from error
    except OSError as error:
        raise ServerError(f"cannot unpack {archive}: {error}") from error


@contextmanager
def _opened(archive: Path, progress: bool) -> Iterator[tarfile.TarFile]:
    """Open an archive to be read once from its begin to its end."""
    with (
        archive.open("rb") as file,
        tqdm.wrapattr(
            file,
            "read",
            total=archive.stat().st_size,
            desc=archive.name,
            disable=not progress,
            leave=False,
        ) as watched,
        tarfile.open(fileobj=cast(BinaryIO, watched), mode="r|*") as tar,
    ):
        # A second pair of eyes where Python has it; it also drops owners and special bits.
        tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        yield tar


def _checked(tar: tarfile.TarFile, archive: Path, room: int) -> Iterator[tarfile.TarInfo]:
    """Yield the members, each once it is known to be harmless."""
    size = 0
    links: set[str] = set()
    for number, member in enumerate(tar, 1):
        size += member.size
        if number > MEMBERS_MAX:
            raise ServerError(f"{archive} holds more than {MEMBERS_MAX} files: that is no server")
        if size > room:
            raise ServerError(
                f"{archive} needs more than the {format_size(room)} that are free: free some, or "
                "choose a folder on a larger disk"
            )
        problem = _problem(member, links)
        if problem:
            raise ServerError(f"{archive} is not safe to unpack: {member.name!r} {problem}")
        if member.issym():
            links.add(posixpath.normpath(member.name))
        yield member


def _problem(member: tarfile.TarInfo, links: set[str]) -> str | None:
    """Say what is wrong with a member; None where nothing is."""
    if not (member.isfile() or member.isdir() or member.issym() or member.islnk()):
        return "is a device or a pipe"
    if _leaves(member.name):
        return "lies outside the archive"
    if any(parent in links for parent in _parents(member.name)):
        return "lies behind a link"
    if member.issym() and _points_out(member.name, member.linkname):
        return f"points outside the archive, to {member.linkname!r}"
    if member.islnk() and (_leaves(member.linkname) or member.linkname in links):
        return f"is linked to something outside the archive, {member.linkname!r}"
    return None


def _points_out(name: str, goal: str) -> bool:
    """Tell whether a symbolic link may lead out of the archive.

    A ``..`` behind a name counts as such: what the name stands for may be a link itself.
    """
    names = [part for part in goal.split("/") if part not in ("", ".")]
    up = len(names) - names[::-1].index("..") if ".." in names else 0
    is_plain = all(part == ".." for part in names[:up])
    return not is_plain or _leaves(posixpath.join(posixpath.dirname(name), goal))


def _parents(name: str) -> list[str]:
    parts = posixpath.normpath(name).split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]


def _leaves(path: str) -> bool:
    normal = posixpath.normpath(path)
    return normal.startswith("/") or normal.split("/")[0] == ".."
