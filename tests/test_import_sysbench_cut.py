"""sysbench logs with cut numbers, labels and rows, and texts that were copied from logs."""

import re
from dataclasses import replace

import pytest
from sysbench_reading import VERSIONS, common, expected_metrics, read, read_one, seconds
from sysbench_writer import head_1x, make_log, write_log, write_test

from benchkit.importers.model import ImportFormatError

# Cut


def with_line_cut(text, begin, kept):
    """Return a log whose first line that begins with a word ends earlier; and its number."""
    lines = text.split("\n")
    place = next(i for i, line in enumerate(lines) if line.strip().startswith(begin))
    lines[place] = kept(lines[place])
    return "\n".join(lines), place + 1


def without_last(count):
    return lambda line: line[:-count]


@pytest.mark.parametrize(
    ("version", "begin", "kept", "lost"),
    [
        ("1.0.20", "total time:", without_last(2), "total_time_s"),
        ("0.5", "total time:", without_last(2), "total_time_s"),
        ("0.4.12", "total time taken", without_last(1), "event_execution_s"),
        ("1.0.20", "events (avg", without_last(1), "events_per_thread_sd"),
        ("0.5", "execution time (avg", without_last(1), "execution_sd_s"),
        ("1.0.20", "avg:", without_last(1), "latency_mean"),
        ("1.1.0-2ca9e3f", "events/s (eps)", without_last(2), "eps"),
        ("1.0.20", "ignored errors:", lambda line: line.partition("(")[0], "errors"),
        ("1.0.20", "transactions:", lambda line: line.partition("(")[0].rstrip()[:-1], "tps"),
        ("0.5", "other operations:", lambda line: line.partition("(")[0], "other_operations"),
    ],
)
def test_number_without_its_last_digits_is_no_number(version, begin, kept, lost):
    text, line = with_line_cut(write_log(make_log(3, version)), begin, kept)
    with pytest.raises(ImportFormatError) as caught:
        read(text)
    assert caught.value.line == line
    imported = read(text, lenient=True)
    (run,) = imported.runs
    assert lost not in run.metrics
    assert lost not in run.extra
    assert imported.problems[0].line == line


@pytest.mark.parametrize("begin", ["reads/s:", "events per second:", "written, MiB/s:"])
def test_rate_of_a_test_without_its_last_digit_is_no_rate(begin):
    lines = ("CPU speed:", "    events per second:  2927.61", "File operations:")
    lines += ("    reads/s:                      600.89", "    written, MiB/s:               9.39")
    text, line = with_line_cut(write_test(make_log(4, rows=()), *lines), begin, without_last(1))
    with pytest.raises(ImportFormatError) as caught:
        read(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "label", ["read", "tot", "other opera", "deadl", "total time", "approx.  95 perc"]
)
def test_line_that_ends_in_its_label_is_a_problem(label):
    whole = write_log(make_log(5, "0.5.2010"))
    text, line = with_line_cut(whole, label, lambda line: line[: line.index(label) + len(label)])
    with pytest.raises(ImportFormatError, match="breaks off") as caught:
        read(text)
    assert caught.value.line == line


HEADS = ("read:", "write:", "other:", "total:", "queries:", "ignored errors:", "total time:")


@pytest.mark.parametrize("version", ["0.4.12", "0.5", "1.0.20", "1.1.0-2ca9e3f"])
@pytest.mark.parametrize("first", HEADS)
def test_log_without_its_beginning_has_what_is_left(version, first):
    log = make_log(4, version)
    first = {"total time:": "time elapsed:"}.get(first, first) if version[:3] == "1.1" else first
    if f"    {first}" not in write_log(log):
        pytest.skip(f"version {version} does not print it")
    text = write_log(log)
    rest = text[text.index(f"    {first}") :]
    run = read_one(rest)
    left = {"read": log.reads, "write": log.writes, "other": log.others}
    found = {name: run.metrics.get(f"{name}s") for name in left}
    assert found == {n: value if f" {n}:" in rest else None for n, value in left.items()}
    assert (run.duration_s, run.metrics["events"]) == (log.time_s, log.transactions)
    assert ("tps" in run.metrics) == ("transactions:" in rest)
    assert run.line == 1


