"""Drawing where there is no terminal; real terminals are tested with the command line."""

import io
import sys

import pytest
from rich.text import Text

from benchkit.terminal import draw, grid, styled, table, write

LONG = "word " * 60


@pytest.fixture(autouse=True)
def _no_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)


def test_lines_to_a_file_are_as_long_as_they_are(capsys):
    draw([LONG.strip()])
    assert capsys.readouterr().out == LONG.strip() + "\n"


def test_width_that_is_asked_for_is_kept(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    draw([LONG, table(("a", "b"), [(LONG, "1")], numbers=("b",))])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 40


def test_no_line_ends_in_spaces(capsys):
    draw([table(("name", "value"), [("a", "1"), ("longer", "2")]), grid([("x", "y "), ("", "z")])])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []


def test_marks_of_rich_in_names_are_shown_as_they_are(capsys):
    draw(["[red]x[/red] :smile:", table(("[b]",), [("[i]y[/i]",)])])
    out = capsys.readouterr().out
    assert "[red]x[/red] :smile:" in out
    assert "[i]y[/i]" in out


def test_styles_are_dropped_where_there_is_no_terminal(capsys):
    draw([styled("fail", "bold red"), Text("plain")])
    assert capsys.readouterr().out == "fail\nplain\n"


def test_what_the_output_cannot_encode_becomes_a_question_mark(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    write("größer · 1\n")
    assert raw.getvalue() == b"gr??er ? 1\n"
