"""Perl's Data::Dumper text, read as data: lists, hashes, strings, numbers and undef.

The framework itself evaluates such files as programs. Here they are only taken apart; whatever
is not plain data is an error.
"""

import re

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
_START = re.compile(r"^(?:\$VAR\d+ = )?\[", re.MULTILINE)


def load_dump(text: str, problems: list[Problem], *, lenient: bool) -> list[object]:
    """Return the lists of a text, one after another, as one.

    A reference to another place in the data has no value: None. With `lenient`, the whole
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
    aliases = 0
    while start:
        reader = _Reader(text, start.end())
        try:
            reader.read_list(items, 0)
        except ImportFormatError as error:
            if not (lenient and items):
                raise
            problems.append(Problem(error.line, error.message))
        aliases += reader.aliases
        start = _START.search(text, max(reader.position, start.end()))
    if aliases:
        problems.append(
            Problem(0, f"{aliases} values only refer to another place and are left out")
        )
    return items


class _Reader:
    """Where we are in the text."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.aliases = 0

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
            self.aliases += 1
            return None
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
