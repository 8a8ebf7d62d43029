"""The labels of sysbench's totals, of every version and test, and how their values are read.

One table says for each label what kind of value it has, what it is called here, and in which
section it means that: ``min:`` is a response time below ``Latency (ms):`` and nothing elsewhere.
Labels are compared without blanks and case, so that glued columns are no different.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from benchkit.importers.source import DAMAGE
from benchkit.importers.sysbench_rows import is_damaged, latency_name, seconds


class Kind(Enum):
    """What stands behind a label."""

    SECTION = "a section's head"
    COUNT = "a number"
    RATED = "a number and its rate in parentheses"
    SECONDS = "a time in seconds"
    LATENCY = "a response time"
    PAIR = "a mean and a deviation"
    DISABLED = "nothing of use"


@dataclass(frozen=True, slots=True)
class Label:
    """One label.

    Parameters
    ----------
    kind : Kind
    name : str
        Of its value, or of the section.
    second : str
        The name of the rate, or of the deviation; of a section, ``"first"`` where a run's totals
        may begin with it, and ``"units"`` where each value has its own.
    sections : tuple of str
        Where it has this meaning; empty for everywhere.
    decimals : int
        Of a count, as printed: most have none.
    """

    kind: Kind
    name: str
    second: str = ""
    sections: tuple[str, ...] = ()
    decimals: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """A label that was found, with its values by name.

    Parameters
    ----------
    label : Label
    values : mapping of str to number
        Empty for a section; what could not be read is missing.
    unit : str
        Of a section whose head names one.
    cut : bool
        The value is missing or breaks off.
    """

    label: Label
    values: Mapping[str, float] = field(default_factory=dict)
    unit: str = ""
    cut: bool = False


_SQL = ("sql", "")
_TIMES = ("latency", "general")
_LABELS = {
    "SQL statistics": Label(Kind.SECTION, "sql", "first"),
    "OLTP test statistics": Label(Kind.SECTION, "sql", "first"),
    "queries performed": Label(Kind.SECTION, "sql", "first"),
    "General statistics": Label(Kind.SECTION, "general", "first"),
    "Test execution summary": Label(Kind.SECTION, "general", "first"),
    "Throughput": Label(Kind.SECTION, "throughput"),
    "Latency": Label(Kind.SECTION, "latency"),
    "Latency (ms)": Label(Kind.SECTION, "latency"),
    "Latency (us)": Label(Kind.SECTION, "latency"),
    "Latency (s)": Label(Kind.SECTION, "latency"),
    "response time": Label(Kind.SECTION, "latency", "units"),
    "per-request statistics": Label(Kind.SECTION, "latency", "units"),
    "Threads fairness": Label(Kind.SECTION, "fairness"),
    "File operations": Label(Kind.SECTION, "fileio", "first"),
    "CPU speed": Label(Kind.SECTION, "cpu", "first"),
    "Query execution statistics": Label(Kind.SECTION, "debug"),
    "Results fetching statistics": Label(Kind.SECTION, "debug"),
    "Verbose per-thread statistics": Label(Kind.SECTION, "debug"),
    "read": Label(Kind.COUNT, "reads", sections=_SQL),
    "write": Label(Kind.COUNT, "writes", sections=_SQL),
    "other": Label(Kind.COUNT, "others", sections=_SQL),
    "total": Label(Kind.COUNT, "total", sections=_SQL),
    "transactions": Label(Kind.RATED, "transactions", "tps"),
    "queries": Label(Kind.RATED, "queries", "qps"),
    "deadlocks": Label(Kind.RATED, "deadlocks", "deadlocks_per_s"),
    "read/write requests": Label(Kind.RATED, "rw_requests", "rw_per_s"),
    "other operations": Label(Kind.RATED, "other_operations", "other_per_s"),
    "ignored errors": Label(Kind.RATED, "errors", "errors_per_s"),
    "reconnects": Label(Kind.RATED, "reconnects", "reconnects_per_s"),
    "total time": Label(Kind.SECONDS, "total_time_s"),
    "time elapsed": Label(Kind.SECONDS, "total_time_s"),
    "total number of events": Label(Kind.COUNT, "events"),
    "total time taken by event execution": Label(
        Kind.SECONDS, "event_execution_s", sections=("general", "")
    ),
    "events/s (eps)": Label(Kind.COUNT, "eps", decimals=4),
    "events per second": Label(Kind.COUNT, "events_per_s", decimals=2),
    "min": Label(Kind.LATENCY, "latency_min", sections=_TIMES),
    "avg": Label(Kind.LATENCY, "latency_mean", sections=_TIMES),
    "max": Label(Kind.LATENCY, "latency_max", sections=_TIMES),
    "sum": Label(Kind.LATENCY, "latency_sum_s", sections=_TIMES),
    "percentile stats": Label(Kind.DISABLED, "percentile_disabled"),
    "events (avg/stddev)": Label(Kind.PAIR, "events_per_thread", "events_per_thread_sd"),
    "execution time (avg/stddev)": Label(Kind.PAIR, "execution_s", "execution_sd_s"),
    "reads/s": Label(Kind.COUNT, "file_reads_per_s", decimals=2),
    "writes/s": Label(Kind.COUNT, "file_writes_per_s", decimals=2),
    "fsyncs/s": Label(Kind.COUNT, "fsyncs_per_s", decimals=2),
    "read, MiB/s": Label(Kind.COUNT, "read_mib_per_s", decimals=2),
    "written, MiB/s": Label(Kind.COUNT, "written_mib_per_s", decimals=2),
    "Total operations": Label(Kind.RATED, "operations", "events_per_s"),
    "Operations performed": Label(Kind.RATED, "operations", "events_per_s"),
    "Number of unfinished transactions on forced shutdown": Label(Kind.COUNT, "unfinished"),
}


def _bare(label: str) -> str:
    return "".join(label.split()).lower()


_BY_BARE = {_bare(text): label for text, label in _LABELS.items()}
_BEHIND = {
    bare: label
    for bare, label in _BY_BARE.items()
    if len(bare) > 8 and label.kind in (Kind.RATED, Kind.SECONDS, Kind.PAIR)
}
"""Labels that are known even with something unknown in front of them in the line."""

_VALUE_LABELS = (
    *(bare for bare, label in _BY_BARE.items() if label.kind is not Kind.SECTION),
    "approx.95percentile",
    "95thpercentile",
)
_BEGINNINGS = (*_BY_BARE, "approx.95percentile", "95thpercentile")
_PERCENTILE = re.compile(r"(?:approx\.?)?(\d{1,3}(?:\.\d{1,3})?)(?:th|st|nd|rd)?(?:percentile)?")
_NUMBER = r"[-+]?(?:\d{1,40}(?:\.\d{0,12})?(?:e[-+]?\d{1,3})?|nan|inf)"
_VALUE = re.compile(rf"\s{{0,80}}({_NUMBER})", re.IGNORECASE)
_RATE = re.compile(
    rf"\s{{0,20}}\(\s{{0,8}}({_NUMBER})\s?(?:per\s?sec|ops/sec)[a-z.]{{0,4}}\s?\)?", re.I
)
_UNIT = re.compile(r"(?:([mun]?s)(?!um)|\s([mun]?s)(?![a-z]))")
_PAIR = re.compile(rf"\s{{0,80}}({_NUMBER})\s?/\s?({_NUMBER})", re.IGNORECASE)
_IOPS = re.compile(
    rf"(read|write|fsync)\s?:\s{{0,8}}IOPS=({_NUMBER})(?:\s{{1,8}}({_NUMBER})\s?MiB/s)?",
    re.IGNORECASE,
)
_IOPS_NAMES = {
    "read": ("file_reads_per_s", "read_mib_per_s"),
    "write": ("file_writes_per_s", "written_mib_per_s"),
    "fsync": ("fsyncs_per_s", ""),
}
_VALUE_BEFORE = re.compile(r"^\d+\.\d+[mun]?s(?=[a-z])")
"""The value of the label before, where a line was broken between the two."""

_ASCII = re.compile(rf"[\x00-\x7f{DAMAGE}]*")
_COLONS_MAX = 200
_WORDS = re.compile(
    "read|write|written|transferred|requests|other|total|transactions|queries|statistics"
    "|deadlocks|errors|reconnects|time|events"
    "|min|avg|max|sum|percentile|95th|99th|latency|throughput|fairness|fsync|operations|speed"
    "|summary|shutdown",
    re.IGNORECASE,
)
_TRANSFERRED = re.compile(
    rf"({_NUMBER})\s?(Mi?B) transferred \(({_NUMBER}) ?Mi?B/sec\)", re.IGNORECASE
)
_OLD_FILEIO = re.compile(
    r"Operations performed\s?:\s{0,8}(\d{1,20}) Reads?, (\d{1,20}) Writes?, (\d{1,20}) Other",
    re.IGNORECASE,
)
_OLD_VOLUME = re.compile(
    rf"Read ({_NUMBER})([KMGT]?)b\s{{1,4}}Written ({_NUMBER})([KMGT]?)b\s{{1,4}}Total transferred "
    rf"({_NUMBER})([KMGT]?)b\s{{1,4}}\(({_NUMBER})([KMGT]?)b/sec\)",
    re.IGNORECASE,
)
_REQUESTS = re.compile(rf"({_NUMBER})\s{{1,4}}Requests/sec executed", re.IGNORECASE)
_SPECIAL = (_IOPS, _TRANSFERRED, _OLD_FILEIO, _OLD_VOLUME, _REQUESTS)
_SPECIAL_WORDS = re.compile("IOPS=|transferred|Requests/sec|Operations performed", re.IGNORECASE)
_WHOLE_TO_THE_END = re.compile(rf"^[^{DAMAGE}]*(?:[a-z)]|\.\d\d){DAMAGE}$")
_FILE_COUNTS = ("file_reads", "file_writes", "file_others")
_VOLUMES = ("read_mib", "written_mib", "transferred_mib", "transferred_mib_per_s")
_MIB = {"": 2.0**-20, "k": 2.0**-10, "m": 1.0, "g": 2.0**10, "t": 2.0**20}


def find_items(text: str, section: str, unit: str) -> Iterator[Item]:
    """Yield the labels of a line with their values, in order; usually none or one.

    Parameters
    ----------
    text : str
    section, unit : str
        The section that the line stands in, and its unit of time.
    """
    if not _WORDS.search(text):
        return
    if special := _special_item(text):
        lost = DAMAGE in text and not _WHOLE_TO_THE_END.search(text)
        yield Item(special.label, cut=True) if lost else special
        return
    for number in range(_COLONS_MAX):
        before, colon, text = text.partition(":")
        if not colon:
            return
        label = _find_label(before, section)
        if not label or (
            label.sections and not section and (number or not text.strip().isdecimal())
        ):
            continue
        if label.kind is Kind.SECTION:
            section = label.name
            unit = "" if label.second == "units" else _unit_of(before)
            yield Item(label, unit=unit)
            continue
        item, length = _read_value(label, text, unit)
        text = text[length:]
        is_rated = section == "sql" or label.name == "operations"
        if is_rated and label.second not in ("", *item.values) and not text.strip(DAMAGE):
            item = Item(label, cut=True)  # the rate is always printed, so the count is cut as well
        yield item


def split_special(text: str) -> list[str]:
    """Return the parts of a line in which others stand before or behind one that has no label.

    Usually that is the line; but line breaks may be lost.
    """
    if not _SPECIAL_WORDS.search(text):
        return [text]
    found = (match.span() for each in _SPECIAL for match in each.finditer(text))
    parts = []
    end = 0
    for start, stop in sorted(found):
        parts += [text[end:start], text[start:stop]]
        end = max(end, stop)
    parts.append(text[end:])
    is_one = len(parts) <= 3 and not any(":" in part for part in parts[::2])
    return [text] if is_one else [part for part in parts if part]


def is_fragment(text: str) -> bool:
    """Whether a line is the beginning of a label, or less: a file may have been cut there."""
    bare = _with_usual_rank(text.rstrip(DAMAGE))
    return any(label.startswith(bare) for label in _BEGINNINGS)


def is_cut_label(text: str) -> bool:
    """Whether a line is the beginning of a value's label, and nothing else: the value is lost."""
    bare = _with_usual_rank(text)
    return len(bare) > 2 and any(label.startswith(bare) for label in _VALUE_LABELS)


