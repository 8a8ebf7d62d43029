"""HammerDB's files with something in front of each line, cut, and with runs that never ended."""

import json

import hammerdb_writer as writer
import pytest
from hammerdb_reading import RATES, assert_timing, only, read, triples
from hammerdb_writer import Run, dumped, figures

from benchkit import from_hammerdb
from benchkit.errors import BenchkitError
from benchkit.importers.detect import read_file
from benchkit.importers.hammerdb import parse
from benchkit.importers.reading import _formats
from benchkit.importers.source import read_lines

JOBS = {
    f"{letter}" * 24: Run(users=n, nopm=100 * n, tpm=233 * n) for n, letter in enumerate("ABC", 1)
}
TRANSCRIPT = [
    "HammerDB CLI v6.0",
    "=== jobs result",
    *dumped(writer.job_results(JOBS)),
    *(line for job in JOBS for line in [
        f"=== jobs {job} timing", *dumped(writer.job_timing(Run(timing=figures()))),
        f"=== jobs {job} tcount", *dumped(writer.job_counts(Run(counts=RATES))),
    ]),
]  # fmt: skip
PREFIXES = [
    "2026-11-30 16:36:14,123 INFO  ",
    "[16:36:14] [WARN] ",
    "2026-11-30T16:36:14.123456789Z stdout F ",
    "Nov 30 16:36:14 bench1 hammerdb[1234]: ",
    "Mon Nov 30 16:36:14 UTC 2026 - ",
    "INFO:root:",
    "hammerdb-1  | ",
    "@@host17@@ ",
    "    17\t",
    "\t",
]


