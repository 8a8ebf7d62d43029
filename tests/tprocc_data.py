"""A small TPROC-C database: few items, customers and orders, nothing random.

It is made by the server from a table of numbers in an instant; what the loader makes is tested
elsewhere. There are `ITEMS` items and `CUSTOMERS` customers in a district: procedures and workloads
have to draw from those. Customer c has the last name of number c - 1, and every second one has bad
credit. Orders 1 to `ORDERS` have `LINES` lines each, of 3 units and an amount of 10; the last
`UNDELIVERED` are not delivered.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from scratch import Scratch, scratch_database

from benchkit.server import Server
from benchkit.workloads.tprocc_procedures import create_procedures
from benchkit.workloads.tprocc_schema import TABLES, Schema, create_table

ITEMS, CUSTOMERS, DISTRICTS = 1000, 300, 10
ORDERS, UNDELIVERED, LINES = 30, 9, 5

SYLLABLES = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")


def _syllable(number: str, divisor: int) -> str:
    texts = ", ".join(f"'{s}'" for s in SYLLABLES)
    return f"ELT(FLOOR({number} / {divisor}) % 10 + 1, {texts})"


def _name_sql(number: str) -> str:
    return f"CONCAT({', '.join(_syllable(number, d) for d in (100, 10, 1))})"


_PLACE = "'street', 'street', 'city', 'AB', '123411111'"
_NUMBER = "(c.n - 1)"
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
        f"CREATE TABLE digits AS {digits}",
        "CREATE TABLE numbers (n INT PRIMARY KEY)",
        "INSERT INTO numbers SELECT 1 + a.n + 10 * b.n + 100 * c.n "
        "FROM digits AS a, digits AS b, digits AS c ORDER BY 1",
        f"CREATE TABLE w AS SELECT n FROM numbers WHERE n <= {warehouses}",
        f"CREATE TABLE d AS SELECT n FROM numbers WHERE n <= {DISTRICTS}",
    )


def refill(scratch: Scratch) -> None:
    """Make the rows what they were at first."""
    for table in TABLES:
        scratch.query(f"TRUNCATE {table}")
        if table in _ROWS:
            scratch.query(f"INSERT INTO {table} {_ROWS[table]}")


def small_procedures(flavour: str) -> tuple[str, ...]:
    """Return the procedures, with fewer items to draw from."""
    return tuple(
        text.replace("100000", str(ITEMS)).replace("100001", str(ITEMS + 1))
        for text in create_procedures(flavour)
    )


def make_tables(scratch: Scratch, flavour: str, warehouses: int) -> None:
    """Make and fill the nine tables, and make the flavour's procedures."""
    _make_numbers(scratch, warehouses)
    scratch.query(*(create_table(Schema(warehouses, flavour), table) for table in TABLES))
    refill(scratch)
    scratch.query(*small_procedures(flavour))


@contextmanager
def tprocc_database(server: Server, flavour: str, warehouses: int = 1) -> Iterator[Scratch]:
    """Make the database; drop it at the end."""
    with scratch_database(server) as scratch:
        make_tables(scratch, flavour, warehouses)
        yield scratch
