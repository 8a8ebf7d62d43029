"""TPROC-C's new order as client SQL."""

from benchkit.generators import constant, timestamp, uniform
from benchkit.workloads.steps import (
    Begin,
    Calculate,
    Choose,
    Commit,
    Execute,
    If,
    Let,
    Offset,
    Repeat,
    Source,
    Step,
)
from benchkit.workloads.tprocc_data import DISTRICTS
from benchkit.workloads.tprocc_draws import draw_new_order, draw_other_warehouse
from benchkit.workloads.tprocc_options import TproccOptions
from benchkit.workloads.tprocc_rules import DRAWS, REMOTE_LINE_PERCENT, UNUSED_ITEM
from benchkit.workloads.tprocc_schema import HAMMERDB, SPEC

_DISTS = ", ".join(f"s_dist_{number:02}" for number in range(1, DISTRICTS + 1))
_PRICE = "CAST(? AS DECIMAL(5,2))"
_RATE = "CAST(? AS DECIMAL(4,4))"

_LINE_AMOUNT = {
    HAMMERDB: f"CAST(? * {_PRICE} * (1 + {_RATE} + {_RATE}) * (1 - {_RATE}) AS DECIMAL(6,2))",
    SPEC: f"? * {_PRICE}",
}
_LINE_AMOUNT_SOURCES: dict[str, tuple[Source, ...]] = {
    HAMMERDB: ("quantity", "price", "w_tax", "d_tax", "discount"),
    SPEC: ("quantity", "price"),
}

_LOCK = {HAMMERDB: "", SPEC: " FOR UPDATE"}

_TAKE = Let("in_stock", Calculate("in_stock", "-", "quantity"))
_TAKE_AND_FILL = (_TAKE, Let("in_stock", Offset("in_stock", 91)))
_TAKE_STOCK: dict[str, tuple[Step, ...]] = {
    HAMMERDB: (If("in_stock", ">", "quantity", (_TAKE,), _TAKE_AND_FILL),),
    SPEC: (
        Let("wanted", Offset("quantity", 10)),
        If("in_stock", ">=", "wanted", (_TAKE,), _TAKE_AND_FILL),
    ),
}

_UPDATE_STOCK = {
    HAMMERDB: Execute(
        "UPDATE stock SET s_quantity = ? WHERE s_i_id = ? AND s_w_id = ?",
        ("in_stock", "item", "supplier"),
        name="update_stock",
    ),
    SPEC: Execute(
        "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, "
        "s_remote_cnt = s_remote_cnt + ? WHERE s_i_id = ? AND s_w_id = ?",
        ("in_stock", "quantity", "remote", "item", "supplier"),
        name="update_stock",
    ),
}


def _draw_supplier(options: TproccOptions) -> tuple[Step, ...]:
    at_home = (Let("supplier", Offset("w_id", 0)), Let("remote", constant(0)))
    if options.warehouses == 1:
        return at_home
    elsewhere = (
        *draw_other_warehouse(options, "supplier"),
        Let("remote", constant(1)),
        Let("all_local", constant(0)),
    )
    remote = REMOTE_LINE_PERCENT
    return (Choose(((100 - remote, at_home), (remote, elsewhere))),)


def _order_line(options: TproccOptions) -> tuple[Step, ...]:
    flavour = options.flavour
    unused = (If("unused", "==", 1, (Let("item", constant(UNUSED_ITEM)),)),)
    return (
        Let("line", Offset("line", 1)),
        Let("item", DRAWS[flavour].item),
        If("line", "==", "ol_cnt", unused),
        *_draw_supplier(options),
        Let("quantity", uniform(1, 10)),
        Execute(
            "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?",
            ("item",),
            keep=(("price", "text"),),
            rollback_if_none=True,
            name="select_item",
        ),
        Execute(
            f"SELECT s_quantity, ELT(?, {_DISTS}), s_data, {_DISTS} "
            f"FROM stock WHERE s_i_id = ? AND s_w_id = ?{_LOCK[flavour]}",
            ("d_id", "item", "supplier"),
            keep=(("in_stock", "integer"), ("dist_info", "text")),
            name="select_stock",
        ),
        *_TAKE_STOCK[flavour],
        _UPDATE_STOCK[flavour],
        Execute(
            "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, "
            "ol_supply_w_id, ol_quantity, ol_dist_info, ol_amount) "
            f"VALUES (?, ?, ?, ?, ?, ?, ?, ?, {_LINE_AMOUNT[flavour]})",
            (
                *("o_id", "d_id", "w_id", "line", "item", "supplier", "quantity", "dist_info"),
                *_LINE_AMOUNT_SOURCES[flavour],
            ),
            name="insert_order_line",
        ),
    )


def new_order(options: TproccOptions) -> tuple[Step, ...]:
    """Return the steps of a new order."""
    return (
        *draw_new_order(options),
        Let("unused", uniform(1, DRAWS[options.flavour].unused_item_in)),
        Let("line", constant(0)),
        Let("all_local", constant(1)),
        Execute(
            "SELECT c_discount, w_tax, c_last, c_credit FROM customer, warehouse "
            "WHERE w_id = ? AND c_w_id = ? AND c_d_id = ? AND c_id = ?",
            ("w_id", "w_id", "d_id", "c_id"),
            keep=(("discount", "text"), ("w_tax", "text")),
            name="select_customer_warehouse",
        ),
        Begin(),
        Execute(
            "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE",
            ("w_id", "d_id"),
            keep=(("o_id", "integer"), ("d_tax", "text")),
            name="select_district_for_update",
        ),
        Execute(
            "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?",
            ("w_id", "d_id"),
            name="update_district",
        ),
        Repeat("ol_cnt", _order_line(options)),
        Execute(
            "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            ("o_id", "d_id", "w_id", "c_id", timestamp(), "ol_cnt", "all_local"),
            name="insert_order",
        ),
        Execute(
            "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)",
            ("o_id", "d_id", "w_id"),
            name="insert_new_order",
        ),
        Commit(),
    )
