"""What a workload is: tables, transactions and rules, as frozen values.

A workload holds no SQL machinery of its own. `Workload.spec` turns it into the plain tuples that
``csrc/program.c`` validates and compiles; every worker then runs the compiled steps. Users
write their own workloads with the same classes.

Everything is checked as it is made, and lists become tuples: a `Workload` that exists can run,
as far as can be told without a server.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from typing import Literal

from benchkit import _core
from benchkit.errors import WorkloadError, unknown_name
from benchkit.generators import Generator, timestamp
from benchkit.workloads import check
from benchkit.workloads.condition import Condition
from benchkit.workloads.rate import Rate
from benchkit.workloads.steps import (
    BUILT_IN_REGISTERS,
    HiddenRegisters,
    Step,
    any_writes,
    leaves_open,
    plain_steps,
    read_registers,
    read_steps,
    writes,
    written_registers,
)

_SAMPLED_LINES = 1000


@dataclass(frozen=True, slots=True)
class Transaction:
    """A named list of steps, chosen with probability proportional to its weight.

    Parameters
    ----------
    name : str
    steps : tuple of Step
    weight : float
    keying, thinking : Generator, optional
        How many seconds a worker waits before and after each: a user's pauses, which are no part
        of the response time. They draw numbers, as `exponential` and `constant` do.
    """

    name: str
    steps: tuple[Step, ...]
    weight: float = 1.0
    keying: Generator | None = None
    thinking: Generator | None = None

    def __post_init__(self) -> None:
        owner = f"transaction {check.read_text('Transaction', 'name', self.name)!r}"
        object.__setattr__(self, "steps", read_steps(owner, self.steps))
        object.__setattr__(self, "weight", check.read_number(owner, "weight", self.weight))
        for name in ("keying", "thinking"):
            if not isinstance(getattr(self, name), Generator | None):
                wanted = "a generator of seconds, or None"
                check.refuse(owner, name, wanted, getattr(self, name))
        if leaves_open(self.steps):
            raise WorkloadError(f"{owner} has a Begin() but no Commit() or Rollback()")


def _check_registers(owner: str, steps: tuple[Step, ...], set_up: set[str]) -> None:
    """Raise where a step reads a register that neither a step nor the set-up gives a value."""
    written = {*BUILT_IN_REGISTERS, *set_up, *written_registers(steps)}
    for register in read_registers(steps):
        if register not in written:
            message = unknown_name("register", register, sorted(written))
            raise WorkloadError(
                f"{owner}: {message}; Let and keep make registers, and constant() a fixed value"
            )


@dataclass(frozen=True, slots=True)
class Table:
    """A family of tables that differ only in their number, and how they are filled.

    Parameters
    ----------
    name : str
        The table's name; ``{n}`` stands for its number, from 1.
    create : str
        The CREATE TABLE statement, with ``{n}`` likewise.
    columns : tuple of (column, Generator)
        The columns the loader fills.
    rows : int
        Rows in each table.
    finish : tuple of str
        Statements for each table once its rows are in, such as CREATE INDEX.
    count : int or "workers"
        How many tables; "workers" makes one for each worker of the largest run.
    lines : (column, Generator) or None
        Makes a row several lines, as many as the generator says; they have one row number, and
        the column numbers them from 1.
    parts : (column, rows) or None
        Loads that many rows in a transaction; the column numbers these parts from 1. A load that
        was interrupted goes on with the parts that are missing.
    """

    name: str
    create: str
    columns: tuple[tuple[str, Generator], ...] = ()
    rows: int = 0
    finish: tuple[str, ...] = ()
    count: int | Literal["workers"] = 1
    lines: tuple[str, Generator] | None = None
    parts: tuple[str, int] | None = None

    def __post_init__(self) -> None:
        owner = f"table {check.read_text('Table', 'name', self.name)!r}"
        check.read_text(owner, "create", self.create)
        if not check.names_table(self.create, self.name):
            check.refuse(owner, "create", f"the CREATE TABLE statement of {self.name}", self.create)
        columns = check.read_pairs(
            owner, "columns", self.columns, (Generator,), "(column, generator)"
        )
        check.check_different(owner, "columns", [column for column, _ in columns])
        for column, generator in columns:
            if generator == timestamp():
                raise WorkloadError(
                    f"{owner}: column {column!r} would be another time at every load; "
                    "give timestamp() a fixed at_s"
                )
        finish = check.read_items(owner, "finish", self.finish, (str,), "a statement")
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "finish", finish)
        self._check_size(owner)
        self._check_lines(owner)
        self._check_parts(owner)

    @property
    def expected_rows(self) -> int:
        """About how many rows each table gets: exactly ``rows`` unless they become lines."""
        if self.lines is None:
            return self.rows
        counts = _core.draw(self.lines[1].spec(), _SAMPLED_LINES)
        return round(self.rows * sum(counts) / _SAMPLED_LINES)

    def _check_lines(self, owner: str) -> None:
        if self.lines is None:
            return
        wanted = "(column, generator of how many)"
        pairs = check.read_pairs(owner, "lines", (self.lines,), (Generator,), wanted)
        object.__setattr__(self, "lines", pairs[0])
        columns = [self.lines[0], *(column for column, _ in self.columns)]
        check.check_different(owner, "columns", columns)

    def _check_parts(self, owner: str) -> None:
        if self.parts is None:
            return
        (pair,) = check.read_pairs(owner, "parts", (self.parts,), (object,), "(column, rows)")
        rows = check.read_integer(owner, "the rows of parts", pair[1], 1)
        object.__setattr__(self, "parts", (pair[0], rows))
        if pair[0] not in (column for column, _ in self.columns):
            raise WorkloadError(f"{owner}: parts are told by the column {pair[0]!r}, which is none")
        if self.count != 1:
            raise WorkloadError(f"{owner} has parts, and then count must be 1, not {self.count}")

    def _check_size(self, owner: str) -> None:
        object.__setattr__(self, "rows", check.read_integer(owner, "rows", self.rows, 0))
        if self.rows and not self.columns:
            raise WorkloadError(f"{owner} is to have {self.rows} rows but no columns to fill")
        if self.count != "workers":
            if isinstance(self.count, str):
                check.refuse(owner, "count", "an integer from 1, or 'workers'", self.count)
            object.__setattr__(self, "count", check.read_integer(owner, "count", self.count, 1))
        if self.count != 1 and "{n}" not in self.name:
            raise WorkloadError(
                f"{owner}: {self.count} tables need different names; write {{n}} for the number"
            )


@dataclass(frozen=True, slots=True)
class Rules:
    """What to do when a statement fails, by MariaDB/MySQL error number.

    A number in ``retry`` rolls back and tries the transaction again as a new attempt; one in
    ``tolerate`` rolls back and counts the transaction as failed; any other ends the run.
    ``reconnect_every`` n > 0 makes each worker log in anew after every n transactions.
    """

    retry: tuple[int, ...] = (1213, 1205, 1020)
    tolerate: tuple[int, ...] = (1062,)
    reconnect_every: int = 0

    def __post_init__(self) -> None:
        every = check.read_integer("Rules", "reconnect_every", self.reconnect_every)
        object.__setattr__(self, "reconnect_every", every)
        for name, value in (("retry", self.retry), ("tolerate", self.tolerate)):
            numbers = check.read_items("Rules", name, value, (int,), "an error number")
            object.__setattr__(self, name, numbers)
        both = sorted(set(self.retry) & set(self.tolerate))
        if both:
            raise WorkloadError(f"Rules: error {both[0]} is both in retry and in tolerate")


@dataclass(frozen=True, slots=True)
class Workload:
    """Tables, transactions and rules under one identity.

    Parameters
    ----------
    identity : str
        Such as ``sysbench/1.1:oltp_read_only``; two workloads with the same identity and
        parameters do the same work.
    transactions : tuple of Transaction
    tables : tuple of Table
    rules : Rules
    session : tuple of str
        Statements each worker runs once after it logs in.
    fresh_data : bool
        Load the tables anew before every run, because a run changes how they look.
    parameters : tuple of (name, value)
        The options the workload was made with, for people and for the stored record.
    routines : tuple of str
        Statements that run once when all tables are loaded, in order: CREATE PROCEDURE, ANALYZE.
    database_options : str
        What follows the name in CREATE DATABASE, such as ``CHARACTER SET latin1``.
    set_up : tuple of Step
        Steps that each worker runs once, before its first transaction: they draw and compute
        registers, which all its transactions then have, and execute nothing.
    conditions : tuple of Condition
        What must be true of the data after a load and after a run. They are not part of the
        fingerprint: a run is the same whatever is looked at afterwards.
    rates : tuple of Rate
        Rates that the server counts, and the client too; not part of the fingerprint either.
    choice : {"weights", "deck"}
        How the next transaction is chosen: drawn by weight, or from a shuffled deck in which each
        lies as often as its weight (a whole number), so that the mix is exact.
    existing : str
        A database that holds a TPROC-C schema already, to be used as it is: nothing is loaded,
        and runs change it. Empty to load one's own.
    """

    identity: str
    transactions: tuple[Transaction, ...]
    tables: tuple[Table, ...] = ()
    rules: Rules = field(default_factory=Rules)
    session: tuple[str, ...] = ()
    fresh_data: bool = False
    parameters: tuple[tuple[str, object], ...] = ()
    routines: tuple[str, ...] = ()
    database_options: str = ""
    set_up: tuple[Step, ...] = ()
    choice: Literal["weights", "deck"] = "weights"
    existing: str = ""
    conditions: tuple[Condition, ...] = ()
    rates: tuple[Rate, ...] = ()

    def __post_init__(self) -> None:
        owner = f"workload {check.read_text('Workload', 'identity', self.identity)!r}"
        lists: tuple[tuple[str, type, str], ...] = (
            ("transactions", Transaction, "a Transaction"),
            ("tables", Table, "a Table"),
            ("session", str, "a statement"),
            ("routines", str, "a statement"),
            ("conditions", Condition, "a Condition"),
            ("rates", Rate, "a Rate"),
        )
        for name, kind, wanted in lists:
            items = check.read_items(owner, name, getattr(self, name), (kind,), wanted)
            object.__setattr__(self, name, items)
        if not isinstance(self.rules, Rules):
            check.refuse(owner, "rules", "Rules(...)", self.rules)
        parameters = check.read_pairs(
            owner, "parameters", self.parameters, (object,), "(name, value)"
        )
        object.__setattr__(self, "parameters", parameters)
        check.check_different(owner, "tables", [t.name for t in self.tables])
        check.read_word(owner, "choice", self.choice, ("weights", "deck"))
        object.__setattr__(self, "set_up", read_steps(f"{owner}: set_up", self.set_up))
        self._check_registers(owner)
        for name in ("database_options", "existing"):
            if getattr(self, name):
                check.read_text(owner, name, getattr(self, name))
        self._check_existing(owner)
        try:
            _core.Program(self.spec())
        except WorkloadError as error:
            raise WorkloadError(f"{owner}: {error}") from None

    def _check_registers(self, owner: str) -> None:
        _check_registers(f"the set-up of {owner}", self.set_up, set())
        set_up = set(written_registers(self.set_up))
        for transaction in self.transactions:
            _check_registers(f"transaction {transaction.name!r}", transaction.steps, set_up)

    def _check_existing(self, owner: str) -> None:
        if not self.existing:
            return
        if not re.fullmatch(r"[A-Za-z0-9_$-]{1,64}", self.existing):
            check.refuse(owner, "existing", "the name of a database", self.existing)
        if "warehouse" not in (table.name for table in self.tables):
            raise WorkloadError(f"{owner}: existing is for workloads on TPROC-C's tables")
        if self.fresh_data:
            raise WorkloadError(f"{owner}: fresh_data loads, so that existing cannot be used")

    @property
    def name(self) -> str:
        """The part of the identity after the personality."""
        return self.identity.rpartition(":")[2]

    @property
    def writes(self) -> bool:
        """Whether a run may change what the tables hold; what it CALLs is taken to."""
        return any(any_writes(t.steps) for t in self.transactions) or any(map(writes, self.session))

    def spec(self) -> dict[str, object]:
        """Return the plain form of the program that the C core reads."""
        hidden = HiddenRegisters()
        set_up = plain_steps(self.set_up, hidden)
        optional = {"set_up": set_up} if set_up else {}
        return {
            "transactions": [self._plain(t, hidden) for t in self.transactions],
            "session": list(self.session),
            "retry": list(self.rules.retry),
            "tolerate": list(self.rules.tolerate),
            "reconnect_every": self.rules.reconnect_every,
            **optional,
            **({"deck": True} if self.choice == "deck" else {}),
        }

    def _plain(self, transaction: Transaction, hidden: HiddenRegisters) -> tuple[object, ...]:
        t = transaction
        pauses = [pause and pause.spec() for pause in (t.keying, t.thinking)]
        steps = plain_steps(t.steps, hidden)
        return (t.name, float(t.weight), steps, *(pauses if any(pauses) else ()))

    def tables_for(self, workers: int) -> "tuple[Table, ...]":
        """Return the tables with every count resolved to a number."""
        return tuple(replace(t, count=workers) if t.count == "workers" else t for t in self.tables)

    def fingerprint(self) -> str:
        """Return a hash of all that this workload does, as 64 hexadecimal digits."""
        tables = [_table_spec(table) for table in self.tables]
        whole = [self.identity, self.spec(), tables, self.fresh_data]
        if self.routines or self.database_options or self.existing:
            whole += [self.routines, self.database_options, self.existing]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _table_spec(table: Table) -> tuple[object, ...]:
    """Return the plain form of a table; runs are known by it, so it grows only where it must."""
    columns = [(column, generator.spec()) for column, generator in table.columns]
    spec = (table.name, table.create, columns, table.rows, table.finish, table.count)
    if table.lines is None and table.parts is None:
        return spec
    lines = table.lines and (table.lines[0], table.lines[1].spec())
    return (*spec, lines, table.parts)
