"""What the machine is: the facts a measurement depends on.

Reads /proc and /sys; measures nothing and changes nothing. What a machine does not show is
None.
"""

import os
import platform
import re
from pathlib import Path

import psutil

Facts = dict[str, str | int | None]

_CPU = "sys/devices/system/cpu"
_FREQUENCY = f"{_CPU}/cpu0/cpufreq/scaling_governor"
_HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
_CLOCKSOURCE = "sys/devices/system/clocksource/clocksource0/current_clocksource"
_MACHINE = "sys/class/dmi/id/product_name"
_CONTAINER_MARKS = {".dockerenv": "docker", "run/.containerenv": "podman"}


def facts(root: Path = Path("/")) -> Facts:
    """Return the facts of this machine, by name.

    Parameters
    ----------
    root : Path
        Where /proc, /sys and /etc are found.

    Returns
    -------
    dict
        ``host``, ``cpu``, ``cpu_count``, ``core_count``, ``socket_count``, ``ram_bytes``,
        ``swap_bytes``, ``os``, ``os_version``, ``kernel``, ``governor``, ``thp``
        (transparent huge pages), ``clocksource``, ``virtualization``.
    """
    release = _read_os_release(root)
    cpuinfo = read_text(root / "proc/cpuinfo") or ""
    return {
        "host": platform.node(),
        "cpu": _find_field(cpuinfo, "model name") or platform.machine(),
        "cpu_count": os.cpu_count(),
        "core_count": psutil.cpu_count(logical=False),
        "socket_count": _count_sockets(root),
        "ram_bytes": psutil.virtual_memory().total,
        "swap_bytes": psutil.swap_memory().total,
        "os": release.get("NAME"),
        "os_version": release.get("VERSION_ID"),
        "kernel": platform.release(),
        "governor": read_text(root / _FREQUENCY),
        "thp": _chosen(read_text(root / _HUGE_PAGES)),
        "clocksource": read_text(root / _CLOCKSOURCE),
        "virtualization": _find_virtualization(root, cpuinfo),
    }


def read_text(path: Path) -> str | None:
    """Return the stripped text of a small file of the kernel; None where there is none."""
    try:
        return path.read_text().strip() or None
    except OSError:
        return None


def _find_field(cpuinfo: str, name: str) -> str | None:
    match = re.search(rf"^{name}\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return match[1] if match else None


def _chosen(text: str | None) -> str | None:
    """Return the word in brackets, as in ``always [madvise] never``."""
    match = re.search(r"\[(\w+)\]", text or "")
    return match[1] if match else None


def _count_sockets(root: Path) -> int | None:
    packages = {
        read_text(path) for path in (root / _CPU).glob("cpu[0-9]*/topology/physical_package_id")
    }
    return len(packages - {None}) or None


def _find_virtualization(root: Path, cpuinfo: str) -> str | None:
    """Return the container and the virtual machine around this process, as ``docker on kvm``."""
    layers = [name for mark, name in _CONTAINER_MARKS.items() if (root / mark).exists()]
    if "hypervisor" in (_find_field(cpuinfo, "flags") or "").split():
        layers.append(read_text(root / _MACHINE) or "hypervisor")
    return " on ".join(layers) or None


def _read_os_release(root: Path) -> dict[str, str]:
    lines = (read_text(root / "etc/os-release") or "").splitlines()
    pairs = (line.partition("=") for line in lines)
    return {name: value.strip("\"'") for name, _, value in pairs}
