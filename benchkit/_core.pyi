"""Types of the C extension; the docstrings live in csrc/py_*.c."""

from types import TracebackType

from numpy.typing import ArrayLike

def describe(values: ArrayLike, /) -> dict[str, float]: ...

class Connection:
    """A connection for text statements."""

    server_version: str | None

    def __new__(
        cls,
        *,
        host: str | None = None,
        port: int = 0,
        socket: str | None = None,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        connect_timeout_s: int = 10,
    ) -> Connection: ...
    def query(self, sql: str, /) -> list[tuple[str | None, ...]]: ...
    def table(self, sql: str, /) -> tuple[tuple[str, ...], list[tuple[str | None, ...]]]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Connection: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...
