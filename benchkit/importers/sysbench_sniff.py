"""Telling from the first lines of a file whether it is sysbench's output."""

import re
from collections.abc import Sequence

from benchkit.importers.mixed import SYSBENCH_BANNER
from benchkit.importers.sysbench_text import undress

_MARKS = (
    (re.compile(SYSBENCH_BANNER), 1.0),
    (re.compile(r"\[\s*\d+s ?\] (?:thds|threads): ?\d+,? (?:tps|eps): ?\d"), 0.95),
    (re.compile(r"(?:OLTP test|SQL) statistics ?:|Test execution summary ?:"), 0.9),
    (re.compile(r"Running the test with following options:|Threads fairness:"), 0.9),
    (re.compile(r"total number of events:\s+\d|\(r/w/o: |per-request statistics:"), 0.8),
    (re.compile(r"transactions:\s+\d+\s+\(\d+\.\d+ per sec\.\)"), 0.8),
    (re.compile(r"Total operations:\s+\d+\s+\(\s*\d+\.\d+ per second\)"), 0.8),
    (re.compile(r"^(?:[\[{].*)?\"?qps\"\s*:\s*\{"), 0.8),
    (re.compile(r"^\d{1,9},\d{1,7}(?:,\d{1,16}\.\d\d){8}$"), 0.7),
    (re.compile(r"\bsysbench\b.*\brun\b"), 0.4),
)


def sniff(head_lines: Sequence[str], name: str) -> float:
    """Return how surely the first lines of a file are sysbench's output, from 0 to 1."""
    best = 0.2 if "sysbench" in name.lower() else 0.0
    for line in head_lines:
        text = undress(line[:1000]).text.lstrip()
        best = max(best, *(score if _is_said(mark, text) else 0.0 for mark, score in _MARKS))
    return best


def _is_said(mark: re.Pattern[str], text: str) -> bool:
    """Whether sysbench may have written the mark: in a table's cell, people write about it."""
    match = mark.search(text)
    return match is not None and "\t" not in text[: match.start()]
