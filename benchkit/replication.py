"""Replication in the words of each product: accounts, positions, attaching, how it stands.

Always by GTID. Knows connections only; starts no server. Passwords go over connections, with
the general log of the session off, and nowhere else.
"""

import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchkit._core import Connection
from benchkit.config import Value
from benchkit.errors import DatabaseError

USER = "benchkit_replica"
HOST = "127.0.0.1"

_RETRY_S = 1  # of a replica whose primary does not answer


class Source(NamedTuple):
    """Where a replica finds its primary, and as whom."""

    port: int
    password: str


class Standing(NamedTuple):
    """How a replica stands: which of its threads run, and the last error of each."""

    receives: bool
    applies: bool
    receive_error: str
    apply_error: str

    @property
    def error(self) -> str | None:
        """What stopped the replica, in its own words; None while it works."""
        if not self.applies:
            return self.apply_error or self.receive_error or "its applier was stopped"
        return None if self.receives else self.receive_error or "its receiver was stopped"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One product's statements.

    Parameters
    ----------
    primary_options, replica_options : dict
        What each has to be started with.
    position : str
        Expression for all that a primary has written to its binary log.
    applied : str
        Expression for all that a replica has applied.
    wait : str
        Query for 0 once a position is applied; otherwise after a second.
    forget : tuple of str
        What makes a copy of a primary forget that it was one.
    place : str
        Sets where a replica goes on.
    attach : tuple of str
    worker_errors : str
        Query for what stopped the applier's workers, where its own error only points to them.
    secret_file_option : str
        Which option names the file that keeps the password; empty where none does.
    standing : tuple of str
        The query, and in its result: receiver's and applier's state, and the error of each.
    """

    primary_options: dict[str, Value]
    replica_options: dict[str, Value]
    position: str
    applied: str
    wait: str
    forget: tuple[str, ...]
    place: str
    attach: tuple[str, ...]
    worker_errors: str
    secret_file_option: str
    standing: tuple[str, ...]


_MARIADB = Dialect(
    primary_options={},
    replica_options={"skip_slave_start": True, "relay_log": "relay"},
    position="@@GLOBAL.gtid_binlog_pos",
    applied="@@GLOBAL.gtid_slave_pos",
    wait="SELECT MASTER_GTID_WAIT('{position}', 1)",
    forget=("STOP SLAVE", "RESET SLAVE ALL", "RESET MASTER"),
    place="SET GLOBAL gtid_slave_pos = '{position}'",
    attach=(
        "STOP SLAVE",
        "CHANGE MASTER TO MASTER_HOST='{host}', MASTER_PORT={port}, MASTER_USER='{user}', "
        "MASTER_PASSWORD='{password}', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY={retry_s}",
        "START SLAVE",
    ),
    worker_errors="",
    secret_file_option="master_info_file",
    standing=(
        "SHOW SLAVE STATUS",
        "Slave_IO_Running",
        "Slave_SQL_Running",
        "Last_IO_Error",
        "Last_SQL_Error",
    ),
)

# The password goes with START, because that alone does not keep it in a table.
_MYSQL = Dialect(
    primary_options={"gtid_mode": True, "enforce_gtid_consistency": True},
    replica_options={
        "gtid_mode": True,
        "enforce_gtid_consistency": True,
        "skip_replica_start": True,
        "relay_log": "relay",
    },
    position="@@GLOBAL.gtid_executed",
    applied="@@GLOBAL.gtid_executed",
    wait="SELECT WAIT_FOR_EXECUTED_GTID_SET('{position}', 1)",
    forget=("STOP REPLICA", "RESET REPLICA ALL", "RESET BINARY LOGS AND GTIDS"),
    place="SET GLOBAL gtid_purged = '{position}'",
    attach=(
        "STOP REPLICA",
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='{host}', SOURCE_PORT={port}, "
        "SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY={retry_s}",
        "START REPLICA USER='{user}' PASSWORD='{password}'",
    ),
    worker_errors="SELECT last_error_message "
    "FROM performance_schema.replication_applier_status_by_worker WHERE last_error_number <> 0",
    secret_file_option="",
    standing=(
        "SHOW REPLICA STATUS",
        "Replica_IO_Running",
        "Replica_SQL_Running",
        "Last_IO_Error",
        "Last_SQL_Error",
    ),
)

_OLD_RESET = {"RESET BINARY LOGS AND GTIDS": "RESET MASTER"}  # before MySQL 8.2


def dialect_of(version: str) -> Dialect:
    """Return the statements of the product with a version such as ``11.8.6-MariaDB``."""
    return _MARIADB if "mariadb" in version.lower() else _MYSQL


def make_account(primary: Connection) -> str:
    """Make the account that replicas log in with, over TCP from this machine; return its password.

    It replaces the one of an earlier start. None of it is replicated.
    """
    password = secrets.token_hex(16)
    _keep_quiet(primary)
    primary.query("SET SESSION sql_log_bin = 0")
    account = f"'{USER}'@'{HOST}'"
    primary.query(f"DROP USER IF EXISTS {account}")
    primary.query(f"CREATE USER {account} IDENTIFIED BY '{password}'")
    primary.query(f"GRANT REPLICATION SLAVE ON *.* TO {account}")
    primary.query("SET SESSION sql_log_bin = 1")
    return password


def lock_root(primary: Connection) -> None:
    """Lock the accounts by which anyone could be root over TCP, without a password."""
    primary.query("SET SESSION sql_log_bin = 0")
    places = "SELECT host FROM mysql.user WHERE user = 'root' AND host IN ('127.0.0.1', '::1', '%')"
    for (host,) in primary.query(places):  # those by name do not count: it resolves none
        primary.query(f"ALTER USER 'root'@'{host}' ACCOUNT LOCK")
    primary.query("SET SESSION sql_log_bin = 1")


def read_position(primary: Connection) -> str:
    """Return all that a primary has written to its binary log, as GTIDs."""
    return _value(primary, dialect_of(str(primary.server_version)).position)


def read_applied(replica: Connection) -> str:
    """Return all that a replica has applied, as GTIDs."""
    return _value(replica, dialect_of(str(replica.server_version)).applied)


def place_copy(replica: Connection, position: str) -> None:
    """Make the copy of a primary a replica that goes on at a position."""
    dialect = dialect_of(str(replica.server_version))
    _keep_quiet(replica)
    logs = _value(replica, "@@GLOBAL.log_bin") == "1"
    for statement in dialect.forget:
        if logs or "MASTER" not in statement:
            replica.query(_dated(replica, statement))
    replica.query(dialect.place.format(position=position))


def attach(replica: Connection, source: Source) -> None:
    """Have a replica read its primary's binary log, from where it has got to."""
    dialect = dialect_of(str(replica.server_version))
    _keep_quiet(replica)
    values = {**source._asdict(), "host": HOST, "user": USER, "retry_s": _RETRY_S}
    for statement in dialect.attach:
        replica.query(statement.format_map(values))


