"""What the built-in workloads consist of: statements, parameters, tables and rules."""

from collections import Counter

import pytest

from benchkit import workloads
from benchkit.errors import WorkloadError
from benchkit.generators import constant, permutation, sequence, uniform
from benchkit.workloads import sysbench05


def statements(workload):
    """Count the statements of a workload's only transaction by name, from its spec."""
    ((_, _, steps),) = workload.spec()["transactions"]
    return _count(steps)


def _count(steps):
    counts = Counter()
    for kind, *rest in steps:
        if kind == "repeat":
            times, inner = rest
            counts.update({name: times * n for name, n in _count(inner).items()})
        elif kind in ("execute", "insert_rows"):
            counts[rest[0]] += 1
        elif kind in ("begin", "commit", "rollback"):
            counts[kind] += 1
    return counts


def flatten(steps):
    """Return every step of a spec in order, those of a repeat once, and all branches."""
    for step in steps:
        if step[0] == "repeat":
            yield from flatten(step[2])
        elif step[0] == "choose":
            for _, inner in step[1]:
                yield from flatten(inner)
        elif step[0] == "if":
            yield from flatten([*step[4], *step[5]])
        else:
            yield step


def spec_steps(workload):
    ((_, _, steps),) = workload.spec()["transactions"]
    return list(flatten(steps))


def sql_of(workload):
    return {step[1]: step[2] for step in spec_steps(workload) if step[0] == "execute"}


def draws_of(workload, register):
    return [step[2] for step in spec_steps(workload) if step[:2] == ("let", register)]


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("oltp_read_only", 16),
        ("oltp_read_write", 20),
        ("oltp_write_only", 6),
        ("oltp_point_select", 1),
        ("oltp_update_index", 1),
        ("oltp_update_non_index", 1),
        ("oltp_delete", 1),
        ("oltp_insert", 1),
        ("select_random_points", 1),
        ("select_random_ranges", 1),
        ("bulk_insert", 1),
        ("oltp_complex_ro", 16),
        ("oltp_complex_rw", 20),
        ("oltp_simple", 1),
        ("select", 1),
        ("update_index", 1),
        ("update_non_index", 1),
        ("delete", 1),
        ("insert", 1),
        ("null", 0),
    ],
)
def test_a_transaction_has_sysbenchs_number_of_statements(name, total):
    assert statements(workloads.find(name)).total() == total


def test_read_write_counts_each_kind_of_statement_under_its_name():
    assert statements(workloads.oltp_read_write()) == {
        "begin": 1,
        "point_select": 10,
        "simple_range": 1,
        "sum_range": 1,
        "order_range": 1,
        "distinct_range": 1,
        "index_update": 1,
        "non_index_update": 1,
        "delete": 1,
        "insert": 1,
        "commit": 1,
    }


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ({"point_selects": 3}, {"point_select": 3}),
        ({"simple_ranges": 4}, {"simple_range": 4}),
        ({"sum_ranges": 5}, {"sum_range": 5}),
        ({"order_ranges": 6}, {"order_range": 6}),
        ({"distinct_ranges": 0}, {"distinct_range": 0}),
        ({"index_updates": 7}, {"index_update": 7}),
        ({"non_index_updates": 8}, {"non_index_update": 8}),
        ({"delete_inserts": 9}, {"delete": 9, "insert": 9}),
        ({"skip_trx": True}, {"begin": 0, "commit": 0}),
        (
            {"range_selects": False},
            {"simple_range": 0, "sum_range": 0, "order_range": 0, "distinct_range": 0},
        ),
    ],
)
def test_an_option_changes_its_statements_and_no_others(options, changed):
    usual = statements(workloads.oltp_read_write())
    usual.update({name: changed[name] - usual[name] for name in changed})
    assert statements(workloads.oltp_read_write(**options)) == usual


@pytest.mark.parametrize("name", ["oltp_update_index", "oltp_update_non_index"])
def test_an_update_script_repeats_its_update(name):
    option = name.removeprefix("oltp_update_") + "_updates"
    workload = workloads.find(name, **{option: 4})
    assert statements(workload).total() == 4


def test_the_statements_are_sysbenchs():
    assert sql_of(workloads.oltp_read_write()) == {
        "point_select": "SELECT c FROM sbtest{table} WHERE id = ?",
        "simple_range": "SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ?",
        "sum_range": "SELECT SUM(k) FROM sbtest{table} WHERE id BETWEEN ? AND ?",
        "order_range": "SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c",
        "distinct_range": (
            "SELECT DISTINCT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c"
        ),
        "index_update": "UPDATE sbtest{table} SET k = k + 1 WHERE id = ?",
        "non_index_update": "UPDATE sbtest{table} SET c = ? WHERE id = ?",
        "delete": "DELETE FROM sbtest{table} WHERE id = ?",
        "insert": "INSERT INTO sbtest{table} (id, k, c, pad) VALUES (?, ?, ?, ?)",
    }


