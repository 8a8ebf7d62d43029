"""The core's summaries, running moments and ratios, against exact twins, NumPy and SciPy."""

import tracemalloc
import warnings

import numpy as np
import pytest
import reference
from arrays import CASES, INF, NAN, SUBNORMAL, random_values, rows
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from benchkit import _core
from benchkit.errors import MetricError

any_size = st.floats(-1e308, 1e308)
ties = st.lists(st.integers(-3, 3).map(float), max_size=60)


def expected_of(values, axis=None):
    """Return what NumPy and SciPy say of an array without NaN."""
    whole = np.asarray(values, dtype=float)
    whole, axis = (whole.ravel(), 0) if axis is None else (whole, axis)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy and SciPy warn where the answer is NaN
        mean, sd = whole.mean(axis), whole.std(axis)
        median, p95, p99 = np.percentile(whole, [50, 95, 99], axis)
        return {
            "n": np.full(np.shape(mean), whole.shape[axis])[()],
            "absent": np.zeros(np.shape(mean), int)[()],
            "mean": mean,
            "max": whole.max(axis),
            "min": whole.min(axis),
            "sd": sd,
            "sd_sample": whole.std(axis, ddof=1),
            "cov": sd / mean,
            "median": median,
            "p95": p95,
            "p99": p99,
            "skewness": stats.skew(whole, axis),
            "kurtosis": stats.kurtosis(whole, axis),
        }


def assert_same(found, expected, rtol=1e-11, atol=1e-12):
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert np.shape(found[name]) == np.shape(value), name
        np.testing.assert_allclose(found[name], value, rtol, atol, err_msg=name)


# Describing


@given(rows | ties)
def test_describe_is_exact_to_a_few_units_in_the_last_place(values):
    expected = reference.describe(values)
    found = _core.describe(np.array(values, dtype=float))
    bound = 1e-15 * max((abs(value) for value in values if value == value), default=0)
    for name in ("mean", "max", "min", "sd", "sd_sample", "median", "p95", "p99"):
        assert found[name] == pytest.approx(
            expected[name], rel=1e-14, abs=max(bound, SUBNORMAL), nan_ok=True
        ), name
    assert (found["n"], found["absent"]) == (expected["n"], expected["absent"])


@given(st.lists(any_size, min_size=2, max_size=30))
@example([0.0, SUBNORMAL])
def test_describe_takes_numbers_of_any_size(values):
    expected = reference.describe(values)
    found = _core.describe(values)
    for name in ("mean", "sd"):
        bound = max(1e-15 * max(map(abs, values)), SUBNORMAL)
        assert found[name] == pytest.approx(expected[name], rel=1e-12, abs=bound), name
    assert np.isnan(found["skewness"]) == (min(values) == max(values))


@pytest.mark.parametrize("offset", [0, 1e3, -1e6, 1e9, 1e12, 1e15])
@pytest.mark.parametrize("size", [2, 3, 31, 200])
def test_shape_survives_a_large_offset(size, offset):
    values = offset + np.random.default_rng(size).integers(0, 50, size).astype(float)
    expected = reference.describe(values.tolist())
    found = _core.describe(values)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-11, abs=1e-12), name


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-60, 1e60, 1e150, 1e307])
def test_shape_does_not_depend_on_scale(scale):
    values = random_values(101) / 10
    found, scaled = _core.describe(values), _core.describe(values * scale)
    for name in ("cov", "skewness", "kurtosis"):
        assert scaled[name] == pytest.approx(found[name], rel=1e-12), name
    for name in ("mean", "sd", "sd_sample", "p95"):
        assert scaled[name] / scale == pytest.approx(found[name], rel=1e-12), name


@pytest.mark.parametrize(
    ("iterations", "cells"),
    [
        (
            [42517, 44581, 44942],
            "44013.33 44942.00 42517.00 1068.28 0.02 44581.00 44905.90 44934.78 -0.65",
        ),
        (
            [114556, 113730, 113057],
            "113781.00 114556.00 113057.00 613.03 0.01 113730.00 114473.40 114539.48 0.12",
        ),
    ],
)
def test_describe_gives_the_cells_of_a_published_report(iterations, cells):
    found = _core.describe(iterations)
    names = ("mean", "max", "min", "sd", "cov", "median", "p95", "p99", "skewness")
    assert " ".join(f"{found[name]:.2f}" for name in names) == cells


@pytest.mark.parametrize("values", [[], [NAN, NAN]])
def test_describe_without_values_is_nan(values):
    found = _core.describe(np.array(values, dtype=float))
    assert (found.pop("n"), found.pop("absent")) == (0, len(values))
    assert np.isnan(list(found.values())).all()


