"""The twelve conditions of TPC-C: which flavour keeps which, and what a run does that breaks one.

That they hold after a load, and find what is broken in it, is in `test_tprocc_load`.
"""

import os
import signal
from dataclasses import dataclass, field

import pytest
from studies import Watch, connect_to, small_study

import benchkit as bk
from benchkit.errors import InconsistentError, StudyWarning, WorkloadError
from benchkit.suites.native import LoadOrder, drop_data, ensure_loaded
from benchkit.workloads import Execute, Table, Transaction, Workload
from benchkit.workloads.condition import Condition
from benchkit.workloads.tprocc_conditions import CONDITIONS

ALWAYS = {f"condition {number}" for number in range(1, 10)}


@pytest.fixture(params=["hammerdb6", "spec"])
def flavour(request):
    return request.param


def test_flavours_look_at_what_they_state():
    required = {
        (flavour, moment): {c.name for c in conditions if moment in c.required}
        for flavour, conditions in CONDITIONS.items()
        for moment in ("load", "run")
    }
    assert required == {
        ("hammerdb6", "load"): ALWAYS | {"condition 10", "condition 11"},
        ("hammerdb6", "run"): ALWAYS,
        ("spec", "load"): ALWAYS | {"condition 10", "condition 11", "condition 12"},
        ("spec", "run"): ALWAYS | {"condition 10", "condition 12"},
    }


@dataclass
class Sabotage(Watch):
    """Breaks the data while a run goes on."""

    server: object = None
    change: str = ""
    rows: list[object] = field(default_factory=list)

    def show_row(self, row):
        self.rows.append(row)
        if len(self.rows) == 1:
            (database,) = {name for (name,) in self.server.query(r"SHOW DATABASES LIKE 'bench\_%'")}
            with self.server.session(database) as session:
                session.query(self.change)


PAIRS = Workload(
    identity="test:pairs",
    tables=(
        Table(
            "pair",
            "CREATE TABLE pair (id INT PRIMARY KEY, a INT NOT NULL, b INT NOT NULL)",
            tuple((column, bk.generators.sequence()) for column in ("id", "a", "b")),
            rows=10,
        ),
    ),
    transactions=(Transaction("read", (Execute("SELECT a FROM pair WHERE id = 1"),)),),
    conditions=(
        Condition("halves", "a is b", "SELECT id, a, b FROM pair WHERE a <> b"),
        Condition("small", "a is under 5", "SELECT id FROM pair WHERE a >= 5", required=()),
    ),
)


def test_run_that_breaks_a_condition_is_failed_as_inconsistent(server, tmp_path, monkeypatch):
    Sabotage(server=server, change="UPDATE pair SET b = 0 WHERE id = 3").install(monkeypatch)
    study = small_study([connect_to(server)], workloads=[PAIRS], transactions=0, duration="1.5s")
    with pytest.warns(
        StudyWarning, match=r"halves \(a is b\) does not hold at id = 3, a = 3, b = 0"
    ):
        results = study.run(tmp_path / "s")
    assert list(results) == []
    (attempt,) = bk.store.StudyFolder.open(tmp_path / "s").failed()
    assert attempt.record.failure["kind"] == "inconsistent"
    assert attempt.record.consistency == {"halves": 1, "small": 6}
    drop_data(server, bk.store.StudyFolder.open(tmp_path / "s").study["data_id"])


def test_what_need_not_hold_is_counted_and_the_run_is_good(server, tmp_path):
    study = small_study([connect_to(server)], workloads=[PAIRS])
    (record,) = study.run(tmp_path / "s")["small"].records
    assert record.consistency == {"halves": 0, "small": 6}
    assert record.status == "complete"


def test_load_that_breaks_a_condition_is_refused(server):
    wrong = Workload(
        identity="test:wrong",
        tables=PAIRS.tables,
        transactions=PAIRS.transactions,
        conditions=(Condition("none", "there is no row 4", "SELECT id FROM pair WHERE id = 4"),),
    )
    order = LoadOrder(wrong, workers=1, threads=1, seed=1, data_id="wrong")
    with pytest.raises(InconsistentError, match=r"after the load: none .* id = 4"):
        ensure_loaded(server, order, lambda rows: None)
    with pytest.raises(InconsistentError):  # it is not taken for loaded the second time
        ensure_loaded(server, order, lambda rows: None)
    drop_data(server, "wrong")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "name"),
        ({"violations": 3}, "violations"),
        ({"required": ("lunch",), "looked_at": ("lunch",)}, "lunch"),
        ({"looked_at": ("load",)}, "not looked at"),
    ],
)
def test_condition_that_makes_no_sense_is_refused(changes, message):
    arguments = {"name": "c", "rule": "r", "violations": "SELECT 1", **changes}
    with pytest.raises(WorkloadError, match=message):
        Condition(**arguments)


def writing_study(config, flavour, **changes):
    """Return a study in which 16 threads fight over two warehouses."""
    workload = bk.workloads.tprocc(warehouses=2, flavour=flavour)
    return small_study(
        [bk.Server(config)],
        workloads=[workload],
        threads=[16],
        transactions=0,
        iteration_mode="preserve",
        **changes,
    )


@pytest.mark.slow
def test_conditions_hold_after_a_minute_of_16_threads(small_config, flavour, tmp_path):
    study = writing_study(small_config, flavour, duration="60s")
    (record,) = study.run(tmp_path / "s")["small"].records
    required = [c.name for c in CONDITIONS[flavour] if "run" in c.required]
    assert {name: record.consistency[name] for name in required} == dict.fromkeys(required, 0)
    assert "condition 10" in record.consistency  # how many, in hammerdb6, is left to chance


@pytest.mark.slow
def test_conditions_hold_after_the_server_was_killed_and_restarted(
    small_config, flavour, folder, tmp_path, monkeypatch
):
    @dataclass
    class Killer(Watch):
        killed: bool = False

        def show_row(self, row):
            if not self.killed and row["time_s"] > 3:
                self.killed = True
                os.kill(placed[-1].pid, signal.SIGKILL)

    placed = []
    place = bk.Server.placed
    monkeypatch.setattr(
        bk.Server, "placed", lambda self, at: placed.append(place(self, at)) or placed[-1]
    )
    Killer().install(monkeypatch)
    study = writing_study(small_config, flavour, duration="8s")
    with pytest.warns(StudyWarning, match="went away"):
        study.run(tmp_path / "s")
    (record,) = study.run(tmp_path / "s")["small"].records  # on the data as the crash left them
    assert record.load["reused"]
    required = [c.name for c in CONDITIONS[flavour] if "run" in c.required]
    assert not any(record.consistency[name] for name in required)
