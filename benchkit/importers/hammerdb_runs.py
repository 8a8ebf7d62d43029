"""Which run a piece of a HammerDB file belongs to.

One file may hold several runs, one run may be told several times (its log, its job's result, its
time profile), and a log says where a run begins but not always where it ends.
"""

import re
from collections.abc import Iterator, Mapping

from benchkit.importers.hammerdb_counts import UNKNOWN
from benchkit.importers.hammerdb_draft import (
    Draft,
    imported_run,
    number,
    threads,
    workload,
)
from benchkit.importers.model import ImportedRun, Problem, Problems

JOB_ID = r"[0-9A-F]{24}"
"""HammerDB's job ids."""

TITLE_MAX = 80
"""Characters that are kept of names found in a file."""

ROWS_MAX = 400_000
"""Rows of any kind that are kept of one file: counters, queries, a computer's load."""

_MEASURED = (
    "nopm", "tpm", "tproch_", "timing", "queries", "query_sets", "geometric_means", "qphh",
    "refreshes", "etprof_",
)  # fmt: skip
_RUNS_MAX = 10_000
_VIRTUAL_USERS_IN_NAME = re.compile(
    r"(?<![a-z0-9])(\d{1,5})[-_ ]?vus?(?![a-z])|(?<![a-z])vus?[-_ ]?(\d{1,5})(?!\d)", re.IGNORECASE
)


