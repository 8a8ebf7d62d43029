"""Servers and load threads stay on the CPUs they were given; what cannot be had is refused."""

import os
from dataclasses import dataclass, field

import pytest
from studies import Watch, connect_to, small_study

import benchkit as bk
from benchkit import placement
from benchkit.errors import ConfigError, StudyError
from benchkit.placement import check_apart, format_cpus, placed_on, read_cpus

CPUS = sorted(os.sched_getaffinity(0))
TWO_CPUS = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")


def cpus_of_threads(pid):
    """Return the CPUs that each thread of a process may use, as a set of sets."""
    return {frozenset(os.sched_getaffinity(int(tid))) for tid in os.listdir(f"/proc/{pid}/task")}


@pytest.mark.parametrize(
    ("text", "numbers"), [("0", {0}), ("0-3", {0, 1, 2, 3}), ("0,2-3, 8", {0, 2, 3, 8})]
)
def test_list_is_read_and_written_as_the_kernel_does(text, numbers, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)))
    assert set(read_cpus("x", text)) == numbers
    assert format_cpus(numbers) == text.replace(" ", "")


@pytest.mark.parametrize("text", ["", "a", "0-", "-1", "0..3", "1;2", "0x1"])
def test_what_is_no_list_is_refused(text):
    with pytest.raises(ConfigError, match="the load: cpus are a list such as"):
        read_cpus("the load", text)


@pytest.mark.parametrize("cpus", ["4096", range(4000, 4010), [], "3-1"])
def test_cpus_that_are_not_there_are_refused_with_those_that_are(cpus):
    with pytest.raises(ConfigError, match=f"may use {format_cpus(CPUS)}"):
        read_cpus("the load", cpus)


@pytest.mark.parametrize("cpus", [0, True, 1.5, [0.5], [True], ["0"], [None]])
def test_cpus_that_are_no_list_of_numbers_are_refused(cpus):
    with pytest.raises(ConfigError, match="the load: cpus are a list such as '0-3,8'"):
        read_cpus("the load", cpus)


def test_server_with_cpus_that_are_not_there_is_refused():
    with pytest.raises(ConfigError, match="server 'far'"):
        bk.Server(bk.Config("far"), cpus="4096")


def test_replicas_with_cpus_that_are_not_there_or_without_replicas_are_refused():
    with pytest.raises(ConfigError, match="the replicas of server 'far': cpus '4096'"):
        bk.Server(bk.Config("far"), replicas=1, replica_cpus="4096")
    with pytest.raises(ConfigError, match="replica_cpus is given, but replicas=0"):
        bk.Server(bk.Config("far"), replica_cpus=CPUS[:1])


@TWO_CPUS
def test_replicas_overlap_with_neither_their_primary_nor_the_load():
    with pytest.raises(ConfigError, match=f"'here' and its replicas .* cpus {CPUS[1]}:"):
        bk.Server(bk.Config("here"), replicas=1, cpus=CPUS[:2], replica_cpus=[CPUS[1]])
    server = bk.Server(bk.Config("here"), replicas=1, replica_cpus=[CPUS[1]])
    with pytest.raises(ConfigError, match="the replicas of server 'here' and the load threads"):
        small_study([server], load_cpus=[CPUS[1]])


@TWO_CPUS
def test_overlap_is_refused_where_a_study_is_made():
    server = bk.Server(bk.Config("here"), cpus=CPUS[:2])
    with pytest.raises(ConfigError, match=f"'here' and the load threads .* cpus {CPUS[1]}:"):
        small_study([server], load_cpus=[CPUS[1]])
    small_study([server])  # without a list for the load there is none to overlap with


def test_empty_lists_overlap_with_nothing():
    check_apart("a", (), "b", (1, 2))


def test_thread_is_put_back_where_it_was():
    before = os.sched_getaffinity(0)
    with placed_on((CPUS[0],)):
        assert os.sched_getaffinity(0) == {CPUS[0]}
    assert os.sched_getaffinity(0) == before


@TWO_CPUS
def test_server_and_load_run_where_they_were_placed(small_config, tmp_path, monkeypatch):
    @dataclass
    class Look(Watch):
        seen: list[object] = field(default_factory=list)

        def show_row(self, row):
            own = os.sched_getaffinity(0)
            self.seen.append((cpus_of_threads(placed[0].pid), own))

    placed = []
    place = bk.Server.placed
    monkeypatch.setattr(
        bk.Server, "placed", lambda self, at: placed.append(place(self, at)) or placed[-1]
    )
    look = Look()
    look.install(monkeypatch)
    server = bk.Server(small_config, cpus=[CPUS[0]])
    study = small_study([server], transactions=0, duration="1.2s", load_cpus=[CPUS[1]], threads=[3])
    (run,) = study.run(tmp_path / "s")["small"].runs
    assert look.seen[0] == ({frozenset({CPUS[0]})}, {CPUS[1]})
    assert run.record.server["cpus"] == run.record.identity["cpus"] == str(CPUS[0])
    assert run.record.conditions["load_cpus"] == str(CPUS[1])


@TWO_CPUS
def test_server_moved_to_other_cpus_is_another_server(small_config, tmp_path):
    small_study([bk.Server(small_config, cpus=[CPUS[0]])]).run(tmp_path / "s")
    with pytest.raises(StudyError, match="another configuration, install, version, cpus"):
        small_study([bk.Server(small_config, cpus=[CPUS[1]])]).run(tmp_path / "s")


def test_page_cache_that_may_not_be_dropped_is_a_warning(server, tmp_path, monkeypatch):
    monkeypatch.setattr(placement, "_DROP_CACHES", tmp_path)  # a folder cannot be written
    study = small_study([connect_to(server)], drop_caches=True)
    (record,) = study.run(tmp_path / "s")["small"].records
    assert any("page cache was not dropped" in warning for warning in record.warnings)


def test_page_cache_is_dropped_before_a_run(server, tmp_path, monkeypatch):
    switch = tmp_path / "drop_caches"
    monkeypatch.setattr(placement, "_DROP_CACHES", switch)
    study = small_study([connect_to(server)], drop_caches=True)
    (record,) = study.run(tmp_path / "s")["small"].records
    assert switch.read_text() == "3\n"
    assert record.conditions == {"drop_caches": True}
    assert not any("page cache" in warning for warning in record.warnings)
