"""The generators against their definitions: distributions, partitions, orders, texts."""

import re

import numpy as np
import pytest
import reference

from benchkit import generators
from benchkit._core import draw, generator_kinds
from benchkit.errors import WorkloadError

DRAWS = 1_000_000
LOW = 11
P_VALUE = 1e-4

# kind: (its probabilities, arguments, arguments of probabilities that are nearly right)
DISTRIBUTIONS = [
    ("gaussian", reference.gaussian_pmf, {}, {"rounds": 13}),
    ("gaussian", reference.gaussian_pmf, {"rounds": 1}, {"rounds": 2}),
    ("special", reference.special_pmf, {}, {"hot_share": 74}),
    ("special", reference.special_pmf, {"hot_percent": 20}, {"hot_percent": 21}),
    ("special", reference.special_pmf, {"hot_percent": 8, "hot_skip": 25}, {"hot_percent": 8}),
    ("pareto", reference.pareto_pmf, {}, {"h": 0.21}),
    ("pareto", reference.pareto_pmf, {"h": 0.7}, {"h": 0.72}),
    ("zipfian", reference.zipfian_pmf, {}, {"exponent": 0.82}),
    ("zipfian", reference.zipfian_pmf, {"exponent": 0.0}, {"exponent": 0.03}),
    ("zipfian", reference.zipfian_pmf, {"exponent": 1.0}, {"exponent": 0.98}),
    ("zipfian", reference.zipfian_pmf, {"exponent": 1 + 1e-12}, {"exponent": 0.98}),
    ("zipfian", reference.zipfian_pmf, {"exponent": 2.5}, {"exponent": 2.45}),
]


def offsets(kind, size, seed=1, **arguments):
    """Draw from LOW..LOW + size - 1; return the distances from LOW."""
    spec = (kind, {"low": LOW, "high": LOW + size - 1, **arguments})
    return draw(spec, DRAWS, seed=seed) - LOW


@pytest.mark.parametrize("size", [7, 1000, 100_000])
def test_uniform_passes_chi_square(size):
    assert reference.chi_square_p(offsets("uniform", size), reference.uniform_pmf(size)) > P_VALUE


def test_chi_square_sees_a_uniform_that_is_tilted():
    tilted = reference.uniform_pmf(1000) * np.linspace(0.97, 1.03, 1000)
    assert reference.chi_square_p(offsets("uniform", 1000), tilted) < P_VALUE


@pytest.mark.parametrize("size", [10, 1000])
@pytest.mark.parametrize(("kind", "pmf", "arguments", "wrong"), DISTRIBUTIONS)
def test_distribution_passes_chi_square(kind, pmf, arguments, wrong, size):
    drawn = offsets(kind, size, **arguments)
    assert reference.chi_square_p(drawn, pmf(size, **arguments)) > P_VALUE


@pytest.mark.parametrize(("kind", "pmf", "arguments", "wrong"), DISTRIBUTIONS)
def test_chi_square_sees_a_distribution_nearly_right(kind, pmf, arguments, wrong):
    drawn = offsets(kind, 1000, **arguments)
    assert reference.chi_square_p(drawn, pmf(1000, **wrong)) < P_VALUE


@pytest.mark.parametrize("kind", ["pareto", "zipfian"])
def test_skewed_distribution_of_many_rows_passes_chi_square(kind):
    pmf = {"pareto": reference.pareto_pmf, "zipfian": reference.zipfian_pmf}[kind]
    assert reference.chi_square_p(offsets(kind, 1_000_000), pmf(1_000_000)) > P_VALUE


def test_nurand_passes_chi_square():
    drawn = draw(("nurand", {"a": 63, "low": 5, "high": 204, "c": 17}), DRAWS, seed=1) - 5
    assert reference.chi_square_p(drawn, reference.nurand_pmf(63, 5, 204, 17)) > P_VALUE
    assert reference.chi_square_p(drawn, reference.nurand_pmf(63, 5, 204, 18)) < P_VALUE


