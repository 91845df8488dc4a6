"""Screening: which slates to show while all items are new, and what is believed afterwards.

    clicks     random slates; Thompson's choice, twice; then the leader is fixed, up to three times
    rewards    random slates; Thompson's choice, twice

Thompson's choice: the leaders of draws from the belief, 256 public ones, shuffled. Lengths are shares of the
horizon that fall as it grows: how often an item must be seen does not. Where the first release shows that
visitors click rarely, random slates go on, and all that follows takes longer.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.set_maximizer.swap.belief import Belief

__all__ = [
    "BOLD",
    "MOST_SCREENED",
    "SCREENED_OF_EXPLORE",
    "Screening",
    "Stage",
    "random_table",
    "thompson_table",
]

ROWS = 512
"""Of a table of slates."""
MOST_DRAWN = 2**22
"""Numbers of Thompson's draws that are held at once."""
BOLD = {"clicks": 0.7, "bandit": 1.0}
"""By how much of its standard deviation a belief is moved in Thompson's draws."""
MOST_SCREENED = 0.35
"""The largest part of the horizon that one screening takes, if `explore` sets no limit."""
SCREENED_OF_EXPLORE = 0.5
"""The largest part of the trials that `explore` allows which one screening takes."""
RANDOM, MOST_RANDOM = {"clicks": 3.0, "bandit": 2.0}, 16.0
"""Per cent of the rounds for random slates, at a pace of 1; and at most."""
THOMPSON = {"clicks": 1.0, "bandit": 0.85}
"""For each of Thompson's choices."""
PREFIX = 0.7
"""For each leader that is fixed (clicks)."""
USUAL_RATE = 0.05
"""Of clicks on an item: with fewer, as many more visitors count as one."""


@dataclass(frozen=True)
class Stage:
    """One block of screening: its kind, how many items are fixed before it, and how many rounds it has."""

    is_random: bool
    fixed: int
    length: int


@dataclass(frozen=True)
class Screening:
    """The blocks of a screening; it takes at most the share `most` of all rounds."""

    items: int
    slots: int
    rounds: int
    feedback: str
    most: float = MOST_SCREENED

    def pace(self, rate: float) -> float:
        """How much longer than usual screening takes: for 10⁵ visitors who click an item at the usual rate,
        20 times as many items as slots, it is 1.
        """
        crowd = (self.items / self.slots / 20) ** 0.6
        seen = self.rounds * min(rate / USUAL_RATE, 2.0)
        if self.feedback == "bandit":
            return float(crowd * (seen / 1e6) ** -0.4)
        return float(crowd * (seen / 1e5) ** (-0.6 if seen > 1e5 else -0.85))

    def stages(self, rate: float) -> list[Stage]:
        """All blocks, if this is the rate of clicks: random ones first."""
        pace = self.pace(rate)
        parts = [(True, 0, min(RANDOM[self.feedback] * pace, MOST_RANDOM))]
        parts += [(False, 0, THOMPSON[self.feedback] * pace)] * 2
        if self.feedback == "clicks":
            parts += [(False, 1 + number, PREFIX * pace) for number in range(min(3, self.slots - 1))]
        whole = sum(part for _, _, part in parts)
        scale = min(1.0, 100 * self.most / whole)
        return [
            Stage(random, fixed, max(1, int(scale * part / 100 * self.rounds)))
            for random, fixed, part in parts
        ]

    def length(self, rate: float) -> int:
        """Of all stages."""
        return sum(stage.length for stage in self.stages(rate))


def random_table(living: Mask, slots: int, generator: np.random.Generator) -> Integers:
    """Slates in which all living items come equally often: shuffled orders, cut into slates."""
    items = np.flatnonzero(living)
    plays = len(items) // slots
    orders = max(1, ROWS // plays)
    shuffled = generator.permuted(np.tile(items, (orders, 1)), axis=1)
    return shuffled[:, : plays * slots].reshape(-1, slots)


def thompson_table(
    belief: Belief,
    prefix: Integers,
    slots: int,
    living: Mask,
    generator: np.random.Generator,
    *,
    bold: float,
) -> Integers:
    """The prefix, then the leaders of draws from the belief about gains behind it, in shuffled order."""
    gains, free = belief.gains([prefix]), slots - len(prefix)
    draws = max(1, min(ROWS // 2, MOST_DRAWN // belief.items))
    doubt = bold * np.sqrt(gains.variances[0])
    drawn = gains.means[0] + doubt * generator.normal(size=(draws, belief.items))
    drawn[:, prefix] = -np.inf
    drawn[:, ~living] = -np.inf
    leaders = np.argpartition(-drawn, free - 1, axis=1)[:, :free]
    leaders = generator.permuted(np.tile(leaders, (2, 1)), axis=1)
    return np.concatenate([np.tile(prefix, (len(leaders), 1)), leaders], axis=1)


def after_clicks(belief: Belief, prefix: Integers, counts: Floats, views: Floats, noise: float) -> Belief:
    """The belief after noisy first clicks on items behind a prefix, and how often they were looked at."""
    remaining = belief.remaining(prefix)
    expected = belief.interest * remaining
    chances = np.clip(expected, 0.4 * belief.centre * remaining, 0.5)
    looks = np.maximum(views, 1.0)
    variances = chances * (1 - chances) / looks + noise / looks**2
    belief = belief.with_cells(prefix, counts / looks, variances, views > 5)
    return (belief if len(prefix) else belief.with_prior()).with_interest()


def first_rate(clicks: float, shows: float, slots: int) -> float:
    """The chance of a click on one item, from how many slates of so many were clicked, and were shown."""
    clicked = float(np.clip(clicks / shows, 1e-3, 0.95))
    return float(1 - (1 - clicked) ** (1 / slots))


def after_rewards(
    belief: Belief, surplus: Floats, weights: Floats, *, reward_variance: float, noise: float
) -> Belief:
    """The belief after Σx·(y − expected) a item, Σx² and the variance of the noise of the former.

    Nearby items of a slate are taken at what is believed of them: company varies, and averages out.
    """
    weights_there = np.maximum(weights, 1e-9)
    means = belief.interest + surplus / weights_there
    variances = reward_variance / weights_there + noise / weights_there**2
    return belief.with_cells([], means, variances, weights > 5).with_prior().with_interest()
