"""The keys of TAF's properties files: which say something here, which cannot, and why.

Tables only; `properties_study` makes a study of what the keys say.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchkit.errors import unknown_name
from benchkit.generated import STUDY_PREFIX, WORKLOAD_PREFIX

SYSBENCH, TPROCC = "sysbench-lua", "hammerdb-tprocc"

_TAF = """
action test_suite tests comments test_case_tag duration iterations threads use_request_based
database_iteration_mode test_setup_mode include_warmup_iteration warmup_duration db_engine
db_config_file db_data_dir db_port db_socket db_extra_args db_software_install_dir db_start_wait
db_cpu_affinity db_task_set host db_user db_user_pass profiler_enabled
"""
_SYSBENCH_OPTIONS = {
    "number_of_tables": "tables",
    "number_of_rows": "rows",
    "range_size": "range_size",
    "oltp_point_selects": "point_selects",
    "oltp_simple_ranges": "simple_ranges",
    "oltp_sum_ranges": "sum_ranges",
    "oltp_order_ranges": "order_ranges",
    "oltp_distinct_ranges": "distinct_ranges",
    "oltp_index_updates": "index_updates",
    "oltp_non_index_updates": "non_index_updates",
    "oltp_delete_inserts": "delete_inserts",
    "oltp_dist_type": "rand_type",
    "oltp_secondary": "secondary",
    "oltp_auto_inc": "auto_inc",
    "oltp_skip_trx": "skip_trx",
    "auto_inc": "auto_inc",
    "oltp_del_ins": "delete_inserts",
    "random_points_ranges": "random_points",
}
_TPROCC_OPTIONS = {
    "number_of_warehouses": "warehouses",
    "keyandthink": "key_and_think",
    "maria_history_pk": "history_pk",
    "maria_partition": "partitions",
    "mysql_history_pk": "history_pk",
    "mysql_partition": "partitions",
}
WORKLOAD_OPTIONS: Mapping[str, Mapping[str, str]] = {
    SYSBENCH: {f"sysbench_lua.{key}": option for key, option in _SYSBENCH_OPTIONS.items()},
    TPROCC: {f"hammerdb_tprocc.{key}": option for key, option in _TPROCC_OPTIONS.items()},
}
"""Suite -> key -> the option of our workload that it sets."""

USED = frozenset(
    [f"taf.{name}" for name in _TAF.split()]
    + [key for options in WORKLOAD_OPTIONS.values() for key in options]
    + ["sysbench_lua.rand_seed", "benchkit.server", "benchkit.study"]
    + [f"benchkit.{name}" for name in ("replicas", "attach", "replica_cpus", "replica_options")]
    + [f"hammerdb_tprocc.{name}" for name in ("allwarehouse", "setup_virtual_user_count")]
    + ["hammerdb_tprocc.checksum_after_run"]
    + [f"hammerdb_tprocc.{prefix}_no_stored_procs" for prefix in ("maria", "mysql")]
)

_STORED = "benchkit stores runs and makes reports itself"
_HOOKS = "benchkit runs no scripts between its steps"
_PRIVATE = "a private server is used by its root, on its socket, and removed with its data"
_OWN = "benchkit's own client does the work"
_SAID = "keys of taf say it"
_OTHERS = "it is for another product"

_WITHOUT_EFFECT: tuple[tuple[str, str, str], ...] = (
    # prefix, names, why
    ("taf", "archive_host archive_path compress_archive reports_directory report_plugin", _STORED),
    ("taf", "generate_report results_root_dir logs_dir tmp_dir test_type verbose", _STORED),
    ("taf", "results_threshold_warning_pct results_threshold_fail_pct tools_debug", _STORED),
    ("taf", "results_threshold_gain_pct results_iteration_allowed_duration_drift_pct", _STORED),
    ("taf", "backend_config backend_parser_jar java_bin jdbc_jar json_jar", _STORED),
    ("taf", "exec_script_file_before_db_start exec_script_file_after_db_start", _HOOKS),
    ("taf", "exec_script_file_before_tests exec_script_file_after_tests", _HOOKS),
    ("taf", "exec_script_file_before_run_iter exec_script_file_after_run_iter", _HOOKS),
    ("taf", "exec_sql_file_before_test_setup exec_sql_file_after_test_setup", _HOOKS),
    ("taf", "exec_sql_file_before_run_iter exec_sql_file_after_run_iter", _HOOKS),
    ("taf", "database db_user_permissions db_root_user db_root_pass user pass", _PRIVATE),
    ("taf", "db_clients_use_unix_socket db_use_native_for_passwords db_stop_wait", _PRIVATE),
    ("taf", "skip_database_shutdown ignore_running_db_process", _PRIVATE),
    ("taf", "exit_if_test_lock_exists skip_test_cleanup skip_test_post", _PRIVATE),
    ("taf", "skip_test_suite_cleanup taf_db_makers_plugin", _PRIVATE),
    ("taf", "db_software_install_packages db_software_install_root_dir", _PRIVATE),
    ("taf", "db_runtime_dir db_process_pid", _PRIVATE),
    ("taf", "cmake_path skip_client_builds", _OWN),
    ("taf", "warmup_threads", "a run warms up with its own threads"),
    (
        "taf",
        "sleep_after_test_setup sleep_before_test_run sleep_after_test_run",
        "it does not wait",
    ),
    (
        "taf",
        "db_process_rest_enable db_process_rest_low db_process_rest_high "
        "db_process_rest_consecutive db_process_rest_max_attempts db_process_rest_interval",
        "whether a server is at rest is decided by other means",
    ),
    (
        "taf",
        "profiler_lib profiler_start_delay profiler_duration profiler_ts_duration_unit "
        "profiler_continuous profiler_opts profiler_generate_report profiler_generate_flamegraph",
        "the profile is perf's, of the whole measurement",
    ),
    ("taf", "database_restore_image_dir restore_image_format", "images are benchkit's own"),
    ("taf", "db_ssl_ca db_ssl_cert db_ssl_key db_ssl_crl db_ssl_cipher", "there is no TLS"),
    ("sysbench_lua", "db_driver debug_sysbench use_bmk forced_shutdown", _OWN),
    ("sysbench_lua", "self test_client_version source exe lua_scripts_dir connector", _OWN),
    ("sysbench_lua", "thread_init_timeout error_log forced_shutdown_sec pre_test_done", _OWN),
    ("sysbench_lua", "cmake_args debug_full_sysbench oltp_lua_script", _OWN),
    ("sysbench_lua", "bmk_archive bmk_install bmk_exe bmk_libs bmk_lua_scripts_dir", _OWN),
    ("sysbench_lua", "bmk_source bmk_prepare_threads bmk_by_sec_index bmk_reconnect", _OWN),
    ("sysbench_lua", "bmk_update_range_size bmk_mysql_ssl bmk_check_character_set", _OWN),
    ("sysbench_lua", "def_duration def_engine def_myisam_rows def_rows def_threads", _SAID),
    ("sysbench_lua", "intermediate_result", "there is a row for every second"),
    ("hammerdb_tprocc", "timeprofile agent agent_port raiseerror connect_pool db_type", _OWN),
    ("hammerdb_tprocc", "maria_prepared mysql_prepared maria_purge", _OWN),
    ("hammerdb_tprocc", "checksum_after_setup", "what is loaded is always summed"),
    ("hammerdb_tprocc", "async_client async_delay async_verbose", _OWN),
    ("hammerdb_tprocc", "client_executable client_script_dir extra_args", _OWN),
    ("hammerdb_tprocc", "test_client_version agent_started_by_ts show_out_put", _OWN),
    ("hammerdb_tprocc", "log_to_temp total_iterations", _OWN),
    ("hammerdb_tprocc", "default_rampup default_duration", _SAID),
    ("hammerdb_tprocc", "pg_partition pg_storedprocs pg_vacuum pg_dritasnap", _OTHERS),
    ("hammerdb_tprocc", "pg_oracompat pg_cituscompat mssqls_imdb mssqls_bucket", _OTHERS),
    ("hammerdb_tprocc", "mssqls_durability mssqls_use_bcp mssqls_checkpoint", _OTHERS),
    *(
        ("hammerdb_tprocc", f"include_{form}_{what}", _STORED)
        for form in ("json", "html")
        for what in ("tcount", "timing", "result", "metrics", "profile")
    ),
)
WITHOUT_EFFECT = {
    f"{prefix}.{name}": why for prefix, names, why in _WITHOUT_EFFECT for name in names.split()
}
"""Keys that change nothing here, and why."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A key that may only say what is so anyway; another value would be another study."""

    allowed: tuple[str, ...]
    why: str


