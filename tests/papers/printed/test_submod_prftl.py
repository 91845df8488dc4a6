"""If these fail, sets of least cost are compared with something that was never printed."""

from itertools import combinations
from math import log, sqrt
from types import ModuleType

import numpy as np
import pytest

from discreet.arrays import Integers
from discreet.errors import ConfigError
from discreet.papers.noise import l2_gamma
from discreet.papers.printed import bandit_submod_prftl, costs, submod_prftl
from discreet.papers.printed.episode import SetValue, meet
from discreet.release.randomness import seeded_bits
from discreet.simulate.problems.costs import BundleWorld

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)

ITEMS, ROUNDS, EPSILON = 4, 13, 300.0


def cost_of(row: np.ndarray) -> SetValue:
    """Return a concave function of the size plus a cost per item."""
    return lambda chosen: float(0.2 * sqrt(len(chosen)) + 0.4 * row[chosen].sum())


def stream(seed: int = 0) -> list[SetValue]:
    generator = np.random.default_rng(seed)
    return [cost_of(generator.uniform(-1, 1, ITEMS) - [1.5, 0.8, 0, 0]) for _ in range(ROUNDS)]


def prefix_noise(draws: list[np.ndarray]) -> list[np.ndarray]:
    """Return the noise of v_1, v_2, …; nodes are drawn leaf first, and a round uses the last."""
    waiting, of_sum = list(draws), [np.zeros(ITEMS)]
    for time in range(1, ROUNDS + 1):
        last = [waiting.pop(0) for _ in range((time & -time).bit_length())][-1]
        of_sum.append(of_sum[time & (time - 1)] + last)
    return of_sum[1:]


def drawn(scale: float, seed: int) -> list[np.ndarray]:
    bits = seeded_bits(seed, 0)
    return [l2_gamma(ITEMS, scale, bits) for _ in range(2 * ROUNDS)]


def test_full_information_shows_the_sets_of_the_printed_box() -> None:
    functions = stream()
    noises = prefix_noise(drawn(4.0 * 5 / EPSILON, seed=3))  # L(⌈log₂13⌉ + 1)/ε
    thresholds = np.random.default_rng([3, 9])
    point, total, expected = np.zeros(ITEMS), np.zeros(ITEMS), []
    for function, noise in zip(functions, noises, strict=True):
        threshold = thresholds.random()
        expected.append([item for item in range(ITEMS) if point[item] > threshold])
        chain: list[int] = []
        for item in sorted(range(ITEMS), key=lambda item: (-point[item], item)):
            without = function(np.array(sorted(chain), dtype=np.int64))
            chain.append(item)
            total[item] += function(np.array(sorted(chain), dtype=np.int64)) - without
        point = np.clip(-(total + noise) / sqrt(ROUNDS), 0, 1)
    episode = submod_prftl.play(functions, ITEMS, ROUNDS, EPSILON, noise="printed", seed=3)
    assert [shown.tolist() for shown in episode.sets] == expected
    assert any(expected)
    assert episode.values == pytest.approx(
        [f(np.array(s, dtype=np.int64)) for f, s in zip(functions, expected, strict=True)]
    )


def test_bandit_shows_the_sets_of_the_printed_box() -> None:
    functions, gamma = stream(), 0.5
    noises = prefix_noise(drawn(4 * ITEMS / sqrt(gamma) * 5 / EPSILON, seed=4))
    coins = np.random.default_rng([4, 10])
    point, total, expected = np.zeros(ITEMS), np.zeros(ITEMS), []
    for function, noise in zip(functions, noises, strict=True):
        order = sorted(range(ITEMS), key=lambda item: (-point[item], item))
        heights = [1.0, *(point[item] for item in order), 0.0]
        rho = [
            (1 - gamma) * (heights[i] - heights[i + 1]) + gamma / (ITEMS + 1)
            for i in range(ITEMS + 1)
        ]
        shown = int(coins.choice(ITEMS + 1, p=np.array(rho) / sum(rho)))
        heads = coins.random() < 0.5
        expected.append(sorted(order[:shown]))
        cost = function(np.array(expected[-1], dtype=np.int64))
        if shown == 0:
            total[order[0]] -= cost / rho[0]
        elif shown == ITEMS:
            total[order[-1]] += cost / rho[-1]
        elif heads:
            total[order[shown - 1]] += 2 * cost / rho[shown]
        else:
            total[order[shown]] -= 2 * cost / rho[shown]
        point = np.clip(-(total + noise) / ROUNDS ** (2 / 3), 0, 1)
    episode = bandit_submod_prftl.play(
        functions, ITEMS, ROUNDS, EPSILON, noise="printed", exploration=gamma, seed=4
    )
    assert [shown.tolist() for shown in episode.sets] == expected


