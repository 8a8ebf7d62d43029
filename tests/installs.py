"""The servers that tests run on: the system's own, and others that are got once and kept."""

import os
from functools import cache
from pathlib import Path

import pytest

from benchkit.account import check_reachable, server_account
from benchkit.config import Config
from benchkit.errors import ServerError
from benchkit.fetch import cache_folder, get_server
from benchkit.install import MARIADB, Install

SYSTEM, MARIADB_11_8, MYSQL_9_7 = "system", "mariadb-11.8", "mysql-9.7"
OTHERS = (MARIADB_11_8, MYSQL_9_7)
ALL = (SYSTEM, *OTHERS)

_GIVEN = os.environ.get("BENCHKIT_SERVERS")  # before tests change it

SMALL = Config(
    "small",
    {
        "innodb_buffer_pool_size": "256M",
        "innodb_log_file_size": "96M",
        "innodb_flush_log_at_trx_commit": 2,
    },
)
SMALL_MYSQL = Config(
    "small",
    {
        "innodb_buffer_pool_size": "256M",
        "innodb_redo_log_capacity": "192M",
        "innodb_flush_log_at_trx_commit": 2,
        "disable_log_bin": None,
    },
)


def find_install(label: str) -> Install:
    """Return one of `ALL`; skip the test where it cannot be had."""
    found = _get(label)
    if isinstance(found, str):
        pytest.skip(f"{label} cannot be had here: {found}")
    return found


def small_config(install: Install) -> Config:
    """Return options that keep a server of an install small and quick."""
    return SMALL if install.product == MARIADB else SMALL_MYSQL


@cache
def _get(label: str) -> Install | str:
    """Return an install, or why there is none: asked once, however many tests want it."""
    if label == SYSTEM:
        return Install()
    product, version = label.split("-")
    try:
        return get_server(product, version, kept_folder() / label)
    except ServerError as error:
        return str(error)


def kept_folder() -> Path:
    """Return where the tests keep installs: in the repository, if servers can get there."""
    if _GIVEN:
        return Path(_GIVEN).absolute()
    kept = Path(__file__).resolve().parent.parent / ".cache" / "servers"
    try:
        kept.mkdir(parents=True, exist_ok=True)
        check_reachable(kept, server_account())
    except (OSError, ServerError):
        return cache_folder()
    return kept
