"""Results of HammerDB: its log, its jobs, its time profiles, its transaction counter's log.

One reader serves them all, since a terminal's text holds several of them: each line is offered to
JSON documents, then to the log, the time profile and the jobs' tables. The formats differ in how
they are recognised and in their name.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice

from benchkit.importers.hammerdb_jobs import JobReader
from benchkit.importers.hammerdb_json import Document, DocumentReader, loads
from benchkit.importers.hammerdb_log import LogReader
from benchkit.importers.hammerdb_profile import ProfileReader
from benchkit.importers.hammerdb_runs import Collector
from benchkit.importers.model import Imported
from benchkit.importers.prefixes import HEAD_LINES, Prefixes, date_in
from benchkit.importers.source import DAMAGE, Line

LOG = "hammerdb log"
JOB = "hammerdb job"
PROFILE = "hammerdb time profile"
COUNTER = "hammerdb transaction counter"

_CONTAINER = re.compile(r"^(?:[\w.-]{1,60} +\| ?|\[pod/[\w./-]{1,300}\] )")
_OWN = re.compile(
    r"[\"{}]|[A-Za-z]*(?:user|(?<!hammer)db|db>|DB|tpm|qph|TPM|NOPM|job)|[A-Z]{3,}|>>>>>|\|"
    r"|\0 ?[A-Za-z][A-Za-z0-9 ]{0,20} (?:tpm|qph)\b"
)
"""What no prefix has in it, but HammerDB's lines have."""

_WRAPPED = re.compile(r"\{\s*\"(?:log|message|msg)\"\s*:\s*\"")
_SEVERAL = re.compile(" {2,}")
_BLANKS = str.maketrans("\t\xa0", "  ")

_CUT_NUMBER = re.compile(
    r"(?:(?<!\d)[:=]|[:=]\s|%-|\b(?:is|in|of|achieved|from|at))\s*(?P<number>[-+]?\d[\d.,]*)$"
)
_FOREIGN = re.compile("[\x80-\x9f\xa1-\xff](?=[\\d.,])|(?<=[\\d.,])[\x80-\x9f\xa1-\xff]")
_FIGURES = re.compile(
    r"Vuser|System achieved|Virtual Users? configured|(?:tpm|qph)(?: @.*)?\s*$|CALLS:|P99:|_ms\""
)
"""What is in HammerDB's own lines, which are ASCII; around them people write ``2× NOPM``."""

_DAMAGED_NAME = re.compile(
    rf"(?=[A-Za-z ]{{0,40}}{DAMAGE})"
    rf"[A-Za-z{DAMAGE}][A-Za-z {DAMAGE}]{{0,40}}?(?=\s?(?:TPM|tpm|qph)\b)"
)
_NO_ASCII = f"\x80-\xff{DAMAGE}"
_LOST_LETTERS_MAX = 2
_PHRASES = [
    (phrase, re.compile("".join(f"[{re.escape(letter)}{_NO_ASCII}]" for letter in phrase)))
    for phrase in (
        "Virtual Users configured", "Active Virtual", "System achieved", "NOPM from", " TPM at ",
        "Timing test period of", "Beginning rampup time of", "Rampup complete", "Test complete",
        "query set(s) in", "completed in", "SUMMARY OF", "ACTIVE VIRTUAL USERS", "VIRTUAL USER ",
        "ELAPSED TIME",
    )
]  # fmt: skip
"""What makes a figure known, and the same where letters of it are lost."""

_NUMBER_OR_DAMAGE = re.compile(rf"[\d.,{DAMAGE}]+")

