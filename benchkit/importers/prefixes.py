"""What loggers, quoting and indenting put in front of each line of a transcript.

Time stamps and log levels are known by their look; anything else by being the same, but for its
numbers, in front of nearly every line. A format says which words begin its own lines, so that
what all of these have in common is not taken for a prefix.
"""

import re
from collections.abc import Sequence
from os.path import commonprefix

HEAD_LINES = 200
"""Lines that are looked at to learn a prefix."""

_LINES_MIN = 5
"""Of fewer, only an indentation is learned."""

_CENTRAL = 10
"""One line in so many may be without the prefix, at either end of the sorted lines."""

_LENGTH_MAX = 200
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_STAMP = (
    rf"[\[(]?(?:\d{{4}}[-/]\d\d[-/]\d\d[T ]{_CLOCK}"
    rf"|(?:[A-Z][a-z]{{2}},? )?{_MONTH} [ \d]\d {_CLOCK}(?: [A-Z]{{3,4}})?(?: \d{{4}})?"
    r"(?: [\w.-]{1,64} [\w./-]{1,64}(?:\[\d{1,9}\])?:)?"
    rf"|{_CLOCK}|\d{{10}}\.\d{{1,9}})[\])]?"
)
_LEVEL = (
    r"[\[<(]?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)[\]>)]?"
    r"(?::[a-z_][\w.]{0,40}(?=:))?"
)
_STREAM = r"std(?:out|err) [FP]"
_KNOWN = re.compile(rf"(?:{_STAMP}|{_LEVEL}|{_STREAM})(?:\s*[|:>]\s?|\s+-\s+|\s+|$)")
_NUMBERED = re.compile(r" *\d{1,7}\t")
_QUOTED = re.compile(r"(?:>\s?)+")
_DIGITS = re.compile(r"\d+")
_DIGIT = "\0"
_ONLY_NUMBERS = re.compile(r"[\0.,]+\s*")
_DELIMITER = re.compile(r"[\s:|>\])}#@,;-]")
_DATED = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")


class Prefixes:
    """What stands in front of the lines of one file.

    Parameters
    ----------
    head : sequence of str
        The file's first lines.
    own : pattern
        What the format's own lines have in them; no prefix goes beyond the first match.
    is_quotable : bool
        Whether lines may be quoted with ``>``. Otherwise, because the format's own begin with
        that, they may be numbered as ``cat -n`` does it; quotable ones only where all are.
    """

    def __init__(self, head: Sequence[str], own: re.Pattern[str], is_quotable: bool) -> None:
        self._sign = _QUOTED if is_quotable and not _is_numbered(head) else _NUMBERED
        self._learned: re.Pattern[str] | None = None
        self._learned = _learn([self.split(text)[1] for text in head[:HEAD_LINES]], own)

    def split(self, text: str) -> tuple[str, str]:
        """Return what stands in front of a line, and the line."""
        numbered = None if self._sign is _QUOTED else _NUMBERED.match(text)
        rest = text[numbered.end() :] if numbered else text
        for _ in range(5):
            match = _KNOWN.match(rest) or (self._sign is _QUOTED and _QUOTED.match(rest)) or None
            if match is None or not match.end():
                break
            rest = rest[match.end() :]
        if self._learned is not None and (match := self._learned.match(rest)):
            rest = rest[match.end() :]
        return text[: len(text) - len(rest)], rest

    def strip(self, text: str) -> str:
        """Return a line without what stands in front of it."""
        return self.split(text)[1]


def _is_numbered(head: Sequence[str]) -> bool:
    """Whether every line has its number in front of it."""
    numbers = [_NUMBERED.match(line) for line in head]
    return len(head) >= _LINES_MIN and all(
        match is not None and int(match[0]) == place for place, match in enumerate(numbers, 1)
    )


def date_in(prefix: str) -> str:
    """Return the date and time of a prefix such as ``[2026-11-30 16:36:14] ``; empty if none."""
    match = _DATED.search(prefix)
    return match[0] if match else ""


def _learn(lines: Sequence[str], own: re.Pattern[str]) -> re.Pattern[str] | None:
    """Return a pattern of what nearly all lines begin with; None where that is nothing."""
    shapes = sorted(_DIGITS.sub(_DIGIT, line[:_LENGTH_MAX]) for line in lines if line.strip())
    if len(shapes) < 2:
        return None
    few = len(shapes) // _CENTRAL
    shape = commonprefix([shapes[few], shapes[-1 - few]])
    if (match := own.search(shape)) is not None:
        shape = shape[: match.start()]
    ends = [match.end() for match in _DELIMITER.finditer(shape)]
    if not ends or _ONLY_NUMBERS.fullmatch(shape):
        return None
    if len(shapes) < _LINES_MIN and not shape.isspace():
        return None
    shape = shape[: ends[-1]]
    words = shape.rstrip()  # the rest may be the lines' own indentation
    parts = [re.escape(part) for part in (words or shape).split(_DIGIT)]
    return re.compile(r"\d+".join(parts) + (r"\s?" if words else ""))
