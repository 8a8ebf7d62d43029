"""The parent of a private server, so that no server outlives the process that wanted it.

Runs as a script in a session of its own, with the standard library only: `process` starts it
with an `Order` as JSON. It starts the program, tells its pid on stdout, and ends when the
program does, with its exit code. Stdin is the leash: ``s`` asks for an orderly stop, ``k``
kills, and end of file means the owner is gone; then, and only then, the watchdog also removes
what the owner would have removed. Should the watchdog itself be killed, the kernel kills the
program.
"""

import ctypes
import errno
import json
import math
import os
import resource
import select
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, NoReturn

STOP = b"s"
KILL = b"k"
_GONE = b""

STOP_LIMIT_S = 300.0  # from SIGTERM to SIGKILL, for an owner who waits for a clean shutdown

_LOOK_AGAIN_S = 1.0  # how soon a dead owner is noticed if something else holds its pipe
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_PR_SET_PDEATHSIG = 1
_OPEN_FILES = 65536
_CANNOT_RUN = 127


class Order(NamedTuple):
    """What to run and for whom.

    `account` is (uid, gid, groups) to drop to. `lock_fd` is the locked file of the server's
    directory; program and watchdog both keep it, so the lock lasts as long as either does.
    `gone_limit_s` is how long the program may take to end once its owner is gone; with 0 it
    is killed at once. `cpus` are those that the program may use; empty for all.
    """

    argv: list[str]
    cwd: str
    owner: int
    account: tuple[int, int, list[int]] | None
    lock_fd: int
    remove: list[str]
    gone_limit_s: float
    cpus: Sequence[int] = ()


def main() -> int:
    """Run the order in ``sys.argv[1]``; return the exit code of its program."""
    order = Order(*json.loads(sys.argv[1]))
    signals = _catch_signals()
    pid = _spawn(order)
    write_lock_state(order.lock_fd, order.owner, pid, stopping=False)
    with suppress(BrokenPipeError):
        os.write(_STDOUT, b"%d\n" % pid)
    code, owner_gone = _supervise(order, pid, signals)
    _signal_group(pid, signal.SIGKILL)
    if owner_gone:
        for path in order.remove:
            shutil.rmtree(path, ignore_errors=True)
    return code


def _catch_signals() -> int:
    """Turn the end of the child, and a request to end, into bytes on the returned descriptor."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(writer)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    return reader


def _spawn(order: Order) -> int:
    watchdog = os.getpid()
    pid = os.fork()
    if pid:
        with suppress(OSError):  # both sides do it, so that neither can be too late
            os.setpgid(pid, pid)
        return pid
    try:
        _become(order, watchdog)
    except OSError as error:
        os.write(_STDERR, f"cannot run {order.argv[0]}: {error}\n".encode(errors="replace"))
    os._exit(_CANNOT_RUN)


def _become(order: Order, watchdog: int) -> NoReturn:
    """Turn this process, just forked, into the program."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), _STDIN)
    os.dup2(_STDERR, _STDOUT)
    os.setpgid(0, 0)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if order.cpus:
        os.sched_setaffinity(0, order.cpus)
    if order.account is not None:
        uid, gid, groups = order.account
        _raise_open_files()
        os.setgroups(groups)
        os.setgid(gid)
        os.setuid(uid)
    # Last, because the kernel forgets it when the user changes.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != watchdog:
        raise OSError(errno.ESRCH, "the watchdog is gone")
    os.chdir(order.cwd)
    os.execv(order.argv[0], order.argv)


def _raise_open_files() -> None:
    """Lift the limit on open files, which the program cannot once it is no longer root."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(hard, _OPEN_FILES)
    with suppress(OSError, ValueError):  # a container's root may not
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))


def _supervise(order: Order, pid: int, signals: int) -> tuple[int, bool]:
    """Wait for the end of the program; return its exit code and whether the owner is gone."""
    limit_s = {STOP: STOP_LIMIT_S, KILL: 0.0, _GONE: order.gone_limit_s}
    sources = [_STDIN, signals]
    deadline = math.inf
    owner_gone = False
    while (code := _exit_code(pid)) is None:
        if time.monotonic() >= deadline:
            _signal_group(pid, signal.SIGKILL)
        command = _next_command(sources, order.owner)
        if command is None or (owner_gone and command == _GONE):
            continue
        owner_gone = command == _GONE
        deadline = time.monotonic() + limit_s[command]
        write_lock_state(order.lock_fd, order.owner, pid, stopping=True)
        _signal_group(pid, signal.SIGTERM if limit_s[command] else signal.SIGKILL)
    return code, owner_gone or os.getppid() != order.owner


def _next_command(sources: list[int], owner: int) -> bytes | None:
    """Wait a little for a command; None if there was none."""
    readable, _, _ = select.select(sources, [], [], _LOOK_AGAIN_S)
    if _STDIN in readable:
        command = os.read(_STDIN, 1)
        if command == _GONE:
            sources.remove(_STDIN)
        return command
    if os.getppid() != owner:
        return _GONE
    return STOP if any(signal.SIGTERM in os.read(fd, 64) for fd in readable) else None


def _exit_code(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    if not ended:
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _signal_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, number)


def write_lock_state(lock_fd: int, owner: int, server: int | None, stopping: bool) -> None:
    """Write who holds a lock into it, for those who find it locked."""
    state = json.dumps({"owner": owner, "server": server, "stopping": stopping})
    os.pwrite(lock_fd, state.encode(), 0)
    os.ftruncate(lock_fd, len(state))


if __name__ == "__main__":
    sys.exit(main())
