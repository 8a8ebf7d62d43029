"""HdrHistogram logs, format 1.3: one text line per interval and tag.

This module owns the text, the zlib stream and the headers around a histogram; the counts
themselves are encoded and decoded by ``_core.Histogram``. Lines follow the Java writer
(HistogramLogWriter): the second number is the interval's length, and the third its largest
value in milliseconds. Values are nanoseconds. Java, Python and C readers of HdrHistogram can
read these logs.

Tags are ``transaction.<name>`` and ``statement.<name>``; intervals outside the measurement
carry ``warmup.`` or ``drain.`` in front. What a tag may not hold is percent-encoded.
"""

import base64
import binascii
import re
import struct
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

from benchkit._core import Histogram
from benchkit.errors import BenchkitError, StoreError

Phase = Literal["warmup", "measurement", "drain"]

PHASE_PREFIX: dict[str, str] = {"warmup": "warmup.", "measurement": "", "drain": "drain."}
"""What stands before the tag of an interval in each phase of a run."""

_COOKIE = 0x1C849303 | 0x10  # version 2, counts as variable-length integers
_COMPRESSED_COOKIE = 0x1C849304 | 0x10
_WRAPPER = struct.Struct(">ii")  # cookie, length of the zlib stream
_HEADER = struct.Struct(">iiiiqqd")
# cookie, payload length, normalizing offset, digits, lowest, highest, conversion ratio

_LINE = re.compile(
    r"(?:Tag=(?P<tag>[^,\s]+),)?(?P<start>\d+(?:\.\d+)?),(?P<length>\d+(?:\.\d+)?),"
    r"(?P<max>\d+(?:\.\d+)?),(?P<payload>[A-Za-z0-9+/=]+)"
)
_START_TIME = re.compile(r"#\[StartTime: (\d+(?:\.\d+)?)")
_LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'


def format_header(start_epoch_s: float) -> str:
    """Return the first lines of a log.

    Parameters
    ----------
    start_epoch_s : float
        What the lines' start times count from, in seconds since 1970.
    """
    utc = time.strftime("%a %b %d %H:%M:%S UTC %Y", time.gmtime(start_epoch_s))
    return (
        "#[Histogram log format version 1.3]\n"
        f"#[StartTime: {start_epoch_s:.3f} (seconds since epoch), {utc}]\n"
        f"{_LEGEND}\n"
    )


def format_line(tag: str, start_s: float, length_s: float, histogram: Histogram) -> str:
    """Return one interval as a line, with its line break.

    Parameters
    ----------
    tag : str
        What was measured, such as ``"transaction.oltp_read_only"``.
    start_s, length_s : float
        When the interval began, counted from the log's start time, and how long it was.
    histogram : Histogram
        Of nanoseconds.
    """
    largest_ms = histogram.max / 1e6 if histogram.total else 0.0
    payload = base64.b64encode(_compress(histogram)).decode("ascii")
    name = quote(tag, safe="/:")
    return f"Tag={name},{start_s:.3f},{length_s:.3f},{largest_ms:.3f},{payload}\n"


def _compress(histogram: Histogram) -> bytes:
    counts = histogram.encode()
    header = _HEADER.pack(_COOKIE, len(counts), 0, histogram.digits, 1, histogram.highest, 1.0)
    stream = zlib.compress(header + counts)
    return _WRAPPER.pack(_COMPRESSED_COOKIE, len(stream)) + stream


@dataclass(frozen=True, slots=True)
class LogLine:
    """One interval of one tag; its counts stay encoded until they are asked for.

    Parameters
    ----------
    number : int
        The line's number in its file, from 1.
    tag : str
        Empty where the line has none.
    start_s, length_s, max_ms : float
    payload : str
        The base64 text of the compressed histogram.
    """

    number: int
    tag: str
    start_s: float
    length_s: float
    max_ms: float
    payload: str

    def histogram(self) -> Histogram:
        """Return the counts.

        Raises
        ------
        StoreError
            If the line is damaged.
        """
        try:
            return _expand(base64.b64decode(self.payload, validate=True))
        except (binascii.Error, zlib.error, struct.error, ValueError, BenchkitError) as error:
            raise StoreError(f"line {self.number} holds a damaged histogram: {error}") from error


