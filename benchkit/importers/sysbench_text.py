"""What stands around sysbench's own words: prefixes, command lines, hints in file names.

Logs come through docker, grep, `ts`, mail and Markdown. `undress` takes off what those put in
front of a line and says where the line came from; nothing here knows what a number means. Every
repetition in the patterns is bounded, so that no line costs more than its length.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape

from benchkit.importers.mixed import SYSBENCH_BANNER

UNKNOWN = "unknown"

VERBS = frozenset({"run", "prepare", "cleanup", "prewarm", "warmup", "help"})

_TIME = r"\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:\s?(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
_DAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\s+)?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_STAMP = re.compile(
    rf"[\[(]?(?:\d{{4}}[-/]\d{{2}}[-/]\d{{2}}[T_ ]{_TIME}"
    rf"|{_DAY}{_MONTH}\s{{1,2}}\d{{1,2}}\s{_TIME}(?:\s\d{{4}}(?![\d.]))?"
    r"(?:\s[\w.-]{1,64}\s[\w./-]{1,64}\[\d{1,9}\]:)?"
    rf"|{_TIME}|\d{{10}}(?:\.\d{{1,9}})?(?=[\s:]))[\])]?[\s,:|]{{0,20}}"
)
_STREAM = re.compile(r"([A-Za-z][\w./-]{0,80})\s{0,40}\|(?:\s|$)|\[pod/([\w./-]{1,200})\]\s")
_GREP = re.compile(
    r"((?:[\w.@+=~-]{0,80}/){0,20}[\w.@+=,-]{1,120}\.(?:log|txt|out|res|dat|result|results))"
    r"[:-](?:\d{1,9}[:-])?(?=[\s\[A-Za-z]|\d[\d.]{0,12}(?:[KMGT]i?B)?\s)"
)
_JOB_STEP = re.compile(rf"[^\t]{{1,100}}\t[^\t]{{1,100}}\t(?=\d{{4}}-\d{{2}}-\d{{2}}T{_TIME} )")
"""What `gh run view --log` puts in front: a job, its step, and the time."""

_NUMBERED = re.compile(r"\s{0,8}\d{1,9}(?:[:-](?=[\s\[])|\t)")
_QUOTED = re.compile(r"\s{0,40}(?:>|\"|'|//|#(?=\s)|[*+|-](?=\s))\s?")
_DRESSINGS = (_STAMP, _NUMBERED, _QUOTED, _JOB_STEP)
_TAG = re.compile(r"</?(?:pre|code|p|br|span|div|td|tr|b)\b[^<>]{0,200}>")
_MARK = re.compile(r"\{(?:noformat|code)\b[^{}]{0,80}\}")
_ODD_GROUPS = re.compile("(?<=\\d)[\xa0\u2009\u202f](?=\\d{3}(?!\\d))")
"""Thousands, in languages that separate them by a thin or fixed space."""

_ODD = str.maketrans({"\ufeff": None, "\u200b": None, "\uff1a": ":", "\xa0": " "})

_BANNER = re.compile(
    r"sysbench\s{1,4}v?(\d{1,3}\.\d{1,3}[\w.+-]{0,60}?)"
    r"(?:\s?:\s{0,8}multi-?threaded"
    r"|\s{0,8}\(using\s(?:(?:bundled|system)\s)?([^)]{0,80})|\s{0,8}:?$)"
)
_BANNER_BEGIN = re.compile(
    r"sysbench\s{0,4}(?:\d{1,3}(?:\.(?:\d[\w.+-]{0,60}[: (][\w :(.-]{0,80})?)?)?"
)
_COMMAND = re.compile(r"(?:^|[\s/\"'`(#$%>;&|])sysbench(?:-[\d.]{1,12})?\s{1,8}(\S.{0,8000})")
_SNAKE = re.compile(r"[a-z]\w*_\w+", re.ASCII)
"""How scripts are named that people write, as sysbench's own are; no word of a text is."""

