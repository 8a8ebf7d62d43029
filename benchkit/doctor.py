"""Is this machine, and this server, fit for a measurement? Each check with its advice.

Changes nothing. Works without a server; what cannot be seen is said to be so, not guessed.
"""

import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from benchkit import host
from benchkit._core import Program
from benchkit.config import Config, Value, private_options
from benchkit.datadir import temporary_base
from benchkit.errors import BenchkitError
from benchkit.install import find_install
from benchkit.server import Server
from benchkit.study import Study
from benchkit.units import format_count
from benchkit.workloads import Workload

Status = Literal["ok", "warn", "fail"]

_GIB = 2**30
_SERVER_BYTES = 2 * _GIB  # what a server without data needs: logs, temporary files
_BYTES_PER_ROW = 600  # a sbtest row with its index entries, twice over for logs and undo
_OTHER_CONNECTIONS = 3  # the study's own, its monitor, and somebody who wants to look
_STEADY_CLOCKS = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
_SAY_WHERE = "Say where one is: install=... of Server, or install in the study file."
_NOT_SHOWN = "not shown here, as in many virtual machines"


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check.

    Attributes
    ----------
    name : str
    status : "ok", "warn" or "fail"
    value : str
        What was found.
    advice : str
        What to do about it; empty where nothing needs to be done.
    """

    name: str
    status: Status
    value: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is examined: a server, the workloads it is for, and how many such there are."""

    facts: host.Facts
    server: Server | None
    workloads: tuple[Workload, ...]
    threads: int
    servers: int = 1


def examine(
    server: Server | None = None,
    workload: Workload | None = None,
    threads: Sequence[int] = (1,),
) -> list[Check]:
    """Check the machine, the server and whether the workload fits it.

    Parameters
    ----------
    server : Server, optional
        By default a private server without options of its own. One that runs is asked for
        its limits.
    workload : Workload, optional
        Whose tables and statements must fit.
    threads : sequence of int
        The thread counts to run; the largest counts.
    """
    workloads = () if workload is None else (workload,)
    subject = _Subject(host.facts(), server, workloads, max(threads, default=1))
    return [check(subject) for check in _CHECKS]


def examine_study(study: Study) -> list[Check]:
    """Check the machine, and each server of a study under all its workloads.

    What is the same for every server is said once; what is not has the server in its name.
    """
    facts, grid = host.facts(), study.grid
    subjects = [
        _Subject(facts, server, grid.workloads, max(grid.threads), len(study.servers))
        for server in study.servers
    ]
    return [check for examiner in _CHECKS for check in _check_each(examiner, subjects)]


def _check_each(examiner: "Examiner", subjects: Sequence[_Subject]) -> list[Check]:
    checks = [examiner(subject) for subject in subjects]
    if len(set(checks)) == 1:
        return checks[:1]
    return [
        replace(check, name=f"{check.name} ({subject.server.name})")
        for check, subject in zip(checks, subjects, strict=True)
        if subject.server is not None
    ]


def _check_server(subject: _Subject) -> Check:
    server = subject.server
    try:
        install = find_install() if server is None else server.install
        if install is not None:
            return Check("server", "ok", f"{install.product} {install.version} at {install.server}")
        assert server is not None
        where = server.install_label
        return Check("server", "ok", f"{server.product} {server.version} at {where}")
    except BenchkitError as error:
        problem, _, advice = str(error).partition("\n")
        return Check("server", "fail", problem, advice or _SAY_WHERE)


def _check_versions(subject: _Subject) -> Check:
    value = (
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        f"kernel {subject.facts['kernel']}"
    )
    return Check("versions", "ok", value)


def _check_governor(subject: _Subject) -> Check:
    governor = subject.facts["governor"]
    if governor is None:
        return Check("cpu governor", "ok", _NOT_SHOWN)
    if governor == "performance":
        return Check("cpu governor", "ok", str(governor))
    advice = "The clock rate varies with the load. As root: cpupower frequency-set -g performance"
    return Check("cpu governor", "warn", str(governor), advice)


def _check_huge_pages(subject: _Subject) -> Check:
    chosen = subject.facts["thp"]
    name = "transparent huge pages"
    if chosen != "always":
        return Check(name, "ok", str(chosen or _NOT_SHOWN))
    advice = (
        "The kernel may stop the server to move memory. As root: "
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    )
    return Check(name, "warn", "always", advice)


def _check_clock(subject: _Subject) -> Check:
    clock = subject.facts["clocksource"]
    if clock is None or clock in _STEADY_CLOCKS:
        return Check("clock source", "ok", str(clock or _NOT_SHOWN))
    advice = (
        "Reading this clock is slow, and every statement is timed. See "
        "/sys/devices/system/clocksource/clocksource0/available_clocksource for a better one."
    )
    return Check("clock source", "warn", str(clock), advice)


def _check_disk(subject: _Subject) -> Check:
    server = subject.server
    if server is not None and not server.private:
        return Check("disk space", "ok", "the server's own concern")
    directory = (server and server.directory) or temporary_base()
    existing = next(path for path in (directory, *directory.parents) if path.is_dir())
    free = shutil.disk_usage(existing).free
    needed = subject.servers * (_SERVER_BYTES + _rows(subject) * _BYTES_PER_ROW)
    value = f"{free / _GIB:.1f} GiB free in {existing}"
    if free >= 2 * needed:
        return Check("disk space", "ok", value)
    advice = (
        f"About {needed / _GIB:.1f} GiB are needed. Free some, or set BENCHKIT_DATA to a folder "
        "on a larger disk."
    )
    return Check("disk space", "fail" if free < needed else "warn", value, advice)


def _check_connections(subject: _Subject) -> Check:
    needed = subject.threads + _OTHER_CONNECTIONS
    return _check_limit(subject, "max_connections", needed, format_count(subject.threads, "thread"))


def _check_statements(subject: _Subject) -> Check:
    programs = [Program(workload.spec()) for workload in subject.workloads]
    each = max((program.prepared_statements for program in programs), default=0)
    threads = format_count(subject.threads, "thread")
    reason = f"{threads} x {format_count(each, 'statement')}"
    return _check_limit(subject, "max_prepared_stmt_count", subject.threads * each, reason)


def _check_limit(subject: _Subject, variable: str, needed: int, reason: str) -> Check:
    """Compare a limit of the server with what the runs need."""
    try:
        limit = int(str(_server_settings(subject.server)[variable]))
    except (BenchkitError, ValueError) as error:
        return Check(variable, "warn", "cannot tell", str(error))
    value = f"{limit}, {needed} needed ({reason})" if needed else str(limit)
    if limit >= needed:
        return Check(variable, "ok", value)
    private = subject.server is None or subject.server.private
    advice = (
        f"Give the Config {variable}={needed} or more."
        if private
        else f"On the server: SET GLOBAL {variable} = {needed};"
    )
    return Check(variable, "fail", value, advice)


def _server_settings(server: Server | None) -> Mapping[str, Value]:
    if server is None:
        return private_options(Config("default"), None)
    asks = server.running or not server.private
    return server.variables() if asks else server.options


def _rows(subject: _Subject) -> int:
    """Return how many rows the workloads load into one server."""
    tables = [t for workload in subject.workloads for t in workload.tables_for(subject.threads)]
    return sum(table.rows * int(table.count) for table in tables)


Examiner = Callable[[_Subject], Check]

_CHECKS: tuple[Examiner, ...] = (
    _check_server,
    _check_versions,
    _check_governor,
    _check_huge_pages,
    _check_clock,
    _check_disk,
    _check_connections,
    _check_statements,
)
