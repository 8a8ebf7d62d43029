"""Generators that follow row numbers, and those that are made of others."""

import itertools

import numpy as np
import pytest
import reference

from benchkit import generators as g
from benchkit._core import Program, draw
from benchkit.errors import WorkloadError
from benchkit.workloads import Execute, Let, Transaction, Workload

P_VALUE = 1e-4
MANY = 200_000


def values(generator, count, **where):
    drawn = draw(generator.spec(), count, **where)
    return drawn if isinstance(drawn, list) else drawn.tolist()


def places(drawn, possible):
    """Return where each value stands among the possible ones; each must be there."""
    index = {value: place for place, value in enumerate(possible)}
    return np.array([index[value] for value in drawn])


def check_uniform(drawn, possible):
    found = places(drawn, possible)
    if len(possible) > 1:
        assert reference.chi_square_p(found, reference.uniform_pmf(len(possible))) > P_VALUE


# Of row numbers


@pytest.mark.parametrize(
    "how",
    [
        {"every": 3},
        {"cycle": 4},
        {"start": -5, "step": 7, "every": 2, "cycle": 3},
        {"start": 9, "step": -2, "cycle": 5},
    ],
)
def test_sequence_repeats_and_starts_again(how):
    assert values(g.sequence(**how), 50) == reference.sequence_values(50, **how)


def test_sequences_number_what_is_nested():
    district, customer = g.sequence(every=30, cycle=10), g.sequence(cycle=30)
    warehouse = g.sequence(every=300)
    rows = zip(*(values(each, 900) for each in (warehouse, district, customer)), strict=True)
    wanted = itertools.product(range(1, 4), range(1, 11), range(1, 31))
    assert list(rows) == list(wanted)


def test_remaining_is_uniform_over_what_a_round_has_left():
    drawn = np.array(values(g.remaining(11, 17), 7 * MANY)).reshape(-1, 7)
    for place in range(7):
        check_uniform(drawn[:, place].tolist(), list(range(11 + place, 18)))


def test_reshuffled_permutation_is_another_in_each_round():
    rounds = np.array(values(g.permutation(1, 100, reshuffled=True), 1000)).reshape(-1, 100)
    assert all(sorted(each) == list(range(1, 101)) for each in rounds.tolist())
    assert len({tuple(each) for each in rounds.tolist()}) == 10
    assert values(g.permutation(1, 100, reshuffled=True), 1000) == rounds.flatten().tolist()


def test_last_names_in_order_name_each_number_once():
    drawn = values(g.last_name(in_order=True), 2000)
    assert drawn[:3] == ["BARBARBAR", "BARBAROUGHT", "BARBARABLE"]
    assert drawn[999] == "EINGEINGEING"
    assert len(set(drawn[:1000])) == 1000
    assert drawn[1000:] == drawn[:1000]


# Texts of numbers


@pytest.mark.parametrize(("low", "high", "places"), [(-120, 120, 2), (0, 9, 0), (1, 50, 4)])
def test_decimal_is_any_number_of_its_range(low, high, places):
    possible = [f"{int(t)}" if places == 0 else t for t in decimals(low, high, places)]
    check_uniform(values(g.decimal(low, high, places), MANY), possible)


def decimals(low, high, places):
    """Return the reference's texts in plain notation, with a zero before the point."""
    return [f"{float(text):.{places}f}" for text in reference.decimal_texts(low, high, places)]


def test_decimal_of_the_widest_range_is_exact():
    top = 4 * 10**18
    for drawn in values(g.decimal(-top, top, 18), 1000):
        whole, _, rest = drawn.lstrip("-").partition(".")
        assert len(whole) == 1 and len(rest) == 18
        assert int(whole + rest) <= top


@pytest.mark.parametrize("left", [False, True])
def test_digits_are_filled_up_to_their_width(left):
    fill = str.ljust if left else str.rjust
    possible = {fill(str(number), 3, "0") for number in range(5, 1200)}
    drawn = values(g.digits(5, 1199, 3, left=left), MANY)
    assert set(drawn) == possible


# Made of others


def test_null_is_none():
    assert values(g.null(), 2) == [None, None]


def test_blocks_take_turns_and_each_counts_its_own_rows():
    made = g.blocks((3, g.sequence(100)), (2, g.null()), (1, g.sequence(0, -1)))
    counts = itertools.count(100), itertools.repeat(None), itertools.count(0, -1)
    wanted = reference.block_values(50, *zip((3, 2, 1), counts, strict=True))
    assert values(made, 50) == wanted


def test_mix_draws_by_weight():
    made = g.mix((7, g.constant("a")), (2, g.constant("b")), (1, g.null()))
    found = places(values(made, MANY), ["a", "b", None])
    assert reference.chi_square_p(found, np.array([0.7, 0.2, 0.1])) > P_VALUE
    assert reference.chi_square_p(found, np.array([0.69, 0.21, 0.1])) < P_VALUE