class Collector:
    """The runs found so far, in the order of the file.

    Parameters
    ----------
    lenient : bool
        Whether problems are listed; otherwise the first is raised.

    Attributes
    ----------
    current : Draft or None
        The run that log text is about.
    job : str
        The job that was mentioned last.
    version, database, benchmark : str
        What banners and settings said last.
    settings : dict
        Options that were set, which hold for the runs that follow.
    problems : Problems
    started : dict
        What began a run that nothing was told of yet, and in which line.
    """

    def __init__(self, lenient: bool) -> None:
        self.current: Draft | None = None
        self.job = ""
        self.version = ""
        self.database = ""
        self.benchmark = ""
        self.virtual_users: int | None = None
        self.settings: dict[str, str] = {}
        self.problems = Problems(lenient)
        self.started: dict[str, int] = {}
        self._left_out: list[int] = []
        self._drafts: list[Draft] = []
        self._jobs: dict[str, Draft] = {}
        self._versions: set[str] = set()
        self._rows = 0
        self._begun = 0

    def problem(self, line: int, message: str) -> None:
        """Note what could not be read, or raise it.

        Raises
        ------
        ImportFormatError
        """
        self.problems.append(Problem(line, message))

    def has_room(self, line: int) -> bool:
        """Whether one more row can be kept; that one cannot is noted once."""
        self._rows += 1
        if self._rows == ROWS_MAX + 1:
            self.problem(line, f"more than {ROWS_MAX} rows: the rest is left out")
        return self._rows <= ROWS_MAX

    def see_version(self, version: str) -> None:
        """Take the release a banner names, for this and the following runs."""
        self.version = version
        self._versions.add(version)
        if self.current is not None and not self.current.has_result:
            self.current.version = version

    def text_run(self, line: int) -> Draft:
        """Return the run that log text is about; a new one if there is none."""
        if self.current is None:
            self.current = self._new(line)
        return self.current

    def next_run(self, line: int) -> Draft:
        """Return a new run that log text is about."""
        self.current = self._new(line)
        return self.current

    def end_text_run(self) -> None:
        """Let the next text begin a run, if what there is has come to its end."""
        draft = self.current
        if draft is not None and (
            draft.closed or draft.began or draft.has_content or draft.configured_line
        ):
            self.current = None
            if draft.has_content:
                self.started.clear()

    def start(self, line: int, what: str) -> None:
        """Note that a run was started: what is told next is of another run."""
        if self.current is not None and self.current.has_content:
            self.started.clear()
        elif what in self.started and not (self.current and self.current.began):
            self._left_out.append(self.started[what])
            self.started.clear()
        self.end_text_run()
        self.started.setdefault(what, line)

    def see_job(self, job: str) -> None:
        """Take the id of the job that the following documents are about."""
        self.job = job

    def name_text_run(self, job: str) -> None:
        """Take the id that HammerDB gives the run whose log has just ended."""
        self.job = job
        draft = self.current
        if draft is None or draft.job:
            return
        known = self._jobs.setdefault(job, draft)
        draft.job = job
        if known is not draft:
            known.absorb(draft)
            draft.no_result = True
            self.current = known

    def job_run(self, line: int, job: str = "") -> Draft:
        """Return the run of a job; without an id, of the one mentioned last."""
        job = job or self.job
        if job and job in self._jobs:
            self.started.clear()
            if (unnamed := self._unnamed()) is not None:
                self._jobs[job].absorb(unnamed)
                unnamed.no_result = True
            return self._jobs[job]
        if not job:
            draft = self.text_run(line)
            draft.is_of_document = True
            return draft
        self.started.clear()
        draft = self._unnamed() or self._new(line)
        draft.job = job
        if self._begun <= _RUNS_MAX:
            self._jobs[job] = draft
        return draft

    def forget_job(self) -> None:
        """Let documents that follow be of a job that is named after them."""
        self.job = ""
        self.current = None

    def _unnamed(self) -> Draft | None:
        """Return the run that documents told of before one of them says which job it is."""
        draft = self.current
        is_told = draft is None or draft.job or draft.has_result or draft.began
        if draft is None or is_told or not draft.is_of_document:
            return None
        self.current = None
        return draft

    def reopen(self, line: int) -> Draft:
        """Let log text that follows be about the job mentioned last."""
        draft = self.job_run(line)
        draft.reopened = True
        self.current = draft
        return draft

    def _new(self, line: int) -> Draft:
        draft = Draft(line, version=self.version)
        self._begun += 1
        if self._begun > _RUNS_MAX:
            if self._begun == _RUNS_MAX + 1:
                self.problem(line, f"more than {_RUNS_MAX} runs: the rest is left out")
            return draft
        for key, value in self.settings.items():
            draft.set_config(key, value)
        draft.database, draft.benchmark = self.database, self.benchmark
        draft.threads_hint = self.virtual_users
        self._drafts.append(draft)
        return draft

    def runs(self, name: str) -> tuple[ImportedRun, ...]:
        """Return what was found, complete.

        Parameters
        ----------
        name : str
            The file's, which may tell the number of virtual users.
        """
        drafts = self._kept()
        if len(drafts) == 1 and threads(drafts[0]) is None:
            drafts[0].threads_hint = _virtual_users_in_name(name)
        only = next(iter(self._versions)) if len(self._versions) == 1 else "unknown"
        databases = _datasets(drafts)
        counted: dict[tuple[object, ...], int] = {}
        found = []
        for draft, dataset in zip(drafts, databases, strict=True):
            version = draft.version or only
            cell = (dataset, workload(draft, version), threads(draft))
            counted[cell] = counted.get(cell, 0) + 1
            found.append(imported_run(draft, dataset, version, counted[cell]))
            if not _has_value(found[-1]):
                self.problem(
                    draft.line, "the run has no value: expected a result or response times"
                )
        return tuple(found)

    def _kept(self) -> list[Draft]:
        """Return the drafts that are runs; note the ones that are not."""
        self._check_end()
        _join_tellings(self._drafts)
        _order_profiles(self._drafts)
        drafts = [draft for draft in _without_stray_users(self._drafts) if not draft.no_result]
        has_more_than_counts = any(draft.is_more_than_counts for draft in drafts)
        kept: list[Draft] = []
        asides = [f"a run started in line {line} gave no result" for line in self._left_out[:100]]
        query_sets: list[object] = []
        for draft in drafts:
            self._check_profile(draft)
            self._check_result(draft)
            if draft.began and not draft.has_result and draft is not drafts[-1]:
                asides.append(f"a run begun in line {draft.line} gave no result and was left out")
            elif has_more_than_counts and draft.has_only_query_sets:
                query_sets.extend(draft.listed("query_sets"))
            elif self._is_run(draft, has_more_than_counts):
                kept.append(draft)
                _tell(draft, asides, query_sets)
        if kept:
            _tell(kept[-1], asides, query_sets)
        return kept

    def _check_result(self, draft: Draft) -> None:
        """Note a run that came to its end, where its result is what is printed next."""
        if draft.configured_line and not draft.has_result:
            users = f"the run of {draft.threads} virtual users"
            self.problem(draft.configured_line, f"{users} has no result: expected a TEST RESULT")

    def _is_run(self, draft: Draft, has_more_than_counts: bool) -> bool:
        if draft.began and not draft.has_result:
            self.problem(draft.line, "the run has no end: expected a TEST RESULT")
            draft.warn("the log breaks off before the TEST RESULT")
            return True
        if draft.has_content or any(name.startswith("etprof_") for name in draft.extra):
            return True
        is_counters_own = bool(draft.timestamp or draft.job or not has_more_than_counts)
        return bool(draft.counts.values) and is_counters_own

    def _check_end(self) -> None:
        """Note a run that was started, and of which the file then says nothing."""
        draft = self.current
        if not self.started or draft is not None and (draft.has_content or draft.began):
            return
        told = (each for each in self._drafts if not each.no_result)
        if not any(each.has_content or each.counts.values for each in told):
            return
        what, line = min(self.started.items(), key=lambda item: item[1])
        self.problem(line, f"{what!r} has no result: expected a TEST RESULT before the file's end")

    def _check_profile(self, draft: Draft) -> None:
        """Note what a time profile in text form lacks, which has the same figures everywhere."""
        if not draft.profile_line:
            return
        if not draft.timing:
            self.problem(draft.profile_line, "the time profile breaks off: expected its SUMMARY")
            draft.warn("the time profile breaks off before its summary")
        sections = {"SUMMARY": draft.timing} if draft.timing else {}
        sections |= {f"VIRTUAL USER {user}": each for user, each in draft.timing_by_vu.items()}
        usual = {"calls", "p99_ms"}.union(*(f for each in sections.values() for f in each.values()))
        usual -= {"elapsed_ms", "sd", "sd_ms"}
        for section, procedures in sections.items():
            for procedure, figures in procedures.items():
                if lost := usual - figures.keys():
                    self._cut_profile(draft, f"{procedure} ({section})", lost)
                    _drop_cut_count(figures)
        by_user = {name for each in draft.timing_by_vu.values() for name in each}
        if draft.timing and (lost := by_user - draft.timing.keys()):
            self._cut_profile(draft, "its SUMMARY", lost)

    def _cut_profile(self, draft: Draft, what: str, lost: set[str]) -> None:
        names = ", ".join(name.removesuffix("_ms").upper() for name in sorted(lost))
        self.problem(
            draft.profile_line, f"the time profile of {what} is cut: expected {names[:80]}"
        )
        draft.warn(f"the time profile of {what} is cut")


