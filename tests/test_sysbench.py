"""sysbench 1.0 itself against the sysbench/1.0 workloads: the same tables, the same statements.

Both run on the same server, and its general log says what each of them sent.
"""

import re
import shutil
import subprocess
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from runs import loaded, run
from scipy import stats

from benchkit import workloads

SYSBENCH = shutil.which("sysbench")
DATABASE = "sysbench_itself"
EVENTS = 6
ROWS = 200

SCRIPTS = [
    identity.rpartition(":")[2]
    for identity in workloads.identities()
    if identity.startswith("sysbench/1.0:")
]


def sysbench_version():
    if SYSBENCH is None:
        return "none"
    said = subprocess.run([SYSBENCH, "--version"], capture_output=True, text=True, check=True)
    return said.stdout.strip()


CASES = [
    *((script, {}) for script in SCRIPTS),
    ("oltp_read_write", {"tables": 3, "auto_inc": False}),
    ("oltp_read_write", {"skip_trx": True, "delete_inserts": 2, "storage_engine": "MyISAM"}),
    ("oltp_read_write", {"secondary": True, "create_secondary": False, "rand_type": "uniform"}),
    ("oltp_read_only", {"range_selects": False, "point_selects": 2, "rand_type": "pareto"}),
    ("oltp_read_only", {"range_size": 7, "sum_ranges": 2, "order_ranges": 3}),
    ("oltp_write_only", {"index_updates": 2, "non_index_updates": 3, "rand_type": "gaussian"}),
    ("oltp_insert", {"auto_inc": False}),
    ("select_random_points", {"random_points": 3}),
    ("select_random_ranges", {"number_of_ranges": 2, "delta": 9}),
]
"""Scripts with the options that both run with."""

pytestmark = pytest.mark.skipif(
    not sysbench_version().startswith("sysbench 1.0."),
    reason=f"needs sysbench 1.0 on the PATH, found {sysbench_version()}",
)


def make(script, **options):
    """Return the workload of a script, small unless it has no size."""
    offered = {option.name for option in workloads.factory(script).options}
    rows = {"rows": ROWS} if "rows" in offered else {}
    return workloads.find(f"sysbench/1.0:{script}", **rows, **options)


@dataclass
class Compared:
    """What sysbench and benchkit did, in this order where there are two."""

    workload: workloads.Workload
    tables: list[dict[str, str]]
    executed: list[Counter[str]]
    prepared: list[Counter[str]]
    report: str
    result: dict[str, object]


@contextmanager
def sysbench_database(server):
    server.query(f"CREATE DATABASE {DATABASE}")
    try:
        yield
    finally:
        server.query(f"DROP DATABASE {DATABASE}")


SPELLINGS = {"rows": "table-size", "storage_engine": "mysql-storage-engine"}


