"""HammerDB's time profiles as text: xtprof's report, and etprof's lines of older releases.

    >>>>> SUMMARY OF 4 ACTIVE VIRTUAL USERS : MEDIAN ELAPSED TIME : 119464ms
    >>>>> PROC: NEWORD
    CALLS: 87818 MIN: 0.574ms AVG: 2.625ms MAX: 131.385ms TOTAL: 230497.089ms
    P99: 6.126ms P95: 4.587ms P75: 3.152ms P50: 2.433ms P25: 1.868ms SD: 1.106ms RATIO: 48.236%

Figures are found by their labels, so that tabs, blanks or nothing between them are all the same.
The names are those of HammerDB's own JSON.
"""

import re
from collections.abc import Callable

from benchkit.importers.hammerdb_draft import NUMBER, Draft, database_name, number, whole
from benchkit.importers.hammerdb_runs import TITLE_MAX, Collector

VIRTUAL_USERS_MAX = 5000
"""Profiles of single VIRTUAL USERs that are kept of one file."""

_PROCEDURES_MAX = 30

_TITLE = re.compile(r"([A-Za-z][\w ]{0,30}?)?\s*Hammerdb Time Profile Report\s*@?\s*(.*)", re.I)
_SCOPE = re.compile(
    r"VIRTUAL USER\s+(?P<user>\d{1,7})\s*:\s*ELAPSED TIME|"
    r"SUMMARY OF\s+(?P<users>\d{1,7})\s+ACTIVE VIRTUAL USERS|"
    r"(?P<combined>COMBINED METRICS ACROSS ALL USERS)"
)
_ELAPSED = re.compile(rf"ELAPSED TIME\s*:\s*({NUMBER})\s*ms")
_PROCEDURE = re.compile(r"\bPROC\s*:\s*([A-Za-z_]\w{0,39})")
_FIGURE = re.compile(
    rf"(CALLS|MIN|AVG|MAX|TOTAL|P\d{{1,2}}(?:\.\d+)?|SD|RATIO)\s*:\s*({NUMBER})"
    r"\s*(ms|us|s(?!\w)|%)?"
)
_MILLISECONDS = {"ms": 1.0, "us": 1e-3, "s": 1e3}
_NAMES = {"CALLS": "calls", "RATIO": "ratio_pct", "SD": "sd"}

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


class ProfileReader:
    """Reads the lines of time profiles and leaves all others alone."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._draft: Draft | None = None
        self._elapsed_ms: float | None = None
        self._procedures: dict[str, dict[str, float]] | None = None
        self._figures: dict[str, float] | None = None
        self._users = 0
        self._rules: tuple[tuple[str, Callable[[int, str], None]], ...] = (
            ("ime Profile Report", self._title),
            ("VIRTUAL USER", self._scope),
            ("COMBINED METRICS", self._scope),
            ("PROC", self._procedure),
            ("|PERCENTILES", self._et_interval),
            ("|MIN-", self._et_row),
            ("%|", self._et_total),
        )

    def feed(self, line: int, text: str) -> None:
        """Take what a line says of response times."""
        for needle, read in self._rules:
            if needle in text:
                read(line, text)
        if self._figures is not None:
            self._row(text)

    def _title(self, line: int, text: str) -> None:
        match = _TITLE.search(text)
        if match is None:
            return
        draft = self._collector.current
        if draft is None or not draft.has_result or draft.timing or draft.timing_by_vu:
            draft = self._collector.next_run(line)
        draft.database = draft.database or database_name(match[1] or "")
        draft.benchmark = "tprocc"
        draft.extra.setdefault("profile_timestamp", match[2].strip()[:TITLE_MAX])
        self._procedures = self._figures = None

    def _scope(self, line: int, text: str) -> None:
        match = _SCOPE.search(text)
        if match is None:
            return
        draft = self._profiled_run(line)
        self._draft = draft
        elapsed = _ELAPSED.search(text)
        self._elapsed_ms = number(elapsed[1]) if elapsed else None
        self._figures = None
        if match["user"] is not None:
            self._procedures = self._procedures_of_user(draft, match["user"])
            draft.profile_line = line
            return
        self._procedures = draft.timing
        draft.profile_line = line
        if match["users"] is not None and draft.threads is None:
            draft.threads = whole(match["users"])
        elif match["users"] is not None and draft.threads != whole(match["users"]):
            draft.warn(f"the time profile is of {match['users']} VIRTUAL USERs")

    def _profiled_run(self, line: int) -> Draft:
        """Return the run of a profile; a new one when a second profile begins without title."""
        draft = self._collector.text_run(line)
        if draft.timing and self._procedures is draft.timing and not draft.has_result:
            draft = self._collector.next_run(line)
        return draft

    def _procedures_of_user(self, draft: Draft, user: str) -> dict[str, dict[str, float]]:
        self._users += 1
        if self._users > VIRTUAL_USERS_MAX:
            draft.warn(f"time profiles of more than {VIRTUAL_USERS_MAX} VIRTUAL USERs left out")
            return {}
        return draft.timing_by_vu.setdefault(str(int(user)), {})

    def _procedure(self, line: int, text: str) -> None:
        match = _PROCEDURE.search(text)
        if match is None:
            return
        draft = self._collector.text_run(line)
        if self._procedures is None or draft is not self._draft:
            self._draft, self._procedures, self._elapsed_ms = draft, draft.timing, None
        name = match[1].upper()
        if name not in self._procedures and len(self._procedures) >= _PROCEDURES_MAX:
            self._figures = None
            return
        self._figures = self._procedures.setdefault(name, {})
        if self._elapsed_ms is not None:
            self._figures.setdefault("elapsed_ms", self._elapsed_ms)

    def _row(self, text: str) -> None:
        figures = {} if self._figures is None else self._figures
        for label, value, unit in _FIGURE.findall(text):
            found = number(value)
            if found is None:
                continue
            name = _NAMES.get(label, f"{label.lower()}_ms")
            if unit in _MILLISECONDS:
                found = found * _MILLISECONDS[unit] if unit != "ms" else found
                name = "sd_ms" if label == "SD" else name
            figures.setdefault(name, found)

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
        figures = {
            name: found
            for label, value in _ET_FIGURE.findall(text, match.end())
            if (name := _ET_NAMES[label]) and (found := number(value)) is not None
        }
        for name, found in figures.items():
            draft.listed(f"etprof_{match[1].lower()}_{name}").append(found)
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
