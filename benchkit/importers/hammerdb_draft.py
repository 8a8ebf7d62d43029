"""A run of HammerDB while its pieces are still being found, and what becomes of it.

Log text, job documents and time profiles all fill a `Draft`; the first value of anything is kept.
Figures that contradict each other are kept, with a warning.
"""

import math
import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from benchkit.importers.hammerdb_counts import UNKNOWN, Counts, series
from benchkit.importers.model import Facts, ImportedRun, Rows, is_underflowed
from benchkit.record import DRAIN

NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d{1,3})?"

_PLAIN_NUMBER = re.compile(NUMBER)
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_LARGEST_PER_MINUTE = 1e12
"""More transactions than any server does: an underflowed unsigned counter is beyond it."""

_ORDERED = ["min", "p25", "p50", "p75", "p95", "p99", "max"]
_ROUNDING_MS = 0.0021

_TOLD_ONCE = (
    "version",
    "database_version",
    "timestamp",
    "threads",
    "threads_hint",
    "rampup_minutes",
    "duration_minutes",
)
_TOLD_IN_PARTS = ("timing", "timing_by_vu", "system", "settings", "extra")

_DATABASES = {
    "mssqlserver": "SQL Server",
    "mssqls": "SQL Server",
    "maria": "MariaDB",
    "mysql": "MySQL",
    "pg": "PostgreSQL",
    "postgres": "PostgreSQL",
    "ora": "Oracle",
    "db2": "Db2",
    "redis": "Redis",
    "trafodion": "Trafodion",
}

_SYSTEM_ROWS = {
    "hostname": "Host",
    "cpumodel": "CPU",
    "cpucount": "CPU Count",
    "os_name": "OS",
    "memory": "RAM",
    "storage": "Storage",
    "cloud_instance": "Cloud Instance",
}


