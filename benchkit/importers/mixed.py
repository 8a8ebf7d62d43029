"""Files that hold the output of several tools: a terminal's text, or files that were joined.

Whatever reads such a file as one format passes over the rest, and says nothing. So while a file
is read, its lines are watched for results that only another kind of output has; where there are
some, each kind is read from its own parts. What stands between two parts, and may be the head of
the second, is in both: readers pass over what is not theirs.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchkit.importers.model import ImportFormatError
from benchkit.importers.source import Line

_SWITCHES_MAX = 10_000
"""Changes of kind in a file that are followed; where there are more, lines alternate."""

_TEXT_MAX = 10_000
_BLOCK_CHARACTERS = 1 << 14
_HTML_HEADING = (
    r"<(?:h\d|td|th|caption)\b[^<>]{0,200}>\s*"
    r"(?:Comparison: ?\w|(?:System|Database|Test) Info \(per dataset\))"
)
_OPENS_JSON = re.compile(r"\s*[\[{]\s*")


@dataclass(frozen=True, slots=True)
class _Signs:
    """How one kind of output is known.

    Parameters
    ----------
    words : tuple of str
        One of them is in every line that `result` is in: they are found faster.
    result : pattern
        What only results of this kind have.
    own : pattern
        What only this kind of output has: results, and their heads.
    """

    words: tuple[str, ...]
    result: re.Pattern[str]
    own: re.Pattern[str]


def _heading(words: tuple[str, ...], start: str) -> _Signs:
    """Return the signs of what is known by the line that it starts with, and by no other."""
    pattern = re.compile(f"^(?:{start})")
    return _Signs(words, pattern, pattern)


SYSBENCH_BANNER = r"sysbench v?\d{1,3}\.\d[\w.-]*(?:\s?:\s+multi-?threaded| \(using)"
"""The first line of sysbench, of all versions."""

SIGNS = {
    "sysbench": _Signs(
        ("thds:", "threads:", "statistics:"),
        re.compile(
            r"\[\s{0,5}\d{1,8}s ?\] (?:thds|threads): ?\d+,? ?(?:tps|eps): ?\d"
            r"|(?:SQL|OLTP test|General) statistics:"
        ),
        re.compile(
            rf"{SYSBENCH_BANNER}"
            r"|\bsysbench\b.{1,2000}\brun\b"
            r"|\[\s{0,5}\d{1,8}s ?\] (?:thds|threads):|(?:SQL|OLTP test|General) statistics:"
            r"|Running the test with following options:|Test execution summary:|Threads fairness:"
            r"|total number of events:|\d ?(?:th )?percentile:|\((?:avg/stddev|ops/sec)\):"
            r"|Number of threads:|transactions: +\d"
        ),
    ),
    "hammerdb": _Signs(
        ("achieved", ">>>>> ", '"activevu"'),
        re.compile(
            r"System\s{0,9}achieved\s{0,9}[\d,.]+.{0,80}(?:NOPM|TPM)|>>>>> (?:PROC|SUMMARY OF \d)"
            r'|"activevu"\s*:'
        ),
        re.compile(
            r"System\s{0,9}achieved|HammerDB CLI v|Hammerdb (?:Log|Time Profile Report|Transaction"
            r" Counter Log) @|hammerdb>|Vuser \d+\s?:|>>>>> (?:PROC|VIRTUAL USER|SUMMARY OF)"
            r"|\d [A-Z]\w+(?: Server)? (?:tpm|qph)\b|query set\(s\) in|\bjobid\b|RATIO:"
            r'|TPROC-[CH] Jobs|"(?:activevu|p99_ms|usr%|elapsed_ms)"\s*:|CALLS: \d|vudestroy',
            re.IGNORECASE,
        ),
    ),
    "taf report": _Signs(
        ("(per dataset)",),
        re.compile(r"^[^<]{0,80}(?:System|Database|Test) Info \(per dataset\)"),  # not HTML's
        re.compile(
            r"^\W{0,20}(?:Comparison: \S|(?:System|Database|Test) Info \(per dataset\)"
            r"|Thread Count: ?\d+\s*$|Config Contents\b|Iteration \d+\b|Skewness\b|StdDev\b)"
            r"|\bby Thread Count\b"
        ),
    ),
    "taf text": _Signs(
        ("=== Performance Report",),
        re.compile(r"=== Performance Report"),
        re.compile(
            r"(?:^|\W)(?:={3}|-{3}) [A-Z][\w :-]{2,80} (?:={3}|-{3})"
            r"|Thread Count: ?\d+ {1,9}\| {1,9}Iteration: ?\d"
        ),
    ),
    "taf json": _Signs(
        ('"thread_count"',),
        re.compile(r'"thread_count" *:'),
        re.compile(r'"(?:thread_count|iteration_id|primary|metadata|iterations)" *:'),
    ),
    "taf html": _Signs(
        ("(per dataset)", "Comparison:"),
        re.compile(_HTML_HEADING),
        re.compile(rf"^\s*<(?:!doctype )?html\b|{_HTML_HEADING}", re.IGNORECASE),
    ),
    "taf csv": _heading(("::value", "::unit", "::type"), r'"?(?:[\w ]+"?,"?)*\w+::\w+"?,'),
    "taf raw dump": _heading(("=== Raw",), r"=== Raw Results Dump ==="),
    "percent table": _heading(("umber of threads",), r"\s*[Nn]umber of threads\s*$"),
}


def kind_of(family: str, name: str) -> str:
    """Return what kind of output a format's files hold, of those that are told apart here."""
    return name if family == "taf" else family


