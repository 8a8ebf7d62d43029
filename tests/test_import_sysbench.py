"""sysbench logs: written from known values and had back; and real ones, where they are at hand."""

import os
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from sysbench_reading import (
    VERSIONS,
    common,
    expected_metrics,
    is_modern,
    read_one,
    seconds,
)
from sysbench_writer import (
    Row,
    body_1x,
    head_1x,
    histogram_lines,
    latency_1x,
    make_log,
    write_log,
    write_test,
)

from benchkit.importers.source import read_lines
from benchkit.importers.sysbench import FORMATS, parse, sniff

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = Path(os.environ.get("BENCHKIT_SAMPLES", ROOT.parent / "shared/reference/samples"))
SEEDS = range(12)


# Written from known values


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("version", VERSIONS)
def test_totals_come_back(version, seed):
    log = make_log(seed, version)
    run = read_one(write_log(log))
    expected = expected_metrics(log)
    assert common(run.metrics, expected) == expected
    assert (run.threads, run.duration_s, run.iteration) == (log.threads, log.time_s, 1)
    assert run.warnings == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_workload_names_the_generation_and_the_dataset_the_version(version):
    run = read_one(write_log(make_log(1, version)))
    script = "oltp" if version == "0.4.12" else "unknown"
    shown = {"0.5.2010": "0.5", "1.1.0-2ca9e3f": "1.1.0"}.get(version, version)
    assert run.workload == f"sysbench/{version[:3]}:{script}"
    assert run.dataset.startswith(f"sysbench/{shown}:{script}")


@pytest.mark.parametrize("version", ["0.5", "1.0.20", "1.1.0-2ca9e3f"])
def test_errors_and_reconnects_come_back(version):
    log = make_log(3, version, errors=17813, reconnects=4)
    metrics = read_one(write_log(log)).metrics
    expected = {
        "errors": 17813,
        "errors_per_s": log.per_s(17813),
        "reconnects": 4,
        "reconnects_per_s": log.per_s(4),
    }
    assert common(metrics, expected) == expected


@pytest.mark.parametrize("version", ["0.4.12", "0.5.2010"])
def test_deadlocks_and_read_write_requests_come_back(version):
    log = make_log(4, version, errors=21)
    run = read_one(write_log(log))
    assert run.metrics["rw_per_s"] == log.per_s(log.reads + log.writes)
    assert run.metrics["other_per_s"] == log.per_s(log.others)
    assert run.extra["deadlocks"] == 21
    assert run.extra["rw_requests"] == log.reads + log.writes


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("version", VERSIONS)
def test_interval_rows_come_back(version, seed):
    log = make_log(seed, version)
    series = read_one(write_log(log)).series
    assert len(series) == len(log.rows)
    for found, row in zip(series, log.rows, strict=True):
        assert (found["time_s"], found["tps"]) == (row.time_s, row.tps)
        assert (found["reads_per_s"], found["writes_per_s"]) == (row.reads, row.writes)
        if version != "0.5.2010":
            assert found["latency_p95"] == found["response_p95_s"] == seconds(row.latency_ms)
        if is_modern(version):
            assert (found["qps"], found["other_per_s"]) == (row.qps, row.other)
        if is_modern(version) or version == "0.5":
            assert found["errors_per_s"] == row.errors


@pytest.mark.parametrize("seed", SEEDS)
def test_counts_of_a_row_give_its_rates(seed):
    for row in read_one(write_log(make_log(seed))).series:
        assert row["committed"] == int(row["committed"])
        assert row["elapsed_s"] == pytest.approx(10, rel=0.05)
        assert row["committed"] / row["elapsed_s"] == pytest.approx(row["tps"], abs=0.051)
        assert row["statements"] / row["elapsed_s"] == pytest.approx(row["qps"], abs=0.051)


