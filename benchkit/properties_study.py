"""Studies from TAF's properties files, and from those that are stored with runs.

Every key is looked at: one that does not exist, or asks for what cannot be had, is an error; those
that change nothing here are named in a warning.
"""

import os
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchkit import workloads
from benchkit.api import Study
from benchkit.config import (
    CLI,
    INLINE_BLOCK,
    PROPERTIES_FILE,
    Config,
    Provenance,
    Value,
    config_from_options,
)
from benchkit.errors import StudyError, StudyWarning, unknown_name
from benchkit.generated import STUDY_PREFIX, SUITE, WORKLOAD_PREFIX
from benchkit.install import find_install, product_of
from benchkit.modes import MODES, IterationMode
from benchkit.optionfile import parse_option_text
from benchkit.properties import PropertiesFile, parse_value, read_properties
from benchkit.properties_keys import (
    SYSBENCH,
    TPROCC,
    WORKLOAD_OPTIONS,
    describe_refused,
    describe_unknown,
    describe_without_effect,
)
from benchkit.server import Server
from benchkit.studyfile import PASSWORD_VARIABLE
from benchkit.workloads import Workload

_RANGES = ("simple", "sum", "order", "distinct")
_SYSBENCH_TESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "oltp_ro": ("oltp_read_only", {}),
    "oltp_rw": ("oltp_read_write", {}),
    "oltp_wo": ("oltp_write_only", {}),
    "point_select": ("oltp_point_select", {}),
    "update_key": ("oltp_update_index", {}),
    "update_no_key": ("oltp_update_non_index", {}),
    "delete": ("oltp_delete", {}),
    "insert": ("oltp_insert", {}),
    "oltp_insert_into": ("oltp_insert", {}),
    "random-points": ("select_random_points", {}),
    "tpcb_key": ("tpcb", {"updates": "key"}),
    "tpcb_no_key": ("tpcb", {"updates": "no_key"}),
    **{
        f"select_{kind}_ranges": (
            "oltp_read_only",
            {"point_selects": 0} | {f"{other}_ranges": int(other == kind) for other in _RANGES},
        )
        for kind in _RANGES
    },
}
"""TAF's tests, and the workload and options that do the same."""

_TPCB_OPTIONS = {"tables": "branches", "rows": "accounts"}
"""Options that say how large the tables are, and what TPC-B has for them: as many accounts."""

_MINUTE_S = 60.0
_UNIT_S = {SYSBENCH: 1.0, TPROCC: _MINUTE_S, SUITE: 1.0}
"""What a suite counts durations in."""

_STARTING = (
    *("init-start-db-run-tests", "init-start-db-build-client-run-tests", "start-db-run-tests"),
    *("start-db-build-client-run-tests", "install-init-start-db-run-tests"),
    "install-init-start-db-build-client-run-tests",
)
_RUNNING = ("run-tests", "build-client-run-tests")
_SETUP_MODES = {"once": "preserve", "per_test": "preserve", "per_iter": "reset"}
"""When TAF loads the tables, and the mode that does so here, where each test has its own."""

_SWITCHES = {"true": True, "1": True, "false": False, "0": False}
_WORDS = {"true": True, "on": True, "false": False, "off": False}


def study_from_properties(
    path: str | os.PathLike[str], *, db_config_file: str | os.PathLike[str] | None = None
) -> Study:
    """Return the study that a properties file describes.

    No server is started, but one that runs already must answer; its password is that of the
    environment variable BENCHKIT_PASSWORD, or else of the file.

    Parameters
    ----------
    path : path-like
    db_config_file : path-like, optional
        An option file instead of what the properties file says of the server's options.

    Returns
    -------
    Study
        Of one server. Durations are seconds for the suite sysbench-lua and minutes for
        hammerdb-tprocc, as TAF has them.

    Warns
    -----
    StudyWarning
        Of keys that change nothing here.

    Raises
    ------
    StudyError
        When the file cannot be read, or has a key that does not exist, lacks one, or asks for
        what cannot be had.
    BenchkitError
        What `Study`, `Server` and the workloads find wrong with their values.
    """
    file = read_properties(path)
    values = _check(file)
    keys = _Keys(file, values)
    server = _make_server(keys, db_config_file)
    suite = keys.suite
    made = _tests(keys) if suite != SUITE else [_named_workload(keys)]
    settings = _settings(keys)
    without = [*describe_without_effect(values), *keys.left()]
    if without:
        warnings.warn(
            f"{path}: without effect here: {'; '.join(without)}", StudyWarning, stacklevel=2
        )
    return Study(servers=[server], workloads=made, **settings)


