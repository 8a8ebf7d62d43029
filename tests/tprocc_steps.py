"""TPROC-C transactions with known inputs: steps whose draws are replaced by constants."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scratch import Scratch, make_driver

from benchkit import workloads
from benchkit.generators import Generator, constant
from benchkit.workloads import Choose, Commit, Execute, If, Let, Repeat, Workload
from benchkit.workloads.steps import Step

MODES = {
    "procedures": {},
    "hammerdb protocol": {"protocol": "hammerdb"},
    "client SQL": {"procedures": False},
}


def fix(steps: tuple[Step, ...], values: Mapping[str, int | str]) -> tuple[Step, ...]:
    """Return the steps with every draw into one of the registers replaced by its value."""
    return tuple(_fix(step, values) for step in steps)


def _fix(step: Step, values: Mapping[str, int | str]) -> Step:
    match step:
        case Let(register, Generator()) if register in values:
            return Let(register, constant(values[register]))
        case Repeat():
            return replace(step, steps=fix(step.steps, values))
        case Choose():
            return Choose(tuple((weight, fix(inner, values)) for weight, inner in step.branches))
        case If():
            return replace(
                step, then=fix(step.then, values), otherwise=fix(step.otherwise, values)
            )
    return step


def transaction_of(workload: Workload, name: str, values: Mapping[str, int | str]) -> Workload:
    """Return a workload of one transaction, with some of what it draws given."""
    (wanted,) = (t for t in workload.transactions if t.name == name)
    return replace(
        workload,
        transactions=(replace(wanted, steps=fix(wanted.steps, values)),),
        set_up=fix(workload.set_up, values),
        choice="weights",
    )


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
