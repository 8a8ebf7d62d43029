"""Imports of long files need no more memory than those of short ones, through to the store."""

import json
import subprocess
import sys
from dataclasses import replace
from itertools import chain

import hammerdb_writer as writer
import pytest
from hammerdb_writer import Run
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
def test_file_of_a_gigabyte_needs_no_more_memory(tmp_path):
    runs, problems, growth_kb = import_in_a_process(tmp_path, long_run(7_600_000))
    assert (tmp_path / "long.log").stat().st_size > 1e9
    assert (runs, problems) == (1, 0)
    assert growth_kb < GROWTH_MAX_KB


@pytest.mark.slow
def test_file_of_very_many_runs_is_read_in_part(tmp_path):
    runs, problems, growth_kb = import_in_a_process(tmp_path, many_runs(20_000))
    assert (runs, problems > 0) == (10_000, True)
    assert growth_kb < 10 * GROWTH_MAX_KB


def test_rows_come_back_in_any_order():
    series = read_one("\n".join(long_run(9000))).series
    assert len(series) == 9000
    assert [series[place]["time_s"] for place in (8999, 0, 4095, 4096)] == [9000, 1, 4096, 4097]
    assert [row["time_s"] for row in series[4094:4098]] == [4095, 4096, 4097, 4098]
    assert {row["elapsed_s"] for row in series} == {series[0]["elapsed_s"]}
