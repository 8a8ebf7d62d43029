"""JSON of unknown origin, read with a limit on everything that JSON leaves open."""

import json
import re

from benchkit.importers.model import ImportFormatError, Problem

_START = re.compile(r"^[ \t]*([\[{])", re.MULTILINE)
_KEY = re.compile(r'^[ \t]*("[\w-]{1,60}")[ \t]*:', re.MULTILINE)
_NOISE_MAX = 50
_SPACE = r"[ \t\r\n]*"
_BETWEEN = re.compile(rf"{_SPACE},?{_SPACE}")
_METADATA = re.compile(rf'"metadata"{_SPACE}:{_SPACE}(?=\{{)')
_ITERATIONS = re.compile(rf'"iterations"{_SPACE}:{_SPACE}\[{_SPACE}|\A{_SPACE}\[{_SPACE}')


def load_json(text: str, problems: list[Problem], *, lenient: bool) -> list[object]:
    """Return the JSON objects and lists of a text, each of which begins a line.

    Lines around them, such as a prompt, are passed over. NaN and Infinity become None. Of an
    object's equal keys the last counts, and is a problem. With `lenient`, a report that breaks
    off gives what is whole in it.

    Raises
    ------
    ImportFormatError
        When there is none, when one breaks off, or is nested too deeply to read.
    """
    decoder = _decoder(problems)
    values: list[object] = []
    places: list[tuple[int, int]] = []
    failure: ImportFormatError | None = None
    broken = noise = 0
    start = _START.search(text)
    while start and noise < _NOISE_MAX:
        place = start.start(1)
        try:
            value, end = decoder.raw_decode(text, place)
            values.append(value)
            places.append((place, end))
        except json.JSONDecodeError as error:
            breaks_off = error.lineno > text.count("\n", 0, place) + 1
            if breaks_off or failure is None:
                failure = ImportFormatError(f"not JSON: {error.msg}", error.lineno)
                broken = place
            if breaks_off:
                return values + _broken(text[broken:], decoder, failure, problems, lenient=lenient)
            noise += 1
            end = place + 1
        except (ValueError, RecursionError) as error:
            raise ImportFormatError(f"cannot read this JSON: {error}") from None
        start = _START.search(text, end)
    if values:
        _note_stray_keys(text, places, problems)
        return values
    if failure is None:
        raise ImportFormatError("no JSON object in the file")
    return _broken(text[broken:], decoder, failure, problems, lenient=lenient)


def _note_stray_keys(text: str, places: list[tuple[int, int]], problems: list[Problem]) -> None:
    """Note the first line of each part of an object that stands outside of all that was read."""
    ends = [0, *(end for _, end in places)]
    starts = [*(start for start, _ in places), len(text)]
    for end, start in zip(ends, starts, strict=True):
        found = _KEY.search(text, end, start)
        if found:
            line = text.count("\n", 0, found.start(1)) + 1
            problems.append(Problem(line, "expected '{' or '[' before this line"))


def _decoder(problems: list[Problem]) -> json.JSONDecoder:
    def pairs(found: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(found)
        if len(result) < len(found):
            problems.append(Problem(0, "an object has the same key twice"))
        return result

    return json.JSONDecoder(object_pairs_hook=pairs, parse_constant=lambda _: None)


def _broken(
    text: str,
    decoder: json.JSONDecoder,
    failure: ImportFormatError,
    problems: list[Problem],
    *,
    lenient: bool,
) -> list[object]:
    """Return what is whole in a report that breaks off, or raise its failure."""
    found = _ITERATIONS.search(text)
    if not lenient or not found:
        raise failure
    problems.append(Problem(failure.line, failure.message))
    iterations: list[object] = []
    end = found.end()
    try:
        while True:
            value, end = decoder.raw_decode(text, end)
            iterations.append(value)
            between = _BETWEEN.match(text, end)
            end = between.end() if between else end
    except (ValueError, RecursionError):
        pass
    metadata = _METADATA.search(text)
    report: dict[str, object] = {"iterations": iterations}
    try:
        report["metadata"] = decoder.raw_decode(text, metadata.end())[0] if metadata else {}
    except (ValueError, RecursionError):
        problems.append(Problem(0, "the metadata are not whole"))
    return [report]
