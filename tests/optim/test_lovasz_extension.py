"""If these fail, the expected cost of the played sets is not the cost that was optimised."""

from collections.abc import Callable
from itertools import chain as chained
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.arrays import Integers
from discreet.optim.domains import Box
from discreet.optim.leader import Leader
from discreet.optim.lovasz_extension import (
    chain,
    chain_values,
    combination,
    lovasz_extension,
    padded_sets,
    subgradient,
    threshold_sizes,
)

ITEMS = 4
points = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.6, 1.0]), min_size=ITEMS, max_size=ITEMS).map(
    np.array
)


def cut_plus_modular(seed: int) -> Callable[[np.ndarray], float]:
    """Return a random submodular cost that is not 0 for the empty set."""
    generator = np.random.default_rng(seed)
    weights = generator.random((ITEMS, ITEMS))
    modular = generator.normal(size=ITEMS)

    def cost(chosen: np.ndarray) -> float:
        inside = np.isin(np.arange(ITEMS), chosen)
        return float(weights[inside][:, ~inside].sum() + modular[inside].sum() - 0.3)

    return cost


@given(points, st.integers(0, 50))
def test_the_extension_is_the_expected_cost_of_the_set_above_a_random_threshold(
    point: np.ndarray, seed: int
) -> None:
    cost = cut_plus_modular(seed)
    thresholds = (np.arange(200) + 0.5) / 200

    sets = padded_sets(chain(point), threshold_sizes(point, thresholds))

    assert all(
        np.array_equal(row[row >= 0], np.flatnonzero(point > level))
        for row, level in zip(sets[::7], thresholds[::7], strict=True)
    )
    average = np.mean([cost(row[row >= 0]) for row in sets])
    assert average == pytest.approx(lovasz_extension(cost, point), abs=1e-9)


@given(points, points, st.integers(0, 50))
def test_a_submodular_cost_lies_above_its_subgradient(
    here: np.ndarray, there: np.ndarray, seed: int
) -> None:
    cost = cut_plus_modular(seed)
    value = lovasz_extension(cost, here)
    slope = subgradient(cost, here)
    empty = cost(np.array([], dtype=np.int64))
    assert lovasz_extension(cost, there) >= value + slope @ (there - here) - 1e-9
    assert value == pytest.approx(empty + slope @ here)


@given(points)
def test_the_weighted_chain_adds_up_to_the_point(point: np.ndarray) -> None:
    order = chain(point)
    weights = combination(point, order)
    corners = np.array([np.isin(np.arange(ITEMS), order[:size]) for size in range(ITEMS + 1)])
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1.0)
    assert np.allclose(weights @ corners, point)


def test_ties_go_to_the_smaller_number() -> None:
    assert chain(np.array([0.5, 1.0, 0.5, 0.5])).tolist() == [1, 0, 2, 3]


def test_the_cost_is_called_once_per_set() -> None:
    calls: list[list[int]] = []

    def cost(chosen: Integers) -> float:
        calls.append(chosen.tolist())
        return 0.0

    chain_values(cost, np.array([2, 0, 1]))
    assert calls == [[], [2], [0, 2], [0, 1, 2]]


def test_subgradients_of_bounded_costs_are_as_short_as_proved() -> None:
    """Check all submodular functions on three items with values −1, 0 and 1, on every chain.

    They include the pair for which the published noise is too small.
    """
    sets = list(chained.from_iterable(combinations(range(3), size) for size in range(4)))
    values = np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 8, indexing="ij")).reshape(8, -1).T
    submodular = np.ones(len(values), dtype=np.bool_)
    for a in range(8):
        for b in range(a):
            union = sets.index(tuple(sorted({*sets[a], *sets[b]})))
            meet = sets.index(tuple(sorted({*sets[a]} & {*sets[b]})))
            submodular &= values[:, a] + values[:, b] >= values[:, union] + values[:, meet]
    path = [sets.index(chosen) for chosen in ((), (0,), (0, 1), (0, 1, 2))]
    slopes = np.unique(np.diff(values[submodular][:, path], axis=1), axis=0)
    assert np.maximum(slopes, 0).sum(axis=1).max() == 2
    assert np.maximum(-slopes, 0).sum(axis=1).max() == 2
    assert np.linalg.norm(slopes, axis=1).max() == pytest.approx(8**0.5)
    apart = np.linalg.norm(slopes[:, None] - slopes[None], axis=2).max()
    assert apart == pytest.approx(24**0.5)  # the published noise is for 4
    assert apart <= 2 * 8**0.5


def test_the_leader_gets_stiffer_by_swings_and_not_by_noise() -> None:
    generator = np.random.default_rng(3)
    leader = Leader(Box(20, 0.0, 1.0))
    quiet = leader.start()
    swinging = leader.start()
    walk = np.zeros(20)
    for release in range(200):
        walk = walk + generator.normal(size=20)
        quiet = leader.follow(quiet, walk, variance=release + 1.0, step_variance=1.0)
        swinging = leader.follow(
            swinging, walk + 30.0 * (release % 2), variance=release + 1.0, step_variance=1.0
        )
    assert quiet.steps.stiffness == pytest.approx(2 * 200**0.5, rel=0.1)
    assert swinging.steps.stiffness > 10 * quiet.steps.stiffness
    fixed = Leader(Box(20, 0.0, 1.0), most=5000.0).follow(
        leader.start(), walk, variance=150.0, step_variance=1.0
    )
    assert fixed.steps.stiffness == pytest.approx(2 * (150 + 5000 / 20) ** 0.5)
    assert ((fixed.point >= 0) & (fixed.point <= 1)).all()
