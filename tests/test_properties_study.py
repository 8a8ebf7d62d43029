"""Studies from properties files: what keys mean, and how mistakes in them are told."""

import os

import pytest
from installs import MYSQL_9_7, find_install
from studies import connect_to, databases, small_study

import benchkit as bk
from benchkit.config import Config
from benchkit.errors import ConfigError, StudyError, StudyWarning, WorkloadError
from benchkit.plan import Timing

SYSBENCH = """
taf.test_suite=sysbench-lua
taf.tests=OLTP_RO
taf.threads=1,4
taf.duration=5
"""
BLOCK = "[db_config_start]\n[mysqld]\nx = 1\n[db_config_end]\n"


@pytest.fixture
def study(tmp_path):
    def study(text: str, **how: object) -> bk.Study:
        path = tmp_path / "bench.properties"
        path.write_text(text)
        return bk.study_from_properties(path, **how)

    return study


def test_keys_of_sysbench_say_what_runs(study):
    made = study(
        SYSBENCH
        + BLOCK
        + 'taf.iterations=3\ntaf.comments="one more"\ntaf.test_case_tag=BASE\n'
        "taf.include_warmup_iteration=true\ntaf.warmup_duration=7\n"
        "sysbench_lua.number_of_tables=8\nsysbench_lua.number_of_rows=1000\n"
        "sysbench_lua.range_size=50\nsysbench_lua.rand_seed=9\ntaf.unset=null\n".replace(
            "taf.unset=null\n", "taf.pass=null\n"
        )
    )
    assert (made.name, made.comment) == ("bench", "one more")
    assert made.grid.workloads == (bk.workloads.oltp_read_only(tables=8, rows=1000, range_size=50),)
    assert made.grid.timing == Timing(warmup_s=7.0, duration_s=5.0, transactions=0)
    assert (made.grid.threads, made.grid.iterations, made.grid.seed) == ((1, 4), 3, 9)
    assert made.servers[0].config == Config("BASE", {"x": "1"})


DEFAULTS = {
    "taf": """
        db_runtime_dir=null db_process_pid=null backend_config=null java_bin=null jdbc_jar=null
        backend_parser_jar=./x.jar results_iteration_allowed_duration_drift_pct=10
    """,
    "sysbench_lua": """
        self=SYSBENCH-LUA test_client_version=1.1.0 source=x/ exe=x/sysbench lua_scripts_dir=x
        connector=C-API def_duration=300 def_engine=INNODB def_rows=1000000 def_threads=8,16
        number_of_partitions=null thread_init_timeout=0 create_table_options=null
        oltp_skip_trx=off auto_inc=on oltp_lua_script=oltp_read_only.lua random_points_ranges=10
        oltp_del_ins=1 error_log=null forced_shutdown_sec=0 pre_test_done=false
        cmake_args=-DWITH_MYSQL=on debug_full_sysbench=false use_bmk=false bmk_exe=x
        bmk_update_range_size=0 bmk_reconnect=null bmk_partitions=null number_of_partition=null
    """,
    "hammerdb_tprocc": """
        client_executable=x/hammerdbcli extra_args= default_rampup=60 show_out_put=0
        total_iterations=100000000 pg_partition=false mssqls_durability=SCHEMA_AND_DATA
    """,
}


def test_defaults_of_the_framework_change_nothing(study):
    given = "".join(
        f"{prefix}.{each}\n" for prefix, text in DEFAULTS.items() for each in text.split()
    )
    with pytest.warns(StudyWarning, match=r"def_rows.* \(keys of taf say it\)"):
        made = study(SYSBENCH.replace("OLTP_RO", "OLTP_RW,RANDOM-POINTS") + given)
    assert made.grid.workloads == (
        bk.workloads.oltp_read_write(),
        bk.workloads.select_random_points(),
    )


def test_switches_of_sysbench_are_said_with_words_too(study):
    made = study(SYSBENCH + "sysbench_lua.oltp_skip_trx=on\nsysbench_lua.auto_inc=OFF\n")
    assert made.grid.workloads == (bk.workloads.oltp_read_only(skip_trx=True, auto_inc=False),)