def text_file(tmp_path, text, name="file.log"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read_text(tmp_path, text, **options):
    path = text_file(tmp_path, text)
    return parse(read_lines(path), lenient=options.get("lenient", False), name="file.log")


# Something in front of each line


@pytest.mark.parametrize("prefix", PREFIXES)
def test_transcript_of_jobs_reads_the_same_with_a_prefix(prefix, tmp_path):
    plain = read(TRANSCRIPT).runs
    assert [run.extra["jobid"] for run in plain] == list(JOBS)
    path = text_file(tmp_path, "\n".join(prefix + line for line in TRANSCRIPT))
    found = read_file(path, _formats()).runs
    assert [(run.metrics, run.extra) for run in found] == [
        (run.metrics, run.extra) for run in plain
    ]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_log_reads_the_same_with_a_prefix(prefix, tmp_path):
    lines = writer.log(Run(users=3), banner="5.0")
    path = text_file(tmp_path, "\n".join(prefix + line for line in lines))
    (run,) = read_file(path, _formats()).runs
    assert (run.threads, run.metrics) == (3, {"nopm": 42333, "tpm": 98385})


def test_prefixes_may_differ_from_line_to_line():
    levels = ["INFO", "WARN", "ERROR"]
    lines = [
        f"2026-11-30 16:{i // 60:02d}:{i % 60:02d} {levels[i % 3]:5} {line}"
        for i, line in enumerate(TRANSCRIPT)
    ]
    assert len(read(lines).runs) == 3


def test_time_stamps_of_a_logger_are_the_counters_times():
    rows = [f"2026-11-30T16:36:{i}0Z {count} MariaDB tpm" for i, count in enumerate(RATES[:6])]
    assert [row["time_s"] for row in only(rows).series] == [0, 10, 20, 30, 40, 50]


def test_values_of_a_job_that_cannot_be_read_are_an_error():
    lines = [f"{'abcdefghij'[i % 10] * 3} {line}" for i, line in enumerate(TRANSCRIPT)]
    with pytest.raises(BenchkitError, match=r"line \d+: a job's JSON is cut, or its lines begin"):
        read(lines)


# One run, told several times


def test_log_of_a_job_that_is_known_adds_to_it():
    run = Run(users=4, counts=RATES, job="A" * 24)
    lines = [*dumped(writer.job_results({run.job: run})), *writer.log(run)]
    found = only(lines)
    assert (found.threads, found.metrics["nopm"], len(found.series)) == (4, run.nopm, len(RATES))


def test_job_whose_log_contradicts_it_says_so():
    run = Run(job="A" * 24)
    lines = [*dumped(writer.job_results({run.job: run})), *writer.log(Run(nopm=7, job=run.job))]
    found = only(lines)
    assert found.metrics["nopm"] == run.nopm
    assert "nopm is 42333 in one place and 7 in another" in found.warnings


def test_profile_of_a_job_without_any_number_is_an_error():
    with pytest.raises(BenchkitError, match="the run has no value"):
        read(dumped({"NEWORD": {"calls": "?", "avg_ms": "x"}}))


# Runs that never ended


WHOLE = [
    "hammerdb>vurun",
    "Vuser 1:8 Active Virtual Users configured",
    f"Vuser 1:{writer.result(Run(users=8))}",
]


@pytest.mark.parametrize(
    "begun",
    ["hammerdb>vurun", "TEST STARTED", "Vuser 1:RUNNING", "HammerDB CLI v4.0"],
)
def test_run_that_was_started_last_and_has_no_result_is_an_error(begun):
    with pytest.raises(BenchkitError, match=r"line 6: .* has no result: expected a TEST RESULT"):
        read([*WHOLE, "hammerdb>vudestroy", "", begun])
    lenient = read([*WHOLE, "hammerdb>vudestroy", "", begun], lenient=True)
    assert (len(lenient.runs), [problem.line for problem in lenient.problems]) == (1, [6])


def test_run_without_a_result_between_others_is_told():
    found = read(["hammerdb>vurun", "Vuser 1:RUNNING", *WHOLE])
    assert found.runs[0].warnings == ("a run started in line 1 gave no result",)


def test_schema_work_after_a_run_is_no_run():
    lines = [*WHOLE, "HammerDB CLI v4.0", "hammerdb>deleteschema", "Vuser 1:RUNNING",
             "Vuser 1:DELETING TPCC SCHEMA", "ALL VIRTUAL USERS COMPLETE"]  # fmt: skip
    assert len(read(lines).runs) == 1


def test_asking_for_jobs_after_a_run_is_no_run():
    lines = [*writer.log(Run()), "HammerDB CLI v6.0", *dumped(writer.job_result(Run()))]
    assert len(read(lines).runs) == 1


# Damaged numbers


@pytest.mark.parametrize(
    "text",
    [
        "Vuser 1:Geometric mean of query times returning rows (21) is 2.3",
        ">>>>> PROC: NEWORD\nCALLS: 87818\tMIN: 0.574ms\tAVG: 2.625ms\nP99: 6.126ms\tP95: 4",
        "Vuser 1:RUNNING\nCPU all usr%-70.38 sys%-1",
    ],
)
def test_number_that_the_files_end_cuts_is_missing(text, tmp_path):
    result = "Vuser 1:TEST RESULT : System achieved 42333 NOPM from 98385 MariaDB TPM\n"
    with pytest.raises(BenchkitError, match="the file ends in the number"):
        read_text(tmp_path, result + text)
    found = read_text(tmp_path, result + text, lenient=True)
    cut = float(text.split()[-1].rpartition("-")[2])
    assert str(cut) not in str([run.extra for run in found.runs])
    assert read_text(tmp_path, result + text.replace("RUNNING", "Ran") + "5\n").runs


def test_result_at_the_files_end_needs_no_line_end(tmp_path):
    text = "Vuser 1:TEST RESULT : System achieved 42333 NOPM from 98385 MariaDB TPM"
    assert triples(read_text(tmp_path, text)) == [(None, 42333, 98385)]


@pytest.mark.parametrize("number", ["42\x00333", "\x0042333", "42333\x00", "42\ufffd333"])
def test_number_with_foreign_bytes_in_it_is_damage(number, tmp_path):
    text = f"Vuser 1:TEST RESULT : System achieved {number} NOPM from 98385 MariaDB TPM\n"
    with pytest.raises(BenchkitError, match="a number is damaged"):
        read_text(tmp_path, text)
    assert not any(run.metrics for run in read_text(tmp_path, text, lenient=True).runs)


def test_bytes_between_words_do_no_harm(tmp_path):
    text = "Vuser 1:TEST\0 RESULT : System achieved 42333 NOPM from 98385 MariaDB TPM\n"
    assert triples(read_text(tmp_path, text)) == [(None, 42333, 98385)]


def test_profile_with_a_damaged_number_has_it_missing(tmp_path):
    text = "\n".join(writer.profile(Run(timing=figures())))
    path = text.replace("P99: 6.226ms", "P99: 6.2\x0026ms", 1)
    assert path != text
    found = read_text(tmp_path, path, lenient=True)
    assert "p99_ms" not in found.runs[0].extra["timing"]["NEWORD"]
    assert_timing({"PAYMENT": found.runs[0].extra["timing"]["PAYMENT"], "NEWORD": {"p75_ms": 0}},
                  {"PAYMENT": figures()["PAYMENT"], "NEWORD": {"p75_ms": 0}})  # fmt: skip


# Forms that were read as nothing, or as less than they are


@pytest.mark.parametrize("document", [
    writer.job_results({"A" * 24: Run(users=8)}),
    writer.job_timing(Run(timing=figures())),
    writer.job_report(Run(users=8)),
])  # fmt: skip
def test_job_document_on_one_line_is_known(document, tmp_path):
    path = text_file(tmp_path, json.dumps(document))
    (run,) = read_file(path, _formats()).runs
    assert run.metrics or run.extra["timing"]


def test_numbers_of_a_job_need_no_quotes():
    row = {"db": "MariaDB", "bm": "TPC-C", "activevu": 8, "nopm": 49930, "tpm": 116235}
    found = only([json.dumps({"A" * 24: row})])
    assert (found.threads, found.metrics) == (8, {"nopm": 49930, "tpm": 116235})


@pytest.mark.parametrize(
    "words", ["10 Virtual Users configured", "10 Active Virtual Users configured"]
)
def test_virtual_users_of_every_release_are_read(words):
    lines = [f"Vuser 1:{words}", f"Vuser 1:{writer.result(Run(), old_order=True)}"]
    assert triples(read(lines)) == [(10, 42333, 98385)]


def test_result_of_nothing_is_kept_and_flagged():
    found = only([f"Vuser 1:{writer.result(Run(nopm=0, tpm=0))}"])
    assert (found.metrics, found.warnings) == (
        {"nopm": 0, "tpm": 0},
        ("no transaction was counted",),
    )


# TPROC-H


def queries(seconds, geomean, user=1):
    return [
        f"Vuser {user}:Completed 1 query set(s) in {seconds} seconds",
        f"Vuser {user}:Geometric mean of query times returning rows (21) is {geomean}",
    ]


def test_query_sets_and_their_geometric_mean_are_metrics():
    found = only(["Vuser 1:query 14 completed in 7.3 seconds", *queries(351, 2.33463)])
    assert found.workload.endswith(":tproch")
    assert found.metrics == {"query_set_time": 351, "query_time_geomean": 2.33463}


def test_several_users_take_as_long_as_the_slowest():
    found = only([line for user in (1, 2, 3) for line in queries(300 + user, 2.0**user, user)])
    assert (found.threads, found.metrics["query_set_time"]) == (3, 303)
    assert found.metrics["query_time_geomean"] == pytest.approx(4.0)


@pytest.mark.parametrize("text", ["QphH@100 = 123,456.7", "QphH: 123456.7", "123456.7 QphH"])
def test_composite_that_is_printed_is_a_metric(text):
    assert only([*queries(351, 2.5), text]).metrics["qphh"] == 123456.7


def test_query_times_are_compared_in_seconds(tmp_path):
    path = text_file(tmp_path, "\n".join(queries(351, 2.5)) + "\n")
    text = repr(from_hammerdb(path, tmp_path / "study").compare("query_set_time"))
    assert "query_set_time: query set time (s), lower is better" in text
    assert "351.0" in text


def test_result_without_blanks_is_read(tmp_path):
    text = "Vuser 1:TESTRESULT:Systemachieved42333NOPMfrom98385MariaDBTPM\n"
    assert triples(read_text(tmp_path, text)) == [(None, 42333, 98385)]


def test_result_in_json_that_breaks_off_is_leniently_read(tmp_path):
    text = '[\n"6A",\n"TEST RESULT : System achieved 42333 NOPM from 98385 MariaDB TPM"\n'
    with pytest.raises(BenchkitError, match="JSON breaks off"):
        read_text(tmp_path, text)
    assert triples(read_text(tmp_path, text, lenient=True)) == [(None, 42333, 98385)]


def test_counter_below_zero_is_flagged(tmp_path):
    text = "Vuser 1:TEST RESULT : System achieved 42333 NOPM from 4294967295 MariaDB TPM\n"
    (run,) = read_text(tmp_path, text).runs
    assert run.metrics["tpm"] == 4294967295
    assert "ran below zero" in " ".join(run.warnings)


def test_counters_rows_are_columns_too():
    rows = ["Vuser 1:RUNNING", *(f"{n} MariaDB tpm" for n in (0, 5, 7)), *writer.log(Run())]
    series = only(rows).series
    assert series.columns(1, 3)["elapsed_s"].tolist() == [10, 10]
    assert list(series) == [series[n] for n in range(len(series))]
