"""What HammerDB's jobs repository tells of a run, as JSON and as text.

Each command has a shape of its own (`drivers.md` 2.9 lists them), and a document does not say
which command made it: it is known by its keys. Every value may be a number or a text.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from benchkit.importers.hammerdb_counts import UNKNOWN
from benchkit.importers.hammerdb_draft import NUMBER, Draft, database_name, number, whole
from benchkit.importers.hammerdb_log import LogReader, seconds_of_date
from benchkit.importers.hammerdb_runs import JOB_ID, TITLE_MAX, Collector, minutes

REPORT_SCHEMA = "hammerdb-job-report-v1"

_SECRET = re.compile(r"pass|secret|token", re.IGNORECASE)
_JOB = re.compile(JOB_ID)
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{0,10}")
_FIGURE = re.compile(r"\d{1,30}(?:\.\d{1,9})?")
_DIGITS = re.compile(r"\d{1,7}")
_COUNTER_NAME = re.compile(r"(?P<db>.{0,40}?)\s*(?P<unit>tpm|qph)", re.IGNORECASE)
_TIMING_COMMAND = re.compile(r"jobs?\s+\S+\s+timing(?:\s+(?:vu=)?(?P<user>\d{1,7}))?\s*$")
_TABLE_ROW = re.compile(
    rf"\s*(?P<job>{JOB_ID})\s+(?P<db>\S.*?)\s+(?P<stamp>\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d)\s+"
    rf"(?P<workload>\S.*?)\s+(?P<figure>{NUMBER}|--)\s+(?P<status>[A-Z]+)\s*$"
)
_TABLE_HEAD = re.compile(r"\s*TPR?OC-([CH]) Jobs\s*$")
_NAME_AND_VERSION = re.compile(r"(?P<name>.*?)(?:\s*\((?P<version>[^()]*)\)|\s+(?P<bare>\d\S*))?")
_TCL_TIMING = re.compile(r"(\w{1,40}) \{((?:\w{1,20} [-+.\deE]{1,30}(?: |(?=\}))){3,30})\}")
_TCL_COUNTS = re.compile(r"\{([^{}]{1,40} (?:tpm|qph))\} \{(\{\d{4}-.*)\}")
_TCL_COUNT = re.compile(r"\{(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\} (-?\d{1,30})")

_LOST_FIGURE = re.compile(
    r'"(?:nopm|tpm|activevu|calls|p\d\d_ms|avg_ms|usr%|idle%)"\s*:\s*"?[-+\d]'
)

_LOGGED = re.compile(
    r"Vuser \d+ ?:|^hammerdb>|^HammerDB CLI v|Hammerdb \w.{0,40} @|>>>>> |\d \w+( Server)? tpm\b|"
    r'System achieved|"p99_ms"|"hammerdb-job-report-v1"',
    re.MULTILINE,
)
"""What shows that a document's texts are a log: a tool has captured what HammerDB printed."""

_NESTING_MAX = 6
_ROWS_MAX = 200_000
_ROW_NAMES = ("procname", "procedure", "proc", "name", "transaction", "label")
_DATABASE_KEYS = ("database_display", "database", "db")

Row = Mapping[str, object]


