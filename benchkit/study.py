"""A study: what to compare, written down once.

A `Study` is checked when it is made and runs nothing by itself; `Study.plan` shows what would
run, `Study.measure` runs what is missing in a folder.
"""

import operator
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from benchkit.checks import Checks
from benchkit.conditions import Conditions
from benchkit.errors import StudyError, unknown_name
from benchkit.home import find_home, new_data_id, remove_home, server_folder
from benchkit.modes import IterationMode, check_mode
from benchkit.placement import check_apart, format_cpus, read_cpus
from benchkit.plan import ORDERS, Grid, Order, Plan, Setup, Timing, label_workloads, make_plan
from benchkit.preflight import check_growth, check_plan
from benchkit.server import Server
from benchkit.store import StudyFolder
from benchkit.units import parse_duration
from benchkit.version import get_version
from benchkit.workloads import Workload

if TYPE_CHECKING:
    from benchkit.execute import Failure, Hosting

_LOADER_THREADS_MAX = 8
_LONGEST_S = 1e9


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Study:
    """A grid of servers x workloads x thread counts x iterations, with order and seed.

    Parameters
    ----------
    name : str
        What the study is called; its folder belongs to it alone.
    servers : sequence of Server
        With different names. Private ones are started one at a time.
    workloads : sequence of Workload
        Told apart by identity, or by the options they were made with.
    threads : int or sequence of int
        Connections that work at the same time.
    iterations : int
        Repeats of every combination.
    duration : str, float or None
        Length of the measurement, such as ``"60s"`` or ``"5m"``; None only with `transactions`.
    warmup : str or float
        Time before the measurement whose transactions do not count.
    transactions : int
        Measure this many transactions, if that comes before the end of `duration`.
    order : {"blocked", "sequential"}
        ``"blocked"``: each iteration visits all servers, in random order from the seed.
        ``"sequential"``: one server after the other.
    seed : int
        Decides the data, the order and what each worker draws.
    iteration_mode : {"preserve", "restart", "restore", "reset"}, optional
        How each run (every iteration at every number of threads) finds server and data:
        ``"preserve"`` as the run before left them; ``"restart"`` with the server started anew,
        its caches cold; ``"restore"`` with the loaded data put back from an image, the server
        started on it; ``"reset"`` with the tables dropped and loaded again. By default restart
        for workloads that only read and restore for those that write; preserve on servers that
        are not ours, which take preserve and reset only.
    rest_limit : str or float
        How long each run waits at most for its servers to come to rest; 0 does not wait.
    loader_threads : int, optional
        Connections that load tables; by default one for each CPU, at most 8.
    monitor : bool
        Read the server's status and the host's counters about once a second, for ``ds.series``,
        the costs per transaction, and the server's count of `nopm` and `tpm`.
    profile : {"perf"}, optional
        Sample the server's process during the measurement; a run's ``profile()`` has the
        folded stacks. Where perf is absent or forbidden the runs carry a warning.
    load_cpus : str or iterable of int, optional
        The CPUs that load threads may use, such as ``"4-7"``; by default all of this
        process. A server's are its own ``cpus``.
    drop_caches : bool
        Have the kernel forget its page cache before every run; where this user may not,
        the runs carry a warning.
    checks : {"counts", "full", "none"}
        What is checked of the tables after every run and stored with it: ``"counts"`` their
        rows, after runs that write, as far as a tenth of the run's time allows; ``"full"`` rows
        and checksums after every run, which reads all data. What is loaded is always counted
        and summed, and compared between servers and iterations.
    comment : str
        What the study is for; reports show it.

    Attributes
    ----------
    grid : Grid
        What the study multiplies out.

    Raises
    ------
    StudyError
        When something is missing, twice, or out of range; the message says what is right.
    ConfigError
        When CPUs are not there, or those of a server overlap with the load threads'.
    """

    name: str
    servers: Sequence[Server]
    workloads: Sequence[Workload]
    threads: SupportsIndex | Iterable[SupportsIndex]
    iterations: int = 3
    duration: str | float | None = "60s"
    warmup: str | float = "10s"
    transactions: int = 0
    order: Order = "blocked"
    seed: int = 1
    iteration_mode: IterationMode | None = None
    rest_limit: str | float = "60s"
    loader_threads: int | None = None
    monitor: bool = True
    profile: str | None = None
    load_cpus: str | Iterable[int] | None = None
    drop_caches: bool = False
    checks: Checks = "counts"
    comment: str = ""
    grid: Grid = field(init=False)
    conditions: Conditions = field(init=False)

    def __post_init__(self) -> None:
        _check_name(self.name)
        if self.order not in ORDERS:
            raise StudyError(unknown_name("order", self.order, ORDERS))
        if self.loader_threads is not None:
            _integer("loader_threads", self.loader_threads, 1, 1024)
        _seconds("rest_limit", self.rest_limit)
        grid = Grid(
            setups=_setups(self.servers),
            workloads=_workloads(self.workloads),
            threads=_threads(self.threads),
            iterations=_integer("iterations", self.iterations, 1, 1_000_000),
            timing=_timing(self.duration, self.warmup, self.transactions),
            order=self.order,
            seed=_integer("seed", self.seed, 0, 2**63 - 1),
            iteration_mode=self.iteration_mode,
        )
        check_mode(
            self.iteration_mode,
            [s.name for s in grid.setups if not s.private],
            [w.existing for w in grid.workloads if w.existing],
        )
        load_cpus = read_cpus("load_cpus", self.load_cpus)
        for server in self.servers:
            check_apart(f"server {server.name!r}", server.cpus, "the load threads", load_cpus)
            replicas = f"the replicas of server {server.name!r}"
            check_apart(replicas, server.replica_cpus, "the load threads", load_cpus)
        conditions = Conditions(
            self.monitor, self.profile, load_cpus, self.drop_caches, self.checks
        )
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "conditions", conditions)
        object.__setattr__(self, "servers", tuple(self.servers))

    def __repr__(self) -> str:
        return f"<{self.plan().summary()}>"

    def plan(self) -> Plan:
        """Return the runs in their order, with an estimate of the time; nothing runs."""
        return make_plan(self.name, self.grid)

    def measure(self, path: str | os.PathLike[str], *, progress: bool = True) -> "list[Failure]":
        """Execute the runs that the folder does not hold yet, and store each as it ends.

        Parameters
        ----------
        path : path-like
            The study's folder; made if it does not exist.
        progress : bool
            Show a progress bar.

        Returns
        -------
        list of Failure
            Runs that failed. The same call tries them again.

        Raises
        ------
        StudyError
            When the folder holds runs that this study does not fit.
        StoreError
            When the folder belongs to another study, or to another process, or is full.
        WorkloadError
            When a workload does not compile.
        ServerError
            When a server is not there, or none starts; the runs of one that does not fail.
        RunError
            When a server or a disk is too small for the study, or nothing at all succeeds.
        """
        plan = self.plan()
        check_plan(plan, self.servers)
        there = [each for each in (Path(path), Path(path) / "study.json") if each.exists()]
        folder = self._open_folder(Path(path))
        with folder.lock():
            stored = [run.record for run in folder.runs()]
            check_growth(plan, folder.study.get("settings", {}), stored)
            data_id = folder.study.get("data_id") or new_data_id()
            folder = StudyFolder.create(folder.path, {**self.describe(), "data_id": data_id})
            hosting = self._place(data_id)

            def undo() -> None:
                if folder.path / "study.json" not in there:
                    folder.discard()
                    remove_home(hosting.home)
                if folder.path not in there:
                    with suppress(OSError):  # somebody else's file in it
                        folder.path.rmdir()

            from benchkit.execute import execute  # much, and for measuring only

            return execute(plan, hosting, folder, stored, progress=progress, undo=undo)

    def describe(self) -> dict[str, Any]:
        """Return what ``study.json`` holds."""
        grid = self.grid
        labels = label_workloads(grid.workloads)
        return {
            "name": self.name,
            **({"comment": self.comment} if self.comment else {}),
            "settings": grid.settings(),
            "servers": [
                {
                    "name": s.name,
                    "config": s.config_sha12,
                    "install": s.install,
                    "binaries": s.binaries,
                }
                for s in grid.setups
            ],
            "workloads": [
                {"identity": w.identity, "parameters": dict(w.parameters)} for w in grid.workloads
            ],
            "datasets": [
                {"server": s.name, "workload": labels[w], "fingerprint": w.fingerprint()}
                for s in grid.setups
                for w in grid.workloads
            ],
            "threads": list(grid.threads),
            "iterations": grid.iterations,
            "conditions": self.conditions.describe(),
            "tool": {"name": "benchkit", "version": get_version()},
        }

    def _open_folder(self, path: Path) -> StudyFolder:
        """Return the folder, made if it is not there; one that is there stays as it is."""
        if (path / "study.json").exists():
            folder = StudyFolder.open(path)
            folder.check_name(self.name)
            return folder
        return StudyFolder.create(path, self.describe())

    def _place(self, data_id: str) -> "Hosting":
        from benchkit.execute import Hosting

        home = find_home(data_id)
        placed = {
            setup.name: server.placed(server_folder(home, setup))
            for setup, server in zip(self.grid.setups, self.servers, strict=True)
        }
        default = min(os.cpu_count() or 1, _LOADER_THREADS_MAX)
        rest_limit_s = _seconds("rest_limit", self.rest_limit)
        return Hosting(
            placed,
            home,
            data_id,
            self.loader_threads or default,
            self.conditions,
            rest_limit_s,
        )


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise StudyError(f"a study needs a printable name, not {name!r}")


