"""A TPROC-C run in HammerDB's forms: known values come out, and our importer reads them back."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from factory import START_EPOCH_S, Plan, make_record, make_series, make_study

import benchkit as bk
from benchkit import hlog
from benchkit._core import Histogram
from benchkit.cli import main
from benchkit.errors import MetricError
from benchkit.hammerdb_export import FORMS, PROCEDURES, export, job_id
from benchkit.record import TransactionResult, run_id
from benchkit.store import StudyFolder, array_bytes
from benchkit.stored import MONITOR_FILE

SECONDS = 25
THREADS = 4
PER_S = {"com_commit": 980.0, "com_rollback": 20.0, "host_disk_reads": 50.0}
PER_S |= {"host_disk_writes": 150.0, "host_disk_read_bytes": 1e6, "host_disk_written_bytes": 3e6}
PER_S |= {f"host_cpu_{part}_s": 0.1 for part in ("iowait", "steal", "irq")}
PER_S |= {"host_cpu_user_s": 1.2, "host_cpu_system_s": 0.4, "host_cpu_idle_s": 0.1}
MILLISECONDS = {"new_order": [4, 6], "payment": [1, 3], "delivery": [9], "order_status": [1]}


def tprocc_record(name, nopm=25_831.9, **options):
    made = bk.workloads.tprocc(warehouses=5, **options)
    plan = Plan(servers=("maria",), workloads=("tprocc/hammerdb6",), name=name)
    record = make_record(plan, "maria", "tprocc/hammerdb6", THREADS, 1)
    identity = {**record.identity, "nopm": nopm}
    return replace(
        record,
        id=run_id(identity),
        identity=identity,
        measured_s=float(SECONDS),
        warmup_s=90.0,
        metrics={"nopm": nopm, "tpm": 60_000.5, "tps": 1000.0},
        server={"product": "MariaDB", "version": "11.8.6-MariaDB", "host": "db1", "port": 3307},
        workload={"identity": made.identity, "parameters": dict(made.parameters)},
        transactions=tuple(TransactionResult(t, 1, 0, 0, 0) for t in MILLISECONDS),
    )


def tprocc_log():
    lines = [hlog.format_header(START_EPOCH_S)]
    for name, times in MILLISECONDS.items():
        histogram = Histogram()
        histogram.record_many(np.array(times) * 1_000_000)
        lines.append(hlog.format_line(f"transaction.{name}", 1, SECONDS, histogram))
    return "".join(lines)


def save(folder, record):
    series = make_series(record, SECONDS)
    monitored = np.zeros(len(series), [(name, "<f8") for name in PER_S])
    for name, value in PER_S.items():
        monitored[name] = value
    more = {MONITOR_FILE: array_bytes(monitored)}
    return folder.save_run(record, series, tprocc_log(), {}, more=more)


@pytest.fixture
def study(tmp_path):
    folder = StudyFolder.create(tmp_path / "study", {"name": "orders", "datasets": []})
    save(folder, tprocc_record("orders"))
    return folder


@pytest.fixture
def run(study):
    (run,) = study.runs()
    return run


def made(run, form):
    return json.loads(export(run, form))


def test_figures_are_cut_to_integers_as_hammerdb_does(run):
    line = "TEST RESULT : System achieved 25831 NOPM from 60000 MariaDB TPM"
    assert export(run, "line") == line + "\n"
    job, stamp, users, result = made(run, "result")
    assert (job, stamp) == (job_id(run.record), "2026-01-01 00:00:00")
    assert (users, result) == ("4 Active Virtual Users configured", line)


def test_timing_is_of_each_procedure_the_largest_share_first(run):
    timing = made(run, "timing")
    assert list(timing) == ["NEWORD", "DELIVERY", "PAYMENT", "OSTAT"]
    new_order = {name: float(value) for name, value in timing["NEWORD"].items()}
    assert new_order["elapsed_ms"] == 25_000
    assert new_order["calls"] == 2
    wanted = {"min_ms": 4, "avg_ms": 5, "max_ms": 6, "total_ms": 10, "p25_ms": 4, "p99_ms": 6}
    for name, value in wanted.items():
        assert new_order[name] == pytest.approx(value, rel=2e-3), name
    assert new_order["sd"] == pytest.approx(1.0, rel=5e-3)
    assert new_order["ratio_pct"] == pytest.approx(100 * 10 / (25_000 * THREADS), abs=1e-3)


def test_counts_are_per_minute_every_ten_seconds(run):
    assert made(run, "tcount") == {
        "MariaDB tpm": {
            "2026-01-01 00:00:00": "0",
            "2026-01-01 00:00:11": "60000",
            "2026-01-01 00:00:21": "60000",
            "2026-01-01 00:00:26": "60000",
        }
    }


def test_metrics_are_shares_of_cpu_and_disk_rates(run):
    assert made(run, "metrics")["2026-01-01 00:00:11"] == {
        "usr%": "60.0",
        "sys%": "20.0",
        "irq%": "5.0",
        "idle%": "5.0",
        "iops": "200.0",
        "mbps": "4.0",
    }


def test_every_value_of_every_form_is_a_string(run):
    def check(value):
        if isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                check(item)
        else:
            assert isinstance(value, str | bool), value

    for form in FORMS:
        if form != "line":
            check(made(run, form))


def test_configuration_has_hammerdbs_names(run):
    config = made(run, "dict")
    assert config["connection"] == {"maria_host": "db1", "maria_port": "3307"}
    assert config["tpcc"] == {
        "maria_count_ware": "5",
        "maria_storage_engine": "innodb",
        "maria_partition": "false",
        "maria_history_pk": "false",
        "maria_no_stored_procs": "false",
        "maria_prepared": "true",
        "maria_driver": "timed",
        "maria_rampup": "1.5",
        "maria_duration": "0.417",
        "maria_allwarehouse": "false",
        "maria_keyandthink": "false",
    }


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        ({"home": "partitioned"}, "allwarehouse", "true"),
        ({"key_and_think": True}, "keyandthink", "true"),
        ({"procedures": False}, "no_stored_procs", "true"),
        ({"protocol": "hammerdb"}, "prepared", "false"),
        ({"partitions": True}, "partition", "true"),
        ({"history_pk": True}, "history_pk", "true"),
        ({"storage_engine": "MyRocks"}, "storage_engine", "myrocks"),
    ],
)
def test_configuration_follows_the_options_of_the_workload(tmp_path, options, key, value):
    folder = StudyFolder.create(tmp_path / "other", {"name": "orders", "datasets": []})
    save(folder, tprocc_record("orders", **options))
    (run,) = folder.runs()
    assert made(run, "dict")["tpcc"][f"maria_{key}"] == value


def imported(file):
    (dataset,) = bk.from_hammerdb(file)
    return dataset.records


@pytest.mark.parametrize("form", ["result", "report", "line"])
def test_importer_reads_the_result_back(run, form, tmp_path):
    file = tmp_path / f"{form}.txt"
    file.write_text(export(run, form))
    (record,) = imported(file)
    assert record.metrics["nopm"] == 25_831
    assert record.metrics["tpm"] == 60_000


def test_importer_reads_the_report_back_whole(run, tmp_path):
    file = tmp_path / "job.json"
    file.write_text(export(run, "report"))
    (record,) = imported(file)
    assert record.factors.threads == THREADS
    means = {name: figures["avg_ms"] for name, figures in record.facts["extra"]["timing"].items()}
    wanted = {"NEWORD": 5, "PAYMENT": 2, "DELIVERY": 9, "OSTAT": 1}
    assert means == pytest.approx(wanted, rel=2e-3)


def test_summary_takes_all_runs_of_a_study(study):
    save(study, tprocc_record("orders", nopm=1.0))
    summary = json.loads(export(study.runs(), "summary"))
    assert sorted(entry["nopm"] for entry in summary.values()) == ["1", "25831"]
    with pytest.raises(MetricError, match="of one run, not of 2"):
        export(study.runs(), "timing")


def test_public_name_exports_too(run):
    assert bk.to_hammerdb(run, "line") == export(run, "line")


def test_unknown_form_is_refused_with_the_nearest(run):
    with pytest.raises(MetricError, match="timing"):
        export(run, "timings")


def test_run_of_another_workload_is_refused(tmp_path):
    (run, *_) = make_study(tmp_path / "other").runs()
    with pytest.raises(MetricError, match="has no NOPM"):
        export(run, "result")


def test_procedures_are_those_of_the_workload():
    transactions = bk.workloads.tprocc(warehouses=1).transactions
    assert {t.name for t in transactions} == set(PROCEDURES)


def test_run_is_shown_with_hammerdbs_line(run):
    shown = CliRunner().invoke(main, ["show", str(run.path)]).output
    assert "System achieved 25831 NOPM from 60000 MariaDB TPM" in shown
    assert "25,832" in shown  # and ours beside it


def test_command_writes_a_file_or_prints(study, run, tmp_path):
    target = tmp_path / "job.json"
    command = ["export", "hammerdb", str(run.path), "--form", "report", "-o", str(target)]
    assert CliRunner().invoke(main, command).exit_code == 0
    assert json.loads(target.read_text())["schema"] == "hammerdb-job-report-v1"
    printed = CliRunner().invoke(main, ["export", "hammerdb", str(study.path)])
    assert json.loads(printed.output)[job_id(run.record)]["activevu"] == "4"
