"""sysbench's interval rows: ``[ 10s ] thds: 8 tps: 1.00 qps: ...`` of every version.

Reads one row into numbers, by the names and in the units of `metrics.py`; keeps nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from benchkit.importers.source import DAMAGE

_NUMBER = r"-?(?:\d{1,24}(?:\.\d{1,12})?|nan|inf)"
_HEAD = re.compile(
    r"(?:\[\s{0,6}|^\s{0,8})(\d{1,9}(?:\.\d{1,9})?)\s?s\s{0,3}\]\s{0,4}(?:Intermediate results: )?"
    r"(?=thds|threads|\d{1,9} threads|tps|qps|eps|events|reads|queue|Checkpoint"
    r"|\d{1,12}\.\d\d Mi?B)"
)
_PLAIN = re.compile(
    r"\[ {1,4}(\d{1,9})s \] thds: (\d{1,7}) tps: (\d+\.\d\d) qps: (\d+\.\d\d) "
    r"\(r/w/o: (\d+\.\d\d)/(\d+\.\d\d)/(\d+\.\d\d)\) lat \(ms,(\d{1,3})%\): (\d+\.\d\d) "
    r"err/s:? (\d+\.\d\d) reconn/s:? (\d+\.\d\d)\s*"
)
_FIELD = re.compile(
    rf"""(?:thds|threads)\s?:\s{{0,8}}(?P<v1>\d{{1,9}})
    |(?P<v5>\d{{1,9}})\sthreads
    |(?P<end>min|max)\s?:\s{{0,8}}(?P<v6>{_NUMBER})(?P<u3>[mun]?s)
    |(?P<key>tps|qps|eps|events/s|reads/s|writes/s|reads|writes|errors/s|errors|err/s
      |reconnects/s|reconnects|reconn/s|fsyncs|queue\s?length|concurrency)
      \s?:?\s{{0,8}}(?P<v2>{_NUMBER})(?P<mib>\s?Mi?B/s)?
    |r/w/o\s?:\s{{0,8}}(?P<r>{_NUMBER})\s?/\s?(?P<w>{_NUMBER})\s?/\s?(?P<o>{_NUMBER})
    |lat(?:ency)?\s?\((?P<u1>[mun]?s)\s?,\s?(?P<p1>\d{{1,3}}(?:\.\d{{1,3}})?)\s?%\)
      \s?:?\s{{0,8}}(?P<v3>{_NUMBER})
    |(?:response\s?time|latency)\s?:\s{{0,8}}(?P<v4>{_NUMBER})\s?(?P<u2>[mun]?s)
      (?:\s?\((?P<p2>\d{{1,3}})\s?%\))?
    |(?P<rate>{_NUMBER})\s?Mi?B/sec
    """,
    re.VERBOSE,
)
_DECIMALS = re.compile(r"(?:\.\d\d(?:\d{4})?|nan|inf)\)?$")
_FRAGMENT = re.compile(r"[a-z/(][a-z/ (,\d%]{0,24}\)?:?\s{0,8}[\d.]{0,24}[mun]?")
_COMMA = re.compile(r"\d,\d")
_DECIMAL_COMMA = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d{1,15}),"
    r"(?=(?:\d{2}|\d{4}|\d{6})(?!\d|[.,]\d)|\d{3}\s?\|)"
)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,]|\s?\|)")
_NAMES = {
    "tps": "tps",
    "qps": "qps",
    "eps": "events_per_s",
    "events/s": "events_per_s",
    "reads": "reads_per_s",
    "reads/s": "reads_per_s",
    "writes": "writes_per_s",
    "writes/s": "writes_per_s",
    "err/s": "errors_per_s",
    "errors": "errors_per_s",
    "errors/s": "errors_per_s",
    "reconn/s": "reconnects_per_s",
    "reconnects": "reconnects_per_s",
    "reconnects/s": "reconnects_per_s",
    "fsyncs": "fsyncs_per_s",
    "queuelength": "queue_length",
    "concurrency": "concurrency",
}
_MIB_NAMES = {"reads_per_s": "read_mib_per_s", "writes_per_s": "written_mib_per_s"}
_RANK = r"\d{1,3}(?:\.\d{1,3})?(?:th|st|nd|rd)? ?percentile"
_MORE_DIGITS = re.compile(rf"[^\s\d/()]\d| (?!{_RANK})\d|{DAMAGE}.")
_POWERS = {"s": 0, "ms": -3, "us": -6, "ns": -9}


@dataclass(frozen=True, slots=True)
class Row:
    """One interval row.

    Parameters
    ----------
    time_s : float
        As printed: since the start of the run.
    values : mapping of str to float
        By the names of ``metrics.py``, in its units; ``threads``, ``queue_length`` and
        ``concurrency`` besides.
    whole : bool
        False where the row breaks off.
    has_voids : bool
        Whether it has ``nan`` in place of a number, which is then not in `values`.
    """

    time_s: float
    values: Mapping[str, float]
    whole: bool = True
    has_voids: bool = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """``[ 30s ] Checkpoint report:``: the totals that follow are not the last."""

    time_s: float


def seconds(number: str, unit: str) -> float:
    """Return a printed time in seconds, rounded once: ``"5.47"``, ``"ms"`` gives 0.00547."""
    if number[-1].isdecimal() and "e" not in number.lower():
        return float(f"{number}e{_POWERS[unit]}")
    return float(number) * 10.0 ** _POWERS[unit]


def is_damaged(text: str, end: int) -> bool:
    """Whether what stands right behind a number shows that more digits belonged to it."""
    return bool(_MORE_DIGITS.match(text, end))


def split_rows(text: str) -> list[Row | Checkpoint | str]:
    """Return the interval rows in a line, and the text between them, in order.

    Usually that is one text, or one row; but line breaks may be lost.
    """
    bare = text.removesuffix(DAMAGE)
    if plain := _PLAIN.fullmatch(bare):
        return [_plain_row(plain)]
    if _COMMA.search(text):
        text = _with_points(text)
    heads = list(_HEAD.finditer(text)) if "]" in text else []
    if not heads:
        return [text]
    found: list[Row | Checkpoint | str] = [text[: heads[0].start()]]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        row, after = _read_row(float(head[1]), text[head.end() : end])
        found += [row, after] if row else [after]
    return [part for part in found if part != ""]


def _with_points(text: str) -> str:
    """Return a text with numbers as sysbench writes them, which knows no other languages.

    It prints two, four or six decimals, or none: so ``4530,58`` has a decimal comma, and
    ``29,281`` groups of thousands. (Values of histograms have three, and a ``|`` behind them.)
    """
    text = _DECIMAL_COMMA.sub(lambda match: match[1].replace(".", "") + ".", text)
    return _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)


def latency_name(percentile: str) -> str:
    """Return the metric of a percentile as printed: ``"95"`` gives ``latency_p95``."""
    whole, _, part = percentile.partition(".")
    return f"latency_p{int(whole)}{part.rstrip('0')}"


def _plain_row(match: re.Match[str]) -> Row:
    tps = float(match[3])
    values = {
        "threads": float(match[2]),
        "tps": tps,
        "qps": float(match[4]),
        "reads_per_s": float(match[5]),
        "writes_per_s": float(match[6]),
        "other_per_s": float(match[7]),
        "errors_per_s": float(match[10]),
        "reconnects_per_s": float(match[11]),
    }
    latency = seconds(match[9], "ms")
    if latency or tps:
        values[latency_name(match[8])] = latency
    return Row(float(match[1]), values)


def _read_row(time_s: float, text: str) -> tuple[Row | Checkpoint | None, str]:
    """Return what a row holds, and the text behind it."""
    if text.startswith("Checkpoint"):
        return Checkpoint(time_s), text.partition(":")[2]
    values: dict[str, float] = {}
    end = 0
    damaged = False
    for match in _FIELD.finditer(text):
        gap = text[end : match.start()]
        if len(gap) > 16:
            break
        end = match.end()
        damaged |= DAMAGE in gap
        if is_damaged(text, end):
            damaged = True
        else:
            _add_field(values, match)
    if not end:
        is_begun = _FRAGMENT.fullmatch(text.rstrip(f" \t{DAMAGE}"))
        return (Row(time_s, {}, whole=False), "") if is_begun else (None, text)
    after = text[end:].strip(f" \t,;){DAMAGE}")
    cut = bool(values) and not _is_whole(values, text[:end], after, text.startswith(DAMAGE, end))
    if cut and not (after and _has_decimals(text[:end])):
        values.popitem()  # more digits may have been there
    _drop_unmeasured(values)
    voids = [name for name, value in values.items() if not isfinite(value)]
    for name in voids:
        del values[name]
    whole = not cut and not damaged
    return Row(time_s, values, whole, bool(voids)), after if whole else ""


def _add_field(values: dict[str, float], match: re.Match[str]) -> None:
    if count := match["v1"] or match["v5"]:
        values["threads"] = float(count)
    elif match["end"]:
        values[f"latency_{match['end']}"] = seconds(match["v6"], match["u3"])
    elif match["key"]:
        name = _NAMES["".join(match["key"].split())]
        name = _MIB_NAMES.get(name, name) if match["mib"] else name
        values[name] = float(match["v2"])
    elif match["r"]:
        values["reads_per_s"] = float(match["r"])
        values["writes_per_s"] = float(match["w"])
        values["other_per_s"] = float(match["o"])
    elif match["rate"]:
        values["transferred_mib_per_s"] = float(match["rate"])
    elif number := match["v3"] or match["v4"]:
        percentile = match["p1"] or match["p2"]
        name = latency_name(percentile) if percentile else "latency"
        values[name] = seconds(number, match["u1"] or match["u2"])


def _is_whole(values: dict[str, float], text: str, after: str, at_damage: bool) -> bool:
    """Whether the last field of this kind of row is there, with both of its decimals."""
    if "qps" in values or "errors_per_s" in values:
        return "reconnects_per_s" in values and _has_decimals(text)
    if _FRAGMENT.fullmatch(after):
        return False
    if "tps" in values or "events_per_s" in values:
        last = next(reversed(values))
        ends_in_unit = not text[-1].isdecimal()
        if last.startswith("latency"):
            return ends_in_unit or _has_decimals(text)
        return last == "writes_per_s" and _has_decimals(text)
    return "threads" not in values and not (at_damage and text[-1].isdecimal())


def _has_decimals(text: str) -> bool:
    return bool(_DECIMALS.search(text[-12:]))


def _drop_unmeasured(values: dict[str, float]) -> None:
    """Leave out the percentile 0.00 of an interval in which nothing ended."""
    if values.get("tps", values.get("events_per_s", 1.0)) == 0.0:
        for name in [name for name in values if name.startswith("latency")]:
            if values[name] == 0.0:
                del values[name]
