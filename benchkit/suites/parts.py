"""How far a load in parts came, kept in the database that is loaded.

Every part of a table is noted by the transaction that loads it. So after an interruption, of
us or of the server, what is noted is there, and the rest is loaded by the next call. Engines
without transactions may have rows of parts that are not noted: these are removed first.
"""

import time
from collections import defaultdict
from dataclasses import dataclass, field

from benchkit._core import Connection
from benchkit.errors import RunError
from benchkit.workloads import Workload
from benchkit.workloads.model import Table

PARTS = "benchkit_parts"

_FINISHED = 0  # the part that stands for the statements after a table's rows
_LEAVE_LIMIT_S = 300.0  # a server may have to roll a large transaction back first
_POLL_S = 0.05


@dataclass(slots=True)
class Noted:
    """What is noted: the parts of each table that are there, and their lines."""

    parts: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    lines: int = 0


def loads_in_parts(workload: Workload) -> bool:
    """Tell whether a load of the workload's tables can be gone on with."""
    return any(table.parts for table in workload.tables)


def part_rows(table: Table) -> int:
    """Return the rows in each part; without parts a table is one."""
    return table.parts[1] if table.parts else max(table.rows, 1)


def create_notes(admin: Connection) -> None:
    """Make the table of notes in the session's database."""
    admin.query(
        f"CREATE TABLE {PARTS} (table_name VARCHAR(64), part BIGINT, line_count BIGINT, "
        "PRIMARY KEY (table_name, part)) ENGINE = InnoDB"
    )


def note(name: str) -> str:
    """Return the INSERT that notes a part of a table, up to its number and its lines."""
    return f"INSERT INTO {PARTS} VALUES ('{name}',"


def note_finished(name: str) -> str:
    """Return the INSERT that notes that a table's finishing statements have run."""
    return f"{note(name)} {_FINISHED}, 0)"


def read_notes(admin: Connection) -> Noted:
    """Return what is noted in the session's database."""
    noted = Noted()
    for name, part, lines in admin.query(f"SELECT table_name, part, line_count FROM {PARTS}"):
        noted.parts[str(name)].append(int(str(part)))
        noted.lines += int(str(lines))
    return noted


def await_others(admin: Connection, database: str) -> None:
    """Wait until nobody else is at work in a database.

    The connections of a loader that was killed live on until the server sees that they are
    closed, and has rolled back what they were in the middle of.

    Raises
    ------
    RunError
        When somebody stays: another process may be loading it.
    """
    others = (
        "SELECT COUNT(*) FROM information_schema.processlist "
        f"WHERE db = '{database}' AND id <> CONNECTION_ID()"
    )
    deadline = time.monotonic() + _LEAVE_LIMIT_S
    while admin.query(others) != [("0",)]:
        if time.monotonic() > deadline:
            raise RunError(
                f"database {database!r} was half loaded, and somebody has been at work in it for "
                f"{_LEAVE_LIMIT_S:.0f} s; wait for the other load, or end its connections"
            )
        time.sleep(_POLL_S)


def clear_unfinished(admin: Connection, name: str, table: Table, numbered_create: str) -> None:
    """Remove from a table all rows that no note speaks for.

    Parameters
    ----------
    admin : Connection
        In the database.
    name : str
        The table's name with its number.
    table : Table
    numbered_create : str
        Its CREATE TABLE statement, likewise.
    """
    there = read_notes(admin).parts[name]
    parts = [part for part in there if part != _FINISHED]
    total = -(-table.rows // part_rows(table))
    if total and len(parts) == total and (len(there) > total or not table.finish):
        return
    if not parts or len(parts) == total:
        admin.query(f"DROP TABLE IF EXISTS `{name}`")
        admin.query(numbered_create)
        admin.query(f"DELETE FROM {PARTS} WHERE table_name = '{name}'")
    elif table.parts and not _has_transactions(admin, name):
        admin.query(
            f"DELETE FROM `{name}` WHERE `{table.parts[0]}` NOT IN ({', '.join(map(str, parts))})"
        )


def _has_transactions(admin: Connection, name: str) -> bool:
    rows = admin.query(
        "SELECT e.transactions FROM information_schema.tables t "
        "JOIN information_schema.engines e ON e.engine = t.engine "
        f"WHERE t.table_schema = DATABASE() AND t.table_name = '{name}'"
    )
    return rows == [("YES",)]


def drop_routines(admin: Connection, database: str) -> None:
    """Drop what an interrupted load may have made already."""
    routines = admin.query(
        "SELECT routine_type, routine_name FROM information_schema.routines "
        f"WHERE routine_schema = '{database}'"
    )
    for kind, name in routines:
        admin.query(f"DROP {kind} `{database}`.`{name}`")
