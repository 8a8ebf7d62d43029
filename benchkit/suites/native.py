"""The native suite: load a workload's tables, and measure one run with the C driver.

A dataset has a database of its own, named after workload and study. A table in it says what
was loaded, so that a later run, or a resumed study, finds its data and never takes a half-loaded
database, or somebody else's, for its own.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from benchkit._core import Connection, Driver, Histogram, Program, draw, load
from benchkit.checks import count_rows
from benchkit.consistency import look_at, require
from benchkit.errors import DatabaseError
from benchkit.hlog import format_header, format_line
from benchkit.plan import PlannedRun
from benchkit.server import Server
from benchkit.suites import existing, parts
from benchkit.version import get_version
from benchkit.workloads import Workload
from benchkit.workloads.model import Table

Row = dict[str, float]
"""One interval of a run; the fields are those of ``series.npy``."""

MARKER = "benchkit_load"

_NO_DATABASE = 1046
_SAMPLED_ROWS = 100
_NUMBER_BYTES = 8
_ROW_BYTES = 20  # what InnoDB adds to a row
_PAGES_PER_ROW = 1.5  # pages are not full, and there are indexes


@dataclass(frozen=True, slots=True)
class Load:
    """What was loaded for a dataset.

    Parameters
    ----------
    database : str
    rows : int
        In all tables together.
    seconds : float
        Rows, indexes and routines, without the checksums.
    checksums : dict of str to str or None
        CHECKSUM TABLE of each table after the load.
    reused : bool
        True when an earlier run loaded it.
    rows_before : int
        Those that were there from a load that was interrupted; ``seconds`` is for the others.
    row_counts : dict of str to int
        How many rows each table has after the load, as the server counts them.
    foreign : bool
        True when somebody else made the database: each run finds it as the one before left it.
    character_sets : str
        Those of the tables, without which checksums say nothing.
    """

    database: str
    rows: int
    seconds: float
    checksums: dict[str, str | None]
    reused: bool = False
    rows_before: int = 0
    row_counts: dict[str, int] = field(default_factory=dict)
    foreign: bool = False
    character_sets: str = ""


@dataclass(frozen=True, slots=True)
class LoadOrder:
    """What to load.

    Parameters
    ----------
    workload : Workload
        Whose tables.
    workers : int
        The largest number of threads that will use them.
    threads : int
        Connections that load.
    seed : int
    data_id : str
        Whose data they are: a study never takes those of another.
    """

    workload: Workload
    workers: int
    threads: int
    seed: int
    data_id: str

    @property
    def database(self) -> str:
        """The name of the database that holds the tables."""
        readable = re.sub("[^a-z0-9]+", "_", self.workload.name.lower()).strip("_")[:30]
        return f"bench_{readable}_{self.workload.fingerprint()[:8]}_{self.data_id}"

    @property
    def key(self) -> str:
        """What the marker must say for the data to be those of this order."""
        by_worker = any(table.count == "workers" for table in self.workload.tables)
        workers = self.workers if by_worker else 0
        return f"{get_version()}/{self.workload.fingerprint()}/{self.seed}/{workers}"

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, each with its count as a number."""
        return self.workload.tables_for(self.workers)

    @property
    def rows(self) -> int:
        """How many rows all tables have together, or about that many where rows become lines."""
        return sum(table.expected_rows * int(table.count) for table in self.tables)

    @property
    def bytes(self) -> int:
        """About how much space the rows need."""
        return sum(round(_row_bytes(t)) * t.expected_rows * int(t.count) for t in self.tables)


def _row_bytes(table: Table) -> float:
    """Return about how many bytes of pages a row of a table takes, from a sample."""
    size = float(_ROW_BYTES)
    for _, generator in table.columns:
        values = draw(generator.spec(), min(table.rows, _SAMPLED_ROWS))
        texts = [value for value in values if isinstance(value, str)]
        size += sum(map(len, texts)) / len(texts) if texts else _NUMBER_BYTES
    return size * _PAGES_PER_ROW


