"""The directory of a private server: layout, lock, first initialisation, removal.

    server.lock   held by whoever uses the directory; says who that is
    server.cnf    everything the server reads
    made_by.json  the product and version that made the data
    error.log     the server's own log
    data/         the data directory, complete as soon as it is there
    run/          socket and pid file
    tmp/          the server's temporary files

Runs no server; `server` does, on what it finds here.
"""

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from benchkit.account import Account, check_reachable, give
from benchkit.config import Value, render_options
from benchkit.errors import ServerError
from benchkit.maker import Maker, check_maker, find_maker, write_maker
from benchkit.placement import Cpus
from benchkit.watchdog import Order, write_lock_state

LOCK_NAME = "server.lock"
_TEMPORARY_PREFIX = "tmp-"
_MEMORY = "/dev/shm"
_SOCKET_NAME = "mysql.sock"
_SOCKET_PATH_LIMIT = 107  # bytes in sockaddr_un, less the final zero

# How long a server may take to shut down once its owner is gone. Few are killed for it: those
# that were told to stop in the middle of their start, which hangs them.
_GONE_LIMIT_S = 5.0
_PREDECESSOR_LIMIT_S = _GONE_LIMIT_S + 10.0
_PREDECESSOR_PAUSE_S = 0.02


class ServerDirectory:
    """One server's directory.

    Parameters
    ----------
    path : Path
        Absolute. Need not exist.
    temporary : bool
        Whether it goes away with the server.
    account : Account or None
        Who the server runs as.
    """

    def __init__(self, path: Path, temporary: bool, account: Account | None) -> None:
        self.path = path
        self.temporary = temporary
        self.account = account
        self._lock_fd: int | None = None
        self._socket_folder: Path | None = None
        self._memory_folder: Path | None = None

    @classmethod
    def make_temporary(cls, account: Account | None) -> "ServerDirectory":
        """Make a directory that is removed with its server, below `temporary_base()`."""
        base = make_temporary_base()
        check_reachable(base, account)
        _remove_stale(base)
        with told_as_server_error(base):
            path = Path(tempfile.mkdtemp(prefix=_TEMPORARY_PREFIX, dir=base))
        return cls(path, True, account)

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.path / "data"

    @property
    def tmp(self) -> Path:
        """The folder for the server's temporary files."""
        return self.path / "tmp"

    @property
    def error_log(self) -> Path:
        """The server's log."""
        return self.path / "error.log"

    @property
    def socket(self) -> Path:
        """The server's socket; in a short folder of its own where the path is too long."""
        return (self._socket_folder or self.path / "run") / _SOCKET_NAME

    def claim(self) -> None:
        """Make the directory and its folders, and lock it for this process.

        Raises
        ------
        ServerError
            When another server uses it, or its user cannot reach it or does not own
            the data.
        OSError
            When it cannot be made.
        """
        ours = self.temporary or not self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        if ours:
            give(self.path, self.account)
        check_reachable(self.path, self.account)
        self._lock_fd = _lock(self.path)
        self._make_layout()

    def release(self) -> None:
        """Give up this process's hold on the lock; a running server keeps its own."""
        if self._lock_fd is not None:
            os.close(self._lock_fd)
            self._lock_fd = None

    def remove_leftovers(self) -> None:
        """Remove what does not outlive the server."""
        for path in self._leftovers():
            shutil.rmtree(path, ignore_errors=True)
        self._socket_folder = self._memory_folder = None

    def make_memory_folder(self) -> Path | None:
        """Return a folder in memory that goes with the server, for what no disk should see.

        None where the machine has none.
        """
        if self._memory_folder is None and os.access(_MEMORY, os.W_OK):
            self._memory_folder = Path(tempfile.mkdtemp(prefix="benchkit-", dir=_MEMORY))
            give(self._memory_folder, self.account)
        return self._memory_folder

    def default_options(self) -> dict[str, Value]:
        """Return the options about files that a configuration may change."""
        return {"tmpdir": str(self.tmp)}

    def path_options(self) -> dict[str, Value]:
        """Return the options that tell a server its files."""
        return {
            "datadir": str(self.data),
            "socket": str(self.socket),
            "pid_file": str(self.path / "run" / "mariadbd.pid"),
            "log_error": str(self.error_log),
        }

    def write_options(self, name: str, options: Mapping[str, Value]) -> Path:
        """Write an option file that the server can read; return its path.

        No other user may read it, as an option may be a password.
        """
        path = self.path / name
        text = render_options(options)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            give(path, self.account)
            file.write(text)
        return path

    def new_data(self) -> Path:
        """Return an empty folder to initialise; `keep_data` makes it the data directory."""
        folder = self.path / "data.new"
        shutil.rmtree(folder, ignore_errors=True)
        self._make_folder(folder)
        return folder

    def keep_data(self, folder: Path, maker: Maker) -> None:
        """Take a folder whose initialisation is complete as the data directory."""
        write_maker(self.path, maker)
        folder.rename(self.data)

    def check_data(self, server: Maker) -> None:
        """Raise ServerError when another product or release made the data."""
        check_maker(self.data, find_maker(self.path, self.data), server)

    def link_install(self, root: Path) -> str:
        """Show an install under a short name without spaces; return that, relative to `path`.

        Scripts split names at spaces, and some builds' look for the server in ``sbin`` only.
        """
        links = self.path / "install"
        self.unlink_install()
        self._make_folder(links)
        for entry in root.iterdir():
            (links / entry.name).symlink_to(entry)
        for name in ("bin", "sbin"):
            with suppress(FileExistsError):
                (links / name).symlink_to(root / ("bin" if name == "sbin" else "sbin"))
        return links.name

    def unlink_install(self) -> None:
        """Remove what `link_install` has made."""
        shutil.rmtree(self.path / "install", ignore_errors=True)

    def order(self, argv: list[str], cpus: Cpus = ()) -> Order:
        """Return the order to run a program here, on behalf of this process, on some CPUs.

        The program shares the lock; the directory must be claimed.
        """
        assert self._lock_fd is not None
        user = self.account
        account = None if user is None else (user.uid, user.gid, list(user.groups))
        remove = [str(path) for path in self._leftovers()]
        limit_s = 0.0 if self.temporary else _GONE_LIMIT_S
        return Order(
            argv, str(self.path), os.getpid(), account, self._lock_fd, remove, limit_s, cpus
        )

    def _leftovers(self) -> list[Path]:
        whole = self.path if self.temporary else None
        folders = (whole, self._socket_folder, self._memory_folder)
        return [folder for folder in folders if folder is not None]

    def _make_layout(self) -> None:
        for name in ("run", "tmp"):
            self._make_folder(self.path / name)
        self.error_log.touch()
        give(self.error_log, self.account)
        if self.data.exists():
            _check_owner(self.data, self.account)
        if len(os.fsencode(self.socket)) > _SOCKET_PATH_LIMIT:
            self._socket_folder = Path(tempfile.mkdtemp(prefix="benchkit-", dir="/tmp"))
            give(self._socket_folder, self.account)

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        give(folder, self.account)


