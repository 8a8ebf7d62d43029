"""What the C core says about workloads that are not valid, and what it makes of others."""

import pytest
from scratch import make_workload

from benchkit import generators as g
from benchkit._core import Program
from benchkit.errors import WorkloadError
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
    Transaction,
    Workload,
)

ANY = g.uniform(1, 9)


def compile_steps(*steps, **rules):
    """Compile steps; making the workload does so for the first time."""
    return Program(make_workload(*steps, **rules).spec())


REJECTED = {
    "text where an integer was": (
        (Let("a", ANY), Let("a", g.template("##"))),
        "register 'a' holds an integer; it cannot take a text",
    ),
    "integer where a text was": (
        (Execute("SELECT c", keep=(("a", "text"),)), Let("a", ANY)),
        "register 'a' holds a text; it cannot take an integer",
    ),
    "real where an integer was": (
        (Let("a", ANY), Execute("SELECT 1", keep=(("a", "real"),))),
        "register 'a' holds an integer; it cannot take a real",
    ),
    "writing the built-in register": (
        (Let("worker", ANY),),
        "register 'worker' is built in; choose another",
    ),
    "parameter without a value": (
        (Execute("SELECT ?", ("a",)), Let("a", ANY)),
        "register 'a' is read before a step of transaction 'main' gives it a value",
    ),
    "placeholder without a value": (
        (Execute("SELECT 1 FROM t{a}"), Let("a", ANY)),
        "register 'a' is read before",
    ),
    "offset from nothing": (
        (Let("b", Offset("a", 1)), Let("a", ANY)),
        "register 'a' is read before",
    ),
    "offset from a text": (
        (Let("a", g.template("##")), Let("b", Offset("a", 1))),
        r"register 'a' is no integer; \+1 cannot be added",
    ),
    "value from one branch only": (
        (Choose(((1, (Let("a", ANY),)), (1, ()))), Execute("SELECT ?", ("a",))),
        "register 'a' is read before",
    ),
    "value from another branch": (
        (Choose(((1, (Let("a", ANY),)), (1, (Execute("SELECT ?", ("a",)),)))),),
        "register 'a' is read before",
    ),
    "two placeholders": (
        (Let("a", ANY), Execute("SELECT 1 FROM t{a}, u{a}")),
        r"a statement may have one \{register\} in its SQL: SELECT 1 FROM t\{a\}, u\{a\}",
    ),
    "placeholder without bounds": (
        (Execute("SELECT 1", keep=(("a", "integer"),)), Execute("SELECT 1 FROM t{a}")),
        r"\{a\} in 'SELECT 1 FROM t\{a\}' needs a register drawn by a generator of integers "
        "with bounds",
    ),
    "placeholder whose bounds overflow": (
        (Let("a", ANY), Let("b", Offset("a", 2**63 - 1)), Execute("SELECT {b}")),
        r"\{b\} in 'SELECT \{b\}' needs a register",
    ),
    "too many tables": (
        (Let("a", g.uniform(1, 100_000)), Execute("SELECT 1 FROM t{a}")),
        r"\{a\} ranges over 1..100000; at most 16384 forms of a statement are possible",
    ),
    "rows into several tables": (
        (Let("a", ANY), InsertRows("INSERT INTO t{a} VALUES", ("a",))),
        r"rows are inserted by 'INSERT INTO t\{a\} VALUES'; only \{worker\} can be part of it",
    ),
    "rows without columns": (
        (InsertRows("INSERT INTO t VALUES", (), name="rows"),),
        "'rows' inserts rows without columns",
    ),
    "type of a kept column": (
        (Execute("SELECT 1", keep=(("a", "int"),)),),
        "a kept column is 'integer', 'real' or 'text', not 'int'",
    ),
    "name for statements of two kinds": (
        (Execute("SELECT 1", name="a"), Execute("UPDATE t SET a = 1", name="a")),
        "a statement called 'a' is select and another is update",
    ),
    "repeating less than never": ((Repeat(-1, ()),), "steps cannot be repeated -1 times"),
    "choice of nothing": ((Choose(()),), "a choice needs at least one branch"),
    "weight of a branch": (
        (Choose(((1, ()), (0, ()))),),
        "branch 2 of a choice has weight 0; it must be above 0 and at most 1e9",
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_steps_are_rejected_with_a_reason(name):
    steps, message = REJECTED[name]
    with pytest.raises(WorkloadError, match=message):
        compile_steps(*steps)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"retry": (0,)}, r"0 is no error number \(1 to 65535\)"),
        ({"tolerate": (70_000,)}, r"70000 is no error number \(1 to 65535\)"),
        ({"reconnect_every": -1}, "workers cannot reconnect every -1 transactions"),
    ],
)
def test_rules_are_rejected_with_a_reason(rules, message):
    with pytest.raises(WorkloadError, match=message):
        compile_steps(Begin(), Commit(), **rules)


