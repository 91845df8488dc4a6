"""If these fail, policies are compared in other worlds than stated, or by another regret."""

from typing import Any

import numpy as np
import pytest

from discreet.errors import ConfigError, StateError
from discreet.simulate.problems.contexts import (
    DenseWorld,
    SparseWorld,
    TableWorld,
    World,
    breast_cancer,
    digits,
    wine,
)
from discreet.simulate.problems.contextual import LearnerPolicy, Policy, all_rewards, play


class Same:
    """Policy that always plays one arm, for a number of rounds at once."""

    def __init__(self, arm: int, rounds: int = 7) -> None:
        self.arm = arm
        self.rounds_until_change = rounds
        self.seen: list[np.ndarray] = []

    def decide(self, contexts: np.ndarray) -> np.ndarray:
        return np.full(len(contexts), self.arm)

    def learn(self, contexts: np.ndarray, arms: np.ndarray, rewards: np.ndarray) -> None:
        self.seen.append(np.column_stack([contexts, rewards]))


class Lottery(Same):
    """Policy that plays every arm with equal probability."""

    def __init__(self, arms: int) -> None:
        super().__init__(arms, 1000)
        self.generator = np.random.default_rng(0)

    def decide(self, contexts: np.ndarray) -> np.ndarray:
        return self.generator.integers(self.arm, size=len(contexts))


class Oracle(Same):
    """A policy that knows the means."""

    def __init__(self, world: SparseWorld | DenseWorld) -> None:
        super().__init__(0, 100)
        self.world = world

    def decide(self, contexts: np.ndarray) -> np.ndarray:
        best: np.ndarray = self.world.means(contexts).argmax(axis=1)
        return best


# --- worlds


@pytest.mark.parametrize("link", ["identity", "logistic"])
def test_a_sparse_worlds_means_are_linear_in_a_few_features(link: str) -> None:
    world = SparseWorld.drawn(30, arms=4, relevant=3, link=link, seed=2)  # type: ignore[arg-type]
    contexts, means = world.sample(500, np.random.default_rng(1))
    assert contexts.dtype == means.dtype == np.float64
    assert np.abs(contexts).max() <= world.context_bound == 1.0
    assert world.context_length is None
    for arm in range(4):
        (features,) = np.nonzero(world.coefficients[arm])
        assert len(features) == 3
        sizes = np.abs(world.coefficients[arm, features])
        assert sizes.sum() == pytest.approx(0.5 if link == "identity" else 4.0)
        assert sizes.max() / sizes.min() <= 3.0
        margins = world.offsets[arm] + sum(
            contexts[:, j] * world.coefficients[arm, j] for j in features
        )
        logistic = 1 / (1 + np.exp(-margins))
        expected = np.clip(0.5 + margins, 0, 1) if link == "identity" else logistic
        assert means[:, arm] == pytest.approx(expected)


def test_a_dense_worlds_contexts_lie_on_the_sphere_and_every_feature_matters() -> None:
    world = DenseWorld.drawn(8, 3, link="logistic", seed=2)
    contexts, means = world.sample(500, np.random.default_rng(1))
    assert np.linalg.norm(contexts, axis=1) == pytest.approx(np.ones(500))
    assert np.linalg.norm(world.coefficients, axis=1) == pytest.approx(np.full(3, 1.2 * np.sqrt(8)))
    margins = contexts @ world.coefficients.T + world.offsets
    assert means == pytest.approx(1 / (1 + np.exp(-margins)))
    assert (world.context_bound, world.context_length) == (1.0, 1.0)


def test_skewed_features_are_signs_that_are_mostly_minus_and_means_are_centred() -> None:
    world = SparseWorld.drawn(20, skewed=True, seed=3)
    contexts, means = world.sample(20_000, np.random.default_rng(1))
    assert set(np.unique(contexts)) == {-1.0, 1.0}
    assert world.chances is not None
    assert (world.chances >= 0.05).all()
    assert (world.chances <= 0.3).all()
    assert (contexts == 1).mean(axis=0) == pytest.approx(world.chances, abs=0.02)
    assert means.mean(axis=0) == pytest.approx(0.5 + world.offsets, abs=0.02)


def test_correlated_features_resemble_their_neighbours() -> None:
    world = SparseWorld.drawn(10, correlation=0.5, seed=3)
    contexts, _ = world.sample(20_000, np.random.default_rng(1))
    correlations: Any = np.corrcoef(contexts.T)
    assert correlations[3, 4] == pytest.approx(0.5, abs=0.03)
    assert correlations[0, 9] == pytest.approx(0.5, abs=0.03)
    assert correlations[3, 5] == pytest.approx(0.0, abs=0.03)
    assert np.abs(contexts).max() <= 1.0


def test_rewards_are_clicks_or_noisy_means() -> None:
    means = np.tile([0.2, 0.97], (20_000, 1))
    arms = np.arange(20_000) % 2
    clicks = SparseWorld.drawn(5, reward="bernoulli").rewards(means, arms, np.random.default_rng(1))
    assert set(clicks) == {0.0, 1.0}
    assert clicks[::2].mean() == pytest.approx(0.2, abs=0.02)
    assert clicks[1::2].mean() == pytest.approx(0.97, abs=0.02)
    noisy = SparseWorld.drawn(5).rewards(means, arms, np.random.default_rng(1))
    assert noisy.max() == 1.0
    assert noisy[::2].mean() == pytest.approx(0.2, abs=0.01)
    assert noisy[::2].std() == pytest.approx(0.1, abs=0.01)


