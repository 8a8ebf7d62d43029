"""Comparisons as text for other programs."""

import csv
import io
import json

import pytest
from factory import Plan, make_study

from benchkit.formats import FORMATS
from benchkit.results import load

READ_ONLY = "sysbench/1.1:oltp_read_only"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    """Return a comparison in which the second server lacks its runs with four threads."""
    absent = tuple(("a|<b>", 4, iteration) for iteration in (1, 2, 3))
    plan = Plan(servers=("baseline", "a|<b>"), absent=absent)
    return load(make_study(tmp_path_factory.mktemp("data") / "study", plan).path).compare("tps")


def test_csv_has_the_columns_and_numbers_of_the_frame(comparison):
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"](comparison))))
    assert list(rows[0]) == list(comparison.frame.columns)
    assert [float(row["baseline"]) for row in rows] == comparison.frame["baseline"].tolist()


def test_absent_value_is_empty_in_csv_and_null_in_json(comparison):
    assert list(csv.DictReader(io.StringIO(FORMATS["csv"](comparison))))[1]["a|<b>"] == ""
    assert json.loads(FORMATS["json"](comparison))["rows"][1]["a|<b>"] is None


def test_json_says_what_the_numbers_are(comparison):
    data = json.loads(FORMATS["json"](comparison))
    assert (data["metric"], data["unit"]) == ("tps", "transactions/s")
    assert (data["higher_is_better"], data["baseline"]) == (True, "baseline")
    assert [row["threads"] for row in data["rows"]] == [1, 4]


def test_markdown_is_one_table_with_marks_escaped(comparison):
    lines = [line for line in FORMATS["markdown"](comparison).splitlines() if line[:1] == "|"]
    assert len(lines) == 4
    assert lines[0] == r"| threads | baseline | a\|\<b> | ratio | n |"
    assert lines[1] == "| ---: | ---: | ---: | ---: | ---: |"


def test_markdown_names_the_workload_where_there_are_several(tmp_path):
    plan = Plan(workloads=(READ_ONLY, "sysbench/1.1:oltp_point_select"))
    comparison = load(make_study(tmp_path / "study", plan).path).compare("tps")
    assert "| workload | threads |" in FORMATS["markdown"](comparison)


def test_html_is_a_page_with_names_escaped(comparison):
    page = FORMATS["html"](comparison)
    assert page.startswith("<!DOCTYPE html>")
    assert "a|&lt;b&gt;" in page
    assert "a|<b>" not in page
