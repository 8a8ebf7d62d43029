"""HammerDB's logs, time profiles and counters give back the values they were written from."""

import os
from pathlib import Path

import hammerdb_writer as writer
import pytest
from hammerdb_reading import RATES, assert_timing, only, read, triples
from hammerdb_writer import Run, dumped, figures
from hypothesis import given, settings
from hypothesis import strategies as st

from benchkit.importers.hammerdb import COUNTER, FORMATS, JOB, LOG, PROFILE, parse
from benchkit.importers.model import ImportFormatError
from benchkit.importers.source import read_lines
from benchkit.record import DRAIN, MEASUREMENT, WARMUP

SAMPLES = Path(
    os.environ.get("BENCHKIT_SAMPLES")
    or Path(__file__).resolve().parents[2] / "shared" / "reference" / "samples"
)
needs_samples = pytest.mark.skipif(
    not (SAMPLES / "hammerdb").is_dir(), reason="the public logs are not here"
)

DATABASES = ["MariaDB", "MySQL", "PostgreSQL", "Oracle", "SQL Server", "Db2", "Redis", "TimesTen"]


# Log text


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("old_order", [False, True])
def test_result_is_read_in_both_orders_for_every_database(database, old_order):
    run = only(writer.log(Run(database=database), old_order))
    assert run.metrics == {"nopm": 42333, "tpm": 98385}
    assert (run.threads, run.dataset, run.extra["db"]) == (4, database, database)
    assert run.duration_s == 120


@given(st.integers(1, 500), st.integers(1, 10**7), st.integers(1, 10**7), st.booleans())
@settings(deadline=None, max_examples=50)
def test_values_of_a_log_come_back(users, nopm, others, old_order):
    made = Run(users=users, nopm=nopm, tpm=nopm + others)
    assert triples(read(writer.log(made, old_order))) == [(users, nopm, nopm + others)]


def test_release_is_part_of_the_workload():
    assert only(writer.log(Run(), banner="6.0")).workload == "hammerdb/6.0:tprocc"
    assert only(writer.log(Run())).workload == "hammerdb/unknown:tprocc"


def test_several_runs_of_a_file_are_iterations_of_their_number_of_users():
    lines = [
        line
        for users in (1, 2, 1)
        for line in writer.log(Run(users=users, nopm=users * 100, tpm=users * 230, job=""))
    ]
    runs = read(lines).runs
    assert [(run.threads, run.iteration) for run in runs] == [(1, 1), (2, 1), (1, 2)]
    assert [run.metrics["nopm"] for run in runs] == [100, 200, 100]


def test_results_alone_are_runs():
    lines = [f"Vuser 1:{writer.result(Run(nopm=n, tpm=3 * n))}" for n in (42332, 38385, 37331)]
    assert [nopm for _, nopm, _ in triples(read(lines))] == [42332, 38385, 37331]


def test_users_come_from_the_name_when_the_log_does_not_say():
    assert only([writer.result(Run())], name="pg_100vu.txt").threads == 100
    assert only([writer.result(Run())], name="run-2023.txt").threads is None


def test_sessions_of_asynchronous_clients_are_not_virtual_users():
    run = only(["Vuser 1:8 VU * 10 AC = 80 Active Sessions configured", writer.result(Run())])
    assert (run.threads, run.extra["active_sessions"]) == (8, 80)


def test_run_that_gave_no_result_is_left_out_and_mentioned_by_the_next():
    aborted = ["Hammerdb Log @ Tue May 11 11:34:57 -05 2021", *writer.log(Run(job=""))[:9]]
    lines = [*aborted, "Hammerdb Log @ Tue May 11 11:46:53 -05 2021", *writer.log(Run(users=2))]
    run = only(lines)
    assert run.threads == 2
    assert any("gave no result" in warning for warning in run.warnings)


def test_log_that_breaks_off_is_an_error_and_leniently_a_part_of_a_run():
    lines = writer.log(Run(counts=RATES))
    cut = lines[: lines.index("Vuser 1:Test complete, Taking end Transaction Count.")]
    with pytest.raises(ImportFormatError, match="line 8: .*expected a TEST RESULT"):
        read(cut)
    imported = read(cut, lenient=True)
    (run,) = imported.runs
    assert len(imported.problems) == 1
    assert (run.metrics, run.threads, len(run.series)) == ({}, 4, len(RATES))


def test_result_cut_in_its_middle_is_an_error_and_leniently_what_is_sure():
    lines = [line.replace(" from 98385 MariaDB TPM", " from 983") for line in writer.log(Run())]
    with pytest.raises(ImportFormatError, match="is cut"):
        read(lines)
    assert only(lines, lenient=True).metrics == {"nopm": 42333}