def _integer(what: str, value: SupportsIndex, low: int, high: int) -> int:
    """Return an integer of any kind, NumPy's say, as an int within limits."""
    is_integer = hasattr(value, "__index__") and not isinstance(value, bool)
    if not is_integer or not low <= operator.index(value) <= high:
        raise StudyError(f"{what} must be an integer from {low} to {high}, not {value!r}")
    return operator.index(value)


def _setups(servers: Sequence[Server]) -> tuple[Setup, ...]:
    _check_list("servers", servers, Server)
    _check_unique("servers", "server", [server.name for server in servers])
    directories = [server.directory for server in servers if server.directory]
    if len(set(directories)) < len(directories):
        raise StudyError("two servers have the same directory; each needs its own")
    return tuple(
        Setup(
            name=s.name,
            config_sha12=s.config.sha12,
            install=s.install_label,
            binaries=s.binaries,
            cpus=format_cpus(s.cpus),
            private=s.private,
            topology="" if s.topology is None else s.topology.label,
        )
        for s in servers
    )


def _workloads(workloads: Sequence[Workload]) -> tuple[Workload, ...]:
    _check_list("workloads", workloads, Workload)
    labels = label_workloads(workloads)
    _check_unique("workloads", "workload", [labels[workload] for workload in workloads])
    same: dict[str, str] = {}
    for workload in workloads:
        label, fingerprint = labels[workload], workload.fingerprint()
        if same.setdefault(fingerprint, label) != label:
            raise StudyError(f"workloads {same[fingerprint]} and {label} do exactly the same")
    return tuple(workloads)


