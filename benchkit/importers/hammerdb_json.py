"""JSON documents in a text: one or many, with prompts, headings and log lines around them.

A document begins where a line begins with a bracket and something that may follow it in JSON, and
ends where its brackets close. Nothing is evaluated; nesting, numbers and lengths are bounded.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

DOCUMENT_MAX = 1 << 23
"""Characters of a document that are read."""

DEPTH_MAX = 60

_OPENING = re.compile(r"\{\s*(?:$|\"|\})|\[\s*(?:$|[\"\[{\]])")
_GOES_ON = re.compile(r"\s*(?:$|[\"{}\[\],:]|-?\d|true\b|false\b|null\b)")
_PROMPT = re.compile(
    r"^\s*(?:hammerdb>\s*|>+\s+|```\w*\s*|Test result:\s*|[a-z]+: \[[^]]{1,80}\](?:: \w+!)? => )?"
)
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\],]')
_CLOSING = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON document of a text.

    Parameters
    ----------
    line : int
        Where it begins.
    value : object
        None where it cannot be read at all.
    text : str
        The document itself where there is no value; what is left of one that breaks off.
    problem : str
        Why the document is not all of what it should be; empty when it is.
    text_line : int
        Where `text` begins; 0 for the document's own line.
    """

    line: int
    value: object
    text: str = ""
    problem: str = ""
    text_line: int = 0


class DocumentReader:
    """Takes lines as long as they belong to a JSON document.

    Parameters
    ----------
    found : callable
        Is given each document when its end is known.
    """

    def __init__(self, found: Callable[[Document], None]) -> None:
        self._found = found
        self._line = 0
        self._pieces: list[str] = []
        self._size = 0
        self._stack: list[str] = []
        self._safe = (0, "")

    def feed(self, line: int, text: str) -> str:
        """Take what of a line belongs to documents, and return the rest."""
        if not self._pieces and "{" not in text and "[" not in text:
            return text
        plain = text
        if self._pieces:
            if not _GOES_ON.match(plain):
                self._break_off("is not closed")
                return self.feed(line, text)
        else:
            plain = _PROMPT.sub("", text, count=1)
            if not _OPENING.match(plain):
                return text
            self._line = line
        rest = self._append(plain)
        return self.feed(line, rest) if rest.strip() else ""

    def end(self) -> None:
        """Give away a document that the file's end leaves open."""
        if self._pieces:
            self._break_off("breaks off")

    def _append(self, text: str) -> str:
        """Take the text up to the document's end, and return what follows."""
        for match in _TOKENS.finditer(text):
            token, end = match[0], match.end()
            if token == '"':
                break
            if token in _CLOSING:
                self._stack.append(_CLOSING[token])
            elif token in "}]" and (not self._stack or self._stack.pop() != token):
                self._pieces.append(text[: match.start()])
                self._break_off("has a bracket too many")
                return text[end:]
            elif token in "}]" or token == ",":
                closing = "".join(reversed(self._stack))
                self._safe = (self._size + (match.start() if token == "," else end), closing)
            if not self._stack:
                self._pieces.append(text[:end])
                self._complete()
                return text[end:]
        self._pieces.append(text + "\n")
        self._size += len(text) + 1
        if self._size > DOCUMENT_MAX or len(self._stack) > DEPTH_MAX:
            self._break_off("is larger than any of HammerDB's")
        return ""

    def _complete(self) -> None:
        line, text = self._line, "".join(self._pieces)
        self._reset()
        self._found(loads(line, text))

    def _break_off(self, why: str) -> None:
        line, text = self._line, "".join(self._pieces)
        end, closing = self._safe
        self._reset()
        value = loads(line, text[:end] + closing).value
        rest = 0 if value is None else end
        text_line = line + text.count("\n", 0, rest)
        self._found(Document(line, value, text[rest:], f"the JSON {why}", text_line))

    def _reset(self) -> None:
        self._pieces = []
        self._stack = []
        self._size = 0
        self._safe = (0, "")


def loads(line: int, text: str) -> Document:
    """Read a document; what is wrong with it is told, never raised."""
    repeated: list[str] = []

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        value: dict[str, object] = {}
        for key, item in items:
            if key in value:
                repeated.append(key)
            value.setdefault(key, item)
        return value

    try:
        value = json.loads(
            text,
            object_pairs_hook=pairs,
            parse_constant=lambda name: None,
            parse_int=_integer,
        )
    except (ValueError, RecursionError) as error:
        return Document(line, None, text, f"cannot be read as JSON: {str(error)[:100]}")
    if repeated:
        return Document(line, value, "", f"the JSON has {repeated[0][:40]!r} twice")
    return Document(line, value)


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 20 else float(text)