def test_a_table_rewards_the_label() -> None:
    world = TableWorld.of(np.array([[0.1, 5.0], [0.2, -5.0]]), np.array([1, 0]), context_bound=1.0)
    contexts, means = world.sample(50, np.random.default_rng(1))
    assert (means[contexts[:, 0] == 0.1] == [0.0, 1.0]).all()
    assert (means[contexts[:, 0] == 0.2] == [1.0, 0.0]).all()
    assert np.abs(contexts).max() == 1.0
    arms = np.zeros(50, dtype=np.int64)
    assert (world.rewards(means, arms, np.random.default_rng(1)) == means[:, 0]).all()


@pytest.mark.parametrize(
    ("world", "features", "arms"), [(digits(), 64, 10), (wine(), 13, 3), (breast_cancer(), 30, 2)]
)
def test_known_tables_are_scaled(world: TableWorld, features: int, arms: int) -> None:
    assert (world.features, world.arms) == (features, arms)
    assert world.rows.min() == 0.0
    assert world.rows.max() == 1.0
    assert set(world.labels) == set(range(arms))


def test_the_same_seed_draws_the_same_world() -> None:
    one, two, other = (SparseWorld.drawn(20, seed=seed) for seed in (4, 4, 5))
    assert (one.coefficients == two.coefficients).all()
    assert (one.coefficients != other.coefficients).any()


def test_impossible_worlds_are_refused() -> None:
    with pytest.raises(ConfigError, match="relevant must be between 1 and the 4 features, got 5"):
        SparseWorld.drawn(4)
    with pytest.raises(ConfigError, match="one label per row, got 2 rows, 1 labels"):
        TableWorld.of(np.eye(2), np.array([0]), context_bound=1.0)


# --- playing


@pytest.mark.parametrize(
    "world", [SparseWorld.drawn(20, seed=1), DenseWorld.drawn(6, 4, seed=1), digits()]
)
def test_uniform_play_has_a_regret_of_one(world: World) -> None:
    assert play(world, Lottery(world.arms), 20_000) == pytest.approx(1.0, abs=0.03)


def test_a_policy_that_knows_the_means_has_no_regret() -> None:
    world = SparseWorld.drawn(20, seed=1)
    assert play(world, Oracle(world), 2000) == 0.0


def test_regret_is_that_of_its_definition() -> None:
    world = SparseWorld.drawn(20, seed=1)
    played = play(world, Same(1), 3000, seed=9, chunk=1000)
    generator = np.random.default_rng([9, 1])
    means = np.concatenate([world.sample(1000, generator).means for _ in range(3)])
    lost = (means.max(axis=1) - means[:, 1]).sum()
    at_stake = (means.max(axis=1) - means.mean(axis=1)).sum()
    assert played == pytest.approx(lost / at_stake)


@pytest.mark.parametrize("world", [SparseWorld.drawn(7, seed=1), DenseWorld.drawn(7, 3), wine()])
def test_policies_meet_the_same_people_with_the_same_rewards(world: World) -> None:
    """Rewards depend neither on the division of rounds nor on what another policy plays."""
    one, two = Same(0, rounds=1), Same(0, rounds=50)
    play(world, one, 300, seed=5, chunk=300)
    play(world, two, 300, seed=5, chunk=100)
    assert np.concatenate(one.seen) == pytest.approx(np.concatenate(two.seen))
    other = Same(1)
    play(world, other, 300, seed=5)
    assert (np.concatenate(one.seen)[:, :-1] == np.concatenate(other.seen)[:, :-1]).all()


def test_one_by_one_gets_the_rewards_that_another_policy_would_get() -> None:
    class First:
        """Policy that plays arm 0 for all people."""

        def pass_through(self, contexts: np.ndarray, rewards: np.ndarray) -> np.ndarray:
            self.rewards = rewards
            return np.zeros(len(contexts), dtype=np.int64)

    world = SparseWorld.drawn(7, seed=1)
    passing, plain = First(), Same(0)
    assert play(world, passing, 200, seed=5) == play(world, plain, 200, seed=5)
    assert (passing.rewards[:, 0] == np.concatenate(plain.seen)[:, -1]).all()
    means = np.tile([0.3, 0.5, 0.7], (500, 1))
    clicks = all_rewards(
        SparseWorld.drawn(7, reward="bernoulli"), means, np.random.default_rng(1)
    )  # the same luck: a click on the worse arm is one on the better arm
    assert (np.diff(clicks, axis=1) >= 0).all()


def test_a_world_whose_arms_are_equal_has_no_regret() -> None:
    world = TableWorld.of(np.eye(2), np.array([0, 0]), context_bound=1.0)
    assert play(world, Same(0), 10) == 0.0
    with pytest.raises(ConfigError, match="horizon must be at least 1, got 0"):
        play(world, Same(0), 0)


def test_a_learner_plays_by_tickets() -> None:
    class Tickets:
        """Tickets as learners return them."""

        def __init__(self, count: int) -> None:
            self.decisions = np.ones(count, dtype=np.int64)

    class Stub:
        """Learner that always decides 1, in blocks of four."""

        rounds_until_release = 4

        def __init__(self) -> None:
            self.closed: list[int] = []
            self.open: Tickets | None = None

        def open_many(self, contexts: np.ndarray) -> Tickets:
            self.open = Tickets(len(contexts))
            return self.open

        def close_many(self, tickets: Tickets, rewards: np.ndarray) -> None:
            assert tickets is self.open
            self.closed.append(len(rewards))

    stub = Stub()
    policy: Policy = LearnerPolicy(stub)  # type: ignore[arg-type]
    world = SparseWorld.drawn(7, seed=1)
    assert play(world, policy, 10) == play(world, Same(1), 10)
    assert stub.closed == [4, 4, 2]
    with pytest.raises(StateError, match="nothing was decided"):
        policy.learn(np.zeros((1, 7)), np.zeros(1, dtype=np.int64), np.zeros(1))