class _Keys:
    """The keys that a file sets, taken one by one."""

    def __init__(self, file: PropertiesFile, values: Mapping[str, str]) -> None:
        self.file = file
        self._values = values
        self.suite = self.text("taf.test_suite") or ""
        if not self.suite:
            known = ", ".join(_UNIT_S)
            raise StudyError(f"{file.path}: taf.test_suite is not set: write one of {known}")
        if self.suite not in _UNIT_S:
            raise self.error("taf.test_suite", unknown_name("test suite", self.suite, _UNIT_S))

    def text(self, key: str) -> str | None:
        return self._values.get(key)

    def switch(self, key: str) -> bool:
        value = self._values.get(key, "false")
        if value.lower() not in _SWITCHES:
            raise self.error(key, f"{key} must be true or false, not {value!r}")
        return _SWITCHES[value.lower()]

    def number(self, key: str, kind: Callable[[str], Any] = int) -> Any:
        """Return a key's number; None where it is not set."""
        value = self._values.get(key)
        try:
            return None if value is None else kind(value)
        except ValueError:
            raise self.error(key, f"{key} must be a number, not {value!r}") from None

    def with_prefix(self, prefix: str) -> dict[str, str]:
        return {k.removeprefix(prefix): v for k, v in self._values.items() if k.startswith(prefix)}

    def left(self) -> Iterator[str]:
        """Yield what is not looked at: what is set again, and the keys of other suites."""
        last = {each.key: each.line for each in self.file.lines}
        for each in self.file.lines:
            if (line := last[each.key]) != each.line:
                yield f"{each.key} (line {each.line}; line {line} sets it again)"
        prefixes = {SYSBENCH: "sysbench_lua.", TPROCC: "hammerdb_tprocc."}
        others = [p for suite, p in prefixes.items() if suite != self.suite]
        keys = [key for key in self._values if key.startswith(tuple(others))]
        if keys:
            yield f"{', '.join(keys)} (the test suite is {self.suite})"

    def error(self, key: str, message: str) -> StudyError:
        line = f":{self.file.line_of(key)}" if key in self.file.values else ""
        return StudyError(f"{self.file.path}{line}: {message}")


def _check(file: PropertiesFile) -> dict[str, str]:
    """Return the keys that are set, once none is wrong."""
    if file.problems:
        raise StudyError("; ".join(file.problems))
    values = {key: value for key, value in file.values.items() if value}
    if values.get("taf.test_suite", SUITE) not in _UNIT_S:
        return values  # whose keys are not known either: see `_Keys`
    unknown = describe_unknown({each.key: each.line for each in file.lines})
    refused = describe_refused(values)
    if unknown or refused:
        raise StudyError(f"{file.path}: " + "; ".join([*unknown, *refused]))
    return values


# The server


def _make_server(keys: _Keys, db_config_file: str | os.PathLike[str] | None) -> Server:
    action = keys.text("taf.action") or _STARTING[0]
    if action not in (*_STARTING, *_RUNNING):
        message = unknown_name("action", action, (*_STARTING, *_RUNNING))
        raise keys.error("taf.action", f"{message} (others run no tests)")
    tag = keys.text("taf.test_case_tag")
    name = keys.text("benchkit.server") or tag or keys.file.path.stem
    if action in _RUNNING:
        return _connect(keys, name)
    install = keys.text("taf.db_software_install_dir")
    limit_s = keys.number("taf.db_start_wait", float)
    return Server(
        _make_config(keys, name, install, db_config_file),
        install=install,
        directory=keys.text("taf.db_data_dir"),
        port=keys.number("taf.db_port"),
        cpus=keys.text("taf.db_cpu_affinity") or keys.text("taf.db_task_set"),
        **({} if limit_s is None else {"start_limit_s": limit_s}),
        **_replica_arguments(keys, name),
    )


