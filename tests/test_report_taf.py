"""The "taf" and "percent" styles, held against the four reference reports cell by cell."""

import math
import re

import numpy as np
import pytest
import taf_writer
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from taf_reports import DATA, REPORTS, data_of, original_cells, original_tables

from benchkit import report_taf
from benchkit.importers import percent
from benchkit.importers.model import Facts
from benchkit.importers.source import read_lines
from benchkit.spread import describe_iterations

NAN = math.nan


def statistics_cells(name):
    """Return {(heading, row, column): (original cell, our cell)} of everything computed."""
    data = data_of(name)
    originals = original_cells(name, len(data.datasets))
    found = {}
    for section in report_taf.taf_sections(data):
        if "Info" in section.title:
            continue
        original = originals[section.title]
        assert [row[0] for row in section.rows] == [row[0] for row in original]
        for theirs, ours in zip(original, section.rows, strict=True):
            assert len(theirs) == len(ours)
            first = len(data.datasets) + 1 if ours[0].startswith("Iteration") else 1
            for column in range(first, len(ours)):
                found[section.title, ours[0], column] = (theirs[column], ours[column])
    return found


def test_all_262_statistics_cells_are_those_of_the_reports():
    counts = []
    for name in REPORTS:
        cells = statistics_cells(name)
        assert {key: pair for key, pair in cells.items() if pair[0] != pair[1]} == {}
        counts.append(len(cells))
    assert counts == [50, 32, 180]


@pytest.mark.parametrize("name", REPORTS)
def test_iteration_cells_are_those_of_the_report(name):
    data = data_of(name)
    originals = original_cells(name, len(data.datasets))
    for section in report_taf.taf_sections(data):
        if section.title.startswith("Thread Count"):
            ours = [row for row in section.rows if row[0].startswith("Iteration")]
            theirs = [row for row in originals[section.title] if row[0].startswith("Iteration")]
            assert [list(row) for row in ours] == theirs


@pytest.mark.parametrize("name", REPORTS[:2])
def test_information_rows_are_those_of_the_report(name):
    originals = original_tables(name)
    for section in report_taf.taf_sections(data_of(name)):
        ours = ["\t".join(row).replace("\n", " ") for row in (section.header, *section.rows)]
        assert ours == originals[section.title]


def test_information_rows_without_separators_are_those_of_the_report():
    """The report's columns touch, so do ours when they are joined."""
    originals = original_tables("taf_report_002.txt")
    for section in report_taf.taf_sections(data_of("taf_report_002.txt")):
        ours = "\n".join(
            ("\t\t" if "\n" in row[1] else "").join([row[0] + row[1], *row[2:]])
            for row in (section.header, *section.rows)
        )
        assert ours == "\n".join(originals[section.title])


def test_columns_of_touching_rows_are_cut_in_the_right_places():
    sections = report_taf.taf_sections(data_of("taf_report_002.txt"))
    rows = {row[0]: row[1:] for section in sections[1:4] for row in section.rows}
    assert sections[0].header[1:] == (
        "Mariadb 11.8.6-MariaDB",
        "Mariadb 12.3.1-MariaDB",
        "Mariadb 13.0.0-MariaDB",
    )
    assert rows["Database Version"] == ("11.8.6-MariaDB", "12.3.1-MariaDB", "13.0.0-MariaDB")
    assert rows["CPU Count"] == ("20",) * 3
    assert rows["Disk"] == ("unknown",) * 3
    assert [path.split("/")[-1] for path in rows["Install Dir"]] == [
        f"mariadb-{version}-linux-systemd-x86_64" for version in ("11.8.6", "12.3.1", "13.0.0")
    ]
    assert rows["Timestamp"] == ("2026-4-22 19:50:03", "2026-4-23 14:13:10", "2026-4-24 00:06:05")


