"""Comparison reports, read back: written from known values, and the real reports."""

import math
import os
from pathlib import Path

import pytest
import taf_writer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutation import fuzzed, lines

from benchkit.errors import BenchkitError
from benchkit.importers import taf, taf_html, taf_names, taf_report, taf_results, taf_text
from benchkit.importers.model import ImportFormatError
from benchkit.importers.source import read_lines
from benchkit.importers.taf_columns import MEAN_ONLY

DATA = Path(__file__).parent / "data"
SAMPLES = Path(
    os.environ.get("BENCHKIT_SAMPLES", DATA.parents[2] / "shared" / "reference" / "samples")
)
RELAXED = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))

VERSIONS = st.sampled_from(["11.8.6-MariaDB", "12.3.1-MariaDB", "13.0.0-MariaDB-log", "10.6.1"])
VALUES = st.integers(1, 99_999_999).map(lambda cents: cents / 100)
OPTIONS = st.dictionaries(
    st.sampled_from(["innodb_doublewrite", "log_bin", "max_connections", "sync_binlog", "skip-x"]),
    st.sampled_from([None, "0", "ON", "1G", "TLSv1.2,TLSv1.3"]),
    min_size=1,
)


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


def values_of(imported, metric="tps"):
    """Return dataset -> threads -> iteration -> value."""
    found = {}
    for run in imported.runs:
        at = found.setdefault(run.dataset, {}).setdefault(run.threads, {})
        at[run.iteration] = run.metrics[metric]
    return found


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


def test_hammerdb_counts_its_duration_in_minutes():
    text = taf_writer.tab_report(taf_writer.small_report(suite="hammerdb-tprocc", metric="NOPM"))
    imported = taf_report.parse(lines(text))
    assert {run.duration_s for run in imported.runs} == {300 * 60.0}
    assert imported.primary == "nopm"
    assert imported.runs[0].workload == "taf/hammerdb-tprocc:tprocc"


def test_metric_of_unknown_name_is_kept_by_that_name():
    imported = taf_report.parse(
        lines(taf_writer.tab_report(taf_writer.small_report(metric="QphH")))
    )
    assert imported.primary == "QphH"
    assert imported.runs[0].metrics == {"QphH": 100.0}


def test_latency_is_read_in_seconds():
    imported = taf_report.parse(
        lines(taf_writer.tab_report(taf_writer.small_report(metric="latency_95th")))
    )
    assert imported.runs[0].metrics["latency_p95"] == pytest.approx(0.1)


def test_printed_statistic_that_does_not_follow_is_a_problem():
    text = taf_writer.tab_report(taf_writer.small_report()).replace(
        "Mean\t100.25\t", "Mean\t100.35\t"
    )
    with pytest.raises(ImportFormatError, match=r"Mean is printed as 100\.35.*give 100\.25"):
        taf_report.parse(lines(text))
    imported = taf_report.parse(lines(text), lenient=True)
    assert len(imported.problems) == 1
    assert imported.runs[0].metrics == {"tps": 100.0}


def test_mean_without_its_iterations_is_kept_but_is_no_iteration():
    text = taf_writer.tab_report(taf_writer.small_report())
    text = text[: text.index("Thread Count: 8")]
    with pytest.raises(ImportFormatError, match="no table 'Thread Count: 8'"):
        taf_report.parse(lines(text))
    imported = taf_report.parse(lines(text), lenient=True)
    cut = [run for run in imported.runs if run.threads == 8]
    assert [run.extra["mean"] for run in cut] == [200.5, 190.5]
    assert all(MEAN_ONLY in run.warnings and not run.metrics for run in cut)


def test_dataset_without_a_thread_count_has_no_run_there():
    report = taf_writer.small_report()
    del report.datasets[1].values[8]
    imported = taf_report.parse(lines(taf_writer.tab_report(report)))
    assert {run.dataset for run in imported.runs if run.threads == 8} == {"Mariadb 11.8.6-MariaDB"}


