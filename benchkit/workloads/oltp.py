"""The OLTP scripts of sysbench 1.x, in the personalities of its two versions.

Tables, data, statements and options are sysbench's. What differs:

* Each script takes only the options that act on it, and a distribution's options only with
  that distribution; sysbench takes all of them everywhere, without effect.
* One spelling for each option: ``rows`` is sysbench's table_size, ``storage_engine`` its
  mysql_storage_engine. Options for other databases are left out.
* `oltp_insert` sends its INSERT as a prepared statement, where sysbench sends text. The
  statements and their number are the same. What an option sets to 0 is not prepared.
* Rows are loaded with their ids even if the column is AUTO_INCREMENT, so that the data does
  not depend on the number of loader threads.
* An error that sysbench ignores (1213, 1205, 1020) rolls back before the transaction is tried
  again, and a duplicate key (1062) fails the transaction but does not end the run.

Before each run of `oltp_delete`, `oltp_insert` and `bulk_insert` the tables are loaded anew:
each run leaves other tables than it found (fewer rows to hit, a deeper index, ids that are
taken), so that a second run on them would measure something else.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from benchkit.errors import WorkloadError
from benchkit.generators import (
    Generator,
    constant,
    pareto,
    permutation,
    sequence,
    special,
    uniform,
    zipfian,
)
from benchkit.workloads import sbtest
from benchkit.workloads.factory import Family
from benchkit.workloads.model import Rules, Table, Transaction, Workload
from benchkit.workloads.options import Limits, Need, option
from benchkit.workloads.steps import (
    Begin,
    Commit,
    Execute,
    InsertRows,
    Let,
    Offset,
    Repeat,
    Source,
    Step,
)

TABLE = "sbtest{table}"
PARAMETERS_MAX = 65_535  # of one prepared statement, in the protocol

_TIMES = Limits(0, 100_000)


RAND_TYPES = {
    "sysbench/1.1": ("uniform", "gaussian", "pareto", "zipfian"),
    "sysbench/1.0": ("special", "uniform", "gaussian", "pareto"),
}
"""The distributions of each version; the first is its default."""

VERSIONS = tuple(RAND_TYPES)


@dataclass(frozen=True, slots=True)
class OltpOptions(sbtest.SbtestOptions):
    """The options of all scripts: of oltp_common, random numbers, and single scripts."""

    personality: str = option(
        VERSIONS[0], "The sysbench version whose script this is.", Limits(choices=VERSIONS)
    )
    tables: int = option(1, "Number of tables.", Limits(1, 10_000))
    point_selects: int = option(10, "Point selects in a transaction.", _TIMES)
    range_selects: bool = option(True, "Run the four kinds of range select.")
    simple_ranges: int = option(1, "Simple range selects in a transaction.", _TIMES)
    sum_ranges: int = option(1, "SELECT SUM() over ranges in a transaction.", _TIMES)
    order_ranges: int = option(1, "Range selects with ORDER BY in a transaction.", _TIMES)
    distinct_ranges: int = option(1, "SELECT DISTINCT over ranges in a transaction.", _TIMES)
    index_updates: int = option(1, "Updates of the indexed k in a transaction.", _TIMES)
    non_index_updates: int = option(1, "Updates of c in a transaction.", _TIMES)
    delete_inserts: int = option(
        1, "Rows in a transaction that are deleted and inserted again.", _TIMES
    )
    skip_trx: bool = option(False, "Leave out BEGIN and COMMIT; every statement commits.")
    secondary: bool = option(False, "Give id a plain index instead of the primary key.")
    create_secondary: bool = option(True, "Create an index on k once the rows are loaded.")
    reconnect: int = option(
        0,
        "Log in anew after every so many transactions; 0 never does.",
        Limits(0, 2**31 - 1),
    )
    create_table_options: str = option("", "Text to put at the end of CREATE TABLE.")
    rand_type: str = option(
        "",
        "How ids, and the values of k, are drawn; by default uniform in sysbench/1.1 and special "
        "in sysbench/1.0. Only sysbench/1.0 has special, and only sysbench/1.1 has zipfian.",
        Limits(choices=("", *sbtest.DRAWS, "pareto", "zipfian")),
    )
    rand_pareto_h: float = option(0.2, "The h of pareto draws.", Limits(0.001, 0.999))
    rand_zipfian_exp: float = option(0.8, "The exponent of zipfian draws.", Limits(0.0, 10.0))
    random_points: int = option(
        10, "Values of k that a select asks for.", Limits(1, PARAMETERS_MAX)
    )
    number_of_ranges: int = option(
        10, "Ranges of k that a select counts.", Limits(1, PARAMETERS_MAX // 2)
    )
    delta: int = option(
        5, "From the start of a range to its end, which belongs to it.", Limits(0, 2**31 - 1)
    )


_RANGES = ("range_size", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges")
_ONLY_1_0 = Need("personality", ("sysbench/1.0",))
_ONLY_1_1 = Need("personality", ("sysbench/1.1",))
_NEEDS = {
    **sbtest.NEEDS,
    "rand_spec_iter": (_ONLY_1_0, *sbtest.NEEDS["rand_spec_iter"]),
    "rand_pareto_h": (Need("rand_type", ("pareto",)),),
    "rand_zipfian_exp": (Need("rand_type", ("zipfian",)),),
    "reconnect": (_ONLY_1_1,),
    "create_table_options": (_ONLY_1_1,),
    **dict.fromkeys(_RANGES, (Need("range_selects", (True,)),)),
}


def _settle(name: str, options: OltpOptions) -> OltpOptions:
    """Return the options with the distribution said, which depends on the version."""
    version, has = options.personality, RAND_TYPES[options.personality]
    wanted = options.rand_type or has[0]
    if wanted not in has:
        able = [other for other, types in RAND_TYPES.items() if wanted in types]
        raise WorkloadError(
            f"{name}: {version} has no rand_type {wanted!r}, only {', '.join(has)}; "
            f"{' and '.join(able)} has it"
        )
    return replace(options, rand_type=wanted)


_FAMILY = Family(OltpOptions, VERSIONS, _NEEDS, _settle)

_ONE_TABLE = ("personality", "rows")
_TABLES = (*_ONE_TABLE, "tables")
_READS = ("point_selects", "range_selects", *_RANGES)
_WRITES = ("index_updates", "non_index_updates", "delete_inserts")
_COMMON = (
    "auto_inc",
    "storage_engine",
    "charset",
    "secondary",
    "create_secondary",
    "create_table_options",
    "reconnect",
    "rand_type",
    "rand_spec_pct",
    "rand_spec_res",
    "rand_spec_iter",
    "rand_pareto_h",
    "rand_zipfian_exp",
)


def _special(options: OltpOptions, partitioned: bool) -> Generator:
    """Return sysbench 1.0's draw, which never hits the lowest part of its hot band.

    It places a hot row by the very number that decided for the band, and that number is never
    below 1 - rand_spec_res / 100.
    """
    return special(
        1,
        options.rows,
        hot_percent=options.rand_spec_pct,
        hot_share=options.rand_spec_res,
        rounds=options.rand_spec_iter,
        partitioned=partitioned,
        hot_skip=100 - options.rand_spec_res,
    )


DRAWS: dict[str, Callable[[OltpOptions, bool], Generator]] = {
    **sbtest.DRAWS,
    "special": _special,
    "pareto": lambda o, partitioned: pareto(1, o.rows, o.rand_pareto_h, partitioned),
    "zipfian": lambda o, partitioned: zipfian(
        1, o.rows, o.rand_zipfian_exp, partitioned=partitioned
    ),
}


def _any_row(options: OltpOptions, partitioned: bool = False) -> Generator:
    """Return the draw of one row of a table; with ``partitioned``, of the worker's own rows."""
    return DRAWS[options.rand_type](options, partitioned)


