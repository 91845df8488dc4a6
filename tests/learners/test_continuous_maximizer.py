"""Points and sets under constraints: if these fail, somebody is given away, or the wrong sets are played."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet import ConfigError, ContinuousMaximizer, Privacy, load
from discreet.arrivals import (
    BudgetAllocation,
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    Gradient,
    Multilinear,
    WeightedCoverage,
)
from discreet.domains import Knapsack, PartitionMatroid, UniformMatroid
from discreet.learners.continuous_maximizer.boosted import NODES, WEIGHTS

BOTH = Privacy(1.0, 1e-6)
COVERS = WeightedCoverage(((1, 1, 0), (0, 1, 1), (1, 0, 1), (0, 0, 1)))


def set_value(family: Any, row: np.ndarray, chosen: list[int]) -> float:
    covered, value = family.begin(row[None]), 0.0
    for item in chosen:
        value += float(family.gains(row[None], covered)[0, item])
        covered = family.add(row[None], covered, item)
    return value


def extension(family: Any, row: np.ndarray, point: np.ndarray) -> float:
    """The multilinear extension by its definition: all sets, with their probabilities."""
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
        found = Multilinear(family).gradients(row[None], point)[0]
        for item in range(4):
            on, off = point.copy(), point.copy()
            on[item], off[item] = 1.0, 0.0
            expected = extension(family, row, on) - extension(family, row, off)
            assert found[item] == pytest.approx(expected, abs=1e-9)


def test_boosting_integrates_exactly() -> None:
    for power in range(8):
        exact = np.trapezoid(
            np.exp(np.linspace(0, 1, 200_001) - 1) * np.linspace(0, 1, 200_001) ** power, dx=5e-6
        )
        assert WEIGHTS @ NODES**power == pytest.approx(exact, abs=1e-9)


def likes(count: int, rates: list[float], seed: int = 0) -> np.ndarray:
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
    """Items 0 and 1 please the same people; 2 pleases others."""
    same = np.random.default_rng(0).random(8000) < 0.6
    rows = np.stack([same, same, ~same & (np.random.default_rng(1).random(8000) < 0.8)], axis=1) * 0.9
    learner = ContinuousMaximizer(UniformMatroid(3, 2), 8000, BOTH, seed=2)
    last = learner.replay(rows)[-1].tolist()
    assert 2 in last


def test_a_budget_is_kept_by_every_set_and_point() -> None:
    shop = Knapsack((1.0, 2.0, 2.0, 1.5), 3.0)
    for play in ("set", "point"):
        learner = ContinuousMaximizer(shop, 3000, BOTH, function=BudgetAllocation(), play=play, seed=1)
        for decision in learner.replay(likes(3000, [0.1, 0.5, 0.4, 0.3]) * 0.8)[::300]:
            point = decision if play == "point" else np.isin(np.arange(4), decision)
            assert float(np.array(shop.costs) @ point) <= 3.0 * (1 + 1e-9)


def test_any_gradient_will_do_and_what_fails_adds_nothing() -> None:
    def gradient(point: np.ndarray, row: np.ndarray) -> Any:
        if row[0] > 0.9:
            raise ZeroDivisionError("0.777")
        return row * np.exp(-row @ point)

    function = Gradient(gradient, numbers=3, concave=True)
    learner = ContinuousMaximizer(UniformMatroid(3, 1), 2000, BOTH, function=function, bound=1.0, seed=1)
    learner.replay(np.random.default_rng(0).random((2000, 3)) * [0.95, 0.5, 0.2])
    assert learner.decision["point"] == {"0": 1.0}


def test_state_survives_a_file(tmp_path: Any) -> None:
    learner = ContinuousMaximizer(UniformMatroid(3, 1), 2000, BOTH, journal=tmp_path / "state")
    learner.observe_many(likes(learner.rounds_until_release, [0.1, 0.5, 0.2]))
    learner.turn()
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
