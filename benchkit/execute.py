"""Executing a plan: servers up and down, tables loaded, runs measured and stored.

Only the server that is measured runs. A run is stored the moment it ends, so that whatever stops
a study loses at most the run it was in; `execute` on the same folder goes on with the runs that
are missing. A run that fails, or is interrupted, is kept under ``failed/`` with what was measured.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchkit import host, observe
from benchkit.errors import BenchkitError, DatabaseError, RunError
from benchkit.plan import Plan, PlannedRun
from benchkit.progress import Progress
from benchkit.record import SERIES_DTYPE, Factors, RunRecord, Status
from benchkit.server import Server
from benchkit.store import StudyFolder
from benchkit.suites.native import Load, LoadOrder, NativeRun, drop_data, ensure_loaded
from benchkit.units import format_count
from benchkit.version import get_version
from benchkit.workloads import Workload

LOG_LINES = 40


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
    loader_threads : int
    """

    servers: Mapping[str, Server]
    home: Path
    loader_threads: int


def execute(
    plan: Plan, hosting: Hosting, folder: StudyFolder, *, progress: bool
) -> list[Failure]:
    """Execute the runs of a plan that the folder does not hold yet.

    Parameters
    ----------
    plan : Plan
    hosting : Hosting
    folder : StudyFolder
    progress : bool
        Show a bar.

    Returns
    -------
    list of Failure
        Runs that failed; the same call tries them again.

    Raises
    ------
    StoreError
        When another process works in the folder, or the disk is full.
    ServerError
        When a server does not start.
    KeyboardInterrupt
        After Ctrl-C; the run it stopped is kept as interrupted.
    """
    with folder.lock():
        done = folder.completed()
        todo = [run for run in plan if run.id not in done]
        with Progress(todo, progress and bool(todo)) as bar:
            bench = _Bench(plan, hosting, folder, bar)
            try:
                failures = [failure for run in todo if (failure := bench.execute_run(run))]
            finally:
                bench.stop_server()
        if todo and not failures:
            bench.drop_all_data()
    return failures


@dataclass(slots=True)
class _Attempt:
    """What is known of a run while it is executed; a record is made of it."""

    run: PlannedRun
    native: NativeRun
    start_utc: str = field(default_factory=lambda: _utc_now())
    started_monotonic_ns: int = field(default_factory=time.monotonic_ns)
    load: Load | None = None
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)


class _Bench:
    """The state of an execution: which server is up, and where things go."""

    def __init__(
        self,
        plan: Plan,
        hosting: Hosting,
        folder: StudyFolder,
        bar: Progress,
    ) -> None:
        self._plan = plan
        self._hosting = hosting
        self._folder = folder
        self._bar = bar
        self._current: Server | None = None
        self._env_ref = folder.save_environment(host.facts())

    def execute_run(self, run: PlannedRun) -> Failure | None:
        """Measure and store one run; return how it failed, or None."""
        self._bar.begin_run(run)
        attempt = _Attempt(run, NativeRun(run, self._bar.show_row))
        try:
            server = self._switch_to(run.setup.name)
            result = self._measure(server, attempt)
        except KeyboardInterrupt:
            self._keep(attempt, "interrupted", {"kind": "interrupted", "message": "Ctrl-C"})
            raise
        except (DatabaseError, RunError) as error:
            return self._fail(attempt, error)
        if result["error"]:
            return self._fail(attempt, _run_error(run, result["error"]))
        record = self._record(attempt, "complete", None)
        self._folder.save_run(record, result["rows"], attempt.native.log, _status(attempt))
        self._bar.end_run()
        return None

    def stop_server(self) -> None:
        """Stop the server that is up, if one is."""
        server, self._current = self._current, None
        if server is not None:
            server.stop()

    def drop_all_data(self) -> None:
        """Remove the data of a study that is complete."""
        for server in self._hosting.servers.values():
            server.discard(self._hosting.home)
            for workload in self._plan.grid.workloads if not server.private else ():
                drop_data(server, workload)
        with suppress(OSError):  # not there, or not empty
            self._hosting.home.rmdir()

    def _switch_to(self, name: str) -> Server:
        server = self._hosting.servers[name]
        if self._current is not server:
            self.stop_server()
        if not server.running:
            self._bar.show_step(f"starting {name}")
            server.start()
        self._current = server
        return server

    def _measure(self, server: Server, attempt: _Attempt) -> dict[str, Any]:
        run = attempt.run
        database = None
        if run.workload.tables:
            attempt.load = self._load(server, run.workload)
            database = attempt.load.database
        self._bar.show_step("connecting")
        attempt.variables = server.variables()
        attempt.before = server.status()
        result = attempt.native.measure(server, database)
        if not result["error"]:
            attempt.after = server.status()
        return result

    def _load(self, server: Server, workload: Workload) -> Load:
        grid = self._plan.grid
        order = LoadOrder(workload, max(grid.threads), self._hosting.loader_threads, grid.seed)
        total = order.rows

        def show(rows: int) -> None:
            self._bar.show_step(f"loading, {rows / total:.0%}" if total else "loading")

        self._bar.show_step("loading")
        return ensure_loaded(server, order, show)

    def _fail(self, attempt: _Attempt, error: BenchkitError) -> Failure:
        kind = "database" if isinstance(error, DatabaseError) else "run"
        folder = self._keep(attempt, "failed", {"kind": kind, "message": str(error)})
        failure = Failure(attempt.run, str(error), folder)
        self._bar.write(f"failed: {failure}")
        self._bar.end_run()
        return failure

    def _keep(self, attempt: _Attempt, status: Status, failure: dict[str, str]) -> Path:
        """Store what there is of a run that did not finish."""
        result = attempt.native.result
        rows = np.zeros(0, SERIES_DTYPE) if result is None else result["rows"]
        log_tail = self._current.read_log(LOG_LINES) if self._current else ""
        record = self._record(attempt, status, failure)
        return self._folder.save_failed(
            record, rows, attempt.native.log, _status(attempt), log_tail
        )

    def _record(
        self, attempt: _Attempt, status: Status, failure: dict[str, str] | None
    ) -> RunRecord:
        run = attempt.run
        server = self._hosting.servers[run.setup.name]
        return RunRecord(
            id=run.id,
            study=self._plan.study,
            status=status,
            factors=Factors(
                server=run.setup.name,
                workload=run.workload_label,
                threads=run.threads,
                iteration=run.iteration,
                order=run.order,
                block=run.block,
            ),
            identity=run.identity,
            time={
                "start_utc": attempt.start_utc,
                "end_utc": _utc_now(),
                "started_monotonic_ns": attempt.started_monotonic_ns,
            },
            server=server.describe(),
            workload=_describe_workload(run),
            config_ref=self._config_ref(server),
            env_ref=self._env_ref,
            load=None if attempt.load is None else asdict(attempt.load),
            failure=failure,
            tool={"name": "benchkit", "version": get_version()},
            **_observations(attempt),
        )

    def _config_ref(self, server: Server) -> str | None:
        return self._folder.save_config(server.config.render()) if server.private else None


