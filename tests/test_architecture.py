"""The code keeps to ARCHITECTURE.md's tables, and to the limits that keep it readable."""

import fnmatch
import re
import subprocess
import sys
import sysconfig
from itertools import chain
from pathlib import Path

import pytest
from sources import (
    C_FILES,
    C_TEST_FILES,
    PACKAGE_FILES,
    ROOT,
    SCRIPT_FILES,
    c_functions,
    calls,
    imports,
    includes,
    module_name,
    names_in,
    python_functions,
    relative,
    table_rows,
)

from benchkit import _core

C_MODULES = [name for row in table_rows("C layers") for name in names_in(row[1])]
GATEKEEPERS = [(names_in(row[0]), names_in(row[1])) for row in table_rows("Foreign headers")]
PARTS = {
    name: row[0].split(":")[0] for row in table_rows("Python layers") for name in names_in(row[1])
}
PYTHON_MODULES = list(PARTS)

ALL_C_FILES = [*C_FILES, *C_TEST_FILES]
ALL_PYTHON_FILES = [*PACKAGE_FILES, *SCRIPT_FILES]
TEXT_FILES = [
    *ALL_C_FILES,
    *ALL_PYTHON_FILES,
    *ROOT.glob("*.md"),
    *ROOT.glob("*/*.sh"),
    *ROOT.glob("notebooks/*.ipynb"),
]

LINE_LENGTH = 100
C_FUNCTION_LINES, PYTHON_FUNCTION_LINES = 60, 50
C_FILE_LINES, PYTHON_FILE_LINES = 700, 500
PARAMETERS = 6
NESTING = 3

# What CPython and NumPy want writable, all of it in layer 6 of the C core.
WRITABLE = re.compile(r"\w+_(methods|slots|attributes|spec|module)|names|benchkit_array_api\w*")
LINKER_MADE = {"__dso_handle", "__TMC_END__", "completed"}


def run(*command):
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def python(*arguments):
    return run(sys.executable, "-m", *arguments)


# Layers


def c_place(name):
    """Return where the module of a file such as ``clock.h`` stands in the table."""
    stem = name.rsplit(".", 1)[0]
    return next(i for i, module in enumerate(C_MODULES) if fnmatch.fnmatch(stem, module))


def test_every_c_file_has_its_place_in_the_table():
    places = {path.name: sum(fnmatch.fnmatch(path.stem, m) for m in C_MODULES) for path in C_FILES}
    assert {name: count for name, count in places.items() if count != 1} == {}


def test_every_c_module_of_the_table_exists():
    assert [
        m for m in C_MODULES if not any(fnmatch.fnmatch(path.stem, m) for path in C_FILES)
    ] == []


def test_c_includes_point_down_the_table():
    ours = {path.name for path in C_FILES}
    wrong = [
        f"{path.name} includes {name}"
        for path in C_FILES
        for name in includes(path)
        if name in ours and c_place(name) > c_place(path.name)
    ]
    assert wrong == []


def test_foreign_headers_stay_behind_their_gatekeepers():
    wrong = [
        f"{path.name} includes {name}"
        for path in C_FILES
        for name in includes(path)
        for headers, keepers in GATEKEEPERS
        if name.startswith(tuple(headers))
        and not any(fnmatch.fnmatch(path.name, keeper) for keeper in keepers)
    ]
    assert wrong == []


def test_table_lists_every_python_module_once():
    listed = [name for row in table_rows("Python layers") for name in names_in(row[1])]
    assert sorted(listed) == sorted(["_core", *map(module_name, PACKAGE_FILES)])


def package_imports():
    """Find (importing, imported) inside the package, by the table's names."""
    for path in PACKAGE_FILES:
        for name in imports(path):
            if name.split(".")[0] == "benchkit":
                yield module_name(path), name.removeprefix("benchkit").lstrip(".") or "__init__"


def test_python_imports_point_up_the_table():
    place = {name: i for i, name in enumerate(PYTHON_MODULES)}
    assert [(a, b) for a, b in package_imports() if place[b] >= place[a]] == []


def test_the_halves_do_not_import_each_other():
    halves = {"measure", "analyse"}
    assert [(a, b) for a, b in package_imports() if {PARTS[a], PARTS[b]} == halves] == []


