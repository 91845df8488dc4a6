"""The product-display world: visitors of a few types, each with favourite items; and how much of the possible value is kept.

share = (value − random slates) / (greedy in hindsight − random slates)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.learners.set_maximizer import SetMaximizer
from discreet.release.arrays import Floats, Integers

__all__ = ["Run", "World", "run_display"]

CHUNK = 50_000


@dataclass(frozen=True)
class World:
    """Visitor types with weights and click probabilities, drawn once; and a stream of visitors."""

    weights: Floats
    chances: Floats
    types: Integers

    @classmethod
    def drawn(cls, visitors: int, *, items: int = 100, kinds: int = 20, favourites: int = 8, seed: int = 0, stream: str = "iid") -> "World":
        """Dirichlet(1) weights; a type clicks its favourites with Beta(4, 6) and everything else with Beta(1, 30) probability.

        `stream` is "iid", "drifting" (weights change slowly from one draw to another) or "switching" (they change four times).
        """
        generator = np.random.default_rng(seed)
        weights = generator.dirichlet(np.ones(kinds))
        chances = generator.beta(1, 30, size=(kinds, items))
        for kind in range(kinds):
            liked = generator.choice(items, size=min(favourites, items), replace=False)
            chances[kind, liked] = generator.beta(4, 6, size=len(liked))
        if stream == "iid":
            return cls(weights, chances, generator.choice(kinds, size=visitors, p=weights))
        others = generator.dirichlet(np.ones(kinds), size=4)
        progress = np.arange(visitors) / visitors
        if stream == "switching":
            mixed = others[np.minimum((progress * 4).astype(int), 3)]
        else:
            mixed = (1 - progress)[:, None] * weights + progress[:, None] * others[0]
        lots = generator.random(visitors)[:, None]
        return cls(weights, chances, np.minimum((mixed.cumsum(axis=1) < lots).sum(axis=1), kinds - 1))

    def rows(self, first: int, last: int) -> Floats:
        """The click probabilities of some visitors, one row each."""
        return np.asarray(self.chances[self.types[first:last]], dtype=np.float64)

    @property
    def counts(self) -> Floats:
        """How many visitors of each type there are."""
        return np.bincount(self.types, minlength=len(self.weights)).astype(np.float64)

    def worth(self, slate: Integers) -> float:
        """The expected clicks that a fixed slate would have had from all visitors."""
        return float(self.counts @ (1 - np.prod(1 - self.chances[:, slate], axis=1)))

    def best_slate(self, slots: int) -> Integers:
        """Greedy in hindsight."""
        slate: list[int] = []
        free = np.ones(len(self.weights))
        for _ in range(slots):
            gains = (self.counts * free) @ self.chances
            gains[slate] = -1.0
            slate.append(int(np.argmax(gains)))
            free = free * (1 - self.chances[:, slate[-1]])
        return np.array(slate)

    def random_worth(self, slots: int, draws: int = 1000) -> float:
        """What random slates are worth, on average."""
        generator = np.random.default_rng(1)
        items = self.chances.shape[1]
        return float(np.mean([self.worth(generator.choice(items, size=slots, replace=False)) for _ in range(draws)]))

    def regret(self, value: float, slots: int, *, factor: float = 1.0) -> float:
        """What a value falls short of greedy in hindsight, or of `factor` times it.

        Greedy is within 1 − 1/e of the best fixed set, so with `factor=1 − 1/e` this is at most the (1 − 1/e)-regret of the theory.
        """
        return factor * self.worth(self.best_slate(slots)) - value

    def share(self, value: float, slots: int) -> float:
        """How much of what greedy in hindsight gains over random slates a value keeps."""
        low, high = self.random_worth(slots), self.worth(self.best_slate(slots))
        return (value - low) / (high - low)


@dataclass(frozen=True)
class Run:
    """What a learner earned from a world: in all, and up to some visitors."""

    value: float
    visitors: Integers
    earned: Floats


def run_display(learner: SetMaximizer, world: World, *, seed: int = 0, report: Any = None, learn_until: int | None = None) -> Run:
    """Let a learner meet all visitors; burn-in counts. `report(visitors)` is called as they pass.

    After `learn_until` visitors, feedback is no longer handed in and the slate stays what it is.
    """
    feedback = learner.config.feedback
    generator = np.random.default_rng([seed, 7])
    position, value, visitors, earned = 0, 0.0, [0], [0.0]
    while position < len(world.types):
        if learn_until is not None and position >= learn_until:
            slate = learner.act()
            count = len(world.types) - position
            rest = World(world.weights, world.chances, world.types[position:])
            value += rest.worth(slate)
            return Run(value, np.array([*visitors, position + count]), np.array([*earned, value]))
        count = min(max(1, learner.rounds_until_release), CHUNK, len(world.types) - position)
        rows = world.rows(position, position + count)
        slates = learner.preview(count)
        shown = np.where(slates >= 0, np.take_along_axis(rows, np.maximum(slates, 0), axis=1), 0.0)
        worth = 1 - np.prod(1 - shown, axis=1)
        if feedback == "full":
            learner.observe_many(rows)
        elif feedback == "bandit":
            learner.observe_many((generator.random(count) < worth).astype(np.float64))
        else:
            hits = generator.random(shown.shape) < shown
            learner.observe_many(np.where(hits.any(axis=1), slates[np.arange(count), hits.argmax(axis=1)], -1))
        position += count
        value += float(worth.sum())
        visitors.append(position)
        earned.append(value)
        if report is not None:
            report(count)
    return Run(value, np.array(visitors), np.array(earned))
