"""TPC-B: bank accounts, in the two shapes that server developers test for regressions.

A teller at a branch changes the balance of an account: three updates and three point selects by
primary key (account, teller, branch), a row into the history, and the worker's oldest history row
out of it, so that a run leaves the tables as large as it found them. With ``key`` the balances are
indexed and every update moves an index entry; with ``no_key`` they are not.

TPC-B 2.0 has one select and no delete; the mix of tellers, branches and accounts is its own: 85 %
of the accounts belong to the teller's branch.
"""

from dataclasses import dataclass

from benchkit.generators import Generator, constant, sequence, timestamp, uniform
from benchkit.workloads.factory import Family
from benchkit.workloads.model import Table, Transaction, Workload
from benchkit.workloads.options import IDENTIFIER, Limits, option
from benchkit.workloads.steps import Begin, Calculate, Choose, Commit, Execute, Let, Offset, Step

PERSONALITY = "benchkit"
TELLERS = 10
"""Of each branch."""

LOCAL_PERCENT = 85


@dataclass(frozen=True, slots=True)
class TpcbOptions:
    """The options of TPC-B."""

    branches: int = option(1, "How many branches there are.", Limits(1, 100_000))
    accounts: int = option(100_000, "Accounts of each branch.", Limits(1, 10_000_000))
    updates: str = option(
        "no_key",
        "Whether the balances that are updated are indexed: 'key' or 'no_key'.",
        Limits(choices=("key", "no_key")),
    )
    storage_engine: str = option(
        "InnoDB", "The tables' storage engine.", Limits(pattern=IDENTIFIER)
    )


_FAMILY = Family(TpcbOptions, (PERSONALITY,))


def _table(options: TpcbOptions, name: str, letter: str, rows: int, branch: Generator) -> Table:
    """Return a table of balances: account, teller or branch."""
    own = f"{letter}id"
    columns = [f"{own} INT NOT NULL"] + ([] if letter == "b" else ["bid INT NOT NULL"])
    key = f",\n  KEY balance ({letter}balance)" if options.updates == "key" else ""
    create = (
        f"CREATE TABLE {name} (\n  "
        + ",\n  ".join(columns)
        + f",\n  {letter}balance BIGINT NOT NULL,\n  filler CHAR(84) NOT NULL,\n"
        f"  PRIMARY KEY ({own}){key}\n) ENGINE = {options.storage_engine}"
    )
    filled = [(own, sequence()), ("bid", branch)][: len(columns)]
    rest = ((f"{letter}balance", constant(0)), ("filler", constant("")))
    return Table(name, create, (*filled, *rest), rows)


def _tables(options: TpcbOptions) -> tuple[Table, ...]:
    tellers, accounts = options.branches * TELLERS, options.branches * options.accounts
    history = (
        "CREATE TABLE history (\n  id BIGINT NOT NULL AUTO_INCREMENT,\n  worker INT NOT NULL,\n"
        "  tid INT NOT NULL,\n  bid INT NOT NULL,\n  aid INT NOT NULL,\n  delta INT NOT NULL,\n"
        "  mtime DATETIME NOT NULL,\n  filler CHAR(22) NOT NULL,\n"
        f"  PRIMARY KEY (id),\n  KEY worker (worker, id)\n) ENGINE = {options.storage_engine}"
    )
    return (
        _table(options, "branches", "b", options.branches, sequence()),
        _table(options, "tellers", "t", tellers, sequence(every=TELLERS)),
        _table(options, "accounts", "a", accounts, sequence(every=options.accounts)),
        Table("history", history),
    )


def _draw(options: TpcbOptions) -> tuple[Step, ...]:
    """Draw a teller, whose branch it is, an account and an amount."""
    anywhere = (Let("aid", uniform(1, options.branches * options.accounts)),)
    local = (
        Let("aid", Offset("bid", -1)),
        Let("aid", Calculate("aid", "*", options.accounts)),
        Let("place", uniform(1, options.accounts)),
        Let("aid", Calculate("aid", "+", "place")),
    )
    return (
        Let("tid", uniform(1, options.branches * TELLERS)),
        Let("bid", Offset("tid", TELLERS - 1)),
        Let("bid", Calculate("bid", "//", TELLERS)),
        Choose(((LOCAL_PERCENT, local), (100 - LOCAL_PERCENT, anywhere))),
        Let("delta", uniform(-999_999, 999_999)),
    )


def _change(table: str, letter: str) -> tuple[Step, ...]:
    own, balance = f"{letter}id", f"{letter}balance"
    update = f"UPDATE {table} SET {balance} = {balance} + ? WHERE {own} = ?"
    return (
        Execute(update, ("delta", own), name=f"update_{table}"),
        Execute(f"SELECT {balance} FROM {table} WHERE {own} = ?", (own,), name=f"select_{table}"),
    )


@_FAMILY.workload(*TpcbOptions.__dataclass_fields__)
def tpcb(options: TpcbOptions) -> Workload:
    """Change balances at a bank: three updates and selects by key, an insert and a delete."""
    steps = (
        *_draw(options),
        Begin(),
        *_change("accounts", "a"),
        *_change("tellers", "t"),
        *_change("branches", "b"),
        Execute(
            "INSERT INTO history (worker, tid, bid, aid, delta, mtime, filler) "
            "VALUES (?, ?, ?, ?, ?, ?, '')",
            ("worker", "tid", "bid", "aid", "delta", timestamp()),
            name="insert_history",
        ),
        Execute(
            "DELETE FROM history WHERE worker = ? ORDER BY id LIMIT 1",
            ("worker",),
            name="delete_history",
        ),
        Commit(),
    )
    return Workload(
        identity=f"{PERSONALITY}:tpcb",
        transactions=(Transaction("tpcb", steps),),
        tables=_tables(options),
    )
