"""The framework's files, read back: written from known values, damaged, and the real reports."""

import math
import os
import random
from pathlib import Path

import pytest
import taf_writer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutation import mutate

from benchkit.errors import BenchkitError
from benchkit.importers import percent, taf, taf_html, taf_report, taf_results, taf_text
from benchkit.importers.model import ImportFormatError
from benchkit.importers.source import Line, read_lines
from benchkit.importers.taf_columns import MEAN_ONLY

DATA = Path(__file__).parent / "data"
SAMPLES = Path(
    os.environ.get("BENCHKIT_SAMPLES", DATA.parents[2] / "shared" / "reference" / "samples")
)
MUTATIONS = 10_000
RELAXED = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))

VERSIONS = st.sampled_from(["11.8.6-MariaDB", "12.3.1-MariaDB", "13.0.0-MariaDB-log", "10.6.1"])
VALUES = st.integers(1, 99_999_999).map(lambda cents: cents / 100)
OPTIONS = st.dictionaries(
    st.sampled_from(["innodb_doublewrite", "log_bin", "max_connections", "sync_binlog", "skip-x"]),
    st.sampled_from([None, "0", "ON", "1G", "TLSv1.2,TLSv1.3"]),
    min_size=1,
)


def lines(text):
    return [Line(number, line) for number, line in enumerate(text.split("\n"), 1)]


@st.composite
def reports(draw, datasets=(1, 5), gaps=False):
    threads = sorted(draw(st.sets(st.integers(1, 512), min_size=1, max_size=4)))
    value = st.one_of(st.none(), VALUES) if gaps else VALUES
    found = []
    for index in range(draw(st.integers(*datasets))):
        values = {at: [draw(VALUES), *draw(st.lists(value, max_size=3))] for at in threads}
        found.append(
            taf_writer.Dataset(
                draw(VERSIONS),
                values,
                tag=f"TAG_{index}",
                config=draw(OPTIONS),
                system={"Host": "bench-1", "CPU": "Some CPU @ 2.10GHz", "RAM": "62.80 GB"},
                test={"Number of tables": "8", "Number of rows": "1000000"},
            )
        )
    return taf_writer.Report(found)


def values_of(imported, metric="tps"):
    """Return dataset -> threads -> iteration -> value."""
    found = {}
    for run in imported.runs:
        at = found.setdefault(run.dataset, {}).setdefault(run.threads, {})
        at[run.iteration] = run.metrics[metric]
    return found


def written_values(report):
    return {
        dataset.tag: {
            threads: {i: value for i, value in enumerate(values, 1) if value is not None}
            for threads, values in dataset.values.items()
        }
        for dataset in report.datasets
    }


def facts_of(imported):
    return {run.dataset: run.facts for run in imported.runs}


# Comparison reports


@RELAXED
@given(reports(gaps=True))
def test_report_with_tabs_gives_its_values_back(report):
    imported = taf_report.parse(lines(taf_writer.tab_report(report)))
    assert values_of(imported) == written_values(report)
    assert (imported.title, imported.comment, imported.primary) == (
        report.title,
        report.comment,
        "tps",
    )


@RELAXED
@given(reports())
def test_report_without_separators_gives_its_values_back(report):
    imported = taf_report.parse(lines(taf_writer.glued_report(report)))
    assert values_of(imported) == written_values(report)


@RELAXED
@given(reports())
def test_html_report_gives_its_values_back(report):
    imported = taf_html.parse(lines(taf_writer.html_report(report)))
    assert values_of(imported) == written_values(report)


@RELAXED
@given(reports(), st.sampled_from(["tab_report", "glued_report", "html_report"]))
def test_report_gives_its_options_back(report, layout):
    parse = taf_html.parse if layout == "html_report" else taf_report.parse
    facts = facts_of(parse(lines(getattr(taf_writer, layout)(report))))
    assert {name: dict(fact.config) for name, fact in facts.items()} == {
        dataset.tag: dataset.config for dataset in report.datasets
    }


