"""The numbers a run is reduced to: name, unit, and which direction is better.

This is the one place that knows a metric's label and unit. Values are stored in the metric's
`unit`; tables and plots multiply by `shown_scale` and say `shown_unit`, so that a response time
is stored in seconds and read in milliseconds. A value that was not measured is NaN, never 0.
"""

from dataclasses import dataclass

from benchkit.errors import MetricError, unknown_name

_SHOWN = {"s": ("ms", 1000.0)}


@dataclass(frozen=True, slots=True)
class Metric:
    """What a number of a run means.

    Parameters
    ----------
    name : str
        As in ``ds.array(name)``.
    unit : str
        The unit of stored values; empty for a plain count.
    higher_is_better : bool
    label : str
        Two or three words for an axis or a table head.
    description : str
        The definition, in one sentence.
    """

    name: str
    unit: str
    higher_is_better: bool
    label: str
    description: str

    @property
    def shown_unit(self) -> str:
        """The unit that people read."""
        return _SHOWN.get(self.unit, (self.unit, 1.0))[0]

    @property
    def shown_scale(self) -> float:
        """The factor from a stored value to a value in `shown_unit`."""
        return _SHOWN.get(self.unit, (self.unit, 1.0))[1]

    @property
    def direction(self) -> str:
        """``"higher is better"`` or ``"lower is better"``."""
        return "higher is better" if self.higher_is_better else "lower is better"

    @property
    def axis_label(self) -> str:
        """The label with the shown unit in parentheses."""
        return f"{self.label} ({self.shown_unit})" if self.unit else self.label


def _latency(name: str, which: str, description: str) -> Metric:
    return Metric(f"latency_{name}", "s", False, f"{which} response time", description)


def _cost(name: str, unit: str, label: str, counted: str) -> Metric:
    return Metric(
        f"{name}_per_transaction",
        unit,
        False,
        f"{label} per transaction",
        f"{counted} in the measurement, divided by the transactions that committed.",
    )


_ALL = (
    Metric("tps", "transactions/s", True, "throughput", "Committed transactions per second."),
    Metric("qps", "statements/s", True, "statement rate", "Statements per second."),
    Metric("reads_per_s", "statements/s", True, "read rate", "Reading statements per second."),
    Metric("writes_per_s", "statements/s", True, "write rate", "Writing statements per second."),
    Metric(
        "other_per_s",
        "statements/s",
        True,
        "other statement rate",
        "Statements per second that neither read nor write, such as BEGIN and COMMIT.",
    ),
    Metric("committed", "", True, "committed transactions", "Transactions that committed."),
    Metric("errors_per_s", "errors/s", False, "error rate", "Failed statements per second."),
    Metric("retries_per_s", "retries/s", False, "retry rate", "Repeated attempts per second."),
    Metric("failed", "", False, "failed transactions", "Transactions given up after an error."),
    _latency("mean", "mean", "Mean time from a transaction's intended start to its end."),
    _latency("p50", "median", "Half of the transactions took at most this long."),
    _latency("p95", "95th percentile", "95 % of the transactions took at most this long."),
    _latency("p99", "99th percentile", "99 % of the transactions took at most this long."),
    _latency("p999", "99.9th percentile", "99.9 % of the transactions took at most this long."),
    _latency("max", "longest", "The longest transaction."),
    Metric(
        "client_cpu_us_per_statement",
        "us",
        False,
        "client CPU per statement",
        "User and system time of the worker threads, divided by the statements of all phases.",
    ),
    _cost("fsyncs", "", "fsyncs", "InnoDB's fsync calls"),
    _cost("log_bytes", "bytes", "redo log", "Bytes written to InnoDB's redo log"),
    _cost("pages_written", "", "pages written", "Pages that InnoDB wrote"),
    _cost("binlog_bytes", "bytes", "binary log", "Bytes written to the binary log"),
    _cost("server_cpu_us", "us", "server CPU", "User and system time of the server's process"),
    _cost("client_cpu_us", "us", "client CPU", "User and system time of the measuring process"),
    Metric("load_rows_per_s", "rows/s", True, "load rate", "Rows loaded into tables per second."),
    Metric("replica_lag_mean", "s", False, "mean replica lag", "Mean lag of the slowest replica."),
    Metric("replica_lag_max", "s", False, "longest replica lag", "Longest lag of any replica."),
    Metric(
        "replica_catch_up",
        "s",
        False,
        "replica catch-up time",
        "Time from the end of a run until all replicas had applied it.",
    ),
    Metric("nopm", "orders/min", True, "new orders", "New orders that committed, per minute."),
    Metric(
        "tpm",
        "transactions/min",
        True,
        "database transactions",
        "Commits and rollbacks counted by the server, per minute.",
    ),
    Metric(
        "nopm_client",
        "orders/min",
        True,
        "new orders at the client",
        "As nopm, but counted by the client.",
    ),
    Metric(
        "tpm_client",
        "transactions/min",
        True,
        "database transactions at the client",
        "As tpm, but counted by the client: every attempt ends with a commit or a rollback.",
    ),
    Metric("events_per_s", "events/s", True, "event rate", "Events of a sysbench test per second."),
    Metric(
        "rw_per_s",
        "statements/s",
        True,
        "read/write rate",
        "Statements per second without BEGIN and COMMIT, as sysbench 0.4 and 0.5 print it.",
    ),
    Metric("reconnects_per_s", "reconnects/s", False, "reconnect rate", "Reconnects per second."),
    _latency("min", "shortest", "The shortest transaction."),
    _latency("p25", "25th percentile", "A quarter of the transactions took at most this long."),
    _latency("p75", "75th percentile", "75 % of the transactions took at most this long."),
    Metric(
        "percent_of_baseline",
        "%",
        True,
        "percent of the baseline",
        "What an imported table has: another server's value divided by a baseline's, times 100.",
    ),
    *(
        Metric(name, "", better, name, f"Number of {name} in the whole run.")
        for name, better in (
            ("transactions", True),
            ("events", True),
            ("queries", True),
            ("reads", True),
            ("writes", True),
            ("others", True),
            ("errors", False),
            ("reconnects", False),
        )
    ),
)

RESPONSE_PERCENTILES = {
    "latency_p50": 50.0,
    "latency_p95": 95.0,
    "latency_p99": 99.0,
    "latency_p999": 99.9,
    "latency_max": 100.0,
}
"""The metrics that are a percentile of the response times."""

METRICS = {metric.name: metric for metric in _ALL}
"""Every metric by its name, in the order tables show them."""


def find_metric(name: str) -> Metric:
    """Return the metric of that name.

    Raises
    ------
    MetricError
        If there is none; the message names the nearest.
    """
    if name not in METRICS:
        raise MetricError(unknown_name("metric", name, METRICS))
    return METRICS[name]
