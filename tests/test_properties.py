"""Properties files: what their lines say, and how they are written."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchkit.errors import ConfigError, StudyError
from benchkit.optionvalue import REDACTED
from benchkit.properties import (
    format_properties,
    parse_properties,
    parse_value,
    read_properties,
    value_text,
)

HERE = Path("x.properties")


def test_lines_are_keys_and_values_and_comments_are_none():
    file = parse_properties(
        '# taf.pass=no\n\ntaf.threads = 1,2 \n  taf.comments="a = b" \n#x\ntaf.x=\ntaf.n=Null \n',
        HERE,
    )
    assert file.values == {
        "taf.threads": "1,2",
        "taf.comments": '"a = b"',
        "taf.x": "",
        "taf.n": None,
    }
    assert (file.property_lines, file.distinct_keys, file.null_values) == (4, 4, 1)
    assert file.line_of("taf.comments") == 4
    assert file.problems == ()


def test_last_of_several_lines_for_a_key_counts():
    file = parse_properties("taf.a=1\nx.a=2\ntaf.a=null\n", HERE)
    assert file.values == {"taf.a": None, "x.a": "2"}
    assert (file.property_lines, file.distinct_keys, file.taf_keys) == (3, 2, 1)
    assert file.line_of("taf.a") == 3


def test_block_holds_options_and_no_properties():
    file = parse_properties(
        "taf.a=1\r\n[db_config_start]\r\n[mysqld]\r\nx = 1\r\nlog-bin\r\n[db_config_end]\r\n"
        "taf.b=2",
        HERE,
    )
    assert file.values == {"taf.a": "1", "taf.b": "2"}
    assert file.block.server_options() == {"x": "1", "log_bin": None}
    assert file.block.lines[0].place == "x.properties:4"
    assert file.inline_db_config_options == 2
    assert file.line_of("taf.b") == 7


@pytest.mark.parametrize(
    "text",
    [
        "[db_config_start]\n[mysqld]\n",
        "[db_config_end]\n",
        "[db_config_end]\n[db_config_start]\n",
        "[db_config_start]\n[db_config_end]\n[db_config_start]\n[db_config_end]\n",
    ],
)
def test_block_without_begin_or_end_is_an_error(text):
    with pytest.raises(StudyError, match="x.properties needs one line .* lines of the kind at"):
        parse_properties(text, HERE)


def test_error_in_a_block_names_the_line():
    with pytest.raises(ConfigError, match="x.properties:2: option 'x=1' stands before any group"):
        parse_properties("[db_config_start]\nx=1\n[db_config_end]\n", HERE)


def test_line_that_is_no_property_is_a_problem():
    assert parse_properties("taf.a=1\nfrob\n=2\ntaf.b\n", HERE).problems == (
        "x.properties:2: 'frob' is no key=value",
        "x.properties:3: '=2' is no key=value",
        "x.properties:4: 'taf.b' is no key=value",
    )


def test_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(StudyError, match="cannot read the properties file .*No such file"):
        read_properties(tmp_path / "no")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StudyError, match="is not UTF-8 text"):
        read_properties(tmp_path / "binary")


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("taf.a : b=c", "taf.a", "b=c"),
        ("taf.a:b", "taf.a", "b"),
        ("taf.a   b c", "taf.a", "b c"),
        ("taf.a=", "taf.a", ""),
        ("taf.a = 1,2,\\\n   4 \\\n,8", "taf.a", "1,2,4 ,8"),
        ("taf.a=x\\\\\ntaf.b=1", "taf.a", "x\\"),
        ('taf.a=\\"b\\" \\= \\d \\u00e9\\ud83d', "taf.a", '"b" = \\d \xe9\\ud83d'),
        ("test-suite.some-key=1", "test-suite.some-key", "1"),
    ],
)
def test_line_is_read_as_java_reads_it(line, key, value):
    file = parse_properties(f"x.x=1\n{line}\nx.y=2\n", HERE)
    assert file.problems == ()
    assert file.values[key] == value
    assert {"x.x": "1", "x.y": "2"}.items() <= file.values.items()
    assert file.line_of("x.y") == 3 + line.count("\n")


def test_comments_and_headers_are_no_properties():
    file = parse_properties("! taf.a=1\n# taf.b=1 \\\n[taf]\ntaf.c=1\n", HERE)
    assert (file.values, file.problems) == ({"taf.c": "1"}, ())


def test_marks_of_a_block_may_be_in_capitals():
    file = parse_properties("[DB_CONFIG_START]\n[mysqld]\nx=1\n[DB_Config_End]\n", HERE)
    assert file.inline_db_config_options == 1


@pytest.mark.parametrize(
    "text",
    [
        "[mysqld]\ninnodb_buffer_pool_size = 1G\nskip-name-resolve\n",
        '{"name": "x", "value": 1}\n',
        "sysbench 1.0.20 (using system LuaJIT 2.1.0)\n\nSQL statistics:\n",
        "Threads: 8\n",
    ],
)
def test_file_of_another_kind_is_an_error(text):
    with pytest.raises(StudyError, match="x.properties is no properties file: .* taf.threads="):
        parse_properties(text, HERE)


def test_file_of_comments_holds_nothing():
    assert parse_properties("# taf.a=1\n\n", HERE).values == {}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_and_bytes_of_old_comments_are_read(tmp_path, end):
    path = tmp_path / "x.properties"
    path.write_bytes(
        f"# caf\xe9{end}taf.comments=na\xefve{end}taf.threads=4{end}".encode("latin-1")
    )
    assert read_properties(path).values == {"taf.comments": "na\xefve", "taf.threads": "4"}


def test_what_is_written_is_read_back_but_for_passwords():
    values = {
        **{"taf.a": "1", "taf.n": None, "taf.db_user_pass": "hunter2"},
        **{"taf.c": "a = b", "taf.path": "C:\\new\\", "taf.quoted": r'"\u00e9\""'},
    }
    text = format_properties(["about"], "[mariadbd]\nx = 1\n", values)
    assert text.startswith("# about\n\n[db_config_start]\n[mariadbd]\nx = 1\n[db_config_end]\n")
    file = parse_properties(text, HERE)
    assert file.values == {**values, "taf.db_user_pass": REDACTED}
    assert file.block.server_lines()[0].value == "1"


@given(
    st.one_of(
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])).map(str.strip),
    )
)
def test_value_of_an_option_is_read_back(value):
    text = format_properties([], None, {"benchkit.workload.x": value_text(value)})
    read = parse_properties(text, HERE).values["benchkit.workload.x"]
    assert read is not None
    assert parse_value(read) == value
    assert type(parse_value(read)) is type(value)
