"""What a budget buys for sets that follow a fractional point, decided again and again.

The worlds are those of a display: visitors of twenty types with favourite items.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.arrivals.continuous import Multilinear
from discreet.budget.privacy import Privacy
from discreet.decide.matroids import UniformMatroid
from discreet.lab.display import CHUNK, World
from discreet.lab.planning import Case
from discreet.lab.visits import pieces
from discreet.learners.continuous_maximizer import ContinuousMaximizer

__all__ = ["ContinuousCase"]


@dataclass(frozen=True)
class ContinuousCase(Case):
    """Up to `slots` of so many items, by a point of the uniform matroid's polytope."""

    items: int
    slots: int
    rounds: int
    privacy: Privacy
    stream: Literal["drifting", "iid"] = "drifting"

    world = "visitors of twenty types, each with favourite items"

    def learner(self, seed: int | None = None) -> ContinuousMaximizer:
        """The learner that would be used."""
        return ContinuousMaximizer(
            UniformMatroid(self.items, self.slots),
            self.rounds,
            self.privacy,
            function=Multilinear(),
            stream=self.stream,
            seed=seed,
        )

    def facts(self) -> dict[str, Any]:
        learner = self.learner()
        return learner.facts | {"epsilon": learner.guarantee.total.epsilon(self.privacy)}

    def share(self, seed: int) -> float:
        learner, world = self.learner(seed), World.drawn(self.rounds, items=self.items, seed=seed)
        value = 0.0
        for piece in pieces(learner, self.rounds, CHUNK):
            rows = world.rows(piece.start, piece.stop)
            sets = learner.preview(len(piece))
            shown = np.where(sets >= 0, np.take_along_axis(rows, np.maximum(sets, 0), axis=1), 0.0)
            value += float((1 - np.prod(1 - shown, axis=1)).sum())
            learner.observe_many(rows)
        return world.share(value, self.slots)

    @property
    def seconds_a_person(self) -> float:
        return 6e-6 + 1.8e-7 * self.items
