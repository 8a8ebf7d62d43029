"""What the command line shows: plans, checks, studies, runs and workloads as lines and tables.

Each function takes values and yields what `terminal.draw` draws. Computes nothing but how a
number is written.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchkit import workloads
from benchkit.doctor import Check
from benchkit.errors import ServerError
from benchkit.hammerdb_export import is_tprocc, result_line
from benchkit.install import Install
from benchkit.inventory import Inventory, MeanRow, chosen_options
from benchkit.metrics import find_metric, in_order
from benchkit.plan import PLAN_COLUMNS, Plan
from benchkit.record import Accounting, Json, Response, RunRecord, threads_text
from benchkit.stored import StoredRun
from benchkit.terminal import grid, styled, table
from benchkit.units import decimals_for, format_count, format_duration, format_number
from benchkit.workloads import Option, WorkloadFactory

if TYPE_CHECKING:
    from rich.console import RenderableType

    View = Iterator[RenderableType]

_STATUS_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}
_MISSING = "-"
_RESPONSES = ("mean", "p50", "p95", "p99", "max")
_RESPONSE_HEADS = tuple(f"{name}\n(ms)" for name in _RESPONSES)
_MS_PER_S = 1000.0


def plan_view(plan: Plan) -> "View":
    """Show the runs of a study in their order, and about how long they take."""
    yield plan.summary()
    yield ""
    yield table(PLAN_COLUMNS, plan.rows(), numbers=("runs", "iteration"))


def checks_view(checks: Sequence[Check]) -> "View":
    """Show each check, and below it what to do."""
    rows = []
    for check in checks:
        status = styled(check.status, _STATUS_STYLES[check.status])
        rows.append((status, check.name, check.value))
        if check.advice:
            rows.append((styled("", ""), "", check.advice))
    yield grid(rows)


def installs_view(installs: Iterable[Install]) -> "View":
    """Show each install, and below one that cannot be used why not."""
    rows = []
    for install in installs:
        try:
            install.check()
        except ServerError as error:
            problem = str(error).partition("\n")[0]
            rows.append((styled("not usable", _STATUS_STYLES["fail"]), "", install.label))
            rows.append((styled("", ""), "", problem))
        else:
            product = f"{install.product} {install.version}"
            rows.append((styled("usable", _STATUS_STYLES["ok"]), product, install.label))
    yield grid(rows)


# Stored studies


def studies_view(inventories: Sequence[Inventory]) -> "View":
    """Show a line for each study."""
    rows = [
        (
            str(study.folder.path),
            study.progress + (f", {study.failed} failed" if study.failed else ""),
            ", ".join(study.servers),
            ", ".join(map(_short, study.workloads)),
            _minute(study.ended),
        )
        for study in inventories
    ]
    heads = ("study", "runs", "servers", "workloads", "last run (UTC)")
    yield table(heads, rows, whole=("runs", "last run (UTC)"))


def runs_view(inventory: Inventory) -> "View":
    """Show a line for each stored run, in the order of the plan."""
    records = inventory.records
    metrics = [record.metrics for record in records]
    first = inventory.results.primary_metric
    columns = (
        [record.id for record in records],
        [_dataset_text(record, inventory) for record in records],
        [threads_text(record.factors.threads) for record in records],
        [str(record.factors.iteration) for record in records],
        _metric_texts(first, metrics),
        _metric_texts("latency_p95", metrics),
        [str(len(record.warnings)) for record in records],
    )
    numbers = ("threads", "iteration", _head(first), "p95\n(ms)", "warnings")
    yield table(("run", "dataset", *numbers), _transpose(columns), numbers, whole=("run",))


def means_view(rows: Sequence[MeanRow]) -> "View":
    """Show the means of each dataset and thread count."""
    values = [row.values for row in rows]
    columns = (
        [row.dataset for row in rows],
        [threads_text(row.threads) for row in rows],
        [str(row.n) for row in rows],
        *(_metric_texts(name, values) for name in rows[0].values),
    )
    numbers = ("threads", "n", *(_head(name) for name in rows[0].values))
    yield table(("dataset", *numbers), _transpose(columns), numbers)


def study_view(inventory: Inventory, means: Sequence[MeanRow]) -> "View":
    """Show a study: what it is, how far it is, its means, and what went wrong."""
    study = inventory.folder.study
    yield styled(f"Study {inventory.folder.name!r} in {inventory.folder.path}", "bold")
    ended = f", the last one on {_minute(inventory.ended)} UTC" if inventory.ended else ""
    yield grid(
        [
            ("runs", inventory.progress + ended),
            *_settings(study),
            *(("server", _server_text(inventory, item)) for item in study.get("servers", [])),
            *(("workload", _workload_text(item)) for item in study.get("workloads", [])),
        ]
    )
    if means:
        yield ""
        yield from means_view(means)
    yield from _warnings_view(inventory)
    yield from _attempts_view(inventory)


def _settings(study: Json) -> Iterator[tuple[str, str]]:
    """Yield what all runs of a study share, as far as the study says it."""
    settings = study.get("settings", {})
    if "threads" in study:
        yield "threads", ", ".join(map(str, study["threads"]))
    if "iterations" in study:
        yield "iterations", str(study["iterations"])
    if "duration_s" in settings:
        yield "each run", _timing_text(settings)
    if "order" in settings:
        yield "order", f"{settings['order']}, seed {settings.get('seed')}"


def _server_text(inventory: Inventory, server: Json) -> str:
    config = inventory.folder.read_config(str(server.get("config"))) or ""
    options = [line for line in config.splitlines() if line and not line.startswith("[")]
    install = server.get("install")
    where = "" if install == "system" else f" at {install}"
    return _detail(f"{server.get('name')}{where}", (o.replace(" = ", "=") for o in options))


def _warnings_view(inventory: Inventory) -> "View":
    rows = [(_run_text(record), text) for record in inventory.records for text in record.warnings]
    if rows:
        yield from _section("Warnings", grid(rows))


def _attempts_view(inventory: Inventory) -> "View":
    """Show what did not finish, and whether a later attempt made up for it."""
    rows: list[tuple[str, str]] = []
    for attempt in inventory.attempts:
        record = attempt.record
        later = ", completed later" if inventory.completed(attempt) else ""
        rows.append((record.status, f"{_run_text(record)}{later}: {_failure_text(record)}"))
        rows.append(("", str(attempt.path)))
    if rows:
        yield from _section("Attempts that did not finish", grid(rows))


# One run


def run_view(run: StoredRun) -> "View":
    """Show one run: what it was, its metrics, transactions, statements and errors."""
    record = run.record
    yield styled(f"Run {record.id} of study {record.study!r}", "bold")
    yield grid([*_run_facts(record), *(("warning", text) for text in record.warnings)])
    if record.metrics:
        yield from _section("Metrics", _metrics_table(record.metrics))
    if len(record.transactions) > 1:  # what there is to say of a single one, the metrics say
        yield from _section("Transactions", _transactions_table(record))
    if record.statements:
        yield from _section("Statements", _statements_table(record))
    if record.errors:
        yield from _section("Errors", _errors_table(record))


def _run_facts(record: RunRecord) -> Iterator[tuple[str, str]]:
    yield "run", _run_text(record)
    yield "status", record.status
    if record.failure:
        yield "failure", _failure_text(record)
    if record.source:
        yield "source", _source_text(record.source)
    else:
        yield "began", f"{_minute(str(record.time.get('start_utc', '')))} UTC"
        yield "planned", _timing_text(record.identity)
    yield "measured", format_duration(record.measured_s)
    if record.server:
        yield "server", f"{record.server.get('product')} {record.server.get('version')}"
    yield "workload", _workload_text({"identity": record.factors.workload, **record.workload})
    if record.load:
        yield "load", _load_text(record.load)
    if record.consistency:
        yield "consistency", _consistency_text(record.consistency)
    if record.accounting:
        yield "outcome", _outcome_text(record.accounting)
    if is_tprocc(record):
        yield "as HammerDB", result_line(record)


def _consistency_text(violations: Json) -> str:
    broken = [f"{name}: {format_count(n, 'violation')}" for name, n in violations.items() if n]
    kept = f"{format_count(len(violations) - len(broken), 'condition')} hold"
    return "; ".join([kept, *broken])


def _source_text(source: Json) -> str:
    line = f", line {source['line']}" if source.get("line") else ""
    return f"{source.get('format')}, {source.get('file')}{line}"


def _outcome_text(accounting: Accounting) -> str:
    a = accounting
    return (
        f"{a.scheduled:,} transactions, warmup and drain included: {a.committed:,} committed, "
        f"{a.rolled_back:,} rolled back, {a.failed:,} failed, {a.in_flight:,} cut off"
    )


def _load_text(load: Json) -> str:
    rows = f"{load.get('rows', 0):,} rows in database {load.get('database')}"
    if load.get("reused"):
        return f"{rows}, loaded for an earlier run"
    return f"{rows}, loaded in {format_duration(load.get('seconds', math.nan))}"


def _metrics_table(values: Mapping[str, float]) -> "RenderableType":
    rows = [
        (metric.name, *_metric_texts(metric.name, [values]), metric.shown_unit, metric.label)
        for metric in (find_metric(name, values) for name in in_order(values))
    ]
    heads = ("metric", "value", "unit", "meaning")
    return table(heads, rows, numbers=("value",), whole=("metric", "unit"))


def _transactions_table(record: RunRecord) -> "RenderableType":
    counts = [
        [f"{n:,}" for n in (t.committed, t.rolled_back, t.failed, t.retries)]
        for t in record.transactions
    ]
    heads = ("committed", "rolled\nback", "failed", "retries", *_RESPONSE_HEADS)
    columns = (
        [t.name for t in record.transactions],
        *_transpose(counts),
        *_response_texts([t.response for t in record.transactions]),
    )
    return table(("transaction", *heads), _transpose(columns), numbers=heads)


def _statements_table(record: RunRecord) -> "RenderableType":
    heads = ("executions", "errors", *_RESPONSE_HEADS)
    columns = (
        [s.name for s in record.statements],
        [f"{s.executions:,}" for s in record.statements],
        [f"{s.errors:,}" for s in record.statements],
        *_response_texts([s.response for s in record.statements]),
    )
    return table(("statement", *heads), _transpose(columns), numbers=heads)


def _errors_table(record: RunRecord) -> "RenderableType":
    rows = [
        (f"{e.count:,}", str(e.number), e.sqlstate, e.statement, e.message) for e in record.errors
    ]
    heads = ("count", "number", "sqlstate", "statement", "message")
    return table(heads, rows, numbers=("count", "number"))


# Workloads


def workloads_view() -> "View":
    """Show every workload: its name, its personalities, and what it does."""
    made = [workloads.factory(name) for name in workloads.names()]
    rows = [(each.name, ", ".join(each.personalities), _summary(each)) for each in made]
    yield table(("workload", "personality", "what it does"), rows)


def workload_view(made: WorkloadFactory[Any]) -> "View":
    """Show what a workload does, its options, and how a study file names it."""
    yield styled(f"{made.name} ({', '.join(made.personalities)})", "bold")
    yield _summary(made)
    if made.options:
        rows = [(o.name, json.dumps(o.default), _option_help(o)) for o in made.options]
        heads = ("option", "default", "meaning")
        yield ""
        yield table(heads, rows, whole=("option", "default"))
    yield from _section("In a study file", "\n".join(_file_lines(made)))


def _file_lines(made: WorkloadFactory[Any]) -> Iterator[str]:
    *others, last = made.identities
    yield "[[workloads]]"
    yield f'name = "{made.name}"' + (f'  # or "{last}"' if others else "")
    if made.options:
        first = made.options[0]
        yield f"{first.name} = {json.dumps(first.default)}"


def _summary(made: WorkloadFactory[Any]) -> str:
    return str(made.__doc__).partition("\n")[0].replace("`", "")


def _option_help(option: Option) -> str:
    limits = str(option.limits)
    return f"{option.help} {limits[0].upper()}{limits[1:]}." if limits else option.help


# Texts


def _section(title: str, content: "RenderableType") -> "View":
    yield ""
    yield styled(title, "bold")
    yield content


def _transpose(lines: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    return list(zip(*lines, strict=True))


def _detail(text: str, details: Iterable[str]) -> str:
    joined = ", ".join(details)
    return f"{text} ({joined})" if joined else text


def _head(metric: str) -> str:
    """Return a metric as a narrow column's head."""
    name = metric.removeprefix("latency_").removesuffix("_per_s")
    unit = find_metric(metric, [metric]).shown_unit
    return f"{name}\n({unit.removeprefix(name)})" if name != metric else name


