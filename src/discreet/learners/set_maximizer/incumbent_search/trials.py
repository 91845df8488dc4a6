"""The single-slot exchanges that are worth trying, and how often: from released values.

    d_ja = g(a | S − s_j) − g(s_j | S − s_j)      gain of item a over s_j in slot j, incumbent S

Each trial is priced by the knowledge gradient (discreet/learners/worth_trying.py); a discovery is
credited with a tenth of the remaining rounds. Exchanges are chosen by falling worth per round,
while it is positive and they fit half the block and the limit of `explore`.

References  Frazier, Powell, Dayanik (2008), "A Knowledge-Gradient Policy for Sequential Information
            Collection"
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.set_maximizer.incumbent_search.incumbent import Incumbent
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED
from discreet.learners.worth_trying import doubling_sizes, worth_trying

DOUBLINGS = 24
"""Largest number of sizes in which a trial is priced."""


@dataclass(frozen=True, eq=False)
class Trials:
    """Exchanges to try: one slot, item and number of rounds per entry."""

    slots: Integers
    items: Integers
    rounds: Integers


@dataclass(frozen=True)
class Ahead:
    """The block in which trials are made, and the rounds after it."""

    rounds: int
    """Number of rounds of the block."""
    most: float
    """Number of visitors who may still see a trial."""
    later: float
    """Number of rounds after the block in which a discovery pays."""
    noise: float
    """Variance of the noise of a cell's sum."""


def click_trials(posterior: Posterior, incumbent: Incumbent, active: Mask, ahead: Ahead) -> Trials:
    """Return the trials of a click block: the answer is a click on the exchanged item."""
    doubt = _doubt(posterior, incumbent)
    variance = click_variances(posterior, incumbent)
    return _worth_trying(incumbent, active, doubt, variance, ahead, TUNED.first_trial_clicks)


def reward_trials(
    posterior: Posterior, incumbent: Incumbent, active: Mask, ahead: Ahead, reward_variance: float
) -> Trials:
    """Return the trials of a reward block: rewards are compared with those of the incumbent."""
    doubt = _doubt(posterior, incumbent) + incumbent.own_variances[:, None]
    variance = np.full(doubt.shape, reward_variance)
    return _worth_trying(incumbent, active, doubt, variance, ahead, TUNED.first_trial_rewards)


def click_variances(posterior: Posterior, incumbent: Incumbent) -> Floats:
    """Return the variance of one answer, a click or none, to each exchange of the incumbent."""
    least = TUNED.least_chance * posterior.centre
    chances = np.clip(incumbent.gains.means, least, TUNED.most_chance)
    return np.asarray(chances * (1 - chances))


def _doubt(posterior: Posterior, incumbent: Incumbent) -> Floats:
    """Return the variances of gains, widened for exchanges never tried with this slate."""
    slate = incumbent.slate
    variances = incumbent.gains.variances
    rests = [np.delete(slate, slot) for slot in range(len(slate))]
    remaining = np.array([posterior.remaining(rest) for rest in rests])
    usual = (TUNED.company * remaining[:, None] * posterior.effect_scale) ** 2
    return np.asarray(variances * (1 + TUNED.wider * np.minimum(1, variances / usual)))


def _worth_trying(
    incumbent: Incumbent, active: Mask, doubt: Floats, variance: Floats, ahead: Ahead, first: int
) -> Trials:
    """Return the exchanges with the largest worth per round, each in its best size.

    Parameters
    ----------
    doubt
        Posterior variance of the gain of each exchange.
    variance
        Variance of one answer.
    first
        Number of rounds of the shortest trial.
    """
    better = incumbent.better
    most = min(TUNED.most_tried * ahead.rounds, ahead.most)
    prices = worth_trying(
        better,
        better,
        doubt,
        variance=variance,
        noise=ahead.noise,
        later=TUNED.patience * ahead.later,
        sizes=doubling_sizes(first, TUNED.largest_trial * most, DOUBLINGS),
    )
    allowed = np.tile(active, (len(incumbent.slate), 1))
    allowed[:, incumbent.slate] = False
    chosen = prices.best_within(most, allowed)
    slots, items = np.divmod(chosen.trials, better.shape[1])
    return Trials(slots, items, chosen.rounds)
