"""Slates of items: the share of what greedy in hindsight gains over random slates, on the stream that came.

The worlds are those of discreet/simulate/display.py. Tastes that drift keep their types and move the weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Privacy
from discreet.domains import UniformMatroid
from discreet.learners.continuous_maximizer import ContinuousMaximizer
from discreet.learners.learner import Learner
from discreet.learners.set_maximizer import SetMaximizer
from discreet.simulate.display import World
from discreet.simulate.visits import pieces
from discreet.simulate.ways.mixing import APART, Data, Mixing
from discreet.simulate.ways.way import AUTO, Way, compared, modes

__all__ = ["CHUNK", "MODES", "Tastes", "played", "quotas", "slates"]

CHUNK = 20_000
"""How many visitors' rows are held at once."""
MODES = {("full", "iid"): ("fresh", "sum")}
"""The modes that read a feedback and keep what a stream's word promises, where there are several."""


@dataclass(frozen=True, eq=False)
class Tastes:
    """Click probabilities per type, and the type of every visitor in each of two worlds."""

    chances: Floats
    one: Integers
    other: Integers
    mixing: Mixing

    @classmethod
    def drawn(cls, data: Data, visitors: int, *, items: int, seed: int) -> "Tastes":
        """Two worlds of `World.drawn`; one world with moving weights if tastes drift."""
        if data in ("iid", "drift"):
            stream = "drifting" if data == "drift" else "iid"
            world = World.drawn(visitors, items=items, seed=seed, stream=stream)
            return cls(world.chances, world.types, world.types, Mixing("iid", visitors, seed))
        first = World.drawn(visitors, items=items, seed=seed)
        second = World.drawn(visitors, items=items, seed=seed + APART)
        chances = np.concatenate([first.chances, second.chances])
        later_types = second.types + len(first.weights)
        return cls(chances, first.types, later_types, Mixing(data, visitors, seed))

    def met(self, learner: Learner) -> Iterator[Integers]:
        """The types of the visitors that a learner meets next, in pieces that cross no release."""
        for piece in pieces(learner, len(self.one), CHUNK):
            part = slice(piece.start, piece.stop)
            other = self.mixing.of_other(piece, learner.releases)
            yield np.where(other, self.other[part], self.one[part])

    def world(self, types: Integers) -> World:
        """The world of a stream that came."""
        kinds = len(self.chances)
        return World(np.full(kinds, 1 / kinds), self.chances, types)


def played(
    learner: SetMaximizer | ContinuousMaximizer, tastes: Tastes, *, feedback: str, seed: int
) -> tuple[float, World]:
    """The value of all slates that a learner showed, and the world of the visitors that came."""
    luck = np.random.default_rng([seed, 7])
    value = 0.0
    came = []
    for types in tastes.met(learner):
        came.append(types)
        rows = tastes.chances[types]
        shown = learner.preview(len(types))
        liked = np.where(shown >= 0, np.take_along_axis(rows, np.maximum(shown, 0), axis=1), 0.0)
        worth = 1 - np.prod(1 - liked, axis=1)
        value += float(worth.sum())
        if feedback == "full":
            learner.observe_many(rows)
        elif feedback == "bandit":
            learner.observe_many((luck.random(len(types)) < worth).astype(np.float64))
        else:
            learner.observe_many(_first_clicks(shown, luck.random(liked.shape) < liked))
    return value, tastes.world(np.concatenate(came))


def _first_clicks(shown: Integers, hits: np.ndarray) -> Integers:
    """The first item of each slate that was clicked, −1 for none."""
    first = shown[np.arange(len(shown)), hits.argmax(axis=1)]
    return np.where(hits.any(axis=1), first, -1)


def slates(
    *,
    feedback: str,
    word: str,
    epsilon: float,
    delta: float,
    horizon: int,
    items: int,
    slots: int,
    data: Data,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Shares of `SetMaximizer` by mode."""
    tastes = Tastes.drawn(data, horizon, items=items, seed=seed)
    settings: dict[str, Any] = {"feedback": feedback, "stream": word, "seed": seed}

    def make(way: Way) -> SetMaximizer:
        return way.learner(SetMaximizer, items, slots, horizon, Privacy(epsilon, delta), **settings)

    def share(learner: SetMaximizer) -> float:
        value, world = played(learner, tastes, feedback=feedback, seed=seed)
        return world.share(value, slots)

    return compared(make, share, () if alone else modes(*MODES.get((feedback, word), ())))


def quotas(
    *,
    word: str,
    epsilon: float,
    delta: float,
    horizon: int,
    items: int,
    slots: int,
    data: Data,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Shares of `ContinuousMaximizer` that plays sets, beside `SetMaximizer`."""
    tastes = Tastes.drawn(data, horizon, items=items, seed=seed)
    privacy = Privacy(epsilon, delta)
    settings: dict[str, Any] = {"stream": word, "seed": seed}

    def make(way: Way) -> SetMaximizer | ContinuousMaximizer:
        if way.name == "set_maximizer":
            return AUTO.learner(SetMaximizer, items, slots, horizon, privacy, **settings)
        return way.learner(ContinuousMaximizer, UniformMatroid(items, slots), horizon, privacy, **settings)

    def share(learner: SetMaximizer | ContinuousMaximizer) -> float:
        value, world = played(learner, tastes, feedback="full", seed=seed)
        return world.share(value, slots)

    own = ("vertex", "fresh") if word == "iid" else ("vertex",)
    return compared(make, share, () if alone else (*modes(*own), Way("set_maximizer")))