_SIGNS: dict[str, tuple[tuple[str, float], ...]] = {
    LOG: (
        (r"System\s*achieved\s*[\d,.]+.*(NOPM|TPM)", 0.95),
        (r"^\s*HammerDB CLI v|^Hammerdb Log @|^hammerdb>", 0.9),
        (r"Vuser \d+\s*:|Vuser \d+ created\b", 0.85),
        (r"Completed \d+ query set\(s\) in", 0.8),
        (r"^\d+ [A-Z]\w+( Server)? tpm\b", 0.6),
    ),
    JOB: (
        (r'"hammerdb-job-report-v1"', 1.0),
        (r'^\s*"TEST RESULT : System|"Jobid has no (test result|timing data)', 0.97),
        (r'"(activevu|p99_ms|usr%)"\s*:|^\s*\{?\s*"\w[\w ]* tpm"\s*:\s*\{', 0.97),
        (r'^\s*\[.*"TEST RESULT : System', 0.97),
        (r"^TPROC-C Jobs\s*$", 0.97),
    ),
    PROFILE: (
        (r"(?i)Hammerdb Time Profile Report @", 0.96),
        (r"\|PERCENTILES \d{4}-|\|MIN-\d+\|P50%-", 0.84),
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
    rest = iter(lines)
    head = list(islice(rest, HEAD_LINES))
    reader = _Reader(lenient, _prefixes([text for line in head for text in _unwrapped(line.text)]))
    for line in chain(head, rest):
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

    def __init__(self, lenient: bool, prefixes: Prefixes) -> None:
        self.collector = Collector(lenient)
        self._prefixes = prefixes
        self._documents = DocumentReader(self._document)
        self._jobs = JobReader(self.collector, self._captured)
        self._log = LogReader(self.collector)
        self._readers = (self._jobs.feed, self._log.feed, ProfileReader(self.collector).feed)

    def feed(self, line: Line) -> None:
        if line.text[:1] != "{":
            self._feed(line)
            return
        for text in _unwrapped(line.text):
            self._feed(replace(line, text=text))

    def _feed(self, line: Line) -> None:
        text = line.text
        if "|" in text or text.startswith("[pod/"):
            text = _CONTAINER.sub("", text, count=1)
        prefix, text = self._prefixes.split(text)
        self._log.date = date_in(prefix)
        if "\t" in text or "\xa0" in text:
            text = text.translate(_BLANKS)
        if not (line.whole and text.isascii()):
            text = self._without_damage(line, text)
        if rest := self._documents.feed(line.number, text):
            self._text(line.number, rest)

    def end(self) -> None:
        self._documents.end()

    def _captured(self, number: int, texts: Sequence[str]) -> None:
        """Read what a tool has captured of HammerDB, and put into a document of its own."""
        self.collector.end_text_run()
        for text in texts:
            self._feed(Line(number, text))
        self._documents.end()

    def _without_damage(self, line: Line, text: str) -> str:
        """Return a line without numbers that are not all there."""
        if not text.isascii():
            text = _with_whole_phrases(text)
            text = _FOREIGN.sub(DAMAGE, text) if _FIGURES.search(text) else text
        if DAMAGE in text:
            damaged = [each for each in _NUMBER_OR_DAMAGE.findall(text) if _is_damaged(each)]
            if damaged:
                self.collector.problem(line.number, f"a number is damaged: {damaged[0][:40]!r}")
            text = _NUMBER_OR_DAMAGE.sub(_damaged_number, text)
            if (name := _DAMAGED_NAME.search(text)) is not None:
                self.collector.problem(line.number, f"a name is damaged: {name[0]!r}")
                text = text[: name.start()] + text[name.end() :]
            text = text.replace(DAMAGE, "")
        if not line.whole and (cut := _CUT_NUMBER.search(text)) is not None:
            self.collector.problem(
                line.number, f"the file ends in the number {cut['number'][:40]}: expected its line"
            )
            text = text[: cut.start("number")]
        return text

    def _text(self, line: int, text: str) -> None:
        if "  " in text:
            text = _SEVERAL.sub(" ", text)
        for read in self._readers:
            read(line, text)

    def _document(self, document: Document) -> None:
        if document.problem:
            self.collector.problem(document.line, document.problem)
        if document.value is not None:
            self._jobs.take(document.line, document.value)
        for number, text in enumerate(document.text.splitlines()):
            self._text((document.text_line or document.line) + number, text)


def _unwrapped(text: str) -> Sequence[str]:
    """Return the lines that a logger has put into an object of their own, as Docker does."""
    if _WRAPPED.match(text) is None:
        return (text,)
    value = loads(0, text).value
    wrapped = next(iter(value.values())) if isinstance(value, dict) else text
    return wrapped.splitlines() if isinstance(wrapped, str) else (text,)


def _written_out(text: str) -> Sequence[str]:
    """Return the lines that a line has in it, where a document tells of many in one text."""
    if "\\n" not in text:
        return _unwrapped(text)
    return text.replace('\\"', '"').split("\\n")[:HEAD_LINES]


def _with_whole_phrases(text: str) -> str:
    """Return a line in which HammerDB's phrases have the letters again that were lost."""
    for phrase, pattern in _PHRASES:
        match = None if phrase in text.replace(DAMAGE, "") else pattern.search(text)
        if match is not None:
            lost = sum(letter != right for letter, right in zip(match[0], phrase, strict=True))
            text = text if lost > _LOST_LETTERS_MAX else text.replace(match[0], phrase)
    return text


def _is_damaged(token: str) -> bool:
    """Whether a mark of damage touches a number, within it or at either end."""
    return DAMAGE in token and any(letter.isdigit() for letter in token)


def _damaged_number(found: re.Match[str]) -> str:
    """Return ``?`` for a number that is damaged, and anything else as it is."""
    return "?" if _is_damaged(found[0]) else found[0]


def _prefixes(head: Sequence[str]) -> Prefixes:
    texts = [_CONTAINER.sub("", text, count=1) for text in head]
    return Prefixes(texts, _OWN, is_quotable=False)


def _score(format_name: str, head_lines: list[str], name: str) -> float:
    """Return how surely the first lines of a file are of a format, from 0 to 1."""
    lines = [text[:2000] for line in head_lines for text in _written_out(line)]
    prefixes = _prefixes(lines)
    plain = [
        _SEVERAL.sub(" ", prefixes.strip(_CONTAINER.sub("", line, count=1)).translate(_BLANKS))
        for line in lines
    ]
    scores = [
        score
        for pattern, score in _SIGNS[format_name]
        if any(re.search(pattern, line) for line in plain)
    ]
    return max(scores, default=0.0)


FORMATS: tuple[tuple[str, Callable[[list[str], str], float], Callable[..., Imported]], ...] = tuple(
    (format_name, partial(_score, format_name), partial(parse, format_name=format_name))
    for format_name in _SIGNS
)
"""Name, sniffer and parser of each form."""
