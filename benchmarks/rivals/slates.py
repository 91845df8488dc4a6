"""Slates from clicks without privacy: Thompson sampling of MABWiser, ranked and read as a cascade.

For comparison only. MABWiser keeps a Beta posterior of the click rate per item; a slate is the
items with the highest rates drawn from these posteriors. A visitor looks at a slate from its first
item on and clicks at most once, so the items up to the click were looked at, and all items if there
was none. It sees what discreet sees: the first click.

References  Kveton, Szepesvári, Wen, Ashkan (2015), "Cascading Bandits";
            Zhong, Cheung, Tan (2021), "Thompson Sampling Algorithms for Cascading Bandits"
"""

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.simulate.problems.display import World, first_clicks

UPDATES = 1000
"""Number of updates, since each call of MABWiser loops over all items in Python.

In one world of 200 titles and 10⁵ visitors, 5000 updates earned no more than 2000.
"""


def looked_at(slates: Integers, clicks: Integers) -> Mask:
    """Return which items of each slate were looked at: up to the click (−1: no click).

    >>> looked_at(np.array([[5, 6, 7], [5, 6, 7]]), np.array([6, -1]))
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    clicked = slates == clicks[:, None]
    before = np.cumsum(clicked, axis=1) - clicked
    return np.asarray(before == 0)


def thompson_value(world: World, slots: int, seed: int) -> float:
    """Return the expected clicks of Thompson sampling's slates, its first rounds included."""
    from mabwiser.mab import MAB, LearningPolicy

    luck = np.random.default_rng([seed, 7])
    sampler = MAB(list(range(world.items)), LearningPolicy.ThompsonSampling(), seed=seed)
    sampler.fit([0], [0])  # one look without a click, since it predicts only after a fit
    together = -(-len(world.types) // UPDATES)
    value = 0.0
    for first in range(0, len(world.types), together):
        types = world.types[first : first + together]
        slates = _leaders(_drawn_rates(sampler, len(types)), slots)
        chances = world.chances[types[:, None], slates]
        value += float((1 - np.prod(1 - chances, axis=1)).sum())
        clicks = first_clicks(slates, luck.random(chances.shape) < chances)
        seen = looked_at(slates, clicks)
        sampler.partial_fit(slates[seen], (slates == clicks[:, None])[seen].astype(int))
    return value


def _drawn_rates(sampler: object, visitors: int) -> Floats:
    """Return a rate of each item from its posterior, visitors × items."""
    drawn = sampler.predict_expectations(np.zeros((visitors, 1)))  # type: ignore[attr-defined]
    rows = [drawn] if isinstance(drawn, dict) else drawn
    return np.array([list(row.values()) for row in rows])


def _leaders(rates: Floats, slots: int) -> Integers:
    """Return the items with the highest rates, the highest first."""
    some = np.argpartition(-rates, slots - 1, axis=1)[:, :slots]
    order = np.argsort(-np.take_along_axis(rates, some, axis=1), axis=1)
    return np.take_along_axis(some, order, axis=1)
