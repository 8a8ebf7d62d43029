"""Imports of long files need no more memory than those of short ones, through to the store."""

import json
import subprocess
import sys
from dataclasses import replace
from itertools import chain

import hammerdb_writer as writer
import pytest
from hammerdb_writer import Run, figures
from sysbench_reading import read_one
from sysbench_writer import body_1x, general_1x, head_1x, make_log, sql_1x, write_log

LOG = make_log(1)
GROWTH_MAX_KB = 16 * 1024
"""Of the resident set, from before the import to its largest."""

IMPORT = """
import json, resource, sys, warnings
from benchkit.importers import hammerdb, sysbench, taf
from benchkit.importers.reading import Order, import_files

warnings.simplefilter("ignore")
measure = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = measure()
outcome = import_files(sys.argv[1], sys.argv[2], Order((sys.argv[3],), lenient=True))
print(json.dumps([outcome.runs, len(outcome.problems), measure() - before]))
"""


def rows(count):
    (row, *_) = body_1x(LOG)
    tail = row.partition("s ]")[2]
    return (f"[ {second}s ]{tail}" for second in range(1, count + 1))


def long_run(count):
    head, middle, end = write_log(replace(LOG, rows=())).partition("SQL statistics:")
    return chain([head], rows(count), [middle + end])


def many_buckets(count):
    head, middle, end = write_log(replace(LOG, rows=())).partition("SQL statistics:")
    buckets = (f"{number / 100:12.3f} |*{'':<39s} 7" for number in range(count))
    title = ["       value  ------------- distribution ------------- count"]
    return chain([head], title, buckets, [middle + end])


def many_runs(count):
    """Return runs that are told apart, of as few lines as possible."""
    return ("\n".join([*head_1x(LOG)[:4], *sql_1x(LOG), *general_1x(LOG)]) for _ in range(count))


def many_checkpoints(count):
    head, middle, end = write_log(replace(LOG, rows=())).partition("SQL statistics:")
    point = "\n".join(sql_1x(LOG))
    points = (f"[ {second}s ] Checkpoint report:\n{point}" for second in range(1, count + 1))
    return chain([head], points, [middle + end])


def no_line_breaks(count):
    return [" ".join(chain(head_1x(LOG), rows(count)))]


def counter_log(count):
    """Return a log of HammerDB whose transaction counter wrote very many rows."""
    head, tail = writer.log(Run(users=4))[:-2], writer.log(Run(users=4))[-2:]
    return chain(
        ["Vuser 1:RUNNING", *head], (f"{n % 9999} MariaDB tpm" for n in range(count)), tail
    )


def profile_of_very_many(count):
    """Return a time profile of HammerDB that tells of each virtual user."""
    made = writer.profile(Run(users=count, timing=figures()), by_user={2: figures()})
    end = next(i for i, line in enumerate(made) if "SUMMARY" in line)
    users = (
        "\n".join([line.replace("USER 2 ", f"USER {user} ") for line in made[2:end]])
        for user in range(2, count + 2)
    )
    return chain(made[:2], users, made[end:])


def document_of_very_many(count):
    """Return a job's document of HammerDB with very many rows of the transaction counter."""
    rows = (f'"2026-11-30 16:36:{n % 60:02d}.{n:09d}": "{n % 9999}",' for n in range(count))
    return chain(['{ "MariaDB tpm": {'], rows, ['"2027-01-01 00:00:00": "5" } }'])


def report_of_many_iterations(count):
    rows = (f"Iteration {n}\t{n % 99}.00\t1.00\t1.00" for n in range(1, count + 1))
    return chain(["Comparison: TPS", "Thread Count: 4", "Metric\tA 1\tB 2\tDiff"], rows)


def html_of_many_rows(count):
    head = "<!DOCTYPE html><html><script src='chart.js'></script><h3>Comparison: TPS</h3>"
    cells = (f"<tr><td>Iteration {n}</td><td>{n}.00</td></tr>" for n in range(1, count + 1))
    title = "<h3>Thread Count: 4</h3><tr><th>Metric</th><th>A 1</th></tr>"
    return chain([head, title], cells)


