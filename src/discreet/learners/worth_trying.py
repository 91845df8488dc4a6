"""Prices of trials: which are worth making in a block, and in how many rounds each.

Everything is computed from released values. A trial would gain d more than the incumbent in each
round. Making it V times moves the posterior mean of d by a standard deviation σ(V), and may show
that the trial is better for the remaining rounds:

    worth per round(V) = later · σ·(φ(u) + u·Φ(u)) / V + now          u = d/σ
    σ(V) = doubt / √(doubt + variance/V + noise/V²)

`later` is the number of rounds that a discovery is credited with; `now` is the gain of one round of
the trial over the incumbent. Each trial is priced at the best of some sizes V. Trials are taken in
the order of their worth per round, while it is positive and they fit the block.

Runtime     O(trials · sizes)
References  Frazier, Powell, Dayanik (2008), "A Knowledge-Gradient Policy for Sequential Information
            Collection"
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.optim.expected_improvement import expected_improvement


class Chosen(NamedTuple):
    """Chosen trials by number (in a table: row by row), and the rounds of each."""

    trials: Integers
    rounds: Integers


@dataclass(frozen=True, eq=False)
class Prices:
    """Worth per round of each trial at its best size, and that size."""

    worth: Floats
    sizes: Integers

    def best_within(self, most: float, allowed: Mask | None = None) -> Chosen:
        """Return the best allowed trials whose rounds add up to at most `most`.

        >>> Prices(np.array([0.1, -1.0, 0.3, 0.2]), np.array([8, 8, 4, 16])).best_within(20)
        Chosen(trials=array([2, 3]), rounds=array([ 4, 16]))
        """
        worth = self.worth.reshape(-1)
        sizes = self.sizes.reshape(-1)
        is_eligible = worth > 0 if allowed is None else (worth > 0) & allowed.reshape(-1)
        order = np.argsort(-worth, kind="stable")
        order = order[is_eligible[order]]
        order = order[np.cumsum(sizes[order]) <= most]
        return Chosen(order, sizes[order])


def doubling_sizes(first: int, largest: float, doublings: int) -> Integers:
    """Return the sizes first, 2·first, 4·first, … up to `largest`, at most `doublings` of them.

    >>> doubling_sizes(16, 100, 24)
    array([16, 32, 64])
    """
    sizes: Integers = first * 2 ** np.arange(doublings)
    return sizes[sizes <= max(largest, first)]


def worth_trying(
    better: Floats,
    now: Floats,
    doubt: Floats,
    *,
    variance: Floats | float,
    noise: float,
    later: float,
    sizes: Integers,
) -> Prices:
    """Return the price of each trial at its best size.

    Parameters
    ----------
    better
        Expected gain of each trial over the incumbent, per round.
    now
        The part of it that counts while the trial is made.
    doubt
        Posterior variance of `better`.
    variance
        Variance of one answer.
    noise
        Variance of the noise of a trial's sum.
    later
        Number of rounds that a discovery is credited with.
    sizes
        Numbers of rounds that a trial may have.
    """
    best_worth = np.full(better.shape, -np.inf)
    best_size = np.zeros(better.shape, dtype=np.int64)
    for size in sizes.tolist():
        step = doubt / np.sqrt(doubt + variance / size + noise / size**2)
        worth = later * expected_improvement(better, step) / size + now
        improves = worth > best_worth
        best_worth = np.where(improves, worth, best_worth)
        best_size = np.where(improves, size, best_size)
    return Prices(best_worth, best_size)
