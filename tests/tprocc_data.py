"""A cheap TPROC-C database: all items, stock and customers, few orders, nothing random.

It is made by the server from a table of numbers, in a second or two; what the loader makes is
tested elsewhere. In each district customer c has the last name of number c - 1 up to 1000 and of
(7 * c) mod 1000 behind it; every second one has bad credit. Orders 1 to `ORDERS` have
`LINES` lines each, of 3 units and an amount of 10; the last `UNDELIVERED` are not delivered.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from scratch import Scratch, scratch_database

from benchkit.server import Server
from benchkit.workloads.tprocc_procedures import create_procedures
from benchkit.workloads.tprocc_schema import TABLES, Schema, create_table

ITEMS, CUSTOMERS, DISTRICTS = 100_000, 3000, 10
ORDERS, UNDELIVERED, LINES = 30, 9, 5

SYLLABLES = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")


def name_of(number: int) -> str:
    """Return the last name that belongs to a number of three digits."""
    return "".join(SYLLABLES[int(digit)] for digit in f"{number:03}")


def _syllable(number: str, divisor: int) -> str:
    texts = ", ".join(f"'{s}'" for s in SYLLABLES)
    return f"ELT(FLOOR({number} / {divisor}) % 10 + 1, {texts})"


def _name_sql(number: str) -> str:
    return f"CONCAT({', '.join(_syllable(number, d) for d in (100, 10, 1))})"


_PLACE = "'street', 'street', 'city', 'AB', '123411111'"
_NUMBER = "IF(c.n <= 1000, c.n - 1, (7 * c.n) % 1000)"
_DIST = ", ".join(f"'dist{number:02}' AS d{number}" for number in range(1, 11))

_ROWS = {
    "item": f"SELECT n, n, 'name', 1 + n % 100, 'data' FROM numbers WHERE n <= {ITEMS}",
    "warehouse": f"SELECT w.n, 300000, 0.1, 'ware', {_PLACE} FROM w",
    "district": f"SELECT d.n, w.n, 30000, 0.2, {ORDERS + 1}, 'dist', {_PLACE} FROM w, d",
    "customer": f"""
        SELECT c.n, d.n, w.n, CONCAT('first', c.n), 'OE', {_name_sql(_NUMBER)}, {_PLACE},
          'phone', '2026-01-01', IF(c.n % 2, 'GC', 'BC'), 50000, 0.1, -10, 10, 1, 0, 'data'
        FROM w, d, numbers AS c WHERE c.n <= {CUSTOMERS}""",
    "stock": f"""
        SELECT i.n, w.n, 10 + i.n % 91, {_DIST}, 0 AS y, 0 AS c, 0 AS r, 'data'
        FROM w, numbers AS i WHERE i.n <= {ITEMS}""",
    "orders": f"""
        SELECT o.n, w.n, d.n, o.n, IF(o.n > {ORDERS - UNDELIVERED}, NULL, 5), {LINES}, 1,
          '2026-01-01'
        FROM w, d, numbers AS o WHERE o.n <= {ORDERS}""",
    "new_order": f"""
        SELECT w.n, d.n, o.n FROM w, d, numbers AS o
        WHERE o.n > {ORDERS - UNDELIVERED} AND o.n <= {ORDERS}""",
    "order_line": f"""
        SELECT w.n, d.n, o.n, l.n, o.n * 10 + l.n,
          IF(o.n > {ORDERS - UNDELIVERED}, NULL, '2026-01-01'), 10, w.n, 3, 'dist'
        FROM w, d, numbers AS o, numbers AS l WHERE o.n <= {ORDERS} AND l.n <= {LINES}""",
}


def _make_numbers(scratch: Scratch, warehouses: int) -> None:
    digits = " UNION ALL ".join(f"SELECT {n} AS n" for n in range(10))
    scratch.query(
        "CREATE TABLE digits (n INT)",
        f"INSERT INTO digits {digits}",
        "CREATE TABLE numbers (n INT PRIMARY KEY)",
        "INSERT INTO numbers SELECT 1 + a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n "
        "FROM digits AS a, digits AS b, digits AS c, digits AS d, digits AS e ORDER BY 1",
        f"CREATE TABLE w AS SELECT n FROM numbers WHERE n <= {warehouses}",
        f"CREATE TABLE d AS SELECT n FROM numbers WHERE n <= {DISTRICTS}",
    )


def make_tables(scratch: Scratch, flavour: str, warehouses: int) -> None:
    """Make and fill the nine tables, and make the flavour's procedures."""
    _make_numbers(scratch, warehouses)
    for table in TABLES:
        scratch.query(create_table(Schema(warehouses, flavour), table))
        if table in _ROWS:
            scratch.query(f"INSERT INTO {table} {_ROWS[table]}")
    scratch.query("DROP TABLE numbers, digits, w, d", *create_procedures(flavour))


@contextmanager
def tprocc_database(server: Server, flavour: str, warehouses: int = 1) -> Iterator[Scratch]:
    """Make the database; drop it at the end."""
    with scratch_database(server) as scratch:
        make_tables(scratch, flavour, warehouses)
        yield scratch
