"""Images of data directories: what is copied, what is noticed, and that data come back."""

import os
import shutil
import socket
import subprocess

import pytest
from disks import small_disk

import benchkit as bk
from benchkit import image
from benchkit.errors import RunError, ServerError
from benchkit.image import clearing, copy_tree, open_image, remove_images, sync_tree, take_image

HOLE_BYTES = 1 << 20


@pytest.fixture
def data(folder):
    """Return a small data directory: folders, modes, a file with holes, an empty one."""
    data = folder / "data"
    (data / "db").mkdir(parents=True)
    (data / "ibdata1").write_bytes(os.urandom(300_000))
    (data / "db" / "t.ibd").write_bytes(b"rows")
    (data / "db" / "empty").touch()
    (data / "auto.cnf").write_text("[auto]")
    (data / "auto.cnf").chmod(0o640)
    with (data / "sparse").open("wb") as file:
        file.write(b"begin")
        file.seek(HOLE_BYTES)
        file.write(b"middle")
        file.truncate(3 * HOLE_BYTES)
    return data


def contents(folder):
    """Return what is in a folder, with all that a copy has to keep."""
    found = {}
    for path in folder.rglob("*"):
        status = path.stat()
        content = path.read_bytes() if path.is_file() else None
        facts = (status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns, content)
        found[str(path.relative_to(folder))] = facts
    return found


def test_a_copy_has_content_modes_owners_and_times(data, folder):
    if os.geteuid() == 0:
        os.chown(data / "ibdata1", 12345, 23456)
        os.chown(data / "db", 12345, 23456)
    copy_tree(data, folder / "copy")
    assert contents(folder / "copy") == contents(data)


@pytest.mark.parametrize("without", [(), ("_clone",), ("_clone", "copy_file_range")])
def test_holes_stay_holes_however_it_is_copied(data, folder, monkeypatch, without):
    if "_clone" in without:
        monkeypatch.setattr(image, "_clone", lambda source, target: False)
    if "copy_file_range" in without:

        def refuse(*_):
            raise OSError(18, "Invalid cross-device link")

        monkeypatch.setattr(os, "copy_file_range", refuse)
    copy_tree(data, folder / "copy")
    copied = folder / "copy" / "sparse"
    assert copied.read_bytes() == (data / "sparse").read_bytes()
    assert copied.stat().st_blocks * 512 < HOLE_BYTES


def test_restoring_replaces_what_is_there(data, folder):
    before = contents(data)
    taken = take_image(folder / "image-a", {"data": data})
    assert contents(data) == before
    (data / "ibdata1").write_bytes(b"changed")
    (data / "new").touch()
    (data / "db" / "t.ibd").unlink()
    taken.restore({"data": data})
    sync_tree(data)
    assert contents(data) == before
    with clearing({"data": data}):
        pass
    assert sorted(path.name for path in folder.iterdir()) == ["data", "image-a"]


def test_an_image_is_found_again_and_restores_what_is_gone(data, folder):
    before = contents(data)
    take_image(folder / "image-a", {"data": data})
    data.rename(folder / "away")
    open_image(folder / "image-a").restore({"data": data})
    assert contents(data) == before


def test_several_parts_go_together(data, folder):
    copy_tree(data, folder / "second")
    (folder / "second" / "only here").touch()
    parts = {"data": data, "replica-1": folder / "second"}
    before = [contents(part) for part in parts.values()]
    taken = take_image(folder / "image-a", parts)
    for part in parts.values():
        (part / "ibdata1").unlink()
    taken.restore(parts)
    assert [contents(part) for part in parts.values()] == before