def _create_table(options: OltpOptions) -> str:
    return (
        "CREATE TABLE sbtest{n} (\n"
        f"  id INTEGER NOT NULL{' AUTO_INCREMENT' if options.auto_inc else ''},\n"
        "  k INTEGER NOT NULL DEFAULT 0,\n"
        "  c CHAR(120) NOT NULL DEFAULT '',\n"
        "  pad CHAR(60) NOT NULL DEFAULT '',\n"
        f"  {'KEY xid' if options.secondary else 'PRIMARY KEY'} (id)\n"
        f") ENGINE = {options.storage_engine}{sbtest.charset_clause(options.charset)}"
        f" {options.create_table_options}"
    ).rstrip()


def _tables(options: OltpOptions, rows: int) -> tuple[Table, ...]:
    sbtest_table = Table(
        "sbtest{n}",
        _create_table(options),
        columns=(
            ("id", sequence()),
            ("k", _any_row(options)),
            ("c", sbtest.C_TEXT),
            ("pad", sbtest.PAD_TEXT),
        ),
        rows=rows,
        finish=("CREATE INDEX k_{n} ON sbtest{n} (k)",) if options.create_secondary else (),
        count=options.tables,
    )
    return (sbtest_table,)


def _group(options: OltpOptions, times: int, *steps: Step) -> tuple[Step, ...]:
    """Return the steps repeated on one table, which is picked for the whole group."""
    if times == 0:
        return ()
    return Let("table", uniform(1, options.tables)), Repeat(times, steps)


