"""If these fail, a release of `ContinuousMaximizer` reveals a person, or its sets are bad."""

from collections.abc import Callable
from itertools import product
from typing import Any, Literal

import numpy as np
import pytest

from discreet import ConfigError, ContinuousMaximizer, Privacy, StateError, load
from discreet.domains import Box, GraphicMatroid, Knapsack, PartitionMatroid, UniformMatroid
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.problem import Problem
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.engine.view import View
from discreet.functions import (
    BudgetAllocation,
    ClickModel,
    ConcaveOfLinear,
    ConcaveOverModular,
    FacilityLocation,
    Gradient,
    Multilinear,
    Quadratic,
    SampledSets,
    WeightedCoverage,
)
from discreet.functions.chains import FamilyChain
from discreet.learners.continuous_maximizer.boosted import NODES, WEIGHTS
from discreet.learners.disjoint_paths import LEVELS
from discreet.learners.forced import forced
from discreet.release.aggregators import HeldRows
from discreet.release.aggregators.gain_path import GainPath

BOTH = Privacy(1.0, 1e-6)
COVERS = WeightedCoverage(((1, 1, 0), (0, 1, 1), (1, 0, 1), (0, 0, 1)))


def mode_of(learner: ContinuousMaximizer) -> Any:
    """Return the mode of a learner."""
    return ContinuousMaximizer.problem_for(learner.settings).mode


def first_view(mode: Any) -> View:
    """Return the view of the first block."""
    view: View = Problem(mode).view(flat(Problem(mode).start()[0]), 0, 0, Coins(bytes(16)))
    return view


def set_value(family: Any, row: np.ndarray, chosen: list[int]) -> float:
    """Return the value of a set to a person."""
    covered = family.begin(row[None])
    value = 0.0
    for item in chosen:
        value += float(family.gains(row[None], covered)[0, item])
        covered = family.add(row[None], covered, item)
    return value


def extension(family: Any, row: np.ndarray, point: np.ndarray) -> float:
    """Return the multilinear extension by its definition: all sets, with their probabilities."""
    total = 0.0
    for there in product((False, True), repeat=len(point)):
        chance = np.prod(np.where(there, point, 1 - point))
        total += float(chance) * set_value(family, row, np.flatnonzero(there).tolist())
    return total


@pytest.mark.parametrize(
    "family", [ClickModel(), FacilityLocation(), COVERS], ids=lambda family: type(family).__name__
)
@pytest.mark.parametrize("corner", [False, True])
def test_gradients_are_those_of_the_multilinear_extension(family: Any, corner: bool) -> None:
    generator = np.random.default_rng(2)
    for _ in range(10):
        row = generator.random(family.width(4))
        row = family.admit(row[None], 4)[0][0]
        point = generator.integers(0, 2, size=4).astype(float) if corner else generator.random(4)
        gradient = Multilinear(family).gradients(row[None], point)[0]
        for item in range(4):
            with_item = point.copy()
            with_item[item] = 1.0
            without_item = point.copy()
            without_item[item] = 0.0
            expected = extension(family, row, with_item) - extension(family, row, without_item)
            assert gradient[item] == pytest.approx(expected, abs=1e-9)


def test_boosting_integrates_exactly() -> None:
    for power in range(8):
        exact = np.trapezoid(
            np.exp(np.linspace(0, 1, 200_001) - 1) * np.linspace(0, 1, 200_001) ** power, dx=5e-6
        )
        assert WEIGHTS @ NODES**power == pytest.approx(exact, abs=1e-9)


def likes(count: int, rates: list[float], seed: int = 0) -> np.ndarray:
    """Return rows of people who like each item with this probability."""
    return (np.random.default_rng(seed).random((count, len(rates))) < rates).astype(float)


@pytest.mark.parametrize("bound", ["auto", 0.5])
def test_the_best_sets_are_found(bound: Any) -> None:
    rates = [0.05, 0.6, 0.1, 0.05, 0.1, 0.5]
    shelves = PartitionMatroid((0, 0, 0, 1, 1, 1), (1, 1))
    learner = ContinuousMaximizer(shelves, 6000, BOTH, bound=bound, seed=1)
    sets = learner.replay(likes(6000, rates))
    assert sets[-1].tolist() == [1, 5]
    assert all(len(chosen) == 2 for chosen in sets[::500])
    assert learner.scores().values.argmax() == 1


