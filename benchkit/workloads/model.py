"""What a workload is: tables, transactions and rules, as frozen values.

A workload holds no SQL machinery of its own. `spec()` turns it into the plain tuples that
``csrc/program.c`` validates and compiles; every worker then runs the compiled steps. Users
write their own workloads with the same classes.

In the SQL of a step, ``?`` is a parameter and ``{name}`` is replaced by the value of an integer
register with known bounds (a table number, say): one statement is prepared for each value.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from benchkit.errors import WorkloadError
from benchkit.generators import Generator

RegisterType = Literal["integer", "real", "text"]
Spec = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Offset:
    """The value of an integer register plus a constant, as a parameter or in a `Let`."""

    register: str
    plus: int


Source = str | Generator | Offset
"""A parameter: a register's name, a generator drawn at that moment, or an `Offset`."""


@dataclass(frozen=True, slots=True)
class Let:
    """Draw a value into a register."""

    register: str
    source: Generator | Offset


@dataclass(frozen=True, slots=True)
class Execute:
    """Execute a prepared statement.

    Parameters
    ----------
    sql : str
        With ``?`` for parameters and ``{register}`` for a table number.
    params : tuple of Source
        One for each ``?``.
    keep : tuple of (register, type)
        Registers that take the first columns of the first row.
    rollback_if_none : bool
        End the transaction with ROLLBACK when a query finds no row or a change affects none.
    name : str
        How the statement is called in counts and histograms; by default the first word of
        the SQL.
    """

    sql: str
    params: tuple[Source, ...] = ()
    keep: tuple[tuple[str, RegisterType], ...] = ()
    rollback_if_none: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class InsertRows:
    """Append one row to a multi-row INSERT that is sent when its packet is full.

    ``sql`` is the text up to VALUES; the packet holds 512 KiB. What is left at the end of the
    run is sent then.
    """

    sql: str
    params: tuple[Source, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Begin:
    """BEGIN."""


@dataclass(frozen=True, slots=True)
class Commit:
    """COMMIT."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """ROLLBACK; the transaction counts as rolled back."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Run the steps a fixed number of times (0 is fine)."""

    times: int
    steps: tuple["Step", ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """Run one of the branches; each is (weight, steps)."""

    branches: tuple[tuple[float, tuple["Step", ...]], ...]


Step = Let | Execute | InsertRows | Begin | Commit | Rollback | Repeat | Choose


@dataclass(frozen=True, slots=True)
class Transaction:
    """A named list of steps, chosen with probability proportional to its weight."""

    name: str
    steps: tuple[Step, ...]
    weight: float = 1.0


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
    """

    name: str
    create: str
    columns: tuple[tuple[str, Generator], ...] = ()
    rows: int = 0
    finish: tuple[str, ...] = ()
    count: int | Literal["workers"] = 1


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
    """

    identity: str
    transactions: tuple[Transaction, ...]
    tables: tuple[Table, ...] = ()
    rules: Rules = field(default_factory=Rules)
    session: tuple[str, ...] = ()
    fresh_data: bool = False
    parameters: tuple[tuple[str, object], ...] = ()

    @property
    def name(self) -> str:
        """The part of the identity after the personality."""
        return self.identity.rpartition(":")[2]

    def spec(self) -> dict[str, object]:
        """Return the plain form of the program that the C core reads."""
        hidden = _Hidden()
        return {
            "transactions": [
                (t.name, float(t.weight), _steps_spec(t.steps, hidden)) for t in self.transactions
            ],
            "session": list(self.session),
            "retry": list(self.rules.retry),
            "tolerate": list(self.rules.tolerate),
            "reconnect_every": self.rules.reconnect_every,
        }

    def tables_for(self, workers: int) -> "tuple[Table, ...]":
        """Return the tables with every count resolved to a number."""
        return tuple(replace(t, count=workers) if t.count == "workers" else t for t in self.tables)

    def fingerprint(self) -> str:
        """Return a hash of all that this workload does, as 64 hexadecimal digits."""
        tables = [
            (t.name, t.create, [(c, g.spec()) for c, g in t.columns], t.rows, t.finish, t.count)
            for t in self.tables
        ]
        whole = [self.identity, self.spec(), tables, self.fresh_data]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


class _Hidden:
    """Names for the registers behind generators that are written as parameters."""

    def __init__(self) -> None:
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"_{self.count}"


def _source_spec(register: str, source: Generator | Offset) -> Spec:
    if isinstance(source, Offset):
        return ("add", register, source.register, source.plus)
    return ("let", register, source.spec())


def _parameters(params: tuple[Source, ...], hidden: _Hidden) -> tuple[list[Spec], list[str]]:
    """Return the draws that must come first, and the register of each parameter."""
    draws: list[Spec] = []
    registers: list[str] = []
    for source in params:
        if isinstance(source, str):
            registers.append(source)
        else:
            registers.append(hidden.name())
            draws.append(_source_spec(registers[-1], source))
    return draws, registers


def _execute_spec(step: Execute, hidden: _Hidden) -> Iterator[Spec]:
    draws, registers = _parameters(step.params, hidden)
    yield from draws
    name = step.name or step.sql.split(maxsplit=1)[0].lower()
    yield ("execute", name, step.sql, registers, list(step.keep), step.rollback_if_none)


def _insert_rows_spec(step: InsertRows, hidden: _Hidden) -> Iterator[Spec]:
    draws, registers = _parameters(step.params, hidden)
    yield from draws
    yield ("insert_rows", step.name or "insert_rows", step.sql, registers)


def _step_spec(step: Step, hidden: _Hidden) -> Iterator[Spec]:
    match step:
        case Let(register, source):
            yield _source_spec(register, source)
        case Execute():
            yield from _execute_spec(step, hidden)
        case InsertRows():
            yield from _insert_rows_spec(step, hidden)
        case Begin() | Commit() | Rollback():
            yield (type(step).__name__.lower(),)
        case Repeat(times, steps):
            yield ("repeat", times, _steps_spec(steps, hidden))
        case Choose(branches):
            yield ("choose", [(float(w), _steps_spec(s, hidden)) for w, s in branches])
        case _:
            raise WorkloadError(f"a step must be one of the step classes, not {step!r}")


def _steps_spec(steps: tuple[Step, ...], hidden: _Hidden) -> list[Spec]:
    return [spec for step in steps for spec in _step_spec(step, hidden)]
