"""The driver itself: transactions per second of a program without statements.

Prints transactions/s per core for one worker and for one per core (at least 5 million are
wanted), and what recording one transaction costs: the difference to the same C loop without it
cannot be had from outside, so tests/perf/recorder.c times the recorder alone.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import benchkit as bk
from benchkit._core import Driver, Program

ROOT = Path(__file__).resolve().parents[2]


def null_rate(threads, seconds=3.0):
    """Return transactions/s of one worker among `threads`."""
    driver = Driver(Program(bk.workloads.null().spec()), None, threads=threads, duration_s=seconds)
    result = driver.run()
    return result["transactions"][0]["committed"] / result["measured_s"] / threads


def recorder_cost():
    """Return the output of the C program that times the recorder."""
    with tempfile.TemporaryDirectory() as build:
        subprocess.run(
            ["make", "-s", "-C", str(ROOT / "tests" / "perf"), f"BUILD={build}"], check=True
        )
        return subprocess.run(
            [f"{build}/recorder"], check=True, capture_output=True, text=True
        ).stdout


def main():
    """Print the figures."""
    for threads in sorted({1, len(os.sched_getaffinity(0))}):
        rates = [null_rate(threads) / 1e6 for _ in range(3)]
        print(f"null program, {threads} workers: {max(rates):.1f} million transactions/s per core")
    print(recorder_cost(), end="")


if __name__ == "__main__":
    main()
