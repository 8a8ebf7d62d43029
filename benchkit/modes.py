"""Iteration modes: how a run finds server and data, and which mode is the default.

An iteration is one run: at each number of threads, every iteration finds them as the mode says.
How that is done is in `prepare`.
"""

from typing import Literal

from benchkit.errors import StudyError, unknown_name
from benchkit.workloads import Workload

IterationMode = Literal["preserve", "restart", "restore", "reset"]

MODES: dict[IterationMode, str] = {
    "preserve": "server and data as the run before left them",
    "restart": "server started anew: its caches are cold",
    "restore": "data put back from an image, server started on it: its caches are cold",
    "reset": "tables dropped and loaded again",
}
"""Each mode, and what it means."""

FOREIGN_MODES: tuple[IterationMode, ...] = ("preserve", "reset")
"""The modes of servers that are not ours to stop."""


def choose_mode(asked: IterationMode | None, workload: Workload, private: bool) -> IterationMode:
    """Return the mode of a workload's runs on a server.

    Parameters
    ----------
    asked : str or None
        None for the default: restart where a workload only reads and restore where it writes;
        preserve on a server that is not ours.
    workload : Workload
    private : bool
        Whether the server is ours.
    """
    if asked is not None:
        return asked
    if not private:
        return "preserve"
    return "restore" if workload.writes else "restart"


def check_mode(asked: object, foreign: list[str], existing: list[str]) -> None:
    """Check the mode of a study.

    Parameters
    ----------
    asked : str or None
    foreign : list of str
        The names of its servers that are not ours.
    existing : list of str
        The databases that its workloads are to use as they are.

    Raises
    ------
    StudyError
        When there is no such mode, or a server cannot take it.
    """
    if asked is None:
        return
    if asked not in MODES:
        raise StudyError(unknown_name("iteration_mode", asked, MODES))
    if foreign and asked not in FOREIGN_MODES:
        raise StudyError(
            f"iteration_mode {asked!r} stops and starts servers, but {foreign[0]!r} is not "
            f"benchkit's to stop: use {' or '.join(map(repr, FOREIGN_MODES))}"
        )
    if existing and asked == "reset":
        raise StudyError(
            f"iteration_mode 'reset' drops and loads, but database {existing[0]!r} is not "
            "benchkit's to drop: use 'preserve'"
        )
