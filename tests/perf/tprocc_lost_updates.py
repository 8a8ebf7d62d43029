"""How many customers' balances concurrent payments make wrong, flavour by flavour.

HammerDB's payments read a balance without a lock and write back the sum, and its deliveries look
for the oldest order without one: of two updates at once one is lost, and an order can be delivered
twice. Both show in a customer's balance, the second once orders of the run are delivered: the 900
of the load that come first in each district are worth nothing. Measured with HammerDB 6 itself on 5
warehouses, after some 40,000 transactions on each: 1.2 % of the customers with 4 users, 1.5 to
2.1 % with 8, 2.5 % with 16. `hammerdb6` should be like that, and `spec` lose none. How many it are
depends on which transactions meet, and so on the homes that a seed gives to the threads.
"""

import argparse
from itertools import product

from bench import ignore, private_server

import benchkit as bk
from benchkit._core import Driver, Program
from benchkit.consistency import look_at
from benchkit.suites.native import LoadOrder, drop_data, ensure_loaded
from benchkit.workloads.tprocc_data import CUSTOMERS, DISTRICTS

BALANCE = "condition 10"
HAMMERDBS_SERVER = {"innodb_buffer_pool_size": "2G", "innodb_flush_log_at_trx_commit": 1}


def lose(
    server: bk.Server, workload: bk.workloads.Workload, transactions: int, threads: int, seed: int
) -> tuple[int, int]:
    """Return (customers with a wrong balance, payments) of a run on data loaded for it."""
    order = LoadOrder(workload, threads, 2, 1, "lost")
    database = ensure_loaded(server, order, ignore).database
    endpoint = {**server.endpoint, "database": database}
    program = Program(workload.spec(), seed=1)
    result = Driver(program, endpoint, threads=threads, seed=seed, transactions=transactions).run()
    with server.session(database) as session:
        (found,) = look_at(session, [c for c in workload.conditions if c.name == BALANCE], "run")
    drop_data(server, "lost")
    payments = next(t["committed"] for t in result["transactions"] if t["name"] == "payment")
    return found.violations, payments


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warehouses", type=int, default=5)
    parser.add_argument("--transactions", type=int, default=40_000, help="for each warehouse")
    parser.add_argument("--threads", type=int, nargs="+", default=[4, 8, 16])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="one run for each")
    parser.add_argument("--flavours", nargs="+", default=["hammerdb6", "spec"])
    parser.add_argument("--protocol", choices=["binary", "hammerdb"], default="binary")
    arguments = parser.parse_args()
    customers = arguments.warehouses * DISTRICTS * CUSTOMERS
    transactions = arguments.warehouses * arguments.transactions
    with private_server(**HAMMERDBS_SERVER) as server:
        for flavour in arguments.flavours:
            workload = bk.workloads.tprocc(
                warehouses=arguments.warehouses, flavour=flavour, protocol=arguments.protocol
            )
            for threads, seed in product(arguments.threads, arguments.seeds):
                wrong, payments = lose(server, workload, transactions, threads, seed)
                print(
                    f"{flavour:10} {threads:3} threads, seed {seed}: {wrong:6,} of {customers:,} "
                    f"customers ({100 * wrong / customers:.2f} %) after {payments:,} payments",
                    flush=True,
                )


if __name__ == "__main__":
    main()
