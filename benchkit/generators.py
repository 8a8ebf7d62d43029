"""The vocabulary of values: how a column is filled and a parameter is drawn.

A generator is a description, not a stream: it becomes values in the C core, where loading
derives every row from (data seed, table, row number) and each worker of a run has a random
stream of its own. `benchkit._core.generator_kinds()` lists the kinds with their parameters,
limits and defaults; `draw` shows what a generator yields.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchkit import _core
from benchkit.errors import WorkloadError

Spec = tuple[str, dict[str, Any]]
Argument = int | float | str | bool | tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Generator:
    """One generator: its kind and the arguments that differ from the defaults.

    Raises
    ------
    WorkloadError
        When the kind does not exist, or an argument is missing, wrong or out of range.
    """

    kind: str
    arguments: tuple[tuple[str, Argument], ...] = ()

    def __post_init__(self) -> None:
        _core.draw(self.spec(), 0)

    def spec(self) -> Spec:
        """Return the plain form that the C core reads."""
        return self.kind, {name: _spell(value) for name, value in self.arguments}


def _spell(value: Argument) -> Any:
    """Return an argument with its generators in their plain form."""
    if not isinstance(value, tuple):
        return value
    return tuple(item.spec() if isinstance(item, Generator) else item for item in value)


def _generator(kind: str, **arguments: Argument) -> Generator:
    return Generator(kind, tuple((name, _plain(value)) for name, value in arguments.items()))


def _unless(default: Argument, **argument: Argument) -> dict[str, Argument]:
    """Return an argument that differs from its default: runs are known by what is written."""
    return {name: value for name, value in argument.items() if value != default}


def _plain(value: Argument) -> Argument:
    """Return a number of whatever type, NumPy's for example, as Python's own."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, bool | str | tuple):
        return value
    try:
        return operator.index(value)
    except TypeError:
        return value  # the C core says what is wrong with it


def constant(value: int | float | str) -> Generator:
    """Yield the same value each time; its type is the register's type."""
    plain = _plain(value)
    for kind, name in ((str, "text"), (float, "real"), (int, "integer")):
        if isinstance(plain, kind) and not isinstance(plain, bool):
            return _generator(f"constant_{name}", value=plain)
    raise WorkloadError(f"constant: value must be an int, a float or a str, not {value!r}")


def null() -> Generator:
    """Yield NULL; in `blocks` and `mix` it goes with every type."""
    return _generator("null")


def sequence(start: int = 1, step: int = 1, *, every: int = 1, cycle: int = 0) -> Generator:
    """Yield start, start + step, ...: by row number when loading, per worker when running.

    Each value comes ``every`` times, and after ``cycle`` values it starts again (0: never). So
    rows of 3 departments with 100 people each are ``sequence(every=100, cycle=3)`` and
    ``sequence(cycle=100)``.
    """
    rounds = {**_unless(1, every=every), **_unless(0, cycle=cycle)}
    return _generator("sequence", start=start, step=step, **rounds)


def uniform(low: int, high: int, partitioned: bool = False) -> Generator:
    """Yield integers from low to high, both included, each as likely.

    With ``partitioned``, each of n workers draws from its own n-th part of the range.
    """
    return _generator("uniform", low=low, high=high, partitioned=partitioned)


def remaining(low: int, high: int) -> Generator:
    """Yield integers from low + p to high, each as likely; p counts the rows of a round.

    A round has high - low + 1 rows. It is what a shuffle yields that forgets its swaps: high
    values come often, and some not at all.
    """
    return _generator("remaining", low=low, high=high)


def gaussian(low: int, high: int, rounds: int = 12, partitioned: bool = False) -> Generator:
    """Yield the mean of ``rounds`` uniform draws over low..high (sysbench 1.x)."""
    return _generator("gaussian", low=low, high=high, rounds=rounds, partitioned=partitioned)


def special(
    low: int,
    high: int,
    *,
    hot_percent: int = 1,
    hot_share: int = 75,
    rounds: int = 12,
    partitioned: bool = False,
    hot_skip: int = 0,
) -> Generator:
    """Yield the "special" draws of sysbench 0.5 and 1.0.

    With ``hot_share`` percent probability the value is uniform in a band ``hot_percent`` percent
    wide in the middle of the range; otherwise it is `gaussian` over the whole range. The lowest
    ``hot_skip`` percent of the band stay cold.
    """
    return _generator(
        "special",
        low=low,
        high=high,
        hot_percent=hot_percent,
        hot_share=hot_share,
        rounds=rounds,
        partitioned=partitioned,
        hot_skip=hot_skip,
    )


def pareto(low: int, high: int, h: float = 0.2, partitioned: bool = False) -> Generator:
    """Yield low + (high - low + 1) * U^(ln h / ln(1 - h)): 80/20 for h = 0.2 (sysbench 1.x)."""
    return _generator("pareto", low=low, high=high, h=h, partitioned=partitioned)


def exponential(mean: float, most: float = 10.0, whole: bool = False) -> Generator:
    """Yield -ln(U) * mean, at most ``most`` means: pauses such as TPC-C's thinking times.

    With ``whole``, what is drawn is rounded to a whole number.
    """
    return _generator("exponential", mean=float(mean), most=float(most), whole=whole)


