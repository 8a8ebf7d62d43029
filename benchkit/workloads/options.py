"""Options of a workload: their types, defaults, limits and help, each said once.

The options of a workload are fields of a frozen dataclass, each made with `option`.
`describe_options` is what help and documentation print; `read_value` turns what a user typed
into a value of the option's type or says what is wrong with it. Nothing here knows a workload.
"""

import math
import operator
import re
from collections.abc import Callable
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
class Need:
    """A condition of an option: it acts only while another has one of these values."""

    option: str
    values: tuple[Value, ...]

    def is_met_by(self, options: object) -> bool:
        """Return whether the other option has one of the values."""
        return getattr(options, self.option) in self.values

    def __str__(self) -> str:
        return f"{self.option} {' or '.join(str(value) for value in self.values)}"


@dataclass(frozen=True, slots=True)
class Option:
    """One option as help prints it."""

    name: str
    kind: type
    default: Value
    help: str
    limits: Limits
    needs: tuple[Need, ...] = ()


UNLIMITED = Limits()


def option(default: T, help: str, limits: Limits = UNLIMITED) -> T:
    """Return a dataclass field for an option."""
    return field(default=default, metadata={"help": help, "limits": limits})


def describe_options(options: type) -> tuple[Option, ...]:
    """Return the options of a dataclass whose fields were made with `option`."""
    return tuple(
        Option(f.name, cast(type, f.type), cast(Value, f.default), **f.metadata)
        for f in fields(options)
    )


def read_value(owner: str, described: Option, value: object) -> Value:
    """Return what a user typed as a value of the option's type.

    Raises
    ------
    WorkloadError
        Naming the owner, the option, the value and what would be right.
    """
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
