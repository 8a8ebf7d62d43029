"""A TPROC-C run in the forms that HammerDB gives its own jobs, for tools that read those.

Every form is text. As in HammerDB's own JSON all values are strings, figures of throughput are
cut to integers, and times are without a zone: they are UTC. Response times and counts are those
of the measurement, without the warmup. What the run does not have is left out.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchkit._core import Histogram
from benchkit.errors import MetricError, unknown_name
from benchkit.record import MEASUREMENT, RunRecord
from benchkit.stored import StoredRun
from benchkit.version import get_version

PROCEDURES = {
    "new_order": "NEWORD",
    "payment": "PAYMENT",
    "delivery": "DELIVERY",
    "stock_level": "SLEV",
    "order_status": "OSTAT",
}
"""Transaction -> what HammerDB calls it."""

_PERCENTILES = {"p99_ms": 99.0, "p95_ms": 95.0, "p75_ms": 75.0, "p50_ms": 50.0, "p25_ms": 25.0}
_CPU = {"usr%": "user", "sys%": "system", "irq%": "irq", "idle%": "idle"}
_CPU_PARTS = (*_CPU.values(), "iowait", "steal")
_REFRESH_S = 10
_NS_PER_MS = 1e6
_DATE = "%Y-%m-%d %H:%M:%S"

Table = dict[str, Any]
Made = str | Table | list[str]


def export(runs: StoredRun | Sequence[StoredRun], form: str) -> str:
    """Return a run of TPROC-C, or several, as HammerDB would print them.

    Parameters
    ----------
    runs : StoredRun, or a sequence of them
        Only ``"summary"`` takes more than one.
    form : str
        ``"line"`` for the result line of its log, or what ``jobs <id> ...`` prints:
        ``"result"``, ``"timing"``, ``"tcount"``, ``"metrics"``, ``"system"``, ``"db"``, ``"bm"``,
        ``"dict"``, ``"status"``, ``"timestamp"``; ``"report"`` is the file of ``jobs <id> save``,
        and ``"summary"`` that of ``jobs result``.

    Returns
    -------
    str
        JSON with an indentation of two blanks, but for ``"line"``.

    Raises
    ------
    MetricError
        When there is no such form, or the run is not of TPROC-C.
    """
    if form not in _FORMS:
        raise MetricError(unknown_name("form", form, FORMS))
    several = [runs] if isinstance(runs, StoredRun) else list(runs)
    for run in several:
        _check(run)
    if form == "summary":
        made: Made = {job: entry for run in several for job, entry in _summary(run).items()}
    elif len(several) == 1:
        made = _FORMS[form](several[0])
    else:
        raise MetricError(
            f"form {form!r} is of one run, not of {len(several)}: name one by its folder; "
            "'summary' takes many"
        )
    return made if isinstance(made, str) else json.dumps(made, indent=2) + "\n"


def _check(run: StoredRun) -> None:
    if not is_tprocc(run.record):
        raise MetricError(
            f"run {run.record.id} of {run.record.factors.workload} has no NOPM and TPM: only "
            "runs of TPROC-C have HammerDB's forms"
        )


def job_id(record: RunRecord) -> str:
    """Return a job's number of 24 digits for a run; always the same one."""
    return hashlib.sha256(record.id.encode()).hexdigest()[:24].upper()


def is_tprocc(record: RunRecord) -> bool:
    """Tell whether a run has the figures that HammerDB prints of one."""
    return not any(math.isnan(record.metrics.get(name, math.nan)) for name in ("nopm", "tpm"))


def result_line(record: RunRecord) -> str:
    """Return the line that HammerDB ends a run with; the figures are cut to integers."""
    product = record.server.get("product", "MariaDB")
    nopm, tpm = (int(record.metrics[name]) for name in ("nopm", "tpm"))
    return f"TEST RESULT : System achieved {nopm} NOPM from {tpm} {product} TPM"


def _result(run: StoredRun) -> list[str]:
    record = run.record
    users = f"{record.factors.threads} Active Virtual Users configured"
    return [job_id(record), _start(record).strftime(_DATE), users, result_line(record)]


def _summary(run: StoredRun) -> Table:
    record = run.record
    entry = {
        "db": record.server.get("product", "MariaDB"),
        "bm": "TPC-C",
        "tstamp": _start(record).strftime(_DATE),
        "activevu": f"{record.factors.threads}",
        "nopm": f"{int(record.metrics['nopm'])}",
        "tpm": f"{int(record.metrics['tpm'])}",
    }
    return {job_id(record): entry}


