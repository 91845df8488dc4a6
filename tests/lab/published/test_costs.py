"""If these fail, sets of least cost are compared with something that was never printed."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from discreet.lab.bundle import BundleWorld
from discreet.lab.published import costs
from discreet.lab.published.costs import (
    cost_as_published,
    cost_without_privacy,
    costs_bandit,
    costs_full,
    tree_noise_scale,
)

from .law import ALPHA

WORLD = BundleWorld.drawn(300, items=6, seed=1)


def slow_cost(world: BundleWorld, stiffness: float) -> float:
    """The plain leader, with subgradients as differences of the costs of sets."""
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


def test_the_constants_are_the_printed_ones() -> None:
    assert costs_full(10_000) == (100.0, 4.0)
    assert costs_bandit(4, 10**6) == pytest.approx((10**4, 0.08, 16 / sqrt(0.08)))
    assert costs_bandit(50, 1000)[1] == 1.0
    assert tree_noise_scale(4.0, 1024, 2.0) == 22.0
    assert tree_noise_scale(4.0, 1025, 2.0) == 24.0


def test_the_plain_leader_costs_what_a_slow_one_does() -> None:
    assert cost_without_privacy(WORLD, 10.0) == pytest.approx(slow_cost(WORLD, 10.0))


@pytest.mark.parametrize(
    ("bandit", "epsilon", "cost"),
    [
        (False, 1.0, 43.59887159780819),
        (False, 1e3, -43.422726843641456),
        (True, 1.0, 13.49265108001163),
        (True, 1e3, -6.1701421334105335),
    ],
)
def test_costs_are_those_that_were_reported_before(bandit: bool, epsilon: float, cost: float) -> None:
    assert cost_as_published(WORLD, epsilon=epsilon, bandit=bandit, seed=3) == pytest.approx(cost, rel=1e-9)


def test_without_privacy_the_best_set_is_nearly_found_and_with_it_nothing_is_kept() -> None:
    world = BundleWorld.drawn(3_000, items=10, seed=1)
    assert cost_as_published(world, epsilon=1e6, bandit=False) < 0.8 * world.cost_of(world.best)
    assert cost_as_published(world, epsilon=1.0, bandit=False) > world.naive
    assert cost_as_published(world, epsilon=1.0, bandit=True) > world.naive


@pytest.mark.statistical
def test_the_one_point_estimate_is_a_subgradient_on_average() -> None:
    """20,000 draws; a forgotten factor of two, or an item's neighbour in its place, would show."""
    point = np.array([0.2, 0.9, 0.5])
    order = np.argsort(-point, kind="stable")
    subgradient = np.array([0.3, -0.8, 0.4])
    costs._seed(1)
    estimates = np.tile(subgradient, (20_000, 1))
    for estimate in estimates:
        costs._one_point_estimate(point, order, 0.4, estimate)
    for item in range(3):
        assert stats.ttest_1samp(estimates[:, item], subgradient[item]).pvalue > ALPHA
        assert stats.ttest_1samp(estimates[:, item], subgradient[item] / 2).pvalue < ALPHA


def test_without_noise_the_tree_holds_the_sum() -> None:
    leaves = np.random.default_rng(1).normal(size=(20, 3))
    exact, noised = np.zeros((2, 6, 3))
    for time, leaf in enumerate(leaves, start=1):
        costs._add_to_tree(leaf.copy(), time, 0.0, exact, noised)
        assert np.allclose(noised.sum(axis=0), leaves[:time].sum(axis=0))


@pytest.mark.statistical
def test_every_node_is_noised_once_and_the_root_too() -> None:
    """2,000 trees of four leaves: the noise of a node has a Gamma-distributed length, also at T = 4."""
    costs._seed(2)
    lengths = []
    for _ in range(2_000):
        exact, noised = np.zeros((2, 4, 3))
        for time in (1, 2, 3):
            costs._add_to_tree(np.zeros(3), time, 0.5, exact, noised)
        kept = noised[1].copy()  # of the first two leaves: the third changes nothing in it
        lengths.append(np.linalg.norm(noised[0]))
        assert kept.any()
        assert (noised[2:] == 0).all()
        costs._add_to_tree(np.zeros(3), 4, 0.5, exact, noised)
        assert (noised[:2] == 0).all()
        lengths.append(np.linalg.norm(noised[2]))
    assert stats.kstest(lengths, stats.gamma(3, scale=0.5).cdf).pvalue > ALPHA
    assert stats.kstest(lengths, stats.gamma(3, scale=0.6).cdf).pvalue < ALPHA
