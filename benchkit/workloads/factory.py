"""The functions of keyword options that make workloads, and the help they carry.

A builder takes its options as one value; `Family.workload` turns it into what users call, with
a signature and a list of options for notebooks, documentation and the command line. Members of
a family share one dataclass of options, and each offers those that act on it: giving another
is an error that says which members use it.
"""

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Generic, TypeVar

from benchkit.errors import WorkloadError, unknown_name
from benchkit.workloads.model import Workload
from benchkit.workloads.options import Need, Option, Value, describe_options, read_value

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
    "count_ware": "warehouses",
    "allwarehouse": "home",
    "keyandthink": "key_and_think",
    "partition": "partitions",
    "no_stored_procs": "procedures",
    "prepared": "protocol",
}
"""Spellings of sysbench (1.x and before) and HammerDB for options that have another name here."""


class Family(Generic[T]):
    """Workloads that share a dataclass of options.

    Parameters
    ----------
    options : type
        The dataclass; its fields were made with `option`.
    personalities : tuple of str
        The first part of each identity that a member can have, the default first.
    needs : mapping of str to tuple of Need
        For options that act only together with others.
    identities : mapping of str to mapping, optional
        Identity -> the options that make it, where it is not ``personality:name``.
    settle : callable, optional
        Takes a member's name and its options; returns the options with what depends on others
        filled in, or raises WorkloadError.
    """

    def __init__(
        self,
        options: type[T],
        personalities: tuple[str, ...],
        needs: Mapping[str, tuple[Need, ...]] | None = None,
        settle: Callable[[str, T], T] = lambda name, options: options,
        identities: Mapping[str, Mapping[str, Value]] | None = None,
    ) -> None:
        self.personalities = personalities
        self.identities = identities
        self.options = {
            o.name: replace(o, needs=(needs or {}).get(o.name, ()))
            for o in describe_options(options)
        }
        self._make = options
        self._settle = settle
        self._members: list[WorkloadFactory[T]] = []

    def workload(self, *uses: str) -> "Callable[[Callable[[T], Workload]], WorkloadFactory[T]]":
        """Make a builder a member that is called with keywords.

        Parameters
        ----------
        *uses : str
            The options that it offers, in the order of its signature.
        """

        def decorate(build: Callable[[T], Workload]) -> WorkloadFactory[T]:
            made = WorkloadFactory(build, self, uses)
            self._members.append(made)
            return made

        return decorate

    def users(self, option: str) -> list[str]:
        """Return the names of the members that offer an option."""
        return [m.name for m in self._members if any(o.name == option for o in m.options)]

    def settle(self, name: str, values: Mapping[str, Value]) -> T:
        """Return the options of the member called `name`, with defaults for the rest."""
        return self._settle(name, self._make(**values))


class WorkloadFactory(Generic[T]):
    """Makes one workload from keyword options.

    Attributes
    ----------
    name : str
        The workload's name, the part of its identity after the personality.
    personalities : tuple of str
        Those it can be made in; the first is the default.
    identities : mapping of str to mapping
        The identities it can have, each with the options that make it so.
    options : tuple of Option
        What it can be called with.
    """

    def __init__(
        self, build: Callable[[T], Workload], family: Family[T], uses: tuple[str, ...]
    ) -> None:
        self.name = self.__name__ = build.__name__
        self.personalities = family.personalities
        self.identities = family.identities or {
            f"{p}:{self.name}": {"personality": p} if len(self.personalities) > 1 else {}
            for p in self.personalities
        }
        self.options = tuple(family.options[name] for name in uses)
        self.__signature__ = _signature(self.options)
        self.__doc__ = _document(inspect.getdoc(build) or "", self.options)
        self.__wrapped__ = build
        self._family = family

    def __call__(self, **given: Value) -> Workload:
        """Return the workload with the given options; the rest have their defaults.

        Raises
        ------
        WorkloadError
            When an option does not exist, does not act, or has a value that is not allowed.
        """
        offered = {option.name: option for option in self.options}
        for name in given:
            if name not in offered:
                raise WorkloadError(self._refusal(name))
        values = {n: read_value(self.name, offered[n], value) for n, value in given.items()}
        options = self._family.settle(self.name, values)
        for name in given:
            self._check_needs(offered[name], options)
        return replace(self.__wrapped__(options), parameters=tuple(self._acting_values(options)))

    def __repr__(self) -> str:
        return f"<workload {self.name}: {', '.join(option.name for option in self.options)}>"

    def _refusal(self, name: str) -> str:
        """Say why an option cannot be given, and what can."""
        kind = f"option of {self.name}"
        plain = name.replace("-", "_")
        meant = ALIASES.get(plain, ALIASES.get(plain.removeprefix("maria_"), name))
        users = self._family.users(meant)
        if self.name in users:
            return f"unknown {kind} {name!r}: did you mean {meant}?"
        if users:
            return f"{self.name} has no option {meant}, which acts on {', '.join(users)}"
        return unknown_name(kind, name, [option.name for option in self.options])

    def _check_needs(self, option: Option, options: T) -> None:
        for need in option.needs:
            if not need.is_met_by(options):
                raise WorkloadError(
                    f"{self.name}: {option.name} acts only with {need}, "
                    f"and {need.option} is {getattr(options, need.option)}"
                )

    def _acting_values(self, options: T) -> Iterator[tuple[str, Value]]:
        for option in self.options:
            if all(need.is_met_by(options) for need in option.needs):
                yield option.name, getattr(options, option.name)


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
        needs = f" Only with {' and '.join(map(str, o.needs))}." if o.needs else ""
        lines += textwrap.wrap(o.help + needs, 90, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)
