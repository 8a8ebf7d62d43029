"""Reports from stored runs: three styles, five formats, nothing of a dataset taken for markup."""

import csv
import html
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import taf_writer
from factory import WORKLOAD, Plan, make_record, make_study, save_run
from imports import dataset, imported, report_of
from taf_reports import DATA, REPORTS, data_of, original_cells, original_tables

from benchkit import from_taf, load, report_facts
from benchkit.errors import ComparisonError, MetricError, StoreError
from benchkit.importers import percent
from benchkit.importers.source import read_lines
from benchkit.report import FORMS, STYLES
from benchkit.report_taf import percent_data, percent_text, taf_sections, taf_text
from benchkit.store import StudyFolder

HOSTILE = "<script>alert('x')</script> | `a` *b* [c](d) & \\ $x$"


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return the reference reports by name, through the store."""
    folder = tmp_path_factory.mktemp("imports")
    for name in REPORTS:
        from_taf(DATA / name, folder / name)
    return {name: load(folder / name) for name in REPORTS}


@pytest.fixture(scope="module")
def percents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("percents") / "003"
    return from_taf(DATA / "percent_table_003.txt", folder)


def section(report, start):
    return next(s for s in report.sections if s.title.startswith(start))


def column(report, start, head):
    """Return first cell -> cell of a column of a section."""
    found = section(report, start)
    place = next(i for i, name in enumerate(found.header) if head in name)
    return {row[0]: row[place] for row in found.rows}


# The "taf" style, through the store


@pytest.mark.parametrize("name", REPORTS)
def test_stored_report_is_printed_as_it_was_read(stored, name):
    report = stored[name].compare().table("taf")
    assert report.sections == taf_sections(data_of(name))
    assert str(report) == taf_text(data_of(name))


@pytest.mark.parametrize("name", REPORTS)
def test_stored_numbers_are_those_of_the_original_cell_by_cell(stored, name):
    report = stored[name].compare().table("taf")
    columns = len(data_of(name).datasets)
    tables = {s.title: [list(row) for row in s.rows] for s in report.sections}
    for heading, rows in original_cells(name, columns).items():
        if "Info" not in heading:
            assert tables[heading] == rows


@pytest.mark.parametrize("name", REPORTS[:2])
def test_stored_facts_are_those_of_the_original(stored, name):
    report = stored[name].compare().table("taf")
    for found in report.sections:
        lines = ["\t".join(row).replace("\n", " ") for row in (found.header, *found.rows)]
        if "Info" in found.title:
            assert lines == original_tables(name)[found.title]


def store_own_runs(path: Path) -> StudyFolder:
    """Store runs of two servers that differ in an option, the host and how they were started."""
    plan = Plan(servers=("base", "new"), threads=(4,))
    datasets = [{"server": server, "workload": WORKLOAD} for server in plan.servers]
    folder = StudyFolder.create(path, {"name": plan.name, "datasets": datasets})
    machine = {"host": "bench", "cpu": "x", "cpu_count": 20, "kernel": "6.1", "ram_bytes": 2**31}
    machine |= {"governor": None, "data_device": "sda", "data_file_system": "ext4"}
    machine |= {"memory_limit_bytes": 2**31}
    changes = {"base": {"thp": "always"}, "new": {"thp": "never", "governor": "powersave"}}
    environments = {k: folder.save_environment({**machine, **v}) for k, v in changes.items()}
    started = {"origin": "CLI", "source": "base.cnf", "run_file": "mariadb_2026_8_28_22_42_12.cnf"}
    for cell in plan.cells():
        flush = 1 if cell[0] == "base" else 2
        config = folder.save_config(f"[mariadbd]\ninnodb_flush_log_at_trx_commit = {flush}\n")
        record = replace(
            make_record(plan, *cell),
            env_ref=environments[cell[0]],
            config_ref=config,
            server={
                "product": "MariaDB",
                "version": "11.8.6-MariaDB",
                "install": "/home/me/mariadb-11.8.6-linux-systemd-x86_64",
                "config": started if cell[0] == "base" else {},
            },
            workload={"parameters": {"table_size": 1000, "storage_engine": "innodb"}},
        )
        save_run(folder, plan, record)
    return folder


def test_own_runs_have_the_facts_of_host_server_and_configuration(tmp_path):
    folder = store_own_runs(tmp_path / "study")
    comparison = load(folder.path).compare("tps")
    report = comparison.table("taf")
    assert column(report, "Comparison: TPS", "new") == {"4": "432.000"}
    assert column(report, "System", "base") == {
        "Host": "bench", "CPU": "x", "CPU Count": "20", "OS Kernel": "6.1", "RAM": "2.00 GB",
        "Disk": "sda, ext4"
    }  # fmt: skip
    database = {
        "Database Maker": "mariadb",
        "Database Version": "11.8.6-MariaDB",
        "Engine": "innodb",
        "Install Dir": "mariadb-11.8.6-linux-systemd-x86_64",
        "DB Config Origin": "CLI",
        "DB Config Source File": "base.cnf",
        "DB Generated Config Run File": "mariadb_2026_8_28_22_42_12.cnf",
        "Config Contents": "innodb_flush_log_at_trx_commit=1",
    }
    missing = {name: "(missing)" for name in database if name.startswith("DB ")}
    flush_2 = {"Config Contents": "innodb_flush_log_at_trx_commit=2"}
    assert column(report, "Database", "base") == database
    assert column(report, "Database", "new") == {**database, **missing, **flush_2}
    test = column(report, "Test", "base")
    assert test["Test Name"] == "oltp_point_select"
    rows = dict(report_facts.test_rows("tprocc/hammerdb6", [run.record for run in folder.runs()]))
    assert (rows["Test Suite"], rows["Test Name"]) == ("tprocc/hammerdb6", "tprocc/hammerdb6")
    assert (test["Duration"], test["Iterations"]) == ("3", "3")
    assert test["Table size"] == "1000"
    modern = comparison.table("modern")
    assert section(modern, "Options that differ").rows == (
        ("innodb_flush_log_at_trx_commit", "1", "2"),
    )
    assert section(modern, "What else differs").rows == (
        ("DB Config Origin", "CLI", "(missing)"),
        ("DB Config Source File", "base.cnf", "(missing)"),
        ("Transparent huge pages", "always", "never"),
    )


def test_workloads_of_a_study_have_tables_of_their_own(tmp_path):
    plan = Plan(servers=("a", "b"), workloads=("x:one", "x:two"))
    report = load(make_study(tmp_path / "study", plan).path).compare("tps").table("taf")
    titles = [s.title for s in report.sections]
    assert [t for t in titles if "Comparison" in t] == [
        "x:one: Comparison: TPS",
        "x:two: Comparison: TPS",
    ]
    assert str(report).count("Comparison: TPS") == 2


# The "percent" style


def test_stored_percent_table_is_printed_as_it_was_read(percents):
    report = percents.compare().table("percent")
    parsed = percent.parse(read_lines(DATA / "percent_table_003.txt"))
    assert str(report) == percent_text(percent_data(parsed))
    cells = [cell for row in report.sections[0].rows for cell in row[1:]]
    printed = re.findall(r"(?<= )\d+\.\d\d\b", (DATA / "percent_table_003.txt").read_text())
    assert len(cells) == 56
    assert cells == printed


def test_two_datasets_give_the_same_percent_table(percents, tmp_path):
    expected = percents.compare().table("percent").sections[0]
    tests = [row[0] for row in expected.rows]
    cells = {row[0]: dict(zip(expected.header[1:], row[1:], strict=True)) for row in expected.rows}
    plan = Plan(
        servers=("MySQL", "MariaDB"),
        workloads=tuple(f"sysbench/0.5:{test}" for test in tests),
        threads=tuple(map(int, expected.header[1:])),
        iterations=(1,),
    )
    folder = StudyFolder.create(tmp_path / "study", {"name": plan.name})
    for server, workload, threads, iteration in plan.cells():
        record = make_record(plan, server, workload, threads, iteration)
        percentage = float(cells[workload.rpartition(":")[2]][str(threads)])
        value = 5000.0 * (percentage / 100 if server == "MariaDB" else 1)
        save_run(folder, plan, replace(record, metrics={**record.metrics, "qps": value}))
    found = load(folder.path).compare("qps", baseline="MySQL").table("percent").sections[0]
    assert sorted(found.rows) == sorted(expected.rows)
    assert found.title == "(MariaDB q/s / MySQL q/s * 100)"


def test_row_of_text_comes_through_the_store(tmp_path):
    rows = [("delete", [99.0, 98.0]), ("insert", "Dup key errors")]
    text = taf_writer.percent_table([1, 4], rows, ["x"], "(a q/s / b q/s * 100)")
    report = imported(tmp_path, text).compare().table("percent")
    assert report.sections[0].rows == (
        ("delete", "99.00", "98.00"),
        ("insert", "Dup key errors", ""),
    )


def test_percent_style_needs_something_to_compare(tmp_path):
    results = load(make_study(tmp_path / "study", Plan(servers=("a",))).path)
    with pytest.raises(MetricError, match="needs a baseline and something to compare"):
        results.compare("tps").table("percent")


# The "modern" style


def test_equal_headers_become_unique_by_their_tags(stored):
    report = stored[REPORTS[0]].compare().table()
    heads = section(report, "tpm, 50 threads").header[1:]
    assert len(set(heads)) == 5
    assert heads[:2] == ("12.3.3-MariaDB", "12.3.3-MariaDB-log · MDEV39497_BINLOG")


def test_equal_headers_without_tags_become_unique_by_their_options(tmp_path):
    text = report_of(
        dataset("12.3", 1.0, config={"log_bin": None, "a": "1G"}),
        dataset("12.3", 2.0, config={"log-bin": "ON", "a": "1073741824", "b": "2"}),
    )
    report = imported(tmp_path, text).compare().table()
    assert section(report, "Means").header[1:] == ("Mariadb 12.3", "Mariadb 12.3 · b=2", "change")


def test_only_options_that_mean_something_else_are_shown(stored):
    report = stored[REPORTS[0]].compare().table()
    assert [row[:3] for row in section(report, "Options that differ").rows] == [
        ("log_bin", "OFF", "ON"),
        ("server_id", "(missing)", "1"),
        ("binlog_storage_engine", "(missing)", "(missing)"),
    ]


def test_what_else_differs_has_versions_and_dates(stored):
    rows = {row[0]: row[1:] for row in section(stored[REPORTS[1]].compare().table(), "What").rows}
    assert rows["Timestamp"] == ("2026-8-28 23:04:25", "2026-8-29 01:19:20")
    assert "Host" not in rows


@pytest.mark.parametrize(
    ("metric", "faster", "direction"),
    [("TPS", (120.0, 121.0), "+20.50 % better"), ("latency_avg", (12.0, 12.1), "+20.50 % worse")],
)
def test_change_has_its_direction(tmp_path, metric, faster, direction):
    base = tuple(value / 1.205 for value in faster)
    text = report_of(dataset("1", *base), dataset("2", *faster), metric=metric)
    report = imported(tmp_path, text, lenient=True).compare().table()
    (cell,) = column(report, "Means", "change").values()
    assert re.fullmatch(r"\+20\.[45]\d % (better|worse)", cell)
    assert cell.split()[-1] == direction.split()[-1]


def test_change_says_when_iterations_overlap(tmp_path):
    text = report_of(dataset("1", 100.0, 102.0), dataset("2", 101.0, 103.0))
    report = imported(tmp_path, text).compare().table()
    assert column(report, "Means", "change") == {"8": "+0.99 % better (overlap)"}


def test_every_iteration_is_shown_and_a_missing_one_is_a_dash(tmp_path):
    text = report_of(dataset("1", 100.0, None, 102.0), dataset("2", 101.0, 103.0, 105.0))
    results = imported(tmp_path, text)
    cells = column(results.compare().table(), "tps, 8 threads", "Mariadb 1")
    assert [cells[f"iteration {number}"] for number in (1, 2, 3)] == ["100.0", "-", "102.0"]
    printed = column(results.compare().table("taf"), "Thread Count: 8", "Mariadb 1")
    assert (printed["Mean"], printed["Iteration 2"]) == ("101.00", "-")


def test_several_metrics_stand_side_by_side(tmp_path):
    results = load(make_study(tmp_path / "study").path)
    report = results.compare(["tps", "latency_p95"]).table()
    assert section(report, "Means").header == (
        "Threads",
        "tps: baseline",
        "tps: flush=2",
        "change",
        "latency_p95: baseline",
        "latency_p95: flush=2",
        "change",
    )
    assert section(report, "latency_p95, 4 threads (ms)")
    with pytest.raises(MetricError, match="the taf style shows one metric"):
        results.compare(["tps", "latency_p95"]).table("taf")


def test_warnings_of_runs_are_notes(tmp_path):
    results = load(make_study(tmp_path / "study", Plan(iterations=(1,))).path)
    assert any("a single iteration" in note for note in results.compare("tps").table().notes)


def test_unknown_thread_count_is_shown_as_missing(tmp_path):
    text = taf_writer.percent_table([1, 4], [("insert", "failed")], ["x"], "(a / b * 100)")
    results = imported(tmp_path, text, convention="ratio")
    assert "threads (missing)" in repr(results)
    assert results["insert"].threads.tolist() == [0]


# What is refused


def test_reports_of_other_scale_and_metric_are_not_compared(stored, tmp_path):
    results = load([from_taf(DATA / n, tmp_path / n) and tmp_path / n for n in REPORTS[:2]])
    with pytest.raises(ComparisonError, match=r"has no tpm, only nopm; warehouses is 5 in .* 100"):
        results.compare("tpm")
    allowed = results.compare("tpm", allow_different=True)
    assert any("warehouses is 5" in note for note in allowed.notes)


@pytest.mark.parametrize("style", ["taf", "modern"])
def test_tests_of_a_percent_table_are_not_compared_with_each_other(percents, style):
    with pytest.raises(ComparisonError, match=f"{style} style does: use the percent style"):
        percents.compare().table(style)
    allowed = percents.compare(allow_different=True)
    assert any("unlike work is compared" in note for note in allowed.notes)
    assert allowed.table(style).sections


def test_plain_table_of_percentages_has_no_ratios(percents):
    comparison = percents.compare()
    assert not re.search(r"\bratio\b", repr(comparison) + comparison._repr_html_())
    assert not [name for name in comparison.frame if " / " in name]
    assert "ratio " in repr(percents.compare(allow_different=True))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("form", ["text", "html", "markdown", "json"])
def test_every_style_says_that_unlike_work_is_compared(stored, tmp_path, style, form):
    results = load([from_taf(DATA / n, tmp_path / n) and tmp_path / n for n in REPORTS[:2]])
    report = results.compare("nopm", allow_different=True).table(style)
    assert "unlike work is compared: " in report.render(form)
    assert "unlike" not in stored[REPORTS[0]].compare().table(style).render(form)


def test_unknown_style_and_format_are_errors_with_the_nearest(stored, tmp_path):
    comparison = stored[REPORTS[1]].compare()
    with pytest.raises(MetricError, match="unknown style 'tav': did you mean 'taf'"):
        comparison.table("tav")
    with pytest.raises(MetricError, match="unknown format 'htm': did you mean 'html'"):
        comparison.table().render("htm")
    with pytest.raises(MetricError, match="unknown format '.pdf'"):
        stored[REPORTS[1]].report(tmp_path / "report.pdf")
    with pytest.raises(StoreError, match="cannot write"):
        stored[REPORTS[1]].report(tmp_path / "nowhere" / "report.html")


# Formats


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Return results whose every name is hostile."""
    plan = Plan(servers=("base\nline", HOSTILE), workloads=(f"x:{HOSTILE}",))
    folder = make_study(tmp_path_factory.mktemp("hostile") / "study", plan)
    for path in folder.path.glob("runs/*/run.json"):
        record = json.loads(path.read_text())
        server = record["factors"]["server"]
        facts = {
            "label": server,
            "system": [["Host", server], [HOSTILE, server]],
            "database": [],
            "test": [],
            "config": [["tmpdir", server]],
            "extra": {},
        }
        path.write_text(json.dumps({**record, "facts": facts, "warnings": [HOSTILE]}))
    study = json.loads((folder.path / "study.json").read_text())
    study.update(title=HOSTILE, comment=f"# {HOSTILE}")
    (folder.path / "study.json").write_text(json.dumps(study))
    return load(folder.path)