class JobReader:
    """Takes the documents and tables of jobs and fills the runs they are about."""

    def __init__(
        self, collector: Collector, read_lines: Callable[[int, Sequence[str]], None]
    ) -> None:
        self._collector = collector
        self._read_lines = read_lines
        self._log = LogReader(collector)
        self._user = ""
        self._of_user: Row = {}
        self._table = "C"
        self._shapes: tuple[tuple[Callable[[Row], bool], Callable[[int, Row], None]], ...] = (
            (_is_report, self._report),
            (lambda row: _all(row, _JOB), self._all_results),
            (lambda row: any(map(_COUNTER_NAME.fullmatch, row)), self._counters),
            (_is_metrics, self._cpu),
            (_is_timing, self._timing),
            (lambda row: "hostname" in row or "cpumodel" in row, self._system),
            (lambda row: bool({"connection", "tpcc", "tpch"} & row.keys()), self._config),
            (lambda row: "nopm" in row or "tpm" in row, self._plain_result),
        )

    def feed(self, line: int, text: str) -> None:
        """Take a line of text: a command, a row of the table of jobs, a Tcl dictionary."""
        if "timing" in text and (command := _TIMING_COMMAND.search(text)):
            self._user = command["user"] or ""
        if "TRANSACTION RESPONSE TIMES" in text:
            self._collector.forget_job()
        if " Jobs" in text and (head := _TABLE_HEAD.match(text)):
            self._table = head[1]
        if len(text) < 400 and (row := _TABLE_ROW.match(text)):
            self._table_row(line, row)
        if '"' in text and _LOST_FIGURE.search(text):
            self._collector.problem(
                line,
                "a job's JSON is cut, or its lines begin with something else: "
                f"expected a document, found {text.strip()[:40]!r}",
            )
        if "p99_ms" in text:
            found = {name: _pairs(rest.split()) for name, rest in _TCL_TIMING.findall(text)}
            self._timing(line, found)
        if "} {{" in text and (counts := _TCL_COUNTS.search(text)):
            self._counters(line, {counts[1]: dict(_TCL_COUNT.findall(counts[2]))})

    def take(self, line: int, value: object, nesting: int = 0) -> None:
        """Take a JSON document, or a part of one."""
        if nesting > _NESTING_MAX:
            return
        if isinstance(value, str):
            self._words(line, value)
        elif isinstance(value, list):
            self._list(line, value, nesting)
        elif isinstance(value, dict):
            for fits, read in self._shapes:
                if value and fits(value):
                    read(line, value)
                    return
            for key, part in value.items():
                if f"{key}_lines" not in value:  # the same text, as Ansible tells it
                    self.take(line, part, nesting + 1)

    def _words(self, line: int, value: str) -> None:
        is_whole_output = "\n" in value or value.lstrip()[:1] in ("{", "[")
        if is_whole_output and _LOGGED.search(value) is not None:
            self._read_lines(line, value.splitlines())
        elif "System achieved" in value:
            self._tell(line, self._collector.job_run(line), value.splitlines())
        elif "Virtual Users Created" in value:
            self._log.feed(line, value)

    # Lists

    def _list(self, line: int, items: Sequence[object], nesting: int) -> None:
        texts = [item for item in items if isinstance(item, str)]
        if len(texts) < len(items) or not texts:
            for item in items[:_ROWS_MAX]:
                self.take(line, item, nesting + 1)
        elif _JOB.fullmatch(texts[0]) and not all(map(_JOB.fullmatch, texts[:2])):
            self._result(line, texts)
        elif len(texts) >= 2 and all(map(_DIGITS.fullmatch, texts[::2])):
            self._output(line, texts)
        elif any(map(_LOGGED.search, texts)):
            self._read_lines(line, texts)
        elif texts[0] in ("TPC-C", "TPC-H", "TPROC-C", "TPROC-H"):
            self._collector.job_run(line).benchmark = f"tproc{texts[0][-1].lower()}"
        elif len(texts) <= 2 and texts[-1][-1:].isdigit():
            self._database(self._collector.job_run(line), " ".join(texts))

    def _result(self, line: int, texts: Sequence[str]) -> None:
        """Take ``["<job>", "<time>", "N Active Virtual Users configured", "TEST RESULT ..."]``."""
        self._collector.see_job(texts[0])
        draft = self._collector.job_run(line)
        if len(texts) == 2 and "no test result" in texts[1]:
            draft.no_result = not draft.is_more_than_counts
            return
        if _STAMP.fullmatch(texts[1].strip()):
            draft.timestamp = draft.timestamp or texts[1].strip()
        self._tell(line, draft, texts[1:])

    def _output(self, line: int, texts: Sequence[str]) -> None:
        """Take ``["<virtual user>", "<what it said>", ...]``."""
        said = [f"Vuser {user}:{text}" for user, text in zip(texts[::2], texts[1::2], strict=False)]
        worth_it = any("TEST RESULT" in text or "query" in text for text in said)
        if worth_it:
            draft = self._collector.job_run(line)
            if _tells_other_result(draft, said):
                draft = self._collector.next_run(line)
            self._tell(line, draft, said[:_ROWS_MAX])

    def _tell(self, line: int, draft: Draft, texts: Sequence[str]) -> None:
        """Read texts as a log of the given run and of no other."""
        before = self._collector.current
        for text in texts:
            self._collector.current = draft
            draft.reopened = True
            if "RUNNING" not in text:
                self._log.feed(line, " ".join(text.split()))
        draft.reopened = False
        self._collector.current = draft if before is None else before

    # Objects

    def _all_results(self, line: int, row: Row) -> None:
        for job, value in row.items():
            if isinstance(value, dict):
                self._result_of(line, self._collector.job_run(line, job), value)
            elif isinstance(value, str) and "no test result" in value:
                draft = self._collector.job_run(line, job)
                draft.no_result = not draft.is_more_than_counts

    def _plain_result(self, line: int, row: Row) -> None:
        job = row.get("jobid")
        named = job if isinstance(job, str) and _JOB.fullmatch(job) else ""
        self._result_of(line, self._collector.job_run(line, named), row)

    def _result_of(self, line: int, draft: Draft, row: Row) -> None:
        users = row.get("activevu", row.get("active_virtual_users"))
        draft.threads = draft.threads if draft.threads is not None else _leading_count(users)
        stamp = row.get("tstamp", row.get("timestamp"))
        if isinstance(stamp, str):
            draft.timestamp = draft.timestamp or stamp[:TITLE_MAX]
        database = next((row[key] for key in _DATABASE_KEYS if key in row), "")
        nopm, tpm = number(row.get("nopm")), number(row.get("tpm"))
        for name, found in (("nopm", nopm), ("tpm", tpm)):
            if found is None and row.get(name) not in (None, ""):
                told = _text(row[name])[:40]
                self._collector.problem(line, f"{name} is {told!r}: expected a number")
        if nopm is not None or tpm is not None:
            draft.set_result(nopm, tpm, database if isinstance(database, str) else "")
        for name in ("geomean_seconds", "total_query_time_seconds", "queries", "query_sets"):
            if (found := number(row.get(name))) is not None:
                draft.benchmark = "tproch"
                draft.extra.setdefault("geometric_means", [])
                draft.extra[f"tproch_{name}"] = found

    def _timing(self, line: int, row: Row) -> None:
        draft = self._collector.job_run(line)
        found = {
            name[:40]: {
                key[:40]: value
                for key, item in figures.items()
                if (value := number(item)) is not None
            }
            for name, figures in row.items()
            if isinstance(figures, Mapping) and figures
        }
        if self._user:
            draft.timing_by_vu.setdefault(self._user, found)
            self._user, self._of_user = "", found
        elif found == self._of_user:
            self._of_user = {}  # some releases print one user's times twice
        elif not draft.timing:
            draft.timing.update(found)
        elif found != draft.timing and not _close(found, draft.timing):
            draft.warn("there are several time profiles; the first was taken")

    def _counters(self, line: int, row: Row) -> None:
        for name, points in row.items():
            match = _COUNTER_NAME.fullmatch(name)
            if match is not None and isinstance(points, Mapping):
                self._counts(line, match, [(key, points[key]) for key in points])

    def _counts(
        self, line: int, name: re.Match[str], points: Sequence[tuple[object, object]]
    ) -> None:
        draft = self._collector.job_run(line)
        draft.database = draft.database or database_name(name["db"])
        rows = [
            (seconds, count)
            for stamp, value in points
            if isinstance(stamp, str)
            and (seconds := seconds_of_date(stamp)) is not None
            and (count := number(value)) is not None
        ]
        counts = draft.counts
        if len(counts.values) == len(rows) > 0:
            for i, (seconds, _) in enumerate(rows):
                counts.times_s[i] = seconds
        if counts.values:
            return
        counts.name = " ".join(filter(None, (name["db"].strip(), name["unit"])))
        for seconds, count in rows:
            if count < 0:
                draft.warn(f"a transaction count of {count:g} cannot be")
            if self._collector.has_room(line):
                counts.add(count, seconds, UNKNOWN)

    def _cpu(self, line: int, row: Row) -> None:
        draft = self._collector.job_run(line)
        if "cpu_times_s" in draft.extra:
            return
        start: float | None = None
        for stamp, figures in list(row.items())[:_ROWS_MAX]:
            seconds = seconds_of_date(stamp)
            if not isinstance(figures, Mapping) or seconds is None:
                continue
            if not self._collector.has_room(line):
                return
            start = seconds if start is None else start
            draft.listed("cpu_times_s").append(seconds - start)
            for key in ("usr", "sys", "irq", "idle", "iops", "mbps"):
                value = figures.get(f"{key}%", figures.get(key))
                draft.listed(f"cpu_{key}").append(number(value))

    def _system(self, line: int, row: Row) -> None:
        job = row.get("jobid")
        if isinstance(job, str) and _JOB.fullmatch(job):
            self._collector.see_job(job)
        draft = self._collector.job_run(line)
        for key, value in row.items():
            if isinstance(value, str | int | float) and key != "jobid" and len(draft.system) < 50:
                draft.system.setdefault(key[:40], str(value)[:300])

    def _config(self, line: int, row: Row) -> None:
        draft = self._collector.job_run(line)
        for section in row.values():
            for key, value in section.items() if isinstance(section, Mapping) else ():
                if not _SECRET.search(key) and len(draft.settings) < 500:
                    draft.set_config(key[:60], str(value)[:200])

    def _database(self, draft: Draft, text: str) -> None:
        match = _NAME_AND_VERSION.fullmatch(text.strip()[:TITLE_MAX])
        if match is None:
            return
        if not (draft.has_result and draft.database):
            draft.database = database_name(match["name"])
        version = match["version"] or match["bare"] or ""
        draft.database_version = draft.database_version or version

    # The saved report

    def _report(self, line: int, report: Row) -> None:
        job, config, result = (_part(report, key) for key in ("job", "benchmark_config", "result"))
        named = job.get("jobid")
        if isinstance(named, str) and _JOB.fullmatch(named):
            self._collector.see_job(named)
        draft = self._collector.job_run(line)
        draft.version = draft.version or _text(job.get("hdb_version")).lstrip("v")
        draft.timestamp = draft.timestamp or _text(job.get("timestamp"))
        draft.database_version = draft.database_version or _text(job.get("release"))
        benchmark = _text(job.get("benchmark"))
        draft.benchmark = "tproch" if benchmark.endswith("H") else "tprocc"
        named = next(
            (row[key] for row in (result, job) for key in _DATABASE_KEYS if row.get(key)), ""
        )
        if not draft.has_result:
            draft.database = database_name(_text(named)) or draft.database
        self._report_config(draft, config)
        self._result_of(line, draft, result)
        self._report_counts(line, _part(report, "transaction_count"))
        self._report_times(line, _part(report, "response_times"))
        self._report_load(line, _part(report, "metrics"))
        self._report_aside(line, draft, report)

    def _report_config(self, draft: Draft, config: Row) -> None:
        draft.threads_hint = whole(config.get("virtual_users"))
        draft.rampup_minutes = minutes(_text(config.get("rampup_minutes")))
        draft.duration_minutes = minutes(_text(config.get("duration_minutes")))
        for name in ("warehouses", "scale_factor"):
            if (found := number(config.get(name))) is not None:
                draft.extra.setdefault(name, found)

    def _report_counts(self, line: int, part: Row) -> None:
        series = part.get("series")
        for row in series[:1] if isinstance(series, list) else ():
            points = row.get("points") if isinstance(row, dict) else None
            name = _COUNTER_NAME.fullmatch(_text(_part(row).get("name"))[:60])
            name = name or _COUNTER_NAME.fullmatch(f"{_text(_part(row).get('database'))[:40]} tpm")
            if name is not None:
                pairs = [
                    (point.get("timestamp"), point.get("value"))
                    for point in (points if isinstance(points, list) else ())
                    if isinstance(point, dict)
                ]
                self._counts(line, name, pairs)

    def _report_times(self, line: int, part: Row) -> None:
        found: dict[str, dict[str, object]] = {}
        rows = part.get("rows")
        for row in rows[:100] if isinstance(rows, list) else ():
            row = _part(row)
            name = next((_text(row[key]) for key in _ROW_NAMES if row.get(key)), "")
            if name:
                found[name.upper()] = {key: row[key] for key in row if key not in _ROW_NAMES}
        if found:
            self._timing(line, found)

    def _report_load(self, line: int, part: Row) -> None:
        """Take the computer's load, whose kinds are listed one by one, each with its times."""
        found: dict[str, dict[str, object]] = {}
        for name in ("cpu_percent", "iops", "mbps"):
            rows = part.get(name)
            for row in map(_part, rows[:_ROWS_MAX] if isinstance(rows, list) else ()):
                figures = found.setdefault(_text(row.get("timestamp")), {})
                for key in row.keys() - {"timestamp"}:
                    figures[name if key == "value" else key.removesuffix("_pct")] = row[key]
        if found:
            self._cpu(line, found)

    def _report_aside(self, line: int, draft: Draft, report: Row) -> None:
        system = _part(report, "system")
        if system:
            self._system(line, {**system, "jobid": draft.job})
        for name in ("analysis_hints", "query_times"):
            if report.get(name) and len(str(report[name])) < 20_000:
                draft.extra.setdefault(name, report[name])

    # The table of `jobs`

    def _table_row(self, line: int, row: re.Match[str]) -> None:
        if row["workload"] != "Benchmark Run":
            return
        draft = self._collector.job_run(line, row["job"])
        draft.timestamp = draft.timestamp or row["stamp"]
        self._database(draft, row["db"])
        if row["status"] in ("FAILED", "RUNNING"):
            draft.warn(f"the job's status is {row['status']}")
        figure = number(row["figure"])
        if figure is not None and self._table == "H":
            draft.benchmark = "tproch"
            draft.listed("geometric_means").append({"seconds": figure})
        elif figure is not None:
            draft.set_result(figure, None, "")


