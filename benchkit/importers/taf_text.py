"""The framework's text report of one run series, and the readme of one iteration."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchkit.importers.model import Imported, ImportFormatError, Problem, Problems
from benchkit.importers.source import Line
from benchkit.importers.taf_names import (
    MISSING,
    finite,
    limited,
)
from benchkit.importers.taf_results import Entry, imported
from benchkit.spread import describe_iterations

_SECTION = re.compile(r"={3,} *(\S.*?) *={3,}|-{2,3} *(\S.*?) *-{2,3}")
_LABELLED = re.compile(r"([A-Za-z][\w /()-]{0,40}?) *: *(.*)")
_ITERATION = re.compile(r"Thread Count: *(\S+) *\| *Iteration: *(\S+)")
_SUMMARY = re.compile(r"Summary for Thread Count: *(\d{1,7})")
_PRIMARY = re.compile(r"(\S+): *(\S+)")
_ADDITIONAL = re.compile(r"(\S+) +(\S+)(?: +(\S+))?")
_GLUED = re.compile(r"(\w{0,60}[A-Za-z_]) *(-?\d[\d.,]*) *([A-Za-z/%]*)")
_FIGURE = r" *(-?\d[\d.,]*)"
_TOTALS = re.compile(rf"(\S+?) *Count:{_FIGURE} *Min:{_FIGURE} *Max:{_FIGURE} *Avg:{_FIGURE}")
_TOTALS_BEGIN = re.compile(r"\w+(?:\s+Cou?n?t?:?.*)?|.*\bCount:.*")
_CONFIG_SECTIONS = ("Config Contents", "DB Config")
_METADATA_ENDS = ("Metrics", "Additional Metrics")
_NAMES = {
    "maker": "database_maker",
    "install_dir": "db_install_dir",
    "under_test": "database_under_test",
    "engine": "database_eng",
    "db_version": "database_version",
    "config_file": "db_config_file",
    "db_config_run_file": "db_config_run_file",
    "suite_version": "test_suite_version",
    "start_time": "time_of_test",
    "test_case_tag": "test_case_tag",
    "generated_properties_file": "generated_properties_file",
    "autogen_prop_file": "generated_properties_file",
    "full_command_line": "taf_commandline",
    "command_line": "taf_commandline",
}
_ROUNDING = 0.00501
_README_MARKS = ("Date of Test", "Time of Test", "Test Suite", "Test Name", "Database Maker")
_README_END = "_EOF_"
_CONFIG_START, _CONFIG_END = "[db_config_start]", "[db_config_end]"
_SECRET = re.compile(r"pass(word|wd)?", re.IGNORECASE)


@dataclass(slots=True)
class _Summary:
    """A line of the summaries, kept until the iterations are known."""

    line: int
    series: str
    threads: int
    name: str
    figures: tuple[float | None, ...]


@dataclass(slots=True)
class _Text:
    """A text report while it is read.

    Of the iteration that is read, `names` are its metrics; `is_lost` is set behind where an
    iteration's line is missing.
    """

    problems: list[Problem]
    section: str = ""
    is_report: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    config: list[str] = field(default_factory=list)
    reports: int = 0
    names: set[str] = field(default_factory=set)
    is_lost: bool = False
    entries: list[Entry] = field(default_factory=list)
    summaries: list[_Summary] = field(default_factory=list)
    summary_threads: int = 0


def parse_text(lines: Iterable[Line], *, lenient: bool = False, name: str = "") -> Imported:
    """Read the text report of one run series; its summaries are only compared."""
    problems = Problems(lenient)
    text = _Text(problems)
    for line in limited(lines, problems):
        _read(text, line)
    if not text.is_report:
        raise ImportFormatError("expected a line '=== Performance Report: <test> ==='")
    _check(text)
    return imported("taf text", text.entries, problems)


def _read(text: _Text, line: Line) -> None:
    plain = line.text.strip()
    section = _SECTION.fullmatch(plain)
    iteration = _ITERATION.fullmatch(plain)
    if section:
        _start_section(text, section[1] or section[2])
    elif iteration:
        _start_iteration(text, line.number, iteration)
    elif not plain or plain.startswith("```"):
        return
    elif text.section in _CONFIG_SECTIONS:
        text.config.append(plain)
    elif text.summary_threads:
        _read_summary(text, line.number, plain)
    elif text.section in _METADATA_ENDS:
        _read_metric(text, line, plain)
    else:
        _read_label(text.metadata, plain)


def _start_iteration(text: _Text, number: int, found: re.Match[str]) -> None:
    """Begin an iteration; a line that comes twice begins one."""
    text.is_report = True
    text.is_lost = False
    text.names = set()
    text.section = _METADATA_ENDS[0]
    entry = Entry(
        number,
        text.metadata,
        found[1],
        found[2],
        config=text.config or None,
        series=str(text.reports),
    )
    before = text.entries[-1] if text.entries else None
    if before and not before.metrics:
        if (before.threads, before.iteration) == (entry.threads, entry.iteration):
            text.entries.pop()
        else:
            text.problems.append(Problem(before.line, "the iteration has no metric"))
    text.entries.append(entry)


def _start_section(text: _Text, title: str) -> None:
    report = title.startswith("Performance Report")
    summary = _SUMMARY.fullmatch(title)
    text.is_report = text.is_report or report
    text.summary_threads = int(summary[1]) if summary else 0
    text.section = title
    if report:
        text.metadata, text.config = {}, []
        text.reports += 1


def _read_label(metadata: dict[str, str], plain: str) -> None:
    found = _LABELLED.fullmatch(plain)
    if not found or found[2] in MISSING or _SECRET.search(found[1]):
        return
    key = re.sub(r"[\s-]+", "_", found[1].strip().lower())
    metadata.setdefault(_NAMES.get(key, key), found[2].strip())


def _read_metric(text: _Text, line: Line, plain: str) -> None:
    is_primary = text.section == _METADATA_ENDS[0]
    found = (_PRIMARY if is_primary else _ADDITIONAL).fullmatch(plain)
    if not is_primary and (not found or finite(found[2]) is None):
        found = _GLUED.fullmatch(plain) or found
    if not found or not text.entries:
        text.problems.append(Problem(line.number, f"expected a metric, found {plain[:40]!r}"))
        return
    if not line.whole and plain.endswith(found[2]):
        text.problems.append(Problem(line.number, f"the file ends in the number of {found[1]}"))
        return
    unit = "" if is_primary else found[3] or ""
    metric = found[1], found[2], unit, "primary" if is_primary else "additional"
    metrics = text.entries[-1].metrics
    if not text.is_lost and metrics[-1:] != [metric]:
        if found[1].endswith(":") or found[1] in text.names:
            message = f"a second {found[1]}: expected 'Thread Count: ...' before it"
            text.problems.append(Problem(line.number, message))
            text.is_lost = finite(found[2]) is not None  # a warning in between loses nothing
            return
        metrics.append(metric)
        text.names.add(found[1])


def _read_summary(text: _Text, number: int, plain: str) -> None:
    found = _TOTALS.fullmatch(plain)
    if found:
        figures = tuple(finite(figure) for figure in found.groups()[1:])
        series = str(text.reports)
        text.summaries.append(_Summary(number, series, text.summary_threads, found[1], figures))
    elif _TOTALS_BEGIN.fullmatch(plain) and _is_metric(text, plain):
        text.problems.append(Problem(number, f"expected a summary's line, found {plain[:40]!r}"))
    # Else it is what stands behind the report: a prompt, the text around it


def _is_metric(text: _Text, plain: str) -> bool:
    """Whether a line names a metric of the iterations, or begins to."""
    names = [name for entry in text.entries[-1:] for name, *_ in entry.metrics]
    word = re.split(r"\s|Count:", plain, maxsplit=1)[0]
    return "Count:" in plain or any(name.startswith(word) for name in names)


def _check(text: _Text) -> None:
    """Compare the summaries with what the iterations give."""
    _drop_cut(text)
    values: dict[tuple[str, str, str], list[float]] = {}
    for entry in text.entries:
        for name, value, _, _ in entry.metrics:
            figure = finite(value)
            if figure is not None:
                key = entry.series, str(entry.threads), name
                values.setdefault(key, []).append(figure)
    told = {(summary.series, str(summary.threads)) for summary in text.summaries}
    whole = {key[:2]: None for key in values if key[:2] not in told}
    for _, threads in whole:
        message = f"the report breaks off: no summary for thread count {threads}"
        text.problems.append(Problem(0, message))
    spreads = {key: describe_iterations(found) for key, found in values.items()}
    nothing = describe_iterations([])
    bounds: dict[tuple[str, str, str], tuple[float, float]] = {}
    for summary in text.summaries:
        key = summary.series, str(summary.threads), summary.name
        spread = spreads.get(key, nothing)
        if (found := _bounds(summary, spread.mean)) is not None:
            bounds.setdefault(key, found)
        given = (float(spread.n), spread.minimum, spread.maximum, spread.mean)
        for what, printed, value in zip(
            ("Count", "Min", "Max", "Avg"), summary.figures, given, strict=True
        ):
            if printed is None or not abs(printed - value) <= _ROUNDING + 1e-9 * abs(value):
                text.problems.append(
                    Problem(
                        summary.line,
                        f"{summary.threads} threads: {what} of {summary.name} is printed as "
                        f"{printed}, the iterations give {value:.2f}",
                    )
                )
    _drop_foreign(text, bounds)


def _drop_cut(text: _Text) -> None:
    """Drop metrics whose line ends in the number, where others of the name have a unit behind."""
    units = {name: unit for entry in text.entries for name, _, unit, _ in entry.metrics if unit}
    for entry in text.entries:
        whole = []
        for name, value, unit, kind in entry.metrics:
            if unit or kind == "primary" or name not in units:
                whole.append((name, value, unit, kind))
            else:
                message = f"{name} lacks its unit, {units[name]}: its number may be cut"
                text.problems.append(Problem(entry.line, message))
        entry.metrics = whole


def _bounds(summary: _Summary, mean: float) -> tuple[float, float] | None:
    """Return the bounds of a summary whose figures agree, where the iterations' mean does not."""
    _, low, high, told = summary.figures
    if low is None or high is None or told is None or not low <= told <= high:
        return None
    if abs(mean - told) <= _ROUNDING + 1e-9 * abs(told):
        return None
    return low - _ROUNDING, high + _ROUNDING


