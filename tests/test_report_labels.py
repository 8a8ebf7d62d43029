"""Long labels become letters, tables keep to a width, and no label breaks its line."""

import re

import pytest
from factory import Plan, make_study
from html_text import heads_of

from benchkit import load
from benchkit.report_write import short_heads

LONG = ("MDEV39497_BIN_LOG_ATTACHED_REPLICAT", "MDEV39497_BINLOG_WALS_TRX_COMMIT_1", "short")
NASTY = "evil\nlabel\r\t\x1b[31m\u2028\u202ex"
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")


def compared(tmp_path, servers, metrics=("tps",)):
    return load(make_study(tmp_path / "study", Plan(servers=servers)).path).compare(list(metrics))


def lines_of(text, *needles):
    return [line for line in text.splitlines() if all(needle in line for needle in needles)]


# Letters


def test_labels_that_fit_no_head_are_letters_with_a_legend(tmp_path):
    report = compared(tmp_path, LONG).table()
    text = str(report)
    assert lines_of(text, "A ", LONG[0]) and lines_of(text, "C ", "short")
    assert lines_of(text, "Threads ", " A ", " B ", "change", " C ")
    assert all(len(lines_of(text, label)) == 1 for label in LONG[:2])
    assert heads_of(report.render("html"))[1][:3] == ["Threads", "A", "B"]
    assert lines_of(report.render("markdown"), "| Threads | A | B | change | C | change |")


def test_programs_get_the_labels_themselves(tmp_path):
    report = compared(tmp_path, LONG).table()
    assert LONG[0] in report.render("csv").split("\n")[0]
    assert report.sections[0].header[1] == LONG[0]


def test_labels_that_fit_stay(tmp_path):
    report = compared(tmp_path, ("11.8.6-MariaDB one", "12.3")).table()
    assert "Columns" not in str(report)
    assert heads_of(report.render("html"))[0][:2] == ["Threads", "11.8.6-MariaDB one"]


def test_plain_comparison_has_letters_too(tmp_path):
    lines = repr(compared(tmp_path, LONG)).splitlines()
    assert f"A  {LONG[0]}" in lines
    assert any(re.fullmatch(r"threads +A +B +ratio +C +ratio +n", line) for line in lines)
    assert not any(re.fullmatch(r"[ A-Z_]*ATTACHED_R", line) for line in lines)


def test_letters_go_on_after_z():
    heads = short_heads([f"a_server_with_a_long_name_{n:03d}" for n in range(703)])
    assert [heads[n] for n in (0, 25, 26, 51, 52, 701, 702)] == [
        "A", "Z", "AA", "AZ", "BA", "ZZ", "AAA",
    ]  # fmt: skip


# Width


def test_tables_of_many_columns_are_parted_and_repeat_their_first(tmp_path):
    servers = tuple(f"server {n}" for n in range(7))
    text = str(compared(tmp_path, servers, ("tps", "latency_p95")).table())
    assert max(map(len, lines_of(text, "  "))) <= 100
    heads = lines_of(text, "Threads")
    assert len(heads) > 2
    assert sum(line.count("change") for line in heads) == 2 * 6
    assert not any(re.match(r"Threads +change", line) for line in heads)


def test_facts_are_left_aligned_in_text(tmp_path):
    report = compared(tmp_path, LONG).table()
    (line,) = lines_of(str(report), "C ", "short")
    assert re.match(r"C +short$", line) and line.index("short") < 12


# One line


@pytest.mark.parametrize("style", ["plain", "taf", "percent", "modern"])
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_label_with_line_breaks_and_codes_stays_on_its_line(tmp_path, style, form):
    comparison = compared(tmp_path, (NASTY, "other"))
    if style != "plain":
        text = comparison.table(style).render(form)
    else:
        text = repr(comparison) if form != "html" else comparison._repr_html_()
    without_tabs = text.replace("\t", "") if (style, form) == ("taf", "text") else text
    assert not CONTROLS.search(without_tabs)
    assert not re.search(r"evil\s*\n\s*label", text)
    assert "\\x1b[31m" in re.sub(r"\\\\", r"\\", text).replace("\\[", "[")


def test_comma_separated_cells_have_no_control_codes(tmp_path):
    text = compared(tmp_path, (NASTY, "other")).table().render("csv")
    assert not CONTROLS.search(text)