def _expand(data: bytes) -> Histogram:
    cookie, length = _WRAPPER.unpack_from(data)
    if cookie != _COMPRESSED_COOKIE:
        raise ValueError(f"its cookie is {cookie:#x}; {_COMPRESSED_COOKIE:#x} is supported")
    if len(data) != _WRAPPER.size + length:
        raise ValueError(f"{len(data) - _WRAPPER.size} bytes are there, {length} are announced")
    plain = zlib.decompress(data[_WRAPPER.size :])
    cookie, length, offset, digits, lowest, highest, _ratio = _HEADER.unpack_from(plain)
    if (cookie, offset, lowest) != (_COOKIE, 0, 1):
        raise ValueError(
            f"it has cookie {cookie:#x}, offset {offset} and lowest value {lowest}; "
            f"{_COOKIE:#x}, 0 and 1 are supported"
        )
    return Histogram.decode(plain[_HEADER.size : _HEADER.size + length], highest, digits)


@dataclass(frozen=True, slots=True)
class HistogramLog:
    """A parsed log.

    Parameters
    ----------
    start_epoch_s : float or None
        What the lines' start times count from; None where the log does not say.
    lines : tuple of LogLine
    torn : bool
        The last line was cut off in mid-write, and is left out.
    """

    start_epoch_s: float | None
    lines: tuple[LogLine, ...]
    torn: bool

    @property
    def tags(self) -> tuple[str, ...]:
        """Every tag once, in order of appearance."""
        return tuple(dict.fromkeys(line.tag for line in self.lines))

    def merged(self, tags: Iterable[str]) -> Histogram | None:
        """Return all intervals of these tags as one histogram; None if there is none."""
        wanted = set(tags)
        return merge_histograms(line.histogram() for line in self.lines if line.tag in wanted)


def merge_histograms(histograms: Iterable[Histogram]) -> Histogram | None:
    """Add up histograms of one layout into the first of them; None if there is none."""
    total: Histogram | None = None
    for histogram in histograms:
        if total is None:
            total = histogram
        else:
            total.merge(histogram)
    return total


def parse(text: str) -> HistogramLog:
    """Return a log's lines.

    A last line without line break that cannot be read was being written when its writer died;
    it is left out and `torn` is set.

    Raises
    ------
    StoreError
        If any other line is not a line of a histogram log; the message has its number.
    """
    start = _START_TIME.search(text)
    lines: list[LogLine] = []
    torn = False
    for number, line, whole in _numbered(text):
        parsed = _parse_line(number, line)
        if whole or (parsed and _readable(parsed)):
            lines.append(_must_be_line(parsed, number, line))
        else:
            torn = True
    return HistogramLog(float(start[1]) if start else None, tuple(lines), torn)


def _numbered(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the number and text of each line with data, and whether its line break is there."""
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if not line.isspace() and not line.startswith(("#", '"')):
            yield number, line.rstrip("\r\n"), line.endswith("\n")


def _parse_line(number: int, line: str) -> LogLine | None:
    match = _LINE.fullmatch(line)
    if not match:
        return None
    start, length, largest = (float(match[name]) for name in ("start", "length", "max"))
    return LogLine(number, unquote(match["tag"] or ""), start, length, largest, match["payload"])


def _readable(line: LogLine) -> bool:
    try:
        line.histogram()
    except StoreError:
        return False
    return True


def _must_be_line(line: LogLine | None, number: int, text: str) -> LogLine:
    if line is None:
        raise StoreError(
            f"line {number} is {text[:40]!r}; it should be "
            "'Tag=<tag>,<start>,<length>,<max>,<histogram>'"
        )
    return line
