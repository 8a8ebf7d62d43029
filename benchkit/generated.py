"""The properties file that describes a dataset, so that its runs can be made again.

A pure function from a plan's parts to text. Run by ``benchkit run --properties``, it gives the
same runs: the same plan, options, workload, and so the same ids.
"""

import json
from collections.abc import Mapping

from benchkit import workloads
from benchkit.endpoint import Endpoint
from benchkit.placement import format_cpus
from benchkit.plan import Grid, PlannedRun
from benchkit.properties import format_properties, value_text
from benchkit.replica import ReplicaSpec
from benchkit.server import Server
from benchkit.workloads import Workload

SUITE = "benchkit"
WORKLOAD_PREFIX = "benchkit.workload."
STUDY_PREFIX = "benchkit.study."

_START, _RUN = "init-start-db-run-tests", "run-tests"
_ENDPOINT = {"host": "taf.host", "port": "taf.db_port", "socket": "taf.db_socket"}


def describe_dataset(
    study: str, grid: Grid, run: PlannedRun, server: Server, conditions: Mapping[str, object]
) -> str | None:
    """Return the text of a properties file for all runs of a server and a workload.

    Parameters
    ----------
    study : str
        The study's name.
    grid : Grid
    run : PlannedRun
        Any of the dataset.
    server : Server
    conditions : mapping
        What else the study says of its runs, by the names `Study` has for it.

    Returns
    -------
    str or None
        None for a workload that somebody wrote: no file can say it.
    """
    if not _is_named(run.workload):
        return None
    settings = {**grid.settings(), **conditions}
    del settings["iteration_mode"]
    head = (
        f"Study {study}: {run.setup.name}, {run.workload_label}",
        "Made by benchkit; `benchkit run --properties FILE` makes these runs again.",
    )
    values: dict[str, str | None] = {
        "taf.action": _START if server.private else _RUN,
        "taf.test_suite": SUITE,
        "taf.tests": run.workload.identity,
        "taf.threads": ",".join(map(str, grid.threads)),
        "taf.iterations": str(grid.iterations),
        "taf.database_iteration_mode": grid.iteration_mode,  # else the workload's own
        "benchkit.study": study,
        "benchkit.server": run.setup.name,
        **_server_values(server),
        **{f"{STUDY_PREFIX}{k}": _setting(v) for k, v in sorted(settings.items())},
        **{f"{WORKLOAD_PREFIX}{k}": value_text(v) for k, v in run.workload.parameters},
    }
    block = server.config.render_stored() if server.private else None
    return format_properties(head, block, {k: v for k, v in values.items() if v is not None})


def _is_named(workload: Workload) -> bool:
    """Tell whether the workload's identity and options say all of it."""
    if workload.identity not in workloads.identities():
        return False
    named = workloads.find(workload.identity, **dict(workload.parameters))  # type: ignore[arg-type]
    return named.fingerprint() == workload.fingerprint()


def _server_values(server: Server) -> Mapping[str, str | None]:
    if not server.private:
        place = server.endpoint
        return {
            **{key: _setting(_known(place, name)) for name, key in _ENDPOINT.items()},
            "taf.db_user": place.get("user"),
        }
    install = server.install_label
    return {
        "taf.db_software_install_dir": None if install == "system" else install,
        "taf.db_cpu_affinity": format_cpus(server.cpus) or None,
        "taf.db_port": _setting(server.options.get("port")),
        **({} if server.topology is None else _replica_values(server.topology)),
    }


def _replica_values(spec: ReplicaSpec) -> Mapping[str, str | None]:
    return {
        "benchkit.replicas": str(spec.count),
        "benchkit.attach": spec.attach,
        "benchkit.replica_cpus": format_cpus(spec.cpus) or None,
        "benchkit.replica_options": json.dumps(spec.config.render_stored()),
    }


def _known(place: Endpoint, name: str) -> object:
    return place.get(name) or None


def _setting(value: object) -> str | None:
    return None if value is None else value_text(value)