def _with_usual_rank(text: str) -> str:
    """Return the beginning of a text as a label, any percentile as the 95th."""
    return re.sub(r"\d{1,3}", "95", _bare(text[:80]))


def _find_label(before: str, section: str) -> Label | None:
    before = before[-200:]
    if not before.isascii():
        before = _behind_other_words(before)
    bare = _VALUE_BEFORE.sub("", _bare(before.strip(" \t,;|>*#-")))
    label = _BY_BARE.get(bare) or _percentile_label(bare)
    if label is None:
        label = next((known for end, known in _BEHIND.items() if bare.endswith(end)), None)
    if label and (not label.sections or section in label.sections):
        return label
    return None


def _behind_other_words(text: str) -> str:
    """Return what stands behind the last word that is not English, as all labels are."""
    words = text.split()
    others = [place for place, word in enumerate(words, 1) if not _ASCII.fullmatch(word)]
    return " ".join(words[others[-1] :]) if others else text


def _percentile_label(bare: str) -> Label | None:
    match = _PERCENTILE.fullmatch(bare)
    if not match or bare.isdecimal():
        return None
    return Label(Kind.LATENCY, latency_name(match[1]), sections=_TIMES)


def _unit_of(head: str) -> str:
    match = re.search(r"\(([mun]?s)\)", head)
    return match[1] if match else "ms"


