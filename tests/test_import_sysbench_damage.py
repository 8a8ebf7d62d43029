"""sysbench logs that were cut, or damaged in any other way; and of any size."""

import json
import random
import re
import tracemalloc
from itertools import count, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation import told
from sysbench_reading import VERSIONS, read, read_file, read_one
from sysbench_writer import Log, body_1x, head_1x, make_log, write_log, write_test

from benchkit.errors import BenchkitError
from benchkit.importers.model import ImportFormatError
from benchkit.importers.source import Line
from benchkit.importers.sysbench import parse


def test_underflowed_counters_are_kept_and_flagged():
    log = make_log(1, errors=2**64 - 1)
    run = read_one(write_log(log).replace(f"{log.latency_ms[0]:10.2f}", "18446744073709.55"))
    assert run.extra["errors"] == 2**64 - 1
    assert not {"errors", "latency_min"} & set(run.metrics)
    assert run.extra["latency_min"] == pytest.approx(18446744073.70955)
    assert sum("below zero" in warning for warning in run.warnings) >= 2


def test_rate_of_an_underflowed_counter_is_kept_and_flagged():
    run = read_one(write_log(make_log(1, errors=2**64 - 1)))
    assert run.extra["errors_per_s"] > 1e16
    assert "errors_per_s" not in run.metrics
    assert any("more than any server" in warning for warning in run.warnings)


def test_counter_of_32_bits_below_zero_is_flagged():
    run = read_one(write_log(make_log(1, errors=2**32 - 3)))
    assert run.metrics["errors"] == 2**32 - 3
    assert any("32-bit counter" in warning for warning in run.warnings)


@pytest.mark.parametrize("number", ["1844674407370955161.60", "-5.00"])
def test_impossible_rate_of_a_row_is_kept_and_flagged(number):
    text = re.sub(r"tps: [\d.]+", f"tps: {number}", write_log(make_log(1)), count=1)
    run = read_one(text)
    assert run.series[0]["tps"] == float(number)
    assert "1 numbers of the interval rows are impossible" in run.warnings


@pytest.mark.parametrize("number", ["nan", "-nan", "inf"])
def test_no_number_in_a_row_is_missing(number):
    text = re.sub(r"tps: [\d.]+", f"tps: {number}", write_log(make_log(1)), count=1)
    assert "tps" not in read_one(text).series[0]


@pytest.mark.parametrize("number", ["nan", "-nan", "inf"])
@pytest.mark.parametrize("version", ["0.5", "1.0.20"])
def test_no_response_time_in_a_row_is_no_damage(version, number):
    text = write_log(make_log(1, version))
    (_, row, *_) = [line for line in text.splitlines() if line.startswith("[")]
    void = re.sub(r"(time: |%\): )[\d.]+", rf"\g<1>{number}", row)
    assert void != row
    rows = read_one(text.replace(row, void)).series
    assert rows[0].keys() - rows[1].keys() == {"latency_p95", "response_p95_s"}


def test_totals_without_their_head_come_back():
    log = make_log(1, "0.4.12")
    text = write_log(log)
    run = read_one(text[text.index("    queries performed") :])
    assert (run.metrics["reads"], run.metrics["queries"]) == (log.reads, log.total)


def test_percentile_below_the_minimum_is_flagged():
    run = read_one(write_log(make_log(1, latency_ms=(2.0, 3.0, 9.0, 0.5))))
    assert run.metrics["latency_p95"] == 0.0005
    assert any("below the shortest" in warning for warning in run.warnings)


def test_rate_that_does_not_fit_is_flagged():
    log = make_log(1)
    tps = f"({log.per_s(log.transactions):.2f} per"
    run = read_one(write_log(log).replace(tps, "(1.00 per", 1))
    assert run.metrics["tps"] == 1.0
    assert any(warning.startswith("tps is 1") for warning in run.warnings)


def test_nothing_by_nothing_is_missing():
    text = re.sub(r"\([\d.]+ per sec", "(-nan per sec", write_log(make_log(1)))
    run = read_one(text)
    assert "tps" not in run.metrics
    assert any("not a number" in warning for warning in run.warnings)


def test_sums_that_do_not_add_up_are_flagged():
    log = make_log(1)
    text = write_log(log).replace(
        f"        total:                           {log.total}", "    total: 7"
    )
    assert any("add up" in warning for warning in read_one(text).warnings)


def cut_places(text):
    begin, end = text.index("Number of threads"), text.index("Threads fairness")
    return range(begin, end - 40, 97)


