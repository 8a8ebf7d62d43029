"""Writes HammerDB's files from known values: logs, job documents, time profiles, counters.

The forms are those of HammerDB's sources (releases 2 to 6); nothing here reads.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta

PROCEDURES = ("NEWORD", "PAYMENT", "DELIVERY", "SLEV", "OSTAT")
RULE = "+-" * 37 + "+"
START = datetime(2026, 11, 30, 16, 36, 14)


@dataclass(frozen=True)
class Run:
    """The values of a run of TPROC-C."""

    database: str = "MariaDB"
    users: int = 4
    nopm: int = 42333
    tpm: int = 98385
    rampup: int = 1
    duration: int = 2
    job: str = "6B0DA5FE661803E223337343"
    counts: tuple[int, ...] = ()
    timing: dict[str, dict[str, float]] = field(default_factory=dict)


def figures(seed: int = 1, with_quartiles: bool = True) -> dict[str, dict[str, float]]:
    """Return response times of each procedure that do not contradict each other."""
    made = {}
    for i, procedure in enumerate(PROCEDURES):
        base = round(0.1 * seed + 0.7 * i, 3)
        times = {"min_ms": base, "avg_ms": base + 2.125, "max_ms": base + 131.385}
        times |= {"p99_ms": base + 6.126, "p95_ms": base + 4.587, "p50_ms": base + 2.001}
        if with_quartiles:
            times |= {"p75_ms": base + 3.152, "p25_ms": base + 1.5}
        made[procedure] = {
            "calls": 87818.0 // (i + 1) + seed,
            "total_ms": 230497.089,
            "ratio_pct": round(48.236 / (i + 1), 3),
            **{name: round(value, 3) for name, value in times.items()},
        }
    return made


def result(run: Run, old_order: bool = False) -> str:
    """Return the line of a TEST RESULT, in today's order or that of releases before 4."""
    told = (
        f"{run.tpm} {run.database} TPM at {run.nopm} NOPM"
        if old_order
        else f"{run.nopm} NOPM from {run.tpm} {run.database} TPM"
    )
    return f"TEST RESULT : System achieved {told}"


def log(run: Run, old_order: bool = False, banner: str = "") -> list[str]:
    """Return the lines a command line prints in a timed test."""
    created = [f"Vuser {i} created - WAIT IDLE" for i in range(2, run.users + 2)]
    rows = [f"{count} {run.database} tpm" for count in run.counts]
    cut = [1 + 6 * run.rampup, 1 + 6 * (run.rampup + run.duration)]
    minutes = [f"Vuser 1:{i} ...," for i in range(1, run.duration + 1)]
    return [
        *([f"HammerDB CLI v{banner}", 'Type "help" for a list of commands'] if banner else []),
        "Vuser 1 created MONITOR - WAIT IDLE",
        *created,
        f"{run.users + 1} Virtual Users Created with Monitor VU",
        "Vuser 1:RUNNING",
        f"Vuser 1:Beginning rampup time of {run.rampup} minutes",
        *mixed([f"Vuser {i}:RUNNING" for i in range(2, run.users + 2)], rows[: cut[0]]),
        "Vuser 1:Rampup complete, Taking start Transaction Count.",
        f"Vuser 1:Timing test period of {run.duration} in minutes",
        *mixed(minutes, rows[cut[0] : cut[1]]),
        "Vuser 1:Test complete, Taking end Transaction Count.",
        f"Vuser 1:{run.users} Active Virtual Users configured",
        f"Vuser 1:{result(run, old_order)}",
        *[f"Vuser {i}:FINISHED SUCCESS" for i in range(1, run.users + 2)],
        *rows[cut[1] :],
        "ALL VIRTUAL USERS COMPLETE",
        "vudestroy success",
        *([f"Benchmark Run jobid={run.job}"] if run.job else []),
    ]


def mixed(some: list[str], others: list[str]) -> list[str]:
    """Return two lists of lines as two threads print them."""
    longest = max(len(some), len(others))
    return [line for i in range(longest) for lines in (some, others) for line in lines[i : i + 1]]


def profile(
    run: Run, separator: str = "\t", by_user: dict[int, dict[str, dict[str, float]]] | None = None
) -> list[str]:
    """Return the lines of xtprof's report."""
    lines = [f"{run.database} Hammerdb Time Profile Report @ Mon Nov 30 16:38:15 UTC 2026", RULE]
    for user, timing in (by_user or {}).items():
        lines += [f">>>>> VIRTUAL USER {user} : ELAPSED TIME : 119779ms"]
        lines += [*_procedures(timing, separator), RULE]
    head = f">>>>> SUMMARY OF {run.users} ACTIVE VIRTUAL USERS : MEDIAN ELAPSED TIME : 119464ms"
    return [*lines, head, *_procedures(run.timing, separator), RULE]


