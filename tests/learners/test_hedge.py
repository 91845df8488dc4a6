"""If these fail, `Hedge` is not private, or loses more than its bound.

Streams that react are in test_adversarial.py.
"""

from math import inf, sqrt
from typing import Any

import numpy as np
import pytest

from discreet import ConfigError, Hedge, Privacy
from discreet.learners.hedge.softmax import Softmax
from discreet.optim.adaptive_rate import MOST_RELEASES, AdaptiveRate, expected_range, softmax

BOTH = Privacy(1.0, 1e-6)


def mode_of(hedge: Hedge) -> Softmax:
    problem = Hedge.problem_for(hedge.settings).mode
    assert isinstance(problem, Softmax)
    return problem


def test_a_person_moves_the_gains_and_the_expected_gain_by_at_most_the_bound_each() -> None:
    gains = mode_of(Hedge(5, 1000, BOTH, bound=3.0)).gains.wanted
    assert (gains.shape, gains.norm, gains.nonnegative, gains.bound) == ((6,), inf, True, 3.0)
    assert gains.unit_sensitivity(2) == pytest.approx(sqrt(6))
    assert gains.unit_sensitivity(1) == pytest.approx(6)


def test_the_gains_of_a_person_and_the_expected_gain_are_clipped() -> None:
    hedge = Hedge(2, 100, BOTH, bound=2.0, block=10, seed=1)
    hedge.close_many(hedge.open_many(4), [[1.0, 2.0], [-5.0, 9.0], [np.nan, 1.0], "x"])
    levels = mode_of(hedge).gains.aggregator_at(0).levels
    added = hedge.snapshot().block["gains"] / levels * 2.0
    expected_gain = 0.5 * 1.0 + 0.5 * 4.0  # both actions are equally likely at first
    assert added == pytest.approx([1.0, 4.0, expected_gain], abs=1e-5)


@pytest.mark.parametrize("horizon", [2, 3, 7, 100])
def test_every_horizon_has_a_plan(horizon: int) -> None:
    hedge = Hedge(5, horizon, BOTH)
    hedge.replay(np.random.default_rng(0).uniform(size=(horizon, 5)))
    assert hedge.guarantee.releases == hedge.guarantee.planned
    assert 0 <= hedge.act() < 5


@pytest.mark.filterwarnings("ignore:delta = ")
@pytest.mark.parametrize("horizon", [999, 1000, 1001, 10**4, 10**6, 2**40])
@pytest.mark.parametrize("privacy", [BOTH, Privacy(50.0), Privacy(1e4, 1e-3)])
def test_there_are_at_most_a_thousand_commits(horizon: int, privacy: Privacy) -> None:
    hedge = Hedge(100, horizon, privacy)
    assert hedge.guarantee.planned is not None
    assert hedge.guarantee.planned <= MOST_RELEASES == 1000
    assert Hedge(100, 5000, privacy, block=1).guarantee.planned == 4999  # unless `block` says so


