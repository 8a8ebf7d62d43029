"""How workloads are found, and how their options are described and refused."""

import inspect
import re
from dataclasses import fields, replace

import pytest

from benchkit import workloads
from benchkit.errors import WorkloadError
from benchkit.workloads import oltp, sysbench05
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
        ({"rand_type": "zipfian", "personality": "sysbench/1.0"}, "no rand_type 'zipfian'"),
        ({"rand_type": "special"}, "sysbench/1.1 has no rand_type 'special', only uniform"),
        (
            {"reconnect": 5, "personality": "sysbench/1.0"},
            "reconnect acts only with personality sysbench/1.1, and personality is sysbench/1.0",
        ),
        (
            {"create_table_options": "x", "personality": "sysbench/1.0"},
            "create_table_options acts only with personality sysbench/1.1",
        ),
        (
            {"rand_spec_iter": 5, "rand_type": "gaussian"},
            "rand_spec_iter acts only with personality sysbench/1.0",
        ),
        ({"rand_spec_pct": 2}, "acts only with rand_type special, and rand_type is uniform"),
        ({"rand_pareto_h": 0.2}, "rand_pareto_h acts only with rand_type pareto"),
        ({"rand_zipfian_exp": 1, "rand_type": "pareto"}, "acts only with rand_type zipfian"),
        (
            {"order_ranges": 2, "range_selects": False},
            "order_ranges acts only with range_selects True, and range_selects is False",
        ),
    ],
)
def test_an_option_that_would_not_act_in_this_combination_is_refused(options, message):
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
        (
            {"rand_pareto_h": 1, "rand_type": "pareto"},
            "rand_pareto_h must be a number from 0.001 to 0.999, not 1",
        ),
        ({"rand_pareto_h": float("nan"), "rand_type": "pareto"}, "not nan"),
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
        (
            "oltp_point_select",
            {"index_updates": 3},
            "oltp_point_select has no option index_updates, which acts on oltp_read_write, "
            "oltp_write_only, oltp_update_index",
        ),
        ("oltp_insert", {"oltp_range_size": 3}, "oltp_insert has no option range_size, which"),
        ("oltp_point_select", {"point_selects": 1}, "acts on oltp_read_only, oltp_read_write"),
        ("select_random_points", {"tables": 1}, "has no option tables, which acts on oltp_"),
        ("oltp_read_write", {"delta": 5}, "which acts on select_random_ranges"),
        ("bulk_insert", {"rows": 5}, "bulk_insert has no option rows, which acts on oltp_"),
        ("oltp_update_index", {"index_updates": 0}, "no statement is left to run"),
        ("null", {"rows": 5}, "unknown option of null 'rows'. Known: none"),
        ("select", {"tables": 5}, "unknown option of select 'tables'"),
        ("select", {"range_size": 5}, "which acts on oltp_complex_ro, oltp_complex_rw"),
    ],
)
def test_an_option_a_script_cannot_have_is_refused(name, options, message):
    with pytest.raises(WorkloadError, match=re.escape(message)):
        workloads.find(name, **options)


OTHER_VALUES = {
    "auto_inc": False,
    "existing": "tpcc",
    "flavour": "spec",
    "history_pk": True,
    "home": "all",
    "innodb_snapshot_isolation": "on",
    "isolation": "read-committed",
    "key_and_think": True,
    "mix": "deck",
    "partitions": True,
    "procedures": False,
    "protocol": "hammerdb",
    "updates": "key",
    "charset": "latin1",
    "create_secondary": False,
    "create_table_options": "CHECKSUM = 1",
    "engine_trx": "no",
    "range_selects": False,
    "rand_pareto_h": 0.3,
    "rand_type": "gaussian",
    "rand_zipfian_exp": 1.5,
    "secondary": True,
    "skip_trx": True,
    "storage_engine": "aria",
    "personality": "sysbench/1.0",
}
"""A value other than the default for each option that is no integer; integers go up by one."""

ACTED_ON = {
    "partitions": {"warehouses": 400},
    "rand_pareto_h": {"rand_type": "pareto"},
    "rand_zipfian_exp": {"rand_type": "zipfian"},
    "rand_spec_pct": {"personality": "sysbench/1.0", "rand_type": "special"},
    "rand_spec_res": {"personality": "sysbench/1.0", "rand_type": "special"},
    "rand_spec_iter": {"personality": "sysbench/1.0", "rand_type": "gaussian"},
}
"""What must be given with an option for it to act."""


