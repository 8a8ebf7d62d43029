"""Configs: names, values, and the text a server reads."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchkit.config import (
    PRIVATE_DEFAULTS,
    RESERVED,
    Config,
    Provenance,
    left_out,
    private_options,
)
from benchkit.errors import ConfigError, StudyWarning

LINE = st.text().filter(lambda text: not set(text) & set("\n\r\0"))


def lines(config: Config) -> list[str]:
    return config.render().splitlines()


def test_render_writes_one_section():
    assert lines(Config("base", {"innodb_buffer_pool_size": "2G"})) == [
        "[mysqld]",
        "innodb_buffer_pool_size = 2G",
    ]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (True, "x = ON"),
        (False, "x = OFF"),
        (None, "x"),
        (7, "x = 7"),
        (0.5, "x = 0.5"),
        ("", 'x = ""'),
        ("a b", 'x = "a b"'),
        ("index_merge=on,mrr=off", "x = index_merge=on,mrr=off"),
        ("no#comment", 'x = "no#comment"'),
        ('say "hi"', 'x = "say \\"hi\\""'),
        ("back\\slash", 'x = "back\\\\slash"'),
    ],
)
def test_render_writes_each_type_of_value(value, line):
    assert lines(Config("base", {"x": value}))[1] == line


def test_dashes_and_underscores_are_the_same_name():
    dashed = Config("base", {"innodb-page-size": "8k"})
    assert dashed == Config("base", {"innodb_page_size": "8k"})


def test_one_option_under_both_spellings_is_an_error():
    with pytest.raises(ConfigError, match="a_b is given twice"):
        Config("base", {"a-b": 1, "a_b": 2})


@pytest.mark.parametrize("name", ["", "a b", "a=b", "a\nb", "--a", "[mysqld]", "#a", "1a"])
def test_bad_option_name_is_an_error(name):
    with pytest.raises(ConfigError, match="is not an option name"):
        Config("base", {name: 1})


@pytest.mark.parametrize(
    "value", ["a\nb", "a\rb", "a\0b", float("nan"), float("inf"), [], [[1]], b"x"]
)
def test_bad_value_is_an_error_that_names_the_option(value):
    with pytest.raises(ConfigError, match="option max_connections cannot be"):
        Config("base", {"max_connections": value})


@pytest.mark.parametrize("name", ["", "two\nlines"])
def test_bad_configuration_name_is_an_error(name):
    with pytest.raises(ConfigError, match="printable name"):
        Config(name)


def test_replace_adds_and_changes_and_leaves_the_original():
    base = Config("base", {"a": 1, "b": 2})
    assert base.replace("other", b=3, c=None).options == {"a": 1, "b": 3, "c": None}
    assert base.options == {"a": 1, "b": 2}


def test_options_cannot_be_changed():
    with pytest.raises(TypeError):
        Config("base", {"a": 1}).options["a"] = 2
    with pytest.raises(AttributeError):
        Config("base").name = "other"


def test_equal_configurations_hash_alike_whatever_the_order():
    one, other = Config("base", {"a": 1, "b": 2}), Config("base", {"b": 2, "a": 1})
    assert one == other
    assert len({one, other}) == 1


def test_configurations_with_different_text_are_not_equal():
    assert Config("base", {"a": 1}) != Config("base", {"a": True})


def test_sha12_is_that_of_the_options_alone():
    assert Config("one", {"a": 1}).sha12 == Config("other", {"a": 1}).sha12
    assert Config("one", {"a": 1}).sha12 != Config("one", {"a": 2}).sha12
    assert len(Config("one").sha12) == 12


def test_configuration_survives_pickling():
    config = Config("base", {"a": 1, "b": None})
    assert pickle.loads(pickle.dumps(config)) == config


@given(LINE)
def test_any_line_of_text_stays_one_line(value):
    assert Config("base", {"x": value}).render().count("\n") == 2


def test_configuration_wins_over_the_private_defaults():
    config = Config("base", {"max-connections": 7, "skip_networking": False})
    options = private_options(config, port=None)
    assert (options["max_connections"], options["skip_networking"]) == (7, False)


def test_private_defaults_hold_where_the_configuration_is_silent():
    options = private_options(Config("base"), port=None)
    assert {name: options[name] for name, _, _ in PRIVATE_DEFAULTS} == {
        name: value for name, value, _ in PRIVATE_DEFAULTS
    }


def test_private_server_listens_on_tcp_only_when_asked():
    assert private_options(Config("base"), port=None)["skip_networking"] is True
    asked = private_options(Config("base"), port=3307)
    assert "skip_networking" not in asked
    assert (asked["port"], asked["bind_address"]) == (3307, "127.0.0.1")


@pytest.mark.parametrize("name", RESERVED)
def test_option_that_benchkit_owns_is_an_error(name):
    with pytest.raises(ConfigError, match=f"sets {name}, which .* {RESERVED[name][:10]}"):
        private_options(Config("base", {name: "x"}), port=None)


def test_several_values_are_as_many_lines():
    config = Config("base", {"plugin_load_add": ["a", "b"], "x": 1})
    assert lines(config) == ["[mysqld]", "plugin_load_add = a", "plugin_load_add = b", "x = 1"]
    assert config.options["plugin_load_add"] == ("a", "b")


# From option files


@pytest.fixture
def cnf(tmp_path):
    def cnf(text: str, name: str = "my.cnf"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return cnf


def test_config_of_a_file_has_its_options_and_says_where_from(cnf):
    path = cnf("[client]\nport=1\n[mysqld]\ninnodb-log-file-size=1G\n[mariadb-10.11]\nx=1\n")
    config = Config.from_file(path, version="10.11.19-MariaDB")
    assert config == Config("my", {"innodb_log_file_size": "1G", "x": "1"})
    assert config.provenance == Provenance("FILE", path, (), "MariaDB", "10.11.19-MariaDB")


def test_options_that_are_set_after_reading_are_remembered(cnf):
    config = Config.from_file(cnf("[mysqld]\nx=1\ny=1\n"), "base").replace("other", y=2)
    assert config == Config("other", {"x": "1", "y": 2})
    assert config.provenance.changed == ("y",)
    assert pickle.loads(pickle.dumps(config)).provenance == config.provenance


def test_missing_include_is_a_warning(cnf):
    with pytest.warns(StudyWarning, match="my.cnf:1: there is no folder .*no.d"):
        Config.from_file(cnf("!includedir no.d\n[mysqld]\nx=1\n"))


@pytest.mark.parametrize("line", ["a b = 1", "= 1", "--x = 1", 'x = "a\\nb"'])
def test_line_that_is_no_option_is_named(cnf, line):
    with pytest.raises(ConfigError, match=r"my\.cnf:3: .*(not an option name|cannot be)"):
        Config.from_file(cnf(f"[mysqld]\nx=1\n{line}\n"))


def test_private_server_leaves_the_places_of_a_file_alone(cnf):
    path = cnf(
        "[mysqld]\ndatadir=/data\nport=3306\nlog-bin=/data/mysql-bin\n"
        "innodb_data_home_dir=/data\nsql_mode=\ngeneral_log_file=own.log\n"
    )
    config = Config.from_file(path)
    options = private_options(config, port=None)
    assert {"datadir", "port", "innodb_data_home_dir"}.isdisjoint(options)
    assert (options["log_bin"], options["general_log_file"]) == ("mysql-bin", "own.log")
    assert options["sql_mode"] == ""
    assert left_out(config) == (
        f"{path}: a private server has its own datadir=/data, innodb_data_home_dir=/data, "
        "port=3306",
        f"{path}: log_bin=/data/mysql-bin is in the private server's data directory",
    )
    assert config.options["datadir"] == "/data"  # what was asked for stays


def test_folders_inside_the_data_directory_of_another_server_are_left_out(cnf):
    path = cnf(
        "[mysqld]\ntmpdir=mysql\ninnodb_log_group_home_dir=./logs/\nlog-bin=binlog/mysql-bin\n"
        "innodb_data_home_dir=\ninnodb_undo_directory=./\nslow_query_log_file=./slow.log\n"
    )
    options = private_options(Config.from_file(path), port=None)
    assert {"tmpdir", "innodb_log_group_home_dir"}.isdisjoint(options)
    assert options["log_bin"] == "mysql-bin"
    assert options["innodb_data_home_dir"] == ""
    assert options["innodb_undo_directory"] == "./"
    assert options["slow_query_log_file"] == "./slow.log"


def test_place_that_a_script_sets_is_an_error_even_over_a_file(cnf):
    config = Config.from_file(cnf("[mysqld]\nport=3306\n")).replace("x", port=3307)
    with pytest.raises(ConfigError, match="sets port"):
        private_options(config, port=None)


@pytest.mark.parametrize("version", [None, "11.8.3"])
def test_file_without_an_option_for_the_server_is_warned_of(tmp_path, version):
    path = tmp_path / "my.cnf"
    path.write_text("[client]\nport=1\n[mysqld1]\nx=1\n[mariadb-10.11]\ny=1\n")
    message = r"my.cnf has no option for MariaDB .*: its groups are \[client\], \[mysqld1\], "
    with pytest.warns(StudyWarning, match=message):
        assert not Config.from_file(path, version=version).options
    assert Config.from_file(path, version="10.11.6").options == {"y": "1"}
    path.write_text("# nothing\n[mysqld]\n")
    assert not Config.from_file(path).options
