"""Loading in parts: lines of rows, and going on after an interruption of any kind."""

import os
import signal
from dataclasses import replace

import pytest
from processes import start_script, wait_until
from studies import databases

from benchkit.errors import DatabaseError, RunError, WorkloadError
from benchkit.generators import alphanumeric, constant, null, sequence, shared, uniform
from benchkit.server import Server
from benchkit.suites import parts
from benchkit.suites.native import LoadOrder, drop_data, ensure_loaded
from benchkit.workloads import Table, Transaction, Workload

PARENTS = 200  # in each part
GROUPS = 40

COUNT = shared("children", uniform(0, 9))


def tables(engine="InnoDB"):
    """Return a table of parents and one of their children, in parts, and one that is whole."""
    group, parent = sequence(every=PARENTS), sequence(cycle=PARENTS)
    return (
        Table(
            "parent",
            f"CREATE TABLE parent (g INT, p INT, n INT, t VARCHAR(200)) ENGINE = {engine}",
            (("g", group), ("p", parent), ("n", COUNT), ("t", alphanumeric(100, 200))),
            rows=GROUPS * PARENTS,
            finish=("CREATE UNIQUE INDEX gp ON parent (g, p)",),
            parts=("g", PARENTS),
        ),
        Table(
            "child",
            "CREATE TABLE child (g INT, p INT, c INT, v INT, PRIMARY KEY (g, p, c)) "
            f"ENGINE = {engine}",
            (("g", group), ("p", parent), ("v", uniform(1, 1000))),
            rows=GROUPS * PARENTS,
            lines=("c", COUNT),
            parts=("g", PARENTS),
        ),
        Table(
            "whole",
            f"CREATE TABLE whole (a INT) ENGINE = {engine}",
            (("a", sequence()),),
            rows=5000,
            finish=("INSERT INTO whole VALUES (-1)",),
        ),
        Table("none", "CREATE TABLE none (a INT)", finish=("INSERT INTO none VALUES (1)",)),
    )


def workload(engine="InnoDB", **changes):
    arguments = {
        "tables": tables(engine),
        "routines": (
            "CREATE PROCEDURE counted() SELECT COUNT(*) FROM child",
            "ANALYZE TABLE child",
        ),
        "database_options": "CHARACTER SET latin1",
        **changes,
    }
    return Workload("test:parts", (Transaction("none", ()),), **arguments)


def order_for(data_id, made=None, threads=2):
    return LoadOrder(made or workload(), workers=1, threads=threads, seed=7, data_id=data_id)


def ignore(_):
    """Take a progress report."""


@pytest.fixture(scope="module")
def whole(server):
    """Return what a load that nothing interrupted has."""
    order = order_for("whole")
    yield ensure_loaded(server, order, ignore)
    drop_data(server, order.data_id)


@pytest.fixture
def data_id(server):
    yield "part"
    drop_data(server, "part")
    assert not {name for name in databases(server) if name.endswith("_part")}


def value(server, sql):
    return server.query(sql)[0][0]


class Cut(Exception):
    """Stops a load from its progress report."""


def cut_after(rows):
    def report(loaded):
        if loaded >= rows:
            raise Cut

    return report


def interrupt(server, order, rows):
    with pytest.raises(Cut):
        ensure_loaded(server, order, cut_after(rows))


# Lines


def test_rows_become_as_many_lines_as_their_parent_says(server, whole):
    database = whole.database
    wrong = (
        f"SELECT g, p, n, COUNT(c), MIN(c), MAX(c) FROM {database}.parent "
        f"LEFT JOIN {database}.child USING (g, p) GROUP BY g, p, n "
        "HAVING n <> COUNT(c) OR (n > 0 AND (MIN(c) <> 1 OR MAX(c) <> n))"
    )
    assert server.query(wrong) == []
    assert value(server, f"SELECT COUNT(*) FROM {database}.parent") == str(GROUPS * PARENTS)
    assert value(server, f"SELECT COUNT(DISTINCT n) FROM {database}.parent") == "10"


def test_lines_of_a_row_differ_in_their_values(server, whole):
    alike = f"SELECT COUNT(DISTINCT g, p, v) / COUNT(*) FROM {whole.database}.child"
    assert float(value(server, alike)) > 0.98


def test_lines_are_counted(server, whole):
    names = ("parent", "child", "whole")
    counts = [value(server, f"SELECT COUNT(*) FROM {whole.database}.{name}") for name in names]
    assert whole.rows == sum(map(int, counts)) - 1  # finishing put one into `whole`


def test_lines_are_estimated_beforehand():
    parent, child, *_ = tables()
    assert parent.expected_rows == GROUPS * PARENTS
    assert child.expected_rows == pytest.approx(4.5 * GROUPS * PARENTS, rel=0.05)


# Parts


@pytest.mark.parametrize("threads", [1, 4])
def test_data_do_not_depend_on_the_number_of_loader_threads(server, whole, data_id, threads):
    loaded = ensure_loaded(server, order_for(data_id, threads=threads), ignore)
    assert loaded.checksums == whole.checksums
    assert loaded.rows == whole.rows


def test_routines_run_when_all_is_loaded(server, whole):
    children = value(server, f"SELECT COUNT(*) FROM {whole.database}.child")
    with server.session(whole.database) as session:
        assert session.query("CALL counted()") == [(children,)]
        assert session.query("SELECT @@character_set_database") == [("latin1",)]


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
@pytest.mark.parametrize("rows", [1, 20_000, 45_000])
def test_interrupted_load_is_gone_on_with(server, whole, data_id, engine, rows):
    order = order_for(data_id, workload(engine))
    interrupt(server, order, rows)
    told = []
    loaded = ensure_loaded(server, order, told.append)
    assert loaded.checksums == whole.checksums
    assert loaded.rows == whole.rows == told[-1]
    assert 0 < loaded.rows_before <= told[0] or rows == 1
    assert not loaded.reused
    assert ensure_loaded(server, order, ignore).reused


