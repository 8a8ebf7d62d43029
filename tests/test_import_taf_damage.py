"""TAF's files that are damaged: no wrong number, no silence about what is missing, and an end."""

import re

import pytest
import taf_writer
from imports import dataset, report_of, write
from mutation import lines

from benchkit.importers import (
    model,
    percent,
    source,
    taf_html,
    taf_names,
    taf_report,
    taf_results,
    taf_text,
)
from benchkit.importers.model import ImportFormatError
from benchkit.importers.source import Line, read_lines

REPORT = taf_writer.tab_report(taf_writer.small_report(), second_copy=False)
THREE = report_of(dataset("1", 10.0, 12.0), dataset("2", 20.0, 22.0), dataset("3", 30.0, 32.0))
SERIES = taf_writer.one_series(iterations=3)
TEXT, CSV, JSON = (
    write_it(SERIES)
    for write_it in (taf_writer.text_report, taf_writer.csv_report, taf_writer.json_report)
)
HEADERS = re.compile(r"Thread Count: 4   \|   Iteration: 2\n")
TABLE = taf_writer.percent_table(
    [1, 4, 8],
    [("delete", [99.15, 98.25, 97.35]), ("insert", [96.45, 95.55, 94.65])],
    ["x"],
    taf_writer.RATIO_CAPTION,
)


def values_of(imported, metric="tps"):
    return {
        (run.dataset, run.threads, run.iteration): run.metrics[metric]
        for run in imported.runs
        if metric in run.metrics
    }


def percents_of(text):
    found = values_of(percent.parse(lines(text), lenient=True), "percent_of_baseline")
    return {(test, threads): value for (test, threads, _), value in found.items()}


def read_both(parse, text, message):
    """Check that a file is an error when it is read strictly; return what is left of it."""
    with pytest.raises(ImportFormatError, match=message):
        parse(lines(text))
    found = parse(lines(text), lenient=True)
    assert any(re.search(message, problem.message) for problem in found.problems)
    return found


# Reports


@pytest.mark.parametrize("end", ["Threads\tA 1\tB 2\n", "Threads\tA 1\tB 2\n4\t-\t-\n"])
def test_report_without_a_number_breaks_off(end):
    found = read_both(taf_report.parse, f"Comparison: TPS\n{end}", "breaks off|no table")
    assert found.runs == ()


def test_empty_report_in_front_of_another_does_not_rename_its_datasets():
    found = taf_report.parse(lines(f"Comparison: TPS\n\n{REPORT}"), lenient=True)
    assert {run.dataset for run in found.runs} == set(taf_writer.small_report().labels)


@pytest.mark.parametrize("section", ["System", "Database", "Test"])
def test_lost_heading_of_an_information_table_is_a_problem(section):
    report = taf_writer.small_report()
    for each in report.datasets:
        each.system = {"Host": "bench-1"}
    text = taf_writer.tab_report(report, second_copy=False)
    taf_report.parse(lines(text))
    read_both(taf_report.parse, text.replace(f"{section} Info", f"{section} In\ufffdo"), section)


@pytest.mark.parametrize("name", ["T", "TP", "TP\ufffd", "\ufffdPS"])
def test_damaged_name_of_a_metric_is_none(name):
    text = REPORT.replace("Comparison: TPS", f"Comparison: {name}")
    found = read_both(taf_report.parse, text, "expected a metric")
    assert not any(run.metrics for run in found.runs)
    assert {run.extra["value"] for run in found.runs} == set(values_of(
        taf_report.parse(lines(REPORT))
    ).values())  # fmt: skip


@pytest.mark.parametrize("name", ["Latency", "Queries", "q/s"])
def test_metric_that_is_a_whole_word_of_another_is_its_own(name):
    text = REPORT.replace("Comparison: TPS", f"Comparison: {name}")
    found = taf_report.parse(lines(text))
    assert values_of(found, name).values() and not values_of(found)


