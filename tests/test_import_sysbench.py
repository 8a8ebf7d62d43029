"""sysbench logs: written from known values and had back, damaged in every way, and real ones."""

import json
import os
import random
import re
import tracemalloc
from dataclasses import replace
from itertools import count, repeat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sysbench_writer import (
    Log,
    Row,
    body_1x,
    head_1x,
    histogram_lines,
    make_log,
    sql_1x,
    write_log,
    write_test,
)

from benchkit.errors import BenchkitError
from benchkit.importers.model import ImportFormatError
from benchkit.importers.source import Line, read_lines
from benchkit.importers.sysbench import FORMATS, parse, sniff

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = Path(os.environ.get("BENCHKIT_SAMPLES", ROOT.parent / "shared/reference/samples"))
VERSIONS = ("0.4.12", "0.5.2010", "0.5", "1.0.15", "1.0.20", "1.1.0-2ca9e3f")
SEEDS = range(12)


def read(text, name="run.log", lenient=False):
    lines = [Line(number, line) for number, line in enumerate(text.split("\n"), 1)]
    return parse(lines, lenient=lenient, name=name)


def read_one(text, **options):
    (run,) = read(text, **options).runs
    return run


def seconds(ms):
    """Return the double that is nearest to the decimal number."""
    return float(f"{ms}e-3")


def is_modern(version):
    return version.startswith("1.")


def expected_metrics(log):
    """Return what every version prints, in benchkit's names and units."""
    low, mean, high, percentile = map(seconds, log.latency_ms)
    return {
        "reads": log.reads,
        "writes": log.writes,
        "others": log.others,
        "queries": log.total,
        "transactions": log.transactions,
        "tps": log.per_s(log.transactions),
        "events": log.transactions,
        "latency_min": low,
        "latency_mean": mean,
        "latency_max": high,
        f"latency_p{log.percentile}": percentile,
    }


def common(metrics, expected):
    return {name: metrics.get(name) for name in expected}


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
def test_workload_names_the_version(version):
    run = read_one(write_log(make_log(1, version)))
    script = "oltp" if version == "0.4.12" else "unknown"
    shown = {"0.5.2010": "0.5", "1.1.0-2ca9e3f": "1.1.0"}.get(version, version)
    assert run.workload == f"sysbench/{shown}:{script}"


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


def test_rows_of_the_csv_hook():
    log = make_log(1, rows=())
    text = write_log(log).replace(
        "Threads started!\n", "Threads started!\n10,4,9.50,95.00,66.50,19.00,9.50,3.25,0.20,0.00\n"
    )
    (found,) = read_one(text).series
    assert (found["tps"], found["other_per_s"], found["latency"]) == (9.5, 9.5, 0.00325)


def test_totals_of_the_csv_hook():
    text = "\n".join(
        [*head_1x(Log()), "2,1,9.00,90.00,63.00,18.00,9.00,3.33,0.00,0.00"]
        + ["3,0,8.50,85.00,59.50,17.00,8.50,3.43,0.00,0.00", "$ "]
    )
    run = read_one(text)
    assert len(run.series) == 1
    assert (run.metrics["tps"], run.metrics["writes_per_s"]) == (8.5, 17.0)


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
    assert run.workload == "sysbench/1.0.20:cpu"
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
    assert run.workload == "sysbench/1.0.20:fileio"
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
    assert run.workload == "sysbench/1.0.20:memory"
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
    assert run.workload == f"sysbench/1.0.20:{script}"
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


# Where a name, a thread count, a run come from


def test_script_and_settings_come_from_the_command():
    command = (
        "[root@db ~]# sysbench /usr/share/sysbench/oltp_read_write.lua --mysql-password=secret \\\n"
        "   --tables=10 --table-size=100000 --threads=4 run"
    )
    run = read_one(f"{command}\n{write_log(make_log(1))}")
    assert run.workload == "sysbench/1.0.20:oltp_read_write"
    assert run.label == "oltp_read_write table_size=100000 tables=10"
    assert "secret" not in repr(run.extra)


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("$ sysbench --test=oltp --num-threads=4 run", "oltp"),
        ("+ sysbench --test=/opt/tests/db/select.lua --num-threads=4 run", "select"),
        ("time docker exec sysbench sysbench ./tpcc.lua --threads=4 run", "tpcc"),
    ],
)
def test_commands_of_every_age(command, script):
    assert read_one(f"{command}\n{write_log(make_log(1))}").workload == f"sysbench/1.0.20:{script}"


@pytest.mark.parametrize(
    "text",
    [
        "We use sysbench to run it with --threads=4 run",
        "$ sysbench oltp_read_only --tables=4 prepare",
        "# sysbench oltp_read_only --help",
    ],
)
def test_what_does_not_run_sysbench_names_no_script(text):
    assert read_one(f"{text}\n{write_log(make_log(1))}").workload == "sysbench/1.0.20:unknown"