@pytest.mark.parametrize("version", VERSIONS)
def test_cut_logs_are_refused_with_the_line(version):
    text = write_log(make_log(3, version))
    for place in cut_places(text):
        with pytest.raises(ImportFormatError, match=r"line \d+: .*(expected|breaks off)") as info:
            read(text[:place])
        assert 0 < info.value.line <= text[:place].count("\n") + 1


@pytest.mark.parametrize("version", VERSIONS)
def test_cut_logs_leave_what_was_readable(version):
    log = make_log(3, version)
    text = write_log(log)
    whole = read_one(text)
    for place in cut_places(text):
        found = read(text[:place], lenient=True)
        assert found.problems
        for run in found.runs:
            assert list(run.series)[:-1] == list(whole.series)[: len(run.series)][:-1]
            assert all(run.metrics[name] <= whole.metrics.get(name, 0) for name in run.metrics)


RATES = {"qps", "reads_per_s", "writes_per_s", "other_per_s", "events_per_s"}
"""What is derived, and so is another number where the total time is missing or not."""


@pytest.mark.parametrize("version", VERSIONS)
def test_number_at_the_cut_is_none(version, tmp_path):
    """A file may end inside of a number; what is left of it is no smaller number."""
    data = write_log(make_log(3, version)).encode()
    (whole,) = read_file(tmp_path / "x", data).runs
    known = {**whole.extra, **whole.metrics}
    results_end = len(data[: data.index(b"Threads fairness")].rstrip())
    for place in range(data.index(b"Number of threads"), results_end, 5):
        found = read_file(tmp_path / "x", data[:place], lenient=True)
        for run in found.runs:
            assert {n: v for n, v in run.metrics.items() if known[n] != v}.keys() <= RATES
            assert run.duration_s in (None, whole.duration_s)
            cut, uncut = ([row.get("tps") for row in each] for each in (run.series, whole.series))
            assert cut in (uncut[: len(cut)], [*uncut[: len(cut) - 1], None])
        assert found.problems


def cut_behind(label):
    """Return a log that ends two digits behind a label."""
    text = write_log(make_log(3))
    return text[: re.search(rf"{label}: +\d\d", text).end()]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (cut_behind("total number of events"), "events"),
        (cut_behind("read"), "reads"),
        (cut_behind("transactions"), "transactions"),
        (cut_behind("total time"), "total_time_s"),
    ],
)
def test_cut_count_is_missing_and_named(text, name, tmp_path):
    data = text.encode()
    with pytest.raises(ImportFormatError, match=rf"{name}|no totals"):
        read_file(tmp_path / "x", data)
    found = read_file(tmp_path / "x", data, lenient=True)
    assert all(name not in run.metrics for run in found.runs)
    assert any(name in problem.message for problem in found.problems)


@pytest.mark.parametrize(
    "lost", [b"\0\0\0", b"\xff", b"\0" * 9000], ids=["nul", "no utf-8", "hole"]
)
def test_lost_bytes_in_a_number_make_it_none(lost, tmp_path):
    log = make_log(3, transactions=987654)
    data = write_log(log).replace("events:              987654", "events:              9@54")
    data = ("\u00e9\n" + data).encode().replace(b"@", lost)
    with pytest.raises(ImportFormatError, match="line .*'events' breaks off, or is damaged"):
        read_file(tmp_path / "x", data)
    (run,) = read_file(tmp_path / "x", data, lenient=True).runs
    assert "events" not in run.metrics
    assert run.metrics["transactions"] == log.transactions


def test_lost_bytes_in_a_row_cost_only_their_number(tmp_path):
    log = make_log(3)
    data = write_log(log).replace(f"tps: {log.rows[1].tps:.2f}", "tps: 7@.25").encode()
    (run,) = read_file(tmp_path / "x", data.replace(b"@", b"\0"), lenient=True).runs
    assert [row.get("tps") for row in run.series][:2] == [log.rows[0].tps, None]
    assert run.series[1]["qps"] == log.rows[1].qps


@pytest.mark.parametrize("number", ["9q54", "9 54", "98.76", "9;54", "9-54"])
def test_other_things_in_a_count_make_it_none(number):
    text = write_log(make_log(3, transactions=987654))
    text = text.replace("events:              987654", f"events:              {number}")
    assert "events" not in read_one(text, lenient=True).metrics
    with pytest.raises(ImportFormatError, match="'events' breaks off"):
        read(text)


