"""HammerDB's own text: what virtual users say, the command line, the transaction counter.

Every line is searched for what it is known to say, wherever in the line it stands: logs come with
prompts, time stamps and container names in front, and with lines of several virtual users mixed.
"""

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from benchkit.importers.hammerdb_draft import NUMBER, Draft, database_name, number, whole
from benchkit.importers.hammerdb_runs import (
    JOB_ID,
    TITLE_MAX,
    Collector,
    minutes,
    phase_unless_known,
)
from benchkit.record import DRAIN, MEASUREMENT, WARMUP

_WORD = r"[A-Za-z][A-Za-z0-9_.+/-]*"
_DATABASE = rf"{_WORD}(?: {_WORD}){{0,3}}"
_RESULT = re.compile(
    rf"System\s*achieved\s*(?:"
    rf"(?P<nopm>{NUMBER})\s*(?:{_DATABASE})??\s*NOPM\s*(?:from|at)\s*"
    rf"(?P<tpm>{NUMBER})\s*(?P<db>(?:{_DATABASE})??)\s*TPM|"
    rf"(?P<old_tpm>{NUMBER})\s*(?P<old_db>(?:{_DATABASE})??)\s*TPM\s*at\s*"
    rf"(?P<old_nopm>{NUMBER})\s*NOPM)"
)
_CUT_RESULT = re.compile(
    r"Vuser ?\d+\s*:\s*TEST ?RESULT\s*:?\s*(?:S[a-z]{0,5}|System [a-z ]{0,10})?$|"
    r"System\s*achieved\s*[-+]?\d"
)
_CUT_NUMBERS = re.compile(
    rf"achieved\s*(?:(?P<nopm>{NUMBER})\s*NOPM(?:\s*from\s*(?P<tpm>{NUMBER})\s)?|"
    rf"(?P<old_tpm>{NUMBER})\s*(?P<db>(?:{_DATABASE})??)\s*TPM\b)"
)
_RULES = {
    "HammerDB": r"HammerDB(?: CLI| Web Service| GUI)?[- ]v?(?P<version>\d{1,2}\.\d{1,3})",
    "Hammerdb": r"Hammerdb (?P<kind>Log|Transaction Counter Log) @ (?P<date>.*)",
    "Timestamp": r"Timestamp \d+ @ (?P<log_time>.*)",
    "HammerDB CLI": r"^\s*(?P<banner>HammerDB CLI v)\d",
    "chema": r"(?P<schema>[Ss]chema)",
    "SCHEMA": r"(?P<schema>SCHEMA)",
    "RUNNING": r"(?P<start>Vuser 1\s*:\s*RUNNING)",
    "TEST STARTED": r"(?P<start>TEST STARTED)",
    "vurun": r"hammerdb>\s*(?P<start>vurun)\b|^[^#]{0,40}?\b(?P<script>vurun)\b",
    "```": r"^\s*(?P<fence>```)",
    "Counter Started": r"Transaction (?P<script>Counter Started)",
    "ALL VIRTUAL": r"(?P<close>ALL VIRTUAL USERS COMPLETE)",
    "vudestroy": r"(?P<close>vudestroy)",
    "rampup": rf"Beginning rampup time of\s*(?P<rampup>{NUMBER})",
    "Rampup": r"(?P<measuring>Rampup complete)",
    "Timing test": rf"Timing test period of\s*(?P<duration>{NUMBER})",
    "Test complete": r"(?P<drain>Test complete)",
    "Virtual User": r"(?P<active>\d{1,9})\s*(?:Active )?Virtual Users? configured",
    "Active": r"(?P<vu>\d{1,9})\s*VU\s*\*\s*\d{1,9}\s*AC\s*="
    r"\s*(?P<sessions>\d{1,9})\s*Active Sessions",
    "Created": r"(?P<created>\d{1,9}) Virtual Users? Created(?P<monitor> with Monitor)?",
    "vuset vu": r"vuset vu (?P<vuset>\d{1,9})",
    "VU TEST": r"^\s*(?P<vuset>\d{1,9}) VU TEST\s*$",
    "Virtual Users =": r"Virtual Users = (?P<vuset>\d{1,9})",
    "VU count": r"VU count (?P<vu_count>\d{1,9}), Warehouses = (?P<warehouses>\d{1,9})",
    "jobid": rf"jobid\s*=\s*(?P<named_job>{JOB_ID})",
    "job": rf"\bjobs? (?P<asked_job>{JOB_ID})\b",
    "FINISHED FAILED": r"(?P<failed>FINISHED FAILED)",
    "Error in Virtual User": r"Error in Virtual User (?P<error>.*)",
    "DBVersion:": r"DBVersion:\s*(?P<db_version>[\w.+~-]{1,60}?)(?=Vuser|[^\w.+~-]|$)",
    "Database set": r"Database set to (?P<db_set>\w{1,30})",
    "dbset db": r"dbset db (?P<db_set>\w{1,30})",
    "RUNNING - ": r"RUNNING - (?P<running>\w[\w ]{0,30}?) TPR?O?C-(?P<running_bm>[CH])\b",
    "CLIENT SIDE TPM": r"CLIENT SIDE TPM\s*:\s*(?P<client>[a-z]+ \d.{0,200})",
    "Benchmark set": r"Benchmark set to TPR?O?C-(?P<bm_set>[CH])",
    "Value ": r"^\s*Value (?P<kept>.{0,300}) for \w+:(?P<kept_key>\w+) is the same as existing",
    "Changed ": r"^\s*Changed \w+:(?P<changed_key>\w+) from .{0,300}? to "
    r"(?P<changed>.{0,300}) for \w",
    "diset ": r"diset \w+ (?P<set_key>\w+) (?P<set>\S+)",
    "CPU all": rf"CPU all usr%-(?P<usr>{NUMBER}) sys%-(?P<sys>{NUMBER}) irq%-(?P<irq>{NUMBER}) "
    rf"idle%-(?P<idle>{NUMBER})(?: IOPS-(?P<iops>{NUMBER}) MB/s-(?P<mbps>{NUMBER}))?",
    "completed in": rf"\bquery (?P<query>\d{{1,3}}) completed in (?P<seconds>{NUMBER}) sec",
    "query set": rf"Completed (?P<sets>\d{{1,6}}) query set\(s\) in (?P<seconds>{NUMBER}) sec",
    "Geometric": rf"Geometric mean of query times returning rows \((?P<rows>\d{{1,3}})\) is "
    rf"(?P<geomean>{NUMBER})",
    "QphH": rf"QphH(?:@\w{{1,20}})?\s*[:=]?\s*(?P<qphh>{NUMBER})|"
    rf"(?P<qphh_first>{NUMBER})\s*QphH\b",
    "refresh": rf"(?P<refresh>New|Old) Sales refresh complete in (?P<seconds>{NUMBER})",
}
_COUNTER = re.compile(
    rf"(?:^(?:\d{{10,13}}\s+)?|[-|>\]:\"']\s*)"
    rf"(?P<count>{NUMBER})\s*(?P<db>{_DATABASE})\s*(?P<unit>tpm|qph)"
    r"\s*(?:@\s*(?P<date>.{0,60}?))?(?:[\s|\"',]|<br ?/?>)*$"
)
_GLUED_COUNTER = re.compile(
    r"(?<!\d)(?P<count>\d+) ?(?P<db>(?:Db2|[A-Za-z]+)(?: [A-Za-z]+){0,3}?) (?P<unit>tpm|qph)"
    r"(?=$|\s|\d|Vuser)(?: @ (?P<date>.{0,30}?:\d\d:\d\d.{0,8}? \d{4}))?"
)
"""A row behind or in front of something else; rows of their own may be written otherwise."""

