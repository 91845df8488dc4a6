"""If these fail, discreet is compared with rivals that are too weak or not private."""

from itertools import permutations, product
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.budget.privacy import Privacy
from discreet.papers.printed import glm_for_world
from discreet.simulate.problems.contexts import DenseWorld, SparseWorld, TableWorld, World
from discreet.simulate.problems.contextual import play
from rivals.contextual import (
    RIVALS,
    TUNED,
    TUNING,
    Fliphat,
    PrivateLinUCB,
    tuned,
)
from rivals.contextual_plain import LinUCB

ALPHA = 1e-6
SPARSE = SparseWorld.drawn(20, seed=1)
DENSE = DenseWorld.drawn(5, 3, seed=1)
RHO = 0.02435597


def regret(name: str, world: World, horizon: int, epsilon: float = 1.0, **settings: Any) -> float:
    return play(world, RIVALS[name](world, horizon, epsilon, 1e-6, **settings), horizon)


# --- all of them


@pytest.mark.parametrize("name", list(RIVALS))
@pytest.mark.parametrize("world", [SPARSE, DENSE])
def test_every_rival_plays_and_repeats_itself(name: str, world: World) -> None:
    found = regret(name, world, 2000, seed=3)
    assert 0.0 <= found < 1.5
    assert found == regret(name, world, 2000, seed=3)


def test_rivals_without_privacy_have_little_regret() -> None:
    assert regret("linucb", SPARSE, 10_000) < 0.08
    assert regret("linucb", DENSE, 10_000) < 0.12


@pytest.mark.parametrize(
    "name", ["private_linucb", "private_linucb_printed", "fliphat", "glm_bandit_sound"]
)
def test_rivals_with_a_huge_epsilon_lose_little(name: str) -> None:
    """Their regret at a usual epsilon is due to noise alone."""
    assert regret(name, SPARSE, 10_000, epsilon=1e5) < 0.25


def test_at_a_usual_epsilon_rivals_have_their_known_order() -> None:
    horizon = 20_000
    printed = regret("private_linucb_printed", DENSE, horizon)
    tight = regret("private_linucb", DENSE, horizon)
    assert regret("linucb", DENSE, horizon) < 0.1 < tight < 0.3 < 0.5 < printed
    assert regret("fliphat", SPARSE, horizon) < 0.4


def test_defaults_and_grids_name_existing_settings() -> None:
    assert TUNED.keys() == RIVALS.keys()
    for name, grid in TUNED.items():
        tried = {key: values[-1] for key, values in grid.items()}
        RIVALS[name](SPARSE, 1000, 1.0, 1e-6, seed=1, **tried)


def test_tuning_takes_the_best_of_the_grid_in_worlds_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(TUNED, "linucb", {"width": (0.1, 50.0), "ridge": (1.0,)})
    seen: list[int] = []

    def world(seed: int) -> World:
        seen.append(seed)
        return DenseWorld.drawn(3, 3, seed=seed)

    assert tuned("linucb", world, 2000, [0, 1]) == {"width": 0.1, "ridge": 1.0}
    assert seen == [TUNING, TUNING + 1] * 2


# --- without privacy


def test_linucb_is_ridge_regression_with_a_bonus() -> None:
    rival = LinUCB(DENSE, 1000, 1.0, 1e-6, width=0.7, ridge=2.0, first=10)
    generator = np.random.default_rng(1)
    contexts, means = DENSE.sample(30, generator)
    arms = rival.decide(contexts)
    assert rival.rounds_until_change == 30
    rewards = DENSE.rewards(means, arms, generator)
    rival.learn(contexts, arms, rewards)
    fresh = DENSE.sample(4, generator).contexts
    for arm in range(3):
        rows = np.column_stack([np.ones(30), contexts])[arms == arm]
        gram = rows.T @ rows + 2 * np.eye(6)
        found = np.linalg.solve(gram, rows.T @ (rewards[arms == arm] - 0.5))
        for x, scores in zip(
            np.column_stack([np.ones(4), fresh]), rival.scores(fresh), strict=True
        ):
            assert scores[arm] == pytest.approx(
                x @ found + 0.7 * sqrt(x @ np.linalg.solve(gram, x))
            )


# --- joint differential privacy


