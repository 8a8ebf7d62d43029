"""The command line, as a user meets it: real processes, a real study, and what may go wrong."""

import csv
import io
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import textwrap
from dataclasses import replace
from fcntl import ioctl
from pathlib import Path

import pytest
from click.testing import CliRunner
from factory import WORKLOAD, Plan, make_log, make_record, make_series, make_study, save_run
from processes import ROOT, wait_until
from studies import databases

from benchkit import workloads
from benchkit.cli import main
from benchkit.metrics import METRICS
from benchkit.record import ErrorCount, TransactionResult
from benchkit.studyfile import EXAMPLE

QUICKSTART = ROOT / "examples" / "flush_log.toml"
COMMANDS = [
    "run",
    "plan",
    "ls",
    "show",
    "compare",
    "import",
    "verify",
    "export",
    "doctor",
    "workloads",
]
WISHES = ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
COLOR = re.compile(r"\x1b\[[0-9;]*3[0-7]")


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of a command: with this benchkit, without wishes about output."""
    kept = {name: value for name, value in os.environ.items() if name not in WISHES}
    return {**kept, "PYTHONPATH": str(ROOT), **variables}


def start(*arguments: object, folder: Path, **variables: str) -> subprocess.Popen[str]:
    """Start ``python -m benchkit`` in a folder, its output piped."""
    return subprocess.Popen(
        [sys.executable, "-m", "benchkit", *map(str, arguments)],
        cwd=folder,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def run(*arguments: object, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m benchkit`` in a folder to its end."""
    process = start(*arguments, folder=folder, **variables)
    out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run_on_terminal(*arguments: object, width: int, **variables: str) -> str:
    """Return what a command shows on a terminal of that width."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "benchkit", *map(str, arguments)],
        env=environment(TERM="xterm-256color", **variables),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 65536):
            shown += data
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    process.wait()
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture
def cli(monkeypatch):
    """Return a function that runs a command in this process."""
    for name in WISHES:
        monkeypatch.delenv(name, raising=False)

    def cli(*arguments: object, exit_code: int = 0, **variables: str):
        result = CliRunner(env=variables).invoke(main, [*map(str, arguments)], prog_name="benchkit")
        assert result.exit_code == exit_code, result.output
        return result

    return cli


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """Execute the example, shortened, once; return its folder and the finished process."""
    folder = tmp_path_factory.mktemp("work")
    shorter = {'"5s"': '"1s"', '"1s"': '"0.2s"', "iterations = 3": "iterations = 1"}
    text = re.sub("|".join(shorter), lambda match: shorter[match[0]], QUICKSTART.read_text())
    (folder / "flush_log.toml").write_text(text)
    return folder, run("run", "flush_log.toml", folder=folder)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return the folder of a synthetic study."""
    return make_study(tmp_path_factory.mktemp("data") / "study").path


@pytest.fixture
def write_study(tmp_path, server, monkeypatch):
    """Return a function that writes a study of few transactions on the session's server.

    Whatever becomes of the study, nothing of it stays on the server.
    """
    monkeypatch.setenv("BENCHKIT_DATA", str(tmp_path / "data"))
    place = server.endpoint

    def write_study(end: str = "transactions = 50", **options: object) -> Path:
        lines = ['name = "few"', "threads = [1]", "iterations = 1", "warmup = 0", end]
        lines += ["[[servers]]", 'name = "here"']
        lines += [f'connect = {{ socket = "{place["socket"]}", user = "{place["user"]}" }}']
        lines += ["[[workloads]]", 'name = "oltp_read_write"', "rows = 100"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in options.items()]
        path = tmp_path / "few.toml"
        path.write_text("\n".join(lines))
        return path

    yield write_study
    for database in databases(server):
        server.query(f"DROP DATABASE `{database}`")


# run


def test_run_measures_stores_and_prints_the_comparison(executed):
    folder, process = executed
    assert process.returncode == 0, process.stderr
    assert "ratio to baseline" in process.stdout
    assert len(list((folder / "results/flush-log/runs").iterdir())) == 4


def test_run_without_a_terminal_writes_a_line_for_each_run_to_stderr(executed):
    _, process = executed
    lines = [line for line in process.stderr.splitlines() if re.match(r"\d/4 ", line)]
    assert len(lines) == 4
    assert "tps" in lines[0]


def test_run_of_a_complete_study_only_shows_it(executed):
    folder, process = executed
    again = run("run", "flush_log.toml", folder=folder)
    assert again.stdout == process.stdout
    assert "4 of 4 are stored in results/flush-log" in again.stderr


