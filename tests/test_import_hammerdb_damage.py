"""Damaged files of HammerDB give a result or our error, and lenient reading never fails."""

import random

import pytest
from hammerdb_damage import mutated
from hammerdb_reading import read
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation import told

from benchkit.errors import BenchkitError
from benchkit.importers.hammerdb import parse
from benchkit.importers.source import read_lines

MUTATIONS = 10_000


@pytest.mark.parametrize("part", range(4))
def test_damaged_files_give_a_result_or_our_error(part, tmp_path):
    chance = random.Random(part)
    path = tmp_path / "damaged.log"
    for number in range(MUTATIONS // 4):
        data = mutated(chance)
        path.write_bytes(data)
        with told(part, number, data):
            check(path)


def check(path):
    """Read a file both ways, and hold what comes out against each other."""
    imported = parse(read_lines(path), lenient=True, name=path.name)
    for run in imported.runs:
        assert all(value >= 0 for value in run.metrics.values())
        assert run.threads is None or run.threads > 0
    try:
        strict = parse(read_lines(path), lenient=False, name=path.name)
    except BenchkitError:
        assert imported.problems
    else:
        assert strict.runs == imported.runs


@given(st.text(max_size=300))
@settings(deadline=None, max_examples=300)
def test_any_text_gives_a_result_or_our_error(text):
    read(text.split("\n"), lenient=True)
