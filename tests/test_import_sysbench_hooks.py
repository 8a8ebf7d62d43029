"""Rows and totals of sysbench's report hooks, which print CSV and JSON."""

import json
import re

import pytest
from sysbench_reading import read, read_file, read_one
from sysbench_writer import Log, head_1x, make_log, write_log

from benchkit.importers.model import ImportFormatError
from benchkit.importers.sysbench import sniff


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


def json_report(*rows):
    """Return what the hook prints: objects of several lines in an array."""
    qps = '"total": {:4.2f},\n "reads": {:4.2f},\n "writes": {:4.2f},\n "other": {:4.2f}'
    layout = (
        '  {{\n    "time": {:4.0f},\n    "threads": {:d},\n    "tps": {:4.2f},\n    "qps": {{\n'
        f'{qps}\n    }}}},\n    "latency": {{:4.2f}},\n    "errors": {{:4.2f}},\n'
        '    "reconnects": {:4.2f}\n  }}'
    )
    texts = (layout.format(*row) for row in rows)
    return "[\n" + ",\n".join(texts) + "\n]\n"


JSON_ROWS = (
    (10, 4, 9.5, 95.0, 66.5, 19.0, 9.5, 3.25, 0.2, 0.0),
    (20, 4, 8.25, 82.5, 57.75, 16.5, 8.25, 3.4, 0.0, 1.0),
)
RESHAPED = {
    "as printed": lambda text: text,
    "one line": lambda text: json.dumps(json.loads(text)),
    "lines of objects": lambda text: "\n".join(map(json.dumps, json.loads(text))) + "\n]",
    "numbers as text": lambda text: re.sub(r": +([\d.]+)", r': "\1"', text),
    "docker": lambda text: re.sub("^", "sysbench_1  | ", text, flags=re.M),
    "within the log": lambda text: write_log(make_log(1, rows=())).replace(
        "Threads started!\n", f"Threads started!\n{text}"
    ),
}


@pytest.mark.parametrize("reshape", RESHAPED.values(), ids=RESHAPED)
def test_rows_of_the_json_hook(reshape):
    text = reshape(json_report(*JSON_ROWS))
    run = read_one(text)
    assert [
        (row["time_s"], row["threads"], row["tps"], row["qps"], row["reads_per_s"])
        + (row["writes_per_s"], row["other_per_s"], row["latency"] * 1e3)
        + (row["errors_per_s"], row["reconnects_per_s"])
        for row in run.series
    ] == list(JSON_ROWS)
    assert run.threads == (make_log(1).threads if "Threads started" in text else 4)
    assert sniff(text.split("\n"), "x") >= 0.8


def test_totals_of_the_json_hook():
    """Reported by the same hook they come with 0 threads."""
    total = (30, 0, 9.0, 90.0, 63.0, 18.0, 9.0, 3.33, 0.1, 0.0)
    run = read_one(json_report(*JSON_ROWS, total))
    assert len(run.series) == 2
    assert (run.metrics["tps"], run.metrics["qps"], run.metrics["errors_per_s"]) == (9.0, 90.0, 0.1)


@pytest.mark.parametrize("end", ['"tps"', '"latency": 3.4', '"reconnects": 1', "]"])
def test_cut_json_is_an_error(end, tmp_path):
    text = json_report(*JSON_ROWS)
    data = text[: text.rindex(end)].encode()
    with pytest.raises(ImportFormatError, match=r"line \d+: .*(breaks off|expected)"):
        read_file(tmp_path / "x", data)
    (run,) = read_file(tmp_path / "x", data, lenient=True).runs
    assert run.series[0]["tps"] == 9.5


@pytest.mark.parametrize("cut", [1, 4, 6, 20])
def test_cut_row_of_the_csv_hook_is_named(cut, tmp_path):
    rows = "".join(f"{time_s},4,9.50,95.00,66.50,19.00,9.50,3.25,0.20,0.00\n" for time_s in (1, 2))
    data = rows[: -1 - cut].encode()
    with pytest.raises(ImportFormatError, match="line 2: the interval row breaks off"):
        read_file(tmp_path / "x", data)
    (run,) = read_file(tmp_path / "x", data, lenient=True).runs
    assert run.series[0]["reconnects_per_s"] == 0
    assert all("reconnects_per_s" not in row for row in run.series[1:])


@pytest.mark.parametrize("before", [True, False])
def test_table_that_someone_made_is_not_rows_of_the_csv_hook(before):
    table = "threads,tps,qps\n16,1,3530.58,72489.23\n32,1,4102.11,80012.00\n"
    text = write_log(make_log(1))
    text = table + text if before else f"{text}\n{table}"
    assert len(read_one(text).series) == len(make_log(1).rows)
    with pytest.raises(ImportFormatError, match="no run of sysbench"):
        read(table)


CSV_ROWS = [f"{time_s},4,9.50,95.00,66.50,19.00,9.50,3.25,0.20,0.00" for time_s in (1, 2, 3)]


@pytest.mark.parametrize("glue", [" ", "\n", ""], ids=["blank", "line break", "nothing"])
def test_rows_of_the_csv_hook_in_front_of_the_totals(glue):
    head, _, totals = write_log(make_log(1, rows=())).partition("Threads started!\n\n")
    text = f"{head}Threads started!\n\n" + "\n".join(CSV_ROWS) + glue + totals
    run = read_one(text)
    assert [row["time_s"] for row in run.series] == [1, 2, 3]
    assert run.metrics == read_one(head + totals).metrics
    one_line = read_one(text.replace("\n", " "))
    assert (one_line.metrics, len(one_line.series)) == (run.metrics, 3)


@pytest.mark.parametrize("left", ["2,4", "2,4,9.", "2,4\0\0.00,0.20,0.00", "2,4,9.50,9\0\0x"])
def test_damaged_row_of_the_csv_hook_is_named(left, tmp_path):
    text = "\n".join([CSV_ROWS[0], left, CSV_ROWS[2], ""])
    with pytest.raises(ImportFormatError, match="line 2: the interval row breaks off"):
        read_file(tmp_path / "x", text.encode())
    (run,) = read_file(tmp_path / "x", text.encode(), lenient=True).runs
    whole = [row for row in run.series if "reconnects_per_s" in row]
    assert [row["time_s"] for row in whole] == [1, 3]
