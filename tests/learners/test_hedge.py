"""If these fail, private experts are not private, or not experts."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet import ConfigError, Hedge, Privacy
from discreet.budget.privacy import zcdp
from discreet.learners.hedge.draws import LEVELS, MOST_DRAWS, Draws, best_block, regret_bound
from laws import FEW_ORDERS, epsilon_of, selection_law, zcdp_of


def draws_of(hedge: Hedge) -> Draws:
    problem = Hedge.problem_for(hedge.settings)
    assert isinstance(problem, Draws)
    return problem


def joint_law(draws: Draws, gains: list[tuple[int, ...]]) -> list[Fraction]:
    """The exact law of all draws of a run over these gains, from the weights of the shipped kernel."""
    laws, scores = [], np.zeros(len(gains[0]), dtype=np.int64)
    for round, gain in enumerate(gains[:-1]):
        scores = scores + np.array(gain) * LEVELS
        laws.append(selection_law(draws.selection(round), scores.tolist()))
    return [np.prod(choice) for choice in product(*laws)]  # type: ignore[misc]


@pytest.mark.parametrize("privacy", [Privacy(3.0, 1e-3), Privacy(3.0)])
def test_no_person_changes_the_law_of_all_draws_by_more_than_the_budget(privacy: Privacy) -> None:
    """Every stream of three people with gains 0 or 1 in two actions, and every neighbour of it."""
    hedge = Hedge(2, 3, privacy, block=1)
    draws, total = draws_of(hedge), hedge.guarantee.total.everyone.amount
    people = list(product([0, 1], repeat=2))
    worst = 0.0
    for stream in product(people, repeat=3):
        here = joint_law(draws, list(stream))
        for place, person in product(range(2), people):
            there = joint_law(draws, [*stream[:place], person, *stream[place + 1 :]])
            loss = epsilon_of(here, there) if privacy.pure else zcdp_of(here, there, FEW_ORDERS)
            worst = max(worst, loss)
    assert 0.5 * total <= worst <= total * (1 + 1e-9)  # the check has teeth
    assert total <= privacy.budget.amount


@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 100])
def test_every_horizon_has_a_plan(horizon: int) -> None:
    hedge = Hedge(5, horizon, Privacy(1.0, 1e-6))
    hedge.replay(np.random.default_rng(0).uniform(size=(horizon, 5)))
    assert hedge.guarantee.releases == hedge.guarantee.planned
    assert 0 <= hedge.act() < 5


@pytest.mark.filterwarnings("ignore:delta = ")
@pytest.mark.parametrize("horizon", [999, 1000, 1001, 10**4, 10**6, 2**40])
@pytest.mark.parametrize("privacy", [Privacy(1.0, 1e-6), Privacy(50.0), Privacy(1e4, 1e-3)])
def test_nobody_waits_for_more_than_a_thousand_commits(horizon: int, privacy: Privacy) -> None:
    hedge = Hedge(100, horizon, privacy)
    assert hedge.guarantee.planned is not None
    assert hedge.guarantee.planned <= MOST_DRAWS == 1000
    assert Hedge(100, 5000, privacy, block=1).guarantee.planned == 4999  # unless they ask for it


@pytest.mark.statistical
def test_regret_stays_under_its_bound_on_a_switching_stream() -> None:
    """The bound is on the expectation; ten seeded runs average far below it, and well above random play."""
    horizon, actions, privacy = 20_000, 10, Privacy(1.0, 1e-6)
    generator = np.random.default_rng(1)
    gains = generator.uniform(0, 0.5, size=(horizon, actions))
    gains[: horizon // 3, 2] += 0.4
    gains[horizon // 3 :, 7] += 0.45
    best = gains.sum(axis=0).max()
    regrets = []
    for seed in range(10):
        hedge = Hedge(actions, horizon, privacy, seed=seed)
        regrets.append(best - gains[np.arange(horizon), hedge.replay(gains)].sum())
    bound = regret_bound(actions, horizon, hedge.facts["block"], privacy.budget)
    assert np.mean(regrets) < bound
    assert np.mean(regrets) < 0.35 * (best - gains.mean(axis=1).sum())


def test_the_chosen_block_has_the_least_bound() -> None:
    budget = zcdp(0.02)
    chosen = regret_bound(20, 5000, best_block(20, 5000, budget), budget)
    assert chosen <= min(regret_bound(20, 5000, block, budget) for block in range(1, 5001)) * 1.001


def test_without_a_horizon_it_goes_on_within_the_budget() -> None:
    hedge = Hedge(3, None, Privacy(1.0, 1e-6), seed=1)
    chosen = hedge.replay(np.tile([0.1, 0.9, 0.1], (40_000, 1)))
    assert (chosen[-10_000:] == 1).mean() > 0.9
    assert hedge.guarantee.epsilon_spent < 1.0
    assert hedge.guarantee.planned is None


def test_charges_without_a_horizon_never_add_up_to_more_than_the_budget() -> None:
    """Segment after segment: the sum converges below the budget."""
    draws = draws_of(Hedge(3, None, Privacy(1.0, 1e-6)))
    spent = sum(draws.charge(32 * segment).amount * 32 for segment in range(2000))
    assert 0.99 * draws.settings.privacy.budget.amount < spent < draws.settings.privacy.budget.amount


def test_before_the_first_draw_a_public_coin_plays_and_afterwards_what_was_drawn() -> None:
    hedge = Hedge(4, 100, Privacy(1.0, 1e-6), block=10, seed=1)
    assert hedge.decision == {"action": None}
    first = hedge.preview(10)
    assert len(set(first.tolist())) > 1
    hedge.observe_many(np.zeros((10, 4)))
    later = hedge.preview(10)
    assert len(set(later.tolist())) == 1
    assert hedge.decision == {"action": int(later[0])}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": 0}, "actions must be a whole number, at least 1"),
        ({"horizon": -3}, "horizon must be a whole number"),
        ({"horizon": None, "block": 5}, "without a horizon"),
        ({"block": 0}, "block must be a whole number"),
        ({"block": "often"}, "block must be"),
        ({"bound": 0.0}, "bound must be a number between"),
    ],
)
def test_names_of_bad_settings_are_shown(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Hedge(**({"actions": 2, "horizon": 10, "privacy": Privacy(1.0)} | change))
