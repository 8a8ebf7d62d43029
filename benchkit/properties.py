"""Properties files: ``key=value`` lines, and a block that holds a server's options.

The format of TAF's test descriptions, read as TAF reads it, which is as Java reads its own: a
line goes on after a backslash at its end, other backslashes escape, ``:`` or a blank may stand
for ``=``, ``!`` begins a comment as ``#`` does. Quotes are part of a value, ``null`` means not
set, the last of several lines for a key counts. What a key means is not decided here.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchkit.errors import StudyError
from benchkit.optionfile import OptionFile, parse_option_text
from benchkit.optionvalue import REDACTED, is_secret

BLOCK_START, BLOCK_END = "[db_config_start]", "[db_config_end]"
NULL = "null"

_PLAIN_KEY = re.compile(r"[A-Za-z][\w-]*")
_DOTTED_KEY = re.compile(r"[A-Za-z][\w-]*(?:\.[\w-]+)+")
_PARTS = re.compile(r"([^\s:=]+)\s*([:=\s])\s*(.*)")
_GOES_ON = re.compile(r"(?<!\\)(?:\\\\)*\\$")
_ESCAPED = re.compile(r"""\\(?:([tnr\\"' =:#!])|u([0-9A-Fa-f]{4}))""")
_UNESCAPED = {"t": "\t", "n": "\n", "r": "\r"}
_HEADER = re.compile(r"\[[^\]]+\]")


@dataclass(frozen=True, slots=True)
class Property:
    """One line of a properties file.

    Parameters
    ----------
    key : str
        Such as ``taf.threads``.
    value : str or None
        Without blanks around it and without escapes; None for ``null``.
    line : int
        Where it begins, from 1.
    """

    key: str
    value: str | None
    line: int


@dataclass(frozen=True, slots=True)
class PropertiesFile:
    """What a properties file says.

    Parameters
    ----------
    path : Path
    lines : tuple of Property
        In their order, repeated keys too.
    block : OptionFile or None
        The server's options in it; they are no properties.
    problems : tuple of str
        Lines that are nothing of all this, with their place.
    """

    path: Path
    lines: tuple[Property, ...]
    block: OptionFile | None = None
    problems: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, str | None]:
        """The properties by key; of one that is given several times, the last."""
        return {each.key: each.value for each in self.lines}

    @property
    def property_lines(self) -> int:
        """How many lines hold a property."""
        return len(self.lines)

    @property
    def distinct_keys(self) -> int:
        """How many different keys there are."""
        return len(self.values)

    @property
    def null_values(self) -> int:
        """How many keys are not set."""
        return sum(value is None for value in self.values.values())

    @property
    def taf_keys(self) -> int:
        """How many keys are of the framework itself, not of one of its suites."""
        return sum(key.startswith("taf.") for key in self.values)

    @property
    def inline_db_config_options(self) -> int:
        """How many options the block gives a MariaDB server of no certain version."""
        return 0 if self.block is None else self.block.effective_options

    def line_of(self, key: str) -> int:
        """Return the line whose value counts for a key."""
        return max(each.line for each in self.lines if each.key == key)


def read_properties(path: str | os.PathLike[str]) -> PropertiesFile:
    """Read a properties file.

    Raises
    ------
    StudyError
        When it cannot be read, or no line of it is a property with a prefix, or its block of
        options has no end, or a second one begins.
    ConfigError
        For an error in the block; the message names the line.
    """
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise StudyError(f"cannot read the properties file {file}: {error.strerror}") from error
    if b"\0" in content:
        raise StudyError(f"cannot read the properties file {file}: it is not UTF-8 text")
    return parse_properties(_decode(content), file)


def _decode(content: bytes) -> str:
    """Return the text, with any line ends; the framework takes bytes as they are."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_properties(text: str, path: Path) -> PropertiesFile:
    """Read the text of a properties file.

    Raises
    ------
    StudyError, ConfigError
        As `read_properties`.
    """
    lines = [line.strip() for line in text.split("\n")]
    begin, end = _find_block(lines, path)
    block = None
    if begin is not None:
        inside = "\n".join(text.split("\n")[begin + 1 : end])
        block = parse_option_text(inside, path, first_line=begin + 2)
        lines[begin : end + 1] = [""] * (end + 1 - begin)
    found, problems = [], []
    for number, line in _whole_lines(lines):
        if not line or line[0] in "#!" or _HEADER.fullmatch(line):
            continue
        read = _read(line)
        if read:
            found.append(Property(read[0], None if read[1].lower() == NULL else read[1], number))
        else:
            problems.append(f"{path}:{number}: {line!r:.60} is no key=value")
    if problems or found:
        _check_keys(path, [each.key for each in found])
    return PropertiesFile(path, tuple(found), block, tuple(problems))


def _whole_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield lines with those they go on in, and the number of the first."""
    numbered = iter(enumerate(lines, 1))
    for number, first in numbered:
        pieces = [first]
        while first[:1] not in ("#", "!") and _GOES_ON.search(pieces[-1]):
            pieces[-1] = pieces[-1][:-1]
            pieces.append(next(numbered, (0, ""))[1])
        yield number, "".join(pieces)


def _read(line: str) -> tuple[str, str] | None:
    """Return a line's key and value; without ``=`` only where the key has a prefix."""
    parts = _PARTS.fullmatch(line)
    if not parts:
        return None
    key, sign, value = parts.groups()
    if not _DOTTED_KEY.fullmatch(key) and not (sign == "=" and _PLAIN_KEY.fullmatch(key)):
        return None
    return key, _ESCAPED.sub(_unescape, value)


def _unescape(found: re.Match[str]) -> str:
    """Return what an escape stands for; half a pair, or what no text holds, stays as it is."""
    letter, code = found.groups()
    if letter:
        return _UNESCAPED.get(letter, letter)
    meant = chr(int(code, 16))
    return meant if meant.isprintable() else found[0]


def _check_keys(path: Path, keys: list[str]) -> None:
    """Refuse another kind of file; its lines may well be ``key=value`` too."""
    if not any(map(_DOTTED_KEY.fullmatch, keys)):
        raise StudyError(
            f"{path} is no properties file: no line of it sets a key with a prefix, such as "
            "taf.threads=1,8"
        )


def format_properties(
    head: Iterable[str], block: str | None, values: Mapping[str, str | None]
) -> str:
    """Return the text of a properties file, without passwords.

    Parameters
    ----------
    head : iterable of str
        Lines of a comment.
    block : str or None
        The text of an option file.
    values : mapping
        Properties in their order; None is written ``null``.
    """
    lines = [f"# {line}".rstrip() for line in head]
    if block is not None:
        lines += ["", BLOCK_START, *block.rstrip("\n").split("\n"), BLOCK_END, ""]
    for key, value in values.items():
        shown = REDACTED if value and is_secret(key) else NULL if value is None else value
        line = " ".join(shown.splitlines()).replace("\\", "\\\\")
        lines.append(f"{key}={line}")
    return "\n".join([*lines, ""])


def value_text(value: object) -> str:
    """Return an option of a workload as a property: `parse_value` takes it back."""
    if isinstance(value, str) and value and value.lower() != NULL and parse_value(value) == value:
        return value
    return json.dumps(value)


def parse_value(text: str) -> str | int | float | bool:
    """Return the value that `value_text` wrote: a number, a switch, or a text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool | str) else text


def _find_block(lines: list[str], path: Path) -> tuple[int | None, int]:
    """Return the places of a block's first and last line."""
    begins = [place for place, line in enumerate(lines) if line.lower() == BLOCK_START]
    ends = [place for place, line in enumerate(lines) if line.lower() == BLOCK_END]
    if not begins and not ends:
        return None, 0
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        where = ", ".join(str(place + 1) for place in sorted(begins + ends))
        raise StudyError(
            f"{path} needs one line {BLOCK_START} and after it one {BLOCK_END}; there are lines "
            f"of the kind at {where}"
        )
    return begins[0], ends[0]
