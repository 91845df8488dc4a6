"""Points of a polytope: the share of the best fixed point's gain over an even one.

The even point has slots/items of every item. The best point in hindsight is found on the visitors
that came, by type: greedy's set for a multilinear extension, Frank–Wolfe's point for a concave
function.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.functions import ConcaveOfLinear, Multilinear
from discreet.learners.continuous_maximizer import ContinuousMaximizer
from discreet.simulate.problems import Continuous
from discreet.simulate.problems.display import World
from discreet.simulate.problems.problem import made, pieces
from ways_of_learning.mixing import Data
from ways_of_learning.modes import in_modes, values
from ways_of_learning.slates import drawn, of_visitors

CHUNK = 20_000
"""How many visitors' rows are held at once."""
STEPS = 400
"""How many steps of Frank–Wolfe find the best point in hindsight."""


@dataclass(frozen=True)
class Points(Continuous):
    """The problem of points of the polytope, played as points."""

    function: Multilinear | ConcaveOfLinear = field(default_factory=Multilinear)

    def learner(
        self, people: World | None = None, seed: int | None = None, *, mode: str = "auto"
    ) -> ContinuousMaximizer:
        settings: dict[str, Any] = {"function": self.function, "play": "point", "seed": seed}
        return made(ContinuousMaximizer, mode, self.domain, self.rounds, self.privacy, **settings)


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
    """Return the shares of `ContinuousMaximizer` that plays points, by mode."""
    world = drawn(data, horizon, items=items, seed=seed)
    family = Multilinear() if function == "multilinear" else ConcaveOfLinear("log")
    problem = Points(horizon, Privacy(epsilon, delta), items, slots, function=family)

    def share(learner: ContinuousMaximizer) -> float:
        value = 0.0
        types = []
        for piece in pieces(learner, horizon, CHUNK):
            types.append(world.met(piece, learner.releases))
            rows = world.chances[types[-1]]
            value += float(_values(function, rows, learner.preview(len(rows))).sum())
            learner.observe_many(rows)
        came = of_visitors(world, types)
        even = _worth(function, came, np.full(items, slots / items))
        best = _worth(function, came, _best_point(function, came, slots))
        return (value - even) / (best - even)

    return values(in_modes(problem, world, seed, () if alone else ("vertex", "euclidean")), share)


def _values(function: str, rows: Floats, point: Floats) -> Floats:
    """Return the value of a point, or of one point per row, to each visitor."""
    if function == "multilinear":
        return np.asarray(1 - np.prod(1 - rows * point, axis=-1), dtype=np.float64)
    return np.asarray(np.log1p((rows * point).sum(axis=-1)), dtype=np.float64)


def _worth(function: str, world: World, point: Floats) -> float:
    """Return the value of a fixed point to all visitors."""
    return float(world.counts @ _values(function, world.chances, point))


def _best_point(function: str, world: World, slots: int) -> Floats:
    """Return the best fixed point in hindsight, up to the steps of Frank–Wolfe."""
    items = world.items
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