_BARE_JOB = re.compile(rf"\s*({JOB_ID})\s*")
_PARTS = re.compile(r"(?=Vuser \d{1,7}\s*:)|(?=hammerdb>)|\\r|\\n")
_NEEDLES = re.compile("|".join(map(re.escape, _RULES)))
_VUSER = re.compile(r"Vuser (\d{1,7})\s*:")

_DATE = re.compile(
    r"(?P<month>[A-Z][a-z]{2})\s+(?P<day>\d{1,2})\s+(?P<clock>\d\d:\d\d:\d\d)\s+(?:\S+\s+)?"
    r"(?P<year>\d{4})"
)
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_SECRET = re.compile(r"pass|secret|token", re.IGNORECASE)

_CPU_FIGURES = ("usr", "sys", "irq", "idle", "iops", "mbps")

_SETTINGS_MAX = 200
_ERRORS_MAX = 20
_ASIDES_MAX = 2000


def seconds_of_date(text: str) -> float | None:
    """Return the seconds of ``2026-11-30 16:36:14`` or ``Thu Jun 30 21:18:41 UTC 2022``.

    Zones are left aside: the seconds are only good for differences.
    """
    text = text.strip()[:60]
    match = _DATE.search(text)
    if match and match["month"] in _MONTHS:
        month = _MONTHS.index(match["month"]) + 1
        text = f"{match['year']}-{month:02d}-{int(match['day']):02d} {match['clock']}"
    try:
        return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


