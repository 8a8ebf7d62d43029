"""The framework's words and ours: metrics, labels of facts, workloads, durations.

The one place that knows how the framework's reports and result files call a thing. Both its
comparison reports and its single-run reports are read with these tables.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from benchkit.importers.model import Facts, Problem, Rows, is_underflowed
from benchkit.importers.source import DAMAGE, LINE_MAX, Line
from benchkit.optionfile import server_groups

CHARACTERS_MAX = 16 << 20
"""Characters of a file that are read; no report of the framework is near that."""

RUNS_MAX = 10_000
"""Runs that are kept of one file."""

MISSING = ("", "(missing)", "N/A")
"""How the framework writes that it has no value."""

NO_CONFIG = "[config file not found or inaccessible]"

_METRICS = {
    "TPS": ("tps", 1.0),
    "QPS": ("qps", 1.0),
    "queries_per_second": ("qps", 1.0),
    "NOPM": ("nopm", 1.0),
    "TPM": ("tpm", 1.0),
    "events_ps": ("events_per_s", 1.0),
    "total_transactions": ("transactions", 1.0),
    "total_queries": ("queries", 1.0),
    "total_read": ("reads", 1.0),
    "total_read_ops": ("reads", 1.0),
    "total_write": ("writes", 1.0),
    "total_write_ops": ("writes", 1.0),
    "total_other": ("others", 1.0),
    "total_other_ops": ("others", 1.0),
    "total_events": ("events", 1.0),
    "latency_min": ("latency_min", 1000.0),
    "latency_avg": ("latency_mean", 1000.0),
    "latency_max": ("latency_max", 1000.0),
    "latency_50th": ("latency_p50", 1000.0),
    "latency_95th": ("latency_p95", 1000.0),
    "latency_99th": ("latency_p99", 1000.0),
}
_NAMES = {name.lower(): ours for name, ours in _METRICS.items()}
_UNIT_DIVISORS = {"ms": 1000.0, "s": 1.0, "sec": 1.0, "us": 1e6}

SYSTEM = {
    "test_host": "Host",
    "cpu": "CPU",
    "cpu_count": "CPU Count",
    "core_count": "Core Count",
    "socket_count": "Socket Count",
    "os": "OS",
    "os_version": "OS Version",
    "os_kernel": "OS Kernel",
    "ram": "RAM",
    "disk": "Disk",
}
DATABASE = {
    "database_maker": "Database Maker",
    "database_version": "Database Version",
    "database_eng": "Engine",
    "db_install_dir": "Install Dir",
    "db_config_origin": "DB Config Origin",
    "db_config_source_file": "DB Config Source File",
    "db_config_run_file": "DB Generated Config Run File",
    "db_config_file": "Config File",
}
TEST = {
    "test_suite": "Test Suite",
    "test_name": "Test Name",
    "test_case_tag": "Test Case Tag",
    "duration": "Duration",
    "iterations": "Iterations",
    "timestamp": "Timestamp",
    "generated_properties_file": "AutoGen Prop File",
}
SUITE = (
    "Number of warehouses",
    "Number of tables",
    "Number of rows",
    "Range size",
    "Intermediate result",
    "Db driver",
    "Db ps mode",
    "Db type",
    "Debug sysbench",
    "Driver",
    "Use bmk",
    "Ignore errors",
    "Forced shutdown",
    "Allwarehouse",
    "Keyandthink",
    "Timeprofile",
    "Raiseerror",
    "Setup virtual user count",
    *(f"Checksum after {when}" for when in ("run", "setup")),
    *(
        f"Include {kind} {what}"
        for kind in ("html", "json")
        for what in ("metrics", "result", "tcount", "timing")
    ),
)
"""Settings of the suites that reports are known to have; others are read where they can be."""

_SCALES = {
    "Number of warehouses": "warehouses",
    "Number of tables": "tables",
    "Number of rows": "rows",
}
_MINUTE_SUITES = ("hammerdb",)
_SUITE_KEY = re.compile(r"\b(\w+)\.(\w+)=(\S+)")
_SECRET = re.compile(r"pass(word|wd)?", re.IGNORECASE)
_OPTION = re.compile(r"[A-Za-z][\w.-]*")
_GROUP = re.compile(r"\s*\[ *([^\]]+?) *\]")
_SERVER_GROUPS = server_groups("MariaDB")
_VERSIONED = re.compile(r"(?:mysqld|mariadbd?)-\d.*")  # as [mysqld-8.0]; others are clients'
_GROUPED = re.compile(r"-?\d{1,3}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})")
"""Thousands apart by commas, where these cannot be decimal ones."""

_WORK_TOLERANCE = 0.05
_COUNT_MAX = 10**15
_SECONDS_MAX = 1e6


def metric_of(name: str, unit: str = "") -> tuple[str, float] | None:
    """Return our name for a metric and what to divide by for our unit, or None."""
    ours = _NAMES.get(name.strip().lower())
    if ours and unit.lower() in _UNIT_DIVISORS and ours[0].startswith("latency"):
        return ours[0], _UNIT_DIVISORS[unit.lower()]
    return ours


def is_cut(name: str) -> bool:
    """Tell whether a name ends within a word of a metric's, or holds bytes that are no text."""
    plain = name.strip().lower()
    rests = [known.removeprefix(plain) for known in _NAMES if known.startswith(plain)]
    return DAMAGE in name or (bool(rests) and all(rest and rest[0] != "_" for rest in rests))


def own_name(name: str) -> str:
    """Return how a metric that is none of ours is called in its runs."""
    return " ".join(name.split())[:60]


def metric_label(metric: str) -> str:
    """Return the framework's name for one of our metrics, or the metric's own name."""
    return next((name for name, (ours, _) in _METRICS.items() if ours == metric), metric)


