"""One run on a prepared server: what is read before, the run, and what is checked after.

What is observed of every run belongs here, in this order; what brings the server to where a run
may begin is in `prepare`.
"""

from collections.abc import Callable
from typing import Any

from benchkit.attempt import Attempt
from benchkit.conditions import Conditions, surrounded
from benchkit.consistency import look_at, require
from benchkit.errors import DatabaseError
from benchkit.monitor import Source, Watched
from benchkit.replication import binlog_growth, binlog_sizes
from benchkit.room import room_of
from benchkit.server import Server
from benchkit.topology import LagSampler, await_caught_up, compare_replicas, describe_replicas

_MAY_NOT = 1227  # a global privilege is missing


def measure(
    server: Server,
    attempt: Attempt,
    conditions: Conditions,
    show_step: Callable[[str], None],
) -> dict[str, Any]:
    """Measure a run; return what the driver counted.

    Parameters
    ----------
    server : Server
        Running and prepared.
    attempt : Attempt
        Takes what is observed besides, as far as the run gets.
    conditions : Conditions
    show_step : callable
        Told what is going on.

    Raises
    ------
    BenchkitError
        When something of it fails.
    KeyboardInterrupt
        After Ctrl-C.
    """
    show_step("connecting")
    attempt.variables = server.variables()
    binlogs = _binlog_sizes(server, attempt)
    attempt.before = server.status()
    result = _drive(server, attempt, conditions)
    if not result["error"]:
        attempt.after = server.status()
        attempt.binlog_bytes = binlog_growth(binlogs, _binlog_sizes(server, attempt))
        _check_replicas(server, attempt, show_step)
        if conditions.checks != "none":
            _check_conditions(server, attempt, show_step)
    return result


def _drive(server: Server, attempt: Attempt, conditions: Conditions) -> dict[str, Any]:
    """Run the workload under the conditions, the replicas watched meanwhile."""
    native, watchers, run = attempt.native, attempt.watchers, attempt.run
    database = None if attempt.load is None else attempt.load.database
    if server.replicas:
        attempt.replication = describe_replicas(server)
    watched = Watched(
        server,
        run.timing,
        lambda: native.start_ns,
        database,
        queries=[query for rate in run.workload.rates for query in rate.queries],
        sources=_sources(server),
    )
    native.check = watchers.check
    with surrounded(conditions, watched, watchers):
        return native.measure(server, database)


def _sources(server: Server) -> list[Source]:
    """Return what to watch beside the server's status and the host."""
    return [room_of(server), *([LagSampler(server)] if server.replicas else [])]


def _check_replicas(server: Server, attempt: Attempt, show_step: Callable[[str], None]) -> None:
    """Wait until the replicas have what the run wrote, and compare them with the primary."""
    if attempt.replication is None:
        return
    show_step("waiting for replicas")
    attempt.replication["caught_up_s"] = await_caught_up(server)
    if attempt.load is not None:
        show_step("comparing replicas")
        tables = compare_replicas(server, attempt.load.database)
        attempt.replication["tables"] = {name: state._asdict() for name, state in tables.items()}


def _check_conditions(server: Server, attempt: Attempt, show_step: Callable[[str], None]) -> None:
    """Look whether the data are still as the workload says."""
    conditions = attempt.run.workload.conditions
    if not conditions or attempt.load is None:
        return
    show_step("checking the data")
    with server.session(attempt.load.database) as session:
        attempt.findings = look_at(session, conditions, "run")
    require(attempt.findings, "after the run")


def _binlog_sizes(server: Server, attempt: Attempt) -> dict[str, int]:
    """Return the sizes of the binary logs; empty where there is none or they may not be seen."""
    if attempt.variables.get("log_bin") != "ON":
        return {}
    try:
        with server.session() as session:
            return binlog_sizes(session)
    except DatabaseError as error:
        if error.number != _MAY_NOT:
            raise
        return {}
