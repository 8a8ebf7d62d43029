"""Rest: servers that idle are at rest at once, busy ones are not, and runs say so."""

import threading

from studies import connect_to, small_study

from benchkit.rest import await_rest


def test_an_idle_server_is_at_rest_soon(server):
    rest = await_rest([server], 60.0)
    assert rest.settled
    assert rest.waited_s < 60.0


def test_a_busy_server_is_not_at_rest_and_the_limit_counts(server):
    with server.session() as session:
        number = session.query("SELECT CONNECTION_ID()")[0][0]
        busy = threading.Thread(target=session.query, args=("DO BENCHMARK(1e12, MD5('a'))",))
        busy.start()
        rest = await_rest([server], 1.0)
        server.query(f"KILL QUERY {number}")
        busy.join()
    assert not rest.settled
    assert rest.waited_s >= 1.0
    assert rest.cpu_share > 0.1


def test_a_run_says_how_its_server_rested(server, tmp_path):
    study = small_study([connect_to(server)], rest_limit="60s")
    (record,) = study.run(tmp_path / "a")["small"].records
    assert record.preparation["rest"]["settled"]
    study = small_study([connect_to(server)], rest_limit="1ms")
    (record,) = study.run(tmp_path / "b")["small"].records
    assert not record.preparation["rest"]["settled"]
    (warning,) = [each for each in record.warnings if "was not at rest after" in each]
    assert "CPU" not in warning  # of a server that is not ours it cannot be told
    (record,) = small_study([connect_to(server)], rest_limit=0).run(tmp_path / "c")["small"].records
    assert "rest" not in record.preparation
