"""Text statements for administration: rows, errors, and who may use a connection."""

import socket
import threading

import pytest
from processes import wait_until

from benchkit._core import Connection
from benchkit.errors import DatabaseError


@pytest.fixture
def connection(scratch):
    with Connection(**scratch.endpoint) as connection:
        yield connection


def test_rows_are_tuples_of_text(connection):
    assert connection.query("SELECT 1, 'gruß', 2.50, NULL, ''") == [("1", "gruß", "2.50", None, "")]


def test_table_has_the_names_of_its_columns(connection):
    assert connection.table("SELECT 1 AS a, 'x' AS `ü`") == (("a", "ü"), [("1", "x")])
    assert connection.table("SELECT 1 AS a LIMIT 0") == (("a",), [])


def test_statement_without_a_result_has_no_rows(connection):
    assert connection.query("CREATE TABLE t (a INT)") == []
    assert connection.table("INSERT INTO t VALUES (1), (2)") == ((), [])
    assert connection.query("SELECT COUNT(*) FROM t") == [("2",)]


def test_large_result_is_whole(connection):
    rows = connection.query("SELECT seq, REPEAT('x', 1000) FROM seq_1_to_20000")
    assert [int(number) for number, _ in rows] == list(range(1, 20_001))
    assert {text for _, text in rows} == {"x" * 1000}


def test_bytes_that_are_no_text_survive(connection):
    ((text,),) = connection.query("SELECT UNHEX('ff00fe')")
    assert text.encode("utf-8", "surrogateescape") == b"\xff\x00\xfe"


def test_first_result_of_a_procedure_is_returned(connection):
    connection.query("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2, 3; END")
    assert connection.query("CALL p()") == [("1",)]
    assert connection.query("SELECT 4") == [("4",)]


def test_error_has_number_and_state_and_leaves_the_connection_usable(connection):
    with pytest.raises(DatabaseError, match="doesn't exist") as caught:
        connection.query("SELECT * FROM absent")
    assert (caught.value.number, caught.value.sqlstate) == (1146, "42S02")
    assert connection.query("SELECT 1") == [("1",)]


def test_error_in_the_middle_of_a_result_is_raised(connection):
    sql = "SELECT (SELECT seq FROM seq_1_to_3 a WHERE a.seq <= b.seq) FROM seq_1_to_3 b"
    with pytest.raises(DatabaseError, match="more than 1 row"):
        connection.query(sql)
    assert connection.query("SELECT 1") == [("1",)]


def test_error_of_a_second_result_is_raised(connection):
    connection.query("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT * FROM absent; END")
    with pytest.raises(DatabaseError, match="absent"):
        connection.query("CALL p()")
    assert connection.query("SELECT 1") == [("1",)]


def test_closed_connection_says_so(connection):
    connection.close()
    connection.close()
    assert connection.server_version is None
    with pytest.raises(DatabaseError, match="the connection is closed"):
        connection.query("SELECT 1")


def test_leaving_the_block_logs_out(scratch):
    with Connection(**scratch.endpoint) as connection:
        number = int(connection.query("SELECT CONNECTION_ID()")[0][0])
    wait_until(
        lambda: (
            not scratch.query(f"SELECT id FROM information_schema.processlist WHERE id = {number}")
        )
    )


def test_killed_connection_is_an_error(scratch, connection):
    number = connection.query("SELECT CONNECTION_ID()")[0][0]
    scratch.query(f"KILL {number}")
    with pytest.raises(DatabaseError) as caught:
        connection.query("SELECT 1")
    assert caught.value.number in (1927, 2006, 2013)


def test_second_thread_gets_an_error_while_the_first_is_inside(scratch, connection):
    first = threading.Thread(target=connection.query, args=("SELECT GET_LOCK('held', 60)",))
    scratch.query("SELECT GET_LOCK('held', 0)")
    first.start()
    wait_until(
        lambda: scratch.query(
            "SELECT id FROM information_schema.processlist WHERE state = 'User lock'"
        )
    )
    try:
        for call in (lambda: connection.query("SELECT 1"), connection.close):
            with pytest.raises(DatabaseError, match="in use by another thread"):
                call()
    finally:
        scratch.query("SELECT RELEASE_LOCK('held')")
        first.join()
    assert connection.query("SELECT 1") == [("1",)]


def test_version_is_that_of_the_server(connection):
    (version,) = connection.query("SELECT VERSION()")[0]
    assert version in connection.server_version


def test_refused_login_says_for_whom(server):
    endpoint = {**server.endpoint, "user": "nobody_such", "password": "wrong"}
    with pytest.raises(DatabaseError, match="Access denied for user 'nobody_such'") as caught:
        Connection(**endpoint)
    assert caught.value.number == 1045
    assert "wrong" not in str(caught.value)


def test_unknown_database_is_an_error(server):
    with pytest.raises(DatabaseError, match="Unknown database 'absent'"):
        Connection(**server.endpoint, database="absent")


def test_missing_socket_is_named():
    with pytest.raises(DatabaseError, match="/nonexistent/mysql.sock") as caught:
        Connection(socket="/nonexistent/mysql.sock")
    assert caught.value.number == 2002


def test_port_without_a_server_is_an_error():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(DatabaseError, match=r"127\.0\.0\.1") as caught:
            Connection(host="127.0.0.1", port=port)
    assert caught.value.number in (2002, 2003)


@pytest.mark.parametrize(
    ("keywords", "kind", "message"),
    [
        ({"port": -1}, ValueError, "port must be 0 to 65535, not -1"),
        ({"port": 65536}, ValueError, "port must be 0 to 65535, not 65536"),
        ({"connect_timeout_s": 4000}, ValueError, "connect_timeout_s must be 0 to 3600, not 4000"),
        ({"hots": "localhost"}, TypeError, "hots"),
        ({"user": 5}, TypeError, "user|argument"),
    ],
)
def test_bad_keywords_are_named(keywords, kind, message):
    with pytest.raises(kind, match=message):
        Connection(**keywords)


def test_arguments_have_names():
    with pytest.raises(TypeError, match="only keyword arguments"):
        Connection("localhost")
