"""Points of a matroid's polytope, played as sets, for visitors with fixed or moving tastes.

    share = (value − random slates) / (greedy in hindsight − random slates)

as in problems/display.py: 0 is the value of random slates, 1 that of the best fixed slate. Where
tastes move (`Moving`), the share is

    share = value / value of non-private meta-Frank–Wolfe with the same visitors

and 0 is nothing at all.

References  Chen, Hassani, Karbasi (2018), "Online Continuous Submodular Maximization"
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from discreet.arrays import Floats
from discreet.functions.continuous import Multilinear
from discreet.learners.continuous_maximizer import ContinuousMaximizer
from discreet.learners.streams import Stream
from discreet.optim.matroids import UniformMatroid
from discreet.simulate.problems.display import FAVOURITES, SLATES, World, run_display
from discreet.simulate.problems.problem import Problem, made

COPIES, BLOCKS = 20, 200


@dataclass(frozen=True, eq=False)
class Tastes(World):
    """Visitors with stationary ("iid"), moving ("drift") or alternating ("switch") tastes.

    Every visitor is a type of their own.
    """

    tastes: str
    seed: int

    @classmethod
    def moving(
        cls, visitors: int, *, items: int = 100, tastes: str = "iid", seed: int = 0
    ) -> "Tastes":
        """Draw items and visitors as vectors; the mean of the visitors moves."""
        world = np.random.default_rng(1000 + seed)
        vectors = world.normal(size=(items, 5))
        appeal = world.normal(size=items) * 0.8
        shift = world.normal(size=5) * 1.2
        people = np.random.default_rng(seed).normal(size=(visitors, 5))
        time = np.arange(visitors)
        if tastes == "drift":
            people += np.sin(2 * np.pi * time / visitors)[:, None] * shift
        elif tastes == "switch":
            people += np.where((time // max(visitors // 20, 1)) % 2, 1, -1)[:, None] * shift
        chances = 0.8 / (1 + np.exp(-(people @ vectors.T * 0.7 + appeal - 3)))
        return cls(np.full(visitors, 1 / visitors), chances, time, tastes, seed)

    def without_noise(self, slots: int) -> float:
        """Return the value of non-private meta-Frank–Wolfe with these visitors (cached)."""
        return _without_noise(len(self.types), self.items, slots, self.tastes, self.seed)


@cache
def _without_noise(visitors: int, items: int, slots: int, tastes: str, seed: int) -> float:
    return meta_frank_wolfe(
        Tastes.moving(visitors, items=items, tastes=tastes, seed=seed).chances, slots
    )


def click_value(rows: Floats, point: Floats) -> float:
    """Return the visitors' expected clicks on items shown with the probabilities of `point`."""
    return float((1 - np.prod(1 - rows * point, axis=1)).sum())


def meta_frank_wolfe(rows: Floats, slots: int) -> float:
    """Return the value of K = 20 copies of follow-the-leader without noise, updated 200 times.

    Copies start at random sets of `slots` items. `rows` are click probabilities, one row per
    visitor.
    """
    visitors, items = rows.shape
    function = Multilinear()
    domain = UniformMatroid(items, slots)
    ends = np.unique(np.round(visitors * (np.arange(1, BLOCKS + 1) / BLOCKS) ** 1.5).astype(int))
    totals = np.zeros((COPIES, items))
    corners = np.full((COPIES, items), slots / items)
    earned = 0.0
    first = 0
    for end in ends[ends > 0].tolist():
        part = rows[first:end]
        earned += click_value(part, corners.mean(axis=0))
        along = np.vstack([np.zeros(items), np.cumsum(corners, axis=0)[:-1] / COPIES])
        for copy in range(COPIES):
            totals[copy] += function.gradients(part, along[copy]).sum(axis=0)
        corners = np.array([domain.vertex(total) for total in totals])
        first = end
    return earned


@dataclass(frozen=True)
class Continuous(Problem[World, ContinuousMaximizer]):
    """The problem of sets of up to `slots` items, by points of a polytope; its outcome is value."""

    items: int
    slots: int
    stream: Stream = "drifting"

    value = SLATES
    world = FAVOURITES

    @property
    def domain(self) -> UniformMatroid:
        """The sets that may be shown."""
        return UniformMatroid(self.items, self.slots)

    def people(self, seed: int) -> World:
        return World.drawn(self.rounds, items=self.items, seed=seed)

    def learner(
        self, people: World | None = None, seed: int | None = None, *, mode: str = "auto"
    ) -> ContinuousMaximizer:
        return made(
            ContinuousMaximizer,
            mode,
            self.domain,
            self.rounds,
            self.privacy,
            stream=self.stream,
            seed=seed,
        )

    def outcome(self, learner: ContinuousMaximizer, people: World, seed: int = 0) -> float:
        return run_display(learner, people, seed=seed).value

    def share_of(self, outcome: float, people: World) -> float:
        return people.share(outcome, self.slots)


@dataclass(frozen=True)
class Moving(Problem[Tastes, ContinuousMaximizer]):
    """The sets of `Continuous` for visitors of `Tastes`; shares are of meta-Frank–Wolfe's value."""

    items: int
    slots: int
    stream: Stream = "drifting"
    tastes: str = "iid"

    value = "what non-private meta-Frank–Wolfe earns"
    world = "visitors whose tastes are vectors"

    @property
    def sets(self) -> Continuous:
        """The problem without its visitors."""
        return Continuous(self.rounds, self.privacy, self.items, self.slots, self.stream)

    def people(self, seed: int) -> Tastes:
        return Tastes.moving(self.rounds, items=self.items, tastes=self.tastes, seed=seed)

    def learner(
        self, people: Tastes | None = None, seed: int | None = None, *, mode: str = "auto"
    ) -> ContinuousMaximizer:
        return self.sets.learner(people, seed, mode=mode)

    def outcome(self, learner: ContinuousMaximizer, people: Tastes, seed: int = 0) -> float:
        return self.sets.outcome(learner, people, seed)

    def share_of(self, outcome: float, people: Tastes) -> float:
        return outcome / people.without_noise(self.slots)