def _point_selects(options: OltpOptions, times: int) -> tuple[Step, ...]:
    return _group(options, times, sbtest.point_select(TABLE, _any_row(options)))


def _range_selects(options: OltpOptions) -> tuple[Step, ...]:
    if not options.range_selects:
        return ()
    queries = (
        (options.simple_ranges, sbtest.simple_range),
        (options.sum_ranges, sbtest.sum_range),
        (options.order_ranges, sbtest.order_range),
        (options.distinct_ranges, sbtest.distinct_range),
    )
    return tuple(
        step
        for times, query in queries
        for step in _group(options, times, *query(TABLE, _any_row(options), options.range_size))
    )


def _index_updates(options: OltpOptions) -> tuple[Step, ...]:
    update = sbtest.index_update(TABLE, _any_row(options))
    return _group(options, options.index_updates, update)


def _non_index_updates(options: OltpOptions) -> tuple[Step, ...]:
    update = sbtest.non_index_update(TABLE, _any_row(options))
    return _group(options, options.non_index_updates, update)


def _insert(row: Source, options: OltpOptions) -> Execute:
    sql = f"INSERT INTO {TABLE} (id, k, c, pad) VALUES (?, ?, ?, ?)"
    return Execute(sql, (row, _any_row(options), sbtest.C_TEXT, sbtest.PAD_TEXT), name="insert")


def _delete_inserts(options: OltpOptions) -> tuple[Step, ...]:
    return _group(
        options,
        options.delete_inserts,
        Let("id", _any_row(options)),
        sbtest.delete(TABLE, "id"),
        _insert("id", options),
    )


def _writes(options: OltpOptions) -> tuple[Step, ...]:
    return _index_updates(options) + _non_index_updates(options) + _delete_inserts(options)


