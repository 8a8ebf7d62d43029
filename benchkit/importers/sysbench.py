"""sysbench's own output, of 0.4.12, 0.5, 1.0 and 1.1, whole or damaged, one run or many.

A file is read line by line. Each line may hold a banner, a command, settings, interval rows,
buckets of a histogram and totals, in this order and also all at once, where line breaks were
lost. A run ends where another begins: at a banner, a command that runs sysbench, the name of
another file, or numbers that cannot belong to the same run.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from benchkit.importers.model import Imported, ImportedRun, Problem, Problems
from benchkit.importers.source import DAMAGE, Line
from benchkit.importers.sysbench_build import build_runs
from benchkit.importers.sysbench_draft import Draft, Heading, Orphans, Room, find_gaps
from benchkit.importers.sysbench_hooks import JsonRows, cut_csv_row, split_csv
from benchkit.importers.sysbench_rows import Checkpoint, Row, seconds, split_rows
from benchkit.importers.sysbench_settings import read_settings
from benchkit.importers.sysbench_sniff import sniff
from benchkit.importers.sysbench_text import (
    Banner,
    begins_banner,
    begins_command,
    find_banner,
    find_command,
    find_file_head,
    find_prefix,
    split_at_banners,
    undress,
)
from benchkit.importers.sysbench_totals import (
    Item,
    Kind,
    find_items,
    is_cut_label,
    is_fragment,
    split_special,
)

FORMAT = "sysbench log"

RUNS_MAX = 10_000
"""Runs that are read of a file."""

_STREAMS_MAX = 200
_COMMAND_REACH = 10
_BANNER_MAX = 200
_TEXT_MAX = 1 << 18

_START = re.compile(r"Running\s?the\s?test\s?with\s?following\s?options")
_THREADS = re.compile(rf"Number\s?of\s?threads\s?:\s{{0,8}}(\d{{1,7}})(?![\d{DAMAGE}])")
_RATES_THAT_OPEN = frozenset(("tps", "transferred_mib_per_s", "file_reads_per_s"))
"""Rates in front of which no section's head need stand: they begin the totals of a run."""

_MESSAGE = re.compile(r"(?:FATAL|ALERT): .{0,400}")
_BUCKETS_HEAD = re.compile(r"Latency\s?histogram|value\s{0,8}-{4,20}\s?distribution")
_ROW_WORDS = re.compile(r"\d ?s ?\] ?(?:thds|threads):|(?:SQL|OLTP test) statistics:")
_BUCKET_BEGIN = re.compile(r"\s{0,20}\d{1,12}\.\d{1,6}\s?\|")
_BUCKET = re.compile(r"\s{0,20}(\d{1,12}\.\d{1,6})\s?\|\s?\**\s{0,80}(\d{1,20})\s*")
_SETTING_WORDS = re.compile(
    "Running|Number|hread|Target|Report|generator|Forcing|Warmup|rime|files|lock|size|operation"
    "|scope|drivers|Doing|Extra|Latency|value|FATAL|ALERT"
)


def parse(lines: Iterable[Line], *, lenient: bool, name: str) -> Imported:
    """Read the runs in a file of sysbench output.

    Parameters
    ----------
    lines : iterable of Line
    lenient : bool
        Keep what is readable of a damaged file.
    name : str
        The file's name; its thread count and script are used where the output has none.

    Raises
    ------
    ImportFormatError
        When there is no run in it, or, unless `lenient`, one that breaks off.
    """
    book = _Book(lenient)
    readers: dict[str, _Reader] = {}
    for line in lines:
        for text in _unfold(line.text if line.whole else line.text + DAMAGE):
            if len(text) > _TEXT_MAX and _ROW_WORDS.search(text, _TEXT_MAX):
                book.report(Problem(line.number, f"only {_TEXT_MAX} characters of it are read"))
            dressed = undress(text[:_TEXT_MAX])
            stream = dressed.stream if len(readers) < _STREAMS_MAX else ""
            reader = readers.get(stream)
            if not reader:
                reader = readers[stream] = _Reader(book, name)
            if dressed.file:
                reader.enter_file(dressed.file)
            reader.read(dressed.text, line.number)
    for reader in readers.values():
        reader.close()
    if not book.drafts and not book.problems:
        book.report(Problem(0, "no run of sysbench found, expected its totals or interval rows"))
    book.drafts.sort(key=lambda draft: draft.line)
    runs = build_runs(book.drafts)
    for run in runs:
        if not _has_values(run):
            book.report(Problem(run.line, "the run has no number that was readable and possible"))
    return Imported(FORMAT, tuple(filter(_has_values, runs)), tuple(book.problems))


