"""One private server, from an empty directory to its end.

Owns the steps of a start, what is told when one fails, and the clean-up. `server` has the
interface that users see.
"""

import time
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from benchkit._core import Connection
from benchkit.config import Value
from benchkit.datadir import ServerDirectory, told_as_server_error
from benchkit.errorlog import find_cause, find_unknown_option, read_tail
from benchkit.errors import DatabaseError, ServerError
from benchkit.install import MARIADB, Install
from benchkit.maker import Maker
from benchkit.placement import Cpus
from benchkit.process import WatchedProcess
from benchkit.watchdog import KILL, STOP

# Errors of a server that does not answer yet: no socket, nobody behind it, gone at login.
_NOT_YET = frozenset({2002, 2003, 2006, 2013})
_FIRST_PAUSE_S = 0.005
_LONGEST_PAUSE_S = 0.05
_CONNECT_LIMIT_S = 10
_LOG_LINES = 20
_INIT_LOG_LINES = 200
_INIT_OPTIONS = "init.cnf"
_PLUGIN_OPTIONS = frozenset({"plugin_load", "plugin_load_add", "early_plugin_load"})


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start: the server's name, its binaries, its options without file names, where."""

    name: str
    install: Install
    options: dict[str, Value]
    limit_s: float
    cpus: Cpus = ()


