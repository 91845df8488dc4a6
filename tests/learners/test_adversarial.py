"""If these fail, an adversary that has seen all decisions before this round's takes most value."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest

from discreet import ConfigError, Hedge, Privacy, SetMaximizer, SetMinimizer
from discreet.engine.coins import Coins
from discreet.engine.flat_state import flat
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.functions import ConcaveOverModular, GraphCut, MinusModular
from discreet.learners.forced import forced
from discreet.learners.set_maximizer.ordered_experts import ExpertsPhase
from discreet.release.aggregators import Rows

BOTH = Privacy(1.0, 1e-6)
ACTIONS = 10
ITEMS = 20
SLOTS = 3
COSTS = 8
"""Number of items of costs."""
CAPPED = ConcaveOverModular("cap")
MODULAR = MinusModular(GraphCut(((0, 1),)))

Stream = Callable[[np.ndarray, np.ndarray | None, int], np.ndarray]
"""Returns the rows of a batch from its decisions as masks, the last decision before it, and the
number of releases.
"""


class Met(NamedTuple):
    """Decisions as masks (rounds × candidates), and the rows with which the stream met them."""

    chosen: np.ndarray
    rows: np.ndarray


def played(learner: Any, candidates: int, stream: Stream) -> Iterator[Met]:
    """Run a learner against a stream, batch by batch."""
    last = None
    while learner.clock < learner.horizon:
        learner.release_if_due()
        tickets = learner.open_many(
            min(learner.rounds_until_release, learner.horizon - learner.clock)
        )
        chosen = np.zeros((len(tickets), candidates + 1), dtype=bool)
        numbers = tickets.numbers if tickets.numbers.ndim == 2 else tickets.numbers[:, None]
        np.put_along_axis(chosen, numbers, True, axis=1)  # −1, for no item, is the last column
        rows = stream(chosen[:, :-1], last, learner.releases)
        learner.close_many(tickets, rows if candidates != COSTS else _as_costs(rows))
        last = chosen[-1, :-1]
        yield Met(chosen[:, :-1], rows)


def _as_costs(costs: np.ndarray) -> np.ndarray:
    """Return modular costs as rows of MODULAR: no cut, then the saving of each item."""
    return np.concatenate([np.zeros((len(costs), 1)), -costs], axis=1)


def before(chosen: np.ndarray, last: np.ndarray | None) -> np.ndarray:
    """Return the decision of the round before each."""
    first = np.zeros_like(chosen[:1]) if last is None else last[None]
    return np.concatenate([first, chosen[:-1]])


# --- experts


def regret_of(learner: Any, stream: Stream) -> float:
    """Return the regret per round against the best fixed action in hindsight."""
    totals = np.zeros(ACTIONS)
    earned = 0.0
    for chosen, rows in played(learner, ACTIONS, stream):
        totals += rows.sum(axis=0)
        earned += rows[chosen].sum()
    return float((totals.max() - earned) / learner.horizon)


def punishing(chosen: np.ndarray, last: np.ndarray | None, releases: int) -> np.ndarray:
    return np.where(before(chosen, last), 0.0, 1.0)


def alternating(chosen: np.ndarray, last: np.ndarray | None, releases: int) -> np.ndarray:
    return np.broadcast_to(np.arange(ACTIONS) == releases % 2, chosen.shape).astype(float)


@pytest.mark.parametrize(
    ("stream", "most"), [(punishing, 0.04), (alternating, 0.07)], ids=["punish", "alternate"]
)
def test_experts_lose_little_to_streams_that_react(stream: Stream, most: float) -> None:
    for seed in range(3):
        learner = Hedge(ACTIONS, 20_000, BOTH, seed=seed)
        assert -0.01 < regret_of(learner, stream) < most
        assert learner.facts["regret_bound"] / 20_000 < 0.2


def test_experts_lose_hardly_anything_to_calm_streams() -> None:
    generator = np.random.default_rng(5)
    means = np.linspace(0.2, 0.5, ACTIONS)

    def calm(chosen: np.ndarray, last: np.ndarray | None, releases: int) -> np.ndarray:
        return (generator.random(chosen.shape) < means).astype(float)

    learners = [Hedge(ACTIONS, 20_000, BOTH, seed=seed) for seed in range(3)]
    assert np.mean([regret_of(learner, calm) for learner in learners]) < 0.02


def test_a_search_that_sees_everything_published_finds_no_stream_that_takes_much() -> None:
    """Hill climbing over rules with the last action, likely ones, leaders and blocks' parity."""

    def ruled(weights: np.ndarray) -> float:
        learner = Hedge(ACTIONS, 4000, BOTH, seed=2)

        def stream(chosen: np.ndarray, last: np.ndarray | None, releases: int) -> np.ndarray:
            probabilities = np.array(list(learner.decision["chances"].values()))
            totals = learner.scores().values
            features = [
                before(chosen, last),
                probabilities > 1 / ACTIONS,
                probabilities == probabilities.max(),
                totals == totals.max(),
                totals < np.median(totals),
                np.arange(ACTIONS) % 2 == releases % 2,
            ]
            weighed = zip(weights, features, strict=True)
            worth = sum(weight * np.broadcast_to(each, chosen.shape) for weight, each in weighed)
            return np.asarray(np.clip(0.5 + worth, 0.0, 1.0))

        return regret_of(learner, stream)

    assert climbed(ruled, np.zeros(6), (-1.0, -0.5, 0.0, 0.5, 1.0), steps=40) < 0.2


