"""sysbench logs with several runs, and where a run's script and thread count come from."""

import pytest
from sysbench_reading import read, read_one
from sysbench_writer import head_1x, make_log, sql_1x, write_log, write_test

from benchkit.importers.model import ImportFormatError


def test_script_and_settings_come_from_the_command():
    command = (
        "[root@db ~]# sysbench /usr/share/sysbench/oltp_read_write.lua --mysql-password=secret \\\n"
        "   --tables=10 --table-size=100000 --threads=4 run"
    )
    run = read_one(f"{command}\n{write_log(make_log(1))}")
    assert run.workload == "sysbench/1.0:oltp_read_write"
    assert run.label == "oltp_read_write table_size=100000 tables=10"
    assert "secret" not in repr(run.extra)


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("$ sysbench --test=oltp --num-threads=4 run", "oltp"),
        ("+ sysbench --test=/opt/tests/db/select.lua --num-threads=4 run", "select"),
        ("time docker exec sysbench sysbench ./tpcc.lua --threads=4 run", "tpcc"),
        ("cd lua;sysbench --threads=4 oltp_my_own run", "oltp_my_own"),
    ],
)
def test_commands_of_every_age(command, script):
    assert read_one(f"{command}\n{write_log(make_log(1))}").workload == f"sysbench/1.0:{script}"


@pytest.mark.parametrize(
    "text",
    [
        "We use sysbench to run it with --threads=4 run",
        "With sysbench my_own was run",
        "$ sysbench oltp_read_only --tables=4 prepare",
        "# sysbench oltp_read_only --help",
    ],
)
def test_what_does_not_run_sysbench_names_no_script(text):
    assert read_one(f"{text}\n{write_log(make_log(1))}").workload == "sysbench/1.0:unknown"


def test_commands_of_a_list_are_not_those_of_the_results_below():
    commands = "\n".join(f"$ sysbench oltp_{name} --threads=4 run" for name in ("insert", "delete"))
    text = commands + "\nsome words" * 12 + "\n" + write_log(make_log(1))
    assert read_one(text).workload == "sysbench/1.0:unknown"


def test_command_of_a_loop_is_that_of_all_its_runs():
    command = "for t in 1 8; do sysbench oltp_insert --threads=$t run; done\n"
    runs = read(command + "\n".join(write_log(make_log(seed)) for seed in range(2))).runs
    assert [run.workload for run in runs] == ["sysbench/1.0:oltp_insert"] * 2


@pytest.mark.parametrize("prompt", ["[me@db ~]$ ", "[root@db ~]#", "$", "db% ", "mine>"])
def test_command_behind_a_prompt_is_that_of_one_run(prompt):
    command = f"{prompt}sysbench --test=cpu --threads=1 run\n"
    logs = [write_log(make_log(seed)) for seed in range(2)]
    runs = read(command + f"\n{'some words' * 3}\n".join(logs)).runs
    assert [run.workload for run in runs] == ["sysbench/1.0:cpu", "sysbench/1.0:unknown"]


def test_quotes_around_a_value_are_not_part_of_it():
    command = "$ sysbench oltp_insert --tables='16' --table-size=\"1000\" --threads='4' run\n"
    run = read_one(command + "\n".join(sql_1x(make_log(1)) + ["x"]), lenient=True)
    assert (run.label, run.threads) == ("oltp_insert table_size=1000 tables=16", 4)


def test_names_come_from_the_file_as_a_last_resort():
    text = "\n".join(sql_1x(make_log(1)) + ["", "General statistics:", "x"])
    run = read(text, "results/oltp_read_only_16threads.log", lenient=True).runs[0]
    assert (run.workload, run.threads) == ("sysbench/unknown:oltp_read_only", 16)
    assert any("16, is taken from the file's name" in warning for warning in run.warnings)


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        ("res.thr12.txt", 12),
        ("sysbench.thr.8.sz.10000.test.txt", 8),
        ("sysbench_8_threads.log", 8),
        ("ro-t64-run2.log", 64),
        ("threads=32/out.log", None),
        ("oltp_tables4.log", None),
        ("result2024.log", None),
    ],
)
def test_thread_counts_in_names(name, threads):
    run = read(sql_1x(make_log(1))[6] + "\nx", name, lenient=True).runs[0]
    assert run.threads == threads


def test_thread_count_comes_from_rows_without_a_heading():
    log = make_log(2, threads=7)
    text = "\n".join(write_log(log).split("\n")[len(head_1x(log)) :])
    run = read_one(text, name="x_99threads.log")
    assert run.threads == 7
    assert run.workload == "sysbench/unknown:unknown"
    assert "the thread count is taken from the interval rows" in run.warnings


def test_thread_count_comes_from_the_share_of_events():
    log = make_log(2, threads=64, rows=())
    text = "\n".join(write_log(log).split("\n")[len(head_1x(log)) :])
    assert read_one(text).threads == 64


def test_runs_follow_each_other():
    logs = [make_log(seed, threads=threads) for seed, threads in enumerate([1, 8, 8, 64])]
    runs = read("\n".join(map(write_log, logs))).runs
    assert [run.metrics["transactions"] for run in runs] == [log.transactions for log in logs]
    assert [(run.threads, len(run.series)) for run in runs] == [
        (log.threads, len(log.rows)) for log in logs
    ]
    assert len({(run.dataset, run.threads, run.iteration) for run in runs}) == len(runs)


