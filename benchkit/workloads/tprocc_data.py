"""What the nine tables of TPROC-C are filled with, as HammerDB 6 does and as TPC-C says.

``hammerdb6`` has HammerDB's own distributions: half of the customers have bad credit, taxes are
0.10 to 0.20 in whole percent, what looks like numbers is filled up with zeros at its end, the
customers of the initial orders come from a shuffle that forgets its swaps (some have several
orders, others none), and delivered lines have an amount while others have none. ``spec`` is
TPC-C, revision 5.11, clause 4.3.3.

The rows of a table are numbered warehouse by warehouse, district by district. Times are
constant, so that the same seed gives the same checksums.
"""

from collections.abc import Callable

from benchkit.generators import (
    Generator,
    alphanumeric,
    blocks,
    constant,
    decimal,
    digits,
    joined,
    last_name,
    mix,
    null,
    permutation,
    remaining,
    sequence,
    shared,
    splice,
    template,
    timestamp,
    uniform,
)
from benchkit.workloads.model import Table
from benchkit.workloads.tprocc_schema import HAMMERDB, SPEC, TABLES, Schema, create_table

ITEMS = 100_000
DISTRICTS = 10
CUSTOMERS = 3000
"""In each district; there are as many history rows and orders."""

DELIVERED = 2100
"""The orders of a district that are delivered; the others are new orders."""

NEW_ORDERS = CUSTOMERS - DELIVERED

LAST_NAME_C_LOAD = {HAMMERDB: 123, SPEC: 173}
LAST_NAME_C_RUN = {HAMMERDB: 123, SPEC: 88}
"""The constant C of NURand(255, 0, 999) when loading and when running. TPC-C 2.1.6.1 wants them
65 to 119 apart, but neither 96 nor 112; HammerDB has one for both."""

Columns = tuple[tuple[str, Generator], ...]

_ORDERED_NAMES = 1000  # the first customers of a district have one last name each
_ORIGINAL_PERCENT = 10
_BAD_CREDIT_PERCENT = {HAMMERDB: 50, SPEC: 10}
_ORIGINAL_CUT = {HAMMERDB: 9, SPEC: 8}  # HammerDB takes out one more than it puts in
_TAX = {HAMMERDB: decimal(10, 20, 2), SPEC: decimal(0, 2000, 4)}
_DISCOUNT = {HAMMERDB: decimal(0, 50, 2), SPEC: decimal(0, 5000, 4)}
_ZIP_END = constant("11111")
_ZIP = {
    HAMMERDB: joined(digits(0, 9999, 4, left=True), _ZIP_END),
    SPEC: template("####11111"),
}
_PHONE_HALF = digits(0, 99_999_999, 8, left=True)
_PHONE = {HAMMERDB: joined(_PHONE_HALF, _PHONE_HALF), SPEC: template("#" * 16)}
_ORDERING_CUSTOMER = {
    HAMMERDB: remaining(1, CUSTOMERS),
    SPEC: permutation(1, CUSTOMERS, reshuffled=True),
}
_NOTHING = constant("0.00")
_AMOUNT = {
    HAMMERDB: blocks((DELIVERED, decimal(10, 10_000, 2)), (NEW_ORDERS, _NOTHING)),
    SPEC: blocks((DELIVERED, _NOTHING), (NEW_ORDERS, decimal(1, 999_999, 2))),
}
_LINES = shared("o_ol_cnt", uniform(5, 15))
_TIME = timestamp(1_767_225_600)
_DISTRICT_INFO = alphanumeric(24, 24)
_NAME = alphanumeric(6, 10)
_STREET = alphanumeric(10, 20)


def tables(schema: Schema) -> tuple[Table, ...]:
    """Return the nine tables with all that fills them."""
    return tuple(_MAKERS[name](schema) for name in TABLES)


def _warehouse_of(rows: int) -> Generator:
    """Return the warehouse of a row, of tables with so many rows in each."""
    return sequence(every=rows)


def _district_of(rows: int) -> Generator:
    """Return the district of a row, of tables with so many rows in each."""
    return sequence(every=rows, cycle=DISTRICTS)


def _address(schema: Schema, prefix: str) -> Columns:
    return (
        (f"{prefix}_street_1", _STREET),
        (f"{prefix}_street_2", _STREET),
        (f"{prefix}_city", _STREET),
        (f"{prefix}_state", alphanumeric(2, 2)),
        (f"{prefix}_zip", _ZIP[schema.flavour]),
    )


def _data(schema: Schema) -> Generator:
    text = alphanumeric(26, 50)
    original = splice(text, "original", _ORIGINAL_CUT[schema.flavour])
    return mix((_ORIGINAL_PERCENT, original), (100 - _ORIGINAL_PERCENT, text))


def _item(schema: Schema) -> Table:
    columns = (
        ("i_id", sequence()),
        ("i_im_id", uniform(1, 10_000)),
        ("i_name", alphanumeric(14, 24)),
        ("i_price", decimal(100, 10_000, 2)),
        ("i_data", _data(schema)),
    )
    return Table("item", create_table(schema, "item"), columns, rows=ITEMS)


def _warehouse(schema: Schema) -> Table:
    columns = (
        ("w_id", sequence()),
        ("w_ytd", constant(300_000)),
        ("w_tax", _TAX[schema.flavour]),
        ("w_name", _NAME),
        *_address(schema, "w"),
    )
    return Table("warehouse", create_table(schema, "warehouse"), columns, rows=schema.warehouses)


def _district(schema: Schema) -> Table:
    columns = (
        ("d_id", _district_of(1)),
        ("d_w_id", _warehouse_of(DISTRICTS)),
        ("d_ytd", constant(30_000)),
        ("d_tax", _TAX[schema.flavour]),
        ("d_next_o_id", constant(CUSTOMERS + 1)),
        ("d_name", _NAME),
        *_address(schema, "d"),
    )
    rows = schema.warehouses * DISTRICTS
    return Table("district", create_table(schema, "district"), columns, rows=rows)


