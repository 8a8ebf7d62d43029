"""What an importer finds in a file, before it becomes stored runs.

Parsers are pure: lines in, an `Imported` out. They keep what is there, leave out what is not
(never 0 for a missing number), and flag what is impossible. `writer.py` stores the outcome.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchkit.errors import BenchkitError

Rows = tuple[tuple[str, str], ...]
"""Labels and values in the order of the file; an absent value has no row."""


PROBLEMS_MAX = 1000
"""Problems that are kept of one file."""

_WRAPPED_MAX = 1_000_000


def is_underflowed(value: float) -> bool:
    """Whether a count is so little below 2**32 or 2**64 that it ran below zero."""
    return any(0 < limit - value <= _WRAPPED_MAX for limit in (2**32, 2**64)) or value == 2.0**64


class ImportFormatError(BenchkitError):
    """A file is not of the format it was said to be, or breaks off.

    Attributes
    ----------
    message : str
        Without the place.
    line : int
        Where, counted from 1; 0 for the file as a whole.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that could not be read, or cannot be true.

    Parameters
    ----------
    line : int
        Counted from 1; 0 for the file as a whole.
    message : str
        What was found and what was expected.
    """

    line: int
    message: str


class Problems(list[Problem]):
    """What is wrong with one file: of very much, the first of it.

    Parameters
    ----------
    lenient : bool
        Otherwise the first problem is raised as an `ImportFormatError`.
    """

    def __init__(self, lenient: bool) -> None:
        super().__init__()
        self._lenient = lenient

    def append(self, problem: Problem) -> None:
        """Take in a problem, or raise it."""
        if not self._lenient:
            raise ImportFormatError(problem.message, problem.line)
        if len(self) < PROBLEMS_MAX:
            super().append(problem)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a file says about a dataset, for the report's information sections.

    Parameters
    ----------
    system, database, test : Rows
        Such as ``("CPU Count", "20")``, ``("Engine", "InnoDB")``, ``("Duration", "300")``.
    config : tuple of (option, value or None), or None
        The server's options in order; value None for a bare option. None where the file says
        nothing of a configuration.
    """

    system: Rows = ()
    database: Rows = ()
    test: Rows = ()
    config: tuple[tuple[str, str | None], ...] | None = None


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """One run found in a file.

    Parameters
    ----------
    dataset : str
        Which dataset it belongs to; unique within the file.
    label : str
        How the file itself calls the dataset (a column's header); need not be unique.
    workload : str
        Identity, such as ``sysbench/1.0.20:oltp_read_only`` or ``hammerdb/6.0:tprocc``.
    threads : int or None
        None where the file does not say.
    iteration : int
        From 1, in the order of the file.
    metrics : mapping of str to float
        By the names and in the units of ``metrics.py``; missing ones are left out.
    duration_s : float or None
    series : sequence of mappings
        Interval rows with fields of ``SERIES_DTYPE`` and ``time_s`` at least.
    histogram : tuple of (value, count) or None
        Response times in seconds where the file has a histogram.
    facts : Facts
    extra : mapping
        All else that was read, by the file's own names; numbers as numbers.
    warnings : tuple of str
    line : int
        Where the run begins.
    """

    dataset: str
    label: str
    workload: str
    threads: int | None
    iteration: int
    metrics: Mapping[str, float]
    duration_s: float | None = None
    series: Sequence[Mapping[str, float]] = ()
    histogram: tuple[tuple[float, int], ...] | None = None
    facts: Facts = field(default_factory=Facts)
    extra: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Imported:
    """All that was found in a file.

    Parameters
    ----------
    format : str
        Such as ``"sysbench log"``, ``"taf report"``, ``"hammerdb job"``.
    runs : tuple of ImportedRun
    problems : tuple of Problem
        Empty for a file that is whole. Without ``lenient``, the first one is raised instead.
    title, comment : str
        Of a report.
    primary : str or None
        The metric the file is about, where it says so.
    """

    format: str
    runs: tuple[ImportedRun, ...]
    problems: tuple[Problem, ...] = ()
    title: str = ""
    comment: str = ""
    primary: str | None = None
