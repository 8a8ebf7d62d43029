"""Which format a file has, and reading it."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

from benchkit.importers.model import Imported, ImportFormatError
from benchkit.importers.source import Line, read_lines

HEAD_LINES = 400
"""Lines that are looked at to tell the format."""


class UnknownFormatError(ImportFormatError):
    """A file looks like none of the formats that it could have."""


class Parser(Protocol):
    """A pure function from the lines of a file to what is in it."""

    def __call__(self, lines: Iterable[Line], *, lenient: bool, name: str) -> Imported:
        """Parse; `name` is the file's name, for hints in it."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format that can be imported.

    Parameters
    ----------
    family : str
        The tool: ``"taf"``, ``"sysbench"`` or ``"hammerdb"``.
    name : str
        Such as ``"sysbench log"``.
    sniff : callable
        From the first lines and the file's name to how sure it is, 0 to 1.
    parse : Parser
    """

    family: str
    name: str
    sniff: Callable[[list[str], str], float]
    parse: Parser


def read_file(
    path: str | os.PathLike[str], formats: Iterable[Format], *, lenient: bool = False
) -> Imported:
    """Read a file in the format it most looks like.

    Raises
    ------
    UnknownFormatError
        When it looks like none of them.
    ImportFormatError
        When it cannot be read, or breaks off, naming file and line.
    """
    known = list(formats)
    name = Path(path).name
    head = [line.text for line in islice(read_lines(path), HEAD_LINES)]
    scores = [(each.sniff(head, name), each) for each in known]
    best_score, best = max(scores, key=lambda pair: pair[0])
    if best_score <= 0:
        names = ", ".join(each.name for each in known)
        raise UnknownFormatError(f"{path} is none of these: {names}")
    try:
        return best.parse(read_lines(path), lenient=lenient, name=name)
    except ImportFormatError as error:
        raise ImportFormatError(f"{path}, {error} (read as {best.name})") from error