def _drop_foreign(text: _Text, bounds: Mapping[tuple[str, str, str], tuple[float, float]]) -> None:
    """Drop values that are not within the bounds of their summary: they are none of its own."""
    for entry in text.entries if bounds else ():
        kept = []
        for metric in entry.metrics:
            low, high = bounds.get(
                (entry.series, str(entry.threads), metric[0]), (-math.inf, math.inf)
            )
            value = finite(metric[1])
            if value is None or low <= value <= high:
                kept.append(metric)
        entry.metrics = kept


# Readme


def parse_readme(lines: Iterable[Line], *, lenient: bool = False, name: str = "") -> Imported:
    """Read the facts of one iteration's ``readme.txt``; it holds no metrics."""
    problems = Problems(lenient)
    metadata: dict[str, str] = {}
    properties: list[str] = []
    config: list[str] = []
    ended = in_config = False
    for line in limited(lines, problems):
        plain = line.text.strip()
        ended = ended or plain == _README_END
        if plain in (_CONFIG_START, _CONFIG_END):
            in_config = plain == _CONFIG_START
        elif in_config:
            config.append(plain)
        elif re.match(r"\w+\.\w+ *=", plain):
            properties.append(re.sub(r" *= *", "=", plain, count=1))
        else:
            _read_label(metadata, plain)
    if sum(_key(mark) in metadata for mark in _README_MARKS) < 2:
        raise ImportFormatError("expected lines such as 'Test Suite: ...' and 'Test Name: ...'")
    if not ended:
        problems.append(Problem(0, f"the file breaks off: no line {_README_END!r}"))
    metadata["taf_commandline"] = " ".join([metadata.get("taf_commandline", ""), *properties])
    entry = Entry(
        1, metadata, metadata.get("threads"), metadata.get("iteration"), [], config or None
    )
    return imported("taf readme", [entry], problems)


def _key(label: str) -> str:
    return label.lower().replace(" ", "_")
