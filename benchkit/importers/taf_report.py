"""Comparison reports of the framework, as text that was copied out of a browser.

Reads both layouts: columns with TABs, and columns without anything between them. Values come
from the iteration rows; the printed statistics are only compared with what these give. A second,
de-duplicated copy of an information table is skipped.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from benchkit.importers import taf_cells, taf_config
from benchkit.importers.model import Imported, ImportedRun, ImportFormatError, Problem, Problems
from benchkit.importers.source import Line
from benchkit.importers.taf_columns import COPIES, Column, flagged, runs_of, without_copies
from benchkit.importers.taf_names import (
    DATABASE,
    RUNS_MAX,
    SUITE,
    SYSTEM,
    TEST,
    is_cut,
    limited,
    metric_of,
    own_name,
)
from benchkit.spread import Spread, describe_iterations

FORMAT = "taf report"

_HEADINGS = (
    ("comparison", re.compile(r"Comparison: *(\S.*)")),
    ("info", re.compile(r"(System|Database|Test) Info \(per dataset\)")),
    ("threads", re.compile(r"Thread Count: *(\d{1,7})")),
    ("host", re.compile(r"(Host) Details")),
    ("queries", re.compile(r"(Query Comparison Table|Actual Query Times\b.*)")),
)
_SECTIONS = ("System", "Database", "Test")
_CLUTTER = re.compile(r"^[#>*\s]+|[*\s]+$")
_BY_THREAD_COUNT = re.compile(r"(\S+) by Thread Count\b(?: - (\S+)(?: on \S+)?$)?")
_HEADERS = ("Threads", "Property", "Metric")
_DIFF = "Diff"
_STATISTICS = {
    "Mean": "mean",
    "Max": "maximum",
    "Min": "minimum",
    "StdDev": "sd",
    "CoV": "cov",
    "Median (p50)": "median",
    "p95": "p95",
    "p99": "p99",
    "Skewness": "skewness",
}
_Printed = dict[str, tuple[int, list[float | None]]]
"""Statistics that are printed: by label, line and columns."""

_LABELS = sorted((*SYSTEM.values(), *DATABASE.values(), *TEST.values(), *SUITE), key=len)[::-1]
_CONFIG = "Config Contents"
_THREADS = re.compile(r"\d{1,7}")
_ITERATION = re.compile(r"Iteration (\d{1,4})$")
_COLUMNS_MAX = 1000
_HEAD_MAX = 8
_HALF_CENT = 0.005
_SLACK = 1e-6


@dataclass(slots=True)
class _Block:
    """Lines below one heading."""

    kind: str
    value: str
    line: int
    rows: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class _Report:
    """One report while it is read."""

    title: str
    comment: str
    blocks: list[_Block]
    metric: str
    columns: list[Column]
    problems: list[Problem]

    def problem(self, line: int, message: str) -> None:
        self.problems.append(Problem(line, message))


def sniff(head: list[str], name: str) -> float:
    """Tell how much the first lines look like a comparison report."""
    kinds = {kind for text in head for kind, _ in [_heading(text)] if kind}
    return min(
        1.0, 0.5 * len(kinds) + (0.2 if any("(per dataset)" in text for text in head) else 0)
    )


def parse(lines: Iterable[Line], *, lenient: bool = False, name: str = "") -> Imported:
    """Read a comparison report.

    Raises
    ------
    ImportFormatError
        When it is none, and without `lenient` at the first thing that is damaged or
        contradicts the iterations.
    """
    return read_report(lines, Problems(lenient))


def read_report(lines: Iterable[Line], problems: list[Problem]) -> Imported:
    """Read a comparison report; as `parse`, for lines in which problems were met already."""
    reports = [
        _read_report(head, blocks, problems)
        for head, blocks in _split(limited(lines, problems), problems)
    ]
    if not reports:
        raise ImportFormatError(
            "not a comparison report: no line 'Comparison: <metric>' or 'Thread Count: <n>'"
        )
    first = reports[0]
    ours = metric_of(first.metric)
    found, copies = without_copies([runs_of(each.columns, each.metric) for each in reports])
    runs = _numbered(found)
    if len(runs) > RUNS_MAX:
        problems.append(Problem(runs[RUNS_MAX].line, f"only {RUNS_MAX} iterations are read"))
    return Imported(
        FORMAT,
        tuple(flagged(runs[:RUNS_MAX], f"{copies} {COPIES}" if copies else "")),
        tuple(problems),
        first.title,
        first.comment,
        ours[0] if ours else own_name(first.metric) or None,
    )


def _numbered(reports: list[tuple[ImportedRun, ...]]) -> tuple[ImportedRun, ...]:
    """Join the runs of several reports in one file; datasets stay apart."""
    found = [runs for runs in reports if runs]
    if len(found) < 2:
        return found[0] if found else ()
    return tuple(
        replace(run, dataset=f"report {number}: {run.dataset}")
        for number, runs in enumerate(found, 1)
        for run in runs
    )


# From lines to blocks


def _heading(text: str) -> tuple[str, str]:
    plain = _CLUTTER.sub("", text)
    for kind, pattern in _HEADINGS:
        found = pattern.fullmatch(plain)
        if found:
            return kind, found[1]
    return "", ""


def _split(lines: Iterable[Line], problems: list[Problem]) -> list[tuple[list[str], list[_Block]]]:
    """Cut the file at its headings, and at each 'Comparison' into reports."""
    reports: list[tuple[list[str], list[_Block]]] = []
    head: list[str] = []
    tables = 0
    for line in lines:
        text = taf_cells.without_markdown(line.text.replace("\xa0", " ").rstrip(" "))
        if not text.strip() or text.startswith("```"):
            continue
        kind, value = _heading(text)
        tables += bool(kind)
        if tables > RUNS_MAX:
            problems.append(Problem(line.number, f"only {RUNS_MAX} tables are read"))
            break
        if kind and (kind == "comparison" or not reports):
            reports.append((head, []))
            head = []
        if kind:
            reports[-1][1].append(_Block(kind, value, line.number))
        elif reports:
            reports[-1][1][-1].rows.append(Line(line.number, text))
            head = [*head[-1:], _CLUTTER.sub("", text)]
        elif len(head) < _HEAD_MAX:
            head.append(_CLUTTER.sub("", text))
    return reports


# From blocks to columns


def _read_report(head: list[str], blocks: list[_Block], problems: list[Problem]) -> _Report:
    prose = [text for text in head if "\t" not in text]
    title, comment = (prose[0] if prose else ""), " ".join(prose[1:])
    metric = next((block.value for block in blocks if block.kind == "comparison"), "")
    by_thread_count = _BY_THREAD_COUNT.match(title)
    if not metric and by_thread_count:
        metric = by_thread_count[1]
    labels = _column_labels(blocks)
    report = _Report(title, comment, blocks, metric, [Column(x) for x in labels], problems)
    if not labels:
        report.problem(blocks[0].line, "no row of column headers and numbers below it")
        return report
    _check_headings(report)
    readers = {"info": _read_info, "host": _read_host, "threads": _read_threads}
    for block in blocks:
        if block.kind in readers:
            readers[block.kind](report, block)
    for block in blocks:
        if block.kind == "comparison":
            _read_comparison(report, block)
    if by_thread_count and by_thread_count[2]:
        for column in report.columns:
            column.add_fact("test", "Test Name", by_thread_count[2])
    if not any(column.values or column.means for column in report.columns):
        report.problem(blocks[-1].line, "the report breaks off: it has no row of numbers")
    return report


def _check_headings(report: _Report) -> None:
    """Note a metric that is not known for certain, and information tables that are lost."""
    start = report.blocks[0].line
    if any(block.kind == "queries" for block in report.blocks):
        raise ImportFormatError("a report of TPROC-H's queries: import its raw results", start)
    if not report.metric:
        report.problem(start, "no line 'Comparison: <metric>': the metric is unknown")
    elif is_cut(report.metric) or any(c.label in report.metric for c in report.columns):
        report.problem(start, f"expected a metric, found {report.metric[:40]!r}")
        report.metric = ""
    sections = {block.value for block in report.blocks if block.kind == "info"}
    for section in _SECTIONS:
        if sections and section not in sections:
            report.problem(start, f"no line '{section} Info (per dataset)'")


def _column_labels(blocks: list[_Block]) -> list[str]:
    """Return the column headers that most of the tables agree on."""
    tables = (_labels_of(block) for block in blocks if block.kind != "host")
    found = Counter(tuple(labels) for labels in tables if labels is not None)
    return list(found.most_common(1)[0][0]) if found else []


def _header(block: _Block) -> str | None:
    return next((row.text for row in block.rows if row.text.startswith(_HEADERS)), None)


def _labels_of(block: _Block) -> list[str] | None:
    header = _header(block)
    if header is None:
        return None
    cells = taf_cells.delimited(header)
    if cells:
        labels = cells[1:-1] if cells[-1] == _DIFF else cells[1:]
        return labels if 0 < len(labels) <= _COLUMNS_MAX and all(labels) else None
    return _glued_labels(block, header)


def _glued_labels(block: _Block, header: str) -> list[str] | None:
    decimals = {"comparison": 3, "threads": 2}.get(block.kind)
    if decimals is None:
        return None
    has_diff = header.endswith(_DIFF)
    text = header.removesuffix(_DIFF)
    for name in _HEADERS:
        text = text.removeprefix(name)
    widths = Counter(len(re.findall(rf"\.\d{{{decimals}}}", row.text)) for row in block.rows[1:])
    count = (widths.most_common(1)[0][0] if widths else 0) - has_diff
    return taf_cells.labels(text, count) if 0 < count <= _COLUMNS_MAX and text else None


# Information tables


def _read_info(report: _Report, block: _Block) -> None:
    section = block.value.lower()
    config: list[Line] = []
    for row in block.rows:
        if config or row.text.startswith(_CONFIG):
            if row.text == "Property":
                break
            config.append(row)
        elif row.text == "Property" and any(getattr(c, section) for c in report.columns):
            break
        elif not row.text.startswith("Property"):
            _read_fact(report, section, row)
    if config:
        _read_config(report, config)


def _read_fact(report: _Report, section: str, row: Line) -> None:
    count = len(report.columns)
    cells = taf_cells.delimited(row.text)
    if cells:
        label, found = cells[0], cells[1:]
        if len(found) != count:
            report.problem(row.number, f"{label}: {len(found)} values for {count} columns")
            found = found[:count]
    else:
        label, found = _glued_fact(report, row)
    for column, value in zip(report.columns, found, strict=False):
        column.add_fact(section, label, value)


def _read_host(report: _Report, block: _Block) -> None:
    """Read the facts of the one machine that all datasets are of; labels are in capitals."""
    names = {label.upper(): label for label in sorted(SYSTEM.values(), key=len, reverse=True)}
    for row in block.rows:
        name = next((name for name in names if row.text.startswith(name)), None)
        for column in report.columns if name else ():
            column.add_fact("system", names[name or ""], row.text.removeprefix(name or "").strip())


def _glued_fact(report: _Report, row: Line) -> tuple[str, list[str]]:
    count = len(report.columns)
    for label in _LABELS:
        if row.text.startswith(label) and len(row.text) > len(label):
            text = row.text[len(label) :]
            found = _own_versions(report, text) or taf_cells.values(text, count)
            if found is None:
                report.columns[0].warn(f"{label}: cannot tell the columns apart in {text[:200]!r}")
            return label, found or []
    cut = taf_cells.tail(row.text, count)
    if cut is None or count == 1:
        report.columns[0].warn(f"cannot tell label and columns apart in {row.text[:200]!r}")
        return "", []
    return cut


def _own_versions(report: _Report, text: str) -> list[str] | None:
    """Cut versions as the column headers have them."""
    versions = [column.label.rpartition(" ")[2] for column in report.columns]
    return versions if "".join(versions) == text.replace(" ", "") else None


def _read_config(report: _Report, rows: list[Line]) -> None:
    text = "\n".join(row.text for row in rows).removeprefix(_CONFIG)
    cells = taf_config.split_columns(text, len(report.columns))
    if cells is None:
        report.problem(rows[0].number, f"{_CONFIG}: not {len(report.columns)} columns")
        return
    columns = [taf_config.lines_of(cell) for cell in cells]
    if len({len(lines) for lines in columns if lines is not None}) > 1:
        report.columns[0].warn(f"{_CONFIG}: the columns have different numbers of lines")
    for column, lines in zip(report.columns, columns, strict=True):
        if lines is None:
            column.warn(f"{_CONFIG}: cannot tell options and comments apart on one line")
        else:
            column.config = taf_config.options(lines)


# Numbers


def _cells(report: _Report, block: _Block, row: Line, label: str) -> list[str] | None:
    """Return the datasets' cells of a row of numbers; None where it is cut or has too many.

    A last column of differences is only counted.
    """
    count = len(report.columns)
    cells = taf_cells.delimited(row.text)
    header = _header(block)
    has_diff = header.endswith(_DIFF) if header else count == 2
    if cells:
        given = len(cells) - 1
        is_whole = given in (count + has_diff, 3 if count == 2 else 0)
        without_diff = given == count and "-" in cells
        return cells[1 : count + 1] if is_whole or without_diff else None
    found = taf_cells.numbers(row.text[len(label) :], count + has_diff, 2)
    return found[:count] if found else None


def _read_threads(report: _Report, block: _Block) -> None:
    threads = int(block.value)
    printed: _Printed = {}
    iteration = 0
    for row in block.rows:
        if row.text.startswith("Iteration "):
            iteration = _read_iteration(report, block, iteration, row, printed)
            continue
        label = next((x for x in _STATISTICS if row.text.startswith(x)), None)
        if label in printed:
            report.problem(row.number, f"a second {label}: expected 'Thread Count: ...' before it")
            break
        if label:
            cells = _cells(report, block, row, label)
            if cells is None:
                report.problem(row.number, f"{label}: not {len(report.columns)} numbers")
            else:
                printed[label] = row.number, [taf_cells.number(cell, 2) for cell in cells]
    if not iteration:
        report.problem(block.line, f"Thread Count {threads}: no row 'Iteration 1'")
    _check(report, threads, printed)


def _read_iteration(report: _Report, block: _Block, last: int, row: Line, printed: _Printed) -> int:
    """Read an iteration's row and return its number."""
    cells = taf_cells.delimited(row.text)
    named = _ITERATION.fullmatch(cells[0]) if cells else None
    number = int(named[1]) if named else last + 1
    label = f"Iteration {number}"
    if cells and not named or not row.text.startswith(label):
        report.problem(row.number, f"expected 'Iteration {last + 1}', found {row.text[:40]!r}")
        return last
    found = _cells(report, block, row, label)
    if found is None:
        report.problem(row.number, f"{label}: not {len(report.columns)} numbers")
        found = []
        if cells and len(cells) - 1 <= len(report.columns) and {"Min", "Max"} <= printed.keys():
            found = taf_cells.start_between(cells[1:], printed["Min"][1], printed["Max"][1])
    for column, cell in zip(report.columns, found, strict=False):
        value = taf_cells.number(cell, 2)
        if value is not None:
            column.add_value(int(block.value), number, value, row.number)
        elif cell != "-":
            report.problem(row.number, f"{label}: expected a number or '-', found {cell[:40]!r}")
    return number


