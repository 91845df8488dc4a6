"""Slates of items: the share of greedy in hindsight's gain over random slates.

The problem is that of discreet/simulate/problems/display.py. Tastes that drift keep their types and
move the weights.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.arrays import Integers
from discreet.budget.privacy import Privacy
from discreet.learners.base import Learner
from discreet.learners.streams import Stream
from discreet.simulate.problems import Continuous, Display
from discreet.simulate.problems.display import World, meetings
from ways_of_learning.mixing import APART, Data, Mixing
from ways_of_learning.modes import in_modes, values

MODES = {("full", "iid"): ("disjoint-greedy", "gain-sum")}
"""The modes that read a feedback and keep what a stream's word promises, where there are
several.
"""


@dataclass(frozen=True, eq=False)
class ChangingWorld(World):
    """The types of two worlds, and the type of every visitor in each."""

    other: Integers
    mixing: Mixing

    def met(self, piece: range, releases: int) -> Integers:
        """Return the types of a piece of visitors, from either world by the releases so far."""
        part = slice(piece.start, piece.stop)
        return np.where(self.mixing.of_other(piece, releases), self.other[part], self.types[part])


def drawn(data: Data, visitors: int, *, items: int, seed: int) -> World:
    """Draw a world with moving weights if tastes drift, and two worlds if they change."""
    if data in ("iid", "drift"):
        stream = "drifting" if data == "drift" else "iid"
        return World.drawn(visitors, items=items, seed=seed, stream=stream)
    first = World.drawn(visitors, items=items, seed=seed)
    second = World.drawn(visitors, items=items, seed=seed + APART)
    weights = np.concatenate([first.weights, second.weights]) / 2
    chances = np.concatenate([first.chances, second.chances])
    later_types = second.types + len(first.weights)
    return ChangingWorld(weights, chances, first.types, later_types, Mixing(data, visitors, seed))


def of_visitors(world: World, types: list[Integers]) -> World:
    """Return the world of the visitors who came, given their types, piece by piece."""
    return World(world.weights, world.chances, np.concatenate(types))


def played(learner: Learner, world: World, seed: int) -> tuple[float, World]:
    """Return the value of all slates of a learner, and the world of the visitors who came."""
    value = 0.0
    types = []
    for met in meetings(learner, world, seed=seed):
        value += float(met.worth.sum())
        types.append(met.types)
    return value, of_visitors(world, types)


def slates(
    *,
    feedback: Literal["full", "bandit", "clicks"],
    word: Stream,
    epsilon: float,
    delta: float,
    horizon: int,
    items: int,
    slots: int,
    data: Data,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Return the shares of `SetMaximizer` by mode."""
    problem = Display(horizon, Privacy(epsilon, delta), items, slots, feedback, word)
    world = drawn(data, horizon, items=items, seed=seed)
    modes = () if alone else MODES.get((feedback, word), ())
    return values(
        in_modes(problem, world, seed, modes), lambda learner: _share(learner, world, slots, seed)
    )


def quotas(
    *,
    word: Stream,
    epsilon: float,
    delta: float,
    horizon: int,
    items: int,
    slots: int,
    data: Data,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Return the shares of `ContinuousMaximizer` that plays sets, beside `SetMaximizer`."""
    privacy = Privacy(epsilon, delta)
    world = drawn(data, horizon, items=items, seed=seed)
    own = ("vertex", "disjoint-sets") if word == "iid" else ("vertex",)
    problem = Continuous(horizon, privacy, items, slots, word)
    learners = in_modes(problem, world, seed, () if alone else own)
    if not alone:
        learners["set_maximizer"] = Display(horizon, privacy, items, slots, stream=word).learner(
            seed=seed
        )
    return values(learners, lambda learner: _share(learner, world, slots, seed))


def _share(learner: Learner, world: World, slots: int, seed: int) -> float:
    value, came = played(learner, world, seed)
    return came.share(value, slots)