def test_columns_may_be_glued():
    lines = ["Vuser 1:4Active Virtual Users configured"]
    run = only([*lines, "TEST RESULT : System achieved 42333NOPM from98385MariaDBTPM"])
    assert (run.metrics, run.threads) == ({"nopm": 42333, "tpm": 98385}, 4)


def test_prompts_fences_and_container_names_do_not_matter():
    plain = writer.log(Run())
    for lines in (
        ["```shell", "hammerdb>vurun", *plain, "```"],
        [f"hammerdb-1  | {line}" for line in plain],
        [f"run1.log:{line}" for line in plain],
    ):
        assert triples(read(lines)) == [(4, 42333, 98385)]


def test_result_printed_twice_is_one_run():
    run = only([*writer.log(Run()), "summary:", f"Vuser 1:{writer.result(Run())}"])
    assert any("twice" in warning for warning in run.warnings)


def test_script_that_would_print_a_result_is_none():
    script = 'puts "TEST RESULT : System achieved $tpm PostgreSQL TPM at $nopm NOPM"'
    assert triples(read([script, *writer.log(Run())])) == [(4, 42333, 98385)]
    with pytest.raises(ImportFormatError, match="no result of HammerDB"):
        read([script])


def test_passwords_are_not_kept():
    lines = ["Changed tpcc:maria_pass from maria to sesame for MariaDB", *writer.log(Run())]
    lines += dumped(writer.job_config(Run()))
    assert "sesame" not in repr(read(lines))


def test_failed_users_and_errors_are_told():
    lines = writer.log(Run())
    lines.insert(-3, "Error in Virtual User 3: ERROR: could not serialize access")
    lines.insert(-3, "Vuser 3:FINISHED FAILED")
    run = only(lines)
    assert run.extra["failed_virtual_users"] == 1
    assert "virtual users failed" in run.warnings


@pytest.mark.parametrize("nopm", ["-5", "18446744073709551615"])
def test_impossible_counts_are_kept_and_flagged(nopm):
    run = only([writer.result(Run()).replace("42333", nopm)])
    assert run.metrics == {"tpm": 98385}
    assert run.extra["nopm"] == float(nopm)
    assert any("cannot be" in warning for warning in run.warnings)


def test_fewer_transactions_than_new_orders_are_flagged():
    run = only([writer.result(Run(database="Oracle", nopm=27975, tpm=0), old_order=True)])
    assert run.metrics == {"nopm": 27975, "tpm": 0}
    assert any("below nopm" in warning for warning in run.warnings)


# Transaction counter


def test_counts_after_the_test_are_not_averaged_in():
    run = only(writer.log(Run(duration=1, counts=RATES)))
    phases = [row["phase"] for row in run.series]
    assert phases == [WARMUP] * 7 + [MEASUREMENT] * 6 + [DRAIN] * 3
    assert [row["time_s"] for row in run.series] == [10.0 * i for i in range(len(RATES))]
    assert [row.get("elapsed_s") for row in run.series] == [None] + [10.0] * 15
    assert run.extra["tcount_tpm"] == list(RATES)
    assert run.extra["tcount_mean_tpm"] == sum(RATES[7:13]) / 6


def test_first_count_is_of_no_time():
    lines = [
        "Vuser 1:Rampup complete, Taking start Transaction Count.",
        "0 MariaDB tpm",
        "1000 MariaDB tpm",
        "1010 MariaDB tpm",
        "Vuser 1:Test complete, Taking end Transaction Count.",
        f"Vuser 1:{writer.result(Run())}",
    ]
    run = only(lines)
    assert [row["phase"] for row in run.series] == [WARMUP, MEASUREMENT, MEASUREMENT]
    assert run.extra["tcount_mean_tpm"] == 1005


def test_counter_log_has_its_times_and_its_ends_set_apart():
    made = Run(counts=(0, 50, 1000, 1010, 1020, 400, 3))
    run = only(writer.counter_log(made))
    assert (run.metrics, run.extra["db"]) == ({}, "MariaDB")
    assert [row["time_s"] for row in run.series] == [10.0 * i for i in range(7)]
    assert run.extra["tcount_mean_tpm"] == 1010


def test_counter_log_that_was_appended_to_holds_several_runs():
    made = Run(counts=(0, 5, 6))
    assert len(read(writer.counter_log(made) * 3).runs) == 3


