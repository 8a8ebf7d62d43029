"""The "taf" and the "percent" styles: comparison tables as the reference reports have them.

Pure functions from data to sections of formatted cells, and from sections to their text. Other
formats are made from the same sections elsewhere. Absent values are ``(missing)``, an absent
iteration is ``-``; headers stay as they are, equal ones too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchkit.importers.model import Facts, Imported, Rows
from benchkit.metrics import METRICS, PERCENT_METRIC
from benchkit.record import threads_text
from benchkit.spread import Spread, describe_iterations
from benchkit.units import one_line

MISSING = "(missing)"
NO_ITERATION = "-"

_STATISTICS = (
    ("Mean", "mean"),
    ("Max", "maximum"),
    ("Min", "minimum"),
    ("StdDev", "sd"),
    ("CoV", "cov"),
    ("Median (p50)", "median"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("Skewness", "skewness"),
)
_METRIC_LABELS = {
    "tps": "TPS",
    "qps": "QPS",
    "tpm": "TPM",
    "nopm": "NOPM",
    "events_per_s": "events_ps",
    "latency_min": "latency_min (ms)",
    "latency_mean": "latency_avg (ms)",
    "latency_max": "latency_max (ms)",
    "latency_p95": "latency_95th (ms)",
    "latency_p99": "latency_99th (ms)",
}
_NAN = float("nan")
_CELL_WIDTH = 8
_NAME_GAP = 5


@dataclass(frozen=True, slots=True)
class DatasetData:
    """One column of a comparison.

    Parameters
    ----------
    label : str
        The column's header.
    facts : Facts
    values : mapping
        Thread count -> the metric of iteration 1, 2, ...; NaN where one is missing.
    """

    label: str
    facts: Facts
    values: Mapping[int, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class ReportData:
    """What a comparison report shows.

    Parameters
    ----------
    title, comment : str
    metric : str
        As it is shown, such as ``TPM``.
    datasets : tuple of DatasetData
    """

    title: str
    comment: str
    metric: str
    datasets: tuple[DatasetData, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A table below a heading.

    Parameters
    ----------
    title : str
    header : tuple of str
    rows : tuple of tuple of str
        Formatted cells. A cell of several lines has line breaks in it.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class PercentTable:
    """Tests against thread counts, each cell ``candidate / baseline * 100``.

    Parameters
    ----------
    title, comment : str
        Either may be empty; a comment may have several lines.
    candidate, baseline : str
        What is compared, as the caption says it.
    unit : str
        Of the metric that was divided, such as ``q/s``.
    threads : tuple of int
    rows : tuple of (test, cells)
        A cell is a number, or NaN where it is missing; a row of one text instead of numbers is
        that text.
    """

    title: str
    comment: str
    candidate: str
    baseline: str
    unit: str
    threads: tuple[int, ...]
    rows: tuple[tuple[str, tuple[float, ...] | str], ...]


# The "taf" style


def metric_label(metric: str) -> str:
    """Return how the style shows a metric, such as ``TPS`` for ``tps``."""
    return _METRIC_LABELS.get(metric, metric)


def report_data(imported: Imported) -> ReportData:
    """Return an imported comparison as data for a report, in the order of the file."""
    metric = imported.primary or ""
    scale = METRICS[metric].shown_scale if metric in METRICS else 1.0
    columns: dict[str, DatasetData] = {}
    values: dict[str, dict[int, dict[int, float]]] = {}
    for run in imported.runs:
        columns.setdefault(run.dataset, DatasetData(run.label, run.facts, {}))
        value = run.metrics.get(metric, run.extra.get(metric))
        if run.threads is not None and isinstance(value, int | float):
            at = values.setdefault(run.dataset, {}).setdefault(run.threads, {})
            at[run.iteration] = value * scale
    datasets = tuple(
        DatasetData(column.label, column.facts, _dense(values.get(name, {})))
        for name, column in columns.items()
    )
    return ReportData(imported.title, imported.comment, metric_label(metric), datasets)


def taf_sections(data: ReportData) -> tuple[Section, ...]:
    """Return the tables of a comparison, in the order of the reference reports."""
    labels = tuple(dataset.label for dataset in data.datasets)
    facts = [dataset.facts for dataset in data.datasets]
    information = ("Property", *labels)
    database = _fact_rows([fact.database for fact in facts])
    return (
        Section(f"Comparison: {data.metric}", ("Threads", *labels), _comparison_rows(data)),
        Section("System Info (per dataset)", information, _fact_rows([f.system for f in facts])),
        Section("Database Info (per dataset)", information, database + _config_rows(facts)),
        Section("Test Info (per dataset)", information, _fact_rows([f.test for f in facts])),
        *(_thread_section(data, labels, threads) for threads in _thread_counts(data)),
    )


def taf_text(data: ReportData) -> str:
    """Return a comparison as text, its columns apart by TABs."""
    parts = [one_line(part) for part in (data.title, data.comment) if part]
    for section in taf_sections(data):
        table = ["\t".join(map(one_line, row)) for row in (section.header, *section.rows)]
        parts += [one_line(section.title), "\n".join(table)]
    return "\n\n".join(parts) + "\n"


def aligned_options(configs: Sequence[Mapping[str, str | None] | None]) -> list[list[str]]:
    """Return each configuration's lines, all with one line per option of any of them.

    Options are in the order in which they are first met, column by column.
    """
    names = dict.fromkeys(name for config in configs for name in config or ())
    return [[_option(config or {}, name) for name in names] for config in configs]


def _dense(by_iteration: Mapping[int, Mapping[int, float]]) -> dict[int, tuple[float, ...]]:
    return {
        threads: tuple(found.get(number, _NAN) for number in range(1, max(found) + 1))
        for threads, found in by_iteration.items()
    }


def _thread_counts(data: ReportData) -> list[int]:
    return sorted({threads for dataset in data.datasets for threads in dataset.values})


def _spreads(data: ReportData, threads: int) -> list[Spread]:
    return [describe_iterations(dataset.values.get(threads, ())) for dataset in data.datasets]


def _comparison_rows(data: ReportData) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (threads_text(threads), *(_cell(spread.mean, 3) for spread in _spreads(data, threads)))
        for threads in _thread_counts(data)
    )


def _fact_rows(datasets: Sequence[Rows]) -> tuple[tuple[str, ...], ...]:
    """Return a row per label of any dataset, each where its own dataset has it."""
    labels: list[str] = []
    for rows in datasets:
        place = 0
        for label, _ in rows:
            if label not in labels:
                labels.insert(place, label)
            place = labels.index(label) + 1
    columns = [{label: " ".join(value.splitlines()) for label, value in rows} for rows in datasets]
    return tuple((label, *(column.get(label, MISSING) for column in columns)) for label in labels)


def _config_rows(facts: Sequence[Facts]) -> tuple[tuple[str, ...], ...]:
    if all(fact.config is None for fact in facts):
        return ()
    columns = aligned_options([None if f.config is None else dict(f.config) for f in facts])
    return (("Config Contents", *("\n".join(lines) for lines in columns)),)


def _option(config: Mapping[str, str | None], name: str) -> str:
    if name not in config:
        return MISSING
    value = config[name]
    return name if value is None else f"{name}={value}"


def _thread_section(data: ReportData, labels: tuple[str, ...], threads: int) -> Section:
    spreads = _spreads(data, threads)
    columns = [dataset.values.get(threads, ()) for dataset in data.datasets]
    rows = [
        _row(name, [getattr(s, field) for s in spreads], MISSING) for name, field in _STATISTICS
    ]
    rows += [
        _row(f"Iteration {number}", [_at(column, number) for column in columns], NO_ITERATION)
        for number in range(1, max(map(len, columns)) + 1)
    ]
    header = ("Metric", *labels, "Diff") if len(labels) == 2 else ("Metric", *labels)
    return Section(f"Thread Count: {threads_text(threads)}", header, tuple(rows))


def _row(name: str, values: Sequence[float], absent: str) -> tuple[str, ...]:
    """Return a row of numbers, with their difference where there are exactly two."""
    shown = list(values)
    if len(values) == 2:
        shown.append(values[1] - values[0])
    return (name, *(_cell(value, 2, absent) for value in shown))


def _at(values: Sequence[float], number: int) -> float:
    return values[number - 1] if number <= len(values) else _NAN


def _cell(value: float, decimals: int, absent: str = MISSING) -> str:
    return absent if value != value else f"{value:.{decimals}f}"


# The "percent" style


def percent_data(imported: Imported) -> PercentTable:
    """Return an imported percent table as data for the style, in the order of the file."""
    tests = dict.fromkeys(run.dataset for run in imported.runs)
    threads = sorted({run.threads for run in imported.runs if run.threads is not None})
    texts = {run.dataset: str(run.extra["text"]) for run in imported.runs if "text" in run.extra}
    cells = {
        (run.dataset, run.threads): run.metrics[PERCENT_METRIC]
        for run in imported.runs
        if PERCENT_METRIC in run.metrics
    }
    first: Mapping[str, object] = imported.runs[0].extra if imported.runs else {}
    return PercentTable(
        imported.title,
        imported.comment,
        str(first.get("candidate", "candidate")),
        str(first.get("baseline", "baseline")),
        str(first.get("unit", "")),
        tuple(threads),
        tuple(
            (test, texts.get(test) or tuple(cells.get((test, at), _NAN) for at in threads))
            for test in tests
        ),
    )


def percent_of_baseline(
    title: str,
    comment: str,
    unit: str,
    tests: Iterable[tuple[str, DatasetData, DatasetData]],
) -> PercentTable:
    """Divide the values of datasets, test by test.

    Parameters
    ----------
    title, comment : str
    unit : str
        Of the datasets' values, such as ``q/s``.
    tests : iterable of (test, candidate, baseline)
        With one value at each thread count. Cells that either side lacks, or whose baseline is
        0, are missing.
    """
    tests = list(tests)
    sides = [side for _, *pair in tests for side in pair]
    threads = sorted({at for side in sides for at in side.values})
    rows = tuple(
        (test, tuple(_percent(candidate, baseline, at) for at in threads))
        for test, candidate, baseline in tests
    )
    names = [_common(side.label for side in group) for group in (sides[::2], sides[1::2])]
    return PercentTable(title, comment, names[0], names[1], unit, tuple(threads), rows)


def percent_section(table: PercentTable) -> Section:
    """Return the cells of a percent table; a row of text has it in its first cell."""
    width = len(table.threads)
    rows = tuple(
        (test, cells, *[""] * (width - 1))
        if isinstance(cells, str)
        else (test, *(_cell(cell, 2) for cell in cells))
        for test, cells in table.rows
    )
    return Section(percent_caption(table), ("Test", *map(str, table.threads)), rows)


def percent_caption(table: PercentTable) -> str:
    """Return what the cells are, such as ``(A q/s / B q/s * 100)``."""
    unit = f" {table.unit}" if table.unit else ""
    return f"({table.candidate}{unit} / {table.baseline}{unit} * 100)"


def percent_text(table: PercentTable) -> str:
    """Return a percent table as text, laid out like the reference report."""
    section = percent_section(table)
    names = [one_line(row[0]) for row in section.rows]
    name_width = max(map(len, names), default=0)
    numeric = [
        row for row, (_, cells) in zip(section.rows, table.rows, strict=True)
        if not isinstance(cells, str)
    ]  # fmt: skip
    longest = max([len(cell) for row in numeric for cell in row[1:]], default=0)
    width = max(_CELL_WIDTH, longest + 2)
    head = " " * (name_width + _NAME_GAP + width - _CELL_WIDTH)
    lines = [
        "Number of threads",
        (head + "".join(f"{at:<{width}}" for at in table.threads)).rstrip(),
        " sysbench test" if "sysbench" in table.title.lower() else " test",
    ]
    for row, (_, cells), shown in zip(section.rows, table.rows, names, strict=True):
        name = f"  {shown:<{name_width}}"
        if isinstance(cells, str):
            lines.append(f"{name}   {one_line(cells)}")
        else:
            lines.append(name + "".join(f"{cell:>{width}}" for cell in row[1:]))
    told = [one_line(part) for part in (table.title, *table.comment.split("\n"))]
    parts = [*told, "\n".join(lines), one_line(section.title)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _percent(candidate: DatasetData, baseline: DatasetData, threads: int) -> float:
    above = describe_iterations(candidate.values.get(threads, ())).mean
    below = describe_iterations(baseline.values.get(threads, ())).mean
    return above / below * 100 if below else _NAN


def _common(labels: Iterable[str]) -> str:
    """Return the one label that all have, or all of them."""
    return ", ".join(dict.fromkeys(labels))