@RELAXED
@given(reports(), st.sampled_from(["tab_report", "glued_report", "html_report"]))
def test_report_gives_its_facts_back(report, layout):
    parse = taf_html.parse if layout == "html_report" else taf_report.parse
    imported = parse(lines(getattr(taf_writer, layout)(report)))
    for dataset, facts in zip(report.datasets, facts_of(imported).values(), strict=True):
        assert dict(facts.system) == dataset.system
        assert dict(facts.database)["Database Version"] == dataset.version
        assert dict(facts.test)["Test Case Tag"] == dataset.tag
    assert {run.duration_s for run in imported.runs} == {300.0}
    assert {run.extra["rows"] for run in imported.runs} == {1_000_000}


def small_report(**changes):
    first = taf_writer.Dataset("11.8.6-MariaDB", {4: [100.0, 101.5, 99.25], 8: [200.0, 201.0]})
    second = taf_writer.Dataset("12.3.1-MariaDB", {4: [110.0, 111.5, 109.25], 8: [190.0, 191.0]})
    return taf_writer.Report([first, second], **changes)


def test_hammerdb_counts_its_duration_in_minutes():
    text = taf_writer.tab_report(small_report(suite="hammerdb-tprocc", metric="NOPM"))
    imported = taf_report.parse(lines(text))
    assert {run.duration_s for run in imported.runs} == {300 * 60.0}
    assert imported.primary == "nopm"
    assert imported.runs[0].workload == "taf/hammerdb-tprocc:tprocc"


def test_metric_of_unknown_name_is_kept_by_that_name():
    imported = taf_report.parse(lines(taf_writer.tab_report(small_report(metric="QphH"))))
    assert imported.primary == "QphH"
    assert [run.metrics for run in imported.runs] == [{}] * len(imported.runs)
    assert imported.runs[0].extra["QphH"] == 100.0


def test_latency_is_read_in_seconds():
    imported = taf_report.parse(lines(taf_writer.tab_report(small_report(metric="latency_95th"))))
    assert imported.runs[0].metrics["latency_p95"] == pytest.approx(0.1)


def test_printed_statistic_that_does_not_follow_is_a_problem():
    text = taf_writer.tab_report(small_report()).replace("Mean\t100.25\t", "Mean\t100.35\t")
    with pytest.raises(ImportFormatError, match=r"Mean is printed as 100\.35.*give 100\.25"):
        taf_report.parse(lines(text))
    imported = taf_report.parse(lines(text), lenient=True)
    assert len(imported.problems) == 1
    assert imported.runs[0].metrics == {"tps": 100.0}


def test_thread_count_without_its_table_keeps_the_mean():
    text = taf_writer.tab_report(small_report())
    text = text[: text.index("Thread Count: 8")]
    with pytest.raises(ImportFormatError, match="no table 'Thread Count: 8'"):
        taf_report.parse(lines(text))
    imported = taf_report.parse(lines(text), lenient=True)
    assert [run.metrics["tps"] for run in imported.runs if run.threads == 8] == [200.5, 190.5]
    assert all(MEAN_ONLY in run.warnings for run in imported.runs if run.threads == 8)


def test_dataset_without_a_thread_count_has_no_run_there():
    report = small_report()
    del report.datasets[1].values[8]
    imported = taf_report.parse(lines(taf_writer.tab_report(report)))
    assert {run.dataset for run in imported.runs if run.threads == 8} == {"Mariadb 11.8.6-MariaDB"}


def test_cut_row_is_an_error_with_its_line():
    text = taf_writer.tab_report(small_report())[:-9]
    with pytest.raises(ImportFormatError, match="line") as caught:
        taf_report.parse(lines(text))
    assert caught.value.line == text.count("\n") + 1


def test_equal_headers_stay_apart():
    report = small_report()
    report.datasets[1].version = report.datasets[0].version
    imported = taf_report.parse(lines(taf_writer.tab_report(report)))
    assert list(dict.fromkeys(run.dataset for run in imported.runs)) == [
        "Mariadb 11.8.6-MariaDB #1",
        "Mariadb 11.8.6-MariaDB #2",
    ]
    assert {run.label for run in imported.runs} == {"Mariadb 11.8.6-MariaDB"}