@pytest.mark.parametrize("name", workloads.names())
def test_every_parameter_is_drawn_before_the_statement_that_takes_it(name):
    spec = workloads.find(name).spec()
    for _, _, steps, *_ in spec["transactions"]:
        check_draws(flatten([*spec.get("set_up", []), *steps]))


def check_draws(steps):
    drawn = {"worker", "workers"}
    for step in steps:
        if step[0] in ("let", "add", "calculate"):
            drawn.add(step[1])
        elif step[0] in ("execute", "insert_rows"):
            assert set(step[3]) <= drawn
            assert step[2].count("?") in (len(step[3]), 0)
            drawn |= {register for register, _ in step[4]} if step[0] == "execute" else set()


def test_each_group_of_statements_picks_its_own_table():
    workload = workloads.oltp_read_write(tables=8)
    assert draws_of(workload, "table") == [uniform(1, 8).spec()] * 8


def test_a_range_ends_range_size_after_it_began_even_beyond_the_table():
    workload = workloads.oltp_read_only(rows=50, range_size=200)
    ends = [step[3] for step in spec_steps(workload) if step[0] == "add"]
    assert ends == [199] * 4
    assert draws_of(workload, "id") == [uniform(1, 50).spec()] * 4


def test_a_deleted_row_is_inserted_again_under_its_id():
    steps = spec_steps(workloads.oltp_write_only())
    (delete,) = [s for s in steps if s[:2] == ("execute", "delete")]
    (insert,) = [s for s in steps if s[:2] == ("execute", "insert")]
    assert delete[3] == ["id"]
    assert insert[3][0] == "id"


def test_random_points_come_from_the_workers_own_part():
    workload = workloads.select_random_points(rows=1000, random_points=3)
    *draws, select = spec_steps(workload)
    assert [draw[2] for draw in draws] == [uniform(1, 1000, partitioned=True).spec()] * 3
    assert select[2] == "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?)"


def test_random_ranges_span_delta():
    workload = workloads.select_random_ranges(number_of_ranges=2, delta=7)
    *_, select = steps = spec_steps(workload)
    assert select[2] == (
        "SELECT COUNT(k) FROM sbtest1 WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?"
    )
    ends = {step[1]: step[2:] for step in steps if step[0] == "add"}
    start_1, end_1, start_2, end_2 = select[3]
    assert ends == {end_1: (start_1, 7), end_2: (start_2, 7)}


def test_bulk_insert_numbers_the_rows_of_each_workers_table():
    workload = workloads.bulk_insert()
    let, insert = spec_steps(workload)
    assert let == ("let", "row", sequence(1, 1).spec())
    assert insert == ("insert_rows", "insert", "INSERT INTO sbtest{worker} VALUES", ["row", "row"])
    assert [table.count for table in workload.tables_for(6)] == [6]


def test_insert_lets_the_server_number_rows_or_draws_each_id_once():
    numbered = workloads.oltp_insert(rows=77)
    unique = workloads.oltp_insert(rows=77, auto_inc=False)
    assert draws_of(numbered, "_1") == [constant(0).spec()]
    assert draws_of(unique, "_1") == [permutation(-(2**31), 2**31 - 1).spec()]
    assert draws_of(unique, "_2") == [uniform(1, 77).spec()]
    assert (numbered.tables[0].rows, unique.tables[0].rows) == (77, 0)


@pytest.mark.parametrize("name", workloads.names())
def test_tables_are_fresh_only_where_a_run_uses_them_up(name):
    used_up = {"oltp_delete", "oltp_insert", "bulk_insert", "delete", "insert"}
    assert workloads.find(name).fresh_data == (name in used_up)


def test_the_text_templates_are_groups_of_eleven_digits():
    columns = dict(workloads.oltp_read_only().tables[0].columns)
    group = "#" * 11
    assert columns["c"].spec() == ("template", {"text": "-".join([group] * 10)})
    assert columns["pad"].spec() == ("template", {"text": "-".join([group] * 5)})


def test_k_is_loaded_with_the_selected_distribution():
    columns = dict(workloads.oltp_read_only(rows=9, rand_type="pareto").tables[0].columns)
    assert columns["k"].spec()[0] == "pareto"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "PRIMARY KEY (id)\n) ENGINE = innodb"),
        ({"secondary": True}, "KEY xid (id)\n) ENGINE = innodb"),
        ({"storage_engine": "MyISAM"}, "PRIMARY KEY (id)\n) ENGINE = MyISAM"),
        ({"charset": "latin1"}, "PRIMARY KEY (id)\n) ENGINE = innodb DEFAULT CHARSET = latin1"),
        (
            {"create_table_options": "ROW_FORMAT = DYNAMIC"},
            "PRIMARY KEY (id)\n) ENGINE = innodb ROW_FORMAT = DYNAMIC",
        ),
    ],
)
def test_table_options_go_into_create_table(options, expected):
    assert workloads.oltp_read_only(**options).tables[0].create.endswith("  " + expected)


def test_auto_inc_is_a_property_of_the_column():
    assert "AUTO_INCREMENT" in workloads.oltp_read_only().tables[0].create
    assert "AUTO_INCREMENT" not in workloads.oltp_read_only(auto_inc=False).tables[0].create