@pytest.mark.statistical
def test_regret_stays_far_under_its_bound_on_a_switching_stream() -> None:
    horizon, actions = 20_000, 10
    gains = np.random.default_rng(1).uniform(0, 0.5, size=(horizon, actions))
    gains[: horizon // 3, 2] += 0.4
    gains[horizon // 3 :, 7] += 0.45
    best = gains.sum(axis=0).max()
    regrets = []
    for seed in range(5):
        hedge = Hedge(actions, horizon, BOTH, seed=seed)
        regrets.append(best - gains[np.arange(horizon), hedge.replay(gains)].sum())
    assert np.mean(regrets) < 0.5 * hedge.facts["regret_bound"]
    assert np.mean(regrets) < 0.35 * (best - gains.mean(axis=1).sum())


def test_without_a_horizon_it_goes_on_within_the_budget() -> None:
    hedge = Hedge(3, None, BOTH, seed=1)
    chosen = hedge.replay(np.tile([0.1, 0.9, 0.1], (40_000, 1)))
    assert (chosen[-10_000:] == 1).mean() > 0.9
    assert hedge.guarantee.epsilon_spent <= 1.0
    assert hedge.guarantee.planned is None


def test_without_a_horizon_rates_fall_from_segment_to_segment() -> None:
    mode = mode_of(Hedge(3, None, BOTH))
    rates = [mode.rate(32 * (2**segment - 1)).at(0) for segment in range(20)]
    assert rates == sorted(rates, reverse=True)
    cohorts = [mode.gains.cohort(index) for index in (0, 31, 32, 95, 96)]
    assert cohorts == [0, 0, 32, 32, 96]  # segments are disjoint cohorts


def test_every_round_draws_its_action_with_the_published_probabilities() -> None:
    hedge = Hedge(4, 200_000, BOTH, block=100_000, seed=1)
    hedge.observe_many(np.tile([0.0, 0.002, 0.004, 0.002], (100_000, 1)))
    hedge.release_if_due()
    probabilities = np.array(list(hedge.decision["chances"].values()))
    assert probabilities.sum() == pytest.approx(1.0)
    drawn = np.bincount(hedge.open_many(100_000).numbers, minlength=4) / 100_000
    assert np.abs(drawn - probabilities).max() < 5 * 0.5 / sqrt(100_000)


@pytest.mark.parametrize("bound", [1e-160, 1e-3, 1e160])
def test_plans_do_not_depend_on_the_units_of_gains(bound: float) -> None:
    usual = Hedge(10, 20_000, BOTH).facts
    other = Hedge(10, 20_000, BOTH, bound=bound).facts
    assert (usual["block"], usual["releases"]) == (other["block"], other["releases"])
    assert other["rate"] == pytest.approx(usual["rate"])
    assert other["regret_bound"] == pytest.approx(usual["regret_bound"] * bound)


def test_without_a_horizon_blocks_do_not_grow_so_regret_per_round_falls() -> None:
    mode = mode_of(Hedge(10, None, BOTH))
    per_round = [
        mode.rate(32 * (2**segment - 1)).bound / (1024 * (2 ** (segment + 1) - 1))
        for segment in range(14)
    ]
    assert per_round == sorted(per_round, reverse=True)
    assert per_round[-1] < 0.01


def test_the_range_of_normal_numbers_is_the_expected_one() -> None:
    generator = np.random.default_rng(0)
    for count in (2, 5, 30, 400):
        measured = np.ptp(generator.normal(size=(4000, count)), axis=1).mean()
        assert expected_range(count) == pytest.approx(measured, rel=0.03)


def test_a_rate_is_cut_level_by_level_down_to_the_slowest() -> None:
    rate = AdaptiveRate.for_stream(
        10, rounds=10_000, block=10, range=40.0, boldness=64.0, patience=0.01
    )
    assert rate.most_cuts == 3
    assert rate.at(3) == rate.at(9) == rate.slowest
    cuts = [rate.cuts_after(0, lost * rate.level) for lost in (0.9, 1.1, 2.1, 3.1, 99.0)]
    assert cuts == [0, 1, 2, 3, 3]
    assert rate.cuts_after(2, 0.0) == 2  # a cut is never undone
    each = 10 / 8 + 40 / 4
    assert rate.bound == pytest.approx(np.log(10) / rate.slowest + rate.slowest * 10_000 * each)


def test_probabilities_do_not_overflow() -> None:
    assert softmax(np.array([0.0, 1e9, -1e9]), 10.0).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": 0}, "actions must be a whole number, between 1"),
        ({"horizon": -3}, "horizon must be a whole number"),
        ({"horizon": None, "block": 5}, "without a horizon"),
        ({"block": 0}, "block must be a whole number"),
        ({"block": "often"}, "block must be"),
        ({"bound": 0.0}, "bound must be a number between"),
    ],
)
def test_errors_name_the_wrong_setting(change: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"actions": 2, "horizon": 10, "privacy": Privacy(1.0)}
    with pytest.raises(ConfigError, match=message):
        Hedge(**usual | change)
