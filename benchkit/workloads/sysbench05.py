"""The eight tests of sysbench 0.5 as they were in 2010, with their own table and statements.

They are what published comparisons of that time ran. Compared with 1.x there is one table, its
rows are all alike until something changes them (k = 0, a blank c, a constant pad), ids are
unsigned, the index on k is there before the rows, and draws are special.

With an engine that has no transactions, such as MyISAM, the complex tests lock the table where
they would begin and unlock it where they would commit.

Before each run of `delete` and `insert` the table is loaded anew: each run leaves another table
than it found, so that a second run on it would measure something else.
"""

from dataclasses import dataclass

from benchkit.generators import Generator, constant, permutation, sequence
from benchkit.workloads import sbtest
from benchkit.workloads.factory import Family
from benchkit.workloads.model import Table, Transaction, Workload
from benchkit.workloads.options import Limits, option
from benchkit.workloads.steps import Begin, Commit, Execute, Let, Repeat, Source, Step

PERSONALITY = "sysbench/0.5"
TABLE = "sbtest"
POINT_SELECTS = 10

BLANK_C = " "
LOADED_PAD = "".join(letter * 10 for letter in "qwert")
INSERTED_PAD = "".join(letter * 10 for letter in "afrey")


@dataclass(frozen=True, slots=True)
class Sysbench05Options(sbtest.SbtestOptions):
    """The options of the 0.5 tests."""

    engine_trx: str = option(
        "auto",
        "Whether the storage engine has transactions; auto: all have but MyISAM.",
        Limits(choices=("auto", "yes", "no")),
    )
    max_rows: int = option(1_000_000, "MAX_ROWS of the table.", Limits(1, 2**32 - 1))
    rand_type: str = option(
        "special", "How ids, and an inserted k, are drawn.", Limits(choices=tuple(sbtest.DRAWS))
    )


_FAMILY = Family(Sysbench05Options, (PERSONALITY,), sbtest.NEEDS)
_COMMON = ("auto_inc", "storage_engine", "charset", "max_rows", "rand_type", *sbtest.NEEDS)


def _any_row(options: Sysbench05Options) -> Generator:
    return sbtest.DRAWS[options.rand_type](options, False)


def _create_table(options: Sysbench05Options) -> str:
    return (
        "CREATE TABLE sbtest (\n"
        f"  id INTEGER UNSIGNED NOT NULL{' AUTO_INCREMENT' if options.auto_inc else ''},\n"
        "  k INTEGER UNSIGNED NOT NULL DEFAULT 0,\n"
        "  c CHAR(120) NOT NULL DEFAULT '',\n"
        "  pad CHAR(60) NOT NULL DEFAULT '',\n"
        "  PRIMARY KEY (id),\n"
        "  KEY k (k)\n"
        f") ENGINE = {options.storage_engine} MAX_ROWS = {options.max_rows}"
        f"{sbtest.charset_clause(options.charset)}"
    )


def _table(options: Sysbench05Options, rows: int) -> Table:
    return Table(
        TABLE,
        _create_table(options),
        columns=(
            ("id", sequence()),
            ("k", constant(0)),
            ("c", constant(BLANK_C)),
            ("pad", constant(LOADED_PAD)),
        ),
        rows=rows,
    )


def _has_transactions(options: Sysbench05Options) -> bool:
    if options.engine_trx == "auto":
        return options.storage_engine.lower() != "myisam"
    return options.engine_trx == "yes"


def _within_transaction(
    options: Sysbench05Options, lock: str, steps: tuple[Step, ...]
) -> tuple[Step, ...]:
    """Return the steps in a transaction, or under a table lock where there are none."""
    if _has_transactions(options):
        return (Begin(), *steps, Commit())
    return (
        Execute(f"LOCK TABLES sbtest {lock}", name="lock_tables"),
        *steps,
        Execute("UNLOCK TABLES", name="unlock_tables"),
    )


def _reads(options: Sysbench05Options) -> tuple[Step, ...]:
    row, size = _any_row(options), options.range_size
    return (
        Repeat(POINT_SELECTS, (sbtest.point_select(TABLE, row),)),
        *sbtest.simple_range(TABLE, row, size),
        *sbtest.sum_range(TABLE, row, size),
        *sbtest.order_range(TABLE, row, size),
        *sbtest.distinct_range(TABLE, row, size),
    )