def ensure_loaded(
    server: Server, order: LoadOrder, on_rows: Callable[[int], None], *, anew: bool = False
) -> Load:
    """Load the tables of a workload, unless they are there from an earlier load.

    Of a workload whose tables have parts, a load that was interrupted is gone on with.

    Parameters
    ----------
    server : Server
        Running.
    order : LoadOrder
    on_rows : callable
        Called with the number of rows that are there so far.
    anew : bool
        Load even what is there.

    Raises
    ------
    RunError
        When a database of that name exists that benchkit did not make, or one that is to be
        used as it is does not fit.
    InconsistentError
        When what was loaded is not as the workload's conditions say.
    DatabaseError
        When the server refuses something.
    """
    database = order.database
    if order.workload.existing:
        return _use_existing(server, order)
    with server.session() as admin:
        marker = _read_marker(admin, database)
        if marker and marker.key == order.key and not anew:
            return replace(Load(**marker.facts), reused=True)
        if marker and marker.begun == order.key and parts.loads_in_parts(order.workload):
            _clear_unfinished(admin, order)
        else:
            _make_tables(admin, order, drop=marker is not None)
        before = parts.read_notes(admin)
    started = time.monotonic()
    load(
        {**server.endpoint, "database": database},
        _tables_spec(order, before),
        threads=order.threads,
        seed=order.seed,
        on_progress=lambda rows: on_rows(before.lines + rows),
    )
    with server.session(database) as admin:
        _run_routines(admin, order)
        seconds = time.monotonic() - started
        rows = parts.read_notes(admin).lines or order.rows
        require(look_at(admin, order.workload.conditions, "load"), "after the load")
        sums = _checksums(admin, order)
        loaded = Load(database, rows, seconds, sums, rows_before=before.lines)
        loaded = replace(
            loaded,
            row_counts=count_rows(admin, loaded.checksums),
            character_sets=existing.character_sets(admin, database, sums),
        )
        _write_marker(admin, order.key, loaded)
    return loaded


def _use_existing(server: Server, order: LoadOrder) -> Load:
    """Check a database that somebody else made; nothing is loaded, and it is never dropped."""
    workload = order.workload
    with server.session() as admin:
        existing.check_schema(admin, workload)
        sums = _checksums(admin, order)
    return Load(workload.existing, order.rows, 0.0, sums, reused=True, foreign=True)


def drop_data(server: Server, data_id: str) -> None:
    """Remove the databases of a study from a server that runs."""
    with server.session() as admin:
        for (database,) in admin.query(rf"SHOW DATABASES LIKE 'bench\_%\_{data_id}'"):
            if _read_marker(admin, str(database)) is not None:
                _drop(admin, str(database))


class _Marker(NamedTuple):
    """What a database says about its load: without a key it did not end."""

    key: str
    facts: dict[str, Any]
    begun: str = ""  # the key of a load that did not end, all of whose tables are there


_UNFINISHED = _Marker("", {})


def _read_marker(admin: Connection, database: str) -> _Marker | None:
    """Return what the marker of a database says; None where there is no such database."""
    found = admin.query(
        f"SELECT 1 FROM information_schema.schemata WHERE schema_name = '{database}'"
    )
    if not found:
        return None
    tables = existing.table_names(admin, database)
    if not tables:  # nobody's data: a load was killed before its first table
        return _UNFINISHED
    if MARKER not in tables:
        raise existing.refuse_foreign(database, tables)
    rows = admin.query(f"SELECT load_key, facts FROM `{database}`.{MARKER}")
    if not rows:
        return _UNFINISHED
    key, facts = map(str, rows[-1])
    return _Marker(key, json.loads(facts)) if facts else _Marker("", {}, key)


def _drop(admin: Connection, database: str) -> None:
    """Drop a database, its marker last: if that is cut short, it is still known as ours."""
    admin.query("SET SESSION foreign_key_checks = 0")
    for name in existing.table_names(admin, database):
        if name != MARKER:
            admin.query(f"DROP TABLE `{database}`.`{name}`")
    admin.query(f"DROP DATABASE `{database}`")
    admin.query("SET SESSION foreign_key_checks = DEFAULT")


def _make_tables(admin: Connection, order: LoadOrder, *, drop: bool) -> None:
    database = order.database
    if drop:
        _drop(admin, database)
    admin.query(f"CREATE DATABASE `{database}` {order.workload.database_options}")
    admin.query(f"CREATE TABLE `{database}`.{MARKER} (load_key VARCHAR(200), facts LONGTEXT)")
    admin.query(f"USE `{database}`")
    parts.create_notes(admin)
    for table, number in _numbered_tables(order):
        admin.query(_numbered(table.create, number))
    admin.query(f"INSERT INTO {MARKER} VALUES ('{order.key}', '')")