class Page(HTMLParser):
    """What a browser makes of a page: tags, text, and what it would fetch."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not {"src", "href", "onclick"} & {name for name, _ in attrs}
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("style", STYLES)
def test_page_shows_hostile_text_as_text(hostile, style):
    text = hostile.compare("tps").table(style).render("html")
    page = Page(text)
    assert page.open == []
    assert "script" not in page.tags
    assert HOSTILE in "".join(page.words)
    assert html.escape(HOSTILE) in text


@pytest.mark.parametrize("style", STYLES)
def test_page_needs_no_network_and_follows_the_readers_colours(hostile, style):
    text = hostile.compare("tps").table(style).render("html")
    assert not re.search(r"https?:|url\(|@import", text)
    assert "prefers-color-scheme:dark" in text
    assert "var(--text)" in text
    assert text.count('<div class="scroll">') == text.count("<table")


@pytest.mark.parametrize("style", STYLES)
def test_markdown_has_hostile_text_escaped_and_keeps_its_columns(hostile, style):
    text = hostile.compare("tps").table(style).render("markdown")
    plain = re.sub(r"\\.", "", text.replace("<br>", ""))
    assert "<" not in plain
    assert "`" not in plain
    for block in text.split("\n\n"):
        if block.startswith("|"):
            bars = [re.sub(r"\\.", "", line).count("|") for line in block.splitlines()]
            assert len(set(bars)) == 1
            assert all(line.startswith("|") for line in block.splitlines())


@pytest.mark.parametrize("style", STYLES)
def test_text_has_a_line_for_each_row(hostile, style):
    report = hostile.compare("tps").table(style)
    rows = sum(len(s.rows) for s in report.sections)
    assert len(str(report).splitlines()) >= rows
    assert "base\nline" not in str(report)


@pytest.mark.parametrize("style", STYLES)
def test_csv_and_json_have_every_cell(hostile, style):
    report = hostile.compare("tps").table(style)
    cells = [
        [s.title, *row]
        for s in report.sections
        for row in ((s.header, *s.rows) if s.header else ((),))
    ]
    assert list(csv.reader(io.StringIO(report.render("csv"), newline=""))) == cells
    tables = json.loads(report.render("json"))["sections"]
    found = [tuple(map(tuple, table["rows"])) for table in tables]
    assert found == [s.rows for s in report.sections]


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.txt", "text"), ("a.md", "markdown"), ("a.HTML", "html"), ("a.csv", "csv")],
)
def test_ending_of_a_file_says_the_format(stored, tmp_path, name, form):
    path = stored[REPORTS[1]].report(tmp_path / name, style="taf")
    assert path.read_text() == stored[REPORTS[1]].compare().table("taf").render(form)


def test_notebook_shows_the_page_without_its_frame(stored):
    report = stored[REPORTS[1]].compare().table()
    assert report._repr_html_() in report.render("html")
    assert set(FORMS) == {"text", "markdown", "html", "csv", "json"}


def test_options_are_bold_line_by_line(stored):
    page = stored[REPORTS[1]].compare().table("taf").render("html")
    assert "open_files_limit=65535\n" in page
    assert "<b>innodb_doublewrite=0</b>" in page
    assert "<b>open_files_limit" not in page
