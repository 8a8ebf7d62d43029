"""What the machine is: the facts a measurement depends on.

Reads /proc and /sys; measures nothing and changes nothing, and needs no rights. What a machine
does not show is None. Of the disk below a server's data `storage` knows, of limits `limits`.
"""

import os
import platform
import re
from pathlib import Path

import psutil

Facts = dict[str, str | int | None]

_CPU = "sys/devices/system/cpu"
_HUGE_PAGES = "sys/kernel/mm/transparent_hugepage"
_CLOCKSOURCE = "sys/devices/system/clocksource/clocksource0/current_clocksource"
_MACHINE = "sys/class/dmi/id/product_name"
_CONTAINER_MARKS = {".dockerenv": "docker", "run/.containerenv": "podman"}
_ON_OFF = {"1": "on", "0": "off"}
_BOOT_OPTIONS = re.compile(
    r"(?:mitigations|nosmt|maxcpus|isolcpus|nohz_full|rcu_nocbs|idle|intel_idle\.max_cstate|"
    r"processor\.max_cstate|intel_pstate|amd_pstate|transparent_hugepage|numa_balancing|"
    r"spectre_v2|spec_store_bypass_disable|nopti|pti|mds|l1tf|retbleed|tsx|clocksource)(?:=.*)?"
)
"""What of the kernel's command line decides its speed; the rest may hold what is nobody's."""


def facts(root: Path = Path("/")) -> Facts:
    """Return the facts of this machine, by name.

    Parameters
    ----------
    root : Path
        Where /proc, /sys and /etc are found.

    Returns
    -------
    dict
        ``host``, ``cpu``, ``cpu_count``, ``core_count``, ``socket_count``, ``smt``,
        ``ram_bytes``, ``swap_bytes``, ``swappiness``, ``numa_nodes``, ``numa_balancing``,
        ``os`` (``Linux``), ``os_version`` (of the distribution), ``kernel``, ``boot_options``
        (those that decide speed, mitigations say), ``governor``, ``turbo``, ``thp`` and
        ``thp_defrag`` (transparent huge pages), ``clocksource``, ``virtualization``, ``libc``,
        ``preloaded`` (libraries, such as another malloc).
    """
    cpuinfo = read_text(root / "proc/cpuinfo") or ""
    return {
        "host": platform.node() or None,
        "cpu": _find_field(cpuinfo, "model name") or platform.machine() or None,
        "cpu_count": os.cpu_count(),
        "core_count": psutil.cpu_count(logical=False),
        "socket_count": _count_sockets(root),
        "smt": _ON_OFF.get(read_text(root / _CPU / "smt/active") or ""),
        "ram_bytes": psutil.virtual_memory().total,
        "swap_bytes": _find_swap(root),
        "swappiness": _number(read_text(root / "proc/sys/vm/swappiness")),
        "numa_nodes": len(list((root / "sys/devices/system/node").glob("node[0-9]*"))) or None,
        "numa_balancing": _number(read_text(root / "proc/sys/kernel/numa_balancing")),
        "os": platform.system() or None,
        "os_version": _find_distribution(root),
        "kernel": platform.release() or None,
        "boot_options": _find_boot_options(root),
        "governor": _find_governors(root),
        "turbo": _find_turbo(root),
        "thp": _chosen(read_text(root / _HUGE_PAGES / "enabled")),
        "thp_defrag": _chosen(read_text(root / _HUGE_PAGES / "defrag")),
        "clocksource": read_text(root / _CLOCKSOURCE),
        "virtualization": _find_virtualization(root, cpuinfo),
        "libc": " ".join(platform.libc_ver()).strip() or None,
        "preloaded": _find_preloaded(root),
    }


def read_text(path: Path) -> str | None:
    """Return the stripped text of a small file of the kernel; None where there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _find_field(cpuinfo: str, name: str) -> str | None:
    match = re.search(rf"^{name}\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return match[1] if match else None


def _chosen(text: str | None) -> str | None:
    """Return the word in brackets, as in ``always [madvise] never``."""
    match = re.search(r"\[([\w+-]+)\]", text or "")
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


def _find_swap(root: Path) -> int | None:
    match = re.search(r"^SwapTotal:\s*(\d+) kB", read_text(root / "proc/meminfo") or "", re.M)
    return int(match[1]) * 1024 if match else None


def _find_governors(root: Path) -> str | None:
    """Return the governor of the CPUs' frequency; all of them where CPUs have different ones."""
    files = (root / _CPU).glob("cpu[0-9]*/cpufreq/scaling_governor")
    return ", ".join(sorted({text for file in files if (text := read_text(file))})) or None


def _find_turbo(root: Path) -> str | None:
    """Return whether CPUs may go beyond their base frequency."""
    off = _ON_OFF.get(read_text(root / _CPU / "intel_pstate/no_turbo") or "")
    if off is not None:
        return "off" if off == "on" else "on"
    return _ON_OFF.get(read_text(root / _CPU / "cpufreq/boost") or "")


def _find_boot_options(root: Path) -> str | None:
    words = (read_text(root / "proc/cmdline") or "").split()
    return " ".join(word for word in words if _BOOT_OPTIONS.fullmatch(word)) or None


def _find_preloaded(root: Path) -> str | None:
    """Return the names of the libraries that programs started here get before all others."""
    texts = (os.environ.get("LD_PRELOAD", ""), read_text(root / "etc/ld.so.preload") or "")
    names = (os.path.basename(word) for text in texts for word in re.split(r"[\s:]+", text))
    return ", ".join(dict.fromkeys(name for name in names if name)) or None


def _find_distribution(root: Path) -> str | None:
    """Return name and version, such as ``AlmaLinux 9.7 (Moss Jungle Cat)``."""
    lines = (read_text(root / "etc/os-release") or "").splitlines()
    pairs = (line.partition("=") for line in lines)
    release = {name: value.strip("\"'") for name, _, value in pairs}
    named = f"{release.get('NAME', '')} {release.get('VERSION_ID', '')}".strip()
    return release.get("PRETTY_NAME") or named or None
