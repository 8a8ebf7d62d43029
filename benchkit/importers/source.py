"""Reading a foreign file: any encoding, any line ends, terminal colours, in bounded memory.

A line that is longer than any format has is cut, so that a file without line breaks, or one of a
gigabyte, costs no more memory than a small one.
"""

import codecs
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from benchkit.importers.model import ImportFormatError

LINE_MAX = 1 << 20
"""Characters of a line that are kept."""

_CHUNK_BYTES = 1 << 16
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LINE_END = re.compile("\r\n|\r|\n")
_ANSI = re.compile("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")


DAMAGE = "\ufffd"
"""Stands in a text where its file holds bytes that are no text."""

_NULS = re.compile("\0+")
_EVERY_OTHER_NUL = re.compile("\0?(?:[^\0]\0)*[^\0]?")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file, without its end and without colours.

    Parameters
    ----------
    number : int
        From 1.
    text : str
        With `DAMAGE` where bytes are no text.
    whole : bool
        False for a last line without an end, where the file may have been cut, and for a line
        of more than `LINE_MAX` characters, of which only the beginning is here.
    """

    number: int
    text: str
    whole: bool = True


def read_lines(path: str | os.PathLike[str]) -> Iterator[Line]:
    """Yield the lines of a text file.

    UTF-8 (with or without a mark), UTF-16, and bytes that are neither (read as Latin-1); LF,
    CRLF and CR; ANSI escape sequences are dropped, bytes that are 0 become `DAMAGE`.

    Raises
    ------
    ImportFormatError
        When the file cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            yield from _lines(file)
    except OSError as error:
        raise ImportFormatError(f"cannot read {path}: {error.strerror or error}") from error


def first_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the first bytes of a file, which tell formats that are no text."""
    with Path(path).open("rb") as file:
        return file.read(16)


def file_sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file, as 64 hexadecimal digits."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _lines(file: BinaryIO) -> Iterator[Line]:
    number = 0
    rest = ""
    for text in _decoded(file):
        pieces = _LINE_END.split(text)
        pieces[0] = rest + pieces[0][: LINE_MAX - len(rest)]
        rest = pieces.pop()[:LINE_MAX]
        for piece in pieces:
            number += 1
            yield Line(number, _clean(piece[:LINE_MAX]), len(piece) < LINE_MAX)
    if rest:
        yield Line(number + 1, _clean(rest), whole=False)


def _clean(text: str) -> str:
    """Take colours out, and bytes that are 0: half of UTF-16 in a file that began as UTF-8.

    Others are where a disk lost what was written; each such place is marked.
    """
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\0" not in text:
        return text
    return _NULS.sub("" if _EVERY_OTHER_NUL.fullmatch(text) else DAMAGE, text)


def _decoded(file: BinaryIO) -> Iterator[str]:
    """Yield the text in pieces, never between a CR and its LF."""
    head = file.read(_CHUNK_BYTES)
    decoder = codecs.getincrementaldecoder(_encoding(head))(errors="replace")
    held = ""
    chunk = _without_bom(head)
    while chunk:
        text = held + decoder.decode(chunk)
        held = "\r" if text.endswith("\r") else ""
        yield text.removesuffix("\r") if held else text
        chunk = file.read(_CHUNK_BYTES)
    yield held + decoder.decode(b"", final=True)


def _encoding(head: bytes) -> str:
    for bom, name in _BOMS:
        if head.startswith(bom):
            return name
    for name, first, second in (("utf-16-le", 0, 1), ("utf-16-be", 1, 0)):
        texts, nuls = head[first:4096:2], head[second:4096:2]
        if texts[:1] > b"\0" and nuls[:1] == b"\0" and nuls.count(0) > len(nuls) // 2:
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _without_bom(head: bytes) -> bytes:
    for bom, _ in _BOMS:
        if head.startswith(bom):
            return head[len(bom) :]
    return head
