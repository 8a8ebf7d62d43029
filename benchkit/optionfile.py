"""Reading option files of MariaDB and MySQL as the servers read them.

Groups, ``!include`` and ``!includedir``, quotes, escapes, comments. What an option means is not
decided here, and no option is dropped: those of other groups are kept with their group. Paths
after ``!include`` are relative to the file that names them, where a server takes its own working
directory. The rules were checked against ``my_print_defaults``.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchkit.errors import ConfigError
from benchkit.optionvalue import normalise_option

Values = str | None | tuple[str | None, ...]
"""One value, None for a bare option, or all values of an option that is given several times."""

SPACE = " \t\n\v\f\r"

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\"}
_DIRECTIVE = re.compile(r"!\s*(includedir|include)\s+(.*)", re.DOTALL)
_VERSION = re.compile(r"(\d+)\.(\d+)")

_EVERY_MARIADBS = ("mysqld", "server", "mariadb", "client-server")
_SERVER_GROUPS = {
    "MariaDB": (*_EVERY_MARIADBS, "mariadbd", "galera"),  # since 10.4, where Galera is built in
    "MySQL": ("mysqld", "server"),
    "Percona Server": ("mysqld", "server"),
}
_VERSIONED_GROUPS = {"MariaDB": ("mysqld", "mariadb", "mariadbd")}
_MAJOR_GROUPS_SINCE = 11  # from here on MariaDB reads [mariadb-11] beside [mariadb-11.8]
_MAJOR_GROUPS = ("mariadb", "mariadbd")

MULTIPLE = frozenset(
    {
        "performance_schema_instrument",
        "plugin_load_add",
        "optimizer_switch",  # each text changes some of its flags
        *(f"binlog_{which}_db" for which in ("do", "ignore")),
        *(f"replicate_{which}_{what}" for which in ("do", "ignore") for what in ("db", "table")),
        *(f"replicate_wild_{which}_table" for which in ("do", "ignore")),
        "replicate_rewrite_db",
        "set_variable",  # old: it names the option in its value
    }
)
"""Options of which a server takes every occurrence, not the last one only."""


@dataclass(frozen=True, slots=True)
class OptionLine:
    """One option as it is written.

    Parameters
    ----------
    group : str
        The group it stands in, without brackets.
    name : str
        As it is written, with ``-`` or ``_``; whether it can be one is not checked here.
    value : str or None
        Without quotes and escapes; None where there is no ``=``.
    file : Path
    line : int
        From 1.
    """

    group: str
    name: str
    value: str | None
    file: Path
    line: int

    @property
    def key(self) -> str:
        """The name with ``_``."""
        return self.name.replace("-", "_")

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class OptionFile:
    """All that an option file and the files it includes say, in the order of a server.

    Parameters
    ----------
    path : Path
    lines : tuple of OptionLine
        The options of all groups.
    included : tuple of Path
        The other files that were read.
    problems : tuple of str
        What a server passes over, or reads in another way: files that are not there.
    """

    path: Path
    lines: tuple[OptionLine, ...]
    included: tuple[Path, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that hold options, in the order in which they are first met."""
        return tuple(dict.fromkeys(line.group for line in self.lines))

    @property
    def option_lines(self) -> int:
        """How many options stand in [mysqld], [server], [mariadb] and [client-server].

        Those are the groups that every MariaDB server reads, whatever its version and build.
        """
        return len(self._every_servers())

    @property
    def effective_options(self) -> int:
        """How many different options these are, however they are spelled."""
        return len({normalise_option(line.name, line.value).name for line in self._every_servers()})

    @property
    def values(self) -> dict[str, Values]:
        """What a MariaDB server of no certain version takes: `server_options` by plain names.

        Names are without ``loose_``; what ``skip_x``, ``disable_x`` and ``enable_x`` switch is
        ``x`` with the value OFF or ON. A name in any other spelling finds the same option.
        """
        return _ByPlainName(_plain(name, value) for name, value in self.server_options().items())

    def _every_servers(self) -> list[OptionLine]:
        return [line for line in self.lines if line.group in _EVERY_MARIADBS]

    def server_lines(
        self, product: str = "MariaDB", version: str | None = None
    ) -> tuple[OptionLine, ...]:
        """Return the options that a server of this product and version reads, in order."""
        groups = server_groups(product, version)
        return tuple(line for line in self.lines if line.group in groups)

    def server_options(
        self, product: str = "MariaDB", version: str | None = None
    ) -> dict[str, Values]:
        """Return the options by name with ``_``, each as a server takes it.

        Of an option that is given more than once the last value counts, under the spelling it
        has there; those of `MULTIPLE` keep all values, as a tuple.
        """
        found: dict[str, list[OptionLine]] = {}
        for line in self.server_lines(product, version):
            alike = normalise_option(line.name, line.value).name
            before = found.pop(alike, [])
            found[alike] = [*before, line] if alike in MULTIPLE else [line]
        return {
            lines[-1].key: lines[0].value if len(lines) == 1 else tuple(i.value for i in lines)
            for lines in found.values()
        }


