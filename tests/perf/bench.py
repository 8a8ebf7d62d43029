"""What the measurements in this folder share: a server, pairs of alternating runs, ratios.

Run each script by hand on a quiet machine, from the repository's root:

    .venv/bin/python tests/perf/against_sysbench.py

The figures are ratios from runs that take turns, so that drift of the machine hits both sides.
"""

import resource
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import benchkit as bk

T = TypeVar("T")

SERVER_OPTIONS = {
    "innodb_buffer_pool_size": "1G",
    "innodb_log_file_size": "512M",
    "innodb_flush_log_at_trx_commit": 2,
}


@contextmanager
def private_server(**options: str | int) -> Iterator[bk.Server]:
    """A server with room for all data of these scripts."""
    with bk.Server(bk.Config("perf", {**SERVER_OPTIONS, **options})) as server:
        yield server


def cpu_seconds(who: int) -> float:
    """User and system time of this process, or of its ended children."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def print_ratios(title: str, pairs: list[dict[str, tuple[float, float]]]) -> None:
    """Print ours / theirs for each quantity: the median of the pairs, and their range."""
    for quantity in pairs[0]:
        ratios = [pair[quantity][0] / pair[quantity][1] for pair in pairs]
        ours, theirs = (statistics.median(pair[quantity][i] for pair in pairs) for i in (0, 1))
        print(
            f"{title:34} {quantity:26} ours {ours:10.2f}  theirs {theirs:10.2f}  "
            f"ratio {statistics.median(ratios):.3f} ({min(ratios):.3f}..{max(ratios):.3f})",
            flush=True,
        )


def alternate(rounds: int, ours: Callable[[], T], theirs: Callable[[], T]) -> list[tuple[T, T]]:
    """Run both sides `rounds` times, taking turns at going first; the first pair is thrown away."""
    pairs = []
    for number in range(rounds + 1):
        if number % 2:
            mine = ours()
            other = theirs()
        else:
            other = theirs()
            mine = ours()
        pairs.append((mine, other))
    return pairs[1:]


def ignore(*_: object) -> None:
    """Take no notice of progress."""
