"""Writes the framework's files from known values, in every layout that is imported.

Written from the description of the formats, without the package: statistics are a slow twin.
"""

import csv
import html
import io
import json
import math
from dataclasses import dataclass, field

MISSING = "(missing)"
SUITES = {"sysbench-lua": "OLTP_RO", "hammerdb-tprocc": "TPROCC"}


@dataclass
class Dataset:
    """A column: version, facts by label, options, values by thread count (None: missing)."""

    version: str
    values: dict
    tag: str = ""
    config: dict | None = None
    system: dict = field(default_factory=dict)
    test: dict = field(default_factory=dict)


@dataclass
class Report:
    """A comparison."""

    datasets: list
    metric: str = "TPS"
    suite: str = "sysbench-lua"
    title: str = "TPS by Thread Count - OLTP_RO"
    comment: str = "a comment"
    duration: int = 300

    @property
    def labels(self):
        return [f"Mariadb {dataset.version}" for dataset in self.datasets]

    @property
    def threads(self):
        return sorted({threads for dataset in self.datasets for threads in dataset.values})


def statistics(values):
    """Return label -> value, computed the slow way."""
    ordered = sorted(values)
    n = len(values)
    mean = math.fsum(values) / n
    sd = math.sqrt(math.fsum((x - mean) ** 2 for x in values) / n)

    def percentile(p):
        rank = p / 100 * (n - 1)
        low = int(rank)
        high = min(low + 1, n - 1)
        return ordered[low] + (rank - low) * (ordered[high] - ordered[low])

    return {
        "Mean": mean,
        "Max": max(values),
        "Min": min(values),
        "StdDev": sd,
        "CoV": sd / mean if mean else 0.0,
        "Median (p50)": percentile(50),
        "p95": percentile(95),
        "p99": percentile(99),
        "Skewness": math.fsum((x - mean) ** 3 for x in values) / n / sd**3 if sd else 0.0,
    }


# Tables: (heading, rows of cells); the cells of options are lists of lines


def fact_rows(report, section):
    datasets = report.datasets
    if section == "System":
        names = list(dict.fromkeys(name for d in datasets for name in d.system))
        return [[name, *(d.system.get(name, "unknown") for d in datasets)] for name in names]
    if section == "Database":
        rows = [["Database Maker", *["mariadb"] * len(datasets)]]
        rows.append(["Database Version", *(d.version for d in datasets)])
        rows.append(["Engine", *["InnoDB"] * len(datasets)])
        return rows + config_rows(datasets)
    rows = [["Test Suite", *[report.suite] * len(datasets)]]
    rows.append(["Test Name", *[SUITES[report.suite]] * len(datasets)])
    if any(d.tag for d in datasets):
        rows.append(["Test Case Tag", *(d.tag or "unknown" for d in datasets)])
    rows.append(["Duration", *[str(report.duration)] * len(datasets)])
    names = list(dict.fromkeys(name for d in datasets for name in d.test))
    return rows + [[name, *(d.test.get(name, "unknown") for d in datasets)] for name in names]


def config_rows(datasets):
    names = list(dict.fromkeys(name for d in datasets for name in d.config or {}))
    if not names:
        return []
    return [["Config Contents", *([option(d.config or {}, n) for n in names] for d in datasets)]]


def option(config, name):
    if name not in config:
        return MISSING
    return name if config[name] is None else f"{name}={config[name]}"


def present(dataset, threads):
    return [value for value in dataset.values.get(threads, []) if value is not None]


def mean_row(report, threads):
    means = []
    for dataset in report.datasets:
        values = present(dataset, threads)
        means.append(f"{math.fsum(values) / len(values) if values else 0:.3f}")
    return [str(threads), *means]


def thread_rows(report, threads):
    columns = [present(dataset, threads) for dataset in report.datasets]
    with_difference = len(columns) == 2
    described = [statistics(column) if column else {} for column in columns]
    rows = []
    for name in statistics([1.0]):
        figures = [one.get(name, 0.0) for one in described]
        difference = [figures[1] - figures[0]] if with_difference else []
        rows.append([name, *(f"{figure:.2f}" for figure in figures + difference)])
    lists = [dataset.values.get(threads, []) for dataset in report.datasets]
    for index in range(max(map(len, lists))):
        at = [values[index] if index < len(values) else None for values in lists]
        cells = ["-" if value is None else f"{value:.2f}" for value in at]
        if with_difference:
            cells.append(f"{at[1] - at[0]:.2f}" if None not in at else "-")
        rows.append([f"Iteration {index + 1}", *cells])
    return rows


def tables(report):
    yield f"Comparison: {report.metric}", "Threads", [mean_row(report, t) for t in report.threads]
    for section in ("System", "Database", "Test"):
        yield f"{section} Info (per dataset)", "Property", fact_rows(report, section)
    for threads in report.threads:
        yield f"Thread Count: {threads}", "Metric", thread_rows(report, threads)


