"""The native suite: load a workload's tables, and measure one run with the C driver.

A dataset has a database of its own, whose name comes from the workload. A table in it says what
was loaded, so that a later run, or a resumed study, finds its data and never takes a half-loaded
database, or somebody else's, for its own.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchkit._core import Connection, Driver, Histogram, Program, load
from benchkit.errors import RunError
from benchkit.hlog import format_header, format_line
from benchkit.plan import PlannedRun
from benchkit.server import Server
from benchkit.workloads import Workload

Row = dict[str, float]
"""One interval of a run; the fields are those of ``series.npy``."""

MARKER = "benchkit_load"


@dataclass(frozen=True, slots=True)
class Load:
    """What was loaded for a dataset.

    Parameters
    ----------
    database : str
    rows : int
        In all tables together.
    seconds : float
        Rows and indexes, without the checksums.
    checksums : dict of str to str or None
        CHECKSUM TABLE of each table after the load.
    reused : bool
        True when an earlier run loaded it.
    """

    database: str
    rows: int
    seconds: float
    checksums: dict[str, str | None]
    reused: bool = False


@dataclass(frozen=True, slots=True)
class LoadOrder:
    """What to load: the tables of `workload` for runs of up to `workers` threads."""

    workload: Workload
    workers: int
    threads: int
    seed: int

    @property
    def key(self) -> str:
        """What the marker must say for the data to be those of this order."""
        by_worker = any(table.count == "workers" for table in self.workload.tables)
        workers = self.workers if by_worker else 0
        return f"{self.workload.fingerprint()}/{self.seed}/{workers}"

    @property
    def rows(self) -> int:
        """How many rows all tables have together."""
        return sum(t.rows * int(t.count) for t in self.workload.tables_for(self.workers))


def database_name(workload: Workload) -> str:
    """Return the name of the database that holds a workload's tables."""
    return f"bench_{workload.name}_{workload.fingerprint()[:8]}"


def ensure_loaded(server: Server, order: LoadOrder, on_rows: Callable[[int], None]) -> Load:
    """Load the tables of a workload, unless they are there from an earlier load.

    Parameters
    ----------
    server : Server
        Running.
    order : LoadOrder
    on_rows : callable
        Called with the number of rows loaded so far.

    Raises
    ------
    RunError
        When a database of that name exists that benchkit did not make.
    DatabaseError
        When the server refuses something.
    """
    database = database_name(order.workload)
    with server.session() as admin:
        known = _read_marker(admin, database)
        if known is not None and known[0] == order.key and not order.workload.fresh_data:
            return replace(Load(**known[1]), reused=True)
        _make_tables(admin, database, order, drop=known is not None)
    started = time.monotonic()
    load(
        {**server.endpoint, "database": database},
        _tables_spec(order),
        threads=order.threads,
        seed=order.seed,
        on_progress=on_rows,
    )
    seconds = time.monotonic() - started
    with server.session(database) as admin:
        loaded = Load(database, order.rows, seconds, _checksums(admin, order))
        _write_marker(admin, order.key, loaded)
    return loaded


def drop_data(server: Server, workload: Workload) -> None:
    """Remove the database of a workload, if benchkit made it."""
    database = database_name(workload)
    with server.session() as admin:
        if _read_marker(admin, database) is not None:
            admin.query(f"DROP DATABASE `{database}`")


def _read_marker(admin: Connection, database: str) -> tuple[str, dict[str, Any]] | None:
    """Return what the marker of a database says; None where there is no such database.

    A load that did not end has an empty key.
    """
    name = _quote(database)
    found = admin.query(f"SELECT 1 FROM information_schema.schemata WHERE schema_name = {name}")
    if not found:
        return None
    marker = admin.query(
        "SELECT 1 FROM information_schema.tables "
        f"WHERE table_schema = {name} AND table_name = '{MARKER}'"
    )
    if not marker:
        raise RunError(
            f"the server has a database {database!r} that benchkit did not make; "
            "rename or drop it, or use another server"
        )
    rows = admin.query(f"SELECT load_key, facts FROM `{database}`.{MARKER}")
    if not rows:
        return "", {}
    key, facts = rows[0]
    return str(key), json.loads(str(facts))


