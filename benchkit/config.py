"""Server configurations: a named set of options, where they come from, and their text.

Owns how option names and values are written, and which options every private server gets
unless the user says otherwise. Reads option files through `optionfile`, writes none.
"""

import hashlib
import math
import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType

from benchkit.errors import ConfigError, StudyWarning
from benchkit.optionfile import OptionFile, read_option_file
from benchkit.optionvalue import REDACTED, is_secret

Scalar = str | int | float | bool | None
Value = Scalar | tuple[Scalar, ...]
"""What an option is set to; several values where it is given several times."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
_GROUPS_MAX = 20  # that a warning names
_PLAIN_VALUE = re.compile(r"[\w./:+,@%*=-]+", re.ASCII)
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\t": "\\t"})

PYTHON, FILE, STUDY_FILE = "PYTHON", "FILE", "STUDY_FILE"
CLI, INLINE_BLOCK, PROPERTIES_FILE = "CLI", "USER_PROPERTIES_INLINE_BLOCK", "USER_PROPERTIES_FILE"
"""Where options come from, as reports say it: a script, an option file that a script names, a
study file, the command line, a block in a properties file, a file that such a file names."""

PRIVATE_DEFAULTS: tuple[tuple[str, Value, str], ...] = (
    # option, value, why it differs from the server's own default
    ("bind_address", "127.0.0.1", "its root user has no password"),
    ("skip_name_resolve", True, "a login must not wait for DNS"),
    ("max_connections", 1000, "thread sweeps go beyond 151; costs nothing until used"),
    ("max_prepared_stmt_count", 1048576, "tables x threads x statements passes 16382"),
    ("innodb_buffer_pool_dump_at_shutdown", False, "no pages are loaded in the background"),
    ("innodb_buffer_pool_load_at_startup", False, "of a measurement after a restart"),
)

RESERVED: Mapping[str, str] = MappingProxyType(
    {
        "datadir": "give Server(directory=...)",
        "port": "give Server(port=...)",
        "basedir": "give Server(install=...)",
        "socket": "it lies in the server's directory",
        "pid_file": "it lies in the server's directory",
        "log_error": "it lies in the server's directory",
        "user": "a server started by root drops to the user mysql",
    }
)


FOREIGN_FOLDERS = (
    *("innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory"),
    *("aria_log_dir_path", "tmpdir", "slave_load_tmpdir", "plugin_dir"),
)
FOREIGN_FILES = (
    *("log_bin", "log_bin_index", "relay_log", "relay_log_index", "log_basename"),
    *("general_log_file", "slow_query_log_file"),
)
"""Options of an option file that name places of the server it was written for."""


_DATA_PLACES = (
    *("innodb_data_home_dir", "innodb_data_file_path", "innodb_log_group_home_dir"),
    *("innodb_undo_directory", "innodb_doublewrite_dir", "aria_log_dir_path"),
    *("log_bin", "log_bin_index", "relay_log", "relay_log_index", "log_basename"),
)
"""Options that can put data elsewhere than in the data directory."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the options of a configuration come from.

    Parameters
    ----------
    origin : str
        `PYTHON`, `FILE`, ...
    source : Path or None
        The file they were read from.
    included : tuple of Path
        Files that it includes.
    product, version : str or None
        For whose groups the file was read; None where there is no file, or no version was said.
    changed : tuple of str
        Options that were set after the file was read.
    """

    origin: str = PYTHON
    source: Path | None = None
    included: tuple[Path, ...] = ()
    product: str | None = None
    version: str | None = None
    changed: tuple[str, ...] = ()


class Config:
    """A named set of server options; immutable, and equal to one that reads the same.

    Parameters
    ----------
    name : str
        How the setup is called in tables and plots.
    options : mapping of str to str, int, float, bool or None
        Option names with ``_`` or ``-``. True and False are written ON and OFF, None as the
        bare option without a value (``log_bin``), a list as the option once for each value.
    provenance : Provenance, optional
        Where the options come from; by default, from a script.

    Raises
    ------
    ConfigError
        For a name or value that an option file cannot hold.
    """

    __slots__ = ("_name", "_options", "_provenance")

    _name: str
    _options: Mapping[str, Value]
    _provenance: Provenance

    def __init__(
        self,
        name: str,
        options: Mapping[str, Value] = MappingProxyType({}),
        provenance: Provenance = Provenance(),
    ) -> None:
        if not name or not name.isprintable():
            raise ConfigError(f"a configuration needs a printable name, not {name!r}")
        if not isinstance(options, Mapping):
            raise ConfigError(f"options must be a mapping of names to values, not {options!r:.200}")
        self._name = name
        self._options = MappingProxyType(_normalised(options))
        self._provenance = provenance

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        name: str | None = None,
        *,
        product: str = "MariaDB",
        version: str | None = None,
        origin: str = FILE,
    ) -> "Config":
        """Read an option file, such as a my.cnf, with all files it includes.

        Parameters
        ----------
        path : path-like
        name : str, optional
            How the setup is called; by default the file's name without its ending.
        product : str
            ``"MariaDB"`` or ``"MySQL"``: decides which groups are read.
        version : str, optional
            Such as ``"10.11.6"``: read [mariadb-10.11] too. Without it no such group is read.
        origin : str
            How reports call the origin.

        Returns
        -------
        Config
            With the options of the server's groups; where one is given more than once, the
            last. Options of which a server takes every one keep all values.

        Warns
        -----
        StudyWarning
            Of files to include that are not there, and where no option is a server's.

        Raises
        ------
        ConfigError
            When the file cannot be read, includes itself, or holds what a server refuses; the
            message names file and line.
        """
        file = read_option_file(path)
        for problem in file.problems:
            warnings.warn(problem, StudyWarning, stacklevel=2)
        provenance = Provenance(origin, product=product, version=version)
        return config_from_options(file, name or file.path.stem, provenance)

    @property
    def name(self) -> str:
        """How the setup is called."""
        return self._name

    @property
    def options(self) -> Mapping[str, Value]:
        """The options by name, written with ``_`` and sorted."""
        return self._options

    @property
    def provenance(self) -> Provenance:
        """Where the options come from; makes no difference to what they are."""
        return self._provenance

    @property
    def sha12(self) -> str:
        """The first 12 hexadecimal digits of the SHA-256 of `render_stored()`."""
        return hashlib.sha256(self.render_stored().encode()).hexdigest()[:12]

    def replace(self, name: str, **options: Value) -> "Config":
        """Return a configuration under a new name, with these options added or changed."""
        changed = _normalised(options)
        names = tuple(dict.fromkeys((*self._provenance.changed, *changed)))
        provenance = replace(self._provenance, changed=names)
        return Config(name, {**self._options, **changed}, provenance)

    def render(self) -> str:
        """Return the options as the text of an option file."""
        return render_options(self._options)

    def render_stored(self) -> str:
        """Return the text as it is stored: without passwords."""
        shown = {k: REDACTED if is_secret(k) else v for k, v in self._options.items()}
        return render_options(shown)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Config):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Config({self._name!r}, {dict(self._options)!r})"

    def __reduce__(self) -> tuple[type["Config"], tuple[str, dict[str, Value], Provenance]]:
        return Config, (self._name, dict(self._options), self._provenance)

    def _key(self) -> tuple[str, str]:
        return self._name, self.render()


def render_options(options: Mapping[str, Value]) -> str:
    """Return options, by normalised name, as an option file.

    Its one section is one that servers of all products read.
    """
    lines = [
        name if value is None else f"{name} = {_value_text(name, value)}"
        for name, values in options.items()
        for value in (values if isinstance(values, tuple) else (values,))
    ]
    return "\n".join(["[mysqld]", *lines, ""])


def config_from_options(file: OptionFile, name: str, provenance: Provenance) -> Config:
    """Return the options that a server reads in an option file.

    Parameters
    ----------
    file : OptionFile
    name : str
    provenance : Provenance
        Product and version decide which groups are read; the files are filled in.

    Warns
    -----
    StudyWarning
        Where there are options, but none in a group that the server reads.

    Raises
    ------
    ConfigError
        For a line that cannot be an option, naming file and line.
    """
    product, version = provenance.product or "MariaDB", provenance.version
    for line in file.server_lines(product, version):
        try:
            _normalised({line.name: line.value})
        except ConfigError as error:
            raise ConfigError(f"{line.place}: {error}") from error
    options = file.server_options(product, version)
    if file.lines and not options:
        groups = ", ".join(f"[{group}]" for group in file.groups[:_GROUPS_MAX])
        whose = f"{product} {version}" if version else f"{product} of no certain version"
        message = f"{file.path} has no option for {whose}: its groups are {groups}"
        warnings.warn(message, StudyWarning, stacklevel=3)
    origin = replace(provenance, source=file.path, included=file.included, product=product)
    return Config(name, options, origin)


def private_options(config: Config, port: int | None) -> dict[str, Value]:
    """Return the options of a private server, without those that name its files.

    Parameters
    ----------
    config : Config
        Its options win over `PRIVATE_DEFAULTS` and over the choice of network. Those that an
        option file sets for the server it was written for are left out: see `left_out`.
    port : int or None
        TCP port on 127.0.0.1; None for a server that listens on its socket only.

    Raises
    ------
    ConfigError
        When a script, or a study file, sets an option that benchkit must own; when there is no
        such port.
    """
    is_port = port is None or (type(port) is int and 0 < port < 1 << 16)
    if not is_port:
        raise ConfigError(f"port must be an integer from 1 to 65535, not {port!r}")
    for name in config.options:
        if name in RESERVED and name not in _from_file(config):
            raise ConfigError(
                f"configuration {config.name!r} sets {name}, which a private server "
                f"does not take: {RESERVED[name]}"
            )
    network: dict[str, Value] = {"skip_networking": True} if port is None else {"port": port}
    defaults = {name: value for name, value, _ in PRIVATE_DEFAULTS}
    own = dict(config.options)
    for name in _foreign(config):
        kept = _kept_of(name, own.pop(name))
        own |= {name: kept} if kept else {}
    return {**defaults, **network, **own}


def places_outside(config: Config) -> tuple[str, ...]:
    """Return, as ``name=value``, options by which data lie outside a private data directory."""
    own = private_options(config, None)
    given = {name: own[name] for name in _DATA_PLACES if own.get(name) is not None}
    return tuple(f"{name}={value}" for name, value in given.items() if _leads_out(str(value)))


def _leads_out(places: str) -> bool:
    return any(part.startswith("/") or ".." in Path(part).parts for part in places.split(";"))


def left_out(config: Config) -> tuple[str, ...]:
    """Say which options of an option file a private server does not take as they are written.

    They name files, or the address, of the server that the file was written for.
    """
    foreign = {name: config.options[name] for name in _foreign(config)}
    gone = [f"{name}={value}" for name, value in foreign.items() if not _kept_of(name, value)]
    source = config.provenance.source
    notes = [f"{source}: a private server has its own {', '.join(gone)}"] if gone else []
    moved = (f"{name}={value}" for name, value in foreign.items() if _kept_of(name, value))
    return (
        *notes,
        *(f"{source}: {text} is in the private server's data directory" for text in moved),
    )


def _from_file(config: Config) -> dict[str, Value]:
    """Return the options as the file has them that the configuration was read from."""
    if config.provenance.origin in (PYTHON, STUDY_FILE):
        return {}
    changed = config.provenance.changed
    return {name: value for name, value in config.options.items() if name not in changed}


def _foreign(config: Config) -> list[str]:
    """Return the options of a file that name places of another server."""
    return [
        name
        for name, value in _from_file(config).items()
        if name in RESERVED or _names_folder(name, str(value or "").removeprefix("./"))
    ]


def _names_folder(name: str, place: str) -> bool:
    """Tell whether a place is in a folder that a private server does not have."""
    if name in FOREIGN_FOLDERS:
        return place not in ("", ".")
    return name in FOREIGN_FILES and "/" in place


def _kept_of(name: str, value: Value) -> str:
    """Return what a private server takes of a foreign value: a file's name, or nothing."""
    return Path(str(value)).name if name in FOREIGN_FILES else ""


