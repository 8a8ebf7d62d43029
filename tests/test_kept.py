"""What a statement keeps: calls whose results vary, and values that do not fit."""

import pytest
from scratch import make_workload, transaction

from benchkit import generators as g
from benchkit.workloads import Execute, Let

KEPT = (("a", "integer"),)
LOG = Execute("INSERT INTO seen VALUES (?)", ("a",))


def log_calls(scratch, body, transactions):
    """Return what is kept from calls of a procedure that is told 1, 2, 3, ..."""
    scratch.query("CREATE TABLE seen (a BIGINT)", f"CREATE PROCEDURE p(n INT) BEGIN {body} END")
    workload = make_workload(Let("n", g.sequence()), Execute("CALL p(?)", ("n",), keep=KEPT), LOG)
    result = scratch.run(workload, transactions=transactions)
    return result, [row[0] for row in scratch.query("SELECT a FROM seen")]


def test_call_may_return_more_columns_the_next_time(scratch):
    columns = ", ".join(f"n + {i}" for i in range(100))
    body = f"IF n % 2 THEN SELECT n; ELSE SELECT {columns}; END IF;"
    result, kept = log_calls(scratch, body, 6)
    assert result["error"] is None and kept == ["1", "2", "3", "4", "5", "6"]


def test_call_that_returns_too_few_columns_the_next_time_ends_the_run(scratch):
    scratch.query(
        "CREATE PROCEDURE p(n INT) BEGIN IF n = 1 THEN SELECT 1, 2; ELSE SELECT 3; END IF; END"
    )
    keep = (("a", "integer"), ("b", "integer"))
    result = scratch.run(
        make_workload(Execute("CALL p(?)", (g.sequence(),), keep=keep)), transactions=2
    )
    assert transaction(result)["committed"] == 1
    assert "2 columns are to be kept but the result has 1" in result["error"]["message"]


def test_call_without_a_result_keeps_null(scratch):
    result, kept = log_calls(scratch, "IF n <> 2 THEN SELECT n; END IF;", 3)
    assert result["error"] is None and kept == ["1", None, "3"]


@pytest.mark.parametrize(
    "expression", ["18446744073709551615", "'abc'", "'1x'", "99999999999999999999.0"]
)
def test_kept_integer_that_would_change_ends_the_run(scratch, expression):
    workload = make_workload(Execute(f"SELECT {expression}", keep=KEPT))
    result = scratch.run(workload, transactions=1)
    assert result["stopped_by"] == "error"
    assert "kept column 1 does not fit its register" in result["error"]["message"]


@pytest.mark.parametrize(
    ("expression", "kind", "kept"),
    [
        ("-9223372036854775808", "integer", "-9223372036854775808"),
        ("'17'", "integer", "17"),
        ("SUM(17)", "integer", "17"),
        ("2E0", "integer", "2"),
        ("CAST(7 AS UNSIGNED)", "integer", "7"),
        ("0.1", "real", "0.1"),
        ("7", "real", "7"),
        ("'0.5'", "real", "0.5"),
        ("NULL", "integer", None),
    ],
)
def test_kept_number_is_that_of_the_server(scratch, expression, kind, kept):
    scratch.query("CREATE TABLE seen (a VARCHAR(40))")
    workload = make_workload(Execute(f"SELECT {expression}", keep=(("a", kind),)), LOG)
    result = scratch.run(workload, transactions=2)
    assert result["error"] is None
    assert scratch.query("SELECT a FROM seen") == [(kept,), (kept,)]
