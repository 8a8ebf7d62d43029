"""Programs that are asked something: their answer, or why they cannot run on this machine."""

import platform
import re
import shutil
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from benchkit.errors import ServerError

_ANSWER_LIMIT_S = 60
_NOT_FOUND = re.compile(r"^\s*(\S+) => not found|version `([^']+)' not found", re.MULTILINE)

_MACHINES: Mapping[int, str] = MappingProxyType(
    # e_machine of an ELF file, as `uname -m` writes it
    {
        3: "i686",
        8: "mips",
        20: "ppc",
        21: "ppc64le",
        22: "s390x",
        40: "armv7l",
        62: "x86_64",
        183: "aarch64",
        243: "riscv64",
        258: "loongarch64",
    }
)


def run_program(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, which must come soon; return what it printed.

    Raises
    ------
    ServerError
        When it cannot be started or does not end.
    """
    try:
        return subprocess.run(
            [str(program), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerError(explain_failure(program, str(error))) from error


def explain_failure(program: Path, said: str) -> str:
    """Return a message for a program that does not run: why, if that can be found out."""
    machine = _machine(program)
    if machine not in (None, platform.machine()):
        return f"{program} is built for {machine}, and this machine is {platform.machine()}"
    missing = _missing_libraries(program)
    if missing:
        return f"{program} does not run: this system lacks {', '.join(missing)}"
    return f"{program} does not run: {said.strip() or 'it says nothing'}"


def _machine(program: Path) -> str | None:
    """Return the machine an ELF file is for; None for anything else."""
    try:
        with program.open("rb") as file:
            head = file.read(20)
    except OSError:
        return None
    if len(head) < 20 or head[:4] != b"\x7fELF":
        return None
    (number,) = struct.unpack_from("<H" if head[5] == 1 else ">H", head, 18)
    return _MACHINES.get(number, f"ELF machine {number}")


def _missing_libraries(program: Path) -> list[str]:
    """Return the shared libraries, and versions of them, that a program would not find here."""
    ldd = shutil.which("ldd")
    if ldd is None or _machine(program) is None:
        return []
    answer = subprocess.run(
        [ldd, str(program)], capture_output=True, text=True, errors="replace", check=False
    )
    names = [a or b for a, b in _NOT_FOUND.findall(answer.stdout + answer.stderr)]
    return list(dict.fromkeys(names))
