"""Where a driver meets a limit: long messages, large parameters, the last rows, odd texts."""

import pytest
from scratch import make_workload, statement

from benchkit import generators as g
from benchkit.workloads import Execute, InsertRows, Let, Offset, Repeat


@pytest.mark.parametrize("padding", [0, 1])
def test_message_cut_inside_a_character_is_still_text(scratch, padding):
    message = "x" * padding + "ä" * 100
    scratch.query(f"CREATE PROCEDURE p() SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{message}'")
    workload = make_workload(Execute("CALL p()"), tolerate=(1644,))
    (error,) = scratch.run(workload, transactions=3)["errors"]
    assert (error["number"], error["count"]) == (1644, 3)
    assert error["message"].startswith("x" * padding + "ä" * 70)


@pytest.mark.parametrize("padding", [0, 1])
def test_message_about_a_long_statement_is_still_text(scratch, padding):
    scratch.query("CREATE TABLE t1 (a INT)")
    comment = "x" * padding + "ä" * 600
    loop = (
        Let("table", Offset("a", 0)),
        Execute(f"INSERT INTO t{{table}} VALUES (1) /* {comment} */"),
        Let("a", g.uniform(9, 9)),
    )
    workload = make_workload(Let("a", g.uniform(1, 1)), Repeat(2, loop))
    result = scratch.run(workload, transactions=1)
    assert "ä" * 150 in result["error"]["message"]


@pytest.fixture
def large_packets(scratch):
    """Let new connections send statements of up to 64 MB."""
    (limit,) = scratch.numbers("SELECT @@GLOBAL.max_allowed_packet")
    scratch.query("SET GLOBAL max_allowed_packet = 67108864")
    yield
    scratch.query(f"SET GLOBAL max_allowed_packet = {limit}")


def test_parameters_together_may_be_longer_than_a_packet(scratch, large_packets):
    count, length = 17, 1_000_000
    scratch.query("CREATE TABLE seen (a BIGINT)")
    lengths = " + ".join(["LENGTH(?)"] * count)
    texts = (g.alphanumeric(length, length),) * count
    workload = make_workload(Execute(f"INSERT INTO seen SELECT {lengths}", texts))
    result = scratch.run(workload, transactions=2)
    assert result["error"] is None
    assert scratch.numbers("SELECT a FROM seen") == [count * length] * 2


def test_last_rows_are_sent_once_more_when_they_are_to_be_retried(scratch):
    scratch.query("CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    row = InsertRows("INSERT INTO t VALUES", (g.constant(1),))
    result = scratch.run(make_workload(row, retry=(1062,), tolerate=()), transactions=1, drain_s=60)
    assert statement(result, "insert_rows")["errors"] == 2
    assert statement(result, "rollback")["executions"] == 1
    assert result["error"] is None


@pytest.mark.parametrize("mode", ["", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"])
def test_inserted_texts_do_not_depend_on_the_sql_mode(scratch, mode):
    texts = ("it's", "a\\b", "\\", "'", "ä\\'ß", "\\'); --", "")
    scratch.query("CREATE TABLE t (a VARCHAR(20), b VARCHAR(20) CHARACTER SET latin1)")
    rows = (
        InsertRows("INSERT INTO t VALUES", (g.constant(text), g.constant(text))) for text in texts
    )
    workload = make_workload(*rows, session=(f"SET SESSION sql_mode = '{mode}'",))
    result = scratch.run(workload, transactions=1)
    assert result["error"] is None
    assert set(scratch.query("SELECT a, b FROM t")) == {(text, text) for text in texts}