def _drop_cut_count(figures: dict[str, float]) -> None:
    """Drop a figure without unit that ended a row, where it may have lost digits."""
    if "min_ms" not in figures:
        figures.pop("calls", None)
    if "ratio_pct" not in figures:
        figures.pop("sd", None)


def _has_value(run: ImportedRun) -> bool:
    """Whether anything that was measured is in a run, be it impossible."""
    measured = (value for name, value in run.extra.items() if name.startswith(_MEASURED))
    return bool(run.metrics or run.series) or any(map(_has_number, measured))


def _has_number(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_number, value.values()))
    if isinstance(value, list):
        return any(map(_has_number, value))
    return isinstance(value, int | float)


def _tell(draft: Draft, asides: list[str], query_sets: list[object]) -> None:
    """Add to a run what stood in front of it (behind it, for the last) and is no run itself."""
    for message in asides:
        draft.warn(message)
    if query_sets:
        draft.extra.setdefault("tproch_query_sets", list(query_sets))
    asides.clear()
    query_sets.clear()


def _join_tellings(drafts: list[Draft]) -> None:
    """Make one run of a log's that names no job and a job's whose result is the very same."""
    told = [draft for draft in drafts if draft.nopm and draft.tpm and not draft.no_result]
    logged = {_result(draft): draft for draft in told if not draft.job}
    for draft in told:
        log = logged.get(_result(draft)) if draft.job else None
        if log is not None and (None in (users := {log.threads, draft.threads}) or len(users) < 2):
            log.absorb(draft)
            log.job, draft.no_result = draft.job, True
            del logged[_result(draft)]


