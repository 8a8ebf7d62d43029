"""What files are that lie beside results and are none: so that messages can say so."""

import re
from collections.abc import Sequence

_MAGIC = (
    (b"\x1f\x8b", "compressed by gzip: unpack it first"),
    (b"BZh", "compressed by bzip2: unpack it first"),
    (b"\xfd7zXZ", "compressed by xz: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd: unpack it first"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"SQLite format 3", "an SQLite database, not text: export what it holds, as HammerDB's jobs"),
    (b"\x7fELF", "a program"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"%PDF", "a PDF, not text"),
    (b"\x93NUMPY", "a NumPy array"),
)
_COMMENT = re.compile(r"\s*(?:[#;!]|//|$)")
_SECTION = re.compile(
    r"\s*\[(?:mysqld|mariadbd?|server|client|galera|mysqld_safe|mysqldump|mysql|embedded)"
    r"(?:[-_.\w]*)\]\s*$"
)
_OPTION = re.compile(r"\s*(?:innodb|aria|max|query_cache|thread|log|skip|binlog|key_buffer)[-_]\w")
_PAIR = re.compile(r"\s*[A-Za-z][\w.\-/*]{0,80}\s*=(?!=)")
_BARE = re.compile(r"\s*[A-Za-z][\w-]{2,60}\s*$")
_MOSTLY = 0.7
_CELLS = 3


def describe_bytes(head: bytes) -> str:
    """Return what a file is by its first bytes; empty where they may be text."""
    if not head:
        return "empty"
    return next((what for magic, what in _MAGIC if head.startswith(magic)), "")


def describe_text(head: Sequence[str], name: str) -> str:
    """Return what a text without results is; empty where nothing is known about it.

    Parameters
    ----------
    head : sequence of str
        Its first lines.
    name : str
        The file's.
    """
    lines = [line for line in head if not _COMMENT.match(line)]
    if not lines:
        return "empty, but for comments"
    has_section = any(map(_SECTION.match, lines))
    pairs = sum(bool(_PAIR.match(line)) for line in lines)
    options = sum(bool(_OPTION.match(line)) for line in lines)
    bare = sum(bool(_BARE.match(line)) for line in lines)
    settles = pairs + bare + sum(line.lstrip().startswith(("[", "!")) for line in lines)
    if (has_section or options >= 2) and settles >= _MOSTLY * len(lines):
        return "a server's configuration, which holds no results"
    if pairs >= _MOSTLY * len(lines) and len(lines) > 2:
        return "a list of properties, the settings of a test, which holds no results"
    if head[0].startswith("#!"):
        return "a script"
    cells = sum(line.count("\t") >= _CELLS for line in lines)
    if cells >= _MOSTLY * len(lines) and name.lower().endswith((".tsv", ".tab")):
        return "a table that is no report"
    return ""
