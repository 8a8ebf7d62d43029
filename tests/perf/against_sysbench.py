"""Throughput and client CPU against sysbench: same server, same tables, same threads.

Needs `sysbench` on the PATH. Prints, for point selects and read-only transactions at 1, 4 and 32
threads, the ratio of throughputs (at least 1 is wanted) and of client CPU per statement, user and
system time by getrusage (at most 0.9 is wanted).
"""

import argparse
import re
import resource
import subprocess

from bench import alternate, cpu_seconds, ignore, print_ratios, private_server

import benchkit as bk
from benchkit._core import Driver, Program
from benchkit.suites.native import LoadOrder, ensure_loaded

ROWS, TABLES = 100_000, 2


def measure_benchkit(server, database, workload, threads, seconds):
    """Return (transactions/s, client CPU in us per statement)."""
    program = Program(workload.spec(), seed=1)
    driver = Driver(
        program, {**server.endpoint, "database": database}, threads=threads, duration_s=seconds
    )
    before = cpu_seconds(resource.RUSAGE_SELF)
    result = driver.run()
    cpu = cpu_seconds(resource.RUSAGE_SELF) - before
    committed = sum(t["committed"] for t in result["transactions"])
    return committed / result["measured_s"], 1e6 * cpu / result["statements_in_all_phases"]


def measure_sysbench(server, database, workload, threads, seconds):
    """Return the same of one sysbench process, its start and preparing included."""
    command = [
        "sysbench",
        workload.name,
        f"--mysql-socket={server.endpoint['socket']}",
        "--mysql-user=root",
        f"--mysql-db={database}",
        f"--tables={TABLES}",
        f"--table-size={ROWS}",
        f"--threads={threads}",
        f"--time={seconds}",
        "--rand-type=uniform",
        "run",
    ]
    before = cpu_seconds(resource.RUSAGE_CHILDREN)
    report = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    cpu = cpu_seconds(resource.RUSAGE_CHILDREN) - before
    queries = int(re.search(r"queries: +(\d+)", report)[1])
    return float(re.search(r"transactions: +\d+ +\(([\d.]+)", report)[1]), 1e6 * cpu / queries


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 4, 32])
    arguments = parser.parse_args()
    with private_server() as server:
        for name in ("oltp_point_select", "oltp_read_only"):
            workload = bk.workloads.find(name, rows=ROWS, tables=TABLES)
            database = ensure_loaded(server, LoadOrder(workload, 1, 2, 1, "perf"), ignore).database
            for threads in arguments.threads:
                setting = (server, database, workload, threads, arguments.seconds)
                pairs = alternate(
                    arguments.rounds,
                    lambda setting=setting: measure_benchkit(*setting),
                    lambda setting=setting: measure_sysbench(*setting),
                )
                print_ratios(
                    f"{name}, {threads} threads",
                    [
                        {"transactions/s": (a[0], b[0]), "client us/statement": (a[1], b[1])}
                        for a, b in pairs
                    ],
                )


if __name__ == "__main__":
    main()
