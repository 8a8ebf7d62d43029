"""TPROC-C transactions with known inputs: steps whose draws are replaced by constants."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scratch import Scratch, make_driver
from tprocc_data import CUSTOMERS, ITEMS

from benchkit import workloads
from benchkit.generators import Generator, constant, uniform
from benchkit.workloads import Choose, Commit, Execute, If, Let, Repeat, Workload
from benchkit.workloads.steps import Step

SMALL = {"item": uniform(1, ITEMS), "c_id": uniform(1, CUSTOMERS)}
"""Draws from what there is in `tprocc_data`."""

MODES = {
    "procedures": {},
    "hammerdb protocol": {"protocol": "hammerdb"},
    "client SQL": {"procedures": False},
}


Values = Mapping[str, int | str | Generator]


def fix(steps: tuple[Step, ...], values: Values) -> tuple[Step, ...]:
    """Return the steps with every draw into one of the registers replaced by its value."""
    return tuple(_fix(step, values) for step in steps)


def _fix(step: Step, values: Values) -> Step:
    match step:
        case Let(register, source) if register in values:
            return Let(register, _fixed(source, values[register]))
        case Repeat():
            return replace(step, steps=fix(step.steps, values))
        case Choose():
            return Choose(tuple((weight, fix(inner, values)) for weight, inner in step.branches))
        case If():
            return replace(step, then=fix(step.then, values), otherwise=fix(step.otherwise, values))
    return step


def _fixed(source: Any, value: int | str | Generator) -> Any:
    """Return the source of a register: a given value, or a draw in place of another draw."""
    if not isinstance(value, Generator):
        return constant(value)
    drawn = isinstance(source, Generator) and not source.kind.startswith("constant")
    return value if drawn else source


def transaction_of(workload: Workload, name: str, values: Values) -> Workload:
    """Return a workload of one transaction, with some of what it draws given."""
    (wanted,) = (t for t in workload.transactions if t.name == name)
    return on_small_data(replace(workload, transactions=(wanted,), choice="weights"), values)


def on_small_data(workload: Workload, values: Values = {}) -> Workload:  # noqa: B006 - only read
    """Return the workload drawing from what there is, with some of it given."""
    given = {**SMALL, **values}
    transactions = tuple(
        replace(transaction, steps=fix(transaction.steps, given))
        for transaction in workload.transactions
    )
    return replace(workload, transactions=transactions, set_up=fix(workload.set_up, given))


def run_transaction(
    scratch: Scratch, name: str, options: Mapping[str, Any], times: int = 1, **values: int | str
) -> dict[str, int]:
    """Run one of the transactions with given inputs; return how many ended in which way."""
    workload = transaction_of(workloads.tprocc(**options), name, values)
    result = make_driver(workload, scratch.endpoint, threads=1, transactions=times).run()
    assert result["error"] is None, result["error"]
    assert result["errors"] == []
    return {end: result["transactions"][0][end] for end in ("committed", "rolled_back", "failed")}


def see_registers(workload: Workload, *registers: str) -> Workload:
    """Return a client SQL workload that writes registers into the table `seen` at its end."""
    (transaction,) = workload.transactions
    marks = ", ".join("?" * len(registers))
    seen = Execute(f"INSERT INTO seen VALUES ({marks})", registers, name="see")
    steps = (*transaction.steps, seen, Commit())
    return replace(workload, transactions=(replace(transaction, steps=steps),))


def keep_first(workload: Workload, statement: str, register: str) -> Workload:
    """Return the workload with one statement's first column kept as an integer."""
    (transaction,) = workload.transactions
    steps = tuple(
        replace(step, keep=((register, "integer"),))
        if isinstance(step, Execute) and step.name == statement
        else step
        for step in transaction.steps
    )
    return replace(workload, transactions=(replace(transaction, steps=steps),))
