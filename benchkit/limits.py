"""What this process, and the servers it starts, may use of the machine: control groups, CPUs.

Reads /proc and /sys, of both versions of control groups. What is not limited is None.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from benchkit.host import Facts, read_text

_UNLIMITED_BYTES = 1 << 60  # version 1 writes a number near 2**63 for no limit
_CGROUPS = "sys/fs/cgroup"


def facts(root: Path = Path("/")) -> Facts:
    """Return the limits of this process.

    Parameters
    ----------
    root : Path
        Where /proc and /sys are found.

    Returns
    -------
    dict
        ``usable_cpus`` (those it may be scheduled on), ``cpu_limit`` (CPUs' worth of time, as
        text such as ``1.5``) and ``memory_limit_bytes``.
    """
    cpus = [limit for folder in _folders(root, "cpu") if (limit := _cpu_limit(folder))]
    memory = [limit for folder in _folders(root, "memory") if (limit := _memory_limit(folder))]
    return {
        "usable_cpus": len(os.sched_getaffinity(0)),
        "cpu_limit": f"{min(cpus):g}" if cpus else None,
        "memory_limit_bytes": min(memory, default=None),
    }


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of the groups that this process is in, from its own up to the root."""
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        _, names, path = (line.split(":", 2) + ["", ""])[:3]
        if names and controller not in names.split(","):
            continue
        for base in {root / _CGROUPS / names, root / _CGROUPS / (names and controller)}:
            # In a container the path is often that of the host, and only the root is there.
            group = base / path.lstrip("/")
            yield from (folder for folder in (group, *group.parents) if folder.is_relative_to(base))


def _cpu_limit(folder: Path) -> float | None:
    quota, _, period = (read_text(folder / "cpu.max") or "").partition(" ")
    quota = quota or read_text(folder / "cpu.cfs_quota_us") or ""
    period = period or read_text(folder / "cpu.cfs_period_us") or ""
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


def _memory_limit(folder: Path) -> int | None:
    text = read_text(folder / "memory.max") or read_text(folder / "memory.limit_in_bytes") or ""
    return int(text) if text.isdigit() and int(text) < _UNLIMITED_BYTES else None
