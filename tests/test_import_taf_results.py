"""The framework's result files, read back: JSON, CSV, text report, raw dump, readme."""

import re

import pytest
import taf_writer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutation import fuzzed, lines

from benchkit.importers import taf_names, taf_results, taf_text
from benchkit.importers.model import ImportFormatError
from benchkit.importers.source import Line

RELAXED = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
VALUES = st.integers(1, 99_999_999).map(lambda cents: cents / 100)
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
        if name != "thread_events_avg"  # the primary one where a dictionary has it first
    }
    assert found == expected_numbers(series)
    others = [{**run.extra, **run.metrics}["thread_events_avg"] for run in imported.runs]
    assert others == [metrics["thread_events_avg"][0] for _, _, metrics in series.iterations]


@ANY_RESULT_FILE
def test_result_file_gives_its_facts_back(kind):
    write, parse = RESULT_FILES[kind]
    imported = parse(lines(write(taf_writer.one_series())))
    run = imported.runs[0]
    assert (imported.title, imported.comment, imported.primary) == ("OLTP_RO", "a comment", "tps")
    assert dict(run.facts.system) == {"Host": "bench-1", "CPU Count": "24"}
    assert dict(run.facts.database)["Engine"] == "InnoDB"
    assert dict(run.facts.test)["Number of rows"] == "1000"
    assert (run.label, run.duration_s) == ("10.0.15-MariaDB", 600.0)


@ANY_RESULT_FILE
def test_result_file_keeps_no_password(kind):
    write, parse = RESULT_FILES[kind]
    assert "secret" not in repr(parse(lines(write(taf_writer.one_series()))).runs[0].facts)


@pytest.mark.parametrize("kind", ["json", "text"])
def test_result_file_gives_its_options_back(kind):
    write, parse = RESULT_FILES[kind]
    imported = parse(lines(write(taf_writer.one_series())))
    assert imported.runs[0].facts.config == (
        ("log_bin", None),
        ("tls_version", "TLSv1.2,TLSv1.3"),
    )


@ANY_RESULT_FILE
def test_result_file_that_breaks_off_gives_what_is_whole(kind):
    write, parse = RESULT_FILES[kind]
    text = write(taf_writer.one_series(iterations=5))
    whole = parse(lines(text))
    cut = lines(text[: len(text) * 6 // 10])
    with pytest.raises(ImportFormatError):
        parse(cut)
    imported = parse(cut, lenient=True)
    assert imported.problems
    assert len(imported.runs) > 1
    assert [run.metrics for run in imported.runs[:2]] == [run.metrics for run in whole.runs[:2]]


def test_numbers_as_strings_are_numbers():
    text = taf_writer.json_report(taf_writer.one_series(TPS=("4.70", "tps")))
    assert taf_results.parse_json(lines(text)).runs[0].metrics["tps"] == 4.7


def test_text_instead_of_a_number_is_kept_as_text():
    text = taf_writer.json_report(taf_writer.one_series(TPS=("crashed", "tps")))
    with pytest.raises(ImportFormatError, match="TPS: expected a number, found 'crashed'"):
        taf_results.parse_json(lines(text))
    run = taf_results.parse_json(lines(text), lenient=True).runs[0]
    assert "tps" not in run.metrics
    assert run.extra["TPS"] == "crashed"


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "null"])
def test_json_without_a_number_has_no_metric(value):
    text = taf_writer.json_report(taf_writer.one_series()).replace("213.49", value)
    assert "tps" not in taf_results.parse_json(lines(text)).runs[0].metrics


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" + "1" * 10_000 + "]"])
def test_hostile_json_is_an_error(text):
    with pytest.raises(ImportFormatError):
        taf_results.parse_json(lines(text), lenient=True)


def test_json_between_prompts_and_fences_is_read():
    text = taf_writer.json_report(taf_writer.one_series())
    around = f"[root@bench ~]# cat report.json\n```json\n{text}\n```\n[root@bench ~]#\n"
    assert taf_results.parse_json(lines(around)).runs == taf_results.parse_json(lines(text)).runs


