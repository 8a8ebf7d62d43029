"""What is packed, and what building says where a library is missing."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def build(*arguments):
    command = [sys.executable, "-m", "build", "--no-isolation", *map(str, arguments)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    build("--sdist", "--outdir", folder, ROOT)
    (archive,) = folder.glob("mariadb_benchkit-*.tar.gz")
    return archive


def test_sdist_holds_all_that_a_build_needs(sdist):
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"setup.py", "pyproject.toml", "README.md", "LICENSE"}
    needed |= {str(path.relative_to(ROOT)) for path in (ROOT / "csrc").glob("*.[ch]")}
    needed |= {
        str(path.relative_to(ROOT))
        for path in (ROOT / "benchkit").rglob("*.py*")
        if path.suffix in (".py", ".pyi")
    }
    needed.add("benchkit/py.typed")
    assert needed - packed == set()
    assert not [name for name in packed if name.endswith((".so", ".pyc"))]


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(["tar", "-xzf", sdist, "-C", folder], check=True)
    (source,) = folder.iterdir()
    build("--wheel", "--outdir", folder, source)
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_the_extension_and_its_types(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"benchkit/_core.pyi", "benchkit/py.typed"} <= set(names)
    assert any(name.startswith("benchkit/_core.") and name.endswith(".so") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "csrc/"))]


def test_installed_wheel_works_from_another_directory(wheel, tmp_path):
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site]
    subprocess.run([*pip, wheel], check=True, cwd=tmp_path)
    program = (
        "import benchkit as bk\n"
        "with bk.Server(bk.Config('packed')) as server:\n"
        "    print(bk.__file__, server.query('SELECT 40 + 2'))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
    )
    assert ran.stdout == f"{site}/benchkit/__init__.py [('42',)]\n", ran.stderr


def test_missing_libraries_are_named_for_apt_and_dnf(tmp_path):
    ran = subprocess.run(
        [sys.executable, "setup.py", "--version"],
        cwd=ROOT,
        env={**os.environ, "PKG_CONFIG_LIBDIR": str(tmp_path), "PKG_CONFIG_PATH": ""},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert "apt-get install pkg-config libmariadb-dev libgsl-dev" in ran.stderr
    assert "dnf install pkgconf-pkg-config mariadb-connector-c-devel gsl-devel" in ran.stderr
