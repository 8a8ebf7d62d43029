"""HammerDB's time profiles as text: xtprof's report, and etprof's lines of older releases.

    >>>>> SUMMARY OF 4 ACTIVE VIRTUAL USERS : MEDIAN ELAPSED TIME : 119464ms
    >>>>> PROC: NEWORD
    CALLS: 87818 MIN: 0.574ms AVG: 2.625ms MAX: 131.385ms TOTAL: 230497.089ms
    P99: 6.126ms P95: 4.587ms P75: 3.152ms P50: 2.433ms P25: 1.868ms SD: 1.106ms RATIO: 48.236%

Headings and figures are taken in the order of the text, so that tabs, blanks, line ends or nothing
between them are all the same. Figures that have lost their heading are left out: they could be
anybody's. The names are those of HammerDB's own JSON.
"""

import re
from collections.abc import Callable, Mapping

from benchkit.importers.hammerdb_draft import NUMBER, Draft, database_name, number, whole
from benchkit.importers.hammerdb_runs import TITLE_MAX, Collector

VIRTUAL_USERS_MAX = 5000
"""Profiles of single VIRTUAL USERs that are kept of one file."""

_PROCEDURES_MAX = 30
_PROCEDURES = ("NEWORD", "PAYMENT", "DELIVERY", "SLEV", "OSTAT")

_TITLE = re.compile(
    r"(SQL Server|[A-Za-z]\w{0,30})?\s*Hammerdb Time Profile Report\s*@?\s*(.*)", re.I
)
_TOKEN = re.compile(
    rf"VIRTUAL USER\s+(?P<user>\d{{1,7}})\s*:\s*ELAPSED TIME(?:\s*:\s*(?P<ms>{NUMBER})\s*ms)?|"
    rf"SUMMARY OF\s+(?P<users>\d{{1,7}})\s+ACTIVE VIRTUAL USERS"
    rf"(?:.{{0,20}}?ELAPSED TIME\s*:\s*(?P<median_ms>{NUMBER})\s*ms)?|"
    r"(?P<combined>COMBINED METRICS ACROSS ALL USERS)|"
    r"\bPROC\s*:\s*(?P<procedure>[A-Za-z_]\w{0,39}?)(?=CALLS|\W|$)|"
    r"(?P<heading>>>>>>)|"
    r"(?P<label>CALLS|(?<![A-Z])(?:MIN|AVG|MAX|TOTAL|P\d{1,2}(?:\.\d+)?|SD|RATIO))"
    rf"\s*:\s*(?P<value>{NUMBER})\s*(?P<unit>ms|us|s(?!\w)|%)?"
)
_NEEDLE = re.compile("PROC|VIRTUAL USER|CALLS|P99|>>>>>|COMBINED METRICS")
_ROWS = {"CALLS": "MIN", "P99": "P95"}
"""What a row of figures begins with, and what else is in it."""

_MILLISECONDS = {"ms": 1.0, "us": 1e-3, "s": 1e3}
_NAMES = {"CALLS": "calls", "RATIO": "ratio_pct", "SD": "sd"}
_UNITLESS = ("CALLS", "SD")
_ROUNDING = 0.0021

_ET_INTERVAL = re.compile(r"\|PERCENTILES\s+(\S{10} \S{8}) to")
_ET_ROW = re.compile(r"\|\s*(\w{1,40})\s*\|(?=MIN-)")
_ET_FIGURE = re.compile(r"(MIN|P50%|P95%|P99%|MAX|SAMPLES)-(-?\d+(?:\.\d+)?)")
_ET_NAMES = {
    "MIN": "min_us",
    "P50%": "p50_us",
    "P95%": "p95_us",
    "P99%": "p99_us",
    "MAX": "max_us",
    "SAMPLES": "samples",
}
_ET_TOTAL = re.compile(
    r"\|(\w{1,40})\s*\|\s*(\d+)\|\s*([\d.]+)%\|\s*(\d+)\|\s*(\d+)\|\s*(\d+|NOT AVAILABLE)\|"
)
_ET_TOTALS = ["exclusive_us", "ratio_pct", "calls", "avg_us", "cumulative_us"]


Figures = dict[str, float]


