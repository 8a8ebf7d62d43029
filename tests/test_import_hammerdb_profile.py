"""HammerDB's time profiles with lines lost, cut and glued: no value moves to another procedure."""

import hammerdb_writer as writer
import pytest
from hammerdb_reading import assert_timing, only, read
from hammerdb_writer import Run, figures

from benchkit.errors import BenchkitError

SUMMARY, USERS = figures(9), {2: figures(2), 3: figures(3)}
PROFILE = writer.profile(Run(users=2, timing=SUMMARY), by_user=USERS)
TOLD = {"SUMMARY": SUMMARY, **{f"{user}": each for user, each in USERS.items()}}


def place(start, which=0):
    """Return the number of the line that begins so."""
    return [i for i, line in enumerate(PROFILE) if line.startswith(start)][which]


def told(run):
    return {"SUMMARY": run.extra.get("timing", {}), **run.extra.get("timing_by_vu", {})}


def assert_nothing_moved(lines):
    """Leniently what is there is in its place, and what is not is told; strictly it is an error."""
    with pytest.raises(BenchkitError, match="profile|heading|figure|the line ends in|no value"):
        read(lines)
    imported = read(lines, lenient=True)
    assert imported.problems
    for run in imported.runs:
        for section, procedures in told(run).items():
            for procedure, found in procedures.items():
                expected = TOLD[section][procedure] | {"sd": 24086.869}
                assert {name: v for name, v in found.items() if name != "elapsed_ms"}.items() <= (
                    expected.items()
                )
    return imported


def test_whole_profile_reads_as_it_was_written():
    run = only(PROFILE)
    assert_timing(run.extra["timing"], SUMMARY)
    assert_timing(run.extra["timing_by_vu"]["3"], USERS[3])


@pytest.mark.parametrize("line", [i for i, text in enumerate(PROFILE) if ":" in text and i > 1])
def test_line_that_is_lost_moves_no_figure(line):
    assert_nothing_moved(PROFILE[:line] + PROFILE[line + 1 :])


@pytest.mark.parametrize("length", range(1, len(PROFILE[4]), 3))
@pytest.mark.parametrize("line", [place("P99", 0), place("CALLS", 6), place("P99", 10)])
def test_row_that_is_cut_moves_no_figure(line, length):
    cut = PROFILE[line][:length]
    assert_nothing_moved([*PROFILE[:line], cut, *PROFILE[line + 1 :]])


@pytest.mark.parametrize("start", [">>>>> PROC", ">>>>> VIRTUAL USER 3", ">>>>> SUMMARY"])
@pytest.mark.parametrize("lost", [1, 4, 8, 14])
def test_heading_that_is_cut_moves_no_figure(start, lost):
    line = place(start, -1)
    cut = PROFILE[line][:-lost]
    assert_nothing_moved([*PROFILE[:line], cut, *PROFILE[line + 1 :]])


@pytest.mark.parametrize("glue", ["", " "])
@pytest.mark.parametrize("line", range(2, len(PROFILE) - 1))
def test_lines_that_are_glued_read_the_same(line, glue):
    glued = [*PROFILE[:line], glue.join(PROFILE[line : line + 2]), *PROFILE[line + 2 :]]
    assert told(only(glued)) == told(only(PROFILE))


@pytest.mark.parametrize("blank", ["\t", "\xa0", "  "])
def test_blanks_of_any_kind_are_blanks(blank):
    lines = [line.replace(" ", blank) for line in PROFILE]
    assert told(only(lines)) == told(only(PROFILE))


def test_profile_without_headings_is_the_runs():
    lines = PROFILE[place(">>>>> SUMMARY") + 1 :]
    assert_timing(only([f"Vuser 1:{writer.result(Run())}", *lines]).extra["timing"], SUMMARY)


def test_profile_of_another_database_is_another_run():
    runs = read([*writer.log(Run(users=2, database="PostgreSQL")), *PROFILE]).runs
    assert [run.dataset for run in runs] == ["PostgreSQL", "MariaDB"]
    assert "timing" not in runs[0].extra


@pytest.mark.parametrize("users", [1, 100])
def test_profile_of_too_many_or_few_users_is_another_run(users):
    runs = read([*writer.log(Run(users=users)), *PROFILE]).runs
    assert [run.threads for run in runs] == [users, 2]
    assert [sorted(run.extra.get("timing_by_vu", {})) for run in runs] == [[], ["2", "3"]]


def test_profiles_behind_all_logs_are_of_the_runs_of_as_many_users():
    timings = {users: figures(users) for users in (1, 2, 4)}
    lines = [line for users in timings for line in writer.log(Run(users=users, job=""))]
    for users, timing in timings.items():
        by_user = {2 + i: figures(10 * users + i) for i in range(users)}
        lines += writer.profile(Run(users=users, timing=timing), by_user=by_user)
    runs = read(lines).runs
    assert [run.threads for run in runs] == [1, 2, 4]
    for run in runs:
        assert_timing(run.extra["timing"], timings[run.threads])
        assert len(run.extra["timing_by_vu"]) == run.threads
        assert run.warnings == ()


def test_profiles_behind_logs_of_as_many_users_are_theirs_in_order():
    timings = [figures(seed) for seed in (1, 2)]
    lines = [line for nopm in (100, 200) for line in writer.log(Run(nopm=nopm, job=""))]
    lines += [line for timing in timings for line in writer.profile(Run(timing=timing))]
    runs = read(lines).runs
    assert [run.metrics["nopm"] for run in runs] == [100, 200]
    for run, timing in zip(runs, timings, strict=True):
        assert_timing(run.extra["timing"], timing)


def test_result_behind_a_profile_is_another_run():
    runs = read([*PROFILE, f"Vuser 1:{writer.result(Run())}"]).runs
    assert ["timing" in run.extra for run in runs] == [True, False]