def _check(report: _Report, threads: int, printed: _Printed) -> None:
    """Compare the printed statistics with what the iterations give."""
    for index, column in enumerate(report.columns):
        own = {label: cells[index] for label, (_, cells) in printed.items() if index < len(cells)}
        bounds = (own.get(label) for label in ("Mean", "Min", "Max"))
        for iteration in column.drop_foreign(threads, *bounds):
            message = f"Iteration {iteration} is not between minimum and maximum: left out"
            report.problem(printed["Min"][0], f"{threads} threads, {column.label}: {message}")
        spread = describe_iterations(column.values_at(threads))
        if not spread.n:
            continue
        for label, cell in own.items():
            line, name = printed[label][0], _STATISTICS[label]
            value = getattr(spread, name)
            if cell is not None and abs(cell - value) > _tolerance(name, spread):
                report.problem(
                    line,
                    f"{threads} threads, {column.label}: {label} is printed as {cell:.2f}, "
                    f"the iterations give {value:.2f}",
                )


def _tolerance(name: str, spread: Spread) -> float:
    """Return how far a printed statistic may be off: both it and the iterations are rounded."""
    if name == "cov":
        return _HALF_CENT * (1 + 2 / max(abs(spread.mean), _HALF_CENT)) + _SLACK
    if name == "skewness":
        return _HALF_CENT * (1 + 6 / max(spread.sd, _HALF_CENT)) + _SLACK
    return 2 * _HALF_CENT + _SLACK * abs(spread.mean)


