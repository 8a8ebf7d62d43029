"""A workload that a user writes in a notebook cell: it runs, or the line that is wrong says so."""

import re

import numpy as np
import pytest
from runs import loaded, run, statements

import benchkit as bk
from benchkit.errors import DatabaseError, WorkloadError
from benchkit.generators import (
    Generator,
    alphanumeric,
    choice,
    constant,
    sequence,
    template,
    timestamp,
    uniform,
    zipfian,
)
from benchkit.workloads import (
    Begin,
    Choose,
    Commit,
    Execute,
    InsertRows,
    Let,
    Offset,
    Repeat,
    Rollback,
    Rules,
    Table,
    Transaction,
    Workload,
)

ID = uniform(1, 10)
ACCOUNTS = 500
BRANCHES = 2

BANK = Workload(
    "my/1:bank",
    transactions=[
        Transaction(
            "transfer",
            [
                Let("branch", uniform(1, BRANCHES)),
                Let("account", zipfian(1, ACCOUNTS, scrambled=True)),
                Let("amount", uniform(1, 100)),
                Begin(),
                Execute(
                    "SELECT balance FROM account{branch} WHERE id = ? FOR UPDATE",
                    ["account"],
                    keep=[("balance", "integer")],
                    name="read",
                ),
                Execute(
                    "UPDATE account{branch} SET balance = ? + ? WHERE id = ?",
                    [Offset("balance", -1), "amount", "account"],
                    rollback_if_none=True,
                ),
                Execute(
                    "INSERT INTO history VALUES (?, ?, ?, ?)",
                    ["branch", "account", "amount", timestamp()],
                ),
                Choose([(3, [Commit()]), (1, [Rollback()])]),
            ],
            weight=3,
        ),
        Transaction(
            "look",
            [Repeat(2, [Execute("SELECT COUNT(*) FROM account1 WHERE id > ?", [constant(400)])])],
        ),
        Transaction(
            "miss", [Execute("DELETE FROM history WHERE amount = 0", rollback_if_none=True)]
        ),
    ],
    tables=[
        Table(
            "account{n}",
            "CREATE TABLE `account{n}` (id INT PRIMARY KEY, balance INT NOT NULL, name VARCHAR(9))",
            columns=[("id", sequence()), ("balance", constant(1000)), ("name", alphanumeric(3, 9))],
            rows=ACCOUNTS,
            finish=["ALTER TABLE account{n} ADD KEY (name)"],
            count=BRANCHES,
        ),
        Table("history", "CREATE TABLE history (branch INT, account INT, amount INT, at DATETIME)"),
    ],
    session=["SET SESSION lock_wait_timeout = 5"],
)


def test_an_own_workload_does_what_its_steps_say(server):
    with loaded(server, BANK) as load:
        result = run(server, BANK, load.database, 200)
        ((transfers, gained),) = server.query(
            f"SELECT COUNT(*), SUM(amount - 1) FROM {load.database}.history"
        )
        ((balance,),) = server.query(
            f"SELECT SUM(balance) FROM (SELECT balance FROM {load.database}.account1 "
            f"UNION ALL SELECT balance FROM {load.database}.account2) AS account"
        )
    transfer, look, miss = result["transactions"]
    executed = {name: s["executions"] for name, s in statements(result).items()}
    assert sum(t["committed"] + t["rolled_back"] for t in (transfer, look, miss)) == 200
    assert (miss["committed"], look["rolled_back"]) == (0, 0)
    assert executed["select"] == 2 * look["committed"]
    assert executed["commit"] == transfer["committed"] == int(transfers) > 0
    # What a transfer read, it wrote back with the amount less 1: no update was lost.
    assert int(balance) == 1000 * ACCOUNTS * BRANCHES + int(gained)


def test_an_own_workload_is_a_study_like_any_other(server, tmp_path):
    running = bk.Server.connect(socket=server.endpoint["socket"], user="root", name="here")
    study = bk.Study(
        "own",
        servers=[running],
        workloads=[BANK],
        threads=[1, 3],
        iterations=1,
        duration=None,
        warmup=0,
        transactions=50,
    )
    results = study.run(tmp_path / "own", progress=False)
    assert results["here"].threads.tolist() == [1, 3]
    assert len(results["here"].records) == 2


def test_rows_of_an_own_workload_go_out_in_batches(server):
    workload = Workload(
        "log",
        [Transaction("append", [InsertRows("INSERT INTO log{worker} VALUES", [sequence()])])],
        [Table("log{n}", "CREATE TABLE log{n} (id BIGINT PRIMARY KEY)", count="workers")],
    )
    with loaded(server, workload) as load:
        result = run(server, workload, load.database, 1000)
        rows = [server.query(f"SELECT COUNT(*) FROM {load.database}.log{n}") for n in (1, 2, 3)]
    assert sum(int(count) for ((count,),) in rows) == 1000
    assert statements(result)["insert_rows"]["executions"] <= 3