def _read_value(label: Label, text: str, unit: str) -> tuple[Item, int]:
    """Return the label with its value, and how much of the text that took.

    A number that breaks off, or is damaged, is none.
    """
    if label.kind is Kind.DISABLED:
        return Item(label, {label.name: 1}), 0
    match = (_PAIR if label.kind is Kind.PAIR else _VALUE).match(text)
    if not match:
        return Item(label, cut=not text.lstrip().startswith("N/A")), 0
    values, end = _READERS[label.kind](label, match, text, unit)
    return Item(label, values, cut=len(values) < _expected(label, text, end)), end


def _expected(label: Label, text: str, end: int) -> int:
    """Return how many values there should be: a rate only where its parenthesis is opened."""
    if label.kind is Kind.RATED:
        return 1 + (text[end - 1 : end] == ")" or text[end : end + 20].lstrip()[:1] == "(")
    return 2 if label.kind is Kind.PAIR else 1


def _read_pair(
    label: Label, match: re.Match[str], text: str, unit: str
) -> tuple[dict[str, float], int]:
    values = {label.name: _number(match[1])}
    if not _breaks_off(match[2], text, match.end(), decimals=2):
        values[label.second] = _number(match[2])
    return values, match.end()


def _read_count(
    label: Label, match: re.Match[str], text: str, unit: str
) -> tuple[dict[str, float], int]:
    number, end = match[1], match.end()
    if _breaks_off(number, text, end, label.decimals) or ("." in number and not label.decimals):
        return {}, end
    return {label.name: _number(number)}, end


