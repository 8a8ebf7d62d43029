"""The functions of keyword options that make workloads, and the help they carry.

A builder takes its options as one value; `workload_factory` turns it into what users call,
with a signature and a list of options for notebooks, documentation and the command line.
"""

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Generic, TypeVar

from benchkit.errors import WorkloadError
from benchkit.workloads.model import Workload
from benchkit.workloads.options import (
    Limits,
    Option,
    Value,
    describe_options,
    read_options,
)

T = TypeVar("T")

ALIASES = {
    "table_size": "rows",
    "oltp_table_size": "rows",
    "oltp_tables_count": "tables",
    "oltp_range_size": "range_size",
    "oltp_auto_inc": "auto_inc",
    "mysql_storage_engine": "storage_engine",
    "mysql_table_engine": "storage_engine",
    "mysql_engine_trx": "engine_trx",
    "myisam_max_rows": "max_rows",
    "mysql_table_options": "create_table_options",
    "oltp_dist_type": "rand_type",
    "oltp_dist_pct": "rand_spec_pct",
    "oltp_dist_res": "rand_spec_res",
    "oltp_dist_iter": "rand_spec_iter",
}
"""sysbench's spellings (1.x and before) of options that have another name here."""


class WorkloadFactory(Generic[T]):
    """Makes one workload from keyword options.

    Attributes
    ----------
    name : str
        The workload's name, the part of its identity after the personality.
    personalities : tuple of str
        Those it can be made in; the first is the default.
    options : tuple of Option
        What it can be called with.
    """

    def __init__(
        self,
        build: Callable[[T], Workload],
        options: type[T],
        personalities: tuple[str, ...],
        fixed: Mapping[str, Value],
    ) -> None:
        self.name = self.__name__ = build.__name__
        self.personalities = personalities
        self.options = tuple(_fix(o, fixed) for o in describe_options(options))
        self.__signature__ = _signature(self.options)
        self.__doc__ = _document(inspect.getdoc(build) or "", self.options)
        self._build = build
        self._options = options
        self._fixed = dict(fixed)

    def __call__(self, **options: Value) -> Workload:
        """Return the workload with the given options; the rest have their defaults."""
        for name, only in self._fixed.items():
            if options.get(name, only) != only:
                raise WorkloadError(
                    f"{self.name}: {name} is always {only}, it cannot be {options[name]!r}"
                )
        given = {**options, **self._fixed}
        return self._build(read_options(self._options, given, self.name, ALIASES))

    def __repr__(self) -> str:
        return f"<workload {self.name}: {', '.join(option.name for option in self.options)}>"


def workload_factory(
    options: type[T],
    personalities: tuple[str, ...],
    fixed: Mapping[str, Value] | None = None,
) -> Callable[[Callable[[T], Workload]], WorkloadFactory[T]]:
    """Make a builder callable with keywords.

    Parameters
    ----------
    options : type
        The dataclass of the builder's options.
    personalities : tuple of str
        The first part of each identity the workload can have, the default first.
    fixed : mapping of str to value
        Options that have only one value in this workload.
    """

    def decorate(build: Callable[[T], Workload]) -> WorkloadFactory[T]:
        return WorkloadFactory(build, options, personalities, fixed or {})

    return decorate


def _fix(option: Option, fixed: Mapping[str, Value]) -> Option:
    if option.name not in fixed:
        return option
    only = fixed[option.name]
    return replace(option, default=only, limits=Limits(int(only), int(only)))


def _signature(options: tuple[Option, ...]) -> inspect.Signature:
    parameters = [
        inspect.Parameter(
            o.name, inspect.Parameter.KEYWORD_ONLY, default=o.default, annotation=o.kind
        )
        for o in options
    ]
    return inspect.Signature(parameters, return_annotation=Workload)


def _document(summary: str, options: tuple[Option, ...]) -> str:
    """Return a NumPy docstring with a paragraph for each option."""
    if not options:
        return summary
    lines = [summary, "", "Parameters", "----------"]
    for o in options:
        limits = f", {o.limits}" if str(o.limits) else ""
        lines.append(f"{o.name} : {o.kind.__name__}, default {o.default!r}{limits}")
        lines += textwrap.wrap(o.help, 90, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)
