"""The framework's result files of one run series: JSON, CSV, text report, raw dump, readme.

All of them hold the same entries (metadata, thread count, iteration, metrics), so each reader
only builds entries; one function makes runs of them. Nothing in a file is ever evaluated.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchkit.importers import taf_dump
from benchkit.importers.model import Imported, ImportedRun, ImportFormatError, Problem, Problems
from benchkit.importers.source import DAMAGE, Line
from benchkit.importers.taf_columns import COPIES, flagged
from benchkit.importers.taf_json import load_json
from benchkit.importers.taf_names import (
    MISSING,
    RUNS_MAX,
    doubtful,
    duration_s,
    facts_of,
    finite,
    implausible,
    limited,
    metric_of,
    own_name,
    scale,
    workload_identity,
)

_PRIMARY = "primary"
_CSV_METRIC = re.compile(r"(.+)::(value|unit|type)")
_CONFIG_KEYS = ("db_config_contents", "raw_db_config_block")
_TAG_KEYS = ("test_case_tag", "test-case-tag")


@dataclass(slots=True)
class Entry:
    """One iteration as the framework keeps it.

    Parameters
    ----------
    metadata : dict
        By the framework's lower-case names.
    metrics : list of (name, value, unit, type)
    config : sequence of str or None
        The server's configuration, line by line.
    series : str
        Tells entries of one dataset from those of another with the same label.
    """

    line: int
    metadata: Mapping[str, str]
    threads: object = None
    iteration: object = None
    metrics: list[tuple[str, object, str, str]] = field(default_factory=list)
    config: Sequence[str] | None = None
    series: str = ""


def imported(format_name: str, entries: Iterable[Entry], problems: list[Problem]) -> Imported:
    """Make runs of entries; the first entry says what the file is about."""
    runs: list[ImportedRun] = []
    names: dict[tuple[str, str], str] = {}
    first: Entry | None = None
    primary = None
    seen: set[str] = set()
    copies = 0
    for entry in entries:
        identity = str((entry.metadata, entry.threads, entry.iteration, entry.metrics))
        if entry.metrics and identity in seen:
            copies += 1
            continue
        seen.add(identity)
        if len(runs) == RUNS_MAX:
            problems.append(Problem(entry.line, f"only {RUNS_MAX} iterations are read"))
            break
        first = first or entry
        primary = primary or _primary(entry)
        runs.append(_run(entry, names, problems))
    if first is None:
        problems.append(Problem(0, "the file has no iteration"))
    if copies:
        runs = list(flagged(runs, f"{copies} {COPIES}"))
    metadata: Mapping[str, str] = first.metadata if first else {}
    return Imported(
        format_name,
        tuple(_apart(runs)),
        tuple(problems),
        metadata.get("test_name", ""),
        " ".join(metadata.get("comments", "").split()),
        primary,
    )


def _apart(runs: list[ImportedRun]) -> Iterator[ImportedRun]:
    """Give an iteration without a number, or with one that is taken, the next free one."""
    last: dict[tuple[str, int | None], int] = {}
    for run in runs:
        key = run.dataset, run.threads
        number = max(run.iteration, last.get(key, 0) + 1)
        last[key] = number
        yield run if number == run.iteration else replace(run, iteration=number)


def _dataset(names: dict[tuple[str, str], str], label: str, series: str) -> str:
    """Return a label's name in the file: numbered where another series has it already."""
    if (label, series) not in names:
        same = sum(known == label for known, _ in names)
        names[label, series] = f"{label} #{same + 1}" if same else label
    return names[label, series]


def _primary(entry: Entry) -> str | None:
    name = next((name for name, _, _, kind in entry.metrics if kind == _PRIMARY), None)
    ours = metric_of(name) if name else None
    return ours[0] if ours else own_name(name or "") or None


def _run(entry: Entry, names: dict[tuple[str, str], str], problems: list[Problem]) -> ImportedRun:
    metadata = entry.metadata
    suite = metadata.get("test_suite", "")
    seconds = duration_s(suite, metadata.get("duration", ""))
    facts = facts_of(metadata, _config_lines(entry))
    metrics, extra, warnings = _numbers(entry, problems)
    label = _label(metadata)
    tag = next((metadata[key] for key in _TAG_KEYS if metadata.get(key, "") not in MISSING), "")
    extra.update(scale(facts.test))
    if tag:
        extra["test_case_tag"] = tag
    return ImportedRun(
        dataset=_dataset(names, tag or label, entry.series),
        label=label,
        workload=workload_identity(suite, metadata.get("test_name", "")),
        threads=_count(entry, "threads", entry.threads, problems),
        iteration=_count(entry, "the iteration", entry.iteration, problems) or 1,
        metrics=metrics,
        duration_s=seconds,
        facts=facts,
        extra=extra,
        warnings=(*warnings, *doubtful(metrics, seconds)),
        line=entry.line,
    )


