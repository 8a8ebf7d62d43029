"""The spread of a few iterations, as the "taf" style shows it.

Owns the choice of definitions: population standard deviation, CoV as a fraction, percentiles
of type 7, biased skewness. Imported tables are checked against it, new ones printed from it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Spread:
    """Statistics over the iterations of one dataset at one thread count.

    Parameters
    ----------
    n : int
        Iterations that have a value.
    mean, maximum, minimum, sd, median, p95, p99 : float
        In the metric's unit; NaN without a value. `sd` is of the population.
    cov : float
        ``sd / mean``; 0 where the mean is 0.
    skewness : float
        Third central moment over ``sd ** 3``; 0 where all values are equal.
    """

    n: int
    mean: float
    maximum: float
    minimum: float
    sd: float
    cov: float
    median: float
    p95: float
    p99: float
    skewness: float


def describe_iterations(values: Iterable[float]) -> Spread:
    """Describe some values; NaN stands for an iteration that is missing."""
    present = np.array([value for value in values if value == value], dtype=np.float64)
    if not present.size:
        nan = float("nan")
        return Spread(0, nan, nan, nan, nan, nan, nan, nan, nan, nan)
    with np.errstate(all="ignore"):
        mean = float(present.mean())
        centred = present - mean
        sd = float(np.sqrt(np.mean(centred**2)))
        skewness = float(np.mean(centred**3) / sd**3) if sd > 0 else 0.0
        median, p95, p99 = (float(p) for p in np.percentile(present, (50, 95, 99)))
    cov = sd / mean if mean else 0.0
    return Spread(
        present.size, mean, float(present.max()), float(present.min()), sd, cov, median, p95, p99,
        skewness,
    )  # fmt: skip
