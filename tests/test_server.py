"""Private servers on the real thing; what a killed owner leaves is in test_watchdog.py."""

import json
import os
import pwd
import signal
import socket
from pathlib import Path

import pytest
from processes import is_alive, ordinary_user_prefix, start_script, wait_until

from benchkit import install, instance
from benchkit._core import Connection
from benchkit.config import Config
from benchkit.errors import ConfigError, DatabaseError, ServerError
from benchkit.install import find_install
from benchkit.instance import Instance
from benchkit.server import Server
from benchkit.watchdog import KILL

CRASH_RECOVERY = "Starting crash recovery"

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to another user")


@pytest.fixture
def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def one(server: Server, sql: str) -> str | None:
    return server.query(sql)[0][0]


def make_kept_table(server: Server) -> None:
    with server.session() as connection:
        connection.query("CREATE DATABASE kept")
        connection.query("CREATE TABLE kept.t (a INT) ENGINE=InnoDB")
        connection.query("INSERT INTO kept.t VALUES (1)")


def test_server_runs_with_the_options_of_its_configuration(server):
    assert one(server, "SELECT @@innodb_buffer_pool_size") == str(256 * 2**20)
    assert one(server, "SELECT @@innodb_flush_log_at_trx_commit") == "2"


def test_server_describes_itself(server):
    assert server.describe() == {
        "name": "small",
        "product": "MariaDB",
        "version": one(server, "SELECT @@version"),
        "install": "system",
        "socket": one(server, "SELECT @@socket"),
        "host": None,
        "port": None,
    }
    assert repr(server) == f"<Server 'small', private, running, pid {server.pid}>"


def test_variables_and_status_are_read_by_name(server):
    assert server.variables()["innodb_buffer_pool_size"] == str(256 * 2**20)
    assert int(server.status()["Uptime"]) >= 0


def test_session_uses_a_database(server):
    with server.session("mysql") as connection:
        assert connection.query("SELECT DATABASE()") == [("mysql",)]


def test_server_listens_on_its_socket_only(server):
    assert server.variables()["skip_networking"] == "ON"


def test_no_option_file_of_the_system_is_read(server):
    command = Path(f"/proc/{server.pid}/cmdline").read_text().split("\0")
    assert command[1] == f"--defaults-file={server.directory / 'server.cnf'}"


def test_only_the_servers_user_can_read_its_options(server):
    options = server.directory / "server.cnf"
    assert options.stat().st_mode & 0o777 == 0o600
    assert options.stat().st_uid == (server.directory / "data").stat().st_uid


def test_start_of_a_running_server_changes_nothing(server):
    pid = server.pid
    assert server.start() is server
    assert server.pid == pid


@root_only
def test_server_of_root_runs_as_another_user(server):
    owner = pwd.getpwuid(Path(f"/proc/{server.pid}").stat().st_uid).pw_name
    assert owner in ("mysql", "nobody")


def test_constructor_touches_nothing(folder):
    server = Server(Config("new"), install=folder / "nothing", directory=folder / "server")
    assert not server.running
    assert list(folder.iterdir()) == []


def test_server_that_does_not_run_says_so():
    with pytest.raises(ServerError, match=r"'idle' is not running: start\(\) it first"):
        Server(Config("idle")).query("SELECT 1")


def test_option_that_benchkit_owns_is_refused_before_the_start():
    with pytest.raises(ConfigError, match="sets datadir"):
        Server(Config("bad", {"datadir": "/somewhere"}))


def test_ordinary_user_starts_a_server(folder):
    script = """
import os, sys
from benchkit.config import Config
from benchkit.server import Server
from benchkit.watchdog import KILL
os.environ["BENCHKIT_DATA"] = sys.argv[1]
with Server(Config("mine")) as server:
    print(os.geteuid(), server.query("SELECT @@version_comment, 6 * 7")[0][1])
print(os.listdir(sys.argv[1]))
"""
    folder.chmod(0o777)
    with start_script(script, folder, prefix=ordinary_user_prefix()) as user:
        output, _ = user.communicate(timeout=60)
    answer, left = output.splitlines()
    euid, product = answer.split()
    assert int(euid) != 0
    assert (product, left) == ("42", "[]")