def test_complements_are_preferred_to_the_popular() -> None:
    """The same people like items 0 and 1; others like item 2."""
    same = np.random.default_rng(0).random(8000) < 0.6
    rows = (
        np.stack([same, same, ~same & (np.random.default_rng(1).random(8000) < 0.8)], axis=1) * 0.9
    )
    learner = ContinuousMaximizer(UniformMatroid(3, 2), 8000, BOTH, seed=2)
    last = learner.replay(rows)[-1].tolist()
    assert 2 in last


def test_a_budget_is_kept_by_every_set_and_point() -> None:
    shop = Knapsack((1.0, 2.0, 2.0, 1.5), 3.0)
    plays: tuple[Literal["set", "point"], ...] = ("set", "point")
    for play in plays:
        learner = ContinuousMaximizer(
            shop, 3000, BOTH, function=BudgetAllocation(), play=play, seed=1
        )
        for decision in learner.replay(likes(3000, [0.1, 0.5, 0.4, 0.3]) * 0.8)[::300]:
            point = decision if play == "point" else np.isin(np.arange(4), decision)
            assert float(np.array(shop.costs) @ point) <= 3.0 * (1 + 1e-9)


def test_gradients_may_be_callables_and_one_that_fails_adds_nothing() -> None:
    def gradient(point: np.ndarray, row: np.ndarray) -> Any:
        if row[0] > 0.9:
            raise ZeroDivisionError("0.777")
        return row * np.exp(-row @ point)

    function = Gradient(gradient, numbers=3, concave=True)
    learner = ContinuousMaximizer(
        UniformMatroid(3, 1), 2000, BOTH, function=function, bound=1.0, seed=1
    )
    learner.replay(np.random.default_rng(0).random((2000, 3)) * [0.95, 0.5, 0.2])
    assert learner.decision["point"] == {0: 1.0}


def test_state_survives_a_file(tmp_path: Any) -> None:
    learner = ContinuousMaximizer(UniformMatroid(3, 1), 2000, BOTH, journal=tmp_path / "state")
    learner.observe_many(likes(learner.rounds_until_release, [0.1, 0.5, 0.2]))
    learner.release_if_due()
    learner.detach()
    again = load(tmp_path / "state")
    assert again.decision == learner.decision