def number(value: object) -> float | None:
    """Return a finite number, also one that is written as text; None for anything else."""
    if isinstance(value, str):
        return _number_of_text(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _number_of_text(text: str) -> float | None:
    if len(text) > 40 or not _PLAIN_NUMBER.fullmatch(text):
        return None
    if "," in text:
        if not _GROUPED.fullmatch(text):
            return None
        text = text.replace(",", "")
    found = float(text)
    return found if math.isfinite(found) else None


def whole(value: object) -> int | None:
    """Return a count from 0 to a billion, or None."""
    found = number(value)
    if found is None or found != int(found) or not 0 <= found <= 1e9:
        return None
    return int(found)


def database_name(name: str) -> str:
    """Return how TEST RESULT calls a database that HammerDB also names otherwise."""
    name = " ".join(name.split())[:60]
    return _DATABASES.get(name.lower(), name)


@dataclass(slots=True)
class Draft:
    """What is known of one run so far; empty fields were not found."""

    line: int
    benchmark: str = ""
    version: str = ""
    database: str = ""
    database_version: str = ""
    job: str = ""
    timestamp: str = ""
    threads: int | None = None
    threads_hint: int | None = None
    nopm: float | None = None
    tpm: float | None = None
    rampup_minutes: float | None = None
    duration_minutes: float | None = None
    began: bool = False
    closed: bool = False
    reopened: bool = False
    no_result: bool = False
    is_of_document: bool = False
    profile_line: int = 0
    profile_users: int | None = None
    configured_line: int = 0
    phase: int = UNKNOWN
    counts: Counts = field(default_factory=Counts)
    timing: dict[str, dict[str, float]] = field(default_factory=dict)
    timing_by_vu: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    system: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    extra: dict[str, object] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def has_result(self) -> bool:
        """Whether the throughput is known."""
        return self.nopm is not None or self.tpm is not None

    @property
    def is_over(self) -> bool:
        """Whether what a log tells next of TPROC-C is of another run."""
        is_profile = bool(self.profile_line and not (self.began or self.job))
        return self.has_result or is_profile or self.has_content and self.benchmark == "tproch"

    @property
    def has_only_query_sets(self) -> bool:
        """Whether all that is known is how long TPROC-H's query sets took."""
        return "query_sets" in self.extra and not self.is_more_than_counts

    @property
    def is_more_than_counts(self) -> bool:
        """Whether there are figures that make a run: not only a transaction counter's."""
        return bool(
            self.has_result
            or "queries" in self.extra
            or "qphh" in self.extra
            or "geometric_means" in self.extra
            or self.timing
            or self.timing_by_vu
        )

    @property
    def has_content(self) -> bool:
        """Whether there is more than settings and a transaction counter's rows."""
        return self.is_more_than_counts or self.has_only_query_sets

    def warn(self, message: str) -> None:
        """Note what cannot be true, once."""
        if message not in self.warnings and len(self.warnings) < 100:
            self.warnings.append(message)

    def listed(self, name: str) -> list[object]:
        """Return the list of this name in `extra`, for more to be appended."""
        value = self.extra.setdefault(name, [])
        return value if isinstance(value, list) else []

    def mapped(self, name: str) -> dict[str, object]:
        """Return the mapping of this name in `extra`, for more to be set."""
        value = self.extra.setdefault(name, {})
        return value if isinstance(value, dict) else {}

    def set_result(self, nopm: float | None, tpm: float | None, database: str) -> None:
        """Take a TEST RESULT; a second one that differs is noted."""
        is_first = not self.has_result
        for name, found in (("nopm", nopm), ("tpm", tpm)):
            known = getattr(self, name)
            if known is None:
                setattr(self, name, found)
            elif found is not None and found != known:
                self.warn(f"{name} is {known:g} in one place and {found:g} in another")
        if is_first or not self.database:
            self.database = database_name(database) or self.database
        self.benchmark = "tprocc"
        self.no_result = False
        self.phase = DRAIN

    def absorb(self, other: "Draft") -> None:
        """Take what another telling of the same run knows, and this one does not."""
        if other.has_result:
            self.set_result(other.nopm, other.tpm, other.database)
        if None not in (self.threads, other.threads) and self.threads != other.threads:
            self.warn(f"{self.threads} virtual users in one place, {other.threads} in another")
        for name in _TOLD_ONCE:
            if getattr(self, name) in (None, ""):
                setattr(self, name, getattr(other, name))
        for name in _TOLD_IN_PARTS:
            mine = getattr(self, name)
            mine.update({k: v for k, v in getattr(other, name).items() if k not in mine})
        if not self.counts.values:
            self.counts = other.counts
        self.began, self.closed = self.began or other.began, self.closed or other.closed
        for message in other.warnings:
            self.warn(message)

    def swap_profile(self, other: "Draft") -> None:
        """Give another run this one's time profile, and take its own."""
        for name in ("timing", "timing_by_vu", "profile_line", "profile_users"):
            mine, its = getattr(self, name), getattr(other, name)
            setattr(self, name, its)
            setattr(other, name, mine)
        stamps = [draft.extra.pop("profile_timestamp", "") for draft in (self, other)]
        for draft, stamp in zip((other, self), stamps, strict=True):
            if stamp:
                draft.extra["profile_timestamp"] = stamp

    def set_config(self, key: str, value: str) -> None:
        """Take an option such as ``maria_rampup``, by any database's name of it."""
        self.settings.setdefault(key, value)
        if key.endswith("rampup") and self.rampup_minutes is None:
            self.rampup_minutes = number(value)
        if key.endswith("_duration") or key == "duration":
            self.duration_minutes = self.duration_minutes or number(value)
        if key.endswith("count_ware") and (warehouses := whole(value)):
            self.extra.setdefault("warehouses", warehouses)


def imported_run(draft: Draft, dataset: str, version: str, iteration: int) -> ImportedRun:
    """Return the finished run.

    Parameters
    ----------
    draft : Draft
    dataset : str
    version : str
        HammerDB's, or ``"unknown"``.
    iteration : int
    """
    extra = _extra(draft)
    metrics = _metrics(draft, extra)
    _check_timing(draft)
    minutes = draft.duration_minutes
    return ImportedRun(
        dataset=dataset,
        label=dataset,
        workload=workload(draft, version),
        threads=threads(draft),
        iteration=iteration,
        metrics=metrics,
        duration_s=minutes * 60 if minutes is not None and minutes > 0 else None,
        series=series(draft.counts, extra),
        facts=_facts(draft, version),
        extra=extra,
        warnings=tuple(draft.warnings),
        line=draft.line,
    )


def workload(draft: Draft, version: str) -> str:
    """Return the workload's identity, such as ``hammerdb/6.0:tprocc``."""
    return f"hammerdb/{version}:{draft.benchmark or 'tprocc'}"


def threads(draft: Draft) -> int | None:
    """Return the number of virtual users, without the monitor."""
    if draft.threads is not None:
        return draft.threads or None
    return max(draft.threads_hint or 0, _users_with_queries(draft)) or None


def _users_with_queries(draft: Draft) -> int:
    users = set()
    for name in {"queries", "query_sets"} & draft.extra.keys():
        for row in draft.listed(name):
            if isinstance(row, dict) and "virtual_user" in row:
                users.add(row["virtual_user"])
    return len(users)


def _metrics(draft: Draft, extra: dict[str, object]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for name, value in (("nopm", draft.nopm), ("tpm", draft.tpm)):
        if value is None:
            continue
        if 0 <= value < _LARGEST_PER_MINUTE:
            metrics[name] = value
            if value != int(value):
                draft.warn(f"{name} {value:g} is not whole, as counts are")
            if is_underflowed(value):
                draft.warn(f"{name} {value:.17g} is that of a counter that ran below zero")
        else:
            extra[name] = value
            draft.warn(f"{name} {value:.17g} cannot be: not a count of transactions")
    metrics.update(_query_metrics(draft))
    if metrics and not any(metrics.get(name, 0) for name in ("nopm", "tpm")) and draft.has_result:
        draft.warn("no transaction was counted")
    if "nopm" in metrics and "tpm" in metrics and metrics["tpm"] < metrics["nopm"]:
        draft.warn(
            f"tpm {metrics['tpm']:g} is below nopm {metrics['nopm']:g}, "
            "though every new order is a transaction"
        )
    return metrics


def _query_metrics(draft: Draft) -> Iterator[tuple[str, float]]:
    """Yield the metrics of TPROC-H: of each virtual user first, then of all."""
    sets = [t for t in map(_seconds_per_set, _by_user(draft, "query_sets")) if t is not None]
    total = number(draft.extra.get("tproch_total_query_time_seconds"))
    if sets or total:
        yield "query_set_time", max(sets) if sets else float(total or 0)
    told = number(draft.extra.get("tproch_geomean_seconds"))
    users = _by_user(draft, "geometric_means")
    means = [s for rows in users for row in rows if (s := number(row.get("seconds"))) and s > 0]
    if told or means:
        yield "query_time_geomean", told or statistics.geometric_mean(means)
    composite = number(draft.extra.get("qphh"))
    if composite is not None and 0 <= composite < _LARGEST_PER_MINUTE:
        yield "qphh", composite


def _by_user(draft: Draft, name: str) -> list[list[Mapping[str, object]]]:
    """Return the rows of each virtual user; rows of none only where there are no others."""
    users: dict[object, list[Mapping[str, object]]] = {}
    listed = draft.extra.get(name)
    for row in listed if isinstance(listed, list) else ():
        users.setdefault(row.get("virtual_user"), []).append(row)
    return [rows for user, rows in users.items() if user is not None or len(users) == 1]


def _seconds_per_set(rows: list[Mapping[str, object]]) -> float | None:
    found = [(number(row.get("query_sets")), number(row.get("seconds"))) for row in rows]
    sets = sum(count or 0 for count, _ in found)
    seconds = sum(time or 0 for _, time in found)
    return seconds / sets if sets > 0 and seconds > 0 else None


def _extra(draft: Draft) -> dict[str, object]:
    named = {
        "db": draft.database,
        "db_version": draft.database_version,
        "jobid": draft.job,
        "timestamp": draft.timestamp,
        "rampup_minutes": draft.rampup_minutes,
        "duration_minutes": draft.duration_minutes,
        "settings": draft.settings,
        "timing": draft.timing,
        "timing_by_vu": draft.timing_by_vu,
    }
    return {name: value for name, value in named.items() if value not in ("", None, {})} | dict(
        draft.extra
    )


def _check_timing(draft: Draft) -> None:
    for procedure, figures in draft.timing.items():
        for message in _contradictions(figures):
            draft.warn(f"{procedure}: {message}")
    wrong = [
        f"virtual user {user}, {procedure}: {message}"
        for user, procedures in draft.timing_by_vu.items()
        for procedure, figures in procedures.items()
        for message in _contradictions(figures)
    ]
    for message in wrong[:10]:
        draft.warn(message)
    if len(wrong) > 10:
        draft.warn(f"{len(wrong) - 10} more figures of single virtual users contradict each other")


def _contradictions(figures: Mapping[str, float]) -> Iterator[str]:
    for name, value in figures.items():
        if value < 0:
            yield f"{name} {value:g} is negative"
        elif name == "calls" and value >= 2**53:
            yield f"{name} {value:g} is no count"
    known = [(name, figures[name]) for which in _ORDERED if (name := f"{which}_ms") in figures]
    for (low, below), (high, above) in zip(known, known[1:], strict=False):
        if above < below - _ROUNDING_MS:
            yield f"{high} {above:g} is below {low} {below:g}"
    mean = figures.get("avg_ms")
    if mean is not None and mean < figures.get("min_ms", mean) - _ROUNDING_MS:
        yield f"avg_ms {mean:g} is below min_ms {figures['min_ms']:g}"
    if mean is not None and mean > figures.get("max_ms", mean) + _ROUNDING_MS:
        yield f"avg_ms {mean:g} is above max_ms {figures['max_ms']:g}"


def _facts(draft: Draft, version: str) -> Facts:
    system: Rows = tuple(
        (label, draft.system[name]) for name, label in _SYSTEM_ROWS.items() if name in draft.system
    )
    database = (("Database Maker", draft.database), ("Database Version", draft.database_version))
    minutes = draft.duration_minutes
    test = (
        ("Test Client Version", f"HammerDB {version}" if version != "unknown" else ""),
        ("Test Name", "TPROC-H" if draft.benchmark == "tproch" else "TPROC-C"),
        ("Duration", f"{minutes * 60:g}" if minutes is not None and minutes > 0 else ""),
        ("Date", draft.timestamp),
    )
    return Facts(system, _filled(database), _filled(test))


def _filled(rows: Rows) -> Rows:
    return tuple(row for row in rows if row[1])
