"""Studies as TOML files, for the command line; `EXAMPLE` is one.

A server is private unless it has a table ``connect`` (host, port, socket, user, tls; the password
comes from the environment variable BENCHKIT_PASSWORD, never from the file). Its ``config`` is an
option file, whose values its ``options`` replace. Every other key is an argument of `Study`, of
`Server`, or an option of the workload. Paths in the file are relative
to the file's folder. What the values mean, and which are right, is not decided here.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchkit import workloads
from benchkit.api import Study
from benchkit.config import STUDY_FILE, Config, Provenance
from benchkit.errors import StudyError, unknown_name
from benchkit.install import find_install, product_of
from benchkit.server import Server

PASSWORD_VARIABLE = "BENCHKIT_PASSWORD"

EXAMPLE = """\
name = "flush-log"
threads = [1, 4]
iterations = 3
duration = "60s"
warmup = "10s"

[[servers]]
name = "baseline"

[[servers]]
name = "flush-log-2"
options = { innodb_flush_log_at_trx_commit = 2 }

[[servers]]
name = "running"
connect = { host = "db1", port = 3306, user = "bench" }

[[workloads]]
name = "oltp_read_write"
tables = 8
rows = 100_000
"""

Table = dict[str, Any]


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "a text": lambda value: isinstance(value, str),
    "an integer": _is_integer,
    "an integer, or a list of them": lambda value: _is_integer(value) or isinstance(value, list),
    "a number of seconds, or a text": lambda value: isinstance(value, int | float | str),
    "true or false": lambda value: isinstance(value, bool),
    "a table": lambda value: isinstance(value, dict),
    "tables": lambda value: (
        isinstance(value, list) and all(isinstance(item, dict) for item in value)
    ),
}
"""What a value can be, as messages say it, and how to tell."""

_STUDY_KEYS = {
    "name": "a text",
    "servers": "tables",
    "workloads": "tables",
    "threads": "an integer, or a list of them",
    "iterations": "an integer",
    "duration": "a number of seconds, or a text",
    "warmup": "a number of seconds, or a text",
    "transactions": "an integer",
    "order": "a text",
    "seed": "an integer",
    "iteration_mode": "a text",
    "rest_limit": "a number of seconds, or a text",
    "loader_threads": "an integer",
    "monitor": "true or false",
    "profile": "a text",
    "load_cpus": "a text",
    "drop_caches": "true or false",
    "checks": "a text",
    "comment": "a text",
}
_NEEDED_KEYS = ("name", "servers", "workloads", "threads")

_SERVER_KEYS = {
    "name": "a text",
    "config": "a text",
    "options": "a table",
    "install": "a text",
    "directory": "a text",
    "port": "an integer",
    "replicas": "an integer",
    "replica_options": "a table",
    "replica_cpus": "a text",
    "attach": "a text",
    "cpus": "a text",
    "connect": "a table",
}
_CONNECT_KEYS = {
    "host": "a text",
    "port": "an integer",
    "socket": "a text",
    "user": "a text",
    "tls": "true or false",
}


def read_study(path: str | os.PathLike[str]) -> Study:
    """Return the study that a TOML file describes.

    No server is started, but those to connect to must answer.

    Raises
    ------
    StudyError
        When the file is missing, not TOML, lacks a key, or has one that does not exist or is
        of the wrong kind.
    BenchkitError
        What `Study`, `Server` and the workloads find wrong with their values.
    """
    file = _read_file(Path(path))
    data = file.check("", file.data, _STUDY_KEYS)
    for key in _NEEDED_KEYS:
        if key not in data:
            raise StudyError(f"{path} has no {_written(key)}; a study needs one")
    servers = [_make_server(file, item) for item in data["servers"]]
    chosen = [_make_workload(file, item) for item in data["workloads"]]
    return Study(**{**data, "servers": servers, "workloads": chosen})


def default_folder(name: str) -> Path:
    """Return where a study of this name is stored unless the user says otherwise."""
    return Path("results") / (re.sub(r"[^\w.+=-]+", "-", name).strip("-.") or "study")


@dataclass(frozen=True, slots=True)
class _File:
    """A study file, for what it holds and for saying where something in it is wrong."""

    path: Path
    text: str
    data: Table

    def check(self, where: str, table: Table, known: Mapping[str, str]) -> Table:
        """Return the table, once every key is known and of its kind."""
        for key, value in table.items():
            if key not in known:
                raise self.error(key, where + unknown_name("key", key, known))
            if not _KINDS[known[key]](value):
                wanted = known[key] + (f", each under {_written(key)}" if _is_list(key) else "")
                raise self.error(key, f"{where}{key} must be {wanted}, not {value!r}")
        return table

    def error(self, key: str, message: str) -> StudyError:
        """Return an error that names the key's line, where just one line can be meant."""
        name = re.escape(key)
        pattern = rf"""^\s*(?:["']?{name}["']?\s*[.=]|\[+\s*{name}\s*\])"""
        lines = [
            number
            for number, line in enumerate(self.text.splitlines(), 1)
            if re.match(pattern, line)
        ]
        line = f", line {lines[0]}" if len(lines) == 1 else ""
        return StudyError(f"{self.path}{line}: {message}")

    def resolve(self, path: str | None) -> Path | None:
        """Return a path that the file gives, if it does, relative to the file's folder."""
        return None if path is None else self.path.parent / Path(path).expanduser()


