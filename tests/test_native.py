"""Loading data once, and measuring one run, on a real server."""

from dataclasses import replace

import numpy as np
import pytest
from studies import POINT_SELECT, databases, one_run, statement_workload

from benchkit import hlog, workloads
from benchkit.errors import DatabaseError, RunError
from benchkit.generators import sequence, uniform
from benchkit.plan import Timing
from benchkit.suites.native import MARKER, LoadOrder, NativeRun, drop_data, ensure_loaded
from benchkit.workloads import Table

COUNTED = Timing(0.0, None, 50)


def order_for(workload=POINT_SELECT, **changes):
    arguments = {"workers": 2, "threads": 2, "seed": 1, "data_id": "test", **changes}
    return LoadOrder(workload, **arguments)


def ignore(_):
    """Take a progress report."""


@pytest.fixture
def load(server):
    """Load orders, and drop what they made at the end."""
    data_ids = []

    def load_order(order, on_rows=ignore):
        data_ids.append(order.data_id)
        return ensure_loaded(server, order, on_rows)

    yield load_order
    for data_id in data_ids:
        drop_data(server, data_id)
    assert databases(server) == set()


def one(server, sql):
    return server.query(sql)[0][0]


# Loading


def test_load_is_what_the_workload_says(server, load):
    loaded = load(order_for(workloads.oltp_point_select(rows=150, tables=3)))
    assert loaded.rows == 450
    assert loaded.seconds > 0
    assert not loaded.reused
    for table in ("sbtest1", "sbtest2", "sbtest3"):
        assert one(server, f"SELECT COUNT(*) FROM {loaded.database}.{table}") == "150"
        (row,) = server.query(f"CHECKSUM TABLE {loaded.database}.{table}")
        assert loaded.checksums[table] == row[1]


def test_second_order_finds_the_data_of_the_first(load):
    first, second = load(order_for()), load(order_for())
    assert second == replace(first, reused=True)


def test_data_do_not_depend_on_the_number_of_loader_threads(load):
    checksums = {
        threads: load(order_for(threads=threads, data_id=str(threads))).checksums
        for threads in (1, 4)
    }
    assert checksums[1] == checksums[4]


@pytest.mark.parametrize(
    "change",
    [{"seed": 2}, {"data_id": "another"}, {"workload": workloads.oltp_point_select(rows=201)}],
    ids=["seed", "study", "options"],
)
def test_data_of_another_order_are_not_taken(load, change):
    first = load(order_for())
    other = load(order_for(**change))
    assert not other.reused
    assert other.checksums != first.checksums or "data_id" in change


def test_two_studies_do_not_share_a_database(load):
    assert load(order_for()).database != load(order_for(data_id="another")).database


def test_data_are_loaded_anew_where_that_is_asked_for(server):
    order = order_for()
    first = ensure_loaded(server, order, ignore)
    server.query(f"DELETE FROM {first.database}.sbtest1 WHERE id < 50")
    second = ensure_loaded(server, order, ignore, anew=True)
    assert not second.reused
    assert second.checksums == first.checksums
    drop_data(server, order.data_id)


def test_tables_of_workers_follow_the_largest_run(server, load):
    workload = workloads.bulk_insert()
    for workers in (2, 3):
        loaded = load(order_for(workload, workers=workers))
        tables = server.query(f"SHOW TABLES FROM {loaded.database} LIKE 'sbtest%'")
        assert len(tables) == workers


def test_a_load_that_was_cut_short_does_not_count(load):
    class Cut(Exception):
        pass

    def cut(rows):
        raise Cut

    order = order_for(workloads.oltp_point_select(rows=20_000))
    with pytest.raises(Cut):
        load(order, cut)
    loaded = load(order)
    assert not loaded.reused
    assert loaded.checksums == load(replace(order, data_id="whole")).checksums


def test_a_database_that_holds_nothing_yet_is_taken(server, load):
    order = order_for()
    server.query(f"CREATE DATABASE {order.database}")
    assert load(order).rows == 200


def test_a_drop_that_was_cut_short_is_gone_on_with(server, load):
    order = order_for(workloads.oltp_point_select(rows=10, tables=3))
    load(order)
    server.query(f"DROP TABLE {order.database}.sbtest2")
    drop_data(server, order.data_id)
    assert order.database not in databases(server)


