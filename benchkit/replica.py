"""Replicas of a private server: made from a copy of its data, started and stopped beside it.

A replica has a directory of its own inside its primary's. Its data are a copy of the primary's
data directory, taken while the primary is stopped: before tables are loaded, or after. Beside
them, a file says that both were shut down cleanly; without it they are not trusted to fit
together, and the replica is made anew. How studies use replicas is in `topology`.
"""

import shutil
import socket
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from benchkit import replication
from benchkit._core import Connection
from benchkit.config import Config, Value, places_outside, private_options
from benchkit.datadir import ServerDirectory, told_as_server_error
from benchkit.endpoint import Endpoint, Reachable
from benchkit.errors import ConfigError, DatabaseError, ReplicaError, ServerError, unknown_name
from benchkit.image import copy_tree
from benchkit.instance import Instance, Launch, maker_of
from benchkit.placement import Cpus, format_cpus, read_cpus
from benchkit.replication import Source, dialect_of

Attach = Literal["before_load", "image"]
ATTACH: tuple[Attach, ...] = ("before_load", "image")

_CLEAN = "clean"
_COPIED_IDENTITY = "auto.cnf"  # MySQL: the server's UUID, which the copy must not have
_OFF = ("0", "OFF", "FALSE")
_MOST = 16


@dataclass(frozen=True, slots=True)
class ReplicaSpec:
    """How many replicas a server has, and how they are made.

    Parameters
    ----------
    count : int
    config : Config
        What they are started with; the number of each is added to `server_id`.
    attach : {"before_load", "image"}
        Whether they are copied from the primary before its tables are loaded, so that the load
        is replicated, or after that.
    cpus : tuple of int
        Where they run; empty for anywhere.
    """

    count: int
    config: Config
    attach: Attach
    cpus: Cpus = ()

    @property
    def label(self) -> str:
        """The topology in a few words, for the identity of runs and for reports."""
        when = {"before_load": "before the load", "image": "from an image"}[self.attach]
        where = f", on cpus {format_cpus(self.cpus)}" if self.cpus else ""
        return f"{self.count}, attached {when}, config {self.config.sha12}{where}"


def plan_replicas(
    primary: Config,
    count: int,
    config: Config | None,
    attach: Attach,
    cpus: str | Iterable[int] | None = None,
) -> ReplicaSpec | None:
    """Check what was asked for; None for no replicas.

    Raises
    ------
    ConfigError
        When a configuration rules replication out, or there are no such CPUs.
    """
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _MOST:
        raise ConfigError(f"replicas must be an integer from 0 to {_MOST}, not {count!r}")
    if attach not in ATTACH:
        raise ConfigError(unknown_name("attach", attach, ATTACH))
    if not count:
        for name, given in {"replica_config": config, "replica_cpus": cpus}.items():
            if given is not None:
                raise ConfigError(f"{name} is given, but replicas=0")
        return None
    _check_options(primary)
    if config is not None:
        private_options(config, None)
        if config.options.get("server_id", 0) == _server_id(primary):
            raise ConfigError(
                f"configurations {primary.name!r} and {config.name!r} have the same server_id; "
                "a replica needs another"
            )
    default = {k: v for k, v in primary.options.items() if k != "server_id"}
    return ReplicaSpec(
        count,
        config or Config(f"{primary.name}-replica", default),
        attach,
        read_cpus(f"the replicas of server {primary.name!r}", cpus),
    )


def _check_options(config: Config) -> None:
    """Raise ConfigError where a primary's options contradict that it has replicas."""
    outside = places_outside(config)
    if outside:
        raise ConfigError(
            f"configuration {config.name!r} sets {', '.join(outside)}: a replica is made from a "
            "copy of the data directory, and has none of what lies elsewhere. Leave it out"
        )
    for name in ("skip_log_bin", "disable_log_bin"):
        if not _is_off(config.options.get(name, "OFF")):
            raise ConfigError(
                f"configuration {config.name!r} sets {name}, but a server with replicas needs "
                "its binary log"
            )
    for name in ("log_bin", "gtid_mode", "server_id"):
        if _is_off(config.options.get(name)):
            raise ConfigError(
                f"configuration {config.name!r} sets {name} to {config.options[name]!r}, but a "
                "server with replicas needs it"
            )


