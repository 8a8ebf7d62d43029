"""TAF's files with something in front of each line, and twice in one file."""

import pytest
import taf_writer
from imports import dataset, imported, report_of, write
from mutation import lines

from benchkit import load
from benchkit.errors import StoreError
from benchkit.importers import taf_text
from benchkit.importers.detect import read_file
from benchkit.importers.model import ImportFormatError
from benchkit.importers.reading import Order, _adapt, _formats

ROWS = [("delete", [99.0, 98.0]), ("insert", [97.0, 96.0])]
SERIES = taf_writer.one_series(iterations=3)
FILES = {
    "tabs": taf_writer.tab_report(taf_writer.small_report()),
    "glued": taf_writer.glued_report(taf_writer.small_report()),
    "text": taf_writer.text_report(SERIES),
    "json": taf_writer.json_report(SERIES),
    "dump": taf_writer.dump_report(SERIES),
    "csv": taf_writer.csv_report(SERIES),
    "percent": taf_writer.percent_table([1, 4], ROWS, ["x"], taf_writer.RATIO_CAPTION),
}
PREFIXES = {
    "code": "    ",
    "tab": "\t",
    "quote": "> ",
    "nested quote": "> > ",
    "stamp": "2026-11-30 16:36:14 ",
    "log": "[2026-11-30T16:36:14Z] [INFO] ",
    "syslog": "Nov 30 16:36:14 bench1 taf[1234]: ",
}
ANY_FILE = pytest.mark.parametrize("kind", FILES)


def found_in(tmp_path, text):
    return read_file(write(tmp_path / "file.txt", text), _formats())


def values_of(runs):
    return [(r.dataset, r.threads, r.iteration, r.metrics, r.facts, r.extra) for r in runs]


@ANY_FILE
@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_file_reads_the_same_with_a_prefix(kind, prefix, tmp_path):
    text = FILES[kind]
    changed = "\n".join(prefix + line for line in text.split("\n"))
    found, plain = found_in(tmp_path, changed), found_in(tmp_path, text)
    assert (found.format, values_of(found.runs)) == (plain.format, values_of(plain.runs))
    assert (found.title, found.comment) == (plain.title, plain.comment)


def test_convention_is_told_of_a_quoted_table_too(tmp_path):
    text = taf_writer.percent_table([1, 4], ROWS, ["x"], "")
    path = write(tmp_path / "t.txt", "\n".join(f"> {line}" for line in text.split("\n")))
    order = Order(convention="ratio")
    found = read_file(path, [_adapt(each, order) for each in _formats()])
    assert found.runs[0].metrics == {"percent_of_baseline": 99.0}


# Twice in one file


@ANY_FILE
def test_second_copy_is_left_out_with_a_warning(kind, tmp_path):
    found, plain = (found_in(tmp_path, FILES[kind] + more) for more in ("\n" + FILES[kind], ""))
    assert values_of(found.runs) == values_of(plain.runs)
    assert any("the copies were left out" in warning for warning in found.runs[0].warnings)
    assert plain.runs[0].warnings == ()


def test_report_with_one_other_value_is_no_copy(tmp_path):
    other = taf_writer.small_report()
    other.datasets[0].values[4][0] += 1
    found = found_in(tmp_path, FILES["tabs"] + taf_writer.tab_report(other))
    assert len(found.runs) == 2 * len(found_in(tmp_path, FILES["tabs"]).runs)


def test_text_report_without_its_summaries_breaks_off():
    text = FILES["text"][: FILES["text"].index("=== Summary")]
    with pytest.raises(ImportFormatError, match="breaks off: no summary for thread count 4"):
        taf_text.parse_text(lines(text))
    assert len(taf_text.parse_text(lines(text), lenient=True).runs) == 3


# One study for one kind


@pytest.mark.parametrize("first, second", [("tabs", "percent"), ("percent", "tabs")])
def test_percentages_and_measurements_do_not_share_a_study(tmp_path, first, second):
    imported(tmp_path, FILES[first], "study")
    before = sorted(tmp_path.rglob("*"))
    later = write(tmp_path / "later.txt", FILES[second])
    with pytest.raises(StoreError, match="one study cannot hold both"):
        imported_into(later, tmp_path / "study")
    assert sorted(tmp_path.rglob("*")) == sorted([*before, later])
    assert load(tmp_path / "study").metrics


def test_one_import_of_both_writes_nothing(tmp_path):
    files = [write(tmp_path / f"{kind}.txt", FILES[kind]) for kind in ("tabs", "percent")]
    with pytest.raises(StoreError, match=r"percent\.txt has percentages"):
        imported_into(files, tmp_path / "study")
    assert not (tmp_path / "study").exists()


def imported_into(files, folder):
    from benchkit import from_taf

    return from_taf(files, folder)


def test_report_whose_lines_are_numbered_is_read(tmp_path):
    text = report_of(dataset("11.8", 1.0, 2.0), dataset("12.1", 4.0, 5.0))
    numbered = "".join(f"{n:6d}\t{line}\n" for n, line in enumerate(text.splitlines(), 1))
    values = [imported(tmp_path, each, name).compare().columns for name, each in
              (("plain", text), ("numbered", numbered))]  # fmt: skip
    assert [[c.mean.tolist() for c in columns] for columns in values] == [[[1.5], [4.5]]] * 2