def _clear_unfinished(admin: Connection, order: LoadOrder) -> None:
    """Make a database that an interrupted load left fit for going on."""
    parts.await_others(admin, order.database)
    admin.query(f"USE `{order.database}`")
    parts.drop_routines(admin, order.database)
    for table, number in _numbered_tables(order):
        name, create = _numbered(table.name, number), _numbered(table.create, number)
        parts.clear_unfinished(admin, name, table, create)


def _run_routines(admin: Connection, order: LoadOrder) -> None:
    for sql in order.workload.routines:
        admin.query(sql)


def _write_marker(admin: Connection, key: str, loaded: Load) -> None:
    facts = json.dumps(asdict(loaded)).encode().hex()  # needs no escapes, whatever the SQL mode
    admin.query(f"UPDATE {MARKER} SET load_key = '{key}', facts = X'{facts}'")


def _numbered_tables(order: LoadOrder) -> Iterator[tuple[Table, int]]:
    for table in order.tables:
        for number in range(1, int(table.count) + 1):
            yield table, number


def _tables_spec(order: LoadOrder, before: parts.Noted) -> list[tuple[object, ...]]:
    """Return the tables, but for the parts that are there, as the C loader reads them."""
    in_parts = parts.loads_in_parts(order.workload)
    spec: list[tuple[object, ...]] = []
    for table, number in _numbered_tables(order):
        name = _numbered(table.name, number)
        columns = [table.lines[0]] if table.lines else []
        columns += [column for column, _ in table.columns]
        listed = ", ".join(f"`{column}`" for column in columns)
        insert = f"INSERT INTO `{name}` ({listed}) VALUES"
        generators = [generator.spec() for _, generator in table.columns]
        finish = [_numbered(text, number) for text in table.finish]
        how: dict[str, object] = {"lines": table.lines[1].spec()} if table.lines else {}
        if in_parts:
            how |= {"part_rows": parts.part_rows(table), "mark": parts.note(name)}
            how["done"] = before.parts[name]
            finish += [parts.note_finished(name)] if finish else []
        spec.append((insert, generators, table.rows, finish, how))
    return spec


def _checksums(admin: Connection, order: LoadOrder) -> dict[str, str | None]:
    names = [_numbered(table.name, number) for table, number in _numbered_tables(order)]
    # One by one, because Ctrl-C waits for the end of a query.
    return {name: admin.query(f"CHECKSUM TABLE `{name}`")[0][1] for name in names}


def _numbered(text: str, number: int) -> str:
    return text.replace("{n}", str(number))


class NativeRun:
    """One run with the C driver; what it measured can be read even if it was stopped.

    Parameters
    ----------
    run : PlannedRun
    on_row : callable
        Called with every interval's row as it ends.

    Attributes
    ----------
    check : callable or None
        Called as every interval ends; what it raises ends the run.
    """

    def __init__(self, run: PlannedRun, on_row: Callable[[Row], None]) -> None:
        self._run = run
        self._on_row = on_row
        self.check: Callable[[], None] | None = None
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

    @property
    def needs_server(self) -> bool:
        """Whether the workload talks to a server at all."""
        return Program(self._run.workload.spec(), seed=self._run.seed).needs_server

    @property
    def start_ns(self) -> int | None:
        """When the warmup began, on the clock of ``time.monotonic_ns``; None before."""
        return self._driver.start_ns if self._driver else None

    def measure(self, server: Server, database: str | None) -> dict[str, Any]:
        """Run to the end.

        Raises
        ------
        DatabaseError
            When workers cannot connect or prepare.
        KeyboardInterrupt
            After Ctrl-C; `result` then holds what was measured.
        """
        run = self._run
        program = Program(run.workload.spec(), seed=run.seed)
        self._driver = Driver(
            program,
            {**server.endpoint, "database": database} if program.needs_server else None,
            threads=run.threads,
            seed=run.random_seed,
            warmup_s=run.timing.warmup_s,
            duration_s=run.timing.duration_s or 0.0,
            transactions=run.timing.transactions,
        )
        try:
            return self._driver.run(self._on_interval)
        except DatabaseError as error:
            if error.number != _NO_DATABASE:
                raise
            hint = 'a workload without tables has none: give it session=("USE db",) or tables'
            raise DatabaseError(f"{error}: {hint}", error.number, error.sqlstate) from error

    def _on_interval(self, row: Row, histograms: list[tuple[str, Histogram]]) -> None:
        begin_s = row["time_s"] - row["elapsed_s"]
        for tag, histogram in histograms:
            self._log.append(format_line(tag, begin_s, row["elapsed_s"], histogram))
        self._on_row(row)
        if self.check is not None:
            self.check()