def test_complete_parts_are_kept(server, data_id):
    order = order_for(data_id)
    interrupt(server, order, 30_000)
    with server.session(order.database) as admin:
        kept = parts.read_notes(admin).parts["child"]
        (first, *_) = sorted(kept)
        admin.query(f"UPDATE child SET v = -1 WHERE g = {first}")
    ensure_loaded(server, order, ignore)
    marked = f"SELECT COUNT(*) FROM {order.database}.child WHERE v = -1"
    assert int(value(server, marked)) > 0


def test_rows_of_parts_that_are_not_noted_are_removed(server, whole, data_id):
    order = order_for(data_id, workload("MyISAM"))
    interrupt(server, order, 30_000)
    with server.session(order.database) as admin:
        noted = parts.read_notes(admin).parts["child"]
        lost = max(noted)
        admin.query(f"DELETE FROM {parts.PARTS} WHERE table_name = 'child' AND part = {lost}")
    assert ensure_loaded(server, order, ignore).checksums == whole.checksums


@pytest.mark.parametrize("finished", [True, False])
def test_interruption_after_all_rows_runs_what_comes_after_them(server, whole, data_id, finished):
    broken = workload(routines=(*workload().routines, "no statement"))
    order = order_for(data_id, broken)
    with pytest.raises(DatabaseError, match="no statement"):
        ensure_loaded(server, order, ignore)
    if not finished:
        with server.session(order.database) as admin:
            admin.query(f"DELETE FROM {parts.PARTS} WHERE part = 0")
    with pytest.raises(DatabaseError, match="no statement"):
        ensure_loaded(server, order, ignore)
    with server.session(order.database) as admin:
        rows = admin.query("CHECKSUM TABLE parent, child, whole, none")
    sums = {str(name).rpartition(".")[2]: checksum for name, checksum in rows}
    assert sums == whole.checksums


def test_another_seed_starts_anew(server, whole, data_id):
    interrupt(server, replace(order_for(data_id), seed=8), 20_000)
    assert ensure_loaded(server, order_for(data_id), ignore).checksums == whole.checksums


LOADING = """
import sys
sys.path[:0] = sys.argv[2:]
import test_load_parts as t

server = t.Server.connect(socket=sys.argv[1], user="root")
t.ensure_loaded(server, t.order_for("part"), lambda rows: print(rows, flush=True))
"""


def load_until(server, rows):
    """Start a process that loads; return it once so many rows are there."""
    process = start_script(LOADING, server.endpoint["socket"], os.path.dirname(__file__))
    while int(process.stdout.readline()) < rows:
        pass
    return process


@pytest.mark.parametrize("rows", [1000, 25_000])
def test_load_of_a_killed_process_is_gone_on_with(server, whole, data_id, rows):
    with load_until(server, rows) as process:
        process.kill()
    loaded = ensure_loaded(server, order_for(data_id), ignore)
    assert loaded.checksums == whole.checksums


def test_load_on_a_killed_server_is_gone_on_with(small_config, whole, folder):
    with Server(small_config, directory=folder / "data") as server:
        order = order_for("killed")

        def kill(rows):
            if rows > 25_000:
                os.kill(server.pid, signal.SIGKILL)

        with pytest.raises(DatabaseError):
            ensure_loaded(server, order, kill)
        wait_until(lambda: not server.running)
        server.start()
        loaded = ensure_loaded(server, order, ignore)
    assert loaded.checksums == whole.checksums
    assert loaded.rows_before > 0


def test_somebody_who_stays_in_the_database_is_told(server, data_id, monkeypatch):
    monkeypatch.setattr(parts, "_LEAVE_LIMIT_S", 0.2)
    order = order_for(data_id)
    interrupt(server, order, 20_000)
    with server.session(order.database), pytest.raises(RunError, match="was half loaded, and some"):
        ensure_loaded(server, order, ignore)


# Bad input


def with_table(**changes):
    columns = (("a", sequence()), ("g", sequence(every=5)))
    arguments = {"columns": columns, "rows": 10, **changes}
    return Table("t", "CREATE TABLE t (a INT, g INT, n INT)", **arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lines": 5}, r"lines must be .column, generator of how many"),
        ({"lines": ("n", 5)}, r"lines must be .column, generator of how many"),
        ({"lines": ("a", uniform(1, 2))}, "two columns are called 'a'"),
        ({"parts": ("g", 0)}, "the rows of parts must be an integer from 1, not 0"),
        ({"parts": ("x", 5)}, "told by the column 'x', which is none"),
        ({"parts": "g"}, r"parts must be .column, rows"),
    ],
)
def test_bad_lines_and_parts_are_named(changes, message):
    with pytest.raises(WorkloadError, match=message):
        with_table(**changes)


def test_tables_with_parts_cannot_be_numbered():
    with pytest.raises(WorkloadError, match="count must be 1, not 2"):
        Table(
            "t{n}",
            "CREATE TABLE t{n} (g INT)",
            (("g", sequence()),),
            rows=4,
            count=2,
            parts=("g", 1),
        )


@pytest.mark.parametrize("count", [uniform(-1, 5), constant("a"), null(), uniform(0, 2 * 10**6)])
def test_lines_that_are_no_counts_are_refused(server, data_id, count):
    table = with_table(lines=("n", count))
    with pytest.raises(WorkloadError, match="lines must be integers of 0 to 1000000"):
        ensure_loaded(server, order_for(data_id, workload(tables=(table,))), ignore)