def test_the_index_on_k_is_made_after_the_load_unless_switched_off():
    finish = ("CREATE INDEX k_{n} ON sbtest{n} (k)",)
    assert workloads.oltp_read_only().tables[0].finish == finish
    assert workloads.oltp_read_only(create_secondary=False).tables[0].finish == ()


def test_reconnect_is_a_rule():
    assert workloads.oltp_read_only(reconnect=100).rules.reconnect_every == 100


def test_personalities_draw_by_their_own_default():
    new = workloads.oltp_point_select()
    old = workloads.oltp_point_select(personality="sysbench/1.0")
    assert (new.identity, draws_of(new, "_1")[0][0]) == (
        "sysbench/1.1:oltp_point_select",
        "uniform",
    )
    assert (old.identity, draws_of(old, "_1")[0][0]) == (
        "sysbench/1.0:oltp_point_select",
        "special",
    )


@pytest.mark.parametrize(
    ("options", "kind", "arguments"),
    [
        ({"rand_type": "gaussian"}, "gaussian", {"rounds": 12}),
        ({"rand_type": "pareto", "rand_pareto_h": 0.3}, "pareto", {"h": 0.3}),
        (
            {"rand_type": "zipfian", "rand_zipfian_exp": 1.1},
            "zipfian",
            {"exponent": 1.1, "scrambled": False},
        ),
        (
            {
                "personality": "sysbench/1.0",
                "rand_spec_pct": 2,
                "rand_spec_res": 60,
                "rand_spec_iter": 5,
            },
            "special",
            {"hot_percent": 2, "hot_share": 60, "rounds": 5, "hot_skip": 40},
        ),
    ],
)
def test_rand_options_reach_the_generator(options, kind, arguments):
    ((found, given),) = draws_of(workloads.oltp_point_select(rows=500, **options), "_1")
    assert found == kind
    assert given == {"low": 1, "high": 500, "partitioned": False} | arguments


class TestSysbench05:
    def test_draws_are_special_over_the_one_table(self):
        ((kind, arguments),) = draws_of(sysbench05.oltp_simple(rows=2_000_000), "_1")
        assert (kind, arguments["high"], arguments["hot_skip"]) == ("special", 2_000_000, 0)

    def test_rows_are_all_alike(self):
        columns = dict(sysbench05.oltp_simple().tables[0].columns)
        assert columns["k"] == constant(0)
        assert columns["c"] == constant(" ")
        assert columns["pad"] == constant("qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt")

    def test_select_reads_pad_and_simple_reads_c(self):
        assert sql_of(sysbench05.select()) == {
            "point_select": "SELECT pad FROM sbtest WHERE id = ?"
        }
        assert sql_of(sysbench05.oltp_simple()) == {
            "point_select": "SELECT c FROM sbtest WHERE id = ?"
        }

    def test_a_row_is_inserted_again_as_a_blank_one(self):
        assert sql_of(sysbench05.oltp_complex_rw())["insert"] == (
            "INSERT INTO sbtest VALUES "
            "(?, 0, ' ', 'aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy')"
        )

    @pytest.mark.parametrize("options", [{"storage_engine": "MyISAM"}, {"engine_trx": "no"}])
    @pytest.mark.parametrize(("name", "lock"), [("complex_ro", "READ"), ("complex_rw", "WRITE")])
    def test_an_engine_without_transactions_is_locked(self, options, name, lock):
        first, *_, last = spec_steps(workloads.find(f"oltp_{name}", **options))
        assert first[2] == f"LOCK TABLES sbtest {lock}"
        assert last[2] == "UNLOCK TABLES"

    def test_an_engine_that_is_said_to_have_transactions_is_not_locked(self):
        workload = sysbench05.oltp_complex_ro(storage_engine="MyISAM", engine_trx="yes")
        assert [step[0] for step in spec_steps(workload)][:: len(spec_steps(workload)) - 1] == [
            "begin",
            "commit",
        ]

    def test_insert_starts_from_an_empty_table(self):
        numbered, unique = sysbench05.insert(rows=50), sysbench05.insert(rows=50, auto_inc=False)
        assert (numbered.tables[0].rows, unique.tables[0].rows) == (0, 0)
        assert sql_of(numbered)["insert"] == "INSERT INTO sbtest VALUES (NULL, ?, ?, ?)"
        assert draws_of(unique, "_1") == [permutation(1, 50).spec()]

    def test_max_rows_and_engine_go_into_create_table(self):
        workload = sysbench05.select(max_rows=5, storage_engine="Aria", charset="latin1")
        assert workload.tables[0].create.endswith(
            "KEY k (k)\n) ENGINE = Aria MAX_ROWS = 5 DEFAULT CHARSET = latin1"
        )

    def test_old_spellings_are_hinted_at(self):
        with pytest.raises(WorkloadError, match="did you mean max_rows?"):
            sysbench05.select(myisam_max_rows=5)
        with pytest.raises(WorkloadError, match="unknown rand_type 'pareto'"):
            sysbench05.select(rand_type="pareto")
