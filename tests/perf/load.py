"""Loading against sysbench: 8 x 100,000 sbtest rows with 2 threads on the same server.

Needs `sysbench` on the PATH. Prints the ratio of wall times (at most 1 is wanted).
"""

import resource
import subprocess
import time

from bench import alternate, cpu_seconds, ignore, print_ratios, private_server

import benchkit as bk
from benchkit.suites.native import LoadOrder, drop_data, ensure_loaded

ROWS, TABLES, THREADS = 100_000, 8, 2


def load_benchkit(server):
    """Return (seconds, client CPU seconds) of our load, without the checksums."""
    workload = bk.workloads.oltp_read_write(tables=TABLES, rows=ROWS)
    before = cpu_seconds(resource.RUSAGE_SELF)
    load = ensure_loaded(server, LoadOrder(workload, 1, THREADS, 1, "perf"), ignore)
    cpu = cpu_seconds(resource.RUSAGE_SELF) - before
    drop_data(server, "perf")
    return load.seconds, cpu


def load_sysbench(server):
    """Return the same of `sysbench prepare`."""
    server.query("CREATE DATABASE sysbench")
    command = [
        "sysbench",
        "oltp_read_write",
        f"--mysql-socket={server.endpoint['socket']}",
        "--mysql-user=root",
        "--mysql-db=sysbench",
        f"--tables={TABLES}",
        f"--table-size={ROWS}",
        f"--threads={THREADS}",
        "--rand-type=uniform",
        "prepare",
    ]
    before = cpu_seconds(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.perf_counter() - begun
    cpu = cpu_seconds(resource.RUSAGE_CHILDREN) - before
    server.query("DROP DATABASE sysbench")
    return seconds, cpu


def main():
    """Print the table."""
    with private_server() as server:
        pairs = alternate(3, lambda: load_benchkit(server), lambda: load_sysbench(server))
    print_ratios(
        f"load {TABLES} x {ROWS:,} rows, {THREADS} threads",
        [{"seconds": (a[0], b[0]), "client CPU seconds": (a[1], b[1])} for a, b in pairs],
    )


if __name__ == "__main__":
    main()
