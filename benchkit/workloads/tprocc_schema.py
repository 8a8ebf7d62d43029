"""The nine tables of TPROC-C, as HammerDB 6 makes them and as the specification has them.

Both flavours have the same columns in the same order, the same keys, and no foreign keys.
``hammerdb6`` differs from TPC-C (revision 5.11, clause 1.3) in its types: every column that is
not in a primary key may be NULL, and an order line's amount is an integer. What the tables are
filled with is in `tprocc_data`.
"""

from dataclasses import dataclass

HAMMERDB = "hammerdb6"
SPEC = "spec"
FLAVOURS = (HAMMERDB, SPEC)

TABLES = (
    *("item", "warehouse", "district", "customer", "history"),
    *("stock", "orders", "new_order", "order_line"),
)
"""The names of the tables, in the order in which they are made."""

DATABASE_OPTIONS = "CHARACTER SET latin1 COLLATE latin1_swedish_ci"
"""What the database is made with, so that procedures have the tables' character set."""

ANALYZE = tuple(f"ANALYZE TABLE {name}" for name in TABLES)
"""What runs when the tables are loaded and the procedures are made."""

PARTITIONED_FROM = 200
"""The least number of warehouses for which HammerDB makes partitions."""

Columns = tuple[tuple[str, str] | tuple[str, str, str], ...]
"""(name, type) or, where the specification's type is another, (name, type, its type)."""


@dataclass(frozen=True, slots=True)
class Schema:
    """Which tables, and how large.

    Parameters
    ----------
    warehouses : int
    flavour : {"hammerdb6", "spec"}
    storage_engine : str
    partitions : bool
        Spread order_line over round(warehouses / 100) partitions; ``hammerdb6`` does that from
        200 warehouses on, as HammerDB does, and ``spec`` wherever it makes two or more.
    history_pk : bool
        Give history an invisible primary key, which replication and clusters need.
    """

    warehouses: int
    flavour: str = HAMMERDB
    storage_engine: str = "InnoDB"
    partitions: bool = False
    history_pk: bool = False


def _address(prefix: str) -> Columns:
    return (
        (f"{prefix}_street_1", "VARCHAR(20)"),
        (f"{prefix}_street_2", "VARCHAR(20)"),
        (f"{prefix}_city", "VARCHAR(20)"),
        (f"{prefix}_state", "CHAR(2)"),
        (f"{prefix}_zip", "CHAR(9)"),
    )


_COLUMNS: dict[str, Columns] = {
    "item": (
        ("i_id", "INT(6)"),
        ("i_im_id", "INT"),
        ("i_name", "VARCHAR(24)"),
        ("i_price", "DECIMAL(5,2)"),
        ("i_data", "VARCHAR(50)"),
    ),
    "warehouse": (
        ("w_id", "INT(6)"),
        ("w_ytd", "DECIMAL(12,2)"),
        ("w_tax", "DECIMAL(4,4)"),
        ("w_name", "VARCHAR(10)"),
        *_address("w"),
    ),
    "district": (
        ("d_id", "INT(2)"),
        ("d_w_id", "INT(6)"),
        ("d_ytd", "DECIMAL(12,2)"),
        ("d_tax", "DECIMAL(4,4)"),
        ("d_next_o_id", "INT"),
        ("d_name", "VARCHAR(10)"),
        *_address("d"),
    ),
    "customer": (
        ("c_id", "INT(5)"),
        ("c_d_id", "INT(2)"),
        ("c_w_id", "INT(6)"),
        ("c_first", "VARCHAR(16)"),
        ("c_middle", "CHAR(2)"),
        ("c_last", "VARCHAR(16)"),
        *_address("c"),
        ("c_phone", "CHAR(16)"),
        ("c_since", "DATETIME"),
        ("c_credit", "CHAR(2)"),
        ("c_credit_lim", "DECIMAL(12,2)"),
        ("c_discount", "DECIMAL(4,4)"),
        ("c_balance", "DECIMAL(12,2)"),
        ("c_ytd_payment", "DECIMAL(12,2)"),
        ("c_payment_cnt", "INT(8)"),
        ("c_delivery_cnt", "INT(8)"),
        ("c_data", "VARCHAR(500)"),
    ),
    "history": (
        ("h_c_id", "INT"),
        ("h_c_d_id", "INT"),
        ("h_c_w_id", "INT"),
        ("h_d_id", "INT"),
        ("h_w_id", "INT"),
        ("h_date", "DATETIME"),
        ("h_amount", "DECIMAL(6,2)"),
        ("h_data", "VARCHAR(24)"),
    ),
    "stock": (
        ("s_i_id", "INT(6)"),
        ("s_w_id", "INT(6)"),
        ("s_quantity", "INT(6)"),
        *((f"s_dist_{number:02}", "CHAR(24)") for number in range(1, 11)),
        ("s_ytd", "BIGINT(10)"),
        ("s_order_cnt", "INT(6)"),
        ("s_remote_cnt", "INT(6)"),
        ("s_data", "VARCHAR(50)"),
    ),
    "orders": (
        ("o_id", "INT"),
        ("o_w_id", "INT"),
        ("o_d_id", "INT"),
        ("o_c_id", "INT"),
        ("o_carrier_id", "INT"),
        ("o_ol_cnt", "INT"),
        ("o_all_local", "INT"),
        ("o_entry_d", "DATETIME"),
    ),
    "new_order": (("no_w_id", "INT"), ("no_d_id", "INT"), ("no_o_id", "INT")),
    "order_line": (
        ("ol_w_id", "INT"),
        ("ol_d_id", "INT"),
        ("ol_o_id", "INT"),
        ("ol_number", "INT"),
        ("ol_i_id", "INT"),
        ("ol_delivery_d", "DATETIME"),
        ("ol_amount", "INT", "DECIMAL(6,2)"),
        ("ol_supply_w_id", "INT"),
        ("ol_quantity", "INT"),
        ("ol_dist_info", "CHAR(24)"),
    ),
}

