"""Finding server binaries: those of the system's packages, or of a directory.

An install is where the binaries are and which version they are. It holds no data and runs
no server.
"""

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchkit.errors import ServerError

PACKAGE_ADVICE = (
    "Install a server:\n"
    "  Debian, Ubuntu:  apt-get install mariadb-server\n"
    "  Fedora, RHEL:    dnf install mariadb-server"
)

_SERVER_NAMES = ("mariadbd", "mysqld")
_INSTALL_DB_NAMES = ("mariadb-install-db", "mysql_install_db")
_SERVER_FOLDERS = ("bin", "sbin", "libexec")
_INSTALL_DB_FOLDERS = ("scripts", "bin")
_SYSTEM_ROOTS = ("/usr", "/usr/local", "/usr/local/mysql")
_ANSWER_LIMIT_S = 20
_OPTION_IN_USAGE = re.compile(r"^  (?:-\w, |    )?--([a-z][\w-]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Install:
    """Server binaries.

    Attributes
    ----------
    path : Path or None
        The directory that holds them; None for the system's own.
    mariadbd : Path
    install_db : Path
        The script that makes a data directory.
    version : str
        Such as ``10.11.19-MariaDB``.
    """

    path: Path | None
    mariadbd: Path
    install_db: Path
    version: str

    @property
    def label(self) -> str:
        """Where it is, for people and for the stored record."""
        return "system" if self.path is None else str(self.path)

    def option_names(self) -> list[str]:
        """Ask the server which options it knows; their names with ``_``."""
        usage = _run(self.mariadbd, "--no-defaults", "--verbose", "--help").stdout
        return [name.replace("-", "_") for name in _OPTION_IN_USAGE.findall(usage)]


def find_install(path: str | os.PathLike[str] | None = None) -> Install:
    """Return the server install at a directory, or the system's.

    Parameters
    ----------
    path : path-like, optional
        A directory such as an unpacked tarball, with ``bin/mariadbd`` and
        ``scripts/mariadb-install-db``. By default the programs on PATH and in the usual
        system folders.

    Raises
    ------
    ServerError
        Saying what was looked for and where, or why the program does not run.
    """
    if path is None:
        return _find_system_install()
    root = Path(path).absolute()
    if not root.is_dir():
        raise ServerError(f"the server install {root} is not a directory")
    mariadbd = _first_program(_SERVER_NAMES, [root / f for f in _SERVER_FOLDERS])
    install_db = _first_program(_INSTALL_DB_NAMES, [root / f for f in _INSTALL_DB_FOLDERS])
    if mariadbd is None:
        raise ServerError(
            f"no server in {root}: looked for {' and '.join(_SERVER_NAMES)} in "
            f"{', '.join(_SERVER_FOLDERS)}"
        )
    if install_db is None:
        raise ServerError(
            f"no {_INSTALL_DB_NAMES[0]} in {root}: looked in {', '.join(_INSTALL_DB_FOLDERS)}"
        )
    return Install(root, mariadbd, install_db, _probe_version(mariadbd))


def _find_system_install() -> Install:
    on_path = [Path(folder) for folder in os.get_exec_path() if folder]
    usual = [Path(root, f) for root in _SYSTEM_ROOTS for f in (*_SERVER_FOLDERS, "scripts")]
    mariadbd = _first_program(_SERVER_NAMES, [*on_path, *usual])
    install_db = _first_program(_INSTALL_DB_NAMES, [*on_path, *usual])
    if mariadbd is None:
        raise ServerError(
            f"no MariaDB server found: looked for {' and '.join(_SERVER_NAMES)} on PATH and "
            f"in the folders of {', '.join(_SYSTEM_ROOTS)}.\n{PACKAGE_ADVICE}"
        )
    if install_db is None:
        raise ServerError(
            f"found the server {mariadbd} but no {_INSTALL_DB_NAMES[0]}.\n{PACKAGE_ADVICE}"
        )
    return Install(None, mariadbd, install_db, _probe_version(mariadbd))


def _first_program(names: Iterable[str], folders: Iterable[Path]) -> Path | None:
    candidates = (folder / name for name in names for folder in folders)
    return next((p for p in candidates if p.is_file() and os.access(p, os.X_OK)), None)


def _probe_version(mariadbd: Path) -> str:
    """Return the version the program reports, which also proves that it runs here."""
    answer = _run(mariadbd, "--no-defaults", "--version")
    version = re.search(r"Ver (\S+)", answer.stdout)
    if answer.returncode != 0 or version is None:
        raise ServerError(f"{mariadbd} does not run: {(answer.stderr or answer.stdout).strip()}")
    return version[1]


def _run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [str(program), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerError(f"{program} does not run: {error}") from error
