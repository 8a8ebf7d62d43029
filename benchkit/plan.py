"""A plan: the runs of a study in the order they will be executed.

Plans are values: making one touches no server and no disk. The default order is a randomised
complete block design: every iteration number visits all servers once, in an order drawn from
the study's seed, so that drift of the machine hits all of them alike.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby, pairwise, product
from typing import Literal, NamedTuple

from benchkit.modes import IterationMode, choose_mode
from benchkit.record import run_id
from benchkit.units import format_count, format_duration
from benchkit.workloads import Workload

Order = Literal["blocked", "sequential"]
ORDERS: tuple[Order, ...] = ("blocked", "sequential")

# For estimates only: what was seen on small machines, not promised.
_START_S = 3.0
_LOAD_ROWS_PER_S = 60_000.0
_RUN_OVERHEAD_S = 0.5
_COUNTED_RUN_S = 10.0


@dataclass(frozen=True, slots=True)
class Setup:
    """A server as a plan sees it: what it is called and what it is started with.

    Parameters
    ----------
    name : str
    config_sha12 : str
        Of the rendered configuration.
    install : str or None
        Where the binaries are, or a running server is.
    cpus : str
        Where the server runs, such as ``"0-3"``; empty for anywhere.
    private : bool
        Whether it is ours to start and stop.
    topology : str
        Its replicas, in a few words; empty for none.
    binaries : str or None
        Product and version of a private server, such as ``"MariaDB 11.8.9-MariaDB"``.
    """

    name: str
    config_sha12: str
    install: str | None
    cpus: str = ""
    private: bool = True
    topology: str = ""
    binaries: str | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """When each run ends.

    Parameters
    ----------
    warmup_s : float
    duration_s : float or None
        Length of the measurement; None for no limit in time.
    transactions : int
        How many transactions to measure; 0 for no limit in number.
    """

    warmup_s: float
    duration_s: float | None
    transactions: int


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run to execute."""

    setup: Setup
    workload: Workload
    threads: int
    iteration: int
    timing: Timing
    seed: int
    order: int
    block: int
    fingerprint: str
    workload_label: str
    mode: IterationMode

    @property
    def identity(self) -> dict[str, object]:
        """All that makes this run the run it is; its place in the order does not."""
        return {
            "server": self.setup.name,
            "config": self.setup.config_sha12,
            "install": self.setup.install,
            "binaries": self.setup.binaries,
            "workload": self.workload.identity,
            "workload_fingerprint": self.fingerprint,
            "threads": self.threads,
            "iteration": self.iteration,
            "duration_s": self.timing.duration_s,
            "transactions": self.timing.transactions,
            "warmup_s": self.timing.warmup_s,
            "seed": self.seed,
            "iteration_mode": self.mode,
            **({"cpus": self.setup.cpus} if self.setup.cpus else {}),
            **({"replicas": self.setup.topology} if self.setup.topology else {}),
        }

    @property
    def id(self) -> str:
        """The hash of the identity."""
        return run_id(self.identity)

    @property
    def random_seed(self) -> int:
        """The seed of the run's random streams: 64 bits from the study's seed and the run."""
        digest = hashlib.sha256(f"{self.seed}/{self.id}".encode()).digest()
        return int.from_bytes(digest[:8], "little")

    @property
    def label(self) -> str:
        """The run in a few words, for people."""
        return (
            f"{self.setup.name}, {self.workload_label.rpartition(':')[2]}, "
            f"{format_count(self.threads, 'thread')}, iteration {self.iteration}"
        )

    @property
    def expected_s(self) -> float:
        """About how long warmup and measurement will take."""
        duration_s = self.timing.duration_s
        return self.timing.warmup_s + (_COUNTED_RUN_S if duration_s is None else duration_s)