@pytest.mark.parametrize("skipped", [1, 3, 12])
def test_runs_without_banners_are_told_apart(skipped):
    logs = [make_log(seed) for seed in range(3)]
    texts = ["\n".join(write_log(log).split("\n")[skipped:]) for log in logs]
    runs = read("\n".join(texts)).runs
    assert [run.metrics["transactions"] for run in runs] == [log.transactions for log in logs]
    assert [len(run.series) for run in runs] == [len(log.rows) for log in logs]


def test_blocks_of_totals_are_told_apart():
    logs = [make_log(seed) for seed in range(3)]
    runs = read("\n\n".join("\n".join(sql_1x(log)) for log in logs) + "\n# end", lenient=True).runs
    assert [run.metrics["tps"] for run in runs] == [log.per_s(log.transactions) for log in logs]


@pytest.mark.parametrize("kept", range(3, 7))
def test_totals_that_break_off_early_do_not_take_the_next_ones_numbers(kept):
    logs = [make_log(seed, rows=()) for seed in range(2)]
    blocks = [sql_1x(logs[0])[:kept], sql_1x(logs[1]), ["# end"]]
    found = read("\n".join(line for block in blocks for line in block), lenient=True)
    (run,) = found.runs
    assert run.metrics["reads"] == logs[1].reads
    assert run.metrics["transactions"] == logs[1].transactions
    assert ["line 1 has no totals" in problem.message for problem in found.problems] == [True]


@pytest.mark.parametrize(
    "line", ["Total time                              : 0:02.37s", "Total operations : of all"]
)
def test_what_other_programs_say_behind_a_run_is_not_its_own(line):
    log = make_log(1)
    run = read_one(f"{write_log(log)}\n{line}\n")
    assert run.duration_s == log.time_s


def test_run_of_which_only_the_time_was_kept_is_one():
    text = "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n...\n"
    text += "Test execution summary: total time: 121.7404s\n"
    assert [run.duration_s for run in read(text, lenient=True).runs] == [121.7404]


def test_files_joined_without_a_line_break():
    logs = [make_log(seed, "0.5") for seed in range(2)]
    assert len(read("".join(write_log(log).rstrip() for log in logs)).runs) == 2


def test_reading_and_writing_runs_of_one_script_are_two_datasets():
    logs = [make_log(1, writes=0), make_log(2, writes=5)]
    runs = read("\n".join(map(write_log, logs))).runs
    assert [run.label for run in runs] == ["unknown read-only", "unknown read-write"]
    assert [run.iteration for run in runs] == [1, 1]


def test_names_of_joined_files_belong_to_their_runs():
    logs = [make_log(seed, threads=seed + 1) for seed in range(2)]
    names = ["a/oltp_insert_1.log", "a/oltp_delete_2.log"]
    text = "\n".join(
        f"==> {name} <==\n{write_log(log)}" for name, log in zip(names, logs, strict=True)
    )
    assert [run.workload.split(":")[1] for run in read(text).runs] == ["oltp_insert", "oltp_delete"]


def test_containers_that_write_at_the_same_time():
    logs = [make_log(seed, rows=make_log(9).rows) for seed in range(2)]
    pairs = zip(*(write_log(log).split("\n") for log in logs), strict=True)
    text = "\n".join(f"bench_{i}  | {line}" for pair in pairs for i, line in enumerate(pair))
    found = {run.metrics["transactions"] for run in read(text).runs}
    assert found == {log.transactions for log in logs}


def test_preparation_is_not_a_run():
    text = "sysbench 1.0.20 (using bundled LuaJIT 2.1.0)\n\nCreating table 'sbtest1'...\n"
    assert len(read(text + write_log(make_log(1)) + text).runs) == 1
    with pytest.raises(ImportFormatError, match="no run of sysbench"):
        read(text)


def test_settings_of_a_preparation_are_not_those_of_the_run_behind_it():
    banner = "sysbench 1.0.20 (using bundled LuaJIT 2.1.0)\n\n"
    preparation = f"{banner}8 files, 4096Kb each, 32Mb total\nExtra file open flags: (none)\n"
    run = read_one(preparation + write_test(make_log(1, rows=()), "CPU speed:"))
    assert run.workload == "sysbench/1.0:cpu"
    assert "files" not in run.extra


@pytest.mark.parametrize(
    "between", ["", "$ sysbench cpu run\n", "==> b.log <==\n"], ids=["banner", "command", "file"]
)
def test_start_that_failed_between_two_runs_is_named(between):
    logs = [make_log(seed) for seed in range(2)]
    failed = "sysbench 1.0.20 (using bundled LuaJIT 2.1.0)\n\nFATAL: Cannot find benchmark 'x'\n"
    text = f"{write_log(logs[0])}\n{failed}{between}{write_log(logs[1])}"
    with pytest.raises(ImportFormatError, match="Cannot find benchmark"):
        read(text)
    found = read(text, lenient=True)
    assert [run.metrics["transactions"] for run in found.runs] == [log.transactions for log in logs]
    assert len(found.problems) == 1
    assert not any("FATAL" in warning for run in found.runs for warning in run.warnings)
