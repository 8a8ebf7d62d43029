"""Importing files: from paths to stored runs, whatever format they have.

Owns which formats there are, and how one or several files, or a folder of them, become one
study. A file that is named must be readable; of a folder's files those of no known format are
passed over, and listed.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchkit.importers.detect import Format, UnknownFormatError, read_file
from benchkit.importers.model import Imported, ImportFormatError, Problem
from benchkit.importers.writer import Source, store_imports
from benchkit.store import StudyFolder

FAMILIES = ("taf", "sysbench", "hammerdb")
"""Whose files can be imported."""

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One path, or several; a folder stands for all files in it."""


@dataclass(frozen=True, slots=True)
class Order:
    """How to import.

    Parameters
    ----------
    families : sequence of str
        Some of `FAMILIES`; each file is read in the format of theirs that it most looks like.
    label : str or None
        What to call the dataset; by default what the files say.
    lenient : bool
        Keep what is readable of damaged files.
    convention : {"ratio", "change"} or None
        What a percent table's numbers are, where the file itself does not decide it.
    name : str or None
        The study's name; by default that of the first file, without its ending.
    """

    families: Sequence[str] = FAMILIES
    label: str | None = None
    lenient: bool = False
    convention: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class FileProblem:
    """What could not be read, or cannot be true, in which file."""

    path: Path
    problem: Problem

    def __str__(self) -> str:
        line = f", line {self.problem.line}" if self.problem.line else ""
        return f"{self.path}{line}: {self.problem.message}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an import did: how many files and runs were stored, and what was wrong with them."""

    files: int
    runs: int
    problems: tuple[FileProblem, ...]


def import_files(paths: Paths, folder: str | os.PathLike[str], order: Order) -> Outcome:
    """Store the runs in files as a study.

    Parameters
    ----------
    paths : path-like, or a sequence of them
    folder : path-like
        The study's: a new one, or one with earlier imports.
    order : Order

    Raises
    ------
    ImportFormatError
        When there is no such file, when one is of none of the formats, or, unless lenient, is
        damaged. The message names file, line and what was expected; nothing is stored.
    StoreError
        When a file was imported into the folder before, or the folder is something else's.
    """
    named = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    formats = [_adapt(each, order) for each in _formats() if each.family in order.families]
    sources: list[Source] = []
    problems: list[FileProblem] = []
    for path in map(Path, named):
        for file, source, found in _read(path, formats, order):
            problems += [FileProblem(file, problem) for problem in found]
            sources += [source] if source and source.imported.runs else []
    if not sources:
        raise ImportFormatError(_nothing(named, problems))
    name = order.name or _earlier_name(Path(folder)) or sources[0].path.stem
    store_imports(folder, name, sources)
    runs = sum(len(source.imported.runs) for source in sources)
    return Outcome(len(sources), runs, tuple(problems))


def _formats() -> list[Format]:
    """Return all formats; the parsers are loaded only now, most programs need none."""
    from benchkit.importers import hammerdb, sysbench, taf

    return [
        *(Format("taf", *each) for each in taf.FORMATS),
        *(Format("sysbench", *each) for each in sysbench.FORMATS),
        *(Format("hammerdb", *each) for each in hammerdb.FORMATS),
    ]


def _adapt(known: Format, order: Order) -> Format:
    """Return a format whose parser knows what was asked for."""
    from benchkit.importers import percent

    if known.name != percent.FORMAT or order.convention is None:
        return known
    parse: Callable[..., Imported] = known.parse
    return replace(known, parse=partial(parse, convention=order.convention))


def _read(
    path: Path, formats: Sequence[Format], order: Order
) -> Iterator[tuple[Path, Source | None, Sequence[Problem]]]:
    """Yield each file, what is in it, and its problems."""
    if not path.is_dir():
        imported = read_file(path, formats, lenient=order.lenient)
        yield path, Source(path, imported, order.label), imported.problems
        return
    for file in _files_below(path):
        try:
            imported = read_file(file, formats, lenient=order.lenient, only_if_sure=True)
        except UnknownFormatError as error:
            what = str(error).removeprefix(f"{file} ")
            yield file, None, [Problem(0, f"was left out: it {what}")]
        except ImportFormatError as error:
            if not order.lenient:
                raise
            yield file, None, [Problem(0, f"was left out: {str(error).removeprefix(f'{file}, ')}")]
        else:
            yield file, Source(file, imported, order.label), imported.problems


def _files_below(folder: Path) -> list[Path]:
    """Return the files in a folder and below it, sorted; hidden ones are left out."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    )


def _nothing(named: Sequence[str | os.PathLike[str]], problems: Sequence[FileProblem]) -> str:
    what = ", ".join(str(path) for path in named) or "no file was given"
    details = "".join(f"\n  {problem}" for problem in problems[:5])
    return f"{what}: there is no run to import{details}"


def _earlier_name(folder: Path) -> str | None:
    """Return the name of the study in a folder, so that imports add to it."""
    return StudyFolder.open(folder).name if (folder / "study.json").exists() else None
