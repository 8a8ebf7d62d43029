"""The histogram against exact percentiles, itself merged, and HdrHistogram's own format."""

import base64
import copy
import math
import struct
import zlib

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from benchkit._core import Histogram
from benchkit.errors import MetricError, StoreError

US = 1_000
S = 1_000_000_000
PERCENTILES = [0, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100]
RESPONSE_TIMES = st.lists(st.integers(US, 60 * S), min_size=1, max_size=300)


def histogram_of(values, **layout):
    histogram = Histogram(**layout)
    histogram.record_many(values)
    return histogram


def shapes():
    rng = np.random.default_rng(1)
    size = 20_000
    bimodal = np.where(
        rng.random(size) < 0.9, rng.normal(2e5, 2e4, size), rng.normal(5e7, 1e6, size)
    )
    yield "constant", np.full(size, 123_456_789)
    yield "uniform", rng.uniform(US, 60 * S, size)
    yield "exponential", rng.exponential(3e6, size)
    yield "lognormal", rng.lognormal(13, 2, size)
    yield "bimodal", bimodal
    yield "heavy tail", (rng.pareto(0.7, size) + 1) * 50 * US
    yield "log-uniform", np.exp(rng.uniform(np.log(US), np.log(60 * S), size))
    yield "few", np.array([US, 60 * S, 60 * S - 1])


SHAPES = {name: np.clip(values, US, 60 * S).astype(np.int64) for name, values in shapes()}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(("digits", "tolerance"), [(2, 0.01), (3, 0.001), (4, 0.0001)])
def test_percentiles_are_close_to_the_exact_ones(name, digits, tolerance):
    values = SHAPES[name]
    found = histogram_of(values, digits=digits).percentile(PERCENTILES)
    exact = [reference.percentile(values.tolist(), p) for p in PERCENTILES]
    np.testing.assert_allclose(found, exact, rtol=tolerance)


@given(RESPONSE_TIMES, st.floats(0, 100))
def test_percentile_of_any_values_is_close_to_the_exact_one(values, at):
    found = histogram_of(values).percentile(at)
    assert found == pytest.approx(reference.percentile(values, at), rel=0.001)


@given(RESPONSE_TIMES)
def test_extremes_and_mean_are_exact(values):
    histogram = histogram_of(values)
    assert (histogram.min, histogram.max) == (min(values), max(values))
    assert histogram.mean == pytest.approx(sum(values) / len(values), rel=1e-12)
    assert histogram.total == len(values)


@given(st.lists(RESPONSE_TIMES, min_size=1, max_size=5))
def test_merged_parts_equal_the_whole(parts):
    merged = Histogram()
    for part in parts:
        merged.merge(histogram_of(part))
    whole = histogram_of(sum(parts, []))
    assert merged == whole
    assert (merged.min, merged.max, merged.mean) == (whole.min, whole.max, whole.mean)


def test_percentiles_of_an_array_keep_its_shape():
    histogram = histogram_of(range(1, 101))
    found = histogram.percentile(np.array([[50, 95], [99, 100]]))
    assert found.dtype == np.float64
    assert found.tolist() == [[50, 95], [99, 100]]
    assert histogram.percentile([]).shape == (0,)


def test_percentile_of_a_number_is_a_float():
    found = histogram_of([5]).percentile(50)
    assert type(found) is float
    assert found == 5


def test_percentile_of_empty_histogram_is_an_error():
    with pytest.raises(MetricError, match="empty histogram"):
        Histogram().percentile(50)


@pytest.mark.parametrize("at", [-0.1, 100.1, math.nan, [50, 101]])
def test_percentile_out_of_range_is_an_error(at):
    with pytest.raises(MetricError, match="0 to 100"):
        histogram_of([1]).percentile(at)


def test_empty_histogram_has_no_extremes():
    empty = Histogram()
    assert all(math.isnan(number) for number in (empty.min, empty.max, empty.mean))
    assert (empty.total, empty.overflow) == (0, 0)


def test_values_above_highest_are_counted_apart():
    histogram = histogram_of([10, 5000], highest=1000)
    assert (histogram.total, histogram.overflow, histogram.max) == (2, 1, 5000)
    assert histogram.percentile([50, 100]).tolist() == [10, 5000]