def test_commands_of_a_list_are_not_those_of_the_results_below():
    commands = "\n".join(f"$ sysbench oltp_{name} --threads=4 run" for name in ("insert", "delete"))
    text = commands + "\nsome words" * 12 + "\n" + write_log(make_log(1))
    assert read_one(text).workload == "sysbench/1.0.20:unknown"


def test_command_of_a_loop_is_that_of_all_its_runs():
    command = "for t in 1 8; do sysbench oltp_insert --threads=$t run; done\n"
    runs = read(command + "\n".join(write_log(make_log(seed)) for seed in range(2))).runs
    assert [run.workload for run in runs] == ["sysbench/1.0.20:oltp_insert"] * 2


def test_names_come_from_the_file_as_a_last_resort():
    text = "\n".join(sql_1x(make_log(1)) + ["", "General statistics:", "x"])
    run = read(text, "results/oltp_read_only_16threads.log", lenient=True).runs[0]
    assert (run.workload, run.threads) == ("sysbench/unknown:oltp_read_only", 16)
    assert any("16, is taken from the file's name" in warning for warning in run.warnings)


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        ("res.thr12.txt", 12),
        ("sysbench.thr.8.sz.10000.test.txt", 8),
        ("sysbench_8_threads.log", 8),
        ("ro-t64-run2.log", 64),
        ("threads=32/out.log", None),
        ("oltp_tables4.log", None),
        ("result2024.log", None),
    ],
)
def test_thread_counts_in_names(name, threads):
    run = read(sql_1x(make_log(1))[6] + "\nx", name, lenient=True).runs[0]
    assert run.threads == threads


def test_thread_count_comes_from_rows_without_a_heading():
    log = make_log(2, threads=7)
    text = "\n".join(write_log(log).split("\n")[len(head_1x(log)) :])
    run = read_one(text, name="x_99threads.log")
    assert run.threads == 7
    assert run.workload == "sysbench/unknown:unknown"
    assert "the thread count is taken from the interval rows" in run.warnings


def test_thread_count_comes_from_the_share_of_events():
    log = make_log(2, threads=64, rows=())
    text = "\n".join(write_log(log).split("\n")[len(head_1x(log)) :])
    assert read_one(text).threads == 64


def test_runs_follow_each_other():
    logs = [make_log(seed, threads=threads) for seed, threads in enumerate([1, 8, 8, 64])]
    runs = read("\n".join(map(write_log, logs))).runs
    assert [run.metrics["transactions"] for run in runs] == [log.transactions for log in logs]
    assert [(run.threads, len(run.series)) for run in runs] == [
        (log.threads, len(log.rows)) for log in logs
    ]
    assert len({(run.dataset, run.threads, run.iteration) for run in runs}) == len(runs)


@pytest.mark.parametrize("skipped", [1, 3, 12])
def test_runs_without_banners_are_told_apart(skipped):
    logs = [make_log(seed) for seed in range(3)]
    texts = ["\n".join(write_log(log).split("\n")[skipped:]) for log in logs]
    runs = read("\n".join(texts)).runs
    assert [run.metrics["transactions"] for run in runs] == [log.transactions for log in logs]
    assert [len(run.series) for run in runs] == [len(log.rows) for log in logs]


def test_blocks_of_totals_are_told_apart():
    logs = [make_log(seed) for seed in range(3)]
    runs = read("\n\n".join("\n".join(sql_1x(log)) for log in logs) + "\n# end", lenient=True).runs
    assert [run.metrics["tps"] for run in runs] == [log.per_s(log.transactions) for log in logs]


def test_files_joined_without_a_line_break():
    logs = [make_log(seed, "0.5") for seed in range(2)]
    assert len(read("".join(write_log(log).rstrip() for log in logs)).runs) == 2


def test_reading_and_writing_runs_of_one_script_are_two_datasets():
    logs = [make_log(1, writes=0), make_log(2, writes=5)]
    runs = read("\n".join(map(write_log, logs))).runs
    assert [run.label for run in runs] == ["unknown read-only", "unknown read-write"]
    assert [run.iteration for run in runs] == [1, 1]


def test_names_of_joined_files_belong_to_their_runs():
    logs = [make_log(seed, threads=seed + 1) for seed in range(2)]
    names = ["a/oltp_insert_1.log", "a/oltp_delete_2.log"]
    text = "\n".join(
        f"==> {name} <==\n{write_log(log)}" for name, log in zip(names, logs, strict=True)
    )
    assert [run.workload.split(":")[1] for run in read(text).runs] == ["oltp_insert", "oltp_delete"]


def test_containers_that_write_at_the_same_time():
    logs = [make_log(seed, rows=make_log(9).rows) for seed in range(2)]
    pairs = zip(*(write_log(log).split("\n") for log in logs), strict=True)
    text = "\n".join(f"bench_{i}  | {line}" for pair in pairs for i, line in enumerate(pair))
    found = {run.metrics["transactions"] for run in read(text).runs}
    assert found == {log.transactions for log in logs}