def _tells_other_result(draft: Draft, texts: Sequence[str]) -> bool:
    """Whether a result in texts is not the one that a run has, so that both are runs."""
    told = next((text for text in texts if "System achieved" in text), "").partition("achieved")[2]
    known = {draft.nopm, draft.tpm} - {None}
    figures = set(map(float, _FIGURE.findall(told)))
    return bool(told) and (draft.is_over if not known else not known <= figures)


def _is_report(row: Row) -> bool:
    return row.get("schema") == REPORT_SCHEMA or {"job", "result", "artifact"} <= row.keys()


def _is_metrics(row: Row) -> bool:
    return _all(row, _STAMP) and any(
        isinstance(item, dict) and ("usr%" in item or "idle%" in item or "usr" in item)
        for item in row.values()
    )


def _is_timing(row: Row) -> bool:
    return any(
        isinstance(item, dict)
        and {"calls", "elapsed_ms", "ratio_pct"} & item.keys()
        and {"avg_ms", "p95_ms", "p99_ms"} & item.keys()
        for item in row.values()
    )


def _all(row: Row, pattern: re.Pattern[str]) -> bool:
    return all(pattern.fullmatch(key) for key in row)


def _close(
    some: Mapping[str, Mapping[str, float]], others: Mapping[str, Mapping[str, float]]
) -> bool:
    """Whether figures agree as far as both have them, but for the rounding of a text."""
    return all(
        abs(value - other) <= 0.0011 + 1e-6 * abs(other)
        for name, figures in some.items()
        for key, value in figures.items()
        if (other := others.get(name, {}).get(key)) is not None
    )


def _part(row: object, key: str = "") -> Row:
    """Return an object, or the object below one of its keys; empty where there is none."""
    value = row.get(key) if key and isinstance(row, Mapping) else row
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return str(value)[:TITLE_MAX] if isinstance(value, str | int | float) else ""


def _leading_count(value: object) -> int | None:
    """Return the virtual users of ``"32"`` or ``"32 Active Virtual Users configured"``."""
    return whole(value.split()[0]) if isinstance(value, str) and value.split() else whole(value)


def _pairs(words: Sequence[str]) -> dict[str, object]:
    return dict(zip(words[::2], words[1::2], strict=False))