def csv_of_many_rows(count):
    head = '"test_name","thread_count","iteration_id","TPS::value"'
    return chain([head], (f'"OLTP_RO","4","{n}","{n}.5"' for n in range(1, count + 1)))


def json_of_many_iterations(count):
    entry = (
        '{{"iteration_id": {}, "thread_count": 4, "primary": [{{"name": "TPS", "value": {}.5}}]}},'
    )
    return chain(['{"iterations": ['], (entry.format(n, n) for n in range(1, count + 1)))


def import_in_a_process(folder, texts, family="sysbench"):
    """Return runs, problems and growth in KiB of an import in a process of its own."""
    path = folder / "long.log"
    with path.open("w") as file:
        file.writelines(f"{text}\n" for text in texts)
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, path, folder / "study", family],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        (long_run, 60_000),
        (many_buckets, 150_000),
        (many_checkpoints, 4_000),
        (no_line_breaks, 20_000),
    ],
)
def test_long_files_need_no_more_memory(texts, count, tmp_path):
    runs, _, growth_kb = import_in_a_process(tmp_path, texts(count))
    assert runs == 1
    assert growth_kb < GROWTH_MAX_KB


def test_long_log_of_a_transaction_counter_needs_no_more_memory(tmp_path):
    runs, problems, growth_kb = import_in_a_process(tmp_path, counter_log(60_000), "hammerdb")
    assert (runs, problems) == (1, 0)
    assert growth_kb < GROWTH_MAX_KB


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_file_of_a_gigabyte_needs_no_more_memory(tmp_path):
    runs, problems, growth_kb = import_in_a_process(tmp_path, long_run(7_600_000))
    assert (tmp_path / "long.log").stat().st_size > 1e9
    assert (runs, problems) == (1, 0)
    assert growth_kb < GROWTH_MAX_KB


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("texts", "count"),
    [
        (counter_log, 60_000_000),
        (profile_of_very_many, 1_000_000),
        (document_of_very_many, 25_000_000),
    ],
)
def test_gigabyte_of_hammerdb_is_read_in_part(texts, count, tmp_path):
    runs, problems, growth_kb = import_in_a_process(tmp_path, texts(count), "hammerdb")
    assert (tmp_path / "long.log").stat().st_size > 1e9
    assert (runs, problems > 0) == (1, texts is not profile_of_very_many)
    assert growth_kb < 10 * GROWTH_MAX_KB


@pytest.mark.slow
def test_file_of_very_many_runs_is_read_in_part(tmp_path):
    runs, problems, growth_kb = import_in_a_process(tmp_path, many_runs(20_000))
    assert (runs, problems > 0) == (10_000, True)
    assert growth_kb < 10 * GROWTH_MAX_KB


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "count"),
    [
        (report_of_many_iterations, 30_000_000),
        (html_of_many_rows, 19_000_000),
        (csv_of_many_rows, 28_000_000),
        (json_of_many_iterations, 12_000_000),
    ],
)
def test_file_of_a_gigabyte_of_the_framework_is_read_in_part(texts, count, tmp_path):
    runs, problems, growth_kb = import_in_a_process(tmp_path, texts(count), "taf")
    assert (tmp_path / "long.log").stat().st_size > 1e9
    assert 9_990 < runs <= 10_000  # a row that the limit cuts may be one less
    assert 0 < problems <= 1000
    assert growth_kb < 15 * GROWTH_MAX_KB


def test_rows_come_back_in_any_order():
    series = read_one("\n".join(long_run(9000))).series
    assert len(series) == 9000
    assert [series[place]["time_s"] for place in (8999, 0, 4095, 4096)] == [9000, 1, 4096, 4097]
    assert [row["time_s"] for row in series[4094:4098]] == [4095, 4096, 4097, 4098]
    assert {row["elapsed_s"] for row in series} == {series[0]["elapsed_s"]}