class ProfileReader:
    """Reads the lines of time profiles and leaves all others alone."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._draft: Draft | None = None
        self._elapsed_ms: float | None = None
        self._procedures: dict[str, Figures] | None = None
        self._told_before: Mapping[str, Mapping[str, float]] = {}
        self._procedure = ""
        self._figures: Figures | None = None
        self._headless_line = 0
        self._has_units = False
        self._users = 0
        self._rules: tuple[tuple[str, Callable[[int, str], None]], ...] = (
            ("ime Profile Report", self._title),
            ("|PERCENTILES", self._et_interval),
            ("|MIN-", self._et_row),
            ("%|", self._et_total),
        )

    def feed(self, line: int, text: str) -> None:
        """Take what a line says of response times."""
        for needle, read in self._rules:
            if needle in text:
                read(line, text)
        if self._figures is not None or _NEEDLE.search(text) is not None:
            self._tokens(line, text)

    def _title(self, line: int, text: str) -> None:
        match = _TITLE.search(text)
        if match is None:
            return
        draft = self._collector.current
        database = database_name(match[1] or "")
        is_of_other = draft and database and draft.database not in ("", database)
        is_told = draft and (draft.timing or draft.timing_by_vu)
        if draft is None or not draft.has_result or is_told or is_of_other:
            draft = self._collector.next_run(line)
        draft.database = database if not draft.has_result and database else draft.database
        draft.benchmark = "tprocc"
        draft.extra.setdefault("profile_timestamp", match[2].strip()[:TITLE_MAX])
        self._procedures = self._figures = None
        self._headless_line = 0

    def _tokens(self, line: int, text: str) -> None:
        """Take headings and figures in their order."""
        sign = -1
        for match in _TOKEN.finditer(text):
            if sign >= 0 and (match["label"] or match["heading"]):
                self._cut_heading(line, text[sign : match.start()])
            sign = match.end() if match["heading"] else -1
            if match["label"] is not None:
                self._figure(line, match)
            elif match["procedure"] is not None:
                self._begin_procedure(line, match["procedure"].upper())
            elif not match["heading"]:
                self._scope(line, match)
        if sign >= 0:
            self._cut_heading(line, text[sign:])

    # Headings

    def _scope(self, line: int, match: re.Match[str]) -> None:
        draft = self._profiled_run(line)
        self._draft = draft
        self._elapsed_ms = number(match["ms"] or match["median_ms"])
        if self._elapsed_ms is not None:
            self._has_units = True
        elif not match["combined"] and ">>>>>" in match.string:
            self._collector.problem(line, "a heading is cut: expected an elapsed time in ms")
        draft.profile_line = line
        if match["user"] is not None:
            self._open(self._procedures_of_user(draft, match["user"]))
            return
        users = whole(match["users"])
        if users and draft.threads and not draft.threads <= 2 * users <= 2 * draft.threads:
            draft = self._draft = self._other_run(line, draft)
        if not draft.timing:
            draft.profile_users = users
        self._open(draft.timing)
        if users is not None and draft.threads is None:
            draft.threads = users

    def _other_run(self, line: int, draft: Draft) -> Draft:
        """Return a run of its own for a profile that is of too many or too few users."""
        other = self._collector.next_run(line)
        other.database, other.benchmark = draft.database, "tprocc"
        other.timing_by_vu, draft.timing_by_vu = draft.timing_by_vu, {}
        other.profile_line, draft.profile_line = line, 0
        if "profile_timestamp" in draft.extra:
            other.extra["profile_timestamp"] = draft.extra.pop("profile_timestamp")
        return other

    def _open(self, procedures: dict[str, Figures]) -> None:
        """Let figures that follow go to some procedures, unless these were told before."""
        self._told_before = procedures
        self._procedures = {} if procedures else procedures
        self._figures = None

    def _profiled_run(self, line: int) -> Draft:
        """Return the run of a profile; a new one when a second profile begins without title."""
        draft = self._collector.text_run(line)
        if self._headless_line and draft is self._draft:
            self._collector.problem(
                self._headless_line,
                "response times under no heading: expected VIRTUAL USER or SUMMARY before them",
            )
            draft.timing.clear()
        elif draft.timing and self._procedures is draft.timing and not draft.has_result:
            draft = self._collector.next_run(line)
        self._headless_line = 0
        return draft

    def _procedures_of_user(self, draft: Draft, user: str) -> dict[str, Figures]:
        self._users += 1
        if self._users > VIRTUAL_USERS_MAX:
            draft.warn(f"time profiles of more than {VIRTUAL_USERS_MAX} VIRTUAL USERs left out")
            return {}
        return draft.timing_by_vu.setdefault(str(int(user)), {})

    def _begin_procedure(self, line: int, name: str) -> None:
        draft = self._collector.text_run(line)
        if self._procedures is None or draft is not self._draft:
            self._headless_line = 0 if draft.timing else line
            self._draft, self._elapsed_ms = draft, None
            self._open(draft.timing)
        procedures = self._procedures if self._procedures is not None else {}
        if name not in _PROCEDURES and any(known.startswith(name) for known in _PROCEDURES):
            self._lose(line, f"the heading 'PROC: {name}' is cut: expected a procedure's name")
        elif name in procedures:
            self._lose(line, f"a second {name}: expected VIRTUAL USER or SUMMARY before it")
            self._open({})
            self._figures = {}
        elif len(procedures) >= _PROCEDURES_MAX:
            self._figures = {}
        else:
            self._procedure, self._figures = name, procedures.setdefault(name, {})
            if self._elapsed_ms is not None:
                self._figures["elapsed_ms"] = self._elapsed_ms

    def _cut_heading(self, line: int, rest: str) -> None:
        if self._draft is None:
            return
        words = rest.strip()[:40]
        if not words.startswith("PROC"[: len(words)]):
            self._open({})
        self._lose(
            line, f"a heading is cut: expected VIRTUAL USER, SUMMARY or PROC, found {words!r}"
        )

    def _lose(self, line: int, message: str) -> None:
        """Leave out the figures that follow, up to the next heading."""
        self._collector.problem(line, f"the time profile has {message}")
        self._figures = {}

    # Figures

    def _figure(self, line: int, match: re.Match[str]) -> None:
        label, found = match["label"], number(match["value"])
        if self._figures is None and _ROWS.get(label, "?") in match.string:
            self._lose(line, "figures of no procedure: expected PROC before them")
        if self._figures is None or found is None or self._is_cut(line, match):
            return
        name = _NAMES.get(label, f"{label.lower()}_ms")
        if match["unit"] in _MILLISECONDS:
            found = found * _MILLISECONDS[match["unit"]] if match["unit"] != "ms" else found
            name = "sd_ms" if label == "SD" else name
        if self._figures.get(name, found) != found:
            self._lose(line, f"a second {label} of {self._procedure}: expected PROC before it")
        self._figures[name] = found
        self._compare(name, found)
        if label == "RATIO":
            self._figures = None

    def _is_cut(self, line: int, match: re.Match[str]) -> bool:
        """Whether a line ends in a number that has lost its unit, and maybe digits."""
        if match["unit"]:
            self._has_units = True
            return False
        if not self._has_units or match["label"] in _UNITLESS:
            return False
        if match.string[match.end() :].strip(" \t.,"):
            return False
        self._collector.problem(
            line, f"the line ends in {match[0][:40]!r}: expected its unit and the rest of the line"
        )
        return True

    def _compare(self, name: str, found: float) -> None:
        """Note when a profile differs from one that the run has already."""
        if self._draft is None or name == "sd" or self._told_before is self._procedures:
            return
        told = self._told_before.get(self._procedure, {}).get(name)
        if told is not None and abs(told - found) > _ROUNDING:
            self._draft.warn("there are several time profiles; the first was taken")

    # etprof

    def _et_interval(self, line: int, text: str) -> None:
        match = _ET_INTERVAL.search(text)
        if match and self._collector.has_room(line):
            self._collector.text_run(line).listed("etprof_intervals").append(match[1])

    def _et_row(self, line: int, text: str) -> None:
        match = _ET_ROW.search(text)
        if match is None:
            return
        draft = self._collector.text_run(line)
        if not self._collector.has_room(line):
            return
        before = len(draft.listed("etprof_intervals")) - 1
        figures = {
            name: found
            for label, value in _ET_FIGURE.findall(text, match.end())
            if (name := _ET_NAMES[label]) and (found := number(value)) is not None
        }
        for name, found in figures.items():
            column = draft.listed(f"etprof_{match[1].lower()}_{name}")
            # A procedure that was not called in an interval has no row there.
            column.extend([None] * (before - len(column)))
            column.append(found)
        if figures.get("p50_us", 0) < figures.get("min_us", 0):
            draft.warn(f"{match[1]}: a median is below the minimum (line {line})")

    def _et_total(self, line: int, text: str) -> None:
        match = _ET_TOTAL.search(text)
        if match is None:
            return
        totals = self._collector.text_run(line).mapped("etprof_totals")
        if len(totals) < _PROCEDURES_MAX:
            values = dict(zip(_ET_TOTALS, map(number, match.groups()[1:]), strict=True))
            totals[match[1].lower()] = {k: v for k, v in values.items() if v is not None}
