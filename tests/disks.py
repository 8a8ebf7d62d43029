"""A small file system of its own, to be filled by a test."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    """Make and mount a file system of `size`, such as ``10m``; skip without the right to."""
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", path]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)