def _timing(run: StoredRun) -> Table:
    elapsed_ms = run.record.measured_s * 1e3
    all_ms = elapsed_ms * run.record.factors.threads
    log = run.log()
    figures = {
        procedure: _figures(histogram, elapsed_ms, all_ms)
        for name, procedure in PROCEDURES.items()
        if (histogram := log.merged([f"transaction.{name}"])) is not None and histogram.total
    }
    ordered = sorted(figures.items(), key=lambda item: -float(item[1]["ratio_pct"]))
    return dict(ordered)


def _figures(histogram: Histogram, elapsed_ms: float, all_ms: float) -> dict[str, str]:
    mean_ms = histogram.mean / _NS_PER_MS
    total_ms = mean_ms * histogram.total
    percentiles = histogram.percentile(list(_PERCENTILES.values())) / _NS_PER_MS
    numbers = {
        "min_ms": histogram.min / _NS_PER_MS,
        "avg_ms": mean_ms,
        "max_ms": histogram.max / _NS_PER_MS,
        "total_ms": total_ms,
        **dict(zip(_PERCENTILES, percentiles.tolist(), strict=True)),
        "sd": _deviation(histogram) / _NS_PER_MS,
        "ratio_pct": 100 * total_ms / all_ms,
    }
    return {
        "elapsed_ms": f"{elapsed_ms:.1f}",
        "calls": f"{histogram.total}",
        **{name: f"{round(number, 3)}" for name, number in numbers.items()},
    }


def _deviation(histogram: Histogram) -> float:
    """Return the population standard deviation of the recorded values."""
    values, counts = histogram.counts()
    mean = np.average(values, weights=counts)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))


def _tcount(run: StoredRun) -> Table:
    product = run.record.server.get("product", "MariaDB")
    counts = {_start(run.record).strftime(_DATE): "0"}
    ended = run.monitored("com_commit") + run.monitored("com_rollback")
    for at, seconds, sums in _every_ten_seconds(run, {"ended": np.nan_to_num(ended)}):
        counts[at] = f"{int(sums['ended'] * 60 / seconds)}"
    return {f"{product} tpm": counts}


def _metrics(run: StoredRun) -> Table:
    columns = {part: run.monitored(f"host_cpu_{part}_s") for part in _CPU_PARTS}
    columns["operations"] = run.monitored("host_disk_reads") + run.monitored("host_disk_writes")
    columns["bytes"] = run.monitored("host_disk_read_bytes") + run.monitored(
        "host_disk_written_bytes"
    )
    metrics = {}
    filled = {name: np.nan_to_num(column) for name, column in columns.items()}
    for at, seconds, sums in _every_ten_seconds(run, filled):
        cpu_s = sum(sums[part] for part in _CPU_PARTS) or math.nan
        shares = {key: 100 * sums[part] / cpu_s for key, part in _CPU.items()}
        figures = {
            **shares,
            "iops": sums["operations"] / seconds,
            "mbps": sums["bytes"] / 1e6 / seconds,
        }
        metrics[at] = {name: f"{round(value, 2)}" for name, value in figures.items()}
    return metrics


def _every_ten_seconds(
    run: StoredRun, columns: Mapping[str, NDArray[np.float64]]
) -> list[tuple[str, float, dict[str, float]]]:
    """Return the sums of columns over the measurement's rows, ten seconds at a time.

    Each comes as (date at the end, seconds, sum of each column).
    """
    series = run.series()
    rows = np.flatnonzero(series["phase"] == MEASUREMENT)
    begin = _start(run.record)
    parts = []
    for first in range(0, len(rows), _REFRESH_S):
        part = rows[first : first + _REFRESH_S]
        ends = begin + timedelta(seconds=float(series["time_s"][part[-1]]))
        seconds = float(series["elapsed_s"][part].sum())
        sums = {name: float(column[part].sum()) for name, column in columns.items()}
        parts.append((ends.strftime(_DATE), seconds, sums))
    return parts


def _system(run: StoredRun) -> Table:
    facts = run.environment()
    names = {"hostname": "host", "cpumodel": "cpu", "cpucount": "cpu_count", "os_name": "os"}
    system = {name: f"{facts[fact]}" for name, fact in names.items() if facts.get(fact) is not None}
    if facts.get("ram_bytes"):
        system["memory"] = f"{facts['ram_bytes'] / 2**30:.1f} GB"
    return {"jobid": job_id(run.record), **system}


