"""TPC-B on a real server."""

import pytest
from runs import loaded, run, statements

from benchkit import workloads


@pytest.mark.parametrize("updates", ["key", "no_key"])
def test_balances_add_up_and_the_tables_stay_as_large(server, updates):
    workload = workloads.tpcb(branches=2, accounts=50, updates=updates)
    with loaded(server, workload) as load:
        result = run(server, workload, load.database, 300)
        sums = [
            server.query(f"SELECT SUM({table[0]}balance) FROM {load.database}.{table}")[0][0]
            for table in ("branches", "tellers", "accounts")
        ]
        keys = server.query(f"SHOW KEYS FROM {load.database}.accounts")
        rows = server.query(f"SELECT COUNT(*) FROM {load.database}.history")
        tellers = server.query(
            f"SELECT tid, bid FROM {load.database}.tellers WHERE tid IN (10, 11)"
        )
    assert len(set(sums)) == 1
    assert sums[0] not in (None, "0")
    assert len(keys) == (2 if updates == "key" else 1)
    assert rows == [("0",)]
    assert tellers == [("10", "1"), ("11", "2")]
    counts = {name: s["executions"] for name, s in statements(result).items()}
    selects = sum(n for name, n in counts.items() if name.startswith("select_"))
    changes = sum(n for name, n in counts.items() if name.startswith("update_"))
    assert selects == changes
    assert (
        counts["insert_history"]
        == counts["delete_history"]
        == result["transactions"][0]["committed"]
    )
