"""Columns that statements keep in registers: every type of the binary protocol."""

import pytest
from scratch import make_workload

from benchkit import generators as g
from benchkit.workloads import Execute

CASES = [
    ("CAST(-5 AS SIGNED)", "integer", "-5"),
    ("CAST(7 AS UNSIGNED)", "integer", "7"),
    ("t.tiny", "integer", "-128"),
    ("t.tiny", "text", "-128"),
    ("t.small", "integer", "65535"),
    ("t.medium", "integer", "-8388608"),
    ("t.big", "text", "18446744073709551615"),
    ("t.year", "integer", "2026"),
    ("t.single", "real", "0.5"),
    ("t.single", "integer", None),
    ("t.money", "text", "-12.50"),
    ("t.money", "real", "-12.5"),
    ("t.whole", "integer", "42"),
    ("t.day", "text", "2026-02-03"),
    ("t.at", "text", "2026-02-03 04:05:06"),
    ("t.precise", "text", "2026-02-03 04:05:06.000789"),
    ("t.hours", "text", "-26:03:04"),
    ("t.long_text", "text", "x" * 700),
    ("t.nothing", "integer", "NULL"),
    ("t.nothing", "text", "NULL"),
    ("t.day", "integer", None),
    ("t.big", "integer", None),
    ("t.money", "integer", None),
    ("'12x'", "integer", None),
]
"""What is selected, the register's type, and what it holds then; None: it does not fit."""

TABLE = """CREATE TABLE t (tiny TINYINT, small SMALLINT UNSIGNED, medium MEDIUMINT,
    big BIGINT UNSIGNED, year YEAR, single FLOAT, money DECIMAL(9,2), whole DECIMAL(9,2), day DATE,
    at DATETIME, precise DATETIME(6), hours TIME, long_text TEXT, nothing INT)"""
ROW = """INSERT INTO t VALUES (-128, 65535, -8388608, 18446744073709551615, 2026, 0.5, -12.5, 42,
    '2026-02-03', '2026-02-03 04:05:06', '2026-02-03 04:05:06.000789', '-26:03:04',
    REPEAT('x', 700), NULL)"""


@pytest.fixture
def table(scratch):
    scratch.query(TABLE, ROW, "CREATE TABLE seen (x TEXT)")
    return scratch


@pytest.mark.parametrize(("selected", "kind", "kept"), CASES)
def test_a_kept_column_of_any_type(table, selected, kind, kept):
    workload = make_workload(
        Execute(f"SELECT {selected}, t.* FROM t", keep=(("x", kind),)),
        Execute("INSERT INTO seen VALUES (IFNULL(?, 'NULL'))", ("x",)),
    )
    result = table.run(workload, transactions=2)
    if kept is None:
        assert "kept column 1 does not fit its register" in result["error"]["message"]
    else:
        assert result["error"] is None, result["error"]
        assert table.query("SELECT * FROM seen") == [(kept,)] * 2


def test_out_parameters_of_a_call_are_kept_each_time(table):
    table.query(
        "CREATE PROCEDURE p(a INT, INOUT b INT, OUT c VARCHAR(9), at DATETIME) "
        "BEGIN SET b = a + b; SET c = 'text'; END"
    )
    call = Execute(
        "CALL p(?, ?, ?, ?)",
        (g.sequence(), g.constant(100), g.constant(0), g.timestamp(0)),
        keep=(("x", "integer"), ("text", "text")),
    )
    see = Execute("INSERT INTO seen VALUES (CONCAT(?, ?))", ("x", "text"))
    result = table.run(make_workload(call, see), transactions=3)
    assert result["error"] is None, result["error"]
    assert table.query("SELECT * FROM seen") == [("101text",), ("102text",), ("103text",)]


def test_only_the_first_result_of_a_call_is_kept(table):
    table.query("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END")
    call = Execute("CALL p()", keep=(("x", "integer"),))
    see = Execute("INSERT INTO seen VALUES (?)", ("x",))
    table.run(make_workload(call, see), transactions=2)
    assert table.query("SELECT * FROM seen") == [("1",), ("1",)]
