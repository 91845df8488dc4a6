"""Which exchanges of one slot are worth trying, and how often: from released values.

Around the incumbent slate S, item a in slot j instead of s_j would gain d_ja more. What a trial may
find is priced as in discreet/learners/worth_trying.py, and credited with a tenth of the rounds that
are left. Exchanges are taken in the order of their worth per round, while it is positive and they
fit half the block and what `explore` allows.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.set_maximizer.incumbent_search.incumbent import Incumbent
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED
from discreet.learners.worth_trying import doubling_sizes, worth_trying

DOUBLINGS = 24
"""Largest number of sizes that a trial is priced in."""


@dataclass(frozen=True, eq=False)
class Trials:
    """Exchanges to be tried: one slot, item and number of rounds per entry."""

    slots: Integers
    items: Integers
    rounds: Integers


@dataclass(frozen=True)
class Ahead:
    """What trials are priced for."""

    rounds: int
    """Rounds of the block."""
    most: float
    """Number of visitors who may still see a trial."""
    later: float
    """Rounds after the block in which a discovery pays."""
    noise: float
    """The variance of the noise of each cell's sum."""


def click_trials(posterior: Posterior, incumbent: Incumbent, active: Mask, ahead: Ahead) -> Trials:
    """Return trials answered by clicks on the exchanged item: the variance follows from its
    gain.
    """
    chances = np.clip(incumbent.gains.means, 0.2 * posterior.centre, 0.5)
    doubt = _doubt(posterior, incumbent)
    variance = chances * (1 - chances)
    return _worth_trying(incumbent, active, doubt, variance, ahead, TUNED.first_trial_clicks)


def reward_trials(
    posterior: Posterior, incumbent: Incumbent, active: Mask, ahead: Ahead, reward_variance: float
) -> Trials:
    """Return trials answered by rewards of whole slates, which are compared with the
    incumbent's.
    """
    doubt = _doubt(posterior, incumbent) + incumbent.own_variances[:, None]
    variance = np.full(doubt.shape, reward_variance)
    return _worth_trying(incumbent, active, doubt, variance, ahead, TUNED.first_trial_rewards)


def _doubt(posterior: Posterior, incumbent: Incumbent) -> Floats:
    """Return the variances of gains, larger for exchanges that were never tried in this company."""
    slate, variances = incumbent.slate, incumbent.gains.variances
    rest = [np.delete(slate, slot) for slot in range(len(slate))]
    remaining = np.array([posterior.remaining(others) for others in rest])
    interest = np.maximum(posterior.interest, 0.5 * posterior.centre)
    usual = (TUNED.company * remaining[:, None] * interest) ** 2
    return np.asarray(variances * (1 + TUNED.wider * np.minimum(1, variances / usual)))


def _worth_trying(
    incumbent: Incumbent, active: Mask, doubt: Floats, variance: Floats, ahead: Ahead, first: int
) -> Trials:
    """Return the exchanges with the best worth per round, each in its best size."""
    better = incumbent.better
    most = min(TUNED.most_tried * ahead.rounds, ahead.most)
    prices = worth_trying(
        better,
        better,
        doubt,
        variance=variance,
        noise=ahead.noise,
        later=TUNED.patience * ahead.later,
        sizes=doubling_sizes(first, most / 4, DOUBLINGS),
    )
    allowed = np.tile(active, (len(incumbent.slate), 1))
    allowed[:, incumbent.slate] = False
    chosen = prices.best_within(most, allowed)
    slots, items = np.divmod(chosen.trials, better.shape[1])
    return Trials(slots, items, chosen.rounds)