def _writes(options: Sysbench05Options) -> tuple[Step, ...]:
    row = _any_row(options)
    insert = f"INSERT INTO sbtest VALUES (?, 0, '{BLANK_C}', '{INSERTED_PAD}')"
    return (
        sbtest.index_update(TABLE, row),
        sbtest.non_index_update(TABLE, row),
        Let("id", row),
        sbtest.delete(TABLE, "id"),
        Execute(insert, ("id",), name="insert"),
    )


def _insert(options: Sysbench05Options) -> tuple[Step, ...]:
    values: tuple[Source, ...] = (_any_row(options), sbtest.C_TEXT, sbtest.PAD_TEXT)
    if options.auto_inc:
        return (Execute("INSERT INTO sbtest VALUES (NULL, ?, ?, ?)", values, name="insert"),)
    ids = permutation(1, options.rows)
    return (Execute("INSERT INTO sbtest VALUES (?, ?, ?, ?)", (ids, *values), name="insert"),)


def _workload(
    name: str,
    options: Sysbench05Options,
    steps: tuple[Step, ...],
    fresh_data: bool = False,
    load_rows: bool = True,
) -> Workload:
    return Workload(
        identity=f"{PERSONALITY}:{name}",
        transactions=(Transaction(name, steps),),
        tables=(_table(options, options.rows if load_rows else 0),),
        fresh_data=fresh_data,
    )


@_FAMILY.workload("rows", "range_size", "engine_trx", *_COMMON)
def oltp_complex_ro(options: Sysbench05Options) -> Workload:
    """Ten point selects and four range selects in a transaction: 16 statements."""
    steps = _within_transaction(options, "READ", _reads(options))
    return _workload("oltp_complex_ro", options, steps)


@_FAMILY.workload("rows", "range_size", "engine_trx", *_COMMON)
def oltp_complex_rw(options: Sysbench05Options) -> Workload:
    """`oltp_complex_ro` with two updates, a delete and an insert: 20 statements."""
    steps = _within_transaction(options, "WRITE", _reads(options) + _writes(options))
    return _workload("oltp_complex_rw", options, steps)


@_FAMILY.workload("rows", *_COMMON)
def oltp_simple(options: Sysbench05Options) -> Workload:
    """Read one row's c by its id, without a transaction."""
    return _workload("oltp_simple", options, (sbtest.point_select(TABLE, _any_row(options)),))


@_FAMILY.workload("rows", *_COMMON)
def select(options: Sysbench05Options) -> Workload:
    """Read one row's pad by its id, without a transaction."""
    query = Execute(
        "SELECT pad FROM sbtest WHERE id = ?", (_any_row(options),), name="point_select"
    )
    return _workload("select", options, (query,))


@_FAMILY.workload("rows", *_COMMON)
def update_index(options: Sysbench05Options) -> Workload:
    """Update the indexed column of one row, without a transaction."""
    return _workload("update_index", options, (sbtest.index_update(TABLE, _any_row(options)),))


@_FAMILY.workload("rows", *_COMMON)
def update_non_index(options: Sysbench05Options) -> Workload:
    """Update a column without an index of one row, without a transaction."""
    update = sbtest.non_index_update(TABLE, _any_row(options))
    return _workload("update_non_index", options, (update,))


@_FAMILY.workload("rows", *_COMMON)
def delete(options: Sysbench05Options) -> Workload:
    """Delete one row by its id, without a transaction; nothing puts rows back."""
    steps = (sbtest.delete(TABLE, _any_row(options)),)
    return _workload("delete", options, steps, fresh_data=True)


@_FAMILY.workload("rows", *_COMMON)
def insert(options: Sysbench05Options) -> Workload:
    """Insert one row into a table that starts empty, without a transaction.

    Without ``auto_inc`` the ids are 1 to ``rows`` in a random order, and each worker has its
    share of them; when it has used them up, its further inserts fail as duplicates.
    """
    return _workload("insert", options, _insert(options), fresh_data=True, load_rows=False)