def test_values_that_cannot_be_told_apart_are_left_out_with_a_warning():
    report = small_report()
    for dataset, count in zip(report.datasets, ("20", "16"), strict=True):
        dataset.system = {"CPU Count": count}
    imported = taf_report.parse(lines(taf_writer.glued_report(report)))
    assert all(run.facts.system == () for run in imported.runs)
    assert any("CPU Count" in warning for warning in imported.runs[0].warnings)


def test_two_reports_in_one_file_stay_apart():
    text = taf_writer.tab_report(small_report()) * 2
    imported = taf_report.parse(lines(text))
    assert len({run.dataset for run in imported.runs}) == 4


def test_report_in_markdown_bars_is_read():
    text = taf_writer.tab_report(small_report(), second_copy=False)
    barred = "\n".join(
        f"| {line.replace(chr(9), ' | ')} |" if "\t" in line else line for line in text.split("\n")
    )
    assert values_of(taf_report.parse(lines(barred))) == values_of(taf_report.parse(lines(text)))


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n\n"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_report_is_read_with_any_line_end_and_encoding(tmp_path, end, encoding):
    text = taf_writer.tab_report(small_report())
    file = tmp_path / "report.txt"
    file.write_bytes(text.replace("\n", end).encode(encoding))
    assert values_of(taf_report.parse(read_lines(file))) == values_of(taf_report.parse(lines(text)))


# Result files


SERIES = st.builds(
    taf_writer.Series,
    metadata=st.just(
        {
            "test_name": "OLTP_RO",
            "test_suite": "sysbench-lua",
            "duration": "600",
            "comments": "a comment",
            "database_maker": "mariadb",
            "database_version": "10.0.15-MariaDB",
            "database_eng": "InnoDB",
            "test_host": "bench-1",
            "cpu_count": "24",
            "taf_commandline": "perl taf.pl :: -> sysbench_lua.number_of_rows=1000 "
            "sysbench_lua.password=secret",
        }
    ),
    iterations=st.sets(
        st.tuples(st.integers(1, 512), st.integers(1, 4)), min_size=1, max_size=6
    ).flatmap(
        lambda keys: st.tuples(
            *(
                st.tuples(
                    st.just(threads),
                    st.just(iteration),
                    st.fixed_dictionaries(
                        {
                            "TPS": st.tuples(VALUES, st.just("tps")),
                            "latency_95th": st.tuples(VALUES, st.just("ms")),
                            "total_queries": st.tuples(st.integers(0, 10**12), st.just("")),
                            "thread_events_avg": st.tuples(VALUES, st.just("")),
                        }
                    ),
                )
                for threads, iteration in sorted(keys)
            )
        ).map(list)
    ),
    config=st.just(["[mysqld]", "# a comment", "log_bin", "tls_version = TLSv1.2,TLSv1.3"]),
)
RESULT_FILES = {
    "json": (taf_writer.json_report, taf_results.parse_json),
    "raw dump": (taf_writer.dump_report, taf_results.parse_dump),
    "csv": (taf_writer.csv_report, taf_results.parse_csv),
    "text": (taf_writer.text_report, taf_text.parse_text),
}
ANY_RESULT_FILE = pytest.mark.parametrize("kind", RESULT_FILES)


def expected_numbers(series):
    return {
        (threads, metrics_key): value
        for threads, iteration, metrics in series.iterations
        for metrics_key, value in (
            ((iteration, "tps"), metrics["TPS"][0]),
            ((iteration, "latency_p95"), metrics["latency_95th"][0] / 1000),
            ((iteration, "queries"), metrics["total_queries"][0]),
        )
    }


@ANY_RESULT_FILE
@settings(parent=RELAXED, max_examples=25)
@given(series=SERIES)
def test_result_file_gives_its_numbers_back(kind, series):
    write, parse = RESULT_FILES[kind]
    imported = parse(lines(write(series)))
    found = {
        (run.threads, (run.iteration, name)): value
        for run in imported.runs
        for name, value in run.metrics.items()
    }
    assert found == expected_numbers(series)
    assert [run.extra["thread_events_avg"] for run in imported.runs] == [
        metrics["thread_events_avg"][0] for _, _, metrics in series.iterations
    ]


