"""Comparison reports as the framework writes them: one HTML file with tables.

The tables become the lines of the text layout, with TABs between cells; the rest is read there.
Only the tags that the framework writes are understood, line by line, in time that grows with
the file's length alone.
"""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from benchkit.importers.model import Imported, Problems
from benchkit.importers.source import Line
from benchkit.importers.taf_names import limited
from benchkit.importers.taf_report import read_report

_TAG = re.compile(r"(<[^<>]*>)")
_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
_HEADINGS = ("h1", "h2", "h3", "div", "p")
_CELLS = ("th", "td")
_SILENT = ("script", "style", "title")
_PIECES_MAX = 100_000


def sniff(head: list[str], name: str) -> float:
    """Tell how much the first lines look like an HTML report of the framework."""
    text = "\n".join(head).lower()
    if "<html" not in text and "<!doctype html" not in text:
        return 0.0
    return 1.0 if any(mark in text for mark in ("chart.js", "tps-delta", "delta-table")) else 0.3


def parse(lines: Iterable[Line], *, lenient: bool = False, name: str = "") -> Imported:
    """Read an HTML comparison report."""
    problems = Problems(lenient)
    return read_report(_table_lines(limited(lines, problems)), problems)


@dataclass(slots=True)
class _Open:
    """What has begun and not ended: a row, a cell's or heading's text, a script."""

    row: list[str] | None = None
    text: list[str] = field(default_factory=list)
    silent: str = ""

    def take_text(self) -> str:
        """Return the text, a line per ``<br>``, with single spaces."""
        text, self.text = "".join(self.text), []
        return "\n".join(" ".join(line.split()) for line in text.split("\f")).strip()

    def take_row(self) -> str:
        row, self.row = self.row or [], None
        return "\t".join(row)


def _table_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield headings and table rows as lines of text."""
    state = _Open()
    for line in lines:
        found = chain.from_iterable(_read(state, piece) for piece in _TAG.split(line.text))
        yield from (Line(line.number, text) for text in found if text)
        _add(state, " ")
    rest = state.take_row()
    if rest:
        yield Line(line.number, rest)


def _add(state: _Open, text: str) -> None:
    if not state.silent and len(state.text) < _PIECES_MAX:
        state.text.append(text)


def _read(state: _Open, piece: str) -> Iterator[str]:
    """Read a tag or the text between two; yield what has ended with it."""
    tag = _NAME.match(piece)
    if not tag:
        if not piece.startswith("<!"):
            _add(state, html.unescape(piece))
        return
    ends, name = bool(tag[1]), tag[2].lower()
    if name in _SILENT:
        state.silent = "" if ends else name
    elif name == "br":
        _add(state, "\f")
    elif name in ("tr", "table"):  # a row that is cut ends with its table
        yield state.take_row()
        state.row = [] if name == "tr" and not ends else None
    elif name in _CELLS + _HEADINGS and not ends:
        state.text = []
    elif name in _CELLS and state.row is not None:
        state.row.append(state.take_text())
    elif name in _HEADINGS and state.row is None:
        yield state.take_text()
