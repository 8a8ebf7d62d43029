"""How many customers' balances concurrent payments make wrong, flavour by flavour.

HammerDB reads a balance without a lock and writes back the sum, so that one of two payments at
once is lost. Measured with HammerDB 6 itself on 5 warehouses, after two minutes: 1.2 % of the
customers with 4 users, 1.5 to 2.1 % with 8, 2.5 % with 16. `hammerdb6` should be like that, and
`spec` lose none.
"""

import argparse

from bench import ignore, private_server

import benchkit as bk
from benchkit._core import Driver, Program
from benchkit.consistency import look_at
from benchkit.suites.native import LoadOrder, drop_data, ensure_loaded
from benchkit.workloads.tprocc_data import CUSTOMERS, DISTRICTS

BALANCE = "condition 10"


def lose(
    server: bk.Server, workload: bk.workloads.Workload, threads: int, seconds: float
) -> tuple[int, int]:
    """Return (customers with a wrong balance, payments) of a run on data loaded for it."""
    order = LoadOrder(workload, threads, 2, 1, "lost")
    database = ensure_loaded(server, order, ignore).database
    endpoint = {**server.endpoint, "database": database}
    result = Driver(
        Program(workload.spec(), seed=1), endpoint, threads=threads, duration_s=seconds
    ).run()
    with server.session(database) as session:
        (found,) = look_at(session, [c for c in workload.conditions if c.name == BALANCE], "run")
    drop_data(server, "lost")
    payments = next(t["committed"] for t in result["transactions"] if t["name"] == "payment")
    return found.violations, payments


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warehouses", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int, nargs="+", default=[4, 8, 16])
    arguments = parser.parse_args()
    customers = arguments.warehouses * DISTRICTS * CUSTOMERS
    with private_server() as server:
        for flavour in ("hammerdb6", "spec"):
            workload = bk.workloads.tprocc(warehouses=arguments.warehouses, flavour=flavour)
            for threads in arguments.threads:
                wrong, payments = lose(server, workload, threads, arguments.seconds)
                print(
                    f"{flavour:10} {threads:3} threads: {wrong:6,} of {customers:,} customers "
                    f"({100 * wrong / customers:.2f} %) after {payments:,} payments",
                    flush=True,
                )


if __name__ == "__main__":
    main()