@ANY_RESULT_FILE
def test_result_file_gives_its_facts_back(kind):
    write, parse = RESULT_FILES[kind]
    imported = parse(lines(write(one_series())))
    run = imported.runs[0]
    assert (imported.title, imported.comment, imported.primary) == ("OLTP_RO", "a comment", "tps")
    assert dict(run.facts.system) == {"Host": "bench-1", "CPU Count": "24"}
    assert dict(run.facts.database)["Engine"] == "InnoDB"
    assert dict(run.facts.test)["Number of rows"] == "1000"
    assert (run.label, run.duration_s) == ("10.0.15-MariaDB", 600.0)


@ANY_RESULT_FILE
def test_result_file_keeps_no_password(kind):
    write, parse = RESULT_FILES[kind]
    assert "secret" not in repr(parse(lines(write(one_series()))).runs[0].facts)


@pytest.mark.parametrize("kind", ["json", "text"])
def test_result_file_gives_its_options_back(kind):
    write, parse = RESULT_FILES[kind]
    imported = parse(lines(write(one_series())))
    assert imported.runs[0].facts.config == (
        ("log_bin", None),
        ("tls_version", "TLSv1.2,TLSv1.3"),
    )


@ANY_RESULT_FILE
def test_result_file_that_breaks_off_gives_what_is_whole(kind):
    write, parse = RESULT_FILES[kind]
    text = write(one_series(iterations=5))
    whole = parse(lines(text))
    cut = lines(text[: len(text) * 6 // 10])
    with pytest.raises(ImportFormatError):
        parse(cut)
    imported = parse(cut, lenient=True)
    assert imported.problems
    assert len(imported.runs) > 1
    assert [run.metrics for run in imported.runs[:2]] == [run.metrics for run in whole.runs[:2]]


def one_series(iterations=1, **metrics):
    figures = {"TPS": (213.49, "tps"), "latency_95th": (6.5, "ms"), "total_queries": (9, "")}
    figures |= metrics
    metadata = {
        "test_name": "OLTP_RO",
        "test_suite": "sysbench-lua",
        "duration": "600",
        "comments": "a comment",
        "database_maker": "mariadb",
        "database_version": "10.0.15-MariaDB",
        "database_eng": "InnoDB",
        "test_host": "bench-1",
        "cpu_count": "24",
        "taf_commandline": "x :: -> sysbench_lua.number_of_rows=1000 sysbench_lua.password=secret",
    }
    config = ["[mysqld]", "# a comment", "log_bin", "tls_version = TLSv1.2,TLSv1.3"]
    runs = [(4, number, figures) for number in range(1, iterations + 1)]
    return taf_writer.Series(metadata, runs, config)


def test_numbers_as_strings_are_numbers():
    text = taf_writer.json_report(one_series(TPS=("4.70", "tps")))
    assert taf_results.parse_json(lines(text)).runs[0].metrics["tps"] == 4.7


def test_text_instead_of_a_number_is_kept_as_text():
    text = taf_writer.json_report(one_series(TPS=("crashed", "tps")))
    with pytest.raises(ImportFormatError, match="TPS: expected a number, found 'crashed'"):
        taf_results.parse_json(lines(text))
    run = taf_results.parse_json(lines(text), lenient=True).runs[0]
    assert "tps" not in run.metrics
    assert run.extra["TPS"] == "crashed"


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "null"])
def test_json_without_a_number_has_no_metric(value):
    text = taf_writer.json_report(one_series()).replace("213.49", value)
    assert "tps" not in taf_results.parse_json(lines(text)).runs[0].metrics


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" + "1" * 10_000 + "]"])
def test_hostile_json_is_an_error(text):
    with pytest.raises(ImportFormatError):
        taf_results.parse_json(lines(text), lenient=True)


