"""Studies as TOML files, for the command line.

    name = "flush-log"
    threads = [1, 4]
    iterations = 3
    duration = "5s"

    [[servers]]
    name = "baseline"

    [[servers]]
    name = "flush-2"
    options = { innodb_flush_log_at_trx_commit = 2 }

    [[workloads]]
    name = "oltp_read_write"
    rows = 10000

A server is private unless it has a table ``connect`` (host, port, socket, user; the password
comes from the environment variable BENCHKIT_PASSWORD, never from the file). Every other key is
an argument of `Study`, of `Server`, or an option of the workload.
"""

import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchkit import workloads
from benchkit.api import Study
from benchkit.config import Config
from benchkit.errors import StudyError, unknown_name
from benchkit.server import Server

PASSWORD_VARIABLE = "BENCHKIT_PASSWORD"

_STUDY_KEYS = (
    "name",
    "servers",
    "workloads",
    "threads",
    "iterations",
    "duration",
    "warmup",
    "transactions",
    "order",
    "seed",
    "loader_threads",
)
_SERVER_KEYS = ("name", "options", "install", "directory", "port", "connect")
_CONNECT_KEYS = ("host", "port", "socket", "user")


def read_study(path: str | os.PathLike[str]) -> Study:
    """Return the study that a TOML file describes.

    No server is started, but those to connect to must answer.

    Raises
    ------
    StudyError
        When the file is missing, not TOML, or has a key that does not exist.
    BenchkitError
        What `Study`, `Server` and the workloads find wrong with their values.
    """
    data = _read_toml(Path(path))
    _check_keys(str(path), data, _STUDY_KEYS)
    for key in ("name", "servers", "workloads", "threads"):
        if key not in data:
            raise StudyError(f"{path} has no {key}; a study needs one")
    servers = [_make_server(str(path), item) for item in _tables(path, data, "servers")]
    chosen = [_make_workload(str(path), item) for item in _tables(path, data, "workloads")]
    return Study(**{**data, "servers": servers, "workloads": chosen})


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise StudyError(f"cannot read the study file {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is not TOML: {error}") from error


def _tables(path: str | os.PathLike[str], data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    items = data[key]
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise StudyError(f"{key} in {path} must be tables, each under its own [[{key}]]")
    return items


def _check_keys(where: str, table: dict[str, Any], known: Iterable[str]) -> None:
    for key in table:
        if key not in known:
            raise StudyError(f"{where}: {unknown_name('key', key, known)}")


def _make_server(path: str, item: dict[str, Any]) -> Server:
    _check_keys(f"{path}, [[servers]]", item, _SERVER_KEYS)
    if "name" not in item:
        raise StudyError(f"{path}: every table of [[servers]] needs a name")
    connect = item.get("connect")
    if connect is not None:
        _check_keys(f"{path}, connect of server {item['name']!r}", connect, _CONNECT_KEYS)
        return Server.connect(
            **connect, password=os.environ.get(PASSWORD_VARIABLE), name=item["name"]
        )
    placement = {k: item[k] for k in ("install", "directory", "port") if k in item}
    return Server(Config(item["name"], item.get("options", {})), **placement)


def _make_workload(path: str, item: dict[str, Any]) -> workloads.Workload:
    options = dict(item)
    name = options.pop("name", None)
    if name is None:
        raise StudyError(f"{path}: every table of [[workloads]] needs a name")
    return workloads.find(name, **options)
