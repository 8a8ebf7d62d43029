"""Reads lines with HammerDB's importer, and compares what it finds."""

from benchkit.importers.hammerdb import parse
from benchkit.importers.model import Imported
from benchkit.importers.source import Line

RATES = (0, 95520, *range(100000, 100012), 92160, 12)
"""Of one minute of ramp-up and one of test, and what came after them."""


def read(lines, lenient=False, name="hammerdb.log") -> Imported:
    numbered = [Line(i, text) for i, text in enumerate(lines, 1)]
    return parse(numbered, lenient=lenient, name=name)


def only(lines, **options):
    (run,) = read(lines, **options).runs
    return run


def triples(imported):
    return [(run.threads, run.metrics["nopm"], run.metrics["tpm"]) for run in imported.runs]


def assert_timing(found, expected):
    assert {name: {k: found[name][k] for k in figures} for name, figures in expected.items()} == (
        expected
    )
    assert ("p75_ms" in found["NEWORD"]) == ("p75_ms" in expected["NEWORD"])
