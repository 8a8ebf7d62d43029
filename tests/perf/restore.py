"""Restoring an image against `cp -a --reflink=auto` of the same files.

Prints the ratio of times, ours / cp's, from runs that take turns (at most 1.2 is wanted): of a
restoration until the server can be started, and of one with the folder removed that was there,
which cp needs `rm -r` for.
"""

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import alternate, print_ratios

from benchkit.image import clearing, take_image

MIB = 1 << 20


def make_data(folder: Path, mib: int) -> None:
    """Write files as a data directory has them: a few large ones and many small ones."""
    (folder / "db").mkdir(parents=True)
    for number in range(100):
        (folder / "db" / f"t{number}.frm").write_bytes(os.urandom(2000))
    for number in range(8):
        with (folder / "db" / f"t{number}.ibd").open("wb") as file:
            for _ in range(mib // 8):
                file.write(os.urandom(MIB))


def seconds(work: Callable[[], object], files: Path, spare: Path) -> float:
    """Return how long something takes once nothing waits to be written to disk.

    A copy of the files is removed just before: memory that lay free for long may have gone back
    to a hypervisor, and its first touch takes ten times as long as copying into it.
    """
    shutil.copytree(files, spare)
    os.sync()
    shutil.rmtree(spare)
    started = time.monotonic()
    work()
    return time.monotonic() - started


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--folder", default="/var/tmp")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="restore-", dir=arguments.folder))
    try:
        data = folder / "data"
        make_data(data, arguments.mib)
        image = take_image(folder / "image", {"data": data})
        os.sync()

        source, target = image.path / "data", folder / "copy"
        cp = ["cp", "-a", "--reflink=auto", source, target]

        def timed(work: Callable[[], object]) -> float:
            return seconds(work, image.path / "data", folder / "spare")

        def copy_by_cp() -> float:
            shutil.rmtree(target, ignore_errors=True)
            return timed(lambda: subprocess.run(cp, check=True))

        def restore() -> float:
            took = timed(lambda: image.restore({"data": data}))
            clear()
            return took

        def clear() -> None:
            with clearing({"data": data}):
                pass

        def replace() -> float:
            return timed(lambda: (image.restore({"data": data}), clear()))

        def restore_by_cp() -> float:
            remove = ["rm", "-r", target]
            return timed(lambda: [subprocess.run(each, check=True) for each in (remove, cp)])

        for title, ours, theirs in (
            ("restore / cp -a", restore, copy_by_cp),
            ("restore and clear / rm -r, cp -a", replace, restore_by_cp),
        ):
            pairs = alternate(arguments.rounds, ours, theirs)
            print_ratios(title, [{"s": pair} for pair in pairs])
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