def _normalised(options: Mapping[str, Value]) -> dict[str, Value]:
    result: dict[str, Value] = {}
    for given, value in options.items():
        name = str(given).replace("-", "_")
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{given!r} is not an option name: letters, digits and _, as in "
                "'innodb_buffer_pool_size'"
            )
        if name in result:
            raise ConfigError(f"option {name} is given twice, once with - and once with _")
        result[name] = _checked(name, value)
    return dict(sorted(result.items()))


def _checked(name: str, value: Value | list[Scalar]) -> Value:
    """Return a value, or several as a tuple, once an option file can hold it."""
    if not isinstance(value, tuple | list):
        _value_text(name, value)
        return value
    if not value:
        raise ConfigError(f"option {name} cannot be an empty list: leave the option out")
    for each in value:
        _value_text(name, each)
    return tuple(value)


def _value_text(name: str, value: Scalar) -> str:
    """Return a value as an option file writes it."""
    if isinstance(value, Real) and not math.isfinite(value):
        raise _bad_value(name, value)
    if not isinstance(value, str):
        return option_text(value, name)
    if set(value) & set("\n\r\0"):
        raise _bad_value(name, value)
    return value if _PLAIN_VALUE.fullmatch(value) else f'"{value.translate(_ESCAPES)}"'


def option_text(value: Scalar, name: str = "") -> str:
    """Return a value as text, without quotes; empty for None."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        # Not 1 and 0: an option with several words, gtid_mode say, counts them its own way.
        return "ON" if value else "OFF"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    raise _bad_value(name, value)


def _bad_value(name: str, value: object) -> ConfigError:
    return ConfigError(
        f"option {name} cannot be {value!r}: a value is one line of text, a finite number, "
        "True, False or None"
    )
