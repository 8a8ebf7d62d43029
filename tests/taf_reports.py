"""The reference reports as they were printed: their tables, cut into cells."""

import re
from pathlib import Path

import taf_writer

from benchkit import report_taf
from benchkit.importers import taf_report
from benchkit.importers.source import read_lines

DATA = Path(__file__).parent / "data"
REPORTS = ("taf_report_000.txt", "taf_report_001.txt", "taf_report_002.txt")
HEADINGS = re.compile(r"Comparison: .*|\w+ Info \(per dataset\)|Thread Count: \d+")
STATISTICS = tuple(taf_writer.statistics([1.0]))


def data_of(name):
    return report_taf.report_data(taf_report.parse(read_lines(DATA / name)))


def original_tables(name):
    """Return heading -> lines of the table below it, without the damaged second copies."""
    tables = {}
    rows = None
    for line in (DATA / name).read_text().split("\n"):
        if HEADINGS.fullmatch(line):
            rows = tables[line] = []
        elif line == "Property":
            rows = []
        elif rows is not None and line:
            rows.append(line)
    return tables


def original_cells(name, columns):
    """Return heading -> rows of cells; rows without TABs are cut at their decimals."""
    tables = {}
    for heading, lines in original_tables(name).items():
        decimals = 3 if heading.startswith("Comparison") else 2
        threads = [h.split()[-1] for h in original_tables(name) if h.startswith("Thread Count")]
        labels = threads if decimals == 3 else [*STATISTICS, *(f"Iteration {i}" for i in (1, 2, 3))]
        tables[heading] = [cut(line, labels, decimals, columns) for line in lines[1:]]
    return tables


def cut(line, labels, decimals, columns):
    if "\t" in line:
        return line.split("\t")
    for label in labels:
        found = re.findall(rf"-?\d+\.\d{{{decimals}}}", line[len(label) :])
        if line.startswith(label) and len(found) == columns and label + "".join(found) == line:
            return [label, *found]
    return [line]
