"""Durations, sizes and numbers: from what people write, and back to what people read.

Durations are float seconds and sizes are int bytes everywhere else. Sizes are binary, as in
MariaDB's own options: ``1K`` is 1024.
"""

import math
import re

from benchkit.errors import ConfigError, StudyError

_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|min|s|m|h|d)\s*")
_DURATION_FORMS = 'a number of seconds, or text such as "500ms", "60s", "2m" or "1h30m"'

_BYTES = {letter: 1024**power for power, letter in enumerate(["", "K", "M", "G", "T"])}
_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([KMGT]?)(?:I?B)?", re.IGNORECASE)
_SIZE_FORMS = 'a number of bytes, or text such as "512K", "64M" or "2G"'


def parse_duration(value: str | float) -> float:
    """Return a duration in seconds.

    Parameters
    ----------
    value : str or float
        A number of seconds, or text such as ``"500ms"``, ``"60s"``, ``"2m"``, ``"1h30m"``.

    Raises
    ------
    StudyError
        If it is neither, negative, or without end.
    """
    seconds = _text_seconds(value) if isinstance(value, str) else _plain_number(value)
    if seconds is None or not 0 <= seconds < math.inf:
        raise StudyError(f"{value!r} is not a duration: write {_DURATION_FORMS}")
    return seconds


def _plain_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _text_seconds(text: str) -> float | None:
    parts = _DURATION_PART.findall(text)
    if parts and not _DURATION_PART.sub("", text.strip()):
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    return float(text) if re.fullmatch(r"\s*\d+(\.\d*)?\s*", text) else None


def format_duration(seconds: float) -> str:
    """Return a duration as its two largest units: ``"350 ms"``, ``"5 s"``, ``"1 h 23 min"``."""
    if not math.isfinite(seconds):
        return "unknown"
    if round(seconds, 3) < 1:
        return f"{seconds * 1000:.0f} ms" if seconds else "0 s"
    if round(seconds, 1) < 10:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    return _largest_units(round(seconds))


def _largest_units(seconds: int) -> str:
    scale = [("d", 86400), ("h", 3600), ("min", 60), ("s", 1)]
    while seconds < scale[0][1]:
        scale.pop(0)
    (unit, length), *smaller = scale
    if not smaller:
        return f"{seconds} s"
    whole, rest = divmod(seconds, length)
    part = rest // smaller[0][1]
    return f"{whole} {unit} {part} {smaller[0][0]}" if part else f"{whole} {unit}"


def parse_size(value: str | int) -> int:
    """Return a size in bytes.

    Parameters
    ----------
    value : str or int
        A number of bytes, or text such as ``"512K"``, ``"64M"``, ``"2G"``, ``"2GiB"``.

    Raises
    ------
    ConfigError
        If it is neither, negative, or not a whole number of bytes.
    """
    size = _text_bytes(value) if isinstance(value, str) else _plain_number(value)
    if size is None or size < 0 or not size.is_integer():
        raise ConfigError(f"{value!r} is not a size: write {_SIZE_FORMS}")
    return int(size)


def _text_bytes(text: str) -> float | None:
    match = _SIZE.fullmatch(text.strip())
    return float(match[1]) * _BYTES[match[2].upper()] if match else None


def format_size(size_bytes: float) -> str:
    """Return a size in the largest binary unit it fills, such as ``"2.0 GiB"``."""
    for letter in ("T", "G", "M", "K"):
        if size_bytes >= _BYTES[letter]:
            return f"{size_bytes / _BYTES[letter]:.1f} {letter}iB"
    return f"{size_bytes:.0f} B"


def one_line(text: str) -> str:
    r"""Return text of others' files as a terminal may show it: no line breaks, no control codes.

    Every blank is a space, and what does not print is written as an escape such as ``\x1b``.
    """
    return "".join(map(_shown, text))


def _shown(letter: str) -> str:
    if letter.isprintable():
        return letter
    return " " if letter.isspace() else letter.encode("unicode_escape").decode()


def format_count(number: int, thing: str) -> str:
    """Return a number of things: ``"1 run"``, ``"12 runs"``."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def decimals_for(smallest: float) -> int:
    """Return how many decimals show at least three digits of a column's smallest value.

    A value of 1000 or more needs none, one of 10 or more needs one.
    """
    if not math.isfinite(smallest) or smallest == 0:
        return 1
    exponent = math.floor(math.log10(abs(smallest)))
    return 0 if exponent >= 3 else min(max(2 - exponent, 1), 6)


def format_number(value: float, decimals: int) -> str:
    """Return a number with thousands separators and a fixed number of decimals."""
    return f"{value:,.{decimals}f}"