_FALSE = ("false", "0", "off")
REFUSED = {
    "taf.instances": Refusal(("0", "1"), "there is one client"),
    "taf.db_ssl_mode": Refusal(("off",), "connections to servers are not encrypted"),
    "taf.db_trans_logs_dir": Refusal((), "set innodb_log_group_home_dir in the configuration"),
    "taf.db_plugin_dir": Refusal((), "set plugin_dir in the configuration"),
    "taf.environment_variables": Refusal((), "set them for benchkit itself"),
    "sysbench_lua.db_ps_mode": Refusal(("auto",), "statements are prepared"),
    "sysbench_lua.create_table_options": Refusal((), "the workload says how tables are made"),
    **{
        f"sysbench_lua.{key}": Refusal(("0", "1"), "tables have no partitions")
        for key in ("number_of_partitions", "number_of_partition", "bmk_partitions")
    },
    "sysbench_lua.ignore_errors": Refusal((), "which errors are passed over is the workload's"),
    "hammerdb_tprocc.driver": Refusal(("timed",), "runs are timed"),
    "hammerdb_tprocc.async_scale": Refusal(_FALSE, "each thread waits for its own answers"),
}
"""Keys whose other values would need what is not there."""

_GENERATED = re.compile(rf"(?:{re.escape(WORKLOAD_PREFIX)}|{re.escape(STUDY_PREFIX)})\w+")


def describe_unknown(keys: Mapping[str, int]) -> list[str]:
    """Return a message for each key, with its line, that is none."""
    known = sorted({*USED, *WITHOUT_EFFECT, *REFUSED})
    return [
        f"line {line}: {unknown_name('key', key, known).partition(' Known:')[0]}"
        for key, line in keys.items()
        if key not in known and not _GENERATED.fullmatch(key)
    ]


def describe_refused(values: Mapping[str, str]) -> list[str]:
    """Return a message for each key whose value cannot be had."""
    return [
        f"{key}={values[key]} is not supported: {refusal.why}"
        for key, refusal in REFUSED.items()
        if key in values and values[key].lower() not in refusal.allowed
    ]


def describe_without_effect(values: Mapping[str, str]) -> Iterator[str]:
    """Yield, for each reason, the keys that change nothing because of it."""
    for why in dict.fromkeys(WITHOUT_EFFECT.values()):
        keys = [key for key in values if WITHOUT_EFFECT.get(key) == why]
        if keys:
            yield f"{', '.join(keys)} ({why})"
