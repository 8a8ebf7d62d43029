"""The sbtest tables as a real server sees them: columns, keys, engine and string templates."""

import pytest

from benchkit import _core, workloads
from benchkit.workloads import sbtest, sysbench05

DATABASE = "benchkit_schema"


@pytest.fixture
def connection(server):
    """A connection whose default database is new and empty."""
    server.query(f"CREATE DATABASE {DATABASE}")
    with server.session(DATABASE) as connection:
        yield connection
    server.query(f"DROP DATABASE {DATABASE}")


def create_tables(connection, workload, workers=1):
    """Create the tables of a workload and finish them, without rows; return their names."""
    names = []
    for table in workload.tables_for(workers):
        for number in range(1, table.count + 1):
            for sql in (table.create, *table.finish):
                connection.query(sql.replace("{n}", str(number)))
            names.append(table.name.replace("{n}", str(number)))
    return names


def columns(connection, table):
    """Return (name, type, nullable, default, extra) of each column."""
    return [
        (name, kind.replace("(11)", "").replace("(10)", ""), nullable, default, extra)
        for name, kind, nullable, default, extra in connection.query(
            "SELECT column_name, column_type, is_nullable, column_default, extra "
            f"FROM information_schema.columns WHERE table_schema = '{DATABASE}' "
            f"AND table_name = '{table}' ORDER BY ordinal_position"
        )
    ]


def keys(connection, table):
    """Return (name, column, unique) of each index column."""
    return [
        (name, column, not_unique == "0")
        for name, column, not_unique in connection.query(
            "SELECT index_name, column_name, non_unique FROM information_schema.statistics "
            f"WHERE table_schema = '{DATABASE}' AND table_name = '{table}' "
            "ORDER BY index_name, seq_in_index"
        )
    ]


def table_facts(connection, table):
    """Return (engine, create options, collation)."""
    (facts,) = connection.query(
        "SELECT engine, create_options, table_collation FROM information_schema.tables "
        f"WHERE table_schema = '{DATABASE}' AND table_name = '{table}'"
    )
    return facts


def sbtest_columns(integer, extra):
    return [
        ("id", integer, "NO", None, extra),
        ("k", integer, "NO", "0", ""),
        ("c", "char(120)", "NO", "''", ""),
        ("pad", "char(60)", "NO", "''", ""),
    ]


def test_oltp_columns_are_signed_integers_and_fixed_strings(connection):
    (table,) = create_tables(connection, workloads.oltp_read_write())
    assert table == "sbtest1"
    assert columns(connection, table) == sbtest_columns("int", "auto_increment")


def test_without_auto_inc_the_client_numbers_the_rows(connection):
    (table,) = create_tables(connection, workloads.oltp_read_write(auto_inc=False))
    assert columns(connection, table) == sbtest_columns("int", "")


def test_each_of_several_tables_has_its_own_index_name(connection):
    tables = create_tables(connection, workloads.oltp_read_only(tables=3))
    assert tables == ["sbtest1", "sbtest2", "sbtest3"]
    for number, table in enumerate(tables, start=1):
        assert keys(connection, table) == [(f"k_{number}", "k", False), ("PRIMARY", "id", True)]


def test_secondary_has_no_primary_key(connection):
    workload = workloads.oltp_read_only(secondary=True, create_secondary=False)
    (table,) = create_tables(connection, workload)
    assert keys(connection, table) == [("xid", "id", False)]


def test_engine_charset_and_table_options_are_those_asked_for(connection):
    workload = workloads.oltp_read_only(
        storage_engine="aria", charset="latin1", create_table_options="CHECKSUM = 1"
    )
    (table,) = create_tables(connection, workload)
    engine, options, collation = table_facts(connection, table)
    assert engine == "Aria"
    assert "checksum=1" in options
    assert collation.startswith("latin1_")


def test_bulk_insert_has_a_narrow_table_for_each_worker(connection):
    tables = create_tables(connection, workloads.bulk_insert(), workers=2)
    assert tables == ["sbtest1", "sbtest2"]
    assert columns(connection, "sbtest2") == [
        ("id", "int", "NO", None, ""),
        ("k", "int", "NO", "0", ""),
    ]
    assert keys(connection, "sbtest2") == [("PRIMARY", "id", True)]


def test_sysbench05_columns_are_unsigned_and_k_is_indexed_at_once(connection):
    workload = sysbench05.oltp_complex_rw(max_rows=2_000_000)
    (table,) = create_tables(connection, workload)
    assert table == "sbtest"
    assert columns(connection, table) == sbtest_columns("int unsigned", "auto_increment")
    assert keys(connection, table) == [("k", "k", False), ("PRIMARY", "id", True)]
    assert "max_rows=2000000" in table_facts(connection, table)[1]


@pytest.mark.parametrize(
    ("generator", "length", "groups"), [(sbtest.C_TEXT, 119, 10), (sbtest.PAD_TEXT, 59, 5)]
)
def test_texts_are_groups_of_eleven_digits(generator, length, groups):
    for text in _core.draw(generator.spec(), 100, seed=1):
        assert len(text) == length
        assert [len(group) for group in text.split("-")] == [11] * groups
        assert all(group.isdecimal() for group in text.split("-"))


@pytest.mark.parametrize("name", [name for name in workloads.names() if name != "tprocc"])
def test_every_statement_can_be_prepared(connection, name):
    workload = workloads.find(name)
    create_tables(connection, workload)
    ((_, _, steps),) = workload.spec()["transactions"]
    for sql in executed_sql(steps):
        text = sql.replace("{table}", "1").replace("'", "''")
        connection.query(f"PREPARE statement FROM '{text}'")


def executed_sql(steps):
    for step in steps:
        if step[0] == "repeat":
            yield from executed_sql(step[2])
        elif step[0] == "execute":
            yield step[2]
