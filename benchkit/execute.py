"""Executing a plan: servers up and down, tables loaded, runs measured and stored.

Only the server that is measured runs. A run is stored the moment it ends, so that whatever stops
a study loses at most the run it was in; `execute` on the same folder goes on with the runs that
are missing. A run that fails, or is interrupted, is kept under ``failed/`` with what was measured.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from benchkit import host, limits, storage
from benchkit.attempt import Attempt, Origin, make_record
from benchkit.checks import Setup, Setups, check_tables, find_changes
from benchkit.conditions import Conditions
from benchkit.errors import (
    BenchkitError,
    DatabaseError,
    DiskFullError,
    InconsistentError,
    ReplicaError,
    RunError,
    ServerError,
    StudyWarning,
)
from benchkit.generated import describe_dataset
from benchkit.home import make_home, remove_abandoned, remove_home
from benchkit.measure import measure
from benchkit.plan import Plan, PlannedRun
from benchkit.preflight import check_server, check_space, needed_space
from benchkit.prepare import Preparer
from benchkit.progress import Progress, make_progress
from benchkit.provenance import Enums, ask_enums, describe_start, format_stamp
from benchkit.record import SERIES_DTYPE, RunRecord, Status
from benchkit.room import room_of
from benchkit.server import Server
from benchkit.store import StudyFolder
from benchkit.suites.native import LoadOrder, NativeRun, drop_data
from benchkit.units import format_count
from benchkit.workloads import Workload

LOG_LINES = 40

_HOPELESS_RUNS = 3  # that many failures at least, and a block, before a study is given up

# Errors after which the question is whether the server is still there.
_LOST = frozenset({1053, 2002, 2003, 2006, 2013})


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that could not be measured, and where what there is of it was kept."""

    run: PlannedRun
    message: str
    folder: Path

    def __str__(self) -> str:
        return f"{self.run.label}: {self.message} (kept in {self.folder})"


@dataclass(frozen=True, slots=True)
class Hosting:
    """Where a plan is executed.

    Parameters
    ----------
    servers : mapping of str to Server
        By the setups' names.
    home : Path
        Where private servers have their data, unless the user placed them elsewhere.
    data_id : str
        Tells the study's databases from those of others.
    loader_threads : int
    conditions : Conditions
    rest_limit_s : float
        How long each run waits for its servers to come to rest.
    """

    servers: Mapping[str, Server]
    home: Path
    data_id: str
    loader_threads: int
    conditions: Conditions = Conditions()
    rest_limit_s: float = 60.0


def execute(
    plan: Plan,
    hosting: Hosting,
    folder: StudyFolder,
    stored: Sequence[RunRecord],
    *,
    progress: bool,
    undo: Callable[[], None],
) -> list[Failure]:
    """Execute the runs of a plan that the folder does not hold yet.

    Parameters
    ----------
    plan : Plan
    hosting : Hosting
    folder : StudyFolder
        Locked by the caller.
    stored : sequence of RunRecord
        What the folder holds.
    progress : bool
        Show a bar.
    undo : callable
        Called when a server refuses the study before its first run.

    Returns
    -------
    list of Failure
        Runs that failed; the same call tries them again.

    Raises
    ------
    StoreError
        When the disk of the folder is full.
    ServerError
        When no server starts the first time; the runs of one that does not are failures.
    StudyError, RunError
        When a server is not the one, or not fit for the runs; when nothing succeeds.
    KeyboardInterrupt
        After Ctrl-C; the run it stopped is kept as interrupted.
    """
    done = {record.id for record in stored}
    todo = [run for run in plan if run.id not in done]
    failures: list[Failure] = []
    if todo:
        make_home(hosting.home, folder.path)
        remove_abandoned(hosting.home.parent)
        with make_progress(todo, progress) as bar:
            bench = _Bench(plan, hosting, folder, stored, todo, bar)
            failures = _execute_all(bench, undo)
    if not failures and hosting.home.exists():
        _remove_data(hosting)
    return failures