def test_counts_of_a_job_are_placed_by_its_configuration():
    made = Run(duration=1, counts=RATES)
    lines = [*dumped(writer.job_result(made)), *dumped(writer.job_counts(made))]
    run = only([*lines, *dumped(writer.job_config(made))])
    phases = [row["phase"] for row in run.series]
    assert phases == [WARMUP] * 7 + [MEASUREMENT] * 5 + [DRAIN] * 4
    assert run.extra["warehouses"] == 5


# Time profiles


@pytest.mark.parametrize("separator", ["\t", "    ", ""])
@pytest.mark.parametrize("with_quartiles", [False, True])
def test_time_profile_comes_back(separator, with_quartiles):
    users = {2: figures(2, with_quartiles), 3: figures(3, with_quartiles)}
    made = Run(users=2, timing=figures(1, with_quartiles))
    run = only(writer.profile(made, separator, users))
    assert (run.threads, run.metrics, run.warnings) == (2, {}, ())
    assert_timing(run.extra["timing"], made.timing)
    assert list(run.extra["timing_by_vu"]) == ["2", "3"]
    assert_timing(run.extra["timing_by_vu"]["3"], users[3])
    assert run.extra["timing"]["NEWORD"]["elapsed_ms"] == 119464


def test_time_profile_behind_a_log_belongs_to_its_run():
    made = Run(timing=figures())
    run = only([*writer.log(made), *writer.profile(made)])
    assert run.metrics["nopm"] == 42333
    assert_timing(run.extra["timing"], made.timing)


def test_appended_time_profiles_are_runs_of_their_own():
    profiles = [writer.profile(Run(users=n, timing=figures(n))) for n in (1, 2)]
    runs = read([line for lines in profiles for line in lines]).runs
    assert [run.threads for run in runs] == [1, 2]
    assert_timing(runs[1].extra["timing"], figures(2))


def test_time_profile_without_its_summary_is_an_error():
    lines = writer.profile(Run(timing=figures()), by_user={2: figures(2)})
    cut = lines[: lines.index(next(line for line in lines if "SUMMARY" in line))]
    with pytest.raises(ImportFormatError, match="expected its SUMMARY"):
        read(cut)
    assert_timing(only(cut, lenient=True).extra["timing_by_vu"]["2"], figures(2))


def test_percentile_below_the_minimum_is_kept_and_flagged():
    timing = figures()
    timing["NEWORD"]["p50_ms"] = 0.001
    run = only(writer.profile(Run(timing=timing)))
    assert run.extra["timing"]["NEWORD"]["p50_ms"] == 0.001
    assert any(warning.startswith("NEWORD: p50_ms 0.001 is below") for warning in run.warnings)


def test_response_times_of_older_releases_are_kept():
    lines = [
        "Vuser 2:|PERCENTILES 2019-07-05 09:55:46 to 2019-07-05 09:55:56",
        "Vuser 2:|neword|MIN-391|P50%-685.5|P95%-1286|P99%-3298|MAX-246555|SAMPLES-3603",
        f"Vuser 1:{writer.result(Run(), old_order=True)}",
        "Vuser 2:|PROCNAME | EXCLUSIVETOT| %| CALLNUM| AVGPERCALL| CUMULTOT|",
        "Vuser 2:|neword | 82051665|39.96%| 93933| 873| 88760245|",
    ]
    run = only(lines)
    assert run.extra["etprof_neword_p50_us"] == [685.5]
    assert run.extra["etprof_totals"]["neword"]["calls"] == 93933


def test_procedure_without_a_call_in_an_interval_has_no_figure_there():
    calls = {0: ("neword", "slev"), 1: ("neword",), 2: ("slev",), 3: ("neword", "slev")}
    lines = [
        line
        for i, names in calls.items()
        for line in [
            f"Vuser 2:|PERCENTILES 2021-08-31 20:53:{i}2 to 2021-08-31 20:53:{i + 1}2",
            *(f"Vuser 2:|{name}|MIN-{i}1|P50%-{i}5|SAMPLES-7" for name in names),
        ]
    ]
    extra = only([*lines, f"Vuser 1:{writer.result(Run())}"]).extra
    assert extra["etprof_neword_p50_us"] == [5, 15, None, 35]
    assert extra["etprof_slev_p50_us"] == [5, None, 25, 35]


