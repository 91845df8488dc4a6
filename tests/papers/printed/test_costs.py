"""If these fail, sets of least cost are compared with an unprinted algorithm."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from discreet.papers.printed import bandit_submod_prftl, costs, submod_prftl
from discreet.papers.printed.costs import cost_as_published, cost_without_privacy
from discreet.papers.printed.tbap import printed_scale, sound_scale
from discreet.simulate.problems.costs import BundleWorld

from .law import ALPHA

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)

WORLD = BundleWorld.drawn(300, items=6, seed=1)


def slow_cost(world: BundleWorld, stiffness: float) -> float:
    """Return the cost of the plain leader, with subgradients as differences of costs of sets."""
    point = np.full(world.items, 0.5)
    total = np.zeros(world.items)
    cost = 0.0
    for row in world.rows(0, world.visitors):
        chosen = np.zeros(world.items)
        gradient = np.zeros(world.items)
        for item in np.argsort(-point, kind="stable"):
            without = world.costs(row[None], chosen)[0]
            chosen[item] = 1.0
            gradient[item] = world.costs(row[None], chosen)[0] - without
        cost += float(gradient @ point)
        total += gradient
        point = np.clip(0.5 - total / stiffness, 0, 1)
    return cost


def test_the_compiled_leader_has_the_cost_of_a_plain_loop() -> None:
    assert cost_without_privacy(WORLD, 10.0) == pytest.approx(slow_cost(WORLD, 10.0))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("bandit", "epsilon", "cost", "deviation"),
    [
        (False, 1.0, 43.09, 13.8),
        pytest.param(False, 1e3, -43.428, 0.12, marks=pytest.mark.night),
        (True, 1.0, 20.28, 7.6),
        pytest.param(True, 1e3, 0.82, 9.0, marks=pytest.mark.night),
    ],
)
def test_mean_costs_are_those_of_earlier_runs(
    bandit: bool, epsilon: float, cost: float, deviation: float
) -> None:
    """2,000 runs against 20,000 earlier ones; a sixth of a deviation would be detected."""
    total_costs = [
        cost_as_published(WORLD, epsilon=epsilon, bandit=bandit, noise="printed", seed=seed)
        for seed in range(2_000)
    ]
    assert abs(np.mean(total_costs) - cost) < 5 * deviation * sqrt(1 / 2_000 + 1 / 20_000)
    assert np.std(total_costs) == pytest.approx(deviation, rel=0.15)


def test_the_best_set_is_nearly_found_without_privacy_and_not_with_it() -> None:
    world = BundleWorld.drawn(3_000, items=10, seed=1)
    not_private = cost_as_published(world, epsilon=1e6, bandit=False, noise="printed")
    assert not_private < 0.8 * world.cost_of(world.best)
    assert cost_as_published(world, epsilon=1.0, bandit=False, noise="printed") > world.naive
    assert cost_as_published(world, epsilon=1.0, bandit=True, noise="printed") > world.naive


@pytest.mark.statistical
def test_the_one_point_estimate_is_a_subgradient_on_average() -> None:
    """20,000 draws; a missing factor of two, or a neighbouring item, would be detected."""
    point = np.array([0.2, 0.9, 0.5])
    order = np.argsort(-point, kind="stable")
    subgradient = np.array([0.3, -0.8, 0.4])
    costs.seed_kernels(1)
    estimates = np.tile(subgradient, (20_000, 1))
    for estimate in estimates:
        costs.one_point_estimate(point, order, 0.4, estimate)
    for item in range(3):
        assert stats.ttest_1samp(estimates[:, item], subgradient[item]).pvalue > ALPHA
        assert stats.ttest_1samp(estimates[:, item], subgradient[item] / 2).pvalue < ALPHA


@pytest.mark.parametrize("bandit", [False, True])
def test_sound_costs_have_noise_for_what_one_person_can_move(bandit: bool) -> None:
    horizon, items = WORLD.visitors, WORLD.items
    constants = bandit_submod_prftl.printed_constants(items, horizon)
    length = constants.length if bandit else submod_prftl.printed_constants(horizon).length
    moved = submod_prftl.sound_change()
    if bandit:
        moved = bandit_submod_prftl.sound_change(items, constants.exploration)
    louder = sound_scale(moved, horizon, 1.0) / printed_scale(length, horizon, 1.0)
    sound = cost_as_published(WORLD, epsilon=1.0, bandit=bandit, seed=4)
    assert sound == pytest.approx(
        cost_as_published(WORLD, epsilon=1 / louder, bandit=bandit, noise="printed", seed=4)
    )
