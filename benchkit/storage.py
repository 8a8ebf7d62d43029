"""Where a directory's data are: file system, mount options, and the disk below.

Reads /proc and /sys. What is not shown, as in many containers, is None.
"""

import re
from pathlib import Path

from benchkit.host import Facts, read_text

_ESCAPED = re.compile(r"\\([0-7]{3})")
_CHOSEN = re.compile(r"\[([\w-]+)\]")
_DISK_FACTS = ("data_device", "data_disk", "data_scheduler", "data_rotational")


def facts(directory: Path, root: Path = Path("/")) -> Facts:
    """Return the facts about the disk that a directory is on, or will be.

    Parameters
    ----------
    directory : Path
        Need not exist.
    root : Path
        Where /proc and /sys are found.

    Returns
    -------
    dict
        ``data_file_system``, ``data_mount_options``, ``data_device`` (such as ``nvme0n1``),
        ``data_disk`` (its model), ``data_scheduler`` and ``data_rotational`` (0 or 1).
    """
    mount = _find_mount(directory, read_text(root / "proc/self/mountinfo") or "")
    if mount is None:
        return dict.fromkeys(("data_file_system", "data_mount_options", *_DISK_FACTS))
    number, kind, options, source = mount
    disk = _find_disk(root, number, source)
    return {
        "data_file_system": kind,
        "data_mount_options": options,
        **(dict.fromkeys(_DISK_FACTS) if disk is None else _disk_facts(disk)),
    }


def _find_mount(directory: Path, mounts: str) -> tuple[str, str, str, str] | None:
    """Return device number, type, options and source of the mount a directory is on."""
    place = directory.absolute()
    existing = next((path for path in (place, *place.parents) if path.exists()), Path("/"))
    inside = existing.resolve()
    best: tuple[int, tuple[str, str, str, str]] | None = None
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields, rest = left.split(" "), right.split(" ")
        if len(fields) < 6 or len(rest) < 3:
            continue
        point = Path(_unescape(fields[4]))
        # Of mounts upon each other the last is seen.
        if inside.is_relative_to(point) and (best is None or len(point.parts) >= best[0]):
            options = _joined_options(fields[5], rest[2])
            best = (len(point.parts), (fields[2], rest[0], options, _unescape(rest[1])))
    return best and best[1]


def _joined_options(mount: str, file_system: str) -> str:
    return ",".join(dict.fromkeys([*mount.split(","), *file_system.split(",")]))


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)


def _find_disk(root: Path, number: str, source: str) -> Path | None:
    """Return a disk's folder in /sys: of the device, or of what holds its partition."""
    devices = (root / "sys/dev/block" / number, root / "sys/class/block" / Path(source).name)
    device = next((path.resolve() for path in devices if path.exists()), None)
    if device is None:
        return None
    below = sorted((device / "slaves").glob("*"))
    if len(below) == 1:  # a volume on one disk; of several there is no one model
        return _find_disk(root, "", below[0].name)
    return device.parent if (device / "partition").exists() else device


def _disk_facts(disk: Path) -> Facts:
    scheduler = read_text(disk / "queue/scheduler")
    chosen = _CHOSEN.search(scheduler or "")
    rotational = read_text(disk / "queue/rotational")
    return {
        "data_device": disk.name,
        "data_disk": read_text(disk / "device/model"),
        "data_scheduler": chosen[1] if chosen else scheduler,
        "data_rotational": int(rotational) if rotational in ("0", "1") else None,
    }
