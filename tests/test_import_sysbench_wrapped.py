"""sysbench logs that came through loggers, terminals, mail and web pages."""

import json
import re

import pytest
from sysbench_reading import VERSIONS, read_one
from sysbench_writer import make_log, write_log, write_test

from benchkit.importers.source import read_lines
from benchkit.importers.sysbench import parse


def prefixed(prefix):
    return lambda text: "\n".join(prefix + line for line in text.split("\n"))


WRAPPED = {
    "docker": prefixed("sysbench_1  | "),
    "level": prefixed("[INFO] "),
    "level and colon": prefixed("INFO: "),
    "logger": prefixed("2024-03-01 10:00:59,123 INFO  [main] bench.run: "),
    "pod and container": prefixed("sysbench-abc12 main "),
    "runner": prefixed("\x1b[0KRUN 7 | "),
    "kubectl": prefixed("[pod/sysbench-0/main] "),
    "seconds since the start": prefixed("[   12.345678] "),
    "iso time": prefixed("2024-03-01T10:00:59.123456789Z "),
    "time in brackets": prefixed("[2024-03-01 10:00:59] "),
    "ts": prefixed("Mar 01 10:00:59 "),
    "time and tab": prefixed("2024-03-01 10:00:59,123\t"),
    "elapsed time": prefixed("00:00:59 "),
    "epoch": prefixed("1700000000.123456 "),
    "journal": prefixed("Mar 01 10:00:59 host1 sysbench[123]: "),
    "grep": prefixed("logs/run.log:"),
    "cat -n": prefixed("    12\t"),
    "quote": prefixed("> "),
    "indented": prefixed("        "),
    "markdown": lambda text: f"# Results\n\nWe use sysbench:\n```console\n{text}\n```\ntotal: 5\n",
    "html": lambda text: "<pre>" + text.replace("\n", "<br>\n") + "</pre>",
    "json": lambda text: json.dumps({"stdout": text}),
    "json lines": lambda text: json.dumps({"stdout_lines": text.split("\n")}, indent=2),
    "one blank": lambda text: re.sub(" +", " ", text),
    "one line": lambda text: re.sub(r"\s+", " ", text),
    "no blank after colons": lambda text: re.sub(r": +", ":", text),
    "no indent": lambda text: re.sub(r"\n +", "\n", text),
    "no blank lines": lambda text: re.sub(r"\n+", "\n", text),
    "more blank lines": lambda text: text.replace("\n", "\n\n"),
    "no line breaks": lambda text: text.replace("\n", ""),
    "wide colons": lambda text: text.replace(":", "\uff1a"),
    "decimal comma": lambda text: re.sub(
        r"(?<=\d)\.(?=(?:\d\d){1,2}(?![\d.]))", ",", text.partition("\n")[2]
    ),
    "thousands": lambda text: re.sub(
        r"(: +)(\d{4,})(?=\s)", lambda match: f"{match[1]}{int(match[2]):,}", text
    ),
    "hard spaces": lambda text: text.replace("  ", "\xa0\xa0"),
    "entities": lambda text: text.replace(" ", "&nbsp;"),
    "code in a page": lambda text: re.sub(r"(?<=[\w:.])(?=[/ :.])", "``", text),
    "code in a page, as one line": lambda text: "`" + text.replace("\n", "``") + "`",
    "ticket": lambda text: "{noformat}" + text + "{noformat}",
    "ticket with code": lambda text: "{code:title=run.log|borderStyle=solid}" + text + "{code}",
    "remarks in another language": lambda text: re.sub(
        r"(?m)^(?! *\[)(.*:.*[\d)a-z])$", "\\1 --\u603b\u6570(\u6bcf\u79d2)", text
    ).replace("\n", " "),
    "banner as in books": lambda text: text.replace(": ", " : ").replace("multi-t", "multit"),
}


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)
@pytest.mark.parametrize("version", VERSIONS)
def test_wrapped_logs_are_the_same(version, wrap):
    text = write_log(make_log(5, version))
    plain, wrapped = read_one(text), read_one(wrap(text))
    assert wrapped.metrics == plain.metrics
    assert wrapped.threads == plain.threads
    assert wrapped.workload in (plain.workload, "sysbench/unknown:unknown", "sysbench/unknown:oltp")
    assert list(wrapped.series) == list(plain.series)


ENCODED = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "cr": lambda text: text.replace("\n", "\r").encode(),
    "mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16 without mark": lambda text: text.encode("utf-16-le"),
    "colours": lambda text: re.sub(r"(\d+)", "\x1b[1;32m\\1\x1b[0m", text).encode(),
}


@pytest.mark.parametrize("encode", ENCODED.values(), ids=ENCODED)
def test_encoded_logs_are_the_same(encode, tmp_path):
    text = write_log(make_log(5))
    path = tmp_path / "run.log"
    path.write_bytes(encode(text))
    (run,) = parse(read_lines(path), lenient=False, name=path.name).runs
    assert run.metrics == read_one(text).metrics


