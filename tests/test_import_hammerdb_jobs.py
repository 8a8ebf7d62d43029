"""Documents of HammerDB's jobs give back the values they were written from; so does TPROC-H."""

import hammerdb_writer as writer
import pytest
from hammerdb_reading import RATES, assert_timing, only, read, triples
from hammerdb_writer import Run, dumped, figures

from benchkit.importers.model import ImportFormatError


@pytest.mark.parametrize("old_order", [False, True])
def test_result_of_a_job_comes_back(old_order):
    made = Run(database="SQL Server", users=32)
    prompt = f"hammerdb>jobs {made.job} result"
    run = only([prompt, *dumped(writer.job_result(made, old_order)), "hammerdb>"])
    assert (run.threads, run.dataset) == (32, "SQL Server")
    assert run.metrics == {"nopm": 42333, "tpm": 98385}
    assert (run.extra["jobid"], run.extra["timestamp"]) == (made.job, f"{writer.START}")


def test_response_times_need_not_have_counts():
    document = writer.job_timing(Run(timing=figures()))
    bare = {
        procedure: {name: row[name] for name in ("p99_ms", "p95_ms", "ratio_pct")}
        for procedure, row in document.items()
    }
    run = only([writer.result(Run()), *dumped(bare)])
    assert run.extra["timing"] == {
        procedure: {name: float(value) for name, value in row.items()}
        for procedure, row in bare.items()
    }


def test_answers_of_the_web_service_are_one_run():
    made = Run(database="Oracle", users=5, rampup=1, duration=2)
    answers = [
        {"success": {"message": "Building 10 Warehouses with 6 Virtual Users: JOBID=" + "A" * 24}},
        writer.job_config(made),
        {"success": {"message": "6 Virtual Users Created with Monitor VU"}},
        {"success": {"message": f"Running Virtual Users: JOBID={made.job}"}},
    ]
    lines = [line for answer in answers for line in ["Answer", *dumped(answer)]]
    result = dumped([made.job, writer.result(made, old_order=True)])
    run = only([*lines, "Test Complete", f"Test result: {result[0]}", *result[1:], "%"])
    assert (run.extra["jobid"], run.threads, run.duration_s) == (made.job, 5, 120)
    assert run.metrics == {"nopm": made.nopm, "tpm": made.tpm}


def test_results_of_all_jobs_come_back_without_the_ones_that_have_none():
    jobs = {f"{i:024X}": Run(users=i, nopm=i * 10, tpm=i * 25) for i in (1, 2, 4)}
    lines = dumped(writer.job_results({"F" * 24: None, **jobs}))
    assert triples(read(lines)) == [(1, 10, 25), (2, 20, 50), (4, 40, 100)]


def test_documents_of_one_job_are_one_run():
    made = Run(counts=RATES, duration=1, timing=figures())
    documents = [
        writer.job_result(made),
        writer.job_timing(made),
        writer.job_counts(made),
        {**writer.SYSTEM, "jobid": made.job},
        ["MariaDB", "10.11.19"],
        ["TPC-C"],
        writer.job_config(made),
        {f"{writer.START}": {"usr%": "70.38", "sys%": "15.2", "irq%": "0", "idle%": "11.0"}},
    ]
    lines = [line for document in documents for line in ["=== jobs", *dumped(document), ""]]
    run = only([*writer.log(Run(), banner="6.0"), *lines])
    assert (run.workload, run.threads) == ("hammerdb/6.0:tprocc", 4)
    assert_timing(run.extra["timing"], made.timing)
    assert run.extra["cpu_usr"] == [70.38]
    assert run.extra["db_version"] == "10.11.19"
    assert ("CPU Count", "2") in run.facts.system
    assert len(run.series) == len(RATES)


def test_log_that_names_no_job_and_its_job_are_one_run():
    made = Run(job="", counts=RATES, timing=figures())
    job = Run(counts=RATES, timing=figures())
    lines = [*writer.log(made), "HammerDB CLI v4.6", "TRANSACTION RESPONSE TIMES"]
    for document in (writer.job_timing(job), writer.job_counts(job), writer.job_result(job)):
        lines += dumped(document)
    run = only(lines)
    assert (run.extra["jobid"], run.threads) == (job.job, 4)
    assert_timing(run.extra["timing"], job.timing)
    assert len(run.series) == len(RATES)


