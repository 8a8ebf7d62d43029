"""Percent tables, read back: both conventions, and what is not told is asked for."""

import pytest
import taf_writer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutation import fuzzed, lines

from benchkit.importers import percent
from benchkit.importers.model import ImportFormatError
from benchkit.metrics import PERCENT_METRIC

MUTATIONS = 10_000
RELAXED = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
TESTS = st.lists(
    st.sampled_from(["delete", "insert", "oltp_simple", "select", "update_index"]),
    min_size=1,
    unique=True,
)


@st.composite
def percent_rows(draw, low, high):
    threads = sorted(draw(st.sets(st.integers(1, 9999), min_size=2, max_size=8)))
    cell = st.integers(low, high).map(lambda hundredths: hundredths / 100)
    row = st.lists(cell, min_size=len(threads), max_size=len(threads))
    return threads, [(test, draw(row)) for test in draw(TESTS)]


def percents(imported):
    return {(r.dataset, r.threads): r.metrics[PERCENT_METRIC] for r in imported.runs if r.metrics}


@RELAXED
@given(percent_rows(5_000, 30_000))
def test_percent_table_gives_its_cells_back(table):
    threads, rows = table
    text = taf_writer.percent_table(threads, rows, ["a title", ""], taf_writer.RATIO_CAPTION)
    imported = percent.parse(lines(text))
    assert percents(imported) == {
        (test, at): cell for test, cells in rows for at, cell in zip(threads, cells, strict=True)
    }
    assert {run.extra["candidate"] for run in imported.runs} == {"MariaDB"}


@RELAXED
@given(percent_rows(-9_000, 4_999))
def test_percent_changes_become_percentages_of_the_baseline(table):
    threads, rows = table
    text = taf_writer.percent_table(threads, rows, ["a title", ""], "(off q/s / 7 q/s * 100)")
    imported = percent.parse(lines(text), convention="change")
    assert percents(imported) == pytest.approx(
        {
            (test, at): 100 + cell
            for test, cells in rows
            for at, cell in zip(threads, cells, strict=True)
        }
    )


def test_negative_number_decides_against_the_caption():
    text = taf_writer.percent_table(
        [1, 4], [("delete", [-30.11, 41.44])], ["x"], taf_writer.RATIO_CAPTION
    )
    assert percents(percent.parse(lines(text))) == pytest.approx(
        {("delete", 1): 69.89, ("delete", 4): 141.44}
    )
    with pytest.raises(ImportFormatError, match="use convention='change'"):
        percent.parse(lines(text), convention="ratio")


@pytest.mark.parametrize(
    ("rows", "caption"),
    [([("delete", [98.0, 101.0])], ""), ([("delete", [3.5, 1.25])], taf_writer.RATIO_CAPTION)],
)
def test_convention_that_is_not_told_is_asked_for(rows, caption):
    text = taf_writer.percent_table([1, 4], rows, ["x"], caption)
    with pytest.raises(ImportFormatError, match="give convention="):
        percent.parse(lines(text), lenient=True)
    assert percents(percent.parse(lines(text), convention="ratio"))["delete", 1] == rows[0][1][0]
    changed = percents(percent.parse(lines(text), convention="change"))
    assert changed["delete", 1] == 100 + rows[0][1][0]


def test_words_tell_the_convention():
    text = taf_writer.percent_table([1, 4], [("delete", [3.5, 1.25])], ["percent change"])
    assert percents(percent.parse(lines(text)))["delete", 1] == 103.5


@pytest.mark.parametrize(
    ("convention", "cells", "words", "told"),
    [
        ("change", [98.0, 101.0], taf_writer.RATIO_CAPTION, "ratio"),
        ("ratio", [98.0, 101.0], "percent change", "change"),
    ],
)
@pytest.mark.parametrize("lenient", [False, True])
def test_convention_that_contradicts_the_words_is_refused(convention, cells, words, told, lenient):
    text = taf_writer.percent_table([1, 4], [("delete", cells)], ["x"], words)
    with pytest.raises(ImportFormatError, match=f"contradicts .*use convention='{told}'"):
        percent.parse(lines(text), convention=convention, lenient=lenient)
    assert percent.parse(lines(text), convention=told).runs == percent.parse(lines(text)).runs


def test_row_of_text_is_kept_as_text():
    error = "Dup key errors (due to sysbench)"
    rows = [("delete", [99.0, 98.0]), ("insert", error), ("select", [101.0, 102.0])]
    text = taf_writer.percent_table([1, 4], rows, ["x"], taf_writer.RATIO_CAPTION)
    runs = percent.parse(lines(text)).runs
    assert [(r.threads, dict(r.metrics), r.extra["text"]) for r in runs if not r.metrics] == [
        (None, {}, error)
    ]
    assert [r.dataset for r in runs] == ["delete", "delete", "insert", "select", "select"]


def test_percent_signs_and_short_labels_are_read():
    text = "In relative numbers:\nThreads 1 4 8\n(32/off) -3% 53% 122%\n(64/off) -6% 55% 130%\n"
    assert percents(percent.parse(lines(text)))["(32/off)", 8] == 222.0


def test_percent_table_with_empty_lines_between_is_read():
    rows = [("delete", [99.0, 98.0]), ("insert", [97.0, 96.0])]
    text = taf_writer.percent_table([1, 4], rows, ["x"], taf_writer.RATIO_CAPTION)
    doubled = percent.parse(lines(text.replace("\n", "\n\n")))
    assert percents(doubled) == percents(percent.parse(lines(text)))


def test_second_table_of_a_file_stays_apart():
    table = taf_writer.percent_table(
        [1, 4], [("delete", [99.0, 98.0])], ["x"], taf_writer.RATIO_CAPTION
    )
    other = table.replace("99.00", "95.00")
    assert {run.dataset for run in percent.parse(lines(table + other)).runs} == {
        "delete",
        "2: delete",
    }


def test_cut_row_of_a_percent_table_is_an_error():
    text = taf_writer.percent_table(
        [1, 4], [("delete", [99.0, 98.0])], ["x"], taf_writer.RATIO_CAPTION
    )
    text = text.replace("   98.00", "")
    with pytest.raises(ImportFormatError, match="1 numbers for 2 threads"):
        percent.parse(lines(text))
    assert percents(percent.parse(lines(text), lenient=True)) == {("delete", 1): 99.0}


def test_damaged_percent_table_gives_a_result_or_our_error():
    rows = [("delete", [98.99, 86.56]), ("insert", [99.2, 97.52]), ("select", "failed")]
    text = taf_writer.percent_table([1, 16], rows, ["sysbench v0.5", ""], taf_writer.RATIO_CAPTION)
    outcomes = fuzzed(text, percent.parse, MUTATIONS, seed=3)
    assert min(outcomes.values()) > 0