FORMATS = ((FORMAT, sniff, parse),)


def _unfold(text: str) -> Iterator[str]:
    """Return the lines that a line holds: JSON writes a whole log as one."""
    lines = re.split(r"\\r\\n|\\n", text) if "\\n" in text else [text]
    yield from lines


def _has_values(run: ImportedRun) -> bool:
    is_timed = run.duration_s is not None
    return bool(run.metrics or len(run.series) or is_timed or "checkpoints" in run.extra)


class _Book:
    """What all readers of a file write to: runs, problems, and how much of each is left."""

    def __init__(self, lenient: bool) -> None:
        self.drafts: list[Draft] = []
        self.problems = Problems(lenient)
        self.room = Room()

    def report(self, problem: Problem) -> None:
        self.problems.append(problem)

    def add(self, draft: Draft) -> None:
        if len(self.drafts) < RUNS_MAX:
            self.drafts.append(draft)
        else:
            self.report(Problem(draft.line, f"only the first {RUNS_MAX} runs are read"))


class _Reader:
    """Reads the lines of one stream: one program's output, or one container's."""

    def __init__(self, book: _Book, name: str) -> None:
        self._book = book
        self._heading = Heading(name)
        self._draft: Draft | None = None
        self._json = JsonRows()
        self._orphans = Orphans()
        self._held: tuple[str, Sequence[Row | Checkpoint | str], int] | None = None
        self._prefix: re.Pattern[str] | None = None
        self._command_text = ""
        self._last_line = self._before_last = 0
        self._last_text = ""
        self._since_command = 0

    def enter_file(self, name: str) -> None:
        """Take what follows as the content of another file."""
        self._let_go()
        file = self._draft.heading.file if self._draft else self._heading.file
        if name != file:
            self._end_run()
            self._leave_start()
            self._heading = Heading(name)

    def read(self, text: str, line: int) -> None:
        """Read one line."""
        is_row = text.startswith("[ ") and "s" in text[:9]
        if not is_row:
            text = self._without_prefix(text)
        for part in split_at_banners(text) if "sysbench" in text else (text,):
            if part.strip():
                self._read_part(part, line)

    def _without_prefix(self, text: str) -> str:
        """Take off what a logger put in front of every line, once a line showed what that is."""
        match = self._prefix.match(text) if self._prefix else None
        if match:
            return text[match.end() :]
        prefix = find_prefix(text)
        match = prefix.match(text) if prefix else None
        if not match or _holds_results(match[0]):
            return text
        self._prefix = prefix
        return text[match.end() :]

    def _read_part(self, text: str, line: int) -> None:
        if self._held:
            text = self._let_go(text)
        if line != self._last_line:
            self._before_last, self._last_line = self._last_line, line
        self._last_text = text
        self._since_command += 1
        if not self._draft and not self._heading.after and self._heading.banner:
            self._heading.after = text.strip()
        is_head = "sysbench" in text or "<==" in text or self._command_text
        if is_head and self._read_head(text):
            return
        if self._read_json(text, line):
            return
        for part in split_csv(text):
            row = part if isinstance(part, Row) else self._cut_csv_row(part)
            if row:
                self._read_row(row, line).is_table = True
            elif isinstance(part, str):
                self._read_words(part, line)

    def _read_words(self, text: str, line: int) -> None:
        parts = split_rows(text)
        if _may_go_on(parts[-1]) and DAMAGE not in text:
            self._held = text, parts, line
        else:
            self._read_rows(parts, line)

    def _let_go(self, text: str = "") -> str:
        """Read a row that is held, unless a line ends it: terminals break rows at their border.

        Returns the line, behind what it ends.
        """
        held, self._held = self._held, None
        if not held:
            return text
        begun, parts, line = held
        if not text.startswith("[") and _ends_row(begun + text, parts[-1]):
            return begun + text
        self._read_rows(parts, line)
        return text

    def _read_rows(self, parts: Sequence[Row | Checkpoint | str], line: int) -> None:
        for part in parts:
            if isinstance(part, str):
                self._read_text(part, line)
            else:
                self._read_row(part, line)

    def _read_json(self, text: str, line: int) -> bool:
        """Read the rows that a report hook printed into a line; False if it is not of them."""
        rows = self._json.read(text)
        for row in rows or ():
            self._read_row(row, line).is_table = False
        if self._draft and self._json.closes(text):
            self._draft.is_table = True
        return rows is not None

    def _cut_csv_row(self, text: str) -> Row | None:
        """Return columns as a row that breaks off, unless they are among rows of another kind."""
        draft = self._draft
        if not draft or draft.final.begun or (len(draft.rows) and not draft.is_table):
            return None
        return cut_csv_row(text)

    def close(self) -> None:
        """End the last run, and say what began after it."""
        self._let_go()
        for row in self._json.end():
            self._read_row(row, self._last_line)
        self._end_run()
        if self._heading.waits_for_run:
            self._report_lost_start()
        elif self._last_text.endswith(DAMAGE) and begins_banner(self._last_text.rstrip(DAMAGE)):
            self._book.report(
                Problem(self._last_line, "the file ends in sysbench's first line, expected a run")
            )

    def _report_lost_start(self) -> None:
        heading = self._heading
        said = f"; it said {heading.messages[0]!r}" if heading.messages else ""
        self._book.report(
            Problem(
                heading.line,
                "sysbench was started here and nothing follows, expected the options and "
                f"results of a run{said}",
            )
        )

    def _leave_start(self) -> None:
        """Say that a start failed, where something else begins behind it."""
        if self._heading.messages and self._heading.waits_for_run:
            self._report_lost_start()

    def _begin_heading(self, banner: Banner) -> None:
        """Begin what stands before a run; what the start before said was not of this one."""
        self._leave_start()
        before = self._heading
        if before.banner and before.banner.starts:
            self._heading = Heading(before.file, command=before.command)
        self._heading.banner, self._heading.line = banner, self._last_line

    def _end_run(self) -> None:
        draft, self._draft = self._draft, None
        if not draft:
            return
        draft.rows.seal()
        fragment = is_fragment(self._last_text)
        at_end = draft.last_line == self._last_line or (
            draft.last_line == self._before_last and fragment
        )
        torn = fragment and self._last_text.endswith(DAMAGE)
        for problem in find_gaps(draft, at_end, torn):
            self._book.report(problem)
        if draft.has_results:
            self._book.add(draft)
        elif not draft.started:
            self._heading = draft.heading
            return
        command = draft.heading.command
        self._heading = Heading(draft.heading.file, command=command if _goes_on(draft) else None)
        self._since_command = 0

    def _forget_command(self) -> None:
        """Drop a command that stands too far above to have started what follows."""
        if self._since_command > _COMMAND_REACH:
            self._heading.command = None

    def _begin_run(self, line: int) -> Draft:
        self._end_run()
        if not self._heading.banner:
            self._forget_command()
        self._draft = Draft(self._heading, line, self._book.room)
        self._heading = Heading(self._heading.file)
        return self._draft

    def _read_head(self, text: str) -> bool:
        """Read a line that tells where output comes from; False if it does not."""
        if file := find_file_head(text):
            self.enter_file(file)
            return True
        if self._command_text or begins_command(text):
            self._command_text += " " + text.rstrip("\\")
            if text.endswith("\\") and len(self._command_text) < 8000:
                return True
            text, self._command_text = self._command_text, ""
        if banner := find_banner(text):
            self._end_run()
            self._forget_command()
            self._begin_heading(banner)
            is_all = len(text) <= _BANNER_MAX
            return is_all and text.rstrip().endswith((")", "benchmark", banner.version))
        if command := find_command(text):
            self._end_run()
            self._leave_start()
            self._since_command = 0
            run = command if command.verb == "run" else None
            self._heading = Heading(self._heading.file, command=run)
            return True
        return False

    def _read_row(self, row: Row | Checkpoint, line: int) -> Draft:
        draft = self._draft
        if not draft or not _continues(draft, row):
            draft = self._begin_run(line)
        draft.last_line = line
        if isinstance(row, Checkpoint):
            draft.begin_checkpoint(row.time_s)
            return draft
        draft.pass_row(row.time_s)
        if not row.whole:
            self._book.report(Problem(line, "the interval row breaks off, or has a damaged number"))
        if row.values.get("threads") == 0 and "latency" in row.values:
            draft.end_with(row)
        elif row.values:
            draft.rows.add(row)
        if without := draft.line_without(row, line):
            self._book.report(Problem(without, "the interval row lacks fields that others have"))
        return draft

    def _read_text(self, text: str, line: int) -> None:
        if _SETTING_WORDS.search(text):
            self._read_settings(text, line)
        draft = self._draft
        if draft and draft.totals.section == "histogram" and (bucket := _BUCKET.fullmatch(text)):
            draft.last_line = line
            draft.add_bucket(seconds(bucket[1], "ms"), int(bucket[2]))
            return
        if draft and draft.totals.section == "histogram" and _BUCKET_BEGIN.match(text):
            self._book.report(Problem(line, "the line of the histogram breaks off, or is damaged"))
            return
        section = draft.totals.section if draft else ""
        is_known = [self._read_items(part, line) for part in split_special(text)]
        if draft and not draft.totals.done and not any(is_known) and DAMAGE in text.rstrip(DAMAGE):
            self._book.report(Problem(line, "the line is damaged"))
        if section and ":" not in text and draft and not draft.totals.done and is_cut_label(text):
            self._book.report(Problem(line, f"the line {text.strip()!r} breaks off"))

    def _read_items(self, text: str, line: int) -> bool:
        """Read the labels in a text with their values; False if there are none."""
        draft = self._draft
        section, unit = (draft.totals.section, draft.totals.unit) if draft else ("", "ms")
        items = list(find_items(text, section, unit))
        for item in items:
            self._read_item(item, line)
        return bool(items)

    def _read_item(self, item: Item, line: int) -> None:
        draft = self._draft
        if draft and draft.totals.done and item.cut and not item.values:
            return  # behind a run's end: other programs have a ``Total time`` as well
        if draft and not draft.accepts(item):
            draft = self._begin_run(line)
        if not draft:
            if not _opens_run(item):
                self._orphans.add(item, line)
                if "execution_s" in item.values:
                    self._book.report(Problem(line, "a run ends here whose beginning is missing"))
                return
            draft = self._begin_run(line)
            self._orphans.join(draft, item)
        draft.last_line = line
        draft.totals.add(item, line)
        if item.cut:
            self._book.report(
                Problem(line, f"the value of {item.label.name!r} breaks off, or is damaged")
            )

    def _read_settings(self, text: str, line: int) -> None:
        threads, start = _THREADS.search(text), bool(_START.search(text))
        if threads or start or "Threads started!" in text:
            self._read_start(start, int(threads[1]) if threads else None, line)
        if message := _MESSAGE.search(text):
            self._current_heading().add_message(message[0])
        if _BUCKETS_HEAD.search(text):
            self._begin_histogram(line)
        read_settings(self._current_heading(), text)

    def _current_heading(self) -> Heading:
        """Return what a setting belongs to: behind its totals, a run gets no more of them."""
        draft = self._draft
        return draft.heading if draft and not draft.final.done else self._heading

    def _read_start(self, start: bool, threads: int | None, line: int) -> None:
        draft = self._draft
        if not draft or draft.has_results or (start and draft.started):
            draft = self._begin_run(line)
        draft.started = draft.started or start or threads is None
        draft.last_line = line
        draft.threads = threads or draft.threads

    def _begin_histogram(self, line: int) -> None:
        draft = self._draft
        if not draft or draft.final.done or draft.final.histogram:
            draft = self._begin_run(line)
        draft.last_line = line
        draft.begin_histogram()


