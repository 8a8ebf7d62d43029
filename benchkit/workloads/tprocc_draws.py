"""Steps that draw what a TPROC-C transaction is about, before its first statement.

They leave it in registers of the names that the columns have: ``w_id`` (the home warehouse),
``d_id``, ``c_id``, ``c_last``, ``c_w_id`` and ``c_d_id`` (where a customer lives), ``amount``,
``ol_cnt``, ``carrier_id``, ``threshold``, ``by_name`` (1 or 0) and ``stock_d_id``.
"""

from benchkit.generators import constant, uniform
from benchkit.workloads.steps import Calculate, Choose, Let, Offset, Step
from benchkit.workloads.tprocc_data import DISTRICTS
from benchkit.workloads.tprocc_options import TproccOptions
from benchkit.workloads.tprocc_rules import (
    AMOUNTS,
    BY_NAME_PERCENT,
    DRAWS,
    REMOTE_PAYMENT_PERCENT,
)

_TURNS = 2**40  # many times as many as there are warehouses: as good as uniform among them


def set_up_steps(options: TproccOptions) -> tuple[Step, ...]:
    """Return what each worker draws once: its warehouse, and the district of its stock levels."""
    homes: dict[str, tuple[Step, ...]] = {
        "worker": (Let("w_id", uniform(1, options.warehouses)),),
        "all": (),
        "partitioned": (
            Let("owned", Calculate("workers", "+", options.warehouses - 1)),
            Let("owned", Calculate("owned", "//", "workers")),
        ),
    }
    return (*homes[options.home], Let("stock_d_id", uniform(1, DISTRICTS)))


def draw_home(options: TproccOptions) -> tuple[Step, ...]:
    """Return the steps that choose a transaction's warehouse, unless the worker has its own.

    A worker's share are the warehouses w with (w - 1) mod W = (worker - 1) + k * workers mod W for
    k = 0, 1, ...: as many for each, so that some are in two shares where they do not divide.
    """
    homes: dict[str, tuple[Step, ...]] = {
        "worker": (),
        "all": (Let("w_id", uniform(1, options.warehouses)),),
        "partitioned": (
            Let("turn", uniform(0, _TURNS)),
            Let("turn", Calculate("turn", "%", "owned")),
            Let("turn", Calculate("turn", "*", "workers")),
            Let("turn", Calculate("turn", "+", "worker")),
            Let("turn", Offset("turn", -1)),
            Let("turn", Calculate("turn", "%", options.warehouses)),
            Let("w_id", Offset("turn", 1)),
        ),
    }
    return homes[options.home]


def draw_other_warehouse(options: TproccOptions, register: str) -> tuple[Step, ...]:
    """Return the steps that draw a warehouse other than the home, if there is another."""
    if options.warehouses == 1:
        return (Let(register, Offset("w_id", 0)),)
    return (
        Let(register, uniform(0, options.warehouses - 2)),
        Let(register, Calculate(register, "+", "w_id")),
        Let(register, Calculate(register, "%", options.warehouses)),
        Let(register, Offset(register, 1)),
    )


def draw_new_order(options: TproccOptions) -> tuple[Step, ...]:
    """Draw district, customer and number of lines."""
    return (
        *draw_home(options),
        Let("d_id", uniform(1, DISTRICTS)),
        Let("c_id", DRAWS[options.flavour].customer),
        Let("ol_cnt", uniform(5, 15)),
    )


def draw_payment(options: TproccOptions) -> tuple[Step, ...]:
    """Draw district, customer and amount; 15 % of the customers live elsewhere."""
    at_home = (Let("c_d_id", Offset("d_id", 0)), Let("c_w_id", Offset("w_id", 0)))
    elsewhere = (
        Let("c_d_id", uniform(1, DISTRICTS)),
        *draw_other_warehouse(options, "c_w_id"),
    )
    return (
        *draw_home(options),
        Let("d_id", uniform(1, DISTRICTS)),
        Choose(
            (
                (100 - REMOTE_PAYMENT_PERCENT, at_home),
                (REMOTE_PAYMENT_PERCENT, elsewhere),
            )
        ),
        *_draw_customer(options),
        Let("amount", AMOUNTS[options.flavour]),
    )


def draw_order_status(options: TproccOptions) -> tuple[Step, ...]:
    """Draw district and customer."""
    return (*draw_home(options), Let("d_id", uniform(1, DISTRICTS)), *_draw_customer(options))


def draw_delivery(options: TproccOptions) -> tuple[Step, ...]:
    """Draw the carrier."""
    return (*draw_home(options), Let("carrier_id", uniform(1, 10)))


def draw_stock_level(options: TproccOptions) -> tuple[Step, ...]:
    """Draw the threshold."""
    return (*draw_home(options), Let("threshold", uniform(10, 20)))


def _draw_customer(options: TproccOptions) -> tuple[Step, ...]:
    """Draw a customer by id, and in 60 % of the cases a last name that is to be looked for."""
    draws = DRAWS[options.flavour]
    by_name = (Let("by_name", constant(1)), Let("c_last", draws.name))
    by_id = (Let("by_name", constant(0)), Let("c_last", constant("")))
    return (
        Let("c_id", draws.customer),
        Choose(((BY_NAME_PERCENT, by_name), (100 - BY_NAME_PERCENT, by_id))),
    )
