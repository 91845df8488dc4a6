"""If these fail, a visitor's cost is revealed, or bandit feedback does not find cheap sets."""

from itertools import product
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
import pytest

from discreet import Privacy, SetMinimizer
from discreet.engine.flat_state import flat, of_flat
from discreet.engine.problem import view_of
from discreet.engine.request import EMPTY_REQUEST, Batch, Request
from discreet.engine.view import View
from discreet.learners.set_minimizer.pairwise_search.posterior import PairPosterior, TriedSets
from discreet.learners.set_minimizer.pairwise_search.tuning import TUNED
from discreet.learners.set_minimizer.pairwise_search.weights import Forced, Weights, least_sets
from discreet.simulate.problems.costs import run_bundle
from measures.concave_costs import ConcaveWorld
from ways_of_learning.costs import drawn, spent

USUAL = Privacy(1.0, 1e-6)


class Quadratic(NamedTuple):
    """A quadratic cost of sets in ±1 coding."""

    linear: np.ndarray
    pairs: np.ndarray

    def costs(self, sets: np.ndarray) -> np.ndarray:
        signs = np.where(sets, 1.0, -1.0)
        return np.asarray(signs @ self.linear + 0.5 * ((signs @ self.pairs) * signs).sum(axis=1))

    @classmethod
    def drawn(cls, items: int, seed: int) -> "Quadratic":
        generator = np.random.default_rng(seed)
        pairs = np.triu(generator.normal(0, 0.02, (items, items)), 1)
        return cls(generator.normal(0, 0.05, items), pairs + pairs.T)


def all_sets(items: int) -> np.ndarray:
    return np.array(list(product([False, True], repeat=items)))


def view_in(learner: SetMinimizer) -> View:
    """Return the view of the learner's current block."""
    return view_of(SetMinimizer.problem_for(learner.settings), learner.snapshot())


def added(view: View, cost: Any, round: int, request: Request = EMPTY_REQUEST) -> np.ndarray:
    """Return the sums of costs after one visitor."""
    block = view.empty_block()
    people = view.problem.answer.rows([cost])
    view.count(block, Batch(np.array([round]), people, request))
    return np.asarray(block["costs"].values.astype(float))


@pytest.mark.parametrize("stream", ["drifting", "iid"])
@pytest.mark.parametrize("contributions", [1, 3])
def test_one_visitor_moves_one_sum_by_no_more_than_is_paid_for(
    stream: Any, contributions: int
) -> None:
    """Some rounds of every block, every pair of costs; the worst pair attains the bound."""
    privacy = Privacy(1.0, 1e-6, contributions=contributions)
    learner = SetMinimizer(4, 2000, privacy, feedback="bandit", stream=stream, bound=2.0, seed=1)
    largest = 0.0
    blocks = 0
    while learner.clock < 2000:
        learner.release_if_due()
        view = view_in(learner)
        if view.aggregators():
            aggregator = view.aggregators()["costs"]
            blocks += 1
            assert view.step is not None
            assert view.step.charge.amount <= (1 + 1e-9) / contributions
            for round in range(view.begin, view.begin + min(view.step.rounds, 20), 3):
                answers = (-9.0, -2.0, 0.1, 2.0, nan, inf, 1e308, -0.0)
                sums = [added(view, cost, round) for cost in answers]
                moves = [one - two for one, two in product(sums, repeat=2)]
                assert max(np.count_nonzero(move) for move in moves) <= 1
                largest = max(largest, *(float(np.abs(move).sum()) for move in moves))
                assert largest <= aggregator.sensitivity(1)
        learner.observe_many(np.full(learner.rounds_until_release, -0.1))
    assert blocks > 3
    assert largest == pytest.approx(aggregator.sensitivity(1), rel=1e-9)


def test_a_set_that_a_mask_changes_is_not_read_and_not_counted() -> None:
    view = view_in(SetMinimizer(4, 2000, USUAL, feedback="bandit", seed=1))
    mask = np.array([True, False, True, True])
    rounds = np.arange(view.public.phase.length)
    sets = view.decide(rounds, EMPTY_REQUEST)
    shown = view.decide(rounds, Request(None, mask))
    changed = (sets == 1).any(axis=1)
    assert not (shown == 1).any()
    mask_counts = view.no_mask_counts()
    view.count_masks(mask_counts, rounds, Request(None, mask))
    assert mask_counts["unread"].sum() == changed.sum() > 0
    for round in rounds[:30]:
        read = added(view, 1.0, int(round), Request(None, mask)).any()
        assert read != changed[round]