def climbed(
    ruled: Callable[[np.ndarray], float],
    weights: np.ndarray,
    values: tuple[float, ...],
    steps: int,
) -> float:
    """Return the largest loss found by changing one weight of a rule at a time."""
    generator = np.random.default_rng(0)
    worst = ruled(weights)
    for _ in range(steps):
        tried = weights.copy()
        tried[generator.integers(len(weights))] = generator.choice(values)
        loss = ruled(tried)
        if loss > worst:
            weights = tried
            worst = loss
    return worst


def test_the_rate_is_cut_only_if_it_loses() -> None:
    def cuts(stream: Stream) -> int:
        learner = Hedge(ACTIONS, 20_000, BOTH, seed=1)
        regret_of(learner, stream)
        return int(learner.snapshot().public["cuts"])

    def constant(chosen: np.ndarray, last: np.ndarray | None, releases: int) -> np.ndarray:
        return np.tile(np.linspace(0, 1, ACTIONS), (len(chosen), 1))

    assert cuts(constant) <= 1
    assert cuts(alternating) == 3


# --- slates


class Value(NamedTuple):
    """Value per visitor of the slates shown, and of the best fixed slate."""

    earned: float
    best: float


def slates_against(stream: Stream, learner: SetMaximizer) -> Value:
    """Run a learner of slates against a stream."""
    assert learner.horizon is not None
    earned = 0.0
    all_rows = []
    for chosen, rows in played(learner, ITEMS, stream):
        earned += np.minimum(1.0, (rows * chosen).sum(axis=1)).sum()
        all_rows.append(rows)
    rows = np.concatenate(all_rows)
    leaders = np.argsort(-rows.sum(axis=0))[: SLOTS + 3]
    slates = combinations(leaders, SLOTS)
    best = max(np.minimum(1.0, rows[:, list(slate)].sum(axis=1)).mean() for slate in slates)
    return Value(earned / learner.horizon, float(best))


def shop(horizon: int, seed: int) -> SetMaximizer:
    return SetMaximizer(
        ITEMS, SLOTS, horizon, BOTH, stream="adversarial", function=CAPPED, seed=seed
    )


def test_a_search_that_sees_everything_published_takes_little_from_slates() -> None:
    """Hill climbing over rules with the last slate, leaders by slot and blocks' parity."""

    def ruled(weights: np.ndarray) -> float:
        learner = shop(4000, 2)

        def stream(chosen: np.ndarray, last: np.ndarray | None, releases: int) -> np.ndarray:
            table = learner.scores().values
            features = [
                before(chosen, last),
                table[0] == table[0].max(),
                table.sum(axis=0) > np.median(table.sum(axis=0)),
                np.isin(np.arange(ITEMS), np.argsort(-table.sum(axis=0))[:SLOTS]),
                np.arange(ITEMS) % 2 == releases % 2,
            ]
            weighed = zip(weights, features, strict=True)
            worth = sum(weight * np.broadcast_to(each, chosen.shape) for weight, each in weighed)
            return np.asarray(np.clip(0.25 + 0.25 * worth, 0.0, 0.5))

        value = slates_against(stream, learner)
        return value.best - value.earned

    # Without a coin per visitor the first rule alone takes nearly everything.
    assert climbed(ruled, np.zeros(5), (-1.0, 0.0, 1.0), steps=20) < 0.3


def punishing_slates(chosen: np.ndarray, last: np.ndarray | None, releases: int) -> np.ndarray:
    return np.where(before(chosen, last), 0.0, 0.5)


def test_slates_lose_little_to_a_stream_that_punishes_the_last_slate() -> None:
    for seed in range(2):
        value = slates_against(punishing_slates, shop(20_000, seed))
        assert value.best - value.earned < 0.08


