"""TPROC-C's transactions as calls of the stored procedures, in either protocol.

``binary`` is one prepared CALL, whose OUT parameters come back with it. ``hammerdb`` takes the
round trips of HammerDB's default mode, statement by statement: SET of the user variables that stand
for INOUT parameters, CALL, and SELECT of the variables; DELIVERY is the CALL alone and SLEV has no
SET, which makes 66 statements of 23 transactions. HammerDB sends them as text; here they are
prepared like all statements, which saves the server parsing three short texts.
"""

from dataclasses import dataclass

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

# NEWORD's OUT parameters, in order. With number 0 the order was rolled back.
_ORDER: tuple[tuple[str, RegisterType], ...] = (
    ("discount", "text"),
    ("last", "text"),
    ("credit", "text"),
    ("d_tax", "text"),
    ("w_tax", "text"),
    ("o_id", "integer"),
)
_UNLESS_ORDERED = If("o_id", "==", 0, (RolledBack(),))


@dataclass(frozen=True, slots=True)
class _Argument:
    """One argument: what is given, as SQL with its source, and the variable it comes back in."""

    source: Source | None = None
    sql: str = "?"
    variable: str = ""


def _given(*sources: Source) -> tuple[_Argument, ...]:
    return tuple(_Argument(source) for source in sources)


def _returned(*variables: str) -> tuple[_Argument, ...]:
    return tuple(_Argument(variable=variable) for variable in variables)


def _both(variable: str, source: Source) -> _Argument:
    return _Argument(source, variable=variable)


def _address(prefix: str) -> tuple[_Argument, ...]:
    names = ("street_1", "street_2", "city", "state", "zip")
    return _returned(*(f"{prefix}_{name}" for name in names))


_NOW = _Argument(timestamp())

Arguments = dict[str, tuple[_Argument, ...]]


def _arguments(options: TproccOptions) -> Arguments:
    """Return the arguments of the five procedures, with HammerDB's names for what comes back."""
    return {
        "NEWORD": (
            *_given("w_id", constant(options.warehouses), "d_id", "c_id", "ol_cnt"),
            *_returned("disc", "last", "credit", "dtax", "wtax"),
            _both("next_o_id", NOTHING),
            _NOW,
        ),
        "PAYMENT": (
            *_given("w_id", "d_id", "c_w_id", "c_d_id"),
            _both("p_c_id", "c_id"),
            *_given("by_name"),
            _Argument("amount", AMOUNT_SQL[options.flavour]),
            _both("p_c_last", "c_last"),
            *_address("p_w"),
            *_address("p_d"),
            *_returned("p_c_first", "p_c_middle"),
            *_address("p_c"),
            *_returned("p_c_phone", "p_c_since"),
            _both("p_c_credit", NOTHING),
            *_returned("p_c_credit_lim", "p_c_discount"),
            _both("p_c_balance", NOTHING),
            *_returned("p_c_data"),
            _NOW,
        ),
        "DELIVERY": (*_given("w_id", "carrier_id"), _NOW),
        "SLEV": (*_given("w_id", "stock_d_id", "threshold"), *_returned("stock_count")),
        "OSTAT": (
            *_given("w_id", "d_id"),
            _both("os_c_id", "c_id"),
            *_given("by_name"),
            _both("os_c_last", "c_last"),
            *_returned("os_c_first", "os_c_middle", "os_c_balance"),
            *_returned("os_o_id", "os_entdate", "os_o_carrier_id"),
        ),
    }


def call_steps(options: TproccOptions) -> Steps:
    """Return the steps of the five transactions, by name."""
    make = {"binary": _binary_call, "hammerdb": _hammerdb_call}[options.protocol]
    calls = {name: make(name, listed) for name, listed in _arguments(options).items()}
    return {
        NEW_ORDER: (*draw_new_order(options), *calls["NEWORD"], _UNLESS_ORDERED),
        PAYMENT: (*draw_payment(options), *calls["PAYMENT"]),
        DELIVERY: (*draw_delivery(options), *calls["DELIVERY"]),
        STOCK_LEVEL: (*draw_stock_level(options), *calls["SLEV"]),
        ORDER_STATUS: (*draw_order_status(options), *calls["OSTAT"]),
    }


def _kept(procedure: str) -> tuple[tuple[str, RegisterType], ...]:
    return _ORDER if procedure == "NEWORD" else ()


def _binary_call(procedure: str, arguments: tuple[_Argument, ...]) -> tuple[Step, ...]:
    sql = f"CALL {procedure}({', '.join(argument.sql for argument in arguments)})"
    sources = tuple(NOTHING if a.source is None else a.source for a in arguments)
    return (Execute(sql, sources, _kept(procedure), name=procedure.lower()),)


def _hammerdb_call(procedure: str, arguments: tuple[_Argument, ...]) -> tuple[Step, ...]:
    name = procedure.lower()
    set_first = [a for a in arguments if a.variable and a.source is not None]
    given = [a for a in arguments if not a.variable]
    texts = ", ".join(f"@{a.variable}" if a.variable else a.sql for a in arguments)
    steps = [Execute(f"CALL {procedure}({texts})", _sources(given), name=name)]
    if set_first:
        pairs = ", ".join(f"@{a.variable} = {_value(a)}" for a in set_first)
        sources = _sources([a for a in set_first if a.source != NOTHING])
        steps.insert(0, Execute(f"SET {pairs}", sources, name=f"{name}_variables"))
    if any(a.variable for a in arguments):
        names = ", ".join(f"@{a.variable}" for a in arguments if a.variable)
        steps.append(Execute(f"SELECT {names}", (), _kept(procedure), name=f"{name}_results"))
    return tuple(steps)


def _value(argument: _Argument) -> str:
    return "0" if argument.source == NOTHING else argument.sql


def _sources(arguments: list[_Argument]) -> tuple[Source, ...]:
    return tuple(a.source for a in arguments if a.source is not None)
