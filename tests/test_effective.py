"""Options that a server has not taken as they were asked for."""

import pytest
import studies

import benchkit as bk
from benchkit.config import Config
from benchkit.effective import Ineffective, find_ineffective
from benchkit.optionvalue import REDACTED

VARIABLES = {
    "datadir": "/data/",
    "innodb_buffer_pool_size": "42949672960",
    "max_connections": "16770",
    "innodb_doublewrite": "ON",
    "log_bin": "ON",
    "skip_name_resolve": "ON",
    "binlog_format": "STATEMENT",
    "long_query_time": "0.500000",
    "character_set_server": "utf8mb3",
    "collation_server": "utf8mb3_unicode_ci",
    "sql_mode": "STRICT_TRANS_TABLES,TRADITIONAL",
    "optimizer_switch": "mrr=on,index_merge=off,derived_merge=on",
    "tls_version": "TLSv1.2,TLSv1.3",
    "innodb_undo_directory": "./",
    "general_log_file": "/data/own.log",
    "innodb_flush_method": "O_DIRECT",
    "init_connect": "SET NAMES utf8",
    "tmp_table_size": "0",
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("innodb_buffer_pool_size", "40GB"),
        ("innodb_buffer_pool_size", 40 << 30),
        ("innodb_doublewrite", 1),
        ("innodb_doublewrite", "true"),
        ("enable_innodb_doublewrite", None),
        ("loose_innodb_doublewrite", None),
        ("log_bin", None),
        ("log_bin", "mysql-bin"),
        ("skip_name_resolve", None),
        ("binlog_format", 1),
        ("binlog_format", "statement"),
        ("long_query_time", 0.5),
        ("character_set_server", "utf8"),
        ("collation_server", "utf8_unicode_ci"),
        ("sql_mode", "TRADITIONAL"),
        ("optimizer_switch", ("mrr=on", "index_merge=off")),
        ("optimizer_switch", "default,mrr=on"),
        ("tls_version", "TLSv1.3,TLSv1.2"),
        ("innodb_undo_directory", "/data"),
        ("general_log_file", "own.log"),
        ("init_connect", "SET NAMES utf8"),
        ("performance_schema_instrument", "%=off"),  # has no variable
        ("report_password", "x"),
    ],
)
def test_option_that_took_effect_is_not_reported(name, value):
    enums = {"binlog_format": ("MIXED", "STATEMENT", "ROW")}
    assert find_ineffective({name: value}, VARIABLES, "", enums) == ()


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("max_connections", 200000, "16770"),
        ("tmp_table_size", 1, "0"),
        ("innodb_doublewrite", False, "ON"),
        ("skip_innodb_doublewrite", None, "ON"),
        ("binlog_format", 2, "STATEMENT"),
        ("optimizer_switch", "mrr=off", VARIABLES["optimizer_switch"]),
        ("tls_version", "TLSv1.3", "TLSv1.2,TLSv1.3"),
        ("general_log_file", "/other/own.log", "/data/own.log"),
        ("long_query_time", 0.25, "0.500000"),
    ],
)
def test_option_with_another_value_is_reported(name, value, found):
    enums = {"binlog_format": ("MIXED", "STATEMENT", "ROW")}
    (one,) = find_ineffective({name: value}, VARIABLES, "", enums)
    assert (one.name, one.found) == (name, found)


def test_binary_log_called_off_is_reported_with_the_remedy():
    (one,) = find_ineffective({"log_bin": False}, VARIABLES)
    assert "was to be 'OFF' and is 'ON': a value is its name, OFF too: write skip_log_bin" in str(
        one
    )


def test_number_of_a_word_cannot_be_told_without_the_words():
    assert find_ineffective({"binlog_format": 7}, VARIABLES) == ()


def test_words_of_the_log_are_told_without_their_time():
    log = (
        "2026-11-30 20:28:50 0 [Note] max_connections is fine\n"
        "2026-11-30 20:28:50 0 [Warning] option 'max-connections': value 7 adjusted to 10\n"
        "2026-01-01T00:00:00.1Z 0 [Warning] [MY-011069] [Server] 'expire_x' is deprecated\n"
    )
    options = {"max_connections": 7, "expire_x": 1, "expire": 2, "loose_new": 1}
    assert find_ineffective(options, {"max_connections": "10"}, log) == (
        Ineffective(
            "max_connections", "7", "10", "option 'max-connections': value 7 adjusted to 10"
        ),
        Ineffective("expire_x", "1", None, "'expire_x' is deprecated"),
        Ineffective("loose_new", "1", None, "the server does not know it"),
    )


# With a server


def test_run_warns_of_what_its_server_did_not_take(tmp_path):
    asked = {
        "innodb_buffer_pool_size": "64M",
        "innodb_io_capacity": 1,
        "innodb_buffer_pool_instances": 4,
        "loose_innodb_lru_foo": 1,
        "binlog_format": 1,
        "report_password": "sEcr3t",
    }
    server = bk.Server(Config("odd", asked))
    results = studies.small_study([server]).run(tmp_path / "s", progress=False)
    (run,) = results["odd"].runs
    told = [w for w in run.record.warnings if w.startswith("option")]
    assert told == [
        "option innodb_buffer_pool_instances has no effect: 'innodb-buffer-pool-instances' was "
        "removed. It does nothing now and exists only for compatibility with old my.cnf files.",
        "option innodb_io_capacity was to be '1' and is '100': option 'innodb-io-capacity': "
        "unsigned value 1 adjusted to 100",
        *(w for w in told if w.startswith("option loose_innodb_lru_foo has no effect: ")),
    ]
    assert "unknown variable 'loose_innodb_lru_foo=1'" in told[2]
    assert [each["name"] for each in run.record.server["config"]["ineffective"]] == [
        "innodb_buffer_pool_instances",
        "innodb_io_capacity",
        "loose_innodb_lru_foo",
    ]
    stored = "".join(
        path.read_text(errors="replace") for path in (tmp_path / "s").rglob("*") if path.is_file()
    )
    assert "sEcr3t" not in stored
    assert f'report_password = "{REDACTED}"' in run.config()
