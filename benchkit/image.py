"""Images: copies of the data directories of stopped servers, put back before each iteration.

    <image>/<part>/       a data directory, file by file; a replica's is a part of its own
    <image>/image.json    size and CRC-32 of every file; written last

Files are cloned where the file system can (no data move), else copied inside the kernel. Holes,
modes, owners and times stay. Starts and stops no server.
"""

import errno
import fcntl
import json
import os
import shutil
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from benchkit.errors import RunError
from benchkit.units import format_size

PREFIX = "image-"
_MANIFEST = "image.json"
_LEFTOVERS = ("data.new", "data.old")

_FICLONE = 0x40049409  # linux/fs.h: share the blocks of another file
_CHUNK_BYTES = 1 << 26  # so that Ctrl-C does not wait for a whole file
_CANNOT = frozenset(
    {errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.ENOTTY, errno.EBADF}
)

_Seen = tuple[int, int, int, int]


@dataclass(slots=True)
class Image:
    """A complete image; `take_image` makes one, `open_image` finds one.

    Attributes
    ----------
    path : Path
    files : dict of str to [size, CRC-32]
        By path below `path`.
    seen : dict of str to tuple
        How the kernel describes each file whose contents we know to be right.
    """

    path: Path
    files: Mapping[str, list[int]]
    seen: dict[str, _Seen] = field(default_factory=dict)

    def restore(self, parts: Mapping[str, Path]) -> float:
        """Replace data directories by those of the image; return the seconds it took.

        Parameters
        ----------
        parts : mapping of str to Path
            As the image was taken. Each present folder goes aside only when its successor is
            complete; `clearing` removes it.

        Raises
        ------
        RunError
            When the image has changed, or there is no room; the folders are as they were.
        """
        started = time.monotonic()
        self.check()
        with _told(self.path):
            _check_room(self.path, self.path.parent)
            for name, folder in parts.items():
                new, old = (folder.with_name(leftover) for leftover in _LEFTOVERS)
                for leftover in (new, old):
                    shutil.rmtree(leftover, ignore_errors=True)
                copy_tree(self.path / name, new)
                with suppress(FileNotFoundError):
                    folder.rename(old)
                new.rename(folder)
        return time.monotonic() - started

    def check(self) -> None:
        """Raise RunError when a file is not as it was when the image was taken.

        The contents are read again only where the kernel says that something was done to the
        file since we last read it.
        """
        with _told(self.path):
            found = {str(path.relative_to(self.path)): path for path in _files(self.path)}
            found.pop(_MANIFEST, None)
            for name in sorted(found.keys() ^ self.files.keys()):
                raise RunError(_changed(self.path, name, "appeared" if name in found else "gone"))
            for name, path in found.items():
                self._check_file(name, path)

    def _check_file(self, name: str, path: Path) -> None:
        seen = _seen(path)
        if self.seen.get(name) != seen and _summarise(path) != self.files[name]:
            raise RunError(_changed(self.path, name, "changed"))
        self.seen[name] = seen


def take_image(path: Path, parts: Mapping[str, Path]) -> Image:
    """Copy the data directories of cleanly stopped servers.

    Parameters
    ----------
    path : Path
        Where; what is there is replaced.
    parts : mapping of str to Path
        Each data directory under a name of its own.

    Raises
    ------
    RunError
        When a directory holds what cannot be put back (a link, a device), or there is no room.
    """
    new = path.with_name(f"{path.name}.new")
    with _told(path):
        for leftover in (new, path):
            shutil.rmtree(leftover, ignore_errors=True)
        for folder in parts.values():
            _check_room(folder, path.parent)
        new.mkdir(mode=0o700)
        for name, folder in parts.items():
            copy_tree(folder, new / name)
        names = [str(file.relative_to(new)) for file in _files(new)]
        image = Image(path, {name: _summarise(new / name) for name in names})
        (new / _MANIFEST).write_text(json.dumps({"files": image.files}))
        new.rename(path)
        image.seen |= {name: _seen(path / name) for name in names}
    return image


def open_image(path: Path) -> Image | None:
    """Return the image at a path; None where there is none. Its contents are read when used."""
    try:
        return Image(path, json.loads((path / _MANIFEST).read_text())["files"])
    except (OSError, ValueError, KeyError):
        return None


def remove_images(directory: Path) -> None:
    """Remove all images that were taken in a server's directory, and what a kill left of one."""
    leftovers = [path for name in _LEFTOVERS for path in directory.glob(f"**/{name}")]
    for path in (*directory.glob(f"{PREFIX}*"), *leftovers):
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def clearing(parts: Mapping[str, Path]) -> Iterator[None]:
    """Remove the folders that `Image.restore` has put aside, while the block goes on.

    That takes about as long as copying: a server need not wait for it.
    """
    thread = threading.Thread(target=_clear, args=(tuple(parts.values()),), name="clearing")
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _clear(folders: tuple[Path, ...]) -> None:
    for folder in folders:
        shutil.rmtree(folder.with_name(_LEFTOVERS[1]), ignore_errors=True)


