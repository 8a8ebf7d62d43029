"""Installs of all kinds: what is recognised, what is missing, and private servers of each."""

import os
import platform
import re
import shutil
import socket
import struct
import subprocess
from pathlib import Path

import pytest
from installs import ALL, MARIADB_11_8, MYSQL_9_7, OTHERS, SYSTEM, find_install, small_config
from processes import ordinary_user_prefix, start_script

import benchkit as bk
from benchkit.errors import ServerError
from benchkit.install import Install
from benchkit.maker import Maker, check_maker, find_maker

PRODUCTS = {SYSTEM: "MariaDB", MARIADB_11_8: "MariaDB", MYSQL_9_7: "MySQL"}
VERSIONS = {MARIADB_11_8: "11.8.", MYSQL_9_7: "9.7."}


@pytest.fixture(params=ALL)
def install(request):
    return find_install(request.param)


@pytest.fixture
def mysql():
    return find_install(MYSQL_9_7)


@pytest.fixture
def stopped(each_server, folder):
    """Return a server of each install that has its own directory and does not run."""
    install = each_server.install
    return bk.Server(small_config(install), install=install, directory=folder / "own")


def copy_program(name, folder):
    """Copy one of the system's programs into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin"), folder))


def unusable(path):
    """Return what is said about an install that cannot be used."""
    with pytest.raises(ServerError) as caught:
        Install(path).check()
    return str(caught.value)


# What is recognised


@pytest.mark.parametrize("label", ALL)
def test_product_and_version_are_known(label):
    install = find_install(label).check()
    assert install.product == PRODUCTS[label]
    assert install.version.startswith(VERSIONS.get(label, "1"))
    assert re.fullmatch(r"(MariaDB|MySQL) \d+\.\d+\.\d+", install.name)
    assert repr(install) == f"<Install {install.product} {install.version} at {install.label}>"


def test_messages_and_plugins_are_found(install):
    assert (install.share / "english" / "errmsg.sys").is_file()
    assert install.plugins is None or install.plugins.name == "plugin"


def test_initialiser_is_the_products_own(install):
    expected = "mariadb-install-db" if install.product == "MariaDB" else "--initialize-insecure"
    assert install.initialiser.endswith(expected)


def test_options_of_each_server_are_known(install):
    names = install.option_names()
    assert "innodb_buffer_pool_size" in names
    assert ("innodb_redo_log_capacity" in names) == (install.product == "MySQL")


@pytest.mark.parametrize("share", ["share", "share/mysql", "share/mariadb"])
@pytest.mark.parametrize("scripts", ["scripts", "bin"])
def test_layouts_of_vendors_and_builds_are_recognised(tmp_path, share, scripts):
    system = Install()
    for folder, name in (("bin", "mariadbd"), (scripts, "mariadb-install-db")):
        (tmp_path / folder).mkdir(exist_ok=True)
        source = system.server if name == "mariadbd" else system.install_db
        (tmp_path / folder / name).symlink_to(source)
    (tmp_path / share).parent.mkdir(exist_ok=True)
    (tmp_path / share).symlink_to(system.share)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "plugin").mkdir()
    install = bk.Install(tmp_path).check()
    assert (install.share, install.plugins) == (tmp_path / share, tmp_path / "lib" / "plugin")
    assert install.install_db == tmp_path / scripts / "mariadb-install-db"


def test_nothing_is_looked_at_before_it_is_asked_for():
    assert Install("/nowhere").label == "/nowhere"
    assert "not usable" in repr(Install("/nowhere"))


def test_installs_are_equal_when_they_are_the_same_folder():
    assert Install("/opt/a") == Install(Path("/opt/a")) != Install("/opt/b")
    assert len({Install(), Install(), Install("/opt/a")}) == 2


# What is missing


def test_each_missing_piece_is_named_with_where_it_was_looked_for(tmp_path):
    copy_program("mariadbd", tmp_path / "bin")
    said = unusable(tmp_path)
    assert "no mariadb-install-db or mysql_install_db: looked in scripts, bin" in said
    assert "(english/errmsg.sys): looked in share/mariadb, share/mysql, share" in said


def test_folder_around_an_install_is_answered_with_the_install(tmp_path):
    copy_program("mariadbd", tmp_path / "mariadb-12.3.3-linux-systemd-x86_64" / "bin")
    assert f"did you mean {tmp_path}/mariadb-12.3.3-linux-systemd-x86_64?" in unusable(tmp_path)


def test_build_that_is_not_installed_is_answered_with_the_command(tmp_path):
    (tmp_path / "CMakeCache.txt").touch()
    assert f"cmake --install {tmp_path} --prefix DIR" in unusable(tmp_path)


def test_archive_is_answered_with_the_command(tmp_path):
    archive = tmp_path / "mariadb-12.3.3-linux-systemd-x86_64.tar.gz"
    archive.touch()
    assert f"is an archive: unpack it first: benchkit server unpack {archive}" in unusable(archive)


def test_program_of_another_machine_is_told(tmp_path):
    other, number = ("x86_64", 62) if platform.machine() == "aarch64" else ("aarch64", 183)
    program = copy_program("mariadbd", tmp_path / "bin")
    with program.open("r+b") as file:
        file.seek(18)
        file.write(struct.pack("<H", number))
    assert f"is built for {other}, and this machine is {platform.machine()}" in unusable(tmp_path)


def test_missing_shared_library_is_named(tmp_path):
    (tmp_path / "bin").mkdir()
    for name, text in (
        ("gone.c", "int f(void) { return 0; }"),
        ("m.c", "int f(); int main() { return f(); }"),
    ):
        (tmp_path / name).write_text(text)
    library = tmp_path / "libgone.so.7"
    build = ["gcc", "-shared", "-Wl,-soname,libgone.so.7", "-o", library, tmp_path / "gone.c"]
    subprocess.run(build, check=True)
    program = tmp_path / "bin" / "mariadbd"
    subprocess.run(["gcc", "-o", program, tmp_path / "m.c", library], check=True)
    library.unlink()
    assert "does not run: this system lacks libgone.so.7" in unusable(tmp_path)


# Private servers of each


def test_each_server_starts_on_fresh_data_and_keeps_them(stopped):
    with stopped as server:
        assert server.product == server.install.product
        server.query("CREATE DATABASE kept")
    with stopped as server:
        assert ("kept",) in server.query("SHOW DATABASES")
        assert server.version.startswith(server.install.version)


def test_each_server_listens_on_its_socket_only_in_a_closed_folder(each_server):
    assert each_server.variables()["skip_networking"] == "ON"
    assert each_server.directory.stat().st_mode & 0o777 == 0o700
    listening = subprocess.run(["cat", f"/proc/{each_server.pid}/net/tcp"], capture_output=True)
    inodes = {line.split()[9] for line in listening.stdout.decode().splitlines()[1:]}
    held = {os.readlink(fd) for fd in Path(f"/proc/{each_server.pid}/fd").iterdir()}
    assert not {f"socket:[{inode}]" for inode in inodes} & held


def test_root_logs_in_without_a_password_over_the_socket(each_server):
    assert each_server.query("SELECT CURRENT_USER()") == [("root@localhost",)]


def test_each_server_uses_its_own_files(each_server):
    install = each_server.install
    if install.path is not None:
        variables = each_server.variables()
        assert Path(variables["basedir"]).samefile(install.path)
        assert Path(variables["lc_messages_dir"]).samefile(install.share)
        plugins = Path(variables["plugin_dir"])
        assert plugins.samefile(install.plugins) if install.plugins else not plugins.exists()


def test_unknown_option_is_named_by_each_server(each_server, folder):
    config = small_config(each_server.install).replace("typo", innodb_bufer_pool_size="1G")
    with pytest.raises(ServerError, match="option innodb_bufer_pool_size; did you mean innodb_bu"):
        bk.Server(config, install=each_server.install).start()


@pytest.mark.parametrize(
    ("label", "option"),
    [(SYSTEM, "innodb_redo_log_capacity"), (MYSQL_9_7, "aria_pagecache_buffer_size")],
)
def test_option_of_the_other_product_is_named(label, option):
    install = find_install(label)
    config = small_config(install).replace("other", **{option: "128M"})
    with pytest.raises(ServerError, match=f"does not know the option {option}") as caught:
        bk.Server(config, install=install).start()
    assert f"unknown variable '{option}=128M'" in str(caught.value)


def test_bad_value_is_named_by_mysql(mysql):
    config = small_config(mysql).replace("bad", sql_mode="NONSENSE")
    with pytest.raises(ServerError, match="sql_mode cannot be NONSENSE"):
        bk.Server(config, install=mysql).start()


def test_taken_port_is_told_by_mysql(mysql, folder):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(ServerError, match="its TCP port is taken"):
            bk.Server(small_config(mysql), install=mysql, port=port).start()


@pytest.mark.parametrize("label", OTHERS)
def test_install_may_be_anywhere(label, folder):
    """Names with spaces, which the scripts of servers split."""
    install = find_install(label)
    place = folder / "with space"
    place.mkdir()
    for entry in install.path.iterdir():
        (place / entry.name).symlink_to(entry)
    with bk.Server(small_config(install), install=place) as server:
        assert server.query("SELECT 1") == [("1",)]
        assert not (server.directory / "install").exists()


def test_ordinary_user_starts_mysql(mysql, folder):
    script = """