def _is_off(value: Value) -> bool:
    return value is False or str(value).upper() in _OFF


def _server_id(config: Config) -> int:
    return int(str(config.options.get("server_id", 1)))


def primary_options(config: Config, version: str) -> dict[str, Value]:
    """Return what a primary is started with because it has replicas."""
    forced: dict[str, Value] = dict(dialect_of(version).primary_options)
    if "log_bin" not in config.options:
        forced["log_bin"] = "binlog"
    if "server_id" not in config.options:
        forced["server_id"] = 1
    return forced


def replica_folders(spec: ReplicaSpec, primary: Path) -> list[Path]:
    """Return the directory of each replica, inside that of its primary."""
    return [primary / f"replica-{number}" for number in range(1, spec.count + 1)]


def mark_clean(folder: Path) -> None:
    """Note that the data of a replica, if there are any, fit those of its primary."""
    with suppress(FileNotFoundError):
        (folder / _CLEAN).touch()


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((replication.HOST, 0))
        port: int = probe.getsockname()[1]
        return port


class Replica(Reachable):
    """One replica, in a directory of its own."""

    def __init__(self, launch: Launch, directory: ServerDirectory) -> None:
        self.name = launch.name
        self.directory = directory
        self._launch = launch
        self._instance = Instance(launch, directory)
        self._stopped_cleanly = False

    @property
    def pid(self) -> int | None:
        """Its process id; None when it does not run."""
        return self._instance.pid

    @property
    def options(self) -> dict[str, Value]:
        """All that it is started with, but for the names of its files."""
        return dict(self._launch.options)

    @property
    def endpoint(self) -> Endpoint:
        """The keywords of `benchkit._core.Connection` that reach it, by its socket only."""
        if self.pid is None:
            raise ServerError(
                f"{self.name} does not run. Last lines of its log:\n{self._instance.read_log(20)}"
            )
        return Endpoint(socket=str(self.directory.socket), user="root")

    @property
    def is_fit(self) -> bool:
        """Whether its data are there, and were shut down cleanly, and so were the primary's."""
        return self.directory.data.is_dir() and (self.directory.path / _CLEAN).exists()

    def check(self) -> None:
        """Raise ReplicaError, with the replica's own words, if it does not work."""
        if self.pid is None:
            raise ReplicaError(
                f"{self.name} has died. Last lines of its log:\n{self._instance.read_log(20)}"
            )
        with self.session() as session:
            standing = replication.read_standing(session)
        if standing.error:
            raise ReplicaError(f"{self.name} has stopped: {standing.error}")

    def copy_from(self, data: Path) -> None:
        """Take a copy of a stopped primary's data directory as its own."""
        with told_as_server_error(self.directory.path):
            self.directory.claim()
            try:
                shutil.rmtree(self.directory.data, ignore_errors=True)
                new = self.directory.path / "data.copy"
                shutil.rmtree(new, ignore_errors=True)
                copy_tree(data, new)
                (new / _COPIED_IDENTITY).unlink(missing_ok=True)
                self.directory.keep_data(new, maker_of(self._launch.install))
            finally:
                self.directory.release()

    def start(self, source: Source, copy_of: str | None) -> None:
        """Start and attach; `copy_of` is the position of the primary whose copy this is now."""
        (self.directory.path / _CLEAN).unlink(missing_ok=True)
        options = self.options | self._secret_options()
        self._instance = Instance(replace(self._launch, options=options), self.directory)
        self._instance.start()
        with self.session() as session:
            if copy_of is not None:
                replication.place_copy(session, copy_of)
            replication.attach(session, source)

    def _secret_options(self) -> dict[str, Value]:
        """Return where it keeps the password of its account: in memory, if it keeps it."""
        name = dialect_of(self._launch.install.version).secret_file_option
        folder = self.directory.make_memory_folder() if name else None
        return {} if folder is None else {name: str(folder / name)}

    def stop(self) -> None:
        """Shut it down."""
        self._stopped_cleanly = False
        running = self.pid is not None
        self._instance.stop()
        self._stopped_cleanly = running

    def mark_clean(self) -> None:
        """Note that its primary was shut down cleanly too, if it was itself."""
        if self._stopped_cleanly:
            mark_clean(self.directory.path)

    def drop(self) -> None:
        """Kill it and remove its data."""
        self.discard()
        shutil.rmtree(self.directory.data, ignore_errors=True)

    def discard(self) -> None:
        """Kill what runs; remove what does not outlive it."""
        self._instance.discard()


