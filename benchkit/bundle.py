"""An install made of a distribution's packages, with the C library of their own release.

    bin/          one script for each program; runs it with the libraries of lib/private
    sbin          the same, for scripts that look there
    lib/private/  the shared libraries that programs and plugins need, and their loader
    lib/mysql/    plugins
    libexec/      the programs
    share/        messages and system tables

It may be moved: nothing in it names where it is.
"""

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchkit.errors import ServerError

PROGRAMS = {
    "mariadb": (
        *("mariadbd", "mariadb", "mariadb-admin", "mariadb-binlog", "mariadb-dump"),
        *("my_print_defaults", "resolveip"),
    ),
    "mysql": ("mysqld", "mysql", "mysqladmin", "mysqlbinlog", "mysqldump", "my_print_defaults"),
}
_SCRIPTS = ("mariadb-install-db",)

_WRAPPER = """\
#!/bin/sh
install=$(dirname "$(readlink -f "$0")")/..
exec "$install/lib/private/{loader}" --library-path "$install/lib/private" \\
    --argv0 "$0" "$install/libexec/{name}" "$@"
"""
_LOADER = "ld-linux*.so.*"
_LIBRARY = re.compile(r".+\.so(\.\d+)*")
_RESOLVED = re.compile(r"=> (/\S+)|^\s*(/\S+) \(", re.MULTILINE)


def make_bundle(product: str, files: Path, target: Path) -> None:
    """Make an install of extracted packages.

    Parameters
    ----------
    product : str
        A key of `PROGRAMS`.
    files : Path
        What was in the packages, by its path in a system; parts of it are moved away.
    target : Path
        An empty folder.

    Raises
    ------
    ServerError
        When there is no server in the packages.
    """
    for name in ("bin", "libexec", "lib/private", "share"):
        (target / name).mkdir(parents=True)
    (target / "sbin").symlink_to("bin")
    _move_folders(files, target)
    programs = list(_move_programs(product, files, target))
    if not programs or programs[0].name != PROGRAMS[product][0]:
        raise ServerError(f"the packages hold no {PROGRAMS[product][0]}")
    loader = _keep_libraries(files, target, [*programs, *(target / "lib/mysql").rglob("*.so")])
    for program in programs:
        _write_script(
            target / "bin" / program.name, _WRAPPER.format(loader=loader, name=program.name)
        )


def _move_folders(files: Path, target: Path) -> None:
    for source, name in (
        ("usr/lib/mysql", "lib/mysql"),
        ("usr/share/mysql", "share/mysql"),
        ("usr/share/mariadb", "share/mariadb"),
    ):
        if (files / source).is_dir():
            shutil.move(files / source, target / name)


def _move_programs(product: str, files: Path, target: Path) -> Iterator[Path]:
    folders = [files / "usr" / name for name in ("sbin", "bin")]
    for name in (*PROGRAMS[product], *_SCRIPTS):
        found = [f / name for f in folders if (f / name).is_file() and not (f / name).is_symlink()]
        if found and name in _SCRIPTS:
            _write_script(target / "bin" / name, found[0].read_text())
        elif found:
            yield Path(shutil.move(found[0], target / "libexec" / name))


def _write_script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _keep_libraries(files: Path, target: Path, users: Iterable[Path]) -> str:
    """Keep what the users are linked with; return the name of the loader."""
    libraries = _find_libraries(files)
    loader = next((path for path in libraries if path.match(_LOADER)), None)
    if loader is None:
        raise ServerError("the packages hold no C library")
    folders = ":".join(dict.fromkeys(str(path.parent) for path in libraries))
    needed = {path for user in users for path in _resolve(loader, folders, user)}
    for path in {loader, *(p for p in needed if p.is_relative_to(files))}:
        # Under the name it is asked for; what a link names is what is kept.
        shutil.copy(_real(files, path), target / "lib/private" / path.name)
    return loader.name


def _find_libraries(files: Path) -> list[Path]:
    """Return the shared libraries in the folders that a loader would search."""
    folders = sorted(
        folder
        for pattern in (
            "lib/*-linux-gnu*",
            "usr/lib/*-linux-gnu*",
            "usr/lib/*-linux-gnu*/*/private",
        )
        for folder in files.glob(pattern)
    )
    return [path for f in folders for path in sorted(f.iterdir()) if _LIBRARY.fullmatch(path.name)]


def _resolve(loader: Path, folders: str, user: Path) -> list[Path]:
    listed = subprocess.run(
        [str(loader), "--library-path", folders, "--list", str(user)],
        capture_output=True,
        text=True,
        check=False,
    )
    return [Path(a or b) for a, b in _RESOLVED.findall(listed.stdout)]


def _real(files: Path, path: Path) -> Path:
    """Follow links as they would be followed in the system that the files are for."""
    while path.is_symlink():
        goal = path.readlink()
        path = files / goal.relative_to("/") if goal.is_absolute() else path.parent / goal
    return path
