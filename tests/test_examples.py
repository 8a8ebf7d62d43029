"""The examples run: the first command of the README, twice, in a copy of the repository."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installs import ALL, OTHERS, find_install, kept_folder
from shortened import shorten

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_file())

# Stands for .venv/bin/python: this interpreter, with installations noted instead of made.
INTERPRETER = """#!/bin/sh
case "$*" in *"pip install"*) echo "$@" >>{log} ;; *) exec {python} "$@" ;; esac
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Return a copy of what the quickstart needs, with a shorter study and a ready .venv."""
    copy = tmp_path_factory.mktemp("repository")
    for name in ("setup.py", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    for name in ("csrc", "examples"):
        shutil.copytree(ROOT / name, copy / name)
    study = copy / "examples" / "first_study.py"
    study.write_text(shorten(study.read_text()))
    interpreter = copy / ".venv" / "bin" / "python"
    interpreter.parent.mkdir(parents=True)
    interpreter.write_text(INTERPRETER.format(log=copy / "installed", python=sys.executable))
    interpreter.chmod(0o755)
    return copy


def quickstart(repository):
    ran = subprocess.run(
        ["bash", repository / "examples" / "quickstart.sh"], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def installations(repository):
    return (repository / "installed").read_text().splitlines()


def stored_runs(repository):
    return {path: path.stat().st_mtime_ns for path in repository.glob("results/*/runs/*/run.json")}


def test_quickstart_compares_and_the_second_time_has_nothing_left_to_do(repository):
    first = quickstart(repository)
    runs = stored_runs(repository)
    assert len(runs) == 12
    assert "ratio to baseline" in first
    assert (repository / "results" / "first_study.png").stat().st_size > 10_000

    second = quickstart(repository)
    assert stored_runs(repository) == runs
    assert second.endswith(first.partition("building")[2].partition("\n")[2])
    assert len(installations(repository)) == 1


def test_changed_sources_are_built_again(repository):
    before = len(installations(repository)) if (repository / "installed").exists() else 0
    setup = f"source {repository}/examples/setup.sh; setup '[test]'"
    for source in ("", "// changed"):
        (repository / "csrc" / "changed.c").write_text(source)
        subprocess.run(["bash", "-c", setup], check=True, capture_output=True)
    assert len(installations(repository)) == before + 2


def test_missing_packages_are_named_for_apt_and_dnf(tmp_path):
    tools = ("bash", "cut", "dirname", "id", "paste")
    for tool in tools:  # a PATH with neither compilers nor a package manager
        (tmp_path / tool).symlink_to(shutil.which(tool))
    script = f"source {ROOT}/examples/setup.sh; SERVER_PATH={tmp_path}; setup ''"
    ran = subprocess.run(
        ["bash", "-c", script], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert ran.returncode == 1
    assert (
        "apt-get install build-essential python3 python3-venv python3-dev pkg-config "
        "libmariadb-dev libgsl-dev mariadb-server-core mariadb-client-core\n"
    ) in ran.stderr
    assert "dnf install gcc make python3.12 python3.12-devel pkgconf-pkg-config" in ran.stderr


def run_at_tiny_scale(name, folder):
    """Run an example with few rows, threads and transactions; return what it prints."""
    for label in OTHERS:
        find_install(label)
    script = (ROOT / "examples" / name).read_text()
    for pattern, replacement in (
        (r"threads=\[[\d, ]+\]", "threads=[1, 3]"),
        (r"iterations=\d+", 'iterations=1, iteration_mode="preserve"'),
        (r'duration="\d+s"', "transactions=12, duration=None"),
        (r'warmup="\d+s"', "warmup=0"),
        (r"\brows=[\d_]+", "rows=200"),
        (r'"1G"', '"128M"'),
    ):
        script, replaced = re.subn(pattern, replacement, script)
        assert replaced, pattern
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "BENCHKIT_SERVERS": str(kept_folder())},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_three_installs_are_reported_as_taf_does(tmp_path):
    printed = run_at_tiny_scale("three_installs.py", tmp_path)
    _, _, report = printed.partition("Comparison: TPS\n\n")
    lines = [line.split("\t") for line in report.splitlines()]
    names = [find_install(label).name for label in ALL]
    assert lines[0] == ["Threads", *names]
    assert [line[0] for line in lines[1:3]] == ["1", "3"]
    assert all(float(cell) > 0 for line in lines[1:3] for cell in line[1:])
    makers = next(line for line in lines if line[0] == "Database Maker")
    assert makers[1:] == ["mariadb", "mariadb", "mysql"]


def test_two_products_are_compared_in_percent_over_eight_tests(tmp_path):
    printed = run_at_tiny_scale("mariadb_mysql.py", tmp_path)
    title, heads, _, *rows = printed.rstrip("\n").splitlines()
    assert (title, heads.split()) == ("Number of threads", ["1", "3"])
    assert printed.endswith("(MariaDB q/s / MySQL q/s * 100)\n\n")
    cells = [row.split() for row in rows[:8]]
    tests = ["delete", "insert", "oltp_complex_ro", "oltp_complex_rw"]
    assert [cell[0] for cell in cells[:4]] == tests
    assert all(float(value) > 0 for _, *values in cells for value in values)


def test_readmes_notebook_describes_a_study():
    section = (ROOT / "README.md").read_text().split("## In a notebook\n")[1]
    code = [line[4:] for line in section.partition("\n\nCtrl-C")[0].splitlines()]
    *description, run = code
    names = {}
    exec("\n".join(description), names)
    assert run.startswith("study.run(")
    assert len(names["study"].plan()) == 2 * 3 * 3


EXPECTED = {
    "binlog_replica.py": ["no-binlog", "binlog", "binlog-unsynced", "replica", "replica-unsynced"],
    "doublewrite.py": ["baseline", "doublewrite-off"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_studies_in_the_shape_of_reports_print_their_tables(name, memory, tmp_path):
    source = shorten((ROOT / "examples" / name).read_text())
    for text, smaller in (
        ("iterations=3", "iterations=1"),
        ("warehouses=2", "warehouses=1"),
        ("threads=[1, 8]", "threads=[8]"),
        ('"256M"', '"64M"'),
    ):
        source = source.replace(text, smaller)
    if name == "binlog_replica.py":  # five loads of a warehouse take too long
        source = re.sub(r"tprocc\(.*?\)", "oltp_read_write(rows=1000)", source)
        source = source.replace('"tpm"', '"tps"')
    ran = subprocess.run(
        [sys.executable, "-c", source],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    lines = [line.split("\t") for line in ran.stdout.splitlines()]
    assert ["Threads", *EXPECTED[name]] in lines
    modes = next(line for line in lines if line[0] == "Iteration Mode")
    assert modes[1:] == ["restore (cold caches)"] * len(EXPECTED[name])
    if name == "binlog_replica.py":
        attached = next(line for line in lines if line[0] == "Replicas")
        assert [text.partition(",")[0] for text in attached[1:]] == ["(missing)"] * 3 + ["1"] * 2
        assert "replica-unsynced: at most " in ran.stdout
    assert list(memory.iterdir()) == []


def test_every_example_is_run_by_a_test():
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    run_by_others = {"setup.sh": "quickstart.sh"}
    names = {path.name: run_by_others.get(path.name, path.name) for path in EXAMPLES}
    assert [name for name, runner in names.items() if runner not in tests] == []
