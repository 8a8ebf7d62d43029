"""The exceptions of benchkit, and the one way to suggest a name.

Every error that a user can cause or meet derives from `BenchkitError`. Messages name the
thing, its value and what would be right.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class BenchkitError(Exception):
    """Base of all errors that benchkit raises on purpose."""


class ConfigError(BenchkitError):
    """A server configuration or option is not usable."""


class WorkloadError(BenchkitError):
    """A workload, or one of its tables, steps or generators, is not valid."""


class StudyError(BenchkitError):
    """A study's plan is not valid, or its folder belongs to something else."""


class StoreError(BenchkitError):
    """A stored file is missing, damaged, or of a version this release cannot read."""


class MetricError(BenchkitError):
    """A metric or dataset was asked for that is not there."""


class ComparisonError(BenchkitError):
    """Datasets were to be compared that differ in more than their servers."""


class ServerError(BenchkitError):
    """A server could not be found, initialised, started, reached or stopped."""


class RunError(BenchkitError):
    """A run started but could not be measured to its end."""


class DiskFullError(RunError):
    """A server has no room left to write, and waits for some."""


class ReplicaError(RunError):
    """A replica broke, or did not catch up, so that a run with it says nothing."""


class InconsistentError(RunError):
    """The data are not as they must be, or a replica holds others than its primary."""


class StudyWarning(UserWarning):
    """A study went on, but something of it could not be done."""


class DatabaseError(BenchkitError):
    """The server, or the connection to it, refused a statement.

    Attributes
    ----------
    number : int
        The MariaDB/MySQL error number, such as 1213 or 2013.
    sqlstate : str
        The five-character SQLSTATE.
    """

    def __init__(self, message: str, number: int = 0, sqlstate: str = "") -> None:
        super().__init__(message)
        self.number = number
        self.sqlstate = sqlstate


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """Return a message for a name that does not exist, with the nearest that does.

    Parameters
    ----------
    kind : str
        What was looked for, such as ``"metric"``.
    name : object
        What was asked for.
    known : iterable of str
        The names that would have been right.
    """
    names = list(known)
    near = get_close_matches(str(name), names, n=1)
    hint = f": did you mean {near[0]!r}?" if near else "."
    return f"unknown {kind} {name!r}{hint} Known: {', '.join(names) or 'none'}"
