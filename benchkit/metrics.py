"""The numbers a run is reduced to: name, unit, and which direction is better.

This is the one place that knows a metric's label and unit. Values are stored in the metric's
`unit`; tables and plots multiply by `shown_scale` and say `shown_unit`, so that a response time
is stored in seconds and read in milliseconds. A value that was not measured is NaN, never 0.
"""

from collections.abc import Collection
from dataclasses import dataclass

from benchkit.errors import MetricError, unknown_name

PERCENT_METRIC = "percent_of_baseline"
"""What percent tables hold: no measurement, but a ratio of two."""

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
    higher_is_better : bool or None
        None where it is not known, so that nothing is called better or worse.
    label : str
        Two or three words for an axis or a table head.
    description : str
        The definition, in one sentence.
    is_long : bool
        Times that are read in seconds, not in milliseconds.
    """

    name: str
    unit: str
    higher_is_better: bool | None
    label: str
    description: str
    is_long: bool = False

    @property
    def shown_unit(self) -> str:
        """The unit that people read."""
        return self._shown[0]

    @property
    def shown_scale(self) -> float:
        """The factor from a stored value to a value in `shown_unit`."""
        return self._shown[1]

    @property
    def _shown(self) -> tuple[str, float]:
        as_stored = (self.unit, 1.0)
        return as_stored if self.is_long else _SHOWN.get(self.unit, as_stored)

    @property
    def direction(self) -> str:
        """``"higher is better"``, ``"lower is better"`` or that it is not known which."""
        if self.higher_is_better is None:
            return "unit and better direction unknown"
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
        PERCENT_METRIC,
        "%",
        True,
        "percent of the baseline",
        "What an imported table has: another server's value divided by a baseline's, times 100.",
    ),
    Metric(
        "query_set_time",
        "s",
        False,
        "query set time",
        "Time of one set of TPROC-H's queries; of the slowest of several virtual users.",
        is_long=True,
    ),
    Metric(
        "query_time_geomean",
        "s",
        False,
        "geometric mean query time",
        "Geometric mean of the times of TPROC-H's queries that returned rows.",
        is_long=True,
    ),
    Metric("qphh", "queries/h", True, "QphH", "Composite queries per hour, where a log has it."),
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
"""The metrics of our own runs that are a percentile of the response times."""

ALL_RESPONSE_PERCENTILES = {
    "latency_min": 0.0,
    "latency_p25": 25.0,
    "latency_p75": 75.0,
    **RESPONSE_PERCENTILES,
}
"""The same, with those that only other programs tell."""

METRICS = {metric.name: metric for metric in _ALL}
"""Every metric by its name, in the order tables show them."""


def in_order(names: Collection[str]) -> tuple[str, ...]:
    """Return names of metrics in the order tables show them; those of others' files last."""
    return (*(name for name in METRICS if name in names), *sorted(set(names) - METRICS.keys()))


def find_metric(name: str, others: Collection[str] = ()) -> Metric:
    """Return the metric of that name.

    Parameters
    ----------
    name : str
    others : collection of str
        Names that imported runs have besides ours, whose unit and direction nobody told.

    Raises
    ------
    MetricError
        If there is none; the message names the nearest.
    """
    if name in METRICS:
        return METRICS[name]
    if name in others:
        return Metric(name, "", None, name, "A metric of an imported file, by the file's name.")
    raise MetricError(unknown_name("metric", name, [*METRICS, *others]))
