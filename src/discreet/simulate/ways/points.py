"""Points of a polytope: the share of what the best fixed point gains over an even one.

The even point has slots/items of every item. The best point in hindsight is found on the visitors that came,
by type: greedy's set for a multilinear extension, Frank–Wolfe's point for a concave function.
"""

from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.arrivals import ConcaveOfLinear, Multilinear
from discreet.budget.privacy import Privacy
from discreet.domains import UniformMatroid
from discreet.learners.continuous_maximizer import ContinuousMaximizer
from discreet.simulate.display import World
from discreet.simulate.ways.mixing import Data
from discreet.simulate.ways.slates import Tastes
from discreet.simulate.ways.way import Way, compared, modes

__all__ = ["points"]

STEPS = 400
"""Of Frank–Wolfe in hindsight."""


def points(
    *,
    function: str,
    epsilon: float,
    delta: float,
    horizon: int,
    items: int,
    slots: int,
    data: Data,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Shares of `ContinuousMaximizer` that plays points, by mode."""
    tastes = Tastes.drawn(data, horizon, items=items, seed=seed)
    domain, privacy = UniformMatroid(items, slots), Privacy(epsilon, delta)
    family = Multilinear() if function == "multilinear" else ConcaveOfLinear("log")
    settings: dict[str, Any] = {"function": family, "play": "point", "seed": seed}

    def make(way: Way) -> ContinuousMaximizer:
        return way.learner(ContinuousMaximizer, domain, horizon, privacy, **settings)

    def share(learner: ContinuousMaximizer) -> float:
        value = 0.0
        came = []
        for types in tastes.met(learner):
            came.append(types)
            rows = tastes.chances[types]
            value += float(_values(function, rows, learner.preview(len(types))).sum())
            learner.observe_many(rows)
        world = tastes.world(np.concatenate(came))
        even = _worth(function, world, np.full(items, slots / items))
        best = _worth(function, world, _best_point(function, world, slots))
        return (value - even) / (best - even)

    return compared(make, share, () if alone else modes("vertex", "euclidean"))


def _values(function: str, rows: Floats, point: Floats) -> Floats:
    """What a point, or one point per row, is worth to each visitor."""
    if function == "multilinear":
        return np.asarray(1 - np.prod(1 - rows * point, axis=-1), dtype=np.float64)
    return np.asarray(np.log1p((rows * point).sum(axis=-1)), dtype=np.float64)


def _worth(function: str, world: World, point: Floats) -> float:
    """What a fixed point would have been worth to all visitors."""
    return float(world.counts @ _values(function, world.chances, point))


def _best_point(function: str, world: World, slots: int) -> Floats:
    """The best fixed point in hindsight, up to the steps of Frank–Wolfe."""
    items = world.chances.shape[1]
    if function == "multilinear":
        return np.isin(np.arange(items), world.best_slate(slots)).astype(np.float64)
    point = np.full(items, slots / items)
    for step in range(STEPS):
        slopes = 1 / (1 + world.chances @ point)
        gains = (world.counts * slopes) @ world.chances
        vertex = np.zeros(items)
        vertex[np.argsort(-gains)[:slots]] = 1.0
        point = point + (vertex - point) * 2 / (step + 2)
    return point
