"""Files that hold the output of several tools: all of it is read, each kind by its own reader."""

from contextlib import suppress
from itertools import permutations

import hammerdb_writer
import pytest
import taf_writer
from imports import dataset, report_of, write
from sysbench_writer import make_log, write_log

import benchkit as bk
from benchkit.importers import detect, hammerdb, mixed, sysbench, taf
from benchkit.importers.detect import Format
from benchkit.importers.model import ImportFormatError
from benchkit.importers.source import Line

FORMATS = [
    Format(module.__name__.rpartition(".")[2], *known)
    for module in (taf, sysbench, hammerdb)
    for known in module.FORMATS
]
RUN = hammerdb_writer.Run()
TIMED = hammerdb_writer.Run(timing=hammerdb_writer.figures())
SERIES = taf_writer.one_series()
TEXTS = {
    "sysbench 0.4": write_log(make_log(1, "0.4.12")),
    "sysbench 1.0": write_log(make_log(2)),
    "hammerdb log": "\n".join(hammerdb_writer.log(RUN)),
    "hammerdb job": "\n".join(hammerdb_writer.job_result(RUN)),
    "hammerdb profile": "\n".join(hammerdb_writer.profile(TIMED)),
    "taf report": report_of(dataset("10.6.1", 100.0, 101.0, 102.0)),
    "taf text": taf_writer.text_report(SERIES),
    "taf json": taf_writer.json_report(SERIES),
}
WITHOUT_AN_END = {
    "taf csv": taf_writer.csv_report(SERIES),
    "taf raw dump": taf_writer.dump_report(SERIES),
    "percent table": taf_writer.percent_table(
        [1, 4, 8],
        [("delete", [99.15, 98.25, 97.35]), ("insert", [96.45, 95.55, 94.65])],
        ["x"],
        taf_writer.RATIO_CAPTION,
    ),
    "taf html": taf_writer.html_report(taf_writer.small_report()),
}
"""Kinds that are known by their first line only."""

FAMILIES = ("sysbench", "hammerdb")


def kind(name):
    return next((family for family in FAMILIES if name.startswith(family)), name)


PAIRS = [pair for pair in permutations(TEXTS, 2) if kind(pair[0]) != kind(pair[1])]


ALL = TEXTS | WITHOUT_AN_END
OTHER_PAIRS = [pair for pair in permutations(ALL, 2) if WITHOUT_AN_END.keys() & {*pair}]


def numbers(path, text, lenient=False):
    imported = detect.read_file(write(path, text), FORMATS, lenient=lenient)
    assert imported.problems == ()
    return [(run.threads, dict(run.metrics)) for run in imported.runs]


@pytest.mark.parametrize("between", ["\n", "\n\nroot@host:~# next\n"], ids=["joined", "prompt"])
@pytest.mark.parametrize("names", PAIRS, ids=" and ".join)
def test_two_kinds_in_a_file_are_both_read(tmp_path, names, between):
    expected = [run for name in names for run in numbers(tmp_path / "one", TEXTS[name])]
    both = between.join(TEXTS[name] for name in names)
    assert numbers(tmp_path / "both", both) == expected


@pytest.mark.parametrize("names", OTHER_PAIRS, ids=" and ".join)
def test_nothing_of_two_kinds_is_left_out_in_silence(tmp_path, names):
    path = write(tmp_path / "both", "\n".join(ALL[name] for name in names))
    expected = sum(len(numbers(tmp_path / "one", ALL[name])) for name in names)
    with suppress(ImportFormatError):
        assert len(detect.read_file(path, FORMATS).runs) == expected
    imported = detect.read_file(path, FORMATS, lenient=True)
    assert imported.problems or len(imported.runs) == expected


def test_kinds_that_take_turns_are_all_read(tmp_path):
    names = ("sysbench 1.0", "hammerdb log", "sysbench 0.4", "taf text")
    text = "\n".join(TEXTS[name] for name in names)
    in_order = ("sysbench 1.0", "sysbench 0.4", "hammerdb log", "taf text")
    assert numbers(tmp_path / "all", text) == [
        run for name in in_order for run in numbers(tmp_path / "one", TEXTS[name])
    ]


def test_second_kind_begins_in_the_last_line_of_the_first(tmp_path):
    names = ("sysbench 1.0", "taf text")
    text = TEXTS[names[0]].rstrip("\n") + TEXTS[names[1]].lstrip("\n")
    assert numbers(tmp_path / "both", text) == [
        run for name in names for run in numbers(tmp_path / "one", TEXTS[name])
    ]


def test_damage_of_the_second_kind_has_its_line(tmp_path):
    cut = TEXTS["sysbench 1.0"].partition("General statistics:")[0]
    path = write(tmp_path / "both", TEXTS["hammerdb log"] + "\n" + cut)
    line = TEXTS["hammerdb log"].count("\n") + 1
    with pytest.raises(ImportFormatError, match=r"both, line (\d+): .*read as sysbench") as caught:
        detect.read_file(path, FORMATS)
    assert int(str(caught.value).partition("line ")[2].partition(":")[0]) > line
    imported = detect.read_file(path, FORMATS, lenient=True)
    assert len(imported.runs) == 2
    assert [problem.line > line for problem in imported.problems] == [True]


def test_kind_without_a_readable_result_is_a_problem(tmp_path):
    text = TEXTS["sysbench 1.0"] + "\nTest Info (per dataset)\n"
    path = write(tmp_path / "both", text)
    imported = detect.read_file(path, FORMATS, lenient=True)
    assert (len(imported.runs), len(imported.problems)) == (1, 1)
    assert imported.problems[0].line == text.count("\n")


def test_text_that_speaks_of_another_tool_is_not_its_result(tmp_path):
    text = "HammerDB CLI was tried as well\n" + TEXTS["sysbench 1.0"] + "\nhammerdb> is next.\n"
    assert numbers(tmp_path / "log", text) == numbers(tmp_path / "one", TEXTS["sysbench 1.0"])


@pytest.mark.parametrize("name", ["sysbench 0.4", "sysbench 1.0", "hammerdb log"])
def test_page_around_a_log_is_not_a_report(tmp_path, name):
    page = f"<!DOCTYPE html>\n<html><body><pre>\n{TEXTS[name]}\n</pre></body></html>\n"
    assert numbers(tmp_path / "page", page) == numbers(tmp_path / "one", TEXTS[name])


def test_stored_runs_of_a_mixed_file_say_that_it_is(tmp_path):
    text = TEXTS["sysbench 1.0"] + "\n" + TEXTS["hammerdb log"]
    results = bk.from_auto(write(tmp_path / "all.txt", text), tmp_path / "study")
    records = [record for dataset in results for record in dataset.records]
    assert [record.source["format"] for record in records] == ["sysbench log and hammerdb log"] * 2


def test_lines_that_alternate_are_an_error():
    lines = ("SQL statistics:", "Vuser 1:RUNNING")
    text = (Line(number, lines[number % 2]) for number in range(1, 30_000))
    with pytest.raises(ImportFormatError, match="sysbench and hammerdb alternate"):
        mixed.find_parts(text, "sysbench", ["hammerdb"])