@pytest.mark.parametrize("version", ["0.4.12", "0.4.8"])
@pytest.mark.parametrize("words", [":  multi-threaded", ": multithreaded", " : multi-threaded"])
def test_version_is_known_however_its_line_is_typed(version, words):
    text = write_log(make_log(2, "0.4.12"))
    text = text.replace("0.4.12:  multi-threaded", f"v{version}{words}")
    assert read_one(text).extra["version"] == version


@pytest.mark.parametrize("version", ["0.5", "1.0.20"])
def test_blank_in_front_of_a_colon_changes_nothing(version):
    text = write_log(make_log(2, version, rows=(), rate=20))
    plain, typed = read_one(text), read_one(text.replace(": ", " : "))
    assert (typed.threads, typed.warnings) == (plain.threads, ())
    assert (typed.metrics, typed.extra.get("rate")) == (plain.metrics, plain.extra.get("rate"))


MEMORY = (
    "Total operations: 2048 ( 1045.11 per second)",
    "",
    "2048.00 MiB transferred (1045.11 MiB/sec)",
)
VOLUME = (
    "Operations performed:  2996 Read, 2004 Write, 10 Other = 5010 Total",
    "Read 46.812Mb  Written 31.312Mb  Total transferred 78.125Mb  (13.871Mb/sec)",
    "  887.75 Requests/sec executed",
)
IOPS = (
    "Throughput:",
    "         read:  IOPS=9159.58 89.45 MiB/s (93.79 MB/s)",
    "         write: IOPS=6109.47 59.66 MiB/s (62.56 MB/s)",
    "         fsync: IOPS=163.45",
)
FILES = ("128 files, 24MiB each", "3GiB total file size", "Block size 16KiB")


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)
@pytest.mark.parametrize("lines", [MEMORY, VOLUME, IOPS], ids=["memory", "volume", "rates"])
def test_lines_without_labels_are_the_same(lines, wrap):
    text = write_test(make_log(3, rows=()), *lines)
    plain, wrapped = read_one(text), read_one(wrap(text))
    assert wrapped.metrics == plain.metrics
    assert wrapped.duration_s == plain.duration_s
    names = [name for name in plain.extra if name.startswith(("file_", "fsync", "trans", "read"))]
    assert names
    assert {n: wrapped.extra.get(n) for n in names} == {n: plain.extra[n] for n in names}


@pytest.mark.parametrize("how", ["grep", "ts", "cat -n", "quote", "entities", "docker"])
def test_sizes_of_files_are_the_same(how):
    text = write_test(make_log(3, rows=()), *FILES)
    extra = read_one(WRAPPED[how](text)).extra
    assert [extra[n] for n in ("files", "total_file_size", "block_size")] == [
        "128 files, 24MiB",
        "3GiB",
        "16KiB",
    ]


@pytest.mark.parametrize("prefix", ["run.log-", "a/run.log-12-", "run.log:12:", "Mar 01 10:00:59 "])
def test_number_behind_a_prefix_is_read_whole(prefix):
    text = write_test(make_log(3, rows=()), *MEMORY)
    run = read_one(prefixed(prefix)(text), lenient=True)
    assert run.extra["transferred_mib"] == 2048


@pytest.mark.parametrize("version", ["0.4.12", "1.0.20", "1.1.0"])
def test_lines_that_filled_a_screen_are_the_same(version):
    """Terminals copy a line that is as wide as the screen together with the next."""
    settings = ("Running memory speed test with the following options:", "  block size: 8KiB")
    log = make_log(3, version, rows=())
    text = write_log(log) if version == "0.4.12" else write_test(log, *settings, *MEMORY)
    lines = [line.ljust(89) if i % 3 else f"{line}\n" for i, line in enumerate(text.split("\n"))]
    plain, glued = read_one(text), read_one("".join(lines))
    assert glued.metrics == plain.metrics
    assert glued.extra == plain.extra


@pytest.mark.parametrize("width", [40, 60, 72, 80, 90, 100, 105])
@pytest.mark.parametrize("version", ["0.4.12", "0.5", "1.0.20"])
def test_rows_that_a_terminal_broke_are_the_same(version, width):
    text = write_log(make_log(4, version))
    lines = [
        f"{line[:width]}\n{line[width:]}" if line.startswith("[") and line[width:] else line
        for line in text.split("\n")
    ]
    plain, broken = read_one(text), read_one("\n".join(lines))
    assert list(broken.series) == list(plain.series)
    assert (broken.metrics, broken.warnings) == (plain.metrics, plain.warnings)


def test_number_in_front_of_a_cut_label_is_whole():
    row = "[ 10s ] thds: 16 tps: 31.24 qps: 31.24 (r/w/o: 0.00/31.24/0.00) lat (ms,95%): 9.22 er"
    (found,) = read_one(row + "\n...", lenient=True).series
    assert (found["other_per_s"], found["latency_p95"]) == (0, 0.00922)
