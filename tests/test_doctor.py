"""The doctor's checks, on real servers and on what is wrong with them."""

from collections import namedtuple

import pytest

from benchkit import doctor, host, install
from benchkit.config import Config
from benchkit.generators import sequence, uniform
from benchkit.server import Server
from benchkit.study import Study
from benchkit.workloads.model import Table, Transaction, Workload
from benchkit.workloads.steps import Begin, Choose, Commit, Execute, Let, Repeat

GIB = 2**30

WORKLOAD = Workload(
    "test:mixed",
    (
        Transaction(
            "mixed",
            (
                Let("table", uniform(1, 8)),
                Let("id", uniform(1, 1_000_000)),
                Begin(),
                Repeat(10, (Execute("SELECT c FROM sbtest{table} WHERE id = ?", ("id",)),)),
                Choose(((1.0, (Execute("DELETE FROM sbtest{table} LIMIT 1"),)), (1.0, ()))),
                Execute("SELECT 1"),
                Execute("SELECT 1"),
                Commit(),
            ),
        ),
    ),
    (
        Table(
            "sbtest{n}",
            "CREATE TABLE sbtest{n} (id INT)",
            columns=(("id", sequence()),),
            rows=1_000_000,
            count=8,
        ),
    ),
)


def examined(name: str, **subject) -> doctor.Check:
    return {check.name: check for check in doctor.examine(**subject)}[name]


@pytest.fixture
def facts(monkeypatch):
    known = dict.fromkeys(host.facts())
    monkeypatch.setattr(host, "facts", lambda: known)
    return known


def test_statements_are_counted_for_each_table_they_may_name():
    check = examined("max_prepared_stmt_count", workload=WORKLOAD, threads=[2])
    assert check.value == f"1048576, {2 * (8 + 8 + 1 + 1)} needed (2 threads x 18 statements)"


def test_limit_without_a_workload_is_only_told():
    assert examined("max_prepared_stmt_count").value == "1048576"


def test_every_check_that_is_not_ok_has_advice():
    checks = doctor.examine(workload=WORKLOAD, threads=[1, 100_000])
    assert {"max_connections", "max_prepared_stmt_count"} <= {
        check.name for check in checks if check.status == "fail"
    }
    assert all(check.advice for check in checks if check.status != "ok")


def test_installed_server_is_found():
    check = examined("server")
    assert check.status == "ok"
    assert "MariaDB" in check.value


def test_missing_server_fails_with_the_command_that_installs_one(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(install, "_SYSTEM_ROOTS", ())
    check = examined("server")
    assert check.status == "fail"
    assert "apt-get install mariadb-server" in check.advice
    assert "dnf install mariadb-server" in check.advice


@pytest.mark.parametrize(
    ("fact", "check", "value", "status", "advice"),
    [
        ("governor", "cpu governor", "performance", "ok", ""),
        ("governor", "cpu governor", None, "ok", ""),
        ("governor", "cpu governor", "powersave", "warn", "frequency-set -g performance"),
        ("thp", "transparent huge pages", "madvise", "ok", ""),
        ("thp", "transparent huge pages", "never", "ok", ""),
        ("thp", "transparent huge pages", "always", "warn", "echo madvise"),
        ("clocksource", "clock source", "tsc", "ok", ""),
        ("clocksource", "clock source", "hpet", "warn", "available_clocksource"),
    ],
)
def test_settings_of_the_machine(facts, fact, check, value, status, advice):
    facts[fact] = value
    found = examined(check)
    assert found.status == status
    assert advice in found.advice


@pytest.mark.parametrize(("free", "status"), [(1, "fail"), (7, "warn"), (100, "ok")])
def test_disk_space_counts_the_rows_to_load(monkeypatch, free, status):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: usage(free * GIB))
    assert examined("disk space", workload=WORKLOAD).status == status


def test_configured_limit_of_a_server_that_does_not_run_counts():
    server = Server(Config("few", {"max_connections": 10}))
    check = examined("max_connections", server=server, threads=[8])
    assert check.status == "fail"
    assert "max_connections=11" in check.advice


def test_limits_of_a_running_server_are_asked_for(server):
    other = Server.connect(**server.endpoint)
    check = examined("max_connections", server=other, threads=[5000])
    assert check.value.startswith("1000, 5003 needed")
    assert "SET GLOBAL max_connections = 5003" in check.advice


def test_limit_that_is_not_a_number_is_not_guessed():
    server = Server(Config("odd", {"max_connections": "1K"}))
    assert examined("max_connections", server=server).value == "cannot tell"


def study_of(*servers: Server) -> Study:
    return Study("examined", servers, [WORKLOAD], threads=[1, 8])


def test_what_is_the_same_for_all_servers_of_a_study_is_said_once():
    checks = doctor.examine_study(study_of(Server(Config("one")), Server(Config("two"))))
    assert [check.name for check in checks] == [check.name for check in doctor.examine()]


def test_what_differs_between_servers_of_a_study_names_them():
    few = Server(Config("few", {"max_connections": 5}))
    checks = doctor.examine_study(study_of(Server(Config("many")), few))
    limits = {c.name: c.status for c in checks if c.name.startswith("max_connections")}
    assert limits == {"max_connections (many)": "ok", "max_connections (few)": "fail"}


def test_disk_space_counts_every_server_of_a_study(monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: usage(10 * GIB))
    two = doctor.examine_study(study_of(Server(Config("one")), Server(Config("two"))))
    assert "About 12.9 GiB" in next(check.advice for check in two if check.name == "disk space")
