"""Reports as text for other programs and for people: Markdown, HTML, CSV, JSON.

Whatever comes from a dataset is text here, never markup: it is escaped in Markdown and HTML. A
page is one file without scripts that needs no network; its colours follow the reader's.
"""

import csv
import html
import io
import json
import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from textwrap import wrap

from benchkit.report_taf import Section
from benchkit.units import one_line

HEAD_WIDTH = 20
"""Characters of a column's head, which has several lines where it is longer."""

LEGEND = "Column"
"""The head of a table that says what letters stand for."""

CHANGE = "change"
"""The head of a column that belongs to the one before it."""

_TEXT_WIDTH = 100
_MARKDOWN = "\\`*_[<|~$&"
_BLOCK_START = re.compile(r"^(\d*)([#+=>.)-])")
_STYLE = """
.benchkit{--text:#1b1f24;--faint:#59636e;--line:#d1d9e0;--head:#f3f5f7;--good:#1a7f37;
--bad:#b42318;--page:#fff;color:var(--text);background:var(--page);
font:14px/1.45 system-ui,sans-serif}
@media (prefers-color-scheme:dark){.benchkit{--text:#e6e9ed;--faint:#9aa4af;--line:#3b434c;
--head:#20262d;--good:#56d364;--bad:#ff8a80;--page:#14181d}}
.benchkit h1{font-size:1.5em;margin:0 0 .3em}.benchkit h2{font-size:1.1em;margin:1.6em 0 .5em}
.benchkit .note,.benchkit .comment{color:var(--faint)}
.benchkit .scroll{overflow-x:auto}
.benchkit table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.benchkit th,.benchkit td{padding:.3em .8em;border-bottom:1px solid var(--line);
text-align:right;vertical-align:top;white-space:pre}
.benchkit th{background:var(--head);white-space:normal;min-width:4em;max-width:18em;
overflow-wrap:anywhere}
.benchkit th:first-child,.benchkit td:first-child{text-align:left}
.benchkit .information th,.benchkit .information td{text-align:left}
.benchkit td.better{color:var(--good)}.benchkit td.worse{color:var(--bad)}
.benchkit td.absent{color:var(--faint)}
""".strip()
_PAGE_STYLE = """
:root{color-scheme:light dark}
body{margin:0;background:#fff}@media (prefers-color-scheme:dark){body{background:#14181d}}
body>.benchkit{max-width:96rem;margin:0 auto;padding:1.5rem}
""".strip()
_INFORMATION = ("Property", "Option", LEGEND)
_ABSENT = ("(missing)", "(unknown)", "-")


def short_heads(labels: Sequence[str], width: int = HEAD_WIDTH) -> list[str]:
    """Return labels as they are, or A, B, C ... where a head would break one inside a word.

    Parameters
    ----------
    labels : sequence of str
    width : int
        Characters of a line of a head, which may have two.
    """
    if all(_fits(label, width) for label in labels):
        return list(labels)
    found: list[str] = []
    for number in range(len(labels)):
        tail, head = chr(ord("A") + number % 26), number // 26
        found.append(f"{found[head - 1]}{tail}" if head else tail)
    return found


def _fits(label: str, width: int) -> bool:
    words = label.split()
    return max(map(len, words), default=0) <= width and len(wrap(label, width)) < 3


def write_markdown(
    title: str, comment: str, sections: Sequence[Section], notes: Sequence[str]
) -> str:
    """Return a report in the Markdown of GitHub and Jupyter."""
    parts = [f"# {escape_markdown(title)}"] if title else []
    parts += [_BLOCK_START.sub(r"\1\\\2", escape_markdown(comment))] if comment else []
    for section in sections:
        parts.append(f"## {escape_markdown(section.title)}")
        if section.header:
            side = "---" if section.header[0] in _INFORMATION else "---:"
            rule = ["---", *[side] * (len(section.header) - 1)]
            rows = [_markdown_row(map(_markdown_cell, row)) for row in section.rows]
            head = _markdown_row(map(_markdown_cell, section.header))
            parts.append("\n".join([head, _markdown_row(rule), *rows]))
    parts += [f"*note: {escape_markdown(note)}*" for note in notes]
    return "\n\n".join(parts) + "\n"


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    line = " ".join(one_line(text).split())
    return "".join(f"\\{letter}" if letter in _MARKDOWN else letter for letter in line)


def _markdown_cell(text: str) -> str:
    return "<br>".join(escape_markdown(line) for line in text.splitlines())


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def write_page(title: str, body: str) -> str:
    """Return a page around what `write_html` returned."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_PAGE_STYLE}</style></head>\n"
        f"<body>{body}</body></html>\n"
    )


def write_html(title: str, comment: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Return a report as a piece of HTML, with its style."""
    parts = [f'<div class="benchkit"><style>{_STYLE}</style>']
    parts += [f"<h1>{_text(title)}</h1>"] if title else []
    parts += [f'<p class="comment">{_text(comment)}</p>'] if comment else []
    for section in sections:
        parts.append(f"<h2>{_text(section.title)}</h2>")
        parts += [_html_table(section)] if section.header else []
    parts += [f'<p class="note">note: {_text(note)}</p>' for note in notes]
    return "\n".join([*parts, "</div>"])