def _numbers(
    entry: Entry, problems: list[Problem]
) -> tuple[dict[str, float], dict[str, object], list[str]]:
    """Return metrics, whatever else the entry has by its own names, and warnings."""
    metrics: dict[str, float] = {}
    extra: dict[str, object] = {}
    found: dict[str, tuple[str, object]] = {}
    for name, value, unit, kind in entry.metrics:
        ours = metric_of(name, unit)
        if ours is None and kind == _PRIMARY and own_name(name):
            ours = own_name(name), 1.0
        figure = finite(value)
        if DAMAGE in name:
            problems.append(Problem(entry.line, f"expected a metric, found {name[:40]!r}"))
        if figure is None:
            _keep_text(entry, name, value, extra, problems)
        elif ours and ours[0] not in metrics:
            found[ours[0]] = name, value if isinstance(value, int) else figure
            metrics[ours[0]] = figure / ours[1]
        else:
            extra[name] = figure
    wrong = implausible(metrics)
    for wrong_name in wrong:
        del metrics[wrong_name]
    extra.update(found[name] for name in wrong)
    return metrics, extra, list(wrong.values())


def _keep_text(
    entry: Entry, name: str, value: object, extra: dict[str, object], problems: list[Problem]
) -> None:
    if value is None or str(value).strip() in MISSING:
        return
    extra[name] = str(value)[:200]
    problems.append(Problem(entry.line, f"{name}: expected a number, found {str(value)[:40]!r}"))


def _count(entry: Entry, what: str, value: object, problems: list[Problem]) -> int | None:
    """Return a thread count or an iteration; None where the file does not say."""
    if value is None or str(value).strip() in MISSING:
        return None
    number = finite(value)
    if number is not None and number == int(number) and 0 < number < 1 << 31:
        return int(number)
    problems.append(Problem(entry.line, f"expected a number for {what}, found {str(value)[:40]!r}"))
    return None


def _label(metadata: Mapping[str, str]) -> str:
    """Return the column header that the framework would print."""
    maker, version = metadata.get("database_maker", ""), metadata.get("database_version", "")
    if version in MISSING:
        return maker or metadata.get("test_host", "") or "unknown"
    return version if maker and maker.lower() in version.lower() else f"{maker} {version}".strip()


def _config_lines(entry: Entry) -> Sequence[str] | None:
    if entry.config is not None:
        return entry.config
    text = next((entry.metadata[key] for key in _CONFIG_KEYS if key in entry.metadata), None)
    return None if text is None else re.split(r"[|\n]", text)


# JSON and raw dumps


def parse_json(lines: Iterable[Line], *, lenient: bool = False, name: str = "") -> Imported:
    """Read the JSON report, or a list of entries as JSON; several of them one after another."""
    problems = Problems(lenient)
    text = "\n".join(line.text for line in limited(lines, problems))
    values = load_json(text, problems, lenient=lenient)
    return imported("taf json", _entries(values, problems), problems)


def parse_dump(lines: Iterable[Line], *, lenient: bool = False, name: str = "") -> Imported:
    """Read the raw dump: a list of entries, written as Perl would write it."""
    problems = Problems(lenient)
    text = "\n".join(line.text for line in limited(lines, problems))
    values = taf_dump.load_dump(text, problems, lenient=lenient)
    return imported("taf raw dump", _entries(values, problems), problems)


def _entries(values: Iterable[object], problems: list[Problem]) -> Iterator[Entry]:
    """Yield the entries of report objects, of single entries, and of lists of either."""
    for number, value in enumerate(values, 1):
        if isinstance(value, list):
            yield from _entries((item for item in value if isinstance(item, dict)), problems)
        elif isinstance(value, dict):
            yield from _object_entries(value, number, problems)
        else:
            problems.append(Problem(0, f"value {number} is not an object"))


def _object_entries(
    value: dict[str, object], number: int, problems: list[Problem]
) -> Iterator[Entry]:
    """Yield the entries of a report object; an object with metrics is an entry itself."""
    metadata = _texts(value.get("metadata"))
    for key in ("test_name", "timestamp", "duration"):
        if isinstance(value.get(key), str | int | float):
            metadata.setdefault(key, str(value[key]))
    iterations = value.get("iterations", value.get("results"))
    if isinstance(iterations, list):
        for item in iterations:
            if isinstance(item, dict):
                yield _entry(item, metadata, str(number), problems)
            else:
                problems.append(Problem(0, "an iteration is not an object"))
    elif "metrics" in value or "primary" in value:
        series = str(value.get("user_id") or value.get("user_label") or "")
        yield _entry(value, metadata, series, problems)
    else:
        problems.append(Problem(0, "expected 'iterations' or 'metrics' in the object"))