def test_a_database_of_somebody_else_is_refused_and_kept(server):
    order = order_for(data_id="somebody")
    server.query(f"CREATE DATABASE {order.database}")
    server.query(f"CREATE TABLE {order.database}.precious (a INT)")
    with pytest.raises(RunError, match=f"{order.database}.*benchkit did not make"):
        ensure_loaded(server, order, ignore)
    with pytest.raises(RunError, match="benchkit did not make"):
        drop_data(server, order.data_id)
    assert one(server, f"SELECT COUNT(*) FROM {order.database}.precious") == "0"
    server.query(f"DROP DATABASE {order.database}")


def test_tables_with_foreign_keys_are_loaded_again(load):
    parent = Table("parent", "CREATE TABLE parent (id INT PRIMARY KEY)", (("id", sequence()),), 5)
    child = Table(
        "child",
        "CREATE TABLE child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES parent (id))",
    )
    workload = statement_workload("SELECT 1", (child, parent), fresh_data=True)
    workload = replace(workload, tables=(parent, child))
    assert load(order_for(workload)).rows == 5
    assert load(order_for(workload)).rows == 5


@pytest.mark.parametrize("name", ["Größe & `more`", "x" * 90, ":", "UPPER"])
def test_any_name_makes_a_database(load, name):
    workload = replace(POINT_SELECT, identity=f"my own:{name}")
    assert len(load(order_for(workload)).database) <= 64


def test_an_error_of_the_load_is_told(load):
    broken = Table("t", "CREATE TABLE t (a INT)", (("b", uniform(1, 9)),), rows=5)
    with pytest.raises(DatabaseError, match="b"):
        load(order_for(statement_workload("SELECT 1", (broken,))))


def test_space_is_estimated_from_the_rows(server, load):
    order = order_for(workloads.oltp_point_select(rows=20_000))
    load(order)
    used = one(
        server,
        "SELECT SUM(data_length + index_length) FROM information_schema.tables "
        f"WHERE table_schema = '{order.database}' AND table_name <> '{MARKER}'",
    )
    assert 0.5 * int(used) < order.bytes < 2 * int(used)


# Measuring


def measure(server, load, workload, timing=COUNTED, threads=1):
    run = NativeRun(one_run(workload, timing, threads), ignore)
    database = load(order_for(workload)).database if workload.tables else None
    result = run.measure(server, database)
    return run, result


def test_counted_run_measures_that_many_transactions(server, load):
    _, result = measure(server, load, POINT_SELECT, threads=2)
    assert sum(t["committed"] for t in result["transactions"]) == 50
    assert result["stopped_by"] == "count"


def test_log_has_every_response_of_every_phase(server, load):
    timing = Timing(0.3, 1.2, 0)
    run, result = measure(server, load, POINT_SELECT, timing, threads=2)
    log = hlog.parse(run.log)
    for phase, prefix in enumerate(hlog.PHASE_PREFIX.values()):
        rows = result["rows"][result["rows"]["phase"] == phase]
        merged = log.merged([f"{prefix}transaction.oltp_point_select"])
        assert (merged.total if merged else 0) == rows["committed"].sum()


def test_percentiles_of_the_log_are_those_of_the_result(server, load):
    run, result = measure(server, load, POINT_SELECT, Timing(0.0, 1.2, 0))
    (transaction,) = result["transactions"]
    merged = hlog.parse(run.log).merged(["transaction.oltp_point_select"])
    at = [50.0, 95.0, 99.0, 100.0]
    expected = transaction["response"].percentile(at)
    np.testing.assert_allclose(merged.percentile(at), expected, rtol=1e-3)


def test_rows_are_told_as_they_come(server, load):
    told = []
    run = NativeRun(one_run(POINT_SELECT, Timing(0.0, 2.2, 0)), told.append)
    result = run.measure(server, load(order_for()).database)
    assert [row["time_s"] for row in told] == result["rows"]["time_s"].tolist()


def test_workload_without_statements_needs_no_server(server, load):
    _, result = measure(server, load, workloads.null())
    assert sum(t["committed"] for t in result["transactions"]) == 50


def test_what_was_measured_before_an_error_can_be_read(server):
    stop = "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 30001"
    run = NativeRun(one_run(statement_workload(stop), COUNTED), ignore)
    result = run.measure(server, None)
    assert result["error"]["number"] == 30001
    assert run.result["stopped_by"] == "error"


def test_nothing_can_be_read_of_a_run_that_could_not_begin(server):
    run = NativeRun(one_run(statement_workload("SELECT nothing"), COUNTED), ignore)
    with pytest.raises(DatabaseError, match="nothing"):
        run.measure(server, None)
    assert run.result is None
    assert run.log.startswith("#")
