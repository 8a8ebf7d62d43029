"""Option files: read as ``my_print_defaults``, which is the servers' own reader, reads them."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchkit.config import Config
from benchkit.errors import ConfigError
from benchkit.install import find_install
from benchkit.optionfile import parse_option_text, read_option_file, server_groups

PRINT_DEFAULTS = shutil.which("my_print_defaults") or "my_print_defaults"
GROUPS = ("mysqld", "a b")

# What means something to the reader, and a few letters that do not.
PIECES = [
    *("=", "#", ";", "'", '"', "\\", "\\\\", "\\n", "\\s", '\\"', "\\'", "[", "]", "!"),
    *(" ", "\t", "\r", "x", "b", "t", "-", "_", ",", ":", "/", "%", "64M", "on"),
]
LINE = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=9).map("".join),
    st.tuples(
        st.sampled_from(["opt", "  opt-a ", "\topt_b", "x"]),
        st.sampled_from(["=", " = ", "=\t"]),
        st.lists(st.sampled_from(PIECES), max_size=9).map("".join),
    ).map("".join),
    st.sampled_from(["[mysqld]", "[ mysqld]", "[mysqld ] x", "[a b]", "[client]", "[mysqld"]),
).filter(lambda line: not line.lstrip().startswith("="))
"""No line without a name: servers read what stands before it in memory, and refuse to start."""


def printed_by_the_tool(file: Path, *groups: str) -> str | None:
    """Return what the tool prints; None where it refuses the file."""
    command = [PRINT_DEFAULTS, f"--defaults-file={file}", *groups]
    done = subprocess.run(command, capture_output=True, check=False)
    # It says "Fatal error" and ends with 0 on some releases.
    return None if b"rror" in done.stderr or done.returncode else done.stdout.decode()


def printed_by_us(file: Path, *groups: str) -> str | None:
    try:
        lines = read_option_file(file).lines
    except ConfigError:
        return None
    return "".join(
        f"--{line.name}\n" if line.value is None else f"--{line.name}={line.value}\n"
        for line in lines
        if line.group in groups
    )


@pytest.fixture(scope="module")
def place():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@settings(max_examples=250, deadline=None)
@given(st.lists(LINE, max_size=8))
@example(["a='x # y' # z"])
@example(['a = "it\'s\\"#" # z', "b='\\\\'# c", "c=\\"])
@example(["a=\"'", "b='", 'c=""', "d=' x '", "e"])
@example(["[client]", "a=1", "[mysqld]", "a=2\r"])
def test_any_file_is_read_as_the_servers_read_it(place, lines):
    file = place / "any.cnf"
    file.write_bytes("\n".join(["[mysqld]", *lines]).encode())
    assert printed_by_us(file, *GROUPS) == printed_by_the_tool(file, *GROUPS)


@given(st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=20))
@settings(max_examples=100, deadline=None)
def test_what_a_config_renders_is_read_back(place, value):
    config = Config("x", {"init_connect": value})
    file = place / "rendered.cnf"
    file.write_text(config.render())
    (line,) = read_option_file(file).lines
    assert line.value == value
    assert printed_by_the_tool(file, "mysqld") == f"--init_connect={value}\n"


def test_groups_are_those_that_the_server_says_it_reads():
    install = find_install()
    usage = subprocess.run(
        [install.server, "--no-defaults", "--verbose", "--help"], capture_output=True, text=True
    ).stdout
    (line,) = [x for x in usage.splitlines() if x.startswith("The following groups are read:")]
    assert set(server_groups("MariaDB", install.version)) == set(line.partition(":")[2].split())


def test_groups_of_a_version_are_read_by_that_version_only(tmp_path):
    file = tmp_path / "my.cnf"
    file.write_text(
        "[client]\nport=1\n[mysqld]\na=1\n[mariadb-10.11]\na=2\n[mysqld-9.7]\na=3\n"
        "[mariadb-11]\na=4\n[galera]\nb=1\n"
    )
    read = read_option_file(file)
    assert read.server_options() == {"a": "1", "b": "1"}
    assert read.server_options("MariaDB", "10.11.19-MariaDB") == {"a": "2", "b": "1"}
    assert read.server_options("MariaDB", "11.8.3") == {"a": "4", "b": "1"}
    assert read.server_options("MySQL", "9.7.0") == {"a": "3"}
    assert read.server_options("Percona Server", "9.7.0-1") == {"a": "3"}
    assert [line.group for line in read.lines].count("client") == 1  # not lost
    assert read.groups[0] == "client"


def test_counts_are_of_the_groups_that_every_mariadb_reads():
    text = (
        "[mysqld]\na-b=1\n[server]\nloose_a_b=2\n[mariadb]\nc\n[client-server]\nport=1\n"
        "[mariadbd]\nd=1\n[galera]\ne=1\n[mysqld-9.7]\nf=1\n"
    )
    file = parse_option_text(text, Path("x.cnf"))
    assert (file.option_lines, file.effective_options) == (4, 3)
    assert len(file.values) == 5


@pytest.mark.parametrize(("product", "version"), [("Oracle", None), ("MySQL", "new")])
def test_product_or_version_that_is_none_is_an_error(product, version):
    with pytest.raises(ConfigError, match="is no product|is not a version"):
        server_groups(product, version)


def options(text: str) -> dict[str, object]:
    return parse_option_text("[mysqld]\n" + text, Path("x.cnf")).server_options()


def test_last_of_several_spellings_wins():
    assert options("a-b=1\na_b=2") == {"a_b": "2"}
    assert options("log-bin=x\nskip-log-bin") == {"skip_log_bin": None}
    assert options("disable-log-bin\nloose-log_bin") == {"loose_log_bin": None}


def test_option_that_adds_up_keeps_all_its_values():
    assert options("plugin-load-add=a\nx=1\nplugin_load_add=b") == {
        "x": "1",
        "plugin_load_add": ("a", "b"),
    }


def test_values_have_plain_names():
    text = "[mysqld]\ndisable-log-bin\nloose-x=16K\nenable_y\nskip-name-resolve=0\n"
    assert parse_option_text(text, Path("x")).values == {
        "log_bin": "OFF",
        "x": "16K",
        "y": "ON",
        "name_resolve": "ON",
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("skip_name_resolve", "ON"),
        ("skip-networking", "OFF"),
        ("skip_log_bin", "ON"),
        ("loose-innodb-x", "16K"),
        ("plugin-load-add", ("a", "b")),
        ("skip_external_locking", "OFF"),
        ("External-Locking", None),
    ],
)
def test_values_are_found_by_any_spelling(name, value):
    text = (
        "[mysqld]\nskip-name-resolve\nskip_networking=0\ndisable-log-bin\ninnodb_x=16K\n"
        "plugin_load_add=a\nplugin_load_add=b\nexternal-locking\nx=y\n"
    )
    values = parse_option_text(text, Path("x")).values
    assert values[name] == value
    for unknown in ("skip_x", "z"):  # what x is set to is no switch
        with pytest.raises(KeyError, match=unknown):
            values[unknown]


def test_options_that_old_files_name_in_a_value_are_all_kept():
    text = "set-variable = key_buffer=16M\nset-variable=max_connections=9"
    assert options(text) == {"set_variable": ("key_buffer=16M", "max_connections=9")}


def test_file_with_old_line_ends_is_read_and_a_problem(tmp_path):
    file = tmp_path / "my.cnf"
    file.write_bytes(b"# x\r[mysqld]\ra = 1\rb\r")
    read = read_option_file(file)
    assert read.server_options() == {"a": "1", "b": None}
    assert read.lines[1].place == f"{file}:4"
    assert read.problems == (f"{file}: its lines end with CR alone, which no server reads",)


def test_byte_order_mark_and_dos_line_ends_are_no_part_of_options(tmp_path):
    file = tmp_path / "my.cnf"
    file.write_bytes(b"\xef\xbb\xbf[mysqld]\r\na = 1\r\nb\r\n")
    assert read_option_file(file).server_options() == {"a": "1", "b": None}


def test_includes_are_read_in_place_and_folders_in_order(tmp_path):
    (tmp_path / "more.d").mkdir()
    (tmp_path / "more.d" / "b.cnf").write_text("[mysqld]\nx=b\n")
    (tmp_path / "more.d" / "a.cnf").write_text("[mysqld]\nx=a\ny=a\n")
    (tmp_path / "more.d" / "c.txt").write_text("[mysqld]\nx=c\n")
    (tmp_path / "one.txt").write_text("[mysqld]\nz=one\n")
    main = tmp_path / "my.cnf"
    main.write_text("[mysqld]\nz=main\n!include one.txt\n!includedir more.d/\ny=main\n")
    read = read_option_file(main)
    assert read.server_options() == {"x": "b", "z": "one", "y": "main"}
    assert [path.name for path in read.included] == ["one.txt", "a.cnf", "b.cnf"]
    absolute = main.read_text().replace("!include one", f"!include {tmp_path}/one")
    main.write_text(absolute.replace("more.d/", f"{tmp_path}/more.d/"))
    assert printed_by_us(main, "mysqld") == printed_by_the_tool(main, "mysqld")


def test_include_that_is_not_there_is_a_problem_with_its_place(tmp_path):
    main = tmp_path / "my.cnf"
    main.write_text("[mysqld]\nx=1\n!include no.cnf\n!includedir no.d/\n!frob\n")
    read = read_option_file(main)
    assert read.server_options() == {"x": "1"}
    assert read.problems == (
        f"{main}:3: there is no file {tmp_path}/no.cnf to include",
        f"{main}:4: there is no folder {tmp_path}/no.d to include",
        f"{main}:5: '!frob' is no directive; passed over",
    )


def test_files_that_include_each_other_are_named(tmp_path):
    one, two = tmp_path / "one.cnf", tmp_path / "two.cnf"
    one.write_text("!include two.cnf\n")
    two.write_text("[mysqld]\nx=1\n!include one.cnf\n")
    with pytest.raises(ConfigError, match=rf"{two}:3: .* in a circle: .*one.* -> .*two.* -> .*one"):
        read_option_file(one)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x=1\n", "my.cnf:1: option 'x=1' stands before any group"),
        (b"\n[mysqld\n", r"my.cnf:2: the group '\[mysqld' lacks its \]"),
        (b"[mysqld]\nx=\0\n", "holds zero bytes"),
    ],
)
def test_line_on_which_no_server_starts_is_an_error(tmp_path, content, message):
    file = tmp_path / "my.cnf"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read_option_file(file)


def test_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read the option file .*no\.cnf: No such file"):
        read_option_file(tmp_path / "no.cnf")
