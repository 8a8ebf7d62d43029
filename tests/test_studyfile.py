"""Study files: what they mean, and how mistakes in them are told."""

import re
from pathlib import Path

import pytest

from benchkit import workloads
from benchkit.config import Config, Provenance
from benchkit.errors import BenchkitError, ConfigError, StudyError, WorkloadError
from benchkit.plan import Timing
from benchkit.studyfile import EXAMPLE, PASSWORD_VARIABLE, default_folder, read_study

HEAD = """\
name = "x"
threads = [1]
duration = "1s"
"""
SERVER = """
[[servers]]
name = "a"
"""
WORKLOAD = """
[[workloads]]
name = "oltp_read_write"
"""
QUICKSTART = Path(__file__).parent.parent / "examples" / "flush_log.toml"


@pytest.fixture
def read(tmp_path):
    def read(text: str):
        path = tmp_path / "study.toml"
        path.write_text(text)
        return read_study(path)

    return read


@pytest.fixture
def message(read):
    """Return a function that reads a text and returns the StudyError's message."""

    def message(text: str) -> str:
        with pytest.raises(StudyError) as caught:
            read(text)
        return str(caught.value)

    return message


# What a file means


def test_example_is_the_study_of_the_quickstart():
    study = read_study(QUICKSTART)
    grid = study.grid
    assert study.name == "flush-log"
    assert [server.config for server in study.servers] == [
        Config("baseline"),
        Config("flush-log-2", {"innodb_flush_log_at_trx_commit": 2}),
    ]
    assert grid.workloads == (workloads.oltp_read_write(tables=2, rows=10_000),)
    assert (grid.threads, grid.iterations) == ((1, 4), 3)
    assert grid.timing == Timing(warmup_s=1.0, duration_s=5.0, transactions=0)


def test_config_of_a_server_is_an_option_file_and_options_over_it(read, tmp_path):
    (tmp_path / "my.cnf").write_text(
        "[mysqld]\nx=1\ny=1\n[mariadb-10.11]\nz=1\n[mysqld-9.7]\nz=2\n"
    )
    study = read(HEAD + SERVER + 'config = "my.cnf"\noptions = { y = 2 }\n' + WORKLOAD)
    (server,) = study.servers
    version = server.install.version
    expected = {"x": "1", "y": 2, **({"z": "1"} if version.startswith("10.11") else {})}
    assert server.config == Config("a", expected)
    assert server.config.provenance == Provenance(
        "FILE", tmp_path / "my.cnf", (), "MariaDB", version, ("y",)
    )


def test_options_of_a_study_file_come_from_it(read, tmp_path):
    (server,) = read(HEAD + SERVER + "options = { x = 1 }\n" + WORKLOAD).servers
    assert server.config.provenance == Provenance("STUDY_FILE", tmp_path / "study.toml")


def test_file_in_the_help_is_a_study(read):
    text = re.sub(r"\[\[servers\]\]\nname = .running.\n.*\n", "", EXAMPLE)
    study = read(text)
    assert [server.name for server in study.servers] == ["baseline", "flush-log-2"]
    assert study.grid.workloads == (workloads.oltp_read_write(tables=8, rows=100_000),)


def test_every_argument_of_a_study_can_be_given(read):
    study = read(
        HEAD
        + 'iterations = 2\nwarmup = 0.5\ntransactions = 100\norder = "sequential"\nseed = 7\n'
        + "loader_threads = 3\n"
        + SERVER
        + WORKLOAD
    )
    grid = study.grid
    assert grid.timing == Timing(warmup_s=0.5, duration_s=1.0, transactions=100)
    assert (grid.iterations, grid.order, grid.seed) == (2, "sequential", 7)
    assert study.loader_threads == 3


def test_one_thread_count_needs_no_list(read):
    assert read(HEAD.replace("[1]", "8") + SERVER + WORKLOAD).grid.threads == (8,)


def test_workload_is_found_by_its_identity(read):
    study = read(HEAD + SERVER + '[[workloads]]\nname = "sysbench/1.0:oltp_read_only"\n')
    assert study.grid.workloads[0].identity == "sysbench/1.0:oltp_read_only"


def test_paths_are_relative_to_the_file(read, tmp_path):
    study = read(HEAD + SERVER + 'directory = "data"\ninstall = "builds/11.8"\n' + WORKLOAD)
    assert study.servers[0].directory == tmp_path / "data"
    assert study.servers[0].install_label == str(tmp_path / "builds/11.8")


def test_running_server_is_logged_in_to(read, server):
    place = server.endpoint
    connect = f'connect = {{ socket = "{place["socket"]}", user = "{place["user"]}" }}\n'
    (connected,) = read(HEAD + SERVER + connect + WORKLOAD).servers
    assert (connected.name, connected.private) == ("a", False)


def test_password_comes_from_the_environment(read, server, monkeypatch):
    server.query("CREATE USER guest@localhost IDENTIFIED BY 'open sesame'")
    connect = f'connect = {{ socket = "{server.endpoint["socket"]}", user = "guest" }}\n'
    monkeypatch.setenv(PASSWORD_VARIABLE, "open sesame")
    try:
        assert read(HEAD + SERVER + connect + WORKLOAD).servers[0].running
    finally:
        server.query("DROP USER guest@localhost")


