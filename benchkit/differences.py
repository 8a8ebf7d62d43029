"""What differs between datasets: options by what they mean, facts about them, and their work.

Pure functions on names and values. An option may be written in several ways (``log-bin``,
``log_bin=ON``, ``disable-log-bin``; ``1G``, ``1073741824``): here they are told apart by meaning,
and shown as they were written. Works that differ are not to be compared; why, is said here too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count

from benchkit.optionvalue import Option, normalise_option

MISSING = "(missing)"
UNKNOWN = "(unknown)"

Options = Sequence[tuple[str, str | None]]
"""Names and values of a configuration in order; None for an option without a value."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same in all columns, and what it is in each."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """What a dataset executed.

    Parameters
    ----------
    label : str
        What the dataset is called.
    workload : str
    parameters : mapping
        As far as they are known.
    fingerprint : str or None
        Equal for equal work; None where it is not known.
    metrics : tuple of str or None
        What was measured; None where a value may be absent for another reason.
    """

    label: str
    workload: str
    parameters: Mapping[str, object]
    fingerprint: str | None = None
    metrics: tuple[str, ...] | None = None


def differing_options(configs: Sequence[Options | None]) -> list[Difference]:
    """Return the options that do not mean the same in all configurations.

    Parameters
    ----------
    configs : sequence
        One for each column; None where it is not known, which makes no difference.
    """
    columns = [None if config is None else _by_name(config) for config in configs]
    names = dict.fromkeys(name for column in columns for name in column or ())
    found = []
    for name in names:
        options = [None if column is None else column.get(name, ()) for column in columns]
        meanings = {tuple(o.value for o in each) for each in options if each is not None}
        if len(meanings) > 1:
            found.append(Difference(name, tuple(map(_cell, options))))
    return found


def _by_name(config: Options) -> dict[str, tuple[Option, ...]]:
    """Return each option as often as it is given, in order."""
    found: dict[str, tuple[Option, ...]] = {}
    for option in (normalise_option(*each) for each in config):
        found[option.name] = (*found.get(option.name, ()), option)
    return found


def differing_facts(columns: Sequence[Mapping[str, str]]) -> list[Difference]:
    """Return the facts that are not the same in all columns; an absent one is a difference."""
    names = dict.fromkeys(name for column in columns for name in column)
    rows = ((name, tuple(column.get(name, MISSING) for column in columns)) for name in names)
    return [Difference(name, values) for name, values in rows if len(set(values)) > 1]


def unique_labels(
    labels: Sequence[str], tags: Sequence[str], configs: Sequence[Options | None]
) -> list[str]:
    """Return labels that tell all columns apart.

    Labels that are unique stay. Others get their tag, else the options in which they differ,
    else a number.
    """
    found = list(labels)
    for label in dict.fromkeys(label for label in labels if labels.count(label) > 1):
        places = [place for place, each in enumerate(labels) if each == label]
        for place, mark in zip(places, _marks(places, tags, configs), strict=True):
            found[place] = f"{label} · {mark}" if mark else label
    return _numbered(found)


def reasons_against(baseline: Sequence[Work], other: Sequence[Work], metric: str) -> list[str]:
    """Say why two columns cannot be compared; empty where they can.

    Parameters
    ----------
    baseline, other : sequence of Work
        All that each column has.
    metric : str
        Its name.
    """
    found = list(_lacking(baseline, metric)) + list(_lacking(other, metric))
    pairs = [(a, b) for a in baseline for b in other if a.workload == b.workload]
    if not pairs:
        a, b = baseline[0], other[0]
        found.append(
            f"{a.label} has the workload {a.workload}, {b.label} has {_names(other, 'workload')}"
        )
    for a, b in pairs:
        found += _unlike(a, b)
    return list(dict.fromkeys(found))


def _lacking(works: Iterable[Work], metric: str) -> Iterator[str]:
    for work in works:
        if work.metrics is not None and metric not in work.metrics:
            yield f"{work.label} has no {metric}, only {', '.join(work.metrics) or 'nothing'}"


def _names(works: Sequence[Work], field: str) -> str:
    return ", ".join(dict.fromkeys(str(getattr(work, field)) for work in works))


def _unlike(a: Work, b: Work) -> list[str]:
    """Say what two works of one name differ in."""
    both = [name for name in a.parameters if name in b.parameters]
    found = [
        f"{name} is {a.parameters[name]} in {a.label} and {b.parameters[name]} in {b.label}"
        for name in both
        if a.parameters[name] != b.parameters[name]
    ]
    if not found and a.fingerprint and b.fingerprint and a.fingerprint != b.fingerprint:
        found.append(f"{a.workload} had different parameters in {a.label} and {b.label}")
    return found


def _marks(
    places: Sequence[int], tags: Sequence[str], configs: Sequence[Options | None]
) -> list[str]:
    """Return what tells equally labelled columns apart; empty where nothing does."""
    own = [tags[place] for place in places]
    if all(own) and len(set(own)) > 1:
        return own
    differences = differing_options([configs[place] for place in places])
    return [
        ", ".join(
            f"{difference.name}={difference.values[number]}"
            for difference in differences[:3]
            if difference.values[number] not in (MISSING, UNKNOWN)
        )
        for number in range(len(places))
    ]


def _numbered(labels: list[str]) -> list[str]:
    """Return labels, numbered where they are still equal."""
    found: list[str] = []
    for label in labels:
        numbered = (f"{label} #{number}" for number in count(1))
        names = numbered if labels.count(label) > 1 else chain([label], numbered)
        found.append(next(name for name in names if name not in found))
    return found


def _cell(options: tuple[Option, ...] | None) -> str:
    if not options:
        return UNKNOWN if options is None else MISSING
    return ", ".join(option.shown for option in options)
