"""Percent tables: tests against thread counts, one system as a percentage of another.

There are two conventions, and captions do not always tell them apart: candidate / baseline * 100
(100 is equal), and percent change (0 is equal). Negative numbers and explicit words decide; where
nothing does, the caller is asked.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise

from benchkit.importers.model import Imported, ImportedRun, ImportFormatError, Problem, Problems
from benchkit.importers.source import Line
from benchkit.importers.taf_columns import COPIES, flagged
from benchkit.importers.taf_names import RUNS_MAX, limited
from benchkit.metrics import PERCENT_METRIC

FORMAT = "percent table"
RATIO, CHANGE = "ratio", "change"
CONVENTIONS = (RATIO, CHANGE)

_NUMBER = re.compile(r"[-+\u2212\u2013]?(?:\d+(?:\.\d*)?|\.\d+) ?%?")
_ABSENT = re.compile(r"-{1,3}|n/?a|\(missing\)", re.IGNORECASE)
_ROW = re.compile(r"\s*\|?\s*(\S+(?: \S+)*?)(?:\s*[\t|]\s*|\s{2,}|\s+(?=[-+]?\d))(\S.*?)[\s|]*")
_SUBHEAD = re.compile(r"\s*(?:sysbench )?tests?(?: name)?\s*", re.IGNORECASE)
_CAPTION = re.compile(
    r"\(?\s*(.{1,80}?)(?: (\w+/s))? ?/ ?(.{1,80}?)(?: \w+/s)? ?\* ?100(?:\.0*)?\s*\)?"
)
_RATIO_WORDS = re.compile(r"\* ?100\b|100 ?(?:%)? ?(?:=|is) ?(?:par|equal|baseline)", re.IGNORECASE)
_CHANGE_WORDS = re.compile(
    r"percent(?:age)? change|change in (?:%|percent)|relative (?:gain|difference)"
    r"|(?:gain|improvement|difference|change)s? (?:in|\(in) ?%|% (?:change|gain|difference)",
    re.IGNORECASE,
)
_RULE = re.compile(r"[\s|:+=-]+")
_VERSION = re.compile(r"\bsysbench v?(\d+\.\d+(?:\.\d+)?)", re.IGNORECASE)
_NUMBER_OF_THREADS = re.compile(r"(?:number of )?(?:threads|clients|users)\W*", re.IGNORECASE)
_ROWS_MAX = 10_000
_TEXT_MAX = 4_000
_LINE_MAX = 1_000
_HEAD_WORDS_MAX = 4
_UNLIKELY_RATIO = 50.0
_HOLE = re.compile(r"\t\s*\t|\|\s*\|")
_GAP = 1.5
_DECIMALS_MIN = 4


@dataclass(slots=True)
class _Table:
    """A percent table while it is read.

    Of its numbers `decimals` counts decimals, without the last of each row: these may be cut,
    and are in `last_decimals`, by the row's place. `step` is how far apart its numbers end.
    """

    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    threads: tuple[int, ...] = ()
    rows: list[tuple[str, tuple[float | None, ...] | str, int]] = field(default_factory=list)
    decimals: Counter[int] = field(default_factory=Counter)
    last_decimals: dict[int, int] = field(default_factory=dict)
    step: int = 0
    copies: int = 0
    ended: bool = False
    signed: bool = False

    @property
    def words(self) -> str:
        """The text around the table."""
        return "\n".join(self.before + self.after)


def sniff(head: list[str], name: str) -> float:
    """Tell how much the first lines look like a percent table."""
    text = "\n".join(head)
    score = 0.4 if re.search(r"\bin %|\bpercent\b|\* ?100\)", text, re.IGNORECASE) else 0.0
    score += 0.3 if re.search(r"^\s*number of threads\s*$", text, re.I | re.M) else 0.0
    return score + (0.2 if any(_threads(line) for line in head) else 0.0)


def parse(
    lines: Iterable[Line], *, lenient: bool = False, name: str = "", convention: str | None = None
) -> Imported:
    """Read a percent table.

    Parameters
    ----------
    convention : {"ratio", "change"}, optional
        What the numbers are, where the file itself does not decide it.

    Raises
    ------
    ImportFormatError
        When there is no table, when nothing says which convention it follows, or when
        `convention` contradicts the file.
    """
    if convention is not None and convention not in CONVENTIONS:
        raise ImportFormatError(f"unknown convention {convention!r}: use 'ratio' or 'change'")
    problems = Problems(lenient)
    tables = [_Table()]
    for line in limited(lines, problems):
        tables.extend(_read(tables[-1], line, problems))
    tables = [table for table in tables if table.rows]
    if not tables:
        raise ImportFormatError("not a percent table: no row of thread counts with rows below it")
    for table in tables:
        _drop_cut(table, problems)
    tables, copies = _without_copies(tables)
    found = (
        run
        for number, table in enumerate(tables)
        for run in _runs(table, _convention(table, convention), f"{number + 1}: " if number else "")
    )
    runs = list(islice(found, RUNS_MAX))
    if (left_out := next(found, None)) is not None:
        problems.append(Problem(left_out.line, f"only {RUNS_MAX} numbers are read"))
    runs = list(flagged(runs, f"{copies} {COPIES}")) if copies else runs
    title, *rest = tables[0].before or [""]
    return Imported(FORMAT, tuple(runs), tuple(problems), title, "\n".join(rest), PERCENT_METRIC)


def _without_copies(tables: list[_Table]) -> tuple[list[_Table], int]:
    """Return the tables whose rows are not those of an earlier one, and how many there were."""
    kept: list[_Table] = []
    seen: set[tuple[object, ...]] = set()
    for table in tables:
        cells = (table.threads, *((name, values) for name, values, _ in table.rows))
        if cells not in seen:
            kept.append(table)
            seen.add(cells)
    return kept, len(tables) - len(kept) + sum(table.copies for table in kept)


# Reading


def _read(table: _Table, line: Line, problems: list[Problem]) -> Iterator[_Table]:
    """Read a line; yield a new table where one begins after the end of this."""
    text = line.text.replace("\xa0", " ").rstrip()
    plain = text.strip()
    if not plain or text.startswith("```"):
        table.ended = bool(table.rows)
    elif table.threads and (not table.ended or _continues(table, text)):
        _read_row(table, line.number, text, problems)
    elif found := _threads(text):
        if table.threads:
            yield _Table(before=table.after[-1:], threads=found)
        table.threads = table.threads or found
    elif not _NUMBER_OF_THREADS.fullmatch(plain):
        _keep(table.after if table.threads else table.before, plain)


def _continues(table: _Table, text: str) -> bool:
    """Tell whether a line after a gap is still a row: a name and as many numbers as before."""
    found = _ROW.fullmatch(text) if len(text) <= _LINE_MAX else None
    cells = _cells(found[2]) if found else None
    return cells is not None and len(cells) == len(table.threads) and not _threads(text)


def _keep(texts: list[str], text: str) -> None:
    if sum(map(len, texts)) < _TEXT_MAX:
        texts.append(text[:_TEXT_MAX])


def _threads(text: str) -> tuple[int, ...]:
    """Return the thread counts of a header line, which only rise; words may stand before."""
    words = re.split(r"[\s|]+", text.strip(" |\t")) if len(text) <= _LINE_MAX else []
    first = next((i for i, word in enumerate(words) if word.isdecimal()), len(words))
    counts = words[first:]
    if first > _HEAD_WORDS_MAX or not all(re.fullmatch(r"[0-9]{1,6}", word) for word in counts):
        return ()
    found = tuple(map(int, counts))
    rising = all(a < b for a, b in zip(found, found[1:], strict=False))
    return found if len(found) > 1 and rising and found[0] > 0 else ()


def _read_row(table: _Table, number: int, text: str, problems: list[Problem]) -> None:
    if len(table.rows) == _ROWS_MAX or len(text) > _LINE_MAX:
        problems.append(Problem(number, "too long for a percent table"))
        table.ended = True
        return
    if _SUBHEAD.fullmatch(text) or _RULE.fullmatch(text) or _threads(text) == table.threads:
        return
    if _CAPTION.fullmatch(text.strip()):
        table.ended = True
        _keep(table.after, text.strip())
        return
    found = _ROW.fullmatch(text)
    if not found:
        problems.append(Problem(number, f"expected a test and numbers: {text[:60]!r}"))
        return
    cells = _cells(found[2])
    if cells is None:
        if _is_damaged(found[2]):
            problems.append(Problem(number, f"{found[1]}: expected numbers: {found[2][:60]!r}"))
        else:
            table.rows.append((found[1], found[2], number))
        return
    if len(cells) != len(table.threads):
        problems.append(
            Problem(number, f"{found[1]}: {len(cells)} numbers for {len(table.threads)} threads")
        )
        cells = _whole_start(text, cells, table)
    else:
        table.step = max([table.step, *_steps(text, len(cells))])
    _add_row(table, found[1], cells, number)


def _add_row(table: _Table, name: str, cells: list[str], number: int) -> None:
    """Keep a row of numbers, unless it is the row before once more."""
    values = tuple(map(_value, cells))
    if table.rows and table.rows[-1][:2] == (name, values):
        table.copies += 1
        return
    decimals = [len(cell.partition(".")[2].rstrip("% ")) for cell in cells]
    table.decimals.update(decimals[:-1])
    table.last_decimals[len(table.rows)] = decimals[-1] if decimals else 0
    table.signed = table.signed or any("+" in cell for cell in cells)
    table.rows.append((name, values, number))


def _is_damaged(text: str) -> bool:
    """Tell whether most of a text was numbers."""
    cells = re.split(r"[\s|]+", text)
    numbers = sum(bool(re.match(r"[-+]?\d+\.\d", cell)) for cell in cells)
    return numbers * 2 >= len(cells) and text.count(".") > 1


def _steps(text: str, count: int) -> list[int]:
    """Return how far apart the last words of a line end."""
    ends = [found.end() for found in re.finditer(r"[^\s|]+", text)][-count:]
    return [after - before for before, after in pairwise(ends)]


def _whole_start(text: str, cells: list[str], table: _Table) -> list[str]:
    """Return the first numbers of a row that is cut; none behind a gap that is a lost number."""
    if len(cells) > len(table.threads) or _HOLE.search(text):
        return []
    steps = _steps(text, len(cells))
    usual = table.step or min(steps, default=0)
    wide = (place for place, step in enumerate(steps, 1) if step > _GAP * usual)
    return cells[: next(wide, len(cells))]


def _drop_cut(table: _Table, problems: list[Problem]) -> None:
    """Drop the last number of a row that has fewer decimals than all others of the table."""
    usual = max(table.decimals, default=0)
    if len(table.decimals) != 1 or table.decimals.total() < _DECIMALS_MIN:
        return
    for place, decimals in table.last_decimals.items():
        name, values, line = table.rows[place]
        if decimals < usual and not isinstance(values, str) and values and values[-1] is not None:
            problems.append(Problem(line, f"{name}: the last number is cut: {values[-1]:g}"))
            table.rows[place] = name, (*values[:-1], None), line


def _cells(text: str) -> list[str] | None:
    """Return the cells of a row, or None where it holds text instead of numbers."""
    cells = [cell for cell in re.split(r"[\s|]+", re.sub(r" %", "%", text)) if cell]
    numeric = [bool(_NUMBER.fullmatch(cell)) for cell in cells]
    known = all(
        is_number or _ABSENT.fullmatch(c) for is_number, c in zip(numeric, cells, strict=True)
    )
    return cells if known and any(numeric) else None


def _value(cell: str) -> float | None:
    if not _NUMBER.fullmatch(cell) or len(cell) > 30:
        return None
    return float(re.sub("[\u2212\u2013]", "-", cell.rstrip("% ")))


# Meaning


def _convention(table: _Table, asked: str | None) -> str:
    """Return what a table's numbers are: what it says itself, else what was asked for."""
    told, reason = _told(table)
    if told is None:
        if asked:
            return asked
        raise ImportFormatError(
            f"cannot tell what the percentages are ({reason}): give convention='ratio' "
            "(100 is equal) or convention='change' (0 is equal)"
        )
    if asked not in (None, told):
        raise ImportFormatError(
            f"convention={asked!r} contradicts the file ({reason}): use convention={told!r}"
        )
    return told