def _metric_texts(metric: str, rows: Sequence[Mapping[str, float]]) -> list[str]:
    """Return a metric's value in each row, in the unit that people read."""
    scale = find_metric(metric, [metric]).shown_scale
    return _number_texts([scale * row.get(metric, math.nan) for row in rows])


def _response_texts(responses: Sequence[Response]) -> list[list[str]]:
    """Return the columns of `_RESPONSE_HEADS`."""
    return [
        _number_texts([_MS_PER_S * getattr(response, f"{name}_s") for response in responses])
        for name in _RESPONSES
    ]


def _number_texts(values: Sequence[float]) -> list[str]:
    """Return numbers with the same number of decimals, enough for the smallest."""
    sizes = [abs(value) for value in values if value and not math.isnan(value)]
    decimals = 0 if all(value.is_integer() for value in sizes) else decimals_for(min(sizes))
    return [_MISSING if math.isnan(v) else format_number(v, decimals) for v in values]


def _dataset_text(record: RunRecord, inventory: Inventory) -> str:
    """Return a run's server, and its workload where the study has several."""
    factors = record.factors
    one = len(inventory.workloads) == 1
    return factors.server if one else f"{factors.server} · {_short(factors.workload)}"


def _run_text(record: RunRecord) -> str:
    factors = record.factors
    return (
        f"{factors.server}, {_short(factors.workload)}, threads {threads_text(factors.threads)}, "
        f"iteration {factors.iteration}"
    )


def _failure_text(record: RunRecord) -> str:
    return str(record.failure.get("message", "")) if record.failure else ""


def _workload_text(workload: Json) -> str:
    identity = str(workload.get("identity"))
    chosen = chosen_options(identity, workload.get("parameters", {}))
    return _detail(identity, (f"{name}={value}" for name, value in chosen.items()))


def _timing_text(timing: Json) -> str:
    """Return how long a run is to be, from a study's settings or a run's identity."""
    ends = []
    if timing.get("duration_s") is not None:
        ends.append(format_duration(timing["duration_s"]))
    if timing.get("transactions"):
        ends.append(f"{timing['transactions']:,} transactions")
    return f"{' or '.join(ends)} after a warmup of {format_duration(timing.get('warmup_s', 0))}"


def _short(workload: str) -> str:
    """Return a workload's label without its personality."""
    return workload.rpartition(":")[2]


def _minute(time_utc: str) -> str:
    """Return a stored time to the minute: ``2026-01-31 12:00``."""
    return time_utc[:16].replace("T", " ")
