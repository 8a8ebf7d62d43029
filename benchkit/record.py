"""The record of one run: what was asked for, what was measured, what went wrong.

A `RunRecord` is a frozen value without I/O; ``store.py`` reads and writes it as ``run.json``,
schema ``benchkit.run/1``. Fields that this release does not know are kept in `extra` and
written back, so that a record survives a round trip through an older release. Absent numbers
are null in JSON and NaN here. The layout of ``series.npy`` is defined here too.
"""

import hashlib
import json
import math
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from benchkit.errors import StoreError

Json = Mapping[str, Any]
"""An object of JSON whose fields are for people, or known to whoever wrote them."""

Status = Literal["complete", "interrupted", "failed"]

RUN_SCHEMA = "benchkit.run/1"
NAN = math.nan

UNKNOWN_THREADS = 0
"""Stored where an imported file does not say how many threads there were; no run has none."""

WARMUP, MEASUREMENT, DRAIN = 0, 1, 2
"""The values of a series' ``phase``, which never decreases from row to row."""

_TIMES = "time_s elapsed_s"
_COUNTS = "phase committed rolled_back failed retries statements reads writes other errors"
_RESPONSES = "response_mean_s response_p50_s response_p95_s response_p99_s response_max_s"

SERIES_DTYPE = np.dtype(
    [(name, "<f8") for name in _TIMES.split()]
    + [(name, "<i8") for name in _COUNTS.split()]
    + [(name, "<f8") for name in _RESPONSES.split()]
)
"""One row per interval: ``time_s`` is its end, counted from the start of the warmup, and
``elapsed_s`` its measured length. The response times are NaN where nothing was measured."""

IMPORTED_SERIES_DTYPE = np.dtype([(name, "<f8") for name in SERIES_DTYPE.names or ()])
"""The same fields for imported rows, where any of them may be absent: NaN."""


def run_id(identity: Json) -> str:
    """Return the id of a run: 16 hexadecimal digits of the hash of its identity."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def threads_text(threads: int) -> str:
    """Return a thread count as tables show it."""
    return "(missing)" if threads == UNKNOWN_THREADS else str(threads)


def check_schema(found: object, supported: str) -> None:
    """Raise StoreError unless `found` is the schema this release reads.

    Parameters
    ----------
    found : object
        The ``schema`` field of a stored object, or None.
    supported : str
        Such as ``"benchkit.run/1"``.
    """
    family, _, version = supported.rpartition("/")
    match = re.fullmatch(rf"{re.escape(family)}/(\d+)", found if isinstance(found, str) else "")
    if match and int(match[1]) == int(version):
        return
    if match and int(match[1]) > int(version):
        raise StoreError(
            f"has schema {found!r}, written by a newer benchkit; this one reads up to "
            f"{supported!r}: upgrade benchkit to read it"
        )
    raise StoreError(f"has schema {found!r}; it should be {supported!r}")


@dataclass(frozen=True, slots=True)
class Factors:
    """Where a run stands in its study."""

    server: str
    workload: str
    threads: int
    iteration: int
    order: int
    block: int
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """Response times in seconds; NaN where nothing was measured."""

    mean_s: float = NAN
    p50_s: float = NAN
    p95_s: float = NAN
    p99_s: float = NAN
    max_s: float = NAN
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatementResult:
    """What became of one statement of the workload.

    `kind` is select, insert, update, delete, begin, commit, rollback, call or other;
    `results` counts the executions that returned a result set, `writes` those that changed
    rows.
    """

    name: str
    kind: str
    executions: int
    results: int
    writes: int
    errors: int
    response: Response = Response()
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TransactionResult:
    """What became of one transaction of the workload."""

    name: str
    committed: int
    rolled_back: int
    failed: int
    retries: int
    response: Response = Response()
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ErrorCount:
    """How often a statement failed with one error of the server."""

    number: int
    sqlstate: str
    message: str
    statement: str
    count: int
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Accounting:
    """Where every scheduled transaction went."""

    scheduled: int
    committed: int
    rolled_back: int
    failed: int
    in_flight: int
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One timed execution at one thread count and one iteration.

    Parameters
    ----------
    id : str
        `run_id` of `identity`.
    study : str
        The study's name.
    status : str
        ``"complete"``, ``"interrupted"`` or ``"failed"``.
    identity : mapping
        All that makes two runs the same run: server, config, install, workload,
        workload_fingerprint, threads, iteration, duration_s, transactions, warmup_s, seed,
        iteration_mode, and replicas where there are any.
    time : mapping
        start_utc, end_utc (ISO 8601) and started_monotonic_ns.
    measured_s, warmup_s : float
        Measured lengths, not configured ones.
    metrics : mapping of str to float
        In the units of ``metrics.py``; NaN where a value is absent.
    config_ref, env_ref : str or None
        Paths inside the study's folder.
    preparation : mapping or None
        How the run found server and data: iteration_mode, what was restored, rest.
    replication : mapping or None
        The replicas, how long they took to catch up, and what primary and replicas have alike.
    conditions : mapping
        What was unusual around the run: load_cpus, drop_caches, profile.
    consistency : mapping of str to int
        How many violations of each of the workload's conditions were found after the run.
    failure : mapping or None
        kind and message of what ended a run early.
    files : mapping
        Name of each file of the run to its sha256 and bytes; filled in by the store.
    source : mapping or None
        Where an imported run came from.
    facts : mapping or None
        What an imported file said of its dataset: label, and [label, value] pairs under system,
        database, config and test.
    properties : mapping or None
        file and ref: name, and place in the study's folder, of the properties file that
        describes the run's dataset.
    checks : mapping or None
        What was found in the tables after the run: see `checks.check_tables`.
    """

    id: str
    study: str
    status: Status
    factors: Factors
    identity: Json
    time: Json
    measured_s: float
    warmup_s: float
    metrics: Mapping[str, float]
    statements: tuple[StatementResult, ...] = ()
    transactions: tuple[TransactionResult, ...] = ()
    errors: tuple[ErrorCount, ...] = ()
    accounting: Accounting | None = None
    warnings: tuple[str, ...] = ()
    server: Json = field(default_factory=dict)
    workload: Json = field(default_factory=dict)
    config_ref: str | None = None
    env_ref: str | None = None
    load: Json | None = None
    preparation: Json | None = None
    replication: Json | None = None
    client: Json = field(default_factory=dict)
    conditions: Json = field(default_factory=dict)
    consistency: Json = field(default_factory=dict)
    failure: Json | None = None
    files: Json = field(default_factory=dict)
    tool: Json = field(default_factory=dict)
    source: Json | None = None
    facts: Json | None = None
    properties: Json | None = None
    checks: Json | None = None
    schema: str = RUN_SCHEMA
    extra: Json = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the record as objects that JSON can hold; NaN becomes None."""
        plain = to_plain(self)
        assert isinstance(plain, dict)
        return plain

    @classmethod
    def from_json(cls, data: object) -> "RunRecord":
        """Return the record that `to_json` wrote.

        Raises
        ------
        StoreError
            If a field is missing or of the wrong type, or the schema is not this release's.
            The message names the field, what was found and what is right.
        """
        if not isinstance(data, dict):
            raise StoreError(f"holds {_kind(data)}; it should hold a JSON object")
        check_schema(data.get("schema"), RUN_SCHEMA)
        record = _read_dataclass(cls, data, "")
        assert isinstance(record, cls)
        return record


def to_plain(value: object) -> object:
    """Return a value as JSON can hold it: no dataclass, tuple, NumPy number or NaN."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        known = {f.name: to_plain(getattr(value, f.name)) for f in fields(value)}
        extra = known.pop("extra")
        assert isinstance(extra, dict)
        return {**extra, **known}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value


