"""Loading a workload's tables and running it on a server, as a study does but without one."""

from contextlib import contextmanager

from benchkit._core import Driver, Program
from benchkit.suites.native import LoadOrder, drop_data, ensure_loaded

WORKERS = 3
DATA_SEED = 7
DATA_ID = "testing"


@contextmanager
def loaded(server, workload, threads=2, workers=WORKERS):
    """Load the tables of a workload, with some threads, for some workers; then drop them."""
    order = LoadOrder(workload, workers=workers, threads=threads, seed=DATA_SEED, data_id=DATA_ID)
    try:
        yield ensure_loaded(server, order, lambda rows: None)
    finally:
        drop_data(server, DATA_ID)


def run(server, workload, database, transactions, threads=WORKERS):
    """Run a number of transactions without a warmup; return what the driver measured."""
    program = Program(workload.spec(), seed=DATA_SEED)
    endpoint = {**server.endpoint, "database": database} if program.needs_server else None
    driver = Driver(program, endpoint, threads=threads, seed=11, transactions=transactions)
    result = driver.run()
    assert result["error"] is None, result["error"]
    return result


def statements(result):
    """Return the statements of a result by name, without those that never ran."""
    return {s["name"]: s for s in result["statements"] if s["executions_in_all_phases"]}