@pytest.mark.parametrize(
    ("name", "folder"),
    [("flush-log", "flush-log"), ("a/b: c?", "a-b-c"), ("../..", "study"), ("größer", "größer")],
)
def test_study_has_a_folder_of_its_name(name, folder):
    assert default_folder(name) == Path("results") / folder


# Mistakes


def test_missing_file_is_named(tmp_path):
    with pytest.raises(StudyError, match=r"nowhere\.toml: No such file"):
        read_study(tmp_path / "nowhere.toml")


def test_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "study.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(StudyError, match="is not TOML"):
        read_study(path)


def test_mistake_in_the_syntax_has_its_line(message):
    assert "line 3" in message(HEAD.replace('"1s"', "") + SERVER + WORKLOAD)


def test_misspelt_key_has_its_line_and_the_nearest(message):
    text = message(HEAD.replace("duration", "duraton") + SERVER + WORKLOAD)
    assert "study.toml, line 3: unknown key 'duraton': did you mean 'duration'?" in text


def test_misspelt_key_of_a_server_names_the_server(message):
    text = message(HEAD + SERVER + 'instal = "/opt/mariadb"\n' + WORKLOAD)
    assert "line 7: server 'a': unknown key 'instal': did you mean 'install'?" in text


def test_line_is_not_guessed_where_two_could_be_meant(message):
    server = SERVER + 'nam = "b"\n'
    assert "study.toml: server 'a': unknown key 'nam'" in message(HEAD + server + server + WORKLOAD)


@pytest.mark.parametrize("key", ["name", "threads"])
def test_needed_key_that_is_missing_is_named(message, key):
    head = "".join(line for line in HEAD.splitlines(True) if not line.startswith(key))
    assert f"has no {key}; a study needs one" in message(head + SERVER + WORKLOAD)


@pytest.mark.parametrize(
    ("text", "key"), [(HEAD + SERVER, "workloads"), (HEAD + WORKLOAD, "servers")]
)
def test_needed_tables_that_are_missing_are_named(message, text, key):
    assert f"has no [[{key}]]" in message(text)


def test_single_table_is_told_how_to_be_a_list(message):
    text = message(HEAD + SERVER.replace("[[servers]]", "[servers]") + WORKLOAD)
    assert "line 5: servers must be tables, each under [[servers]]" in text


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("iterations = true", "iterations must be an integer, not True"),
        ("iterations = '3'", "iterations must be an integer, not '3'"),
        ("warmup = []", "warmup must be a number of seconds, or a text, not []"),
        ("order = 1", "order must be a text, not 1"),
        ("seed = 1.5", "seed must be an integer, not 1.5"),
        ("servers = [1]", "servers must be tables, each under [[servers]], not [1]"),
    ],
)
def test_value_of_the_wrong_kind_is_told_what_is_right(message, line, wanted):
    tables = WORKLOAD if line.startswith("servers") else SERVER + WORKLOAD
    assert f"line 1: {wanted}" in message(f"{line}\n" + HEAD + tables)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("options = 3", "server 'a': options must be a table, not 3"),
        ("port = '3306'", "server 'a': port must be an integer, not '3306'"),
        ("directory = 5", "server 'a': directory must be a text, not 5"),
        ("connect = true", "server 'a': connect must be a table, not True"),
        ("connect = { password = 'x' }", "server 'a': connect: unknown key 'password'"),
        ("connect = {}\nport = 3306", "server 'a': port is for private servers"),
    ],
)
def test_mistake_in_a_server_is_told_what_is_right(message, line, wanted):
    assert wanted in message(HEAD + SERVER + line + "\n" + WORKLOAD)


def test_server_and_workload_need_names(message):
    assert "[[servers]] needs a name" in message(HEAD + "[[servers]]\n" + WORKLOAD)
    assert "[[workloads]] needs a name" in message(HEAD + SERVER + "[[workloads]]\n")


@pytest.mark.parametrize(
    ("text", "error", "wanted"),
    [
        (HEAD.replace("[1]", "[0]") + SERVER + WORKLOAD, StudyError, "from 1 to 65536, not 0"),
        (HEAD.replace("1s", "5 parsecs") + SERVER + WORKLOAD, StudyError, "'5 parsecs' is not a"),
        (HEAD + SERVER + SERVER + WORKLOAD, StudyError, "holds 'a' twice"),
        (HEAD + SERVER + WORKLOAD.replace("read", "reed"), WorkloadError, "'oltp_read_write'?"),
        (HEAD + SERVER + WORKLOAD + "tabels = 2\n", WorkloadError, "did you mean 'tables'?"),
        (HEAD + SERVER + "options = { datadir = '/x' }\n" + WORKLOAD, ConfigError, "datadir"),
        (HEAD + SERVER + "options = { a = [[1]] }\n" + WORKLOAD, ConfigError, r"cannot be \[1\]"),
    ],
)
def test_what_a_value_may_be_is_said_by_whom_it_is_for(read, text, error, wanted):
    with pytest.raises(error, match=wanted.replace("?", r"\?")):
        read(text)


def test_server_that_cannot_be_reached_is_named(read):
    connect = 'connect = { socket = "/nowhere.sock", user = "me" }\n'
    with pytest.raises(BenchkitError, match=r"cannot log in to the server at /nowhere\.sock"):
        read(HEAD + SERVER + connect + WORKLOAD)