def read_option_file(path: str | os.PathLike[str]) -> OptionFile:
    """Read an option file, such as a my.cnf, with all files it includes.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    ConfigError
        When it cannot be read, includes itself, or has a line on which a server would refuse
        to start; the message names file and line.
    """
    file = Path(path)
    reader = _Reader()
    try:
        reader.read(file, _decode(file.read_bytes(), file), ())
    except OSError as error:
        raise ConfigError(f"cannot read the option file {file}: {error.strerror}") from error
    return OptionFile(file, *reader.found(file))


def parse_option_text(text: str, path: Path, first_line: int = 1) -> OptionFile:
    """Read the text of an option file that stands in another file, from `first_line` on.

    Raises
    ------
    ConfigError
        As `read_option_file`.
    """
    reader = _Reader()
    reader.read(path, text, (), first_line)
    return OptionFile(path, *reader.found(path))


def server_groups(product: str, version: str | None = None) -> tuple[str, ...]:
    """Return the groups that a server reads.

    Parameters
    ----------
    product : str
        ``"MariaDB"``, ``"MySQL"`` or ``"Percona Server"``.
    version : str, optional
        Such as ``"10.11.6-MariaDB"``; without it groups like [mariadb-10.11] are not read.

    Raises
    ------
    ConfigError
        For a product or version that is none.
    """
    products = {name.lower(): name for name in _SERVER_GROUPS}
    if product.lower() not in products:
        raise ConfigError(f"{product!r} is no product: write {' or '.join(_SERVER_GROUPS)}")
    name = products[product.lower()]
    groups = _SERVER_GROUPS[name]
    if version is None:
        return groups
    number = _VERSION.search(version)
    if number is None:
        raise ConfigError(f"{version!r} is not a version: write one such as '10.11'")
    groups += tuple(f"{group}-{number[0]}" for group in _VERSIONED_GROUPS.get(name, ("mysqld",)))
    if name == "MariaDB" and int(number[1]) >= _MAJOR_GROUPS_SINCE:
        groups += tuple(f"{group}-{number[1]}" for group in _MAJOR_GROUPS)
    return groups


class _ByPlainName(dict[str, Values]):
    """Options by plain names, which are found by other spellings of these, too."""

    def __missing__(self, name: str) -> Values:
        plain = normalise_option(name, None)
        if plain.name == name or plain.name not in self:
            raise KeyError(name)
        value = self[plain.name]
        if plain.shown == "ON" or isinstance(value, tuple):
            return value
        opposite = normalise_option(name, value)
        if opposite.name != plain.name:  # skip_x, and x is no switch
            raise KeyError(name)
        return opposite.shown


def _plain(key: str, value: Values) -> tuple[str, Values]:
    """Return an option under its plain name, with the value that its prefix gives it."""
    if isinstance(value, tuple):
        return key.removeprefix("loose_"), value
    option = normalise_option(key, value)
    is_switched = option.name != key.lower().removeprefix("loose_")
    return option.name, option.shown if is_switched else value


