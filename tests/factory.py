"""Synthetic studies on disk, written by the store itself, with numbers that tests know.

The throughput of a run is ``tps(server, threads, iteration)``; every interval of its series has
the same, and its histograms hold the response times that `response_times_ns` returns.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from benchkit import hlog
from benchkit._core import Histogram
from benchkit.record import (
    DRAIN,
    MEASUREMENT,
    SERIES_DTYPE,
    WARMUP,
    Accounting,
    Factors,
    Response,
    RunRecord,
    StatementResult,
    TransactionResult,
    run_id,
)
from benchkit.store import StudyFolder

START_EPOCH_S = 1_700_000_000.0
WORKLOAD = "sysbench/1.1:oltp_point_select"


def default_tps(server: str, threads: int, iteration: int) -> float:
    """Return a throughput that differs in every factor."""
    return 100.0 * threads + 10.0 * len(server) + iteration


@dataclass(frozen=True)
class Plan:
    """What a synthetic study holds."""

    name: str = "synthetic"
    servers: tuple[str, ...] = ("baseline", "flush=2")
    workloads: tuple[str, ...] = (WORKLOAD,)
    threads: tuple[int, ...] = (1, 4)
    iterations: tuple[int, ...] = (1, 2, 3)
    seconds: int = 3
    tps: Callable[[str, int, int], float] = default_tps
    absent: tuple[tuple[str, int, int], ...] = ()
    latencies: tuple[str, ...] = ()
    """Response times to have besides the 95th percentile, all with its values."""

    def cells(self) -> Iterable[tuple[str, str, int, int]]:
        """Yield (server, workload, threads, iteration) of every run."""
        grid = product(self.iterations, self.servers, self.workloads, self.threads)
        for iteration, server, workload, threads in grid:
            if (server, threads, iteration) not in self.absent:
                yield server, workload, threads, iteration


def make_record(plan: Plan, server: str, workload: str, threads: int, iteration: int) -> RunRecord:
    """Return the record of one complete run."""
    tps = plan.tps(server, threads, iteration)
    committed = round(tps * plan.seconds)
    identity = {
        "server": server,
        "config": f"config of {server}",
        "install": "11.8.6-MariaDB",
        "workload": workload,
        "workload_fingerprint": f"fingerprint of {workload}",
        "threads": threads,
        "iteration": iteration,
        "duration_s": float(plan.seconds),
        "transactions": 0,
        "warmup_s": 1.0,
        "seed": 1,
    }
    response = Response(0.002, 0.0015, 0.004, 0.008, 0.02)
    return RunRecord(
        id=run_id(identity),
        study=plan.name,
        status="complete",
        factors=Factors(server, workload, threads, iteration, order=iteration, block=iteration),
        identity=identity,
        time={
            "start_utc": "2026-01-01T00:00:00Z",
            "end_utc": "2026-01-01T00:00:04Z",
            "started_monotonic_ns": 1,
        },
        measured_s=float(plan.seconds),
        warmup_s=1.0,
        metrics={
            "tps": tps,
            "qps": tps,
            "latency_p95": threads / tps,
            "committed": float(committed),
            "errors_per_s": 0.0,
            "latency_p999": 0.5 if threads > 1 else float("nan"),
            "latency_max": float("nan"),
            **dict.fromkeys(plan.latencies, threads / tps),
        },
        statements=(StatementResult("select", "select", committed, committed, 0, 0, response),),
        transactions=(TransactionResult("point_select", committed, 0, 0, 0, response),),
        accounting=Accounting(committed, committed, 0, 0, 0),
        tool={"name": "benchkit", "version": "0.1.0", "schema": 1},
    )


def make_series(record: RunRecord, seconds: int) -> np.ndarray:
    """Return one row of warmup, `seconds` rows of measurement and one row of drain."""
    rows = np.zeros(seconds + 2, SERIES_DTYPE)
    rows["time_s"] = np.arange(1, seconds + 3)
    rows["elapsed_s"] = 1.0
    rows["phase"] = [WARMUP, *[MEASUREMENT] * seconds, DRAIN]
    rows["committed"] = [7, *[round(record.metrics["tps"])] * seconds, 1]
    rows["statements"] = rows["reads"] = rows["committed"]
    for name in ("mean", "p50", "p95", "p99", "max"):
        rows[f"response_{name}_s"] = 0.002
    return rows


def response_times_ns(record: RunRecord) -> np.ndarray:
    """Return 2,000 response times, a spread around threads / tps."""
    typical_ns = 1e9 * record.factors.threads / record.metrics["tps"]
    seed = record.factors.threads * 1000 + record.factors.iteration
    spread = np.random.default_rng(seed).lognormal(0.0, 0.5, 2000)
    return (typical_ns * spread).astype(np.int64)


def make_log(record: RunRecord, seconds: int) -> str:
    """Return a log with the response times dealt out over the seconds of the measurement."""
    lines = [hlog.format_header(START_EPOCH_S)]
    warmup = Histogram()
    warmup.record_many(np.full(7, 5_000_000))
    lines.append(hlog.format_line("warmup.transaction.point_select", 0, 1, warmup))
    for second, times in enumerate(np.array_split(response_times_ns(record), seconds)):
        for tag, digits in (("transaction.point_select", 3), ("statement.select", 2)):
            histogram = Histogram(digits=digits)
            histogram.record_many(times)
            lines.append(hlog.format_line(tag, 1 + second, 1, histogram))
    return "".join(lines)


def save_run(folder: StudyFolder, plan: Plan, record: RunRecord) -> Path:
    """Store one run as the plan has it."""
    status = {"before": {"Com_select": "0"}, "after": {"Com_select": "9"}, "variables": {}}
    series = make_series(record, plan.seconds)
    return folder.save_run(record, series, make_log(record, plan.seconds), status)


def drop_histograms(folder: StudyFolder) -> StudyFolder:
    """Make a study one whose runs came without histograms, as imported runs do."""
    for run in folder.runs():
        (run.path / "latency.hlog").write_text(hlog.format_header(START_EPOCH_S))
        file = run.path / "run.json"
        data = json.loads(file.read_text())
        del data["files"]["latency.hlog"]
        file.write_text(json.dumps(data))
    return folder


def make_study(path: Path, plan: Plan | None = None) -> StudyFolder:
    """Write a whole study and return its folder."""
    plan = plan or Plan()
    datasets = [{"server": s, "workload": w} for s in plan.servers for w in plan.workloads]
    folder = StudyFolder.create(path, {"name": plan.name, "datasets": datasets})
    with folder.lock():
        for cell in plan.cells():
            save_run(folder, plan, make_record(plan, *cell))
    return folder
