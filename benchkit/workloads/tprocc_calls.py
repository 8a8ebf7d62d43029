"""TPROC-C's transactions as calls of the stored procedures, in either protocol.

``binary`` is one prepared CALL, whose OUT parameters come back with it. ``hammerdb`` is what
HammerDB sends in its default mode, statement by statement: SET of the user variables that stand
for INOUT parameters, CALL, and SELECT of the variables; DELIVERY is the CALL alone and SLEV has no
SET, which makes 66 statements of 23 transactions.
"""

from benchkit.generators import constant, timestamp
from benchkit.workloads.steps import Execute, If, Let, RegisterType, RolledBack, Source, Step
from benchkit.workloads.tprocc_draws import (
    draw_delivery,
    draw_new_order,
    draw_order_status,
    draw_payment,
    draw_stock_level,
)
from benchkit.workloads.tprocc_options import TproccOptions
from benchkit.workloads.tprocc_rules import (
    AMOUNT_SQL,
    DELIVERY,
    NEW_ORDER,
    ORDER_STATUS,
    PAYMENT,
    STOCK_LEVEL,
)

Steps = dict[str, tuple[Step, ...]]

NOTHING = "nothing"
"""The register that is bound where a procedure only gives something back."""

SET_UP: tuple[Step, ...] = (Let(NOTHING, constant(0)),)
"""What the calls need before the first transaction."""

# NEWORD's OUT parameters, in order. Without a number the order was rolled back.
_ORDER: tuple[tuple[str, RegisterType], ...] = (
    ("discount", "text"),
    ("last", "text"),
    ("credit", "text"),
    ("d_tax", "text"),
    ("w_tax", "text"),
    ("o_id", "integer"),
)
_UNLESS_ORDERED = If("o_id", "==", None, (RolledBack(),))


def call_steps(options: TproccOptions) -> Steps:
    """Return the steps of the five transactions, by name."""
    calls = {"binary": _binary_calls, "hammerdb": _hammerdb_calls}[options.protocol](options)
    return {
        NEW_ORDER: (*draw_new_order(options), *calls[NEW_ORDER], _UNLESS_ORDERED),
        PAYMENT: (*draw_payment(options), *calls[PAYMENT]),
        DELIVERY: (*draw_delivery(options), *calls[DELIVERY]),
        STOCK_LEVEL: (*draw_stock_level(options), *calls[STOCK_LEVEL]),
        ORDER_STATUS: (*draw_order_status(options), *calls[ORDER_STATUS]),
    }


def _call(procedure: str, arguments: tuple[tuple[str, Source | None], ...]) -> str:
    return f"CALL {procedure}({', '.join(sql for sql, _ in arguments)})"


def _execute(
    procedure: str,
    arguments: tuple[tuple[str, Source | None], ...],
    keep: tuple[tuple[str, RegisterType], ...] = (),
) -> Execute:
    """Return the call with (SQL, source) for each argument; None where the SQL has no mark."""
    sources = tuple(source for _, source in arguments if source is not None)
    return Execute(_call(procedure, arguments), sources, keep, name=procedure.lower())


_NOW = ("?", timestamp())


def _marks(*sources: Source) -> tuple[tuple[str, Source], ...]:
    return tuple(("?", source) for source in sources)


def _binary_calls(options: TproccOptions) -> Steps:
    given = ("?", NOTHING)
    payer = _marks("w_id", "d_id", "c_w_id", "c_d_id", "c_id", "by_name")
    amount = (AMOUNT_SQL[options.flavour], "amount")
    arguments = {
        "NEWORD": (
            ("?", "w_id"),
            (str(options.warehouses), None),
            *_marks("d_id", "c_id", "ol_cnt"),
            *[given] * 6,
            _NOW,
        ),
        "PAYMENT": (*payer, amount, ("?", "c_last"), *[given] * 24, _NOW),
        "DELIVERY": (*_marks("w_id", "carrier_id"), _NOW),
        "SLEV": (*_marks("w_id", "stock_d_id", "threshold"), given),
        "OSTAT": (*_marks("w_id", "d_id", "c_id", "by_name", "c_last"), *[given] * 6),
    }
    return {
        NEW_ORDER: (_execute("NEWORD", arguments["NEWORD"], _ORDER),),
        PAYMENT: (_execute("PAYMENT", arguments["PAYMENT"]),),
        DELIVERY: (_execute("DELIVERY", arguments["DELIVERY"]),),
        STOCK_LEVEL: (_execute("SLEV", arguments["SLEV"]),),
        ORDER_STATUS: (_execute("OSTAT", arguments["OSTAT"]),),
    }