def test_describe_of_one_value_has_no_sample_deviation_and_no_shape():
    found = _core.describe([7.0])
    assert [found[name] for name in ("mean", "max", "min", "median", "p99")] == [7.0] * 5
    assert (found["sd"], found["cov"]) == (0.0, 0.0)
    assert np.isnan([found[name] for name in ("sd_sample", "skewness", "kurtosis")]).all()


def test_describe_of_two_values():
    expected = {"sd": 1.0, "sd_sample": 2**0.5, "median": 2.0, "skewness": 0.0, "kurtosis": -2.0}
    found = _core.describe([1.0, 3.0])
    assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9 / 3, 1e-310, 1.7e308])
@pytest.mark.parametrize("size", [2, 3, 1000])
def test_equal_values_have_no_spread_and_no_shape(value, size):
    found = _core.describe(np.full(size, value))
    assert found["mean"] == found["max"] == found["min"] == found["p95"] == value
    assert found["sd"] == found["sd_sample"] == 0
    assert np.isnan([found["skewness"], found["kurtosis"]]).all()


@pytest.mark.parametrize(
    ("values", "mean", "median"),
    [
        ([1.0, INF, 3.0], INF, 3.0),
        ([-INF, 1.0, 3.0], -INF, 1.0),
        ([-INF, 5.0, INF], NAN, 5.0),
        ([-INF, INF], NAN, NAN),
        ([INF, INF], INF, INF),
        ([1.0, INF], INF, INF),
    ],
)
def test_infinities_have_places_but_no_spread(values, mean, median):
    found = _core.describe([NAN, *values])
    np.testing.assert_equal((found["mean"], found["median"]), (mean, median))
    np.testing.assert_equal((found["max"], found["min"]), (max(values), min(values)))
    spread = ("sd", "sd_sample", "cov", "skewness", "kurtosis")
    assert np.isnan([found[name] for name in spread]).all()


# Arrays


@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_describe_agrees_with_scipy_along_every_axis(shape, axis):
    values = random_values(shape)
    assert_same(_core.describe(values, axis), expected_of(values, axis))