def _execute_all(bench: "_Bench", undo: Callable[[], None]) -> list[Failure]:
    """Prepare and execute; undo what the call made where it comes to no run."""
    try:
        with bench:
            bench.prepare()
            return bench.execute_all()
    except BenchkitError:
        if not bench.ready:
            undo()
        raise


def describe_failures(failures: Sequence[Failure]) -> str:
    """Say which runs failed and how to try them again."""
    lines = "\n".join(f"  {failure}" for failure in failures)
    return f"{format_count(len(failures), 'run')} failed; the same call tries again:\n{lines}"


def _order_load(plan: Plan, hosting: Hosting, workload: Workload) -> LoadOrder:
    grid = plan.grid
    return LoadOrder(
        workload, max(grid.threads), hosting.loader_threads, grid.seed, hosting.data_id
    )


def _remove_data(hosting: Hosting) -> None:
    """Remove the data of a study that is complete, wherever they are."""
    for server in hosting.servers.values():
        if server.directory and server.directory.is_relative_to(hosting.home):
            continue
        try:
            with server:
                drop_data(server, hosting.data_id)
        except BenchkitError as error:
            warnings.warn(
                f"the study is complete, but its data on server {server.name!r} could not be "
                f"removed; the same call tries again: {error}",
                StudyWarning,
                stacklevel=5,
            )
            return
    remove_home(hosting.home)