def zipfian(
    low: int,
    high: int,
    exponent: float = 0.8,
    scrambled: bool = False,
    partitioned: bool = False,
) -> Generator:
    """Yield integers with probability proportional to 1 / rank^exponent.

    Rank 1 is ``low`` (as in sysbench); ``scrambled`` spreads the ranks over the range by a
    fixed permutation, so that hot rows do not share pages.
    """
    return _generator(
        "zipfian",
        low=low,
        high=high,
        exponent=exponent,
        scrambled=scrambled,
        partitioned=partitioned,
    )


def nurand(a: int, low: int, high: int, c: int = 0) -> Generator:
    """Yield TPC-C's non-uniform random: ((rnd(0,a) | rnd(low,high)) + c) mod range + low."""
    return _generator("nurand", a=a, low=low, high=high, c=c)


def last_name(
    a: int = 255, low: int = 0, high: int = 999, c: int = 0, *, in_order: bool = False
) -> Generator:
    """Yield TPC-C customer last names: three syllables from the digits of a `nurand` draw.

    With ``in_order`` they are those of low, low + 1, ... high, and again.
    """
    order = _unless(False, in_order=in_order)
    return _generator("last_name", a=a, low=low, high=high, c=c, **order)


def permutation(low: int, high: int, reshuffled: bool = False) -> Generator:
    """Yield every integer of low..high once, in an order fixed by the seed.

    When loading, row r gets the r-th value; when running, workers take turns, so that no two
    of them ever draw the same value. After the last value the order starts again, or if
    ``reshuffled`` another order.
    """
    again = _unless(False, reshuffled=reshuffled)
    return _generator("permutation", low=low, high=high, **again)


def template(text: str) -> Generator:
    """Yield ``text`` with each ``#`` replaced by a random digit and each ``@`` by a letter."""
    return _generator("template", text=text)


def alphanumeric(shortest: int, longest: int) -> Generator:
    """Yield random letters and digits; the length is uniform in shortest..longest."""
    return _generator("alphanumeric", shortest=shortest, longest=longest)


def timestamp(at_s: int = -1) -> Generator:
    """Yield ``YYYY-MM-DD HH:MM:SS`` in UTC: of ``at_s`` seconds since 1970, or of now if -1.

    Tables need a fixed time, or two loads of the same seed would differ.
    """
    return _generator("timestamp", at_s=at_s)


def choice(values: Sequence[str]) -> Generator:
    """Yield one of the given texts, each as likely."""
    if isinstance(values, str):
        raise WorkloadError(f"choice: values must be a list of texts, not the one text {values!r}")
    return _generator("choice", values=tuple(values))


def decimal(low: int, high: int, places: int) -> Generator:
    """Yield decimal numbers as texts, which decimal columns store exactly.

    ``low`` and ``high`` count units of the last place: ``decimal(10, 10_000, 2)`` yields 0.10 to
    100.00, each of the 9991 values as likely.
    """
    return _generator("decimal", low=low, high=high, places=places)


def digits(low: int, high: int, width: int, *, left: bool = False) -> Generator:
    """Yield integers of low..high as texts, filled up with zeros to ``width`` digits.

    The zeros come before the number or, with ``left``, behind it.
    """
    return _generator("digits", low=low, high=high, width=width, left=left)


def blocks(*parts: tuple[int, Generator]) -> Generator:
    """Yield from one generator for some rows, then from the next, and so on, and again.

    ``blocks((2100, uniform(1, 10)), (900, null()))`` has a number in the first 2100 of every
    3000 rows (when running: of a worker's draws) and NULL in the others. Each generator counts
    only its own rows.
    """
    rows, of = _columns("blocks", "(rows, generator)", parts)
    return _generator("blocks", rows=rows, of=of)


def mix(*parts: tuple[int, Generator]) -> Generator:
    """Yield from one of the generators, each with probability proportional to its weight."""
    weights, of = _columns("mix", "(weight, generator)", parts)
    return _generator("mix", weights=weights, of=of)


def joined(*parts: Generator) -> Generator:
    """Yield the texts of all the generators in a row."""
    return _generator("joined", of=_generators("joined", parts))


def splice(text: Generator, word: str, cut: int) -> Generator:
    """Yield the text with ``word`` instead of ``cut`` of its bytes.

    The place is uniform among those where the word fits; there, less than ``cut`` bytes may be
    left to replace.
    """
    return _generator("splice", of=_generators("splice", (text,)), word=word, cut=cut)


def shared(key: str, generator: Generator) -> Generator:
    """Yield what depends on seed, ``key`` and row alone: the same wherever the key is the same.

    Two tables whose rows go together can so have a value in common.
    """
    return _generator("shared", key=key, of=_generators("shared", (generator,)))


def _columns(
    kind: str, wanted: str, parts: tuple[tuple[int, Generator], ...]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the numbers and the generators of pairs."""
    for part in parts:
        if not isinstance(part, tuple | list) or len(part) != 2:
            raise WorkloadError(f"{kind}: each part must be {wanted}, not {part!r}")
    of = _generators(kind, tuple(part[1] for part in parts))
    return tuple(_plain(part[0]) for part in parts), of


def _generators(kind: str, values: tuple[object, ...]) -> tuple[Any, ...]:
    for value in values:
        if not isinstance(value, Generator):
            raise WorkloadError(f"{kind}: {value!r} is not a generator such as uniform(1, 10)")
    return values
