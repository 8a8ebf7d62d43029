"""Damage that files suffer on their way: for tests that nothing but our own errors comes out."""

import os
import random
from contextlib import contextmanager

from benchkit.errors import BenchkitError
from benchkit.importers.source import Line, read_lines

ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "latin-1")


def _cut(lines, rng):
    return lines[: rng.randrange(len(lines) + 1)]


def _cut_in_line(lines, rng):
    at = rng.randrange(len(lines))
    return [*lines[:at], lines[at][: rng.randrange(len(lines[at]) + 1)]]


def _drop(lines, rng):
    at = rng.randrange(len(lines))
    return lines[:at] + lines[at + 1 + rng.randrange(5) :]


def _double(lines, rng):
    at = rng.randrange(len(lines))
    return lines[: at + rng.randrange(9)] + lines[at:]


def _swap(lines, rng):
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    changed = list(lines)
    changed[a], changed[b] = changed[b], changed[a]
    return changed


def _glue(lines, rng):
    at = rng.randrange(len(lines))
    return [*lines[:at], "".join(lines[at : at + 2]), *lines[at + 2 :]]


def _glue_columns(lines, rng):
    separator = rng.choice("\t ,:")
    return [line.replace(separator, "") if rng.random() < 0.3 else line for line in lines]


def _change_number(lines, rng):
    at = rng.randrange(len(lines))
    digits = [i for i, c in enumerate(lines[at]) if c.isdigit()]
    if not digits:
        return lines
    place = rng.choice(digits)
    new = rng.choice(["", "9", "-1", "1e999", "nan", "18446744073709551615", "0", ".", "٣"])
    return [*lines[:at], lines[at][:place] + new + lines[at][place + 1 :], *lines[at + 1 :]]


def _insert(lines, rng):
    new = rng.choice(
        ["", "\x1b[31m" + "x", "```", "$ cat report", "\t\t\t", "-" * 40, "{", "]", '"', "\0"]
    )
    at = rng.randrange(len(lines) + 1)
    return [*lines[:at], new, *lines[at:]]


_CHANGES = (
    _cut,
    _cut_in_line,
    _drop,
    _double,
    _swap,
    _glue,
    _glue_columns,
    _change_number,
    _insert,
)


def mutate(text: str, rng: random.Random) -> bytes:
    """Return a damaged copy of a text, as the bytes of a file."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        lines = rng.choice(_CHANGES)(lines, rng) or [""]
    end = rng.choice(["\n", "\n", "\n", "\r\n", "\r"])
    encoding = rng.choice(ENCODINGS) if rng.random() < 0.2 else "utf-8"
    data = bytearray(end.join(lines).encode(encoding, errors="replace"))
    for _ in range(rng.choice([0, 0, 1, 3]) if data else 0):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


@contextmanager
def told(seed, number, data):
    """Tell of a failure which damaged file it was: of which seed, and what is in it."""
    try:
        yield
    except Exception as error:
        error.add_note(f"seed {seed!r}, file {number}: {bytes(data[:4000])!r}")
        raise


def lines(text):
    """Return a text as a parser gets it."""
    return [Line(number, line) for number, line in enumerate(text.split("\n"), 1)]


def _is_readable(parse, found, lenient):
    try:
        parse(found, lenient=lenient, name="x")
    except BenchkitError:
        return False
    return True


def fuzzed(text, parse, count, seed):
    """Parse damaged copies of a text; whatever is not a result or our error comes through."""
    rng = random.Random(seed)
    outcomes = {True: 0, False: 0}
    memory = os.memfd_create("damaged")
    try:
        for number in range(count):
            data = mutate(text, rng)
            os.ftruncate(memory, 0)
            os.pwrite(memory, data, 0)
            found = read_lines(f"/proc/self/fd/{memory}")
            with told(seed, number, data):
                outcomes[_is_readable(parse, found, rng.random() < 0.8)] += 1
    finally:
        os.close(memory)
    return outcomes