def test_cut_row_is_an_error_with_its_line():
    text = taf_writer.tab_report(taf_writer.small_report())[:-9]
    with pytest.raises(ImportFormatError, match="line") as caught:
        taf_report.parse(lines(text))
    assert caught.value.line == text.count("\n") + 1


def test_equal_headers_stay_apart():
    report = taf_writer.small_report()
    report.datasets[1].version = report.datasets[0].version
    imported = taf_report.parse(lines(taf_writer.tab_report(report)))
    assert list(dict.fromkeys(run.dataset for run in imported.runs)) == [
        "Mariadb 11.8.6-MariaDB #1",
        "Mariadb 11.8.6-MariaDB #2",
    ]
    assert {run.label for run in imported.runs} == {"Mariadb 11.8.6-MariaDB"}


def test_values_that_cannot_be_told_apart_are_left_out_with_a_warning():
    report = taf_writer.small_report()
    for dataset, count in zip(report.datasets, ("20", "16"), strict=True):
        dataset.system = {"CPU Count": count}
    imported = taf_report.parse(lines(taf_writer.glued_report(report)))
    assert all(run.facts.system == () for run in imported.runs)
    assert any("CPU Count" in warning for warning in imported.runs[0].warnings)


def test_two_reports_in_one_file_stay_apart():
    first, other = taf_writer.small_report(), taf_writer.small_report()
    other.datasets[0].values[4][0] += 1
    imported = taf_report.parse(lines(taf_writer.tab_report(first) + taf_writer.tab_report(other)))
    assert len({run.dataset for run in imported.runs}) == 4


def test_report_in_markdown_bars_is_read():
    text = taf_writer.tab_report(taf_writer.small_report(), second_copy=False)
    barred = "\n".join(
        f"| {line.replace(chr(9), ' | ')} |" if "\t" in line else line for line in text.split("\n")
    )
    quoted = "\n".join(f"> {line}" for line in barred.split("\n"))
    for changed in (barred, quoted):
        imported = taf_report.parse(lines(changed))
        assert values_of(imported) == values_of(taf_report.parse(lines(text)))


@pytest.mark.parametrize("separator", ["", " ", "    "])
@pytest.mark.parametrize("name", ["taf_report_000.txt", "taf_report_001.txt"])
def test_report_that_lost_its_tabs_gives_the_same_values(name, separator):
    text = (DATA / name).read_text()
    metric = {"taf_report_000.txt": "tpm", "taf_report_001.txt": "nopm"}[name]
    whole = taf_report.parse(lines(text))
    changed = taf_report.parse(lines(text.replace("\t", separator)), lenient=True)
    assert list(values_of(changed, metric).values()) == list(values_of(whole, metric).values())


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n\n"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_report_is_read_with_any_line_end_and_encoding(tmp_path, end, encoding):
    text = taf_writer.tab_report(taf_writer.small_report())
    file = tmp_path / "report.txt"
    file.write_bytes(text.replace("\n", end).encode(encoding))
    assert values_of(taf_report.parse(read_lines(file))) == values_of(taf_report.parse(lines(text)))


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


