"""What is done around every run of a study, whatever it measures: where, watched by whom.

`surrounded` puts it around a measurement. What cannot be had is told as a note on the run; the
run is as good without.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from benchkit.checks import CHECKS, Checks
from benchkit.errors import StudyError, unknown_name
from benchkit.monitor import Monitor, Watched
from benchkit.placement import Cpus, drop_page_cache, format_cpus, placed_on
from benchkit.profile import PROFILERS, Profile


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a study's runs.

    Parameters
    ----------
    monitor : bool
        Read server, replicas and host about once a second.
    profile : str or None
        ``"perf"``: sample the server's process during the measurement.
    load_cpus : tuple of int
        Where the load threads run; empty for anywhere.
    drop_caches : bool
        Have the kernel forget the files it holds before every run.
    checks : {"full", "counts", "none"}
        What is checked of the tables after every run.
    """

    monitor: bool = True
    profile: str | None = None
    load_cpus: Cpus = ()
    drop_caches: bool = False
    checks: Checks = "counts"

    def __post_init__(self) -> None:
        if self.checks not in CHECKS:
            raise StudyError(unknown_name("checks", str(self.checks), CHECKS))
        if self.profile is not None and self.profile not in PROFILERS:
            raise StudyError(unknown_name("profiler", str(self.profile), PROFILERS))

    def describe(self) -> dict[str, object]:
        """Return what the record of a run says about them: only what is not as usual."""
        said = {
            "profile": self.profile,
            "load_cpus": format_cpus(self.load_cpus),
            "drop_caches": self.drop_caches,
            "checks": None if self.checks == "counts" else self.checks,
        }
        return {name: value for name, value in said.items() if value}


@dataclass(slots=True)
class Watchers:
    """Who watched a run, and what could not be done."""

    monitor: Monitor | None = None
    profile: Profile | None = None
    notes: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Raise the RunError that makes the run not worth going on with, if there is one."""
        if self.monitor is not None:
            self.monitor.check()


@contextmanager
def surrounded(conditions: Conditions, run: Watched, watchers: Watchers) -> Iterator[None]:
    """Put a run under the conditions.

    Parameters
    ----------
    conditions : Conditions
    run : Watched
    watchers : Watchers
        Filled in here, so that what they saw is there even after an error.
    """
    if conditions.drop_caches:
        problem = drop_page_cache()
        watchers.notes.extend([problem] if problem else [])
    with ExitStack() as stack:
        monitor = Monitor(run, counters=conditions.monitor)
        watchers.monitor = stack.enter_context(monitor)
        if conditions.profile:
            watchers.profile = stack.enter_context(
                Profile(run.server.pid, run.timing, run.start_ns)
            )
        with placed_on(conditions.load_cpus):
            yield
    watchers.notes += monitor.notes
    if watchers.profile is not None and watchers.profile.problem:
        watchers.notes.append(watchers.profile.problem)
