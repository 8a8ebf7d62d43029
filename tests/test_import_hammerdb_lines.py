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


def test_command_alone_in_a_block_of_a_page_is_no_run():
    lines = ["```", *WHOLE, "```", "Then run it again:", "```sh", "hammerdb>vurun", "", "```"]
    assert [run.threads for run in read(lines).runs] == [8]
    with pytest.raises(BenchkitError, match="'Vuser 1:RUNNING' has no result"):
        read([*lines[:-2], "Vuser 1:RUNNING", "```"])


@pytest.mark.parametrize(
    ("typed", "database"), [("pg", "PostgreSQL"), ("maria", "MariaDB"), ("redis", "Redis")]
)
def test_database_of_queries_is_the_one_that_was_chosen(typed, database):
    queries = ["Vuser 1:query 14 completed in 7.5 seconds"]
    assert only([f"hammerdb>dbset db {typed}", "hammerdb>vurun", *queries]).dataset == database


def test_what_clients_counted_is_kept_beside_the_result():
    counted = "Vuser 1:CLIENT SIDE TPM : neworder 78319 payment 78185 orderstatus 7809"
    assert only([*WHOLE, counted]).extra["client_side_tpm"] == {
        "neworder": 78319,
        "payment": 78185,
        "orderstatus": 7809,
    }


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
        ">>>>> PROC: NEWORD\nCALLS: 87818\tMIN: 0.574\tAVG: 2.625\nP99: 6.126\tP95: 4",
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


# Runs that stand behind each other


def test_users_told_behind_all_results_are_given_in_their_order():
    runs = [Run(users=users, nopm=10 * users, tpm=23 * users) for users in (4, 10, 16)]
    lines = [f"Vuser 1:{writer.result(run)}" for run in runs]
    lines += [f"Vuser 1:{run.users} Active Virtual Users configured" for run in runs]
    assert triples(read(lines)) == [(4, 40, 92), (10, 100, 230), (16, 160, 368)]


@pytest.mark.parametrize("cut", ["", "Vuser 1:TEST RES", "Vuser 1:TEST RESULT : Sys"])
def test_run_whose_result_is_lost_is_told_and_takes_nothing_of_the_next(cut):
    lines = [*WHOLE[:2], cut, "hammerdb>vurun", "Vuser 1:9 Active Virtual Users configured",
             f"Vuser 1:{writer.result(Run())}"]  # fmt: skip
    with pytest.raises(BenchkitError, match="8 virtual users has no result|TEST RESULT is cut"):
        read(lines)
    assert triples(read(lines, lenient=True)) == [(9, 42333, 98385)]


def test_query_sets_before_a_test_without_a_start_are_not_the_tests():
    lines = [*queries(351, 2.5), *WHOLE[1:]]
    first, second = read(lines).runs
    assert ("query_set_time" in first.metrics, second.metrics["nopm"]) == (True, 42333)
    assert "query_set_time" not in second.metrics


def test_runs_begun_one_after_the_other_are_all_known_to_end():
    logs = writer.log(Run(users=1, job=""), banner="4.0"), writer.log(Run(users=2, job=""))
    runs = read([*logs[0], *logs[1]]).runs
    assert [run.warnings for run in runs] == [(), ()]


@pytest.mark.parametrize("join", ["\\n", " ", ""])
def test_runs_on_one_line_keep_their_users(join):
    runs = [Run(users=users, nopm=10 * users, tpm=23 * users, job="") for users in (4, 10, 16)]
    text = join.join(line for run in runs for line in writer.log(run))
    assert triples(read([text])) == [(4, 40, 92), (10, 100, 230), (16, 160, 368)]


# Rows of the counter


ROWS = [f"{count} SQL Server tpm" for count in RATES]


def rates(lines, **options):
    return only(lines, **options).extra["tcount_tpm"]


@pytest.mark.parametrize(
    "around",
    ["| {} |", '"{}",', "{}<br>", "hammerdb.log:{}", "1704164645 {}", "2026-11-30 - x - INFO - {}"],
)
def test_rows_of_the_counter_are_read_whatever_is_around_them(around):
    assert rates([around.format(row) for row in ROWS]) == list(RATES)


@pytest.mark.parametrize("place", range(3))
def test_rows_of_the_counter_that_are_glued_are_all_read(place):
    lines = ["Vuser 1:Beginning rampup time of 2 minutes", *ROWS, "Vuser 2:RUNNING"]
    at = (0, 5, len(ROWS))[place]
    lines[at : at + 2] = ["".join(lines[at : at + 2])]
    assert rates([*lines, *writer.log(Run())[-8:]], lenient=True) == list(RATES)


