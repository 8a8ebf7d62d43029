"""From what was read of a sysbench run to an `ImportedRun`: names, metrics, warnings.

Metrics are what the log prints, and rates that follow from its counts and total time. What else
it says goes to `extra`. Which dataset a run belongs to is decided by its workload and by the
settings that change what is measured, not by its thread count.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchkit.importers.model import Facts, ImportedRun
from benchkit.importers.sysbench_check import find_doubtful, find_impossible
from benchkit.importers.sysbench_draft import Draft
from benchkit.importers.sysbench_series import IntervalRows
from benchkit.importers.sysbench_text import UNKNOWN, script_in_name, threads_in_name

_METRICS = frozenset(
    (
        *("tps", "qps", "reads_per_s", "writes_per_s", "other_per_s", "rw_per_s"),
        *("errors_per_s", "reconnects_per_s", "events_per_s"),
        *("latency_min", "latency_mean", "latency_max", "latency_p25", "latency_p50"),
        *("latency_p75", "latency_p95", "latency_p99", "latency_p999"),
        *("transactions", "queries", "reads", "writes", "others"),
        *("errors", "reconnects", "events"),
    )
)
_DERIVED = (
    ("reads_per_s", "reads"),
    ("writes_per_s", "writes"),
    ("other_per_s", "others"),
    ("qps", "queries"),
)
_BUILT_IN = (
    ("fileio", ("file_reads_per_s", "file_reads", "fsyncs_per_s", "read_mib_per_s")),
    ("memory", ("transferred_mib", "transferred_mib_per_s")),
)
_SETTINGS = {
    "tables": "tables",
    "oltp_tables_count": "tables",
    "table_size": "table_size",
    "oltp_table_size": "table_size",
    "scale": "scale",
    "db_driver": "driver",
    "rate": "rate",
    "tx_rate": "rate",
}
"""Options that change what is measured, by the name they go by here."""

_LABELS = {
    "version": "sysbench",
    "luajit": "LuaJIT",
    "rate": "Rate (transactions/s)",
    "report_interval_s": "Report interval (s)",
    "seed": "Seed",
    "warmup_s": "Warmup (s)",
    "db_driver": "Driver",
}
_MIXES = {(True, False): "read-only", (False, True): "write-only", (True, True): "read-write"}
"""How a run is called whose script is not known, by whether it reads and writes."""

_PARTS = (
    ("time", "total_time_s"),
    ("response times", "latency_mean"),
    ("threads fairness", "execution_s"),
)
_PERFORMED = {"reads": "read", "writes": "write", "others": "other", "total": "total"}
"""Counts of statements, which are printed together, each with its label."""


def build_runs(drafts: Sequence[Draft]) -> tuple[ImportedRun, ...]:
    """Return the runs in the order of the file, with iterations counted per dataset."""
    seen: Counter[tuple[str, int | None]] = Counter()
    return tuple(_build(draft, seen) for draft in drafts)


def _build(draft: Draft, seen: Counter[tuple[str, int | None]]) -> ImportedRun:
    warnings: list[str] = []
    values = draft.final.values
    impossible = find_impossible(values)
    sound = {name: value for name, value in values.items() if name not in impossible}
    if "eps" in sound:
        sound.setdefault("events_per_s", sound.pop("eps"))
    warnings += impossible.values()
    origins: list[str] = []
    threads = _threads(draft, sound, origins)
    warnings += find_doubtful(sound, threads, comparable=not draft.checkpoints)
    warnings += _notes(draft)
    script = _script(draft, warnings)
    warnings += origins
    version = draft.heading.banner.version.partition("-")[0] if draft.heading.banner else UNKNOWN
    settings = _settings(draft, script)
    dataset = f"sysbench/{version}:{script}" + (f" ({', '.join(settings)})" if settings else "")
    metrics = _metrics(sound, derive=not draft.checkpoints)
    seen[dataset, threads] += 1
    return ImportedRun(
        dataset=dataset,
        label=" ".join([script, *settings]),
        workload=f"sysbench/{_personality(version)}:{script}",
        threads=threads,
        iteration=seen[dataset, threads],
        metrics=metrics,
        duration_s=sound.get("total_time_s"),
        series=IntervalRows(draft.rows, _interval_s(draft)),
        histogram=tuple(draft.final.histogram) or None,
        facts=_facts(draft, script, sound),
        extra=_extra(draft, metrics),
        warnings=tuple(warnings),
        line=draft.line,
    )


def _interval_s(draft: Draft) -> float:
    """Return the distance of interval rows, as printed or else as usual among them."""
    return float(draft.heading.facts.get("report_interval_s", draft.rows.interval_s()))


def _personality(version: str) -> str:
    """Return what decides on the statements of a script: 1.0.18 and 1.0.20 send the same."""
    return ".".join(version.split(".")[:2])


def _metrics(values: Mapping[str, float], derive: bool) -> dict[str, float]:
    metrics = {name: float(value) for name, value in values.items() if name in _METRICS}
    if "total" in values:
        metrics.setdefault("queries", float(values["total"]))
    time_s = values.get("total_time_s", 0.0)
    if derive and time_s > 0:
        for rate, count in _DERIVED:
            if count in metrics:
                metrics.setdefault(rate, metrics[count] / time_s)
        if "events" in metrics and "transactions" not in metrics:
            metrics.setdefault("events_per_s", metrics["events"] / time_s)
    return metrics


def _script(draft: Draft, warnings: list[str]) -> str:
    """Return the script's name: as printed, as called, as seen from its values, or as guessed."""
    heading = draft.heading
    if heading.script and heading.script != "oltp":
        return heading.script
    if heading.command and heading.command.script:
        return heading.command.script
    if heading.script:
        return heading.script
    for name, marks in _BUILT_IN:
        if any(mark in draft.final.values for mark in marks):
            return name
    if "cpu" in draft.final.sections:
        return "cpu"
    named = script_in_name(heading.file)
    if named:
        warnings.append(f"the script's name, {named}, is taken from the file's name")
    return named or UNKNOWN


