"""The contextual bandit: value, refusals, arms that are added later, and reports."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import ContextualBandit, Privacy, load
from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError, HorizonReached, OutOfBounds, StateError
from discreet.learners.contextual_bandit.ridge import Ridge
from discreet.learners.contextual_bandit.screen import Screen
from discreet.simulate.problems.contexts import DenseWorld, SparseWorld
from discreet.simulate.problems.contextual import LearnerPolicy, play

BOTH = Privacy(1.0, 1e-6)


Reward = Callable[[Floats, Integers], Floats]


def played(
    learner: ContextualBandit, reward: Reward, *, rounds: int | None = None, seed: int = 0
) -> Integers:
    """Play rounds with uniform contexts, up to the horizon or `rounds`, and return the arms."""
    generator = np.random.default_rng(seed)
    horizon = learner.settings.rounds if rounds is None else rounds
    arms = []
    while learner.clock < horizon:
        learner.release_if_due()
        count = min(learner.rounds_until_release, horizon - learner.clock)
        contexts = generator.uniform(-1, 1, size=(count, learner.settings.features))
        tickets = learner.open_many(contexts)
        learner.close_many(tickets, reward(contexts, tickets.numbers))
        arms.append(tickets.numbers)
    return np.concatenate(arms)


def by_sign(contexts: Floats, arms: Integers) -> Floats:
    """Arm 1 is right where the first feature is positive, arm 0 elsewhere."""
    is_right = (contexts[:, 0] > 0) == (arms == 1)
    return np.asarray(is_right, dtype=np.float64)


def small(**more: Any) -> ContextualBandit:
    """Return a learner with 2 arms, 3 features and 5,000 rounds."""
    return ContextualBandit(2, 3, 5000, BOTH, seed=1, **more)


@pytest.mark.parametrize("settings", [{}, {"relevant": 1}], ids=str)
def test_the_right_arm_is_played_in_the_end(settings: dict[str, Any]) -> None:
    learner = ContextualBandit(2, 3, 30_000, BOTH, seed=1, **settings)
    earned: list[float] = []

    def reward(contexts: Floats, arms: Integers) -> Floats:
        earned.extend(by_sign(contexts, arms))
        return by_sign(contexts, arms)

    played(learner, reward)
    assert np.mean(earned[:300]) < 0.65  # nothing is released yet
    assert np.mean(earned[-5000:]) > 0.9


def test_a_ridge_over_too_many_features_is_refused_with_the_largest_number() -> None:
    """Every commit writes its moments: 229 MB for 1,000 features and 5 arms."""
    with pytest.raises(ConfigError, match="with 5 arms at most 455: say how many are relevant"):
        ContextualBandit(5, 1000, 10**5, BOTH, relevant="all")
    ContextualBandit(5, 455, 10**5, BOTH, relevant="all")
    with pytest.raises(ConfigError, match="at most 455"):
        ContextualBandit(5, 456, 10**5, BOTH, relevant="all")
    ContextualBandit(5, 1000, 10**5, BOTH)


def test_scores_have_standard_deviations_and_are_close_to_mean_rewards() -> None:
    learner = ContextualBandit(2, 2, 40_000, BOTH, seed=2)

    def linear(contexts: Floats, arms: Integers) -> Floats:
        return np.where(arms == 1, 0.5 + 0.3 * contexts[:, 0], 0.5)

    with pytest.raises(StateError, match="no scores are released yet"):
        learner.scores([0.5, 0.0])
    played(learner, linear)
    scores = learner.scores([0.8, 0.0])
    assert scores.standard_deviations is not None
    assert scores.values[1] == pytest.approx(0.74, abs=0.08)
    assert scores.values[1] > scores.values[0]
    assert (scores.standard_deviations > 0).all()
    assert (scores.standard_deviations < 0.2).all()


@pytest.mark.parametrize(
    ("make", "horizon", "too_high"),
    [
        (lambda seed: DenseWorld.drawn(10, 5, seed=seed), 20_000, 0.01),
        (lambda seed: SparseWorld.drawn(20, arms=4, reward="bernoulli", seed=seed), 5_000, 0.06),
    ],
)
def test_the_reward_of_the_chosen_arm_is_not_overestimated(
    make: Any, horizon: int, too_high: float
) -> None:
    """The best of noisy weights is too high on average, the predicted reward is not."""
    by_weights = []
    by_scores = []
    for seed in range(6):
        world = make(seed)
        learner = ContextualBandit(
            world.arms,
            world.features,
            horizon,
            BOTH,
            context_length=world.context_length,
            seed=seed,
        )
        play(world, LearnerPolicy(learner), horizon, seed=seed)
        contexts, means = world.sample(300, np.random.default_rng(seed))
        decision = learner.decision
        weights = np.array([list(named.values()) for named in decision["weights"].values()])
        scores = contexts @ weights.T + list(decision["offsets"].values())
        chosen = (np.arange(300), scores.argmax(axis=1))
        assert np.array_equal(learner.open_many(contexts).numbers, chosen[1])
        predicted = np.array([learner.scores(context).values for context in contexts])
        by_weights.append((scores - means)[chosen].mean())
        by_scores.append((predicted - means)[chosen].mean())
    assert np.mean(by_weights) > too_high
    assert abs(np.mean(by_scores)) < too_high / 2


def test_rewards_may_have_any_range_and_contexts_any_units() -> None:
    usual = ContextualBandit(2, 2, 5000, BOTH, seed=5)
    scaled = ContextualBandit(
        2, 2, 5000, BOTH, seed=5, reward_range=(-10.0, 30.0), context_bound=(100.0, 100.0)
    )
    generator = np.random.default_rng(1)
    while usual.clock < 5000:
        usual.release_if_due()
        scaled.release_if_due()
        contexts = generator.uniform(-1, 1, size=(usual.rounds_until_release, 2))
        usual_tickets = usual.open_many(contexts)
        scaled_tickets = scaled.open_many(contexts * 100)
        agreement = np.mean(usual_tickets.decisions == scaled_tickets.decisions)
        assert agreement > 0.99  # up to the last bits of a product
        rewards = by_sign(contexts, usual_tickets.decisions)
        usual.close_many(usual_tickets, rewards)
        scaled.close_many(scaled_tickets, rewards * 40 - 10)


def test_contexts_beyond_their_bounds_are_clipped_and_infinite_ones_are_zero() -> None:
    learner = small()
    played(learner, by_sign, rounds=3000)
    far = learner.open([1e9, 0.0, 0.0]).decision
    assert far == learner.open([1.0, 0.0, 0.0]).decision
    strange = [learner.open(context).decision for context in ([np.nan, 1, 1], [np.inf, 0, 0])]
    assert strange == [learner.open([0.0, 0.0, 0.0]).decision] * 2


def test_a_malformed_context_in_a_batch_leaves_the_other_rounds_unchanged() -> None:
    learner = small()
    tickets = learner.open_many([[0.1, 0.2, 0.3], "strange", [1, 2], None])
    assert len(tickets) == 4
    assert learner.close_many(tickets, [1.0, 0.5, None, "x"]).tolist() == [True] * 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"relevant": 4},
        {"relevant": 0},
        {"relevant": "some"},
        {"reward_range": (1, 0)},
        {"reward_range": (0, float("nan"))},
        {"context_bound": 0.0},
        {"context_bound": (1.0, 1.0)},
        {"context_length": -1},
        {"max_arms": 1},
        {"report": 0.6},
        {"block": 0},
        {"arms": 0},
        {"arms": ["a", "a"]},
        {"features": 0},
        {"features": "age"},
        {"privacy": Privacy(1.0)},
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused_in_one_line(wrong: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"arms": 2, "features": 3, "horizon": 1000, "privacy": BOTH}
    with pytest.raises(ConfigError) as refusal:
        ContextualBandit(**(usual | wrong))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "context", [None, [1.0, 2.0], "abc", [[1.0, 2.0, 3.0]], ["a", "b", "c"], 3.0], ids=str
)
def test_a_request_without_a_valid_context_changes_nothing(context: Any) -> None:
    learner = small()
    with pytest.raises((ConfigError, OutOfBounds), match="context"):
        learner.act(context)
    assert learner.clock == 0
    with pytest.raises(StateError, match="no round is open"):
        learner.observe(1.0)
    with pytest.raises(ConfigError, match="a context for every round"):
        learner.open_many(5)
    with pytest.raises(ConfigError, match="context"):
        learner.observe_many([1.0])
    with pytest.raises(ConfigError, match="context"):
        learner.preview(3)


def test_missing_rewards_add_neither_second_moments_nor_moments() -> None:
    with_gaps = small(block=10)
    without = small(block=10)
    generator = np.random.default_rng(0)
    for learner in (with_gaps, without):
        while learner.releases < 3:
            learner.release_if_due()
            people = np.random.default_rng(learner.clock)
            contexts = people.uniform(-1, 1, (learner.rounds_until_release, 3))
            tickets = learner.open_many(contexts)
            rewards = by_sign(contexts, tickets.decisions)
            if learner is with_gaps:
                some = generator.random(len(rewards)) < 0.5
                learner.close_many(tickets[np.flatnonzero(some)], rewards[some])
            else:
                learner.close_many(tickets, rewards)
        learner.release_if_due()
    assert all(not aggregate.any() for aggregate in with_gaps.snapshot().block.values())
    contexts = generator.uniform(-1, 1, (4, 3))
    tickets = with_gaps.open_many(contexts)
    with_gaps.close_many(tickets, [None, float("nan"), "x", None])
    assert all(not aggregate.any() for aggregate in with_gaps.snapshot().block.values())


# --- arms that are added or masked ----------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"relevant": 2}], ids=["ridge", "screen"])
def test_a_new_arm_is_tried_from_the_next_block_on_and_then_wins(settings: dict[str, Any]) -> None:
    learner = ContextualBandit(["a", "b"], 3, 20_000, BOTH, max_arms=3, seed=4, **settings)

    def better(contexts: Floats, arms: Integers) -> Floats:
        return np.where(arms == 2, 0.9, 0.1)

    played(learner, better, rounds=11_000)
    assert learner.add_arm("c") == "c"
    assert learner.labels == ["a", "b", "c"]
    rest = played(learner, better, rounds=11_000 + learner.rounds_until_release, seed=1)
    assert not (rest == 2).any()  # the open block has its first arms
    learner.release_if_due()
    tried = played(learner, better, rounds=learner.clock + learner.rounds_until_release, seed=2)
    assert np.mean(tried == 2) == pytest.approx(1 / 3, abs=0.05)
    last = played(learner, better, seed=3)
    assert np.mean(last == 2) > 0.95


def test_new_arms_are_refused_where_there_is_no_room_or_no_time() -> None:
    learner = ContextualBandit(["a", "b"], 3, 5000, BOTH, max_arms=3, seed=4)
    with pytest.raises(ConfigError, match="already"):
        learner.add_arm("a")
    with pytest.raises(ConfigError, match="have labels: give one"):
        learner.add_arm()
    learner.add_arm("c")
    with pytest.raises(ConfigError, match="room for 3 arms"):
        learner.add_arm("d")
    late = ContextualBandit(2, 3, 5000, BOTH, max_arms=3, seed=4)
    played(late, by_sign, rounds=4900)
    late.release_if_due()
    with pytest.raises(StateError, match="would not be learned"):
        late.add_arm()


def test_an_added_arm_is_there_after_a_restart(tmp_path: Path) -> None:
    learner = ContextualBandit(2, 3, 5000, BOTH, max_arms=3, journal=tmp_path / "state")
    learner.add_arm()
    learner.detach()
    again = load(tmp_path / "state")
    assert isinstance(again, ContextualBandit)
    assert again.labels == [0, 1, 2]


def test_only_available_arms_are_played() -> None:
    learner = ContextualBandit(3, 3, 5000, BOTH, max_arms=4, seed=4)
    mask = np.array([False, True, False, True])
    assert {learner.open([0, 0, 0], available=mask).decision for _ in range(20)} == {1}
    played(learner, by_sign, rounds=3000)
    assert {learner.open([x, 0, 0], available=mask).decision for x in (-1, 0, 1)} == {1}
    with pytest.raises(ConfigError, match="none of the arms"):
        learner.act([0, 0, 0], available=np.array([False, False, False, True]))


# --- published values -----------------------------------------------------------------------------


def test_reports_estimate_the_mean_reward_of_each_block() -> None:
    learner = ContextualBandit(2, 3, 20_000, BOTH, report=0.2, reward_range=(0.0, 2.0), seed=7)
    with pytest.raises(StateError, match=r"report=0\.1"):
        small().report()
    played(learner, lambda contexts, arms: np.full(len(arms), 1.5))
    report = learner.report()
    assert len(report.rounds) == learner.releases
    assert report.rounds[-1] == learner.rounds_before_release
    misses = np.abs(report.value - 1.5) / report.standard_deviation
    assert misses.max() < 5  # about twenty normal numbers: α < 1e-5, with a fixed seed
    assert misses.mean() > 0.3
    assert learner.guarantee.epsilon_spent <= 1.0


def test_published_weights_reproduce_the_decisions_of_the_learner() -> None:
    learner = ContextualBandit(
        ["low", "high"],
        ["age", "weight"],
        8000,
        BOTH,
        context_bound=(50.0, 2.0),
        reward_range=(0, 10),
        seed=3,
    )

    def reward(contexts: Floats, arms: Integers) -> Floats:
        return 10 * by_sign(contexts, arms)

    played(learner, reward)
    weights = learner.decision["weights"]
    assert set(weights) == {"low", "high"}
    contexts = np.random.default_rng(4).uniform(-1, 1, size=(200, 2)) * [20.0, 1.0]
    offsets = learner.decision["offsets"]
    scores = [
        offsets[label] + contexts @ [weights[label]["age"], weights[label]["weight"]]
        for label in ("low", "high")
    ]
    assert np.array_equal(learner.open_many(contexts).numbers, np.argmax(scores, axis=0))


def test_many_features_are_screened_and_most_have_no_weight() -> None:
    learner = ContextualBandit(2, 80, 20_000, BOTH, seed=3)
    assert type(learner).problem_for(learner.settings).mode.__class__ is Screen
    played(learner, by_sign)
    weights = learner.decision["weights"]
    assert all(0 in named and len(named) <= 10 for named in weights.values())
    dense = ContextualBandit(2, 80, 20_000, BOTH, relevant="all", seed=3)
    assert type(dense).problem_for(dense.settings).mode.__class__ is Ridge


def test_the_guarantee_names_what_is_not_protected() -> None:
    text = " ".join(str(ContextualBandit(2, 3, 1000, BOTH).guarantee).split())
    assert text.startswith("Joint differential privacy")
    assert "NOT protected: a person's own decision" in text
    assert "replace the context, the mask and the reward of one round" in text


def test_memory_does_not_grow_with_the_horizon() -> None:
    def size(horizon: int, **settings: Any) -> int:
        return ContextualBandit(3, 40, horizon, Privacy(1.0, 1e-12), **settings).state_bytes

    for settings in ({"relevant": "all"}, {"relevant": 3}):
        assert size(10**9, **settings) < 3 * size(10**5, **settings)


def test_past_the_horizon_arms_are_free_and_rewards_are_refused() -> None:
    learner = ContextualBandit(2, 3, 200, BOTH, seed=1)
    played(learner, by_sign)
    assert learner.act([0.1, 0.2, 0.3]) in (0, 1)
    with pytest.raises(HorizonReached):
        learner.observe(1.0)


@pytest.mark.parametrize("settings", [{}, {"relevant": 1}], ids=["ridge", "screen"])
def test_a_learner_with_one_arm_can_be_loaded_after_releases(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    learner: Any = ContextualBandit(
        1, 2, 20_000, BOTH, max_arms=2, journal=tmp_path / "state", **settings
    )
    played(learner, lambda contexts, arms: np.full(len(arms), 0.5), rounds=4000)
    assert np.isfinite(learner.scores([0.1, 0.1]).values).all()
    learner.detach()
    load(tmp_path / "state").detach()
