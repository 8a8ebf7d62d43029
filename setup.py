"""Build of the C extension; everything else is in pyproject.toml.

pkg-config finds libmariadb and GSL. ``BENCHKIT_CFLAGS`` and ``BENCHKIT_LDFLAGS`` (read like a
shell line) are added to every compile and link, for sanitizer and coverage builds.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy
from setuptools import Extension, setup

PACKAGES = {  # pkg-config name -> (Debian/Ubuntu package, Fedora/RHEL package)
    "libmariadb": ("libmariadb-dev", "mariadb-connector-c-devel"),
    "gsl": ("libgsl-dev", "gsl-devel"),
}


def missing_message(missing):
    """Return the exact install lines for the packages pkg-config did not find."""
    apt = " ".join(["pkg-config", *(PACKAGES[name][0] for name in missing)])
    dnf = " ".join(["pkgconf-pkg-config", *(PACKAGES[name][1] for name in missing)])
    return (
        f"benchkit needs the development files of {' and '.join(missing)}:\n"
        f"  Debian, Ubuntu:  apt-get install {apt}\n"
        f"  Fedora, RHEL:    dnf install {dnf}"
    )


def pkg_config(*arguments):
    """Return pkg-config's answer as a list of flags, or None where it has none."""
    try:
        answer = subprocess.run(["pkg-config", *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return shlex.split(answer.stdout) if answer.returncode == 0 else None


def foreign_flags():
    """Return (compile flags, link flags) of the two C libraries; exit with advice if one lacks."""
    missing = [name for name in PACKAGES if pkg_config("--exists", name) is None]
    if missing:
        sys.exit(missing_message(missing))
    includes = [
        "-isystem" + flag[2:] if flag.startswith("-I") else flag
        for flag in pkg_config("--cflags", *PACKAGES)
    ]
    return includes, pkg_config("--libs", *PACKAGES)


def extension():
    """Describe ``benchkit._core``: all of csrc/ in one shared object."""
    includes, libraries = foreign_flags()
    warnings = ["-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes"]
    return Extension(
        "benchkit._core",
        sources=sorted(str(path) for path in Path("csrc").glob("*.c")),
        depends=sorted(str(path) for path in Path("csrc").glob("*.h")),
        extra_compile_args=[
            "-std=c17",
            "-D_GNU_SOURCE",
            "-O2",
            "-fvisibility=hidden",
            "-pthread",
            *warnings,
            "-isystem" + numpy.get_include(),
            *includes,
            *shlex.split(os.environ.get("BENCHKIT_CFLAGS", "")),
        ],
        extra_link_args=[
            "-pthread",
            *libraries,
            *shlex.split(os.environ.get("BENCHKIT_LDFLAGS", "")),
        ],
    )


setup(ext_modules=[extension()])
