"""``benchkit server ...``: what a user sees of installs."""

import pytest
from click.testing import CliRunner
from installs import MYSQL_9_7, find_install
from test_archive import make_archive

from benchkit.cli import main
from benchkit.install import Install


@pytest.fixture
def cli(tmp_path, monkeypatch):
    """Return a function that runs a command of ``benchkit server``; nothing is cached yet."""
    monkeypatch.setenv("BENCHKIT_SERVERS", str(tmp_path / "cache"))

    def run(*arguments, code=0):
        result = CliRunner().invoke(main, ["server", *map(str, arguments)])
        assert result.exit_code == code, result.stderr
        return result

    return run


def lines_about(text, name):
    return [line for line in text.splitlines() if name in line]


def test_systems_server_is_listed(cli):
    (line,) = cli("installs").stdout.splitlines()
    assert line.split() == ["usable", "MariaDB", Install().version, "system"]


def test_installs_of_folders_and_of_the_cache_are_listed_once(cli, tmp_path):
    mysql = find_install(MYSQL_9_7)
    cache, other = tmp_path / "cache", tmp_path / "other"
    for folder in (cache, other):
        folder.mkdir()
        (folder / "mine").symlink_to(mysql.path)
    shown = cli("installs", other, cache, cache / "mine").stdout
    assert [line.split()[1] for line in lines_about(shown, "mine")] == ["MySQL", "MySQL"]
    assert "not usable" not in shown


def test_what_keeps_an_install_from_being_used_is_said_below_it(cli, tmp_path):
    (tmp_path / "old" / "bin").mkdir(parents=True)
    first, second = cli("installs", tmp_path / "old").stdout.splitlines()[1:]
    assert first.split() == ["not", "usable", str(tmp_path / "old")]
    assert second.strip().endswith("looked for mariadbd and mysqld in bin, sbin, libexec")


def test_folder_without_installs_is_an_error(cli, tmp_path):
    assert f"error: no install in {tmp_path}" in cli("installs", tmp_path, code=1).stderr


def test_install_that_is_there_is_got_at_once_and_its_folder_printed(cli):
    path = find_install(MYSQL_9_7).path
    result = cli("get", "mysql", "9.7", path)
    assert (result.stdout, result.stderr) == (f"{path}\n", f"MySQL {Install(path).version}\n")


def test_wrong_names_are_answered_in_one_line(cli, tmp_path):
    assert cli("get", "oracle", "23", code=1).stderr.startswith("error: unknown product 'oracle'")
    assert "did you mean 'installs'" in cli("instals", code=2).stderr
    evil = make_archive(tmp_path / "evil.tar.gz", "../evil")
    assert "'../evil' lies outside" in cli("unpack", evil, tmp_path / "x", code=1).stderr


def test_help_says_all_of_a_command_in_its_line(cli):
    assert "..." not in cli("--help").stdout.partition("Commands:")[2]
