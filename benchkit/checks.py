"""Checks of the data of a run: row counts and checksums of tables, and whether they are equal.

What was loaded is counted and summed once; after a run, as much as was asked for. Values are
kept, so that runs of any server can be compared later.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from benchkit._core import Connection
from benchkit.record import Json, RunRecord

Checks = Literal["full", "counts", "none"]
CHECKS: dict[Checks, str] = {
    "full": "row counts and checksums after every run",
    "counts": "row counts after runs that write, as far as a tenth of their time allows",
    "none": "nothing after runs",
}
"""What is checked after a run, and what it means; what was loaded is always checked."""

_COUNTING_SHARE = 0.1
_COUNTING_LEAST_S = 0.5
_WRITING = frozenset({"insert", "update", "delete", "call", "other"})


def count_rows(session: Connection, names: Iterable[str]) -> dict[str, int]:
    """Return the number of rows of each table of the session's database."""
    return {name: _count(session, name) for name in names}


def check_tables(
    session: Connection,
    load: Mapping[str, str | None],
    level: Checks,
    result: Json,
    known: Mapping[str, Json] = MappingProxyType({}),
) -> dict[str, Any] | None:
    """Check the tables of a run that has ended.

    Parameters
    ----------
    session : Connection
        With the run's database.
    load : mapping
        The checksum of each table after the load.
    level : {"full", "counts", "none"}
    result : mapping
        What the driver counted.
    known : mapping of str to mapping
        Rows and checksums of tables that were asked for since the run, for their replicas.

    Returns
    -------
    dict or None
        tables: for each its rows and, at level ``"full"``, its checksum; left_out: tables for
        whose rows there was no time; seconds: how long it took. None where nothing is checked.

    Raises
    ------
    DatabaseError
        When the server does not answer.
    """
    if level == "none" or (level == "counts" and not _has_written(result)):
        return None
    began = time.monotonic()
    allowed_s = max(_COUNTING_LEAST_S, _COUNTING_SHARE * result["measured_s"])
    tables: dict[str, dict[str, Any]] = {}
    for name in load:
        if level == "counts" and time.monotonic() - began > allowed_s:
            break
        if name in known:
            tables[name] = dict(known[name])
            continue
        tables[name] = {"rows": _count(session, name)}
        if level == "full":
            tables[name]["checksum"] = session.query(f"CHECKSUM TABLE `{name}`")[0][1]
    left_out = [name for name in load if name not in tables]
    seconds = time.monotonic() - began
    return {"level": level, "tables": tables, "left_out": left_out, "seconds": seconds}


def find_changes(load: Json, checks: Json | None, result: Json) -> Iterator[str]:
    """Say what has changed in tables that a run did not write to."""
    if checks is None or _has_written(result):
        return
    for name, found in checks["tables"].items():
        before = load["checksums"].get(name)
        if "checksum" in found and found["checksum"] != before:
            yield (
                f"table {name} has changed though the run wrote nothing: checksum {before} after "
                f"the load, {found['checksum']} after the run"
            )


@dataclass(frozen=True, slots=True)
class Setup:
    """What was loaded on a server: its name, its product, and the record of the load."""

    server: str
    product: str
    load: Json


class Setups:
    """What was loaded for each workload of a study, to be compared with what is loaded next."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str, str], Setup] = {}

    @classmethod
    def of(cls, records: Iterable[RunRecord]) -> "Setups":
        """Return the loads of stored runs."""
        setups = cls()
        for record in records:
            fingerprint = str(record.identity.get("workload_fingerprint"))
            product = str(record.server.get("product"))
            if record.load is not None:
                setups.compare(fingerprint, Setup(record.factors.server, product, record.load))
        return setups

    def compare(self, fingerprint: str, setup: Setup) -> list[str]:
        """Say which tables of a workload do not hold what they hold elsewhere in the study.

        The first load is the measure; of each product and character set its own, because
        checksums are of the bytes that are kept: the same data have others in MariaDB than in
        MySQL, and in utf8mb4 than in latin1. Then only the rows can be compared. What nobody
        loaded for the study is left out.
        """
        if setup.load.get("foreign"):
            return []
        kept_as = str(setup.load.get("character_sets"))
        first = self._first.setdefault((fingerprint, setup.product, kept_as), setup)
        found = list(_differing(setup, first, "checksums", "checksum"))
        for (other, *_), each in self._first.items():
            if other == fingerprint:
                found += _differing(setup, each, "row_counts", "rows")
        return list(dict.fromkeys(found))


def _differing(setup: Setup, other: Setup, field: str, what: str) -> Iterator[str]:
    mine, theirs = setup.load.get(field) or {}, other.load.get(field) or {}
    for name in sorted(mine.keys() & theirs.keys()):
        if mine[name] != theirs[name]:
            yield (
                f"table {name} was not loaded with the data it has on server {other.server!r}: "
                f"{what} {mine[name]} on {setup.server!r}, {theirs[name]} there"
            )


def _count(session: Connection, name: str) -> int:
    return int(str(session.query(f"SELECT COUNT(*) FROM `{name}`")[0][0]))


def _has_written(result: Json) -> bool:
    return any(
        statement["kind"] in _WRITING and statement["executions_in_all_phases"]
        for statement in result["statements"]
    )
