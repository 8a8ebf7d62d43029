"""A program that runs under a watchdog, seen from the process that started it.

Owns the pipes to the watchdog. Knows nothing of servers; what to run, as whom and what to
clean up comes in an `Order`.
"""

import json
import select
import subprocess
import sys
import weakref
from contextlib import suppress
from pathlib import Path

from benchkit import watchdog
from benchkit.errors import ServerError
from benchkit.watchdog import STOP, Order

# The watchdog kills a program that does not stop; a little later it must have ended too.
_STOP_LIMIT_S = watchdog.STOP_LIMIT_S + 10.0


class WatchedProcess:
    """A running program; `start` makes one.

    When the object goes away without `stop`, or this process does, the watchdog ends the
    program.
    """

    def __init__(self, watchdog_process: "subprocess.Popen[bytes]", pid: int) -> None:
        self._watchdog = watchdog_process
        self.pid = pid
        # subprocess keeps a Popen that was dropped, and so the pipe, until its process ends.
        assert watchdog_process.stdin is not None
        weakref.finalize(self, watchdog_process.stdin.close)

    @classmethod
    def start(cls, order: Order, log: Path) -> "WatchedProcess":
        """Start a program; its output is appended to `log`.

        Raises
        ------
        ServerError
            When the watchdog does not start.
        """
        program = [sys.executable, "-I", "-S", watchdog.__file__, json.dumps(order)]
        with log.open("ab") as output:
            process = subprocess.Popen(
                program,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                cwd="/",
                start_new_session=True,
                pass_fds=[order.lock_fd],
            )
        assert process.stdout is not None
        answer = process.stdout.readline()
        if not answer:
            raise ServerError(f"the watchdog ended with exit code {process.wait()}; see {log}")
        return cls(process, int(answer))

    @property
    def exit_code(self) -> int | None:
        """How the program ended, 128 + n for signal n; None while it runs."""
        return self._watchdog.poll()

    def ends_within(self, limit_s: float) -> bool:
        """Wait until the program has ended; False if it has not after `limit_s` seconds."""
        assert self._watchdog.stdout is not None
        ended, _, _ = select.select([self._watchdog.stdout], [], [], limit_s)
        if ended:
            self._watchdog.wait()
        return bool(ended)

    def stop(self, command: bytes = STOP) -> int:
        """Ask the program to end, by `watchdog.STOP` or `watchdog.KILL`; return its exit code.

        Raises
        ------
        ServerError
            When even the watchdog does not end.
        """
        assert self._watchdog.stdin is not None
        with suppress(BrokenPipeError):
            self._watchdog.stdin.write(command)
        if not self.ends_within(_STOP_LIMIT_S):
            raise ServerError(f"process {self.pid} does not end, not even by SIGKILL")
        self._watchdog.communicate()  # closes the pipes
        return self._watchdog.wait()
