"""If these fail, slates with full information are compared with an unprinted algorithm."""

from collections import defaultdict
from itertools import product
from math import log, sqrt

import numpy as np
import pytest

from discreet.errors import ConfigError
from discreet.papers.printed.fi_dp import epsilon_spent, rate, run, sound_rate
from discreet.simulate.problems.display import World

from .law import ALPHA, Slate, Sums, clicked, p_value, redrawn

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)

SMALL = World(np.array([0.5, 0.5]), np.array([[0.9, 0.3], [0.2, 0.6]]), np.array([0, 1, 0, 0]))
"""Four visitors of two types, two items."""
OVERLAPPING = World(
    weights=np.array([0.6, 0.4]),
    chances=np.array([[0.9, 0.8, 0.0, 0.1], [0.0, 0.0, 0.7, 0.1]]),
    types=np.tile([0, 1, 0, 1, 0], 400),
)
"""World in which the two most liked items are liked by the same visitors."""


def law_of_earnings(
    world: World,
    slots: int,
    eta: float,
    *,
    block: int = 1,
    own_gains: bool = False,
) -> dict[float, float]:
    """Return the exact law of the value; with `own_gains` items gain on top of themselves."""
    items = world.chances.shape[1]
    nothing = ((0.0,) * items,) * slots
    states: dict[tuple[Sums, Slate, float], float] = {(nothing, (), 0.0): 1.0}
    for visitor, kind in enumerate(world.types):
        row = world.chances[kind]
        after: dict[tuple[Sums, Slate, float], float] = defaultdict(float)
        for (sums, current, earned), chance in states.items():
            slates = redrawn(sums, eta) if visitor % block == 0 else {current: 1.0}
            for slate, drawn in slates.items():
                gained = []
                for slot, copy in enumerate(sums):
                    before = slate[:slot]
                    gains = [
                        clicked(row, (*before, item)) - clicked(row, before)
                        for item in range(items)
                    ]
                    if own_gains:
                        gains = [(1 - clicked(row, before)) * row[item] for item in range(items)]
                    gained.append(
                        tuple(float(old + new) for old, new in zip(copy, gains, strict=True))
                    )
                after[tuple(gained), slate, earned + clicked(row, slate)] += chance * drawn
        states = dict(after)
    law: dict[float, float] = defaultdict(float)
    for (_, _, earned), chance in states.items():
        law[round(float(earned), 9)] += chance
    return law


def test_the_rate_is_the_printed_one_and_its_draws_cost_a_fraction() -> None:
    assert rate(1.0, 1e-6, 5, 100_000) == pytest.approx(1 / (5 * sqrt(32 * 100_000 * log(5e6))))
    assert 0.07 < epsilon_spent(1.0, 1e-6, 5, 100_000) < 0.09
    assert epsilon_spent(1.0, 1e-6, 5, 100) == pytest.approx(epsilon_spent(1.0, 1e-6, 5, 10**6))


@pytest.mark.statistical
@pytest.mark.parametrize(
    "block", [1, *(pytest.param(block, marks=pytest.mark.night) for block in (2, 3))]
)
def test_earnings_follow_the_law_of_the_printed_rules(block: int) -> None:
    """10,000 runs; no learning, or items that gain on top of themselves, would be detected."""
    eta = 3.0
    epsilon = eta / rate(1.0, 1e-6, 2, len(SMALL.types))
    values = [
        run(SMALL, 2, epsilon, 1e-6, noise="printed", block=block, seed=seed).value
        for seed in range(10_000)
    ]
    assert p_value(values, law_of_earnings(SMALL, 2, eta, block=block)) > ALPHA
    assert p_value(values, law_of_earnings(SMALL, 2, 0.0, block=block)) < ALPHA
    assert p_value(values, law_of_earnings(SMALL, 2, eta, block=block, own_gains=True)) < ALPHA


@pytest.mark.parametrize("block", [1, 10])
def test_without_privacy_complementary_items_are_found(block: int) -> None:
    assert set(OVERLAPPING.best_slate(2)) == {0, 2}
    earned = run(OVERLAPPING, 2, 1e5, 1e-6, noise="printed", block=block).value
    assert earned > 0.95 * OVERLAPPING.worth(np.array([0, 2]))
    assert earned > 1.2 * OVERLAPPING.worth(np.array([0, 1]))


def test_at_a_usual_epsilon_the_share_is_near_zero() -> None:
    world = World.drawn(10_000)
    assert abs(world.share(run(world, 5, 1.0, 1e-6, noise="printed").value, 5)) < 0.1


def test_earnings_are_recorded_over_time() -> None:
    world = World.drawn(2_345, items=10)
    passed: list[float] = []
    earnings = run(world, 3, 1.0, 1e-6, block=7, seed=5, report=passed.append)
    assert sum(passed) == earnings.visitors[-1] == 2_345
    assert earnings.earned[-1] == earnings.value
    assert (np.diff(earnings.earned) > 0).all()
    assert earnings.value == run(world, 3, 1.0, 1e-6, block=7, seed=5).value
    assert earnings.value != run(world, 3, 1.0, 1e-6, block=7, seed=6).value


def test_a_block_longer_than_the_stream_has_one_slate() -> None:
    world = World.drawn(500, items=4)
    slates = [np.unique(slate) for slate in product(range(4), repeat=2)]
    worths = [world.worth(slate) for slate in slates]
    assert np.isclose(run(world, 2, 1.0, 1e-6, block=1_000).value, worths).any()


def test_what_was_not_printed_is_refused() -> None:
    with pytest.raises(ConfigError, match="published noise needs delta > 0, got 0"):
        run(SMALL, 2, 1.0, 0.0, noise="printed")
    with pytest.raises(ConfigError, match="block must be a whole number, between 1 and"):
        run(SMALL, 2, 1.0, 1e-6, block=0)
    with pytest.raises(
        ConfigError, match="slots must be a whole number, between 1 and 1024, got 0"
    ):
        run(SMALL, 0, 1.0, 1e-6)


def test_sound_runs_have_the_sound_rate() -> None:
    world = World.drawn(2_000, items=10, seed=2)
    sharper = sound_rate(1.0, 1e-6, 3, 2_000) / rate(1.0, 1e-6, 3, 2_000)
    sound = run(world, 3, 1.0, 1e-6, seed=3)
    assert sound.value == pytest.approx(run(world, 3, sharper, 1e-6, noise="printed", seed=3).value)
    assert sound.value != run(world, 3, 1.0, 1e-6, noise="printed", seed=3).value
