"""Every OLTP workload on a real server: what the server counts is what benchkit counts.

Workers may wait for each other's rows, and a deadlock is tried again. What must hold whatever
happens is in `test_the_server_counts_what_the_recorder_counts`; with a single worker, where
nothing can go wrong, every number is exact.
"""

from collections import Counter

import numpy as np
import pytest
from runs import WORKERS, loaded, run, statements
from scipy import stats

from benchkit import workloads
from benchkit.workloads import sysbench05

ROWS = 300
TRANSACTIONS = 24


@pytest.fixture(scope="module")
def server(each_server):
    return each_server


POINTS = {"point_select": 10}
RANGES = {"simple_range": 1, "sum_range": 1, "order_range": 1, "distinct_range": 1}
WRITES = {"index_update": 1, "non_index_update": 1, "delete": 1, "insert": 1}
TRANSACTION = {"begin": 1, "commit": 1}

DEFINITIONS = {
    "oltp_read_only": TRANSACTION | POINTS | RANGES,
    "oltp_read_write": TRANSACTION | POINTS | RANGES | WRITES,
    "oltp_write_only": TRANSACTION | WRITES,
    "oltp_point_select": {"point_select": 1},
    "oltp_update_index": {"index_update": 1},
    "oltp_update_non_index": {"non_index_update": 1},
    "oltp_delete": {"delete": 1},
    "oltp_insert": {"insert": 1},
    "select_random_points": {"random_points": 1},
    "select_random_ranges": {"random_ranges": 1},
    "oltp_complex_ro": TRANSACTION | POINTS | RANGES,
    "oltp_complex_rw": TRANSACTION | POINTS | RANGES | WRITES,
    "oltp_simple": {"point_select": 1},
    "select": {"point_select": 1},
    "update_index": {"index_update": 1},
    "update_non_index": {"non_index_update": 1},
    "delete": {"delete": 1},
    "insert": {"insert": 1},
    "null": {},
}
"""How often one transaction executes each statement, from sysbench's scripts."""

QUERIES = {
    "oltp_read_only": (14, 0, 2),
    "oltp_read_write": (14, 4, 2),
    "oltp_write_only": (0, 4, 2),
    "oltp_point_select": (1, 0, 0),
    "oltp_update_index": (0, 1, 0),
    "oltp_update_non_index": (0, 1, 0),
    "oltp_insert": (0, 1, 0),
    "select_random_points": (1, 0, 0),
    "select_random_ranges": (1, 0, 0),
    "oltp_complex_ro": (14, 0, 2),
    "oltp_complex_rw": (14, 4, 2),
    "oltp_simple": (1, 0, 0),
    "select": (1, 0, 0),
    "update_index": (0, 1, 0),
    "update_non_index": (0, 1, 0),
    "insert": (0, 1, 0),
}
"""Reads, writes and other of one transaction, as sysbench counts them: by outcome."""

NOT_IN_TRANSACTION = {"begin": 0, "commit": 0}
LOCKED = NOT_IN_TRANSACTION | {"lock_tables": 1, "unlock_tables": 1}

VARIANTS = [
    ("oltp_read_write", {"skip_trx": True}, NOT_IN_TRANSACTION),
    ("oltp_read_write", {"range_selects": False}, dict.fromkeys(RANGES, 0)),
    ("oltp_read_write", {"delete_inserts": 2, "auto_inc": False}, {"delete": 2, "insert": 2}),
    ("oltp_read_write", {"secondary": True, "create_secondary": False}, {}),
    ("oltp_read_write", {"tables": 3, "reconnect": 2}, {}),
    ("oltp_read_only", {"point_selects": 1, "sum_ranges": 3}, {"point_select": 1, "sum_range": 3}),
    ("oltp_read_only", {"storage_engine": "MyISAM", "charset": "latin1"}, {}),
    (
        "oltp_write_only",
        {"index_updates": 0, "non_index_updates": 4, "skip_trx": True},
        NOT_IN_TRANSACTION | {"index_update": 0, "non_index_update": 4},
    ),
    ("oltp_point_select", {"tables": 3, "reconnect": 1}, {}),
    ("oltp_update_index", {"index_updates": 3}, {"index_update": 3}),
    ("oltp_update_non_index", {"non_index_updates": 2}, {"non_index_update": 2}),
    ("oltp_delete", {"tables": 3, "secondary": True}, {}),
    ("oltp_insert", {"tables": 3, "auto_inc": False}, {}),
    ("select_random_points", {"random_points": 1}, {}),
    ("select_random_ranges", {"number_of_ranges": 2, "delta": 0}, {}),
    *(("oltp_write_only", {"rand_type": kind}, {}) for kind in ("gaussian", "pareto", "zipfian")),
    *(
        ("sysbench/1.0:oltp_write_only", {"rand_type": kind}, {})
        for kind in ("uniform", "gaussian", "pareto")
    ),
    ("oltp_complex_ro", {"storage_engine": "MyISAM"}, LOCKED),
    ("oltp_complex_rw", {"storage_engine": "MyISAM", "auto_inc": False}, LOCKED),
    ("oltp_simple", {"rand_type": "gaussian"}, {}),
    ("select", {"rand_type": "uniform"}, {}),
    ("insert", {"auto_inc": False}, {}),
]
"""Identity or name, options, and the statements whose number they change."""

