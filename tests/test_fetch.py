"""Getting servers from packages: with apt itself, on a repository that lies on disk.

What the distribution's mirror offers is got by `installs`, for all tests.
"""

import shutil
from pathlib import Path

import pytest
from installs import OTHERS, SMALL, find_install
from repository import LocalMirror, make_empty_package, make_server_package, publish

import benchkit as bk
from benchkit import apt, fetch
from benchkit.errors import ServerError
from benchkit.fetch import cache_folder, find_installs, get_server
from benchkit.install import Install

pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("apt-get", "apt-cache", "dpkg-deb")),
    reason="needs apt and dpkg",
)


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    """Return a mirror whose old suite has the server and whose stable one has others."""
    folder = tmp_path_factory.mktemp("mirror")
    server = make_server_package(folder)
    old = "1:10.11.77-0+test"
    client = make_empty_package(folder, "mariadb-client-core", old)
    named = make_empty_package(folder, "mariadb-server-core-10.11", old)
    other = make_empty_package(folder, "mariadb-server-core", "1:11.8.1-1")
    lonely = make_empty_package(folder, "mysql-server-core-8.0", "8.0.30-1", "not-there")
    publish(folder, "oldstable", [server, client, named])
    publish(folder, "stable", [other, lonely])
    return LocalMirror(str(folder), "debian", "stable")


@pytest.fixture(autouse=True)
def found_mirror(mirror, monkeypatch):
    monkeypatch.setattr(fetch, "find_mirror", lambda: mirror)


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


def test_server_of_the_suite_that_has_it_runs_where_it_is_moved_to(folder):
    steps = []
    install = get_server("mariadb", "10.11", folder / "new" / "got", steps.append)
    assert steps[0] == "looking for mariadb 10.11 in debian stable"
    assert any("testing cannot be read: apt-get failed: E: " in step for step in steps)
    assert "downloading mariadb-server-core 10.11.77 and what it needs" in steps
    assert entries(folder / "new") == ["got"]
    install.path.rename(folder / "moved")
    with bk.Server(SMALL, install=folder / "moved") as server:
        (loader,) = (folder / "moved" / "lib" / "private").glob("ld-linux*")
        assert str(loader) in Path(f"/proc/{server.pid}/maps").read_text()


def test_second_call_asks_nobody(folder, monkeypatch):
    first = get_server("mariadb", "10.11", folder / "got")
    monkeypatch.setattr(fetch, "find_mirror", None)
    assert get_server("MariaDB", "10.11", folder / "got") == first
    with pytest.raises(ServerError, match="got holds MariaDB 10.11.* not mysql 9.7: choose"):
        get_server("mysql", "9.7", folder / "got")
    with pytest.raises(ServerError, match="not mariadb 10.1: choose"):
        get_server("mariadb", "10.1", folder / "got")


def test_version_that_does_not_exist_lists_what_there_is(folder):
    with pytest.raises(
        ServerError, match="debian has no mariadb 11.9. It has 11.8.1 .stable., 10.11"
    ):
        get_server("mariadb", "11.9", folder / "got")
    assert entries(folder) == []


def test_failed_download_is_told_in_apts_words_and_leaves_nothing(folder):
    with pytest.raises(ServerError, match="apt-get failed: E: .*mysql-client-core-8.0"):
        get_server("mysql", "8.0", folder / "got")
    assert entries(folder) == []


def test_interrupted_download_leaves_nothing(folder, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(fetch, "make_bundle", interrupt)
    with pytest.raises(KeyboardInterrupt):
        get_server("mariadb", "10.11", folder / "got")
    assert entries(folder) == []


def test_what_a_killed_process_has_left_is_removed(folder):
    (folder / ".got.making-999999999-x").mkdir()
    get_server("mariadb", "10.11", folder / "got")
    assert entries(folder) == ["got"]


@pytest.mark.parametrize(
    ("product", "version", "message"),
    [
        ("oracle", "23", "unknown product 'oracle'. Known: mariadb, mysql"),
        ("mysqll", "9", "unknown product 'mysqll': did you mean 'mysql'"),
        ("mysql", "nine", "'nine' is not a version: write numbers, such as 11.8"),
        ("mysql", "../x", "'../x' is not a version"),
    ],
)
def test_what_cannot_be_meant_is_an_error(product, version, message, folder):
    with pytest.raises(ServerError, match=message):
        get_server(product, version, folder / "got")


def test_folder_of_something_else_is_left_alone(folder):
    (folder / "thesis.tex").touch()
    with pytest.raises(ServerError, match="no server: looked for"):
        get_server("mariadb", "10.11", folder)
    assert entries(folder) == ["thesis.tex"]


def test_system_without_apt_is_told_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerError, match="needs a Debian or Ubuntu with apt-get.*server unpack"):
        apt.find_mirror()


def test_mirror_of_this_system_is_known():
    mirror = apt.find_mirror()
    assert mirror.address.partition(":")[0] in ("http", "https", "file", "mirror", "copy", "cdrom")
    assert "stable" in mirror.suites or mirror.codename in mirror.suites


def test_installs_are_kept_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("BENCHKIT_SERVERS", str(tmp_path))
    assert cache_folder() == tmp_path
    for name in ("mariadb-11.8/bin", "mysql-9.7/bin", ".mysql-9.8.making-1-x/bin", "notes"):
        (tmp_path / name).mkdir(parents=True)
    expected = [Install(tmp_path / "mariadb-11.8"), Install(tmp_path / "mysql-9.7")]
    assert find_installs(tmp_path) == expected
    assert find_installs(tmp_path / "mysql-9.7") == [Install(tmp_path / "mysql-9.7")]
    assert find_installs(tmp_path / "nowhere") == []


@pytest.mark.parametrize("label", OTHERS)
def test_what_tests_keep_is_found_at_once(label):
    install = find_install(label)
    assert get_server(*label.split("-"), install.path) == install
