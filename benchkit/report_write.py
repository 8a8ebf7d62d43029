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

_HEAD_WIDTH = 20
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
.benchkit th{background:var(--head);white-space:normal;min-width:6em;max-width:18em;
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
_INFORMATION = ("Property", "Option")
_ABSENT = ("(missing)", "(unknown)", "-")


def write_markdown(
    title: str, comment: str, sections: Sequence[Section], notes: Sequence[str]
) -> str:
    """Return a report in the Markdown of GitHub and Jupyter."""
    parts = [f"# {escape_markdown(title)}"] if title else []
    parts += [_BLOCK_START.sub(r"\1\\\2", escape_markdown(comment))] if comment else []
    for section in sections:
        parts.append(f"## {escape_markdown(section.title)}")
        if section.header:
            rule = ["---", *["---:"] * (len(section.header) - 1)]
            rows = [_markdown_row(map(_markdown_cell, row)) for row in section.rows]
            head = _markdown_row(map(_markdown_cell, section.header))
            parts.append("\n".join([head, _markdown_row(rule), *rows]))
    parts += [f"*note: {escape_markdown(note)}*" for note in notes]
    return "\n\n".join(parts) + "\n"


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    line = " ".join(text.split())
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
    parts += [f"<h1>{html.escape(title)}</h1>"] if title else []
    parts += [f'<p class="comment">{html.escape(comment)}</p>'] if comment else []
    for section in sections:
        parts.append(f"<h2>{html.escape(section.title)}</h2>")
        parts += [_html_table(section)] if section.header else []
    parts += [f'<p class="note">note: {html.escape(note)}</p>' for note in notes]
    return "\n".join([*parts, "</div>"])


def _html_table(section: Section) -> str:
    heads = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in section.header)
    is_information = section.header[0] in _INFORMATION
    mark = ' class="information"' if is_information else ""
    row_html = _information_row if is_information else _number_row
    body = "\n".join(f"<tr>{row_html(row)}</tr>" for row in section.rows)
    return (
        f'<div class="scroll"><table{mark}><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def _number_row(row: Sequence[str]) -> str:
    return "".join(_html_cell(cell, html.escape(cell)) for cell in row)


def _information_row(row: Sequence[str]) -> str:
    """Return cells whose lines are bold where the first column has something else."""
    first = row[1].split("\n") if len(row) > 1 else []
    cells = [_html_cell("", html.escape(row[0]))]
    for cell in row[1:]:
        pairs = zip_longest(cell.split("\n"), first[: cell.count("\n") + 1])
        lines = (
            html.escape(line) if line == other else f"<b>{html.escape(line)}</b>"
            for line, other in pairs
        )
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
        writer.writerows((section.title, *row) for row in rows)
    return file.getvalue()


def write_json(title: str, comment: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Return a report as an object with its tables, cells as they are shown."""
    tables = [{"title": s.title, "header": s.header, "rows": s.rows} for s in sections]
    report = {"title": title, "comment": comment, "sections": tables, "notes": notes}
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def write_text(title: str, comment: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Return a report as aligned text."""
    parts = [_line(text) for text in (title, comment) if text]
    for section in sections:
        table = _aligned([section.header, *section.rows]) if section.header else []
        parts.append("\n".join([_line(section.title), *table]))
    parts += [f"note: {_line(note)}" for note in notes]
    return "\n\n".join(parts) + "\n"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines of one width, a rule below the first, whose cells may be wrapped."""
    head, *body = ([_line(cell) for cell in row] for row in rows)
    wrapped = [wrap(cell, _HEAD_WIDTH) or [""] for cell in head]
    heads = list(zip_longest(*wrapped, fillvalue=""))
    widths = [max(map(len, column)) for column in zip(*heads, *body, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [*heads, *body]
    ]
    return [*lines[: len(heads)], "-" * (sum(widths) + 2 * (len(widths) - 1)), *lines[len(heads) :]]


def _line(text: str) -> str:
    return " ".join(text.split())
