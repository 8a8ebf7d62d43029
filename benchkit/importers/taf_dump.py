"""Perl's Data::Dumper text, read as data: lists, hashes, strings, numbers and undef.

The framework itself evaluates such files as programs. Here they are only taken apart; whatever
is not plain data is an error.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchkit.importers.model import ImportFormatError, Problem

DEPTH_MAX = 40

_TOKEN = re.compile(
    r"""\s*(?:(?P<mark>=>|[\[\]{},])
        |"(?P<double>(?:[^"\\]|\\.)*)"
        |'(?P<single>(?:[^'\\]|\\.)*)'
        |(?P<alias>\$VAR\d+(?:->)?(?:\{[^}\n]*\}|\[\d+\]|->)*)
        |(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
        |(?P<word>[A-Za-z_]\w*))""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a", "f": "\f"}
_ESCAPE = re.compile(r"\\(x\{[0-9a-fA-F]{1,6}\}|.)", re.DOTALL)
_START = re.compile(r"^(?:(\$VAR\d+) = )?\[", re.MULTILINE)
_NAMELESS = "$VAR1"  # how a list without a name refers to itself
_STEP = re.compile(r"""\[(\d{1,9})\]|\{["']?([^"'{}]*)["']?\}""")


@dataclass(frozen=True, slots=True)
class _Alias:
    """What stands for data that stand at another place of the list already."""

    path: str


def load_dump(text: str, problems: list[Problem], *, lenient: bool) -> list[object]:
    """Return the lists of a text, one after another, as one.

    A reference to another place in the list is what stands there. With `lenient`, the whole
    items of a list that breaks off are returned.

    Raises
    ------
    ImportFormatError
        When there is no list, when it breaks off, or holds anything but data.
    """
    start = _START.search(text)
    if not start:
        raise ImportFormatError("no list in the file: expected a line that begins with '['")
    items: list[object] = []
    roots: dict[str, list[object]] = {}
    lost = 0
    while start:
        reader = _Reader(text, start.end())
        found: list[object] = []
        try:
            reader.read_list(found, 0)
        except ImportFormatError as error:
            if not (lenient and (found or items)):
                raise
            problems.append(Problem(error.line, error.message))
        roots[start[1] or _NAMELESS] = found
        lost += _resolve(found, roots) if reader.has_alias else 0
        items += found
        start = _START.search(text, max(reader.position, start.end()))
    if lost:
        problems.append(Problem(0, f"{lost} values refer to a place that is not there"))
    return items


def _resolve(holder: list[object] | dict[str, object], roots: Mapping[str, list[object]]) -> int:
    """Put what references stand for in their places; return how many have none."""
    lost = 0
    places: Iterable[tuple[Any, object]]
    places = list(holder.items() if isinstance(holder, dict) else enumerate(holder))
    for place, value in places:
        if isinstance(value, _Alias):
            holder[place] = _at(roots, value.path)
            lost += holder[place] is None
        elif isinstance(value, list | dict):
            lost += _resolve(value, roots)
    return lost


def _at(roots: Mapping[str, list[object]], path: str) -> object:
    """Return what stands at a place inside a list; None where there is nothing of its own."""
    value: object = roots.get(path.partition("->")[0])
    steps = _STEP.findall(path)
    for index, key in steps:
        if isinstance(value, list) and index and int(index) < len(value):
            value = value[int(index)]
        elif isinstance(value, dict) and not index:
            value = value.get(key)
        else:
            return None
    return None if isinstance(value, _Alias) or not steps else value


class _Reader:
    """Where we are in the text."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.has_alias = False

    def value(self, depth: int) -> object:
        kind, text = self.next_token()
        if kind == "mark" and text in "[{":
            if depth == DEPTH_MAX:
                raise self.error(f"data is nested more than {DEPTH_MAX} deep")
            return self.read_list([], depth) if text == "[" else self.read_hash(depth)
        return self.plain(kind, text)

    def plain(self, kind: str, text: str) -> object:
        if kind == "number":
            return _number(text)
        if kind in ("double", "single"):
            return _unescape(text, kind)
        if kind == "alias":
            self.has_alias = True
            return _Alias(text)
        if kind == "word" and text == "undef":
            return None
        raise self.error(f"expected a value, found {text!r}")

    def read_list(self, found: list[object], depth: int) -> list[object]:
        while not self.take("]"):
            found.append(self.value(depth + 1))
            if not self.take(","):
                self.expect("]")
                break
        return found

    def read_hash(self, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        while not self.take("}"):
            kind, text = self.next_token()
            if kind not in ("double", "single", "word", "number"):
                raise self.error(f"expected a name, found {text!r}")
            self.expect("=>")
            found[_unescape(text, kind)] = self.value(depth + 1)
            if not self.take(","):
                self.expect("}")
                break
        return found

    def next_token(self) -> tuple[str, str]:
        token = _TOKEN.match(self.text, self.position)
        if not token or not token.lastgroup:
            raise self.error("the data breaks off, or is not plain data")
        self.position = token.end()
        return token.lastgroup, token[token.lastgroup]

    def take(self, mark: str) -> bool:
        token = _TOKEN.match(self.text, self.position)
        if not token or token["mark"] != mark:
            return False
        self.position = token.end()
        return True

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise self.error(f"expected {mark!r}")

    def error(self, message: str) -> ImportFormatError:
        return ImportFormatError(message, self.text.count("\n", 0, self.position) + 1)


def _number(text: str) -> object:
    return float(text) if not text.lstrip("-").isdigit() or len(text) > 18 else int(text)


def _unescape(text: str, kind: str) -> str:
    if kind == "single":
        return text.replace("\\'", "'").replace("\\\\", "\\")
    return _ESCAPE.sub(_character, text) if kind == "double" else text


def _character(found: re.Match[str]) -> str:
    code = found[1]
    if code.startswith("x{"):
        number = int(code[2:-1], 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    return _ESCAPES.get(code, code)
