"""If these fail, private experts are not private, or not experts."""

from itertools import product

import numpy as np
import pytest

from discreet import ConfigError, Hedge, Privacy
from discreet.learners.hedge import LEVELS, best_block, regret_bound
from discreet.release.privacy import zcdp
from laws import epsilon_of, selection_law, zcdp_of


def joint_law(hedge: Hedge, gains: list[tuple[int, ...]]) -> list:  # type: ignore[type-arg]
    """The exact law of all draws of a run over these gains, from the weights of the shipped kernel."""
    laws, scores = [], np.zeros(len(gains[0]), dtype=np.int64)
    for round, gain in enumerate(gains[:-1]):
        scores = scores + np.array(gain) * LEVELS
        laws.append(selection_law(hedge._draws.selection(round), scores.tolist()))
    return [np.prod(choice) for choice in product(*laws)]


@pytest.mark.parametrize("privacy", [Privacy(3.0, 1e-3), Privacy(3.0)])
def test_no_person_changes_the_law_of_all_draws_by_more_than_the_budget(privacy: Privacy) -> None:
    """Every stream of three people with gains 0 or 1 in two actions, and every neighbour of it."""
    hedge = Hedge(2, 3, privacy, block=1)
    people = list(product([0, 1], repeat=2))
    worst = 0.0
    for stream in product(people, repeat=3):
        here = joint_law(hedge, list(stream))
        for place, person in product(range(2), people):
            there = joint_law(hedge, [*stream[:place], person, *stream[place + 1 :]])
            loss = (
                epsilon_of(here, there)
                if privacy.pure
                else zcdp_of(here, there, orders=np.array([1.01, 2.0, 6.0]))
            )
            worst = max(worst, loss)
    assert worst <= hedge._plan.total.amount * (1 + 1e-9)
    assert hedge._plan.total.amount <= privacy.budget.amount
    assert worst >= 0.5 * hedge._plan.total.amount  # the check has teeth


@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 100])
def test_every_horizon_has_a_plan(horizon: int) -> None:
    hedge = Hedge(5, horizon, Privacy(1.0, 1e-6))
    hedge.replay(np.random.default_rng(0).uniform(size=(horizon, 5)))
    assert hedge.guarantee.releases == hedge.guarantee.planned
    assert 0 <= hedge.act() < 5


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
    bound = regret_bound(actions, horizon, hedge._plan.schedule.block, privacy.budget)
    assert np.mean(regrets) < bound
    assert np.mean(regrets) < 0.35 * (best - gains.mean(axis=1).sum())


def test_the_chosen_block_has_the_least_bound() -> None:
    budget = zcdp(0.02)
    chosen = best_block(20, 5000, budget)
    assert (
        regret_bound(20, 5000, chosen, budget)
        <= min(regret_bound(20, 5000, block, budget) for block in range(1, 5001)) * 1.001
    )


def test_without_a_horizon_it_goes_on_within_the_budget() -> None:
    hedge = Hedge(3, None, Privacy(1.0, 1e-6), seed=1)
    chosen = hedge.replay(np.tile([0.1, 0.9, 0.1], (40_000, 1)))
    assert (chosen[-10_000:] == 1).mean() > 0.9
    assert hedge.guarantee.spent.amount < hedge.config.privacy.budget.amount


def test_published_constants_learn_far_more_slowly() -> None:
    gains = np.tile([0.2, 0.8, 0.2, 0.2], (3000, 1))
    shares = [
        (Hedge(4, 3000, Privacy(1.0, 1e-6), calibration=name, seed=2).replay(gains) == 1).mean()
        for name in ("tight", "published")
    ]
    assert shares[0] > 0.9
    assert shares[1] < shares[0] - 0.2


def test_names_of_bad_settings_are_shown() -> None:
    with pytest.raises(ConfigError, match="actions must be a whole number, at least 1, got 0"):
        Hedge(0, 10, Privacy(1.0))
    with pytest.raises(ConfigError, match="horizon must be a whole number, at least 1, got -3"):
        Hedge(2, -3, Privacy(1.0))
    with pytest.raises(ConfigError, match="published rate needs delta"):
        Hedge(2, 10, Privacy(1.0), calibration="published")
    with pytest.raises(ConfigError, match='calibration must be "tight" or "published", got \'wild\''):
        Hedge(2, 10, Privacy(1.0), calibration="wild")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="without a horizon"):
        Hedge(2, None, Privacy(1.0), block=5)
