"""Slates of items, shown to one visitor after another: visitors of a few types, each with favourite
items.

    share = (value − random slates) / (greedy in hindsight − random slates)

The value is the expected number of clicks. 0 is what random slates have, 1 is the best fixed slate,
which is found greedily in hindsight.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers, Mask
from discreet.learners.base import Learner
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.streams import Stream
from discreet.progress import Report
from discreet.simulate.problems.problem import Problem, made, pieces

FAVOURITES = "visitors of twenty types, each with favourite items"
SLATES = "what the best fixed slate (greedy in hindsight) gains over random ones"
CHUNK = 50_000
"""How many visitors are served at once."""
NUMBERS = 2**22
"""How many numbers of visitors' rows are held at once: 32 MB."""


@dataclass(frozen=True)
class World:
    """Visitor types with weights and click probabilities, drawn once; and a stream of visitors."""

    weights: Floats
    chances: Floats
    types: Integers

    @classmethod
    def drawn(
        cls,
        visitors: int,
        *,
        items: int = 100,
        kinds: int = 20,
        favourites: int = 8,
        seed: int = 0,
        stream: str = "iid",
    ) -> "World":
        """Dirichlet(1) weights; types click favourites with Beta(4, 6) and the rest with Beta(1,
        30) chances.

        `stream` is "iid", "drifting" (weights change slowly from one draw to another) or
        "switching" (they change four times).
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
        types = np.minimum((mixed.cumsum(axis=1) < lots).sum(axis=1), kinds - 1)
        return cls(weights, chances, types)

    @classmethod
    def shop(cls, visitors: int, *, items: int = 46, kinds: int = 10, seed: int = 0) -> "World":
        """Click rates like those of a real shop: 0.45 % an item, 1.3 % a random slate of three.

        Chances in proportion to a lognormal(0, 0.35) of the item and one of type and item.
        """
        generator = np.random.default_rng(seed)
        weights = generator.dirichlet(np.ones(kinds))
        chances = generator.lognormal(0, 0.35, items) * generator.lognormal(0, 0.35, (kinds, items))
        chances = np.minimum(chances * 0.0045 / float((weights @ chances).mean()), 1.0)
        return cls(weights, chances, generator.choice(kinds, size=visitors, p=weights))

    @classmethod
    def exchanged(cls, visitors: int, *, seed: int = 0) -> "World":
        """One world, and from the middle on another, 5000 seeds away."""
        one, two = (cls.drawn(visitors // 2, seed=seed + more) for more in (0, 5000))
        types = np.concatenate([one.types, two.types + len(one.weights)])
        weights = np.concatenate([one.weights, two.weights]) / 2
        return cls(weights, np.concatenate([one.chances, two.chances]), types)

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.chances.shape[1])

    def rows(self, first: int, last: int) -> Floats:
        """Return the click probabilities of some visitors, one row each."""
        return np.asarray(self.chances[self.types[first:last]], dtype=np.float64)

    def with_click_rate(self, rate: float) -> "World":
        """Return these visitors with chances scaled so that an item's mean chance to be clicked
        is `rate`.
        """
        chances = self.chances
        for _ in range(20):  # chances end at 1, so some scaling is lost and made up for
            mean = float((self.weights @ chances).mean())
            chances = np.minimum(chances * (rate / mean), 1.0)
        return replace(self, chances=chances)

    def met(self, piece: range, releases: int) -> Integers:
        """The types of some visitors, whatever the learner that they meet has released."""
        return self.types[piece.start : piece.stop]

    @cached_property
    def counts(self) -> Floats:
        """How many visitors of each type there are."""
        return np.bincount(self.types, minlength=len(self.weights)).astype(np.float64)

    def worth(self, slate: Integers) -> float:
        """Return the expected clicks that a fixed slate would have had from all visitors."""
        return float(self.counts @ (1 - np.prod(1 - self.chances[:, slate], axis=1)))

    def best_slate(self, slots: int) -> Integers:
        """Return the best fixed slate, found greedily in hindsight."""
        slate: list[int] = []
        free = np.ones(len(self.weights))
        for _ in range(slots):
            gains = (self.counts * free) @ self.chances
            gains[slate] = -1.0
            slate.append(int(np.argmax(gains)))
            free = free * (1 - self.chances[:, slate[-1]])
        return np.array(slate)

    def random_worth(self, slots: int, draws: int = 1000) -> float:
        """Return what random slates are worth, on average."""
        generator = np.random.default_rng(1)
        items = self.chances.shape[1]
        slates = (generator.choice(items, size=slots, replace=False) for _ in range(draws))
        return float(np.mean([self.worth(slate) for slate in slates]))

    def regret(self, value: float, slots: int, *, factor: float = 1.0) -> float:
        """Return what a value falls short of greedy in hindsight, or of `factor` times it.

        Greedy is within 1 − 1/e of the best fixed set, so with `factor=1 − 1/e` this is at most the
        (1 − 1/e)-regret of the theory.
        """
        return factor * self.worth(self.best_slate(slots)) - value

    def share(self, value: float, slots: int) -> float:
        """Return how much of what greedy in hindsight gains over random slates a value keeps."""
        low = self.random_worth(slots)
        high = self.worth(self.best_slate(slots))
        return (value - low) / (high - low)


@dataclass(frozen=True)
class Run:
    """What was earned from a world: in all, and up to some visitors."""

    value: float
    visitors: Integers
    earned: Floats
    guarantee: str = ""
    """What a published algorithm promises."""


class Met(NamedTuple):
    """Some visitors that a learner met: their types, and what their slates are worth to them."""

    types: Integers
    worth: Floats


def meetings(
    learner: Learner, world: World, *, seed: int = 0, until: int | None = None
) -> Iterator[Met]:
    """Let a learner meet all visitors, or those `until` a number, in pieces that cross no
    release.
    """
    luck = np.random.default_rng([seed, 7])
    feedback = getattr(learner.settings, "feedback", "full")
    at_once = CHUNK if feedback != "full" else min(CHUNK, max(1, NUMBERS // world.items))
    for piece in pieces(learner, len(world.types) if until is None else until, at_once):
        types = world.met(piece, learner.releases)
        tickets = learner.open_many(len(piece))
        slates = tickets.numbers
        liked = np.where(slates >= 0, world.chances[types[:, None], np.maximum(slates, 0)], 0.0)
        worth = 1 - np.prod(1 - liked, axis=1)
        if feedback == "full":
            learner.close_many(tickets, world.chances[types])
        elif feedback == "bandit":
            learner.close_many(tickets, (luck.random(len(piece)) < worth).astype(np.float64))
        else:
            learner.close_many(tickets, first_clicks(slates, luck.random(liked.shape) < liked))
        yield Met(types, worth)


def run_display(
    learner: Learner,
    world: World,
    *,
    seed: int = 0,
    report: Report | None = None,
    learn_until: int | None = None,
) -> Run:
    """Let a learner meet all visitors; burn-in counts. `report(visitors)` is called as they pass.

    After `learn_until` visitors, feedback is no longer handed in and the slate stays what it is.
    """
    everyone = len(world.types)
    learning = everyone if learn_until is None else min(learn_until, everyone)
    value = 0.0
    visitors = [0]
    earned = [0.0]
    for met in meetings(learner, world, seed=seed, until=learning):
        value += float(met.worth.sum())
        visitors.append(visitors[-1] + len(met.worth))
        earned.append(value)
        if report is not None:
            report(len(met.worth))
    if learning < everyone:
        rest = World(world.weights, world.chances, world.types[learning:])
        value += rest.worth(learner.preview(1)[0])
        visitors.append(everyone)
        earned.append(value)
    return Run(value, np.array(visitors), np.array(earned))


def first_clicks(slates: Integers, hits: Mask) -> Integers:
    """Return the first item of each slate that was clicked, −1 for none."""
    first = slates[np.arange(len(slates)), hits.argmax(axis=1)]
    return np.where(hits.any(axis=1), first, -1)


@dataclass(frozen=True)
class Display(Problem[World, SetMaximizer]):
    """The best `slots` of the items, shown to one visitor after another. The outcome is the
    value.
    """

    items: int
    slots: int
    feedback: Literal["full", "bandit", "clicks"] = "full"
    stream: Stream = "drifting"
    click_rate: float | None = None
    """The mean chance that a visitor clicks an item; None as in the demo, about 6 % of 100
    items.
    """

    value = SLATES
    world = FAVOURITES

    def __post_init__(self) -> None:
        if self.click_rate is not None:
            require.number("click-rate", self.click_rate, 1e-6, 0.5)

    def people(self, seed: int) -> World:
        world = World.drawn(self.rounds, items=self.items, seed=seed)
        return world if self.click_rate is None else world.with_click_rate(self.click_rate)

    def learner(
        self, people: World | None = None, seed: int | None = None, *, mode: str = "auto"
    ) -> SetMaximizer:
        return made(
            SetMaximizer,
            mode,
            self.items,
            self.slots,
            self.rounds,
            self.privacy,
            feedback=self.feedback,
            stream=self.stream,
            seed=seed,
        )

    def outcome(self, learner: Learner, people: World, seed: int = 0) -> float:
        return run_display(learner, people, seed=seed).value

    def share_of(self, outcome: float, people: World) -> float:
        return people.share(outcome, self.slots)
