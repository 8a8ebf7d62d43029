"""No server outlives the process that wanted it, however that process ends."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from processes import is_alive, start_script, wait_until

from benchkit.server import Server

START = """
import os, sys, time
from benchkit.config import Config
from benchkit.server import Server
server = Server(Config("held"), directory=sys.argv[1] or None).start()
server.query("CREATE DATABASE kept")
"""
TELL = """
print(server.pid, server.directory, server.endpoint["socket"], flush=True)
"""
WAIT = "sys.stdin.read()\n"
FORK = """
if not os.fork():
    os.close(1)
    sys.stdin.read()
    os._exit(0)
"""


@dataclass
class Owner:
    """A process that started a server."""

    process: subprocess.Popen
    server_pid: int
    directory: Path
    socket: Path

    def kill(self) -> None:
        self.process.kill()


@contextmanager
def owner(script: str, directory: object = "") -> Iterator[Owner]:
    with start_script(script, directory) as process:
        pid, *paths = process.stdout.readline().split()
        yield Owner(process, int(pid), *map(Path, paths))
        process.communicate()


def test_server_ends_with_a_killed_owner_and_its_directory_is_of_use_again(small_config, folder):
    with owner(START + TELL + WAIT, folder) as held:
        held.kill()
        with Server(small_config, directory=folder) as server:
            assert not is_alive(held.server_pid)
            assert ("kept",) in server.query("SHOW DATABASES")


def test_temporary_directory_goes_with_a_killed_owner():
    with owner(START + TELL + WAIT) as held:
        held.kill()
        wait_until(lambda: not held.directory.exists())
        assert not is_alive(held.server_pid)


def test_socket_folder_of_a_long_directory_goes_with_a_killed_owner(folder):
    with owner(START + TELL + WAIT, folder / ("long" * 40)) as held:
        assert held.directory not in held.socket.parents
        held.kill()
        wait_until(lambda: not held.socket.parent.exists())


@pytest.mark.parametrize("ending", ["", "server = None; sys.stdin.read()", "os._exit(1)"])
def test_server_ends_with_its_owner_or_with_its_last_reference(ending):
    with owner(START + TELL + ending) as held:
        wait_until(lambda: not held.directory.exists())
        assert not is_alive(held.server_pid)


def test_killed_owner_is_noticed_although_its_child_holds_the_pipe():
    with owner(START + FORK + TELL + WAIT) as held:
        held.kill()
        wait_until(lambda: not held.directory.exists())
        assert not is_alive(held.server_pid)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_interrupt_from_the_terminal_does_not_reach_the_server():
    with owner(START + TELL + WAIT) as held:
        assert os.getsid(held.server_pid) != os.getsid(held.process.pid)


def test_server_ends_with_a_killed_watchdog(small_config):
    with Server(small_config) as server:
        pid = server.pid
        os.kill(parent_of(pid), signal.SIGKILL)
        wait_until(lambda: not is_alive(pid))
        assert not server.running


def test_watchdog_that_is_asked_to_end_shuts_the_server_down(small_config, folder):
    with Server(small_config, directory=folder) as server:
        server.query("CREATE TABLE mysql.t (a INT) ENGINE=InnoDB")
        os.kill(parent_of(server.pid), signal.SIGTERM)
        wait_until(lambda: not server.running)
        server.start()
        assert "Starting crash recovery" not in server.read_log(1000)


def test_killed_owner_leaves_nothing_of_an_initialisation(data_base):
    script = """
import os, sys, threading, time
from benchkit.config import Config
from benchkit.process import WatchedProcess
from benchkit.server import Server
def tell(self, limit_s):
    print(self.pid, os.environ["BENCHKIT_DATA"], "-", flush=True)
    sys.stdin.read()
WatchedProcess.ends_within = tell
Server(Config("held")).start()
"""
    before = set(data_base.iterdir())
    with owner(script) as held:
        held.kill()
        wait_until(lambda: set(data_base.iterdir()) == before)
        assert not is_alive(held.server_pid)