def _replica_arguments(keys: _Keys, name: str) -> dict[str, Any]:
    """Return the arguments of `Server` about replicas that the keys give."""
    given = {
        "replicas": keys.number("benchkit.replicas"),
        "attach": keys.text("benchkit.attach"),
        "replica_cpus": keys.text("benchkit.replica_cpus"),
    }
    options = keys.text("benchkit.replica_options")
    if options is not None:
        file = parse_option_text(str(parse_value(options)), keys.file.path)
        given["replica_config"] = config_from_options(file, f"{name}-replica", Provenance())
    return {key: value for key, value in given.items() if value is not None}


def _connect(keys: _Keys, name: str) -> Server:
    return Server.connect(
        host=keys.text("taf.host"),
        port=keys.number("taf.db_port"),
        socket=keys.text("taf.db_socket"),
        user=keys.text("taf.db_user"),
        password=os.environ.get(PASSWORD_VARIABLE) or keys.text("taf.db_user_pass"),
        name=name,
    )


def _make_config(
    keys: _Keys, name: str, install: str | None, db_config_file: str | os.PathLike[str] | None
) -> Config:
    """Return the options that win: of the command line, the block, or the file that is named."""
    version = find_install(install).version
    product = product_of(version)
    named = keys.text("taf.db_config_file")
    block = keys.file.block
    if db_config_file is not None:
        config = Config.from_file(
            db_config_file, name, product=product, version=version, origin=CLI
        )
    elif block is not None:
        config = config_from_options(
            block, name, Provenance(INLINE_BLOCK, None, (), product, version)
        )
    elif named is not None:
        path = _find(keys, named)
        config = Config.from_file(
            path, name, product=product, version=version, origin=PROPERTIES_FILE
        )
    else:
        config = Config(name)
    extra = _extra_options(keys)
    return config.replace(name, **extra) if extra else config


