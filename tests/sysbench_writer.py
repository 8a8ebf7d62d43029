"""Writes logs as sysbench does, of each version, from numbers that are known.

The layouts follow the printf formats of 0.4.12, 0.5 (of 2010 and the last), 1.0 and 1.1. All
numbers of a `Log` have as many decimals as are printed, so that they can be had back exactly.
"""

import random
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Row:
    time_s: int
    tps: float
    reads: float
    writes: float
    other: float
    latency_ms: float
    errors: float = 0.0
    reconnects: float = 0.0
    queue: tuple[int, int] | None = None

    @property
    def qps(self):
        return round(self.reads + self.writes + self.other, 2)


@dataclass(frozen=True)
class Log:
    version: str = "1.0.20"
    threads: int = 4
    interval_s: int = 10
    rows: tuple[Row, ...] = ()
    reads: int = 0
    writes: int = 0
    others: int = 0
    transactions: int = 0
    errors: int = 0
    reconnects: int = 0
    time_s: float = 60.0
    latency_ms: tuple[float, float, float, float] = (0.5, 1.0, 9.0, 2.0)
    percentile: int = 95
    sum_ms: float = 1000.0
    histogram: tuple[tuple[float, int], ...] = ()
    rate: int = 0
    seed: int = 0
    checkpoints: tuple["Log", ...] = field(default=())
    checkpoint_s: int = 0

    @property
    def total(self):
        return self.reads + self.writes + self.others

    def per_s(self, count):
        return round(count / self.time_s, 2)

    @property
    def fairness(self):
        return round(self.transactions / self.threads, 4), 12.34, round(self.time_s - 0.01, 4), 0.02


def make_log(seed, version="1.0.20", **changes):
    """Return a log of random, plausible numbers."""
    rng = random.Random(seed)
    transactions = rng.randrange(1000, 10_000_000)
    time_s = round(rng.uniform(30, 900), 4)
    low = round(rng.uniform(0.05, 2), 2)
    mean = round(low + rng.uniform(0.1, 20), 2)
    percentile = round(mean + rng.uniform(0.1, 30), 2)
    made = Log(
        version=version,
        threads=rng.choice([1, 2, 7, 16, 64, 1024]),
        rows=tuple(_make_row(rng, 10 * (i + 1)) for i in range(rng.randrange(2, 7))),
        reads=transactions * rng.randrange(1, 15),
        writes=transactions * rng.randrange(0, 5),
        others=transactions * rng.randrange(0, 3),
        transactions=transactions,
        errors=rng.randrange(0, 1000),
        reconnects=rng.randrange(0, 3),
        time_s=time_s,
        latency_ms=(low, mean, round(percentile + rng.uniform(0.1, 99), 2), percentile),
        sum_ms=round(transactions * mean, 2),
    )
    return replace(made, **changes)


def _make_row(rng, time_s):
    tps = rng.randrange(1, 100_000) / 10
    return Row(
        time_s,
        tps,
        *(round(tps * rng.randrange(0, 15), 2) for _ in range(3)),
        latency_ms=rng.randrange(1, 100_000) / 100,
        errors=rng.randrange(0, 100) / 10,
    )


def write_log(log):
    """Return the log's text."""
    family = ".".join(log.version.split(".")[:2])
    return {"0.4": _write_04, "0.5": _write_05, "1.0": _write_1x, "1.1": _write_1x}[family](log)


def _write_04(log):
    return "\n".join(
        [
            f"sysbench {log.version}:  multi-threaded system evaluation benchmark",
            "",
            "No DB drivers specified, using mysql",
            "Running the test with following options:",
            f"Number of threads: {log.threads}",
            "",
            "Doing OLTP test.",
            "Running mixed OLTP test",
            "Using Special distribution (12 iterations,  1 pct of values are returned)",
            'Using "BEGIN" for starting transactions',
            "Using auto_inc on the id column",
            "Threads started!",
            *(_row_04(row, log) for row in log.rows),
            "Time limit exceeded, exiting...",
            f"(last message repeated {log.threads - 1} times)",
            "Done.",
            "",
            *_sql_0x(log, last=False),
            "",
            "Test execution summary:",
            f"    total time:                          {log.time_s:.4f}s",
            f"    total number of events:              {log.transactions}",
            f"    total time taken by event execution: {log.sum_ms / 1e3:.4f}",
            "    per-request statistics:",
            *_latency_0x(log),
            "",
            *_fairness(log),
        ]
    )


def _write_05(log):
    last = log.version != "0.5.2010"
    return "\n".join(
        [
            "sysbench 0.5:  multi-threaded system evaluation benchmark",
            "",
            "Running the test with following options:",
            f"Number of threads: {log.threads}",
            f"Report intermediate results every {log.interval_s} second(s)",
            "Random number generator seed is 0 and will be ignored",
            "",
            "",
            "Threads started!",
            "",
            *(_row_05(row, log) if last else _row_2010(row, log) for row in log.rows),
            *_sql_0x(log, last),
            "",
            "General statistics:",
            f"    total time:                          {log.time_s:.4f}s",
            f"    total number of events:              {log.transactions}",
            f"    total time taken by event execution: {log.sum_ms / 1e3:.4f}s",
            "    response time:",
            *_latency_0x(log),
            "",
            *_fairness(log),
        ]
    )


def _row_2010(row, log):
    return (
        f"[{row.time_s:4d}s] threads: {log.threads}, tps: {row.tps:4.2f}, "
        f"reads/s: {row.reads:4.2f}, writes/s: {row.writes:4.2f}"
    )


def _row_04(row, log):
    return f"{_row_2010(row, log)} response time: {row.latency_ms:4.2f}ms ({log.percentile}%)"


