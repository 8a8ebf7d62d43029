"""Servers: private ones, which benchkit starts and stops, and ones that already run.

What users see of a server, and the ways to ask it about itself. How a private server comes
up and goes down is in `instance`.
"""

import getpass
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from benchkit.account import check_reachable, server_account
from benchkit.config import Config, Value, private_options
from benchkit.datadir import ServerDirectory, told_as_server_error
from benchkit.endpoint import Endpoint, Reachable
from benchkit.errors import DatabaseError, ServerError
from benchkit.install import Install, product_of
from benchkit.instance import Instance, Launch
from benchkit.placement import Cpus, check_apart, format_cpus, read_cpus
from benchkit.replica import (
    Attach,
    Replica,
    ReplicatedInstance,
    free_port,
    mark_clean,
    plan_replicas,
    primary_options,
    replica_folders,
)


class Server(Reachable):
    """A private server: its own data directory, a socket only, gone with this process.

    Nothing happens before `start`; as a context manager it starts and stops. `Server.connect`
    returns a server that already runs.

    Parameters
    ----------
    config : Config
        The server's options; its name is the server's name.
    install : Install or path-like, optional
        The server's binaries, or the folder they are in; by default the system's.
    directory : path-like, optional
        Where data and log live, kept after `stop` and used again. By default a temporary
        directory below BENCHKIT_DATA or ``/var/tmp/benchkit-<uid>``, removed by `stop`.
    port : int, optional
        A TCP port to listen on, on 127.0.0.1, beside the socket. Anyone who is logged in on
        this machine can then use the server: its root user has no password.
    start_limit_s : float
        How long initialisation, and then a start, may take.
    replicas : int
        How many replicas to run beside it, attached by GTID. The server then has a binary log
        and a port of its own on 127.0.0.1, where only they can log in.
    replica_config : Config, optional
        What they are started with; by default what the server is started with.
    attach : {"before_load", "image"}
        Make them from the data the server has at its first start, or when `attach_replicas` is
        called; a study does that once its tables are loaded.
    cpus : str or iterable of int, optional
        The CPUs that the server may use, such as ``"0-3"``; by default all of this process.
    replica_cpus : str or iterable of int, optional
        The same for its replicas, all of them together.

    Raises
    ------
    ConfigError
        When the configuration sets an option that benchkit must own; when there is no such
        port, or no such CPUs, or server and replicas share some.
    """

    def __init__(
        self,
        config: Config,
        install: Install | str | os.PathLike[str] | None = None,
        directory: str | os.PathLike[str] | None = None,
        port: int | None = None,
        start_limit_s: float = 300.0,
        *,
        replicas: int = 0,
        replica_config: Config | None = None,
        attach: Attach = "before_load",
        cpus: str | Iterable[int] | None = None,
        replica_cpus: str | Iterable[int] | None = None,
    ) -> None:
        self.config = config
        self.topology = plan_replicas(config, replicas, replica_config, attach, replica_cpus)
        self._options = private_options(config, port)
        self._binaries = install if isinstance(install, Install) else Install(install)
        self._directory_path = None if directory is None else Path(directory).absolute()
        self._port = port
        self._start_limit_s = start_limit_s
        self.cpus = read_cpus(f"server {config.name!r}", cpus)
        check_apart(f"server {config.name!r}", self.cpus, "its replicas", self.replica_cpus)
        self._instance: Instance | None = None
        self._version: str | None = None

    @staticmethod
    def connect(
        host: str | None = None,
        port: int | None = None,
        socket: str | None = None,
        user: str | None = None,
        password: str | None = None,
        name: str | None = None,
        *,
        tls: bool = False,
    ) -> "Server":
        """Return a server that already runs; `start` and `stop` leave it as it is.

        Parameters
        ----------
        host, port, socket : optional
            Where it is; the socket is used where both are given.
        user, password : str, optional
            By default the name of the user who runs this, without a password.
        name : str, optional
            How it is called in tables; by default where it is.
        tls : bool
            Encrypt the connections, or fail. Whose the server's certificate is is not asked.

        Raises
        ------
        ServerError
            When it cannot be reached or refuses the login.
        """
        endpoint = Endpoint(host=host, port=port or 0, socket=socket, user=user, password=password)
        if tls:
            endpoint["tls"] = True
        server = _RunningServer(name or _place(endpoint), endpoint)
        server.check_login()
        return server

    @property
    def name(self) -> str:
        """How the server is called in tables and plots."""
        return self.config.name

    @property
    def private(self) -> bool:
        """Whether benchkit starts and stops it."""
        return True

    @property
    def running(self) -> bool:
        """Whether the server's process is alive."""
        return self.pid is not None

    @property
    def pid(self) -> int | None:
        """The process id of a private server that runs; None otherwise."""
        return self._instance.pid if self._instance else None

    @property
    def directory(self) -> Path | None:
        """Where data and log are; None for a temporary directory that is not there."""
        return self._instance.directory.path if self._instance else self._directory_path

    @property
    def options(self) -> dict[str, Value]:
        """All that a private server is started with, but for the names of its files."""
        return dict(self._options)

    @property
    def replica_cpus(self) -> Cpus:
        """The CPUs that its replicas may use; empty for any."""
        return () if self.topology is None else self.topology.cpus

    @property
    def install_label(self) -> str:
        """Where the binaries come from, as far as it was said; or where the server is."""
        return self._binaries.label

    @cached_property
    def install(self) -> Install | None:
        """The binaries of a private server; looked for when first asked.

        Raises
        ------
        ServerError
            When there is no server, or not where it was said to be.
        """
        return self._binaries.check()

    @property
    def endpoint(self) -> Endpoint:
        """The keywords of `benchkit._core.Connection` that reach the server.

        Raises
        ------
        ServerError
            When it does not run.
        """
        if self._instance is None or not self.running:
            raise ServerError(f"server {self.name!r} is not running: start() it first")
        endpoint = Endpoint(socket=str(self._instance.directory.socket), user="root")
        if self._port is not None:
            endpoint |= Endpoint(host="127.0.0.1", port=self._port)
        return endpoint

    def start(self) -> Self:
        """Start the server and wait until it answers; fine when it runs already.

        Returns
        -------
        Server
            Itself.

        Raises
        ------
        ServerError
            When it does not come up, with the reason where its log tells one and the log's
            last lines; when its directory is in use or cannot be used; when there are no
            binaries. Nothing of the attempt is left running.
        """
        if self.running:
            return self
        self.stop()
        account = server_account()
        install = self.install
        assert install is not None
        if install.path is not None:
            check_reachable(install.path, account)
        directory = (
            ServerDirectory(self._directory_path, False, account)
            if self._directory_path is not None
            else ServerDirectory.make_temporary(account)
        )
        options = self._launch_options(install)
        launch = Launch(self.name, install, options, self._start_limit_s, self.cpus)
        instance = (
            Instance(launch, directory)
            if self.topology is None
            else ReplicatedInstance(launch, directory, self.topology, self._port is None)
        )
        self._version = instance.start()
        self._instance = instance
        return self

    def stop(self) -> None:
        """Shut the server down; fine when it does not run.

        A temporary directory is removed, whatever happens.

        Raises
        ------
        ServerError
            When a running server did not shut down cleanly.
        """
        instance, self._instance = self._instance, None
        if instance is not None:
            try:
                instance.stop()
            finally:
                instance.discard()

    def kill(self) -> None:
        """End a server, and its replicas, that cannot shut down; fine when it does not run."""
        instance, self._instance = self._instance, None
        if instance is not None:
            instance.discard()

    def restart(self) -> None:
        """Shut the server down and start it on the same data, even in a temporary directory.

        A server that was not started is started.
        """
        if self._instance is None:
            self.start()
        else:
            self._instance.stop()
            self._version = self._instance.start()

    @property
    def replicas(self) -> list[Replica]:
        """The replicas of a server that runs, once they are attached."""
        return self._instance.replicas if isinstance(self._instance, ReplicatedInstance) else []

    def attach_replicas(self) -> None:
        """Make the replicas from a copy of what the server holds now, and attach them.

        The server is stopped and started for that. Replicas that are there are replaced.
        """
        if isinstance(self._instance, ReplicatedInstance):
            self._instance.make_replicas()

    @contextmanager
    def at_rest(self) -> Iterator[dict[str, Path]]:
        """Stop the server, and hold its directory while its data directories are copied.

        Yields
        ------
        dict of str to Path
            The server's data directory, and that of each replica, by a name for each; the
            replicas' are taken to fit the server's in the end.
        """
        if self._directory_path is None:
            raise ServerError(
                f"server {self.name!r} has a temporary directory, which goes when it stops: give "
                "Server(directory=...)"
            )
        self.stop()
        directory = ServerDirectory(self._directory_path, False, server_account())
        replicas = replica_folders(self.topology, directory.path) if self.topology else []
        with told_as_server_error(directory.path):
            directory.claim()
        try:
            yield {"data": directory.data} | {path.name: path / "data" for path in replicas}
            for path in replicas:
                mark_clean(path)
        finally:
            directory.release()
            directory.remove_leftovers()

    def drop_replicas(self) -> None:
        """Kill the replicas and remove their data, so that they are made anew."""
        if isinstance(self._instance, ReplicatedInstance):
            self._instance.drop_replicas()

    @property
    def replication_options(self) -> dict[str, Value]:
        """What the server is started with because it has replicas."""
        return {} if self.topology is None else primary_options(self.config, self.version)

    def _launch_options(self, install: Install) -> dict[str, Value]:
        """Return the options with those that replicas need, and their port."""
        if self.topology is None:
            return self._options
        port = free_port() if self._port is None else self._port
        forced = primary_options(self.config, install.version)
        return private_options(self.config, port) | forced

    def placed(self, directory: Path) -> "Server":
        """Return the server as a study runs it: in its own directory, else in this one."""
        placed = copy(self)
        placed._instance = None
        placed._directory_path = self._directory_path or directory
        return placed

    def discard(self, placed: Path) -> None:
        """Remove the data of a stopped server, if they lie below the folder it was placed in.

        A directory that the user named is the user's.
        """
        if self._directory_path is not None and self._directory_path.is_relative_to(placed):
            shutil.rmtree(self._directory_path, ignore_errors=True)

    def read_log(self, lines: int = 20) -> str:
        """Return the last lines of a private server's error log; empty where there is none."""
        return self._instance.read_log(lines) if self._instance else ""

    @property
    def version(self) -> str:
        """The version of the running server, or else of its binaries."""
        if self._version is not None:
            return self._version
        return self.install.version if self.install else "unknown"

    @property
    def product(self) -> str:
        """``MariaDB``, ``MySQL`` or ``Percona Server``."""
        return self.install.product if self.install else product_of(self.version)

    @property
    def binaries(self) -> str | None:
        """Product and version of a private server's binaries; None where they are not usable.

        A plan can be looked at where its servers are not; a start says what is wrong.
        """
        try:
            return f"{self._binaries.product} {self._binaries.version}"
        except ServerError:
            return None

    def describe(self) -> dict[str, str | int | None]:
        """Return what the record of a run says about its server; never a password.

        The server is not asked: it may hang.
        """
        endpoint = Endpoint() if self.private and not self.running else self.endpoint
        return {
            "name": self.name,
            "product": self.product,
            "version": self.version,
            "install": self.install.label if self.install else None,
            "socket": endpoint.get("socket"),
            "host": endpoint.get("host"),
            "port": endpoint.get("port") or None,
            **({"cpus": format_cpus(self.cpus)} if self.cpus else {}),
        }

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = f"running, pid {self.pid}" if self.running else "not running"
        return f"<Server {self.name!r}, private, {state}>"


