"""If these fail, a statistic that one learner brings along is paid for wrongly."""

from fractions import Fraction

import numpy as np
import pytest

from discreet import Privacy
from discreet.budget.privacy import zcdp
from discreet.domains import LpBall
from discreet.errors import BudgetError
from discreet.functions import FacilityLocation
from discreet.learners.contextual_bandit.screening import ScoredFeatures
from discreet.learners.disjoint_paths import DisjointPaths
from discreet.learners.streaming_learner.frank_wolfe import ExactTotal
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.losses import SquaredLoss
from discreet.release.aggregators import ChosenRows
from discreet.release.noise import CalibratedNoise
from discreet.release.selection import Selection
from engine.statistics.blocks import added_up, exact, next_release, one_row, releases

USUAL = Privacy(1.0, 1e-6)


# --- the set of a block, drawn along a sampled path -----------------------------------------------


@pytest.mark.parametrize("contributions", [1, 4])
@pytest.mark.parametrize("keyed", [False, True])
def test_a_path_of_each_block_is_paid_for_by_its_people_within_their_share(
    contributions: int, keyed: bool
) -> None:
    privacy = Privacy(1.0, 1e-6, contributions=contributions, keyed=keyed)
    paths = DisjointPaths(privacy, 1000, 6, 2, FacilityLocation())
    releases_made = paths.schedule.releases
    assert releases_made > 1
    blocks = min(contributions, releases_made) if keyed else contributions
    charges = [paths.charge(number) for number in range(releases_made)]
    for charge in charges:
        assert charge.measure == "pure"
        assert Fraction(9, 10) / blocks <= exact(charge) <= Fraction(privacy.epsilon / blocks)
    assert exact(paths.spent) == max(map(exact, charges))
    assert paths.is_apart
    assert [paths.cohort(number) for number in range(3)] == [0, 1, 2]


def test_the_people_held_are_those_of_the_block_and_nobody_after_the_last_release() -> None:
    paths = DisjointPaths(USUAL, 1000, 6, 2, FacilityLocation(), block=100)
    ends = [100, 300, 700]
    held = [paths.aggregator_at(number).shape[0] for number in range(4)]
    assert [paths.schedule.end(number) for number in range(3)] == ends
    assert held == [100, 200, 400, 0]


# --- the exact total of gradients, of which corners are drawn -------------------------------------


def exact_total(privacy: Privacy, block: int = 5) -> ExactTotal:
    return ExactTotal(
        StreamingLearnerSettings(
            epsilon=privacy.epsilon,
            delta=privacy.delta,
            horizon=40,
            domain=LpBall(2, 1),
            loss=SquaredLoss(),
            feature_bound=1.0,
            target_bound=1.0,
            method="frank-wolfe",
            block=block,
        )
    )


@pytest.mark.parametrize("privacy", [USUAL, Privacy(1.0)], ids=repr)
def test_all_people_pay_for_all_corners_that_are_drawn(privacy: Privacy) -> None:
    """Later draws cost less: their shares of the budget fall with the cube root of their number."""
    total = exact_total(privacy)
    charges = [total.charge(number) for number in range(8)]
    assert added_up(charges) <= exact(total.spent) <= exact(privacy.budget)
    assert exact(total.spent) <= added_up(charges) * Fraction(1 + 1e-9)
    amounts = np.array([charge.amount for charge in charges])
    power = -1 / 3 if privacy.pure else -2 / 3
    assert np.allclose(amounts / amounts[0], np.arange(1, 9) ** power, rtol=1e-3)
    assert not total.is_apart
    assert total.cohort(3) is None


def test_the_hidden_total_is_that_of_everybody_so_far_and_is_never_public() -> None:
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, size=(8, 2))
    made = releases(exact_total(USUAL), [one_row(row) for row in rows])
    total = exact_total(USUAL)
    for after, sums in zip(made, rows.cumsum(axis=0), strict=True):
        assert after.public == {}
        assert np.allclose(after.hidden["total"] * total.aggregator.grid, sums, atol=1e-4)
        assert after.result in range(4)


# --- features drawn by their scores ---------------------------------------------------------------

PICKS = 2
VALUES = CalibratedNoise.for_budget(zcdp(0.01), ChosenRows((2, PICKS)))
SCORES = ChosenRows((2, 5), VALUES.aggregator.levels)
DRAW = Selection.for_budget(zcdp(0.01), SCORES, draws=PICKS)


def scored() -> ScoredFeatures:
    return ScoredFeatures(PICKS, DRAW, SCORES, VALUES)


def test_a_screening_costs_its_draws_and_the_sums_of_what_was_drawn() -> None:
    statistic = scored().statistic
    due = PICKS * exact(DRAW.charge("zcdp")) + exact(VALUES.charge)
    for number in range(3):
        assert 0 <= exact(statistic.charge(number)) - due <= due / 2**50
        assert statistic.cohort(number) == number
    assert statistic.spent == statistic.charge(0)
    assert statistic.is_apart


def test_features_of_a_screening_are_drawn_once_and_only_when_asked_for() -> None:
    everything = np.ones((2, 5), dtype=np.bool_)
    opened = next_release(scored().statistic, 0, {}, {}).result
    assert not opened.door.opened
    drawn = scored().drawn(opened, everything)
    assert drawn.features.shape == drawn.sums.shape == (2, PICKS)
    assert all(len(set(row)) == PICKS for row in drawn.features.tolist())
    with pytest.raises(BudgetError):
        scored().drawn(opened, everything)