def test_negative_values_count_as_zero():
    histogram = Histogram()
    histogram.record(-3)
    assert (histogram.min, histogram.max) == (0, 0)


def test_record_many_takes_arrays_of_any_shape_and_integer_type():
    histogram = histogram_of(np.arange(6, dtype=np.uint16).reshape(2, 3)[:, ::2])
    assert [column.tolist() for column in histogram.counts()] == [[0, 2, 3, 5], [1, 1, 1, 1]]
    histogram.record_many([])
    assert histogram.total == 4


@pytest.mark.parametrize("values", [[1.5], np.array([2**63], dtype=np.uint64), ["5"]])
def test_record_many_refuses_what_integers_cannot_hold(values):
    with pytest.raises((TypeError, ValueError)):
        Histogram().record_many(values)


@pytest.mark.parametrize("layout", [{"digits": 0}, {"digits": 5}, {"highest": 1}])
def test_bad_layout_is_an_error(layout):
    with pytest.raises(MetricError, match="must be"):
        Histogram(**layout)


def test_histograms_of_other_layouts_do_not_merge():
    with pytest.raises(MetricError, match="cannot be merged"):
        Histogram(digits=2).merge(Histogram(digits=3))
    with pytest.raises(TypeError, match="Histogram"):
        Histogram().merge([1])


def test_counts_are_those_of_the_buckets():
    values, counts = histogram_of([1, 1, 2047, 2048, 2049, 5000]).counts()
    assert values.tolist() == [1, 2047, 2048, 5000]
    assert counts.tolist() == [2, 1, 2, 1]
    assert all(column.size == 0 for column in Histogram().counts())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, Histogram.copy])
def test_copy_is_equal_and_separate(copied):
    histogram = histogram_of([1, 2, 200_000_000_000])
    other = copied(histogram)
    assert other == histogram
    assert other.max == histogram.max
    other.record(3)
    assert other != histogram
    assert histogram.total == 3


def test_histogram_is_equal_to_nothing_else():
    assert Histogram() != Histogram(digits=2)
    assert Histogram() != 0
    with pytest.raises(TypeError, match="unhashable"):
        hash(Histogram())


@settings(max_examples=50)
@given(st.lists(st.integers(0, 120 * S), max_size=100))
def test_decoded_equals_encoded(values):
    histogram = histogram_of(values)
    assert Histogram.decode(histogram.encode()) == histogram


@pytest.mark.parametrize("payload", [b"\x80", b"\xff" * 9, b"\xff\xff\xff\x7f"])
def test_damaged_payload_is_an_error(payload):
    with pytest.raises(StoreError, match="histogram's counts"):
        Histogram.decode(payload)


def hdr_text(histogram):
    """Wrap the payload as HdrHistogram's V2 compressed format does."""
    payload = histogram.encode()
    header = struct.pack(
        ">iiiiqqd", 0x1C849313, len(payload), 0, histogram.digits, 1, histogram.highest, 1.0
    )
    packed = zlib.compress(header + payload)
    return base64.b64encode(struct.pack(">ii", 0x1C849314, len(packed)) + packed)


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_hdrhistogram_reads_what_we_write(digits):
    hdrh = pytest.importorskip("hdrh.histogram")
    histogram = histogram_of(SHAPES["lognormal"], digits=digits)
    theirs = hdrh.HdrHistogram.decode(hdr_text(histogram))
    assert theirs.get_total_count() == histogram.total
    values, counts = histogram.counts()
    assert [theirs.get_count_at_value(v) for v in values.tolist()] == counts.tolist()


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_we_read_what_hdrhistogram_writes(digits):
    hdrh = pytest.importorskip("hdrh.histogram")
    theirs = hdrh.HdrHistogram(1, 120 * S, digits)
    for value in SHAPES["heavy tail"].tolist():
        theirs.record_value(value)
    packed = base64.b64decode(theirs.encode())[8:]
    payload = zlib.decompress(packed)[40:]
    ours = Histogram.decode(payload, highest=120 * S, digits=digits)
    expected = histogram_of(SHAPES["heavy tail"], highest=120 * S, digits=digits)
    assert ours == expected


def test_masked_values_are_not_recorded():
    histogram = Histogram()
    histogram.record_many(np.ma.array([1, 2, 10**9], mask=[0, 0, 1]))
    assert (histogram.total, histogram.max) == (2, 2)