@pytest.mark.parametrize("place", range(1, 24))
def test_row_inside_of_a_checkpoint_does_not_end_it(place):
    """Two threads of sysbench write: one the rows, one the checkpoints."""
    log = make_log(3, checkpoints=(make_log(2, checkpoint_s=60),))
    lines = write_log(log).split("\n")
    begin = next(i for i, line in enumerate(lines) if "Checkpoint" in line)
    row = body_1x(make_log(1, rows=(Row(61, 10.0, 140.0, 0.0, 20.0, 5.0),)))
    lines[begin + place : begin + place] = row
    run = read_one("\n".join(lines))
    assert run.metrics == read_one(write_log(log)).metrics
    (point,) = run.extra["checkpoints"]
    assert point["transactions"] == log.checkpoints[0].transactions
    assert point["execution_s"] == log.checkpoints[0].fairness[2]
    assert run.series[-1]["time_s"] == 61


def test_rows_after_a_gap_are_as_long_as_the_others():
    rows = tuple(Row(time_s, 10.0, 140.0, 0.0, 20.0, 5.0) for time_s in (10, 20, 60))
    series = read_one(write_log(make_log(1, rows=rows))).series
    assert [row["elapsed_s"] for row in series] == [10.0, 10.0, 10.0]


def test_microseconds_are_not_milliseconds():
    text = write_log(make_log(2, "0.5"))
    text = re.sub(r"response time: [\d.]+ms \(95%\)", "response time: 2544.22us (95%)", text)
    assert read_one(text).series[0]["latency_p95"] == 0.00254422


@pytest.mark.parametrize("percentile", [50, 99])
def test_other_percentiles_have_their_own_metric(percentile):
    log = make_log(5, percentile=percentile)
    run = read_one(write_log(log))
    assert run.metrics[f"latency_p{percentile}"] == seconds(log.latency_ms[3])
    assert "latency_p95" not in run.metrics
    assert run.series[0][f"response_p{percentile}_s"] == seconds(log.rows[0].latency_ms)


def test_percentile_without_a_metric_is_extra():
    log = make_log(6, "0.5", percentile=90)
    run = read_one(write_log(log))
    assert run.extra["latency_p90"] == seconds(log.latency_ms[3])
    assert not any(name.startswith("latency_p") for name in run.metrics)


def test_disabled_percentile_is_missing():
    run = read_one(write_log(make_log(7, percentile=0, rows=())))
    assert not any(name.startswith("latency_p") for name in run.metrics)
    assert run.warnings == ()


def test_percentile_of_an_idle_interval_is_missing():
    rows = (Row(10, 5.0, 70.0, 20.0, 10.0, 9.0), Row(20, 0.0, 0.0, 0.0, 0.0, 0.0))
    series = read_one(write_log(make_log(1, rows=rows))).series
    assert "latency_p95" in series[0]
    assert "latency_p95" not in series[1]
    assert series[1]["committed"] == 0


def test_rows_of_old_development_versions():
    row = (
        "[  10s] Intermediate results: 8 threads, tps: 582.994023, reads/s: 8233.315586, "
        "writes/s: 2940.469852 response time: 48.261058ms (99%)"
    )
    for tail in ("", ", min: 1.500000ms, max: 90.250000ms"):
        text = write_log(make_log(1, "0.4.12", rows=())).replace("Done.", row + tail)
        (found,) = read_one(text).series
        assert (found["threads"], found["tps"]) == (8, 582.994023)
        assert found["latency_p99"] == 0.048261058
        assert found.get("latency_max") == (0.09025 if tail else None)


def test_histogram_behind_the_totals_belongs_to_them():
    log = make_log(1, histogram=((1.5, 3), (9.25, 5)))
    lines = histogram_lines(log)
    text = write_log(replace(log, histogram=())).replace(
        "Threads fairness", "\n".join([*lines, "Threads fairness"])
    )
    assert read_one(text).histogram == ((0.0015, 3), (0.00925, 5))


def test_what_is_not_available_is_missing():
    text = write_log(make_log(1))
    text = re.sub(r"(reconnects: +)\d+ +\([\d.]+", r"\1N/A    (N/A", text)
    assert "reconnects" not in read_one(text).metrics