class LogReader:
    """Reads lines of text and fills the runs they are about.

    Attributes
    ----------
    date : str
        When the next line was printed, as far as a logger wrote it in front of it.
    """

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self.date = ""
        self._users_set: int | None = None
        self._rules = [(needle, re.compile(pattern)) for needle, pattern in _RULES.items()]
        self._handlers: dict[str, Callable[[int, re.Match[str]], object]] = {
            "version": lambda line, match: collector.see_version(match["version"]),
            "kind": self._log_begins,
            "log_time": self._log_time,
            "start": lambda line, match: collector.start(line, match["start"]),
            "script": lambda line, match: collector.end_text_run(),
            "fence": lambda line, match: collector.started.pop("vurun", None),
            "banner": lambda line, match: collector.start(line, match["banner"]),
            "schema": lambda line, match: collector.started.clear(),
            "close": self._close,
            "rampup": self._rampup,
            "measuring": lambda line, match: self._enter(line, MEASUREMENT),
            "duration": self._duration,
            "drain": lambda line, match: self._enter(line, DRAIN),
            "active": self._active,
            "vu": self._active,
            "created": self._created,
            "vuset": self._users_are_set,
            "vu_count": self._warehouses,
            "named_job": lambda line, match: collector.name_text_run(match["named_job"]),
            "asked_job": lambda line, match: collector.see_job(match["asked_job"]),
            "failed": self._failed,
            "error": self._error,
            "db_version": self._database_version,
            "db_set": self._database_set,
            "bm_set": lambda line, match: self._benchmark(match["bm_set"]),
            "running": self._running,
            "kept": lambda line, match: self._setting(line, match["kept_key"], match["kept"]),
            "changed": lambda line, match: self._setting(
                line, match["changed_key"], match["changed"]
            ),
            "set": lambda line, match: self._setting(line, match["set_key"], match["set"]),
            "client": self._client_side,
            "usr": self._cpu,
            "query": self._query,
            "sets": self._query_sets,
            "geomean": self._geometric_mean,
            "refresh": self._refresh,
            "qphh": self._composite,
            "qphh_first": self._composite,
        }

    def feed(self, line: int, text: str) -> None:
        """Take what a line says; one that holds several in their order."""
        if text.count("Vuser ") > 1 or "\\n" in text:
            for part in _PARTS.split(text):
                self._take(line, part)
        else:
            self._take(line, text)

    def _take(self, line: int, text: str) -> None:
        if "System" in text or "RESULT" in text:
            self._results(line, text)
        if " tpm" in text or " qph" in text or text.rstrip()[-3:] in ("tpm", "qph"):
            self._counters(line, text)
        elif text[:1].isdigit() and len(text) < 40:
            self._cut_counter(line, text)
        if _NEEDLES.search(text) is not None:
            self._apply_rules(line, text)
        bare = _BARE_JOB.fullmatch(text) if len(text) < 40 else None
        if bare:
            self._collector.see_job(bare[1])
            self._collector.reopen(line)

    def _apply_rules(self, line: int, text: str) -> None:
        for needle, pattern in self._rules:
            if needle in text:
                for match in pattern.finditer(text):
                    self._handle(line, match)

    def _handle(self, line: int, match: re.Match[str]) -> None:
        for name, value in match.groupdict().items():
            if value is not None and name in self._handlers:
                self._handlers[name](line, match)
                return

    # TPROC-C

    def _results(self, line: int, text: str) -> None:
        matches = list(_RESULT.finditer(text))
        for match in matches:
            if match["nopm"] is not None:
                found = match["nopm"], match["tpm"], match["db"]
            else:
                found = match["old_nopm"], match["old_tpm"], match["old_db"]
            for text in filter(lambda each: number(each) is None, found[:2]):
                self._collector.problem(line, f"a TEST RESULT of {text[:40]!r}: expected a number")
            self._result(line, number(found[0]), number(found[1]), found[2])
        if not matches and _CUT_RESULT.search(text):
            self._cut_result(line, text)

    def _cut_result(self, line: int, text: str) -> None:
        self._collector.problem(
            line, "the TEST RESULT is cut: expected 'System achieved N NOPM from N ... TPM'"
        )
        match = _CUT_NUMBERS.search(text)
        if match is not None:
            tpm = match["tpm"] or match["old_tpm"]
            self._result(line, number(match["nopm"]), number(tpm), match["db"] or "")
            self._collector.text_run(line).warn("the TEST RESULT is cut")

    def _result(self, line: int, nopm: float | None, tpm: float | None, database: str) -> None:
        draft = self._collector.text_run(line)
        if draft.is_over and not draft.reopened:
            if (draft.nopm, draft.tpm) == (nopm, tpm):
                draft.warn("the TEST RESULT is there twice")
                return
            draft = self._collector.next_run(line)
            draft.threads_hint = None
        draft.set_result(nopm, tpm, database)
        draft.reopened = False

    def _active(self, line: int, match: re.Match[str]) -> None:
        draft = self._collector.text_run(line)
        if draft.is_over and not draft.reopened:
            draft = self._collector.next_run(line)
        found = match.groupdict()
        users = whole(found.get("active") or found.get("vu"))
        if draft.configured_line and users != draft.threads and not draft.reopened:
            draft = self._collector.next_run(line)
        draft.configured_line = line
        if draft.threads is not None and users != draft.threads:
            draft.warn(f"{draft.threads} virtual users in one place and {users} in another")
        draft.threads = users if draft.threads is None else draft.threads
        if found.get("sessions") is not None:
            draft.extra.setdefault("active_sessions", whole(found["sessions"]))

    def _rampup(self, line: int, match: re.Match[str]) -> None:
        draft = self._collector.text_run(line)
        if (draft.began or draft.has_content) and not draft.reopened:
            draft = self._collector.next_run(line)
        draft.began = True
        draft.benchmark = "tprocc"
        draft.rampup_minutes = minutes(match["rampup"])
        phase_unless_known(draft, WARMUP)

    def _duration(self, line: int, match: re.Match[str]) -> None:
        draft = self._enter(line, MEASUREMENT)
        draft.duration_minutes = minutes(match["duration"])

    def _client_side(self, line: int, match: re.Match[str]) -> None:
        """Take what the clients counted, ramp-up included: the only sum over several databases."""
        counted = self._collector.text_run(line).mapped("client_side_tpm")
        for name, count in re.findall(rf"([a-z]{{1,20}}) ({NUMBER})(?!\S)", match["client"]):
            counted.setdefault(name, number(count))

    def _enter(self, line: int, phase: int) -> Draft:
        draft = self._collector.text_run(line)
        phase_unless_known(draft, phase)
        return draft

    def _created(self, line: int, match: re.Match[str]) -> None:
        self._collector.end_text_run()
        users = whole(match["created"])
        self._expect_users(users - 1 if users and match["monitor"] else users)

    def _users_are_set(self, line: int, match: re.Match[str]) -> None:
        if self._collector.current is not None and self._collector.current.has_content:
            self._collector.end_text_run()
        self._users_set = whole(match["vuset"]) or None
        self._expect_users(self._users_set)

    def _expect_users(self, users: int | None) -> None:
        self._collector.virtual_users = users or None
        draft = self._collector.current
        if draft is not None and not draft.is_more_than_counts:
            draft.threads_hint = users or None

    def _warehouses(self, line: int, match: re.Match[str]) -> None:
        draft = self._collector.text_run(line)
        draft.threads_hint = whole(match["vu_count"])
        draft.extra.setdefault("warehouses", whole(match["warehouses"]))

    # What stands around

    def _log_begins(self, line: int, match: re.Match[str]) -> None:
        draft = self._collector.next_run(line)
        draft.timestamp = match["date"].strip()[:TITLE_MAX]

    def _log_time(self, line: int, match: re.Match[str]) -> None:
        draft = self._collector.current
        if draft is not None:
            draft.extra["log_time"] = match["log_time"].strip()[:TITLE_MAX]

    def _close(self, line: int, match: re.Match[str]) -> None:
        if self._collector.current is not None:
            self._collector.current.closed = True
        if match["close"] == "vudestroy":
            self._collector.virtual_users = self._users_set

    def _failed(self, line: int, match: re.Match[str]) -> None:
        draft = self._collector.current
        if draft is not None:
            failed = draft.extra.get("failed_virtual_users", 0)
            draft.extra["failed_virtual_users"] = failed + 1 if isinstance(failed, int) else 1
            draft.warn("virtual users failed")

    def _error(self, line: int, match: re.Match[str]) -> None:
        draft = self._collector.current
        if draft is not None and len(draft.listed("errors")) < _ERRORS_MAX:
            draft.listed("errors").append(match["error"].strip()[:200])

    def _database_version(self, line: int, match: re.Match[str]) -> None:
        draft = self._collector.text_run(line)
        draft.database_version = draft.database_version or match["db_version"]

    def _database_set(self, line: int, match: re.Match[str]) -> None:
        name = database_name(match["db_set"])
        if self._collector.database != name:
            self._collector.settings.clear()
        self._collector.database = name

    def _benchmark(self, letter: str) -> None:
        self._collector.benchmark = f"tproc{letter.lower()}"

    def _running(self, line: int, match: re.Match[str]) -> None:
        self._benchmark(match["running_bm"])
        self._collector.database = database_name(match["running"])

    def _setting(self, line: int, key: str, value: str) -> None:
        settings = self._collector.settings
        if not _SECRET.search(key) and (key in settings or len(settings) < _SETTINGS_MAX):
            settings[key] = value.strip()[:200]

    def _counters(self, line: int, text: str) -> None:
        rows = text.count(" tpm") + text.count(" qph")
        if rows <= 1 and (match := _COUNTER.search(text.rstrip())) is not None:
            self._counter(line, match)
        elif "Vuser" in text or (rows > 1 and text[:1].isdigit()):
            found = list(_GLUED_COUNTER.finditer(text))
            for glued in found:
                self._counter(line, glued)
            if 0 < len(found) < rows:
                self._collector.problem(line, "a row of the transaction counter is damaged")

    def _cut_counter(self, line: int, text: str) -> None:
        """Note a line that looks like the rows before it, up to where it ends."""
        draft = self._collector.current
        count, _, name = text.strip().partition(" ")
        if draft is not None and name and count.isdigit() and draft.counts.name.startswith(name):
            self._collector.problem(
                line, f"the transaction count is cut: expected 'N {draft.counts.name}'"
            )

    def _counter(self, line: int, match: re.Match[str]) -> None:
        count = number(match["count"])
        if count is None:
            return
        draft = self._collector.text_run(line)
        seconds = seconds_of_date(match["date"] or self.date)
        draft.database = draft.database or database_name(match["db"])
        draft.counts.name = draft.counts.name or f"{match['db']} {match['unit']}"
        draft.benchmark = draft.benchmark or ("tproch" if match["unit"] == "qph" else "")
        if count < 0:
            draft.warn(f"a transaction count of {count:g} cannot be (line {line})")
        if self._collector.has_room(line):
            draft.counts.add(count, math.nan if seconds is None else seconds, draft.phase)

    def _cpu(self, line: int, match: re.Match[str]) -> None:
        draft = self._collector.text_run(line)
        if not self._collector.has_room(line):
            return
        told = [name for name in _CPU_FIGURES if match[name] is not None]
        cut = told[-1] if _has_fewer_decimals(match[told[-1]], match["usr"]) else ""
        if cut:
            self._collector.problem(line, f"the line is cut in the number {match[cut]}")
        for name in told:
            draft.listed(f"cpu_{name}").append(number(match[name]) if name != cut else None)

    # TPROC-H

    def _query_run(self, line: int) -> Draft:
        draft = self._collector.text_run(line)
        is_other = draft.has_result or draft.closed or draft.profile_line
        if is_other and not draft.reopened:
            draft = self._collector.next_run(line)
        draft.benchmark = "tproch"
        return draft

    def _query(self, line: int, match: re.Match[str]) -> None:
        draft = self._query_run(line)
        row = {"query": whole(match["query"]), "seconds": number(match["seconds"])}
        if self._collector.has_room(line):
            draft.listed("queries").append(_with_user(match) | dict(row))

    def _query_sets(self, line: int, match: re.Match[str]) -> None:
        row = {"query_sets": whole(match["sets"]), "seconds": number(match["seconds"])}
        self._aside(line, match, "query_sets", row)

    def _geometric_mean(self, line: int, match: re.Match[str]) -> None:
        row = {"queries_with_rows": whole(match["rows"]), "seconds": number(match["geomean"])}
        self._aside(line, match, "geometric_means", row)

    def _refresh(self, line: int, match: re.Match[str]) -> None:
        row = {"refresh": match["refresh"], "seconds": number(match["seconds"])}
        self._aside(line, match, "refreshes", row)

    def _composite(self, line: int, match: re.Match[str]) -> None:
        found = number(match["qphh"] or match["qphh_first"])
        if found is not None:
            self._query_run(line).extra.setdefault("qphh", found)

    def _aside(self, line: int, match: re.Match[str], name: str, row: Mapping[str, object]) -> None:
        draft = self._query_run(line)
        rows = draft.listed(name)
        if draft.reopened and any(
            isinstance(known, dict) and known.items() >= row.items() for known in rows
        ):
            return
        if len(rows) < _ASIDES_MAX:
            rows.append(_with_user(match) | dict(row))


def _with_user(match: re.Match[str]) -> dict[str, object]:
    """Return the virtual user that a match's line is of."""
    start = match.start()
    users = _VUSER.findall(match.string, max(0, start - 200), start)
    return {"virtual_user": int(users[-1])} if users else {}


def _has_fewer_decimals(last: str, first: str) -> bool:
    """Whether the last number of a row has lost some, where all are printed with as many."""
    return last != "0" and len(last.partition(".")[2]) < len(first.partition(".")[2])
