"""A database of its own for a test, and workloads that run on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchkit._core import Connection, Driver, Program
from benchkit.record import MEASUREMENT
from benchkit.server import Server
from benchkit.workloads import Execute, Rules, Transaction, Workload

NAME = "benchkit_scratch"


@dataclass(frozen=True)
class Scratch:
    """An empty database on a started server, and a session in it."""

    server: Server
    session: Connection

    @property
    def endpoint(self) -> dict[str, Any]:
        """The keywords that connect to the database."""
        return {**self.server.endpoint, "database": NAME}

    def query(self, *statements: str) -> list[tuple[str | None, ...]]:
        """Run statements; return the rows of the last one."""
        return [self.session.query(sql) for sql in statements][-1]

    def numbers(self, sql: str) -> list[int]:
        """Return the first column of a query."""
        return [int(row[0]) for row in self.session.query(sql)]

    def status(self, *names: str) -> dict[str, int]:
        """Return global status variables."""
        listed = ", ".join(f"'{name}'" for name in names)
        rows = self.session.query(f"SHOW GLOBAL STATUS WHERE variable_name IN ({listed})")
        return {name: int(value) for name, value in rows}

    def sleepers(self) -> list[int]:
        """Return the ids of the connections that are inside SELECT SLEEP()."""
        return self.numbers(
            "SELECT id FROM information_schema.processlist "
            f"WHERE db = '{NAME}' AND info LIKE 'SELECT SLEEP%'"
        )

    def make_two_rows(self) -> None:
        """Make the table t, whose rows 1 and 2 hold n = 0."""
        self.query(
            "CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (1, 0), (2, 0)"
        )

    def run(self, workload: Workload, **options: Any) -> dict[str, Any]:
        """Run a workload to its end."""
        return make_driver(workload, self.endpoint, **options).run()


@contextmanager
def scratch_database(server: Server) -> Iterator[Scratch]:
    """Make the database; drop it at the end."""
    with server.session() as session:
        session.query(f"CREATE OR REPLACE DATABASE {NAME}")
        session.query(f"USE {NAME}")
        yield Scratch(server, session)
        session.query(f"DROP DATABASE {NAME}")


def make_workload(*steps: Any, session: tuple[str, ...] = (), **rules: Any) -> Workload:
    """Return a workload of one transaction, called "main"."""
    transactions = (Transaction("main", steps),)
    return Workload("test", transactions, rules=Rules(**rules), session=session)


def make_driver(workload: Workload, endpoint: dict[str, Any] | None, **options: Any) -> Driver:
    """Return a driver that has not run yet."""
    return Driver(Program(workload.spec()), endpoint, **options)


def update(row: int) -> Execute:
    """Return the step that adds 1 to a row of `Scratch.make_two_rows`."""
    return Execute(f"UPDATE t SET n = n + 1 WHERE id = {row}", name="update")


def measurement_rows(result: dict[str, Any]) -> np.ndarray:
    """Return the rows of the series that count."""
    return result["rows"][result["rows"]["phase"] == MEASUREMENT]


def statement(result: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what a result says about one statement."""
    return next(s for s in result["statements"] if s["name"] == name)


def transaction(result: dict[str, Any], name: str = "main") -> dict[str, Any]:
    """Return what a result says about one transaction."""
    return next(t for t in result["transactions"] if t["name"] == name)


def check_accounting(result: dict[str, Any]) -> None:
    """Every transaction that was begun must have ended in one way."""
    ends = dict(result["accounting"])
    assert ends.pop("scheduled") == sum(ends.values())
