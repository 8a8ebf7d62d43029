"""The "Config Contents" of a comparison report: several configurations in one row.

All columns have the same number of lines; an option that a column lacks reads ``(missing)``.
Depending on how the text was copied, lines are apart by line breaks or by spaces, and columns
by TABs or by nothing.
"""

import re

from benchkit.importers.taf_cells import repeated
from benchkit.importers.taf_names import NO_CONFIG, server_options

_OPTION = re.compile(r"[A-Za-z][\w.-]*(?:=.*)?|\(missing\)|\[\w[^\]]*\]")
_EQUALS = re.compile(r"(?<=[\w-]) *= +| += *")
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|\S)+""")
_MISSING = "(missing)"


def split_columns(text: str, count: int) -> list[str] | None:
    """Cut the row, without its label, into its columns; None where that cannot be done."""
    if "\t" in text:
        exact = text.removeprefix("\t").split("\t")
        cells = exact if len(exact) == count else re.split("\t+", text.strip("\t"))
        return cells if len(cells) == count else None
    if count == 1:
        return [text]
    same = repeated(text.strip("\n"), count)
    if same:
        return same
    return _split_lines(text.split("\n"), count) if "\n" in text else _split_words(text, count)


def lines_of(cell: str) -> list[str] | None:
    """Return a column's lines; None where they are one line, and comments hide where they end.

    A word that cannot be an option belongs to the one before.
    """
    if "\n" in cell or cell.strip() == NO_CONFIG:
        return [line.strip() for line in cell.split("\n") if line.strip()]
    found: list[str] = []
    for word in _WORD.findall(_EQUALS.sub("=", cell)):
        if word.startswith(("#", ";")):
            return None
        if found and not _OPTION.fullmatch(word):
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


def options(lines: list[str]) -> tuple[tuple[str, str | None], ...] | None:
    """Return the options of a column, in order, without those it lacks; None if not known."""
    return server_options(line for line in lines if line != _MISSING)


def _split_words(text: str, count: int) -> list[str] | None:
    """Cut columns that are all on one line: at wide gaps, or at each first option's name."""
    text = text.strip()
    cells = re.split(" {2,}", text)
    name = text.partition("=")[0]
    if len(cells) == count or not name or " " in name:
        return cells if len(cells) == count else None
    starts = [found.start() for found in re.finditer(re.escape(f"{name}="), text)]
    ends = [*starts[1:], len(text)]
    if len(starts) != count:
        return None
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def _split_lines(lines: list[str], count: int) -> list[str] | None:
    """Cut lines whose columns touch: the last line of one and the first of the next are one."""
    first = lines[0]
    name = first.partition("=")[0]
    per_column, rest = divmod(len(lines) + count - 1, count)
    if rest or per_column < 2 or not name:
        return None
    columns: list[list[str]] = [[]]
    for index, line in enumerate(lines):
        start = line.find(name, 1) if index % (per_column - 1) == 0 and index else -1
        if start > 0 and len(columns) < count:
            columns[-1].append(line[:start])
            columns.append([line[start:]])
        else:
            columns[-1].append(line)
    return ["\n".join(column) for column in columns] if len(columns) == count else None