def _procedures(timing: dict[str, dict[str, float]], separator: str) -> list[str]:
    lines = []
    for procedure, values in timing.items():
        first = [f"CALLS: {values['calls']:.0f}"]
        first += [f"{n}: {values[f'{n.lower()}_ms']:.3f}ms" for n in ("MIN", "AVG", "MAX", "TOTAL")]
        second = [
            f"{n}: {values[f'{n.lower()}_ms']:.3f}ms"
            for n in ("P99", "P95", "P75", "P50", "P25")
            if f"{n.lower()}_ms" in values
        ]
        second += ["SD: 24086.869", f"RATIO: {values['ratio_pct']:.3f}%"]
        lines += [f">>>>> PROC: {procedure}", separator.join(first), separator.join(second)]
    return lines


def counter_log(run: Run) -> list[str]:
    """Return the lines of hdbtcount.log."""
    dates = [START + timedelta(seconds=10 * i) for i in range(len(run.counts))]
    return [
        f"Hammerdb Transaction Counter Log @ {START:%a %b %d %H:%M:%S UTC %Y}",
        "+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+",
        *[
            f"{count} {run.database} tpm @ {date:%a %b %d %H:%M:%S UTC %Y}"
            for count, date in zip(run.counts, dates, strict=True)
        ],
    ]


# Documents of the jobs' repository: every value is a text


def dumped(value: object) -> list[str]:
    return json.dumps(value, indent=2).replace("/", "\\/").splitlines()


def job_result(run: Run, old_order: bool = False) -> list[str]:
    users = f"{run.users} Active Virtual Users configured"
    return [run.job, f"{START}", users, result(run, old_order)]


def job_results(runs: dict[str, Run | None]) -> dict[str, object]:
    return {
        job: {
            "db": run.database,
            "bm": "TPC-C",
            "tstamp": f"{START}",
            "activevu": f"{run.users}",
            "nopm": f"{run.nopm}",
            "tpm": f"{run.tpm}",
        }
        if run
        else "Jobid has no test result"
        for job, run in runs.items()
    }


def job_timing(run: Run) -> dict[str, object]:
    return {
        procedure: {"elapsed_ms": "119464.0"} | {k: f"{v}" for k, v in values.items()}
        for procedure, values in run.timing.items()
    }


def job_counts(run: Run) -> dict[str, object]:
    times = [START + timedelta(seconds=10 * i) for i in range(len(run.counts))]
    return {f"{run.database} tpm": {f"{t}": f"{n}" for t, n in zip(times, run.counts, strict=True)}}


def job_config(run: Run) -> dict[str, object]:
    return {
        "connection": {"maria_host": "localhost", "maria_socket": "/tmp/s.sock"},
        "tpcc": {
            "maria_count_ware": "5",
            "maria_pass": "sesame",
            "maria_rampup": f"{run.rampup}",
            "maria_duration": f"{run.duration}",
        },
    }


SYSTEM = {"hostname": "localhost", "cpumodel": "AMD EPYC", "cpucount": "2", "memory": "23.5 GB"}


def job_report(run: Run) -> dict[str, object]:
    """Return what `jobs <id> save` writes."""
    points = next(iter(job_counts(run).values()))
    assert isinstance(points, dict)
    return {
        "schema": "hammerdb-job-report-v1",
        "artifact": {"type": "hammerdb-result-json"},
        "job": {
            "jobid": run.job,
            "hdb_version": "v6.0",
            "database": run.database,
            "release": "10.11.19",
            "benchmark": "TPROC-C",
            "timestamp": f"{START}",
        },
        "benchmark_config": {
            "warehouses": "5",
            "virtual_users": f"{run.users}",
            "rampup_minutes": run.rampup,
            "duration_minutes": f"{run.duration}",
        },
        "system": SYSTEM,
        "result": {
            "type": "tproc_c_result",
            "active_virtual_users": run.users,
            "nopm": f"{run.nopm}",
            "tpm": run.tpm,
        },
        "transaction_count": {
            "available": True,
            "series": [
                {
                    "name": f"{run.database} tpm",
                    "database": run.database,
                    "points": [{"timestamp": t, "value": n} for t, n in points.items()],
                }
            ],
        },
        "response_times": {
            "type": "boxplot",
            "unit": "ms",
            "rows": [{"procname": name, **values} for name, values in run.timing.items()],
        },
    }
