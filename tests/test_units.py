"""Durations, sizes and numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchkit.errors import ConfigError, StudyError
from benchkit.units import (
    decimals_for,
    format_duration,
    format_number,
    format_size,
    parse_duration,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("60s", 60),
        ("2m", 120),
        ("2min", 120),
        ("1h30m", 5400),
        ("1 h 23 min", 4980),
        ("500ms", 0.5),
        ("1.5h", 5400),
        ("2d", 172800),
        (" 10 ", 10),
        (5, 5),
        (0, 0),
        (0.25, 0.25),
    ],
)
def test_durations_people_write_are_read(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "value",
    [
        "5 parsecs",
        "",
        "s",
        "-5s",
        "1h30",
        "5 seconds",
        "1:30",
        "nan",
        -1,
        float("nan"),
        float("inf"),
        True,
        None,
    ],
)
def test_what_is_no_duration_is_an_error_that_shows_it(value):
    with pytest.raises(StudyError) as caught:
        parse_duration(value)
    assert repr(value) in str(caught.value)
    assert '"1h30m"' in str(caught.value)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.35, "350 ms"),
        (0.9999, "1 s"),
        (1.5, "1.5 s"),
        (9.96, "10 s"),
        (59.7, "1 min"),
        (125, "2 min 5 s"),
        (3599.6, "1 h"),
        (4980, "1 h 23 min"),
        (86400 * 2 + 3600 * 3, "2 d 3 h"),
        (float("nan"), "unknown"),
    ],
)
def test_duration_is_shown_in_its_two_largest_units(seconds, text):
    assert format_duration(seconds) == text


@given(st.integers(0, 59))
def test_whole_seconds_under_a_minute_read_back(seconds):
    assert parse_duration(format_duration(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2G", 2 << 30),
        ("64m", 64 << 20),
        ("512 KiB", 512 << 10),
        ("1.5G", 3 << 29),
        ("1TB", 1 << 40),
        ("100", 100),
        (4096, 4096),
    ],
)
def test_sizes_people_write_are_read(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("value", ["2X", "", "G", "-1G", "0.3", "much", -1, 1.5, False])
def test_what_is_no_size_is_an_error_that_shows_it(value):
    with pytest.raises(ConfigError) as caught:
        parse_size(value)
    assert repr(value) in str(caught.value)
    assert '"2G"' in str(caught.value)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2 << 30, "2.0 GiB"), (1 << 40, "1.0 TiB")],
)
def test_size_is_shown_in_the_largest_unit_it_fills(size, text):
    assert format_size(size) == text


@pytest.mark.parametrize(
    ("smallest", "text"),
    [
        (12345.6, "12,346"),
        (999.94, "999.9"),
        (43.21, "43.2"),
        (4.321, "4.32"),
        (0.4321, "0.432"),
        (0.004321, "0.00432"),
        (0.0, "0.0"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_show_about_three_digits(smallest, text):
    assert format_number(smallest, decimals_for(smallest)) == text
