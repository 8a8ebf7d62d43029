"""The vocabulary of values: how a column is filled and a parameter is drawn.

A generator is a description, not a stream: it becomes values in the C core, where loading
derives every row from (data seed, table, row number) and each worker of a run has a random
stream of its own. `benchkit._core.generator_kinds()` lists the kinds with their parameters,
limits and defaults; `draw` shows what a generator yields.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from benchkit import _core
from benchkit.errors import WorkloadError

Argument = int | float | str | bool | tuple[str, ...]


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

    def spec(self) -> tuple[str, dict[str, Argument]]:
        """Return the plain form that the C core reads."""
        return self.kind, dict(self.arguments)


def _generator(kind: str, **arguments: Argument) -> Generator:
    return Generator(kind, tuple((name, _plain(value)) for name, value in arguments.items()))


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


def sequence(start: int = 1, step: int = 1) -> Generator:
    """Yield start, start + step, ...: by row number when loading, per worker when running."""
    return _generator("sequence", start=start, step=step)


def uniform(low: int, high: int, partitioned: bool = False) -> Generator:
    """Yield integers from low to high, both included, each as likely.

    With ``partitioned``, each of n workers draws from its own n-th part of the range.
    """
    return _generator("uniform", low=low, high=high, partitioned=partitioned)


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


def last_name(a: int = 255, low: int = 0, high: int = 999, c: int = 0) -> Generator:
    """Yield TPC-C customer last names: three syllables from the digits of a `nurand` draw."""
    return _generator("last_name", a=a, low=low, high=high, c=c)


def permutation(low: int, high: int) -> Generator:
    """Yield every integer of low..high once, in an order fixed by the seed.

    When loading, row r gets the r-th value; when running, workers take turns, so that no two
    of them ever draw the same value. After the last value the order starts again.
    """
    return _generator("permutation", low=low, high=high)


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