def test_port_opens_tcp_beside_the_socket(small_config, free_port):
    with Server(small_config, port=free_port) as server:
        assert one(server, "SELECT @@bind_address") == "127.0.0.1"
        with Connection(host="127.0.0.1", port=free_port, user="root") as connection:
            assert connection.query("SELECT @@port") == [(str(free_port),)]


def test_taken_port_is_told(small_config, free_port):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port))
        listener.listen()
        with pytest.raises(ServerError, match="its TCP port is taken"):
            Server(small_config, port=free_port).start()


def test_two_servers_run_at_once(server, small_config):
    with Server(small_config.replace("second")) as second:
        second.query("CREATE DATABASE only_here")
        assert ("only_here",) not in server.query("SHOW DATABASES")


def test_data_in_a_given_directory_is_kept_and_shut_down_cleanly(small_config, folder):
    with Server(small_config, directory=folder / "kept") as server:
        make_kept_table(server)
    with Server(small_config, directory=folder / "kept") as server:
        assert one(server, "SELECT COUNT(*) FROM kept.t") == "1"
        assert CRASH_RECOVERY not in server.read_log(1000)


def test_temporary_directory_is_removed_by_stop(small_config, data_base):
    server = Server(small_config).start()
    directory = server.directory
    assert directory.parent == data_base
    server.stop()
    assert not directory.exists()
    assert server.directory is None


def test_restart_keeps_data_even_in_a_temporary_directory(small_config):
    with Server(small_config) as server:
        make_kept_table(server)
        pid = server.pid
        server.restart()
        assert server.pid != pid
        assert one(server, "SELECT COUNT(*) FROM kept.t") == "1"
        assert CRASH_RECOVERY not in server.read_log(1000)


def test_killed_server_is_noticed_and_can_be_started_again(small_config, folder):
    with Server(small_config, directory=folder) as server:
        make_kept_table(server)
        os.kill(server.pid, signal.SIGKILL)
        wait_until(lambda: not server.running)
        server.start()
        assert one(server, "SELECT COUNT(*) FROM kept.t") == "1"
        assert CRASH_RECOVERY in server.read_log(1000)


def test_killed_server_is_stopped_without_complaint(small_config):
    server = Server(small_config).start()
    directory = server.directory
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.running)
    server.stop()
    assert not directory.exists()


def test_unknown_option_is_named_with_the_nearest_and_the_log(data_base, small_config):
    config = small_config.replace("typo", innodb_bufer_pool_size="1G")
    before = set(data_base.iterdir())
    with pytest.raises(ServerError) as caught:
        Server(config).start()
    assert "does not know the option innodb_bufer_pool_size" in str(caught.value)
    assert "did you mean innodb_buffer_pool_size?" in str(caught.value)
    assert "unknown variable 'innodb_bufer_pool_size=1G'" in str(caught.value).partition("\n")[2]
    assert set(data_base.iterdir()) == before


def test_unknown_option_is_named_when_the_data_is_there_already(small_config, folder):
    Server(small_config, directory=folder).start().stop()
    config = small_config.replace("typo", max_conections=7)
    with pytest.raises(ServerError, match="know the option max_conections; did you mean max_conn"):
        Server(config, directory=folder).start()


def test_bad_value_is_named(small_config):
    with pytest.raises(ServerError, match="sql_mode cannot be NONSENSE"):
        Server(small_config.replace("bad", sql_mode="NONSENSE")).start()