@dataclass(slots=True)
class _Bench:
    """The state of an execution: which server is up, and where things go.

    As a context manager it leaves no server running.
    """

    plan: Plan
    hosting: Hosting
    folder: StudyFolder
    stored: Sequence[RunRecord]
    todo: Sequence[PlannedRun]
    bar: Progress
    ready: bool = field(init=False, default=False)
    _current: Server | None = field(init=False, default=None)
    _fresh: bool = field(init=False, default=False)
    _admitted: set[str] = field(init=False, default_factory=set)
    _refused: dict[str, ServerError] = field(init=False, default_factory=dict)
    _preparer: Preparer = field(init=False)

    def __post_init__(self) -> None:
        self._setups = Setups.of(self.stored)

        def order_load(workload: Workload) -> LoadOrder:
            return _order_load(self.plan, self.hosting, workload)

        self._preparer = Preparer(
            order_load,
            self.hosting.home,
            self.hosting.conditions,
            self.hosting.rest_limit_s,
            self.bar.show_step,
        )

    _enums: dict[str, Enums] = field(init=False, default_factory=dict)
    _setups: Setups = field(init=False)
    _host: host.Facts = field(init=False, default_factory=dict)

    def __enter__(self) -> Self:
        self._remove_untrusted_images()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop_server()
        self._remove_untrusted_images()

    def _remove_untrusted_images(self) -> None:
        for server in self.hosting.servers.values():
            self._preparer.remove_untrusted(server)

    def prepare(self) -> None:
        """Make sure, before the first run, that every server new to the study can do its runs."""
        self._host = {**host.facts(), **limits.facts()}
        self._check_space()
        known = {record.factors.server for record in self.stored}
        new = dict.fromkeys(r.setup.name for r in self.todo if r.setup.name not in known)
        for name in reversed(new):  # the first one last, so that it is up when it is needed
            self._try(name)
        if self._refused.keys() >= {run.setup.name for run in self.todo}:
            raise self._refused[next(iter(new))]
        for error in self._refused.values():
            warnings.warn(f"the study goes on without: {error}", StudyWarning, stacklevel=6)
        self.ready = True

    def _try(self, name: str) -> None:
        """Look if a server starts; if not, its runs fail and those of others go on."""
        try:
            self._switch_to(name)
        except ServerError as error:
            self._refused[name] = error
            self._current = None

    def execute_all(self) -> list[Failure]:
        """Measure and store what there is to do; return the runs that failed.

        Raises
        ------
        RunError
            When whole blocks have failed, on every server.
        """
        failures: list[Failure] = []
        for tried, run in enumerate(self.todo):
            if tried == len(failures) and _is_hopeless(self.todo, tried):
                raise RunError(f"nothing succeeds: {describe_failures(failures)}")
            failure = self._execute_run(run)
            if failure is not None:
                failures.append(failure)
        return failures

    def _execute_run(self, run: PlannedRun) -> Failure | None:
        self.bar.begin_run(run)
        attempt = Attempt(run, NativeRun(run, self.bar.show_row))
        if run.setup.name in self._refused:
            said, _, _ = str(self._refused[run.setup.name]).partition("\n")
            return self._fail(attempt, ServerError(said))
        try:
            server = self._switch_to(run.setup.name, start=run.mode != "restore")
            self._preparer.prepare(server, attempt, fresh=self._fresh)
            result = measure(server, attempt, self.hosting.conditions, self.bar.show_step)
            self._check_data(server, attempt, result)
        except KeyboardInterrupt:
            self._keep(attempt, "interrupted", {"kind": "interrupted", "message": "Ctrl-C"})
            raise
        except BenchkitError as error:
            if run.setup.name not in self._admitted:
                raise
            return self._fail(attempt, error)
        if result["error"]:
            return self._fail(attempt, _run_error(result["error"]))
        record = self._record(attempt, "complete")
        self.folder.save_run(
            record,
            result["rows"],
            attempt.native.log,
            attempt.server_status,
            more=attempt.more_files(),
        )
        self.bar.end_run(record.metrics)
        return None

    def _check_space(self) -> None:
        """Check that there is room for the datasets of which there is no run yet."""
        known = {(r.factors.server, r.identity.get("workload_fingerprint")) for r in self.stored}
        new = [run for run in self.todo if (run.setup.name, run.fingerprint) not in known]
        needed: dict[Path, int] = {}
        for name, server in self.hosting.servers.items():
            runs = {run.workload: run.mode for run in new if run.setup.name == name}
            if server.directory is not None and runs:
                needed[server.directory] = needed_space(
                    [
                        (_order_load(self.plan, self.hosting, workload).bytes, mode)
                        for workload, mode in runs.items()
                    ],
                    copies=1 + (server.topology.count if server.topology else 0),
                )
        check_space(needed)

    def _switch_to(self, name: str, *, start: bool = True) -> Server:
        """Return a server that is fit for its runs, the one before stopped.

        It is started if that is wanted, or was not looked at yet.
        """
        server = self.hosting.servers[name]
        if self._current is not server:
            self._stop_server()
        self._current, self._fresh = server, False
        if not server.running and (start or name not in self._admitted):
            self._fresh = True
            self.bar.show_step(f"starting {name}")
            server.start()
        if name not in self._admitted:
            runs = [run for run in self.todo if run.setup.name == name]
            check_server(server, runs, self.stored)
            self._enums[name] = ask_enums(server)
            self._admitted.add(name)
        return server

    def _stop_server(self) -> None:
        server, self._current = self._current, None
        try:
            if server is not None:
                server.stop()
        except ServerError as error:  # what was measured is stored, and the next start recovers
            warnings.warn(str(error), StudyWarning, stacklevel=2)

    def _check_data(self, server: Server, attempt: Attempt, result: Mapping[str, Any]) -> None:
        """Check the tables after a run, and their load against those of other servers."""
        load = None if attempt.load is None else asdict(attempt.load)
        if load is None or result["error"]:
            return
        self.bar.show_step("checking the tables")
        level = self.hosting.conditions.checks
        with server.session(load["database"]) as session:
            known = (attempt.replication or {}).get("tables", {})
            attempt.checks = check_tables(session, load["checksums"], level, result, known)
        attempt.notes += find_changes(load, attempt.checks, result)
        setup = Setup(attempt.run.setup.name, server.product, load)
        attempt.notes += self._setups.compare(attempt.run.fingerprint, setup)

    def _fail(self, attempt: Attempt, error: BenchkitError) -> Failure:
        """Keep what there is of a run that met an error, and say what it was."""
        if self._current is not None:
            error = room_of(self._current).explain(error)
        message = str(error)
        lost = self._current is not None and _is_lost(self._current, error)
        if lost:
            message = f"server {attempt.run.setup.name!r} went away: {message}"
        kind = type(error).__name__.removesuffix("Error").lower()
        folder = self._keep(attempt, "failed", {"kind": kind, "message": message})
        if lost:
            self._bury_server()
        elif isinstance(error, DiskFullError):
            self._abandon_server()
        elif isinstance(error, ReplicaError | InconsistentError) and self._current is not None:
            self._current.drop_replicas()  # the next run makes them anew
        failure = Failure(attempt.run, message, folder)
        self.bar.fail_run(str(failure))
        return failure

    def _bury_server(self) -> None:
        """Clean up after a server that died, whose stop can only complain of that."""
        server, self._current = self._current, None
        with suppress(ServerError):
            if server is not None:
                server.stop()

    def _abandon_server(self) -> None:
        """End a server that waits for room, and remove its data: others may need it."""
        server, self._current = self._current, None
        if server is not None:
            server.kill()
            server.discard(self.hosting.home)

    def _keep(self, attempt: Attempt, status: Status, failure: dict[str, str]) -> Path:
        """Store what there is of a run that did not finish."""
        result = attempt.native.result
        rows = np.zeros(0, SERIES_DTYPE) if result is None else result["rows"]
        ours = self._current is self.hosting.servers[attempt.run.setup.name]
        log_tail = self._current.read_log(LOG_LINES) if self._current and ours else ""
        record = self._record(attempt, status, failure)
        return self.folder.save_failed(
            record,
            rows,
            attempt.native.log,
            attempt.server_status,
            log_tail,
            more=attempt.more_files(),
        )

    def _record(
        self, attempt: Attempt, status: Status, failure: dict[str, str] | None = None
    ) -> RunRecord:
        server = self.hosting.servers[attempt.run.setup.name]
        config = self.folder.save_config(server.config.render_stored()) if server.private else None
        start = describe_start(server, attempt.variables, self._enums.get(server.name, {}))
        origin = Origin(
            self.plan.study,
            self.hosting.conditions,
            {**server.describe(), "config": start.store(self.folder)},
            config,
            self._save_environment(server),
        )
        attempt.notes += start.warnings
        attempt.properties = self._save_properties(server, attempt)
        return make_record(attempt, origin, status, failure)

    def _save_properties(self, server: Server, attempt: Attempt) -> dict[str, str] | None:
        """Keep the properties file that describes the run's dataset, where one can."""
        conditions = self.hosting.conditions.describe()
        text = describe_dataset(self.plan.study, self.plan.grid, attempt.run, server, conditions)
        if text is None:
            return None
        began = datetime.fromisoformat(attempt.start_utc)
        name = f"benchkit_AUTO_GEN_{format_stamp(began)}.properties"
        return {"file": name, "ref": self.folder.save_properties(text)}

    def _save_environment(self, server: Server) -> str:
        """Keep the facts about this host, and about the disk below a server's data."""
        disk = {} if server.directory is None else storage.facts(server.directory)
        return self.folder.save_environment({**self._host, **disk})


def _is_hopeless(todo: Sequence[PlannedRun], tried: int) -> bool:
    """Tell whether a study is not worth going on with when the first `tried` runs failed."""
    return (
        tried >= _HOPELESS_RUNS
        and todo[tried].block != todo[tried - 1].block
        and {run.setup for run in todo[:tried]} == {run.setup for run in todo}
    )


def _is_lost(server: Server, error: BenchkitError) -> bool:
    """Tell whether an error came because the server is not there any more."""
    if not isinstance(error, DatabaseError) or error.number not in _LOST:
        return False
    try:
        server.session().close()
    except (DatabaseError, ServerError):
        return True
    return False


def _run_error(error: Mapping[str, Any]) -> BenchkitError:
    message = f"a worker met error {error['number']}: {error['message']}"
    if error["number"]:
        return DatabaseError(message, error["number"], error["sqlstate"])
    return RunError(error["message"])
