"""The tables of slates that screening blocks go through: random slates, and Thompson's choice.

Thompson's choice: the leaders of draws from the belief, 256 public ones, shuffled.
"""

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.shown_screening import slate_gains

ROWS = 512
"""Number of rows of a table of slates."""
MOST_DRAWN = 2**22
"""Numbers of Thompson's draws that are held at once."""
LIGHTEST = 1e-100
"""Rows of weights are never taken to be lighter."""


def random_table(active: Mask, slots: int, generator: np.random.Generator) -> Integers:
    """Return slates in which all living items come equally often: shuffled orders, cut up."""
    items = np.flatnonzero(active)
    plays = len(items) // slots
    orders = max(1, ROWS // plays)
    shuffled = generator.permuted(np.tile(items, (orders, 1)), axis=1)
    return shuffled[:, : plays * slots].reshape(-1, slots)


def thompson_table(
    posterior: Posterior,
    prefix: Integers,
    slots: int,
    active: Mask,
    generator: np.random.Generator,
    *,
    bold: float,
) -> Integers:
    """Return slates of the prefix and the leaders of draws from the belief behind it, shuffled."""
    gains, free = posterior.gains([prefix]), slots - len(prefix)
    draws = max(1, min(ROWS // 2, MOST_DRAWN // posterior.items))
    doubt = bold * np.sqrt(gains.variances[0])
    drawn = gains.means[0] + doubt * generator.normal(size=(draws, posterior.items))
    drawn[:, prefix] = -np.inf
    drawn[:, ~active] = -np.inf
    leaders = np.argpartition(-drawn, free - 1, axis=1)[:, :free]
    leaders = generator.permuted(np.tile(leaders, (2, 1)), axis=1)
    return np.concatenate([np.tile(prefix, (len(leaders), 1)), leaders], axis=1)


def heaviest_slate(table: Integers, interest: Floats) -> float:
    """Return the most that the weights of one slate of a table add up to; never nothing."""
    weights = slate_gains(table, interest).weights
    return max(float(weights.sum(axis=1).max()), LIGHTEST)