@pytest.mark.parametrize("text", ["read: 5\nwrite: 7", "total: 4", "read: 5 (1.00 per sec.)\n\n\n"])
def test_words_in_front_of_a_run_are_not_its_values(text):
    log = make_log(4)
    body = "\n".join(write_log(log).split("\n")[len(head_1x(log)) + len(log.rows) :])
    assert body.startswith("SQL")
    run = read_one(f"{text}\n{body}")
    assert (run.metrics["reads"], run.extra["total"]) == (log.reads, log.total)


@pytest.mark.parametrize("version", VERSIONS)
def test_end_of_a_run_without_the_rest_is_named(version):
    end = "\n".join(write_log(make_log(4, version)).split("\n")[-5:])
    found = read(f"{end}\n{write_log(make_log(5, version))}", lenient=True)
    assert len(found.runs) == 1
    assert [problem.message for problem in found.problems] == [
        "a run ends here whose beginning is missing"
    ]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("end", [", errors:", ", response time:"])
def test_row_that_ends_between_two_fields_is_a_problem(end, place):
    log = make_log(6, "0.5")
    rows = [line for line in write_log(log).split("\n") if line.startswith("[")]
    cut = rows[place].partition(end)[0]
    text = write_log(log).replace(rows[place], cut)
    with pytest.raises(ImportFormatError, match="lacks fields") as caught:
        read(text)
    assert text.split("\n")[caught.value.line - 1] == cut
    imported = read(text, lenient=True)
    assert [problem.line for problem in imported.problems] == [caught.value.line]
    series = imported.runs[0].series
    assert len(series) == len(log.rows)
    assert ("errors_per_s" in series[place], "errors_per_s" in series[place - 1]) == (False, True)


def test_rows_in_which_nothing_ended_are_whole():
    log = make_log(7, "0.5")
    row = "[  15s] threads: 4, tps: 0.00, reads: 0.00, writes: 0.00, response time: 0.00ms (95%)"
    text = write_log(log).replace("[  20s]", f"{row}, errors: 0.00, reconnects:  0.00\n[  20s]")
    run = read_one(text)
    assert len(run.series) == len(log.rows) + 1
    assert "latency_p95" not in run.series[1]


# Contradictions


@pytest.mark.parametrize("version", VERSIONS)
def test_events_that_threads_did_not_do_are_flagged(version):
    log = make_log(8, version, threads=2)
    text = re.sub(r"(total number of events: +\d+)\d\d", r"\1", write_log(log))
    run = read_one(text)
    assert run.metrics["events"] == log.transactions // 100
    assert any("2 threads of" in warning for warning in run.warnings)
    assert any("their sum is" in warning for warning in run.warnings)


def test_more_threads_in_rows_than_were_asked_for_are_flagged():
    text = write_log(make_log(9, threads=512)).replace("threads: 512", "threads: 51")
    run = read_one(text)
    assert run.threads == 51
    assert "51 threads were asked for, but interval rows have 512" in run.warnings


# Copied


def test_rate_that_is_padded_is_read():
    lines = (
        "Total operations: 70 (    6.98 per second)",
        "",
        "8960.00 MiB transferred (1.57 MiB/sec)",
    )
    run = read_one(write_test(make_log(10, rows=()), *lines))
    assert (run.metrics["events_per_s"], run.extra["operations"]) == (6.98, 70)


def test_memory_test_without_a_word_before_its_totals_is_read():
    log = make_log(11, "0.4.12")
    summary = write_log(log).partition("Test execution summary:")[2]
    lines = (
        "sysbench 0.4.12:  multi-threaded system evaluation benchmark",
        "Operations performed: 1310720 (396525.32 ops/sec)",
        "10240.00 MB transferred (3097.85 MB/sec)",
        "Test execution summary:",
    )
    run = read_one("\n".join(lines) + summary)
    assert run.workload == "sysbench/0.4:memory"
    assert run.metrics["events_per_s"] == 396525.32
    assert (run.extra["transferred_mib"], run.extra["transferred_mib_per_s"]) == (10240.0, 3097.85)


def test_memory_tests_of_which_only_the_speed_was_kept_are_runs():
    text = "".join(
        f"### t{i}.large\n\nTotal operations: {i}00 ({i}1.50 per second)\n\n"
        f"{i}0.00 MiB transferred ({i}5.25 MiB/sec)\n\n"
        for i in (1, 2)
    )
    runs = read(text, lenient=True).runs
    assert [run.metrics["events_per_s"] for run in runs] == [11.5, 21.5]
    assert [run.extra["transferred_mib_per_s"] for run in runs] == [15.25, 25.25]


