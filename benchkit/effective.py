"""Whether a server does what its configuration asks: options against SHOW GLOBAL VARIABLES.

A server may clamp or round a value, ignore an option it once had, or pass over one marked
``loose_``, and start all the same. Values are compared by what they mean; where a server's log
says something of an option, its words are told. Pure functions on texts.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchkit.config import Value, option_text
from benchkit.optionvalue import is_secret, meaning_of, normalise_option

_REMARK = re.compile(r"\[(?:Warning|ERROR)\] (?:\[[^\]]+\] )*(.*)")
_NUMBER = re.compile(r"\d+")
_UTF8 = re.compile(r"utf8(?=_|$)")
_SWITCHED = ("ON", "OFF")

# Variables of which a configuration names some parts, and the server shows all.
_PARTS = frozenset({"optimizer_switch", "sql_mode", "old_mode", "log_slow_filter"})

# Options whose value is a name, and whose variable says only whether there is one.
_NAMED_SWITCHES = frozenset({"log_bin"})
_NAMED_OFF = "a value is its name, OFF too: write skip_log_bin"


@dataclass(frozen=True, slots=True)
class Ineffective:
    """An option that a server has not taken as it was asked for.

    Parameters
    ----------
    name : str
        As it was asked for.
    asked : str
    found : str or None
        The variable's value; None where the server has none of that name.
    remark : str
        What the server's log says of it; empty where it says nothing.
    """

    name: str
    asked: str
    found: str | None
    remark: str

    def __str__(self) -> str:
        remark = f": {self.remark}" if self.remark else ""
        if self.found is None:
            return f"option {self.name} has no effect{remark}"
        if self.found == self.asked:
            return f"option {self.name}{remark}"
        return f"option {self.name} was to be {self.asked!r} and is {self.found!r}{remark}"


def find_ineffective(
    options: Mapping[str, Value],
    variables: Mapping[str, str],
    log: str = "",
    enums: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[Ineffective, ...]:
    """Return the options that are not in effect, or of which the server warns.

    An option without a variable of its name, and without a word in the log, is taken for
    effective: many have none. No password is among what is returned.

    Parameters
    ----------
    options : mapping
        Names, with ``_``, and values as they were asked for.
    variables : mapping
        SHOW GLOBAL VARIABLES.
    log : str
        The server's error log since its start.
    enums : mapping of str to tuple of str, optional
        The words that the numbers 0, 1, ... of a variable stand for.
    """
    return tuple(
        found
        for name, value in options.items()
        if not is_secret(name)
        for found in _check(name, value, variables, log, enums or {})
    )


def _check(
    name: str,
    value: Value,
    variables: Mapping[str, str],
    log: str,
    enums: Mapping[str, tuple[str, ...]],
) -> Iterator[Ineffective]:
    asked = _joined(value)
    variable, meant = _variable_of(name, asked, variables)
    remark = _remark(name, log)
    found = variables.get(variable)
    shown = "ON" if asked is None else asked
    if found is None:
        if remark or name.startswith("loose_"):
            yield Ineffective(name, shown, None, remark or "the server does not know it")
    elif not _is_same(variable, meant, found, variables.get("datadir", ""), enums):
        hint = _NAMED_OFF if variable in _NAMED_SWITCHES and found == "ON" else ""
        yield Ineffective(name, shown, found, remark or hint)
    elif remark:
        yield Ineffective(name, found, found, remark)


def _joined(value: Value) -> str | None:
    """Return a value as text; several apart by commas, as variables show them."""
    if isinstance(value, tuple):
        return ",".join(map(option_text, value))
    return None if value is None else option_text(value)


def _variable_of(name: str, asked: str | None, variables: Mapping[str, str]) -> tuple[str, str]:
    """Return the variable that shows an option, and the value it should have."""
    key = name.lower().removeprefix("loose_")
    if key in variables:
        return key, "ON" if asked is None else asked
    option = normalise_option(name, asked)
    return option.name, option.shown


def _is_same(
    name: str, asked: str, found: str, datadir: str, enums: Mapping[str, tuple[str, ...]]
) -> bool:
    if name in _NAMED_SWITCHES and meaning_of(asked) != "OFF":
        asked = "ON"
    if meaning_of(asked) == meaning_of(found) or _is_same_path(asked, found, datadir):
        return True
    words = enums.get(name)
    if _NUMBER.fullmatch(asked) and not _NUMBER.fullmatch(found):
        if words is None:  # which word the number stands for cannot be told
            return found not in _SWITCHED
        return int(asked) < len(words) and words[int(asked)].lower() == found.lower()
    asked_parts, found_parts = _parts(asked), _parts(found)
    return asked_parts <= found_parts if name in _PARTS else asked_parts == found_parts


def _parts(text: str) -> set[str]:
    """Return the parts of a list, or the one word of another value, in one spelling."""
    parts = (part.strip().lower() for part in text.split(","))
    return {_UTF8.sub("utf8mb3", part) for part in parts if part and part != "default"}


def _is_same_path(asked: str, found: str, datadir: str) -> bool:
    if "/" not in found or not asked:
        return False
    one, other = (os.path.normpath(os.path.join(datadir, path)) for path in (asked, found))
    return one == other


def _remark(name: str, log: str) -> str:
    """Return what warnings of a log say of an option, without their time and number."""
    key = name.removeprefix("loose_")
    pattern = re.compile(rf"(?<![A-Za-z0-9_])(?:loose_|skip_)?{re.escape(key)}(?![A-Za-z0-9_])")
    found = (_REMARK.search(line) for line in log.splitlines())
    remarks = (match[1].strip() for match in found if match)
    return "; ".join(
        dict.fromkeys(text for text in remarks if pattern.search(text.replace("-", "_")))
    )
