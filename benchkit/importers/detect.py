"""Which format a file has, and reading it."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

from benchkit.importers.mixed import Watch, find_parts, kind_of
from benchkit.importers.model import Imported, ImportFormatError, Problem
from benchkit.importers.others import describe_bytes, describe_text
from benchkit.importers.source import Line, first_bytes, read_lines

HEAD_LINES = 400
"""Lines that are looked at to tell the format."""


SURE = 0.5
"""From here on a file is of the format; below it only shares some words with it."""

_BEYOND_DOUBT = 0.7
"""From here on nothing else that a file could be is thought of."""


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
    path: str | os.PathLike[str],
    formats: Iterable[Format],
    *,
    lenient: bool = False,
    only_if_sure: bool = False,
) -> Imported:
    """Read a file in the format it most looks like.

    Parameters
    ----------
    path : path-like
    formats : iterable of Format
        Those it may have.
    lenient : bool
        Keep what is readable of a damaged file.
    only_if_sure : bool
        Leave out a file that looks like one of them only a little, as a text about results does.

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
    what = ""
    if best_score < _BEYOND_DOUBT:
        what = describe_bytes(first_bytes(path)) or describe_text(head, name)
    if what or best_score <= 0 or (only_if_sure and best_score < SURE):
        raise UnknownFormatError(_unknown(path, known, what))
    kind = kind_of(best.family, best.name)
    watch = Watch(read_lines(path), kind, [kind_of(each.family, each.name) for each in known])
    failed: ImportFormatError | None = None
    try:
        imported = best.parse(watch, lenient=lenient, name=name)
    except ImportFormatError as error:
        failed = error
    watch.finish()
    if watch.others:
        return _read_parts(path, known, (kind, *watch.others), lenient)
    if failed:
        raise _located(failed, path, best) from failed
    return imported


def _read_parts(
    path: str | os.PathLike[str], known: Sequence[Format], kinds: Sequence[str], lenient: bool
) -> Imported:
    """Read a file that holds several kinds of output, each from its own parts."""
    parts = find_parts(read_lines(path), kinds[0], kinds[1:])
    found: list[Imported] = []
    for kind in sorted(kinds, key=lambda each: parts.firsts.get(each, 0)):
        head = [line.text for line in islice(parts.of(kind, read_lines(path)), HEAD_LINES)]
        formats = [each for each in known if kind_of(each.family, each.name) == kind]
        best = max(formats, key=lambda each: each.sniff(head, Path(path).name))
        try:
            found.append(
                best.parse(parts.of(kind, read_lines(path)), lenient=lenient, name=Path(path).name)
            )
        except ImportFormatError as error:
            if not lenient:
                raise _located(error, path, best) from error
            message = f"{error.message} (read as {best.name})"
            found.append(Imported(best.name, (), (Problem(error.line, message),)))
    return Imported(
        " and ".join(dict.fromkeys(each.format for each in found)),
        tuple(run for each in found for run in each.runs),
        tuple(problem for each in found for problem in each.problems),
        next((each.title for each in found if each.title), ""),
        next((each.comment for each in found if each.comment), ""),
        next((each.primary for each in found if each.primary), None),
    )


def _located(
    error: ImportFormatError, path: str | os.PathLike[str], known: Format
) -> ImportFormatError:
    """Return an error that names the file as well."""
    return ImportFormatError(f"{path}, {error} (read as {known.name})")


def _unknown(path: str | os.PathLike[str], known: Sequence[Format], what: str) -> str:
    names = ", ".join(each.name for each in known)
    return f"{path} is {what}" if what else f"{path} is none of these: {names}"