SYSBENCH = [name for name in workloads.identities() if name.startswith("sysbench/")]
CASES = [(identity, {}, {}) for identity in [*SYSBENCH, "benchkit:null"]] + VARIANTS
WITHOUT_BULK = [case for case in CASES if "bulk_insert" not in case[0]]
"""A statement of bulk_insert has the rows of many transactions."""


def label(case):
    return "-".join([case[0], *case[1]])


def small(name, options):
    """Return a workload with few rows."""
    offered = {option.name for option in workloads.factory(name).options}
    return workloads.find(name, **options, **({"rows": ROWS} if "rows" in offered else {}))


def definition(workload, changes):
    """Return how often one transaction executes each statement, without those it never does."""
    numbers = DEFINITIONS[workload.name] | changes
    return {statement: number for statement, number in numbers.items() if number}


def command_counts(server):
    """Return how many statements of each kind the server has executed since it started."""
    return Counter(
        {
            name.removeprefix("Com_"): int(value)
            for name, value in server.status().items()
            if name.startswith("Com_") and not name.startswith(("Com_stmt_", "Com_show_"))
        }
    )


def recorded_counts(result):
    """Return how many statements of each kind the recorder counted, by the server's names."""
    counts = Counter()
    for statement in result["statements"]:
        kind = statement["name"] if statement["kind"] == "other" else statement["kind"]
        counts[kind] += statement["executions"]
    return counts


def queries(result):
    """Return reads, writes and other, by the outcome of each statement."""
    reads = sum(s["results"] for s in result["statements"])
    writes = sum(s["writes"] for s in result["statements"])
    return reads, writes, sum(s["executions"] for s in result["statements"]) - reads - writes


def tables_of(workload):
    return [
        table.name.replace("{n}", str(number))
        for table in workload.tables_for(WORKERS)
        for number in range(1, table.count + 1)
    ]


def count_rows(server, workload, database):
    return sum(
        int(server.query(f"SELECT COUNT(*) FROM {database}.{table}")[0][0])
        for table in tables_of(workload)
    )


@pytest.fixture(params=CASES, ids=label)
def case(request):
    name, options, changes = request.param
    return small(name, options), changes


@pytest.fixture
def measured(server, case):
    """Run a case with several workers; return what the server counted and what benchkit did."""
    workload, _ = case
    with loaded(server, workload) as load:
        before = command_counts(server)
        result = run(server, workload, load.database, TRANSACTIONS)
        yield +(command_counts(server) - before), result


def test_the_server_counts_what_the_recorder_counts(measured):
    served, result = measured
    assert served == +recorded_counts(result)


@pytest.mark.parametrize("case", WITHOUT_BULK, ids=label, indirect=True)
def test_each_transaction_executes_what_its_definition_says(case, measured):
    """The bounds differ only by attempts that were cut short: there are few, if any."""
    workload, changes = case
    _, result = measured
    (transaction,) = result["transactions"]
    committed, failed, retries = (transaction[n] for n in ("committed", "failed", "retries"))
    executed = {name: s["executions"] for name, s in statements(result).items()}
    assert committed + failed == result["accounting"]["scheduled"] == TRANSACTIONS
    assert executed.pop("rollback", 0) == retries + failed
    expected = definition(workload, changes)
    assert executed.keys() == expected.keys()
    for name, number in expected.items():
        attempts = committed + failed + retries
        assert committed * number <= executed[name] <= attempts * number
    if "begin" in expected:
        assert (executed["begin"], executed["commit"]) == (attempts, committed)