_VARIABLE = re.compile(r"\$[\w{(]")
_SECRET = re.compile(r"(--[\w-]{0,40}(?:password|secret)[\w-]{0,20}[= ])(?:'[^']*'|\"[^\"]*\"|\S+)")
_FILE_HEAD = re.compile(r"==> (.{1,400}) <==\s*$")

_LINE_BEGINS = re.compile(
    rf"{SYSBENCH_BANNER}"
    r"|(?:SQL|OLTP test|General) statistics:"
    r"|Latency \([mun]?s\):|Threads fairness:|Test execution summary:|Threads started!"
    r"|Running the test with following"
)
_PREFIX_MAX = 160

_SCRIPTS = (
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_point_select",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_insert",
    "oltp_delete",
    "oltp_complex_ro",
    "oltp_complex_rw",
    "oltp_simple",
    "oltp_common",
    "oltp_ro",
    "oltp_rw",
    "oltp_wo",
    "oltp",
    "select_random_points",
    "select_random_ranges",
    "bulk_insert",
    "update_index",
    "update_non_index",
    "tpcc",
    "fileio",
    "memory",
    "mutex",
    "cpu",
)
"""Names that a file's name may hold; ``threads`` is not one, as it rather counts them."""

_SCRIPT_IN_NAME = re.compile(
    r"(?<![a-z0-9])("
    + "|".join(sorted((s.replace("_", "[-_ ]") for s in _SCRIPTS), key=len, reverse=True))
    + r")(?![a-z])"
)
_THREADS_IN_NAME = re.compile(
    r"(?<!\d)(\d{1,6})[-_ .]?(?:threads?|thds?|thr|th|clients?|conn|connections|users)(?![a-z])"
    r"|(?<![a-z])(?:num[-_]?)?(?:threads?|thds?|thr|th|t|clients?|conn|connections|users)"
    r"[-_ =.]?(\d{1,6})(?!\d)"
)


