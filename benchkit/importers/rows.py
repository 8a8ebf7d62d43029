"""Interval rows in bounded memory: a file may have more of them than memory holds.

A parser puts blocks of rows into a `RowSpool`, which goes to disk once it is large; the writer
takes them out again, block by block, as columns. Rows of a few lines may as well be a tuple.
"""

import os
import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from benchkit.errors import StoreError

BLOCK_ROWS = 4096
"""Rows that are in memory at a time."""

Columns = Mapping[str, NDArray[np.float64]]
"""Numbers by field, all of one length; NaN where a row has none."""

_MEMORY_BYTES = 4 << 20
_DISK = "/var/tmp"


class RowSpool:
    """Blocks of numbers in a temporary file that ends with the object.

    The file is in ``TMPDIR``, or in ``/var/tmp``: ``/tmp`` is memory on many machines.
    """

    def __init__(self) -> None:
        folder = os.environ.get("TMPDIR") or (_DISK if Path(_DISK).is_dir() else None)
        self._file = tempfile.SpooledTemporaryFile(_MEMORY_BYTES, dir=folder)  # noqa: SIM115

    def write(self, block: NDArray[np.float64]) -> int:
        """Append a block and return its place.

        Raises
        ------
        StoreError
            When there is no room for it.
        """
        try:
            place = self._file.seek(0, os.SEEK_END)
            self._file.write(block.tobytes())
        except OSError as error:
            raise StoreError(
                f"cannot keep interval rows in a temporary file: {error.strerror or error}; "
                "set TMPDIR to a folder with more space"
            ) from error
        return place

    def read(self, place: int, shape: tuple[int, int]) -> NDArray[np.float64]:
        """Return the block that was written at a place."""
        self._file.seek(place)
        data = self._file.read(shape[0] * shape[1] * np.dtype(np.float64).itemsize)
        return np.frombuffer(data, np.float64).reshape(shape)

    def __del__(self) -> None:
        self._file.close()


class BlockRows(Sequence[Mapping[str, float]]):
    """Rows that can be had as columns; each mapping is made when it is asked for."""

    @abstractmethod
    def columns(self, start: int, stop: int) -> Columns:
        """Return the rows from `start` to before `stop`, at most `BLOCK_ROWS` at a time."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BlockRows):
            return NotImplemented
        starts = range(0, len(self), BLOCK_ROWS)
        return len(self) == len(other) and all(
            _equal(*(rows.columns(at, min(at + BLOCK_ROWS, len(self))) for rows in (self, other)))
            for at in starts
        )

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Mapping[str, float]]:
        for start in range(0, len(self), BLOCK_ROWS):
            yield from _as_rows(self.columns(start, min(start + BLOCK_ROWS, len(self))))

    @overload
    def __getitem__(self, index: int) -> Mapping[str, float]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Mapping[str, float], ...]: ...
    def __getitem__(
        self, index: int | slice
    ) -> Mapping[str, float] | tuple[Mapping[str, float], ...]:
        places = range(len(self))[index]
        if isinstance(places, int):
            return next(_as_rows(self.columns(places, places + 1)))
        return tuple(self[place] for place in places)


def columns_of(rows: Sequence[Mapping[str, float]], start: int, stop: int) -> Columns:
    """Return some rows as columns, whatever they are kept in."""
    if isinstance(rows, BlockRows):
        return rows.columns(start, stop)
    part = rows[start:stop]
    names = dict.fromkeys(name for row in part for name in row)
    return {name: np.array([row.get(name, nan) for row in part], np.float64) for name in names}


def _equal(one: Columns, other: Columns) -> bool:
    return one.keys() == other.keys() and all(
        np.array_equal(column, other[name], equal_nan=True) for name, column in one.items()
    )


def _as_rows(columns: Columns) -> Iterator[Mapping[str, float]]:
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        pairs = zip(columns, values, strict=True)
        yield {name: value for name, value in pairs if not isnan(value)}
