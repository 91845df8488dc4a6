"""Screening: which slates to show while all items are new, and what is believed afterwards.

    clicks     random slates; four times Thompson's choice; then the leader is fixed, and again, and again
    rewards    random slates; twice Thompson's choice

Thompson's choice: the leaders of draws from the belief, 256 public ones, shuffled. Lengths are shares of the
horizon that fall as it grows: what one item must be seen does not.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.learners.set_maximizer.swap.belief import Belief

__all__ = ["Screening", "Stage", "random_table", "thompson_table"]

ROWS = 512
"""Of a table of slates."""
BOLD = 0.7
"""By how much of its standard deviation a belief is moved in Thompson's draws."""
MOST_SCREENED = 0.35
"""The largest part of the horizon that screening takes, once."""
CLICK_STAGES = (2.0, 0.5, 0.5, 0.5, 0.5)
PREFIX_STAGES = (0.7, 0.7, 0.7)
REWARD_STAGES = (2.0, 0.7, 0.7)
"""Per cent of the horizon: of 10⁵ rounds for clicks, of 10⁶ for rewards; for 20 times as many items as slots."""


@dataclass(frozen=True)
class Stage:
    """One block of screening: how many items are fixed before it, and how many rounds it has."""

    fixed: int
    length: int


@dataclass(frozen=True)
class Screening:
    """The stages for so many items, slots and rounds; `share` of all rounds, where somebody says."""

    items: int
    slots: int
    rounds: int
    by_clicks: bool
    share: float | None = None

    @cached_property
    def stages(self) -> list[Stage]:
        """The blocks in order."""
        crowd = (self.items / self.slots / 20) ** 0.6
        if self.by_clicks:
            prefixes = PREFIX_STAGES[: max(0, self.slots - 1)]
            parts = [(0, part) for part in CLICK_STAGES] + [(1 + i, p) for i, p in enumerate(prefixes)]
            scale = crowd * (self.rounds / 1e5) ** -0.6
        else:
            parts = [(0, part) for part in REWARD_STAGES]
            scale = crowd * (self.rounds / 1e6) ** -0.4
        whole = sum(part for _, part in parts)
        most = MOST_SCREENED if self.share is None else self.share
        scale = min(scale, 100 * most / whole) if self.share is None else 100 * most / whole
        return [Stage(fixed, max(1, int(scale * part / 100 * self.rounds))) for fixed, part in parts]

    @property
    def length(self) -> int:
        """Of all stages."""
        return sum(stage.length for stage in self.stages)


def random_table(items: int, slots: int, generator: np.random.Generator) -> Integers:
    """Slates in which all items come equally often: shuffled orders, cut into slates."""
    plays = items // slots
    orders = max(1, ROWS // plays)
    shuffled = generator.permuted(np.tile(np.arange(items), (orders, 1)), axis=1)
    return shuffled[:, : plays * slots].reshape(-1, slots)


def thompson_table(belief: Belief, prefix: Integers, slots: int, generator: np.random.Generator) -> Integers:
    """The prefix, then the leaders of draws from the belief about gains behind it, in shuffled order."""
    gains, free = belief.gains([prefix]), slots - len(prefix)
    draws = max(1, min(ROWS // 2, 2**24 // belief.items))
    means, doubt = gains.means[0], BOLD * np.sqrt(gains.variances[0])
    leaders = np.empty((draws, free), dtype=np.int64)
    for row in leaders:
        drawn = means + doubt * generator.normal(size=belief.items)
        drawn[prefix] = -np.inf
        row[:] = np.argpartition(-drawn, free - 1)[:free]
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
