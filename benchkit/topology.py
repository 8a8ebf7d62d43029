"""What studies do with replicas: wait for them, sample their lag, compare them with the primary.

How replicas are made, started and attached is in `replica`.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchkit import replication
from benchkit._core import Connection
from benchkit.errors import DatabaseError, InconsistentError, ReplicaError, ServerError
from benchkit.placement import format_cpus
from benchkit.provenance import without_secrets
from benchkit.record import MEASUREMENT
from benchkit.replica import Replica
from benchkit.replication import Standing
from benchkit.server import Server

LAG = "replica_lag_s"
"""The column of ``monitor.npy``: how old what the slowest replica has applied is, in seconds."""

BEHIND = "replica_lag_transactions"
"""The column of ``monitor.npy``: how many transactions the slowest replica has still to apply."""

_STALL_LIMIT_S = 60.0
_NAMED = 5


def await_caught_up(server: Server) -> float:
    """Wait until every replica has applied all that its primary has written; return the seconds.

    Raises
    ------
    ReplicaError
        When one has stopped, or does not get on for a minute.
    """
    started = time.monotonic()
    with server.session() as primary:
        position = replication.read_position(primary)
    for replica in server.replicas:
        _await_position(replica, position)
    return time.monotonic() - started


def _await_position(replica: Replica, position: str) -> None:
    applied, moved = "", time.monotonic()
    replica.check()
    with replica.session() as session:
        while not replication.has_applied(session, position):
            replica.check()
            before, applied = applied, replication.read_applied(session)
            if applied != before:
                moved = time.monotonic()
            elif time.monotonic() - moved > _STALL_LIMIT_S:
                raise ReplicaError(_stalled(replica, replication.read_standing(session)))


def _stalled(replica: Replica, standing: Standing) -> str:
    why = f": {standing.receive_error}" if standing.receive_error else ""
    return f"{replica.name} has applied nothing for {_STALL_LIMIT_S:g} s, but is behind{why}"


class _Written(NamedTuple):
    """How much a primary had written when."""

    time_s: float
    transactions: int


@dataclass(slots=True)
class LagHistory:
    """Tells lag from how many transactions were written, and how many are applied.

    The lag of a replica is the time since its primary had written as much as it has applied
    now; between two samples the primary is taken to write evenly.
    """

    _written: deque[_Written] = field(default_factory=deque)

    def add(self, time_s: float, written: int) -> None:
        """Note how many transactions the primary has written."""
        self._written.append(_Written(time_s, written))

    def lag_s(self, applied: int) -> float:
        """Return the lag of what has applied so many, at the time of the last `add`."""
        last = self._written[-1]
        if applied >= last.transactions:
            return 0.0
        while len(self._written) > 1 and self._written[1].transactions <= applied:
            self._written.popleft()
        first, second = self._written[0], self._written[min(1, len(self._written) - 1)]
        share = 0.0
        if second.transactions > first.transactions:
            done = max(applied - first.transactions, 0)
            share = done / (second.transactions - first.transactions)
        return last.time_s - first.time_s - share * (second.time_s - first.time_s)


class LagSampler:
    """Samples how far the replicas are behind; a source for the monitor's thread.

    It keeps a connection to each server from the first reading on.

    Parameters
    ----------
    server : Server
        With its replicas attached.
    """

    def __init__(self, server: Server) -> None:
        self._replicas = server.replicas
        self._server = server
        self._sessions: list[tuple[Replica, Connection, LagHistory]] = []
        self._primary: Connection | None = None

    def read(self) -> dict[str, float]:
        """Return lag and transactions behind of the slowest replica, by column.

        Raises
        ------
        ReplicaError
            When a replica has died or stopped.
        DatabaseError, ServerError
            When the primary has.
        """
        primary = self._connect()
        written = replication.count_transactions(replication.read_position(primary))
        now_s = time.monotonic()
        lags, behind = [0.0], [0]
        for replica, session, history in self._sessions:
            applied = replication.count_transactions(_read_working(replica, session))
            history.add(now_s, written)
            lags.append(history.lag_s(applied))
            behind.append(written - applied)
        return {LAG: max(lags), BEHIND: float(max(behind))}

    def close(self) -> None:
        """Close the connections."""
        primary, self._primary = self._primary, None
        for session in (primary, *(session for _, session, _ in self._sessions)):
            if session is not None:
                session.close()
        self._sessions.clear()

    def _connect(self) -> Connection:
        if self._primary is None:
            self._primary = self._server.session()
            for replica in self._replicas:
                self._sessions.append((replica, _connect_working(replica), LagHistory()))
        return self._primary


def _connect_working(replica: Replica) -> Connection:
    try:
        return replica.session()
    except (DatabaseError, ServerError):
        replica.check()
        raise


def _read_working(replica: Replica, session: Connection) -> str:
    """Return what a replica has applied, once it is known to work."""
    try:
        standing = replication.read_standing(session)
        if standing.error is None:
            return replication.read_applied(session)
    except DatabaseError:
        replica.check()
        raise
    raise ReplicaError(f"{replica.name} has stopped: {standing.error}")


def lag_metrics(phases: NDArray[np.int64], observed: NDArray[np.void] | None) -> dict[str, float]:
    """Return the metrics of a run's lag; empty where none was sampled.

    Parameters
    ----------
    phases : ndarray, shape (rows,)
    observed : structured ndarray, shape (rows,), or None
        With `LAG` as a field where it was sampled.
    """
    if observed is None or LAG not in (observed.dtype.names or ()):
        return {}
    lags = observed[LAG][phases == MEASUREMENT]
    lags = lags[~np.isnan(lags)]
    if not lags.size:
        return {}
    return {"replica_lag_mean": float(lags.mean()), "replica_lag_max": float(lags.max())}


class TableState(NamedTuple):
    """What a table holds: its number of rows, and CHECKSUM TABLE."""

    rows: int
    checksum: str | None


def describe_replicas(server: Server) -> dict[str, Any]:
    """Return what the record of a run says about topology."""
    assert server.topology is not None
    return {
        "attach": server.topology.attach,
        **({"cpus": format_cpus(server.replica_cpus)} if server.replica_cpus else {}),
        "primary_options": server.replication_options,
        "replicas": [
            {"name": replica.name, "options": without_secrets(replica.options)}
            for replica in server.replicas
        ],
    }


def compare_replicas(server: Server, database: str) -> dict[str, TableState]:
    """Compare every table of a database on the replicas with the primary's.

    Returns
    -------
    dict of str to TableState
        What all have alike, by table.

    Raises
    ------
    InconsistentError
        Naming the tables that differ, and how.
    """
    with server.session() as session:
        expected = dict(_read_tables(session, database))
    for replica in server.replicas:
        with replica.session() as session:
            found = dict(_read_tables(session, database))
        differing = list(_differences(expected, found))
        if differing:
            more = f" and {len(differing) - _NAMED} more" if len(differing) > _NAMED else ""
            raise InconsistentError(
                f"{replica.name} holds other data than its primary: "
                f"{'; '.join(differing[:_NAMED])}{more}"
            )
    return expected


def _read_tables(session: Connection, database: str) -> Iterator[tuple[str, TableState]]:
    names = session.query(
        "SELECT table_name FROM information_schema.tables "
        f"WHERE table_schema = '{database}' AND table_type = 'BASE TABLE' ORDER BY table_name"
    )
    for (name,) in names:
        rows = session.query(f"SELECT COUNT(*) FROM `{database}`.`{name}`")[0][0]
        checksum = session.query(f"CHECKSUM TABLE `{database}`.`{name}`")[0][1]
        yield str(name), TableState(int(str(rows)), checksum)


def _differences(expected: dict[str, TableState], found: dict[str, TableState]) -> Iterable[str]:
    for name in sorted(expected.keys() | found.keys()):
        ours, theirs = expected.get(name), found.get(name)
        if ours is None or theirs is None:
            yield f"table {name} is only on the {'primary' if theirs is None else 'replica'}"
        elif ours.rows != theirs.rows:
            yield f"table {name} has {theirs.rows} rows instead of {ours.rows}"
        elif ours.checksum != theirs.checksum:
            yield f"table {name} has checksum {theirs.checksum} instead of {ours.checksum}"
