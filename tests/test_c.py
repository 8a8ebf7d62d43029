"""The C core without Python: clean under every warning, its own tests under sanitizers."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "csrc").glob("*.c"))
PROGRAMS = sorted(path.stem for path in (ROOT / "tests" / "c").glob("test_*.c"))
COMPILERS = ["gcc", *(name for name in ("clang", "clang-14") if shutil.which(name))][:2]
WARNINGS = [
    f"-W{name}"
    for name in (
        *("all", "extra", "pedantic", "shadow", "conversion", "undef", "vla"),
        *("strict-prototypes", "missing-prototypes", "error"),
    )
]


def foreign_includes():
    answer = subprocess.run(
        ["pkg-config", "--cflags", "libmariadb", "gsl"], capture_output=True, text=True, check=True
    )
    paths = [flag.removeprefix("-I") for flag in answer.stdout.split()]
    paths += [sysconfig.get_path("include"), numpy.get_include()]
    return [flag for path in paths for flag in ("-isystem", path)]


def is_binding(source):
    return source.name.startswith("py_") or source.name == "module.c"


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_source_compiles_without_a_warning(source, compiler, tmp_path):
    # CPython's slot tables hold functions as void *, which ISO C does not allow.
    pedantic = ["-Wno-pedantic"] if is_binding(source) else []
    flags = ["-std=c17", "-D_GNU_SOURCE", "-O2", "-fvisibility=hidden", *WARNINGS, *pedantic]
    output = ["-c", str(source), "-o", str(tmp_path / "object.o")]
    command = [compiler, *flags, *foreign_includes(), *output]
    compiled = subprocess.run(command, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr


@pytest.fixture(scope="module", params=["address,undefined", "thread"])
def build(request, tmp_path_factory):
    """Return the directory with the test programs, built under one set of sanitizers."""
    directory = tmp_path_factory.mktemp("c")
    command = ["make", "-s", "-j2", "-C", str(ROOT / "tests" / "c"), "CC=gcc"]
    command += [f"BUILD={directory}", f"SANITIZE={request.param}"]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return directory


def without_address_randomisation():
    """Return the prefix that keeps TSan's shadow memory free, where it may be used."""
    prefix = ["setarch", "-R"]
    if shutil.which("setarch") is None or subprocess.run([*prefix, "true"]).returncode != 0:
        return []
    return prefix


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_runs_clean_under_sanitizers(build, program, server):
    options = {
        "ASAN_OPTIONS": "detect_leaks=1",
        "TSAN_OPTIONS": "halt_on_error=1",
        "BENCHKIT_TEST_SOCKET": server.endpoint["socket"],
        "BENCHKIT_TEST_USER": server.endpoint["user"],
    }
    ran = subprocess.run(
        [*without_address_randomisation(), str(build / program)],
        capture_output=True,
        text=True,
        env={**os.environ, **options},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
