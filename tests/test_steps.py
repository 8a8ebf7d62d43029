"""Steps that compute and decide, the set-up of workers, decks and pauses: on a real server."""

import threading
import time

import pytest
from scratch import make_driver, make_workload, transaction

from benchkit import generators as g
from benchkit._core import Driver, Program
from benchkit.errors import WorkloadError
from benchkit.workloads import (
    Calculate,
    Choose,
    Execute,
    If,
    Let,
    Offset,
    Repeat,
    RolledBack,
    Transaction,
    Workload,
)

SEE = Execute("INSERT INTO seen VALUES (?)", ("x",), name="see")


@pytest.fixture
def seen(scratch):
    """Return the scratch database with a table that steps write `x` into."""
    scratch.query("CREATE TABLE seen (x BIGINT)")
    return scratch


def run_once(scratch, *steps, **more):
    workload = make_workload(*steps, **more)
    result = make_driver(workload, scratch.endpoint, transactions=1).run()
    assert result["error"] is None, result["error"]
    return result


def see_once(seen, *steps):
    seen.query("TRUNCATE seen")
    run_once(seen, *steps, SEE)
    return [x and int(x) for (x,) in seen.query("SELECT x FROM seen")]


LARGE = 9 * 10**18


@pytest.mark.parametrize(
    ("left", "operator", "right", "result"),
    [
        (7, "+", 5, 12),
        (LARGE, "+", LARGE, 2 * LARGE - 2**64),
        (7, "-", 9, -2),
        (-7, "*", 3, -21),
        (7, "//", 2, 3),
        (-7, "//", 2, -4),
        (7, "//", -2, -4),
        (-8, "//", 2, -4),
        (5, "//", -1, -5),
        (7, "%", 3, 1),
        (-7, "%", 3, 2),
        (7, "%", -3, -2),
        (7, "%", -1, 0),
        (7, "//", 0, None),
        (7, "%", 0, None),
    ],
)
def test_arithmetic(seen, left, operator, right, result):
    start = Let("a", g.constant(left))
    by_number = Let("x", Calculate("a", operator, right))
    assert see_once(seen, start, by_number) == [result]
    by_register = (Let("b", g.constant(right)), Let("x", Calculate("a", operator, "b")))
    assert see_once(seen, start, *by_register) == [result]


def test_null_stays_null_in_arithmetic(seen):
    nothing = Execute("SELECT x FROM seen WHERE x = -1", keep=(("a", "integer"),))
    one = Let("b", g.constant(1))
    assert see_once(seen, nothing, Let("x", Calculate("a", "+", 1))) == [None]
    assert see_once(seen, nothing, one, Let("x", Calculate("b", "*", "a"))) == [None]
    again = (Let("x", Calculate("a", "+", 1)), Let("x", Calculate("b", "+", 2)))
    assert see_once(seen, nothing, one, *again) == [3]


def test_what_is_calculated_can_be_a_parameter(seen):
    step = Execute("INSERT INTO seen VALUES (?)", (Calculate("a", "*", 6),))
    run_once(seen, Let("a", g.constant(7)), step)
    assert seen.numbers("SELECT x FROM seen") == [42]


FIVE = (Let("a", g.constant(5)),)


def holds(seen, *condition, before=FIVE):
    then, otherwise = ((Let("x", g.constant(n)),) for n in (1, 0))
    return see_once(seen, *before, If(*condition, then, otherwise)) == [1]