def test_queue_of_a_rate_run_joins_its_row():
    rows = (
        Row(10, 11.0, 153.97, 43.99, 22.0, 52.89, queue=(0, 1)),
        Row(20, 9.3, 131.6, 37.6, 18.7, 51.94, queue=(11, 4)),
    )
    run = read_one(write_log(make_log(1, rows=rows, rate=10)))
    assert [(row["queue_length"], row["concurrency"]) for row in run.series] == [(0, 1), (11, 4)]
    assert run.extra["rate"] == "10"


@pytest.mark.parametrize("seed", SEEDS)
def test_histogram_comes_back(seed):
    rng = random.Random(seed)
    buckets = [(round(0.5 * 1.018**i, 3), rng.randrange(1, 10**6)) for i in range(50)]
    events = sum(count for _, count in buckets)
    run = read_one(write_log(make_log(seed, histogram=tuple(buckets), transactions=events)))
    assert run.histogram == tuple((seconds(value), count) for value, count in buckets)


def test_totals_after_checkpoints_are_the_last():
    points = tuple(make_log(seed, checkpoint_s=30 * seed) for seed in (1, 2))
    log = make_log(3, checkpoints=points)
    run = read_one(write_log(log))
    assert run.metrics["transactions"] == log.transactions
    found = [(point["time_s"], point["transactions"]) for point in run.extra["checkpoints"]]
    assert found == [(30.0, points[0].transactions), (60.0, points[1].transactions)]
    assert any("last checkpoint, at 60 s" in warning for warning in run.warnings)


def test_rates_are_derived_where_none_is_printed():
    log = make_log(8, "0.4.12")
    metrics = read_one(write_log(log)).metrics
    assert metrics["qps"] == log.total / log.time_s
    assert metrics["reads_per_s"] == log.reads / log.time_s


def test_cpu_test():
    log = make_log(9, rows=())
    run = read_one(write_test(log, "CPU speed:", "    events per second:  2927.61"))
    assert run.workload == "sysbench/1.0:cpu"
    assert run.metrics["events_per_s"] == 2927.61
    assert run.metrics["events"] == log.transactions
    assert not {"tps", "reads", "transactions"} & set(run.metrics)


def test_rows_without_sql_have_events():
    row = "[ 1s ] thds: 1 eps: 960.09 lat (ms,95%): 1.06"
    text = write_test(make_log(9, rows=()), row, "CPU speed:", "    events per second:   859.96")
    (found,) = read_one(text).series
    assert (found["events_per_s"], found["latency_p95"]) == (960.09, 0.00106)


def test_fileio_throughput_is_not_that_of_sql():
    run = read_one(
        write_test(
            make_log(9, rows=()),
            "File operations:",
            "    reads/s:                      1.50",
            "    writes/s:                     600.89",
            "    fsyncs/s:                     12.07",
            "",
            "Throughput:",
            "    read, MiB/s:                  0.02",
            "    written, MiB/s:               9.39",
        )
    )
    assert run.workload == "sysbench/1.0:fileio"
    expected = {
        "file_reads_per_s": 1.5,
        "file_writes_per_s": 600.89,
        "fsyncs_per_s": 12.07,
        "read_mib_per_s": 0.02,
        "written_mib_per_s": 9.39,
    }
    assert common(run.extra, expected) == expected
    assert not {"reads_per_s", "writes_per_s", "reads", "tps"} & set(run.metrics)


def test_fileio_of_1_1():
    run = read_one(
        write_test(
            make_log(9, "1.1.0", rows=()),
            "Throughput:",
            "         read:  IOPS=2500.39 39.07 MiB/s (40.97 MB/s)",
            "         write: IOPS=1666.92 26.05 MiB/s (27.31 MB/s)",
            "         fsync: IOPS=5333.40",
        )
    )
    assert run.extra["file_reads_per_s"] == 2500.39
    assert run.extra["written_mib_per_s"] == 26.05
    assert run.extra["fsyncs_per_s"] == 5333.4


