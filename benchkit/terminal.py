"""The terminal: how wide it is, whether it has colours, and what it can encode.

Draws the tables and lines that ``views.py`` makes. Output that goes to a file or to another
program has no colours, and lines as long as they are. Knows nothing about studies.
"""

import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

_UNBROKEN = 10_000
_TRAILING_SPACE = re.compile(r" +$", re.MULTILINE)


def draw(parts: "Iterable[RenderableType]") -> None:
    """Print texts, tables and comparisons to the standard output, one below the other."""
    from rich.console import Console

    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if has_width else _UNBROKEN
    console = Console(width=width, highlight=False, markup=False, emoji=False, force_jupyter=False)
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    write(_TRAILING_SPACE.sub("", capture.get()))


def write(text: str) -> None:
    """Print a text as it is; characters that the output cannot encode become ``?``."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def styled(text: str, style: str) -> "Text":
    """Return a text in one of rich's styles, such as ``"red"`` or ``"bold"``."""
    from rich.text import Text

    return Text(text, style=style)


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> "Table":
    """Return a table with a line below its heads.

    Parameters
    ----------
    heads : sequence of str
    rows : iterable of sequences of str
    numbers : sequence of str
        The heads of columns that are flush right and never broken.
    whole : sequence of str
        The heads of other columns that are never broken.
    """
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for head in heads:
        is_number = head in numbers
        made.add_column(
            head,
            justify="right" if is_number else "left",
            no_wrap=is_number or head in whole,
            overflow="fold",
        )
    for row in rows:
        made.add_row(*row)
    return made


def grid(rows: Iterable[Sequence["str | Text"]]) -> "Table":
    """Return rows below one another without heads; only the last column is ever broken."""
    from rich.table import Table

    cells = list(rows)
    made = Table.grid(padding=(0, 2, 0, 0))
    for _ in cells[0][1:]:
        made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for row in cells:
        made.add_row(*row)
    return made
