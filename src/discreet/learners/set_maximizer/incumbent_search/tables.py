"""Tables of slates that screening blocks cycle through: random slates, and Thompson sampling.

Thompson sampling: the leaders of 256 public draws from the posterior, shuffled.

References  Russo et al. (2018), "A Tutorial on Thompson Sampling"
"""

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.shown_screening import slate_gains

ROWS = 512
"""Number of rows of a table of slates."""
MOST_DRAWN = 2**22
"""Largest number of entries of Thompson's draws in memory at once."""
LIGHTEST = 1e-100
"""Smallest total weight of a slate, so that no aggregator has the sensitivity 0."""


def random_table(active: Mask, slots: int, generator: np.random.Generator) -> Integers:
    """Return slates that show all active items equally often: shuffled orders, cut into slates."""
    items = np.flatnonzero(active)
    slates_per_order = len(items) // slots
    orders = max(1, ROWS // slates_per_order)
    shuffled = generator.permuted(np.tile(items, (orders, 1)), axis=1)
    return shuffled[:, : slates_per_order * slots].reshape(-1, slots)


def thompson_table(
    posterior: Posterior,
    prefix: Integers,
    slots: int,
    active: Mask,
    generator: np.random.Generator,
    *,
    bold: float,
) -> Integers:
    """Return slates by Thompson sampling: the prefix, then the leaders of a posterior draw.

    `bold` is the standard deviation of a draw, relative to that of the posterior. The leaders of a
    slate are in a random order.
    """
    gains = posterior.gains([prefix])
    free = slots - len(prefix)
    draws = max(1, min(ROWS // 2, MOST_DRAWN // posterior.items))
    deviations = bold * np.sqrt(gains.variances[0])
    drawn = gains.means[0] + deviations * generator.normal(size=(draws, posterior.items))
    drawn[:, prefix] = -np.inf
    drawn[:, ~active] = -np.inf
    leaders = np.argpartition(-drawn, free - 1, axis=1)[:, :free]
    leaders = generator.permuted(np.tile(leaders, (2, 1)), axis=1)
    return np.concatenate([np.tile(prefix, (len(leaders), 1)), leaders], axis=1)


def heaviest_slate(table: Integers, interest: Floats) -> float:
    """Return the largest total weight of a slate of the table; it is positive."""
    weights = slate_gains(table, interest).weights
    return max(float(weights.sum(axis=1).max()), LIGHTEST)
