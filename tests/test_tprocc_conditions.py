"""The twelve conditions of TPC-C hold as stated, and what breaks one is found and named."""

import os
import signal
from dataclasses import dataclass, field

import pytest
from studies import Watch, connect_to, small_study

import benchkit as bk
from benchkit.consistency import look_at
from benchkit.errors import InconsistentError, StudyWarning, WorkloadError
from benchkit.suites.native import LoadOrder, drop_data, ensure_loaded
from benchkit.workloads import Execute, Table, Transaction, Workload
from benchkit.workloads.condition import Condition
from benchkit.workloads.tprocc_conditions import CONDITIONS

ALWAYS = {f"condition {number}" for number in range(1, 10)}


@pytest.fixture(scope="module", params=["hammerdb6", "spec"])
def flavour(request):
    return request.param


@pytest.fixture(scope="module")
def database(server, flavour):
    workload = bk.workloads.tprocc(warehouses=1, flavour=flavour)
    order = LoadOrder(workload, workers=1, threads=2, seed=1, data_id="conditions")
    yield ensure_loaded(server, order, lambda rows: None).database
    drop_data(server, "conditions")


def violated(session, flavour, moment="load"):
    findings = look_at(session, CONDITIONS[flavour], moment)
    return {found.condition for found in findings if found.violations}


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


def test_all_hold_after_the_load(server, database, flavour):
    with server.session(database) as session:
        assert violated(session, flavour) == set()


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ("UPDATE warehouse SET w_ytd = w_ytd + 1", {1, 8}),
        ("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 2", {2}),
        ("DELETE FROM new_order WHERE no_d_id = 3 AND no_o_id = 2500", {3, 5, 11}),
        ("DELETE FROM order_line WHERE ol_d_id = 4 AND ol_o_id = 2200 AND ol_number = 1", {4, 6}),
        ("UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 5 AND o_id = 7", {5, 7}),
        ("INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 6, 3001)", {2, 5, 11}),
        ("UPDATE history SET h_amount = 11 WHERE h_c_id = 1 AND h_d_id = 1", {8, 9, 10}),
        ("UPDATE customer SET c_balance = c_balance + 1 WHERE c_d_id = 8 AND c_id = 9", {10, 12}),
    ],
)
def test_what_is_broken_is_found(server, database, flavour, change, broken):
    known = {condition.name for condition in CONDITIONS[flavour]}
    with server.session(database) as session:
        session.query("START TRANSACTION")
        session.query(change)
        found = violated(session, flavour)
        session.query("ROLLBACK")
    assert found == {f"condition {number}" for number in broken} & known


def test_finding_says_where_and_how_many(server, database, flavour):
    with server.session(database) as session:
        session.query("START TRANSACTION")
        session.query("UPDATE district SET d_ytd = d_ytd - 1")
        (found,) = look_at(session, [CONDITIONS[flavour][8]], "run")
        session.query("ROLLBACK")
    assert found.violated
    assert found.violations == 10
    assert "w_id = 1, d_id = 1, d_ytd = 29999.00, paid = 30000.00" in str(found)
    assert str(found).endswith("and 7 more")


@dataclass
class Sabotage(Watch):
    """Breaks the data while a run goes on."""

    server: object = None
    change: str = ""
    rows: list[object] = field(default_factory=list)

    def show_row(self, row):
        self.rows.append(row)
        if len(self.rows) == 1:
            (database,) = {
                name
                for (name,) in self.server.query(r"SHOW DATABASES LIKE 'bench\_%'")
                if "conditions" not in name
            }
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
    if flavour == "hammerdb6":
        assert record.consistency["condition 10"] > 0  # payments that overwrote each other


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
