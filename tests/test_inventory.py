"""What studies on disk amount to."""

import math
from dataclasses import replace

import numpy as np
import pytest
from factory import (
    WORKLOAD,
    Plan,
    default_tps,
    make_log,
    make_record,
    make_series,
    make_study,
    response_times_ns,
)

from benchkit import workloads
from benchkit.errors import StoreError
from benchkit.inventory import (
    chosen_options,
    compute_means,
    count_stored,
    find_studies,
    take_inventory,
)
from benchkit.plan import Grid, Setup, Timing, make_plan
from benchkit.results import load
from benchkit.store import StudyFolder

PLAN = Plan()


def keep_attempt(folder, status, *cell):
    record = replace(make_record(PLAN, *cell), status=status, failure={"message": "it broke"})
    return folder.save_failed(record, make_series(record, 1), make_log(record, 1), {}, "log")


# Finding


def test_studies_are_found_at_any_depth_but_not_in_hidden_folders(tmp_path):
    for name in ("b", "a/deep/er", ".hidden/c"):
        make_study(tmp_path / name, Plan(iterations=(1,), threads=(1,)))
    assert find_studies(tmp_path) == [tmp_path / "a/deep/er", tmp_path / "b"]


def test_folder_that_is_a_study_is_found_itself(tmp_path):
    make_study(tmp_path / "s", Plan(iterations=(1,), threads=(1,)))
    assert find_studies(tmp_path / "s") == [tmp_path / "s"]


def test_no_folder_is_an_error(tmp_path):
    with pytest.raises(StoreError, match="nowhere is not a folder"):
        find_studies(tmp_path / "nowhere")


# Inventories


@pytest.fixture
def study(tmp_path):
    """Return a study of which the runs with four threads are not done."""
    absent = tuple((server, 4, i) for server in PLAN.servers for i in PLAN.iterations)
    folder = make_study(tmp_path / "s", replace(PLAN, absent=absent))
    return StudyFolder.create(folder.path, {**folder.study, "threads": [1, 4], "iterations": 3})


def test_inventory_counts_what_is_done_of_what_is_planned(study):
    inventory = take_inventory(study.path)
    assert inventory.progress == "6 of 12"
    assert (inventory.servers, inventory.workloads) == (PLAN.servers, (WORKLOAD,))


def test_study_that_does_not_say_its_plan_has_no_total(tmp_path):
    assert take_inventory(make_study(tmp_path / "s").path).progress == "12"


def test_only_failures_that_were_not_made_up_for_count(study):
    keep_attempt(study, "failed", "baseline", WORKLOAD, 1, 1)  # completed later
    keep_attempt(study, "failed", "baseline", WORKLOAD, 4, 1)
    keep_attempt(study, "interrupted", "baseline", WORKLOAD, 4, 2)
    inventory = take_inventory(study.path)
    assert len(inventory.attempts) == 3
    assert inventory.failed == 1


def test_study_without_runs_has_an_inventory(tmp_path):
    folder = StudyFolder.create(tmp_path / "s", {"name": "s"})
    inventory = take_inventory(folder.path)
    assert (inventory.progress, inventory.ended, inventory.failed) == ("0", "", 0)


def test_runs_of_a_plan_that_are_stored_are_counted(tmp_path):
    grid = Grid(
        (Setup("a", "0" * 12, None),), (workloads.null(),), (1, 2), 1, Timing(0, 1, 0), "blocked", 1
    )
    plan = make_plan("s", grid)
    assert count_stored(plan, tmp_path / "s") == 0
    folder = StudyFolder.create(tmp_path / "s", {"name": "s"})
    run = next(iter(plan))
    made = make_record(PLAN, "a", "benchkit:null", 1, 1)
    record = replace(made, study="s", id=run.id, identity=run.identity)
    folder.save_run(record, make_series(record, 1), make_log(record, 1), {})
    assert count_stored(plan, tmp_path / "s") == 1


# Means


def test_means_are_over_the_iterations_of_each_thread_count(tmp_path):
    rows = compute_means(load(make_study(tmp_path / "s").path))
    assert [(row.dataset, row.threads, row.n) for row in rows] == [
        (server, threads, 3) for server in PLAN.servers for threads in PLAN.threads
    ]
    expected = np.mean([default_tps("baseline", 4, i) for i in PLAN.iterations])
    assert rows[1].values["tps"] == pytest.approx(expected)


def test_percentiles_are_those_of_all_iterations_together(tmp_path):
    rows = compute_means(load(make_study(tmp_path / "s").path))
    records = [make_record(PLAN, "baseline", WORKLOAD, 4, i) for i in PLAN.iterations]
    together = np.concatenate([response_times_ns(record) for record in records])
    expected = np.percentile(together, 95) / 1e9
    assert rows[1].values["latency_p95"] == pytest.approx(expected, rel=0.01)


def test_metric_that_was_not_measured_is_nan(tmp_path):
    row = compute_means(load(make_study(tmp_path / "s").path))[0]
    assert not math.isnan(row.values["errors_per_s"])
    folder = StudyFolder.create(tmp_path / "t", {"name": PLAN.name})
    made = make_record(PLAN, "baseline", WORKLOAD, 1, 1)
    record = replace(made, metrics={"tps": 5.0})
    folder.save_run(record, make_series(record, 1), "", {})
    (row,) = compute_means(load(folder.path))
    assert math.isnan(row.values["latency_p95"])


# Options


def test_only_options_that_are_not_the_default_are_chosen():
    made = workloads.oltp_read_write(tables=3, personality="sysbench/1.0")
    chosen = chosen_options(made.identity, dict(made.parameters))
    assert chosen == {"tables": 3}


def test_every_parameter_of_a_users_workload_is_chosen():
    assert chosen_options("mine:queue", {"depth": 3}) == {"depth": 3}
