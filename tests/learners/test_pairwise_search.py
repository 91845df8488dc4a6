"""If these fail, a visitor's cost is given away, or single costs do not lead to the least-cost
set.
"""

from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from discreet import Privacy, SetMinimizer
from discreet.engine.flat_state import flat, of_flat
from discreet.engine.request import EMPTY_REQUEST, Batch, Request
from discreet.engine.view import View, nobody
from discreet.learners.set_minimizer.pairwise_search.posterior import PairPosterior, TriedSets
from discreet.learners.set_minimizer.pairwise_search.tuning import TUNED
from discreet.learners.set_minimizer.pairwise_search.weights import Forced, Weights, least_sets
from discreet.simulate.problems.costs import run_bundle
from measures.concave_costs import ConcaveWorld
from ways_of_learning.costs import drawn, spent

USUAL = Privacy(1.0, 1e-6)


def quadratic(sets: np.ndarray, linear: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    signs = np.where(sets, 1.0, -1.0)
    return signs @ linear + 0.5 * ((signs @ pairs) * signs).sum(axis=1)


def all_sets(items: int) -> np.ndarray:
    return np.array(list(product([False, True], repeat=items)))


def weights_of(items: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    pairs = np.triu(generator.normal(0, 0.02, (items, items)), 1)
    return generator.normal(0, 0.05, items), pairs + pairs.T


def added(view: View[Any], cost: Any, round: int, request: Request = EMPTY_REQUEST) -> np.ndarray:
    block, people = nobody(view), view.problem.rows([cost])
    view.gather(block, view.read(Batch(np.array([round]), people, request)))
    return np.asarray(block["costs"].values.astype(float))


@pytest.mark.parametrize("stream", ["drifting", "iid"])
@pytest.mark.parametrize("contributions", [1, 3])
def test_one_visitor_moves_one_sum_by_no_more_than_is_paid_for(
    stream: Any, contributions: int
) -> None:
    """Some rounds of every block, every pair of costs; and the worst is as bad as it is paid
    for.
    """
    privacy = Privacy(1.0, 1e-6, contributions=contributions)
    learner = SetMinimizer(4, 2000, privacy, feedback="bandit", stream=stream, bound=2.0, seed=1)
    largest, blocks = 0.0, 0
    while learner.clock < 2000:
        learner.release_if_due()
        view = learner._engine.view
        if view.aggregators():
            aggregator, blocks = view.aggregators()["costs"], blocks + 1
            assert view.step is not None
            assert view.step.charge.amount <= (1 + 1e-9) / contributions
            for round in range(view.begin, view.begin + min(view.step.rounds, 20), 3):
                answers = (-9.0, -2.0, 0.1, 2.0, nan, inf, 1e308, -0.0)
                found = [added(view, cost, round) for cost in answers]
                moves = [one - two for one, two in product(found, repeat=2)]
                assert max(np.count_nonzero(move) for move in moves) <= 1
                largest = max(largest, *(float(np.abs(move).sum()) for move in moves))
                assert largest <= aggregator.sensitivity(1)
        learner.observe_many(np.full(learner.rounds_until_release, -0.1))
    assert blocks > 3
    assert largest == pytest.approx(aggregator.sensitivity(1), rel=1e-9)


def test_a_set_that_a_mask_changes_is_not_read_and_not_counted() -> None:
    learner = SetMinimizer(4, 2000, USUAL, feedback="bandit", seed=1)
    view = learner._engine.view
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
    plan, sets = learner._engine.view.public.phase, learner.preview(learner.rounds_until_release)
    found, counts = np.unique(sets, axis=0, return_counts=True)
    assert len(found) == len(plan.sets)
    assert set(counts.tolist()) == set(plan.counts.tolist())
    assert [learner.preview(1)[0].tolist()] == sets[:1].tolist()


def test_the_belief_about_pairs_finds_quadratic_costs() -> None:
    linear, pairs = weights_of(6, 0)
    generator = np.random.default_rng(1)
    tried = np.unique(generator.random((40, 6)) < 0.5, axis=0)
    posterior = PairPosterior.before(6)
    counts = np.full(len(tried), 1e5)
    trials = TriedSets(tried, counts, quadratic(tried, linear, pairs) * counts, noise=8.0)
    posterior = posterior.with_trials(trials).with_sizes(2)
    everything = all_sets(6)
    true = quadratic(everything, linear, pairs)
    assert np.abs(posterior.costs(everything).costs - true).max() < 0.25 * true.std()
    least = least_sets(posterior.weights(0, generator), everything[::7])[0]
    assert quadratic(least[None], linear, pairs)[0] < np.quantile(true, 0.05)
    draws = posterior.weights(200, generator)
    spread = posterior.variances_of_differences(everything[3:4], everything[9])[0]
    rows = zip(draws.linear, draws.pairs, strict=True)
    values = np.array([quadratic(everything[[3, 9]], *row) for row in rows][1:])
    assert np.var(values[:, 0] - values[:, 1]) == pytest.approx(spread, rel=0.5)


def test_weights_of_pairs_may_be_one_for_all_rows() -> None:
    """A release holds them once: for 800 items a copy per row takes a quarter of a gigabyte."""
    linear, pairs = weights_of(6, 2)
    rows = linear + np.random.default_rng(4).normal(size=(7, 6))
    shared, apart = Weights(rows, pairs[None]), Weights(rows, np.repeat(pairs[None], 7, axis=0))
    starts = all_sets(6)[::9]
    assert np.array_equal(least_sets(shared, starts), least_sets(apart, starts))


def test_descents_end_in_the_least_set_with_what_is_forced() -> None:
    linear, pairs = weights_of(5, 3)
    everything = all_sets(5)
    costs = quadratic(everything, linear, pairs)
    weights = Weights(linear[None], pairs[None])
    assert np.array_equal(least_sets(weights, everything)[0], everything[costs.argmin()])
    forced = np.where(everything[:, 2] == everything[costs.argmin(), 2], inf, costs).argmin()
    side = 1.0 if everything[forced, 2] else -1.0
    found = least_sets(weights, everything, Forced(np.array([2]), np.array([side])))[0]
    assert np.array_equal(found, everything[forced])


def test_what_is_known_of_sets_is_bounded_and_fades() -> None:
    posterior = PairPosterior.before(12)
    sets = all_sets(12)[:1000]
    posterior = posterior.with_trials(
        TriedSets(sets, np.full(1000, 10.0), np.zeros(1000), noise=8.0)
    )
    assert len(posterior.sets) == TUNED.most_sets
    assert (posterior.faded(0.5).precisions == 0.5 * posterior.precisions).all()
    same = of_flat(PairPosterior, flat(posterior))
    assert np.array_equal(same.costs(sets[:5]).costs, posterior.costs(sets[:5]).costs)


def test_scores_say_what_items_save() -> None:
    learner = SetMinimizer(3, 20_000, USUAL, feedback="bandit", stream="iid", seed=1)
    while learner.clock < 15_000:
        learner.release_if_due()
        sets = learner.preview(min(learner.rounds_until_release, 15_000 - learner.clock))
        learner.observe_many(np.where((sets == 1).any(axis=1), -0.4, 0.2))
    found = learner.scores()
    assert found.values.argmax() == 1
    assert found.values[1] == pytest.approx(0.6, abs=0.1)
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
