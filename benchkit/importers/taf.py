"""The framework's files: comparison reports, result files, readmes, and percent tables.

The public face of the ``taf_*`` modules: a table of formats, each with a function that tells
from the first lines how likely a file is of the format, and one that reads it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

from benchkit.importers import percent, taf_html, taf_report, taf_results, taf_text
from benchkit.importers.mixed import SIGNS, Watch
from benchkit.importers.model import Imported, ImportFormatError, Problem
from benchkit.importers.prefixes import HEAD_LINES, Prefixes
from benchkit.importers.source import Line

_JSON_MARK = re.compile(r'"(?:thread_count|iteration_id|primary|metadata)" *:')
_CSV_MARK = re.compile(r"\w::(?:value|unit|type)\b")
_DUMP_MARK = re.compile(r"""["']?(?:thread_count|iteration_id|metrics|metadata)["']? *=>""")


_OWN = re.compile(r"[\0\w\"'{\[=|(-]")
"""Prefixes that are learned are blanks and signs: rows of a file may all begin alike."""

Sniff = Callable[[list[str], str], float]
Parse = Callable[..., Imported]


def _sniff_json(head: list[str], name: str) -> float:
    found = {mark for text in head for mark in _JSON_MARK.findall(text)}
    return min(1.0, 0.3 * len(found))


def _sniff_dump(head: list[str], name: str) -> float:
    if any(text.startswith("=== Raw Results Dump ===") for text in head):
        return 1.0
    return 0.9 if any(_DUMP_MARK.search(text) for text in head) else 0.0


def _sniff_csv(head: list[str], name: str) -> float:
    return 0.95 if any(_CSV_MARK.search(text) and "," in text for text in head[:5]) else 0.0


def _sniff_text(head: list[str], name: str) -> float:
    return 1.0 if any(re.match(r"=== Performance Report", text) for text in head) else 0.0


def _sniff_readme(head: list[str], name: str) -> float:
    marks = ("Date of Test", "Time of Test", "Framework", "Test Suite", "Database Maker")
    found = {mark for text in head for mark in marks if re.match(rf"{mark}\b.*:", text, re.I)}
    return 0.25 * min(3, len(found)) + (0.2 if name.lower() == "readme.txt" and found else 0)


def _plain(name: str, sniff: Sniff, parse: Parse) -> tuple[str, Sniff, Parse]:
    """Return a format that is also read where its lines are quoted, indented or logged."""
    parse_alone = _alone(name, parse)

    def sniff_plain(head: list[str], file_name: str) -> float:
        prefixes = _prefixes(head)
        return sniff([prefixes.strip(text) for text in head], file_name)

    def parse_plain(lines: Iterable[Line], **how: object) -> Imported:
        return parse_alone(_without_prefixes(lines), **how)

    return name, sniff_plain, parse_plain


def _alone(name: str, parse: Parse) -> Parse:
    """Return a parser that notes where results of another kind stand before or behind its own."""

    def parse_alone(lines: Iterable[Line], *, lenient: bool = False, **how: object) -> Imported:
        watch = Watch(lines, name, SIGNS)
        imported = parse(watch, lenient=lenient, **how)
        problems = [
            Problem(
                line, f"this is of another kind, {other}, and not read: put it in a file of its own"
            )
            for other, line in watch.others.items()
        ]
        if problems and not lenient:
            raise ImportFormatError(problems[0].message, problems[0].line)
        return replace(imported, problems=(*imported.problems, *problems))

    return parse_alone


def _prefixes(head: list[str]) -> Prefixes:
    return Prefixes(head, _OWN, is_quotable=True)


def _without_prefixes(lines: Iterable[Line]) -> Iterator[Line]:
    rest = iter(lines)
    head = list(islice(rest, HEAD_LINES))
    prefixes = _prefixes([line.text for line in head])
    for line in chain(head, rest):
        yield Line(line.number, prefixes.strip(line.text), line.whole)


FORMATS: tuple[tuple[str, Sniff, Parse], ...] = (
    _plain(taf_report.FORMAT, taf_report.sniff, taf_report.parse),
    ("taf html", taf_html.sniff, _alone("taf html", taf_html.parse)),
    _plain("taf json", _sniff_json, taf_results.parse_json),
    _plain("taf raw dump", _sniff_dump, taf_results.parse_dump),
    _plain("taf csv", _sniff_csv, taf_results.parse_csv),
    _plain("taf text", _sniff_text, taf_text.parse_text),
    _plain("taf readme", _sniff_readme, taf_text.parse_readme),
    _plain(percent.FORMAT, percent.sniff, percent.parse),
)
"""(name, sniff(first lines, file name) -> 0..1, parse(lines, lenient=, name=))."""
