"""What differs: options by what they mean, facts, and works that are not to be compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchkit.differences import (
    Difference,
    Work,
    differing_facts,
    differing_options,
    reasons_against,
    unique_labels,
)
from benchkit.optionvalue import normalise_option


def meant(name, value=None):
    option = normalise_option(name, value)
    return option.name, option.value


@pytest.mark.parametrize(
    "same",
    [
        [("log_bin",), ("log-bin", "ON"), ("LOG_BIN", "1"), ("log_bin", "yes")],
        [("disable-log-bin",), ("skip-log-bin",), ("log_bin", "OFF"), ("skip_log_bin", "ON")],
        [("skip-log-bin", "0"), ("log_bin", "ON"), ("enable-log-bin",), ("loose-log-bin",)],
        [("tmp_table_size", "1G"), ("tmp-table-size", "1073741824"), ("tmp_table_size", "1024M")],
        [("innodb_flush_method", "O_DIRECT"), ("innodb_flush_method", "'o_direct'")],
        [("long_query_time", "0.10"), ("long_query_time", "0.1")],
        [("binlog_storage_engine", "innodb"), ("binlog_storage_engine", "InnoDB")],
        [("server_id", "007"), ("server_id", "7")],
    ],
    ids=lambda same: same[0][0],
)
def test_options_that_mean_the_same_are_the_same(same):
    assert len({meant(*option) for option in same}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("log_bin",), ("log_bin", "OFF")),
        (("log_bin",), ("log_bin", "mysql-bin.log")),
        (("innodb_buffer_pool_size", "1G"), ("innodb_buffer_pool_size", "1000000000")),
        (("tmpdir", "/tmp/A"), ("tmpdir", "/tmp/a")),
        (("server_id", "1"), ("server_id", "2")),
        (("a", "1234567.5"), ("a", "1234568.4")),
        (("a", "999999999999999.000000000000001"), ("a", "999999999999999.000000000000002")),
    ],
)
def test_options_that_mean_something_else_differ(one, other):
    assert meant(*one) != meant(*other)


def test_only_differing_options_are_listed_as_they_were_written():
    configs = [
        (("disable-log-bin", None), ("innodb_buffer_pool_size", "1G"), ("a", "1")),
        (("log_bin", None), ("innodb-buffer-pool-size", "1073741824")),
        None,
    ]
    assert differing_options(configs) == [
        Difference("log_bin", ("OFF", "ON", "(unknown)")),
        Difference("a", ("1", "(missing)", "(unknown)")),
    ]


def test_option_given_several_times_is_compared_with_all_its_values():
    one = (("replicate-do-db", "a"), ("replicate_do_db", "b"))
    other = (("replicate_do_db", "c"), ("replicate_do_db", "b"))
    assert differing_options([one, other, one[1:], ()]) == [
        Difference("replicate_do_db", ("a, b", "c, b", "b", "(missing)"))
    ]


def test_configuration_that_is_not_known_makes_no_difference():
    assert differing_options([(("log_bin", None),), None]) == []


@given(st.lists(st.tuples(st.text(min_size=1), st.none() | st.text())))
def test_a_configuration_does_not_differ_from_itself(config):
    assert differing_options([config, list(config)]) == []


def test_differing_facts_include_absent_ones():
    found = differing_facts([{"Host": "a", "CPU": "x"}, {"Host": "a"}])
    assert found == [Difference("CPU", ("x", "(missing)"))]


@pytest.mark.parametrize(
    ("labels", "tags", "configs", "expected"),
    [
        (["11.8", "12.3"], ["t", "t"], [None, None], ["11.8", "12.3"]),
        (["v", "v", "w"], ["BASE", "BINLOG", "x"], [None] * 3, ["v · BASE", "v · BINLOG", "w"]),
        (["v", "v"], ["", ""], [(("a", "1"),), (("a", "2"),)], ["v · a=1", "v · a=2"]),
        (["v", "v"], ["", ""], [(), (("a", "2"),)], ["v", "v · a=2"]),
        (["v", "v"], ["t", "t"], [None, None], ["v #1", "v #2"]),
        (["v", "v", "v"], ["t", "t", "u"], [None] * 3, ["v · t #1", "v · t #2", "v · u"]),
    ],
)
def test_equal_labels_are_told_apart(labels, tags, configs, expected):
    assert unique_labels(labels, tags, configs) == expected


@given(st.lists(st.sampled_from(["v", "v #1", "v #2", "v · t", "w"]), max_size=8), st.data())
def test_labels_are_unique_whatever_they_are(labels, data):
    tags = [data.draw(st.sampled_from(["", "t", "u"])) for _ in labels]
    found = unique_labels(labels, tags, [None] * len(labels))
    assert len(set(found)) == len(labels)


BASE = Work("base", "taf/x:tprocc", {"warehouses": 5}, None, ("tpm",))


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (Work("b", "taf/x:tprocc", {"warehouses": 5}, None, ("tpm", "nopm")), []),
        (Work("b", "taf/x:tprocc", {}, None, ("tpm",)), []),
        (
            Work("b", "taf/x:tprocc", {"warehouses": 100}, None, ("tpm",)),
            ["warehouses is 5 in base and 100 in b"],
        ),
        (
            Work("b", "taf/x:tprocc", {"warehouses": 5}, None, ("nopm",)),
            ["b has no tpm, only nopm"],
        ),
        (
            Work("b", "taf/x:oltp_ro", {}, None, ("tpm",)),
            ["base has the workload taf/x:tprocc, b has taf/x:oltp_ro"],
        ),
        (Work("b", "taf/x:tprocc", {}, None, None), []),
    ],
)
def test_reasons_name_what_is_not_alike(other, reason):
    assert reasons_against([BASE], [other], "tpm") == reason


def test_own_runs_of_other_statements_are_not_alike():
    works = [Work(name, "w", {}, f"fingerprint {name}") for name in ("a", "b")]
    assert reasons_against(works[:1], works[1:], "tps") == ["w had different parameters in a and b"]