def test_two_json_reports_in_one_file_stay_apart():
    text = taf_writer.json_report(taf_writer.one_series())
    other = text.replace("213.49", "214.49")
    imported = taf_results.parse_json(lines(f"{text}\n{other}\n"))
    assert [run.dataset for run in imported.runs] == ["10.0.15-MariaDB", "10.0.15-MariaDB #2"]


@pytest.mark.parametrize("value", [-1, 18446744073709551615])
def test_counter_that_cannot_be_true_is_kept_and_flagged(value):
    text = taf_writer.json_report(taf_writer.one_series(total_queries=(value, "")))
    run = taf_results.parse_json(lines(text)).runs[0]
    assert "queries" not in run.metrics
    assert run.extra["total_queries"] == value
    assert any("queries" in warning for warning in run.warnings)


def test_percentile_below_the_minimum_is_kept_and_flagged():
    text = taf_writer.json_report(taf_writer.one_series(latency_min=(7.0, "ms")))
    run = taf_results.parse_json(lines(text)).runs[0]
    assert "latency_p95" not in run.metrics
    assert run.extra["latency_95th"] == 6.5
    assert any("below the minimum" in warning for warning in run.warnings)


def test_rate_that_does_not_match_its_count_is_flagged():
    text = taf_writer.json_report(taf_writer.one_series(total_transactions=(1000, "")))
    run = taf_results.parse_json(lines(text)).runs[0]
    assert run.metrics["tps"] == 213.49
    assert any("does not match" in warning for warning in run.warnings)


def test_summary_that_does_not_follow_is_a_problem():
    text = taf_writer.text_report(taf_writer.one_series()).replace(
        "Avg:     213.49", "Avg:     214.49"
    )
    with pytest.raises(ImportFormatError, match="Avg of TPS is printed as 214.49"):
        taf_text.parse_text(lines(text))


def test_dump_with_anything_but_data_is_an_error():
    text = taf_writer.dump_report(taf_writer.one_series()).replace('"OLTP_RO"', "system('x')")
    with pytest.raises(ImportFormatError, match="expected a value, found 'system'"):
        taf_results.parse_dump(lines(text))


def test_reference_in_a_dump_is_what_it_refers_to():
    series = taf_writer.one_series()
    series.iterations.append((8, 1, {"TPS": ("300.5", "tps")}))
    text = taf_writer.dump_report(series)
    plain = taf_results.parse_dump(lines(text))
    first, brace, rest = text.partition('"metadata" => {')
    own, end, rest = rest.partition("}")
    shared = re.sub(r'("metadata" => )\{[^}]*\}', r'\1$VAR1->[0]{"metadata"}', rest)
    listed = re.sub(
        r'"metrics" => \[',
        r'"primary" => [\n$VAR1->[0]{"metrics"}[0],\n],\n"metrics" => [',
        first + brace + own + end + shared,
        count=1,
    )
    assert shared != rest and "primary" in listed
    assert taf_results.parse_dump(lines(listed)).runs == plain.runs


def test_reference_to_nothing_has_no_value():
    text = taf_writer.dump_report(taf_writer.one_series()).replace(
        '"bench-1"', '$VAR1->[0]{"metadata"}{"test_host"}'
    )
    imported = taf_results.parse_dump(lines(text), lenient=True)
    assert "Host" not in dict(imported.runs[0].facts.system)
    assert len(imported.problems) == 1


def test_readme_gives_its_facts_back():
    text = taf_writer.readme(
        taf_writer.README,
        ["hammerdb_tprocc.number_of_warehouses=5"],
        ["[mariadbd]", "log_bin", "server_id=1"],
    )
    run = taf_text.parse_readme(lines(text)).runs[0]
    assert (run.threads, run.iteration, run.duration_s) == (50, 2, 900.0)
    assert (run.dataset, run.label, run.metrics) == ("BASE", "12.3.3-MariaDB", {})
    assert run.facts.config == (("log_bin", None), ("server_id", "1"))
    assert run.extra["warehouses"] == 5
    assert dict(run.facts.system) == {"CPU Count": "20"}
    assert "secret" not in repr(run)