class _Reader:
    """What was read so far, of one file and those it includes."""

    def __init__(self) -> None:
        self._lines: list[OptionLine] = []
        self._files: list[Path] = []
        self._problems: list[str] = []

    def found(self, path: Path) -> tuple[tuple[OptionLine, ...], tuple[Path, ...], tuple[str, ...]]:
        included = tuple(dict.fromkeys(file for file in self._files if file != path))
        return tuple(self._lines), included, tuple(self._problems)

    def read(self, path: Path, text: str, chain: tuple[Path, ...], first_line: int = 1) -> None:
        """Take in a file's text; `chain` holds the files that include it."""
        self._files.append(path)
        group = None
        if "\r" in text and "\n" not in text:
            self._problems.append(f"{path}: its lines end with CR alone, which no server reads")
            text = text.replace("\r", "\n")
        for number, raw in enumerate(text.split("\n"), first_line):
            line = raw.lstrip(SPACE)
            place = f"{path}:{number}"
            if not line or line[0] in "#;":
                continue
            if line[0] == "!":
                self._include(line, place, path, chain)
            elif line[0] == "[":
                group = _group(line, place)
            elif group is None:
                raise ConfigError(
                    f"{place}: option {line.rstrip(SPACE)!r:.60} stands before any group; a "
                    "server's options stand under a line [mysqld]"
                )
            else:
                name, value = _parse_option(line)
                self._lines.append(OptionLine(group, name, value, path, number))

    def _include(self, line: str, place: str, path: Path, chain: tuple[Path, ...]) -> None:
        match = _DIRECTIVE.fullmatch(line)
        if match is None:
            self._problems.append(
                f"{place}: {line.strip(SPACE)!r:.60} is no directive; passed over"
            )
            return
        target = path.parent / match[2].strip(SPACE)
        many = match[1] == "includedir"
        if not (target.is_dir() if many else target.is_file()):
            kind = "folder" if many else "file"
            self._problems.append(f"{place}: there is no {kind} {target} to include")
            return
        for file in _option_files(target) if many else [target]:
            self._read_included(file, place, (*chain, path))

    def _read_included(self, file: Path, place: str, chain: tuple[Path, ...]) -> None:
        if file.resolve() in [each.resolve() for each in chain]:
            way = " -> ".join(str(each) for each in (*chain, file))
            raise ConfigError(f"{place}: option files include each other in a circle: {way}")
        try:
            content = file.read_bytes()
        except OSError as error:
            raise ConfigError(f"{place}: cannot read {file}: {error.strerror}") from error
        self.read(file, _decode(content, file), chain)


def _option_files(folder: Path) -> Iterable[Path]:
    return sorted(file for file in folder.glob("*.cnf") if file.is_file())


def _decode(content: bytes, path: Path) -> str:
    if b"\0" in content:
        raise ConfigError(f"{path} is not an option file: it holds zero bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:  # comments of old files; a server takes bytes as they are
        return content.decode("latin-1")


def _group(line: str, place: str) -> str:
    name, bracket, _ = line[1:].partition("]")
    if not bracket:
        raise ConfigError(f"{place}: the group {line.strip(SPACE)!r:.60} lacks its ]")
    return name.rstrip(SPACE)


def _parse_option(line: str) -> tuple[str, str | None]:
    """Return name and value of an option's line, which begins with no blank."""
    name, equals, value = _without_comment(line).partition("=")
    name = name.rstrip(SPACE)
    if not equals:
        return name, None
    return name, _unescape(_unquote(value.strip(SPACE)))


def _without_comment(line: str) -> str:
    """Cut a line at the first # outside quotes; a quote after a backslash in quotes is none."""
    quote, escaped = "", False
    for place, letter in enumerate(line):
        if letter in "'\"" and not escaped:
            quote = letter if not quote else "" if quote == letter else quote
        if not quote and letter == "#":
            return line[:place]
        escaped = bool(quote) and letter == "\\" and not escaped
    return line


def _unquote(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] in "'\"" and value[0] == value[-1]
    return value[1:-1] if is_quoted else value


def _unescape(value: str) -> str:
    return "".join(_unescaped(value)) if "\\" in value else value


def _unescaped(value: str) -> Iterator[str]:
    letters = iter(value)
    for letter in letters:
        if letter != "\\":
            yield letter
            continue
        after = next(letters, None)
        if after is None:  # a backslash at the end stays
            yield letter
        else:
            yield _ESCAPES.get(after, f"\\{after}")
