"""A run of sysbench while it is read: what belongs to it, and what it lacks at its end.

A run has one block of totals at its end and any number of them before, one per checkpoint. A
block knows when something that follows cannot be part of it any more; that is how several runs
in a file are told apart where no banner stands between them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from benchkit.importers.model import Problem
from benchkit.importers.rows import RowSpool
from benchkit.importers.source import DAMAGE
from benchkit.importers.sysbench_rows import Row
from benchkit.importers.sysbench_series import RowTable
from benchkit.importers.sysbench_text import Banner, Command
from benchkit.importers.sysbench_totals import Item, Kind

BUCKETS_MAX = 100_000
"""Lines of histograms that are kept of a file; sysbench's own have 1024 buckets at most."""

CHECKPOINTS_MAX = 2_000
"""Reports in the middle of runs that are kept of a file."""

MESSAGES_MAX = 10
"""Messages of a run that are kept."""

_RESULTS = (
    "transactions",
    "tps",
    "events",
    "total_time_s",
    "events_per_s",
    "eps",
    "operations",
    "rw_requests",
    "file_reads_per_s",
    "file_writes_per_s",
    "fsyncs_per_s",
)
_ORPHANS_MAX = 20
_ORPHANS_GAP = 2
_BEFORE_THE_HEAD = {"unfinished"}
_START = "Running the test with following options:"
_OPENING = ("transactions", "events", "events_per_s", "eps", "rw_requests", "operations")


@dataclass(slots=True)
class Heading:
    """What stands before a run, and belongs to it.

    Parameters
    ----------
    file : str
        The file's name, or that of the file which was glued into it here.
    banner, command : object or None
    script : str
        As the output says, such as ``oltp`` for ``Doing OLTP test.``.
    modes : list of str
        Such as ``read-only``.
    facts : dict
        Settings by name, as printed.
    messages : list of str
        FATAL and ALERT lines.
    message_count : int
    """

    file: str
    banner: Banner | None = None
    command: Command | None = None
    script: str = ""
    modes: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    message_count: int = 0
    line: int = 0
    after: str = ""

    @property
    def waits_for_run(self) -> bool:
        """Whether a start of sysbench is all there is: what prepares tables says so at once."""
        if not self.banner or not self.banner.starts:
            return False
        after = self.after.rstrip(DAMAGE)
        return _START.startswith(after) or after.startswith(("FATAL", "ALERT"))

    def add_message(self, text: str) -> None:
        """Keep a FATAL or ALERT line; of a long list, only its beginning."""
        self.message_count += 1
        if len(self.messages) < MESSAGES_MAX:
            self.messages.append(text[:400])


@dataclass(slots=True)
class Totals:
    """One block of totals.

    Parameters
    ----------
    checkpoint_s : float or None
        When it was reported, for a checkpoint's.
    values : dict of str to number
    sections : set of str
        Whose heads were there.
    section, unit : str
        Where the next line stands.
    histogram : list of (seconds, count)
    repeated : list of (line, name)
        Values that came twice, and differed.
    """

    checkpoint_s: float | None = None
    values: dict[str, float] = field(default_factory=dict)
    sections: set[str] = field(default_factory=set)
    section: str = ""
    unit: str = "ms"
    histogram: list[tuple[float, int]] = field(default_factory=list)
    repeated: list[tuple[int, str]] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """Whether anything that is a result was read."""
        return any(name in self.values for name in _RESULTS)

    @property
    def done(self) -> bool:
        """Whether the last line of a block was read."""
        return "execution_s" in self.values

    def accepts(self, item: Item) -> bool:
        """Whether the item can belong to this block, rather than begin another."""
        label = item.label
        if label.kind is Kind.SECTION:
            again = label.name in self.sections or self.done
            holds_any = bool(self.values.keys() - _BEFORE_THE_HEAD)
            return not (again and label.second == "first" and holds_any)
        another = any(self._differs(name, value) for name, value in item.values.items())
        return not (another and self._opens(item))

    def add(self, item: Item, line: int) -> None:
        """Take the item's values; the first of two stays."""
        if item.label.kind is Kind.SECTION:
            self.section, self.unit = item.label.name, item.unit
            self.sections.add(item.label.name)
            return
        for name, value in item.values.items():
            if self._differs(name, value) and len(self.repeated) < 20:
                self.repeated.append((line, name))
            self.values.setdefault(name, value)

    def _differs(self, name: str, value: float) -> bool:
        return name in self.values and str(self.values[name]) != str(value)

    @staticmethod
    def _opens(item: Item) -> bool:
        name = item.label.name
        return name in _OPENING and (name != "transactions" or "tps" in item.values)