def _result(draft: Draft) -> tuple[float | None, float | None]:
    return draft.nopm, draft.tpm


def _order_profiles(drafts: list[Draft]) -> None:
    """Give the runs of as many users their time profiles in order, where there are as many.

    Profiles may stand in a file of their own, which is often printed after all runs.
    """
    profiled = [draft for draft in drafts if draft.profile_users]
    runs_of: dict[int | None, list[Draft]] = {}
    for draft in drafts if profiled else ():
        if draft.has_result:
            runs_of.setdefault(threads(draft), []).append(draft)
    for users in sorted({draft.profile_users or 0 for draft in profiled}):
        told = [draft for draft in profiled if draft.profile_users == users]
        runs = runs_of.get(users, [])
        names = {draft.database for draft in (*told, *runs)} - {""}
        if len(runs) == len(told) and len(names) < 2:
            _swap_profiles(runs, told)
    for draft in profiled:
        is_empty = not (draft.has_content or draft.began or draft.counts.values)
        draft.no_result = draft.no_result or is_empty
        if draft.profile_users not in (None, threads(draft)):
            draft.warn(f"the time profile is of {draft.profile_users} VIRTUAL USERs")


def _swap_profiles(runs: list[Draft], told: list[Draft]) -> None:
    for i, run in enumerate(runs):
        holder = told[i]
        if holder is not run:
            run.swap_profile(holder)
            told = [holder if each is run else each for each in told]


def _without_stray_users(drafts: list[Draft]) -> Iterator[Draft]:
    """Give each "Active Virtual Users" that stands behind the results to its result."""
    waiting: list[Draft] = []
    strays: list[Draft] = []
    for draft in [*drafts, Draft(0)]:
        if draft.threads is not None and not (draft.began or draft.is_more_than_counts):
            strays.append(draft)
            continue
        if len(strays) == len(waiting):
            for result, stray in zip(waiting, strays, strict=True):
                result.threads = stray.threads
        else:
            yield from strays
        waiting = waiting if not strays and draft.has_result else []
        strays = []
        if draft.has_result and draft.threads is None:
            waiting.append(draft)
        if draft.line:
            yield draft


def _datasets(drafts: list[Draft]) -> list[str]:
    """Return a dataset's name for each run: the database, with its version where they differ."""
    versions: dict[str, set[str]] = {}
    for draft in drafts:
        versions.setdefault(draft.database, set()).add(draft.database_version)
    names = []
    for draft in drafts:
        several = len(versions[draft.database] - {""}) > 1
        version = draft.database_version if several else ""
        names.append(" ".join(filter(None, (draft.database or "unknown", version))))
    return names


def _virtual_users_in_name(name: str) -> int | None:
    found = {int(a or b) for a, b in _VIRTUAL_USERS_IN_NAME.findall(name)}
    return found.pop() if len(found) == 1 else None


def phase_unless_known(draft: Draft, phase: int) -> None:
    """Set the phase of what follows; phases never go back."""
    if draft.phase == UNKNOWN or draft.phase < phase:
        draft.phase = phase


def minutes(text: str) -> float | None:
    """Return a number of minutes, or None where the text cannot be one."""
    found = number(text)
    return found if found is not None and 0 <= found <= 1e6 else None
