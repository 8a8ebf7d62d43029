"""Where a server is, and asking it something."""

from abc import ABC, abstractmethod
from typing import TypedDict

from benchkit._core import Connection


class Endpoint(TypedDict, total=False):
    """Where a server is and as whom to log in: keywords of `benchkit._core.Connection`."""

    host: str | None
    port: int
    socket: str | None
    user: str | None
    password: str | None
    tls: bool


class Reachable(ABC):
    """A server that can be asked, whoever runs it."""

    @property
    @abstractmethod
    def endpoint(self) -> Endpoint:
        """The keywords of `benchkit._core.Connection` that reach the server."""

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """The process id of a server that we run; None otherwise."""

    def session(self, database: str | None = None) -> Connection:
        """Return a new connection for text statements.

        Raises
        ------
        DatabaseError
            When the server refuses it.
        ServerError
            When the server does not run.
        """
        return Connection(**self.endpoint, database=database)

    def query(self, sql: str) -> list[tuple[str | None, ...]]:
        """Run one SQL text on a connection of its own and return its rows as text."""
        with self.session() as connection:
            return connection.query(sql)

    def variables(self) -> dict[str, str]:
        """Return SHOW GLOBAL VARIABLES."""
        return self._pairs("SHOW GLOBAL VARIABLES")

    def status(self) -> dict[str, str]:
        """Return SHOW GLOBAL STATUS."""
        return self._pairs("SHOW GLOBAL STATUS")

    def _pairs(self, sql: str) -> dict[str, str]:
        return {str(name): value or "" for name, value in self.query(sql)}