@pytest.mark.parametrize(
    ("name", "options", "columns"),
    [(REPORTS[0], 10, 5), (REPORTS[1], 5, 2), (REPORTS[2], 34, 3)],
)
def test_options_are_aligned_over_the_datasets(name, options, columns):
    sections = report_taf.taf_sections(data_of(name))
    config = next(row for row in sections[2].rows if row[0] == "Config Contents")
    assert [len(cell.split("\n")) for cell in config[1:]] == [options] * columns


@pytest.mark.parametrize("name", REPORTS[:2])
def test_text_is_the_report_byte_for_byte(name):
    original = (DATA / name).read_text()
    copies = re.compile(r"\n\nProperty\n.*?(?=\n\n(?:Test Info|Thread Count))", re.DOTALL)
    assert report_taf.taf_text(data_of(name)) == copies.sub("", original) + "\n"


def test_title_comment_and_order_of_sections():
    data = data_of("taf_report_002.txt")
    titles = [section.title for section in report_taf.taf_sections(data)]
    assert (data.title, data.comment) == (
        "TPS by Thread Count - OLTP_RO",
        "MDEV-39364 - updated config",
    )
    assert titles == list(original_tables("taf_report_002.txt"))


# Cells


def dataset(label, values, **facts):
    return report_taf.DatasetData(label, Facts(**facts), values)


def comparison(*datasets):
    return report_taf.ReportData("a title", "a comment", "TPS", datasets)


def rows_of(data, title):
    section = next(s for s in report_taf.taf_sections(data) if s.title == title)
    return {row[0]: row[1:] for row in section.rows}


def test_missing_iteration_is_a_dash_and_counts_nowhere():
    data = comparison(dataset("a", {4: (1.0, NAN, 3.0)}), dataset("b", {4: (1.0, 5.0, 3.0)}))
    rows = rows_of(data, "Thread Count: 4")
    assert rows["Iteration 2"] == ("-", "5.00", "-")
    assert rows["Mean"] == ("2.00", "3.00", "1.00")


def test_absent_thread_count_is_missing_not_zero():
    data = comparison(dataset("a", {4: (1.0,)}), dataset("b", {4: (1.0,), 8: (2.0,)}))
    assert rows_of(data, "Comparison: TPS")["8"] == ("(missing)", "2.000")
    rows = rows_of(data, "Thread Count: 8")
    assert rows["p95"] == ("(missing)", "2.00", "(missing)")
    assert rows["Iteration 1"] == ("-", "2.00", "-")


@pytest.mark.parametrize("count", [1, 3, 4])
def test_difference_is_only_shown_for_two_datasets(count):
    data = comparison(*(dataset(str(i), {4: (1.0,)}) for i in range(count)))
    assert report_taf.taf_sections(data)[-1].header == ("Metric", *map(str, range(count)))


def test_difference_is_taken_before_rounding():
    data = comparison(dataset("a", {1: (1.004,)}), dataset("b", {1: (1.006,)}))
    assert rows_of(data, "Thread Count: 1")["Mean"] == ("1.00", "1.01", "0.00")


def test_small_negative_difference_keeps_its_sign():
    data = comparison(dataset("a", {1: (1.006,)}), dataset("b", {1: (1.004,)}))
    assert rows_of(data, "Thread Count: 1")["Mean"][-1] == "-0.00"


def test_fact_that_only_a_later_dataset_has_stands_in_its_place():
    first = dataset("a", {}, system=(("Host", "x"), ("RAM", "1 GB")))
    second = dataset("b", {}, system=(("Host", "x"), ("CPU", "c"), ("RAM", "2 GB")))
    section = report_taf.taf_sections(comparison(first, second))[1]
    assert section.rows == (
        ("Host", "x", "x"),
        ("CPU", "(missing)", "c"),
        ("RAM", "1 GB", "2 GB"),
    )


def test_options_are_in_the_order_in_which_they_are_met():
    assert report_taf.aligned_options([{"b": "1", "a": None}, None, {"c": "2", "b": "3"}]) == [
        ["b=1", "a", "(missing)"],
        ["(missing)"] * 3,
        ["b=3", "(missing)", "c=2"],
    ]


def test_report_without_options_has_no_row_for_them():
    assert report_taf.taf_sections(comparison(dataset("a", {1: (1.0,)})))[2].rows == ()