def temporary_base() -> Path:
    """Return the folder for temporary server directories, which need not exist.

    It is BENCHKIT_DATA, or ``/var/tmp/benchkit-<uid>``.
    """
    given = os.environ.get("BENCHKIT_DATA")
    return Path(given).absolute() if given else Path(f"/var/tmp/benchkit-{os.geteuid()}")


def make_temporary_base() -> Path:
    """Return `temporary_base()` once it is there and ours."""
    base = temporary_base()
    with told_as_server_error(base):
        base.mkdir(parents=True, exist_ok=True)
        if not os.environ.get("BENCHKIT_DATA"):
            # Anyone can take a name in /var/tmp; what is in another's folder is not ours.
            if base.lstat().st_uid != os.geteuid():
                raise ServerError(
                    f"{base} belongs to another user: set BENCHKIT_DATA to a folder of your own"
                )
            base.chmod(0o755)  # whatever the umask: the server's user must get through
    return base


@contextmanager
def told_as_server_error(path: Path) -> Iterator[None]:
    """Turn an OSError about a server directory into a ServerError that names it."""
    try:
        yield
    except OSError as error:
        raise ServerError(f"cannot use the server directory {path}: {error}") from error


def _check_owner(data: Path, account: Account | None) -> None:
    uid = os.geteuid() if account is None else account.uid
    owner = data.stat().st_uid
    if owner != uid:
        raise ServerError(
            f"{data} belongs to user id {owner}, but the server would run as user id {uid}: "
            f"chown -R {uid} {data}"
        )


def _lock(directory: Path) -> int:
    """Return the locked lock file, waiting for a predecessor that is on its way out."""
    path = directory / LOCK_NAME
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    deadline = time.monotonic() + _PREDECESSOR_LIMIT_S
    while not _try_lock(fd):
        state = _read_state(path)
        if not _is_ending(state) or time.monotonic() > deadline:
            os.close(fd)
            raise ServerError(_in_use_message(directory, state))
        time.sleep(_PREDECESSOR_PAUSE_S)
    write_lock_state(fd, os.getpid(), None, stopping=False)
    return fd


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_state(path: Path) -> dict[str, int]:
    """Return who holds a lock; empty where the holder is just writing it."""
    try:
        state = json.loads(path.read_text())
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}


def _is_ending(state: dict[str, int]) -> bool:
    return not state or bool(state.get("stopping")) or not _is_alive(state.get("owner"))


def _is_alive(pid: int | None) -> bool:
    return pid is not None and Path(f"/proc/{pid}").exists()


def _in_use_message(directory: Path, state: dict[str, int]) -> str:
    server, owner = state.get("server"), state.get("owner")
    user = f"process {owner}" if server is None else f"server process {server} of process {owner}"
    return (
        f"the server directory {directory} is in use by {user}: stop it, or choose another "
        "directory"
    )


def _remove_stale(base: Path) -> None:
    """Remove temporary directories that a crash of the machine, say, has left."""
    for lock in base.glob(f"{_TEMPORARY_PREFIX}*/{LOCK_NAME}"):
        with suppress(FileNotFoundError, PermissionError), lock.open("r+b") as file:
            # A living owner may be between two starts; an empty state is being written.
            state = _read_state(lock)
            if state and not _is_alive(state.get("owner")) and _try_lock(file.fileno()):
                shutil.rmtree(lock.parent, ignore_errors=True)
