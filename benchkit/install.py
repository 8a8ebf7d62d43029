"""Server binaries: those of the system's packages, or of a folder.

An install is where the binaries are, which product and version they are, and what they need to
find their own files. It holds no data and runs no server.
"""

import os
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from benchkit.binary import explain_failure, run_program
from benchkit.config import Value
from benchkit.errors import ServerError

PACKAGE_ADVICE = (
    "Install a server:\n"
    "  Debian, Ubuntu:  apt-get install mariadb-server\n"
    "  Fedora, RHEL:    dnf install mariadb-server"
)
UNPACK_ADVICE = "unpack it first: benchkit server unpack"

MARIADB, MYSQL, PERCONA = "MariaDB", "MySQL", "Percona Server"
ARCHIVE_ENDINGS = (".tar.gz", ".tgz", ".tar.xz", ".txz")

_SERVER_NAMES = ("mariadbd", "mysqld")
_SERVER_FOLDERS = ("bin", "sbin", "libexec")
_INSTALL_DB_NAMES = ("mariadb-install-db", "mysql_install_db")
_INSTALL_DB_FOLDERS = ("scripts", "bin")
_SHARE_FOLDERS = ("share/mariadb", "share/mysql", "share")
_MESSAGES = "english/errmsg.sys"
_PLUGIN_FOLDERS = tuple(
    f"{library}/{product}plugin"
    for product in ("", "mariadb/", "mysql/")
    for library in ("lib", "lib64")
)
_SYSTEM_ROOTS = ("/usr", "/usr/local", "/usr/local/mysql")
# MySQL would listen to the X protocol, insist on a folder for SELECT INTO OUTFILE that packages
# make, and upgrade data of an older release; not each of its releases knows all three.
_MYSQL_OPTIONS: dict[str, Value] = {
    "loose_mysqlx": False,
    "secure_file_priv": "NULL",
    "loose_upgrade": "NONE",
}
_OPTION_IN_USAGE = re.compile(r"^  (?:-\w, |    )?--([a-z][\w-]*)", re.MULTILINE)


class Install:
    """Server binaries: an unpacked archive, a build's install, or the system's packages.

    Nothing is looked at before it is asked for; `check` looks at everything.

    Parameters
    ----------
    path : path-like, optional
        A folder with ``bin/mariadbd`` or ``bin/mysqld`` (or ``sbin``, ``libexec``) and its
        ``share``. By default the programs on PATH and in the usual folders of the system.
    """

    def __init__(self, path: "str | os.PathLike[str] | None" = None) -> None:
        self.path = None if path is None else Path(path).expanduser().absolute()

    def check(self) -> "Install":
        """Return the install, once all that a private server needs is known to be there.

        Raises
        ------
        ServerError
            Saying each thing that is missing and where it was looked for, or why the program
            does not run.
        """
        missing = self._missing()
        if missing:
            raise ServerError(_unusable_message(self.path, missing))
        return self

    @property
    def label(self) -> str:
        """Where it is, for people and for the stored record."""
        return "system" if self.path is None else str(self.path)

    @cached_property
    def server(self) -> Path:
        """The server program.

        Raises
        ------
        ServerError
            When there is none.
        """
        found = _first_program(_SERVER_NAMES, self._folders(_SERVER_FOLDERS))
        if found is None:
            if self.path is not None:
                _check_folder(self.path)
            raise ServerError(_unusable_message(self.path, [_no_server(self.path)]))
        return found

    @cached_property
    def install_db(self) -> Path | None:
        """The script that makes MariaDB's data directories; MySQL's server does that itself."""
        return _first_program(_INSTALL_DB_NAMES, self._folders(_INSTALL_DB_FOLDERS))

    @cached_property
    def share(self) -> Path | None:
        """The folder of the server's messages, ``lc_messages_dir``."""
        folders = (self._root / folder for folder in _SHARE_FOLDERS)
        return next((folder for folder in folders if (folder / _MESSAGES).is_file()), None)

    @cached_property
    def plugins(self) -> Path | None:
        """The folder of the server's plugins; None where it has none."""
        folders = (self._root / folder for folder in _PLUGIN_FOLDERS)
        return next((folder for folder in folders if folder.is_dir()), None)

    @property
    def product(self) -> str:
        """``MariaDB``, ``MySQL`` or ``Percona Server``.

        Raises
        ------
        ServerError
            When the server program does not run.
        """
        return product_of(self._answer)

    @property
    def version(self) -> str:
        """What the server calls its version, such as ``10.11.19-MariaDB`` or ``9.7.4``.

        Raises
        ------
        ServerError
            When the server program does not run.
        """
        found = _VERSION.search(self._answer)
        assert found is not None
        return found[1]

    @property
    def name(self) -> str:
        """Product and release for people, such as ``MariaDB 10.11.19`` or ``MySQL 9.7.4``.

        Raises
        ------
        ServerError
            When the server program does not run.
        """
        return f"{self.product} {re.split(r'[^0-9.]', self.version)[0]}"

    @property
    def initialiser(self) -> str:
        """What makes a data directory, for people."""
        if self.product == MARIADB:
            return str(self.install_db)
        return f"{self.server} --initialize-insecure"

    def default_options(self) -> dict[str, Value]:
        """Return the options of a private server that depend on the install; users may differ."""
        options: dict[str, Value] = {}
        if self.path is not None and self.share is not None:
            options["lc_messages_dir"] = str(self.share)
        if self.path is not None and self.plugins is not None:
            options["plugin_dir"] = str(self.plugins)
        return options if self.product == MARIADB else {**options, **_MYSQL_OPTIONS}

    def option_names(self) -> list[str]:
        """Ask the server which options it knows; their names with ``_``."""
        messages = [] if self.share is None else [f"--lc-messages-dir={self.share}"]
        answer = run_program(self.server, "--no-defaults", *messages, "--verbose", "--help")
        return [name.replace("-", "_") for name in _OPTION_IN_USAGE.findall(answer.stdout)]

    def __eq__(self, other: object) -> bool:
        return self.path == other.path if isinstance(other, Install) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.path)

    def __fspath__(self) -> str:
        return str(self._root)

    def __repr__(self) -> str:
        try:
            return f"<Install {self.product} {self.version} at {self.label}>"
        except ServerError as error:
            return f"<Install at {self.label}, not usable: {str(error).partition(chr(10))[0]}>"

    @cached_property
    def _answer(self) -> str:
        """What the program says of its version, which also proves that it runs here."""
        answer = run_program(self.server, "--no-defaults", "--version")
        if answer.returncode != 0 or _VERSION.search(answer.stdout) is None:
            raise ServerError(explain_failure(self.server, answer.stderr or answer.stdout))
        return answer.stdout

    @property
    def _root(self) -> Path:
        return self.server.parent.parent if self.path is None else self.path

    def _folders(self, names: Iterable[str]) -> list[Path]:
        if self.path is not None:
            return [self.path / name for name in names]
        on_path = [Path(folder) for folder in os.get_exec_path() if folder]
        names = dict.fromkeys([*_SERVER_FOLDERS, *names])
        return [*on_path, *(Path(root, name) for root in _SYSTEM_ROOTS for name in names)]

    def _missing(self) -> list[str]:
        """Say what is not there beside a server program that runs."""
        missing = []
        if self.product == MARIADB and self.install_db is None:
            where = _places(self.path, _INSTALL_DB_FOLDERS)
            missing.append(f"no {' or '.join(_INSTALL_DB_NAMES)}: looked in {where}")
        if self.share is None and self.path is not None:
            where = _places(self.path, _SHARE_FOLDERS)
            missing.append(f"no messages of the server ({_MESSAGES}): looked in {where}")
        return missing


