"""The core's summary of an array, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchkit import _core

present = st.floats(-1e9, 1e9)
arrays = st.lists(present | st.just(float("nan")), min_size=1, max_size=60).filter(
    lambda values: not np.isnan(values).all()
)


@given(arrays)
def test_describe_agrees_with_numpy_where_absent_values_are_left_out(values):
    found = _core.describe(np.array(values))
    scale = np.nanmax(np.abs(values))
    assert found["n"] == np.count_nonzero(~np.isnan(values))
    assert (found["minimum"], found["maximum"]) == (np.nanmin(values), np.nanmax(values))
    assert found["mean"] == pytest.approx(np.nanmean(values), rel=1e-9, abs=1e-12 * scale)
    assert found["sd"] == pytest.approx(np.nanstd(values), rel=1e-6, abs=1e-12 * scale)


@pytest.mark.parametrize(
    "values",
    [[1.0], [1.0, 2.0, 5.0], [1e150, -1e150, 1e150], [1e9, 1e9 + 1, 1e9 + 2], [0.1] * 1000],
)
def test_describe_is_exact_on_awkward_values(values):
    found = _core.describe(np.array(values))
    expected = {"mean": np.mean(values), "sd": np.std(values)}
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("values", [[], [np.nan, np.nan]])
def test_describe_without_values_is_nan(values):
    found = _core.describe(np.array(values, dtype=float))
    assert found.pop("n") == 0
    assert np.isnan(list(found.values())).all()


def test_describe_takes_any_list_of_numbers():
    expected = {"n": 3, "mean": 2.0, "sd": np.std([1, 2, 3]), "minimum": 1.0, "maximum": 3.0}
    assert _core.describe([1, 2, 3]) == pytest.approx(expected)
    assert _core.describe(np.arange(6.0)[::2])["maximum"] == 4.0


def test_describe_leaves_its_argument_alone():
    values = np.array([3.0, np.nan, 1.0])
    _core.describe(values)
    np.testing.assert_array_equal(values, [3.0, np.nan, 1.0])


@pytest.mark.parametrize("values", [np.ones((2, 2)), 1.0, "text", None])
def test_describe_of_what_is_no_list_of_numbers_is_an_error(values):
    with pytest.raises((TypeError, ValueError)):
        _core.describe(values)
