"""Which trials of a block are worth making, and how often each: from released values only.

A trial would gain d more than the incumbent in each round. Making it V times moves the belief about
d by a standard deviation σ(V), and may show that the trial is better for the rounds that are left:

    worth per round(V) = later · σ·(φ(u) + u·Φ(u)) / V + now          u = d/σ
    σ(V) = doubt / √(doubt + variance/V + noise/V²)

`later` is the number of rounds that a discovery is credited with; `now` is what one round of the
trial gains over the incumbent. Each trial is priced in the best of some sizes V. Trials are taken
in the order of their worth per round, while it is positive and they fit the block.

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
    """Trials by their number (in a table: row by row), and the rounds of each."""

    trials: Integers
    rounds: Integers


@dataclass(frozen=True, eq=False)
class Prices:
    """Worth per round of each trial, in the size at which it is largest, and that size."""

    worth: Floats
    sizes: Integers

    def best_within(self, most: float, allowed: Mask | None = None) -> Chosen:
        """Return the best trials that are allowed and whose rounds add up to at most `most`.

        >>> Prices(np.array([0.1, -1.0, 0.3, 0.2]), np.array([8, 8, 4, 16])).best_within(20)
        Chosen(trials=array([2, 3]), rounds=array([ 4, 16]))
        """
        worth, sizes = self.worth.reshape(-1), self.sizes.reshape(-1)
        is_taken = worth > 0 if allowed is None else (worth > 0) & allowed.reshape(-1)
        order = np.argsort(-worth, kind="stable")
        order = order[is_taken[order]]
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
    """Return the price of each trial in its best size.

    Parameters
    ----------
    better
        Expected gain of each trial over the incumbent, per round.
    now
        Part of it that counts while the trial is made.
    doubt
        Variance of the belief about `better`.
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