def sysbench(server, workload, command):
    """Run one of sysbench's commands with a workload's options; return what it prints."""
    options = {
        SPELLINGS.get(name, name.replace("_", "-")): value
        for name, value in workload.parameters
        if name not in ("personality", "charset")
    }
    options |= {f"mysql-{name}": server.endpoint[name] for name in ("socket", "user")}
    options |= {"mysql-db": DATABASE, "events": EVENTS, "time": 0, "threads": 1}
    words = {True: "on", False: "off"}
    flags = [
        f"--{name}={words[value] if isinstance(value, bool) else value}"
        for name, value in options.items()
    ]
    done = subprocess.run(
        [SYSBENCH, workload.name, *flags, command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def general_log(server):
    """Log all statements while the block runs."""
    server.query("SET GLOBAL log_output = 'TABLE'")
    server.query("TRUNCATE mysql.general_log")
    server.query("SET GLOBAL general_log = ON")
    try:
        yield
    finally:
        server.query("SET GLOBAL general_log = OFF")


def logged(server, database, *commands):
    """Count the statements that clients of a database sent by these protocol commands."""
    kinds = ", ".join(f"'{command}'" for command in commands)
    rows = server.query(
        "SELECT argument FROM mysql.general_log WHERE command_type IN "
        f"({kinds}) AND thread_id IN (SELECT thread_id FROM mysql.general_log "
        f"WHERE command_type = 'Connect' AND argument LIKE '% on {database} %')"
    )
    return Counter(normal(text) for (text,) in rows)


def normal(sql):
    """Return a statement without layout, case, quotes of names, and random values.

    Of a range the width is left, of a text its template, of a batch of rows one row.
    """
    text = " ".join(sql.replace("`", "").lower().split())
    text = re.sub(r"\s*([-=+,()])\s*", r"\1", text)
    text = re.sub(r"'[\d-]+'", lambda found: re.sub(r"\d", "#", found[0]), text)
    text = re.sub(r"between (\d+) and (\d+)", width, text)
    text = re.sub(r"(?<![a-z0-9_])-?\d+", "?", text)
    return re.sub(r"(\(\?,\?\)),.*", r"\1", text)


def width(found):
    """Return the width of a range instead of its ends."""
    return f"between width_{int(found[2]) - int(found[1])}"


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join([case[0], *case[1]]))
def compared(request, server):
    """Run a workload in sysbench and in benchkit with the general log on."""
    script, options = request.param
    workload = make(script, **options)
    with sysbench_database(server), loaded(server, workload, workers=1) as load:
        both = (DATABASE, load.database)
        sysbench(server, workload, "prepare")
        tables = [show_tables(server, database) for database in both]
        with general_log(server):
            report = sysbench(server, workload, "run")
            result = run(server, workload, load.database, EVENTS, threads=1)
    return Compared(
        workload,
        tables,
        executed=[logged(server, database, "Execute", "Query") for database in both],
        prepared=[logged(server, database, "Prepare") for database in both],
        report=report,
        result=result,
    )


def show_tables(server, database):
    """Return SHOW CREATE TABLE of each sbtest table, by name."""
    names = server.query(f"SHOW TABLES FROM {database} LIKE 'sbtest%'")
    return {name: server.query(f"SHOW CREATE TABLE {database}.{name}")[0][1] for (name,) in names}


def test_both_make_the_same_tables(compared):
    theirs, ours = compared.tables
    assert theirs
    assert ours == theirs


def test_both_execute_the_same_statements_as_often(compared):
    theirs, ours = compared.executed
    if compared.workload.tables[0].count != 1:  # which table is chance
        theirs, ours = (fold_tables(counts) for counts in (theirs, ours))
    assert theirs
    assert ours == theirs


def test_both_prepare_the_same_statements(compared):
    theirs, ours = (set(counts) - {"begin", "commit"} for counts in compared.prepared)
    if compared.workload.name == "oltp_insert":  # the one that sysbench sends as text
        assert not theirs
        theirs = {"insert into sbtest1(id,k,c,pad)values(?,?,?,?)"}
    assert ours == theirs


def test_both_count_the_same_reads_writes_and_other(compared):
    theirs = [
        int(re.search(rf"{kind}: +(\d+)", compared.report)[1])
        for kind in ("read", "write", "other")
    ]
    (row,) = compared.result["rows"]
    ours = [row["reads"], row["writes"], row["other"]]
    assert sum(ours) == sum(theirs)
    if "delete" not in compared.workload.name:  # whether a row is still there is chance
        assert ours == theirs


def fold_tables(counts):
    """Count statements of all tables as one."""
    folded = Counter()
    for text, count in counts.items():
        folded[re.sub(r"sbtest\d+", "sbtest", text)] += count
    return folded


@pytest.mark.parametrize(
    "options",
    [
        {"rand_type": "special"},
        {"rand_type": "special", "rand_spec_pct": 10, "rand_spec_res": 40, "rand_spec_iter": 3},
        {"rand_type": "uniform"},
        {"rand_type": "gaussian"},
        {"rand_type": "pareto", "rand_pareto_h": 0.3},
    ],
    ids=lambda options: "-".join(str(value) for value in options.values()),
)
def test_both_draw_from_the_same_distribution(server, options):
    workload = workloads.find("sysbench/1.0:oltp_point_select", rows=10_000, **options)
    with sysbench_database(server), loaded(server, workload) as load:
        sysbench(server, workload, "prepare")
        theirs, ours = (loaded_k(server, database) for database in (DATABASE, load.database))
    edges = np.unique(np.quantile(ours, np.linspace(0, 1, 50)))
    edges[0], edges[-1] = 1, 10_001
    counts = [np.histogram(values, edges)[0] for values in (theirs, ours)]
    assert stats.chi2_contingency(counts).pvalue > 1e-6


def loaded_k(server, database):
    return [int(k) for (k,) in server.query(f"SELECT k FROM {database}.sbtest1")]