def _threads(threads: SupportsIndex | Iterable[SupportsIndex]) -> tuple[int, ...]:
    counts = threads if isinstance(threads, Iterable) else [threads]
    integers = tuple(_integer("threads", count, 1, 65536) for count in counts)
    _check_unique("threads", "thread count", integers)
    return integers


def _check_list(what: str, values: object, of: type) -> None:
    if not isinstance(values, list | tuple) or not all(isinstance(v, of) for v in values):
        raise StudyError(f"{what} must be a list of {of.__name__} objects, not {values!r:.200}")


def _check_unique(what: str, one: str, values: Sequence[object]) -> None:
    if not values:
        raise StudyError(f"a study needs at least one {one}: {what} is empty")
    for value in values:
        if values.count(value) > 1:
            raise StudyError(f"{what} holds {value!r} twice; each {one} must be different")


def _timing(duration: str | float | None, warmup: str | float, transactions: int) -> Timing:
    transactions = _integer("transactions", transactions, 0, 2**62)
    duration_s = None if duration is None else _seconds("duration", duration)
    if duration_s is None and not transactions:
        raise StudyError("a study needs an end of each run: give duration or transactions")
    if duration_s is not None and duration_s <= 0:
        raise StudyError(f"duration must be above 0, not {duration!r}")
    return Timing(_seconds("warmup", warmup), duration_s, transactions)


def _seconds(what: str, value: str | float) -> float:
    seconds = parse_duration(value)
    if seconds > _LONGEST_S:
        raise StudyError(f"{what} must be at most {_LONGEST_S:.0f} s, not {value!r}")
    return seconds
