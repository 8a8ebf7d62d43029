"""Is this machine, and this server, fit for a measurement? Each check with its advice.

Changes nothing. Works without a server; what cannot be seen is said to be so, not guessed.
"""

import math
import platform
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchkit import host
from benchkit.config import Config, Value, private_options
from benchkit.datadir import temporary_base
from benchkit.errors import BenchkitError
from benchkit.generators import Generator
from benchkit.install import find_install
from benchkit.server import Server
from benchkit.workloads.model import Table, Workload
from benchkit.workloads.steps import Choose, Execute, Let, Repeat, Step

Status = Literal["ok", "warn", "fail"]

_GIB = 2**30
_SERVER_BYTES = 2 * _GIB  # what a server without data needs: logs, temporary files
_BYTES_PER_ROW = 600  # a sbtest row with its index entries, twice over for logs and undo
_OTHER_CONNECTIONS = 3  # the study's own, its monitor, and somebody who wants to look
_STEADY_CLOCKS = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
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
    """What is examined."""

    facts: host.Facts
    server: Server | None
    workload: Workload | None
    threads: int


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
    subject = _Subject(host.facts(), server, workload, max(threads, default=1))
    return [check(subject) for check in _CHECKS]


def statements_per_connection(workload: Workload) -> int:
    """Return how many statements each connection prepares for a workload."""
    steps = [step for t in workload.transactions for step in _flatten(t.steps)]
    choices = {
        step.register: _range_size(step.source)
        for step in steps
        if isinstance(step, Let) and isinstance(step.source, Generator)
    }
    texts = {step.sql for step in steps if isinstance(step, Execute)}
    return sum(_count_variants(text, choices) for text in texts)


def _flatten(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        match step:
            case Repeat(_, inner):
                yield from _flatten(inner)
            case Choose(branches):
                for _, inner in branches:
                    yield from _flatten(inner)


def _range_size(generator: Generator) -> int:
    arguments = dict(generator.arguments)
    low, high = arguments.get("low"), arguments.get("high")
    return high - low + 1 if isinstance(low, int) and isinstance(high, int) else 1


def _count_variants(sql: str, choices: dict[str, int]) -> int:
    """Return how many statements a text with ``{register}`` stands for."""
    return math.prod(choices.get(name, 1) for name in re.findall(r"\{(\w+)\}", sql))


def _check_server(subject: _Subject) -> Check:
    server = subject.server
    try:
        if server is None:
            install = find_install()
            return Check("server", "ok", f"{install.version} at {install.mariadbd}")
        return Check("server", "ok", f"{server!r}: {server.product} {server.version}")
    except BenchkitError as error:
        problem, _, advice = str(error).partition("\n")
        return Check("server", "fail", problem, advice or "See Server(install=...).")


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
    rows = sum(t.rows * int(t.count) for t in _tables(subject))
    needed = _SERVER_BYTES + rows * _BYTES_PER_ROW
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
    return _check_limit(subject, "max_connections", needed, f"{subject.threads} threads")


def _check_statements(subject: _Subject) -> Check:
    each = statements_per_connection(subject.workload) if subject.workload else 0
    reason = f"{subject.threads} threads x {each} statements"
    return _check_limit(subject, "max_prepared_stmt_count", subject.threads * each, reason)


def _check_limit(subject: _Subject, variable: str, needed: int, reason: str) -> Check:
    """Compare a limit of the server with what the runs need."""
    try:
        limit = int(str(_server_settings(subject.server)[variable]))
    except (BenchkitError, ValueError) as error:
        return Check(variable, "warn", "cannot tell", str(error))
    value = f"{limit}, {needed} needed ({reason})"
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


def _tables(subject: _Subject) -> tuple[Table, ...]:
    return subject.workload.tables_for(subject.threads) if subject.workload else ()


_CHECKS: tuple[Callable[[_Subject], Check], ...] = (
    _check_server,
    _check_versions,
    _check_governor,
    _check_huge_pages,
    _check_clock,
    _check_disk,
    _check_connections,
    _check_statements,
)