MUTATIONS = 10_000
LAYOUTS = {
    "tabs": (taf_writer.tab_report, taf_report.parse),
    "nothing": (taf_writer.glued_report, taf_report.parse),
    "html": (taf_writer.html_report, taf_html.parse),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_damaged_report_gives_a_result_or_our_error(layout):
    write, parse = LAYOUTS[layout]
    outcomes = fuzzed(
        write(taf_writer.small_report()), parse, MUTATIONS // len(LAYOUTS), seed=layout
    )
    assert min(outcomes.values()) > 0


@pytest.mark.parametrize("parse", [parse for _, _, parse in taf.FORMATS])
@settings(parent=RELAXED, max_examples=100)
@given(text=st.text(alphabet="{}[]\"'\\,:=>-.0129aThreadsCount \t\n|", max_size=200))
def test_any_text_gives_a_result_or_our_error(parse, text):
    try:
        parse(lines(text), lenient=True, name="x")
    except BenchkitError as error:
        assert str(error)


def test_groups_of_a_version_are_the_servers_and_those_of_a_client_are_not():
    groups = ("mysqld-8.0", "mariadb-11.8", "mariadbd-12", "mariadb-client", "mariadb-dump")
    lines = [line for number, group in enumerate(groups) for line in (f"[{group}]", f"x{number}=1")]
    assert [name for name, _ in taf_names.server_options(lines)] == ["x0", "x1", "x2"]


CONTENTS = ["# sizes", "[mysqld]", "a = 1G", 'init="SET x=1, y=2"', "skip-x", "[client]", "port=1"]


def info_report(contents, labels=("Mariadb 10.0.15-MariaDB",), sep="\t"):
    """Write a report of runs whose option file is in it as it is, or is not there."""
    return "\n".join(
        [
            *("TPS by Thread Count - OLTP_RO", "Database Info (per dataset)"),
            sep.join(["Property", *labels]),
            "Config Contents" + sep + sep.join([contents] * len(labels)),
            "Thread Count: 4",
            sep.join(["Metric", *labels]),
            *(sep.join([f"Iteration {at}", *["100.00"] * len(labels)]) for at in (1, 2)),
        ]
    )


@pytest.mark.parametrize("contents", ["\n".join(CONTENTS), " ".join(CONTENTS[1:])])
def test_options_of_a_file_that_stands_in_a_report_are_its_servers(contents):
    run = taf_report.parse(lines(info_report(contents)), lenient=True).runs[0]
    init = '"SET x=1, y=2"'
    assert run.facts.config == (("a", "1G"), ("init", init), ("skip-x", None))


def test_options_between_comments_on_one_line_are_not_known():
    run = taf_report.parse(lines(info_report(" ".join(CONTENTS))), lenient=True).runs[0]
    assert run.facts.config is None
    assert any("cannot tell options and comments apart" in text for text in run.warnings)


@pytest.mark.parametrize("sep", ["\t", ""])
def test_options_of_a_file_that_was_not_found_are_not_known(sep):
    labels = ("Mariadb 10.0.15-MariaDB", "Mariadb 10.1.2-MariaDB")
    text = info_report("[config file not found or inaccessible]", labels, sep)
    runs = taf_report.parse(lines(text), lenient=True).runs
    assert {run.facts.config for run in runs} == {None}
    assert not any("Config" in text for run in runs for text in run.warnings)


@pytest.mark.parametrize("sep", ["\t", ""])
def test_report_of_chart_and_tables_has_test_and_host(sep):
    text = "\n".join(
        [
            *("TPS by Thread Count - OLTP_RO on bench-1", "a comment", "Host Details"),
            *(f"{label}{sep}{value}" for label, value in [("Property", "Value"), ("HOST", "b")]),
            *(f"{label}{sep}{value}" for label, value in [("CPU", "C @ 2 GHz"), ("CPU COUNT", 8)]),
            "Thread Count: 4",
            f"Metric{sep}mariadb 10.0.15-MariaDB",
            *(f"{name}{sep}100.00" for name in ("Mean", "Iteration 1", "Iteration 2")),
            f"Kurtosis{sep}1.00",
        ]
    )
    imported = taf_report.parse(lines(text))
    assert [run.metrics for run in imported.runs] == [{"tps": 100.0}] * 2
    assert imported.runs[0].workload == "taf/unknown:oltp_ro"
    assert imported.runs[0].label == "mariadb 10.0.15-MariaDB"
    assert dict(imported.runs[0].facts.system) == {
        **{"Host": "b", "CPU": "C @ 2 GHz"},
        "CPU Count": "8",
    }


@pytest.mark.parametrize(
    "heading", ["Query Comparison Table", "Actual Query Times (per iteration)"]
)
def test_report_of_queries_says_what_to_import_instead(heading):
    text = f"TPROCH\n{heading}\nQuery\tMariadb 11.8.3\nQ1\t1.2345\nSystem Info (per dataset)\n"
    text += "Property\tMariadb 11.8.3\nHost\tx\n"
    for lenient in (False, True):
        with pytest.raises(ImportFormatError, match="TPROC-H's queries: import its raw results"):
            taf_report.parse(lines(text), lenient=lenient)
