"""The options of TPROC-C, and what they make of a worker's session."""

from dataclasses import dataclass

from benchkit.workloads.options import IDENTIFIER, Limits, option
from benchkit.workloads.tprocc_schema import FLAVOURS, HAMMERDB

HOMES = ("worker", "all", "partitioned")
ISOLATION_LEVELS = ("read-uncommitted", "read-committed", "repeatable-read", "serializable")


@dataclass(frozen=True, slots=True)
class TproccOptions:
    """The options of TPROC-C."""

    warehouses: int = option(1, "How many warehouses there are.", Limits(1, 100_000))
    flavour: str = option(
        HAMMERDB,
        "Whose rules: 'hammerdb6' does what HammerDB 6 does, to the deviation, and 'spec' what "
        "TPC-C 5.11 says.",
        Limits(choices=FLAVOURS),
    )
    procedures: bool = option(
        True, "Call a stored procedure for each transaction, or send its statements one by one."
    )
    protocol: str = option(
        "binary",
        "How procedures are called: 'binary' sends one prepared CALL and takes its results, "
        "'hammerdb' takes HammerDB's round trips: SET of user variables, CALL, SELECT of results.",
        Limits(choices=("binary", "hammerdb")),
    )
    home: str = option(
        "worker",
        "Which warehouse a transaction is for: 'worker' draws one for each worker and keeps it, "
        "'all' draws for each transaction, 'partitioned' draws for each transaction among the "
        "worker's own share (HammerDB's allwarehouse).",
        Limits(choices=HOMES),
    )
    mix: str = option(
        "",
        "How the next transaction is chosen: drawn by 'weights' (10 10 1 1 1 of 23) or from a "
        "shuffled 'deck' of 23; by default hammerdb6 draws and spec has a deck.",
        Limits(choices=("", "weights", "deck")),
    )
    key_and_think: bool = option(
        False, "Wait before and after each transaction as a user types and thinks."
    )
    isolation: str = option(
        "repeatable-read",
        "The sessions' transaction isolation level.",
        Limits(choices=ISOLATION_LEVELS),
    )
    innodb_snapshot_isolation: str = option(
        "off",
        "The variable of that name: 'off' where the server has it, as HammerDB does, 'on', or as "
        "the 'server' has it.",
        Limits(choices=("off", "on", "server")),
    )
    existing: str = option(
        "",
        "A database that holds the schema already, made by HammerDB for example: nothing is "
        "loaded, and runs change it. Its procedures are called as they are.",
        Limits(pattern=r"[A-Za-z0-9_$-]{0,64}"),
    )
    storage_engine: str = option(
        "InnoDB", "The tables' storage engine.", Limits(pattern=IDENTIFIER)
    )
    partitions: bool = option(False, "Spread order_line over partitions, from 200 warehouses on.")
    history_pk: bool = option(
        False, "Give the table history a primary key, which replication and clusters need."
    )


def session_statements(options: TproccOptions) -> tuple[str, ...]:
    """Return what a worker's connection starts with."""
    level = options.isolation.replace("-", " ").upper()
    return (
        "SET autocommit = 0",
        f"SET SESSION TRANSACTION ISOLATION LEVEL {level}",
        *_SNAPSHOT_ISOLATION[options.innodb_snapshot_isolation],
    )


# Most servers do not have the variable, and MySQL has no table of variables: what follows M! is
# read by MariaDB alone.
_SNAPSHOT_ISOLATION = {
    "off": (
        "SET @benchkit = 'DO 0' /*M!, @benchkit = (SELECT IF(COUNT(*), "
        "'SET SESSION innodb_snapshot_isolation = OFF', 'DO 0') "
        "FROM information_schema.system_variables "
        "WHERE variable_name = 'INNODB_SNAPSHOT_ISOLATION') */",
        "PREPARE benchkit FROM @benchkit",
        "EXECUTE benchkit",
        "DEALLOCATE PREPARE benchkit",
    ),
    "on": ("SET SESSION innodb_snapshot_isolation = ON",),
    "server": (),
}
