"""How workloads are found, and how their options are described and refused."""

import inspect
import re

import pytest

from benchkit import workloads
from benchkit.errors import WorkloadError
from benchkit.workloads import sysbench05
from benchkit.workloads.options import Limits, Option

OLTP = [
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_point_select",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_delete",
    "oltp_insert",
    "select_random_points",
    "select_random_ranges",
]
SYSBENCH05 = [
    "oltp_complex_ro",
    "oltp_complex_rw",
    "oltp_simple",
    "select",
    "update_index",
    "update_non_index",
    "delete",
    "insert",
]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"personality": "sysbench/1.0", "reconnect": 5}, "sysbench/1.0 has no option reconnect"),
        (
            {"personality": "sysbench/1.0", "create_table_options": "x"},
            "sysbench/1.0 has no option create_table_options; sysbench/1.1 has it",
        ),
        ({"personality": "sysbench/1.0", "rand_type": "zipfian"}, "no rand_type 'zipfian'"),
        ({"rand_type": "special"}, "sysbench/1.1 has no rand_type 'special'"),
        ({"rand_spec_pct": 2}, "sysbench/1.1 has no option rand_spec_pct; sysbench/1.0 has it"),
    ],
)
def test_a_personality_refuses_what_its_version_did_not_have(options, message):
    with pytest.raises(WorkloadError, match=re.escape(message)):
        workloads.oltp_read_only(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table_size": 10}, "unknown option of oltp_read_write 'table_size': did you mean rows?"),
        ({"table-size": 10}, "did you mean rows?"),
        ({"mysql_storage_engine": "x"}, "did you mean storage_engine?"),
        ({"point_select": 3}, "did you mean 'point_selects'?"),
        ({"rows": 0}, "rows must be an integer from 1 to 2147483647, not 0"),
        ({"rows": 2**31}, "not 2147483648"),
        ({"rows": 1e6}, "rows must be an integer from 1 to 2147483647, not 1000000.0"),
        ({"rows": True}, "rows must be an integer"),
        ({"tables": -1}, "tables must be an integer from 1 to"),
        ({"order_ranges": "2"}, "order_ranges must be an integer from 0 to"),
        ({"skip_trx": "on"}, "skip_trx must be True or False, not 'on'"),
        ({"rand_pareto_h": 1}, "rand_pareto_h must be a number from 0.001 to 0.999, not 1"),
        ({"rand_pareto_h": float("nan")}, "not nan"),
        ({"rand_type": "zipfain"}, "unknown rand_type 'zipfain': did you mean 'zipfian'?"),
        ({"personality": "sysbench/1.2"}, "unknown personality 'sysbench/1.2'"),
        ({"storage_engine": "innodb; DROP"}, "storage_engine must be a text of letters"),
        ({"charset": None}, "charset must be a text"),
    ],
)
def test_a_bad_option_says_what_would_be_right(options, message):
    with pytest.raises(WorkloadError, match=re.escape(message)):
        workloads.oltp_read_write(**options)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("oltp_point_select", {"point_selects": 2}, "point_selects is always 1"),
        ("select_random_points", {"tables": 2}, "tables is always 1"),
        ("select_random_ranges", {"tables": 2}, "tables is always 1"),
        ("oltp_update_index", {"index_updates": 0}, "no statement is left to run"),
        ("oltp_read_write", {"delta": 5}, "unknown option of oltp_read_write 'delta'"),
        ("bulk_insert", {"rows": 5}, "unknown option of bulk_insert 'rows'. Known: personality"),
        ("null", {"rows": 5}, "unknown option of null 'rows'"),
        ("select", {"tables": 5}, "unknown option of select 'tables'"),
    ],
)
def test_an_option_a_script_cannot_have_is_refused(name, options, message):
    with pytest.raises(WorkloadError, match=re.escape(message)):
        workloads.find(name, **options)


@pytest.mark.parametrize("name", OLTP)
def test_every_oltp_script_takes_all_common_options(name):
    common = {"rows": 500, "range_size": 10, "skip_trx": True, "delete_inserts": 2}
    workload = workloads.find(name, **common)
    assert common.items() <= dict(workload.parameters).items()


def test_parameters_hold_every_option_of_the_personality_with_its_value():
    parameters = dict(workloads.oltp_read_only(rows=3).parameters)
    described = {option.name for option in workloads.oltp_read_only.options}
    assert described - parameters.keys() == {"rand_spec_pct", "rand_spec_res", "rand_spec_iter"}
    assert (parameters["rows"], parameters["tables"], parameters["rand_type"]) == (3, 1, "uniform")


def test_find_knows_names_and_identities():
    assert workloads.find("oltp_insert", rows=7) == workloads.oltp_insert(rows=7)
    assert workloads.find("sysbench/1.0:oltp_insert") == workloads.oltp_insert(
        personality="sysbench/1.0"
    )
    assert workloads.find("sysbench/0.5:select") == sysbench05.select()
    assert workloads.find("benchkit:null") == workloads.null()


def test_every_identity_is_found_under_itself():
    for identity in workloads.identities():
        assert workloads.find(identity).identity == identity


def test_names_are_those_of_the_workloads():
    assert workloads.names() == [*OLTP, "bulk_insert", *SYSBENCH05, "null"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("oltp_readonly", "unknown workload 'oltp_readonly': did you mean 'oltp_read_only'?"),
        ("sysbench/1.0:oltp_readonly", "did you mean 'oltp_read_only'?"),
        ("sysbench/1.0:oltp_simple", "unknown personality 'sysbench/1.0'"),
        ("sysbench/2:oltp_delete", "unknown personality 'sysbench/2'"),
        ("", "unknown workload ''"),
    ],
)
def test_an_unknown_workload_is_an_error_with_the_nearest(name, message):
    with pytest.raises(WorkloadError, match=re.escape(message)):
        workloads.find(name)


def test_an_identity_and_another_personality_contradict():
    with pytest.raises(WorkloadError, match="cannot have personality 'sysbench/1.1'"):
        workloads.find("sysbench/1.0:oltp_delete", personality="sysbench/1.1")


def test_the_fingerprint_tells_work_apart_but_not_unused_options():
    plain = workloads.oltp_point_select()
    assert plain.fingerprint() == workloads.oltp_point_select(order_ranges=9).fingerprint()
    others = [
        workloads.oltp_point_select(rows=11),
        workloads.oltp_point_select(tables=2),
        workloads.oltp_point_select(charset="latin1"),
        workloads.oltp_point_select(rand_type="zipfian"),
        workloads.oltp_point_select(personality="sysbench/1.0", rand_type="uniform"),
    ]
    assert len({w.fingerprint() for w in (plain, *others)}) == 6


def test_help_lists_every_option_with_default_and_limits():
    help = inspect.getdoc(workloads.select_random_ranges)
    assert "delta : int, default 5, from 0 to 2147483647\n    From the start" in help
    assert "tables : int, default 1, from 1 to 1\n" in help
    signature = inspect.signature(workloads.select_random_ranges)
    assert signature.parameters["number_of_ranges"].default == 10
    assert list(signature.parameters) == [
        option.name for option in workloads.factory("select_random_ranges").options
    ]


def test_an_option_is_described_by_its_field():
    described = {option.name: option for option in workloads.oltp_read_only.options}
    assert described["tables"] == Option("tables", int, 1, "Number of tables.", Limits(1, 10_000))
