"""Vendors' archives: a real server out of one, and everything an archive must not do."""

import io
import shutil
import tarfile
from pathlib import Path

import pytest
from installs import SMALL

import benchkit as bk
from benchkit import archive
from benchkit.errors import ServerError
from benchkit.install import Install

NAME = "mariadb-10.11.99-linux-systemd-x86_64"


@pytest.fixture(scope="module")
def vendor(tmp_path_factory):
    """Return a folder laid out like a vendor's archive, with the system's server in it."""
    system = Install()
    root = tmp_path_factory.mktemp("vendor") / NAME
    for folder in ("bin", "scripts", "lib/plugin"):
        (root / folder).mkdir(parents=True)
    shutil.copy(system.server, root / "bin" / "mariadbd")
    shutil.copy(system.install_db, root / "scripts" / "mariadb-install-db")
    for name in ("my_print_defaults", "resolveip"):
        shutil.copy(shutil.which(name), root / "bin")
    shutil.copytree(system.share, root / "share" / system.share.name)
    (root / "bin" / "mysqld").symlink_to("mariadbd")
    (root / "lib" / "linked").symlink_to("../share")
    return root


@pytest.fixture(scope="module", params=["gz", "xz"])
def packed(vendor, request):
    preset = {"gz": {"compresslevel": 1}, "xz": {"preset": 0}}[request.param]
    file = vendor.with_name(f"{NAME}.tar.{request.param}")
    with tarfile.open(file, f"w:{request.param}", **preset) as tar:
        tar.add(vendor, NAME)
    return file


def link(name, goal, kind=tarfile.SYMTYPE):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, goal
    return member


def special(name, kind):
    member = tarfile.TarInfo(name)
    member.type = kind
    return member


def make_archive(path, *members):
    """Write an archive of members; those with a size have that many zeros."""
    with tarfile.open(path, "w:gz") as tar:
        for member in members:
            member = tarfile.TarInfo(member) if isinstance(member, str) else member
            tar.addfile(member, io.BytesIO(bytes(member.size)))
    return path


def refusal(path, folder):
    """Return why an archive is refused; nothing may be left of it."""
    before = sorted(folder.parent.rglob("*"))
    with pytest.raises(ServerError) as caught:
        bk.Install.unpack(path, folder / "to", progress=False)
    left = [p for p in folder.parent.rglob("*") if p not in before and p != folder / "to"]
    assert left == []
    return str(caught.value)


@pytest.fixture
def place(tmp_path):
    """Return a folder inside one that is watched for what gets out."""
    folder = tmp_path / "outer" / "inner"
    folder.mkdir(parents=True)
    return folder


def test_server_out_of_an_archive_runs(packed, folder):
    install = bk.Install.unpack(packed, folder / "servers", progress=False)
    assert install.path == folder / "servers" / NAME
    assert [p.name for p in install.path.parent.iterdir()] == [NAME]
    with bk.Server(SMALL, install=install) as server:
        assert server.query("SELECT @@basedir")[0][0].rstrip("/") == str(install.path)


def test_progress_is_shown_over_the_bytes_of_the_archive(packed, folder, capsys):
    bk.Install.unpack(packed, folder)
    assert packed.name in capsys.readouterr().err


def test_folder_that_is_there_is_not_touched(packed, place):
    (place / "to" / NAME).mkdir(parents=True)
    assert "exists already: use it, remove it" in refusal(packed, place)


def test_truncated_archive_leaves_nothing(packed, place):
    short = place / packed.name
    short.write_bytes(packed.read_bytes()[:-100_000])
    assert "is damaged, or no archive" in refusal(short, place)


@pytest.mark.parametrize("content", [b"", b"not an archive at all", b"\x1f\x8b\x08\0garbage"])
def test_file_that_is_no_archive_is_an_error(place, content):
    file = place / "server.tar.gz"
    file.write_bytes(content)
    assert "is damaged, or no archive" in refusal(file, place)


def test_archive_without_a_server_is_an_error(place):
    file = make_archive(place / "a.tar.gz", "x/readme")
    assert "has no server" in refusal(file, place)


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        (["x/ok", "../evil"], "'../evil' lies outside"),
        (["x/../../evil"], "lies outside"),
        (["/etc/evil"], "'/etc/evil' lies outside"),
        ([link("x/l", "/etc/passwd")], "points outside the archive, to '/etc/passwd'"),
        ([link("x/l", "../../etc")], "points outside the archive"),
        ([link("x/a/b/c/l", "../../../d"), link("y", "x/a/b/c/l/../..")], "points outside"),
        ([link("x", "."), "x/file"], "'x/file' lies behind a link"),
        ([link("x", "."), link("x/y", "..")], "lies behind a link"),
        ([link("x/h", "../evil", tarfile.LNKTYPE)], "linked to something outside"),
        ([link("x/s", "f"), link("x/h", "x/s", tarfile.LNKTYPE)], "linked to something outside"),
        ([special("x/null", tarfile.CHRTYPE)], "is a device or a pipe"),
        ([special("x/disk", tarfile.BLKTYPE)], "is a device or a pipe"),
        ([special("x/pipe", tarfile.FIFOTYPE)], "is a device or a pipe"),
    ],
)
def test_unsafe_archive_is_refused_and_leaves_nothing(place, members, problem):
    file = make_archive(place / "evil.tar.gz", *members)
    said = refusal(file, place)
    assert "is not safe to unpack" in said
    assert problem in said


def test_links_inside_an_archive_are_fine():
    inside = [("x/lib/l", "../share"), ("x/bin/m", "mariadbd"), ("x/l", "share/./y")]
    links = [link(name, goal) for name, goal in inside]
    assert [archive._problem(member, set()) for member in links] == [None] * 3


def test_archive_that_is_larger_than_the_disk_is_refused(place, monkeypatch):
    bomb = tarfile.TarInfo("x/zeros")
    bomb.size = 50 * 2**20
    file = make_archive(place / "bomb.tar.gz", bomb)
    assert file.stat().st_size < 100_000
    monkeypatch.setattr(archive, "_room", lambda folder: 2**20)
    assert "needs more than the 1.0 MiB that are free" in refusal(file, place)


def test_archive_of_too_many_files_is_refused(place, monkeypatch):
    monkeypatch.setattr(archive, "MEMBERS_MAX", 3)
    file = make_archive(place / "many.tar.gz", *(f"x/{n}" for n in range(4)))
    assert "holds more than 3 files" in refusal(file, place)


def test_what_is_no_archive_by_its_name_is_an_error(tmp_path):
    for name, said in (("a.zip", "is not an archive of server"), ("a.tar.gz", "there is no arch")):
        with pytest.raises(ServerError, match=said):
            bk.Install.unpack(Path(tmp_path / name), tmp_path)
