"""Interval rows as sysbench's report hooks print them: ``report_csv`` and ``report_json``.

Scripts choose them instead of the usual rows. Both give one percentile without its rank, and a
last row with 0 threads that sums up the run where the script reports totals by them as well.
"""

import re

from benchkit.importers.source import DAMAGE
from benchkit.importers.sysbench_rows import Row

_NAMES = {
    "threads": "threads",
    "tps": "tps",
    "total": "qps",
    "reads": "reads_per_s",
    "writes": "writes_per_s",
    "other": "other_per_s",
    "latency": "latency",
    "errors": "errors_per_s",
    "reconnects": "reconnects_per_s",
}
"""The fields of an object after its time, in order."""

_CSV = re.compile(
    r"(?<![\d.,])(\d{1,9}),(\d{1,7})" + r",(\d{1,16}\.\d\d)" * 8 + rf"(?![\d.,{DAMAGE}])"
)
_CSV_PART = re.compile(rf"\d{{1,9}},\d{{1,7}}(?:,\d{{1,16}}\.\d\d)+[,\d.{DAMAGE}]*")
_CSV_BEGIN = re.compile(rf"\d{{1,9}},[\d,.{DAMAGE}]*(?:{DAMAGE}|$)")
_CSV_NAMES = tuple(_NAMES.values())
_FIELD = re.compile(
    rf"(?:^|[\s{{,\"])(time|{'|'.join(_NAMES)})\"\s{{0,4}}:\s{{0,8}}\"?\s{{0,4}}"
    rf"(-?\d{{1,24}}+(?:\.\d{{1,12}}+)?+)(?![.{DAMAGE}])"
)


def split_csv(text: str) -> list[Row | str]:
    """Return the rows of `report_csv` in a line, and the text between them, in order.

    Usually that is one text, or one row; but line breaks may be lost.
    """
    if text.count(",") < len(_CSV_NAMES):
        return [text]
    parts: list[Row | str] = []
    end = 0
    for match in _CSV.finditer(text.removesuffix(DAMAGE)):
        values = dict(zip(_CSV_NAMES, map(float, match.groups()[1:]), strict=True))
        parts += [text[end : match.start()], Row(float(match[1]), _in_seconds(values))]
        end = match.end()
    parts.append(text[end:] if text[end:] != DAMAGE else "")
    return [part for part in parts if part]


def cut_csv_row(text: str) -> Row | None:
    """Return what is left of a row of `report_csv` that breaks off, or is damaged."""
    if not _CSV_BEGIN.match(text):
        return None
    if not _CSV_PART.fullmatch(text):
        return Row(float(text.partition(",")[0]), {}, whole=False)
    time_s, threads, *rates = text.split(",")
    whole = [rate for rate in rates if re.fullmatch(r"\d{1,16}\.\d\d", rate)]
    if rates[: len(whole)] != whole or len(rates) > len(_CSV_NAMES):
        return Row(float(time_s), {}, whole=False)
    values = dict(zip(_CSV_NAMES, map(float, (threads, *whole)), strict=False))
    return Row(float(time_s), _in_seconds(values), whole=False)


class JsonRows:
    """Reads the objects of `report_json`, however their lines are broken; numbers may be text."""

    def __init__(self) -> None:
        self._time_s = 0.0
        self._values: dict[str, float] | None = None
        self._found = 0

    def read(self, text: str) -> list[Row] | None:
        """Return the rows that end in a line; None where the line is of no such object."""
        if '":' not in text:
            return None
        rows: list[Row] = []
        is_ours = False
        for match in _FIELD.finditer(text):
            name = match[1]
            if name == "time":
                rows += self.end()
                self._time_s, self._values = float(match[2]), {}
            elif self._values is not None:
                self._values[_NAMES[name]] = float(match[2])
                if name == "reconnects":
                    rows += self.end()
                is_ours = True
        return rows if rows or is_ours else None

    def end(self) -> list[Row]:
        """Return the row that is begun, if there is one."""
        values, self._values = self._values, None
        if not values or "tps" not in values:
            return []
        self._found += 1
        return [Row(self._time_s, _in_seconds(values), whole=len(values) == len(_NAMES))]

    def closes(self, text: str) -> bool:
        """Whether a line is the end of the array of objects."""
        return self._found > 0 and text.rstrip().endswith("]")


def _in_seconds(values: dict[str, float]) -> dict[str, float]:
    if "latency" in values:
        values["latency"] /= 1e3
    return values