@dataclass(frozen=True, slots=True)
class Grid:
    """What a study multiplies out: setups x workloads x threads x iterations."""

    setups: tuple[Setup, ...]
    workloads: tuple[Workload, ...]
    threads: tuple[int, ...]
    iterations: int
    timing: Timing
    order: Order
    seed: int
    iteration_mode: IterationMode | None = None

    def settings(self) -> dict[str, object]:
        """Return what stays the same while a study grows."""
        return {
            **asdict(self.timing),
            "order": self.order,
            "seed": self.seed,
            "iteration_mode": self.iteration_mode,
        }

    def mode_of(self, setup: Setup, workload: Workload) -> IterationMode:
        """Return how the runs of a workload on a server find it."""
        return choose_mode(self.iteration_mode, workload, setup.private)


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of a study, in order; shows itself as a table."""

    study: str
    grid: Grid
    runs: tuple[PlannedRun, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[PlannedRun]:
        return iter(self.runs)

    @property
    def expected_s(self) -> float:
        """About how long all runs will take, with starts and loads."""
        switches = 1 + sum(
            before.setup != after.setup or after.mode in ("restart", "restore")
            for before, after in pairwise(self.runs)
        )
        runs_s = sum(run.expected_s + _RUN_OVERHEAD_S for run in self.runs)
        return runs_s + switches * _START_S + self._rows_to_load() / _LOAD_ROWS_PER_S

    def _rows_to_load(self) -> int:
        grid, rows = self.grid, 0
        for setup, workload in product(grid.setups, grid.workloads):
            mode = grid.mode_of(setup, workload)
            anew = mode == "reset" or (workload.fresh_data and mode != "restore")
            each = sum(t.rows * int(t.count) for t in workload.tables_for(max(grid.threads)))
            rows += each * (len(grid.threads) * grid.iterations if anew else 1)
        return rows

    def summary(self) -> str:
        """Say in one line what there is to run, and about how long it takes."""
        grid = self.grid
        parts = [
            format_count(len(grid.setups), "server"),
            format_count(len(grid.workloads), "workload"),
            f"threads {', '.join(map(str, grid.threads))}",
            format_count(grid.iterations, "iteration"),
        ]
        return (
            f"Study {self.study!r}: {format_count(len(self.runs), 'run')} = {' x '.join(parts)}, "
            f"{grid.order}, about {format_duration(self.expected_s)}"
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table: a row for each stretch of a block on one server and workload."""
        rows: list[tuple[str, ...]] = []
        for stretch in _stretches(self.runs):
            first, last = stretch[0], stretch[-1]
            rows.append(
                (
                    f"{first.order}-{last.order}" if len(stretch) > 1 else str(first.order),
                    _list_once(run.iteration for run in stretch),
                    first.setup.name,
                    first.workload_label,
                    _list_once(run.threads for run in stretch),
                    format_duration(sum(run.expected_s for run in stretch)),
                )
            )
        return rows


PLAN_COLUMNS = ("runs", "iteration", "server", "workload", "threads", "time")


def make_plan(study: str, grid: Grid) -> Plan:
    """Multiply a grid out into runs, in the grid's order."""
    cells = _CELLS[grid.order](grid)
    fingerprints = {workload: workload.fingerprint() for workload in grid.workloads}
    labels = label_workloads(grid.workloads)
    runs = tuple(
        PlannedRun(
            setup=cell.setup,
            workload=cell.workload,
            threads=cell.threads,
            iteration=cell.iteration,
            timing=grid.timing,
            seed=grid.seed,
            order=order,
            block=cell.block,
            fingerprint=fingerprints[cell.workload],
            workload_label=labels[cell.workload],
            mode=grid.mode_of(cell.setup, cell.workload),
        )
        for order, cell in enumerate(cells, 1)
    )
    return Plan(study, grid, runs)


def label_workloads(workloads: Sequence[Workload]) -> dict[Workload, str]:
    """Return how each workload is called: its identity, and what sets it apart if needed."""
    labels = {}
    for workload in workloads:
        namesakes = [w for w in workloads if w.identity == workload.identity]
        differing = [
            f"{name}={value}"
            for name, value in workload.parameters
            if any(dict(other.parameters).get(name) != value for other in namesakes)
        ]
        suffix = f"[{', '.join(differing)}]" if differing else ""
        labels[workload] = workload.identity + suffix
    return labels


class _Cell(NamedTuple):
    block: int
    setup: Setup
    workload: Workload
    threads: int
    iteration: int


def _blocked(grid: Grid) -> Iterator[_Cell]:
    for iteration in range(1, grid.iterations + 1):
        setups = list(grid.setups)
        random.Random(f"{grid.seed}/{iteration}").shuffle(setups)
        for setup, workload, threads in product(setups, grid.workloads, grid.threads):
            yield _Cell(iteration, setup, workload, threads, iteration)


def _sequential(grid: Grid) -> Iterator[_Cell]:
    iterations = range(1, grid.iterations + 1)
    for block, setup in enumerate(grid.setups, 1):
        for workload, threads, iteration in product(grid.workloads, grid.threads, iterations):
            yield _Cell(block, setup, workload, threads, iteration)


_CELLS: dict[Order, Callable[[Grid], Iterator[_Cell]]] = {
    "blocked": _blocked,
    "sequential": _sequential,
}


def _stretches(runs: Sequence[PlannedRun]) -> list[list[PlannedRun]]:
    """Split runs where block, server or workload changes."""
    return [list(s) for _, s in groupby(runs, lambda run: (run.block, run.setup, run.workload))]


def _list_once(values: Iterable[int]) -> str:
    return ", ".join(map(str, dict.fromkeys(values)))