def test_run_of_one_server_prints_means(cli, write_study, tmp_path):
    result = cli("run", write_study(), "-o", tmp_path / "out", "--quiet")
    assert result.stdout.splitlines()[0].split() == ["p50", "p95", "p99", "errors"]
    assert result.stdout.splitlines()[-1].split()[:3] == ["here", "1", "1"]
    assert result.stderr == ""


def test_run_that_fails_is_named_and_kept(cli, write_study, tmp_path):
    out = tmp_path / "out"
    result = cli("run", write_study(storage_engine="nosuch"), "-o", out, exit_code=1)
    assert "here, oltp_read_write, 1 thread, iteration 1: Unknown storage engine" in result.stderr
    assert "Traceback" not in result.output
    shown = cli("show", out).stdout
    assert "failed  here, oltp_read_write, threads 1, iteration 1: Unknown" in shown
    (attempt,) = (out / "failed").iterdir()
    assert "failure   Unknown storage engine 'nosuch'" in cli("show", attempt).stdout
    assert "0 of 1, 1 failed" in cli("ls", out).stdout


def test_interrupted_run_says_how_to_go_on(write_study, tmp_path):
    path = write_study(end='duration = "60s"')
    process = start("run", path, "-o", "out", folder=tmp_path)
    wait_until((tmp_path / "out/study.json").exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err.splitlines()[-1].startswith("interrupted: what was measured is stored")


def test_folder_of_another_study_is_left_alone(cli, write_study, study):
    before = sorted(study.rglob("*"))
    result = cli("run", write_study(), "-o", study, exit_code=1)
    assert "belongs to study 'synthetic', not 'few'" in result.stderr
    assert sorted(study.rglob("*")) == before


# plan


def test_plan_shows_the_runs_and_writes_nothing(tmp_path):
    process = run("plan", QUICKSTART, folder=tmp_path)
    assert "12 runs = 2 servers x 1 workload x threads 1, 4 x 3 iterations" in process.stdout
    assert process.stdout.splitlines()[-1].startswith("11-12")
    assert list(tmp_path.iterdir()) == []


# ls and show


def test_ls_lists_the_studies_below_a_folder(executed):
    folder, _ = executed
    _, line = run("ls", folder=folder).stdout.splitlines()[1:]
    for text in ("results/flush-log", "4 of 4", "baseline, flush-log-2", "oltp_read_write"):
        assert text in line


def test_ls_where_there_is_no_study_says_so(cli, tmp_path):
    result = cli("ls", tmp_path)
    assert (result.stdout, result.stderr) == ("", f"no study in {tmp_path} or below it\n")


def test_ls_lists_the_others_beside_a_damaged_study(cli, tmp_path):
    make_study(tmp_path / "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/study.json").write_text("{")
    result = cli("ls", tmp_path, exit_code=1)
    assert "good" in result.stdout
    assert "bad/study.json is not JSON" in result.stderr


def test_ls_of_runs_lists_them_in_the_order_of_the_plan(cli, study):
    lines = cli("ls", study, "--runs").stdout.splitlines()[3:]
    assert [line.split()[3] for line in lines] == ["1"] * 4 + ["2"] * 4 + ["3"] * 4


def test_show_of_a_study_has_settings_servers_and_means(executed):
    folder, _ = executed
    shown = run("show", "results/flush-log", folder=folder).stdout
    for text in (
        "4 of 4",
        "1 s after a warmup of 200 ms",
        "flush-log-2 (innodb_flush_log_at_trx_commit=2)",
        "sysbench/1.1:oltp_read_write (tables=2)",
    ):
        assert text in shown
    assert [line.split()[:3] for line in shown.splitlines()[-4:]] == [
        [name, threads, "1"] for name in ("baseline", "flush-log-2") for threads in ("1", "4")
    ]


def test_show_of_a_run_has_metrics_statements_and_load(executed):
    folder, _ = executed
    path = next((folder / "results/flush-log/runs").iterdir())
    shown = run("show", path, folder=folder).stdout
    for text in ("status    complete", "load      20,000 rows", "tps", "point_select", "commit"):
        assert text in shown


def test_show_of_a_run_has_its_errors_and_warnings(cli, tmp_path):
    plan = Plan()
    folder = make_study(tmp_path / "s", Plan(absent=(("baseline", 1, 1),)))
    made = make_record(plan, "baseline", WORKLOAD, 1, 1)
    record = replace(
        made,
        transactions=(made.transactions[0], TransactionResult("transfer", 3, 1, 0, 7)),
        errors=(ErrorCount(1213, "40001", "Deadlock found", "update_a", 1234),),
        warnings=("the driver was busy",),
    )
    path = save_run(folder, plan, record)
    shown = cli("show", path).stdout
    assert re.search(r"1,234\s+1213\s+40001\s+update_a\s+Deadlock found", shown)
    assert re.search(r"transfer\s+3\s+1\s+0\s+7\s+-", shown)
    assert "warning   the driver was busy" in shown
    assert "the driver was busy" in cli("show", folder.path).stdout


def test_attempt_that_was_made_up_for_is_marked(cli, tmp_path):
    plan = Plan()
    folder = make_study(tmp_path / "s")
    made = make_record(plan, "baseline", WORKLOAD, 1, 1)
    record = replace(made, status="failed", failure={"message": "it broke"})
    folder.save_failed(record, make_series(record, 1), make_log(record, 1), {}, "")
    assert "iteration 1, completed later: it broke" in cli("show", folder.path).stdout


# compare


def test_compare_shows_any_metric_against_any_baseline(cli, study):
    shown = cli("compare", study, "--metric", "latency_p95", "--baseline", "flush=2").stdout
    assert "95th percentile response time (ms), lower is better" in shown
    assert "ratio to flush=2" in shown


def test_compare_writes_csv_and_json(cli, study):
    rows = list(csv.DictReader(io.StringIO(cli("compare", study, "-f", "csv").stdout)))
    assert [row["threads"] for row in rows] == ["1", "4"]
    assert json.loads(cli("compare", study, "-f", "json").stdout)["metric"] == "tps"


@pytest.mark.parametrize("form", ["csv", "json", "markdown", "html"])
def test_every_format_ends_with_one_newline(cli, study, form):
    out = cli("compare", study, "-f", form).stdout
    assert out.endswith("\n")
    assert not out.endswith("\n\n")


def test_compare_takes_several_studies(cli, study, tmp_path):
    other = make_study(tmp_path / "other", Plan(name="other"))
    assert "baseline · other" in cli("compare", study, other.path, "-f", "csv").stdout


# doctor


def test_doctor_says_what_it_found(cli):
    assert re.search(r"^ok +server +MariaDB \S+-MariaDB", cli("doctor").stdout, re.MULTILINE)


def test_doctor_of_a_study_fails_where_a_server_is_too_small(cli, tmp_path):
    text = QUICKSTART.read_text().replace('"baseline"', '"tiny"\noptions.max_connections = 5')
    (tmp_path / "tiny.toml").write_text(text)
    result = cli("doctor", tmp_path / "tiny.toml", exit_code=1)
    assert "max_connections (tiny)" in result.stdout
    assert "max_connections=7" in result.stdout


# workloads


def test_workloads_lists_every_workload(cli):
    listed = [line.split()[0] for line in cli("workloads").stdout.splitlines()[2:]]
    assert listed == workloads.names()


@pytest.mark.parametrize("name", workloads.identities())
def test_every_workload_tells_its_options(cli, name):
    shown = cli("workloads", name).stdout
    made = workloads.factory(name)
    assert all(re.search(rf"^{o.name} ", shown, re.MULTILINE) for o in made.options)
    names = re.findall(r'"(.+?)"', re.search("^name = .*", shown, re.MULTILINE)[0])
    assert [workloads.factory(each) for each in names] == [made] * len(names)


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compare", "STUDY", "-m", "tsp"), "unknown metric 'tsp': did you mean 'tps'?"),
        (("compare", "STUDY", "-b", "basline"), "did you mean 'baseline'?"),
        (("compare", "nowhere"), "nowhere does not exist"),
        (("workloads", "oltp_reed_only"), "did you mean 'oltp_read_only'?"),
        (("workloads", "sysbench/9:oltp_read_only"), "unknown personality 'sysbench/9'"),
        (("plan", "nowhere.toml"), "cannot read the study file nowhere.toml"),
        (("run", "nowhere.toml"), "cannot read the study file nowhere.toml"),
        (("doctor", "nowhere.toml"), "cannot read the study file nowhere.toml"),
        (("ls", "nowhere"), "nowhere is not a folder"),
        (("ls", "nowhere", "--runs"), "nowhere does not exist"),
        (("show", "nowhere"), "nowhere does not exist"),
        (("show", "/"), "/ is not a study folder"),
    ],
)
def test_mistake_is_one_line_on_stderr(cli, study, arguments, message):
    given = [study if argument == "STUDY" else argument for argument in arguments]
    result = cli(*given, exit_code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rnu",), "unknown command 'rnu': did you mean 'run'?"),
        (("plan",), "give either a study file or --properties FILE"),
        (("compare",), "Missing argument 'DIR...'"),
        (("compare", "x", "--format", "pdf"), "'pdf' is not one of 'text', 'csv'"),
        (("--nonsense",), "No such option"),
    ],
)
def test_wrong_usage_has_exit_code_2(cli, arguments, message):
    assert message in cli(*arguments, exit_code=2).stderr