def _read_comparison(report: _Report, block: _Block) -> None:
    """Compare the means; keep one where the iterations behind it are not in the file."""
    listed = [int(other.value) for other in report.blocks if other.kind == "threads"]
    known = set(listed)
    for index, row in enumerate(row for row in block.rows if not row.text.startswith(_HEADERS)):
        found = _comparison_row(report, row, known, listed[index : index + 1])
        if found is None:
            report.problem(row.number, f"expected threads and {len(report.columns)} numbers")
            continue
        threads, means = found
        if threads not in known:
            report.problem(row.number, f"no table 'Thread Count: {threads}'")
        for column, mean in zip(report.columns, means, strict=True):
            _check_mean(report, column, threads, mean, row.number)


def _comparison_row(
    report: _Report, row: Line, known: set[int], likely: list[int]
) -> tuple[int, list[float | None]] | None:
    """Read threads and means; a row without separators begins with a known thread count."""
    count = len(report.columns)
    cells = taf_cells.delimited(row.text)
    if cells:
        if len(cells) != count + 1 or not _THREADS.fullmatch(cells[0]):
            return None
        return int(cells[0]), [taf_cells.number(cell, 3) for cell in cells[1:]]
    digits = _THREADS.match(row.text)
    starts = [digits[0][:size] for size in range(1, len(digits[0]) + 1)] if digits else []
    for threads in [*likely, *(int(start) for start in starts if int(start) in known)]:
        found = taf_cells.numbers(row.text.removeprefix(str(threads)), count, 3)
        if found and row.text.startswith(str(threads)):
            return threads, [taf_cells.number(cell, 3) for cell in found]
    return None


def _check_mean(
    report: _Report, column: Column, threads: int, mean: float | None, line: int
) -> None:
    spread = describe_iterations(column.values_at(threads))
    if mean is None:
        report.problem(line, f"{threads} threads, {column.label}: expected a number")
    elif not spread.n and mean:
        column.add_mean(threads, mean, line)
    elif spread.n and abs(mean - spread.mean) > _HALF_CENT + 0.0005 + _SLACK * abs(mean):
        report.problem(
            line,
            f"{threads} threads, {column.label}: the mean is printed as {mean:.3f}, "
            f"the iterations give {spread.mean:.3f}",
        )
