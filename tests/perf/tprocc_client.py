"""What a TPROC-C transaction costs the client, by procedure and as client SQL.

Wanted, against HammerDB 6 measured on a 2-core machine: at most 0.35 of its 99 to 138 us of client
CPU per transaction with procedures, at most 0.5 of its 690 us without. And without a server the
cost of drawing a transaction must not grow with the warehouses: at most by 10 % from 1 to 1,000.
"""

import argparse
import time
from dataclasses import replace

from bench import ignore, private_server

import benchkit as bk
from benchkit._core import Driver, Program
from benchkit.suites.native import LoadOrder, ensure_loaded
from benchkit.workloads import Begin, Choose, Commit, Execute, If, Repeat, Rollback, RolledBack

HAMMERDB_US = {True: (99, 138), False: (690, 690)}
LIMITS = {True: 0.35, False: 0.5}


def measure(server, database, workload, threads, seconds):
    """Return (client CPU in us per transaction, statements per transaction, transactions/s)."""
    driver = Driver(
        Program(workload.spec(), seed=1),
        {**server.endpoint, "database": database},
        threads=threads,
        warmup_s=1.0,
        duration_s=seconds,
    )
    result = driver.run()
    accounting = result["accounting"]
    done = accounting["committed"] + accounting["rolled_back"]
    measured = sum(t["committed"] + t["rolled_back"] for t in result["transactions"])
    cpu = result["cpu_user_s"] + result["cpu_system_s"]
    statements = result["statements_in_all_phases"] / done
    return 1e6 * cpu / done, statements, measured / result["measured_s"]


def without_statements(steps):
    """Return the steps that draw and compute."""
    return tuple(_silent(step) for step in steps if not isinstance(step, SENT))


SENT = (Begin, Commit, Rollback, RolledBack, Execute)


def _silent(step):
    match step:
        case Repeat():
            return replace(step, steps=without_statements(step.steps))
        case Choose():
            return Choose(tuple((w, without_statements(s)) for w, s in step.branches))
        case If():
            then, otherwise = map(without_statements, (step.then, step.otherwise))
            return replace(step, then=then, otherwise=otherwise)
    return step


def draw_ns(warehouses, home):
    """Return the best of three: ns that a worker takes to draw a transaction."""
    made = bk.workloads.tprocc(warehouses=warehouses, home=home)
    kinds = [replace(t, steps=without_statements(t.steps[:-1])) for t in made.transactions]
    kinds = [replace(t, steps=tuple(s for s in t.steps if not isinstance(s, If))) for t in kinds]
    program = Program(replace(made, transactions=tuple(kinds), session=()).spec())
    best = []
    for _ in range(3):
        begun = time.perf_counter()
        result = Driver(program, None, seed=1, transactions=1_000_000).run()
        best.append((time.perf_counter() - begun) / result["accounting"]["committed"])
    return min(best) * 1e9


def main():
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warehouses", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=8)
    arguments = parser.parse_args()
    for home in ("worker", "all", "partitioned"):
        costs = {w: draw_ns(w, home) for w in (1, 10, 100, 1000)}
        listed = ", ".join(f"{w}: {ns:.0f} ns" for w, ns in costs.items())
        print(f"drawing, home {home:12} {listed}  ratio {costs[1000] / costs[10]:.3f}", flush=True)
    with private_server() as server:
        for procedures in (True, False):
            for flavour in ("hammerdb6", "spec"):
                workload = bk.workloads.tprocc(
                    warehouses=arguments.warehouses, flavour=flavour, procedures=procedures
                )
                order = LoadOrder(workload, arguments.threads, 2, 1, "perf")
                database = ensure_loaded(server, order, ignore).database
                us, statements, rate = measure(
                    server, database, workload, arguments.threads, arguments.seconds
                )
                low, high = (us / other for other in HAMMERDB_US[procedures][::-1])
                print(
                    f"{flavour:10} {'procedures' if procedures else 'client SQL'}: "
                    f"{us:6.1f} us/transaction, {statements:5.2f} statements, {rate:7.0f}/s; "
                    f"{low:.2f}..{high:.2f} of HammerDB's (wanted: {LIMITS[procedures]})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