@pytest.mark.parametrize(
    "wrong",
    [
        {"domain": "all"},
        {"function": ConcaveOverModular()},
        {"function": Multilinear(COVERS)},
        {"play": "vertex"},
        {"bound": 0.0},
        {"block": 0},
        {"labels": ["a"]},
        {"horizon": 0},
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused_in_one_line(wrong: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"domain": UniformMatroid(3, 1), "horizon": 100, "privacy": BOTH}
    with pytest.raises(ConfigError) as refusal:
        ContinuousMaximizer(**(usual | wrong))
    assert "\n" not in str(refusal.value)


# --- functions of amounts -------------------------------------------------------------------------


def slopes(value: Any, point: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Return two-sided differences of a function of the point."""
    differences = []
    for item in range(len(point)):
        change = np.zeros(len(point))
        change[item] = step
        differences.append((value(point + change) - value(point - change)) / (2 * step))
    return np.array(differences)


CURVES: dict[str, Callable[[float], float]] = {
    "log": np.log1p,
    "root": lambda total: np.sqrt(1 + total) - 1,
    "cap": lambda total: min(1.0, total),
}


@pytest.mark.parametrize("curve", list(CURVES))
def test_slopes_of_curves_are_those_of_their_functions(curve: Any) -> None:
    generator = np.random.default_rng(1)
    for _ in range(20):
        row = generator.random(4)
        point = generator.uniform(0.1, 0.9, size=4)
        gradient = ConcaveOfLinear(curve, 1.7).gradients(row[None], point)[0]
        expected = slopes(lambda x, row=row: CURVES[curve](1.7 * float(row @ x)), point)
        np.testing.assert_allclose(gradient, expected, atol=1e-5)


def quadratic(row: np.ndarray, point: np.ndarray) -> float:
    """Return the value of a quadratic function at a point."""
    items = len(point)
    value = float(row[:items] @ point)
    place = items
    for first in range(items):
        for second in range(first, items):
            half = 0.5 if first == second else 1.0
            value -= half * row[place] * point[first] * point[second]
            place += 1
    return value


def test_slopes_of_quadratics_are_those_of_their_functions_and_never_fall_below_zero() -> None:
    generator = np.random.default_rng(2)
    for _ in range(20):
        # interactions are larger than allowed
        sent = generator.random((1, 14)) * [*[1.0] * 4, *[0.6] * 10]
        row = Quadratic().admit(sent, 4)[0]
        point = generator.uniform(0.1, 0.9, size=4)
        gradient = Quadratic().gradients(row, point)[0]
        expected = slopes(lambda x, row=row: quadratic(row[0], x), point)
        np.testing.assert_allclose(gradient, expected, atol=1e-6)
        for corner in product((0.0, 1.0), repeat=4):
            at_corner = slopes(lambda x, row=row: quadratic(row[0], x), np.array(corner))
            assert (at_corner >= -1e-7).all()


def test_a_monotone_quadratic_is_admitted_unchanged_and_another_is_marked_invalid() -> None:
    good = [0.8, 0.6, 0.2, 0.5, 0.1]
    bad = [0.8, 0.5, 0.2, 0.5, 0.1]
    rows, is_valid = Quadratic().admit(np.array([good, bad, [np.nan] * 5]), 2)
    assert is_valid.tolist() == [True, False, False]
    assert rows[0].tolist() == good
    assert rows[2].tolist() == [0.0] * 5


def pairs_worth(chosen: np.ndarray, row: np.ndarray) -> float:
    """Return the value of a set to a person."""
    return float(min(1.0, row[chosen].sum()) * 0.9)


def test_random_sets_estimate_the_extension_without_bias() -> None:
    """A mean of 4·800 gains in [0, 1] errs by less than √(ln(2·10⁶·3)/(2·3200)).

    The level of this bound is 10⁻⁶; it would catch sets that are drawn with wrong probabilities.
    """
    row = np.array([0.7, 0.5, 0.4])
    point = np.array([0.3, 0.8, 0.5])
    function = Multilinear(SampledSets(pairs_worth, 3))
    # each of these points has random sets of its own
    nearby = point + np.random.default_rng(0).normal(size=(800, 3)) * 1e-9
    mean = np.mean([function.gradients(row[None], x)[0] for x in nearby], axis=0)
    for item in range(3):
        exact = 0.0
        for there in product((0, 1), repeat=3):
            if not there[item]:
                chance = np.prod(
                    [point[b] if there[b] else 1 - point[b] for b in range(3) if b != item]
                )
                without = np.flatnonzero(there)
                gain = pairs_worth(np.append(without, item), row) - pairs_worth(without, row)
                exact += float(chance) * gain
        assert abs(mean[item] - exact) < np.sqrt(np.log(6e6) / 6400)


def test_random_sets_are_public_and_a_gradient_depends_on_one_persons_row_only() -> None:
    function = SampledSets(pairs_worth, 3, samples=6)
    another = SampledSets(lambda chosen, row: float(len(chosen)), 1, samples=6)
    point = np.array([0.3, 0.8, 0.5])
    rows = np.random.default_rng(1).random((5, 3))
    assert (function.sets(point) == another.sets(point)).all()
    alone = [function.gradients(row[None], point)[0] for row in rows]
    np.testing.assert_array_equal(function.gradients(rows, point), alone)


def test_a_set_function_that_fails_for_one_person_adds_nothing_for_that_person() -> None:
    def worth(chosen: np.ndarray, row: np.ndarray) -> Any:
        if row[0] > 0.9:
            raise ZeroDivisionError("0.777")
        return row[chosen].max(initial=0.0) if row[0] > 0.1 else float("nan")

    rows = np.array([[0.95, 0.5], [0.05, 0.5], [0.6, 0.5]])
    gradients = Multilinear(SampledSets(worth, 2)).gradients(rows, np.array([1.0, 0.0]))
    assert gradients[:2].tolist() == [[0, 0], [0, 0]]
    assert gradients[2] == pytest.approx([0.6 - 0.0, 0.0])


def test_the_best_set_is_found_by_random_sets() -> None:
    function = Multilinear(SampledSets(pairs_worth, 3, samples=2))
    learner = ContinuousMaximizer(
        UniformMatroid(3, 1), 300, Privacy(8.0, 1e-6), function=function, seed=1
    )
    learner.replay(likes(300, [0.1, 0.8, 0.2]))
    assert learner.decision["point"] == {1: 1.0}


# --- points between vertices ----------------------------------------------------------------------


def mixed_world(people: int) -> np.ndarray:
    """Return rows of people for whom the best point is a mixture of three items."""
    gains = likes(people, [0.6, 0.6, 0.6], seed=3) * 0.9 + 0.05
    ways = np.zeros((people, 6))
    ways[:, [0, 3, 5]] = 0.95 * gains
    return np.concatenate([gains, ways], axis=1)


def test_amounts_are_mixed_where_mixtures_are_best() -> None:
    rows = mixed_world(2000)
    settings: dict[str, Any] = {"function": Quadratic(), "play": "point", "seed": 1}
    earned = {}
    for learner in (
        ContinuousMaximizer(UniformMatroid(3, 1), 2000, BOTH, **settings),
        forced(ContinuousMaximizer, "vertex", UniformMatroid(3, 1), 2000, BOTH, **settings),
    ):
        points = learner.replay(rows)
        earned[learner.facts["method"]] = sum(
            quadratic(row, point) for row, point in zip(rows, points, strict=True)
        )
    assert earned["euclidean"] > 1.2 * earned["vertex"]


@pytest.mark.parametrize("privacy", [Privacy(1.0, 1e-6), Privacy(1.0)], ids=["zcdp", "pure"])
def test_one_person_moves_the_aggregate_by_no_more_than_its_sensitivity(privacy: Privacy) -> None:
    """Hostile pairs of people are compared on the aggregated integers."""
    settings: dict[str, Any] = {
        "function": ConcaveOfLinear("cap", 2.0),
        "play": "point",
        "bound": 0.3,
    }
    mode = mode_of(ContinuousMaximizer(UniformMatroid(3, 2), 60, privacy, **settings))
    view = first_view(mode)
    norm = 1 if privacy.pure else 2
    people = [np.array(row) for row in product((0.0, 0.4, 1.0, 1e300, np.nan), repeat=3)]
    sums = []
    for person in people:
        block = view.empty_block()
        view.count(block, Batch(np.array([0]), person[None], EMPTY_REQUEST))
        sums.append(block["gradient"].values.astype(float).ravel())
    sensitivity = block["gradient"].aggregator.sensitivity(norm)
    moved = max(np.linalg.norm(one - other, ord=norm) for one in sums for other in sums)
    assert 0.6 * sensitivity < moved <= sensitivity


# --- i.i.d. streams -------------------------------------------------------------------------------

IID_DOMAINS = [
    PartitionMatroid((0, 0, 0, 1, 1, 1), (1, 1)),
    GraphicMatroid(((0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (1, 3))),
    Knapsack((1.0, 1.0, 2.0, 1.0, 2.0, 1.0), 2.0),
]


@pytest.mark.parametrize("domain", IID_DOMAINS, ids=lambda domain: type(domain).__name__)
def test_sets_from_disjoint_blocks_are_feasible_and_good(domain: Any) -> None:
    rates = [0.05, 0.6, 0.1, 0.05, 0.1, 0.5]
    learner = ContinuousMaximizer(domain, 3000, Privacy(1.0), stream="iid", seed=1)
    sets = learner.replay(likes(3000, rates))
    assert {1, 5} <= set(sets[-1].tolist())
    assert all(domain.contains(chosen[chosen >= 0].tolist()) for chosen in sets[::100])
    assert "alike" in str(learner.guarantee)


def path_law(mode: Any, stream: list[np.ndarray]) -> dict[tuple[int, ...], float]:
    """Return the distribution of the items drawn from one block of two people."""
    domain = mode.settings.domain
    path = mode.disjoint.paths[0]
    held = first_view(mode).aggregators()["people"]
    assert isinstance(held, HeldRows)
    people = held.empty()
    held.add(people, np.arange(2), np.array(stream))
    law: dict[tuple[int, ...], float] = {}
    for coins in product((False, True), repeat=2):
        chance = float(np.prod([path.chance if coin else 1 - path.chance for coin in coins]))
        paths: list[tuple[tuple[int, ...], float]] = [((), chance)]
        while paths:
            taken, likelihood = paths.pop()
            gains = GainPath(people, FamilyChain(ClickModel()), mode.prices(0), LEVELS)
            gains.begin(np.array(coins))
            for item in taken:
                gains.take(item)
            allowed = domain.extensions(list(taken))
            if not allowed.any():
                law[taken] = law.get(taken, 0.0) + likelihood
                continue
            weights = np.where(allowed, np.exp(path.exponent * gains.scores() / LEVELS), 0.0)
            for item in np.flatnonzero(allowed).tolist():
                paths.append(((*taken, item), likelihood * weights[item] / weights.sum()))
    return law


@pytest.mark.parametrize(
    "domain",
    [PartitionMatroid((0, 0, 1), (1, 1)), Knapsack((1.0, 1.5, 2.0), 3.0)],
    ids=lambda d: type(d).__name__,
)
def test_sets_from_disjoint_blocks_lose_no_more_than_their_budget(domain: Any) -> None:
    """All streams of two people out of five and all their neighbours are enumerated exactly."""
    learner = ContinuousMaximizer(domain, 16, Privacy(2.0), stream="iid", block=2)
    mode = mode_of(learner)
    kinds = [np.array(row) for row in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 1, 0))]
    laws = {
        pair: path_law(mode, [kinds[pair[0]], kinds[pair[1]]])
        for pair in product(range(5), repeat=2)
    }
    worst = 0.0
    for here, there in product(laws, repeat=2):
        if sum(a != b for a, b in zip(here, there, strict=True)) == 1:
            assert laws[here].keys() == laws[there].keys()
            ratios = [laws[here][path] / laws[there][path] for path in laws[here]]
            worst = max(worst, float(np.log(max(ratios))))
    charge = mode.disjoint.paths[0].charge.amount
    assert 0.2 * 2.0 < worst <= charge * (1 + 1e-9) <= 2.0 * (1 + 1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"stream": "iid", "play": "point"},
        {"stream": "iid", "bound": 1.0},
        {"stream": "iid", "function": BudgetAllocation()},
        {"stream": "iid", "function": Multilinear(SampledSets(pairs_worth, 3))},
        {"stream": "sorted"},
        {"function": "LinearOfConcave"},
    ],
    ids=" and ".join,
)
def test_settings_that_contradict_each_other_are_refused_in_one_line(wrong: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"domain": UniformMatroid(3, 1), "horizon": 100, "privacy": BOTH}
    with pytest.raises(ConfigError) as refusal:
        ContinuousMaximizer(**(usual | wrong))
    assert "\n" not in str(refusal.value)


def test_a_box_leaves_nothing_to_decide() -> None:
    """Functions are monotone, so the upper corner is the best point for every person."""
    box: Any = Box(3, 0.0, 1.0)
    with pytest.raises(
        ConfigError, match="over a Box the upper corner is the best point for every person"
    ):
        ContinuousMaximizer(box, 100, BOTH, function=BudgetAllocation(), play="point")


def test_a_curve_without_scale_is_refused() -> None:
    with pytest.raises(ConfigError, match="scale"):
        ConcaveOfLinear("log", 0.0)


def test_a_callable_is_not_read_back_from_a_file(tmp_path: Any) -> None:
    function = Multilinear(SampledSets(pairs_worth, 3))
    learner = ContinuousMaximizer(
        UniformMatroid(3, 1), 100, BOTH, function=function, journal=tmp_path / "state"
    )
    learner.detach()
    with pytest.raises(StateError, match="callable is not kept in files"):
        load(tmp_path / "state")


@pytest.mark.parametrize("bound", ["auto", 0.01])
@pytest.mark.filterwarnings("error")
def test_a_gradient_that_is_too_long_for_floats_does_not_warn(bound: Any) -> None:
    rows = np.full((300, 3), 0.5)
    rows[[1, 100]] = 1e308
    learner = ContinuousMaximizer(
        UniformMatroid(3, 1),
        300,
        BOTH,
        function=Gradient(lambda point, row: row, 3),
        play="point",
        bound=bound,
        seed=1,
    )
    learner.replay(rows)
    assert learner.clock == 300
