"""Types of the C extension; the docstrings live in csrc/py_*.c."""

from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeAlias, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

@final
class Histogram:
    """Counts of integers with a fixed relative precision."""

    def __new__(cls, highest: int = 3_600_000_000_000, digits: int = 3) -> Histogram: ...
    @classmethod
    def decode(
        cls, payload: bytes, highest: int = 3_600_000_000_000, digits: int = 3
    ) -> Histogram: ...
    @property
    def total(self) -> int: ...
    @property
    def min(self) -> float: ...
    @property
    def max(self) -> float: ...
    @property
    def mean(self) -> float: ...
    @property
    def overflow(self) -> int: ...
    @property
    def digits(self) -> int: ...
    @property
    def highest(self) -> int: ...
    def record(self, value: int, /) -> None: ...
    def record_many(self, values: ArrayLike, /) -> None: ...
    def merge(self, other: Histogram, /) -> None: ...
    @overload
    def percentile(self, percentile: float, /) -> float: ...
    @overload
    def percentile(self, percentile: ArrayLike, /) -> NDArray[np.float64]: ...
    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def encode(self) -> bytes: ...
    def copy(self) -> Histogram: ...
    def __copy__(self) -> Histogram: ...
    def __deepcopy__(self, memo: object, /) -> Histogram: ...

_TaggedHistograms: TypeAlias = list[tuple[str, Histogram]]

@final
class Connection:
    """A connection for text statements."""

    @property
    def server_version(self) -> str | None: ...
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

@final
class Program:
    """A compiled workload."""

    def __new__(cls, spec: dict[str, object], seed: int = 0) -> Program: ...
    @property
    def prepared_statements(self) -> int: ...
    @property
    def needs_server(self) -> bool: ...

@final
class Driver:
    """One run of a program."""

    def __new__(
        cls,
        program: Program,
        endpoint: dict[str, Any] | None,
        *,
        threads: int = 1,
        seed: int = 0,
        warmup_s: float = 0.0,
        duration_s: float = 0.0,
        interval_s: float = 1.0,
        drain_s: float = 30.0,
        transactions: int = 0,
    ) -> Driver: ...
    def run(
        self,
        on_interval: Callable[[dict[str, float], _TaggedHistograms], object] | None = None,
    ) -> dict[str, Any]: ...
    def result(self) -> dict[str, Any] | None: ...
    def stop(self) -> None: ...

def describe(values: ArrayLike, /) -> dict[str, float]: ...
def draw(
    spec: tuple[str, dict[str, Any]],
    count: int,
    seed: int = 0,
    worker: int = 0,
    workers: int = 1,
) -> NDArray[np.int64] | NDArray[np.float64] | list[str]: ...
def generator_kinds() -> list[dict[str, Any]]: ...
def load(
    endpoint: dict[str, Any],
    tables: list[tuple[Any, ...]],
    *,
    threads: int = 1,
    seed: int = 0,
    on_progress: Callable[[int], object] | None = None,
) -> None: ...