def test_slates_earn_most_of_a_stream_that_alternates_with_the_public_blocks() -> None:
    def alternating(chosen: np.ndarray, last: np.ndarray | None, releases: int) -> np.ndarray:
        wanted = (0, 1) if releases % 2 else (2, 3)
        return np.broadcast_to(np.isin(np.arange(ITEMS), wanted) * 0.5, chosen.shape)

    for seed in range(2):
        value = slates_against(alternating, shop(20_000, seed))
        assert value.best == pytest.approx(0.75, abs=0.01)
        assert value.earned > 0.58


def test_slates_without_a_coin_per_visitor_lose_nearly_everything_to_that_stream() -> None:
    """The tests above have power: they would notice the loss."""
    learner = SetMaximizer(ITEMS, SLOTS, 5000, BOTH, function=CAPPED, seed=1)
    met = played(learner, ITEMS, punishing_slates)
    earned = sum((rows * chosen).sum() for chosen, rows in met)
    assert earned / 5000 < 0.1


def test_each_visitor_has_a_slate_of_different_items_within_the_mask() -> None:
    learner = SetMaximizer(
        ["a", "b", "c", "d"], 3, 400, BOTH, stream="adversarial", block=20, seed=1
    )
    first = learner.open_many(20)
    assert len({tuple(slate) for slate in first.decisions}) > 5
    learner.close_many(first, np.tile([0.9, 0.1, 0.2, 0.3], (20, 1)))
    shown = [*first.decisions, *learner.open_many(19).decisions]
    assert all(len(set(slate)) == 3 for slate in shown)
    few = learner.open(available=["a", "c"]).decision
    assert sorted(few) == ["a", "c"]
    learner.retire("a")
    assert all("a" not in slate for slate in learner.open_many(10).decisions)


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """The rows that aggregators are given, one table per call."""
    tables: list[np.ndarray] = []
    add = Rows.add

    def recorded(self: Rows, aggregate: Any, rows: np.ndarray) -> None:
        tables.append(rows)
        add(self, aggregate, rows)

    monkeypatch.setattr(Rows, "add", recorded)
    return tables


def gather_with(learner: SetMaximizer, rows: np.ndarray, slates: np.ndarray) -> None:
    """Aggregate visitors of the first block as if they had met these slates."""
    problem = SetMaximizer.problem_for(learner.settings)
    view = problem.view(flat(problem.start()[0]), 0, 0, Coins(bytes(16)))
    assert isinstance(view.phase, ExpertsPhase)
    batch = Batch(np.arange(len(rows)), rows, EMPTY_REQUEST)
    batch.kept = slates
    answers = view.phase.read(batch)
    view.phase.gather(view.empty_block(), answers)


def test_gains_on_ones_own_slate_are_those_of_the_set_function(added: list[np.ndarray]) -> None:
    learner = SetMaximizer(4, 2, 100, BOTH, stream="adversarial", block=10, function=CAPPED)
    rows = np.array([[0.1, 0.2, 0.05, 0.0], [0.8, 0.5, 0.0, 0.0]])
    gather_with(learner, rows, np.array([[1, 0], [0, -1]]))
    (numbers,) = added
    alone = rows.copy()
    lengths = np.sqrt(2 * (alone**2).sum(axis=1) + np.minimum(1, [0.3, 1.3]) ** 2)
    first = np.array([[0.1, 0.2, 0.05, 0], [0.1, 0, 0.05, 0]])
    second = np.array([[0.8, 0.5, 0, 0], [0, 0.2, 0, 0]])
    for place, (gains, worth) in enumerate(((first, 0.3), (second, 0.8))):
        expected = np.append(gains.ravel(), worth) / max(1.0, lengths[place])
        assert numbers[place] == pytest.approx(expected, abs=1e-12)


def test_the_vector_of_a_visitor_is_never_longer_than_one(added: list[np.ndarray]) -> None:
    generator = np.random.default_rng(0)
    for privacy in (Privacy(1.0), BOTH):
        learner = SetMaximizer(6, 3, 100, privacy, stream="adversarial", block=10, function=CAPPED)
        rows = generator.random((2000, 6)) * generator.choice([0.01, 0.3, 1.0], size=(2000, 1))
        slates = np.array([generator.permutation(6)[:3] for _ in rows])
        added.clear()
        gather_with(learner, rows, slates)
        numbers = np.concatenate(added)
        assert len(numbers) == 2000
        lengths = np.linalg.norm(numbers, ord=1 if privacy.pure else 2, axis=1)
        assert lengths.max() <= 1 + 1e-12