def test_every_set_is_tried_as_often_as_planned_and_alone_as_among_others() -> None:
    learner = SetMinimizer(4, 20_000, USUAL, feedback="bandit", seed=1)
    plan = view_in(learner).public.phase
    sets = learner.preview(learner.rounds_until_release)
    played, counts = np.unique(sets, axis=0, return_counts=True)
    assert len(played) == len(plan.sets)
    assert set(counts.tolist()) == set(plan.counts.tolist())
    assert [learner.preview(1)[0].tolist()] == sets[:1].tolist()


def test_the_posterior_over_pairs_finds_quadratic_costs() -> None:
    truth = Quadratic.drawn(6, seed=0)
    generator = np.random.default_rng(1)
    tried = np.unique(generator.random((40, 6)) < 0.5, axis=0)
    counts = np.full(len(tried), 1e5)
    trials = TriedSets(tried, counts, truth.costs(tried) * counts, noise=8.0)
    posterior = PairPosterior.before(6).with_trials(trials).with_sizes(2)
    sets = all_sets(6)
    costs = truth.costs(sets)
    assert np.abs(posterior.costs(sets).costs - costs).max() < 0.25 * costs.std()
    least = least_sets(posterior.weights(0, generator), sets[::7])[0]
    assert truth.costs(least[None])[0] < np.quantile(costs, 0.05)
    draws = posterior.weights(200, generator)
    variance = posterior.variances_of_differences(sets[3:4], sets[9])[0]
    rows = zip(draws.linear, draws.pairs, strict=True)
    values = np.array([Quadratic(*row).costs(sets[[3, 9]]) for row in rows][1:])
    assert np.var(values[:, 0] - values[:, 1]) == pytest.approx(variance, rel=0.5)


def test_weights_of_pairs_may_be_one_for_all_rows() -> None:
    """A release holds them once: for 800 items a copy per row takes a quarter of a gigabyte."""
    linear, pairs = Quadratic.drawn(6, seed=2)
    rows = linear + np.random.default_rng(4).normal(size=(7, 6))
    shared = Weights(rows, pairs[None])
    apart = Weights(rows, np.repeat(pairs[None], 7, axis=0))
    starts = all_sets(6)[::9]
    assert np.array_equal(least_sets(shared, starts), least_sets(apart, starts))


def test_descents_end_in_the_cheapest_set_with_the_forced_item() -> None:
    truth = Quadratic.drawn(5, seed=3)
    sets = all_sets(5)
    costs = truth.costs(sets)
    weights = Weights(truth.linear[None], truth.pairs[None])
    cheapest = sets[costs.argmin()]
    assert np.array_equal(least_sets(weights, sets)[0], cheapest)
    expected = sets[np.where(sets[:, 2] == cheapest[2], inf, costs).argmin()]
    sign = 1.0 if expected[2] else -1.0
    forced = Forced(np.array([2]), np.array([sign]))
    assert np.array_equal(least_sets(weights, sets, forced)[0], expected)


def test_the_posterior_has_a_bounded_size_and_fades() -> None:
    sets = all_sets(12)[:1000]
    trials = TriedSets(sets, np.full(1000, 10.0), np.zeros(1000), noise=8.0)
    posterior = PairPosterior.before(12).with_trials(trials)
    assert len(posterior.sets) == TUNED.most_sets
    assert (posterior.faded(0.5).precisions == 0.5 * posterior.precisions).all()
    same = of_flat(PairPosterior, flat(posterior))
    assert np.array_equal(same.costs(sets[:5]).costs, posterior.costs(sets[:5]).costs)


def test_scores_are_the_savings_of_items() -> None:
    learner = SetMinimizer(3, 20_000, USUAL, feedback="bandit", stream="iid", seed=1)
    while learner.clock < 15_000:
        learner.release_if_due()
        sets = learner.preview(min(learner.rounds_until_release, 15_000 - learner.clock))
        learner.observe_many(np.where((sets == 1).any(axis=1), -0.4, 0.2))
    scores = learner.scores()
    assert scores.values.argmax() == 1
    assert scores.values[1] == pytest.approx(0.6, abs=0.1)
    assert learner.point[1] == 1.0


def test_costs_that_are_not_quadratic_and_tastes_that_alternate_are_learned() -> None:
    concave = ConcaveWorld.drawn(40_000, items=8, seed=2)
    learner = SetMinimizer(8, 40_000, USUAL, feedback="bandit", seed=1)
    assert concave.naive - run_bundle(learner, concave) > 0.7 * concave.gain
    shares = []
    for seed in range(4):  # single runs vary
        world = drawn("alternate", 50_000, items=6, seed=seed)
        cost, hindsight = spent(SetMinimizer(6, 50_000, USUAL, feedback="bandit", seed=seed), world)
        shares.append(hindsight.share(cost) or 0.0)
    assert np.mean(shares) > 0.5
