"""TPROC-C's transactions as client SQL: what the procedures do, statement by statement.

The statements and their order are HammerDB's without stored procedures, about 28.4 of them for a
transaction; ``spec`` differs where its procedures do. Which rows are read and what is written is
the flavour's, the same as by procedure. (HammerDB's own client SQL differs from its procedures in
some of that: a by-name order status there looks for the orders of another customer.)

What a client computes in HammerDB is computed here too, and not by the server, except for money:
decimals travel as texts and are added where they are written.
"""

from dataclasses import replace

from benchkit.generators import constant, timestamp
from benchkit.workloads.steps import Begin, Commit, Execute, If, Let, Offset, Repeat, Source, Step
from benchkit.workloads.tprocc_client_order import new_order
from benchkit.workloads.tprocc_client_payment import BY_ID, BY_NAME, find_by_name, payment
from benchkit.workloads.tprocc_data import DISTRICTS
from benchkit.workloads.tprocc_draws import draw_delivery, draw_order_status, draw_stock_level
from benchkit.workloads.tprocc_options import TproccOptions
from benchkit.workloads.tprocc_rules import DELIVERY, NEW_ORDER, ORDER_STATUS, PAYMENT, STOCK_LEVEL
from benchkit.workloads.tprocc_schema import SPEC

Steps = dict[str, tuple[Step, ...]]


def client_steps(options: TproccOptions) -> Steps:
    """Return the steps of the five transactions, by name."""
    return {
        NEW_ORDER: new_order(options),
        PAYMENT: payment(options),
        DELIVERY: (*draw_delivery(options), Begin(), *_delivery(options), Commit()),
        STOCK_LEVEL: (*draw_stock_level(options), Begin(), *_STOCK_LEVEL, Commit()),
        ORDER_STATUS: (
            *draw_order_status(options),
            Begin(),
            *_order_status(options),
            Commit(),
        ),
    }


# Delivery

_ORDER: tuple[Source, ...] = ("w_id", "d_id", "o_id")
_OF_ORDER = "o_w_id = ? AND o_d_id = ? AND o_id = ?"
_OF_LINES = "ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"

_DELIVER: tuple[Step, ...] = (
    Execute(
        "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?",
        _ORDER,
        name="delete_new_order",
    ),
    Execute(
        f"SELECT o_c_id FROM orders WHERE {_OF_ORDER}",
        _ORDER,
        keep=(("owner", "integer"),),
        name="select_order_customer",
    ),
    If("owner", "!=", None, (Let("c_id", Offset("owner", 0)),)),
    Execute(
        f"UPDATE orders SET o_carrier_id = ? WHERE {_OF_ORDER}",
        ("carrier_id", *_ORDER),
        name="update_order",
    ),
    Execute(
        f"UPDATE order_line SET ol_delivery_d = ? WHERE {_OF_LINES}",
        (timestamp(), *_ORDER),
        name="update_order_lines",
    ),
    Execute(
        f"SELECT SUM(ol_amount) FROM order_line WHERE {_OF_LINES}",
        _ORDER,
        keep=(("total", "text"),),
        name="sum_order_lines",
    ),
)


def _read_now(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps reading the order's customer with a lock.

    The oldest order, found with a lock, may be newer than the transaction's snapshot.
    """
    return tuple(
        replace(step, sql=f"{step.sql} FOR UPDATE")
        if isinstance(step, Execute) and step.name == "select_order_customer"
        else step
        for step in steps
    )


def _delivery(options: TproccOptions) -> tuple[Step, ...]:
    """Return the ten districts' steps.

    With hammerdb6 a district without an order delivers the number of the one before again.
    """
    spec = options.flavour == SPEC
    counted = ", c_delivery_cnt = c_delivery_cnt + 1" if spec else ""
    deliver = (
        *(_read_now(_DELIVER) if spec else _DELIVER),
        Execute(
            f"UPDATE customer SET c_balance = c_balance + CAST(? AS DECIMAL(12,2)){counted} "
            f"WHERE {BY_ID}",
            ("total", "w_id", "d_id", "c_id"),
            name="update_customer_delivered",
        ),
    )
    take = (Let("o_id", Offset("oldest", 0)),)
    rest = (If("oldest", "!=", None, (*take, *deliver)),)
    district = (
        Let("d_id", Offset("d_id", 1)),
        Execute(
            "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? "
            f"{'ORDER BY no_o_id LIMIT 1 FOR UPDATE' if spec else 'LIMIT 1'}",
            ("w_id", "d_id"),
            keep=(("oldest", "integer"),),
            name="select_oldest_order",
        ),
        *(rest if spec else (If("oldest", "!=", None, take), *deliver)),
    )
    nothing = tuple(Let(register, constant(0)) for register in ("d_id", "o_id", "c_id"))
    return (*nothing, Repeat(DISTRICTS, district))


# Order status and stock level


def _order_status(options: TproccOptions) -> tuple[Step, ...]:
    place = ("w_id", "d_id")
    by_id = Execute(
        f"SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE {BY_ID}",
        (*place, "c_id"),
        name="select_status_customer",
    )
    by_name = Execute(
        f"SELECT c_id, c_balance, c_first, c_middle FROM customer WHERE {BY_NAME} "
        "ORDER BY c_first LIMIT 1 OFFSET ?",
        (*place, "c_last", "skipped"),
        keep=(("c_id", "integer"),),
        name="select_status_customer_by_name",
    )
    return (
        If("by_name", "==", 1, find_by_name(options.flavour, place, by_name), (by_id,)),
        Execute(
            "SELECT o_id, o_carrier_id, o_entry_d FROM orders "
            "WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1",
            (*place, "c_id"),
            keep=(("o_id", "integer"),),
            name="select_last_order",
        ),
        Execute(
            "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d "
            f"FROM order_line WHERE {_OF_LINES}",
            _ORDER,
            name="select_order_lines",
        ),
    )


_STOCK_LEVEL: tuple[Step, ...] = (
    Execute(
        "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?",
        ("w_id", "stock_d_id"),
        keep=(("next", "integer"),),
        name="select_next_order",
    ),
    Execute(
        "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock "
        "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? "
        "AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?",
        ("w_id", "stock_d_id", "next", Offset("next", -20), "w_id", "threshold"),
        name="count_low_stock",
    ),
)