def _row_05(row, log):
    return (
        f"[{row.time_s:4d}s] threads: {log.threads}, tps: {row.tps:4.2f}, "
        f"reads: {row.reads:4.2f}, writes: {row.writes:4.2f}, "
        f"response time: {row.latency_ms:4.2f}ms ({log.percentile}%), "
        f"errors: {row.errors:4.2f}, reconnects: {row.reconnects:5.2f}"
    )


def _rated(label, count, log):
    return f"    {label + ':':<37}{count:<6d} ({log.per_s(count):.2f} per sec.)"


def _performed(log):
    return [
        "    queries performed:",
        f"        read:                            {log.reads}",
        f"        write:                           {log.writes}",
        f"        other:                           {log.others}",
        f"        total:                           {log.total}",
    ]


def _sql_0x(log, last):
    return [
        "OLTP test statistics:",
        *_performed(log),
        _rated("transactions", log.transactions, log),
        *([] if last else [_rated("deadlocks", log.errors, log)]),
        _rated("read/write requests", log.reads + log.writes, log),
        _rated("other operations", log.others, log),
        *([_rated("ignored errors", log.errors, log)] if last else []),
        *([_rated("reconnects", log.reconnects, log)] if last else []),
    ]


def _latency_0x(log):
    low, mean, high, percentile = log.latency_ms
    return [
        f"         min:                            {low:10.2f}ms",
        f"         avg:                            {mean:10.2f}ms",
        f"         max:                            {high:10.2f}ms",
        f"         approx. {log.percentile:3d} percentile:         {percentile:10.2f}ms",
    ]


def _fairness(log):
    events, events_sd, time_s, time_sd = log.fairness
    return [
        "Threads fairness:",
        f"    events (avg/stddev):           {events:.4f}/{events_sd:3.2f}",
        f"    execution time (avg/stddev):   {time_s:.4f}/{time_sd:3.2f}",
        "",
    ]


def _write_1x(log):
    return "\n".join(
        [
            *head_1x(log),
            *body_1x(log),
            *(line for point in log.checkpoints for line in _checkpoint(point)),
            *histogram_lines(log),
            *sql_1x(log),
            "",
            *general_1x(log),
            "",
            *latency_1x(log),
            "",
            *_fairness(log),
        ]
    )


def head_1x(log):
    return [
        f"sysbench {log.version} (using bundled LuaJIT 2.1.0-beta3)",
        "",
        "Running the test with following options:",
        f"Number of threads: {log.threads}",
        *([f"Target transaction rate: {log.rate}/sec"] if log.rate else []),
        *([f"Report intermediate results every {log.interval_s} second(s)"] if log.rows else []),
        "Initializing random number generator from "
        + (f"seed ({log.seed})." if log.seed else "current time"),
        "",
        "",
        "Initializing worker threads...",
        "",
        "Threads started!",
        "",
    ]


def body_1x(log):
    lines = []
    for row in log.rows:
        lines.append(
            f"[ {row.time_s}s ] thds: {log.threads} tps: {row.tps:4.2f} qps: {row.qps:4.2f} "
            f"(r/w/o: {row.reads:4.2f}/{row.writes:4.2f}/{row.other:4.2f}) "
            f"lat (ms,{log.percentile}%): {row.latency_ms:4.2f} err/s: {row.errors:4.2f} "
            f"reconn/s: {row.reconnects:4.2f}"
        )
        if row.queue:
            length, concurrency = row.queue
            lines.append(f"[ {row.time_s}s ] queue length: {length}, concurrency: {concurrency}")
    return lines


def _checkpoint(log):
    return [
        f"[ {log.checkpoint_s}s ] Checkpoint report:",
        *sql_1x(log),
        "",
        *general_1x(log),
        "",
        *latency_1x(log),
        "",
        *_fairness(log),
    ]


def histogram_lines(log):
    if not log.histogram:
        return []
    most = max(count for _, count in log.histogram)
    return [
        "Latency histogram (values are in milliseconds)",
        "       value  ------------- distribution ------------- count",
        *(f"{v:12.3f} |{'*' * (40 * n // most):<40s} {n}" for v, n in log.histogram),
        " ",
    ]


def sql_1x(log):
    return [
        "SQL statistics:",
        *_performed(log),
        _rated("transactions", log.transactions, log),
        _rated("queries", log.total, log),
        _rated("ignored errors", log.errors, log),
        _rated("reconnects", log.reconnects, log),
    ]


def general_1x(log):
    if log.version.startswith("1.1"):
        return [
            "Throughput:",
            f"    events/s (eps):                      {log.transactions / log.time_s:.4f}",
            f"    time elapsed:                        {log.time_s:.4f}s",
            f"    total number of events:              {log.transactions}",
        ]
    return [
        "General statistics:",
        f"    total time:                          {log.time_s:.4f}s",
        f"    total number of events:              {log.transactions}",
    ]


def latency_1x(log):
    low, mean, high, percentile = log.latency_ms
    return [
        "Latency (ms):",
        f"         min:                              {low:10.2f}",
        f"         avg:                              {mean:10.2f}",
        f"         max:                              {high:10.2f}",
        f"        {log.percentile:3d}th percentile:         {percentile:10.2f}"
        if log.percentile
        else "         percentile stats:               disabled",
        f"         sum: {log.sum_ms:31.2f}",
    ]


def write_test(log, *lines):
    """Return the log of a test without SQL, with its own lines before the general statistics."""
    return "\n".join(
        [
            *head_1x(log),
            *lines,
            "",
            *general_1x(log),
            "",
            *latency_1x(log),
            "",
            *_fairness(log),
        ]
    )