def _threads(draft: Draft, values: Mapping[str, float], warnings: list[str]) -> int | None:
    if draft.threads:
        if draft.rows.threads > draft.threads:
            shown = draft.rows.threads
            warnings.append(
                f"{draft.threads} threads were asked for, but interval rows have {shown}"
            )
        return draft.threads
    if draft.rows.threads:
        warnings.append("the thread count is taken from the interval rows")
        return draft.rows.threads
    asked = draft.heading.command.threads if draft.heading.command else None
    if asked:
        warnings.append("the thread count is taken from the command line")
        return asked
    share = values.get("events_per_thread", 0)
    ratio = values.get("events", 0) / share if share else 0.0
    if round(ratio) >= 1 and abs(ratio - round(ratio)) < 1e-3:
        warnings.append("the thread count is taken from the events per thread")
        return round(ratio)
    named = threads_in_name(draft.heading.file)
    if named:
        warnings.append(f"the thread count, {named}, is taken from the file's name")
    return named


def _settings(draft: Draft, script: str) -> list[str]:
    """Return what tells runs of one script apart, such as ``read-only`` or ``tables=10``."""
    heading = draft.heading
    found = list(heading.modes)
    options = dict(heading.command.options) if heading.command else {}
    options |= {
        name: heading.facts[name] for name in ("rate", "db_driver") if name in heading.facts
    }
    named = {_SETTINGS[key]: value for key, value in options.items() if key in _SETTINGS and value}
    if script in (UNKNOWN, "oltp") and not found and (mix := _mix(draft)):
        found.append(mix)
    return found + [f"{name}={value}" for name, value in sorted(named.items())]


def _mix(draft: Draft) -> str:
    values, rows = draft.final.values, draft.rows
    if "reads" in values and "writes" in values:
        mix = values["reads"] > 0, values["writes"] > 0
    elif rows.has("reads_per_s") and rows.has("writes_per_s"):
        mix = "reads_per_s" in rows.positive, "writes_per_s" in rows.positive
    else:
        return ""
    return _MIXES.get(mix, "")


def _notes(draft: Draft) -> Iterator[str]:
    """Yield what the reader of the numbers has to know about how they were read."""
    heading, final = draft.heading, draft.final
    yield from heading.messages
    if heading.message_count > len(heading.messages):
        yield f"{heading.message_count - len(heading.messages)} more FATAL or ALERT lines"
    if draft.rows.impossible:
        yield f"{draft.rows.impossible} numbers of the interval rows are impossible"
    if uneven := draft.rows.uneven(_interval_s(draft)):
        yield f"{uneven} interval rows do not follow the one before: some are missing, or repeated"
    if draft.checkpoints:
        since = draft.checkpoints[-1].checkpoint_s
        yield f"the totals count from the last checkpoint, at {since:g} s"
    if "unfinished" in final.values:
        yield f"forced shutdown with {final.values['unfinished']:g} unfinished transactions"
    for line, name in final.repeated:
        yield f"line {line} gives another {name}; the first was kept"
    if not final.begun:
        yield "the run has no totals"
    elif missing := list(_missing_parts(final.values)):
        yield f"the totals are without: {', '.join(missing)}"
    buckets = sum(count for _, count in final.histogram)
    events = final.values.get("events", buckets)
    if buckets and abs(buckets - events) > 0.01 * events:
        yield f"the histogram holds {buckets} events, but the totals say {events:g}"


def _missing_parts(values: Mapping[str, float]) -> Iterator[str]:
    """Yield what every run's totals have, by the name of a part, or of a line in it."""
    yield from (part for part, name in _PARTS if name not in values)
    if "transactions" in values or any(name in values for name in _PERFORMED):
        yield from (f"'{line}:'" for name, line in _PERFORMED.items() if name not in values)
    has_percentile = any(name.startswith(("latency_p", "percentile")) for name in values)
    if "latency_mean" in values and values.get("events") and not has_percentile:
        yield "a percentile"


def _facts(draft: Draft, script: str, values: Mapping[str, float]) -> Facts:
    heading = draft.heading
    said: dict[str, object] = {"script": script}
    if heading.banner:
        said |= {"version": heading.banner.version, "luajit": heading.banner.luajit}
    said |= heading.facts
    if "total_time_s" in values:
        said["Duration (s)"] = f"{values['total_time_s']:g}"
    rows = ((_LABELS.get(name, name), str(value)) for name, value in said.items() if value)
    return Facts(test=tuple(rows))


def _extra(draft: Draft, metrics: Mapping[str, float]) -> dict[str, object]:
    heading = draft.heading
    values = draft.final.values
    extra: dict[str, object] = {n: v for n, v in values.items() if n not in metrics}
    if extra.get("eps") == metrics.get("events_per_s"):
        extra.pop("eps", None)
    extra |= heading.facts
    if heading.banner:
        extra["version"] = heading.banner.version
        extra["luajit"] = heading.banner.luajit
    if heading.command:
        extra["command"] = heading.command.text
        extra["options"] = {
            name: "***" if "password" in name else value
            for name, value in heading.command.options.items()
        }
    if heading.modes:
        extra["modes"] = list(heading.modes)
    if draft.checkpoints:
        extra["checkpoints"] = [
            {"time_s": block.checkpoint_s, **block.values} for block in draft.checkpoints
        ]
    return {name: value for name, value in extra.items() if value not in ("", None)}