class _RunningServer(Server):
    """A server that somebody else runs: what starts and stops a private one does nothing."""

    def __init__(self, name: str, endpoint: Endpoint) -> None:
        super().__init__(Config(name))
        self._endpoint = endpoint
        self._product = "unknown"

    @property
    def private(self) -> bool:
        return False

    @property
    def running(self) -> bool:
        try:
            self.session().close()
        except DatabaseError:
            return False
        return True

    @property
    def options(self) -> dict[str, Value]:
        return {}

    @property
    def install(self) -> Install | None:
        return None

    @property
    def endpoint(self) -> Endpoint:
        return self._endpoint.copy()

    def check_login(self) -> None:
        """Log in once and keep the version; raise ServerError where that fails."""
        try:
            with self.session() as connection:
                self._version = connection.server_version
                ((comment,),) = connection.query("SELECT @@version_comment")
                self._product = product_of(f"{self._version} {comment}")
        except DatabaseError as error:
            user = self._endpoint.get("user")
            raise ServerError(
                f"cannot log in to the server at {_place(self._endpoint)} as user "
                f"{user or getpass.getuser()!r}: {error}"
            ) from error

    @property
    def product(self) -> str:
        return self._product

    @property
    def binaries(self) -> str | None:
        return None

    @property
    def install_label(self) -> str:
        return _place(self._endpoint)

    def placed(self, directory: Path) -> Server:
        return self

    def discard(self, placed: Path) -> None:
        return

    def start(self) -> Self:
        return self

    def stop(self) -> None:
        return

    def restart(self) -> None:
        raise ServerError(f"server {self.name!r} is not benchkit's own: it cannot be restarted")

    def __repr__(self) -> str:
        return f"<Server {self.name!r} at {_place(self._endpoint)}>"


def _place(endpoint: Endpoint) -> str:
    """Return where a server is, for people."""
    socket, host, port = (endpoint.get(key) for key in ("socket", "host", "port"))
    if socket:
        return str(socket)
    return f"{host or 'localhost'}:{port}" if port else str(host or "localhost")