def _told(table: _Table) -> tuple[str | None, str]:
    """Return the convention that a table follows by its own account, and why; None if unclear."""
    values = [v for _, cells, _ in table.rows if not isinstance(cells, str) for v in cells]
    numbers = sorted(v for v in values if v is not None)
    if numbers and numbers[0] < 0 or table.signed:
        return CHANGE, "signed numbers cannot be candidate / baseline * 100"
    if _CHANGE_WORDS.search(table.words):
        return CHANGE, "its text speaks of changes in percent"
    if not _RATIO_WORDS.search(table.words):
        return None, "it does not say"
    if not numbers or numbers[len(numbers) // 2] < _UNLIKELY_RATIO:
        return None, "its caption and its numbers disagree"
    return RATIO, "its caption says that 100 is equal"


def _runs(table: _Table, convention: str, prefix: str) -> Iterator[ImportedRun]:
    shared = {**_caption(table), "convention": convention}
    version = _VERSION.search(table.words)
    family = f"sysbench/{version[1]}" if version else "percent"
    seen: dict[str, int] = {}
    for test, cells, line in table.rows:
        iteration = seen[test] = seen.get(test, 0) + 1
        workload = f"{family}:{test}"
        if isinstance(cells, str):
            extra = {**shared, "text": cells}
            yield ImportedRun(
                prefix + test, test, workload, None, iteration, {}, extra=extra, line=line
            )
            continue
        for threads, value in zip(table.threads, cells, strict=False):
            if value is None:
                continue
            extra = dict(shared)
            if convention == CHANGE:
                extra["percent_change"] = value
            percent = value if convention == RATIO else 100 + value
            warnings = ("a negative percentage of the baseline",) if percent < 0 else ()
            yield ImportedRun(
                prefix + test, test, workload, threads, iteration, {PERCENT_METRIC: percent},
                extra=extra, warnings=warnings, line=line,
            )  # fmt: skip


def _caption(table: _Table) -> dict[str, object]:
    """Return who is compared with whom, as far as the text says it."""
    for text in table.after + table.before:
        found = _CAPTION.fullmatch(text)
        if found:
            return {"candidate": found[1], "baseline": found[3], "unit": found[2] or ""}
    return {}