def _entry(
    item: dict[str, object], shared: dict[str, str], series: str, problems: list[Problem]
) -> Entry:
    own = {**shared, **_texts(item.get("metadata"))}
    iteration = item.get("iteration_id", item.get("iteration"))
    entry = Entry(0, own, item.get("thread_count"), iteration, series=series)
    for kind in ("primary", "additional", "metrics"):
        found = item.get(kind, [])
        read = [_metric(each, kind) for each in (found if isinstance(found, list) else [found])]
        if None in read:
            problems.append(Problem(0, f"{kind}: a metric without a name"))
        entry.metrics += [each for each in read if each]
    entry.metrics = list(dict.fromkeys(entry.metrics))  # some are in two of the lists
    return entry


def _metric(metric: object, kind: str) -> tuple[str, object, str, str] | None:
    """Return name, value, unit and type; None for what has no name."""
    if not isinstance(metric, dict) or not isinstance(metric.get("name"), str):
        return None
    value = metric.get("value", "no value")
    if isinstance(value, list | dict):  # by references it may be longer than memory, if written
        value = "a list or an object"
    return metric["name"], value, str(metric.get("unit") or ""), str(metric.get("type", kind))


def _texts(value: object) -> dict[str, str]:
    """Return the plain values of an object as text; `null` has none."""
    if not isinstance(value, dict):
        return {}
    return {
        str(key).lower(): str(item)
        for key, item in value.items()
        if isinstance(item, str | int | float) and not isinstance(item, bool)
    }


# CSV


def parse_csv(lines: Iterable[Line], *, lenient: bool = False, name: str = "") -> Imported:
    """Read the CSV report: a row per iteration, three columns per metric."""
    problems = Problems(lenient)
    entries = _csv_entries(limited(lines, problems), problems)
    return imported("taf csv", entries, problems)


def _csv_entries(lines: Iterable[Line], problems: list[Problem]) -> Iterator[Entry]:
    numbers: list[int] = [0]
    reader = csv.reader(_numbered(lines, numbers), strict=True)
    header: list[str] = []
    try:
        for row in reader:
            if not any(row):
                continue
            if not header:
                header = _csv_header(row, numbers[0], problems)
            elif row != header and len(row) == len(header):
                yield _csv_entry(header, row, numbers[0])
            elif row != header:  # whose cells are missing is not known
                message = f"{len(row)} columns, the header has {len(header)}"
                problems.append(Problem(numbers[0], message))
    except csv.Error as error:
        problems.append(Problem(numbers[0], f"not CSV: {error}"))
    if not header:
        raise ImportFormatError("expected a header with columns such as 'TPS::value'")


def _numbered(lines: Iterable[Line], number: list[int]) -> Iterator[str]:
    """Yield lines for the CSV reader, and keep the number of the last one."""
    for line in lines:
        number[0] = line.number
        if not line.text.startswith("```"):
            yield line.text + "\n"


def _csv_header(row: list[str], line: int, problems: list[Problem]) -> list[str]:
    if not any(_CSV_METRIC.fullmatch(column) for column in row):
        raise ImportFormatError("expected a header with columns such as 'TPS::value'", line)
    names = dict.fromkeys(column.partition("::")[0] for column in row if "::" in column)
    lost = next((name for name in names if f"{name}::value" not in row), None)
    if lost is not None:
        problems.append(Problem(line, f"no column '{lost[:40]}::value'"))
    return row


def _csv_entry(header: list[str], row: list[str], line: int) -> Entry:
    metadata: dict[str, str] = {}
    metrics: dict[str, dict[str, str]] = {}
    for column, value in zip(header, row, strict=True):
        found = _CSV_METRIC.fullmatch(column)
        if found:
            metrics.setdefault(found[1], {})[found[2]] = value
        elif value not in MISSING:
            metadata[column.lower()] = value
    return Entry(
        line,
        metadata,
        metadata.get("thread_count", metadata.get("threads")),
        metadata.get("iteration_id", metadata.get("iteration")),
        [
            (metric, found.get("value"), found.get("unit", ""), found.get("type", ""))
            for metric, found in metrics.items()
        ],
        series=metadata.get("user_id", ""),
    )