def _read_rated(
    label: Label, match: re.Match[str], text: str, unit: str
) -> tuple[dict[str, float], int]:
    values, end = _read_count(label, match, text, unit)
    rate = _RATE.match(text, end)
    if rate:
        values[label.second] = _number(rate[1])
    return values, rate.end() if rate else end


def _read_time(
    label: Label, match: re.Match[str], text: str, unit: str
) -> tuple[dict[str, float], int]:
    number, end = match[1], match.end()
    written = _UNIT.match(text, end)
    if written:
        unit = written[1] or written[2]
        return {label.name: seconds(number, unit)}, written.end()
    in_seconds = label.kind is Kind.SECONDS
    unit = "s" if in_seconds else unit
    has_decimals = len(number.partition(".")[2]) >= 2 or not number[-1].isdecimal()
    if not unit or not has_decimals or _breaks_off(number, text, end, 4 if in_seconds else 2):
        return {}, end
    return {label.name: seconds(number, unit)}, end


_READERS = {
    Kind.PAIR: _read_pair,
    Kind.COUNT: _read_count,
    Kind.RATED: _read_rated,
    Kind.SECONDS: _read_time,
    Kind.LATENCY: _read_time,
}


def _breaks_off(number: str, text: str, end: int, decimals: int) -> bool:
    """Whether digits of a number are lost: it is cut, or something else stands between them.

    A number with fewer decimals than are always printed is cut. At a place where bytes are lost,
    or the file ends, one without decimals may be.
    """
    if number.endswith(".") or is_damaged(text, end):
        return True
    if not decimals:
        return text.startswith(DAMAGE, end)
    return (
        number[-1].isdecimal()
        and len(number.partition(".")[2]) < decimals
        and "e" not in number.lower()
    )


def _number(text: str) -> float:
    """Return an int where there is no fraction; counters of any length are kept exactly."""
    return int(text) if text.lstrip("-+").isdecimal() else float(text)


def _special_item(text: str) -> Item | None:
    """Return the values of the lines that are no ``label: value``."""
    if match := _IOPS.search(text):
        rate, volume = _IOPS_NAMES[match[1].lower()]
        values = {rate: _number(match[2])}
        if volume and match[3]:
            values[volume] = _number(match[3])
        return Item(Label(Kind.COUNT, rate), values)
    if match := _TRANSFERRED.search(text):
        values = {"transferred_mib": float(match[1]), "transferred_mib_per_s": float(match[3])}
        return Item(Label(Kind.COUNT, "transferred_mib"), values)
    if match := _OLD_FILEIO.search(text):
        values = dict(zip(_FILE_COUNTS, map(_number, match.groups()), strict=True))
        return Item(Label(Kind.COUNT, "file_reads"), values)
    if match := _OLD_VOLUME.search(text):
        pairs = zip(match.groups()[::2], match.groups()[1::2], strict=True)
        volumes = [float(number) * _MIB[scale.lower()] for number, scale in pairs]
        return Item(Label(Kind.COUNT, "read_mib"), dict(zip(_VOLUMES, volumes, strict=True)))
    if match := _REQUESTS.search(text):
        return Item(Label(Kind.COUNT, "events_per_s"), {"events_per_s": float(match[1])})
    return None