@pytest.mark.parametrize("other", [Run(nopm=42332), Run(users=8)])
def test_log_and_job_that_differ_are_two_runs(other):
    lines = [*writer.log(Run(job="")), *dumped(writer.job_result(other))]
    assert [run.threads for run in read(lines).runs] == [4, other.users]


def test_timing_of_one_user_is_not_the_runs():
    made, other = Run(timing=figures()), Run(timing=figures(9))
    lines = [*dumped(writer.job_result(made)), *dumped(writer.job_timing(made))]
    lines += [f"hammerdb>jobs {made.job} timing 2", *dumped(writer.job_timing(other))]
    run = only(lines)
    assert_timing(run.extra["timing"], made.timing)
    assert_timing(run.extra["timing_by_vu"]["2"], other.timing)


def test_timing_of_one_user_that_is_told_twice_is_not_the_runs():
    made, summary = Run(timing=figures()), figures(9)
    again = " ".join(
        f"{name} {{{' '.join(f'{key} {value}' for key, value in of.items())}}}"
        for name, of in writer.job_timing(made).items()
    )
    lines = [f"hammerdb>job {made.job} timing 2", *dumped(writer.job_timing(made)), again]
    assert "timing" not in only(lines).extra
    lines += [f"hammerdb>job {made.job} timing", *dumped(writer.job_timing(Run(timing=summary)))]
    run = only(lines)
    assert_timing(run.extra["timing"], summary)
    assert_timing(run.extra["timing_by_vu"]["2"], made.timing)


def test_output_of_a_job_is_read_as_its_log():
    said = [line.removeprefix("Vuser 1:") for line in writer.log(Run()) if "Vuser 1:" in line]
    lines = dumped([text for line in said for text in ("1", line)])
    run = only(lines)
    assert (run.threads, run.metrics, run.duration_s) == (4, {"nopm": 42333, "tpm": 98385}, 120)


def test_saved_report_comes_back():
    made = Run(counts=RATES, duration=1, timing=figures())
    run = only(dumped(writer.job_report(made)))
    assert (run.workload, run.threads, run.duration_s) == ("hammerdb/6.0:tprocc", 4, 60)
    assert run.metrics == {"nopm": 42333, "tpm": 98385}
    assert_timing(run.extra["timing"], made.timing)
    assert len(run.series) == len(RATES)
    assert dict(run.facts.database)["Database Version"] == "10.11.19"


def test_table_of_jobs_gives_what_it_has():
    row = "6B0DA5FE661803E223337343   MariaDB (10.11.19) 2026-11-30 16:36:14 {}  {}      SUCCESS "
    lines = ["TPROC-C Jobs", row.format("Benchmark Run", 42333)]
    run = only([*lines, row.replace("FE", "FF").format("Schema Build", "--")])
    assert (run.metrics, run.extra["db_version"]) == ({"nopm": 42333}, "10.11.19")


def test_text_form_of_a_job_is_read():
    made = Run(timing=figures(), counts=RATES)
    pairs = "NEWORD {" + " ".join(f"{k} {v}" for k, v in made.timing["NEWORD"].items()) + "}"
    rates = "{MariaDB tpm} {{2026-11-30 16:36:14} 0 {2026-11-30 16:36:24} 95520}"
    run = only([*writer.job_result(made), "", pairs, "", rates])
    assert (run.extra["jobid"], run.threads) == (made.job, 4)
    assert_timing(run.extra["timing"], {"NEWORD": made.timing["NEWORD"]})
    assert run.extra["tcount_tpm"] == [0, 95520]


def test_document_that_breaks_off_is_an_error_and_leniently_what_was_there():
    lines = dumped(writer.job_results({f"{i:024X}": Run(users=i) for i in (1, 2)}))[:-3]
    with pytest.raises(ImportFormatError, match="line 1: the JSON breaks off"):
        read(lines)
    first, second = read(lines, lenient=True).runs
    assert (first.threads, first.metrics) == (1, {"nopm": 42333, "tpm": 98385})
    assert (second.threads, second.metrics) == (2, {"nopm": 42333})