@dataclass(slots=True)
class Room:
    """What the runs of a file may still hold, all together."""

    spool: RowSpool = field(default_factory=RowSpool)
    buckets: int = BUCKETS_MAX
    checkpoints: int = CHECKPOINTS_MAX


class Draft:
    """One run: its heading, interval rows, checkpoints and totals.

    Parameters
    ----------
    heading : Heading
    line : int
        Where it begins.
    room : Room
        Shared by all runs of a file.

    Attributes
    ----------
    started : bool
        Its options were printed, or its threads started.
    is_table : bool
        Its rows are a report hook's, and the last of them is whole: nothing need follow.
    """

    def __init__(self, heading: Heading, line: int, room: Room) -> None:
        self.heading = heading
        self.line = line
        self.last_line = line
        self.started = False
        self.is_table = False
        self.threads: int | None = None
        self.rows = RowTable(room.spool)
        self.room = room
        self._fields: frozenset[str] = frozenset()
        self._names: frozenset[str] = frozenset()
        self._first_row_line = 0
        self.dropped: set[str] = set()
        self.final = Totals()
        self.checkpoints: list[Totals] = []
        self.totals = self.final

    @property
    def has_results(self) -> bool:
        """Whether there is anything to import."""
        return self.final.begun or len(self.rows) > 0 or bool(self.checkpoints)

    def begin_checkpoint(self, time_s: float) -> None:
        """Let what follows be the totals of a checkpoint."""
        self.totals = Totals(time_s)
        if self.room.checkpoints:
            self.room.checkpoints -= 1
            self.checkpoints.append(self.totals)
        else:
            self.dropped.add(f"the first {CHECKPOINTS_MAX} checkpoints")

    def end_checkpoint(self) -> None:
        """Let what follows be the totals of the run."""
        self.totals = self.final

    def pass_row(self, time_s: float) -> None:
        """Let a row end a checkpoint's totals; one of the same second may stand inside of them."""
        since = self.totals.checkpoint_s
        if since is None or self.totals.done or time_s > since + 1:
            self.end_checkpoint()

    def accepts(self, item: Item) -> bool:
        """Whether the item belongs to this run; a checkpoint's totals may end here."""
        if self.totals.accepts(item):
            return True
        if self.totals is self.final:
            return False
        self.end_checkpoint()
        return self.final.accepts(item)

    def line_without(self, row: Row, line: int) -> int:
        """Return the line of a row that lacks what other rows of the run have; 0 if none does.

        All rows of a run have the same fields, but for response times where nothing ended.
        """
        if row.values.keys() == self._names or "tps" not in row.values:
            return 0
        if row.has_voids or not row.whole:
            return 0
        fields = frozenset("latency" if "latency" in name else name for name in row.values)
        known, before = self._fields, self._first_row_line
        if fields > known:
            self._fields, self._first_row_line = fields, line
            return before if known - {"latency"} != fields - {"latency"} else 0
        if fields == known:
            self._names = frozenset(row.values)
        lacking = known - fields if row.values["tps"] else known - fields - {"latency"}
        return line if lacking else 0

    def end_with(self, row: Row) -> None:
        """Take the rates of a row that sums up the whole run, as the CSV hook prints at its end."""
        rates = {name: value for name, value in row.values.items() if name.endswith("_per_s")}
        self.final.values |= {"tps": row.values["tps"], "qps": row.values["qps"], **rates}

    def begin_histogram(self) -> None:
        """Let the lines that follow be buckets; each report prints its own before its totals."""
        if self.totals.begun and self.totals is not self.final:
            self.end_checkpoint()
        self.totals.section = "histogram"

    def add_bucket(self, value_s: float, count: int) -> None:
        """Take one line of a histogram."""
        if self.room.buckets:
            self.room.buckets -= 1
            self.totals.histogram.append((value_s, count))
        else:
            self.dropped.add(f"the first {BUCKETS_MAX} lines of histograms")