def _observations(attempt: _Attempt) -> dict[str, Any]:
    """Return the fields of a record that come from the driver."""
    result = attempt.native.result
    if result is None:
        return {"measured_s": 0.0, "warmup_s": 0.0, "metrics": {}}
    metrics = observe.compute_metrics(result)
    if attempt.load is not None and attempt.load.seconds > 0:
        metrics["load_rows_per_s"] = attempt.load.rows / attempt.load.seconds
    return {
        "measured_s": result["measured_s"],
        "warmup_s": result["warmup_s"],
        "metrics": metrics,
        "statements": observe.observe_statements(result),
        "transactions": observe.observe_transactions(result),
        "errors": observe.observe_errors(result),
        "accounting": observe.observe_accounting(result),
        "client": observe.observe_client(result),
        "warnings": _warnings(attempt, result),
    }


def _warnings(attempt: _Attempt, result: Mapping[str, Any]) -> tuple[str, ...]:
    """Say what a reader of the numbers should know."""
    warnings = []
    failed = sum(t["failed"] for t in result["transactions"])
    if failed:
        warnings.append(f"{failed} transactions failed; see the errors by number")
    if result["stopped_by"] == "count" and result["measured_s"] < 1:
        warnings.append(f"only {result['measured_s']:.3f} s were measured")
    cores = len(os.sched_getaffinity(0))
    busy_s = result["cpu_user_s"] + result["cpu_system_s"]
    lasted_s = result["warmup_s"] + result["measured_s"]
    if attempt.load is not None and busy_s > 0.8 * cores * lasted_s > 0:
        warnings.append("the load driver itself used more than 80 % of this host's CPU")
    return tuple(warnings)


def _describe_workload(run: PlannedRun) -> dict[str, Any]:
    workload = run.workload
    return {
        "identity": workload.identity,
        "parameters": dict(workload.parameters),
        "fingerprint": run.fingerprint,
        "tables": [
            {"name": table.name, "count": table.count, "rows": table.rows}
            for table in workload.tables
        ],
    }


def _run_error(run: PlannedRun, error: Mapping[str, Any]) -> BenchkitError:
    message = f"a worker met error {error['number']}: {error['message']}"
    if error["number"]:
        return DatabaseError(message, error["number"], error["sqlstate"])
    return RunError(error["message"])


def _status(attempt: _Attempt) -> dict[str, Any]:
    return {
        "before": attempt.before,
        "after": attempt.after,
        "variables": attempt.variables,
    }


def _utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def describe_failures(failures: Sequence[Failure]) -> str:
    """Say which runs failed and how to try them again."""
    lines = "\n".join(f"  {failure}" for failure in failures)
    return f"{format_count(len(failures), 'run')} failed; the same call tries them again:\n{lines}"