def _make_tables(admin: Connection, database: str, order: LoadOrder, *, drop: bool) -> None:
    if drop:
        admin.query(f"DROP DATABASE `{database}`")
    admin.query(f"CREATE DATABASE `{database}`")
    admin.query(f"CREATE TABLE `{database}`.{MARKER} (load_key VARCHAR(200), facts LONGTEXT)")
    admin.query(f"USE `{database}`")
    for table in order.workload.tables_for(order.workers):
        for number in range(1, int(table.count) + 1):
            admin.query(_numbered(table.create, number))


def _write_marker(admin: Connection, key: str, loaded: Load) -> None:
    facts = json.dumps(asdict(loaded))
    admin.query(f"INSERT INTO {MARKER} VALUES ({_quote(key)}, {_quote(facts)})")


def _tables_spec(order: LoadOrder) -> list[tuple[object, ...]]:
    """Return the tables in the plain form that the C loader reads."""
    spec: list[tuple[object, ...]] = []
    for table in order.workload.tables_for(order.workers):
        columns = ", ".join(f"`{column}`" for column, _ in table.columns)
        for number in range(1, int(table.count) + 1):
            insert = f"INSERT INTO `{_numbered(table.name, number)}` ({columns}) VALUES"
            generators = [generator.spec() for _, generator in table.columns]
            finish = [_numbered(text, number) for text in table.finish]
            spec.append((insert, generators, table.rows, finish))
    return spec


def _checksums(admin: Connection, order: LoadOrder) -> dict[str, str | None]:
    names = [
        _numbered(table.name, number)
        for table in order.workload.tables_for(order.workers)
        for number in range(1, int(table.count) + 1)
    ]
    if not names:
        return {}
    quoted = ", ".join(f"`{name}`" for name in names)
    rows = admin.query(f"CHECKSUM TABLE {quoted}")
    return {name: row[1] for name, row in zip(names, rows, strict=True)}


def _numbered(text: str, number: int) -> str:
    return text.replace("{n}", str(number))


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


class NativeRun:
    """One run with the C driver; what it measured can be read even if it was stopped.

    Parameters
    ----------
    run : PlannedRun
    on_row : callable
        Called with every interval's row as it ends.
    """

    def __init__(self, run: PlannedRun, on_row: Callable[[Row], None]) -> None:
        self._run = run
        self._on_row = on_row
        self._log: list[str] = [format_header(time.time())]
        self._driver: Driver | None = None

    @property
    def log(self) -> str:
        """The text of ``latency.hlog``."""
        return "".join(self._log)

    @property
    def result(self) -> dict[str, Any] | None:
        """What the driver measured; None before it has ended."""
        return self._driver.result() if self._driver else None

    def measure(self, server: Server, database: str | None) -> dict[str, Any]:
        """Run to the end.

        Raises
        ------
        RunError
            When the server cannot take that many connections or prepared statements.
        DatabaseError
            When workers cannot connect or prepare.
        KeyboardInterrupt
            After Ctrl-C; `result` then holds what was measured.
        """
        run = self._run
        program = Program(run.workload.spec(), seed=run.seed)
        if program.needs_server:
            check_limits(server, program.prepared_statements, run.threads)
        self._driver = Driver(
            program,
            {**server.endpoint, "database": database} if program.needs_server else None,
            threads=run.threads,
            seed=run.random_seed,
            warmup_s=run.timing.warmup_s,
            duration_s=run.timing.duration_s or 0.0,
            transactions=run.timing.transactions,
        )
        return self._driver.run(self._on_interval)

    def _on_interval(self, row: Row, histograms: list[tuple[str, Histogram]]) -> None:
        begin_s = row["time_s"] - row["elapsed_s"]
        for tag, histogram in histograms:
            self._log.append(format_line(tag, begin_s, row["elapsed_s"], histogram))
        self._on_row(row)


def check_limits(server: Server, prepared: int, threads: int) -> None:
    """Raise RunError when the server's limits are too low for the run."""
    variables = server.variables()
    connections = int(variables["max_connections"])
    if threads > connections:
        raise RunError(
            f"{threads} threads need {threads} connections, but max_connections of server "
            f"{server.name!r} is {connections}: raise it, or use fewer threads"
        )
    statements = int(variables["max_prepared_stmt_count"])
    if prepared * threads > statements:
        raise RunError(
            f"{threads} threads x {prepared} prepared statements = {prepared * threads}, but "
            f"max_prepared_stmt_count of server {server.name!r} is {statements}: raise it, "
            "or use fewer tables or threads"
        )