@pytest.mark.parametrize(
    "text",
    [
        '{"nopm": NaN, "tpm": Infinity}',
        '{"nopm": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"nopm": "1", "nopm": "2"}',
    ],
    ids=["not numbers", "huge", "deep list", "deep object", "twice"],
)
def test_hostile_documents_are_errors(text):
    with pytest.raises(ImportFormatError):
        read([text])
    read([text], lenient=True)


# TPROC-H


def queries(users=2):
    return [
        line
        for user in range(1, users + 1)
        for line in (
            f"Vuser {user}:Executing Query 14 (1 of 22)",
            f"Vuser {user}:query 14 completed in 7.301 seconds",
            f"Vuser {user}:Completed 1 query set(s) in 278 seconds",
            f"Vuser {user}:Geometric mean of query times returning rows (22) is 6.82555",
        )
    ]


def test_query_sets_are_kept():
    run = only(["RUNNING - PostgreSQL TPC-H", *queries()])
    assert (run.workload, run.threads) == ("hammerdb/unknown:tproch", 2)
    assert run.metrics == {"query_set_time": 278, "query_time_geomean": 6.82555}
    assert run.extra["queries"][1] == {"virtual_user": 2, "query": 14, "seconds": 7.301}
    assert run.extra["query_sets"][0]["seconds"] == 278
    assert run.extra["geometric_means"][0]["seconds"] == 6.82555


def test_lone_query_set_before_other_runs_is_told_by_the_next():
    run = only(["Vuser 1:Completed 1 query set(s) in 351 seconds", *writer.log(Run())])
    (told,) = run.extra["tproch_query_sets"]
    assert told["seconds"] == 351


def results_of(run):
    """Return what HammerDB's own script prints of a job: its id comes last."""
    return [
        "TRANSACTION RESPONSE TIMES", *dumped(writer.job_timing(run)),
        "TRANSACTION COUNT", *dumped(writer.job_counts(run)),
        "HAMMERDB RESULT", *dumped(writer.job_result(run)),
    ]  # fmt: skip


def test_documents_before_the_one_with_the_jobs_id_are_of_the_job():
    made = [
        Run(users=users, nopm=users, tpm=2 * users, job=letter * 24, counts=RATES[users:],
            timing=figures(users))
        for users, letter in ((1, "A"), (2, "B"), (3, "C"))
    ]  # fmt: skip
    found = read([line for run in [*made, made[0]] for line in results_of(run)]).runs
    assert [(run.threads, run.metrics["nopm"]) for run in found] == [(1, 1), (2, 2), (3, 3)]
    for run, expected in zip(found, made, strict=True):
        assert_timing(run.extra["timing"], expected.timing)
        assert run.extra["tcount_tpm"] == list(expected.counts)


def test_load_of_a_saved_report_comes_back():
    stamps = [f"{writer.START}", "2026-11-30 16:36:24"]
    load = {
        "cpu_percent": [
            {
                "timestamp": stamp,
                "usr_pct": 70.5 + i,
                "sys_pct": "15.2",
                "irq_pct": 0,
                "idle_pct": 3,
            }
            for i, stamp in enumerate(stamps)
        ],
        "iops": [{"timestamp": stamps[0], "value": 16}, {"timestamp": stamps[1], "value": "4"}],
        "mbps": [{"timestamp": stamps[1], "value": 0.5}],
    }
    run = only(dumped({**writer.job_report(Run()), "metrics": load}))
    assert (run.extra["cpu_usr"], run.extra["cpu_times_s"]) == ([70.5, 71.5], [0, 10])
    assert (run.extra["cpu_iops"], run.extra["cpu_mbps"]) == ([16, 4], [None, 0.5])


def test_output_of_a_job_that_is_not_named_is_a_run_of_its_own():
    said = [line.removeprefix("Vuser 1:") for line in writer.log(Run()) if "Vuser 1:" in line]
    other = Run(users=9, nopm=100, tpm=230, database="Oracle", job="A" * 24)
    lines = [*writer.log(other), *dumped([text for line in said for text in ("1", line)])]
    assert triples(read(lines)) == [(9, 100, 230), (4, 42333, 98385)]
    assert [run.dataset for run in read(lines).runs] == ["Oracle", "MariaDB"]


def test_report_names_its_database_whatever_was_set_before():
    lines = ["Database set to MSSQLServer", *dumped(writer.job_report(Run()))]
    assert only(lines).dataset == "MariaDB"