def test_damaged_run_is_told_without_a_traceback(cli, tmp_path):
    folder = make_study(tmp_path / "s")
    path = next((folder.path / "runs").iterdir()) / "run.json"
    path.write_text("{")
    assert "run.json is not JSON" in cli("show", folder.path, exit_code=1).stderr
    assert "run.json is not JSON" in cli("show", path.parent, exit_code=1).stderr


def test_study_of_a_newer_schema_is_refused(cli, tmp_path):
    folder = make_study(tmp_path / "s")
    path = folder.path / "study.json"
    path.write_text(path.read_text().replace("benchkit.study/1", "benchkit.study/9"))
    assert "written by a newer benchkit" in cli("compare", folder.path, exit_code=1).stderr


# Help


def test_help_lists_the_commands_in_the_order_of_use(cli):
    shown = cli("--help").stdout.partition("Commands:")[2]
    assert re.findall(r"^  (\w+) ", shown, re.MULTILINE)[: len(COMMANDS)] == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_that_start_with_it(cli, command):
    _, _, examples = cli(command, "--help").stdout.partition("Examples:")
    lines = examples.partition("\n\n")[0].split("\n")[1:]
    assert lines
    assert all(line.startswith(f"    benchkit {command}") for line in lines if line)


def test_help_of_run_shows_a_study_file_as_it_is(cli):
    shown = cli("run", "--help", COLUMNS="80").stdout
    assert textwrap.indent(EXAMPLE, "    ") in shown