def test_suite_that_is_none_of_ours_is_told_before_its_keys(study):
    with pytest.raises(StudyError, match=r":2: unknown test suite 'hammerdb-tproch'"):
        study(SYSBENCH.replace("sysbench-lua", "hammerdb-tproch") + "hammerdb_tproch.scale=1\n")


def test_no_warmup_unless_it_is_asked_for(study):
    assert study(SYSBENCH + "taf.warmup_duration=7\n").grid.timing.warmup_s == 0


def test_request_based_runs_count_transactions(study):
    timing = study(SYSBENCH + "taf.use_request_based=true\n").grid.timing
    assert (timing.duration_s, timing.transactions) == (None, 5)


def test_several_tests_are_as_many_workloads(study):
    tests = study(SYSBENCH.replace("OLTP_RO", "POINT_SELECT, SELECT_SUM_RANGES,UPDATE_KEY"))
    assert tests.grid.workloads == (
        bk.workloads.oltp_point_select(),
        bk.workloads.oltp_read_only(
            point_selects=0, simple_ranges=0, order_ranges=0, distinct_ranges=0, sum_ranges=1
        ),
        bk.workloads.oltp_update_index(),
    )


TPROCC = """
taf.test_suite=hammerdb-tprocc
taf.tests=TPROCC
taf.threads=50
taf.duration=15
taf.warmup_duration=1
"""


def test_keys_of_tprocc_say_what_runs(study):
    made = study(
        TPROCC + "hammerdb_tprocc.number_of_warehouses=100\nhammerdb_tprocc.keyandthink=true\n"
        "hammerdb_tprocc.allwarehouse=true\nhammerdb_tprocc.mysql_no_stored_procs=true\n"
        "hammerdb_tprocc.maria_history_pk=true\nhammerdb_tprocc.maria_partition=true\n"
        "hammerdb_tprocc.setup_virtual_user_count=8\nhammerdb_tprocc.checksum_after_run=true\n"
        "taf.database_iteration_mode=restore\n"
    )
    assert made.grid.workloads == (
        bk.workloads.tprocc(
            warehouses=100,
            home="partitioned",
            key_and_think=True,
            procedures=False,
            history_pk=True,
            partitions=True,
        ),
    )
    assert made.grid.timing == Timing(warmup_s=60.0, duration_s=900.0, transactions=0)
    assert (made.iteration_mode, made.loader_threads, made.checks) == ("restore", 8, "full")


def test_tprocc_has_tafs_ten_warehouses_unless_it_is_said(study):
    assert study(TPROCC).grid.workloads == (bk.workloads.tprocc(warehouses=10),)
    with pytest.raises(WorkloadError, match="from 1 to 100000, not 0"):
        study(TPROCC + "hammerdb_tprocc.number_of_warehouses=0\n")


# Where the options come from


def provenance(made: bk.Study) -> tuple[str, str | None]:
    found = made.servers[0].config.provenance
    return found.origin, found.source and found.source.name


def test_options_come_from_the_command_line_the_block_or_the_file(study, tmp_path):
    (tmp_path / "own.cnf").write_text("[mysqld]\ny=1\n[mysqld-9.7]\ny=2\n")
    named = SYSBENCH + "taf.db_config_file=./own.cnf\n"
    file = study(named)
    assert provenance(file) == ("USER_PROPERTIES_FILE", "own.cnf")
    assert file.servers[0].config.options == {"y": "1"}
    block = study(named + BLOCK)
    assert provenance(block) == ("USER_PROPERTIES_INLINE_BLOCK", "bench.properties")
    assert block.servers[0].config.options == {"x": "1"}
    assert provenance(study(named + BLOCK, db_config_file=tmp_path / "own.cnf")) == (
        "CLI",
        "own.cnf",
    )
    assert provenance(study(SYSBENCH)) == ("PYTHON", None)


def test_extra_arguments_are_options_over_those(study):
    config = study(SYSBENCH + BLOCK + "taf.db_extra_args=--x=2 --log-bin\n").servers[0].config
    assert config.options == {"x": "2", "log_bin": None}
    assert config.provenance.changed == ("log_bin", "x")