@dataclass(frozen=True, slots=True)
class Dressed:
    """A line without its prefixes.

    Parameters
    ----------
    text : str
    stream : str
        The container or pod that wrote it; empty where there is only one.
    file : str
        The file that grep names in front of it; empty otherwise.
    """

    text: str
    stream: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of sysbench.

    Parameters
    ----------
    verb : str
        ``run``, ``prepare``, ...
    script : str
        Its name without folder and ``.lua``; empty where it is not given.
    options : mapping
        By name without dashes in front, ``_`` for ``-``; values as text.
    text : str
        The line, with passwords hidden.
    loops : bool
        It holds a shell variable, so that it may stand for several runs.
    """

    verb: str
    script: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    loops: bool = False

    @property
    def threads(self) -> int | None:
        """The number of threads it asks for, if it says one."""
        value = self.options.get("threads") or self.options.get("num_threads") or ""
        return int(value) if value.isdecimal() and len(value) < 7 else None


@dataclass(frozen=True, slots=True)
class Banner:
    """The first line of every start of sysbench."""

    version: str
    luajit: str = ""
    starts: bool = True
    """False for a version alone, as ``sysbench --version`` prints it."""


def undress(text: str) -> Dressed:
    """Take off what docker, grep, `ts`, `cat -n`, HTML and quoting put in front of a line."""
    if text.startswith("[ ") and text.isascii() and "``" not in text:
        return Dressed(text.rstrip(" \t\"',`"))
    text = _without_markup(text)
    if not text.isascii():
        text = _ODD_GROUPS.sub("", text).translate(_ODD)
    stream = file = ""
    for _ in range(5):
        if match := _STREAM.match(text):
            stream = match[1] or match[2]
        elif match := _GREP.match(text):
            file = match[1]
        else:
            match = next(filter(None, (each.match(text) for each in _DRESSINGS)), None)
        if not match:
            break
        text = text[match.end() :]
    return Dressed(text.rstrip(" \t\"',`"), stream, file)


def _without_markup(text: str) -> str:
    """Take out what pages and tickets put between words; code in a page may be in many pieces."""
    if "``" in text:
        text = text.replace("`", "")
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "{" in text:
        text = _MARK.sub(" ", text)
    return unescape(text) if "&" in text else text


def find_banner(text: str) -> Banner | None:
    """Return what a line such as ``sysbench 1.0.20 (using bundled LuaJIT 2.1.0)`` says."""
    match = _BANNER.search(text)
    if not match:
        return None
    starts = "threaded" in match[0] or match[2] is not None
    return Banner(match[1].rstrip("."), (match[2] or "").strip(), starts)


def find_prefix(text: str) -> re.Pattern[str] | None:
    """Return what stands in front of words that sysbench begins a line with; None if nothing.

    Loggers put their own things in front of every line: a level, a module, a host. Numbers in
    it may be others in the next line.
    """
    match = _LINE_BEGINS.search(text, 0, 2 * _PREFIX_MAX)
    prefix = text[: match.start()] if match else ""
    if not prefix.strip() or len(prefix) > _PREFIX_MAX:
        return None
    parts = re.findall(r"\d+|\s+|[^\d\s]+", prefix)
    shape = (
        r"\d+" if part[0].isdecimal() else r"\s+" if part.isspace() else re.escape(part)
        for part in parts
    )
    pattern = "".join(shape)
    return re.compile(pattern.removesuffix(r"\s+") + r"\s?")


def begins_banner(text: str) -> bool:
    """Whether a text, the last of a file, is a banner that breaks off."""
    bare = text.strip()
    return len(bare) > 2 and (
        "sysbench".startswith(bare)
        or bool(_BANNER_BEGIN.fullmatch(bare) and not _BANNER.search(bare))
    )


def split_at_banners(text: str) -> list[str]:
    """Return the parts of a line, each banner at the beginning of one.

    Files that were joined without a line break between them have banners inside of lines.
    """
    places = [match.start() for match in _BANNER.finditer(text)]
    starts = [0, *(place for place in places if text[:place].strip())]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def find_file_head(text: str) -> str:
    """Return the file named by a line ``==> file <==``, as head and tail print it; or empty."""
    match = _FILE_HEAD.search(text)
    return match[1] if match else ""


def begins_command(text: str) -> bool:
    """Whether the line is the beginning of a command that goes on in the next one."""
    return text.endswith("\\") and bool(_COMMAND.search(text))


def find_command(text: str) -> Command | None:
    """Return the sysbench command in a line; None for text that only speaks of sysbench."""
    match = _COMMAND.search(text)
    if not match:
        return None
    options: dict[str, str] = {}
    script = ""
    for word in match[1].split()[:300]:
        word = word.strip("\"'`;&|\\")
        if word.endswith("sysbench"):
            options, script = {}, ""
            continue
        if word in VERBS and (script or options):
            name = _script_name(options.get("test", script))
            loops = bool(_VARIABLE.search(match[1]))  # and not the prompt's
            return Command(word, name, options, _hide_secrets(text.strip()), loops)
        if word.startswith("-"):
            key, _, value = word.lstrip("-").partition("=")
            options[key.replace("-", "_")] = value.strip("\"'")
        elif _is_script(word) and not script:
            script = word
        elif word and not options:
            return None
    return None


def threads_in_name(name: str) -> int | None:
    """Return the thread count in a name such as ``oltp_read_only_16threads.log``."""
    match = _THREADS_IN_NAME.search(_last_part(name))
    count = int(match[1] or match[2]) if match else 0
    return count or None


def script_in_name(name: str) -> str:
    """Return the script that a file's name holds; empty if none."""
    match = _SCRIPT_IN_NAME.search(_last_part(name))
    return match[1].replace("-", "_").replace(" ", "_") if match else ""


def _last_part(name: str) -> str:
    return name.replace("\\", "/").rsplit("/", 1)[-1][-400:].lower()


def _is_script(word: str) -> bool:
    known = _script_name(word) in (*_SCRIPTS, "threads") or bool(_SNAKE.fullmatch(word))
    return known or word.endswith(".lua") or "/" in word


def _script_name(word: str) -> str:
    return word.rsplit("/", 1)[-1].removesuffix(".lua")


def _hide_secrets(text: str) -> str:
    return _SECRET.sub(r"\1***", text)