def sync_tree(folder: Path) -> None:
    """Write to disk what was copied, so that no measurement shares the disk with it."""
    with _told(folder):
        for path in _files(folder):
            fd = os.open(path, os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)


def copy_tree(source: Path, target: Path) -> None:
    """Copy a data directory; `target` must not exist."""
    status = source.stat()
    target.mkdir(mode=0o700)
    for entry in _entries(source):
        if entry.is_dir(follow_symlinks=False):
            copy_tree(Path(entry.path), target / entry.name)
        elif entry.is_file(follow_symlinks=False):
            _copy_file(Path(entry.path), target / entry.name)
        else:
            raise RunError(
                f"no image can be taken of {source}: {entry.path} is a link or a special file, "
                "and what it leads to would not be put back"
            )
    _give(target, status)


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb") as read, target.open("xb") as write:
        status = os.fstat(read.fileno())
        if not _clone(read, write):
            for begin, end in _extents(read.fileno(), status.st_size):
                _copy_range(read, write, begin, end)
            write.truncate(status.st_size)
    _give(target, status)


def _give(path: Path, status: os.stat_result) -> None:
    """Make mode, times and, if we may, the owner those of the original."""
    if os.geteuid() == 0:
        os.chown(path, status.st_uid, status.st_gid)
    path.chmod(status.st_mode & 0o7777)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _clone(source: BinaryIO, target: BinaryIO) -> bool:
    """Share the blocks of a whole file; False where the file system cannot."""
    try:
        fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        return False
    return True


def _extents(fd: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each stretch of a file that is not a hole."""
    end = 0
    while end < size:
        try:
            begin = os.lseek(fd, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole until the end
                return
            raise
        end = os.lseek(fd, begin, os.SEEK_HOLE)
        yield begin, end


def _copy_range(source: BinaryIO, target: BinaryIO, begin: int, end: int) -> None:
    while begin < end:
        count = min(end - begin, _CHUNK_BYTES)
        try:
            copied = os.copy_file_range(source.fileno(), target.fileno(), count, begin, begin)
        except OSError as error:
            if error.errno not in _CANNOT:
                raise
            copied = os.pwrite(target.fileno(), os.pread(source.fileno(), count, begin), begin)
        if not copied:
            raise RunError(f"{source.name} became shorter while it was copied")
        begin += copied


def _entries(folder: Path) -> "list[os.DirEntry[str]]":
    with os.scandir(folder) as entries:
        return list(entries)


def _files(folder: Path) -> Iterator[Path]:
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path))
        else:
            yield Path(entry.path)


def _seen(path: Path) -> _Seen:
    """Return what changes with every change of a file; nobody can set the third back."""
    status = path.lstat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _summarise(path: Path) -> list[int]:
    """Return size and CRC-32: it is accidents that are to be noticed."""
    size = crc = 0
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            size += len(chunk)
            crc = zlib.crc32(chunk, crc)
    return [size, crc]


def allocated_bytes(folder: Path) -> int:
    """Return how much disk the files of a folder take; 0 where there is no folder."""
    used = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # a killed server may just be cleaning up
                used += 512 * os.lstat(os.path.join(path, name)).st_blocks
    return used


def _check_room(source: Path, folder: Path) -> None:
    needed, free = allocated_bytes(source), shutil.disk_usage(folder).free
    if needed > free and not can_clone(folder):
        raise RunError(
            f"{source} takes {format_size(needed)}, and {folder} has only {format_size(free)} "
            "left for a copy of it: free some, use fewer rows, or set BENCHKIT_DATA to a folder "
            "on a larger disk"
        )


def can_clone(folder: Path) -> bool:
    """Tell whether files of a folder can share blocks."""
    names = [folder / f".clone-{os.getpid()}-{number}" for number in range(2)]
    try:
        names[0].write_bytes(bytes(4096))
        with names[0].open("rb") as source, names[1].open("wb") as target:
            return _clone(source, target)
    except OSError:  # a full disk, say
        return False
    finally:
        for name in names:
            name.unlink(missing_ok=True)


def _changed(image: Path, name: str, how: str) -> str:
    return (
        f"the image {image} is not as it was taken: {name} has {how}. Remove that folder; the "
        "same call loads the data again and takes a new one"
    )


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn an OSError about an image into a RunError, which a study survives."""
    try:
        yield
    except OSError as error:
        what = "the disk is full" if error.errno == errno.ENOSPC else str(error)
        raise RunError(f"cannot copy data from or to {path}: {what}") from error