def test_a_mistake_that_only_the_server_sees_is_told_with_its_words(server):
    workload = Workload("typo", [Transaction("t", [Execute("SELEKT 1")])])
    with loaded(server, workload) as load, pytest.raises(DatabaseError, match="'SELEKT 1'"):
        run(server, workload, load.database, 1)


def test_lists_become_tuples_so_that_workloads_can_be_keys():
    lists = Workload("w", [Transaction("t", [Let("a", ID), Execute("SELECT ?", ["a"])])])
    tuples = Workload("w", (Transaction("t", (Let("a", ID), Execute("SELECT ?", ("a",)))),))
    assert lists == tuples
    assert hash(lists) == hash(tuples)


def test_integers_of_numpy_are_integers():
    assert uniform(np.int64(1), np.int32(5)) == uniform(1, 5)
    assert Repeat(np.int64(2), ()) == Repeat(2, ())
    table = Table("t", "CREATE TABLE t (id INT)", [("id", sequence())], rows=np.int64(7))
    assert type(table.rows) is int


@pytest.mark.parametrize(
    ("sql", "marks"),
    [
        ("SELECT '?', \"?\", ? AS `?`", 1),
        ("SELECT 'it''s ?', 'it\\'s ?', \"it\"\"s ?\"", 0),
        ("SELECT /* ? */ 1 -- ?\n, ? # ?", 1),
        ("SELECT /*! ?, */ ?", 2),
        ("SELECT 3--? -- ?", 1),
    ],
)
def test_marks_in_quotes_and_comments_are_no_parameters_to_the_server_either(server, sql, marks):
    asking = Workload("marks", [Transaction("t", [Execute(sql, [ID] * marks)])])
    assert run(server, asking, None, 1)["errors"] == []


def execute(sql="SELECT ?", params=(ID,), **more):
    return Execute(sql, params, **more)


def transaction(*steps, name="t", **more):
    return Transaction(name, steps, **more)


def table(name="t", create="CREATE TABLE t (id INT)", columns=(("id", ID),), **more):
    return Table(name, create, columns, **more)


def workload(*steps, identity="mine", **more):
    return Workload(identity, (transaction(*steps),), **more)


