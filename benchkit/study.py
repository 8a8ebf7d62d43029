"""A study: what to compare, written down once.

A `Study` is checked when it is made and runs nothing by itself; `Study.plan` shows what would
run, `Study.measure` runs what is missing in a folder.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchkit.datadir import study_base
from benchkit.errors import StudyError, unknown_name
from benchkit.execute import Failure, Hosting, execute
from benchkit.plan import ORDERS, Grid, Order, Plan, Setup, Timing, label_workloads, make_plan
from benchkit.server import Server
from benchkit.store import StudyFolder
from benchkit.units import parse_duration
from benchkit.version import get_version
from benchkit.workloads import Workload

_LOADER_THREADS_MAX = 8


@dataclass(frozen=True, slots=True, init=False)
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
    loader_threads : int, optional
        Connections that load tables; by default one for each CPU, at most 8.

    Raises
    ------
    StudyError
        When something is missing, twice, or out of range; the message says what is right.
    """

    name: str
    servers: tuple[Server, ...]
    grid: Grid
    loader_threads: int

    def __init__(
        self,
        name: str,
        *,
        servers: Sequence[Server],
        workloads: Sequence[Workload],
        threads: int | Sequence[int],
        iterations: int = 3,
        duration: str | float | None = "60s",
        warmup: str | float = "10s",
        transactions: int = 0,
        order: Order = "blocked",
        seed: int = 1,
        loader_threads: int | None = None,
    ) -> None:
        _check_name(name)
        if order not in ORDERS:
            raise StudyError(unknown_name("order", order, ORDERS))
        _check_integer("seed", seed, 0, 2**63 - 1)
        _check_integer("iterations", iterations, 1, 1_000_000)
        if loader_threads is None:
            loader_threads = min(os.cpu_count() or 1, _LOADER_THREADS_MAX)
        _check_integer("loader_threads", loader_threads, 1, 1024)
        grid = Grid(
            setups=tuple(_setup(server) for server in _check_servers(servers)),
            workloads=_check_workloads(workloads),
            threads=_check_threads(threads),
            iterations=iterations,
            timing=_timing(duration, warmup, transactions),
            order=order,
            seed=seed,
        )
        for attribute, value in (
            ("name", name),
            ("servers", tuple(servers)),
            ("grid", grid),
            ("loader_threads", loader_threads),
        ):
            object.__setattr__(self, attribute, value)

    def plan(self) -> Plan:
        """Return the runs in their order, with an estimate of the time; nothing runs."""
        return make_plan(self.name, self.grid)

    def measure(self, path: str | os.PathLike[str], *, progress: bool = True) -> list[Failure]:
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
            When the folder holds this study with other settings.
        StoreError
            When the folder belongs to another study, or to another process, or is full.
        ServerError
            When a server does not start.
        """
        plan = self.plan()
        folder = _open_folder(Path(path), self, plan)
        home = study_base(Path(path))
        placed = {server.name: server.placed(home / _slug(server)) for server in self.servers}
        return execute(
            plan,
            Hosting(placed, home, self.loader_threads),
            folder,
            progress=progress,
        )

    def describe(self) -> dict[str, Any]:
        """Return what ``study.json`` holds."""
        grid = self.grid
        return {
            "name": self.name,
            "settings": self._settings(),
            "servers": [
                {"name": s.name, "config": s.config_sha12, "install": s.install}
                for s in grid.setups
            ],
            "workloads": [
                {"identity": w.identity, "parameters": dict(w.parameters)} for w in grid.workloads
            ],
            "datasets": [
                {"server": setup.name, "workload": label}
                for setup in grid.setups
                for label in label_workloads(grid.workloads).values()
            ],
            "threads": list(grid.threads),
            "iterations": grid.iterations,
            "tool": {"name": "benchkit", "version": get_version()},
        }

    def _settings(self) -> dict[str, Any]:
        """Return what must stay the same while a study grows."""
        timing = self.grid.timing
        return {
            "duration_s": timing.duration_s,
            "warmup_s": timing.warmup_s,
            "transactions": timing.transactions,
            "order": self.grid.order,
            "seed": self.grid.seed,
        }


def _open_folder(path: Path, study: Study, plan: Plan) -> StudyFolder:
    """Return the study's folder, after making sure that it is this study's."""
    wanted = study.describe()
    if (path / "study.json").exists():
        _check_same_settings(StudyFolder.open(path), wanted)
    assert len(plan), "a checked study has runs"
    return StudyFolder.create(path, wanted)


def _check_same_settings(folder: StudyFolder, wanted: dict[str, Any]) -> None:
    if folder.name != wanted["name"]:
        return  # create() says whose the folder is
    stored = folder.study.get("settings", {})
    for key, value in wanted["settings"].items():
        if stored.get(key) != value:
            raise StudyError(
                f"{folder.path} holds study {folder.name!r} with {key} = {stored.get(key)!r}; "
                f"now it is {value!r}. A study may grow, but its settings stay: use another "
                "folder, and another name"
            )


def _slug(server: Server) -> str:
    """Return a folder name for a server: readable, and different for different setups."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", server.name).strip("-.")[:40]
    return f"{readable or 'server'}-{server.config.sha12}"


def _setup(server: Server) -> Setup:
    return Setup(server.name, server.config.sha12, server.install_label)


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise StudyError(f"a study needs a printable name, not {name!r}")


def _check_integer(what: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise StudyError(f"{what} must be an integer from {low} to {high}, not {value!r}")


def _check_servers(servers: Sequence[Server]) -> Sequence[Server]:
    if isinstance(servers, Server) or not all(isinstance(s, Server) for s in servers):
        raise StudyError(f"servers must be a list of Server objects, not {servers!r}")
    _check_unique("servers", "server", [server.name for server in servers])
    return servers


def _check_workloads(workloads: Sequence[Workload]) -> tuple[Workload, ...]:
    if isinstance(workloads, Workload) or not all(isinstance(w, Workload) for w in workloads):
        raise StudyError(f"workloads must be a list of Workload objects, not {workloads!r}")
    labels = label_workloads(workloads)
    _check_unique("workloads", "workload", [labels[workload] for workload in workloads])
    return tuple(workloads)


def _check_threads(threads: int | Sequence[int]) -> tuple[int, ...]:
    counts: Iterable[int] = (threads,) if isinstance(threads, int) else threads
    counts = tuple(counts)
    for count in counts:
        _check_integer("threads", count, 1, 65536)
    _check_unique("threads", "thread count", list(counts))
    return counts


def _check_unique(what: str, one: str, values: Sequence[object]) -> None:
    if not values:
        raise StudyError(f"a study needs at least one {one}: {what} is empty")
    for value in values:
        if values.count(value) > 1:
            raise StudyError(f"{what} holds {value!r} twice; each {one} must be different")


def _timing(duration: str | float | None, warmup: str | float, transactions: int) -> Timing:
    _check_integer("transactions", transactions, 0, 2**62)
    duration_s = None if duration is None else parse_duration(duration)
    if duration_s is None and not transactions:
        raise StudyError("a study needs an end of each run: give duration or transactions")
    if duration_s is not None and duration_s <= 0:
        raise StudyError(f"duration must be above 0, not {duration!r}")
    return Timing(parse_duration(warmup), duration_s, transactions)
