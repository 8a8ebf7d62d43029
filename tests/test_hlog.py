"""HdrHistogram logs: our own round trip, and against the reference port for Python."""

import base64
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchkit import hlog
from benchkit._core import Histogram
from benchkit.errors import StoreError

HIGHEST = 120_000_000_000

values = st.lists(st.integers(0, HIGHEST), max_size=50)
tags = st.text(min_size=1, max_size=20)
seconds = st.integers(0, 10**6).map(lambda ms: ms / 1000)


def histogram_of(recorded, digits=3):
    histogram = Histogram(HIGHEST, digits)
    histogram.record_many(np.array(recorded, dtype=np.int64))
    return histogram


def counts(histogram):
    lowest, numbers = histogram.counts()
    return dict(zip(lowest.tolist(), numbers.tolist(), strict=True))


def log_of(*lines):
    return hlog.format_header(1_441_812_279.474) + "".join(lines)


@given(
    st.lists(st.tuples(tags, seconds, seconds, values, st.integers(1, 4)), max_size=4),
)
def test_log_survives_a_round_trip(intervals):
    made = [(tag, start, n, histogram_of(v, digits)) for tag, start, n, v, digits in intervals]
    log = hlog.parse(log_of(*(hlog.format_line(*line) for line in made)))
    assert not log.torn
    assert log.start_epoch_s == 1_441_812_279.474
    for line, (tag, start, length, histogram) in zip(log.lines, made, strict=True):
        assert (line.tag, line.start_s, line.length_s) == (tag, start, length)
        again = line.histogram()
        assert counts(again) == counts(histogram)
        assert (again.digits, again.highest) == (histogram.digits, histogram.highest)


def test_header_is_that_of_the_java_writer():
    assert hlog.format_header(1_441_812_279.474).splitlines() == [
        "#[Histogram log format version 1.3]",
        "#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]


def test_line_holds_interval_length_and_largest_milliseconds():
    line = hlog.format_line("statement.select", 2.5, 1.25, histogram_of([1_000_000, 7_500_000]))
    assert line.startswith("Tag=statement.select,2.500,1.250,7.500,HISTFAAA")


def test_empty_histogram_has_a_line_too():
    (line,) = hlog.parse(hlog.format_line("transaction.x", 0, 1, Histogram())).lines
    assert (line.max_ms, line.histogram().total) == (0.0, 0)


def test_tag_with_commas_and_spaces_is_one_field():
    line = hlog.format_line("transaction.new order, slow", 0, 1, histogram_of([5]))
    assert line.startswith("Tag=transaction.new%20order%2C%20slow,0.000,")


# Against the reference port


def test_reference_port_reads_our_histograms(tmp_path):
    log_reader = pytest.importorskip("hdrh.log").HistogramLogReader
    reference = pytest.importorskip("hdrh.histogram").HdrHistogram
    recorded = np.random.default_rng(1).lognormal(14, 2, 5000).astype(np.int64)
    path = tmp_path / "latency.hlog"
    path.write_text(log_of(hlog.format_line("transaction.x", 1.5, 1.0, histogram_of(recorded))))
    whole = reference(1, HIGHEST, 3)
    reader = log_reader(str(path), whole)
    reader.add_next_interval_histogram(whole)
    reader.close()
    expected = reference(1, HIGHEST, 3)
    for value in recorded.tolist():
        expected.record_value(value)
    assert whole.get_total_count() == 5000
    for percentile in (0, 50, 95, 99.9, 100):
        assert whole.get_value_at_percentile(percentile) == expected.get_value_at_percentile(
            percentile
        )


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_histograms_of_the_reference_port_are_read(digits):
    reference = pytest.importorskip("hdrh.histogram").HdrHistogram(1, HIGHEST, digits)
    recorded = np.random.default_rng(2).lognormal(14, 2, 2000).astype(np.int64).tolist()
    for value in recorded:
        reference.record_value(value)
    text = f"Tag=A,0.127,1.007,2.769,{reference.encode().decode()}\n"
    (line,) = hlog.parse(text).lines
    assert counts(line.histogram()) == counts(histogram_of(recorded, digits))
    assert (line.tag, line.start_s, line.length_s, line.max_ms) == ("A", 0.127, 1.007, 2.769)


# Merging


def test_merging_takes_the_wanted_tags_only():
    log = hlog.parse(
        hlog.format_line("a", 0, 1, histogram_of([10, 20]))
        + hlog.format_line("b", 0, 1, histogram_of([30]))
        + hlog.format_line("a", 1, 1, histogram_of([40]))
    )
    assert log.tags == ("a", "b")
    assert counts(log.merged(["a"])) == {10: 1, 20: 1, 40: 1}
    assert counts(log.merged(["a", "b"])) == {10: 1, 20: 1, 30: 1, 40: 1}
    assert log.merged(["c"]) is None


# Damage


@given(st.data())
def test_log_cut_anywhere_keeps_every_whole_line(data):
    lines = [hlog.format_line("a", i, 1, histogram_of([i * 1000, 5])) for i in range(3)]
    text = log_of(*lines)
    cut = data.draw(st.integers(0, len(text)))
    log = hlog.parse(text[:cut])
    whole = text[:cut].count("\nTag=")
    complete = sum(cut >= len(log_of(*lines[: i + 1])) - 1 for i in range(3))
    assert len(log.lines) == complete
    assert log.torn == (whole > complete or log.torn and whole == complete)
    assert all(line.histogram().total == 2 for line in log.lines)


def test_torn_last_line_is_left_out_and_said():
    text = log_of(hlog.format_line("a", 0, 1, histogram_of([5])))
    log = hlog.parse(text + "Tag=a,1.000,1.0")
    assert (len(log.lines), log.torn) == (1, True)


def test_last_line_that_only_lacks_its_line_break_is_kept():
    text = log_of(hlog.format_line("a", 0, 1, histogram_of([5])))
    assert len(hlog.parse(text.rstrip("\n")).lines) == 1


@pytest.mark.parametrize("line", ["nonsense", "Tag=a b,0,1,2,AAAA", "1,2,3", "Tag=a,x,1,2,AAAA"])
def test_line_of_another_form_is_an_error_with_its_number(line):
    with pytest.raises(StoreError, match="line 4 is '"):
        hlog.parse(log_of(line + "\n"))


def packed(cookie=0x1C849313, lowest=1, counts_bytes=b"\x02"):
    header = hlog._HEADER.pack(cookie, len(counts_bytes), 0, 3, lowest, HIGHEST, 1.0)
    stream = zlib.compress(header + counts_bytes)
    return hlog._WRAPPER.pack(0x1C849314, len(stream)) + stream


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "damaged histogram"),
        (b"\x1c\x84\x93\x08" + bytes(40), "cookie is 0x1c849308; 0x1c849314 is supported"),
        (packed()[:-3], "bytes are there"),
        (packed()[:8] + bytes(len(packed()) - 8), "while decompressing"),
        (packed(cookie=7), "cookie 0x7"),
        (packed(lowest=1000), "lowest value 1000"),
        (packed(counts_bytes=b"\xff"), "damaged histogram"),
    ],
)
def test_damaged_histogram_is_an_error_with_its_line(data, message):
    payload = base64.b64encode(data).decode() or "A"
    (line,) = hlog.parse(f"Tag=a,0,1,2,{payload}\n").lines
    with pytest.raises(StoreError, match=rf"line 1 holds .*{message}"):
        line.histogram()
