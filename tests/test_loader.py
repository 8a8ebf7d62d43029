"""Filling tables: the same data whatever the number of threads, and a clean stop."""

import json
import re
import signal

import pytest
from processes import start_script, wait_until
from scratch import NAME

from benchkit import generators as g
from benchkit._core import load
from benchkit.errors import DatabaseError, WorkloadError

COLUMNS = [
    g.sequence(),
    g.uniform(1, 1000),
    g.gaussian(1, 1000),
    g.template("###-@@@'\\"),
    g.choice(["red", "it's", 'a "quote"', "back\\slash", ""]),
    g.permutation(1, 30_000),
]
DEFINITION = "(id INT PRIMARY KEY, a INT, b INT, c VARCHAR(20), d VARCHAR(20), e INT)"


def table(name, rows, finish=(), columns=COLUMNS):
    return (f"INSERT INTO {name} VALUES", [c.spec() for c in columns], rows, list(finish))


def fill(scratch, *tables, **options):
    load(scratch.endpoint, list(tables), **options)


def create(scratch, *names, definition=DEFINITION):
    for name in names:
        scratch.query(f"CREATE OR REPLACE TABLE {name} {definition}")


def checksums(scratch, *names):
    rows = scratch.query(f"CHECKSUM TABLE {', '.join(names)}")
    return [checksum for _, checksum in rows]


def load_and_sum(scratch, sizes, **options):
    names = [f"t{i}" for i in range(len(sizes))]
    create(scratch, *names)
    fill(scratch, *[table(n, s) for n, s in zip(names, sizes, strict=True)], **options)
    assert [scratch.numbers(f"SELECT COUNT(*) FROM {n}")[0] for n in names] == list(sizes)
    return checksums(scratch, *names)


@pytest.mark.parametrize("sizes", [(25_001,), (300, 0, 12_000, 1)])
def test_data_do_not_depend_on_the_number_of_threads(scratch, sizes):
    one = load_and_sum(scratch, sizes, threads=1, seed=3)
    assert load_and_sum(scratch, sizes, threads=4, seed=3) == one


def test_data_depend_on_the_seed_and_on_the_number_of_the_table(scratch):
    first, second = load_and_sum(scratch, (500, 500), seed=3)
    assert first != second
    assert load_and_sum(scratch, (500, 500), seed=4) != [first, second]


def test_rows_hold_what_the_generators_draw(scratch):
    create(scratch, "t")
    fill(scratch, table("t", 2000))
    assert scratch.numbers("SELECT id FROM t ORDER BY id") == list(range(1, 2001))
    assert scratch.query("SELECT DISTINCT d FROM t ORDER BY BINARY d") == [
        ("",),
        ('a "quote"',),
        ("back\\slash",),
        ("it's",),
        ("red",),
    ]
    texts = [text for (text,) in scratch.query("SELECT c FROM t")]
    assert all(re.fullmatch(r"[0-9]{3}-[a-z]{3}'\\", text) for text in texts)
    assert scratch.numbers("SELECT COUNT(DISTINCT e) FROM t") == [2000]


def test_reals_are_stored_exactly(scratch):
    create(scratch, "t", definition="(a DOUBLE)")
    fill(scratch, table("t", 1, columns=[g.constant(0.1 + 0.2)]))
    assert scratch.query("SELECT a = 0.1e0 + 0.2e0 FROM t") == [("1",)]


def test_finishing_statements_run_once_for_each_table_when_its_rows_are_in(scratch):
    create(scratch, "t0", "t1", "t2")
    scratch.query("CREATE TABLE log (name TEXT, seen INT)")
    tables = [
        table(f"t{i}", rows, [f"INSERT INTO log SELECT 't{i}', COUNT(*) FROM t{i}"])
        for i, rows in enumerate((25_000, 0, 12_000))
    ]
    fill(scratch, *tables, threads=4)
    assert scratch.query("SELECT name, seen FROM log ORDER BY name") == [
        ("t0", "25000"),
        ("t1", "0"),
        ("t2", "12000"),
    ]


def test_finishing_statements_keep_their_order(scratch):
    create(scratch, "t")
    fill(scratch, table("t", 10, ["ALTER TABLE t ADD f INT", "CREATE INDEX f ON t (f)"]))
    assert scratch.query("SHOW INDEX FROM t WHERE key_name = 'f'")