@pytest.mark.parametrize(
    ("text", "row", "damaged"),
    [
        (REPORT, "Iteration 1\t100.00\t110.00\t10.00", "Iteration 1\t100.00110.00\t10.00"),
        (REPORT, "Iteration 1\t100.00\t110.00\t10.00", "Iteration 1\t100.00\t10.00"),
        (REPORT, "Iteration 1\t100.00\t110.00\t10.00", "Iteration 1\t110.00\t10.00"),
        (THREE, "Iteration 1\t10.00\t20.00\t30.00", "Iteration 1\t10.00\t30.00"),
        (THREE, "Iteration 1\t10.00\t20.00\t30.00", "Iteration 1\t20.00\t30.00"),
        (THREE, "Iteration 1\t10.00\t20.00\t30.00", "Iteration 1\t10.00\t20.0"),
    ],
)
def test_row_that_lost_a_cell_gives_no_column_the_number_of_another(text, row, damaged):
    assert text.count(row) == 1
    found = read_both(taf_report.parse, text.replace(row, damaged), "Iteration 1: not . numbers")
    whole = values_of(taf_report.parse(lines(text)))
    left = values_of(found)
    assert left.items() <= whole.items()
    assert len(left) >= len(whole) - len(row.split("\t")) + 1


def test_missing_difference_at_the_end_of_a_row_is_no_damage():
    report = taf_writer.small_report()
    report.datasets[1].values[4][0] = None
    text = taf_writer.tab_report(report)
    trimmed = text.replace("Iteration 1\t100.00\t-\t-", "Iteration 1\t100.00\t-")
    assert trimmed != text
    assert values_of(taf_report.parse(lines(trimmed))) == values_of(taf_report.parse(lines(text)))


# Result files


def test_text_whose_iteration_lost_its_line_gives_its_numbers_to_no_other():
    found = read_both(taf_text.parse_text, HEADERS.sub("", TEXT), "expected 'Thread Count")
    whole = taf_text.parse_text(lines(TEXT))
    assert [(r.iteration, r.metrics, r.extra) for r in found.runs] == [
        (r.iteration, r.metrics, r.extra) for r in whole.runs if r.iteration != 2
    ]


@pytest.mark.parametrize("row", [HEADERS, re.compile(r"latency_95th.*\n")])
def test_line_that_comes_twice_in_a_text_counts_once(row):
    found = taf_text.parse_text(lines(row.sub(lambda match: match[0] * 2, TEXT)))
    assert values_of(found) == values_of(taf_text.parse_text(lines(TEXT)))


def test_row_of_csv_that_lost_a_cell_gives_no_number():
    text = CSV.replace('"tps","213.49"', '"213.49"', 1)
    found = read_both(taf_results.parse_csv, text, "columns, the header has")
    assert set(values_of(found)) == {("10.0.15-MariaDB", 4, iteration) for iteration in (2, 3)}


def test_damaged_header_of_csv_is_a_problem():
    text = CSV.replace("TPS::value", "TPS::val\ufffd", 1)
    assert values_of(read_both(taf_results.parse_csv, text, "no column 'TPS::value'")) == {}


def test_json_that_lost_its_first_bracket_is_a_problem_with_its_line():
    text = JSON.partition("{")[2]
    with pytest.raises(ImportFormatError, match=r"line 2: expected '\{'"):
        taf_results.parse_json(lines(text))


def test_metric_without_a_value_is_a_problem():
    text = JSON.replace('"value": 213.49,', "", 1)
    found = read_both(taf_results.parse_json, text, "TPS: expected a number")
    assert len(values_of(found)) == 2


