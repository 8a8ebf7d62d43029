"""The core's percentiles, plain and weighted, against exact twins and NumPy."""

import numpy as np
import pytest
import reference
from arrays import CASES, INF, NAN, SUBNORMAL, present, random_values
from hypothesis import given
from hypothesis import strategies as st

from benchkit import _core
from benchkit.errors import MetricError

AT = [0, 0.1, 5, 25, 50, 75, 90, 95, 99, 99.9, 100]
PATTERNS = {
    "random": lambda n: random_values(n),
    "sorted": lambda n: np.arange(n, dtype=float),
    "descending": lambda n: -np.arange(n, dtype=float),
    "equal": lambda n: np.ones(n),
    "two values": lambda n: np.arange(n) % 2.0,
    "few values": lambda n: np.random.default_rng(n).integers(0, 5, n).astype(float),
    "organ pipe": lambda n: np.minimum(np.arange(n), np.arange(n)[::-1]).astype(float),
    "saw": lambda n: np.arange(n) % 37.0,
    "one outlier": lambda n: np.where(np.arange(n) == n // 2, 1e300, 0.0),
    "signed zeros": lambda n: np.where(np.arange(n) % 2, 0.0, -0.0),
    "infinite ends": lambda n: np.r_[np.full(n // 3, INF), random_values(n), np.full(n // 3, -INF)],
}


@pytest.mark.parametrize("size", [1, 2, 3, 31, 33, 34, 100, 1000, 20011])
@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS.keys())
def test_percentiles_are_those_of_sorted_values(pattern, size):
    values = pattern(size)
    expected = [_interpolated(np.sort(values), at) for at in AT]
    np.testing.assert_allclose(_core.percentile(values, AT), expected, rtol=1e-13)


def _interpolated(ordered, at):
    rank = at / 100 * (len(ordered) - 1)
    low = int(rank)
    if rank == low or ordered[low] == ordered[low + 1]:
        return ordered[low]
    return ordered[low] * (low + 1 - rank) + ordered[low + 1] * (rank - low)


@given(
    st.lists(present, min_size=1, max_size=80),
    st.lists(st.integers(0, 100) | st.floats(0, 100), max_size=8),
)
def test_percentiles_are_exact(values, at):
    expected = [reference.interpolated_percentile(values, p) for p in at]
    scale = max(map(abs, values))
    np.testing.assert_allclose(
        _core.percentile(values, at), expected, 1e-13, 1e-13 * scale + SUBNORMAL
    )


def test_every_percentile_at_once():
    values = random_values(5000)
    at = np.random.default_rng(2).permutation(np.linspace(0, 100, 3001))
    np.testing.assert_allclose(_core.percentile(values, at), np.percentile(values, at))


@pytest.mark.parametrize("q", [50, [50], [], [[0, 30, 100], [99.9, 2, 50]]])
@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_percentile_has_the_shape_that_numpy_gives_it(shape, axis, q):
    values = random_values(shape)
    expected = np.percentile(values, q, axis)
    found = _core.percentile(values, q, axis)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_percentile_leaves_out_nan():
    values = np.array([[3.0, NAN, 1.0], [NAN, NAN, NAN]])
    np.testing.assert_array_equal(_core.percentile(values, 50, axis=1), [2.0, NAN])
    assert _core.percentile(values, 100) == 3.0


@pytest.mark.parametrize("q", [-0.1, 100.1, NAN, INF, [50, 101]])
def test_percentile_out_of_range_is_an_error(q):
    with pytest.raises(MetricError, match="must be 0 to 100"):
        _core.percentile([1.0, 2.0], q)
    with pytest.raises(MetricError, match="must be 0 to 100"):
        _core.weighted_percentile([1.0, 2.0], [1, 1], q)


# Weighted percentiles


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 6)), min_size=1, max_size=20).filter(
        lambda pairs: any(weight for _, weight in pairs)
    ),
    st.lists(st.integers(0, 1000).map(lambda n: n / 10), min_size=1, max_size=5),
)
def test_weights_are_repetitions(pairs, at):
    values, weights = zip(*pairs, strict=True)
    expected = [reference.weighted_percentile(values, weights, p) for p in at]
    np.testing.assert_array_equal(_core.weighted_percentile(values, weights, at), expected)


def test_buckets_of_several_histograms_merge_by_their_weights():
    halves = np.random.default_rng(3).integers(0, 30, (2, 500))
    histograms = [_core.Histogram(highest=1000, digits=digits) for digits in (2, 3)]
    for histogram, half in zip(histograms, halves, strict=True):
        histogram.record_many(half)
    values, counts = np.hstack([histogram.counts() for histogram in histograms])
    merged = _core.Histogram()
    merged.record_many(halves.ravel())
    np.testing.assert_array_equal(
        _core.weighted_percentile(values, counts, AT), merged.percentile(AT)
    )


def test_weights_need_not_be_integers():
    assert _core.weighted_percentile([3.0, 1.0, 2.0], [0.25, 0.5, 0.25], 50) == 1.0
    assert _core.weighted_percentile([3.0, 1.0, 2.0], [0.25, 0.5, 0.25], 50.1) == 2.0


def test_weights_of_absent_values_do_not_count():
    assert _core.weighted_percentile([1.0, NAN, 5.0], [1, 1000, 1], 50) == 1.0
    np.testing.assert_equal(_core.weighted_percentile([1.0, NAN], [0, 1], [0, 99]), [NAN, NAN])
    assert np.isnan(_core.weighted_percentile([], [], 50))


@pytest.mark.parametrize("weights", [[1, -1], [1, NAN], [1, INF], [1e308, 1e308]])
def test_impossible_weights_are_an_error(weights):
    with pytest.raises(MetricError, match="weight"):
        _core.weighted_percentile([1.0, 2.0], weights, 50)


def test_weights_need_the_shape_of_the_values():
    with pytest.raises(ValueError, match="same shape"):
        _core.weighted_percentile([1.0, 2.0], [1.0], 50)
