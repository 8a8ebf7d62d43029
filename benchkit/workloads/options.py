"""Options of a workload: their types, defaults, limits and help, each said once.

The options of a workload are the fields of a frozen dataclass, each made with `option`.
`read_options` turns keywords into such a value or says what is wrong with them;
`describe_options` is what help and documentation print. Nothing here knows a workload.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, cast

from benchkit.errors import WorkloadError, unknown_name

Value = bool | int | float | str

T = TypeVar("T")

IDENTIFIER = r"[A-Za-z][A-Za-z0-9_]*"
"""The pattern of a name that goes into SQL as it is, such as a storage engine's."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an option's value may be: a range for numbers, choices or a pattern for texts."""

    lowest: float = -math.inf
    highest: float = math.inf
    choices: tuple[str, ...] = ()
    pattern: str = ""

    def allow(self, value: Value) -> bool:
        """Return whether the value is in the range or fits the pattern."""
        if isinstance(value, str):
            return re.fullmatch(self.pattern or "(?s:.*)", value) is not None
        return self.lowest <= value <= self.highest

    def __str__(self) -> str:
        if self.choices:
            return "out of " + ", ".join(choice for choice in self.choices if choice)
        if self.pattern:
            return "of letters, digits and underscores"
        return "" if math.isinf(self.lowest) else f"from {self.lowest} to {self.highest}"


@dataclass(frozen=True, slots=True)
class Option:
    """One option as help prints it."""

    name: str
    kind: type
    default: Value
    help: str
    limits: Limits


UNLIMITED = Limits()


def option(default: T, help: str, limits: Limits = UNLIMITED) -> T:
    """Return a dataclass field that `read_options` can check."""
    return field(default=default, metadata={"help": help, "limits": limits})


def describe_options(options: type) -> tuple[Option, ...]:
    """Return the options of a dataclass whose fields were made with `option`."""
    return tuple(
        Option(f.name, cast(type, f.type), cast(Value, f.default), **f.metadata)
        for f in fields(options)
    )


def read_options(
    options: type[T], given: Mapping[str, object], owner: str, aliases: Mapping[str, str]
) -> T:
    """Return the options with the given values, each of its field's type.

    Parameters
    ----------
    options : type
        A dataclass whose fields were made with `option`.
    given : mapping of str to object
        What the user typed.
    owner : str
        The workload's name, for messages.
    aliases : mapping of str to str
        Other programs' spellings and the option each stands for; they are refused with a hint.

    Raises
    ------
    WorkloadError
        Naming the option, its value and what would be right.
    """
    known = {described.name: described for described in describe_options(options)}
    values: dict[str, Value] = {}
    for name, value in given.items():
        if name not in known:
            raise WorkloadError(_unknown_option(owner, name, known, aliases))
        values[name] = _read_value(owner, known[name], value)
    return options(**values)


def _unknown_option(
    owner: str, name: str, known: Mapping[str, Option], aliases: Mapping[str, str]
) -> str:
    kind = f"option of {owner}"
    meant = aliases.get(name.replace("-", "_"))
    if meant in known:
        return f"unknown {kind} {name!r}: did you mean {meant}?"
    return unknown_name(kind, name, known)


def _read_value(owner: str, described: Option, value: object) -> Value:
    expected, convert = _KINDS[described.kind]
    try:
        converted = convert(value)
    except (TypeError, OverflowError):
        converted = None
    choices = described.limits.choices
    if choices and isinstance(converted, str) and converted not in choices:
        known = [choice for choice in choices if choice]
        raise WorkloadError(f"{owner}: {unknown_name(described.name, value, known)}")
    if converted is None or not described.limits.allow(converted):
        wanted = f"{expected} {described.limits}".rstrip()
        raise WorkloadError(f"{owner}: {described.name} must be {wanted}, not {value!r}")
    return converted


def _read_flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _read_integer(value: Any) -> int | None:
    return None if isinstance(value, bool) else operator.index(value)


def _read_number(value: Any) -> float | None:
    return None if isinstance(value, bool | str) else float(value)


def _read_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


_KINDS: dict[type, tuple[str, Callable[[Any], Value | None]]] = {
    bool: ("True or False", _read_flag),
    int: ("an integer", _read_integer),
    float: ("a number", _read_number),
    str: ("a text", _read_text),
}