def _by_warehouse(
    schema: Schema, name: str, columns: Columns, rows: int, lines: tuple[str, Generator] | None
) -> Table:
    """Return a table that is loaded warehouse by warehouse, so many rows for each."""
    warehouse = next(column for column, _ in columns if column.endswith("_w_id"))
    return Table(
        name,
        create_table(schema, name),
        columns,
        rows=rows * schema.warehouses,
        lines=lines,
        parts=(warehouse, rows),
    )


def _customer(schema: Schema) -> Table:
    flavour = schema.flavour
    names = last_name(255, 0, 999, LAST_NAME_C_LOAD[flavour])
    bad = _BAD_CREDIT_PERCENT[flavour]
    columns = (
        ("c_id", sequence(cycle=CUSTOMERS)),
        ("c_d_id", _district_of(CUSTOMERS)),
        ("c_w_id", _warehouse_of(CUSTOMERS * DISTRICTS)),
        ("c_first", alphanumeric(8, 16)),
        ("c_middle", constant("OE")),
        (
            "c_last",
            blocks((_ORDERED_NAMES, last_name(in_order=True)), (CUSTOMERS - _ORDERED_NAMES, names)),
        ),
        *_address(schema, "c"),
        ("c_phone", _PHONE[flavour]),
        ("c_since", _TIME),
        ("c_credit", mix((bad, constant("BC")), (100 - bad, constant("GC")))),
        ("c_credit_lim", constant(50_000)),
        ("c_discount", _DISCOUNT[flavour]),
        ("c_balance", constant(-10)),
        ("c_ytd_payment", constant(10)),
        ("c_payment_cnt", constant(1)),
        ("c_delivery_cnt", constant(0)),
        ("c_data", alphanumeric(300, 500)),
    )
    return _by_warehouse(schema, "customer", columns, CUSTOMERS * DISTRICTS, None)


def _history(schema: Schema) -> Table:
    district, warehouse = _district_of(CUSTOMERS), _warehouse_of(CUSTOMERS * DISTRICTS)
    columns: Columns = (
        ("h_c_id", sequence(cycle=CUSTOMERS)),
        ("h_c_d_id", district),
        ("h_c_w_id", warehouse),
        ("h_d_id", district),
        ("h_w_id", warehouse),
        ("h_date", _TIME),
        ("h_amount", constant(10)),
        ("h_data", alphanumeric(12, 24)),
    )
    if schema.history_pk:
        columns += (("id", sequence()),)  # else it would depend on which thread came first
    return _by_warehouse(schema, "history", columns, CUSTOMERS * DISTRICTS, None)


def _stock(schema: Schema) -> Table:
    columns = (
        ("s_i_id", sequence(cycle=ITEMS)),
        ("s_w_id", _warehouse_of(ITEMS)),
        ("s_quantity", uniform(10, 100)),
        *((f"s_dist_{number:02}", _DISTRICT_INFO) for number in range(1, DISTRICTS + 1)),
        ("s_ytd", constant(0)),
        ("s_order_cnt", constant(0)),
        ("s_remote_cnt", constant(0)),
        ("s_data", _data(schema)),
    )
    return _by_warehouse(schema, "stock", columns, ITEMS, None)


def _orders(schema: Schema) -> Table:
    columns = (
        ("o_id", sequence(cycle=CUSTOMERS)),
        ("o_w_id", _warehouse_of(CUSTOMERS * DISTRICTS)),
        ("o_d_id", _district_of(CUSTOMERS)),
        ("o_c_id", _ORDERING_CUSTOMER[schema.flavour]),
        ("o_carrier_id", blocks((DELIVERED, uniform(1, 10)), (NEW_ORDERS, null()))),
        ("o_ol_cnt", _LINES),
        ("o_all_local", constant(1)),
        ("o_entry_d", _TIME),
    )
    return _by_warehouse(schema, "orders", columns, CUSTOMERS * DISTRICTS, None)


def _new_order(schema: Schema) -> Table:
    columns = (
        ("no_w_id", _warehouse_of(NEW_ORDERS * DISTRICTS)),
        ("no_d_id", _district_of(NEW_ORDERS)),
        ("no_o_id", sequence(DELIVERED + 1, cycle=NEW_ORDERS)),
    )
    return _by_warehouse(schema, "new_order", columns, NEW_ORDERS * DISTRICTS, None)


def _order_line(schema: Schema) -> Table:
    warehouse = _warehouse_of(CUSTOMERS * DISTRICTS)
    columns = (
        ("ol_w_id", warehouse),
        ("ol_d_id", _district_of(CUSTOMERS)),
        ("ol_o_id", sequence(cycle=CUSTOMERS)),
        ("ol_i_id", uniform(1, ITEMS)),
        ("ol_delivery_d", blocks((DELIVERED, _TIME), (NEW_ORDERS, null()))),
        ("ol_amount", _AMOUNT[schema.flavour]),
        ("ol_supply_w_id", warehouse),
        ("ol_quantity", constant(5)),
        ("ol_dist_info", _DISTRICT_INFO),
    )
    lines = ("ol_number", _LINES)
    return _by_warehouse(schema, "order_line", columns, CUSTOMERS * DISTRICTS, lines)


_MAKERS: dict[str, Callable[[Schema], Table]] = {
    "item": _item,
    "warehouse": _warehouse,
    "district": _district,
    "customer": _customer,
    "history": _history,
    "stock": _stock,
    "orders": _orders,
    "new_order": _new_order,
    "order_line": _order_line,
}
