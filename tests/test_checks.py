"""What is checked of tables: after the load, after a run, and between servers."""

import pytest
from studies import connect_to, databases, small_study

import benchkit as bk
from benchkit.checks import Setup, Setups
from benchkit.errors import StudyError
from benchkit.suites import native
from benchkit.verify import verify_study

READING = bk.workloads.oltp_point_select(rows=200)
WRITING = bk.workloads.oltp_insert(rows=200)


@pytest.fixture
def running(server):
    yield connect_to(server)
    assert databases(server) == set()


def only_record(results):
    (dataset,) = results
    (record,) = dataset.records
    return record


def measure(running, tmp_path, **changes):
    return only_record(small_study([running], **changes).run(tmp_path / "s", progress=False))


def test_load_has_rows_and_checksum_of_each_table(running, tmp_path):
    record = measure(running, tmp_path)
    assert record.load["row_counts"] == {"sbtest1": 200}
    assert record.load["checksums"].keys() == {"sbtest1"}
    assert record.checks is None  # it only reads, and counts are all that was asked for


def test_rows_are_counted_after_a_run_that_writes(running, tmp_path):
    record = measure(running, tmp_path, workloads=[WRITING])
    assert record.checks["tables"] == {"sbtest1": {"rows": 220}}
    assert (record.checks["level"], record.checks["left_out"]) == ("counts", [])


def test_full_checks_sum_the_tables_of_every_run(running, tmp_path):
    record = measure(running, tmp_path, checks="full")
    sums = record.load["checksums"]
    assert record.checks["tables"] == {"sbtest1": {"rows": 200, "checksum": sums["sbtest1"]}}
    assert not any("changed" in warning for warning in record.warnings)


def test_nothing_is_checked_where_nothing_is_asked_for(running, tmp_path):
    assert measure(running, tmp_path, checks="none", workloads=[WRITING]).checks is None


def test_unknown_checks_are_an_error(running):
    with pytest.raises(StudyError, match="unknown checks 'all'.*full, counts, none"):
        small_study([running], checks="all")


def test_table_that_somebody_changed_is_told(running, server, tmp_path, monkeypatch):
    measured = native.NativeRun.measure

    def measure_and_meddle(self, server, database):
        result = measured(self, server, database)
        server.query(f"UPDATE {database}.sbtest1 SET k = k + 1 WHERE id = 7")
        return result

    monkeypatch.setattr(native.NativeRun, "measure", measure_and_meddle)
    record = measure(running, tmp_path, checks="full")
    (told,) = [w for w in record.warnings if "changed" in w]
    assert told.startswith("table sbtest1 has changed though the run wrote nothing: checksum ")


def test_load_that_differs_from_an_earlier_one_is_told(running, tmp_path, monkeypatch):
    sums = native._checksums

    def meddle_with_the_second(admin, order):
        if admin.query("SELECT DATABASE()")[0][0] in seen:
            admin.query("DELETE FROM sbtest1 WHERE id = 7")
        seen.add(admin.query("SELECT DATABASE()")[0][0])
        return sums(admin, order)

    seen: set[str | None] = set()
    monkeypatch.setattr(native, "_checksums", meddle_with_the_second)
    workload = bk.workloads.oltp_point_select(rows=200)
    study = small_study([running], workloads=[workload], iterations=1)
    study.run(tmp_path / "s", progress=False)
    again = small_study([running], workloads=[workload], iterations=2)
    (dataset,) = again.run(tmp_path / "s", progress=False)
    told = [w for w in dataset.records[1].warnings if "was not loaded" in w]
    assert len(told) == 2
    assert told[1] == (
        "table sbtest1 was not loaded with the data it has on server 'small': rows 199 on "
        "'small', 200 there"
    )


def test_sums_of_two_products_are_not_compared_but_rows_are():
    setups = Setups()
    load = {"row_counts": {"t": 5}, "checksums": {"t": "1"}}
    assert setups.compare("w", Setup("a", "MariaDB", load)) == []
    assert setups.compare("w", Setup("b", "MySQL", {**load, "checksums": {"t": "2"}})) == []
    assert setups.compare("v", Setup("c", "MariaDB", {"checksums": {"t": "9"}})) == []
    other = {"row_counts": {"t": 4}, "checksums": {"t": "3"}}
    assert setups.compare("w", Setup("d", "MySQL", other)) == [
        "table t was not loaded with the data it has on server 'b': checksum 3 on 'd', 2 there",
        "table t was not loaded with the data it has on server 'a': rows 4 on 'd', 5 there",
        "table t was not loaded with the data it has on server 'b': rows 4 on 'd', 5 there",
    ]


def test_sums_of_texts_in_two_character_sets_are_not_compared(memory, tmp_path):
    small = bk.Config("small", {"innodb_buffer_pool_size": "32M"})
    sets = ("latin1", "utf8mb4", "latin1")  # 11.6 has another default than those before
    configs = [
        small.replace(f"{number}-{name}", character_set_server=name)
        for number, name in enumerate(sets)
    ]
    results = small_study([bk.Server(config) for config in configs]).run(tmp_path / "s")
    records = [record for dataset in results for record in dataset.records]
    assert [record.load["character_sets"] for record in records] == list(sets)
    first, other, same = (record.load["checksums"]["sbtest1"] for record in records)
    assert other != first == same
    assert not [text for record in records for text in record.warnings if "not loaded" in text]
    assert verify_study(tmp_path / "s").problems == ()


def test_database_of_somebody_else_may_change_from_run_to_run():
    setups = Setups()
    for checksum in ("1", "2"):
        load = {"checksums": {"item": checksum}, "foreign": True}
        assert setups.compare("w", Setup("a", "MariaDB", load)) == []