# Mistakes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SYSBENCH + "taf.thread=1\n",
            "line 6: unknown key 'taf.thread': did you mean 'taf.threads'",
        ),
        (SYSBENCH + "frob\n", "bench.properties:6: 'frob' is no key=value"),
        (
            SYSBENCH + "taf.instances=2\ntaf.db_ssl_mode=require\n",
            "instances=2 is not supported.*; .*ssl_mode",
        ),
        (
            SYSBENCH.replace("sysbench-lua", "sysbench"),
            ":2: unknown test suite 'sysbench': did you mean 'sysbench-lua'",
        ),
        (SYSBENCH.replace("OLTP_RO", "OLTP_R0"), ":3: unknown test 'OLTP_R0': did you mean 'OLTP_"),
        (SYSBENCH.replace("1,4", "1;4"), ":4: taf.threads must be numbers, not '1;4'"),
        (SYSBENCH.replace("taf.threads=1,4", ""), "taf.threads is not set"),
        (SYSBENCH.replace("sysbench-lua", "null"), "taf.test_suite is not set: write one of"),
        (SYSBENCH.replace("taf.duration=5", ""), "taf.duration is not set"),
        (SYSBENCH.replace("=5", "=5x"), ":5: taf.duration must be a number, not '5x'"),
        (SYSBENCH + "taf.action=generate-reports\n", ":6: unknown action 'generate-reports'"),
        (SYSBENCH + "taf.include_warmup_iteration=maybe\n", ":6: .* must be true or false"),
        (SYSBENCH + "taf.db_config_file=no.cnf\n", ":6: there is no option file .*no.cnf"),
        (SYSBENCH + "taf.db_extra_args=x=1\n", ":6: taf.db_extra_args has 'x=1'"),
        (SYSBENCH + "taf.database_iteration_mode=sometimes\n", ":6: unknown mode 'sometimes'"),
    ],
)
def test_mistake_is_told_with_its_line(study, text, message):
    with pytest.raises(StudyError, match=message):
        study(text)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (SYSBENCH + "sysbench_lua.number_of_rows=many\n", WorkloadError, "many"),
        (SYSBENCH + "[db_config_start]\n[mysqld]\n= 1\n[db_config_end]\n", ConfigError, ":8: "),
        (SYSBENCH.replace("1,4", "0"), StudyError, "threads must be an integer from 1"),
        (SYSBENCH + "taf.iterations=0\n", StudyError, "iterations must be an integer from 1"),
    ],
)
def test_what_a_value_may_be_is_said_by_whom_it_is_for(study, text, error, message):
    with pytest.raises(error, match=message):
        study(text)


def test_tests_of_tpcb_are_its_two_shapes(study):
    tests = SYSBENCH.replace("OLTP_RO", "TPCB_KEY,TPCB_NO_KEY")
    made = study(tests + "sysbench_lua.number_of_tables=2\nsysbench_lua.number_of_rows=500\n")
    assert made.grid.workloads == tuple(
        bk.workloads.tpcb(branches=2, accounts=500, updates=updates)
        for updates in ("key", "no_key")
    )


def test_key_that_is_set_again_is_named(study):
    with pytest.warns(StudyWarning, match=r"taf.duration \(line 5; line 6 sets it again\)"):
        made = study(SYSBENCH + "taf.duration=6\n")
    assert made.grid.timing.duration_s == 6.0


def test_keys_without_effect_are_named_with_the_reason(study):
    text = SYSBENCH + "taf.exec_sql_file_after_run_iter=x.sql\ntaf.verbose=true\ntaf.pass=hunter2\n"
    with pytest.warns(StudyWarning) as told:
        study(text + "hammerdb_tprocc.number_of_warehouses=5\n")
    (message,) = [str(warning.message) for warning in told]
    assert "taf.exec_sql_file_after_run_iter (benchkit runs no scripts" in message
    assert "taf.verbose (" in message
    assert "hammerdb_tprocc.number_of_warehouses (the test suite is sysbench-lua)" in message
    assert "hunter2" not in message


# The file that each run keeps