# Reading: one reader for each type that a field may be annotated with. A reader takes the
# JSON value and where it stands, such as "factors.threads", for the message.

Reader = Callable[[Any, str], Any]


def _kind(value: object) -> str:
    """Return a JSON value as a message shows it: short, and by kind where it is long."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "null" if value is None else f"{value!r:.60}"


def _wrong(where: str, value: object, right: str) -> StoreError:
    return StoreError(f"has {_kind(value)} as {where}; it should be {right}")


def _read_text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, value, "text")
    return value


def _read_integer(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(where, value, "an integer")
    return value


def _read_number(value: Any, where: str) -> float:
    if value is None:
        return NAN
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(where, value, "a number or null")
    return float(value)


def _read_object(value: Any, where: str) -> Json:
    if not isinstance(value, dict):
        raise _wrong(where, value, "an object")
    return value


def _read_numbers(value: Any, where: str) -> Mapping[str, float]:
    return {k: _read_number(v, f"{where}.{k}") for k, v in _read_object(value, where).items()}


def _optional_reader(inner: Reader) -> Reader:
    return lambda value, where: None if value is None else inner(value, where)


def _list_reader(inner: Reader) -> Reader:
    def read(value: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _wrong(where, value, "a list")
        return tuple(inner(item, f"{where}[{i}]") for i, item in enumerate(value))

    return read


def _choice_reader(choices: tuple[str, ...]) -> Reader:
    def read(value: Any, where: str) -> str:
        if value not in choices:
            raise _wrong(where, value, " or ".join(map(repr, choices)))
        return str(value)

    return read


_READERS: dict[object, Reader] = {
    str: _read_text,
    int: _read_integer,
    float: _read_number,
    Json: _read_object,
    Mapping[str, float]: _read_numbers,
}


def _reader_for(hint: Any) -> Reader:
    """Return the reader of values annotated with `hint`."""
    if hint in _READERS:
        return _READERS[hint]
    if is_dataclass(hint):
        return lambda value, where: _read_dataclass(hint, _read_object(value, where), where + ".")
    arguments = get_args(hint)
    if get_origin(hint) is Literal:
        return _choice_reader(arguments)
    if get_origin(hint) is tuple:
        return _list_reader(_reader_for(arguments[0]))
    assert isinstance(hint, types.UnionType) and arguments[1] is types.NoneType
    return _optional_reader(_reader_for(arguments[0]))


@cache
def _field_readers(cls: Any) -> list[tuple[str, Reader, bool]]:
    """Return each field's name and reader, and whether it must be there."""
    hints = get_type_hints(cls)
    return [
        (f.name, _reader_for(hints[f.name]), f.default is MISSING and f.default_factory is MISSING)
        for f in fields(cls)
        if f.name != "extra"
    ]


def _read_dataclass(cls: Any, data: Json, prefix: str) -> Any:
    rest = dict(data)
    values: dict[str, Any] = {}
    for name, reader, required in _field_readers(cls):
        if name in rest:
            values[name] = reader(rest.pop(name), prefix + name)
        elif required:
            raise StoreError(f"has no field {prefix + name}, which every run must have")
    return cls(**values, extra=rest)