def _text(text: str) -> str:
    """Return text that HTML shows as it is, on one line."""
    return html.escape(one_line(text))


def _html_table(section: Section) -> str:
    heads = "".join(f'<th scope="col">{_text(head)}</th>' for head in section.header)
    is_information = section.header[0] in _INFORMATION
    mark = ' class="information"' if is_information else ""
    row_html = _information_row if is_information else _number_row
    body = "\n".join(f"<tr>{row_html(row)}</tr>" for row in section.rows)
    return (
        f'<div class="scroll"><table{mark}><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def _number_row(row: Sequence[str]) -> str:
    return "".join(_html_cell(cell, _lines(cell)) for cell in row)


def _lines(cell: str) -> str:
    """Return a cell's text, of several lines where it has them."""
    return "\n".join(map(_text, cell.split("\n")))


def _information_row(row: Sequence[str]) -> str:
    """Return cells whose lines are bold where the first column has something else."""
    first = row[1].split("\n") if len(row) > 1 else []
    cells = [_html_cell("", _text(row[0]))]
    for cell in row[1:]:
        pairs = zip_longest(cell.split("\n"), first[: cell.count("\n") + 1])
        lines = (_text(line) if line == other else f"<b>{_text(line)}</b>" for line, other in pairs)
        cells.append(_html_cell(cell, "\n".join(lines)))
    return "".join(cells)


def _html_cell(text: str, content: str) -> str:
    found = _classes(text)
    mark = f' class="{" ".join(found)}"' if found else ""
    return f"<td{mark}>{content}</td>"


def _classes(cell: str) -> list[str]:
    if cell in _ABSENT:
        return ["absent"]
    return [name for name in ("better", "worse") if f"% {name}" in cell]


def write_csv(sections: Sequence[Section]) -> str:
    """Return all tables below one another; the first column says which a row belongs to."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    for section in sections:
        rows = [section.header, *section.rows] if section.header else [()]
        writer.writerows(map(_lines_shown, (section.title, *row)) for row in rows)
    return file.getvalue()


def _lines_shown(cell: str) -> str:
    return "\n".join(map(one_line, cell.split("\n")))


def write_json(title: str, comment: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Return a report as an object with its tables, cells as they are shown."""
    tables = [{"title": s.title, "header": s.header, "rows": s.rows} for s in sections]
    report = {"title": title, "comment": comment, "sections": tables, "notes": notes}
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def write_text(title: str, comment: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Return a report as aligned text."""
    parts = [_line(text) for text in (title, comment) if text]
    for section in sections:
        table = _tables([section.header, *section.rows]) if section.header else []
        parts.append("\n".join([_line(section.title), *table]))
    parts += [f"note: {_line(note)}" for note in notes]
    return "\n\n".join(parts) + "\n"


def _tables(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as tables below one another, as wide as people read."""
    plain = [[_line(cell) for cell in row] for row in rows]
    lines: list[str] = []
    for columns in _groups(plain):
        lines += [""] if lines else []
        lines += _aligned([[row[0], *(row[i] for i in columns)] for row in plain])
    return lines


def _groups(rows: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return which columns stand in a table together; the first one stands in all of them."""
    heads = [max(map(len, wrap(cell, HEAD_WIDTH)), default=0) for cell in rows[0]]
    widths = [
        2 + max(head, *map(len, column[1:]), 0)
        for head, column in zip(heads, zip(*rows, strict=True), strict=True)
    ]
    groups: list[list[int]] = [[]]
    for number in range(1, len(widths)):
        pair = [number + 1] if rows[0][number + 1 : number + 2] == [CHANGE] else []
        width = widths[0] + sum(widths[i] for i in [*groups[-1], number, *pair])
        if width > _TEXT_WIDTH and groups[-1] and rows[0][number] != CHANGE:
            groups.append([])
        groups[-1].append(number)
    return groups


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines of one width, a rule below the first, whose cells may be wrapped."""
    head, *body = rows
    wrapped = [wrap(cell, HEAD_WIDTH) or [""] for cell in head]
    heads = list(zip_longest(*wrapped, fillvalue=""))
    widths = [max(map(len, column)) for column in zip(*heads, *body, strict=True)]
    is_information = head[0] in _INFORMATION
    lines = [
        "  ".join(
            cell.rjust(width) if number and not is_information else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [*heads, *body]
    ]
    return [*lines[: len(heads)], "-" * (sum(widths) + 2 * (len(widths) - 1)), *lines[len(heads) :]]


def _line(text: str) -> str:
    return " ".join(one_line(text).split())
