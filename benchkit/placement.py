"""Which CPUs a server and the load threads may use, and the page cache before a run.

CPU lists are written as the kernel writes them, ``0-3,8``. What is asked for and cannot be had
is an error before anything starts; a page cache that this user may not drop is only told.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchkit.errors import ConfigError

Cpus = tuple[int, ...]
"""Ascending numbers; empty for all that the process may use."""

_LIST = re.compile(r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*")
_DROP_CACHES = Path("/proc/sys/vm/drop_caches")


def read_cpus(owner: str, cpus: str | Iterable[int] | None) -> Cpus:
    """Return a CPU list as numbers.

    Parameters
    ----------
    owner : str
        Whose it is, for messages.
    cpus : str, iterable of int, or None
        Such as ``"0-3,8"`` or ``range(4)``; None for all.

    Raises
    ------
    ConfigError
        When it is not a list of CPUs, or names one that this process may not use.
    """
    if cpus is None:
        return ()
    numbers = _parse(owner, cpus) if isinstance(cpus, str) else _numbers(owner, cpus)
    allowed = os.sched_getaffinity(0)
    if not numbers or not numbers <= allowed:
        raise ConfigError(
            f"{owner}: cpus {cpus!r} cannot be had: this process may use {format_cpus(allowed)}"
        )
    return tuple(sorted(numbers))


def format_cpus(cpus: Iterable[int]) -> str:
    """Return CPUs as the kernel writes them: ``0-3,8``."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in ranges)


def check_apart(first: str, first_cpus: Cpus, second: str, second_cpus: Cpus) -> None:
    """Raise ConfigError when two CPU lists share a CPU; an empty one shares none."""
    common = set(first_cpus) & set(second_cpus)
    if common:
        raise ConfigError(
            f"{first} and {second} are both placed on cpus {format_cpus(common)}: "
            "each needs its own, or neither a list"
        )


@contextmanager
def placed_on(cpus: Cpus) -> Iterator[None]:
    """Keep this thread, and the threads it starts meanwhile, on some CPUs."""
    if not cpus:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def drop_page_cache() -> str | None:
    """Have the kernel forget the files it holds; return why it did not, or None."""
    os.sync()
    try:
        _DROP_CACHES.write_text("3\n")
    except OSError as error:
        return f"the page cache was not dropped: {_DROP_CACHES}: {error.strerror}"
    return None


def _numbers(owner: str, cpus: Iterable[int]) -> set[int]:
    numbers = list(cpus) if isinstance(cpus, Iterable) else [None]
    if not all(isinstance(cpu, int) and not isinstance(cpu, bool) for cpu in numbers):
        raise _no_list(owner, cpus)
    return set(numbers)


def _no_list(owner: str, cpus: object) -> ConfigError:
    return ConfigError(f"{owner}: cpus are a list such as '0-3,8', not {cpus!r}")


def _parse(owner: str, text: str) -> set[int]:
    stripped = text.replace(" ", "")
    if not _LIST.fullmatch(stripped):
        raise _no_list(owner, text)
    numbers: set[int] = set()
    for part in stripped.split(","):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), min(int(last or first), 1 << 16) + 1))
    return numbers