def test_directory_in_use_is_an_error_that_names_the_processes(small_config, folder):
    script = """
import sys
from benchkit.config import Config
from benchkit.server import Server
from benchkit.watchdog import KILL
with Server(Config("holder"), directory=sys.argv[1]) as server:
    print(server.pid, flush=True)
    sys.stdin.read()
"""
    with start_script(script, folder) as holder:
        pid = holder.stdout.readline().strip()
        with pytest.raises(ServerError, match=f"by server process {pid} of process {holder.pid}"):
            Server(small_config, directory=folder).start()
        holder.communicate(timeout=60)
    assert holder.returncode == 0


def test_directory_that_cannot_be_made_is_an_error(folder, small_config):
    (folder / "file").touch()
    with pytest.raises(ServerError, match="cannot use the server directory"):
        Server(small_config, directory=folder / "file" / "server").start()


@pytest.mark.parametrize("name", ["long" * 40, "with space", "with #hash", "ünï 'quoted\""])
def test_directory_may_have_any_name(small_config, folder, name):
    with Server(small_config, directory=folder / name) as server:
        server.restart()
        assert server.directory == folder / name
        socket_folder = Path(server.endpoint["socket"]).parent
    assert socket_folder.exists() == (socket_folder.parent == folder / name)


@root_only
def test_folder_in_the_way_of_the_servers_user_is_named(small_config, folder):
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(ServerError, match=rf"cannot enter {closed} on the way to {closed}/a/b"):
        Server(small_config, directory=closed / "a" / "b").start()


@root_only
def test_data_of_another_user_is_an_error_with_the_command_that_helps(small_config, folder):
    Server(small_config, directory=folder).start().stop()
    os.chown(folder / "data", 0, 0)
    with pytest.raises(ServerError, match=rf"belongs to user id 0.*chown -R \d+ {folder}/data"):
        Server(small_config, directory=folder).start()


def test_server_whose_root_has_a_password_says_that_it_refuses_the_login(small_config, folder):
    with Server(small_config, directory=folder) as server:
        server.query("SET PASSWORD = PASSWORD('secret')")
    with pytest.raises(ServerError, match="refuses the login: .*Access denied"):
        Server(small_config, directory=folder).start()


def test_shutdown_that_is_not_clean_is_an_error_and_cleans_up_all_the_same(
    small_config, monkeypatch
):
    server = Server(small_config).start()
    directory = server.directory
    monkeypatch.setattr(instance, "STOP", KILL)
    with pytest.raises(ServerError, match=r"did not shut down cleanly \(exit code 137\)"):
        server.stop()
    assert not server.running
    assert not directory.exists()


def test_umask_of_the_user_does_not_matter(small_config, folder):
    before = os.umask(0o077)
    try:
        with Server(small_config, directory=folder / "server") as server:
            assert one(server, "SELECT 1") == "1"
    finally:
        os.umask(before)


def test_start_that_takes_too_long_is_an_error_and_leaves_nothing_running(small_config, folder):
    Server(small_config, directory=folder).start().stop()
    server = Server(small_config, directory=folder, start_limit_s=0.0)
    with pytest.raises(ServerError, match="did not answer within 0 s"):
        server.start()
    assert not is_alive(json.loads((folder / "server.lock").read_text())["server"])


def test_interrupted_start_leaves_nothing(small_config, data_base, monkeypatch):
    def interrupt(self, process):
        pids.append(process.pid)
        raise KeyboardInterrupt

    pids: list[int] = []
    monkeypatch.setattr(Instance, "_await_answer", interrupt)
    before = set(data_base.iterdir())
    with pytest.raises(KeyboardInterrupt):
        Server(small_config).start()
    assert not is_alive(pids[0])
    assert set(data_base.iterdir()) == before


def test_interrupted_initialisation_is_done_again(small_config, folder):
    half_done = folder / "data.new"
    (half_done / "mysql").mkdir(parents=True)
    (half_done / "mysql" / "user.frm").touch()
    with Server(small_config, directory=folder) as server:
        assert one(server, "SELECT 1") == "1"
    assert not half_done.exists()


