"""What a run keeps of its server's start, and how reports show it."""

import hashlib

import pytest
from click.testing import CliRunner
from studies import connect_to, small_study

import benchkit as bk
from benchkit.cli import main
from benchkit.optionfile import read_option_file

PROPERTIES = """
[db_config_start]
[mysqld]
innodb_buffer_pool_size = 64M
innodb_flush_log_at_trx_commit = 2
[db_config_end]
taf.test_suite=sysbench-lua
taf.tests=POINT_SELECT
taf.threads=1
taf.duration=20
taf.use_request_based=true
taf.test_case_tag=BASE
sysbench_lua.number_of_rows=100
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory, server):
    """Run a properties file, a study with an option file, and one on a running server."""
    folder = tmp_path_factory.mktemp("provenance")
    (folder / "base.properties").write_text(PROPERTIES)
    cnf = folder / "MDEV39497_baseline.cnf"
    cnf.write_text("[client]\nport=1\n[mysqld]\ninnodb-buffer-pool-size=64M\ndatadir=/data\n")
    arguments = ["run", "--properties", f"{folder}/base.properties", "-o", f"{folder}/block", "-q"]
    outcome = CliRunner().invoke(main, arguments, prog_name="benchkit")
    assert outcome.exit_code == 0, outcome.output
    outcome = CliRunner().invoke(
        main,
        [*arguments[:3], "--db-config-file", str(cnf), "-o", f"{folder}/cli", "-q"],
        prog_name="benchkit",
    )
    assert outcome.exit_code == 0, outcome.output
    small_study([connect_to(server)]).run(folder / "running", progress=False)
    return folder


def rows(folder, section: str) -> dict[str, str]:
    """Return a section's rows of a "taf" report on a study of one dataset."""
    report = bk.load(folder).compare().table("taf")
    (found,) = [s for s in report.sections if s.title.startswith(section)]
    return {row[0]: row[1] for row in found.rows}


def only_run(folder):
    (dataset,) = bk.load(folder)
    (run,) = dataset.runs
    return run


@pytest.mark.parametrize(
    ("study", "origin", "source"),
    [
        ("block", "USER_PROPERTIES_INLINE_BLOCK", "base.properties"),
        ("cli", "CLI", "MDEV39497_baseline.cnf"),
    ],
)
def test_database_info_says_where_options_come_from(measured, study, origin, source):
    info = rows(measured / study, "Database Info")
    assert (info["DB Config Origin"], info["DB Config Source File"]) == (origin, source)
    assert info["DB Generated Config Run File"].startswith("mariadb_20")
    assert info["DB Generated Config Run File"].endswith(".cnf")
    assert info["Database Maker"] == "mariadb"
    assert "innodb_buffer_pool_size=64M" in info["Config Contents"]


def test_server_that_was_not_started_here_has_no_provenance(measured):
    info = rows(measured / "running", "Database Info")
    names = ("DB Config Origin", "DB Config Source File", "DB Generated Config Run File")
    assert [info[name] for name in names] == ["(missing)"] * 3
    assert only_run(measured / "running").record.server["config"] == {}


def test_file_that_the_server_read_is_kept(measured):
    run = only_run(measured / "block")
    reference = run.record.server["config"]["run_file_ref"]
    path = measured / "block" / reference
    assert path.stem == hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    options = read_option_file(path).server_options()
    variables = run.status()["variables"]
    assert options["innodb_flush_log_at_trx_commit"] == "2"
    assert options["socket"] == variables["socket"]
    assert options["datadir"] == variables["datadir"].rstrip("/")


def test_places_of_the_files_own_server_are_left_out_and_told(measured):
    run = only_run(measured / "cli")
    assert any("a private server has its own datadir=/data" in w for w in run.record.warnings)
    assert run.status()["variables"]["datadir"] != "/data/"


def test_test_and_system_info_have_the_rows_of_the_reference_reports(measured):
    system = rows(measured / "block", "System Info")
    assert list(system)[:9] == [
        *("Host", "CPU", "CPU Count", "Core Count", "Socket Count"),
        *("OS", "OS Version", "OS Kernel", "RAM"),
    ]
    test = rows(measured / "block", "Test Info")
    assert test["Test Case Tag"] == "BASE"
    assert test["AutoGen Prop File"].startswith("benchkit_AUTO_GEN_20")


def test_environment_holds_the_disk_below_the_data(measured):
    environment = only_run(measured / "block").environment()
    assert environment["data_file_system"]
    assert environment["usable_cpus"] >= 1
    assert "data_file_system" not in only_run(measured / "running").environment()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "give either a study file or --properties FILE"),
        (["plan", "x.toml", "--properties", "y"], "give either a study file or --properties"),
        (["run", "x.toml", "--db-config-file", "y"], "--db-config-file goes with --properties"),
    ],
)
def test_one_study_is_to_be_named(arguments, message):
    outcome = CliRunner().invoke(main, arguments, prog_name="benchkit")
    assert outcome.exit_code == 2
    assert message in outcome.output