@pytest.mark.parametrize("comparison", ["==", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("right", [4, 5, 6])
def test_integers_are_compared(seen, comparison, right):
    expected = eval(f"5 {comparison} {right}")
    assert holds(seen, "a", comparison, right) == expected
    before = (Let("a", g.constant(5)), Let("b", g.constant(right)))
    assert holds(seen, "a", comparison, "b", before=before) == expected


def test_texts_are_compared(seen):
    before = (Let("a", g.constant("BC")), Let("b", g.constant("B")))
    assert holds(seen, "a", "==", g.constant("BC"), before=before)
    assert holds(seen, "a", "!=", g.constant("BCX"), before=before)
    assert holds(seen, "a", "!=", "b", before=before)
    assert not holds(seen, "a", "==", g.constant("GC"), before=before)


def test_nothing_is_equal_to_null_but_null(seen):
    before = (
        Execute("SELECT x FROM seen WHERE x = -1", keep=(("a", "integer"),)),
        Let("b", g.constant(5)),
    )
    assert holds(seen, "a", "==", None, before=before)
    assert not holds(seen, "a", "!=", None, before=before)
    assert holds(seen, "b", "!=", None, before=before)
    assert not holds(seen, "b", "==", None, before=before)
    for comparison in ("==", "<", ">="):
        assert not holds(seen, "a", comparison, 5, before=before)
    assert holds(seen, "a", "!=", 5, before=before)


@pytest.mark.parametrize("times", [0, 1, 5, -3])
def test_steps_are_repeated_as_often_as_a_register_says(seen, times):
    steps = (Let("n", g.constant(times)), Let("x", g.constant(1)), Repeat("n", (SEE,)))
    run_once(seen, *steps)
    assert len(seen.numbers("SELECT x FROM seen")) == max(times, 0)


def test_registers_of_a_branch_are_only_sure_if_both_set_them():
    unsure = If("worker", "==", 1, (Let("x", g.constant(1)),))
    with pytest.raises(WorkloadError, match="register 'x' is read before a step"):
        make_workload(unsure, SEE)


def test_a_transaction_can_end_as_rolled_back_without_a_statement(scratch):
    before = scratch.status("Com_rollback")
    result = run_once(scratch, Execute("DO 1"), RolledBack())
    assert transaction(result)["rolled_back"] == 1
    assert scratch.status("Com_rollback") == before


def test_the_set_up_runs_once_in_each_worker(seen):
    seen.query("CREATE TABLE homes (worker INT, workers INT, home INT)")
    write = Execute("INSERT INTO homes VALUES (?, ?, ?)", ("worker", "workers", "home"))
    set_up = (
        Let("home", g.uniform(1, 10**9)),
        If("worker", "==", 2, (Let("home", Offset("worker", 0)),)),
        Repeat(3, (Choose(((1, (Let("home", Calculate("home", "+", 1)),)),)),)),
    )
    workload = Workload("test", (Transaction("main", (write,)),), set_up=set_up)
    make_driver(workload, seen.endpoint, threads=4, transactions=200).run()
    rows = seen.query("SELECT DISTINCT worker, workers, home FROM homes ORDER BY worker")
    assert [row[:2] for row in rows] == [(str(n), "4") for n in range(1, len(rows) + 1)]
    assert len(rows) == 4
    assert rows[1][2] == "5"


def test_the_set_up_of_a_seed_is_the_same_again(seen):
    def home(seed):
        set_up = (Let("x", g.uniform(1, 10**9)),)
        workload = Workload("test", (Transaction("main", (SEE,)),), set_up=set_up)
        seen.query("TRUNCATE seen")
        make_driver(workload, seen.endpoint, seed=seed, transactions=1).run()
        return seen.numbers("SELECT x FROM seen")

    assert home(3) == home(3) != home(4)


def shares(choice, transactions, weights=(10, 10, 1, 1, 1)):
    """Return the share of each transaction in a run of one worker without a server."""
    kinds = tuple(Transaction(f"t{n}", (), float(w)) for n, w in enumerate(weights))
    workload = Workload("test", kinds, choice=choice)
    result = Driver(Program(workload.spec()), None, seed=1, transactions=transactions).run()
    return [t["committed"] / transactions for t in result["transactions"]]


def test_a_deck_gives_the_exact_mix():
    assert shares("deck", 23) == [n / 23 for n in (10, 10, 1, 1, 1)]
    assert shares("deck", 2300) == [n / 23 for n in (10, 10, 1, 1, 1)]


def test_a_deck_is_shuffled():
    one, other, *_ = shares("deck", 10, (10, 10))
    assert 0 < one < 1
    assert one + other == 1


def deck_of(*weights):
    kinds = tuple(Transaction(f"t{n}", (), w) for n, w in enumerate(weights))
    return Workload("test", kinds, choice="deck")


def test_a_deck_needs_whole_numbers():
    with pytest.raises(WorkloadError, match=r"'t1' has weight 1.5; in a deck it must be a whole"):
        deck_of(1.0, 1.5)
    with pytest.raises(WorkloadError, match="a deck of 200000 is too large"):
        deck_of(100_000.0, 100_000.0)


PAUSE = 0.5


def paused(**pauses):
    statement = Execute("DO 1", name="do")
    return Workload("test", (Transaction("main", (statement,), **pauses),))


@pytest.mark.parametrize("pause", ["keying", "thinking"])
@pytest.mark.parametrize("threads", [1, 5])
def test_pauses_are_no_part_of_the_response_time(scratch, pause, threads):
    workload = paused(**{pause: g.constant(PAUSE)})
    turns = 2
    result = make_driver(
        workload, scratch.endpoint, threads=threads, duration_s=PAUSE * turns
    ).run()
    done = transaction(result)["committed"]
    assert 0 < done <= threads * (turns + 1)
    # Half the pause: what the server takes for DO 1, and a busy machine, stay below it.
    assert transaction(result)["response"].percentile([50.0])[0] < PAUSE / 2 * 1e9


def test_a_stop_ends_long_pauses_at_once(scratch):
    driver = make_driver(
        paused(keying=g.constant(3600)), scratch.endpoint, threads=3, duration_s=3600.0
    )
    threading.Timer(0.2, driver.stop).start()
    begun = time.monotonic()
    result = driver.run()
    assert time.monotonic() - begun < 60
    assert result["accounting"]["scheduled"] == 0


def test_the_end_of_the_run_ends_long_pauses(scratch):
    driver = make_driver(
        paused(thinking=g.constant(3600)), scratch.endpoint, threads=3, duration_s=0.3
    )
    result = driver.run()
    assert transaction(result)["committed"] == 3
    assert result["accounting"]["in_flight"] == 0


def test_nobody_thinks_after_the_last_transaction(scratch):
    driver = make_driver(paused(thinking=g.constant(3600)), scratch.endpoint, transactions=1)
    assert transaction(driver.run())["committed"] == 1


WRONG = [
    (lambda: Calculate("a", "/", 1), "operator must be one of + - * // %, not '/'"),
    (lambda: Calculate("a", "+", 1.5), "right must be an integer, not 1.5"),
    (lambda: If("a", "=", 1, ()), "comparison must be one of == != < <= > >=, not '='"),
    (lambda: If("a", "==", g.uniform(1, 2), ()), "a number, a register, None or constant(...)"),
    (lambda: If("a", "==", 1, "x"), "If: steps must be a tuple or list"),
    (lambda: Repeat("2x", ()), "times must be a register's name"),
    (lambda: Transaction("t", (), keying=5), "keying must be a generator of seconds, or None"),
    (
        lambda: paused(keying=g.constant("x")),
        "a pause is a number of seconds, not a text",
    ),
    (
        lambda: make_workload(Let("a", g.constant("x")), If("a", "<", g.constant("y"), ())),
        "register 'a' holds a text; integers are compared, and whether texts are equal",
    ),
    (
        lambda: make_workload(Let("a", g.constant("x")), If("a", "==", 5, ())),
        "a text cannot go together with an integer",
    ),
    (
        lambda: make_workload(Let("a", g.constant(1.5)), Let("b", Calculate("a", "+", 1))),
        "register 'a' holds a real; only integers are calculated with",
    ),
    (
        lambda: make_workload(Let("a", g.constant("x")), Repeat("a", ())),
        "register 'a' is no integer; steps cannot be repeated by it",
    ),
    (lambda: make_workload(If("a", "==", 1, ())), "unknown register 'a'"),
    (lambda: make_workload(Let("workers", g.constant(1))), "register 'workers' is built in"),
    (
        lambda: Workload("w", (Transaction("t", ()),), set_up=(Execute("DO 1"),)),
        "the set-up cannot execute 'do'",
    ),
    (
        lambda: Workload("w", (Transaction("t", ()),), set_up=(Let("a", Offset("b", 1)),)),
        "the set-up of workload 'w': unknown register 'b'",
    ),
    (
        lambda: Workload("w", (Transaction("t", ()),), choice="decks"),
        "choice must be one of weights deck, not 'decks'",
    ),
    (lambda: make_workload(If("worker", "<", None, ())), "neither above nor below NULL"),
]


@pytest.mark.parametrize(("write", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_mistake_in_a_step_is_told(write, message):
    with pytest.raises(WorkloadError) as error:
        write()
    assert message in str(error.value)