import os, sys
import benchkit as bk
os.environ["BENCHKIT_DATA"] = sys.argv[1]
with bk.Server(bk.Config("mine"), install=sys.argv[2]) as server:
    print(os.geteuid(), server.query("SELECT CURRENT_USER()")[0][0])
print(os.listdir(sys.argv[1]))
"""
    folder.chmod(0o777)
    with start_script(script, folder, mysql.path, prefix=ordinary_user_prefix()) as user:
        output, _ = user.communicate(timeout=60)
    answer, left = output.splitlines()
    assert answer.split()[0] != "0"
    assert (answer.split()[1], left) == ("root@localhost", "[]")


def test_running_mysql_is_known_as_mysql(each_server):
    other = bk.Server.connect(**each_server.endpoint)
    assert other.product == each_server.product


# Data of others


@pytest.mark.parametrize(("label", "other"), [(SYSTEM, MYSQL_9_7), (MARIADB_11_8, SYSTEM)])
def test_data_of_another_version_or_product_are_refused_and_left_alone(label, other, folder):
    first, second = find_install(label), find_install(other)
    bk.Server(small_config(first), install=first, directory=folder).start().stop()
    before = sorted((path, path.stat().st_mtime_ns) for path in (folder / "data").rglob("*"))
    server = bk.Server(small_config(second), install=second, directory=folder)
    with pytest.raises(
        ServerError, match=rf"data in {folder}/data were made by MariaDB .*this server is "
    ):
        server.start()
    after = sorted((path, path.stat().st_mtime_ns) for path in (folder / "data").rglob("*"))
    assert after == before
    assert not server.running


@pytest.mark.parametrize(
    ("maker", "server", "fits"),
    [
        (("MariaDB", "10.11.18-MariaDB"), ("MariaDB", "10.11.19-MariaDB-log"), True),
        (("MariaDB", "10.11.18-MariaDB"), ("MariaDB", "10.6.18-MariaDB"), False),
        (("MariaDB", "11.8.9-MariaDB"), ("MySQL", "11.8.9"), False),
        (("MySQL", "9.7.4-2"), ("MySQL", "9.7.4"), True),
        (("MySQL", "9.7.3"), ("MySQL", "9.7.4"), False),
        (("MySQL", "8.0.36"), ("Percona Server", "8.0.36-28"), True),
        (("MySQL", ""), ("MySQL", "8.0.36"), True),
        (("MariaDB", ""), ("MySQL", "8.0.36"), False),
    ],
)
def test_which_data_a_server_may_use(maker, server, fits, tmp_path):
    try:
        check_maker(tmp_path, Maker(*maker), Maker(*server))
    except ServerError:
        assert not fits
    else:
        assert fits


def test_old_data_tell_their_product_by_their_files(tmp_path):
    assert find_maker(tmp_path, tmp_path) is None
    (tmp_path / "aria_log_control").touch()
    assert find_maker(tmp_path, tmp_path) == Maker("MariaDB", "")
    (tmp_path / "mysql.ibd").touch()
    assert find_maker(tmp_path, tmp_path) == Maker("MySQL", "")
    (tmp_path / "mysql_upgrade_info").write_text("10.4.7-MariaDB\n")
    assert find_maker(tmp_path, tmp_path) == Maker("MariaDB", "10.4.7-MariaDB")
