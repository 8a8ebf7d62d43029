"""Server configurations: a named set of options, and its text as an option file.

Owns how option names and values are written, and which options every private server gets
unless the user says otherwise. Reads and writes no file.
"""

import hashlib
import math
import re
from collections.abc import Mapping
from numbers import Integral, Real
from types import MappingProxyType

from benchkit.errors import ConfigError

Value = str | int | float | bool | None

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
_PLAIN_VALUE = re.compile(r"[\w./:+,@%*=-]+", re.ASCII)
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\t": "\\t"})

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


class Config:
    """A named set of server options; immutable, and equal to one that reads the same.

    Parameters
    ----------
    name : str
        How the setup is called in tables and plots.
    options : mapping of str to str, int, float, bool or None
        Option names with ``_`` or ``-``. True and False are written ON and OFF, None as the
        bare option without a value (``log_bin``).

    Raises
    ------
    ConfigError
        For a name or value that an option file cannot hold.
    """

    __slots__ = ("_name", "_options")

    _name: str
    _options: Mapping[str, Value]

    def __init__(self, name: str, options: Mapping[str, Value] = MappingProxyType({})) -> None:
        if not name or not name.isprintable():
            raise ConfigError(f"a configuration needs a printable name, not {name!r}")
        if not isinstance(options, Mapping):
            raise ConfigError(f"options must be a mapping of names to values, not {options!r:.200}")
        self._name = name
        self._options = MappingProxyType(_normalised(options))

    @property
    def name(self) -> str:
        """How the setup is called."""
        return self._name

    @property
    def options(self) -> Mapping[str, Value]:
        """The options by name, written with ``_`` and sorted."""
        return self._options

    @property
    def sha12(self) -> str:
        """The first 12 hexadecimal digits of the SHA-256 of `render()`."""
        return hashlib.sha256(self.render().encode()).hexdigest()[:12]

    def replace(self, name: str, **options: Value) -> "Config":
        """Return a configuration under a new name, with these options added or changed."""
        return Config(name, {**self._options, **_normalised(options)})

    def render(self) -> str:
        """Return the options as the text of an option file."""
        return render_options(self._options)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Config):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Config({self._name!r}, {dict(self._options)!r})"

    def __reduce__(self) -> tuple[type["Config"], tuple[str, dict[str, Value]]]:
        return Config, (self._name, dict(self._options))

    def _key(self) -> tuple[str, str]:
        return self._name, self.render()


def render_options(options: Mapping[str, Value], section: str = "mariadbd") -> str:
    """Return options, by normalised name, as an option file with one section."""
    lines = [
        name if value is None else f"{name} = {_value_text(name, value)}"
        for name, value in options.items()
    ]
    return "\n".join([f"[{section}]", *lines, ""])


def private_options(config: Config, port: int | None) -> dict[str, Value]:
    """Return the options of a private server, without those that name its files.

    Parameters
    ----------
    config : Config
        Its options win over `PRIVATE_DEFAULTS` and over the choice of network.
    port : int or None
        TCP port on 127.0.0.1; None for a server that listens on its socket only.

    Raises
    ------
    ConfigError
        When the configuration sets an option that benchkit must own.
    """
    for name in config.options:
        if name in RESERVED:
            raise ConfigError(
                f"configuration {config.name!r} sets {name}, which a private server "
                f"does not take: {RESERVED[name]}"
            )
    network: dict[str, Value] = {"skip_networking": True} if port is None else {"port": port}
    defaults = {name: value for name, value, _ in PRIVATE_DEFAULTS}
    return {**defaults, **network, **config.options}


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
        _value_text(name, value)
        result[name] = value
    return dict(sorted(result.items()))


def _value_text(name: str, value: Value) -> str:
    """Return a value as an option file writes it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        # Not 1 and 0: an option with several words, gtid_mode say, counts them its own way.
        return "ON" if value else "OFF"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real) and math.isfinite(value):
        return repr(float(value))
    if isinstance(value, str) and "\n" not in value and "\r" not in value and "\0" not in value:
        plain = _PLAIN_VALUE.fullmatch(value)
        return value if plain else f'"{value.translate(_ESCAPES)}"'
    raise ConfigError(
        f"option {name} cannot be {value!r}: a value is one line of text, a finite number, "
        "True, False or None"
    )