def test_preparation_is_not_a_run():
    text = "sysbench 1.0.20 (using bundled LuaJIT 2.1.0)\n\nCreating table 'sbtest1'...\n"
    assert len(read(text + write_log(make_log(1)) + text).runs) == 1
    with pytest.raises(ImportFormatError, match="no run of sysbench"):
        read(text)


# Wrapped


def prefixed(prefix):
    return lambda text: "\n".join(prefix + line for line in text.split("\n"))


WRAPPED = {
    "docker": prefixed("sysbench_1  | "),
    "kubectl": prefixed("[pod/sysbench-0/main] "),
    "iso time": prefixed("2024-03-01T10:00:59.123456789Z "),
    "time in brackets": prefixed("[2024-03-01 10:00:59] "),
    "ts": prefixed("Mar 01 10:00:59 "),
    "time and tab": prefixed("2024-03-01 10:00:59,123\t"),
    "elapsed time": prefixed("00:00:59 "),
    "epoch": prefixed("1700000000.123456 "),
    "journal": prefixed("Mar 01 10:00:59 host1 sysbench[123]: "),
    "grep": prefixed("logs/run.log:"),
    "cat -n": prefixed("    12\t"),
    "quote": prefixed("> "),
    "indented": prefixed("        "),
    "markdown": lambda text: f"# Results\n\nWe use sysbench:\n```console\n{text}\n```\ntotal: 5\n",
    "html": lambda text: "<pre>" + text.replace("\n", "<br>\n") + "</pre>",
    "json": lambda text: json.dumps({"stdout": text}),
    "json lines": lambda text: json.dumps({"stdout_lines": text.split("\n")}, indent=2),
    "one blank": lambda text: re.sub(" +", " ", text),
    "no blank after colons": lambda text: re.sub(r": +", ":", text),
    "no indent": lambda text: re.sub(r"\n +", "\n", text),
    "no blank lines": lambda text: re.sub(r"\n+", "\n", text),
    "more blank lines": lambda text: text.replace("\n", "\n\n"),
    "no line breaks": lambda text: text.replace("\n", ""),
    "hard spaces": lambda text: text.replace("  ", "\xa0\xa0"),
}


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)
@pytest.mark.parametrize("version", VERSIONS)
def test_wrapped_logs_are_the_same(version, wrap):
    text = write_log(make_log(5, version))
    plain, wrapped = read_one(text), read_one(wrap(text))
    assert wrapped.metrics == plain.metrics
    assert (wrapped.threads, wrapped.workload) == (plain.threads, plain.workload)
    assert list(wrapped.series) == list(plain.series)


ENCODED = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "cr": lambda text: text.replace("\n", "\r").encode(),
    "mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16 without mark": lambda text: text.encode("utf-16-le"),
    "colours": lambda text: re.sub(r"(\d+)", "\x1b[1;32m\\1\x1b[0m", text).encode(),
}


@pytest.mark.parametrize("encode", ENCODED.values(), ids=ENCODED)
def test_encoded_logs_are_the_same(encode, tmp_path):
    text = write_log(make_log(5))
    path = tmp_path / "run.log"
    path.write_bytes(encode(text))
    (run,) = parse(read_lines(path), lenient=False, name=path.name).runs
    assert run.metrics == read_one(text).metrics


# Damaged


def test_underflowed_counters_are_kept_and_flagged():
    log = make_log(1, errors=2**64 - 1)
    run = read_one(write_log(log).replace(f"{log.latency_ms[0]:10.2f}", "18446744073709.55"))
    assert run.extra["errors"] == 2**64 - 1
    assert not {"errors", "latency_min"} & set(run.metrics)
    assert run.extra["latency_min"] == pytest.approx(18446744073.70955)
    assert sum("below zero" in warning for warning in run.warnings) >= 2


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


SEED_TEXTS = [write_log(make_log(seed, version)) for seed, version in enumerate(VERSIONS)] + [
    write_log(make_log(7, rate=5, histogram=((1.5, 3), (9.2, 5)), checkpoints=(make_log(8),))),
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


@given(st.integers(0, 2**32))
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_damaged_files_give_a_result_or_an_error(tmp_path_factory, seed):
    rng = random.Random(seed)
    path = tmp_path_factory.getbasetemp() / "damaged.log"
    for _ in range(50):
        data = rng.choice(SEED_TEXTS).encode()
        for _ in range(rng.randrange(1, 4)):
            data = rng.choice(DAMAGES)(rng, data)
        path.write_bytes(data)
        try:
            runs = parse(read_lines(path), lenient=rng.random() < 0.7, name="x_4thr.log").runs
        except BenchkitError:
            continue
        for run in runs:
            assert all(0 <= value < 2**63 for value in run.metrics.values())
            list(run.series)


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