@pytest.mark.parametrize("version", ["1.0.20", "1.1.0"])
@pytest.mark.parametrize(
    "lines",
    [
        ("CPU speed:", "    events per second:   {:.2f}"),
        ("Total operations: {:.0f} ({:.2f} per second)", "", "9.10 MiB transferred (1.02 MiB/sec)"),
    ],
)
def test_rate_that_is_printed_twice_is_of_one_run(version, lines):
    """Version 1.1 prints the rate of events again, with more decimals; neither is lost."""
    log = make_log(9, version, rows=(), time_s=7.1234, transactions=12345)
    rate = 12345 / 7.1234
    run = read_one(write_test(log, *(line.format(rate, rate) for line in lines)))
    assert run.metrics["events_per_s"] == round(rate, 2)
    assert run.duration_s == 7.1234
    assert run.extra.get("eps", round(rate, 4)) == round(rate, 4)
    assert ("eps" in run.extra) == (version == "1.1.0")


def test_fileio_of_1_1_has_no_total_time():
    rates = ["Throughput:", "         read:  IOPS=2500.39 39.07 MiB/s (40.97 MB/s)"]
    row = "[ 1s ] reads: 39.07 MiB/s writes: 26.05 MiB/s fsyncs: 5333.4/s latency (ms,95%): 0.204"
    log = make_log(9, "1.1.0", rows=())
    run = read_one("\n".join([*head_1x(log), row, "", *rates, "", *latency_1x(log), ""]))
    assert run.extra["file_reads_per_s"] == 2500.39
    assert run.duration_s is None
    assert run.series[0]["latency_p95"] == 0.000204


def test_fileio_of_0_4():
    run = read_one(
        write_test(
            make_log(9, rows=()),
            "Operations performed:  600 Read, 400 Write, 1186 Other = 2186 Total",
            "Read 9.375Mb  Written 6.25Mb  Total transferred 15.625Mb  (512Kb/sec)",
            "    3.33 Requests/sec executed",
        )
    )
    assert run.workload.endswith(":fileio")
    assert run.metrics["events_per_s"] == 3.33
    assert run.extra["file_writes"] == 400
    assert run.extra["transferred_mib_per_s"] == 0.5


@pytest.mark.parametrize(
    "line",
    ["Total operations: 18852965 (1884178.24 per second)"]
    + ["Operations performed: 18852965 (1884178.24 ops/sec)"],
)
def test_memory_test(line):
    volume = "18411.10 MiB transferred (1840.02 MiB/sec)"
    run = read_one(write_test(make_log(9, rows=()), line, "", volume))
    assert run.workload == "sysbench/1.0:memory"
    assert run.metrics["events_per_s"] == 1884178.24
    assert run.extra["transferred_mib_per_s"] == 1840.02


@pytest.mark.parametrize(
    ("line", "script"),
    [
        ("Doing thread subsystem performance test", "threads"),
        ("Doing mutex performance test", "mutex"),
    ],
)
def test_tests_without_values_of_their_own_have_a_rate_of_events(line, script):
    log = make_log(9, rows=())
    run = read_one(write_test(log, line))
    assert run.workload == f"sysbench/1.0:{script}"
    assert run.metrics["events_per_s"] == log.transactions / log.time_s


def test_debug_blocks_do_not_touch_the_response_times():
    log = make_log(10)
    block = (
        "Query execution statistics:\n    min:                                0.0001s\n"
        "    avg:                                0.0004s\n  total:                         9.1s\n"
        "Results fetching statistics:\n    min:                                0.0000s\n\nGeneral"
    )
    threads = (
        "\nVerbose per-thread statistics:\n\n    thread #  0: min: 0.0049s  avg: 0.0099s  "
        "max: 0.1101s  events: 1000\n                 total time taken by event execution: 9.9s\n"
    )
    run = read_one(write_log(log).replace("General", block) + threads)
    assert common(run.metrics, expected_metrics(log)) == pytest.approx(expected_metrics(log))