def test_private_linucbs_printed_constants() -> None:
    rival = PrivateLinUCB(DENSE, 100_000, 1.0, 1e-6, calibration="printed", centred=False)
    sigma = sqrt(16 * 18 * 2**2 * log(4e6) ** 2)
    assert rival.deviation == pytest.approx(sigma)
    assert rival.shift == pytest.approx(2 * sigma * sqrt(36) * (4 * sqrt(6) + 2 * log(2e5 / 0.05)))
    # Every person is in 18 nodes; of (Z + Zᵀ)/√2 an entry off the diagonal has variance σ², one on
    # it 2σ²,
    # so a change of Frobenius norm s costs s²/(4σ²).
    assert 18 * (sqrt(2) * 2) ** 2 / (4 * sigma**2) == pytest.approx(RHO / 180, rel=0.01)


def test_private_linucbs_tight_noise_spends_its_budget() -> None:
    rival = PrivateLinUCB(DENSE, 100_000, 1.0, 1e-6, blocks=30)
    moved = sqrt(2) * 1.25
    assert 5 * moved**2 / (4 * rival.deviation**2) == pytest.approx(RHO)
    node = np.concatenate([rival._node()[arm] for arm in range(3) for _ in range(200)])
    square = node.reshape(-1, 7, 7)
    assert (square == square.transpose(0, 2, 1)).all()
    assert np.std(square[:, 0, 1:]) == pytest.approx(rival.deviation, rel=0.05)
    assert np.std(square[:, 2, 2]) == pytest.approx(sqrt(2) * rival.deviation, rel=0.1)


@pytest.mark.parametrize("centred", [False, True])
def test_no_person_moves_private_linucbs_sums_beyond_its_sensitivity(centred: bool) -> None:
    """People at the extremes of the bounds, replaced by each other, on one arm or two."""
    angles = np.linspace(0, 2 * np.pi, 25)
    contexts = np.stack([np.cos(angles), np.sin(angles)], axis=1) * 3.0  # too long: clipped
    world = DenseWorld.drawn(2, 2)
    highest = 0.0
    sums = []
    for context, reward, arm in product(contexts, (0.0, 0.5, 7.0), (0, 1)):
        rival = PrivateLinUCB(world, 100, 1.0, 1e-6, centred=centred, intercept=0.0)
        rival.gather(context[None], np.array([arm]), np.array([reward]))
        sums.append(rival.sums)
    for one, two in product(sums, sums):
        highest = max(highest, float(np.linalg.norm(one - two)))
    bound = sqrt(2) * (1.25 if centred else 2.0)
    assert 0.98 * bound < highest <= bound + 1e-9


def test_private_linucbs_noise_is_that_of_a_tree() -> None:
    """The node of times 1 to 4 counts until 8; 5 and 7 have one node besides those of 4 and 6."""
    rival = PrivateLinUCB(DENSE, 100, 1.0, 1e-6)
    four, five, six, seven, eight = (rival.noise_of_sum(time) for time in range(4, 9))
    more = [five - four, six - four, seven - six, eight]
    assert [np.std(noise) for noise in more] == pytest.approx([rival.deviation] * 4, rel=0.25)
    assert np.std(eight - seven) > 1.5 * rival.deviation


def peeled(scores: np.ndarray, rate: float, draws: int) -> dict[tuple[int, ...], float]:
    """Return the law of sequential draws of the exponential mechanism without repetition."""
    weights = np.exp(rate * scores)
    law = {}
    for order in permutations(range(len(scores)), draws):
        left, chance = weights.sum(), 1.0
        for item in order:
            chance *= weights[item] / left
            left -= weights[item]
        law[order] = chance
    return law


def spent(one: np.ndarray, two: np.ndarray) -> float:
    """Return the ρ of zCDP between two laws: the largest of D_α/α."""
    orders = (1.01, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0)
    return max(log(float(np.sum(one**a * two ** (1 - a)))) / (a - 1) / a for a in orders)