class Instance:
    """A private server in a directory."""

    def __init__(self, launch: Launch, directory: ServerDirectory) -> None:
        self.directory = directory
        self._launch = launch
        self._process: WatchedProcess | None = None
        self._log_start_byte = 0

    @property
    def pid(self) -> int | None:
        """The server's process id; None when it does not run."""
        if self._process is None or self._process.exit_code is not None:
            return None
        return self._process.pid

    def start(self) -> str:
        """Start the server, on fresh data if there is none; return its version once it answers.

        Raises
        ------
        ServerError
            With the last lines of the log. Nothing of the attempt is left running.
        """
        try:
            with told_as_server_error(self.directory.path):
                self.directory.claim()
                if self.directory.data.exists():
                    self.directory.check_data(maker_of(self._launch.install))
                else:
                    self._initialise()
                return self._run()
        except BaseException:
            self.discard()
            raise
        finally:
            self.directory.release()

    def stop(self) -> None:
        """Shut the server down and keep its directory; fine when it does not run.

        Raises
        ------
        ServerError
            When a running server did not shut down cleanly.
        """
        process, self._process = self._process, None
        if process is None:
            return
        crashed_before = process.exit_code is not None
        exit_code = process.stop(STOP)
        if exit_code != 0 and not crashed_before:
            raise self._failure(f"did not shut down cleanly (exit code {exit_code})")

    def discard(self) -> None:
        """Kill what runs and remove what does not outlive the server."""
        process, self._process = self._process, None
        try:
            if process is not None:
                process.stop(KILL)
        finally:
            self.directory.remove_leftovers()

    def read_log(self, lines: int) -> str:
        """Return the last lines of the error log since the last start."""
        return read_tail(self.directory.error_log, lines, self._log_start_byte)

    def _initialise(self) -> None:
        """Make the data directory; it appears only when it is complete."""
        directory, install = self.directory, self._launch.install
        log = directory.path / "init.log"
        log.write_bytes(b"")
        data = directory.new_data()
        self._process = WatchedProcess.start(directory.order(self._init_command(data)), log)
        if not self._process.ends_within(self._launch.limit_s):
            raise self._failure(f"was not initialised within {self._launch.limit_s:g} s", log)
        exit_code, self._process = self._process.stop(), None
        if exit_code != 0:
            raise self._failure(f"could not be initialised by {install.initialiser}", log)
        directory.keep_data(data, maker_of(install))
        directory.unlink_install()
        (directory.path / _INIT_OPTIONS).unlink()
        log.unlink()

    def _init_command(self, data: Path) -> list[str]:
        """Return the command that makes a data directory, run where the option file is."""
        directory, install = self.directory, self._launch.install
        # A server empties its tmpdir of what it takes for leftovers: not all share one.
        environment = ["/usr/bin/env", f"TMPDIR={directory.tmp}"]
        options = dict(self._launch.options)
        if install.product != MARIADB:
            directory.write_options(_INIT_OPTIONS, self._with_install(_initial_options(options)))
            server = [str(install.server), f"--defaults-file={_INIT_OPTIONS}"]
            return [*environment, *server, "--initialize-insecure", f"--datadir={data}"]
        # Without names of files: the script would split them at spaces.
        directory.write_options(_INIT_OPTIONS, options)
        base = None if install.path is None else directory.link_install(install.path)
        return [*environment, *_install_db_command(install, base), f"--datadir={data}"]

    def _with_install(self, options: dict[str, Value]) -> dict[str, Value]:
        """Return options with those that tell the server where its install is."""
        install = self._launch.install
        base = {} if install.path is None else {"basedir": str(install.path)}
        return {**install.default_options(), **options, **base}

    def _run(self) -> str:
        directory, install = self.directory, self._launch.install
        options = {**directory.default_options(), **self._with_install(self._launch.options)}
        options |= directory.path_options()
        option_file = directory.write_options("server.cnf", options)
        self._log_start_byte = directory.error_log.stat().st_size
        command = [str(install.server), f"--defaults-file={option_file}"]
        self._process = WatchedProcess.start(
            directory.order(command, self._launch.cpus), directory.error_log
        )
        return self._await_answer(self._process)

    def _await_answer(self, process: WatchedProcess) -> str:
        deadline = time.monotonic() + self._launch.limit_s
        pause_s = _FIRST_PAUSE_S
        while not process.ends_within(pause_s):
            version = self._ask_version()
            if version is not None:
                return version
            if time.monotonic() > deadline:
                raise self._failure(f"did not answer within {self._launch.limit_s:g} s")
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        raise self._failure(f"did not start (exit code {process.exit_code})")

    def _ask_version(self) -> str | None:
        try:
            with Connection(
                socket=str(self.directory.socket), user="root", connect_timeout_s=_CONNECT_LIMIT_S
            ) as connection:
                return connection.server_version
        except DatabaseError as error:
            if error.number in _NOT_YET:
                return None
            raise self._failure(f"started but refuses the login: {error}") from error

    def _failure(self, what: str, log: Path | None = None) -> ServerError:
        """Return the error that says what went wrong, why if the log tells, and its end."""
        text = self.read_log(_LOG_LINES) if log is None else _read_init_log(log)
        reason = self._reason(text)
        return ServerError(
            f"server {self._launch.name!r} {what}{f': {reason}' if reason else ''}\n"
            f"Last lines of {log or self.directory.error_log}:\n{text or '(it is empty)'}"
        )

    def _reason(self, text: str) -> str | None:
        option = find_unknown_option(text)
        if option is None:
            return find_cause(text)
        near = get_close_matches(option, self._launch.install.option_names(), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"{self._launch.install.version} does not know the option {option}{hint}"


def _initial_options(options: dict[str, Value]) -> dict[str, Value]:
    """Return options that MySQL can initialise with, when it does not know its plugins' yet.

    So it may pass over unknown ones; it refuses those that stay unknown when it starts.
    """
    if not _PLUGIN_OPTIONS.intersection(options):
        return options
    return {f"loose_{name.removeprefix('loose_')}": value for name, value in options.items()}


def _read_init_log(log: Path) -> str:
    """Return what the server said; general advice of the script around it left out."""
    text, _, _ = read_tail(log, _INIT_LOG_LINES).partition("\nInstallation of system tables failed")
    return "\n".join(text.splitlines()[-_LOG_LINES:])


def _install_db_command(install: Install, base: str | None) -> list[str]:
    return [
        str(install.install_db),
        f"--defaults-file={_INIT_OPTIONS}",
        *([] if base is None else [f"--basedir={base}"]),
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--force",  # do not ask DNS for the host's name
    ]


def maker_of(install: Install) -> Maker:
    """Return what data made by an install are marked with."""
    return Maker(install.product, install.version)
