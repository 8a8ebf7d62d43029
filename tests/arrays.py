"""Arrays that the tests of statistics have in common."""

import numpy as np
from hypothesis import strategies as st

NAN, INF = float("nan"), float("inf")
SUBNORMAL = 5e-323
"""A few of the smallest steps there are."""

present = st.floats(-1e9, 1e9)
rows = st.lists(present | st.just(NAN), max_size=60)

SHAPES = [(7,), (1, 5), (2, 3), (40, 3), (3, 40), (4, 5, 6), (2, 3, 4, 5)]
CASES = [(shape, axis) for shape in SHAPES for axis in (None, *range(-len(shape), len(shape)))]
"""Each shape with each of its axes, and with none."""


def random_values(shape, seed=1):
    """Return positive numbers of a skewed distribution."""
    return np.random.default_rng(seed).gamma(2.0, 3.0, shape)
