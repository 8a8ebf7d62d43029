"""Properties files: ``key=value`` lines, and a block that holds a server's options.

The format of TAF's test descriptions, read as TAF reads it: quotes are part of a value, ``null``
means not set, the last of several lines for a key counts. What a key means is not decided here.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchkit.errors import StudyError
from benchkit.optionfile import OptionFile, parse_option_text
from benchkit.optionvalue import REDACTED, is_secret

BLOCK_START, BLOCK_END = "[db_config_start]", "[db_config_end]"
NULL = "null"

_KEY = re.compile(r"[A-Za-z]\w*(?:\.\w+)+|[A-Za-z]\w*")


@dataclass(frozen=True, slots=True)
class Property:
    """One line of a properties file.

    Parameters
    ----------
    key : str
        Such as ``taf.threads``.
    value : str or None
        As it is written, without blanks around it; None for ``null``.
    line : int
        From 1.
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
        When it cannot be read, or its block of options has no end, or a second one begins.
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
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if equals and _KEY.fullmatch(key):
            found.append(Property(key, None if value == NULL else value, number))
        else:
            problems.append(f"{path}:{number}: {line!r:.60} is no key=value")
    return PropertiesFile(path, tuple(found), block, tuple(problems))


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
        shown = REDACTED if value and is_secret(key) else value
        lines.append(f"{key}={NULL if shown is None else ' '.join(shown.splitlines())}")
    return "\n".join([*lines, ""])


def value_text(value: object) -> str:
    """Return an option of a workload as a property: `parse_value` takes it back."""
    is_plain = isinstance(value, str) and value and value != NULL and parse_value(value) == value
    return str(value) if is_plain else json.dumps(value)


def parse_value(text: str) -> str | int | float | bool:
    """Return the value that `value_text` wrote: a number, a switch, or a text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool | str) else text


def _find_block(lines: list[str], path: Path) -> tuple[int | None, int]:
    """Return the places of a block's first and last line."""
    begins = [place for place, line in enumerate(lines) if line == BLOCK_START]
    ends = [place for place, line in enumerate(lines) if line == BLOCK_END]
    if not begins and not ends:
        return None, 0
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        where = ", ".join(str(place + 1) for place in sorted(begins + ends))
        raise StudyError(
            f"{path} needs one line {BLOCK_START} and after it one {BLOCK_END}; there are lines "
            f"of the kind at {where}"
        )
    return begins[0], ends[0]
