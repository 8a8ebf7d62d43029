"""What sysbench's versions have in common: the sbtest rows, how one is picked, and the queries.

``table`` is the table's name as it stands in the SQL: ``sbtest``, or ``sbtest{table}`` where a
register chooses among several. The schemas differ and are in `oltp` and `sysbench05`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from benchkit.generators import Generator, gaussian, special, template, uniform
from benchkit.workloads.options import IDENTIFIER, Limits, Need, option
from benchkit.workloads.steps import Execute, Let, Offset, Source, Step

LARGEST_ID = 2**31 - 1
"""sysbench draws ids as 32-bit numbers, and its 1.x column ``id`` is a signed INTEGER."""

GROUP = "#" * 11
C_TEXT = template("-".join([GROUP] * 10))
PAD_TEXT = template("-".join([GROUP] * 5))


@dataclass(frozen=True, slots=True)
class SbtestOptions:
    """The options of every workload on sbtest tables."""

    rows: int = option(
        10_000, "Rows in each table, and the ids that are drawn.", Limits(1, LARGEST_ID)
    )
    range_size: int = option(
        100,
        "Ids that a range query spans. The end is not cut to the table, so that a range that "
        "starts near the last row returns fewer.",
        Limits(1, LARGEST_ID),
    )
    auto_inc: bool = option(
        True, "Make id an AUTO_INCREMENT column, and let the server number inserted rows."
    )
    storage_engine: str = option(
        "innodb", "The tables' storage engine.", Limits(pattern=IDENTIFIER)
    )
    charset: str = option(
        "",
        "The tables' character set. Without one the server's default decides, which on servers "
        "with utf8mb4 makes rows and sorts larger than in results from the latin1 days.",
        Limits(pattern=f"({IDENTIFIER})?"),
    )
    rand_spec_pct: int = option(
        1, "Width of the hot band of special draws, in percent of the ids.", Limits(1, 100)
    )
    rand_spec_res: int = option(
        75, "Share of special draws that fall into the hot band, in percent.", Limits(0, 99)
    )
    rand_spec_iter: int = option(
        12, "Uniform draws of which a gaussian or special draw is the mean.", Limits(1, 100)
    )


NEEDS = {
    "rand_spec_pct": (Need("rand_type", ("special",)),),
    "rand_spec_res": (Need("rand_type", ("special",)),),
    "rand_spec_iter": (Need("rand_type", ("special", "gaussian")),),
}
"""Which draws the options act on."""

DRAWS: dict[str, Callable[[SbtestOptions, bool], Generator]] = {
    "uniform": lambda o, partitioned: uniform(1, o.rows, partitioned),
    "gaussian": lambda o, partitioned: gaussian(1, o.rows, o.rand_spec_iter, partitioned),
    "special": lambda o, partitioned: special(
        1,
        o.rows,
        hot_percent=o.rand_spec_pct,
        hot_share=o.rand_spec_res,
        rounds=o.rand_spec_iter,
        partitioned=partitioned,
    ),
}
"""How each rand_type picks one of a table's rows; partitioned, each worker among its own."""


def charset_clause(charset: str) -> str:
    """Return the table option for a character set, or nothing for the server's default."""
    return f" DEFAULT CHARSET = {charset}" if charset else ""


def point_select(table: str, row: Source) -> Execute:
    """Read one row's c."""
    return Execute(f"SELECT c FROM {table} WHERE id = ?", (row,), name="point_select")


def simple_range(table: str, row: Generator, size: int) -> tuple[Step, ...]:
    """Read c of a range of ids."""
    return _range("simple_range", f"SELECT c FROM {table} WHERE id BETWEEN ? AND ?", row, size)


def sum_range(table: str, row: Generator, size: int) -> tuple[Step, ...]:
    """Add up k over a range of ids."""
    return _range("sum_range", f"SELECT SUM(k) FROM {table} WHERE id BETWEEN ? AND ?", row, size)


def order_range(table: str, row: Generator, size: int) -> tuple[Step, ...]:
    """Read c of a range of ids, sorted."""
    sql = f"SELECT c FROM {table} WHERE id BETWEEN ? AND ? ORDER BY c"
    return _range("order_range", sql, row, size)


def distinct_range(table: str, row: Generator, size: int) -> tuple[Step, ...]:
    """Read the different values of c in a range of ids, sorted."""
    sql = f"SELECT DISTINCT c FROM {table} WHERE id BETWEEN ? AND ? ORDER BY c"
    return _range("distinct_range", sql, row, size)


def _range(name: str, sql: str, row: Generator, size: int) -> tuple[Step, ...]:
    return Let("id", row), Execute(sql, ("id", Offset("id", size - 1)), name=name)


def index_update(table: str, row: Source) -> Execute:
    """Change the indexed column k of one row."""
    return Execute(f"UPDATE {table} SET k = k + 1 WHERE id = ?", (row,), name="index_update")


def non_index_update(table: str, row: Source) -> Execute:
    """Change the column c, which has no index, of one row."""
    sql = f"UPDATE {table} SET c = ? WHERE id = ?"
    return Execute(sql, (C_TEXT, row), name="non_index_update")


def delete(table: str, row: Source) -> Execute:
    """Delete one row, if it is there."""
    return Execute(f"DELETE FROM {table} WHERE id = ?", (row,), name="delete")
