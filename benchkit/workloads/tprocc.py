"""TPROC-C: the workload derived from TPC-C that HammerDB made common, in two flavours.

``hammerdb6`` does what HammerDB 6 does, deviation by deviation, so that its figures can be put
beside HammerDB's; ``spec`` follows TPC-C 5.11. Either runs by stored procedures
(`tprocc_procedures`) or as client SQL, on the same tables (`tprocc_schema`), with the same draws
(`tprocc_rules`, `tprocc_draws`).
"""

from dataclasses import replace

from benchkit.generators import constant, exponential
from benchkit.workloads.factory import Family
from benchkit.workloads.model import Transaction, Workload
from benchkit.workloads.options import Need
from benchkit.workloads.steps import Step
from benchkit.workloads.tprocc_calls import SET_UP, call_steps
from benchkit.workloads.tprocc_client import client_steps
from benchkit.workloads.tprocc_conditions import CONDITIONS
from benchkit.workloads.tprocc_data import tables
from benchkit.workloads.tprocc_draws import set_up_steps
from benchkit.workloads.tprocc_options import TproccOptions, session_statements
from benchkit.workloads.tprocc_procedures import create_procedures
from benchkit.workloads.tprocc_rules import DRAWS, KEYING_S, MIX, RATES
from benchkit.workloads.tprocc_schema import ANALYZE, DATABASE_OPTIONS, HAMMERDB, SPEC, Schema

IDENTITIES = {HAMMERDB: "tprocc/hammerdb6", SPEC: "tpcc/spec"}
"""Flavour -> the identity of its workload."""

_MIXES = {HAMMERDB: "weights", SPEC: "deck"}


def _settle(name: str, options: TproccOptions) -> TproccOptions:
    """Fill in what depends on the flavour."""
    return replace(options, mix=options.mix or _MIXES[options.flavour])


_FAMILY = Family(
    TproccOptions,
    tuple(IDENTITIES.values()),
    {"protocol": (Need("procedures", (True,)),)},
    _settle,
    {identity: {"flavour": flavour} for flavour, identity in IDENTITIES.items()},
)


def _transaction(options: TproccOptions, name: str, steps: tuple[Step, ...]) -> Transaction:
    weight = float(MIX[name])
    if not options.key_and_think:
        return Transaction(name, steps, weight)
    draws = DRAWS[options.flavour]
    thinking = exponential(draws.thinking_s[name], draws.thinking_most, draws.whole_seconds)
    return Transaction(name, steps, weight, constant(KEYING_S[name]), thinking)


@_FAMILY.workload(*TproccOptions.__dataclass_fields__)
def tprocc(options: TproccOptions) -> Workload:
    """Order entry at warehouses: TPROC-C, derived from TPC-C, as HammerDB runs it.

    Ten of 23 transactions are new orders, ten payments, and one each a delivery, a look at stock
    levels and one at an order.
    """
    schema = Schema(
        options.warehouses,
        options.flavour,
        options.storage_engine,
        options.partitions,
        options.history_pk,
    )
    steps = call_steps(options) if options.procedures else client_steps(options)
    return Workload(
        identity=IDENTITIES[options.flavour],
        transactions=tuple(_transaction(options, name, steps[name]) for name in MIX),
        tables=tables(schema),
        session=session_statements(options),
        routines=(*create_procedures(options.flavour), *ANALYZE),  # both modes share their data
        database_options=DATABASE_OPTIONS,
        existing=options.existing,
        set_up=(*(SET_UP if options.procedures else ()), *set_up_steps(options)),
        conditions=CONDITIONS[options.flavour],
        rates=RATES,
        choice="deck" if options.mix == "deck" else "weights",
    )