def test_tab_or_line_break_in_a_fact_does_not_move_columns():
    data = comparison(dataset("a\tb", {1: (1.0,)}, system=(("Host", "x\ny\tz"),)))
    assert "Host\tx y z" in report_taf.taf_text(data).split("\n")


VALUES = st.lists(st.floats(0.01, 1e9), min_size=1, max_size=40)


@given(VALUES)
def test_spread_is_that_of_scipy(values):
    spread = describe_iterations(values)
    array = np.array(values)
    assert spread.n == len(values)
    assert [spread.mean, spread.sd, spread.median, spread.p95, spread.p99] == pytest.approx(
        [array.mean(), array.std(), *np.percentile(array, [50, 95, 99])], rel=1e-9
    )
    if spread.sd > 1e-6 * spread.mean:
        assert spread.skewness == pytest.approx(stats.skew(array), abs=1e-6)


def test_spread_of_equal_values_has_no_skewness():
    spread = describe_iterations([5.0, 5.0, 5.0])
    assert (spread.sd, spread.cov, spread.skewness) == (0.0, 0.0, 0.0)


def test_spread_of_nothing_is_not_a_number():
    spread = describe_iterations([NAN])
    assert spread.n == 0
    assert math.isnan(spread.mean)


# Percent style


def percent_reference():
    return report_taf.percent_data(percent.parse(read_lines(DATA / "percent_table_003.txt")))


def test_all_56_cells_of_the_percent_table_are_those_of_the_report():
    originals = {
        line.split()[0]: line.split()[1:]
        for line in (DATA / "percent_table_003.txt").read_text().split("\n")
        if re.match(r"  \w+ +\d", line)
    }
    rows = report_taf.percent_section(percent_reference()).rows
    assert {row[0]: list(row[1:]) for row in rows} == originals
    assert sum(map(len, originals.values())) == 56


def test_percent_text_is_the_report_byte_for_byte():
    text = (DATA / "percent_table_003.txt").read_text()
    assert report_taf.percent_text(percent_reference()) == text


def doubled(cells):
    """Return two iterations for each cell, whose mean is eight times the cell."""
    return [(cell * 7, cell * 9) for cell in cells]


def test_two_datasets_give_the_same_percent_table():
    reference = percent_reference()
    tests = [
        (
            test,
            dataset("MariaDB", dict(zip(reference.threads, doubled(cells), strict=True))),
            dataset("MySQL", {at: (700.0, 900.0) for at in reference.threads}),
        )
        for test, cells in reference.rows
    ]
    table = report_taf.percent_of_baseline(reference.title, reference.comment, "q/s", tests)
    assert report_taf.percent_text(table) == report_taf.percent_text(reference)


def test_percent_of_an_absent_or_zero_baseline_is_missing():
    candidate = dataset("a", {1: (5.0,), 2: (5.0,), 4: (5.0,)})
    baseline = dataset("b", {1: (0.0,), 2: (10.0,)})
    table = report_taf.percent_of_baseline("", "", "q/s", [("select", candidate, baseline)])
    assert report_taf.percent_section(table).rows == (
        ("select", "(missing)", "50.00", "(missing)"),
    )


def test_row_of_text_stays_in_the_percent_table():
    table = report_taf.PercentTable(
        "t", "", "a", "b", "q/s", (1, 4), (("delete", (99.0, NAN)), ("insert", "Dup key errors"))
    )
    text = report_taf.percent_text(table).split("\n")
    assert "  insert   Dup key errors" in text
    assert "  delete      99.00  (missing)" in text


def test_percent_changes_are_shown_as_percentages_of_the_baseline(tmp_path):
    file = tmp_path / "table.txt"
    file.write_text(
        taf_writer.percent_table([1, 4], [("delete", [-30.11, 41.44])], ["key cache"], "")
    )
    table = report_taf.percent_data(percent.parse(read_lines(file)))
    assert report_taf.percent_section(table).rows == (("delete", "69.89", "141.44"),)
