"""Building TPROC-C's schema: 5 warehouses with 2 threads, beside the server's own floor.

The floor is the same rows without generating them: by LOAD DATA, and by the `mariadb` client
from a dump. HammerDB 6 needs 46.7 s and 48 s of client CPU on a machine of two cores with its
server on the same two: at most a third and a tenth of that are wanted. Prints too what else the
machine was busy with, and how the cost of a row grows with the number of warehouses.
"""

import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import cpu_seconds, ignore, private_server

import benchkit as bk
from benchkit._core import load
from benchkit.suites.native import LoadOrder, drop_data, ensure_loaded
from benchkit.workloads import Transaction, Workload
from benchkit.workloads import tprocc_data as data
from benchkit.workloads import tprocc_schema as schema

WAREHOUSES, THREADS = 5, 2
HAMMERDB_S, HAMMERDB_CPU_S = 46.7, 48.0
MANY_WAREHOUSES = 1000


@dataclass
class Cost:
    """What something took, in seconds of wall and CPU time."""

    wall_s: float = 0.0
    client_s: float = 0.0
    server_s: float = 0.0
    others_s: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.wall_s:6.2f} s wall, CPU: client {self.client_s:5.2f} s, "
            f"server {self.server_s:5.2f} s, other processes {self.others_s:5.2f} s"
        )


def server_cpu_s(server: bk.Server) -> float:
    """CPU time of the server process so far."""
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def machine_cpu_s() -> float:
    """CPU time of all processes so far."""
    user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def client_cpu_s() -> float:
    """CPU time of this process and its children."""
    return cpu_seconds(resource.RUSAGE_SELF) + cpu_seconds(resource.RUSAGE_CHILDREN)


@contextmanager
def measured(server: bk.Server) -> Iterator[Cost]:
    """Fill in what the block takes."""
    cost = Cost()
    before = time.perf_counter(), client_cpu_s(), server_cpu_s(server), machine_cpu_s()
    yield cost
    after = time.perf_counter(), client_cpu_s(), server_cpu_s(server), machine_cpu_s()
    cost.wall_s, cost.client_s, cost.server_s, whole_s = (
        b - a for a, b in zip(before, after, strict=True)
    )
    cost.others_s = max(whole_s - cost.client_s - cost.server_s, 0.0)


def build(server: bk.Server) -> tuple[str, Cost]:
    """Build the schema as a study does; return its database and the cost."""
    made = Workload(
        "tprocc/hammerdb6:perf",
        (Transaction("none", ()),),
        data.tables(schema.Schema(WAREHOUSES)),
        routines=schema.ANALYZE,
        database_options=schema.DATABASE_OPTIONS,
    )
    with measured(server) as cost:
        loaded = ensure_loaded(server, LoadOrder(made, 1, THREADS, 1, "perf"), ignore)
    cost.wall_s = loaded.seconds  # without the checksums
    return loaded.database, cost


def copy_by(server: bk.Server, name: str, fill: Callable[[str], None]) -> Cost:
    """Make empty tables in a database of that name; return the cost of filling them."""
    server.query(f"CREATE DATABASE {name} {schema.DATABASE_OPTIONS}")
    with server.session(name) as session:
        for table in schema.TABLES:
            session.query(schema.create_table(schema.Schema(WAREHOUSES), table))
    with measured(server) as cost:
        fill(name)
    server.query(f"DROP DATABASE {name}")
    return cost


def load_data(server: bk.Server, source: str, folder: Path) -> Cost:
    """Copy a database by LOAD DATA, one table after the other."""
    for table in schema.TABLES:
        server.query(f"SELECT * FROM {source}.{table} INTO OUTFILE '{folder}/{table}'")

    def fill(name: str) -> None:
        for table in schema.TABLES:
            server.query(f"LOAD DATA INFILE '{folder}/{table}' INTO TABLE {name}.{table}")

    return copy_by(server, "floor_load_data", fill)


def client_from_dump(server: bk.Server, source: str, folder: Path) -> Cost:
    """Copy a database by its dump and the `mariadb` client."""
    login = [f"--socket={server.endpoint['socket']}", "--user=root"]
    dump = folder / "dump.sql"
    subprocess.run(
        ["mariadb-dump", *login, "--no-create-info", f"--result-file={dump}", source]
        + list(schema.TABLES),
        check=True,
    )

    def fill(name: str) -> None:
        with dump.open() as file:
            subprocess.run(["mariadb", *login, name], stdin=file, check=True)

    return copy_by(server, "floor_client", fill)


def row_cost_us(server: bk.Server, warehouses: int) -> float:
    """Client CPU for a row of the last warehouse, the others being noted as done."""
    server.query(f"CREATE OR REPLACE DATABASE last {schema.DATABASE_OPTIONS}")
    spec, rows = [], 0
    with server.session("last") as session:
        for table in data.tables(schema.Schema(warehouses)):
            if not table.parts:
                continue
            session.query(table.create.replace("InnoDB", "BLACKHOLE"))
            columns = ([table.lines[0]] if table.lines else []) + [c for c, _ in table.columns]
            insert = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES"
            how: dict[str, object] = {
                "part_rows": table.parts[1],
                "done": list(range(1, warehouses)),
            }
            how |= {"lines": table.lines[1].spec()} if table.lines else {}
            spec.append((insert, [g.spec() for _, g in table.columns], table.rows, [], how))
            rows += table.expected_rows // warehouses
    before = cpu_seconds(resource.RUSAGE_SELF)
    load({**server.endpoint, "database": "last"}, spec, threads=1)
    cost = cpu_seconds(resource.RUSAGE_SELF) - before
    server.query("DROP DATABASE last")
    return 1e6 * cost / rows


def print_growth(server: bk.Server) -> None:
    """Print how the client's cost of a row grows with the number of warehouses."""
    try:
        server.query("INSTALL SONAME 'ha_blackhole'")
    except bk.BenchkitError as error:
        print(f"no growth of the cost of a row: {error}")
        return
    pairs = [(row_cost_us(server, 1), row_cost_us(server, MANY_WAREHOUSES)) for _ in range(3)]
    one, many = (min(pair[i] for pair in pairs) for i in (0, 1))
    print(
        f"client CPU for a row: {one:.3f} us with 1 warehouse, {many:.3f} us with "
        f"{MANY_WAREHOUSES}: ratio {many / one:.3f}"
    )


def main() -> None:
    """Print the figures."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    folder.chmod(0o777)
    with private_server() as server:
        print(f"{WAREHOUSES} warehouses, {THREADS} threads; load average {os.getloadavg()[0]:.1f}")
        for last in (False, False, True):
            database, cost = build(server)
            print(
                f"build: {cost}; wall {cost.wall_s / HAMMERDB_S:.2f} and client CPU "
                f"{cost.client_s / HAMMERDB_CPU_S:.3f} of HammerDB's",
                flush=True,
            )
            if not last:
                drop_data(server, "perf")
        print(f"LOAD DATA, 1 thread: {load_data(server, database, folder)}", flush=True)
        print(f"mariadb < dump: {client_from_dump(server, database, folder)}", flush=True)
        print_growth(server)
    shutil.rmtree(folder)
    print(f"largest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