def test_forced_shutdown_is_told():
    text = write_log(make_log(11)).replace(
        "SQL statistics:",
        "FATAL: The --max-time limit has expired, forcing shutdown...\n"
        "Number of unfinished transactions on forced shutdown: 3\nSQL statistics:",
    )
    run = read_one(text)
    assert run.extra["unfinished"] == 3
    assert any("forcing shutdown" in warning for warning in run.warnings)
    assert any("3 unfinished" in warning for warning in run.warnings)


# Recognised


@pytest.mark.parametrize("version", VERSIONS)
def test_logs_are_recognised(version):
    lines = write_log(make_log(1, version)).split("\n")
    assert sniff(lines[:40], "x") >= 0.9
    assert sniff(lines[15:], "x") >= 0.8


def test_other_text_is_not_recognised():
    assert sniff(["Vuser 1:TEST RESULT : System achieved 5 NOPM", "{}", "a,b,c"], "x.log") == 0


def test_format_is_exported():
    assert [(name, reader) for name, _, reader in FORMATS] == [("sysbench log", parse)]


# Real logs, where they are at hand

INDEX = SAMPLES / "INDEX.tsv"
INDEX_NAMES = {
    "read": "reads",
    "write": "writes",
    "other": "others",
    "total": "queries",
    "rw_requests": "rw_requests",
    "other_ops": "other_operations",
    "event_exec_time_s": "event_execution_s",
    "lat_min_ms": "latency_min",
    "lat_avg_ms": "latency_mean",
    "lat_max_ms": "latency_max",
    "lat_p95_ms": "latency_p95",
    "lat_sum_ms": "latency_sum_s",
    "cpu_events_per_s": "events_per_s",
    "writes_per_s": "file_writes_per_s",
    "written_MiB_s": "written_mib_per_s",
}


def index_rows():
    lines = INDEX.read_text().splitlines()[1:] if INDEX.exists() else []
    cells = [line.split("\t") for line in lines]
    return [(row[0], row[-1]) for row in cells if row[0].startswith("sysbench/")]


def found_values(run):
    values = {**run.extra, **run.metrics, "total_time_s": run.duration_s, "threads": run.threads}
    return values | {"intermediate_rows": len(run.series), "banner": run.extra.get("version")}


def check_expected(run, expected):
    values = found_values(run)
    for name, text in re.findall(r"(\w+)=([\d.]+)", expected):
        found = values[INDEX_NAMES.get(name, name)]
        scale = 1e3 if name.endswith("_ms") else 1
        same = (
            found == text if isinstance(found, str) else found * scale == pytest.approx(float(text))
        )
        assert same, (name, text, found)


@pytest.mark.skipif(not INDEX.exists(), reason="the sample logs are not here")
@pytest.mark.parametrize(("file", "expected"), index_rows())
def test_real_logs_give_their_values(file, expected):
    path = SAMPLES / file
    partial = "partial" in expected
    found = parse(read_lines(path), lenient=partial, name=path.name)
    assert bool(found.problems) == partial
    parts = expected.split("||")
    assert len(found.runs) == len(parts)
    for run, part in zip(found.runs, parts, strict=True):
        check_expected(run, re.sub(r"queue_length.*|\(tps.*", "", part))


@pytest.mark.skipif(not INDEX.exists(), reason="the sample logs are not here")
def test_real_rate_rows_have_their_queue():
    path = SAMPLES / "sysbench" / "071-1015-rate-queue-rows-snip.txt"
    (run,) = parse(read_lines(path), lenient=True, name=path.name).runs
    assert [row["tps"] for row in run.series] == [11.0, 9.3]
    assert [row["qps"] for row in run.series] == [219.96, 187.91]
    assert [row["latency_p95"] for row in run.series] == [0.05289, 0.05194]
    assert all(row["queue_length"] == row["concurrency"] == 0 for row in run.series)
    assert "tps" not in run.metrics
