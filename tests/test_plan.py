"""Plans: the order of runs, what makes a run the run it is, and how a plan grows."""

import itertools
from dataclasses import replace

import pytest
from studies import POINT_SELECT, small_plan

from benchkit import workloads
from benchkit.plan import Setup, Timing, label_workloads

THREE = tuple(Setup(name, f"cfg-{name}", "system") for name in "abc")


def servers_by_block(plan):
    """Return the servers of each block in the order of their first run."""
    blocks = itertools.groupby(plan, key=lambda run: run.block)
    return [list(dict.fromkeys(run.setup.name for run in runs)) for _, runs in blocks]


def ids(plan):
    return {run.id for run in plan}


def test_plan_is_every_combination_once():
    plan = small_plan()
    cells = {(r.setup.name, r.workload, r.threads, r.iteration) for r in plan}
    assert cells == set(itertools.product("ab", [POINT_SELECT], [1, 4], [1, 2]))
    assert len(plan) == len(cells) == len(ids(plan))


def test_runs_are_numbered_in_their_order():
    assert [run.order for run in small_plan()] == list(range(1, 9))


@pytest.mark.parametrize("seed", range(5))
def test_blocked_order_visits_every_server_once_in_each_iteration(seed):
    plan = small_plan(setups=THREE, iterations=4, seed=seed)
    assert [sorted(block) for block in servers_by_block(plan)] == [list("abc")] * 4
    assert all(run.block == run.iteration for run in plan)
    switches = sum(a.setup != b.setup for a, b in itertools.pairwise(plan.runs))
    assert switches <= 4 * 3 - 1


def test_blocked_order_comes_from_the_seed():
    orders = {
        seed: servers_by_block(small_plan(setups=THREE, iterations=6, seed=seed))
        for seed in range(10)
    }
    again = servers_by_block(small_plan(setups=THREE, iterations=6, seed=3))
    assert again == orders[3]
    assert len({str(order) for order in orders.values()}) == 10


def test_every_server_comes_first_in_some_block():
    plan = small_plan(setups=THREE, iterations=30)
    assert {block[0] for block in servers_by_block(plan)} == set("abc")


def test_sequential_order_takes_one_server_after_the_other():
    plan = small_plan(setups=THREE, order="sequential")
    assert [run.setup.name for run in plan] == ["a"] * 4 + ["b"] * 4 + ["c"] * 4
    assert [(run.threads, run.iteration) for run in plan.runs[:4]] == [
        (1, 1),
        (1, 2),
        (4, 1),
        (4, 2),
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"threads": (1, 2, 4, 8)},
        {"threads": (8, 4, 1)},
        {"iterations": 5},
        {"setups": THREE},
        {"workloads": (workloads.oltp_insert(rows=10), POINT_SELECT)},
        {"order": "sequential"},
    ],
    ids=str,
)
def test_a_grown_plan_keeps_its_runs(more):
    small, grown = small_plan(), small_plan(**more)
    assert ids(small) <= ids(grown)
    seeds = {run.id: run.random_seed for run in grown}
    assert all(seeds[run.id] == run.random_seed for run in small)


def test_more_iterations_leave_the_order_of_the_first_as_it_was():
    small = servers_by_block(small_plan(setups=THREE, iterations=2))
    assert servers_by_block(small_plan(setups=THREE, iterations=9))[:2] == small


@pytest.mark.parametrize(
    "change",
    [
        {"timing": Timing(1.0, 6.0, 0)},
        {"timing": Timing(2.0, 5.0, 0)},
        {"timing": Timing(1.0, 5.0, 100)},
        {"seed": 2},
        {"setups": (Setup("a", "other", "system"), Setup("b", "other", "system"))},
        {"setups": (Setup("a", "cfg-a", "/opt"), Setup("b", "cfg-b", "/opt"))},
        {"workloads": (workloads.oltp_point_select(rows=201),)},
    ],
    ids=str,
)
def test_a_run_is_another_when_anything_of_it_changes(change):
    assert not ids(small_plan()) & ids(small_plan(**change))


def test_every_run_has_random_streams_of_its_own():
    plan = small_plan(setups=THREE, iterations=5)
    assert len({run.random_seed for run in plan}) == len(plan)


def test_workloads_of_one_identity_are_told_apart_by_what_differs():
    small, large = (workloads.oltp_read_only(rows=rows, tables=2) for rows in (10, 20))
    labels = label_workloads([small, large, POINT_SELECT])
    assert list(labels.values()) == [
        "sysbench/1.1:oltp_read_only[rows=10]",
        "sysbench/1.1:oltp_read_only[rows=20]",
        "sysbench/1.1:oltp_point_select",
    ]


def test_summary_counts_and_estimates():
    assert small_plan().summary() == (
        "Study 'small': 8 runs = 2 servers x 1 workload x threads 1, 4 x 2 iterations, "
        "blocked, about 1 min 16 s"
    )


def test_table_has_a_row_for_each_stretch_of_a_block():
    name = "sysbench/1.1:oltp_point_select"
    assert small_plan(iterations=1).rows() == [
        ("1-2", "1", "a", name, "1, 4", "12 s"),
        ("3-4", "1", "b", name, "1, 4", "12 s"),
    ]
    assert small_plan(order="sequential").rows() == [
        ("1-4", "1, 2", "a", name, "1, 4", "24 s"),
        ("5-8", "1, 2", "b", name, "1, 4", "24 s"),
    ]


def test_data_that_are_loaded_for_every_run_count_in_the_estimate():
    once = workloads.oltp_point_select(rows=1_000_000)
    anew = replace(once, fresh_data=True)
    empty_s, once_s, anew_s = (
        small_plan(workloads=(workload,)).expected_s for workload in (POINT_SELECT, once, anew)
    )
    assert anew_s - empty_s == pytest.approx(4 * (once_s - empty_s), rel=0.01)