def test_json_between_prompts_and_fences_is_read():
    text = taf_writer.json_report(one_series())
    around = f"[root@bench ~]# cat report.json\n```json\n{text}\n```\n[root@bench ~]#\n"
    assert taf_results.parse_json(lines(around)).runs == taf_results.parse_json(lines(text)).runs


def test_two_json_reports_in_one_file_stay_apart():
    text = taf_writer.json_report(one_series())
    imported = taf_results.parse_json(lines(f"{text}\n{text}\n"))
    assert [run.dataset for run in imported.runs] == ["10.0.15-MariaDB", "10.0.15-MariaDB #2"]


@pytest.mark.parametrize("value", [-1, 18446744073709551615])
def test_counter_that_cannot_be_true_is_kept_and_flagged(value):
    text = taf_writer.json_report(one_series(total_queries=(value, "")))
    run = taf_results.parse_json(lines(text)).runs[0]
    assert "queries" not in run.metrics
    assert run.extra["total_queries"] == value
    assert any("queries" in warning for warning in run.warnings)


def test_percentile_below_the_minimum_is_kept_and_flagged():
    text = taf_writer.json_report(one_series(latency_min=(7.0, "ms")))
    run = taf_results.parse_json(lines(text)).runs[0]
    assert "latency_p95" not in run.metrics
    assert run.extra["latency_95th"] == 6.5
    assert any("below the minimum" in warning for warning in run.warnings)


def test_rate_that_does_not_match_its_count_is_flagged():
    text = taf_writer.json_report(one_series(total_transactions=(1000, "")))
    run = taf_results.parse_json(lines(text)).runs[0]
    assert run.metrics["tps"] == 213.49
    assert any("does not match" in warning for warning in run.warnings)


def test_summary_that_does_not_follow_is_a_problem():
    text = taf_writer.text_report(one_series()).replace("Avg:     213.49", "Avg:     214.49")
    with pytest.raises(ImportFormatError, match="Avg of TPS is printed as 214.49"):
        taf_text.parse_text(lines(text))


def test_dump_with_anything_but_data_is_an_error():
    text = taf_writer.dump_report(one_series()).replace('"OLTP_RO"', "system('x')")
    with pytest.raises(ImportFormatError, match="expected a value, found 'system'"):
        taf_results.parse_dump(lines(text))


def test_reference_in_a_dump_has_no_value():
    text = taf_writer.dump_report(one_series()).replace(
        '"bench-1"', '$VAR1->[0]{"metadata"}{"test_host"}'
    )
    imported = taf_results.parse_dump(lines(text), lenient=True)
    assert "Host" not in dict(imported.runs[0].facts.system)
    assert len(imported.problems) == 1


README = {
    "Date of Test": "2026-9-15",
    "Test Suite": "hammerdb-tprocc",
    "Test Name": "TPROCC",
    "Duration": "15",
    "Iteration": "2",
    "Threads": "50",
    "Database Maker": "mariadb",
    "Database Version": "12.3.3-MariaDB",
    "CPU COUNT": "20",
    "DB Root User Password": "secret",
    "test-case-tag": "BASE",
}


def test_readme_gives_its_facts_back():
    text = taf_writer.readme(
        README, ["hammerdb_tprocc.number_of_warehouses=5"], ["[mariadbd]", "log_bin", "server_id=1"]
    )
    run = taf_text.parse_readme(lines(text)).runs[0]
    assert (run.threads, run.iteration, run.duration_s) == (50, 2, 900.0)
    assert (run.dataset, run.label, run.metrics) == ("BASE", "12.3.3-MariaDB", {})
    assert run.facts.config == (("log_bin", None), ("server_id", "1"))
    assert run.extra["warehouses"] == 5
    assert dict(run.facts.system) == {"CPU Count": "20"}
    assert "secret" not in repr(run)


def test_readme_without_its_end_breaks_off():
    text = taf_writer.readme(README).replace("_EOF_", "")
    with pytest.raises(ImportFormatError, match="breaks off"):
        taf_text.parse_readme(lines(text))
    assert taf_text.parse_readme(lines(text), lenient=True).runs[0].threads == 50


# Percent tables


