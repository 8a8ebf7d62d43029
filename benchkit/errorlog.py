"""A server's error log: its last lines, and what they say in plain words."""

import re
from pathlib import Path

_TAIL_BYTES = 64 * 1024

_UNKNOWN_OPTION = re.compile(r"unknown (?:variable|option) '(?:--)?([^'=]+)")

# How servers put it -> what it means. The first that matches is the cause; the rest follows.
_CAUSES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), meaning)
    for pattern, meaning in (
        (r"ambiguous option '(?:--)?([^'=]+).*' \(", "option {0} could mean several"),
        (r"option '(?:--)?([^'=]+)' requires an argument", "option {0} needs a value"),
        (r"option '(?:--)?([^'=]+)' cannot take an argument", "option {0} takes no value"),
        (r"Unknown suffix '.' used for variable '(.+?)' \(value '(.*?)'\)", "{0} cannot be {1}"),
        (r"Error while setting value '(.*?)' to '(.+?)'", "{1} cannot be {0}"),
        (r"Unable to lock (\S+)", "another server uses its data ({0} is locked)"),
        (r"Bind on TCP/IP port.*in use", "its TCP port is taken"),
        (r"No space left on device|Errcode: 28", "the disk is full"),
        (r"[Cc]annot allocate memory", "there is not enough memory"),
        (r"Permission denied|Errcode: 13", "it may not read or write a file"),
        # None of these: the first error, in the server's own words.
        (r"\[ERROR\] (?:\[[^\]]+\] )*(?!Aborting)(.+)", "{0}"),
    )
)


def read_tail(path: Path, lines: int = 20, start_byte: int = 0) -> str:
    """Return the last lines of a log, from a position on; empty where there is none."""
    try:
        with path.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(start_byte, size - _TAIL_BYTES))
            text = log.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def find_cause(text: str) -> str | None:
    """Return why a server gave up, from its log; None where the log does not say."""
    for pattern, meaning in _CAUSES:
        match = pattern.search(text)
        if match:
            return meaning.format(*match.groups())
    return None


def find_unknown_option(text: str) -> str | None:
    """Return the option a server did not know, from its log, written with ``_``."""
    match = _UNKNOWN_OPTION.search(text)
    return match[1].replace("-", "_") if match else None
