"""Encrypted connections, over TCP, to servers that have a certificate from their first start."""

import socket

import pytest
from installs import OTHERS, SMALL, find_install, small_config
from runs import WORKERS, loaded, run
from test_oltp import TRANSACTIONS, command_counts, recorded_counts, small

import benchkit as bk
from benchkit._core import Connection
from benchkit.errors import ServerError

NAME, PASSWORD = "bench", "secret"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module", params=OTHERS)
def tcp(request):
    """Return a server with a TCP port, and how to log in there with a password."""
    install, port = find_install(request.param), free_port()
    with bk.Server(small_config(install), install=install, port=port) as server:
        server.query(f"CREATE USER {NAME}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
        server.query(f"GRANT ALL ON *.* TO {NAME}@'127.0.0.1'")
        yield server, {"host": "127.0.0.1", "port": port, "user": NAME, "password": PASSWORD}


def cipher(server):
    return server.query("SHOW STATUS LIKE 'Ssl_cipher'")[0][1]


def test_connections_are_encrypted_when_asked_for(tcp):
    _, place = tcp
    assert cipher(bk.Server.connect(**place)) == ""
    assert cipher(bk.Server.connect(**place, tls=True)).startswith("TLS_")


def test_user_who_must_use_tls_gets_in_only_with_it(tcp):
    server, place = tcp
    server.query(f"CREATE USER strict@'127.0.0.1' IDENTIFIED BY '{PASSWORD}' REQUIRE SSL")
    place = {**place, "user": "strict"}
    with pytest.raises(ServerError, match="as user 'strict'"):
        bk.Server.connect(**place)
    assert bk.Server.connect(**place, tls=True).running


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("name", ["oltp_read_only", "oltp_read_write", "sysbench/0.5:insert"])
def test_the_server_counts_what_the_recorder_counts(tcp, tls, name):
    _, place = tcp
    server = bk.Server.connect(**place, tls=tls)
    workload = small(name, {})
    with loaded(server, workload) as load:
        before = command_counts(server)
        result = run(server, workload, load.database, TRANSACTIONS, threads=WORKERS)
        served = +(command_counts(server) - before)
    assert served == +recorded_counts(result)


def test_server_without_a_certificate_is_told(folder):
    port = free_port()
    with (
        bk.Server(SMALL.replace("plain", skip_ssl=None), port=port),
        pytest.raises(ServerError, match="TLS was asked for, but the server does not offer it"),
    ):
        bk.Server.connect(host="127.0.0.1", port=port, user="root", tls=True)


def test_tls_is_a_keyword_of_connections(tcp):
    _, place = tcp
    with Connection(**place, tls=True) as connection:
        assert connection.query("SELECT CURRENT_USER()") == [(f"{NAME}@127.0.0.1",)]
