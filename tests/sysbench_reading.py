"""What the tests of sysbench logs share: reading a text, and what is to be found in it."""

from benchkit.importers.source import Line, read_lines
from benchkit.importers.sysbench import parse

VERSIONS = ("0.4.12", "0.5.2010", "0.5", "1.0.15", "1.0.20", "1.1.0-2ca9e3f")


def read(text, name="run.log", lenient=False):
    lines = [Line(number, line) for number, line in enumerate(text.split("\n"), 1)]
    return parse(lines, lenient=lenient, name=name)


def read_one(text, **options):
    (run,) = read(text, **options).runs
    return run


def read_file(path, data, name="run.log", lenient=False):
    """Read bytes as a file, which may end inside of a line."""
    path.write_bytes(data)
    return parse(read_lines(path), lenient=lenient, name=name)


def seconds(ms):
    """Return the double that is nearest to the decimal number."""
    return float(f"{ms}e-3")


def is_modern(version):
    return version.startswith("1.")


def expected_metrics(log):
    """Return what every version prints, in benchkit's names and units."""
    low, mean, high, percentile = map(seconds, log.latency_ms)
    return {
        "reads": log.reads,
        "writes": log.writes,
        "others": log.others,
        "queries": log.total,
        "transactions": log.transactions,
        "tps": log.per_s(log.transactions),
        "events": log.transactions,
        "latency_min": low,
        "latency_mean": mean,
        "latency_max": high,
        f"latency_p{log.percentile}": percentile,
    }


def common(metrics, expected):
    return {name: metrics.get(name) for name in expected}