def test_only_the_command_line_and_a_studys_progress_print():
    printing = [module_name(path) for path in PACKAGE_FILES if calls(path, "print")]
    assert [name for name in printing if PARTS[name] != "user"] == ["progress"]


# State and symbols


def test_extension_exports_only_its_initialiser():
    symbols = run("nm", "-D", "--defined-only", _core.__file__).split()[2::3]
    assert symbols == ["PyInit__core"]


def test_file_scope_of_the_core_is_constant():
    writable = list(writable_symbols())
    assert writable, "the extension has no symbol table to look at"
    binding = ("py_", "module.c")
    assert [
        f"{file}: {name}"
        for file, name in writable
        if not WRITABLE.fullmatch(name) or not (file or "module.c").startswith(binding)
    ] == []


def writable_symbols():
    """Find (file, name) of what lies in writable sections; the file of what is static only."""
    file = ""
    for line in run("objdump", "--syms", _core.__file__).splitlines():
        fields = line.split()
        if " df *ABS*" in line:
            file = fields[-1] if fields[-1].endswith(".c") else ""
        is_data = re.search(r"\sO (\.data|\.bss|\.tdata|\.tbss|\*COM\*)\s", line)
        name = fields[-1].split(".")[0] if is_data else ""
        if name and name not in LINKER_MADE:
            yield file, name


# Limits


def c_code():
    return list(chain.from_iterable(map(c_functions, ALL_C_FILES)))


def python_code():
    return list(chain.from_iterable(map(python_functions, ALL_PYTHON_FILES)))


def test_c_functions_are_found():
    bodies = sum(len(re.findall(r"^\{", path.read_text(), re.MULTILINE)) for path in ALL_C_FILES)
    assert len(c_code()) == bodies > 300


def test_functions_are_short():
    too_long = [f for f in c_code() if f.lines > C_FUNCTION_LINES]
    too_long += [f for f in python_code() if f.lines > PYTHON_FUNCTION_LINES]
    assert too_long == []


def test_functions_have_few_parameters():
    assert [f for f in [*c_code(), *python_code()] if f.parameters > PARAMETERS] == []


def test_functions_are_flat():
    assert [f for f in [*c_code(), *python_code()] if f.nesting > NESTING] == []


def test_files_are_short():
    limits = [(path, C_FILE_LINES) for path in ALL_C_FILES]
    limits += [(path, PYTHON_FILE_LINES) for path in ALL_PYTHON_FILES]
    lines = {relative(p): (len(p.read_text().splitlines()), limit) for p, limit in limits}
    assert {name: count for name, (count, limit) in lines.items() if count > limit} == {}


def test_lines_are_short():
    long = [
        f"{relative(path)}:{number}"
        for path in [*ALL_C_FILES, *ALL_PYTHON_FILES]
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > LINE_LENGTH
    ]
    assert long == []


def test_nothing_is_left_for_later():
    later = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
    assert [relative(path) for path in TEXT_FILES if later.search(path.read_text())] == []


# Form


@pytest.mark.parametrize(
    "path", [path for path in ALL_C_FILES if path.suffix == ".h"], ids=lambda path: path.name
)
def test_header_is_guarded_by_its_name(path):
    guard = f"BENCHKIT_{path.stem.upper()}_H"
    assert f"#ifndef {guard}\n#define {guard}\n" in path.read_text()


def test_c_files_include_their_own_header_first():
    own = {path.stem: path.name for path in C_FILES if path.suffix == ".h"}
    wrong = [
        path.name
        for path in C_FILES
        if path.suffix == ".c" and path.stem in own and includes(path)[0] != own[path.stem]
    ]
    assert wrong == []


def test_files_say_what_they_are():
    assert [relative(p) for p in ALL_C_FILES if not p.read_text().startswith("/*\n * ")] == []
    assert [relative(p) for p in ALL_PYTHON_FILES if not p.read_text().startswith('"""')] == []


def test_c_is_laid_out_by_clang_format():
    command = Path(sysconfig.get_path("scripts"), "clang-format")
    run(str(command), "--dry-run", "-Werror", *map(str, ALL_C_FILES))


def test_python_passes_ruff():
    python("ruff", "check", ".")


def test_python_is_laid_out_by_ruff():
    python("ruff", "format", "--check", ".")


def test_package_passes_mypy():
    python("mypy")


def test_stub_describes_the_extension():
    python("mypy.stubtest", "benchkit._core")