@pytest.mark.parametrize("name", workloads.names())
def test_each_option_a_script_offers_changes_what_it_does(name):
    made = workloads.factory(name)
    offered = {option.name: option for option in made.options}
    for option in offered.values():
        others = {n: v for n, v in ACTED_ON.get(option.name, {}).items() if n in offered}
        value = OTHER_VALUES.get(option.name)
        value = option.default + 1 if value is None else value
        plain, changed = made(**others), made(**others, **{option.name: value})
        assert changed.fingerprint() != plain.fingerprint(), option.name


@pytest.mark.parametrize(
    ("name", "options"),
    [(name, oltp.OltpOptions) for name in (*OLTP, "bulk_insert")]
    + [(name, sysbench05.Sysbench05Options) for name in SYSBENCH05],
)
def test_an_option_a_script_does_not_offer_would_change_nothing(name, options):
    made = workloads.factory(name)
    # More tables would be made but never read by the scripts that know one table only.
    exempt = {option.name for option in made.options} | {"tables"}
    plain = replace(options(), rand_type="uniform")
    for field in fields(options):
        value = OTHER_VALUES.get(field.name)
        value = getattr(plain, field.name) + 1 if value is None else value
        if field.name not in exempt:
            changed = replace(plain, **{field.name: value})
            assert made.__wrapped__(changed) == made.__wrapped__(plain), field.name


def test_parameters_hold_every_option_that_acts_with_its_value():
    parameters = dict(workloads.oltp_read_only(rows=3).parameters)
    described = {option.name for option in workloads.oltp_read_only.options}
    assert described - parameters.keys() == {
        "rand_spec_pct",
        "rand_spec_res",
        "rand_spec_iter",
        "rand_pareto_h",
        "rand_zipfian_exp",
    }
    assert (parameters["rows"], parameters["tables"], parameters["rand_type"]) == (3, 1, "uniform")


@pytest.mark.parametrize("identity", workloads.identities())
def test_a_workload_is_made_again_from_its_identity_and_parameters(identity):
    workload = workloads.find(identity)
    assert workloads.find(workload.identity, **dict(workload.parameters)) == workload


def test_find_knows_names_and_identities():
    assert workloads.find("oltp_insert", rows=7) == workloads.oltp_insert(rows=7)
    assert workloads.find("sysbench/1.0:oltp_insert") == workloads.oltp_insert(
        personality="sysbench/1.0"
    )
    assert workloads.find("sysbench/0.5:select") == sysbench05.select()
    assert workloads.find("benchkit:null") == workloads.null()
    assert workloads.find("tprocc/hammerdb6", warehouses=3) == workloads.tprocc(warehouses=3)
    assert workloads.find("tpcc/spec") == workloads.tprocc(flavour="spec")


def test_every_identity_is_found_under_itself():
    for identity in workloads.identities():
        assert workloads.find(identity).identity == identity


def test_names_are_those_of_the_workloads():
    assert workloads.names() == [*OLTP, "bulk_insert", *SYSBENCH05, "tprocc", "tpcb", "null"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("oltp_readonly", "unknown workload 'oltp_readonly': did you mean 'oltp_read_only'?"),
        ("sysbench/1.0:oltp_readonly", "did you mean 'oltp_read_only'?"),
        ("sysbench/1.0:oltp_simple", "unknown personality 'sysbench/1.0'"),
        ("sysbench/2:oltp_delete", "unknown personality 'sysbench/2'"),
        ("", "unknown workload ''"),
        ("tpcc/spec:tprocc", "unknown workload 'tpcc/spec:tprocc': did you mean 'tpcc/spec'?"),
        ("tprocc/hammerdb5", "did you mean 'tprocc/hammerdb6'?"),
    ],
)
def test_an_unknown_workload_is_an_error_with_the_nearest(name, message):
    with pytest.raises(WorkloadError, match=re.escape(message)):
        workloads.find(name)


def test_an_identity_and_another_personality_contradict():
    with pytest.raises(WorkloadError, match="cannot have personality 'sysbench/1.1'"):
        workloads.find("sysbench/1.0:oltp_delete", personality="sysbench/1.1")


def test_the_fingerprint_tells_work_apart():
    plain = workloads.oltp_point_select()
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
    assert "The h of pareto draws. Only with rand_type pareto." in help
    assert "\ntables :" not in help
    signature = inspect.signature(workloads.select_random_ranges)
    assert signature.parameters["number_of_ranges"].default == 10
    assert list(signature.parameters) == [
        option.name for option in workloads.factory("select_random_ranges").options
    ]


def test_an_option_is_described_by_its_field():
    described = {option.name: option for option in workloads.oltp_read_only.options}
    assert described["tables"] == Option("tables", int, 1, "Number of tables.", Limits(1, 10_000))