def test_version_is_one_line(cli):
    assert re.fullmatch(r"benchkit \S+\n", cli("--version").stdout)


def test_metrics_in_help_exist(cli):
    shown = cli("compare", "--help").stdout
    assert set(re.findall(r"latency_\w+", shown)) <= set(METRICS)


# Terminals


@pytest.fixture(scope="module")
def views(executed):
    """Return the arguments of commands that draw something."""
    folder, _ = executed
    results = folder / "results/flush-log"
    return [
        ("plan", QUICKSTART),
        ("ls", results, "--runs"),
        ("show", results),
        ("show", next((results / "runs").iterdir())),
        ("compare", results),
        ("workloads",),
        ("workloads", "oltp_read_write"),
    ]


@pytest.mark.parametrize("width", [80, 140])
def test_nothing_is_wider_than_the_terminal(cli, views, width):
    for arguments in views:
        lines = cli(*arguments, COLUMNS=str(width)).stdout.splitlines()
        assert max(map(len, lines)) <= width, arguments


def test_numbers_are_never_cut(cli, views):
    for arguments in views:
        assert "…" not in cli(*arguments, COLUMNS="80").stdout


def test_output_to_a_pipe_is_plain(cli, views):
    for arguments in views:
        assert "\x1b" not in cli(*arguments).stdout


def test_terminal_has_colors_unless_they_are_not_wanted():
    assert COLOR.search(run_on_terminal("doctor", width=100))
    assert not COLOR.search(run_on_terminal("doctor", width=100, NO_COLOR="1"))


def test_ascii_terminal_shows_all_it_can(tmp_path):
    plan = Plan(servers=("größer", "b"), workloads=(WORKLOAD, "sysbench/1.1:oltp_read_only"))
    study = make_study(tmp_path / "s", plan).path
    for locale in ({"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}):
        for command in ("show", "compare"):
            process = run(command, study, folder=tmp_path, **locale)
            assert process.returncode == 0, process.stderr
    assert "gr??er" in run("compare", study, folder=tmp_path, PYTHONIOENCODING="ascii").stdout


def test_reader_that_leaves_early_is_no_error(tmp_path):
    with start("workloads", "oltp_read_write", folder=tmp_path) as process:
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()