def header(report, first):
    last = ["Diff"] if first == "Metric" and len(report.datasets) == 2 else []
    return [first, *report.labels, *last]


def tab_report(report, second_copy=True):
    """Write the layout with TABs; information tables have their damaged second copy."""
    parts = [report.title, report.comment]
    for heading, first, rows in tables(report):
        lines = ["\t".join(header(report, first))]
        lines += ["\t".join(" ".join(c) if isinstance(c, list) else c for c in r) for r in rows]
        parts += [heading, "\n".join(lines)]
        if second_copy and heading.startswith(("Database", "Test")):
            parts += copied_again(report, rows)
    return "\n\n".join(parts) + "\n"


def copied_again(report, rows):
    seen = dict.fromkeys(["Property", *report.labels])
    for row in rows:
        for cell in row:
            seen.setdefault("\n".join(cell) if isinstance(cell, list) else cell)
    return list(seen)


def glued_report(report):
    """Write the layout without separators; options have a line each."""
    parts = [report.title, report.comment]
    for heading, first, rows in tables(report):
        lines = ["".join(header(report, first))]
        lines += [glued_row(row) for row in rows]
        parts += [heading, "\n".join(lines)]
    return "\n\n".join(parts)


def glued_row(row):
    if isinstance(row[1], list):
        return row[0] + "\t\t".join("\n".join(lines) for lines in row[1:])
    return "".join(row)


def html_report(report):
    """Write the file that a browser shows."""
    parts = ["<!DOCTYPE html>\n<html><head><title>x</title><script>var chart = 1;</script></head>"]
    parts += [f"<body><h2>{html.escape(report.title)}</h2>"]
    parts += [f"<div>{html.escape(report.comment)}</div><div><canvas></canvas></div>"]
    for heading, first, rows in tables(report):
        parts.append(f'<div class="tps-delta-container">\n<h3>{heading}</h3>\n<table>')
        cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in header(report, first))
        parts.append(f"<tr>{cells}</tr>")
        for row in rows:
            parts.append("<tr>" + "".join(f"<td>{html_cell(cell)}</td>" for cell in row) + "</tr>")
        parts.append("</table></div>")
    return "\n".join([*parts, "</body></html>"])


def html_cell(cell):
    if isinstance(cell, list):
        return "<br>".join(f"<b>{html.escape(line)}</b>" for line in cell)
    return html.escape(cell)


# Result files


@dataclass
class Series:
    """Iterations of one dataset: (threads, iteration, {name: (value, unit)}); primary first."""

    metadata: dict
    iterations: list
    config: list = field(default_factory=list)


def entries(series):
    for threads, iteration, metrics in series.iterations:
        kinds = ["primary", *["additional"] * (len(metrics) - 1)]
        yield (
            threads,
            iteration,
            [
                {"name": name, "value": value, "unit": unit, "type": kind}
                for (name, (value, unit)), kind in zip(metrics.items(), kinds, strict=True)
            ],
        )


def json_report(series, **layout):
    iterations = [
        {
            "iteration_id": iteration,
            "thread_count": threads,
            "primary": [m for m in metrics if m["type"] == "primary"],
            "additional": [m for m in metrics if m["type"] == "additional"],
        }
        for threads, iteration, metrics in entries(series)
    ]
    report = {
        "test_name": series.metadata.get("test_name"),
        "metadata": {**series.metadata, "db_config_contents": "|".join(series.config)},
        "iterations": iterations,
    }
    return json.dumps(report, **{"indent": 3, **layout})


def dump_report(series):
    """Write the list of entries as Perl's Data::Dumper does."""
    listed = [
        {
            "iteration_id": iteration,
            "metadata": series.metadata,
            "metrics": metrics,
            "thread_count": threads,
        }
        for threads, iteration, metrics in entries(series)
    ]
    return f"=== Raw Results Dump ===\nTest Name   : x\n\n{perl(listed)}\n"


def perl(value):
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(perl, value)) + "\n]"
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f'"{k}" => {perl(v)}' for k, v in value.items()) + "\n}"
    if value is None:
        return "undef"
    if isinstance(value, int):
        return str(value)
    return json.dumps(str(value)).replace("$", "\\$").replace("@", "\\@")


def csv_report(series):
    rows = []
    for threads, iteration, metrics in entries(series):
        row = {**series.metadata, "thread_count": threads, "iteration_id": iteration}
        for metric in metrics:
            for part in ("value", "unit", "type"):
                row[f"{metric['name']}::{part}"] = metric[part]
        rows.append(row)
    columns = sorted({column for row in rows for column in row})
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, quoting=csv.QUOTE_ALL, lineterminator="\n\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