def _holds_results(text: str) -> bool:
    if any(True for _ in find_items(text, "latency", "")):
        return True
    return any(not isinstance(part, str) for part in (*split_rows(text), *split_csv(text)))


def _may_go_on(part: Row | Checkpoint | str) -> bool:
    """Whether a row may have more fields: only the newest kind shows that it is whole."""
    return isinstance(part, Row) and not (part.whole and "reconnects_per_s" in part.values)


def _ends_row(text: str, begun: Row | Checkpoint | str) -> bool:
    """Whether a text is one whole row, with more in it than the row that was begun."""
    (row, *others) = split_rows(text)
    if others or not isinstance(row, Row) or not isinstance(begun, Row):
        return False
    return row.whole and (not begun.whole or len(row.values) > len(begun.values))


def _continues(draft: Draft, row: Row | Checkpoint) -> bool:
    """Whether a row belongs to the run, and is not an early one of the next."""
    if draft.final.begun:
        return False
    if not len(draft.rows) or row.time_s >= draft.rows.last_s:
        return True
    return row.time_s > draft.rows.first_s


def _goes_on(draft: Draft) -> bool:
    """Whether the command of a run may have started the next as well, as a loop does."""
    return bool(draft.heading.command and draft.heading.command.loops)


def _opens_run(item: Item) -> bool:
    if item.label.kind is Kind.SECTION:
        return item.label.second == "first"
    opens = item.label.name == "events" or not _RATES_THAT_OPEN.isdisjoint(item.values)
    return opens or (item.label.name == "operations" and item.label.second in item.values)