def test_estimates_are_unbiased_and_within_their_bound_by_enumeration() -> None:
    generator = np.random.default_rng(1)
    point, gamma = generator.random(ITEMS), 0.2
    order = submod_prftl.falling_order(point)
    chances = bandit_submod_prftl.chain_chances(point, order, gamma)
    assert chances.sum() == pytest.approx(1.0)
    function = cost_of(generator.uniform(-1, 1, ITEMS))
    mean, longest = np.zeros(ITEMS), 0.0
    for shown, chance in enumerate(chances):
        cost = function(np.sort(order[:shown]))
        for heads in (False, True):
            estimate = bandit_submod_prftl.estimate(order, chances, shown, heads, cost)
            mean += chance / 2 * estimate
            opposite = bandit_submod_prftl.estimate(order, chances, shown, heads, -1.0)
            one = bandit_submod_prftl.estimate(order, chances, shown, heads, 1.0)
            longest = max(longest, float(np.linalg.norm(one - opposite)))
    # The Lovász extension of f − f(∅): a constant has no subgradient, and f(∅) = 0 here.
    assert mean == pytest.approx(submod_prftl.subgradient(function, order))
    assert longest <= bandit_submod_prftl.sound_change(ITEMS, gamma)
    at_zero = bandit_submod_prftl.chain_chances(np.zeros(ITEMS), order, gamma)
    widest = 2 * np.abs(bandit_submod_prftl.estimate(order, at_zero, 2, True, 1.0)).max()
    assert widest == pytest.approx(bandit_submod_prftl.sound_change(ITEMS, gamma))


def test_the_constants_are_the_printed_ones() -> None:
    assert submod_prftl.printed_constants(10_000) == (100.0, 4.0)
    assert submod_prftl.printed_constants(10_000, 2.0) == (200.0, 8.0)
    assert bandit_submod_prftl.printed_constants(4, 10**6) == pytest.approx(
        (10**4, 0.08, 16 / sqrt(0.08))
    )
    assert bandit_submod_prftl.printed_constants(50, 1000).exploration == 1.0
    by_hand = 2 * 100 * 16 / 10 + 10 * 3 / 2 + 4 * 3 * 16 * 100 * log(100) ** 1.5 / (0.5 * 10)
    assert submod_prftl.regret_bound(3, 100, 0.5) == pytest.approx(by_hand)
    gamma, stiffness = 8 / 100, 10**4
    parts = [
        32 * 16 * 10**6 / (stiffness * gamma),
        4 * stiffness,
        2 * gamma * 10**6,
        8 * 4 * 1000 / sqrt(gamma),
    ]
    noise = 64 * 64 * 10**6 * log(10**6) ** 1.5 / (gamma * stiffness)
    assert bandit_submod_prftl.regret_bound(4, 10**6, 1.0) == pytest.approx(sum(parts) + noise)


class CatchesUp:
    """Adversary that charges for the last shown set, and records how many sets it saw."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __call__(self, shown: list[Integers]) -> SetValue:
        self.seen.append(len(shown))
        last = set(shown[-1].tolist()) if shown else set()
        return lambda chosen: float(
            np.mean(
                [1.0 if item in last else -1.0 for item in range(ITEMS) if item in chosen] or [0.0]
            )
        )


@pytest.mark.parametrize("module", [submod_prftl, bandit_submod_prftl])
def test_adversaries_may_react_to_shown_sets(module: ModuleType) -> None:
    adversary = CatchesUp()
    episode = module.play(adversary, ITEMS, 30, 50.0)
    assert adversary.seen == list(range(30))
    assert len(episode.sets) == 30
    assert episode.total == pytest.approx(episode.values.sum())


def test_no_function_moves_a_sound_sum_too_far() -> None:
    """For every function, submodular or not, both parts of a subgradient are at most 2M."""
    generator = np.random.default_rng(2)
    bounded = [submod_prftl.within_bounds(generator.normal(0, 10, size=6), 1.0) for _ in range(300)]
    farthest = max(float(np.linalg.norm(one - other)) for one, other in combinations(bounded, 2))
    assert 0.5 * submod_prftl.sound_change() < farthest <= submod_prftl.sound_change()
    genuine = submod_prftl.subgradient(cost_of(np.array([0.5, -0.5, 0.2, 0.1])), np.arange(4))
    assert submod_prftl.within_bounds(genuine, 1.0) == pytest.approx(genuine)
    learner = bandit_submod_prftl.BanditSubmodPrftl(2, 4, 1e12, exploration=1.0)
    hostile = bandit_submod_prftl.BanditSubmodPrftl(2, 4, 1e12, exploration=1.0)
    learner.observe_value(-1.0)
    hostile.observe_value(-1e9)
    assert hostile.point == pytest.approx(learner.point, abs=1e-6)


def test_the_compiled_pass_has_the_cost_of_the_plain_loop() -> None:
    """Without noise, and in expectation over thresholds: Σ ⟨g_t, x_t⟩."""
    world = BundleWorld.drawn(200, items=5, seed=2)
    rows = world.rows(0, 200)
    learner = submod_prftl.SubmodPrftl(5, 200, 1.0, noise="none")
    cost = 0.0
    for row in rows:

        def function(chosen: Integers, row: np.ndarray = row) -> float:
            inside = np.isin(np.arange(5), chosen).astype(float)
            return float(world.costs(row[None], inside)[0])

        order = submod_prftl.falling_order(learner.point)
        cost += float(submod_prftl.subgradient(function, order) @ learner.point)
        learner.act()
        learner.observe(function)
    assert cost == pytest.approx(
        costs.cost_as_published(world, epsilon=1e12, bandit=False, noise="printed"), rel=1e-6
    )


def test_invalid_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="exploration must be above 0 and at most 1, got 0"):
        bandit_submod_prftl.play(stream(), ITEMS, ROUNDS, 1.0, exploration=0.0)
    with pytest.raises(ConfigError, match="one entry per round, got 13 for 5"):
        meet(submod_prftl.SubmodPrftl(ITEMS, 5, 1.0), stream(), 5, "")