PRIMARY_KEYS: dict[str, tuple[str, ...]] = {
    "item": ("i_id",),
    "warehouse": ("w_id",),
    "district": ("d_w_id", "d_id"),
    "customer": ("c_w_id", "c_d_id", "c_id"),
    "history": (),
    "stock": ("s_w_id", "s_i_id"),
    "orders": ("o_w_id", "o_d_id", "o_id"),
    "new_order": ("no_w_id", "no_d_id", "no_o_id"),
    "order_line": ("ol_w_id", "ol_d_id", "ol_o_id", "ol_number"),
}
"""Table -> the columns of its primary key, in order; history has none."""

LEAST_ROWS = {
    "warehouse": (1, True),
    "district": (10, True),
    "customer": (30_000, True),
    "history": (30_000, True),
    "item": (100_000, False),
    "stock": (100_000, True),
    "orders": (30_000, True),
    "new_order": (8_100, True),
    "order_line": (297_000, True),
}
"""The least rows that a whole schema has, and whether that is for each warehouse."""

WITHOUT_INDEX = {"history"}

_KEYS = {
    "customer": "KEY c_w_id (c_w_id, c_d_id, c_last(16), c_first(16))",
    "orders": "KEY o_w_id (o_w_id, o_d_id, o_c_id, o_id)",
}

_NULL_IN_SPEC = {"o_carrier_id", "ol_delivery_d"}  # until the order is delivered


def column_names(table: str) -> tuple[str, ...]:
    """Return the names of a table's columns, in order."""
    return tuple(column[0] for column in _COLUMNS[table])


def create_table(schema: Schema, name: str) -> str:
    """Return the CREATE TABLE statement of one of the nine tables."""
    lines = [_define(schema, name, *column) for column in _COLUMNS[name]]
    if name == "history" and schema.history_pk:
        lines.append("id BIGINT NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY")
    if PRIMARY_KEYS[name]:
        lines.append(f"PRIMARY KEY ({', '.join(PRIMARY_KEYS[name])})")
    if name in _KEYS:
        lines.append(_KEYS[name])
    body = ",\n  ".join(lines)
    end = f") ENGINE = {schema.storage_engine} DEFAULT {DATABASE_OPTIONS}"
    return f"CREATE TABLE {name} (\n  {body}\n{end}{_partitions(schema, name)}"


def _define(schema: Schema, table: str, name: str, sql_type: str, spec_type: str = "") -> str:
    kind = (schema.flavour == SPEC and spec_type) or sql_type
    collation = " COLLATE latin1_bin" if "CHAR" in kind else ""
    return f"{name} {kind}{collation} {'NULL' if _may_be_null(schema, table, name) else 'NOT NULL'}"


def _may_be_null(schema: Schema, table: str, name: str) -> bool:
    if schema.flavour == SPEC:
        return name in _NULL_IN_SPEC
    return name not in PRIMARY_KEYS[table]


def _partitions(schema: Schema, name: str) -> str:
    count = round(schema.warehouses / 100)
    least = PARTITIONED_FROM if schema.flavour == HAMMERDB else 0
    if name != "order_line" or not schema.partitions or schema.warehouses < least or count < 2:
        return ""
    return f" PARTITION BY HASH (ol_w_id) PARTITIONS {count}"
