"""Results of HammerDB: its log, its jobs, its time profiles, its transaction counter's log.

One reader serves them all, since a terminal's text holds several of them: each line is offered to
JSON documents, then to the log, the time profile and the jobs' tables. The formats differ in how
they are recognised and in their name.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial

from benchkit.importers.hammerdb_jobs import JobReader
from benchkit.importers.hammerdb_json import Document, DocumentReader
from benchkit.importers.hammerdb_log import LogReader
from benchkit.importers.hammerdb_profile import ProfileReader
from benchkit.importers.hammerdb_runs import Collector
from benchkit.importers.model import Imported
from benchkit.importers.source import Line

LOG = "hammerdb log"
JOB = "hammerdb job"
PROFILE = "hammerdb time profile"
COUNTER = "hammerdb transaction counter"

_CONTAINER = re.compile(r"^[\w.-]{1,60} +\| ?")

_SIGNS: dict[str, tuple[tuple[str, float], ...]] = {
    LOG: (
        (r"System\s+achieved\s*[\d,.]+ .*(NOPM|TPM)", 0.95),
        (r"^\s*HammerDB CLI v|^Hammerdb Log @|^hammerdb>", 0.9),
        (r"Vuser \d+\s*:", 0.85),
        (r"Completed \d+ query set\(s\) in", 0.8),
        (r"^\d+ [A-Z]\w+( Server)? tpm\b", 0.6),
    ),
    JOB: (
        (r'"hammerdb-job-report-v1"', 1.0),
        (r'^\s*"(TEST RESULT : System|Jobid has no)', 0.97),
        (r'^\s*"(activevu|p99_ms|usr%)"\s*:|^\s*\{?"\w[\w ]* tpm"\s*:\s*\{', 0.97),
        (r'^\s*\[.*"TEST RESULT : System', 0.97),
        (r"^TPROC-C Jobs\s*$", 0.97),
    ),
    PROFILE: (
        (r"(?i)Hammerdb Time Profile Report @", 0.96),
        (r">>>>> (PROC|VIRTUAL USER \d+|SUMMARY OF \d+)", 0.96),
    ),
    COUNTER: (
        (r"Hammerdb Transaction Counter Log @", 0.98),
        (r"^\d+ [A-Z]\w+( Server)? (tpm|qph) @ ", 0.98),
    ),
}


def parse(lines: Iterable[Line], *, lenient: bool, name: str, format_name: str = LOG) -> Imported:
    """Read a file of HammerDB.

    Parameters
    ----------
    lines : iterable of Line
    lenient : bool
        Whether to return what is readable of a damaged file, with its problems.
    name : str
        The file's, which may tell the number of virtual users.
    format_name : str
        How the outcome is called.

    Raises
    ------
    ImportFormatError
        Unless lenient, when nothing of HammerDB is in the file, or something of it is damaged.
    """
    reader = _Reader(lenient)
    for line in lines:
        reader.feed(line)
    reader.end()
    runs = reader.collector.runs(name)
    if not runs:
        reader.collector.problem(
            0, "no result of HammerDB: expected a TEST RESULT, a job's JSON or a time profile"
        )
    return Imported(format_name, runs, tuple(reader.collector.problems))


class _Reader:
    """Offers each line to whoever knows what to do with it."""

    def __init__(self, lenient: bool) -> None:
        self.collector = Collector(lenient)
        self._documents = DocumentReader(self._document)
        self._jobs = JobReader(self.collector)
        self._readers = (
            self._jobs.feed,
            LogReader(self.collector).feed,
            ProfileReader(self.collector).feed,
        )

    def feed(self, line: Line) -> None:
        text = _CONTAINER.sub("", line.text, count=1) if " |" in line.text else line.text
        rest = self._documents.feed(line.number, text)
        if rest:
            self._text(line.number, rest)

    def end(self) -> None:
        self._documents.end()

    def _text(self, line: int, text: str) -> None:
        for read in self._readers:
            read(line, text)

    def _document(self, document: Document) -> None:
        if document.problem:
            self.collector.problem(document.line, document.problem)
        if document.value is not None:
            self._jobs.take(document.line, document.value)
        for number, text in enumerate(document.text.splitlines()):
            self._text(document.line + number, text)


def _score(format_name: str, head_lines: list[str], name: str) -> float:
    """Return how surely the first lines of a file are of a format, from 0 to 1."""
    scores = [
        score
        for pattern, score in _SIGNS[format_name]
        if any(re.search(pattern, line[:2000]) for line in head_lines)
    ]
    return max(scores, default=0.0)


FORMATS: tuple[tuple[str, Callable[[list[str], str], float], Callable[..., Imported]], ...] = tuple(
    (format_name, partial(_score, format_name), partial(parse, format_name=format_name))
    for format_name in _SIGNS
)
"""Name, sniffer and parser of each form."""
