"""Comparison reports as the framework writes them: one HTML file with tables.

The tables become the lines of the text layout, with TABs between cells; the rest is read there.
"""

from collections.abc import Iterable, Iterator
from html.parser import HTMLParser

from benchkit.importers.model import Imported, ImportFormatError, Problem
from benchkit.importers.source import Line
from benchkit.importers.taf_names import limited
from benchkit.importers.taf_report import parse as parse_report

_HEADING_TAGS = ("h1", "h2", "h3", "div", "p")
_CELL_TAGS = ("th", "td")
_SILENT_TAGS = ("script", "style", "title")
_MARK = "<html"


def sniff(head: list[str], name: str) -> float:
    """Tell how much the first lines look like an HTML report of the framework."""
    text = "\n".join(head).lower()
    if _MARK not in text and "<!doctype html" not in text:
        return 0.0
    return 1.0 if "tps-delta" in text or "chart.js" in text or "delta-table" in text else 0.3


def parse(lines: Iterable[Line], *, lenient: bool = False, name: str = "") -> Imported:
    """Read an HTML comparison report."""
    return parse_report(_text_lines(lines), lenient=lenient, name=name)


def _text_lines(lines: Iterable[Line]) -> Iterator[Line]:
    parser = _Tables()
    cut: list[Problem] = []
    for line in limited(lines, cut):
        parser.line = line.number
        try:
            parser.feed(line.text + "\n")
        except (AssertionError, ValueError) as error:
            raise ImportFormatError(f"not HTML: {error}", line.number) from None
        yield from parser.taken()
    if cut:
        raise ImportFormatError(cut[0].message, cut[0].line)
    parser.end_row()
    yield from parser.taken()


class _Tables(HTMLParser):
    """Collects headings and table rows as lines of text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.line = 0
        self.ready: list[Line] = []
        self.row: list[str] | None = None
        self.text: list[str] = []
        self.silent = ""

    def taken(self) -> list[Line]:
        ready, self.ready = self.ready, []
        return ready

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT_TAGS:
            self.silent = tag
        elif tag == "tr":
            self.end_row()
            self.row = []
        elif tag in _CELL_TAGS or tag in _HEADING_TAGS:
            self.text = []
        elif tag == "br":
            self.text.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == self.silent:
            self.silent = ""
        elif tag in _CELL_TAGS and self.row is not None:
            self.row.append("".join(self.text).strip())
            self.text = []
        elif tag == "tr":
            self.end_row()
        elif tag in _HEADING_TAGS and self.row is None:
            self.add("".join(self.text))
            self.text = []

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.text.append(data)

    def end_row(self) -> None:
        if self.row:
            self.add("\t".join(map(_cell, self.row)))
        self.row = None

    def add(self, text: str) -> None:
        text = text.strip(" \n")
        if text:
            self.ready.append(Line(self.line, text))


def _cell(text: str) -> str:
    """Return a cell's text with one line per ``<br>`` and single spaces."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))