TEXT_LABELS = {
    "Host Info": {
        "test_host": "Test Host",
        "os": "OS",
        "cpu": "CPU",
        "cpu_count": "CPU COUNT",
        "ram": "RAM",
    },
    "Test Suite Info": {"test_suite": "Test Suite"},
    "Test Info": {"duration": "Duration"},
    "Database Info": {
        "database_maker": "Maker",
        "database_eng": "Engine",
        "database_version": "DB Version",
    },
}


def text_report(series):
    metadata = series.metadata
    lines = ["", f"=== Performance Report: {metadata['test_name']} ===", ""]
    lines += [f"{'Test Name:':<22} {metadata['test_name']}"]
    lines += [f"{'Comments:':<22} {metadata.get('comments', 'N/A')}"]
    lines += [f"{'TAF Commandline:':<22} {metadata.get('taf_commandline', 'N/A')}"]
    for section, labels in TEXT_LABELS.items():
        lines += ["", f"=== {section} ===", ""]
        lines += [f"{label + ':':<22} {metadata.get(key, 'N/A')}" for key, label in labels.items()]
    lines += ["", "=== DB Config ===", "", *(f"  {line}" for line in series.config)]
    lines += ["", "=== Extra Metadata ===", "", "=== Metrics ===", ""]
    found = {}
    for threads, iteration, metrics in entries(series):
        lines.append(f"Thread Count: {threads}   |   Iteration: {iteration}")
        lines.append(f"{metrics[0]['name']}: {metrics[0]['value']}")
        lines += ["", "-- Additional Metrics --"]
        lines += [f"{m['name']:<30} {m['value']:>12} {m['unit']}" for m in metrics[1:]]
        lines.append("")
        for metric in metrics:
            found.setdefault(threads, {}).setdefault(metric["name"], []).append(metric["value"])
    for threads in sorted(found):
        lines += ["", f"=== Summary for Thread Count: {threads} ===", ""]
        for name, values in sorted(found[threads].items()):
            lines.append(
                f"{name:<30} Count: {len(values):3d}   Min: {min(values):10.2f}   "
                f"Max: {max(values):10.2f}   Avg: {sum(values) / len(values):10.2f}"
            )
    return "\n".join(lines) + "\n"


def readme(labelled, properties=(), config=()):
    lines = [f"{label}: {value}" for label, value in labelled.items()]
    lines += list(properties)
    if config:
        lines += ["[db_config_start]", *config, "[db_config_end]"]
    return "\n".join([*lines, "_EOF_"]) + "\n"


# Percent tables


def percent_table(threads, rows, before=(), caption=""):
    """Write tests against threads; a row is (test, numbers or a text)."""
    width = max(len(test) for test, _ in rows)
    lines = [*before, "Number of threads"]
    lines.append(" " * (width + 5) + "".join(f"{at:<8}" for at in threads).rstrip())
    lines.append(" sysbench test")
    for test, cells in rows:
        shown = f"   {cells}" if isinstance(cells, str) else "".join(f"{c:8.2f}" for c in cells)
        lines.append(f"  {test:<{width}}{shown}")
    return "\n".join([*lines, "", caption]) + "\n"


# Small examples


RATIO_CAPTION = "(MariaDB q/s / MySQL q/s * 100)"

README = {
    "Date of Test": "2026-9-15",
    "Test Suite": "hammerdb-tprocc",
    "Test Name": "TPROCC",
    "Duration": "15",
    "Iteration": "2",
    "Threads": "50",
    "Database Maker": "mariadb",
    "Database Version": "12.3.3-MariaDB",
    "CPU COUNT": "20",
    "DB Root User Password": "secret",
    "test-case-tag": "BASE",
}


def small_report(**changes):
    first = Dataset("11.8.6-MariaDB", {4: [100.0, 101.5, 99.25], 8: [200.0, 201.0]})
    second = Dataset("12.3.1-MariaDB", {4: [110.0, 111.5, 109.25], 8: [190.0, 191.0]})
    return Report([first, second], **changes)


def one_series(iterations=1, **metrics):
    figures = {"TPS": (213.49, "tps"), "latency_95th": (6.5, "ms"), "total_queries": (9, "")}
    figures |= metrics
    metadata = {
        "test_name": "OLTP_RO",
        "test_suite": "sysbench-lua",
        "duration": "600",
        "comments": "a comment",
        "database_maker": "mariadb",
        "database_version": "10.0.15-MariaDB",
        "database_eng": "InnoDB",
        "test_host": "bench-1",
        "cpu_count": "24",
        "taf_commandline": "x :: -> sysbench_lua.number_of_rows=1000 sysbench_lua.password=secret",
    }
    config = ["[mysqld]", "# a comment", "log_bin", "tls_version = TLSv1.2,TLSv1.3"]
    runs = [(4, number, figures) for number in range(1, iterations + 1)]
    return Series(metadata, runs, config)