COPIED = {
    "job and step": lambda text: "\n".join(
        f"bench\tRun sysbench\t2024-03-01T10:00:59.1234567Z {line}" for line in text.split("\n")
    ),
    "blank before colons": lambda text: text.replace(":", " :"),
    "thin blanks in thousands": lambda text: re.sub(
        r"(: +)(\d{4,})(?=\s)", lambda m: m[1] + f"{int(m[2]):,}".replace(",", "\u202f"), text
    ),
    "comments": lambda text: re.sub(r"(?m)(?<=\S)$", "  # \u8bf4\u660e", text),
}


@pytest.mark.parametrize("version", ["0.4.12", "0.5", "1.0.20"])
@pytest.mark.parametrize("how", COPIED)
def test_copied_log_is_the_log(how, version):
    log = make_log(12, version)
    run = read_one(COPIED[how](write_log(log)))
    expected = expected_metrics(log)
    assert common(run.metrics, expected) == expected
    assert (run.threads, len(run.series)) == (log.threads, len(log.rows))


def test_response_times_of_a_text_that_was_broken_into_lines_are_read():
    low, mean, high, percentile = (2.5, 5.0, 9.25, 7.75)
    broken = (
        f"total time: 10.0000s total number of events: 2000\nper-request statistics: min: {low}0ms "
    )
    broken += f"avg: {mean}0ms\nmax: {high}ms approx. 95 percentile: {percentile}ms\n"
    broken = broken.replace("avg: 5.00ms\n", "avg:\n5.00ms ")
    imported = read("Test execution summary: " + broken, lenient=True)
    (run,) = imported.runs
    assert run.metrics["latency_max"] == seconds(high)
    assert run.metrics["latency_p95"] == seconds(percentile)
    assert "latency_mean" not in run.metrics
    assert any("latency_mean" in problem.message for problem in imported.problems)


@pytest.mark.parametrize("time", ["10s", "30s"])
@pytest.mark.parametrize("change", ["", "{0}\n{0}\n"], ids=["lost", "twice"])
@pytest.mark.parametrize("version", VERSIONS)
def test_rows_that_do_not_follow_each_other_are_flagged(version, change, time):
    row = make_log(3).rows[0]
    rows = tuple(replace(row, time_s=10 * i) for i in range(1, 6))
    text = write_log(make_log(3, version, rows=rows))
    row = next(line for line in text.split("\n") if line.startswith("[") and time in line[:9])
    damaged = read_one(text.replace(row + "\n", change.format(row)))
    assert any(warning.startswith("1 interval rows") for warning in damaged.warnings)
    assert not any("interval rows" in warning for warning in read_one(text).warnings)


@pytest.mark.parametrize("version", VERSIONS)
def test_row_of_which_only_the_beginning_is_there_is_named(version):
    text = write_log(make_log(3, version))
    row = [line for line in text.split("\n") if line.startswith("[")][-1]
    cut = row[: row.index(":") + 1] if ":" in row else row
    with pytest.raises(ImportFormatError, match="the interval row breaks off"):
        read(text.replace(row, cut))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("label", ["read", "write", "other", "total"])
def test_count_whose_line_is_lost_is_named(version, label):
    text = re.sub(rf"\n +{label}: +\d+(?=\n)", "", write_log(make_log(3, version)))
    assert f"the totals are without: '{label}:'" in read_one(text).warnings


@pytest.mark.parametrize("version", VERSIONS)
def test_percentile_whose_line_is_lost_is_named(version):
    text = write_log(make_log(3, version, percentile=99))
    assert "the totals are without: a percentile" in read_one(drop_percentile(text)).warnings
    with pytest.raises(ImportFormatError, match="breaks off"):
        read(re.sub(r"(?<=perce)ntile:.*", "", text))


def drop_percentile(text):
    return re.sub(r"\n.*percentile.*(?=\n)", "", text)


@pytest.mark.parametrize("label", ["Total operations", "Operations performed"])
def test_count_of_operations_without_its_rate_is_cut(label):
    text = write_test(
        make_log(1, rows=()), f"{label}: 102", "", "10.00 MiB transferred (1.00 MiB/sec)"
    )
    with pytest.raises(ImportFormatError, match="the value of 'operations' breaks off"):
        read(text)
    assert "operations" not in read_one(text, lenient=True).extra