MISTAKES = [
    # generators
    (lambda: uniform(5, 1), "generator uniform: low 5 is above high 1"),
    (lambda: uniform(1, 2.5), "generator uniform: high (integer): 'float' object"),
    (lambda: uniform("a", 5), "generator uniform: low (integer): 'str' object"),
    (lambda: constant(None), "constant: value must be an int, a float or a str, not None"),
    (lambda: constant(True), "not True"),
    (lambda: choice("abc"), "choice: values must be a list of texts, not the one text 'abc'"),
    (lambda: choice([]), "generator choice: values must not be empty"),
    (lambda: alphanumeric(5, 2), "shortest 5 is above longest 2"),
    (lambda: template(7), "generator template: text (text): must be str, not int"),
    (lambda: Generator("unifrom"), "unknown generator 'unifrom': did you mean 'uniform'?"),
    # parameters and statements
    (lambda: execute(params=()), "Execute('SELECT ?') has 1 parameter marks (?) but 0 params"),
    (lambda: execute("SELECT '?'"), "has 0 parameter marks (?) but 1 params"),
    (lambda: execute(params=ID), "params must be a tuple or list with a comma: (x,)"),
    (lambda: execute(params=("id")), "with a comma: (x,), each item a register's name"),
    (lambda: execute(params=(5,)), "item 1 of params must be a register's name, a generator"),
    (lambda: execute(params=(uniform,)), "not <function uniform"),
    (lambda: execute(params=(x for x in [ID])), "params must be a tuple or list, each item"),
    (lambda: execute("", ()), "Execute: sql must be a text that is not empty, not ''"),
    (lambda: execute(name=5), "name must be a text that is not empty, not 5"),
    (lambda: execute(keep=("a", "text")), "item 1 of keep must be (register, type)"),
    (
        lambda: workload(execute(keep=[("a", "int")])),
        "a kept column is 'integer', 'real' or 'text', not 'int'",
    ),
    (lambda: InsertRows("INSERT INTO t VALUES (?)", (ID,)), "an INSERT that ends with VALUES"),
    (
        lambda: workload(Let("a", ID), InsertRows("INSERT INTO t{a} VALUES", (ID,))),
        "rows are inserted by 'INSERT INTO t{a} VALUES'; only {worker} can be part of it",
    ),
    # registers
    (lambda: Let("id", 5), "Let('id'): source must be a generator such as uniform(1, 10)"),
    (lambda: Let("id", "other"), "Let('id'): source must be a generator"),
    (lambda: Let("_1", ID), "register must be a register's name (a letter, then"),
    (lambda: Let(ID, "id"), "register must be a register's name"),
    (lambda: Offset("id", 1.5), "Offset: plus must be an integer"),
    (
        lambda: workload(Let("table", ID), execute("SELECT * FROM t{tabel}", ())),
        "transaction 't': unknown register 'tabel': did you mean 'table'?",
    ),
    (lambda: workload(execute(params=("joe",))), "and constant() a fixed value"),
    (lambda: workload(Repeat(2, [execute(params=["a"])])), "unknown register 'a'"),
    (lambda: workload(Choose([(1, [Let("a", Offset("b", 1))])])), "unknown register 'b'"),
    (
        lambda: workload(execute(params=("id",)), Let("id", ID)),
        "workload 'mine': register 'id' is read before a step of transaction 't' gives it",
    ),
    (
        lambda: workload(Let("id", sequence()), execute("SELECT {id}", ())),
        "{id} in 'SELECT {id}' needs a register drawn by a generator of integers with bounds",
    ),
    (
        lambda: workload(Let("id", ID), Let("id", constant("x"))),
        "register 'id' holds an integer; it cannot take a text",
    ),
    (lambda: workload(Let("worker", ID)), "register 'worker' is built in; choose another"),
    # blocks
    (lambda: workload(Repeat(-1, ())), "workload 'mine': steps cannot be repeated -1 times"),
    (lambda: Repeat(2.0, ()), "Repeat: times must be an integer"),
    (lambda: Repeat(2, Begin()), "Repeat: steps must be a tuple or list with a comma: (x,)"),
    (lambda: Repeat(2, [Begin]), "item 1 of steps must be a step (Let, Execute"),
    (lambda: Choose([1, [Begin()]]), "item 1 of branches must be (weight, steps), not 1"),
    (lambda: Choose([("1", ())]), "Choose: a weight must be a number, not '1'"),
    (lambda: workload(Choose([])), "a choice needs at least one branch"),
    # transactions
    (lambda: Transaction("t", execute()), "transaction 't': steps must be a tuple or list with"),
    (lambda: transaction("SELECT 1"), "item 1 of steps must be a step"),
    (lambda: transaction(name=" "), "Transaction: name must be a text that is not empty"),
    (lambda: transaction(weight=None), "transaction 't': weight must be a number, not None"),
    (lambda: Workload("mine", [transaction(weight=0)]), "transaction 't' has weight 0; it must"),
    (lambda: transaction(Begin(), execute()), "has a Begin() but no Commit() or Rollback()"),
    # tables
    (lambda: table(columns=(), rows=5), "table 't' is to have 5 rows but no columns to fill"),
    (lambda: table(columns=("id", ID)), "item 1 of columns must be (column, generator), not 'id'"),
    (lambda: table(columns={"id": ID}), "columns must be a tuple or list, each item (column,"),
    (lambda: table(columns=[("id", sequence)]), "not ('id', <function sequence"),
    (lambda: table(columns=[("id", ID), ("id", ID)]), "table 't': two columns are called 'id'"),
    (lambda: table(columns=[("at", timestamp())]), "give timestamp() a fixed at_s"),
    (lambda: table(rows=1e6), "table 't': rows must be an integer from 0"),
    (lambda: table("u"), "create must be the CREATE TABLE statement of u, not 'CREATE TABLE t"),
    (lambda: table(count=4), "4 tables need different names; write {n} for the number"),
    (lambda: table(count="worker"), "an integer from 1, or 'workers', not 'worker'"),
    (lambda: table(finish="ANALYZE TABLE t"), "finish must be a tuple or list with a comma"),
    # rules and workloads
    (lambda: Rules(retry=1213), "Rules: retry must be a tuple or list with a comma: (x,)"),
    (lambda: Rules(retry=("1213",)), "item 1 of retry must be an error number, not '1213'"),
    (lambda: workload(rules=Rules((99999,))), "99999 is no error number (1 to 65535)"),
    (lambda: Rules(retry=(1062,)), "error 1062 is both in retry and in tolerate"),
    (lambda: Rules(reconnect_every="2"), "Rules: reconnect_every must be an integer, not '2'"),
    (lambda: workload(identity=""), "Workload: identity must be a text that is not empty"),
    (lambda: workload(rules={"retry": (1213,)}), "rules must be Rules(...)"),
    (lambda: workload(session="SET x = 1"), "session must be a tuple or list with a comma"),
    (lambda: workload(tables=table()), "tables must be a tuple or list with a comma: (x,)"),
    (lambda: workload(tables=[table(), table()]), "workload 'mine': two tables are called 't'"),
    (lambda: Workload("mine", ()), "workload 'mine': a workload needs a transaction"),
    (lambda: Workload("mine", transaction()), "transactions must be a tuple or list with a"),
    (
        lambda: Workload("mine", [transaction(), transaction()]),
        "workload 'mine': two transactions are called 't'",
    ),
]


@pytest.mark.parametrize(("write", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_a_mistake_is_told_where_it_is_written(write, message):
    with pytest.raises(WorkloadError, match=re.escape(message)):
        write()
