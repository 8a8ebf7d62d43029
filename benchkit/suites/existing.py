"""Databases that are there already: whose they are, and whether a workload can run on them.

A TPROC-C schema that HammerDB built has the nine tables and five procedures but nothing that says
who made it. `check_schema` looks at it as HammerDB's own ``checkschema`` does before a run
uses it.
"""

import re
from collections.abc import Iterable

from benchkit._core import Connection
from benchkit.consistency import look_at
from benchkit.errors import RunError
from benchkit.suites.parts import PARTS
from benchkit.units import format_count
from benchkit.workloads import Workload
from benchkit.workloads.tprocc_conditions import CONDITIONS
from benchkit.workloads.tprocc_schema import HAMMERDB, LEAST_ROWS, SPEC, TABLES, WITHOUT_INDEX

_CONDITIONS_CHECKED = 4

_AMOUNT = re.compile(r"\bol_amount (\w+)")
_FLAVOURS = {"int": HAMMERDB, "decimal": SPEC}
"""The type of an order line's amount -> whose tables, and with them whose procedures, they are."""

_PROCEDURE = re.compile(r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?PROCEDURE\s+`?(\w+)", re.IGNORECASE)


def table_names(admin: Connection, database: str) -> list[str]:
    """Return the names of a database's tables."""
    rows = admin.query(
        "SELECT table_name FROM information_schema.tables "
        f"WHERE table_schema = '{database}' AND table_type = 'BASE TABLE'"
    )
    return [str(name) for (name,) in rows]


def character_sets(admin: Connection, database: str, tables: Iterable[str]) -> str:
    """Return the character sets that columns of some tables are kept in, apart by commas."""
    listed = ", ".join(f"'{name}'" for name in tables)
    rows = admin.query(
        "SELECT DISTINCT character_set_name FROM information_schema.columns WHERE table_schema = "
        f"'{database}' AND table_name IN ({listed or 'NULL'}) AND character_set_name IS NOT NULL"
    )
    return ",".join(sorted(str(name) for (name,) in rows))


def is_tprocc(tables: Iterable[str]) -> bool:
    """Tell whether these are TPROC-C's tables, made by HammerDB or whoever."""
    return set(TABLES) <= {name.lower() for name in tables}


def refuse_foreign(database: str, tables: Iterable[str]) -> RunError:
    """Return the error for a database that is in the way and that benchkit did not make."""
    if is_tprocc(tables):
        return RunError(
            f"the server has a database {database!r} with TPROC-C's nine tables that benchkit did "
            f"not make, as HammerDB's build does; use it with existing={database!r}, "
            "rename or drop it, or use another server"
        )
    return RunError(
        f"the server has a database {database!r} that benchkit did not make; "
        "rename or drop it, or use another server"
    )


def count_warehouses(workload: Workload) -> int:
    """Return how many warehouses a workload on TPROC-C's tables is for."""
    return next(table.rows for table in workload.tables if table.name == "warehouse")


def flavour_of(workload: Workload) -> str:
    """Return the flavour of a workload on TPROC-C's tables."""
    create = next(table.create for table in workload.tables if table.name == "order_line")
    found = _AMOUNT.search(create)
    return _FLAVOURS.get(found[1].lower(), "") if found else ""


def procedure_names(workload: Workload) -> list[str]:
    """Return the names of the procedures that a workload calls, not of those it only makes."""
    if not dict(workload.parameters).get("procedures", True):
        return []
    found = (_PROCEDURE.match(sql) for sql in workload.routines)
    return [match[1] for match in found if match]


def check_schema(admin: Connection, workload: Workload) -> None:
    """Check that the database a workload is to use holds a TPROC-C schema that is whole.

    What HammerDB's ``checkschema`` looks at, in its order: the tables, the number of warehouses,
    indexes, the least numbers of rows, the procedures, and TPC-C's consistency conditions 1 to 4.
    And before the rows, whether the tables are the workload's flavour's.

    Parameters
    ----------
    admin : Connection
    workload : Workload
        Whose `existing` is the database.

    Raises
    ------
    RunError
        Saying what is missing or wrong.
    """
    database, warehouses = workload.existing, count_warehouses(workload)
    admin.query(f"USE `{_check_tables(admin, database)}`")
    _check_warehouses(admin, database, warehouses)
    _check_indexes(admin, database)
    _check_flavour(admin, database, flavour_of(workload))
    _check_rows(admin, database, warehouses)
    _check_procedures(admin, database, procedure_names(workload))
    _check_conditions(admin, database)


def _check_tables(admin: Connection, database: str) -> str:
    tables = table_names(admin, database)
    if not tables:
        raise RunError(f"there are no tables in a database {database!r} to be used")
    missing = sorted(set(TABLES) - {name.lower() for name in tables})
    if missing:
        raise RunError(
            f"database {database!r} is no TPROC-C schema: it has no table {', '.join(missing)}"
        )
    if PARTS in tables:
        raise RunError(
            f"database {database!r} is a study's own, which loads, goes on with and drops it; "
            "leave out existing, or use a copy"
        )
    return database


def _check_warehouses(admin: Connection, database: str, warehouses: int) -> None:
    ((highest,),) = admin.query("SELECT COALESCE(MAX(w_id), 0) FROM warehouse")
    if int(str(highest)) != warehouses:
        raise RunError(
            f"database {database!r} has {format_count(int(str(highest)), 'warehouse')}, "
            f"not {warehouses}; "
            f"give warehouses={highest}"
        )


def _check_indexes(admin: Connection, database: str) -> None:
    rows = admin.query(
        "SELECT DISTINCT LOWER(table_name) FROM information_schema.statistics "
        f"WHERE table_schema = '{database}'"
    )
    missing = set(TABLES) - {name for (name,) in rows} - WITHOUT_INDEX
    if missing:
        raise RunError(f"database {database!r}: no index on table {', '.join(sorted(missing))}")


def _check_flavour(admin: Connection, database: str, wanted: str) -> None:
    ((kind,),) = admin.query(
        "SELECT LOWER(data_type) FROM information_schema.columns WHERE table_schema = "
        f"'{database}' AND table_name = 'order_line' AND column_name = 'ol_amount'"
    )
    found = _FLAVOURS.get(str(kind), wanted)
    if found != wanted:
        raise RunError(
            f"database {database!r} is of the flavour {found!r}, not {wanted!r}: its "
            f"order_line.ol_amount is of type {kind}; give flavour={found!r}"
        )


def _check_rows(admin: Connection, database: str, warehouses: int) -> None:
    for name, (least, for_each) in LEAST_ROWS.items():
        wanted = least * (warehouses if for_each else 1)
        ((count,),) = admin.query(f"SELECT COUNT(*) FROM {name}")
        if int(str(count)) < wanted:
            raise RunError(
                f"database {database!r} is only partly loaded: table {name} has {count} rows, "
                f"with {format_count(warehouses, 'warehouse')} at least {wanted}; build it again"
            )


def _check_procedures(admin: Connection, database: str, procedures: Iterable[str]) -> None:
    rows = admin.query(
        "SELECT UPPER(routine_name) FROM information_schema.routines "
        f"WHERE routine_schema = '{database}' AND routine_type = 'PROCEDURE'"
    )
    there = {name for (name,) in rows}
    missing = [name for name in procedures if name.upper() not in there]
    if missing:
        raise RunError(
            f"database {database!r} has no procedure {', '.join(missing)}; "
            "run the statements as client SQL with procedures=False"
        )


def _check_conditions(admin: Connection, database: str) -> None:
    for found in look_at(admin, CONDITIONS[HAMMERDB][:_CONDITIONS_CHECKED], "run"):
        if found.violated:
            raise RunError(f"database {database!r} is not consistent: {found}")
