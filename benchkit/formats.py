"""A comparison as text for other programs and pages: CSV, JSON, Markdown, HTML.

What a comparison says, and its tables for people, are in ``compare.py``.
"""

import html
import json
from collections.abc import Callable, Iterable

from benchkit.compare import Comparison
from benchkit.record import to_plain
from benchkit.report_write import escape_markdown

Formatter = Callable[[Comparison], str]


def format_csv(comparison: Comparison) -> str:
    """Return the numbers, in the metric's unit, with the columns of `Comparison.frame`."""
    return str(comparison.frame.to_csv(index=False, lineterminator="\n"))


def format_json(comparison: Comparison) -> str:
    """Return the metric, the notes, and a row for each workload and thread count.

    The rows have the columns of `Comparison.frame`; what is absent is null.
    """
    metric = comparison.metric
    return json.dumps(
        to_plain(
            {
                "metric": metric.name,
                "unit": metric.unit,
                "higher_is_better": metric.higher_is_better,
                "baseline": comparison.baseline,
                "rows": comparison.frame.to_dict("records"),
                "notes": comparison.notes,
            }
        ),
        indent=1,
        ensure_ascii=False,
    )


def format_markdown(comparison: Comparison) -> str:
    """Return the table that people read, in the Markdown of GitHub and Jupyter."""
    columns = comparison.cells()
    rows = zip(*(cells for _, cells in columns), strict=True)
    notes = [f"\n*note: {escape_markdown(note)}*" for note in comparison.notes]
    return "\n".join(
        [
            f"**{escape_markdown(comparison.title)}**  ",
            f"{escape_markdown(comparison.subtitle)}\n",
            _markdown_row(head for head, _ in columns),
            _markdown_row("---:" for _ in columns),
            *(_markdown_row(row) for row in rows),
            *notes,
        ]
    )


def format_html(comparison: Comparison) -> str:
    """Return a page that needs no other file."""
    title = html.escape(comparison.title)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        "<style>body{font-family:sans-serif}td,th{padding:.2em .6em}</style></head>\n"
        f"<body>{comparison._repr_html_()}</body></html>"
    )


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(escape_markdown(cell) for cell in cells) + " |"


FORMATS: dict[str, Formatter] = {
    "csv": format_csv,
    "json": format_json,
    "markdown": format_markdown,
    "html": format_html,
}
"""How a comparison can be written, by the format's name."""