def test_directories_of_dead_owners_are_swept_and_those_of_living_ones_kept(
    small_config, folder, monkeypatch
):
    monkeypatch.setenv("BENCHKIT_DATA", str(folder))
    with start_script("") as dead:
        dead.communicate()
    owners = {"tmp-dead": dead.pid, "tmp-alive": os.getpid()}
    for name, owner in owners.items():
        (folder / name / "data").mkdir(parents=True)
        state = {"owner": owner, "server": None, "stopping": False}
        (folder / name / "server.lock").write_text(json.dumps(state))
    with Server(small_config):
        assert [name for name in owners if (folder / name).exists()] == ["tmp-alive"]


def test_server_of_an_unpacked_tarball(small_config, tmp_path, folder):
    for name in ("bin", "sbin", "share", "lib"):
        (folder / name).symlink_to(f"/usr/{name}")
    with Server(small_config, install=folder) as server:
        assert one(server, "SELECT @@basedir").rstrip("/") == str(folder)
        assert server.describe()["install"] == str(folder)


def test_install_that_does_not_exist_is_an_error(small_config, folder):
    with pytest.raises(ServerError, match="install .*/nothing is not a directory"):
        Server(small_config, install=folder / "nothing").start()


def test_install_without_a_server_says_what_was_looked_for(folder):
    with pytest.raises(ServerError, match="looked for mariadbd and mysqld in bin, sbin, libexec"):
        find_install(folder)


def test_install_whose_server_does_not_run_says_why(folder):
    (folder / "bin").mkdir()
    for name in ("mariadbd", "mariadb-install-db"):
        (folder / "bin" / name).write_text("#!/bin/sh\necho libsomething is missing >&2\nexit 1\n")
        (folder / "bin" / name).chmod(0o755)
    with pytest.raises(ServerError, match="does not run: libsomething is missing"):
        find_install(folder)


def test_no_server_on_the_machine_is_an_error_with_the_packages(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(install, "_SYSTEM_ROOTS", ())
    with pytest.raises(ServerError, match="apt-get install mariadb-server"):
        find_install()


@pytest.fixture
def login(server):
    server.query("CREATE USER bench@localhost IDENTIFIED BY 'secret'")
    yield {"socket": server.endpoint["socket"], "user": "bench"}
    server.query("DROP USER bench@localhost")


def test_connect_reaches_a_running_server_and_leaves_it_running(server, login):
    with Server.connect(**login, password="secret") as other:
        assert one(other, "SELECT CURRENT_USER()") == "bench@localhost"
        assert other.version == server.version
        assert not other.private
    assert server.running
    assert other.running


def test_connected_server_shows_its_password_nowhere(login):
    other = Server.connect(**login, password="secret", name="mine")
    assert repr(other) == f"<Server 'mine' at {login['socket']}>"
    assert "secret" not in repr(other.describe())


def test_connect_with_a_wrong_password_says_where_and_who(login):
    with pytest.raises(ServerError, match="as user 'bench': .*Access denied") as caught:
        Server.connect(**login, password="wrong")
    assert login["socket"] in str(caught.value)
    assert "wrong" not in str(caught.value)


def test_connect_to_nothing_says_where(free_port):
    with pytest.raises(ServerError, match=f"cannot log in to the server at 127.0.0.1:{free_port}"):
        Server.connect(host="127.0.0.1", port=free_port, user="root")


def test_connected_server_cannot_be_restarted(login):
    with pytest.raises(ServerError, match="not benchkit's own"):
        Server.connect(**login, password="secret").restart()


def test_session_of_a_stopped_connected_server_is_a_database_error(small_config):
    with Server(small_config) as server:
        other = Server.connect(**server.endpoint)
    assert not other.running
    with pytest.raises(DatabaseError):
        other.session()