def _find(keys: _Keys, named: str) -> Path:
    """Return a file that is named relative to the properties file, or to where we are."""
    places = [keys.file.path.parent / named, Path(named)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        looked = " and ".join(str(place.absolute()) for place in dict.fromkeys(places))
        raise keys.error("taf.db_config_file", f"there is no option file {looked}")
    return found


def _extra_options(keys: _Keys) -> dict[str, Value]:
    """Return the options that are given as a server's command line has them."""
    options: dict[str, Value] = {}
    for word in shlex.split(keys.text("taf.db_extra_args") or ""):
        name, equals, value = word.partition("=")
        if not name.startswith("--"):
            raise keys.error(
                "taf.db_extra_args", f"taf.db_extra_args has {word!r}, which is no --option=value"
            )
        options[name[2:].replace("-", "_")] = value if equals else None
    return options


# The workloads


def _tests(keys: _Keys) -> list[Workload]:
    """Return the workloads of a suite's tests."""
    tests = [test.strip() for test in (keys.text("taf.tests") or "").split(",") if test.strip()]
    if not tests:
        raise keys.error("taf.tests", "taf.tests names no test")
    make = _tprocc if keys.suite == TPROCC else _sysbench
    return [make(keys, test) for test in tests]


def _sysbench(keys: _Keys, test: str) -> Workload:
    name = test.lower().removesuffix("_modifiable")
    if name not in _SYSBENCH_TESTS:
        known = [each.upper() for each in _SYSBENCH_TESTS]
        raise keys.error("taf.tests", unknown_name("test", test, known))
    workload, fixed = _SYSBENCH_TESTS[name]
    offered = {option.name for option in workloads.factory(workload).options}
    renamed = _TPCB_OPTIONS if workload == "tpcb" else {}
    options = {renamed.get(name, name): value for name, value in _options(keys).items()}
    given = {k: v for k, v in options.items() if k in offered and fixed.get(k) != 0}
    return workloads.find(workload, **{**fixed, **given})


def _tprocc(keys: _Keys, test: str) -> Workload:
    if test.lower() not in ("tprocc", "tpcc"):
        raise keys.error("taf.tests", unknown_name("test", test, ["tprocc"]))
    options = {"warehouses": 10, **_options(keys)}
    if keys.switch("hammerdb_tprocc.allwarehouse"):
        options["home"] = "partitioned"
    if any(keys.switch(f"hammerdb_tprocc.{p}_no_stored_procs") for p in ("maria", "mysql")):
        options["procedures"] = False
    return workloads.find("tprocc", **options)


def _options(keys: _Keys) -> dict[str, Any]:
    """Return the workload's options that a suite's keys set, with TAF's own defaults."""
    found = {
        option: _WORDS.get(text.lower(), parse_value(text))
        for key, option in WORKLOAD_OPTIONS[keys.suite].items()
        if (text := keys.text(key)) is not None
    }
    engine = keys.text("taf.db_engine")
    return {**found, **({"storage_engine": engine} if engine else {})}


def _named_workload(keys: _Keys) -> Workload:
    """Return the workload of a file that benchkit has made."""
    options = {k: parse_value(v) for k, v in keys.with_prefix(WORKLOAD_PREFIX).items()}
    return workloads.find(keys.text("taf.tests") or "", **options)


# The study


def _settings(keys: _Keys) -> dict[str, Any]:
    """Return the arguments of `Study` but for servers and workloads."""
    threads = keys.text("taf.threads")
    if threads is None:
        raise keys.error("taf.threads", "taf.threads is not set: write numbers such as 1,8,64")
    try:
        counts = [int(count) for count in threads.split(",")]
    except ValueError:
        raise keys.error("taf.threads", f"taf.threads must be numbers, not {threads!r}") from None
    made = _generated_settings(keys) if keys.suite == SUITE else _taf_settings(keys)
    return {
        "name": keys.text("benchkit.study") or keys.file.path.stem,
        "threads": counts,
        "iterations": 1 if (iterations := keys.number("taf.iterations")) is None else iterations,
        **made,
    }


def _generated_settings(keys: _Keys) -> dict[str, Any]:
    """Return the settings of a file that benchkit has made, by the names `Study` has for them."""
    given = keys.with_prefix(STUDY_PREFIX)
    values: dict[str, Any] = {name: parse_value(value) for name, value in given.items()}
    times = {name: values.pop(f"{name}_s", None) for name in ("duration", "warmup")}
    mode = keys.text("taf.database_iteration_mode")
    return {**values, **times, "iteration_mode": _known_mode(keys, mode)}


def _taf_settings(keys: _Keys) -> dict[str, Any]:
    unit_s = _UNIT_S[keys.suite]
    duration = keys.number("taf.duration", float)
    if duration is None:
        raise keys.error("taf.duration", "taf.duration is not set")
    settings: dict[str, Any] = {"comment": _unquoted(keys.text("taf.comments") or "")}
    if keys.switch("taf.use_request_based"):
        settings |= {"duration": None, "transactions": int(duration)}
    else:
        settings["duration"] = duration * unit_s
    warmup = keys.number("taf.warmup_duration", float)
    warms_up = keys.suite == TPROCC or keys.switch("taf.include_warmup_iteration")
    settings["warmup"] = (warmup or 0) * unit_s if warms_up else 0
    settings["iteration_mode"] = _iteration_mode(keys)
    seed = keys.number("sysbench_lua.rand_seed")
    users = keys.number("hammerdb_tprocc.setup_virtual_user_count")
    optional = {
        "seed": seed or None,
        "loader_threads": users,
        "profile": "perf" if keys.switch("taf.profiler_enabled") else None,
        "checks": "full" if keys.switch("hammerdb_tprocc.checksum_after_run") else None,
    }
    return settings | {name: value for name, value in optional.items() if value is not None}


def _iteration_mode(keys: _Keys) -> IterationMode | None:
    """Return how runs find server and data; by default as TAF's do, as the last run left them."""
    asked = keys.text("taf.database_iteration_mode") or "preserve"
    setup = keys.text("taf.test_setup_mode") or "once"
    if setup not in _SETUP_MODES:
        raise keys.error("taf.test_setup_mode", unknown_name("mode", setup, _SETUP_MODES))
    return _known_mode(keys, asked if asked != "preserve" else _SETUP_MODES[setup])


def _known_mode(keys: _Keys, mode: str | None) -> IterationMode | None:
    found = next((each for each in MODES if each == mode), None)
    if mode is not None and found is None:
        raise keys.error("taf.database_iteration_mode", unknown_name("mode", mode, MODES))
    return found


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1].strip() if is_quoted else text
