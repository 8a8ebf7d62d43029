"""Folders that appear whole: made under a hidden name beside their place, then renamed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchkit.errors import ServerError


@contextmanager
def building(target: Path) -> Iterator[Path]:
    """Make a hidden folder beside the target, and remove it in the end.

    What a killed process has left of the same target is removed too.

    Raises
    ------
    ServerError
        When it cannot be made.
    """
    prefix = f".{target.name}.making-"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        for left in target.parent.glob(f"{prefix}*"):
            if not Path(f"/proc/{left.name.removeprefix(prefix).partition('-')[0]}").exists():
                shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=target.parent))
    except OSError as error:
        raise ServerError(f"cannot make {target}: {error}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
