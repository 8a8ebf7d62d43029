"""Fixtures for tests that need a server or a place for one."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from installs import ALL, SMALL, SYSTEM, find_install
from installs import small_config as small_config_of
from scratch import Scratch, scratch_database

from benchkit.config import Config
from benchkit.server import Server

# The same examples in every run: what a test finds, it finds where it was written.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

# A shell's background jobs ignore Ctrl-C, and so would every process that tests send it to.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _make_reachable_folder(below: str = "/var/tmp") -> Path:
    """Make a folder that the user a server drops to can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="benchkit-test-", dir=below))
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="session", autouse=True)
def data_base() -> Iterator[Path]:
    """Where temporary servers of this test session live."""
    folder = _make_reachable_folder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHKIT_DATA", str(folder))
        yield folder
    shutil.rmtree(folder)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return an empty folder, reachable for servers."""
    folder = _make_reachable_folder()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return an empty folder for servers' data, in memory where it can be: many starts."""
    in_memory = os.access("/dev/shm", os.W_OK)
    folder = _make_reachable_folder("/dev/shm" if in_memory else "/var/tmp")
    monkeypatch.setenv("BENCHKIT_DATA", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def small_config() -> Config:
    """Return options that keep a server small and quick."""
    return SMALL


@pytest.fixture(scope="session")
def server(data_base: Path) -> Iterator[Server]:
    """Return a started private server, shared by the session: leave no database behind."""
    with Server(SMALL) as server:
        yield server


@pytest.fixture(scope="module", params=ALL)
def each_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Return started servers of several versions and products, one after the other."""
    if request.param == SYSTEM:
        yield request.getfixturevalue("server")
        return
    install = find_install(request.param)
    with Server(small_config_of(install), install=install) as server:
        yield server


@pytest.fixture
def scratch(server: Server) -> Iterator[Scratch]:
    """Return an empty database on the session's server."""
    with scratch_database(server) as scratch:
        yield scratch
