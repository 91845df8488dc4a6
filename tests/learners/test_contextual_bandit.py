"""The contextual bandit: what it learns, what it refuses, arms that come later, reports."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import ContextualBandit, Privacy, load
from discreet.errors import ConfigError, HorizonReached, OutOfBounds, StateError
from discreet.learners.contextual_bandit.ridge import Ridge
from discreet.learners.contextual_bandit.screen import Screen
from discreet.simulate.problems.contexts import DenseWorld, SparseWorld
from discreet.simulate.problems.contextual import LearnerPolicy, play

BOTH = Privacy(1.0, 1e-6)


def lived(
    learner: ContextualBandit, reward: Any, *, rounds: int | None = None, seed: int = 0
) -> np.ndarray:
    """A whole life with uniform contexts; gives the arms. `reward(contexts, arms)` is what
    people give.
    """
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


def by_sign(contexts: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """Arm 1 is right where the first feature is positive, arm 0 elsewhere."""
    return ((contexts[:, 0] > 0) == (arms == 1)).astype(float)


def small(**more: Any) -> ContextualBandit:
    return ContextualBandit(2, 3, 5000, BOTH, seed=1, **more)


@pytest.mark.parametrize("settings", [{}, {"relevant": 1}], ids=str)
def test_the_right_arm_is_found(settings: dict[str, Any]) -> None:
    learner = ContextualBandit(2, 3, 30_000, BOTH, seed=1, **settings)
    earned: list[float] = []

    def reward(contexts: np.ndarray, arms: np.ndarray) -> np.ndarray:
        earned.extend(by_sign(contexts, arms))
        return by_sign(contexts, arms)

    lived(learner, reward)
    assert np.mean(earned[:300]) < 0.65  # nothing is known yet
    assert np.mean(earned[-5000:]) > 0.9


def test_a_ridge_over_too_many_features_is_refused_with_the_most_there_may_be() -> None:
    """Every commit writes its moments: 229 MB for 1,000 features and 5 arms."""
    with pytest.raises(ConfigError, match="with 5 arms at most 455: say how many are relevant"):
        ContextualBandit(5, 1000, 10**5, BOTH, relevant="all")
    ContextualBandit(5, 455, 10**5, BOTH, relevant="all")
    with pytest.raises(ConfigError, match="at most 455"):
        ContextualBandit(5, 456, 10**5, BOTH, relevant="all")
    ContextualBandit(5, 1000, 10**5, BOTH)


def test_scores_come_with_standard_deviations_and_are_about_right() -> None:
    learner = ContextualBandit(2, 2, 40_000, BOTH, seed=2)

    def linear(contexts: np.ndarray, arms: np.ndarray) -> np.ndarray:
        return np.where(arms == 1, 0.5 + 0.3 * contexts[:, 0], 0.5)

    with pytest.raises(StateError, match="nothing is released yet"):
        learner.scores([0.5, 0.0])
    lived(learner, linear)
    found = learner.scores([0.8, 0.0])
    assert found.standard_deviations is not None
    assert found.values[1] == pytest.approx(0.74, abs=0.08)
    assert found.values[1] > found.values[0]
    assert (found.standard_deviations > 0).all()
    assert (found.standard_deviations < 0.2).all()


@pytest.mark.parametrize(
    ("make", "horizon", "too_high"),
    [
        (lambda seed: DenseWorld.drawn(10, 5, seed=seed), 20_000, 0.01),
        (lambda seed: SparseWorld.drawn(20, arms=4, reward="bernoulli", seed=seed), 5_000, 0.06),
    ],
)
def test_the_arm_that_is_chosen_is_not_predicted_to_be_better_than_it_is(
    make: Any, horizon: int, too_high: float
) -> None:
    """The best of noisy scores is too high on average; what is shown is not, and decisions
    follow scores.
    """
    by_weights, shown = [], []
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
        found = learner.decision
        weights = np.array([list(named.values()) for named in found["weights"].values()])
        scores = contexts @ weights.T + list(found["offsets"].values())
        chosen = (np.arange(300), scores.argmax(axis=1))
        assert np.array_equal(learner.open_many(contexts).numbers, chosen[1])
        predicted = np.array([learner.scores(context).values for context in contexts])
        by_weights.append((scores - means)[chosen].mean())
        shown.append((predicted - means)[chosen].mean())
    assert np.mean(by_weights) > too_high
    assert abs(np.mean(shown)) < too_high / 2


def test_rewards_may_have_any_range_and_contexts_any_units() -> None:
    usual = ContextualBandit(2, 2, 5000, BOTH, seed=5)
    scaled = ContextualBandit(
        2, 2, 5000, BOTH, seed=5, reward_range=(-10.0, 30.0), context_bound=(100.0, 100.0)
    )
    generator = np.random.default_rng(1)
    while usual.clock < 5000:
        usual.release_if_due(), scaled.release_if_due()
        contexts = generator.uniform(-1, 1, size=(usual.rounds_until_release, 2))
        one, two = usual.open_many(contexts), scaled.open_many(contexts * 100)
        assert np.mean(one.decisions == two.decisions) > 0.99  # up to the last bits of a product
        rewards = by_sign(contexts, one.decisions)
        usual.close_many(one, rewards)
        scaled.close_many(two, rewards * 40 - 10)


def test_contexts_beyond_their_bounds_are_clipped_and_those_that_are_not_finite_are_zero() -> None:
    learner = small()
    lived(learner, by_sign, rounds=3000)
    far = learner.open([1e9, 0.0, 0.0]).decision
    assert far == learner.open([1.0, 0.0, 0.0]).decision
    strange = [learner.open(context).decision for context in ([np.nan, 1, 1], [np.inf, 0, 0])]
    assert strange == [learner.open([0.0, 0.0, 0.0]).decision] * 2


def test_one_malformed_context_among_many_does_not_decide_for_others() -> None:
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
        {"estimator": "ridge"},
        {"reward_range": (1, 0)},
        {"reward_range": (0, float("nan"))},
        {"context_bound": 0.0},
        {"context_bound": (1.0, 1.0)},
        {"context_length": -1},
        {"max_arms": 1},
        {"choose": "optimism"},
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
def test_a_question_without_a_proper_context_changes_nothing(context: Any) -> None:
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
    with_gaps, without = small(block=10), small(block=10)
    generator = np.random.default_rng(0)
    for learner in (with_gaps, without):
        while learner.releases < 3:
            learner.release_if_due()
            contexts = np.random.default_rng(learner.clock).uniform(
                -1, 1, (learner.rounds_until_release, 3)
            )
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


# --- arms that come and go ------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"relevant": 2}], ids=["ridge", "screen"])
def test_a_new_arm_is_tried_from_the_next_block_on_and_then_wins(settings: dict[str, Any]) -> None:
    learner = ContextualBandit(["a", "b"], 3, 20_000, BOTH, max_arms=3, seed=4, **settings)

    def better(contexts: np.ndarray, arms: np.ndarray) -> np.ndarray:
        return np.where(arms == 2, 0.9, 0.1)

    lived(learner, better, rounds=11_000)
    assert learner.add_arm("c") == "c"
    assert learner.labels == ["a", "b", "c"]
    rest = lived(learner, better, rounds=11_000 + learner.rounds_until_release, seed=1)
    assert not (rest == 2).any()  # the block that is under way goes on as it began
    learner.release_if_due()
    tried = lived(learner, better, rounds=learner.clock + learner.rounds_until_release, seed=2)
    assert np.mean(tried == 2) == pytest.approx(1 / 3, abs=0.05)
    last = lived(learner, better, seed=3)
    assert np.mean(last == 2) > 0.95


def test_new_arms_are_refused_where_there_is_no_room_or_no_time() -> None:
    learner = ContextualBandit(["a", "b"], 3, 5000, BOTH, max_arms=3, seed=4)
    with pytest.raises(ConfigError, match="already"):
        learner.add_arm("a")
    with pytest.raises(ConfigError, match="have names"):
        learner.add_arm()
    learner.add_arm("c")
    with pytest.raises(ConfigError, match="room for 3 arms"):
        learner.add_arm("d")
    late = ContextualBandit(2, 3, 5000, BOTH, max_arms=3, seed=4)
    lived(late, by_sign, rounds=4900)
    late.release_if_due()
    with pytest.raises(StateError, match="never be learned"):
        late.add_arm()


def test_an_added_arm_outlives_a_restart(tmp_path: Any) -> None:
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
    lived(learner, by_sign, rounds=3000)
    assert {learner.open([x, 0, 0], available=mask).decision for x in (-1, 0, 1)} == {1}
    with pytest.raises(ConfigError, match="none of the arms"):
        learner.act([0, 0, 0], available=np.array([False, False, False, True]))


# --- what is published ----------------------------------------------------------------------------


def test_reports_say_what_was_earned() -> None:
    learner = ContextualBandit(2, 3, 20_000, BOTH, report=0.2, reward_range=(0.0, 2.0), seed=7)
    with pytest.raises(StateError, match=r"report=0\.1"):
        small().report()
    lived(learner, lambda contexts, arms: np.full(len(arms), 1.5))
    found = learner.report()
    assert len(found.rounds) == learner.releases
    assert found.rounds[-1] == learner.rounds_before_release
    misses = np.abs(found.value - 1.5) / found.standard_deviation
    assert misses.max() < 5  # of some twenty normal numbers: α < 1e-5, with a fixed seed
    assert misses.mean() > 0.3
    assert learner.guarantee.epsilon_spent <= 1.0


def test_the_decision_is_weights_by_name_that_decide_as_the_learner_does() -> None:
    learner = ContextualBandit(
        ["low", "high"],
        ["age", "weight"],
        8000,
        BOTH,
        context_bound=(50.0, 2.0),
        reward_range=(0, 10),
        seed=3,
    )

    def reward(contexts: np.ndarray, arms: np.ndarray) -> np.ndarray:
        return 10 * by_sign(contexts, arms)

    lived(learner, reward)
    weights = learner.decision["weights"]
    assert set(weights) == {"low", "high"}
    contexts = np.random.default_rng(4).uniform(-1, 1, size=(200, 2)) * [20.0, 1.0]
    by_hand = [
        learner.decision["offsets"][label]
        + contexts @ [weights[label]["age"], weights[label]["weight"]]
        for label in ("low", "high")
    ]
    assert np.array_equal(learner.open_many(contexts).numbers, np.argmax(by_hand, axis=0))


def test_many_features_are_screened_and_most_weights_are_none() -> None:
    learner = ContextualBandit(2, 80, 20_000, BOTH, seed=3)
    assert type(learner).problem_for(learner.settings).__class__ is Screen
    lived(learner, by_sign)
    weights = learner.decision["weights"]
    assert all(0 in named and len(named) <= 10 for named in weights.values())
    dense = ContextualBandit(2, 80, 20_000, BOTH, relevant="all", seed=3)
    assert type(dense).problem_for(dense.settings).__class__ is Ridge


def test_the_guarantee_says_what_is_not_protected() -> None:
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
    lived(learner, by_sign)
    assert learner.act([0.1, 0.2, 0.3]) in (0, 1)
    with pytest.raises(HorizonReached):
        learner.observe(1.0)


@pytest.mark.parametrize("settings", [{}, {"relevant": 1}], ids=["ridge", "screen"])
def test_a_clinic_with_one_arm_can_be_loaded_at_any_time(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    learner: Any = ContextualBandit(
        1, 2, 20_000, BOTH, max_arms=2, journal=tmp_path / "state", **settings
    )
    lived(learner, lambda contexts, arms: np.full(len(arms), 0.5), rounds=4000)
    assert np.isfinite(learner.scores([0.1, 0.1]).values).all()
    learner.detach()
    load(tmp_path / "state").detach()