def test_readme_without_its_end_breaks_off():
    text = taf_writer.readme(taf_writer.README).replace("_EOF_", "")
    with pytest.raises(ImportFormatError, match="breaks off"):
        taf_text.parse_readme(lines(text))
    assert taf_text.parse_readme(lines(text), lenient=True).runs[0].threads == 50


# Damage


MUTATIONS = 10_000
DAMAGED = {
    **{
        kind: (lambda w=write: w(taf_writer.one_series(3)), parse)
        for kind, (write, parse) in RESULT_FILES.items()
    },
    "readme": (lambda: taf_writer.readme(taf_writer.README), taf_text.parse_readme),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_result_file_gives_a_result_or_our_error(kind):
    write, parse = DAMAGED[kind]
    outcomes = fuzzed(write(), parse, MUTATIONS // len(DAMAGED), seed=kind)
    assert min(outcomes.values()) > 0


def text_of(**metrics):
    return taf_writer.text_report(taf_writer.one_series(**metrics))


def test_text_that_ends_within_a_number_does_not_have_it():
    text = text_of(latency_95th=(172.65, "ms"))
    cut = text[: text.index("172.65") + 4].split("\n")
    found = [*lines("\n".join(cut[:-1])), Line(len(cut), cut[-1], whole=False)]
    with pytest.raises(ImportFormatError, match="ends in the number of latency_95th"):
        taf_text.parse_text(found)
    runs = taf_text.parse_text(found, lenient=True).runs
    assert runs
    assert not any("latency_p95" in run.metrics for run in runs)


def test_text_without_blanks_between_columns_is_read():
    text = text_of(latency_95th=(172.65, "ms"))
    glued = re.sub(r"(?<=\w)  +(?=[\d-])|(?<=\d) +(?=[A-Za-z])", "", text)
    assert "latency_95th172.65ms" in glued
    found, whole = (taf_text.parse_text(lines(each)).runs for each in (glued, text))
    assert [run.metrics for run in found] == [run.metrics for run in whole]


@pytest.mark.parametrize("after", ["$ exit", "```\nmore text", "\ufffd"])
def test_text_may_have_a_terminals_last_lines_behind_it(after):
    text = text_of()
    assert taf_text.parse_text(lines(f"{text}\n{after}\n")).runs
    with pytest.raises(ImportFormatError, match="expected a summary's line"):
        taf_text.parse_text(lines(f"{text}\nTPS   Count: 1 M\n"))


@pytest.mark.parametrize(
    ("written", "read"), [("2,507.44", 2507.44), ("1,872,080", 1872080), ("1,234", None)]
)
def test_thousands_are_read_where_they_cannot_be_decimals(written, read):
    text = taf_writer.json_report(taf_writer.one_series(TPS=(written, "tps")))
    assert taf_results.parse_json(lines(text), lenient=True).runs[0].metrics.get("tps") == read


@pytest.mark.parametrize("value", [4294967295, 18446744073709551615, 18446744073709551.61])
def test_number_of_a_counter_below_zero_is_flagged(value):
    text = taf_writer.json_report(taf_writer.one_series(total_queries=(value, "")))
    (run,) = taf_results.parse_json(lines(text)).runs
    assert any("queries" in warning for warning in run.warnings)
    assert value in {**run.metrics, **run.extra}.values()


def test_password_behind_a_lost_blank_is_not_kept():
    glued = "x :: -> sysbench_lua.tables=8 sysbench_lua.rows=1000sysbench_lua.password=secret"
    rows = taf_names.suite_rows({"test_suite": "sysbench-lua", "taf_commandline": glued})
    assert [value for _, value in rows] == ["8"]
