"""The facts of our own runs as reports show them: System, Database and Test Info.

The rows are those of the reference reports; what else decides whether hosts can be compared has
rows of its own, for the style that shows differences. Pure functions on stored records.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any

from benchkit.record import RunRecord
from benchkit.report_taf import MISSING
from benchkit.units import format_size

_GIB = 2**30
_SYSTEM = {
    "host": "Host",
    "cpu": "CPU",
    "cpu_count": "CPU Count",
    "core_count": "Core Count",
    "socket_count": "Socket Count",
    "os": "OS",
    "os_version": "OS Version",
    "kernel": "OS Kernel",
}
_CONDITIONS = {
    "governor": "CPU governor",
    "turbo": "CPU turbo",
    "smt": "SMT",
    "numa_nodes": "NUMA nodes",
    "numa_balancing": "NUMA balancing",
    "thp": "Transparent huge pages",
    "thp_defrag": "Huge pages' defragmentation",
    "swap_bytes": "Swap",
    "swappiness": "Swappiness",
    "clocksource": "Clock source",
    "boot_options": "Boot options",
    "virtualization": "Virtualization",
    "usable_cpus": "Usable CPUs",
    "cpu_limit": "CPU limit",
    "memory_limit_bytes": "Memory limit",
    "data_file_system": "File system",
    "data_mount_options": "Mount options",
    "data_device": "Disk device",
    "data_disk": "Disk model",
    "data_scheduler": "I/O scheduler",
    "data_rotational": "Rotational disk",
    "libc": "C library",
    "preloaded": "Preloaded libraries",
}
_PROVENANCE = {
    "DB Config Origin": "origin",
    "DB Config Source File": "source",
    "DB Generated Config Run File": "run_file",
}


def system_rows(environment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the rows about a host; what it did not show has none."""
    for name, label in _SYSTEM.items():
        if environment.get(name) is not None:
            yield label, str(environment[name])
    if environment.get("ram_bytes"):
        yield "RAM", f"{environment['ram_bytes'] / _GIB:.2f} GB"
    disk = [environment.get(name) for name in ("data_disk", "data_device", "data_file_system")]
    if any(disk):
        yield "Disk", ", ".join(str(part) for part in disk if part)


def condition_rows(environment: Mapping[str, Any], record: RunRecord) -> Iterator[tuple[str, str]]:
    """Yield what else of a host, and of a server's build, decides how fast it is."""
    for name, label in _CONDITIONS.items():
        value = environment.get(name)
        if value is not None:
            yield label, format_size(value) if name.endswith("_bytes") else str(value)
    malloc = (record.server.get("config") or {}).get("malloc")
    if malloc:
        yield "Memory allocator", str(malloc)


def database_rows(record: RunRecord) -> Iterator[tuple[str, str]]:
    """Yield the rows about a server; where its options come from is missing if it ran already."""
    server, parameters = record.server, record.workload.get("parameters", {})
    config = server.get("config") or {}
    install = server.get("install")
    values = {
        "Database Maker": str(server.get("product") or "").lower(),
        "Database Version": server.get("version"),
        "Engine": parameters.get("storage_engine"),
        "Install Dir": PurePath(install).name if install else None,
    }
    yield from ((label, str(value)) for label, value in values.items() if value)
    if server:
        for label, name in _PROVENANCE.items():
            yield label, str(config.get(name) or MISSING)


def test_rows(workload: str, records: Sequence[RunRecord]) -> Iterator[tuple[str, str]]:
    """Yield the rows about what was executed, from the runs of one dataset."""
    first = records[0]
    suite, _, test = workload.rpartition(":")
    identity = first.identity
    values = {
        "Test Suite": suite or test,  # an identity may be one name for both
        "Test Name": test,
        "Test Case Tag": first.factors.server,
        "Duration": identity.get("duration_s"),
        "Iterations": len({record.factors.iteration for record in records}),
        "Timestamp": _first_time(records),
        "AutoGen Prop File": (first.properties or {}).get("file"),
        "Iteration Mode": _mode_text(identity.get("iteration_mode")),
        "Replicas": identity.get("replicas"),
        "Transactions": identity.get("transactions"),
        "Warmup": identity.get("warmup_s"),
        "Threads": _listed(record.factors.threads for record in records),
    }
    yield from ((label, _number(value)) for label, value in values.items() if value)
    for name, value in sorted(first.workload.get("parameters", {}).items()):
        if value != "":
            yield name.replace("_", " ").capitalize(), _number(value)


def _mode_text(mode: str | None) -> str | None:
    return f"{mode} (cold caches)" if mode in ("restart", "restore") else mode


def _first_time(records: Sequence[RunRecord]) -> str:
    """Return when the first of the runs began, in UTC, as the reports write a time."""
    began = min((record.time.get("start_utc") or "" for record in records), default="")
    try:
        time = datetime.fromisoformat(began)
    except ValueError:
        return began
    return f"{time.year}-{time.month}-{time.day} {time:%H:%M:%S}"


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(set(numbers))))


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