def end_dumps(primary: Connection) -> None:
    """End the threads that served replicas: MySQL's shutdown would wait for them."""
    columns, rows = primary.table("SHOW PROCESSLIST")
    number, command = columns.index("Id"), columns.index("Command")
    for row in rows:
        if str(row[command]).startswith("Binlog Dump"):
            with suppress(DatabaseError):  # it has just ended
                primary.query(f"KILL {row[number]}")


def has_applied(replica: Connection, position: str) -> bool:
    """Wait up to a second until a position is applied; tell whether it is.

    Only while the applier runs: without one, MySQL would wait for nothing.
    """
    wait = dialect_of(str(replica.server_version)).wait
    return replica.query(wait.format(position=position))[0][0] == "0"


def read_standing(replica: Connection) -> Standing:
    """Return how a replica stands."""
    dialect = dialect_of(str(replica.server_version))
    query, *names = dialect.standing
    columns, rows = replica.table(query)
    if not rows:
        return Standing(False, False, "", "it is not attached to a primary")
    found: dict[str, Any] = dict(zip(columns, rows[0], strict=True))
    receives, applies, receive_error, apply_error = (found[name] or "" for name in names)
    if apply_error and dialect.worker_errors:
        apply_error = " / ".join(str(row[0]) for row in replica.query(dialect.worker_errors))
    return Standing(receives != "No", applies == "Yes", receive_error, apply_error)


def count_transactions(position: str) -> int:
    """Return how many transactions a position stands for.

    Differences count: MariaDB's numbers begin anywhere, and a server has one series of them
    for each replication domain.
    """
    if ":" in position:  # MySQL: uuid:1-5:8,uuid:1-3
        ranges = re.findall(r":(\d+)(?:-(\d+))?", position)
        return sum(int(last or first) - int(first) + 1 for first, last in ranges)
    return sum(int(gtid.rpartition("-")[2]) for gtid in position.split(",") if gtid)


def binlog_sizes(server: Connection) -> dict[str, int]:
    """Return the size in bytes of each binary log of a server that has one."""
    rows = server.query("SHOW BINARY LOGS")
    return {str(name): int(size or 0) for name, size, *_ in rows}


def binlog_growth(before: dict[str, int], after: dict[str, int]) -> int | None:
    """Return how many bytes were written between; None where the server does not show it.

    Logs that were purged meanwhile count as long as the last one of `before` is there.
    """
    if not before or list(before)[-1] not in after:
        return None
    return sum(size - before.get(name, 0) for name, size in after.items())


def _keep_quiet(session: Connection) -> None:
    """Keep what follows out of the general log."""
    session.query("SET SESSION sql_log_off = 1")


def _value(session: Connection, expression: str) -> str:
    return (session.query(f"SELECT {expression}")[0][0] or "").replace("\n", "")


def _dated(session: Connection, statement: str) -> str:
    """Return a statement as the server's version knows it."""
    major, minor = re.findall(r"\d+", str(session.server_version))[:2]
    old = (int(major), int(minor)) < (8, 2)
    return _OLD_RESET.get(statement, statement) if old else statement
