"""TPROC-C's nine tables as they are defined, in both flavours."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchkit._core import draw
from benchkit.errors import WorkloadError
from benchkit.suites import parts
from benchkit.workloads import Transaction, Workload
from benchkit.workloads import tprocc_data as data
from benchkit.workloads import tprocc_schema as schema

HAMMERDB6 = Path(__file__).parent / "data" / "tprocc_hammerdb6.sql"


def create(scratch, name, **options):
    scratch.query(schema.create_table(schema.Schema(**options), name))
    return scratch.query(f"SHOW CREATE TABLE {name}")[0][1]


def test_tables_are_defined_as_hammerdb_defines_them(scratch):
    made = [create(scratch, name, warehouses=1) for name in schema.TABLES]
    assert ";\n".join(made) + ";\n" == HAMMERDB6.read_text()


def test_spec_has_exact_amounts_and_no_needless_null(scratch):
    for name in schema.TABLES:
        create(scratch, name, warehouses=1, flavour="spec")
    described = scratch.query(
        "SELECT table_name, column_name, column_type FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND (is_nullable = 'YES' OR column_name = 'ol_amount')"
    )
    assert sorted(described) == [
        ("order_line", "ol_amount", "decimal(6,2)"),
        ("order_line", "ol_delivery_d", "datetime"),
        ("orders", "o_carrier_id", "int(11)"),
    ]


@pytest.mark.parametrize(
    ("flavour", "warehouses", "partitions"),
    [("hammerdb6", 199, 0), ("hammerdb6", 200, 2), ("hammerdb6", 1000, 10)]
    + [("spec", 199, 2), ("spec", 100, 0)],
)
def test_order_lines_are_partitioned_from_some_number_of_warehouses_on(
    scratch, flavour, warehouses, partitions
):
    made = create(scratch, "order_line", warehouses=warehouses, flavour=flavour, partitions=True)
    assert ("PARTITION BY HASH (`ol_w_id`)" in made) == bool(partitions)
    found = re.search(r"PARTITIONS (\d+)", made)
    assert int(found[1] if found else 0) == partitions


def test_history_may_have_an_invisible_primary_key(scratch):
    made = schema.Schema(1, history_pk=True)
    (history,) = (table for table in data.tables(made) if table.name == "history")
    assert "`id` bigint(20) NOT NULL INVISIBLE AUTO_INCREMENT" in create(
        scratch, "history", warehouses=1, history_pk=True
    )
    assert draw(dict(history.columns)["id"].spec(), 3).tolist() == [1, 2, 3]
    scratch.query("INSERT INTO history VALUES (1, 1, 1, 1, 1, NOW(), 1, 'a')")


def test_engine_is_the_one_asked_for(scratch):
    assert "ENGINE=Aria" in create(scratch, "item", warehouses=1, storage_engine="Aria")


@pytest.mark.parametrize("flavour", schema.FLAVOURS)
def test_every_column_is_filled(flavour):
    for table in data.tables(schema.Schema(2, flavour)):
        columns = [table.lines[0]] if table.lines else []
        columns += [column for column, _ in table.columns]
        assert sorted(columns) == sorted(schema.column_names(table.name))


def test_constants_of_last_names_are_as_far_apart_as_the_specification_wants():
    load, run = (each["spec"] for each in (data.LAST_NAME_C_LOAD, data.LAST_NAME_C_RUN))
    assert abs(run - load) in set(range(65, 120)) - {96, 112}
    assert {load, run} <= set(range(256))
    assert data.LAST_NAME_C_LOAD["hammerdb6"] == data.LAST_NAME_C_RUN["hammerdb6"] == 123


def workload():
    made = data.tables(schema.Schema(3))
    return Workload("tprocc/hammerdb6:load", (Transaction("none", ()),), made)


def test_parts_of_the_load_are_warehouses():
    made = {table.name: table.parts for table in workload().tables}
    assert made["stock"] == ("s_w_id", 100_000)
    assert {name for name, each in made.items() if each} == {
        *("customer", "history", "stock", "orders", "new_order", "order_line")
    }
    assert parts.loads_in_parts(workload())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"existing": "a`b"}, "existing must be the name of a database"),
        ({"existing": "tpcc", "fresh_data": True}, "fresh_data loads"),
        ({"existing": "tpcc", "tables": ()}, "existing is for workloads on TPROC-C's tables"),
    ],
)
def test_existing_that_cannot_be_used_is_refused(changes, message):
    with pytest.raises(WorkloadError, match=message):
        replace(workload(), **changes)