class Orphans:
    """Values that stand in front of the first sign of a run: the beginning of its log is lost."""

    def __init__(self) -> None:
        self._items: list[tuple[int, Item]] = []
        self._last_line = 0

    def add(self, item: Item, line: int) -> None:
        """Keep an item that begins no run; those of an earlier place belong to nothing."""
        if line - self._last_line > _ORPHANS_GAP:
            self._items.clear()
        self._last_line = line
        if len(self._items) < _ORPHANS_MAX and item.values:
            self._items.append((line, item))

    def join(self, draft: Draft, opener: Item) -> None:
        """Give the items to the run that begins with the opener right behind them.

        A head in the text says that nothing is lost in front of it; only the totals' second one
        may follow the end of the first part, which has rates.
        """
        items, self._items = self._items, []
        if not items or draft.line - self._last_line > _ORPHANS_GAP:
            return
        is_head = opener.label.kind is Kind.SECTION
        has_rates = any(item.label.second in item.values for _, item in items)
        if is_head and (opener.label.name != "general" or not has_rates):
            return
        draft.line = items[0][0]
        for line, item in items:
            draft.totals.add(item, line)


def find_gaps(draft: Draft, at_end: bool, torn: bool = False) -> Iterator[Problem]:
    """Yield what a run lacks that sysbench would have written.

    Parameters
    ----------
    draft : Draft
    at_end : bool
        Nothing follows it in the file.
    torn : bool
        The file ends inside of a line.
    """
    totals = draft.final
    values, sections = totals.values, totals.sections
    if not (draft.started or draft.has_results or draft.heading.banner or values):
        return
    for what in sorted(draft.dropped):
        yield Problem(draft.last_line, f"only {what} of a file are kept")
    if not totals.begun and draft.is_table and not (draft.started or draft.heading.banner):
        return
    if not totals.begun:
        said = draft.heading.messages
        why = f"; it said {said[0]!r}" if said else ""
        yield Problem(
            draft.last_line,
            f"the run that begins in line {draft.line} has no totals, expected "
            f"'SQL statistics:' or 'General statistics:'{why}",
        )
        return
    missing = [
        expected
        for section, name, expected in (
            ("sql", "transactions", "'transactions:' or 'queries performed:'"),
            ("general", "total_time_s", "'total time:'"),
            ("general", "events", "'total number of events:'"),
            ("latency", "latency_min", "'min:'"),
            ("latency", "latency_mean", "'avg:'"),
            ("latency", "latency_max", "'max:'"),
            ("fairness", "events_per_thread", "'events (avg/stddev):'"),
            ("fairness", "execution_s", "'execution time (avg/stddev):'"),
        )
        if section in sections and name not in values
    ]
    if at_end and not totals.done and _is_log(draft):
        missing += _missing_at_end(draft) or (["the rest of the last line"] if torn else [])
    if missing:
        yield Problem(
            draft.last_line,
            f"the totals of the run that begins in line {draft.line} break off, "
            f"expected {missing[0]}",
        )


def _is_log(draft: Draft) -> bool:
    """Whether this is output as it came, and not single lines that someone picked from it."""
    return bool(draft.final.sections or len(draft.rows) or draft.heading.banner)


def _missing_at_end(draft: Draft) -> list[str]:
    """Return what is expected where the file ends inside of a run's totals."""
    values = draft.final.values
    if "latency_min" not in values:
        return ["the response times ('min:', 'avg:', 'max:')"]
    if "event_execution_s" in values:
        has_percentile = any(name.startswith("latency_p") for name in values)
        return [] if has_percentile or not values.get("events") else ["'approx. 95 percentile:'"]
    return [] if "latency_sum_s" in values else ["'sum:'"]