def _within_transaction(options: OltpOptions, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return steps if options.skip_trx else (Begin(), *steps, Commit())


def _workload(
    name: str,
    options: OltpOptions,
    steps: tuple[Step, ...],
    fresh_data: bool = False,
    load_rows: bool = True,
) -> Workload:
    if not steps:
        raise WorkloadError(f"{name}: with these options no statement is left to run")
    return Workload(
        identity=f"{options.personality}:{name}",
        transactions=(Transaction(name, steps),),
        tables=_tables(options, options.rows if load_rows else 0),
        rules=Rules(reconnect_every=options.reconnect),
        fresh_data=fresh_data,
    )


@_FAMILY.workload(*_TABLES, *_READS, "skip_trx", *_COMMON)
def oltp_read_only(options: OltpOptions) -> Workload:
    """Ten point selects and four range selects in a transaction: 16 statements."""
    reads = _point_selects(options, options.point_selects) + _range_selects(options)
    return _workload("oltp_read_only", options, _within_transaction(options, reads))


@_FAMILY.workload(*_TABLES, *_READS, *_WRITES, "skip_trx", *_COMMON)
def oltp_read_write(options: OltpOptions) -> Workload:
    """`oltp_read_only` and `oltp_write_only` in one transaction: 20 statements."""
    reads = _point_selects(options, options.point_selects) + _range_selects(options)
    steps = _within_transaction(options, reads + _writes(options))
    return _workload("oltp_read_write", options, steps)


@_FAMILY.workload(*_TABLES, *_WRITES, "skip_trx", *_COMMON)
def oltp_write_only(options: OltpOptions) -> Workload:
    """Two updates, a delete and an insert in a transaction: 6 statements."""
    steps = _within_transaction(options, _writes(options))
    return _workload("oltp_write_only", options, steps)


@_FAMILY.workload(*_TABLES, *_COMMON)
def oltp_point_select(options: OltpOptions) -> Workload:
    """Read one row by its id, without a transaction."""
    return _workload("oltp_point_select", options, _point_selects(options, 1))


@_FAMILY.workload(*_TABLES, "index_updates", *_COMMON)
def oltp_update_index(options: OltpOptions) -> Workload:
    """Update the indexed column of one row, without a transaction."""
    return _workload("oltp_update_index", options, _index_updates(options))


@_FAMILY.workload(*_TABLES, "non_index_updates", *_COMMON)
def oltp_update_non_index(options: OltpOptions) -> Workload:
    """Update a column without an index of one row, without a transaction."""
    return _workload("oltp_update_non_index", options, _non_index_updates(options))


@_FAMILY.workload(*_TABLES, *_COMMON)
def oltp_delete(options: OltpOptions) -> Workload:
    """Delete one row by its id, without a transaction.

    Nothing puts rows back: the longer it runs, the more deletes hit none.
    """
    steps = _group(options, 1, sbtest.delete(TABLE, _any_row(options)))
    return _workload("oltp_delete", options, steps, fresh_data=True)


@_FAMILY.workload(*_TABLES, *_COMMON)
def oltp_insert(options: OltpOptions) -> Workload:
    """Insert one row, without a transaction; a prepared statement, where sysbench sends text.

    With ``auto_inc`` the server numbers the rows. Without, ids are a permutation of all signed
    32-bit numbers, no two alike, and the tables start empty, for loaded ids would collide.
    """
    row = constant(0) if options.auto_inc else permutation(-(2**31), 2**31 - 1)
    steps = _group(options, 1, _insert(row, options))
    return _workload("oltp_insert", options, steps, fresh_data=True, load_rows=options.auto_inc)


@_FAMILY.workload(*_ONE_TABLE, "random_points", *_COMMON)
def select_random_points(options: OltpOptions) -> Workload:
    """Read the rows with one of ten values of k; each worker asks for its own part of them."""
    places = ", ".join("?" * options.random_points)
    points = (_any_row(options, partitioned=True),) * options.random_points
    sql = f"SELECT id, k, c, pad FROM sbtest1 WHERE k IN ({places})"
    steps = (Execute(sql, points, name="random_points"),)
    return _workload("select_random_points", options, steps)


@_FAMILY.workload(*_ONE_TABLE, "number_of_ranges", "delta", *_COMMON)
def select_random_ranges(options: OltpOptions) -> Workload:
    """Count the rows in ten ranges of k; each worker asks for its own part of the values."""
    starts = [f"start_{i}" for i in range(1, options.number_of_ranges + 1)]
    draws = [Let(start, _any_row(options, partitioned=True)) for start in starts]
    sql = "SELECT COUNT(k) FROM sbtest1 WHERE " + " OR ".join(["k BETWEEN ? AND ?"] * len(starts))
    bounds = tuple(bound for start in starts for bound in (start, Offset(start, options.delta)))
    steps: tuple[Step, ...] = (*draws, Execute(sql, bounds, name="random_ranges"))
    return _workload("select_random_ranges", options, steps)


@_FAMILY.workload("personality")
def bulk_insert(options: OltpOptions) -> Workload:
    """Append rows to one table per worker in multi-row inserts; a transaction is one row.

    The rows are sent when their packet of 512 KiB is full, so that most transactions send
    nothing. The server's default storage engine is used.
    """
    table = Table(
        "sbtest{n}",
        "CREATE TABLE sbtest{n} (\n"
        "  id INTEGER NOT NULL,\n"
        "  k INTEGER NOT NULL DEFAULT 0,\n"
        "  PRIMARY KEY (id)\n"
        ")",
        count="workers",
    )
    insert = InsertRows("INSERT INTO sbtest{worker} VALUES", ("row", "row"), name="insert")
    return Workload(
        identity=f"{options.personality}:bulk_insert",
        transactions=(Transaction("bulk_insert", (Let("row", sequence()), insert)),),
        tables=(table,),
        fresh_data=True,
    )