def test_fliphats_selection_costs_its_budget_by_enumeration() -> None:
    """Four features, two draws; the score of a feature is |v|, and one person is replaced."""
    world = SparseWorld.drawn(4, relevant=2)
    rival = Fliphat(world, 1000, 8.0, 1e-6, relevant=2, iterations=2)
    share = Privacy(8.0, 1e-6).budget.rho / 4  # half of an iteration's
    moved = 0.5  # U·B: the largest contribution of one person to v_j
    people = [np.array(signs) * moved for signs in product((-1.0, 1.0), repeat=4)]
    highest = two_arms = 0.0
    for base in (np.zeros(4), np.array([5.0, 4.0, -5.0, 0.5]), np.array([1.0, -1.0, 1.0, -1.0])):
        laws = [np.array(list(peeled(np.abs(base + x), rival.rate, 2).values())) for x in people]
        without = np.array(list(peeled(np.abs(base), rival.rate, 2).values()))
        highest = max(highest, *(spent(one, two) for one, two in product(laws, laws)))
        # On two arms: one gets a person, the other loses one; both laws are seen.
        for one in laws:
            two_arms = max(two_arms, spent(one, without) + spent(without, one))
    assert 0.3 * share < highest <= share
    assert two_arms <= share


def test_fliphats_values_cost_their_budget() -> None:
    rival = Fliphat(SPARSE, 1000, 1.0, 1e-6, relevant=5, iterations=3)
    share = RHO / 6
    same_arm = 5 * (2 * 0.5) ** 2 / (2 * rival.deviation**2)
    two_arms = 2 * 5 * 0.5**2 / (2 * rival.deviation**2)
    assert same_arm == pytest.approx(share)
    assert two_arms < share


@pytest.mark.statistical
def test_fliphat_draws_features_one_after_the_other() -> None:
    """20,000 iterations; a rate that is a fifth off would be detected."""
    world = SparseWorld.drawn(3, relevant=2)
    rival = Fliphat(world, 1000, 30.0, 1e-6, relevant=2)
    contexts = np.array([[1.0, 0.5, -0.8], [0.2, 0.9, 0.1]])
    rival.gather(contexts, np.array([0, 0]), np.array([1.0, 0.9]))
    sums = 0.5 * contexts[0] + 0.4 * contexts[1]
    seen = dict.fromkeys([(0, 1), (0, 2), (1, 2)], 0)
    for _ in range(20_000):
        found = rival._iteration(0, np.zeros(3), 10.0)
        seen[tuple(np.flatnonzero(found))] += 1  # type: ignore[index]
    pvalues = []
    for factor in (1.0, 0.8):
        law = peeled(np.abs(sums), factor * rival.rate, 2)
        expected = [20_000 * (law[pair] + law[pair[::-1]]) for pair in seen]
        pvalues.append(stats.chisquare(list(seen.values()), expected).pvalue)
    assert pvalues[0] > ALPHA > pvalues[1]


def test_fliphat_forgets_all_but_the_last_episode() -> None:
    found = []
    for first in (0, 1):
        rival = Fliphat(SPARSE, 1000, 1.0, 1e-6, first=0.1)
        generator = np.random.default_rng(first)
        for count in (100, 200):
            generator = generator if count == 100 else np.random.default_rng(7)
            contexts, means = SPARSE.sample(count, generator)
            arms = np.arange(count) % 3
            assert rival.rounds_until_change == count
            rival.learn(contexts, arms, SPARSE.rewards(means, arms, generator))
        found.append(rival.coefficients.copy())
    assert (found[0] == found[1]).all()
    assert (np.count_nonzero(found[0], axis=1) == 5).all()


def test_fliphat_stores_no_people_of_the_last_episode() -> None:
    rival = Fliphat(SPARSE, 1000, 1.0, 1e-6, first=0.4)
    play(SPARSE, rival, 1000)
    assert rival.episode == []
    assert rival.block == range(400, 1200)


def test_settings_of_a_world_reach_the_published_bandit() -> None:
    world = SparseWorld.drawn(10, link="logistic", reward="bernoulli", seed=1)
    received: dict[str, Any] = {}

    class Spy:
        """Records the settings of its constructor."""

        def __init__(self, *arguments: Any, **settings: Any) -> None:
            received.update(settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(glm_for_world, "GlmBandit", Spy)
        RIVALS["glm_bandit_sound"](world, 3000, 1.0, 1e-6, share=0.1, blocks=20)
        assert received["link"] == "logistic"
        assert received["radius"] == pytest.approx(4.0)
        assert (received["warm_up"], received["block"]) == (100, 150)
        table = TableWorld.of(np.eye(2), np.array([0, 1]), context_bound=1.0)
        received.clear()
        RIVALS["glm_bandit_printed"](table, 3000, 1.0, 1e-6)
        assert received == {"noise": "printed"}
