"""If these fail, slates with bandit feedback are compared with an unprinted algorithm."""

from collections import defaultdict
from itertools import product
from math import log, sqrt

import numpy as np
import pytest

from discreet.errors import ConfigError
from discreet.papers.printed import bandit_dp
from discreet.papers.printed.bandit_dp import (
    most_redraws,
    printed_exploration,
    rate,
    run,
    sound_rate,
)
from discreet.simulate.problems.display import World

from .law import ALPHA, Slate, Sums, clicked, p_value, redrawn

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)

SMALL = World(np.array([0.5, 0.5]), np.array([[0.9, 0.3], [0.2, 0.6]]), np.array([0, 1, 0]))
"""Three visitors of two types, two items."""


def fed(sums: Sums, slot: int, item: int, reward: int) -> Sums:
    """Return the sums after one reward."""
    table = [list(copy) for copy in sums]
    table[slot][item] += reward
    return tuple(tuple(copy) for copy in table)


def law_of_earnings(world: World, slots: int, eta: float, gamma: float) -> dict[float, float]:
    """Return the exact law of the value, by the printed rules."""
    items = world.chances.shape[1]
    nothing: Sums = ((0.0,) * items,) * slots
    states = {(nothing, slate, 0.0): chance for slate, chance in redrawn(nothing, eta).items()}
    for kind in world.types:
        row = world.chances[kind]
        after: dict[tuple[Sums, Slate, float], float] = defaultdict(float)
        for (sums, slate, earned), chance in states.items():
            after[sums, slate, round(earned + clicked(row, slate), 9)] += chance * (1 - gamma)
            for slot, item, reward in product(range(slots), range(items), (0, 1)):
                worth = clicked(row, (*slate[:slot], item))
                path = chance * gamma / (slots * items) * (worth if reward else 1 - worth)
                updated = fed(sums, slot, item, reward)
                for next_slate, drawn in redrawn(updated, eta).items():
                    after[updated, next_slate, round(earned + worth, 9)] += path * drawn
        states = dict(after)
    law: dict[float, float] = defaultdict(float)
    for (_, _, earned), chance in states.items():
        law[earned] += chance
    return law


def test_the_constants_are_the_printed_ones() -> None:
    squared = (16 * 100 * log(100)) ** 2
    assert printed_exploration(100, 5, 10**12) == pytest.approx(5 * (squared / 1e12) ** (1 / 3))
    assert printed_exploration(100, 5, 6 * 10**9) == 1.0 > printed_exploration(100, 5, 7 * 10**9)
    assert rate(2.0, 1e-6, 5, 10**6, 0.25) == pytest.approx(
        2 / (5 * sqrt(64 * 0.25 * 10**6 * log(5e6)))
    )


@pytest.mark.statistical
@pytest.mark.parametrize("gamma", [0.6, pytest.param(1.0, marks=pytest.mark.night)])
def test_earnings_follow_the_law_of_the_printed_rules(gamma: float) -> None:
    """20,000 runs; no learning, or exploring a sixth too rarely, would be detected."""
    eta = 4.0
    epsilon = eta / rate(1.0, 1e-6, 2, len(SMALL.types), gamma)
    values = [
        run(SMALL, 2, epsilon, 1e-6, noise="printed", exploration=gamma, seed=seed).value
        for seed in range(20_000)
    ]
    assert p_value(values, law_of_earnings(SMALL, 2, eta, gamma)) > ALPHA
    assert p_value(values, law_of_earnings(SMALL, 2, 0.0, gamma)) < ALPHA
    assert p_value(values, law_of_earnings(SMALL, 2, eta, gamma * 5 / 6)) < ALPHA


def test_with_little_privacy_and_exploration_complementary_items_are_found() -> None:
    chances = np.array([[0.95, 0.6, 0.0, 0.1], [0.0, 0.0, 0.7, 0.1]])
    world = World(np.array([0.6, 0.4]), chances, np.tile([0, 1, 0, 1, 0], 10_000))
    earned = run(world, 2, 1e5, 1e-6, noise="printed", exploration=0.05).value
    assert earned > 0.9 * world.worth(np.array([0, 2]))
    assert earned > 1.2 * world.worth(np.array([0, 1]))


def test_at_a_usual_epsilon_the_share_is_below_zero() -> None:
    world = World.drawn(10_000)
    assert world.share(run(world, 5, 1.0, 1e-6, noise="printed").value, 5) < 0.0
    assert world.share(run(world, 5, 1.0, 1e-6, noise="printed", exploration=0.1).value, 5) < 0.1


def test_earnings_are_recorded_over_time() -> None:
    world = World.drawn(2_345, items=10)
    passed: list[float] = []
    earnings = run(world, 3, 1.0, 1e-6, seed=5, report=passed.append)
    assert sum(passed) == earnings.visitors[-1] == 2_345
    assert earnings.earned[-1] == earnings.value
    assert (np.diff(earnings.earned) > 0).all()
    assert earnings.value == run(world, 3, 1.0, 1e-6, seed=5).value
    assert earnings.value != run(world, 3, 1.0, 1e-6, seed=6).value


def test_what_was_not_printed_is_refused() -> None:
    with pytest.raises(ConfigError, match="published noise needs delta > 0, got 0"):
        run(SMALL, 2, 1.0, 0.0, noise="printed")
    with pytest.raises(ConfigError, match="exploration must be above 0 and at most 1, got 0"):
        run(SMALL, 2, 1.0, 1e-6, exploration=0.0)
    with pytest.raises(
        ConfigError, match="slots must be a whole number, between 1 and 1024, got 0"
    ):
        run(SMALL, 0, 1.0, 1e-6)


def test_sound_runs_have_the_sound_rate_and_stop_at_their_last_redraw() -> None:
    world = World.drawn(2_000, items=10, seed=2)
    most = most_redraws(2_000, 0.3)
    sharper = sound_rate(1.0, 1e-6, most) / rate(1.0, 1e-6, 2, 2_000, 0.3)
    sound = run(world, 2, 1.0, 1e-6, noise="sound", exploration=0.3, seed=3)
    assert (
        sound.value == run(world, 2, sharper, 1e-6, noise="printed", exploration=0.3, seed=3).value
    )
    sums = np.zeros((2, 10))
    weights = np.ones((2, 10))
    slate = np.array([4, 7])
    earned = bandit_dp.play_rounds(
        world.types, world.chances, 1.0, 1.0, np.array([0]), sums, weights, slate
    )
    assert earned == pytest.approx(world.worth(slate))
    assert not sums.any()