class ReplicatedInstance(Instance):
    """A private server with replicas that start and stop with it.

    Parameters
    ----------
    launch : Launch
        With the primary's port among the options.
    directory : ServerDirectory
        The replicas' are inside it.
    spec : ReplicaSpec
    private_port : bool
        Whether the port is for replicas only.
    """

    def __init__(
        self, launch: Launch, directory: ServerDirectory, spec: ReplicaSpec, private_port: bool
    ) -> None:
        super().__init__(launch, directory)
        self._private_port = private_port
        self._attached = False
        self._attach = spec.attach
        self._port = int(str(launch.options["port"]))
        numbers = range(1, spec.count + 1)
        self._members = [_make_replica(spec, number, directory, launch) for number in numbers]

    @property
    def replicas(self) -> list[Replica]:
        """The replicas, if they were attached, even if they have died since; otherwise none."""
        return self._members if self._attached else []

    def start(self) -> str:
        """Start the server and attach the replicas, made anew where needed; return its version."""
        version = super().start()
        try:
            self._lock_root()
            if all(replica.is_fit for replica in self._members):
                self._attach_to(None)
            elif self._attach == "before_load":
                self.make_replicas()
        except BaseException:
            self.discard()
            raise
        return version

    def make_replicas(self) -> None:
        """Make the replicas from what the server holds now, and attach them.

        The server is stopped and started for that.
        """
        self._attached = False
        for replica in self._members:
            replica.discard()
        super().stop()
        for replica in self._members:
            replica.copy_from(self.directory.data)
        super().start()
        with self._session() as session:
            position = replication.read_position(session)
        self._attach_to(position)

    def drop_replicas(self) -> None:
        """Kill the replicas and remove their data, so that they are made anew."""
        self._attached = False
        for replica in self._members:
            replica.drop()

    def stop(self) -> None:
        """Shut all down, even if one fails to; note if they fit together then."""
        self._attached = False
        failures = []
        running = self.pid is not None
        members = [replica.stop for replica in self._members]
        for stop in (*members, self._end_dumps, super().stop):
            try:
                stop()
            except ServerError as error:
                failures.append(error)
        if failures:
            raise failures[0]
        if running:
            for replica in self._members:
                replica.mark_clean()

    def discard(self) -> None:
        """Kill what runs; remove what does not outlive it."""
        self._attached = False
        try:
            for replica in self._members:
                replica.discard()
        finally:
            super().discard()

    def _lock_root(self) -> None:
        if self._private_port:
            with self._session() as session:
                replication.lock_root(session)

    def _end_dumps(self) -> None:
        with suppress(DatabaseError), self._session() as session:  # it may have died
            replication.end_dumps(session)

    def _attach_to(self, copy_of: str | None) -> None:
        """Start the replicas; `copy_of` is the position whose copies they are, if they are new."""
        with self._session() as session:
            source = Source(self._port, replication.make_account(session))
        for replica in self._members:
            replica.start(source, copy_of)
        self._attached = True

    def _session(self) -> Connection:
        return Connection(socket=str(self.directory.socket), user="root")


def _make_replica(
    spec: ReplicaSpec, number: int, beside: ServerDirectory, launch: Launch
) -> Replica:
    path = replica_folders(spec, beside.path)[number - 1]
    directory = ServerDirectory(path, beside.temporary, beside.account)
    dialect = dialect_of(launch.install.version)
    options = _replica_options(spec.config, number, launch.options)
    options |= dialect.replica_options
    name = f"replica {number} of server {launch.name!r}"
    return Replica(Launch(name, launch.install, options, launch.limit_s, spec.cpus), directory)


def _replica_options(config: Config, number: int, primary: Mapping[str, Value]) -> dict[str, Value]:
    """Return what a replica is started with on every product."""
    own = _server_id(config) if "server_id" in config.options else int(str(primary["server_id"]))
    shift = number - 1 if "server_id" in config.options else number
    return {"read_only": True, **private_options(config, None), "server_id": own + shift}