def test_joined_texts_stand_in_a_row():
    made = g.joined(g.digits(0, 9, 1), g.constant("-"), g.choice(["x", "yy", ""]))
    possible = [f"{digit}-{end}" for digit in range(10) for end in ("x", "yy", "")]
    check_uniform(values(made, MANY), possible)


@pytest.mark.parametrize("cut", [0, 1, 2, 3, 99])
@pytest.mark.parametrize("text", ["abcdef", "ab", "a", ""])
def test_splice_puts_the_word_at_any_place_where_it_fits(text, cut):
    possible = reference.splice_results(text, "XY", cut)
    check_uniform(values(g.splice(g.constant(text), "XY", cut), 20_000), possible)


def test_shared_draws_the_same_wherever_the_key_is_the_same():
    count = g.shared("count", g.uniform(0, 9))
    alone = values(count, 1000)
    beside = values(g.joined(g.alphanumeric(1, 9), g.shared("x", g.constant("a"))), 1000)
    assert len(set(beside)) > 900
    assert values(g.blocks((1000, count)), 1000) == alone
    assert values(g.shared("other", g.uniform(0, 9)), 1000) != alone
    assert values(count, 1000, seed=1) != alone


def test_shared_values_are_independent_of_row_and_key():
    one, two = (np.array(values(g.shared(key, g.uniform(0, 9)), MANY)) for key in ("a", "b"))
    uniform = reference.uniform_pmf(100)
    assert reference.chi_square_p(one * 10 + two, uniform) > P_VALUE
    assert reference.chi_square_p(one[::2] * 10 + one[1::2], uniform) > P_VALUE


def test_parts_of_workers_hold_within_a_mix():
    made = g.mix((1, g.uniform(1, 100, partitioned=True)), (1, g.uniform(1, 100, True)))
    for worker in range(2):
        drawn = values(made, 2000, worker=worker, workers=2)
        assert worker * 50 <= min(drawn) and max(drawn) <= worker * 50 + 50


def test_bounds_of_the_parts_are_those_of_the_whole():
    def numbered(source):
        steps = (Let("n", source), Execute("SELECT * FROM t{n}"))
        return Workload("test", (Transaction("t", steps),))

    two = g.mix((1, g.constant(1)), (1, g.uniform(2, 3)))
    assert Program(numbered(two).spec())
    with pytest.raises(WorkloadError, match="n"):
        numbered(g.mix((1, g.constant(1)), (1, g.null())))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: g.blocks(), "blocks: rows must not be empty"),
        (lambda: g.blocks((0, g.null())), "each of rows must be 1 to 1e.15, not 0"),
        (lambda: g.blocks((1, g.null(), 2)), r"each part must be .rows, generator., not"),
        (lambda: g.blocks((1.5, g.null())), "integer"),
        (lambda: g.mix(g.null()), r"mix: each part must be .weight, generator., not"),
        (lambda: g.mix((1, 5)), "mix: 5 is not a generator such as uniform"),
        (
            lambda: g.mix((1, g.constant(1)), (1, g.constant("a"))),
            "mix: constant_integer and constant_text draw different types",
        ),
        (lambda: g.joined(g.sequence()), "joined: sequence does not always draw a text"),
        (lambda: g.joined(g.mix((1, g.null()), (1, g.constant("a")))), "mix does not always"),
        (lambda: g.splice(g.constant("a"), "b", -1), "splice: cut must be 0 to"),
        (lambda: g.decimal(1, 2, 19), "decimal: places must be 0 to 18, not 19"),
        (lambda: g.decimal(2, 1, 0), "low 2 is above high 1"),
        (lambda: g.digits(-1, 1, 1), "digits: low must be 0 to"),
        (lambda: g.sequence(every=0), "sequence: every must be 1 to"),
    ],
)
def test_bad_parts_are_named(make, message):
    with pytest.raises(WorkloadError, match=message):
        make()


def test_wrong_shapes_are_refused_by_the_core():
    null = ("null", {})
    for spec, message in (
        (("blocks", {"rows": (1, 2), "of": (null,)}), "as many rows as generators, not 2 for 1"),
        (("shared", {"key": "a", "of": (null, null)}), "of must be one generator, not 2"),
        (("joined", {"of": 5}), "must be a tuple or list of generators, not int"),
        (("joined", {"of": (("unheard", {}),)}), "unknown generator 'unheard'"),
        (("blocks", {"rows": "12", "of": (null,)}), "must be a tuple or list of int, not str"),
    ):
        with pytest.raises(WorkloadError, match=message):
            draw(spec, 1)


def test_a_generator_in_itself_is_refused():
    arguments = {}
    spec = ("joined", arguments)
    arguments["of"] = (spec,)
    with pytest.raises(WorkloadError, match="generator"):
        draw(spec, 1)
