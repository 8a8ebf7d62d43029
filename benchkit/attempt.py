"""One run while it is executed, and the record that is made of it, whether it ended or not."""

import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchkit import observe
from benchkit.conditions import Conditions, Watchers
from benchkit.consistency import Finding
from benchkit.plan import PlannedRun
from benchkit.provenance import without_secrets
from benchkit.rates import compute_rates, doubt_rates
from benchkit.record import Factors, Json, RunRecord, Status
from benchkit.store import array_bytes
from benchkit.stored import MONITOR_FILE, PROFILE_FILE
from benchkit.suites.native import Load, NativeRun
from benchkit.topology import lag_metrics
from benchkit.version import get_version

_BUSY_SHARE = 0.8  # of what the driver can use; from there on it is itself in the way
_SHORT_S = 1.0


def _utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(slots=True)
class Attempt:
    """What is known of a run so far.

    Parameters
    ----------
    run : PlannedRun
    native : NativeRun
        Which measures it.
    load : Load or None
        The data it runs on.
    watchers : Watchers
        Who read server and host meanwhile, and what could not be done.
    before, after, variables : dict
        The server's status before and after the run, and its variables.
    preparation : dict
        How server and data were brought to where the run began.
    findings : tuple of Finding
        What was found of the workload's conditions after the run.
    replication : dict or None
        Topology, and what became of it; None without replicas.
    binlog_bytes : int or None
        Written to the binary log by the run, its warmup included.
    checks : dict or None
        What was found in the tables after the run.
    properties : dict or None
        Name and place of the file that describes the run's dataset.
    notes : list of str
        Warnings for the record.
    """

    run: PlannedRun
    native: NativeRun
    load: Load | None = None
    watchers: Watchers = field(default_factory=Watchers)
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    preparation: dict[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    replication: dict[str, Any] | None = None
    binlog_bytes: int | None = None
    checks: dict[str, Any] | None = None
    properties: dict[str, str] | None = None
    notes: list[str] = field(default_factory=list)
    start_utc: str = field(default_factory=_utc_now)
    started_monotonic_ns: int = field(default_factory=time.monotonic_ns)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What could not be done, and what was found, for the record's warnings."""
        return (*self.watchers.notes, *self.notes)

    @property
    def server_status(self) -> dict[str, Any]:
        """What ``status.json`` holds."""
        variables = without_secrets(self.variables)
        return {"before": self.before, "after": self.after, "variables": variables}

    def monitored(self) -> NDArray[np.void] | None:
        """Return what was observed beside the series, row by row; None if nothing was."""
        result, monitor = self.native.result, self.watchers.monitor
        if result is None or monitor is None:
            return None
        return monitor.table(result["rows"]["time_s"])

    def more_files(self) -> dict[str, bytes]:
        """Return the files of the run beside those that every run has."""
        files = {}
        table = self.monitored()
        if table is not None and table.dtype.names:
            files[MONITOR_FILE] = array_bytes(table)
        if self.watchers.profile is not None and self.watchers.profile.folded:
            files[PROFILE_FILE] = self.watchers.profile.folded.encode()
        return files


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a run was made: study, server, and what was stored about server and host."""

    study: str
    conditions: Conditions
    server: Json
    config_ref: str | None
    env_ref: str | None


def make_record(
    attempt: Attempt, origin: Origin, status: Status, failure: Mapping[str, str] | None
) -> RunRecord:
    """Return the record of an attempt with all that was measured."""
    run = attempt.run
    return RunRecord(
        id=run.id,
        study=origin.study,
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
        server=origin.server,
        workload=_describe_workload(run),
        config_ref=origin.config_ref,
        env_ref=origin.env_ref,
        load=None if attempt.load is None else asdict(attempt.load),
        failure=failure,
        consistency={found.condition: found.violations for found in attempt.findings},
        preparation=attempt.preparation or None,
        replication=attempt.replication,
        checks=attempt.checks,
        properties=attempt.properties,
        conditions=origin.conditions.describe(),
        tool={"name": "benchkit", "version": get_version()},
        **_observations(attempt),
    )


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


def _observations(attempt: Attempt) -> dict[str, Any]:
    """Return the fields of a record that come from the driver."""
    result = attempt.native.result
    if result is None:
        return {"measured_s": 0.0, "warmup_s": 0.0, "metrics": {}, "warnings": attempt.remarks}
    monitored = attempt.monitored()
    metrics = observe.compute_metrics(result) | observe.compute_costs(result, monitored)
    if attempt.load is not None and not attempt.load.reused:
        rows = attempt.load.rows - attempt.load.rows_before
        metrics["load_rows_per_s"] = rows / attempt.load.seconds
    metrics |= compute_rates(result, monitored, attempt.run.workload.rates)
    metrics |= lag_metrics(result["rows"]["phase"], monitored)
    if attempt.replication and "caught_up_s" in attempt.replication:
        metrics["replica_catch_up"] = attempt.replication["caught_up_s"]
    committed = result["accounting"]["committed"]
    if attempt.binlog_bytes is not None and committed:
        counted = attempt.binlog_bytes / committed
        metrics.setdefault("binlog_bytes_per_transaction", counted)
    return {
        "measured_s": result["measured_s"],
        "warmup_s": result["warmup_s"],
        "metrics": metrics,
        "statements": observe.observe_statements(result),
        "transactions": observe.observe_transactions(result),
        "errors": observe.observe_errors(result),
        "accounting": observe.observe_accounting(result),
        "client": observe.observe_client(result),
        "warnings": (
            *_warnings(attempt, result),
            *doubt_rates(metrics, sum(t["committed"] for t in result["transactions"])),
        ),
    }


def _warnings(attempt: Attempt, result: Mapping[str, Any]) -> tuple[str, ...]:
    """Say what a reader of the numbers should know."""
    warnings = list(attempt.remarks)
    failed = sum(t["failed"] for t in result["transactions"])
    if not any(t["committed"] for t in result["transactions"]):
        warnings.append("no transaction was committed in the measurement")
    if failed:
        warnings.append(f"{failed} transactions failed; see the errors by number")
    if result["measured_s"] < _SHORT_S:
        warnings.append(f"only {result['measured_s']:.3f} s were measured")
    busy = observe.busy_share(result, len(os.sched_getaffinity(0)))
    if attempt.load is not None and busy > _BUSY_SHARE:
        warnings.append(
            f"the load driver itself used {busy:.0%} of the CPU time that its "
            f"{result['os_threads']} threads can get on this host"
        )
    return tuple(warnings)
