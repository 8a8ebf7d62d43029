"""What must hold before a study measures, so that it fails at once and not in the night.

`check_plan` and `check_growth` come before anything is written or started; `check_space` asks
the disk, and `check_server` a server that answers.
"""

import resource
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from benchkit._core import Program
from benchkit.config import places_outside
from benchkit.errors import RunError, ServerError, StudyError
from benchkit.image import allocated_bytes
from benchkit.modes import IterationMode
from benchkit.plan import Plan, PlannedRun
from benchkit.record import RunRecord
from benchkit.server import Server
from benchkit.units import format_size

_OTHER_FILES = 64  # open files of Python and of the study's own connections


def check_plan(plan: Plan, servers: Iterable[Server]) -> None:
    """Check what can be known of a study without running anything.

    Raises
    ------
    WorkloadError
        When a workload does not compile.
    ServerError
        When a private server has no binaries where it should, or runs already.
    StudyError
        When data are to be restored from an image that would lack some.
    """
    for workload in plan.grid.workloads:
        Program(workload.spec(), seed=plan.grid.seed)
    for server in servers:
        if server.private and server.running:
            raise ServerError(
                f"server {server.name!r} is running: stop() it, because a study starts and "
                "stops its servers itself, one at a time"
            )
        server.install  # noqa: B018 - raises where there are no binaries
        _check_images(plan, server)


def _check_images(plan: Plan, server: Server) -> None:
    outside = places_outside(server.config)
    if outside and any(run.mode == "restore" for run in plan if run.setup.name == server.name):
        raise StudyError(
            f"iteration_mode 'restore' puts the data directory back, but server {server.name!r} "
            f"has data elsewhere: {', '.join(outside)}. Leave that out, or use iteration_mode "
            "'reset', 'restart' or 'preserve'"
        )


def check_growth(plan: Plan, settings: Mapping[str, object], stored: Collection[RunRecord]) -> None:
    """Check that the stored runs of a study fit its plan: a study may grow, not change.

    Parameters
    ----------
    plan : Plan
    settings : mapping
        `Grid.settings` as they were when the study began.
    stored : collection of RunRecord

    Raises
    ------
    StudyError
        When the settings, a server or a workload have changed under their names.
    """
    if not stored:
        return
    for name, value in plan.grid.settings().items():
        if settings.get(name) != value:
            raise StudyError(
                f"study {plan.study!r} was begun with {name} = {settings.get(name)!r}, now it is "
                f"{value!r}: a study may grow, but its settings stay. Use another folder and name"
            )
    setups = {
        s.name: (s.config_sha12, s.install, s.binaries, s.cpus, s.topology)
        for s in plan.grid.setups
    }
    workloads = defaultdict(set)
    for run in plan:
        workloads[run.workload.identity].add(run.fingerprint)
    for identity in (record.identity for record in stored):
        server, workload = str(identity.get("server")), str(identity.get("workload"))
        setup = (
            identity.get("config"),
            identity.get("install"),
            identity.get("binaries"),
            identity.get("cpus", ""),
            identity.get("replicas", ""),
        )
        if setups.get(server, setup) != setup:
            raise StudyError(
                f"server {server!r} had another configuration, install, version, cpus or "
                f"replicas when study {plan.study!r} was begun: give the changed server another "
                "name"
            )
        fingerprints = workloads.get(workload)
        if fingerprints and identity.get("workload_fingerprint") not in fingerprints:
            raise StudyError(
                f"study {plan.study!r} has runs of {workload} with other options or statements: "
                "list that workload as well, or use another folder and name"
            )


def check_space(needed_bytes: Mapping[Path, int]) -> None:
    """Check that there is room for what will be loaded.

    Parameters
    ----------
    needed_bytes : mapping of Path to int
        What each directory, which need not exist, has to hold in the end.

    Raises
    ------
    RunError
        When a disk is too small for all that goes to it.
    """
    on_disk: dict[int, int] = defaultdict(int)
    for directory, needed in needed_bytes.items():
        existing = next(path for path in (directory, *directory.parents) if path.is_dir())
        device = existing.stat().st_dev
        on_disk[device] += max(needed - allocated_bytes(directory), 0)
        free = shutil.disk_usage(existing).free
        if on_disk[device] > free:
            raise RunError(
                f"about {format_size(on_disk[device])} are to be loaded to {existing}, where only "
                f"{format_size(free)} are free: free some, use fewer rows, or set BENCHKIT_DATA "
                "to a folder on a larger disk"
            )


def needed_space(loads: Collection[tuple[int, IterationMode]], copies: int) -> int:
    """Return how many bytes the data of a server take in the end, or at times.

    Parameters
    ----------
    loads : collection of (int, str)
        The bytes of each workload's tables, and the mode of its runs. Those that are restored
        have an image each, and two copies for the moment when one replaces the other.
    copies : int
        The server, and its replicas.
    """
    restored = [size for size, mode in loads if mode == "restore"]
    kept = sum(size for size, mode in loads if mode != "restore")
    return copies * (kept + sum(restored) + 2 * max(restored, default=0))


def check_server(server: Server, runs: Iterable[PlannedRun], stored: Iterable[RunRecord]) -> None:
    """Check that a server which answers can take the runs, and is as the stored runs had it.

    Raises
    ------
    StudyError
        When the server has another version than in the stored runs.
    RunError
        When a limit is too low for the largest number of threads.
    """
    for record in stored:
        version = record.server.get("version")
        if record.factors.server == server.name and version != server.version:
            raise StudyError(
                f"server {server.name!r} has version {server.version}, but the stored runs are "
                f"of {version}: use another folder and name, or that version"
            )
    variables = server.variables()
    if variables["autocommit"] == "OFF":
        raise RunError(
            f"server {server.name!r} has autocommit = OFF, so that no load would last: leave it "
            "on, and SET it in the workload's session"
        )
    largest = {run.workload: run for run in sorted(runs, key=lambda run: run.threads)}
    for run in largest.values():
        _check_limits(server.name, variables, run)


def _check_limits(server: str, variables: Mapping[str, str], run: PlannedRun) -> None:
    """Raise RunError when a run needs more connections, statements or files than it can get."""
    program = Program(run.workload.spec(), seed=run.seed)
    if not program.needs_server:
        return
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= files < run.threads + _OTHER_FILES:
        raise RunError(
            f"{run.threads} threads need {run.threads + _OTHER_FILES} open files, but this "
            f"process may have {files}: raise that by ulimit -n, or use fewer threads"
        )
    for variable, each in {
        "max_connections": 1,
        "max_prepared_stmt_count": program.prepared_statements,
    }.items():
        needed, limit = run.threads * each, int(variables[variable])
        if needed > limit:
            raise RunError(
                f"{run.threads} threads of {run.workload.identity} need {variable} = {needed}, "
                f"but it is {limit} on server {server!r}: raise it, or use fewer threads or tables"
            )