def test_lost_bytes_in_a_label_are_named(tmp_path):
    log = make_log(1)
    for label in ("read", "total number of events", "min", f"[ {log.rows[0].time_s}s ] thds"):
        broken = label[:-2] + "\0\0"
        text = write_log(log).replace(f"{label}:", f"{broken}:", 1).encode()
        with pytest.raises(ImportFormatError, match="the line is damaged"):
            read_file(tmp_path / "x", text)
        (run,) = read_file(tmp_path / "x", text, lenient=True).runs
        assert run.metrics["transactions"] == log.transactions


def test_utf_16_behind_utf_8_is_text(tmp_path):
    """As a shell writes it that appends in another encoding than that of the file."""
    logs = [make_log(seed) for seed in range(2)]
    data = write_log(logs[0]).encode() + b"\n" + write_log(logs[1]).encode("utf-16-le")
    runs = read_file(tmp_path / "x", data).runs
    assert [run.metrics["transactions"] for run in runs] == [log.transactions for log in logs]


STARTS = [
    "\n".join(head_1x(Log())[:lines]) + end
    for lines, end in ((1, ""), (2, "\n"), (2, "Running the te"), (3, "\n"), (4, ""), (12, "\n"))
]


@pytest.mark.parametrize(
    "before", ["", write_log(make_log(1)) + "\n"], ids=["alone", "behind a run"]
)
@pytest.mark.parametrize(
    "start",
    [
        *(*STARTS, "sysbenc", "sysbench 1", "sysbench 1.", "sysbench 1.0.20 (using"),
        f"{STARTS[1]}FATAL: no such test\n",
    ],
)
def test_run_without_any_result_is_refused(before, start, tmp_path):
    data = (before + start).encode()
    with pytest.raises(ImportFormatError, match=r"line \d+: .*expected"):
        read_file(tmp_path / "x", data)
    found = read_file(tmp_path / "x", data, lenient=True)
    assert (len(found.runs), len(found.problems)) == (1 if before else 0, 1)


def test_run_without_any_number_is_refused():
    text = "    transactions:           -5 (-nan per sec.)\n# end"
    with pytest.raises(ImportFormatError, match=r"line 1: .*no number"):
        read(text)
    assert read(text, lenient=True).runs == ()


def test_version_alone_is_not_a_run():
    assert len(read(write_log(make_log(1)) + "\n$ sysbench --version\nsysbench 1.0.20\n").runs) == 1


def test_line_that_is_too_long_is_named():
    text = write_log(make_log(1)).replace("\n", "\\n").replace("Threads started!", "x" * 300_000)
    with pytest.raises(ImportFormatError, match="line 1: only 262144 characters"):
        read(f'{{"out": "{text}"}}'.replace("\\n", " "))