def _is_list(key: str) -> bool:
    return _STUDY_KEYS.get(key) == "tables"


def _written(key: str) -> str:
    """Return a key of a study as one writes it."""
    return f"[[{key}]]" if _is_list(key) else key


def _read_file(path: Path) -> _File:
    try:
        text = path.read_text(encoding="utf-8")
        return _File(path, text, tomllib.loads(text))
    except OSError as error:
        raise StudyError(f"cannot read the study file {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is not TOML: {error}") from error


def _make_server(file: _File, item: Table) -> Server:
    name = item.get("name")
    if name is None:
        raise StudyError(f"{file.path}: each table of [[servers]] needs a name")
    where = f"server {name!r}: "
    file.check(where, item, _SERVER_KEYS)
    if "connect" in item:
        return _connect(file, item)
    return Server(
        _make_config(file, item),
        install=file.resolve(item.get("install")),
        directory=file.resolve(item.get("directory")),
        port=item.get("port"),
        **_topology(item),
        cpus=item.get("cpus"),
    )


def _topology(item: Table) -> dict[str, Any]:
    """Return the arguments of `Server` about replicas that a table gives."""
    given: Table = {key: item[key] for key in ("replicas", "attach", "replica_cpus") if key in item}
    if "replica_options" in item:
        given["replica_config"] = Config(f"{item['name']}-replica", item["replica_options"])
    return given


def _make_config(file: _File, item: Table) -> Config:
    """Return a server's options: those of its option file, and over them those given here."""
    name, options = item["name"], item.get("options", {})
    path = file.resolve(item.get("config"))
    if path is None:
        return Config(name, options, Provenance(STUDY_FILE, file.path))
    version = find_install(file.resolve(item.get("install"))).version
    config = Config.from_file(path, name, product=product_of(version), version=version)
    return config.replace(name, **options)


def _connect(file: _File, item: Table) -> Server:
    where = f"server {item['name']!r}: "
    extra = [key for key in item if key not in ("name", "connect")]
    if extra:
        raise file.error(
            extra[0],
            f"{where}{extra[0]} is for private servers; this one is running, and stays as it is",
        )
    place = file.check(f"{where}connect: ", item["connect"], _CONNECT_KEYS)
    return Server.connect(**place, password=os.environ.get(PASSWORD_VARIABLE), name=item["name"])


def _make_workload(file: _File, item: Table) -> workloads.Workload:
    options = dict(item)
    name = options.pop("name", None)
    if not isinstance(name, str):
        raise StudyError(f"{file.path}: each table of [[workloads]] needs a name")
    return workloads.find(name, **options)
