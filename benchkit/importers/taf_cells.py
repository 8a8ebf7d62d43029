"""Cells of one row of a comparison report, with or without separators between them.

A report that was copied out of a browser has TABs between its columns, or nothing at all. Rows
of the second kind are cut by what is known of them: how many columns there are, how many
decimals a number has, what a version or a file's name looks like, and that columns mostly say
the same. What cannot be cut for certain is not cut.
"""

import re

_MARKDOWN = re.compile(r"\|(.*)\|\s*")
_GAP = re.compile(" {2,}")
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*")
_CAPITALISED = re.compile(r"[A-Z][a-z]+ $")
_PATTERNS = (
    r"(?i)unknown|\(missing\)|true|false|on|off",
    r"\d{4}-\d{1,2}-\d{1,2} \d{2}:\d{2}:\d{2}",
    r"(?i)mariadb|mysql|percona|postgresql|postgres",
    r"(?i)innodb|myisam|aria|rocksdb|myrocks|tidesdb|memory|columnstore|spider|s3",
    r"(?i)cli|user_properties_inline_block|user_properties_file|\(missing\)",
    r"\d+(?:\.\d+)? [KMGT]i?B",
    r"\(missing\)|[^\s/]+?\.(?:properties|cnf|conf)",
    r"\(missing\)|/\S+?\.(?:properties|cnf|conf)",
)
_COMMON_MIN = 3
_ROW_MAX = 4096
"""Characters of a row without separators; cutting takes time by the square of it."""


def without_markdown(text: str) -> str:
    """Return a row of a Markdown table with TABs between its cells; drop a quotation's mark."""
    text = text.removeprefix(">").removeprefix(" ") if text.startswith(">") else text
    table = _MARKDOWN.fullmatch(text)
    if not table:
        return text
    cells = [cell.strip() for cell in table[1].split("|")]
    return "" if all(set(cell) <= {"-", ":"} for cell in cells) else "\t".join(cells)


def delimited(text: str) -> list[str] | None:
    """Return the cells of a row that has TABs or wide gaps, else None."""
    if "\t" in text:
        return [cell.strip() for cell in text.split("\t")]
    cells = _GAP.split(text)
    return [cell.strip() for cell in cells] if len(cells) > 1 else None


def repeated(text: str, count: int) -> list[str] | None:
    """Cut a text that is one value `count` times over, with or without single spaces."""
    if text.count(" ") >= count - 1 and len(text) % count == count - 1:
        text += " "
    size, rest = divmod(len(text), count)
    if rest or not size or text != text[:size] * count:
        return None
    return [text[:size].strip()] * count


def numbers(text: str, count: int, decimals: int) -> list[str] | None:
    """Cut numbers of fixed decimals, with or without single spaces between them.

    ``-`` alone stands for one that is missing; before a number it is the sign where that gives
    the right count.
    """
    text = text.replace(" ", "")
    number = rf"\d+\.\d{{{decimals}}}"
    return _pieces(text, f"-?{number}", count) or _pieces(text, f"{number}|-", count)


def number(text: str, decimals: int) -> float | None:
    """Return the number that a text is, if it has so many decimals."""
    return float(text) if re.fullmatch(rf"-?\d{{1,18}}\.\d{{{decimals}}}", text) else None


def start_between(
    cells: list[str], lows: list[float | None], highs: list[float | None]
) -> list[str]:
    """Return the first cells of a row that is cut, which have to be between two others.

    Of a row that lost a cell in its middle, those behind it are another column's.
    """
    kept = []
    for cell, low, high in zip(cells, lows, highs, strict=False):
        value = number(cell, 2)
        if value is None or low is None or high is None or not low <= value <= high:
            break
        kept.append(cell)
    return kept


def values(text: str, count: int) -> list[str] | None:
    """Cut the values of an information row, or return None where that is not certain."""
    text = text.strip()
    if count == 1:
        return [text]
    same = repeated(text, count)
    if same or text.isdigit():
        return same
    if len(text) > _ROW_MAX:
        return None
    for pattern in _PATTERNS:
        found = _pieces(text, pattern, count)
        if found:
            return found
    return labels(text, count) if _VERSION.match(text) else _by_common_start(text, count)


def labels(text: str, count: int) -> list[str] | None:
    """Cut column headers such as ``Mariadb 11.8.6-MariaDBMariadb 12.3.1-MariaDB``."""
    text = text.strip()
    if count == 1:
        return [text]
    same = repeated(text, count)
    if same or len(text) > _ROW_MAX:
        return same
    starts = [_label_start(text, found.start()) for found in _VERSION.finditer(text)]
    if len(starts) == count and starts[0] == 0:
        return _cut(text, starts)
    return _by_common_start(text, count)


def tail(text: str, count: int) -> tuple[str, list[str]] | None:
    """Cut a row whose label is not known into the label and `count` equal values."""
    for size in range((min(len(text), _ROW_MAX) - 1) // count, 0, -1):
        value = text[-size:]
        if text.endswith(value * count):
            return text[: -size * count], [value] * count
    return None


def _pieces(text: str, pattern: str, count: int) -> list[str] | None:
    found = re.findall(pattern, text)
    return found if len(found) == count and "".join(found) == text else None


def _label_start(text: str, version: int) -> int:
    maker = _CAPITALISED.search(text[:version])
    return maker.start() if maker else version


def _by_common_start(text: str, count: int) -> list[str] | None:
    """Cut where the longest beginning that occurs exactly `count` times occurs."""
    for size in range(len(text) // count, _COMMON_MIN - 1, -1):
        start = text[:size]
        if text.count(start) == count:
            return _cut(text, [found.start() for found in re.finditer(re.escape(start), text)])
    return None


def _cut(text: str, starts: list[int]) -> list[str]:
    ends = [*starts[1:], len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