_ADDRESS = ("street_1", "street_2", "city", "state", "zip")
_PAYMENT_OUT = (
    *(f"p_w_{name}" for name in _ADDRESS),
    *(f"p_d_{name}" for name in _ADDRESS),
    *("p_c_first", "p_c_middle"),
    *(f"p_c_{name}" for name in _ADDRESS),
    *("p_c_phone", "p_c_since", "p_c_credit", "p_c_credit_lim", "p_c_discount"),
    *("p_c_balance", "p_c_data"),
)
_OSTAT_OUT = tuple(
    f"os_{name}" for name in ("c_first", "c_middle", "c_balance", "o_id", "entdate", "o_carrier_id")
)
_NEWORD_OUT = ("disc", "last", "credit", "dtax", "wtax", "next_o_id")


def _variables(*names: str) -> tuple[tuple[str, None], ...]:
    return tuple((f"@{name}", None) for name in names)


def _select(procedure: str, names: tuple[str, ...], keep: bool = False) -> Execute:
    sql = "SELECT " + ", ".join(f"@{name}" for name in names)
    return Execute(sql, keep=_ORDER if keep else (), name=f"{procedure.lower()}_results")


def _hammerdb_calls(options: TproccOptions) -> Steps:
    payer = _marks("w_id", "d_id", "c_w_id", "c_d_id")
    amount = (AMOUNT_SQL[options.flavour], "amount")
    by_name = ("?", "by_name")
    arguments = {
        "NEWORD": (
            ("?", "w_id"),
            (str(options.warehouses), None),
            *_marks("d_id", "c_id", "ol_cnt"),
            *_variables(*_NEWORD_OUT),
            _NOW,
        ),
        "PAYMENT": (
            *payer,
            *_variables("p_c_id"),
            by_name,
            amount,
            *_variables("p_c_last", *_PAYMENT_OUT),
            _NOW,
        ),
        "DELIVERY": (*_marks("w_id", "carrier_id"), _NOW),
        "SLEV": (*_marks("w_id", "stock_d_id", "threshold"), *_variables("stock_count")),
        "OSTAT": (
            *_marks("w_id", "d_id"),
            *_variables("os_c_id"),
            by_name,
            *_variables("os_c_last", *_OSTAT_OUT),
        ),
    }
    return {
        NEW_ORDER: (
            Execute("SET @next_o_id = 0", name="neword_variables"),
            _execute("NEWORD", arguments["NEWORD"]),
            _select("NEWORD", _NEWORD_OUT, keep=True),
        ),
        PAYMENT: (
            Execute(
                "SET @p_c_id = ?, @p_c_last = ?, @p_c_credit = 0, @p_c_balance = 0",
                ("c_id", "c_last"),
                name="payment_variables",
            ),
            _execute("PAYMENT", arguments["PAYMENT"]),
            _select("PAYMENT", ("p_c_id", "p_c_last", *_PAYMENT_OUT)),
        ),
        DELIVERY: (_execute("DELIVERY", arguments["DELIVERY"]),),
        STOCK_LEVEL: (_execute("SLEV", arguments["SLEV"]), _select("SLEV", ("stock_count",))),
        ORDER_STATUS: (
            Execute("SET @os_c_id = ?, @os_c_last = ?", ("c_id", "c_last"), name="ostat_variables"),
            _execute("OSTAT", arguments["OSTAT"]),
            _select("OSTAT", ("os_c_id", "os_c_last", *_OSTAT_OUT)),
        ),
    }
