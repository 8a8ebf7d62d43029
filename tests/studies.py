"""Small studies and workloads for tests that measure, and what they leave on a server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import benchkit as bk
from benchkit import execute
from benchkit.plan import Grid, Plan, PlannedRun, Setup, Timing, make_plan
from benchkit.progress import Progress
from benchkit.workloads import Execute, Table, Transaction, Workload

POINT_SELECT = bk.workloads.oltp_point_select(rows=200)


def connect_to(server: bk.Server, name: str = "small") -> bk.Server:
    """Return the session's server as one that somebody else runs."""
    return bk.Server.connect(socket=server.endpoint["socket"], user="root", name=name)


def small_study(servers: list[bk.Server], **changes: object) -> bk.Study:
    """Return a study of one short run for each server, or what `changes` makes of it."""
    arguments = {
        "name": "small",
        "servers": servers,
        "workloads": [POINT_SELECT],
        "threads": [1],
        "iterations": 1,
        "duration": None,
        "warmup": 0,
        "transactions": 20,
        "rest_limit": 0,
        **changes,
    }
    return bk.Study(**arguments)


def small_grid(**changes: object) -> Grid:
    """Return the grid of a study of two servers that are not there."""
    arguments = {
        "setups": (Setup("a", "cfg-a", "system"), Setup("b", "cfg-b", "system")),
        "workloads": (POINT_SELECT,),
        "threads": (1, 4),
        "iterations": 2,
        "timing": Timing(1.0, 5.0, 0),
        "order": "blocked",
        "seed": 1,
        **changes,
    }
    return Grid(**arguments)


def small_plan(**changes: object) -> Plan:
    """Return the plan of `small_grid`."""
    return make_plan("small", small_grid(**changes))


def one_run(workload: Workload, timing: Timing, threads: int = 1) -> PlannedRun:
    """Return a planned run by itself."""
    plan = small_plan(
        setups=(Setup("a", "cfg-a", "system"),),
        workloads=(workload,),
        threads=(threads,),
        iterations=1,
        timing=timing,
    )
    return plan.runs[0]


def statement_workload(sql: str, tables: tuple[Table, ...] = (), **rules: object) -> Workload:
    """Return a workload whose transaction is one statement."""
    return Workload(
        identity="test:statement",
        tables=tables,
        transactions=(Transaction("statement", (Execute(sql),)),),
        **rules,
    )


@dataclass
class Watch(Progress):
    """Progress that calls back, so that a test can act at a known moment of a run."""

    on_step: Callable[[str], object] = field(default=lambda what: None)
    on_row: Callable[[Mapping[str, float]], object] = field(default=lambda row: None)

    def show_step(self, what: str) -> None:
        self.on_step(what)

    def show_row(self, row: Mapping[str, float]) -> None:
        self.on_row(row)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Have studies report to this."""
        monkeypatch.setattr(execute, "make_progress", lambda runs, enabled: self)


def databases(server: bk.Server) -> set[str | None]:
    """Return the databases on a server that studies made."""
    return {name for (name,) in server.query("SHOW DATABASES LIKE 'bench\\_%'")}


def files_below(folder: Path) -> set[str]:
    """Return the names of all that is in a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
