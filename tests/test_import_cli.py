"""``benchkit import``, and ``compare`` with its styles, on a machine with no server."""

import json
import re

import pytest
import sysbench_writer
from click.testing import CliRunner
from imports import dataset, report_of, write
from taf_reports import DATA, REPORTS, data_of

from benchkit.cli import main
from benchkit.report_taf import taf_text


@pytest.fixture
def cli(monkeypatch):
    """Return a function that runs a command and checks its exit code."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments, exit_code=0):
        result = CliRunner().invoke(main, list(map(str, arguments)))
        assert result.exit_code == exit_code, result.stdout + result.stderr
        return result

    return run


@pytest.fixture
def study(cli, tmp_path):
    """Return the folder of the second reference report."""
    cli("import", "taf", DATA / REPORTS[1], "-o", tmp_path / "study")
    return tmp_path / "study"


def test_import_and_compare_print_the_report_again(cli, study):
    assert cli("compare", study, "--style", "taf").stdout == taf_text(data_of(REPORTS[1]))


def test_import_says_what_it_did(cli, tmp_path):
    done = cli("import", "auto", DATA / REPORTS[1], "-o", tmp_path / "study")
    assert "6 runs of 1 file stored in" in done.stderr
    assert done.stdout == ""


def test_convention_of_a_percent_table_is_asked_for(cli, tmp_path):
    text = "Threads 1 4 8\n\n  delete  3.50  1.25  2.00\n"
    path = write(tmp_path / "in percent.txt", "x in %\n" + text)
    asked = cli("import", "taf", path, "-o", tmp_path / "study", exit_code=1)
    assert "give convention='ratio'" in asked.stderr
    cli("import", "taf", path, "-o", tmp_path / "study", "--convention", "change")
    shown = cli("compare", tmp_path / "study", "-s", "percent", "-f", "csv").stdout
    assert "delete,103.50,101.25,102.00" in shown


def test_logs_of_two_servers_are_compared(cli, tmp_path):
    for number, label in enumerate(("11.8", "12.3")):
        files = []
        for iteration in range(3):
            log = sysbench_writer.make_log(10 * number + iteration, threads=4)
            files.append(
                write(tmp_path / f"{label} {iteration}.log", sysbench_writer.write_log(log))
            )
        cli("import", "sysbench", *files, "-o", tmp_path / label, "-l", label)
    shown = cli("compare", tmp_path / "11.8", tmp_path / "12.3", "-m", "tps", "-m", "qps").stdout
    assert "tps: throughput" in shown
    assert "qps: statement rate" in shown
    assert re.search(r" 4 .*x .* % +3\n", shown)


def import_versions(cli, folder, *versions):
    """Import a log of each version, into a study each."""
    for version in versions:
        log = sysbench_writer.make_log(1, version, threads=4, transactions=1000 + len(version))
        path = write(folder / f"{version}.log", sysbench_writer.write_log(log))
        cli("import", "sysbench", path, "-o", folder / version, "-l", f"by {version}")


def test_logs_of_one_generation_of_sysbench_are_compared(cli, tmp_path):
    import_versions(cli, tmp_path, "1.0.9", "1.0.20")
    shown = cli("compare", tmp_path / "1.0.9", tmp_path / "1.0.20", "-s", "modern").stdout
    assert re.search(r"sysbench\W+1\.0\.9\W+1\.0\.20", shown), shown


def test_logs_of_two_generations_of_sysbench_are_not_compared(cli, tmp_path):
    import_versions(cli, tmp_path, "0.5", "1.0.20")
    refused = cli("compare", tmp_path / "0.5", tmp_path / "1.0.20", exit_code=1)
    assert "sysbench/0.5:" in refused.stderr
    assert "sysbench/1.0:" in refused.stderr
    cli("compare", tmp_path / "0.5", tmp_path / "1.0.20", "--allow-different")


def test_lenient_import_lists_what_it_left_out(cli, tmp_path):
    text = report_of(dataset("1", 10.0), dataset("2", 20.0)).replace("Max\t", "Max\tx\t")
    path = write(tmp_path / "a.txt", text)
    failed = cli("import", "taf", path, "-o", tmp_path / "study", exit_code=1)
    assert re.search(r"^error: .*a\.txt, line \d+: Max", failed.stderr)
    done = cli("import", "taf", path, "-o", tmp_path / "study", "--lenient", "--name", "old")
    assert re.search(r"^warning: .*a\.txt, line \d+: Max", done.stderr)
    assert json.loads((tmp_path / "study" / "study.json").read_text())["name"] == "old"


def test_unlike_reports_are_refused_unless_allowed(cli, study, tmp_path):
    cli("import", "taf", DATA / REPORTS[0], "-o", tmp_path / "other")
    refused = cli("compare", tmp_path / "other", study, exit_code=1)
    assert "warehouses is 5" in refused.stderr
    assert "--allow-different" in refused.stderr
    shown = cli("compare", tmp_path / "other", study, "--allow-different").stdout
    assert "unlike work is compared" in shown


def test_default_metric_is_what_the_report_is_about(cli, study):
    assert cli("compare", study).stdout.startswith("nopm: new orders")


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (("-s", "modern"), "TPROCC\n"),
        (("-s", "modern", "-f", "html"), "<!DOCTYPE html>"),
        (("-s", "taf", "-f", "markdown"), "# TPROCC"),
        (("-s", "percent", "-f", "csv"), '"(12.3.3-MariaDB'),
        (("-s", "taf", "-f", "json"), '{\n "title": "TPROCC"'),
    ],
)
def test_styles_and_formats_can_be_combined(cli, study, arguments, start):
    assert cli("compare", study, *arguments).stdout.startswith(start.removeprefix('"'))


def test_report_is_written_to_a_file(cli, study, tmp_path):
    assert cli("compare", study, "-o", tmp_path / "a.html").stdout == ""
    assert (tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")
    cli("compare", study, "-s", "taf", "-f", "json", "-o", tmp_path / "a.txt")
    assert json.loads((tmp_path / "a.txt").read_text())["title"] == "TPROCC"


@pytest.mark.parametrize("command", [("show",), ("ls", "--runs"), ("ls",)])
def test_imports_are_shown_like_other_studies(cli, study, command):
    assert "MDEV39497" in cli(*command, study).stdout


def test_an_imported_run_is_shown(cli, study):
    path = next((study / "runs").iterdir())
    shown = cli("show", path).stdout
    assert "taf report" in shown
    assert "nopm" in shown
    assert "began" not in shown