def limited(lines: Iterable[Line], problems: list[Problem]) -> Iterator[Line]:
    """Yield lines up to `CHARACTERS_MAX` characters, and note what is left out."""
    left = CHARACTERS_MAX
    for line in lines:
        left -= len(line.text) + 1
        if left < 0:
            problems.append(Problem(line.number, f"only {CHARACTERS_MAX} characters are read"))
            return
        if len(line.text) >= LINE_MAX and not line.whole:
            message = f"only {LINE_MAX} characters of the line are read"
            problems.append(Problem(line.number, message))
        yield line


def workload_identity(suite: str, test: str) -> str:
    """Return the identity of a test of a suite, such as ``taf/sysbench-lua:oltp_ro``."""
    return f"taf/{suite or 'unknown'}:{test.lower() or 'unknown'}"


def duration_s(suite: str, duration: str) -> float | None:
    """Return seconds: HammerDB's suites count in minutes, sysbench's in seconds.

    None for a suite whose unit is not known, and for what is not a number.
    """
    number = finite(duration)
    if number is None or number <= 0:
        return None
    if suite.lower().startswith(_MINUTE_SUITES):
        return number * 60
    return number if suite.lower().startswith("sysbench") else None


def scale(test: Rows) -> dict[str, object]:
    """Return how large a test's data are, as far as its rows say so."""
    found: dict[str, object] = {}
    for label, value in test:
        if label in _SCALES and value.isdigit() and len(value) < 19:
            found[_SCALES[label]] = int(value)
    return found


def finite(text: object) -> float | None:
    """Return the number that a text is, or None; booleans, NaN and infinity are none."""
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        return None
    if isinstance(text, str) and _GROUPED.fullmatch(text.strip()):
        text = text.replace(",", "")
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and "_" not in str(text) else None


def parse_option(line: str) -> tuple[str, str | None] | None:
    """Return option and value of a configuration's line; None for a comment or a section."""
    name, equals, value = line.strip().partition("=")
    name = name.strip().lower()
    if not _OPTION.fullmatch(name) or _SECRET.search(name):
        return None
    return name, value.strip() if equals else None


def server_options(lines: Iterable[str]) -> tuple[tuple[str, str | None], ...] | None:
    """Return the options of a configuration's lines; no client's, where it has groups.

    None where the framework says instead that it did not find the file.
    """
    found: list[tuple[str, str | None]] = []
    is_read = True
    for line in lines:
        if line.strip() == NO_CONFIG:
            return None
        group = _GROUP.match(line)
        if group:
            is_read = group[1] in _SERVER_GROUPS or bool(_VERSIONED.fullmatch(group[1]))
        option = parse_option(line) if is_read and not group else None
        found += [option] if option else []
    return tuple(found)


def facts_of(metadata: Mapping[str, str], config_lines: Iterable[str] | None) -> Facts:
    """Build the report's facts from a result's metadata.

    Parameters
    ----------
    metadata : mapping
        By the framework's lower-case names, such as ``database_maker``.
    config_lines : iterable of str or None
        The server's configuration file, where the result holds it.
    """
    config = None if config_lines is None else server_options(config_lines)
    return Facts(
        system=_rows(SYSTEM, metadata),
        database=_rows(DATABASE, metadata),
        test=_rows(TEST, metadata) + suite_rows(metadata),
        config=config,
    )


def suite_rows(metadata: Mapping[str, str]) -> Rows:
    """Return the suite's own settings from the recorded command line; no passwords."""
    prefix = metadata.get("test_suite", "").replace("-", "_")
    command = metadata.get("taf_commandline", "")
    found = {
        key: value
        for suite, key, value in _SUITE_KEY.findall(command)
        if suite == prefix and not _SECRET.search(key + value)  # blanks may be lost: see both
    }
    return tuple((_label(key), found[key]) for key in sorted(found))


def implausible(metrics: Mapping[str, float]) -> dict[str, str]:
    """Return what cannot be true, by metric, and why: for a run's warnings."""
    low = metrics.get("latency_min")
    found = {}
    for name, value in metrics.items():
        if value < 0:
            found[name] = f"{name} is negative: {value:g}"
        elif value >= (_SECONDS_MAX if name.startswith("latency") else _COUNT_MAX):
            found[name] = f"{name} is beyond anything that can be measured: {value:g}"
        elif low is not None and name.startswith("latency") and value < low:
            found[name] = f"{name} is below the minimum: {value:g} s < {low:g} s"
    return found


def doubtful(metrics: Mapping[str, float], seconds: float | None) -> list[str]:
    """Say which metrics contradict each other, though each alone may be true."""
    found = []
    mean, high = metrics.get("latency_mean"), metrics.get("latency_max")
    if mean is not None and high is not None and mean > high:
        found.append(f"latency_mean is above the maximum: {mean:g} s > {high:g} s")
    for name, value in metrics.items():
        if is_underflowed(value * (1000 if name.startswith("latency") else 1)):
            found.append(f"{name} {value:.17g} is that of a counter that ran below zero")
    done, rate = metrics.get("transactions"), metrics.get("tps")
    if done and rate and seconds and abs(rate * seconds / done - 1) > _WORK_TOLERANCE:
        found.append(f"tps {rate:g} does not match {done:g} transactions in {seconds:g} s")
    return found


def _rows(labels: Mapping[str, str], metadata: Mapping[str, str]) -> Rows:
    return tuple(
        (label, metadata[key])
        for key, label in labels.items()
        if metadata.get(key, "") not in MISSING
    )


def _label(key: str) -> str:
    text = key.replace("_", " ")
    return text[:1].upper() + text[1:]