@pytest.mark.parametrize("identity", SYSBENCH)
def test_queries_are_counted_by_their_outcome(server, identity):
    workload = small(identity, {})
    with loaded(server, workload) as load:
        found = count_rows(server, workload, load.database)
        result = run(server, workload, load.database, TRANSACTIONS, threads=1)
        left = count_rows(server, workload, load.database)
    (row,) = result["rows"]
    assert queries(result) == (row["reads"], row["writes"], row["other"])
    if workload.name in QUERIES:
        per_transaction = QUERIES[workload.name]
        assert queries(result) == tuple(TRANSACTIONS * n for n in per_transaction)
        assert row["statements"] == TRANSACTIONS * sum(definition(workload, {}).values())
    elif workload.name == "bulk_insert":
        assert (queries(result), left) == ((0, 1, 0), TRANSACTIONS)
    else:  # a delete is a write where it found a row
        assert queries(result) == (0, found - left, TRANSACTIONS - (found - left))


@pytest.mark.parametrize(
    ("name", "total"),
    [("oltp_read_only", 16), ("oltp_read_write", 20), ("oltp_write_only", 6)]
    + [("oltp_point_select", 1)],
)
def test_queries_per_transaction_are_sysbenchs(server, name, total):
    workload = small(name, {})
    with loaded(server, workload) as load:
        result = run(server, workload, load.database, TRANSACTIONS, threads=1)
    assert result["statements_in_all_phases"] == total * TRANSACTIONS


@pytest.mark.parametrize("name", ["oltp_insert", "insert"])
@pytest.mark.parametrize("auto_inc", [True, False])
def test_inserts_of_several_workers_never_collide(server, name, auto_inc):
    workload = small(name, {"auto_inc": auto_inc})
    with loaded(server, workload) as load:
        before = count_rows(server, workload, load.database)
        # So few that no worker can use up its share of the unique ids.
        result = run(server, workload, load.database, ROWS // WORKERS)
        assert count_rows(server, workload, load.database) == before + ROWS // WORKERS
    assert result["errors"] == []


C_PATTERN = "^([0-9]{11}-){9}[0-9]{11}$"
PAD_PATTERN = "^([0-9]{11}-){4}[0-9]{11}$"


def ask(server, load, what):
    """Return the one row of a SELECT from the first table."""
    (row,) = server.query(f"SELECT {what} FROM {load.database}.sbtest1")
    return row


@pytest.mark.parametrize("auto_inc", [True, False])
def test_loaded_ids_are_the_row_numbers(server, auto_inc):
    with loaded(server, small("oltp_read_only", {"auto_inc": auto_inc})) as load:
        facts = ask(server, load, "MIN(id), MAX(id), COUNT(DISTINCT id), COUNT(*)")
    assert facts == ("1", str(ROWS), str(ROWS), str(ROWS))


def test_loaded_texts_are_groups_of_eleven_digits_and_all_different(server):
    with loaded(server, small("oltp_read_only", {})) as load:
        facts = ask(
            server,
            load,
            f"SUM(c REGEXP '{C_PATTERN}'), COUNT(DISTINCT c), "
            f"SUM(pad REGEXP '{PAD_PATTERN}'), COUNT(DISTINCT pad)",
        )
    assert facts == (str(ROWS),) * 4


def test_loaded_k_is_uniform_over_the_ids(server):
    with loaded(server, workloads.oltp_read_only(rows=4000)) as load:
        rows = server.query(f"SELECT k FROM {load.database}.sbtest1")
    counts, _ = np.histogram([int(k) for (k,) in rows], bins=20, range=(1, 4001))
    assert counts.sum() == 4000
    assert stats.chisquare(counts).pvalue > 1e-4


def test_loaded_rows_of_sysbench05_are_all_alike(server):
    with loaded(server, sysbench05.oltp_simple(rows=ROWS)) as load:
        facts = server.query(f"SELECT DISTINCT k, c, pad FROM {load.database}.sbtest")
    assert facts == [("0", "", sysbench05.LOADED_PAD)]


@pytest.mark.parametrize("tables", [1, 2])
def test_the_data_do_not_depend_on_the_number_of_loader_threads(server, tables):
    workload = workloads.oltp_read_write(tables=tables, rows=25_000)
    checksums = []
    for threads in (1, 4):
        with loaded(server, workload, threads) as load:
            checksums.append(load.checksums)
    one, four = checksums
    assert one == four
    assert len(set(one.values())) == tables