def test_problem_of_json_names_its_line_once():
    found = taf_results.parse_json(lines(JSON[: len(JSON) // 2]), lenient=True)
    assert found.problems[0].line
    assert not found.problems[0].message.startswith("line")


# Percent tables


@pytest.mark.parametrize("cut", ["94.6", "94.", "94", "9"])
def test_cut_last_number_of_a_percent_table_is_dropped(cut):
    found = read_both(percent.parse, TABLE.replace("94.65", cut), "the last number is cut")
    assert len(found.runs) == 5


def test_numbers_of_various_decimals_are_not_cut():
    text = TABLE.replace("98.25", "98").replace("94.65", "94.6")
    assert percents_of(text)["insert", 8] == 94.6
    assert percent.parse(lines(text)).problems == ()


@pytest.mark.parametrize("old", ["  95.55", "   95.55   94.65", "94.65"])
def test_damaged_numbers_of_a_percent_table_are_no_text(old):
    text = TABLE.replace(old, old.strip().replace("5", "\ufffd", 1) if old == "94.65" else "95.5\0")
    found = read_both(percent.parse, text, "insert")
    assert not any("text" in run.extra for run in found.runs)
    assert percents_of(text).items() <= percents_of(TABLE).items()


def test_number_behind_a_gap_belongs_to_no_other_thread_count():
    text = TABLE.replace("   95.55", "        ")
    read_both(percent.parse, text, "2 numbers for 3 threads")
    assert percents_of(text).items() <= percents_of(TABLE).items()


def test_row_and_header_that_come_twice_count_once():
    text = re.sub(r"(?m)^(.*delete.*|.* 1 .*8)$", r"\1\n\1", TABLE)
    assert text.count("\n") == TABLE.count("\n") + 2
    found = percent.parse(lines(text))
    assert len(found.runs) == 6
    assert "1 more of the same" in found.runs[0].warnings[0]


# Limits


def test_long_reports_are_read_in_part(monkeypatch):
    monkeypatch.setattr(taf_report, "RUNS_MAX", 4)
    found = read_both(taf_report.parse, REPORT, "only 4 tables")
    assert values_of(found) == {}
    short = f"Comparison: TPS\n{REPORT[REPORT.index('Thread Count: 4') :]}"
    found = read_both(taf_report.parse, short, "only 4 iterations")
    assert len(found.runs) == 4


def test_long_percent_tables_are_read_in_part(monkeypatch):
    monkeypatch.setattr(percent, "RUNS_MAX", 4)
    assert len(read_both(percent.parse, TABLE, "only 4 numbers").runs) == 4


def test_of_very_many_problems_the_first_are_kept(monkeypatch):
    monkeypatch.setattr(model, "PROBLEMS_MAX", 3)
    text = CSV + "x\n" * 10
    assert len(taf_results.parse_csv(lines(text), lenient=True).problems) == 3


def test_long_row_of_html_is_read_in_part(monkeypatch):
    monkeypatch.setattr(taf_names, "CHARACTERS_MAX", 4000)
    text = taf_writer.html_report(taf_writer.small_report()) + "<tr>" + "<td>1\n" * 9000
    read_both(taf_html.parse, text, "only 4000 characters")


def test_line_of_which_only_the_beginning_is_read_is_a_problem():
    page = taf_writer.html_report(taf_writer.small_report())
    cut = [*(Line(n, text) for n, text in enumerate(page.split("\n"), 1)),
           Line(999, "x" * source.LINE_MAX, whole=False)]  # fmt: skip
    with pytest.raises(ImportFormatError, match="line 999: only .* characters of the line"):
        taf_html.parse(cut)


def test_lines_longer_than_the_longest_are_cut_and_others_whole(tmp_path):
    path = write(tmp_path / "x", "a\n" + "b" * (2 * source.LINE_MAX) + "\r\nc\n" + "d" * 99_999)
    found = [(line.number, line.text[:1], len(line.text), line.whole) for line in read_lines(path)]
    assert found == [
        (1, "a", 1, True),
        (2, "b", source.LINE_MAX, False),
        (3, "c", 1, True),
        (4, "d", 99_999, False),
    ]


def test_warnings_between_metrics_take_none_of_them_away():
    series = taf_writer.one_series(iterations=2, m1=(1.5, "ms"), m2=(2.5, ""), m3=(3.5, "s"))
    whole = taf_writer.text_report(series)
    noisy = re.sub(r"(?m)^((?:m[1-3]|latency_95th) +[\d.]+ .*)$", r"WARNING: foo bar\n\1", whole)
    found = taf_text.parse_text(lines(noisy), lenient=True)
    told = taf_text.parse_text(lines(whole))
    assert [run.metrics for run in found.runs] == [run.metrics for run in told.runs]
    assert len(found.problems) >= 2


def test_row_of_html_that_is_cut_ends_with_its_table():
    page = taf_writer.html_report(taf_writer.small_report())
    whole = values_of(taf_html.parse(lines(page)))
    row = re.search(r"<tr><td>Iteration 3</td>.*", page)[0]
    left = values_of(read_both(taf_html.parse, page.replace(row, row[:30]), "Iteration 3: not"))
    assert left.items() <= whole.items()
    assert {threads for _, threads, _ in left} == {4, 8}


@pytest.mark.parametrize("stray", ["Iteration 2\t101.50\t111.50\t10.00"])
def test_row_that_strayed_into_another_table_gives_no_iteration(stray):
    whole = values_of(taf_report.parse(lines(REPORT)))
    text = REPORT.replace("Iteration 2\t201.00", f"{stray}\nIteration 2\t201.00")
    message = r"8 threads, .*: Iteration 2 is not between minimum and maximum"
    found = taf_report.parse(lines(text), lenient=True)
    assert any(re.search(message, problem.message) for problem in found.problems)
    assert values_of(found).items() <= whole.items()
    with pytest.raises(ImportFormatError):
        taf_report.parse(lines(text))


def test_table_whose_heading_is_lost_is_none_of_the_one_before():
    whole = values_of(taf_report.parse(lines(REPORT)))
    text = REPORT.replace("Thread Count: 8\n", "")
    found = values_of(read_both(taf_report.parse, text, "a second Mean: expected 'Thread Count"))
    assert found.items() <= whole.items()
    assert {threads for _, threads, _ in found} == {4}


def test_number_that_is_cut_is_not_what_its_summary_tells():
    series = taf_writer.one_series(total_queries=(800, ""))
    for at in (2, 3):
        series.iterations.append((4, at, {"TPS": (213.49 + at, "tps"), "total_queries": (900, "")}))
    text = taf_writer.text_report(series)
    row = re.findall(r"total_queries +900.*\n", text)[0]
    found = read_both(
        taf_text.parse_text, text.replace(row, row[:-3] + "\n", 1), "total_queries is"
    )
    assert values_of(found, "queries") == {
        (found.runs[0].dataset, 4, 1): 800.0,
        (found.runs[0].dataset, 4, 3): 900.0,
    }


def test_number_without_its_unit_is_cut():
    series = taf_writer.one_series(iterations=2)
    text = taf_writer.text_report(series)
    row = re.search(r"latency_95th +6.5 ms", text)[0]
    found = read_both(taf_text.parse_text, text.replace(row, row[:-5], 1), "lacks its unit, ms")
    assert list(values_of(found, "latency_p95")) == [(found.runs[0].dataset, 4, 2)]


@pytest.mark.parametrize("write_it", [taf_writer.tab_report, taf_writer.glued_report])
def test_metric_that_lost_the_end_of_its_line_is_not_known(write_it):
    text = write_it(taf_writer.small_report())
    glued = re.sub(r"(Comparison: TPS)\n+", r"\1", text)
    found = read_both(taf_report.parse, glued, "expected a metric, found 'TPSThreads")
    assert not values_of(found)


def test_value_that_references_make_very_long_is_not_written_out():
    doubled = (f"[$VAR1->[0][{at}], $VAR1->[0][{at}]]" for at in range(20))
    lists = ", ".join(["[1, 2]", *doubled])
    text = (
        f"[ [{lists}], {{'thread_count' => 1, 'iteration_id' => 1, 'metrics' => "
        "[{'name' => 'TPS', 'value' => $VAR1->[0][20]}, {'name' => 'QPS', 'value' => 2}] } ]"
    )
    found = read_both(taf_results.parse_dump, text, "TPS: expected a number, found 'a list")
    assert [run.metrics for run in found.runs] == [{"qps": 2}]
