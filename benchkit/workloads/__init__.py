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
from benchkit.workloads.tpcb import tpcb
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
    "tpcb",
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
        tpcb,
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
    return [identity for made in _FACTORIES.values() for identity in made.identities]


def factory(name: str) -> WorkloadFactory[Any]:
    """Return the function that makes a workload, with its options and their help.

    Parameters
    ----------
    name : str
        A name such as ``oltp_read_only``, or an identity such as
        ``sysbench/1.0:oltp_read_only`` or ``tprocc/hammerdb6``.

    Raises
    ------
    WorkloadError
        If there is none; the message says which name is nearest.
    """
    for made in _FACTORIES.values():
        if name in (made.name, *made.identities):
            return made
    personality, _, short = name.rpartition(":")
    if short not in _FACTORIES:
        plain = [identity for identity in identities() if ":" not in identity]
        raise WorkloadError(unknown_name("workload", short, [*names(), *plain]))
    whole = _FACTORIES[short].identities
    if not any(":" in identity for identity in whole):
        raise WorkloadError(unknown_name("workload", name, [short, *whole]))
    personalities = _FACTORIES[short].personalities
    raise WorkloadError(f"{short}: {unknown_name('personality', personality, personalities)}")


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
    fixed = made.identities.get(name, {})
    for option, value in fixed.items():
        if options.get(option, value) != value:
            raise WorkloadError(f"{name} cannot have {option} {options[option]!r}")
    return made(**{**options, **fixed})
