"""Checks of what a user wrote in a workload: types, counts, and the marks in SQL.

Each function returns the value in the form that the model keeps, or raises WorkloadError with
the thing, its value and what would be right. How steps, registers and statements go together
is checked by ``csrc/program.c``.
"""

import operator
import re
from reprlib import Repr
from typing import Any, NoReturn

from benchkit.errors import WorkloadError
from benchkit.workloads.options import IDENTIFIER

LARGEST = 2**63 - 1
"""The largest integer of the C core."""

_SHORT = Repr()
_SHORT.maxstring, _SHORT.maxother = 90, 120

_QUOTED = re.compile(
    r"'(?:[^'\\]|\\.|'')*'"
    r'|"(?:[^"\\]|\\.|"")*"'
    r"|`[^`]*`"
    r"|/\*(?!!).*?\*/"
    r"|(?:--\s|#)[^\n]*",
    re.DOTALL,
)
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_]+)\}")


def show(value: object) -> str:
    """Return a value as messages show it: its repr, cut where it is long."""
    return _SHORT.repr(value)


def refuse(owner: str, name: str, wanted: str, value: object) -> NoReturn:
    """Raise the error for a value that is not what it must be."""
    raise WorkloadError(f"{owner}: {name} must be {wanted}, not {show(value)}")


def read_text(owner: str, name: str, value: object) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        refuse(owner, name, "a text that is not empty", value)
    if "\0" in value:
        refuse(owner, name, "a text without NUL characters", value)
    return value


def read_register(owner: str, name: str, value: object) -> str:
    """Return the name of a register."""
    if not isinstance(value, str) or not re.fullmatch(IDENTIFIER, value):
        refuse(owner, name, "a register's name (a letter, then letters, digits or _)", value)
    return value


def read_word(owner: str, name: str, value: object, words: tuple[str, ...]) -> str:
    """Return one of the words."""
    if not isinstance(value, str) or value not in words:
        refuse(owner, name, "one of " + " ".join(words), value)
    return value


def read_integer(owner: str, name: str, value: Any, lowest: int = -LARGEST) -> int:
    """Return an integer that the C core can hold; those of NumPy are welcome."""
    try:
        number = operator.index(value)
    except TypeError:
        number = LARGEST + 1
    if isinstance(value, bool) or not lowest <= number <= LARGEST:
        limits = "" if lowest == -LARGEST else f" from {lowest}"
        refuse(owner, name, f"an integer{limits}", value)
    return number


def read_number(owner: str, name: str, value: Any) -> float:
    """Return a number of any type as a float."""
    if isinstance(value, bool | str):
        refuse(owner, name, "a number", value)
    try:
        return float(value)
    except (TypeError, ValueError):
        refuse(owner, name, "a number", value)


def read_items(
    owner: str, name: str, value: object, kinds: tuple[type, ...], wanted: str
) -> tuple[Any, ...]:
    """Return a tuple or list as a tuple of items, each of one of the kinds.

    Parameters
    ----------
    owner, name : str
        Whose items they are and what they are called, for messages.
    value : object
        What the user wrote.
    kinds : tuple of type
    wanted : str
        What an item must be, for messages.
    """
    if not isinstance(value, tuple | list):
        comma = " with a comma: (x,)" if isinstance(value, kinds) else ""
        refuse(owner, name, f"a tuple or list{comma}, each item {wanted}", value)
    for number, item in enumerate(value, 1):
        if not isinstance(item, kinds):
            refuse(owner, f"item {number} of {name}", wanted, item)
        if isinstance(item, str) and "\0" in item:
            refuse(owner, f"item {number} of {name}", "a text without NUL characters", item)
    return tuple(value)


def read_pairs(
    owner: str, name: str, value: object, second: tuple[type, ...], wanted: str
) -> tuple[tuple[str, Any], ...]:
    """Return a tuple or list of (text, one of the kinds of `second`) as tuples."""
    pairs = read_items(owner, name, value, (tuple, list), wanted)
    for number, pair in enumerate(pairs, 1):
        if len(pair) != 2 or not isinstance(pair[0], str) or not isinstance(pair[1], second):
            refuse(owner, f"item {number} of {name}", wanted, pair)
    return tuple((first, other) for first, other in pairs)


def check_different(owner: str, what: str, names: list[str]) -> None:
    """Raise where a name comes twice."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WorkloadError(f"{owner}: two {what} are called {twice[0]!r}")


def names_table(create: str, name: str) -> bool:
    """Return whether a CREATE TABLE statement has the table's name in it."""
    word = rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])"
    return re.search(word, create, re.IGNORECASE) is not None


def count_marks(sql: str) -> int:
    """Return how many ``?`` of a statement are parameters: not quoted, not in a comment."""
    return _QUOTED.sub("''", sql).count("?")


def find_placeholders(sql: str) -> list[str]:
    """Return the names in the braces of a statement."""
    return _PLACEHOLDER.findall(sql)


def first_word(sql: str) -> str:
    """Return the first word of a statement in lower case."""
    found = re.search(r"[A-Za-z]+", _QUOTED.sub(" ", sql))
    return found[0].lower() if found else "statement"