def test_cut_row_is_named():
    log = make_log(3)
    row = body_1x(log)[1]
    text = write_log(log).replace(row, row[: len(row) // 2])
    line = len(head_1x(log)) + 2
    with pytest.raises(ImportFormatError, match=f"line {line}: the interval row breaks off"):
        read(text)
    run = read_one(text, lenient=True)
    assert run.metrics["transactions"] == log.transactions
    assert len(run.series) == len(log.rows)


def test_run_that_failed_says_why():
    text = "\n".join(
        [*head_1x(Log()), "FATAL: unable to connect to MySQL server on host 'db', aborting..."]
    )
    with pytest.raises(ImportFormatError, match="unable to connect"):
        read(text)
    assert read(text, lenient=True).runs == ()


def test_settings_alone_are_not_a_run():
    log = make_log(1)
    text = "Number of threads: 99\n\n" + write_log(log)
    assert read_one(text).threads == log.threads


def test_failed_run_does_not_hide_the_next():
    log = make_log(1)
    text = "\n".join([*head_1x(Log()), "FATAL: error 2013", write_log(log)])
    found = read(text, lenient=True)
    assert [run.metrics["transactions"] for run in found.runs] == [log.transactions]
    assert len(found.problems) == 1


@pytest.mark.parametrize("text", ["", "hello\nworld: 5\n", "total: 3\nmin: 4", "\x00" * 500])
def test_what_is_not_sysbench_is_refused(text):
    with pytest.raises(ImportFormatError, match="no run of sysbench"):
        read(text)
    assert read(text, lenient=True).runs == ()


# Any size, any damage


def test_memory_is_bounded_however_long_the_file():
    (row,) = body_1x(make_log(1, rows=make_log(1).rows[:1]))
    texts = (row.replace("10s", f"{i}s") if i % 3 else "x: " * 30 for i in range(50_000))
    tracemalloc.start()
    try:
        (run,) = parse(map(Line, count(1), texts), lenient=True, name="x").runs
        assert len(run.series) == 33_333
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text", ["9" * 10**5, "[ " * 10**5, "a:" * 10**5, " " * 10**5, "/" * 10**5]
)
def test_long_lines_are_read_in_passing(text):
    lines = [Line(1, "Number of threads: 1"), *repeat(Line(2, text), 3)]
    assert parse(lines, lenient=True, name="x").runs == ()


def json_rows(count):
    qps = {"total": 95.5, "reads": 66.25, "writes": 19.25, "other": 10.0}
    row = {"time": 1, "threads": 4, "tps": 9.5, "qps": qps, "latency": 3.25, "errors": 0.0}
    return json.dumps([row | {"reconnects": 0.0}] * count, indent=2)


SEED_TEXTS = [write_log(make_log(seed, version)) for seed, version in enumerate(VERSIONS)] + [
    write_log(make_log(7, rate=5, histogram=((1.5, 3), (9.2, 5)), checkpoints=(make_log(8),))),
    write_test(make_log(9), "1,4,9.50,95.00,66.50,19.00,9.50,3.25,0.20,0.00", json_rows(2)),
    write_test(make_log(9), "Throughput:", "    read:  IOPS=25.39 39.07 MiB/s (40.97 MB/s)"),
]


def _cut(rng, data):
    return data[: rng.randrange(len(data) + 1)]


def _glue(rng, data):
    return data + _cut(rng, rng.choice(SEED_TEXTS).encode())


def _lines(rng, data):
    lines = data.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(3)
    if change == 0:
        lines.insert(a, lines[b])
    elif change == 1:
        lines[a], lines[b] = lines[b], lines[a]
    else:
        del lines[min(a, b) : max(a, b)]
    return b"\n".join(lines)


def _flip(rng, data):
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 20)):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _number(rng, data):
    numbers = list(re.finditer(rb"\d+(?:\.\d+)?", data))
    if not numbers:
        return data
    match = rng.choice(numbers)
    new = rng.choice(
        [b"-1", b"0", b"nan", b"inf", b"1e999", b"18446744073709551615", b"9" * 50, b""]
    )
    return data[: match.start()] + new + data[match.end() :]


def _encode(rng, data):
    return rng.choice(
        [
            lambda d: d.replace(b"\n", b"\r\n"),
            lambda d: d.replace(b"\n", b"\r"),
            lambda d: b"\xef\xbb\xbf" + d,
            lambda d: d.decode("latin-1").encode("utf-16"),
            lambda d: d.replace(b" ", b"\x1b[31m \x1b[0m"),
            lambda d: d.replace(b"\n", b""),
            lambda d: d.replace(b" ", b""),
        ]
    )(data)


DAMAGES = (_cut, _glue, _lines, _flip, _number, _number, _encode)


MUTATIONS = 10_000
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_files_give_a_result_or_our_error(tmp_path, part):
    rng = random.Random(part)
    path = tmp_path / "damaged.log"
    for number in range(MUTATIONS // PARTS):
        data = rng.choice(SEED_TEXTS).encode()
        for _ in range(rng.randrange(1, 4)):
            data = rng.choice(DAMAGES)(rng, data)
        with told(part, number, data):
            check_damaged(path, data, lenient=rng.random() < 0.7)


def check_damaged(path, data, lenient):
    try:
        runs = read_file(path, data, name="x_4thr.log", lenient=lenient).runs
    except BenchkitError:
        return
    for run in runs:
        assert all(0 <= value < 2**63 for value in run.metrics.values())
        has_time = run.duration_s is not None
        assert run.metrics or len(run.series) or has_time or "checkpoints" in run.extra
        assert len(list(run.series)) == len(run.series)


WORDS = ["[ 1s ] thds: 4 ", "tps: ", "1.00", "9" * 30, "SQL statistics:\n", "read:", "\n", "\0"]
WORDS += [
    "transactions: ",
    "(",
    "per sec.)",
    "sysbench 1.0 (using",
    '"time": 1, "tps": 2',
    "1,2.00,",
]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=9), max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
def test_any_text_gives_a_result_or_our_error(text):
    try:
        read(text, lenient=True)
    except BenchkitError as error:
        assert str(error)