TESTS = st.lists(
    st.sampled_from(["delete", "insert", "oltp_simple", "select", "update_index"]),
    min_size=1,
    unique=True,
)
RATIO_CAPTION = "(MariaDB q/s / MySQL q/s * 100)"


@st.composite
def percent_rows(draw, low, high):
    threads = sorted(draw(st.sets(st.integers(1, 9999), min_size=2, max_size=8)))
    cell = st.integers(low, high).map(lambda hundredths: hundredths / 100)
    row = st.lists(cell, min_size=len(threads), max_size=len(threads))
    return threads, [(test, draw(row)) for test in draw(TESTS)]


def percents(imported):
    return {(r.dataset, r.threads): r.metrics[percent.METRIC] for r in imported.runs if r.metrics}


@RELAXED
@given(percent_rows(5_000, 30_000))
def test_percent_table_gives_its_cells_back(table):
    threads, rows = table
    text = taf_writer.percent_table(threads, rows, ["a title", ""], RATIO_CAPTION)
    imported = percent.parse(lines(text))
    assert percents(imported) == {
        (test, at): cell for test, cells in rows for at, cell in zip(threads, cells, strict=True)
    }
    assert {run.extra["candidate"] for run in imported.runs} == {"MariaDB"}


@RELAXED
@given(percent_rows(-9_000, 9_000))
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
    text = taf_writer.percent_table([1, 4], [("delete", [-30.11, 41.44])], ["x"], RATIO_CAPTION)
    assert percents(percent.parse(lines(text))) == pytest.approx(
        {("delete", 1): 69.89, ("delete", 4): 141.44}
    )
    with pytest.raises(ImportFormatError, match="use convention='change'"):
        percent.parse(lines(text), convention="ratio")