def rerun(folder, record) -> bk.Study:
    return bk.study_from_properties(folder / record.properties["ref"])


def test_stored_file_makes_the_same_runs_again(tmp_path):
    options = {"innodb_buffer_pool_size": "64M", "optimizer_switch": ["mrr=on", "index_merge=off"]}
    options |= {"general_log": False, "log_bin": None, "init_connect": "SET @a = '#\"'"}
    study = small_study(
        [bk.Server(Config("odd one", options))],
        workloads=[bk.workloads.oltp_read_only(rows=100, tables=2, skip_trx=True)],
        threads=[1, 2],
        seed=7,
        order="sequential",
        checks="full",
    )
    (dataset,) = study.run(tmp_path / "s", progress=False)
    again = rerun(tmp_path / "s", dataset.records[0])
    assert again.name == study.name
    assert again.grid.workloads == study.grid.workloads
    assert again.servers[0].config == study.servers[0].config
    assert again.conditions == study.conditions
    assert [run.id for run in again.plan()] == [run.id for run in study.plan()]
    assert again.run(tmp_path / "s", progress=False) is not None  # nothing is left to do
    assert len({record.properties["ref"] for record in dataset.records}) == 1


def test_stored_file_keeps_the_options_of_mysql(tmp_path):
    install = find_install(MYSQL_9_7)
    options = {"innodb_buffer_pool_size": "64M", "skip_log_bin": None}
    study = small_study([bk.Server(Config("my", options), install=install)])
    (dataset,) = study.run(tmp_path / "s", progress=False)
    again = rerun(tmp_path / "s", dataset.records[0])
    assert again.servers[0].config == study.servers[0].config
    assert [run.id for run in again.plan()] == [run.id for run in study.plan()]
    stored = Config.from_file(tmp_path / "s" / dataset.records[0].config_ref, product="MySQL")
    assert stored.options == study.servers[0].config.options


def test_stored_file_tells_replicas_and_the_mode(memory, tmp_path):
    own = Config("r", {"innodb_buffer_pool_size": "32M", "replicate_ignore_table": ["a.b", "c.d"]})
    tiny = Config("tiny", {"innodb_buffer_pool_size": "32M"})
    pair = bk.Server(
        tiny,
        replicas=1,
        replica_config=own,
        attach="image",
        replica_cpus=[min(os.sched_getaffinity(0))],
    )
    study = small_study(
        [pair], workloads=[bk.workloads.oltp_write_only(rows=100)], iteration_mode="preserve"
    )
    (dataset,) = study.run(tmp_path / "s", progress=False)
    again = rerun(tmp_path / "s", dataset.records[0])
    assert again.grid == study.grid
    assert again.servers[0].topology.config.options == own.options
    assert [run.id for run in again.plan()] == [run.id for run in study.plan()]
    assert list(memory.iterdir()) == []


def test_stored_file_of_a_running_server_holds_no_password(server, tmp_path):
    server.query("CREATE USER pw@localhost IDENTIFIED BY 'hunter2'")
    server.query("GRANT ALL ON *.* TO pw@localhost")
    try:
        place = server.endpoint["socket"]
        running = bk.Server.connect(socket=place, user="pw", password="hunter2", name="there")
        (dataset,) = small_study([running]).run(tmp_path / "s", progress=False)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("BENCHKIT_PASSWORD", "hunter2")
            again = rerun(tmp_path / "s", dataset.records[0])
        assert [run.id for run in again.plan()] == [r.id for r in dataset.records]
        files = [path for path in (tmp_path / "s").rglob("*") if path.is_file()]
        assert not any(b"hunter2" in path.read_bytes() for path in files)
    finally:
        server.query("DROP USER pw@localhost")
    assert databases(server) == set()


def test_workload_that_somebody_wrote_has_no_file(server, tmp_path):
    own = bk.workloads.Workload(
        identity="own:one",
        transactions=(bk.workloads.Transaction("one", (bk.workloads.Execute("SELECT 1"),)),),
    )
    study = small_study([connect_to(server)], workloads=[own])
    (dataset,) = study.run(tmp_path / "s", progress=False)
    assert dataset.records[0].properties is None