def _config(run: StoredRun) -> Table:
    record = run.record
    prefix = "mysql" if record.server.get("product") == "MySQL" else "maria"
    parameters = record.workload.get("parameters", {})
    connection = {
        f"{prefix}_{key}": f"{record.server[key]}"
        for key in ("host", "port", "socket")
        if record.server.get(key)
    }
    tpcc = {
        "count_ware": parameters.get("warehouses"),
        "storage_engine": str(parameters.get("storage_engine", "InnoDB")).lower(),
        "partition": _switch(parameters.get("partitions")),
        "history_pk": _switch(parameters.get("history_pk")),
        "no_stored_procs": _switch(not parameters.get("procedures", True)),
        "prepared": _switch(parameters.get("protocol", "binary") == "binary"),
        "driver": "timed",
        "rampup": _minutes(record.warmup_s),
        "duration": _minutes(record.measured_s),
        "allwarehouse": _switch(parameters.get("home", "worker") != "worker"),
        "keyandthink": _switch(parameters.get("key_and_think")),
    }
    said = {f"{prefix}_{key}": f"{value}" for key, value in tpcc.items() if value is not None}
    return {"connection": connection, "tpcc": said}


def _switch(value: object) -> str:
    return str(bool(value)).lower()


def _report(run: StoredRun) -> Table:
    record = run.record
    product = record.server.get("product", "MariaDB")
    counts = _tcount(run)[f"{product} tpm"]
    series = {
        "name": f"{product} tpm",
        "database": product,
        "metric": "tpm",
        "points": [{"timestamp": at, "value": value} for at, value in counts.items()],
    }
    metrics = _metrics(run)
    return {
        "schema": "hammerdb-job-report-v1",
        "artifact": {"type": "hammerdb-result-json", "generator": f"benchkit {get_version()}"},
        "job": {
            "jobid": job_id(record),
            "hdb_version": "",
            "database": product,
            "release": record.server.get("version", ""),
            "benchmark": "TPROC-C",
            "timestamp": _start(record).strftime(_DATE),
        },
        "benchmark_config": {
            "warehouses": f"{record.workload.get('parameters', {}).get('warehouses', '')}",
            "virtual_users": f"{record.factors.threads}",
            "rampup_minutes": _minutes(record.warmup_s),
            "duration_minutes": _minutes(record.measured_s),
        },
        "system": _system(run),
        "result": {
            "type": "tproc_c_result",
            "active_virtual_users": f"{record.factors.threads}",
            "nopm": f"{int(record.metrics['nopm'])}",
            "tpm": f"{int(record.metrics['tpm'])}",
        },
        "transaction_count": {"available": bool(counts), "series": [series]},
        "response_times": {
            "type": "boxplot",
            "unit": "ms",
            "rows": [{"procname": name, **row} for name, row in _timing(run).items()],
        },
        "metrics": {
            "cpu_percent": [
                {"timestamp": at, **{key: row[key] for key in _CPU}} for at, row in metrics.items()
            ],
            "iops": [{"timestamp": at, "value": row["iops"]} for at, row in metrics.items()],
            "mbps": [{"timestamp": at, "value": row["mbps"]} for at, row in metrics.items()],
        },
    }


def _status(run: StoredRun) -> list[str]:
    users = range(1, run.record.factors.threads + 1)
    return [*(f"Vuser {user}:FINISHED SUCCESS" for user in users), "ALL VIRTUAL USERS COMPLETE"]


def _database(run: StoredRun) -> list[str]:
    server = run.record.server
    return [f"{server.get('product', 'MariaDB')} {server.get('version', '')}".strip()]


def _minutes(seconds: float) -> str:
    return f"{round(seconds / 60, 3):g}"


def _start(record: RunRecord) -> datetime:
    return datetime.fromisoformat(str(record.time["start_utc"])).astimezone(UTC)


_FORMS: dict[str, Callable[[StoredRun], Made]] = {
    "line": lambda run: result_line(run.record) + "\n",
    "result": _result,
    "timing": _timing,
    "tcount": _tcount,
    "metrics": _metrics,
    "report": _report,
    "summary": _summary,
    "system": _system,
    "db": _database,
    "bm": lambda run: ["TPC-C"],
    "dict": _config,
    "status": _status,
    "timestamp": lambda run: [_start(run.record).strftime(_DATE)],
}

FORMS = tuple(_FORMS)
"""What `export` can make."""