def test_nothing_to_load_is_fine(scratch):
    fill(scratch)


def test_progress_ends_with_all_rows(scratch):
    create(scratch, "t")
    told = []
    fill(scratch, table("t", 25_000), threads=2, on_progress=told.append)
    assert told == sorted(told) and told[-1] == 25_000


def test_exception_of_the_callback_stops_the_load(scratch):
    create(scratch, "t")

    def fail(rows):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        fill(scratch, table("t", 10**9), threads=3, on_progress=fail)
    assert scratch.numbers("SELECT COUNT(*) FROM t")[0] < 10**9


def test_callback_may_change_what_it_was_given(scratch):
    create(scratch, "t", "u")
    endpoint, tables = dict(scratch.endpoint), [table("t", 30_000), table("u", 30_000, ["DO 1"])]

    def forget(rows):
        endpoint.clear()
        for _, columns, _, finish in tables:
            columns.clear()
            finish.clear()
        tables.clear()

    load(endpoint, tables, threads=2, on_progress=forget)
    assert scratch.numbers("SELECT COUNT(*) FROM u") == [30_000]


def test_error_of_the_server_is_told_and_ends_all_threads(scratch):
    create(scratch, "t", "u")
    scratch.query("LOCK TABLES u WRITE")
    with pytest.raises(DatabaseError, match="Unknown column 'x'") as caught:
        fill(
            scratch,
            ("INSERT INTO u (id) VALUES", [g.sequence().spec()], 10, []),
            ("INSERT INTO t (x) VALUES", [g.sequence().spec()], 10, []),
            threads=2,
        )
    scratch.query("UNLOCK TABLES")
    assert caught.value.number == 1054


def test_values_that_do_not_fit_are_an_error(scratch):
    create(scratch, "t", definition="(a TINYINT)")
    with pytest.raises(DatabaseError, match="Out of range value"):
        fill(scratch, table("t", 1, columns=[g.constant(1000)]))


def test_error_of_a_finishing_statement_is_told(scratch):
    create(scratch, "t")
    with pytest.raises(DatabaseError, match="Key column 'x' doesn't exist"):
        fill(scratch, table("t", 10, ["CREATE INDEX x ON t (x)"]))


def test_refused_connection_is_told():
    with pytest.raises(DatabaseError, match="/nonexistent") as caught:
        load({"socket": "/nonexistent"}, [], threads=2)
    assert caught.value.number == 2002


@pytest.mark.parametrize(
    ("tables", "options", "message"),
    [
        ([], {"threads": 0}, "loader threads must be 1 to 1024, not 0"),
        ([], {"threads": -1}, "loader threads must be 1 to 1024, not -1"),
        ([table("t", -1)], {}, "a table cannot have -1 rows: INSERT INTO t VALUES"),
        ([table("t", 5, columns=[])], {}, "no columns to fill: INSERT INTO t VALUES"),
        ([("INSERT", [("uniform", {"low": 2, "high": 1})], 1, [])], {}, "uniform"),
        ([("INSERT", [("unheard", {})], 1, [])], {}, "unheard"),
    ],
)
def test_bad_orders_are_rejected_with_a_reason(tables, options, message):
    with pytest.raises(WorkloadError, match=message):
        load({}, tables, **options)


@pytest.mark.parametrize("tables", [[1], [("INSERT", [], 0)], [("INSERT", [], 0, [5])]])
def test_orders_of_another_shape_are_a_type_error(tables):
    with pytest.raises((TypeError, SystemError)):
        load({}, tables)


LOADING = """
import json, sys
from benchkit import generators as g
from benchkit._core import load

table = "INSERT INTO t VALUES", [g.sequence().spec()], 10**9, []
try:
    load(json.loads(sys.argv[1]), [table], threads=2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_interrupt_stops_a_load(scratch):
    create(scratch, "t", definition="(a BIGINT)")
    with start_script(LOADING, json.dumps(scratch.endpoint)) as process:
        wait_until(lambda: scratch.numbers("SELECT COUNT(*) FROM t")[0] > 0)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
    assert process.returncode == 0
    wait_until(lambda: not others(scratch))


def others(scratch):
    return scratch.query(
        f"SELECT id FROM information_schema.processlist WHERE db = '{NAME}' "
        "AND id <> CONNECTION_ID()"
    )