def overwrite(path):
    """Change a byte and put the times back, as a stray server or a bad disk might."""
    status = path.stat()
    with path.open("r+b") as file:
        file.seek(1000)
        byte = file.read(1)
        file.seek(1000)
        file.write(bytes([byte[0] ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


CHANGES = {
    "ibdata1 has changed": lambda taken: overwrite(taken / "data" / "ibdata1"),
    "db/t.ibd has gone": lambda taken: (taken / "data" / "db" / "t.ibd").unlink(),
    "stray has appeared": lambda taken: (taken / "data" / "stray").touch(),
}


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_image_is_noticed_and_nothing_is_replaced(data, folder, change, again):
    path = folder / "image-a"
    taken = take_image(path, {"data": data})
    before = contents(data)
    CHANGES[change](path)
    if again:
        taken = open_image(path)
    with pytest.raises(RunError, match=f"not as it was taken: data/.*{change.split()[-1]}"):
        taken.restore({"data": data})
    assert contents(data) == before


def test_contents_are_read_once_and_again_where_something_was_done(data, folder, monkeypatch):
    path = folder / "image-a"
    take_image(path, {"data": data})
    read = []
    summarise = image._summarise
    monkeypatch.setattr(image, "_summarise", lambda p: read.append(p.name) or summarise(p))
    found = open_image(path)
    found.check()
    assert "ibdata1" in read
    read.clear()
    found.check()
    assert read == []
    (path / "data" / "ibdata1").touch()
    found.check()
    assert read == ["ibdata1"]


def test_an_unfinished_image_is_none(data, folder, monkeypatch):
    def interrupt(path):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(image, "_summarise", interrupt)
        with pytest.raises(KeyboardInterrupt):
            take_image(folder / "image-a", {"data": data})
    assert open_image(folder / "image-a") is None
    take_image(folder / "image-a", {"data": data}).restore({"data": data})
    remove_images(folder)
    assert [path.name for path in folder.iterdir()] == ["data"]


def test_what_a_kill_left_of_a_restoration_goes_with_the_images(data, folder):
    taken = take_image(folder / "image-a", {"data": data})
    taken.restore({"data": data})  # and no `clearing`
    copy_tree(data, folder / "data.new")
    remove_images(folder)
    assert [path.name for path in folder.iterdir()] == ["data"]


def test_what_leads_elsewhere_is_refused(data, folder):
    (data / "undo001").symlink_to("/var/tmp/elsewhere")
    with pytest.raises(RunError, match="undo001 is a link or a special file"):
        take_image(folder / "image-a", {"data": data})
    (data / "undo001").unlink()
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(data / "sock"))
        with pytest.raises(RunError, match="sock is a link or a special file"):
            take_image(folder / "image-a", {"data": data})


def test_a_disk_that_is_too_small_is_told_before_anything_is_copied(data, folder):
    with small_disk(folder / "small", "256k") as small:
        with pytest.raises(RunError, match=r"takes .* KiB, and .*small has only 256.0 KiB left"):
            take_image(small / "image-a", {"data": data})
        assert list(small.iterdir()) == []


@pytest.fixture
def cloning(folder):
    """Return a folder of 256 MiB whose file system can share blocks."""
    if os.geteuid() != 0 or not shutil.which("mkfs.btrfs"):
        pytest.skip("needs root and mkfs.btrfs, to make a file system that clones")
    disk, mounted = folder / "disk", folder / "cloning"
    with disk.open("wb") as file:
        file.truncate(256 << 20)
    mounted.mkdir()
    subprocess.run(["mkfs.btrfs", "--quiet", disk], check=True)
    if subprocess.run(["mount", "-o", "loop", disk, mounted]).returncode:
        pytest.skip("this machine does not let root mount a btrfs")
    yield mounted
    subprocess.run(["umount", mounted], check=True)


def test_copies_share_blocks_where_the_file_system_can(data, cloning):
    (data / "ibdata1").write_bytes(os.urandom(100 << 20))
    original = cloning / "data"
    copy_tree(data, original)
    before = contents(original)
    taken = take_image(cloning / "image-a", {"data": original})
    for _ in range(2):  # with the one put aside it is four times 100 MiB
        with (original / "ibdata1").open("r+b") as file:
            file.write(b"changed")
        taken.restore({"data": original})
        assert contents(original) == before
    assert (cloning / "data.old" / "ibdata1").read_bytes()[:7] == b"changed"


# With a server


def test_a_restored_server_has_the_same_checksums_every_time(small_config, folder):
    server = bk.Server(small_config, directory=folder / "server")
    server.start()
    server.query("CREATE DATABASE d")
    server.query("CREATE TABLE d.t (id INT PRIMARY KEY, c TEXT)")
    with server.session("d") as session:
        session.query("INSERT INTO t SELECT seq, REPEAT(seq, 50) FROM seq_1_to_5000")
    checksum = server.query("CHECKSUM TABLE d.t")
    with server.at_rest() as folders:
        taken = take_image(folder / "server" / "image-a", folders)
    for _ in range(2):
        server.start()
        server.query("DELETE FROM d.t WHERE id % 3 = 0")
        server.query("CREATE TABLE d.more (id INT)")
        assert server.query("CHECKSUM TABLE d.t") != checksum
        with server.at_rest() as folders:
            taken.restore(folders)
        server.start()
        assert server.query("CHECKSUM TABLE d.t") == checksum
        assert server.query("SHOW TABLES FROM d") == [("t",)]
    server.stop()


def test_a_server_that_runs_is_stopped_and_its_directory_held(small_config, folder):
    server = bk.Server(small_config, directory=folder / "server").start()
    with server.at_rest() as folders:
        assert not server.running
        assert folders == {"data": folder / "server" / "data"}
        with pytest.raises(ServerError, match="in use by process"):
            bk.Server(small_config, directory=folder / "server").start()


def test_a_temporary_server_cannot_rest(server):
    with pytest.raises(ServerError, match="temporary directory.*give Server"), server.at_rest():
        raise AssertionError
    assert server.running