def test_scrambled_zipfian_is_a_reordered_zipfian():
    scrambled = np.bincount(offsets("zipfian", 1000, scrambled=True), minlength=1000)
    plain = np.bincount(offsets("zipfian", 1000), minlength=1000)
    np.testing.assert_allclose(np.sort(scrambled), np.sort(plain), rtol=0.1)
    assert reference.spearman_p(scrambled, np.arange(1000)) > P_VALUE


def test_scrambled_zipfian_has_the_same_hot_rows_for_every_seed():
    hottest = [
        np.bincount(offsets("zipfian", 1000, seed=seed, scrambled=True)).argsort()[-5:].tolist()
        for seed in (1, 2)
    ]
    assert hottest[0] == hottest[1]


def test_last_names_are_three_syllables_of_the_number():
    kind = ("last_name", {"a": 0, "low": 371, "high": 371})
    assert draw(kind, 1) == ["PRICALLYOUGHT"]
    names = set(draw(("last_name", {}), 100_000))
    assert len(names) > 900
    assert {"BARBARBAR", "EINGEINGEING"} <= names


@pytest.mark.parametrize("arguments", [{}, {"low": -9, "high": 12}])
def test_permutation_has_every_number_once_over_all_workers(arguments):
    low, high = arguments.get("low", 1), arguments.get("high", 1000)
    spec = ("permutation", {"low": low, "high": high})
    size = high - low + 1
    parts = [draw(spec, -(-(size - w) // 3), worker=w, workers=3) for w in range(3)]
    assert sorted(np.concatenate(parts).tolist()) == list(range(low, high + 1))
    alone = draw(spec, size)
    assert [part[0] for part in parts] == alone[:3].tolist()


def test_permutation_starts_again_at_its_end():
    drawn = draw(("permutation", {"low": 1, "high": 10}), 25).tolist()
    assert drawn[10:20] == drawn[:10]
    assert drawn[20:] == drawn[:5]


def test_permutation_of_all_32_bit_integers_repeats_nothing():
    spec = ("permutation", {"low": -(2**31), "high": 2**31 - 1})
    drawn = draw(spec, 300_000)
    assert len(np.unique(drawn)) == 300_000
    quarters = np.bincount((drawn + 2**31) // 2**30, minlength=4)
    assert abs(quarters - 75_000).max() < 1500
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.01


def test_permutation_depends_on_the_seed():
    spec = ("permutation", {"low": 1, "high": 1000})
    assert (draw(spec, 1000, seed=1) == draw(spec, 1000, seed=2)).sum() < 20


def test_sequence_counts_in_each_worker():
    spec = generators.sequence(start=5, step=-2).spec()
    assert draw(spec, 4).tolist() == [5, 3, 1, -1]
    assert draw(spec, 4, worker=1, workers=2).tolist() == [5, 3, 1, -1]


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "special", "pareto", "zipfian"])
@pytest.mark.parametrize("scrambled", [False, True])
def test_partitioned_workers_stay_in_their_parts(kind, scrambled):
    arguments = {"low": 1, "high": 1000, "partitioned": True}
    if scrambled and kind == "zipfian":
        arguments["scrambled"] = True
    for worker in range(3):
        drawn = draw((kind, arguments), 100_000, worker=worker, workers=3)
        first = 1000 * worker // 3
        assert first <= drawn.min()
        assert drawn.max() <= first + 333


def test_partitioned_uniform_reaches_both_ends_of_its_part():
    spec = generators.uniform(1, 10, partitioned=True).spec()
    ends = [draw(spec, 1000, worker=w, workers=2) for w in range(2)]
    assert [(part.min(), part.max()) for part in ends] == [(0, 5), (5, 10)]


def test_more_workers_than_rows_still_draw():
    spec = generators.uniform(1, 2, partitioned=True).spec()
    assert [draw(spec, 1, worker=w, workers=5)[0] for w in range(5)] == [0, 0, 0, 1, 1]


def test_same_seed_and_worker_draw_the_same():
    spec = generators.uniform(1, 1000).spec()
    assert (
        draw(spec, 1000, seed=3, worker=1, workers=2)
        == draw(spec, 1000, seed=3, worker=1, workers=2)
    ).all()


@pytest.mark.parametrize("other", [{"seed": 3, "worker": 1}, {"seed": 4, "worker": 0}])
def test_streams_of_workers_and_seeds_are_independent(other):
    spec = generators.uniform(0, 9).spec()
    one = draw(spec, DRAWS, seed=3, worker=0, workers=2)
    two = draw(spec, DRAWS, workers=2, **other)
    assert reference.chi_square_p(one * 10 + two, reference.uniform_pmf(100)) > P_VALUE


def test_successive_draws_are_independent():
    drawn = draw(generators.uniform(0, 9).spec(), DRAWS)
    assert (
        reference.chi_square_p(drawn[:-1:2] * 10 + drawn[1::2], reference.uniform_pmf(100))
        > P_VALUE
    )


def test_template_keeps_its_shape():
    text = "-".join(["#" * 11] * 10)
    drawn = draw(generators.template(text).spec(), 1000)
    assert all(re.fullmatch(r"\d{11}(-\d{11}){9}", line) for line in drawn)
    assert len(set(drawn)) == 1000
    assert re.fullmatch(r"é[a-z]\d\. [a-z]", draw(generators.template("é@#. @").spec(), 1)[0])
    assert draw(generators.template("").spec(), 2) == ["", ""]


@pytest.mark.parametrize(("symbol", "first", "size"), [("#", "0", 10), ("@", "a", 26)])
def test_template_symbols_are_uniform_at_every_place(symbol, first, size):
    drawn = draw(generators.template(symbol * 40).spec(), 50_000)
    symbols = np.frombuffer("".join(drawn).encode(), dtype=np.uint8).reshape(-1, 40) - ord(first)
    for place in (0, 12, 13, 17, 18, 19, 39):
        column = symbols[:, place].astype(int)
        assert reference.chi_square_p(column, reference.uniform_pmf(size)) > P_VALUE


def test_alphanumeric_has_lengths_and_symbols_alike():
    drawn = draw(generators.alphanumeric(3, 12).spec(), 100_000)
    lengths = np.array([len(text) for text in drawn]) - 3
    assert reference.chi_square_p(lengths, reference.uniform_pmf(10)) > P_VALUE
    assert all(re.fullmatch("[A-Za-z0-9]+", text) for text in drawn)
    assert len(set("".join(drawn))) == 62
    assert draw(generators.alphanumeric(0, 0).spec(), 1) == [""]


def test_timestamp_is_utc():
    assert draw(generators.timestamp(0).spec(), 1) == ["1970-01-01 00:00:00"]
    assert draw(generators.timestamp(951_782_399).spec(), 1) == ["2000-02-28 23:59:59"]
    assert draw(generators.timestamp(253_402_300_799).spec(), 1) == ["9999-12-31 23:59:59"]
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", draw(("timestamp", {}), 1)[0])


def test_choice_takes_each_text_alike():
    drawn = draw(generators.choice(["a", "", "ccc"]).spec(), 300_000)
    places = np.array([["a", "", "ccc"].index(text) for text in drawn])
    assert reference.chi_square_p(places, reference.uniform_pmf(3)) > P_VALUE


def test_constants_keep_their_type():
    assert draw(generators.constant(5).spec(), 2).tolist() == [5, 5]
    assert draw(generators.constant(2.5).spec(), 2).tolist() == [2.5, 2.5]
    assert draw(generators.constant("x").spec(), 2) == ["x", "x"]
    assert draw(generators.constant(5).spec(), 1).dtype == np.int64


def test_kinds_and_python_constructors_name_the_same_parameters():
    made = [
        generators.constant(1),
        generators.constant(1.0),
        generators.constant("a"),
        generators.null(),
        generators.sequence(every=2, cycle=3),
        generators.uniform(1, 2),
        generators.remaining(1, 2),
        generators.gaussian(1, 2),
        generators.special(1, 2),
        generators.pareto(1, 2),
        generators.exponential(1),
        generators.zipfian(1, 2),
        generators.nurand(1, 1, 2),
        generators.last_name(),
        generators.permutation(1, 2),
        generators.template("#"),
        generators.alphanumeric(1, 2),
        generators.timestamp(),
        generators.choice(["a"]),
        generators.decimal(1, 2, 1),
        generators.digits(1, 2, 3),
        generators.blocks((1, generators.null())),
        generators.mix((1, generators.null())),
        generators.joined(generators.constant("a")),
        generators.splice(generators.constant("a"), "b", 1),
        generators.shared("a", generators.null()),
    ]
    kinds = {kind["name"]: kind for kind in generator_kinds()}
    assert [generator.kind for generator in made] == list(kinds)
    for generator in made:
        known = {parameter["name"] for parameter in kinds[generator.kind]["parameters"]}
        assert set(dict(generator.arguments)) <= known
        assert len(draw(generator.spec(), 3)) == 3


def test_python_defaults_are_those_of_the_core():
    made = [
        generators.sequence(),
        generators.gaussian(1, 2),
        generators.special(1, 2),
        generators.pareto(1, 2),
        generators.exponential(1),
        generators.zipfian(1, 2),
        generators.last_name(),
        generators.timestamp(),
    ]
    kinds = {kind["name"]: kind["parameters"] for kind in generator_kinds()}
    for generator in made:
        defaults = {p["name"]: p["default"] for p in kinds[generator.kind] if not p["required"]}
        given = {n: v for n, v in dict(generator.arguments).items() if n in defaults}
        assert given == {name: defaults[name] for name in given}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (("unifrom", {}), "unknown generator 'unifrom': did you mean 'uniform'"),
        (("uniform", {"low": 1, "hihg": 2}), "parameter 'hihg': did you mean 'high'"),
        (("uniform", {"low": 1}), "uniform: high is missing"),
        (("uniform", {"low": 2, "high": 1}), "low 2 is above high 1"),
        (("uniform", {"low": -(8 * 10**18), "high": 8 * 10**18}), "more than 9e"),
        (("uniform", {"low": 1, "high": 2**70}), "high .integer.: .*too big"),
        (("uniform", {"low": 1, "high": 2.5}), "high .integer."),
        (("uniform", {"low": 1, "high": 2, "partitioned": 2}), "partitioned must be 0 to 1"),
        (("pareto", {"low": 1, "high": 2, "h": 1.5}), "h must be 0.0001 to 0.9999, not 1.5"),
        (("zipfian", {"low": 1, "high": 2, "exponent": float("nan")}), "exponent must be"),
        (("alphanumeric", {"shortest": 5, "longest": 3}), "shortest 5 is above longest 3"),
        (("choice", {"values": ()}), "values must not be empty"),
        (("choice", {"values": "ab"}), "must be a tuple or list of str, not str"),
        (("choice", {"values": ("a", 1)}), "must be str, not int"),
        (("template", {"text": "\ud800"}), "surrogates"),
        (("template", {"text": "#" * 1_000_001}), "at most 1000000 bytes"),
        (("uniform", [1, 2]), "must be .kind, {parameter: value}."),
        ("uniform", "must be .kind, {parameter: value}."),
        ((5, {}), "must be .kind, {parameter: value}."),
    ],
)
def test_bad_spec_is_an_error_that_names_it(spec, message):
    with pytest.raises(WorkloadError, match=message):
        draw(spec, 1)


@pytest.mark.parametrize(
    "arguments", [{"count": -1}, {"worker": 1}, {"worker": -1}, {"workers": 0}]
)
def test_bad_counts_are_errors(arguments):
    with pytest.raises(WorkloadError, match="must"):
        draw(("uniform", {"low": 1, "high": 2}), **{"count": 1, **arguments})


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seed_is_64_bits(seed):
    with pytest.raises(OverflowError):
        draw(("uniform", {"low": 1, "high": 2}), 1, seed=seed)
