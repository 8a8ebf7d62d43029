"""Workloads as data: the model, the sysbench workloads, and how they are found by name.

Each of the functions takes keyword options and returns a `Workload`. Those of sysbench 0.5 are
in `sysbench05`, because their names (``select``, ``insert``) say too little elsewhere.
"""

from typing import TYPE_CHECKING, Any, NoReturn

from benchkit.errors import WorkloadError, unknown_name
from benchkit.workloads import sysbench05
from benchkit.workloads.factory import WorkloadFactory
from benchkit.workloads.model import Rules, Table, Transaction, Workload
from benchkit.workloads.null import null
from benchkit.workloads.oltp import (
    bulk_insert,
    oltp_delete,
    oltp_insert,
    oltp_point_select,
    oltp_read_only,
    oltp_read_write,
    oltp_update_index,
    oltp_update_non_index,
    oltp_write_only,
    select_random_points,
    select_random_ranges,
)
from benchkit.workloads.options import Option, Value
from benchkit.workloads.steps import (
    Begin,
    Calculate,
    Choose,
    Commit,
    Execute,
    If,
    InsertRows,
    Let,
    Offset,
    Repeat,
    Rollback,
    RolledBack,
)
from benchkit.workloads.tprocc import tprocc

__all__ = [
    "Begin",
    "Calculate",
    "Choose",
    "Commit",
    "Execute",
    "If",
    "InsertRows",
    "Let",
    "Offset",
    "Option",
    "Repeat",
    "Rollback",
    "RolledBack",
    "Rules",
    "Table",
    "Transaction",
    "Workload",
    "WorkloadFactory",
    "bulk_insert",
    "factory",
    "find",
    "identities",
    "names",
    "null",
    "oltp_delete",
    "oltp_insert",
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
    "select_random_points",
    "select_random_ranges",
    "sysbench05",
    "tprocc",
]

_FACTORIES: dict[str, WorkloadFactory[Any]] = {
    made.name: made
    for made in (
        oltp_read_only,
        oltp_read_write,
        oltp_write_only,
        oltp_point_select,
        oltp_update_index,
        oltp_update_non_index,
        oltp_delete,
        oltp_insert,
        select_random_points,
        select_random_ranges,
        bulk_insert,
        sysbench05.oltp_complex_ro,
        sysbench05.oltp_complex_rw,
        sysbench05.oltp_simple,
        sysbench05.select,
        sysbench05.update_index,
        sysbench05.update_non_index,
        sysbench05.delete,
        sysbench05.insert,
        tprocc,
        null,
    )
}


if not TYPE_CHECKING:  # a type checker would take every name for known

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(unknown_name("workload", name, names()))


def names() -> list[str]:
    """Return the names that `find` takes."""
    return list(_FACTORIES)


def identities() -> list[str]:
    """Return the identities that `find` takes: every name in every personality it has."""
    return [f"{p}:{made.name}" for made in _FACTORIES.values() for p in made.personalities]


def factory(name: str) -> WorkloadFactory[Any]:
    """Return the function that makes a workload, with its options and their help.

    Parameters
    ----------
    name : str
        A name such as ``oltp_read_only``, or an identity such as
        ``sysbench/1.0:oltp_read_only``.

    Raises
    ------
    WorkloadError
        If there is none; the message says which name is nearest.
    """
    personality, _, short = name.rpartition(":")
    if short not in _FACTORIES:
        raise WorkloadError(unknown_name("workload", short, names()))
    made = _FACTORIES[short]
    if personality and personality not in made.personalities:
        message = unknown_name("personality", personality, made.personalities)
        raise WorkloadError(f"{short}: {message}")
    return made


def find(name: str, **options: Value) -> Workload:
    """Return a workload by its name or identity, with the given options.

    ``find("oltp_read_only", tables=8)`` is ``oltp_read_only(tables=8)``, and
    ``find("sysbench/1.0:oltp_read_only")`` is ``oltp_read_only(personality="sysbench/1.0")``.

    Raises
    ------
    WorkloadError
        If there is no such workload or option, or a value is not allowed.
    """
    made = factory(name)
    personality = name.rpartition(":")[0]
    if not personality or len(made.personalities) == 1:
        return made(**options)
    if options.get("personality", personality) != personality:
        raise WorkloadError(f"{name} cannot have personality {options['personality']!r}")
    return made(**{**options, "personality": personality})