@pytest.mark.parametrize(
    ("rows", "caption"),
    [([("delete", [98.0, 101.0])], ""), ([("delete", [3.5, 1.25])], RATIO_CAPTION)],
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


def test_row_of_text_is_kept_as_text():
    error = "Dup key errors (due to sysbench)"
    rows = [("delete", [99.0, 98.0]), ("insert", error), ("select", [101.0, 102.0])]
    text = taf_writer.percent_table([1, 4], rows, ["x"], RATIO_CAPTION)
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
    text = taf_writer.percent_table([1, 4], rows, ["x"], RATIO_CAPTION)
    doubled = percent.parse(lines(text.replace("\n", "\n\n")))
    assert percents(doubled) == percents(percent.parse(lines(text)))


def test_second_table_of_a_file_stays_apart():
    table = taf_writer.percent_table([1, 4], [("delete", [99.0, 98.0])], ["x"], RATIO_CAPTION)
    assert {run.dataset for run in percent.parse(lines(table + table)).runs} == {
        "delete",
        "2: delete",
    }


def test_cut_row_of_a_percent_table_is_an_error():
    text = taf_writer.percent_table([1, 4], [("delete", [99.0, 98.0])], ["x"], RATIO_CAPTION)
    text = text.replace("   98.00", "")
    with pytest.raises(ImportFormatError, match="1 numbers for 2 threads"):
        percent.parse(lines(text))
    assert percents(percent.parse(lines(text), lenient=True)) == {("delete", 1): 99.0}


# The real reports


@pytest.mark.parametrize(
    ("name", "metric", "expected"),
    [
        ("taf_report_000.txt", "tpm", {50: (394986.667, 112823, 107578.667, 316265, 265542.333)}),
        ("taf_report_001.txt", "nopm", {50: (44013.333, 113781)}),
        ("taf_report_002.txt", "tps", {4: (7978.55, 8208.037, 8111.137)}),
    ],
)
def test_reference_report_gives_the_known_means(name, metric, expected):
    found = values_of(taf_report.parse(read_lines(DATA / name)), metric)
    for threads, means in expected.items():
        computed = [
            math.fsum(dataset[threads].values()) / len(dataset[threads])
            for dataset in found.values()
        ]
        assert computed == pytest.approx(means, abs=0.0005)


def test_reference_reports_have_no_warnings():
    for name in ("taf_report_000.txt", "taf_report_001.txt", "taf_report_002.txt"):
        imported = taf_report.parse(read_lines(DATA / name))
        assert imported.problems == ()
        assert {run.warnings for run in imported.runs} == {()}


def test_every_reference_file_is_recognised_as_what_it_is():
    for file in DATA.iterdir():
        head = [line.text for line in read_lines(file)][:60]
        scores = {name: sniff(head, file.name) for name, sniff, _ in taf.FORMATS}
        expected = "percent table" if file.name.startswith("percent") else "taf report"
        assert max(scores, key=scores.get) == expected


SAMPLE_MEANS = {1: 213.49, 4: 924.27, 16: 2539.48, 64: 2903.25, 256: 2988.83}


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no samples on this machine")
@pytest.mark.parametrize(
    ("name", "parse"),
    [
        ("002-compare-2-datasets-tabs.txt", taf_report.parse),
        ("006-run-report-text.txt", taf_text.parse_text),
        ("010-report-json.txt", taf_results.parse_json),
    ],
)
def test_sample_gives_its_expected_values(name, parse):
    imported = parse(read_lines(SAMPLES / "taf" / name))
    first = next(iter(values_of(imported).values()))
    means = {at: sum(found.values()) / len(found) for at, found in first.items()}
    assert means == pytest.approx(SAMPLE_MEANS, abs=0.005)


# Damage


def fuzzed(text, parse, count, seed):
    """Parse damaged copies of a text; whatever is not a result or our error comes through."""
    rng = random.Random(seed)
    outcomes = {True: 0, False: 0}
    memory = os.memfd_create("damaged")
    try:
        for _ in range(count):
            os.ftruncate(memory, 0)
            os.pwrite(memory, mutate(text, rng), 0)
            try:
                parse(read_lines(f"/proc/self/fd/{memory}"), lenient=rng.random() < 0.8, name="x")
                outcomes[True] += 1
            except BenchkitError:
                outcomes[False] += 1
    finally:
        os.close(memory)
    return outcomes


FUZZED = {
    "report with tabs": (lambda: taf_writer.tab_report(small_report()), taf_report.parse, 4),
    "report without": (lambda: taf_writer.glued_report(small_report()), taf_report.parse, 4),
    "html report": (lambda: taf_writer.html_report(small_report()), taf_html.parse, 2),
    "json": (lambda: taf_writer.json_report(one_series(3)), taf_results.parse_json, 2),
    "raw dump": (lambda: taf_writer.dump_report(one_series(3)), taf_results.parse_dump, 2),
    "csv": (lambda: taf_writer.csv_report(one_series(3)), taf_results.parse_csv, 2),
    "text": (lambda: taf_writer.text_report(one_series(3)), taf_text.parse_text, 2),
    "readme": (lambda: taf_writer.readme(README), taf_text.parse_readme, 1),
}


@pytest.mark.parametrize("kind", FUZZED)
def test_damaged_file_gives_a_result_or_our_error(kind):
    write, parse, share = FUZZED[kind]
    count = MUTATIONS * share // sum(share for _, _, share in FUZZED.values())
    outcomes = fuzzed(write(), parse, count, seed=kind)
    assert min(outcomes.values()) > 0


def test_damaged_percent_table_gives_a_result_or_our_error():
    rows = [("delete", [98.99, 86.56]), ("insert", [99.2, 97.52]), ("select", "failed")]
    text = taf_writer.percent_table([1, 16], rows, ["sysbench v0.5", ""], RATIO_CAPTION)
    outcomes = fuzzed(text, percent.parse, MUTATIONS, seed=3)
    assert min(outcomes.values()) > 0


@pytest.mark.parametrize("parse", [parse for _, _, parse in taf.FORMATS])
@settings(parent=RELAXED, max_examples=100)
@given(text=st.text(alphabet="{}[]\"'\\,:=>-.0129aThreadsCount \t\n|", max_size=200))
def test_any_text_gives_a_result_or_our_error(parse, text):
    try:
        parse(lines(text), lenient=True, name="x")
    except BenchkitError as error:
        assert str(error)