LAYOUTS = {
    "reversed": lambda values: values[::-1, :, ::-1],
    "every other": lambda values: values[::2, :, ::2],
    "Fortran order": np.asfortranarray,
    "transposed": lambda values: values.T,
    "repeated without memory": lambda values: np.broadcast_to(values, (3, *values.shape)),
    "byte-swapped": lambda values: values.astype(values.dtype.newbyteorder()),
    "read only": lambda values: np.frombuffer(values.tobytes()).reshape(values.shape),
    "field of a record": lambda values: np.rec.fromarrays([values, values * 2]).f1,
    "unaligned": lambda values: np.frombuffer(b"x" + values.tobytes(), "f8", offset=1).reshape(
        values.shape
    ),
    "subclass": lambda values: values[0].view(np.matrix),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_describe_takes_any_layout(layout, axis):
    values = layout(random_values((6, 8, 10)))
    assert_same(_core.describe(values, axis), expected_of(np.array(values), axis))


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "e", "f"])
def test_describe_takes_types_that_cast_safely(dtype, axis):
    values = (random_values((9, 10)) // 3).astype(dtype)
    assert_same(_core.describe(values, axis), expected_of(values, axis))


@pytest.mark.parametrize(
    "values",
    [
        *(1.0, "text", None, ["1", "2"], [1, None], [[1, 2], [3]], [2**70]),
        *(np.ones(3, "c16"), np.ones(3, "g"), np.ones(3, "M8[s]"), np.ones(3, "m8[s]")),
        *(np.ones(3, "O"), np.ones(3, [("a", "f8")])),
    ],
)
@pytest.mark.parametrize("function", [_core.describe, _core.Moments().add])
def test_what_is_no_array_of_real_numbers_is_an_error(function, values):
    with pytest.raises((TypeError, ValueError)):
        function(values)


@pytest.mark.parametrize("axis", [2, -3, 2**70, 0.5, "0", (0, 1)])
def test_axis_that_is_not_there_is_an_error(axis):
    with pytest.raises((TypeError, ValueError)):
        _core.describe(np.ones((2, 2)), axis)


@pytest.mark.parametrize(
    ("shape", "axis", "left"),
    [((0, 3), 1, (0,)), ((3, 0), 1, (3,)), ((0,), 0, ()), ((2, 0, 4), 1, (2, 4))],
)
def test_empty_rows_are_nan_and_no_rows_are_empty(shape, axis, left):
    found = _core.describe(np.ones(shape), axis)
    assert {np.shape(value) for value in found.values()} == {left}
    assert np.all(found["n"] == 0)
    assert np.isnan(found["median"]).all()


def test_rows_leave_out_their_own_nan():
    values = np.array([[1.0, NAN, 3.0], [NAN, NAN, NAN], [5.0, 6.0, 7.0]])
    found = _core.describe(values, axis=1)
    np.testing.assert_array_equal(found["n"], [2, 0, 3])
    np.testing.assert_array_equal(found["absent"], [1, 3, 0])
    np.testing.assert_array_equal(found["mean"], [2, NAN, 6])


@pytest.mark.parametrize("axis", [None, 0])
def test_statistics_leave_their_argument_alone(axis):
    values = random_values(500)
    values[7] = NAN
    before = values.copy()
    _core.describe(values, axis)
    _core.percentile(values, [5, 50], axis)
    _core.Moments().add(values)
    _core.weighted_percentile(values, np.nan_to_num(before[::-1]), 50)
    np.testing.assert_array_equal(values, before)


@pytest.mark.parametrize("dtype", ["f8", ">f8", "i4"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_one_copy_of_the_data_is_all_that_is_needed(dtype, axis):
    values = np.arange(1_000_000).reshape(1000, 1000).astype(dtype)
    tracemalloc.start()
    _core.describe(values, axis)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 8 * values.size <= peak < 8.5 * values.size


# Running moments

MOMENTS = ("n", "absent", "mean", "max", "min", "sd", "sd_sample", "skewness", "kurtosis")


def moments_of(*parts):
    moments = _core.Moments()
    for part in parts:
        moments.add(part)
    return moments


def figures(moments):
    return np.array([getattr(moments, name) for name in MOMENTS])


@pytest.mark.parametrize("offset", [0, 1e9])
@pytest.mark.parametrize("parts", [1, 2, 7, 300, 3000])
def test_moments_of_a_stream_are_those_of_all_its_values(parts, offset):
    values = offset + random_values(3000)
    values[::100] = NAN
    expected = _core.describe(values)
    found = figures(moments_of(*np.array_split(values, parts)))
    np.testing.assert_allclose(found, [expected[name] for name in MOMENTS], rtol=1e-11)


@given(st.lists(rows, min_size=2, max_size=5))
def test_order_of_merging_does_not_matter(parts):
    one, other = moments_of(), moments_of()
    for part in parts:
        one.merge(moments_of(part))
        later = moments_of(part)
        later.merge(other)
        other = later
    spread = figures(one)[5]
    exact = len(MOMENTS) - 2
    np.testing.assert_allclose(
        figures(one)[:exact], figures(other)[:exact], 1e-12, 1e-12 * max(1, np.nan_to_num(spread))
    )


@pytest.mark.parametrize(("small", "large"), [(1e-300, 1e-290), (1e-300, 1.0), (1e100, 1e308)])
def test_moments_of_different_scales_merge(small, large):
    parts = [random_values(50) / 100 * small, random_values(40) / 100 * large, np.zeros(3)]
    expected = _core.describe(np.concatenate(parts))
    for order in ([0, 1, 2], [2, 1, 0], [2, 0, 1]):
        found = figures(moments_of(*(parts[i] for i in order)))
        np.testing.assert_allclose(found, [expected[name] for name in MOMENTS], rtol=1e-11)


def test_moments_without_values_are_nan():
    moments = moments_of([NAN, NAN])
    assert (moments.n, moments.absent) == (0, 2)
    assert np.isnan(figures(moments)[2:]).all()
    moments.merge(moments_of([4.0]))
    assert (moments.n, moments.absent, moments.mean, moments.sd) == (1, 2, 4.0, 0.0)


@pytest.mark.parametrize(("other", "mean"), [(1.0, INF), (INF, INF), (-INF, NAN)])
def test_moments_of_infinities_are_stated(other, mean):
    moments = moments_of([INF, 2.0], [other])
    np.testing.assert_equal((moments.mean, moments.max), (mean, INF))
    assert np.isnan([moments.sd, moments.skewness, moments.kurtosis]).all()


def test_moments_merge_with_themselves():
    moments = moments_of([1.0, 2.0, 6.0])
    before = figures(moments)
    moments.merge(moments)
    assert moments.n == 6
    np.testing.assert_allclose([moments.sd, moments.skewness], [before[5], before[7]])


def test_only_moments_merge_into_moments():
    with pytest.raises(TypeError, match="needs Moments, not list"):
        _core.Moments().merge([1.0])


# Ratios


def test_percent_of_baseline_is_by_cell():
    found = _core.percent_of_baseline([[50, 3.0], [NAN, 1]], [[100, 2.0], [1, NAN]])
    np.testing.assert_array_equal(found, [[50.0, 150.0], [NAN, NAN]])


@pytest.mark.parametrize("candidate", [0.0, 1.0, -1.0, INF, NAN])
def test_nothing_is_a_percentage_of_zero(candidate):
    assert np.isnan(_core.percent_of_baseline([candidate], [0.0])).all()


@given(
    st.lists(
        st.tuples(st.floats(1e-3, 1e6) | st.just(NAN), st.floats(1e-3, 1e6) | st.just(NAN)),
        max_size=20,
    ).map(lambda cells: [*cells, (2.0, 3.0)])
)
def test_geometric_mean_ratio_is_over_cells_of_both_sides(cells):
    candidate, baseline = np.array(cells).T
    found = _core.geometric_mean_ratio(candidate, baseline)
    here, there = ~np.isnan(candidate), ~np.isnan(baseline)
    assert (found["used"], found["cells"]) == ((here & there).sum(), (here | there).sum())
    expected = reference.geometric_mean_ratio(candidate.tolist(), baseline.tolist())
    assert found["ratio"] == pytest.approx(expected, rel=1e-9)
    swapped = _core.geometric_mean_ratio(baseline, candidate)
    assert found["ratio"] * swapped["ratio"] == pytest.approx(1, rel=1e-13)


def test_cells_without_a_logarithm_are_not_used():
    found = _core.geometric_mean_ratio(
        [[4.0, 0.0, 5.0], [INF, 1.0, NAN]], [[1, 1, 0], [1, -1, NAN]]
    )
    assert found == {"ratio": pytest.approx(4.0), "used": 1, "cells": 5}


def test_no_common_cell_has_no_ratio():
    found = _core.geometric_mean_ratio([1.0, NAN], [NAN, 1.0])
    assert np.isnan(found.pop("ratio"))
    assert found == {"used": 0, "cells": 2}


def test_ratios_of_extreme_cells_do_not_overflow():
    found = _core.geometric_mean_ratio([1e300, 1e-300], [1e-300, 1e300])
    assert found["ratio"] == pytest.approx(1)


@pytest.mark.parametrize("function", [_core.percent_of_baseline, _core.geometric_mean_ratio])
def test_sides_of_different_shape_are_an_error(function):
    with pytest.raises(ValueError, match="same shape"):
        function([1.0, 2.0], [[1.0, 2.0]])


# Masked arrays


MASKED = np.ma.array([[1.0, 2.0, 99.0], [4.0, 98.0, 6.0]], mask=[[0, 0, 1], [0, 1, 0]])
PLAIN = MASKED.filled(NAN)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_masked_values_are_absent(axis):
    assert_same(_core.describe(MASKED, axis), _core.describe(PLAIN, axis))
    found, expected = (_core.percentile(each, [25, 75], axis) for each in (MASKED, PLAIN))
    np.testing.assert_array_equal(found, expected)


def test_masked_integers_are_absent():
    found = _core.describe(np.ma.array([1, 2, 99], mask=[0, 0, 1]))
    assert (found["n"], found["absent"], found["mean"]) == (2, 1, 1.5)


def test_masked_array_without_a_mask_is_all_values():
    assert _core.describe(np.ma.array([1.0, 2.0]))["n"] == 2


def test_masked_values_are_absent_from_moments_and_ratios():
    moments = _core.Moments()
    moments.add(MASKED)
    assert moments.n == 4
    ratio = _core.geometric_mean_ratio(MASKED, PLAIN)
    assert (ratio["used"], ratio["ratio"]) == (4, 1.0)
    percent = _core.percent_of_baseline(np.full((2, 3), 1.0), MASKED)
    np.testing.assert_array_equal(np.isnan(percent), MASKED.mask)
    values = np.ma.array([1.0, 2.0, 9.0], mask=[0, 0, 1])
    assert _core.weighted_percentile(values, np.ones(3), 100) == 2.0


def test_masked_values_of_no_number_are_refused():
    with pytest.raises(TypeError):
        _core.describe(np.ma.array(["a", "b"], mask=[0, 1]))


def test_list_of_masked_arrays_is_refused():
    with pytest.raises(TypeError, match="numpy.ma.stack"):
        _core.describe([MASKED, MASKED])


def test_masked_percentile_is_refused():
    with pytest.raises(MetricError, match="0 to 100"):
        _core.percentile([1.0], np.ma.array([50.0], mask=[1]))