_VERSION = re.compile(r"Ver (\S+)")


def product_of(text: str) -> str:
    """Return whose server it is, from what it says of its version."""
    lowered = text.lower()
    return MARIADB if "mariadb" in lowered else PERCONA if "percona" in lowered else MYSQL


def find_install(path: str | os.PathLike[str] | None = None) -> Install:
    """Return the usable server install at a folder, or the system's.

    Raises
    ------
    ServerError
        As `Install.check`.
    """
    return (path if isinstance(path, Install) else Install(path)).check()


def _check_folder(root: Path) -> None:
    """Raise ServerError, with what would help, where there is no folder of binaries."""
    if root.is_file() and root.name.endswith(ARCHIVE_ENDINGS):
        raise ServerError(f"the server install {root} is an archive: {UNPACK_ADVICE} {root} DIR")
    if not root.is_dir():
        raise ServerError(f"the server install {root} is not a directory")


def _no_server(root: Path | None) -> str:
    where = _places(root, _SERVER_FOLDERS)
    return f"no server: looked for {' and '.join(_SERVER_NAMES)} in {where}"


def _places(root: Path | None, folders: Iterable[str]) -> str:
    names = ", ".join(folders)
    return names if root else f"the folders of PATH and {names} of {', '.join(_SYSTEM_ROOTS)}"


def _unusable_message(root: Path | None, missing: list[str]) -> str:
    if root is None:
        return f"this system has {'; '.join(missing)}.\n{PACKAGE_ADVICE}"
    return f"the server install {root} has {'; '.join(missing)}{_hint(root)}"


def _hint(root: Path) -> str:
    """Say what was probably meant."""
    if (root / "CMakeCache.txt").exists():
        return f". It is a build that is not installed: cmake --install {root} --prefix DIR"
    inner = [p for p in sorted(root.glob("*/")) if _first_program(_SERVER_NAMES, _inside(p))]
    return f": did you mean {inner[0]}?" if len(inner) == 1 else ""


def _inside(root: Path) -> list[Path]:
    return [root / folder for folder in _SERVER_FOLDERS]


def _first_program(names: Iterable[str], folders: Iterable[Path]) -> Path | None:
    folders = list(folders)
    candidates = (folder / name for name in names for folder in folders)
    return next((p for p in candidates if p.is_file() and os.access(p, os.X_OK)), None)
