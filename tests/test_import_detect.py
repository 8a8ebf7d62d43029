"""Which format a file has; and what is said of files that hold no results."""

import os
from pathlib import Path

import pytest
from imports import dataset, report_of, write
from sysbench_writer import make_log, write_log

from benchkit.importers.detect import UnknownFormatError
from benchkit.importers.reading import Order, import_files

SAMPLES = Path(
    os.environ.get(
        "BENCHKIT_SAMPLES", Path(__file__).parents[2] / "shared" / "reference" / "samples"
    )
)
CONFIG = (
    "[mysqld]\n# sysbench, in % of memory\ninnodb_buffer_pool_size = 8G\nskip-log-bin\nport=1\n"
)
PROPERTIES = "# taf, in %\ntaf.threads=1 4 8\ntaf.suite = sysbench\ntaf.script=\ntaf.duration=60\n"
INDEX = "file\ttool\tversion\texpected\n" + "".join(
    f"{n}.log\tsysbench\tsysbench 1.0.20 (using LuaJIT)\t[ 10s ] thds: 4 tps: 5.00 lat: SQL "
    "statistics: transactions:  12 (5.00 per sec.)\n"
    for n in range(3)
)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("my.cnf", CONFIG, "a server's configuration"),
        ("sysbench.cnf", CONFIG, "a server's configuration"),
        ("options.txt", CONFIG.replace("[mysqld]\n", "max_connections=5\n"), "a server's conf"),
        ("run.properties", PROPERTIES, "a list of properties"),
        ("index.tsv", INDEX, "a table that is no report"),
        ("sysbench.sh", "#!/bin/sh\necho sysbench $1\nexit\n", "a script"),
        ("log.gz", b"\x1f\x8b\x08\x00" + bytes(50), "compressed by gzip: unpack it first"),
        ("hammer.DB", b"SQLite format 3\x00" + bytes(50), "an SQLite database"),
        ("nothing.log", "", "empty"),
        ("notes.txt", "hello\n", "none of these: .*sysbench log"),
    ],
)
def test_files_without_results_are_called_what_they_are(tmp_path, name, content, what):
    path = write(tmp_path / name, content)
    with pytest.raises(UnknownFormatError, match=f"{name} is {what}"):
        import_files(path, tmp_path / "study", Order())


@pytest.mark.parametrize("families", [("sysbench",), Order().families], ids=["sysbench", "auto"])
def test_folder_passes_over_what_only_speaks_of_results(tmp_path, families):
    folder = tmp_path / "logs"
    folder.mkdir()
    write(folder / "run.log", write_log(make_log(1)))
    write(folder / "INDEX.tsv", INDEX)
    write(folder / "sysbench-notes.md", "We ran sysbench with --threads=8 run, and it was fast.\n")
    write(folder / "server.cnf", CONFIG)
    outcome = import_files(folder, tmp_path / "study", Order(families))
    assert (outcome.files, outcome.runs) == (1, 1)
    assert [problem.path.name for problem in outcome.problems] == [
        "INDEX.tsv",
        "server.cnf",
        "sysbench-notes.md",
    ]
    assert "was left out: it is a table" in str(outcome.problems[0])


def test_report_and_log_are_told_apart(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    write(folder / "report.txt", report_of(dataset("11.8", 10.0)))
    write(folder / "run.log", write_log(make_log(1)))
    assert import_files(folder, tmp_path / "study", Order()).files == 2


@pytest.mark.skipif(not SAMPLES.exists(), reason="the sample files are not here")
def test_real_files_are_all_told_apart(tmp_path):
    outcome = import_files(SAMPLES, tmp_path / "study", Order(lenient=True))
    left_out = {str(p.path.relative_to(SAMPLES)) for p in outcome.problems if p.problem.line == 0}
    results = [path for path in SAMPLES.rglob("*") if path.is_file()]
    assert left_out == {
        str(path.relative_to(SAMPLES))
        for path in results
        if path.name == "INDEX.tsv" or path.parent.name in ("cnf", "properties")
    }