@pytest.mark.parametrize("weight", [0.0, -1.0, 2e9, float("nan"), float("inf")])
def test_weight_of_a_transaction_has_limits(weight):
    transactions = (Transaction("main", (), weight),)
    with pytest.raises(WorkloadError, match="transaction 'main' has weight .*at most 1e9"):
        Workload("test", transactions)


def test_workload_without_transactions_is_rejected():
    with pytest.raises(WorkloadError, match="a workload needs a transaction"):
        Workload("test", ())


def test_transactions_have_names_of_their_own():
    transactions = (Transaction("a", ()), Transaction("a", ()))
    with pytest.raises(WorkloadError, match="two transactions are called 'a'"):
        Workload("test", transactions)


def test_values_of_one_transaction_are_not_there_in_the_next():
    late = (Execute("SELECT ?", ("a",)), Let("a", ANY))
    transactions = (Transaction("a", (Let("a", ANY),)), Transaction("b", late))
    with pytest.raises(WorkloadError, match="a step of transaction 'b'"):
        Workload("test", transactions)


@pytest.mark.parametrize("spec", [{}, {"transactions": ()}, {"transactions": None}])
def test_spec_without_its_lists_is_a_type_error(spec):
    with pytest.raises(TypeError, match="a workload's spec needs a list 'transactions'"):
        Program(spec)


def test_unknown_step_is_named():
    spec = make_workload().spec()
    spec["transactions"] = [("main", 1.0, [("leap", 1)])]
    with pytest.raises(ValueError, match="unknown kind of step 'leap'"):
        Program(spec)


def test_value_that_every_branch_gives_can_be_read_behind_the_choice():
    compile_steps(
        Choose(((1, (Let("a", ANY),)), (1, (Let("b", ANY), Let("a", Offset("b", 1)))))),
        Execute("SELECT ?", ("a",)),
    )


def test_each_value_of_a_placeholder_is_a_prepared_statement():
    program = compile_steps(
        Let("table", g.uniform(1, 8)),
        Begin(),
        Execute("SELECT c FROM t{table}"),
        Execute("SELECT c FROM w{worker}"),
        Execute("SELECT 1"),
        Commit(),
    )
    assert program.prepared_statements == 8 + 1 + 1


def test_braces_that_hold_no_name_are_part_of_the_sql():
    program = compile_steps(Execute("""SELECT '{}', '{"a": 1}', '{ }'"""))
    assert program.prepared_statements == 1


@pytest.mark.parametrize(
    ("workload", "needed"),
    [
        (make_workload(), False),
        (make_workload(Let("a", ANY), Repeat(3, (Let("a", ANY),))), False),
        (make_workload(Begin(), Commit()), True),
        (make_workload(Rollback()), True),
        (make_workload(Execute("SELECT 1")), True),
        (make_workload(session=("SET @a = 1",)), True),
    ],
)
def test_only_statements_need_a_server(workload, needed):
    assert Program(workload.spec()).needs_server is needed


def test_all_rules_are_taken():
    workload = Workload("test", (Transaction("a", ()),), rules=Rules((1,), (65535,), 7))
    Program(workload.spec())