@pytest.mark.parametrize("function", [CAPPED, None])
def test_gains_are_aggregated_for_the_slates_that_were_shown(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was retired, masked or added since then."""
    items = ["a", "b", "c", "d", "e"]
    learner = SetMaximizer(
        items, 2, 400, BOTH, stream="adversarial", block=40, max_items=7, function=function, seed=1
    )
    seen: list[np.ndarray] = []
    gather = ExpertsPhase.gather

    def recorded(self: ExpertsPhase, block: Any, answers: Any) -> None:
        seen.append(answers.slates)
        gather(self, block, answers)

    monkeypatch.setattr(ExpertsPhase, "gather", recorded)
    person: Any = np.full(7, 0.1) if function is CAPPED else lambda chosen: 0.1 * len(chosen)
    first = learner.open_many(15)
    masked = learner.open(available=["a", "c", "d"])
    second = learner.open_many(3)
    learner.retire("a")
    learner.close_many(first, [person] * 15)
    assert np.array_equal(seen[-1], first.numbers)
    learner.close_many(second, [person] * 3)
    assert np.array_equal(seen[-1], second.numbers)
    learner.close(masked, person)
    assert [items[item] for item in seen[-1][0]] == masked.decision
    assert all("a" not in slate for slate in learner.open_many(5).decisions)


def test_past_the_horizon_the_likeliest_decision_is_shown() -> None:
    experts = Hedge(3, 2000, BOTH, seed=1)
    experts.replay(np.tile([0.0, 1.0, 0.5], (2000, 1)))
    assert set(experts.open_many(50).numbers) == {1}
    slates = SetMaximizer(4, 2, 2000, BOTH, stream="adversarial", seed=1)
    slates.replay(np.tile([0.9, 0.0, 0.5, 0.0], (2000, 1)))
    assert set(slates.act()) == {0, 2} == set(slates.decision["slate"])


# --- least-cost sets


def set_regret(learner: Any, stream: Stream) -> float:
    """Return the regret per round against the best fixed set in hindsight."""
    totals = np.zeros(COSTS)
    paid = 0.0
    for chosen, rows in played(learner, COSTS, stream):
        totals += rows.sum(axis=0)
        paid += (rows * chosen).sum()
    return float((paid - np.minimum(totals, 0).sum()) / learner.horizon)


def punishing_sets(chosen: np.ndarray, last: np.ndarray | None, releases: int) -> np.ndarray:
    return np.where(before(chosen, last), 1 / 8, -1 / 8)


def test_sets_lose_little_to_a_stream_that_punishes_the_last_set() -> None:
    learner = SetMinimizer(COSTS, 20_000, BOTH, stream="adversarial", function=MODULAR, seed=1)
    assert learner.facts["method"] == "bound"
    assert set_regret(learner, punishing_sets) < 0.02  # the estimated stiffness loses 0.04


def test_the_adversarial_setting_takes_the_stiffness_that_has_a_bound() -> None:
    calm = np.random.default_rng(0).choice([-1 / 8, 1 / 8], size=(2000, COSTS), p=[0.7, 0.3])
    adversarial = SetMinimizer(COSTS, 2000, BOTH, stream="adversarial", function=MODULAR, seed=1)
    same = forced(SetMinimizer, "bound", COSTS, 2000, BOTH, function=MODULAR, seed=1)
    for learner in (adversarial, same):
        while learner.clock < 2000:
            learner.release_if_due()
            tickets = learner.open_many(learner.rounds_until_release)
            learner.close_many(tickets, _as_costs(calm[tickets.rounds]))
    assert np.array_equal(adversarial.point, same.point)
    assert adversarial.facts["method"] == same.facts["method"] == "bound"


# --- refusals


def test_decisions_of_later_rounds_cannot_be_previewed() -> None:
    for learner in (
        Hedge(3, 100, BOTH),
        SetMaximizer(4, 2, 100, BOTH, stream="adversarial"),
        SetMinimizer(4, 100, BOTH, stream="adversarial", function=MODULAR),
    ):
        with pytest.raises(
            ConfigError, match="decisions of later rounds stay unknown: use open_many"
        ):
            learner.preview(1)


def test_a_horizon_too_short_for_one_release_is_refused_in_one_line() -> None:
    for make in (
        lambda: Hedge(3, 1, BOTH),
        lambda: SetMaximizer(4, 2, 1, BOTH, stream="adversarial"),
        lambda: SetMaximizer(4, 2, 10, BOTH, stream="adversarial", block=10),
    ):
        with pytest.raises(
            ConfigError, match="too short for one release: nothing would be learned"
        ):
            make()
    with pytest.raises(ConfigError, match="too long for one release in 10 rounds"):
        Hedge(3, 10, BOTH, block=10)