@pytest.mark.parametrize("length", [8, 13, 18, 20])
def test_row_of_the_counter_that_is_cut_is_told(length):
    lines = [*ROWS[:4], ROWS[4][:length], *ROWS[5:]]
    with pytest.raises(BenchkitError, match="line 5: the transaction count is cut"):
        read(lines)
    assert rates(lines, lenient=True) == [*RATES[:4], *RATES[5:]]


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_load_whose_line_is_cut_has_its_last_number_missing(lost):
    line = "CPU all usr%-70.38 sys%-15.22 irq%-0.00 idle%-11.08 IOPS-1999 MB/s-13.70"
    lines = [*writer.log(Run())[:6], line, line[:-lost], *writer.log(Run())[6:]]
    with pytest.raises(BenchkitError, match="line 8: the line is cut in the number 13"):
        read(lines)
    extra = only(lines, lenient=True).extra
    assert (extra["cpu_mbps"], extra["cpu_iops"]) == ([13.70, None], [1999, 1999])


# Damage within words, and loggers' objects


LINES = ["Vuser 1:32 Active Virtual Users configured",
         f"Vuser 1:{writer.result(Run(database='SQL Server', users=32))}"]  # fmt: skip


@pytest.mark.parametrize("mark", ["\0", "\ufffd", b"\xff"])
@pytest.mark.parametrize(("line", "place"), [(n, at) for n in (0, 1) for at in range(8, 68, 2)])
def test_lost_letter_is_made_good_or_told(mark, line, place, tmp_path):
    data = [text.encode() for text in LINES]
    mark = mark if isinstance(mark, bytes) else mark.encode()
    data[line] = LINES[line][:place].encode() + mark + LINES[line][place + 1 :].encode()
    text = b"\n".join(data) + b"\n"
    imported = read_text(tmp_path, text, lenient=True)
    for run in imported.runs:
        values = {"threads": run.threads, "dataset": run.dataset, **run.metrics}
        whole = {"threads": 32, "dataset": "SQL Server", "nopm": 42333, "tpm": 98385}
        missing = {name for name, value in whole.items() if values.get(name) != value}
        assert not missing or imported.problems
        assert {values.get(name) for name in missing} <= {None, "unknown"}


def test_log_of_a_container_reads_the_same(tmp_path):
    lines = writer.log(Run(users=3, counts=RATES[:9], duration=1), banner="5.0")
    lines += dumped(writer.job_results({"A" * 24: Run(users=7)}))
    objects = [
        json.dumps({"log": f"{line}\n", "stream": "stdout", "time": "2026-11-30T16:36:14.1Z"})
        for line in lines
    ]
    path = text_file(tmp_path, "\n".join(objects))
    found = read_file(path, _formats()).runs
    assert [(run.threads, run.metrics, run.workload) for run in found] == [
        (run.threads, run.metrics, run.workload) for run in read(lines).runs
    ]


def test_log_that_begins_with_very_many_users_is_known(tmp_path):
    path = text_file(tmp_path, "\n".join(writer.log(Run(users=900))))
    assert [run.threads for run in read_file(path, _formats()).runs] == [900]


def test_profile_of_older_releases_is_known_by_its_rows(tmp_path):
    rows = "|PERCENTILES 2019-07-05 09:59:36 to 2019-07-05 09:59:46\n" + "\n".join(
        f"|{name}|MIN-404|P50%-702|P95%-1296|P99%-4318|MAX-71663|SAMPLES-3804"
        for name in ("neword", "payment")
    )
    (run,) = read_file(text_file(tmp_path, rows), _formats()).runs
    assert run.extra["etprof_neword_p95_us"] == [1296]


@pytest.mark.parametrize("number", ["1,23", "42,33", "1e400"])
@pytest.mark.parametrize("form", ["log", "document"])
def test_result_that_is_no_number_is_missing_and_told(number, form):
    row = {"A" * 24: {"activevu": "8", "nopm": number, "tpm": "98385"}}
    text = f"Vuser 1:TEST RESULT : System achieved {number} NOPM from 98385 MariaDB TPM"
    lines = [text] if form == "log" else [json.dumps(row)]
    with pytest.raises(BenchkitError, match="expected a number"):
        read(lines)
    assert only(lines, lenient=True).metrics == {"tpm": 98385}


def test_result_with_a_fraction_is_kept_and_flagged():
    run = only(["Vuser 1:TEST RESULT : System achieved 42.333 NOPM from 98385 MariaDB TPM"])
    assert (run.metrics["nopm"], run.warnings) == (
        42.333,
        ("nopm 42.333 is not whole, as counts are",),
    )


# What people write around a log


@pytest.mark.parametrize(
    "prose",
    [
        "This is 2\xd7 the NOPM of the older one, at a P99 of 5\xb5s.",
        "We got 98385 MariaDB tpm and 42333 PostgreSQL tpm before",
        "MariaDB tpm rose, but MySQL tpm fell to 5 MySQL tpm",
    ],
)
def test_words_about_a_log_are_none_of_its_lines(prose, tmp_path):
    text = "\n".join([prose, *writer.log(Run(users=3, counts=RATES)), prose])
    (run,) = read_text(tmp_path, text).runs
    assert (run.threads, run.metrics["nopm"]) == (3, Run().nopm)
    assert run.extra["tcount_tpm"] == list(RATES)
