"""The record of a run and its JSON form."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from factory import WORKLOAD, Plan, make_record
from hypothesis import given
from hypothesis import strategies as st

from benchkit.errors import StoreError
from benchkit.record import (
    SERIES_DTYPE,
    Accounting,
    ErrorCount,
    Factors,
    Response,
    RunRecord,
    StatementResult,
    TransactionResult,
    run_id,
)

RECORD = make_record(Plan(), "baseline", WORKLOAD, 4, 1)

names = st.text(max_size=12)
counts = st.integers(0, 2**62)
numbers = st.floats(allow_infinity=False)
scalars = st.none() | st.booleans() | counts | names | st.floats(-1e9, 1e9)
objects = st.dictionaries(names, scalars | st.lists(scalars, max_size=3), max_size=4)
unknown = st.dictionaries(names.map(lambda name: "x-" + name), scalars, max_size=2)
responses = st.builds(Response, *[numbers] * 5, extra=unknown)

records = st.builds(
    RunRecord,
    id=st.text("0123456789abcdef", min_size=16, max_size=16),
    study=names,
    status=st.sampled_from(["complete", "interrupted", "failed"]),
    factors=st.builds(Factors, names, names, *[counts] * 4, extra=unknown),
    identity=objects,
    time=objects,
    measured_s=numbers,
    warmup_s=numbers,
    metrics=st.dictionaries(names, numbers, max_size=4),
    statements=st.lists(
        st.builds(StatementResult, names, names, *[counts] * 4, responses, unknown), max_size=2
    ).map(tuple),
    transactions=st.lists(
        st.builds(TransactionResult, names, *[counts] * 4, responses, unknown), max_size=2
    ).map(tuple),
    errors=st.lists(
        st.builds(ErrorCount, counts, names, names, names, counts, unknown), max_size=2
    ).map(tuple),
    accounting=st.none() | st.builds(Accounting, *[counts] * 5, extra=unknown),
    warnings=st.lists(names, max_size=2).map(tuple),
    config_ref=st.none() | names,
    load=st.none() | objects,
    failure=st.none() | objects,
    source=st.none() | objects,
    extra=unknown,
)


@given(records)
def test_record_survives_json_with_all_unknown_fields(record):
    stored = json.dumps(record.to_json(), allow_nan=False)
    again = RunRecord.from_json(json.loads(stored))
    # NaN is not equal to itself, so the records are compared as text
    assert repr(again) == repr(record)


def test_fields_of_a_later_release_are_written_back():
    data = RECORD.to_json()
    data["mood"] = "fine"
    data["factors"]["region"] = {"name": "north"}
    data["statements"][0]["response"]["p9999_s"] = 1.5
    assert RunRecord.from_json(data).to_json() == data


def test_absent_number_is_null_in_json_and_nan_in_the_record():
    data = RECORD.to_json()
    assert data["metrics"]["latency_max"] is None
    assert math.isnan(RunRecord.from_json(data).metrics["latency_max"])


def test_numpy_numbers_become_plain_ones():
    record = replace(RECORD, metrics={"tps": np.float64(2.5)}, load={"rows": np.int64(7)})
    data = json.loads(json.dumps(record.to_json()))
    assert (data["metrics"]["tps"], data["load"]["rows"]) == (2.5, 7)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("factors", "threads"), "four", "has 'four' as factors.threads; it should be an integer"),
        (("factors", "threads"), True, "has True as factors.threads; it should be an integer"),
        (("measured_s",), "long", "has 'long' as measured_s; it should be a number or null"),
        (("status",), "happy", "has 'happy' as status; it should be 'complete' or"),
        (("metrics", "tps"), [1], "has a list as metrics.tps; it should be a number or null"),
        (("metrics",), None, "has null as metrics; it should be an object"),
        (("warnings",), {}, "has an object as warnings; it should be a list"),
        (("statements",), [3], r"has 3 as statements\[0\]; it should be an object"),
        (("study",), 5, "has 5 as study; it should be text"),
        (("schema",), "benchkit.run/2", "written by a newer benchkit; .* up to 'benchkit.run/1'"),
        (("schema",), "other.run/1", "has schema 'other.run/1'; it should be 'benchkit.run/1'"),
        (("schema",), None, "has schema None; it should be"),
    ],
)
def test_wrong_field_is_an_error_that_says_what_is_right(path, value, message):
    data = RECORD.to_json()
    target = data
    for name in path[:-1]:
        target = target[name]
    target[path[-1]] = value
    with pytest.raises(StoreError, match=message):
        RunRecord.from_json(data)


@pytest.mark.parametrize("name", ["id", "study", "status", "factors", "identity", "metrics"])
def test_missing_field_is_named(name):
    data = RECORD.to_json()
    del data[name]
    with pytest.raises(StoreError, match=f"has no field {name}"):
        RunRecord.from_json(data)


def test_missing_nested_field_is_named_with_its_place():
    data = RECORD.to_json()
    del data["factors"]["iteration"]
    with pytest.raises(StoreError, match=r"has no field factors\.iteration"):
        RunRecord.from_json(data)


def test_json_that_is_no_object_is_an_error():
    with pytest.raises(StoreError, match="holds a list; it should hold a JSON object"):
        RunRecord.from_json([])


def test_run_id_depends_on_every_field_and_not_on_their_order():
    identity = dict(RECORD.identity)
    assert run_id(dict(reversed(identity.items()))) == run_id(identity)
    changed = {run_id({**identity, name: "changed"}) for name in identity}
    assert len(changed | {run_id(identity)}) == len(identity) + 1


def test_run_id_is_stable_across_releases():
    assert run_id({"server": "baseline", "threads": 4, "warmup_s": 1.5}) == "e74c93f5793c9038"


def test_series_rows_are_little_endian_and_eight_bytes_a_field():
    assert all(SERIES_DTYPE[name].str in ("<f8", "<i8") for name in SERIES_DTYPE.names)
    assert SERIES_DTYPE.itemsize == 8 * len(SERIES_DTYPE.names)
