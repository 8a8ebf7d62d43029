"""Damages HammerDB's files: cut, glued, swapped, with other numbers, letters and encodings."""

import random

import hammerdb_writer as writer
from hammerdb_reading import RATES
from hammerdb_writer import Run, dumped, figures

FILES = [
    "\n".join(lines)
    for lines in (
        writer.log(Run(users=2, counts=RATES[:9], duration=1), banner="6.0"),
        [*writer.log(Run(users=1), old_order=True), *writer.log(Run(users=2, job=""))],
        writer.profile(Run(users=1, timing=figures()), by_user={2: figures(2)}),
        writer.counter_log(Run(counts=RATES)),
        [*dumped(writer.job_result(Run())), *dumped(writer.job_timing(Run(timing=figures())))],
        dumped(writer.job_results({"F" * 24: None, "A" * 24: Run(), "B" * 24: Run(users=9)})),
        dumped(writer.job_report(Run(counts=RATES[:5], timing=figures()))),
        [*writer.log(Run(users=1)), *dumped(writer.job_counts(Run(counts=RATES)))],
        [
            "Vuser 1:query 14 completed in 7.3 seconds",
            "Vuser 1:Completed 1 query set(s) in 9 seconds",
        ],
    )
]
EXTREMES = ["18446744073709551615", "-1", "1e308", "nan", "", "9" * 400, "0", "1,5", "٣"]


def mutated(chance: random.Random) -> bytes:
    """Return one of the files, damaged in one to four ways."""
    text = chance.choice(FILES)
    for _ in range(chance.randint(1, 4)):
        text = chance.choice(DAMAGES)(text, chance)
    return chance.choice(ENCODERS)(text, chance)


def cut(text, chance):
    return text[: chance.randint(0, len(text))]


def without_head(text, chance):
    return text[chance.randint(0, len(text)) :]


def on_lines(change):
    def damage(text, chance):
        lines = text.split("\n")
        change(lines, chance)
        return "\n".join(lines)

    return damage


def swap(lines, chance):
    i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]


def repeat(lines, chance):
    i = chance.randrange(len(lines))
    lines[i:i] = lines[i : i + chance.randint(1, 20)] * chance.randint(1, 3)


def drop(lines, chance):
    i = chance.randrange(len(lines))
    del lines[i : i + chance.randint(1, 10)]


def glue(lines, chance):
    i = chance.randrange(len(lines))
    lines[i : i + 2] = ["".join(lines[i : i + 2])]


def insert_other(lines, chance):
    lines[chance.randrange(len(lines) + 1) : 0] = chance.choice(FILES).split("\n")


def change_number(text, chance):
    places = [i for i, letter in enumerate(text) if letter.isdigit()]
    if not places:
        return text
    i = chance.choice(places)
    return text[:i] + chance.choice(EXTREMES) + text[i + chance.randint(0, 3) :]


def change_letter(text, chance):
    i = chance.randint(0, len(text))
    return text[:i] + chance.choice('{}[]",:|>@\\ \t\x00é') + text[i + chance.randint(0, 1) :]


def colour(text, chance):
    i = chance.randint(0, len(text))
    return f"{text[:i]}\x1b[1;32m{text[i:]}"


DAMAGES = [
    cut,
    without_head,
    *map(on_lines, (swap, repeat, drop, glue, insert_other)),
    change_number,
    change_letter,
    colour,
]


def flipped(text, chance):
    data = bytearray(text.encode())
    for _ in range(min(len(data), 3)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


ENCODERS = [
    lambda text, chance: text.encode(),
    lambda text, chance: text.encode(),
    lambda text, chance: text.replace("\n", "\r\n").encode(),
    lambda text, chance: text.replace("\n", "\r").encode("utf-8-sig"),
    lambda text, chance: text.encode("utf-16"),
    lambda text, chance: text.encode("latin-1", "replace"),
    flipped,
]
