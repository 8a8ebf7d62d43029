"""Memory and start-up: 64 workers, the import, and a thousand stored runs into a frame.

Wanted: at most 200 MB resident with 64 workers on 8 tables, at most 0.3 s for the import, at
most 2 s for the frame.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from bench import ignore, private_server

import benchkit as bk
from benchkit._core import Driver, Program
from benchkit.suites.native import LoadOrder, ensure_loaded

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import factory  # noqa: E402 - of the tests: makes studies on disk


def resident_mb(workers=64):
    """Return the largest resident size seen in a run with that many workers."""
    process = psutil.Process()
    seen = [0]
    with private_server() as server:
        workload = bk.workloads.oltp_read_write(tables=8, rows=10_000)
        order = LoadOrder(workload, workers, 2, 1, "perf")
        database = ensure_loaded(server, order, ignore).database
        driver = Driver(
            Program(workload.spec()),
            {**server.endpoint, "database": database},
            threads=workers,
            duration_s=10.0,
        )
        driver.run(lambda *_: seen.append(process.memory_info().rss))
    return max(seen) / 1e6


def import_seconds():
    """Return the best of five imports in a fresh interpreter, less the interpreter's own start."""

    def best(code):
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - begun)
        return min(times)

    return best("import benchkit") - best("pass")


def frame_seconds(runs=1000):
    """Return how long loading stored runs into a frame takes, pandas imported."""
    import pandas as pd

    del pd
    with tempfile.TemporaryDirectory() as folder:
        plan = factory.Plan(
            servers=("a", "b"), threads=(1, 2, 4, 8, 16), iterations=tuple(range(1, runs // 10 + 1))
        )
        factory.make_study(Path(folder) / "study", plan)
        begun = time.perf_counter()
        frame = bk.load(Path(folder) / "study").to_pandas()
        seconds = time.perf_counter() - begun
    assert len(frame) == runs
    return seconds


def main():
    """Print the figures."""
    print(f"64 workers, 8 tables: {resident_mb():.0f} MB resident")
    print(f"import benchkit: {import_seconds():.3f} s")
    print(f"1,000 stored runs into a frame: {frame_seconds():.2f} s")


if __name__ == "__main__":
    main()