# Recognition


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (writer.log(Run(), banner="5.0"), LOG),
        (writer.log(Run(), old_order=True), LOG),
        (dumped(writer.job_result(Run())), JOB),
        (dumped(writer.job_timing(Run(timing=figures()))), JOB),
        (dumped(writer.job_report(Run())), JOB),
        (writer.profile(Run(timing=figures())), PROFILE),
        (writer.counter_log(Run(counts=RATES)), COUNTER),
    ],
)
def test_forms_are_told_apart(lines, expected):
    scores = {name: sniff(lines, "file") for name, sniff, _ in FORMATS}
    assert max(scores, key=scores.__getitem__) == expected
    assert scores[expected] > 0.8


def test_other_files_are_not_ours():
    for text in ("sysbench 1.0.20", "Threads\t12.3.3-MariaDB", '{"metadata": {}}', "", "\x00"):
        assert all(sniff([text], "file") == 0 for _, sniff, _ in FORMATS)
        with pytest.raises(ImportFormatError, match="no result of HammerDB"):
            read([text])
        assert read([text], lenient=True).runs == ()


# The public logs


@needs_samples
@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("hammerdb/011-47-mysql-100vu.txt", ("MySQL", [(100, 2335, 5432)])),
        ("hammerdb/037-50-mssql-32vu-job.txt", ("SQL Server", [(32, 400301, 932861)])),
        ("hammerdb/038-60-jobs-result-json.txt", ("SQL Server", [(32, 400301, 932861)])),
        (
            "hammerdb/042-31-mysql-4runs-md-old-order.txt",
            ("MySQL", [(1, 824, 2436), (2, 1265, 4067), (4, 2021, 6114), (8, 2040, 6148)]),
        ),
        ("hammerdb-run/tpcc-w5-vu8-r1.out", ("MariaDB", [(8, 49930, 116235)])),
        ("hammerdb-run/tpcc-w5-vu4-tprof-tc-met.out", ("MariaDB", [(4, 42333, 98385)])),
    ],
)
def test_public_logs_give_their_results(file, expected):
    imported = parse(read_lines(SAMPLES / file), lenient=False, name=file)
    assert ({run.extra["db"] for run in imported.runs}, triples(imported)) == (
        {expected[0]},
        expected[1],
    )


@needs_samples
@pytest.mark.parametrize(
    ("file", "database", "users", "expected"),
    [
        (
            "hammerdb/010-41-mysql-xtprof-2vu.txt",
            "MySQL",
            2,
            {"calls": 8303, "avg_ms": 39.649, "p99_ms": 128.481},
        ),
        (
            "hammerdb/032-60-pg-xtprof-p75-p25.txt",
            "PostgreSQL",
            4,
            {"calls": 2638503, "avg_ms": 0.295, "p95_ms": 0.391, "p99_ms": 0.542, "p75_ms": 0.321},
        ),
        (
            "hammerdb-run/vu4-hdbxtprofile.log",
            "MariaDB",
            4,
            {"calls": 87818, "avg_ms": 2.625, "p95_ms": 4.587},
        ),
    ],
)
def test_public_time_profiles_give_their_figures(file, database, users, expected):
    (run,) = parse(read_lines(SAMPLES / file), lenient=False, name=file).runs
    assert (run.threads, run.extra["db"]) == (users, database)
    assert run.extra["timing"]["NEWORD"].items() >= expected.items()
    assert len(run.extra["timing_by_vu"]) == users


@pytest.mark.parametrize("setting", ["vuset vu {}", "hammerdb>vuset vu {}", "{} VU TEST"])
def test_users_set_between_results_are_those_of_the_next(setting):
    runs = [Run(users=users, nopm=42333 + users) for users in (8, 2, 4)]
    imported = read([
        line for run in runs for line in (setting.format(run.users), writer.result(run))
    ])  # fmt: skip
    assert triples(imported) == [(run.users, run.nopm, run.tpm) for run in runs]


@pytest.mark.parametrize("told", ["{} NOPM at {} Oracle TPM", "{} Oracle NOPM from {} Oracle TPM"])
def test_result_may_be_worded_as_in_other_drivers(told):
    run = only([f"TEST RESULT : System achieved {told.format(120543, 275312)}"])
    assert (run.extra["db"], run.metrics) == ("Oracle", {"nopm": 120543, "tpm": 275312})


@needs_samples
def test_public_transcript_of_jobs_gives_every_run():
    path = SAMPLES / "hammerdb-run" / "vu4-jobs.txt"
    runs = parse(read_lines(path), lenient=False, name=path.name).runs
    assert len(runs) == 19
    assert (runs[0].threads, runs[0].metrics) == (4, {"nopm": 42333, "tpm": 98385})
    assert runs[0].extra["timing"]["NEWORD"]["p95_ms"] == 4.587
