"""Slow, obvious twins of what the C core computes, for tests to compare with.

Percentiles and probabilities follow their definitions in exact arithmetic where that is
possible; nothing here is clever or shares code with the core.
"""

from bisect import bisect_left
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, comb, factorial, isnan, log, nan, prod, sqrt

import numpy as np
from scipy import stats


def percentile(values, at):
    """Return the smallest value at or below which at least ``at`` percent of the values lie."""
    ordered = sorted(values)
    rank = max(ceil(Fraction(str(at)) * len(ordered) / 100), 1)
    return ordered[rank - 1]


def interpolated_percentile(values, at):
    """Return the value at rank at/100 * (n - 1), linear between neighbours: type 7."""
    ordered = sorted(Fraction(value) for value in values)
    rank = Fraction(at) / 100 * (len(ordered) - 1)
    low = int(rank)
    share = rank - low
    high = low + 1 if share else low
    return float((1 - share) * ordered[low] + share * ordered[high])


def describe(values):
    """Return what ``_core.describe`` does, of finite numbers and NaN, rounded once at the end."""
    present = [Fraction(value) for value in values if not isnan(value)]
    n = len(present)
    counts = {"n": n, "absent": len(values) - n}
    if n == 0:
        return {**counts, **dict.fromkeys(FIGURES, nan)}
    mean = sum(present) / n
    second, third, fourth = (sum((x - mean) ** k for x in present) / n for k in (2, 3, 4))
    sd = _root(second)
    return {
        **counts,
        "mean": float(mean),
        "max": float(max(present)),
        "min": float(min(present)),
        "sd": sd,
        "sd_sample": _root(second * n / (n - 1)) if n > 1 else nan,
        "cov": float(Fraction(sd) / mean) if mean else nan if sd == 0 else float("inf"),
        "median": interpolated_percentile(present, 50),
        "p95": interpolated_percentile(present, 95),
        "p99": interpolated_percentile(present, 99),
        "skewness": (-1 if third < 0 else 1) * _root(third**2 / second**3) if second else nan,
        "kurtosis": float(fourth / second**2 - 3) if second else nan,
    }


FIGURES = (
    *("mean", "max", "min", "sd", "sd_sample", "cov"),
    *("median", "p95", "p99", "skewness", "kurtosis"),
)


def _root(square):
    """Return the square root of a fraction that as a float might be 0 or infinite."""
    scale = Fraction(2) ** ((square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    return float(Fraction(sqrt(square / scale**2)) * scale) if square else 0.0


def weighted_percentile(values, weights, at):
    """Return the percentile of every value repeated as often as its weight says."""
    return percentile(np.repeat(values, weights).tolist(), at)


def geometric_mean_ratio(candidate, baseline):
    """Return the k-th root of the product of the ratios of the k cells that both have."""
    ratios = [c / b for c, b in zip(candidate, baseline, strict=True) if c > 0 and b > 0]
    return prod(ratios) ** (1 / len(ratios))


def uniform_pmf(size):
    """Return the probability of each offset 0..size-1."""
    return np.full(size, 1 / size)


def _sum_of_uniforms_cdf(numerator, denominator, rounds):
    """Return P(sum of ``rounds`` uniform numbers of [0, 1) < numerator / denominator).

    The Irwin-Hall distribution, in integers: no cancellation and no rounding.
    """
    total = sum(
        (-1) ** j * comb(rounds, j) * (numerator - j * denominator) ** rounds
        for j in range(rounds + 1)
        if numerator > j * denominator
    )
    return Fraction(total, denominator**rounds * factorial(rounds))


def gaussian_pmf(size, rounds=12):
    """Return P(floor(size * mean of ``rounds`` uniform numbers) = k).

    That is P(k * rounds / size <= sum < (k + 1) * rounds / size). The core's uniform numbers
    have 53 bits, which moves no probability by more than about size * 2^-53.
    """
    cdf = [_sum_of_uniforms_cdf(k * rounds, size, rounds) for k in range(size + 1)]
    return np.array([float(high - low) for low, high in zip(cdf, cdf[1:], strict=False)])


def special_pmf(size, hot_percent=1, hot_share=75, rounds=12, hot_skip=0):
    """Return a uniform band in the middle with ``hot_share`` percent, over a gaussian."""
    band = size * hot_percent // 100
    skipped = band * hot_skip // 100
    first = size // 2 - size * hot_percent // 200 + skipped
    width = max(band - skipped, 1)
    pmf = gaussian_pmf(size, rounds) * (100 - hot_share) / 100
    pmf[first : first + width] += hot_share / 100 / width
    return pmf


def pareto_pmf(size, h=0.2):
    """Return P(floor(size * U^p) = k), p = ln h / ln (1 - h): U lies between two 1/p-th powers."""
    inverse = log(1 - h) / log(h)
    edges = (np.arange(size + 1) / size) ** inverse
    return np.diff(edges)


def zipfian_pmf(size, exponent=0.8):
    """Return probabilities proportional to 1 / rank^exponent, rank 1 first."""
    weights = np.arange(1, size + 1, dtype=float) ** -exponent
    return weights / weights.sum()


def nurand_pmf(a, low, high, c=0):
    """Return TPC-C 2.1.6 by going through all pairs of draws."""
    size = high - low + 1
    pmf = np.zeros(size)
    for mask in range(a + 1):
        for number in range(low, high + 1):
            pmf[((mask | number) + c) % size] += 1
    return pmf / pmf.sum()


def sequence_values(count, start=1, step=1, every=1, cycle=None):
    """Return a sequence by writing its values down, each ``every`` times, over and over."""
    values = range(start, start + step * (cycle or count), step)
    once = [value for value in values for _ in range(every)]
    return [once[i % len(once)] for i in range(count)]


def block_values(count, *parts):
    """Return values that come in blocks of (rows, iterator)."""
    turns = [source for rows, source in parts for _ in range(rows)]
    return [next(turns[i % len(turns)]) for i in range(count)]


def decimal_texts(low, high, places):
    """Return all decimal numbers of a range of units of the last place."""
    with localcontext() as context:
        context.prec = 30
        return [str(Decimal(unit).scaleb(-places)) for unit in range(low, high + 1)]


def splice_results(text, word, cut):
    """Return what a text can become, one for each place of the word."""
    places = range(max(len(text) - len(word), 0) + 1)
    return [text[:place] + word + text[place + cut :] for place in places]


def _pooled(expected, least):
    """Return the first offset of each bin, so that every bin expects at least ``least``."""
    cumulative = np.cumsum(expected)
    starts = [0]
    while True:
        reached = cumulative[starts[-1] - 1] if starts[-1] else 0
        end = bisect_left(cumulative, reached + least) + 1
        if end >= len(expected) or cumulative[-1] - cumulative[end - 1] < least:
            return starts
        starts.append(end)


def chi_square_p(offsets, pmf):
    """Return the p-value of draws 0..n-1 against their probabilities (bins of 10 or more)."""
    counts = np.bincount(offsets, minlength=len(pmf))
    expected = pmf * len(offsets)
    starts = _pooled(expected, 10)
    observed = np.add.reduceat(counts, starts)
    wanted = np.add.reduceat(expected, starts)
    statistic = ((observed - wanted) ** 2 / wanted).sum()
    return stats.chi2.sf(statistic, len(starts) - 1)


def spearman_p(one, other):
    """Return the p-value of two series having nothing to do with each other."""
    return stats.spearmanr(one, other).pvalue