class Watch:
    """Passes the lines of a file on, and sees which other kinds of output have results in it.

    Parameters
    ----------
    lines : iterable of Line
    kind : str
        What the file is read as.
    kinds : iterable of str
        What may be in it as well.

    Attributes
    ----------
    others : dict of str to int
        The kinds that were seen, each with the number of the line.
    """

    def __init__(self, lines: Iterable[Line], kind: str, kinds: Iterable[str]) -> None:
        self.others: dict[str, int] = {}
        self._lines = iter(lines)
        signs = {each: SIGNS[each] for each in kinds if each in SIGNS and each != kind}
        self._words = [(word, each) for each, known in signs.items() for word in known.words]

    def __iter__(self) -> Iterator[Line]:
        for block in _blocks(self._lines):
            self._look(block)
            yield from block

    def finish(self) -> None:
        """Look at the lines that were not asked for."""
        for _ in self:
            pass

    def _look(self, block: Sequence[Line]) -> None:
        """Look for results in a block of lines, nearly all of which have no word of them."""
        text = "\n".join([line.text for line in block])
        for word, kind in self._words:
            if kind in self.others or word not in text:
                continue
            result = SIGNS[kind].result
            told = (x for x in block if word in x.text and result.search(x.text, 0, _TEXT_MAX))
            if (line := next(told, None)) is not None:
                self.others[kind] = line.number


def _blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield the lines by blocks: a word is sooner found in one long text than in many short."""
    block: list[Line] = []
    left = _BLOCK_CHARACTERS
    for line in lines:
        block.append(line)
        left -= len(line.text) + 1
        if left < 0:
            yield block
            block, left = [], _BLOCK_CHARACTERS
    if block:
        yield block


@dataclass(slots=True)
class Parts:
    """Which lines of a file belong to which kind; those between two parts to both.

    Parameters
    ----------
    starts, ends : dict of str to list of int
        The first and the last line of each part, by kind.
    firsts : dict of str to int
        The first line that only this kind has; the kinds in the order of the file.
    """

    starts: dict[str, list[int]] = field(default_factory=dict)
    ends: dict[str, list[int]] = field(default_factory=dict)
    firsts: dict[str, int] = field(default_factory=dict)

    def of(self, kind: str, lines: Iterable[Line]) -> Iterator[Line]:
        """Return a kind's own lines of a file."""
        starts, ends = self.starts.get(kind, []), self.ends.get(kind, [])
        for line in lines:
            place = bisect_right(starts, line.number) - 1
            if place >= 0 and line.number <= ends[place]:
                yield line

    def add(self, kind: str, start: int, end: int) -> None:
        """Add a part that comes after all others."""
        self.starts.setdefault(kind, []).append(start)
        self.ends.setdefault(kind, []).append(end)


def find_parts(lines: Iterable[Line], kind: str, others: Iterable[str]) -> Parts:
    """Return the parts of a file that holds several kinds of output.

    Parameters
    ----------
    lines : iterable of Line
    kind : str
        What the file begins with, where nothing says otherwise.
    others : iterable of str
        What else has results in it.

    Raises
    ------
    ImportFormatError
        When the kinds alternate line by line.
    """
    signs = {each: SIGNS[each].own for each in (kind, *others) if each in SIGNS}
    finder = _Finder(kind)
    number = 0
    for line in lines:
        number = line.number
        found = {each: own.search(line.text, 0, _TEXT_MAX) for each, own in signs.items()}
        finder.take(line, {each: match.span() for each, match in found.items() if match})
        if finder.switches > _SWITCHES_MAX:
            raise ImportFormatError(
                f"outputs of {' and '.join(signs)} alternate more than {_SWITCHES_MAX} times: "
                "split the file by tool",
                number,
            )
    finder.parts.add(finder.kind, finder.start, number)
    return finder.parts


class _Finder:
    """Finds where one kind of output ends and another begins."""

    def __init__(self, kind: str) -> None:
        self.parts = Parts()
        self.kind = kind
        self.start = 0
        self.switches = 0
        self._after_own = 0
        self._opening = 0

    def take(self, line: Line, owners: Mapping[str, tuple[int, int]]) -> None:
        """Take a line, and where in it which kinds have something of their own."""
        if not owners:
            if not self._opening and _OPENS_JSON.fullmatch(line.text):
                self._opening = line.number
            return
        if other := self._next_kind(owners):
            goes_on = self.kind in owners
            last = self._opening if self._opening and '"' in line.text else line.number
            self.parts.add(self.kind, self.start, line.number if goes_on else last - 1)
            self.start = line.number if goes_on else self._after_own
            self.kind = other
            self.switches += 1
        self.parts.firsts.setdefault(self.kind, line.number)
        self._after_own = line.number + 1
        self._opening = 0

    def _next_kind(self, owners: Mapping[str, tuple[int, int]]) -> str:
        """Return the kind that begins in a line; empty where this one goes on.

        A line of both is the end of one and the beginning of the other, unless both are known by
        the same words.
        """
        if self.kind not in owners:
            return next(iter(owners))
        start, end = owners[self.kind]
        later = [kind for kind, span in owners.items() if span[0] >= end or span[1] <= start]
        return later[0] if later else ""
