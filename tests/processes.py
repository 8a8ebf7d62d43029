"""Python scripts in processes of their own, and waiting for what becomes of them."""

import os
import pwd
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIMIT_S = 60.0


def wait_until(condition: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
    """Poll until the condition holds; fail the test when it does not in time."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that ended but was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def start_script(script: str, *arguments: object, prefix: tuple[str, ...] = ()) -> subprocess.Popen:
    """Start a Python script that sees this benchkit; its output can be read line by line."""
    command = [*prefix, sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(
        command, env=_environment(), stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )


def ordinary_user_prefix() -> tuple[str, ...]:
    """Return what makes a command run as an ordinary user, if this is root.

    The user may read what root may, so that it finds Python and benchkit wherever they are.
    """
    if os.geteuid() != 0:
        return ()
    nobody = pwd.getpwnam("nobody")
    capability = _read_anything()
    return (
        "setpriv",
        f"--reuid={nobody.pw_uid}",
        f"--regid={nobody.pw_gid}",
        "--clear-groups",
        f"--inh-caps=+{capability}",
        f"--ambient-caps=+{capability}",
    )


def _read_anything() -> str:
    """Return the capability that opens every folder; the root of a container lacks the first."""
    status = Path("/proc/self/status").read_text()
    bounding = int(status.partition("CapBnd:")[2].split()[0], 16)
    return "dac_read_search" if bounding & 1 << 2 else "dac_override"


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}
