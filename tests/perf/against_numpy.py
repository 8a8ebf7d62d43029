"""Statistics of the core against NumPy and SciPy, on the same arrays.

Prints the ratio of times, ours / theirs: describe() of ten million numbers against mean, std,
skew and three percentiles (at most 0.5 is wanted), percentile() of them, and describe() of
100,000 rows of three against a Python loop over the rows, which calls NumPy and SciPy or our own
describe() (at most 0.05 is wanted).
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from bench import alternate, print_ratios
from scipy import stats

from benchkit import _core

PERCENTILES = [50, 95, 99]


def seconds(work: Callable[[], object]) -> float:
    """Return how long this takes once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(title: str, rounds: int, ours: Callable[[], object], theirs: Callable[[], object]):
    """Print the ratio of times from runs that take turns."""
    pairs = alternate(rounds, lambda: seconds(ours), lambda: seconds(theirs))
    print_ratios(title, [{"ms": (1e3 * a, 1e3 * b)} for a, b in pairs])


def describe_by_numpy(values):
    """Return the figures of one array."""
    return (
        np.mean(values),
        np.std(values),
        stats.skew(values),
        np.percentile(values, PERCENTILES),
    )


def extra_copies(values: np.ndarray) -> float:
    """Return the most memory that describe() holds, in sizes of the array."""
    tracemalloc.start()
    _core.describe(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / values.nbytes


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--numbers", type=int, default=10_000_000)
    parser.add_argument("--rows", type=int, default=100_000)
    arguments = parser.parse_args()
    numbers = np.random.default_rng(1).gamma(2.0, 3.0, arguments.numbers)
    rows = numbers[: 3 * arguments.rows].reshape(-1, 3)
    some = rows[: arguments.rows // 100]
    for title, ours, theirs in (
        ("describe", lambda: _core.describe(numbers), lambda: describe_by_numpy(numbers)),
        (
            "percentile",
            lambda: _core.percentile(numbers, PERCENTILES),
            lambda: np.percentile(numbers, PERCENTILES),
        ),
        (
            "describe rows, loop of describe",
            lambda: _core.describe(rows, axis=1),
            lambda: [_core.describe(row) for row in rows],
        ),
        (
            "describe 1 % of rows, NumPy loop",
            lambda: _core.describe(some, axis=1),
            lambda: [describe_by_numpy(row) for row in some],
        ),
    ):
        compare(title, arguments.rounds, ours, theirs)
    print(f"extra copies of the data in memory: {extra_copies(numbers):.2f}")


if __name__ == "__main__":
    main()
