"""Slates of items for visitors of a few types, each type with favourite items.

    share = (value − random slates) / (greedy in hindsight − random slates)

The value is the expected number of clicks. A share of 0 is the value of random slates, 1 that of
the best fixed slate, found greedily in hindsight.
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
"""Largest number of visitors that are served at once."""
NUMBERS = 2**22
"""Largest number of floats of visitors' rows that are held at once: 32 MB."""


@dataclass(frozen=True)
class World:
    """A stream of visitors of a few types, with the types' weights and click probabilities."""

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
        """Draw types and visitors.

        Weights of types are Dirichlet(1). A type's click probabilities are Beta(4, 6) for its
        favourites and Beta(1, 30) for other items. `stream` is "iid", "drifting" (weights move
        slowly from one draw to another) or "switching" (weights change four times).
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
        """Draw visitors with the click rates of a real shop: 0.45 % per item.

        A random slate of three has a click rate of 1.3 %. Click probabilities are proportional to a
        lognormal(0, 0.35) of the item and one of type and item.
        """
        generator = np.random.default_rng(seed)
        weights = generator.dirichlet(np.ones(kinds))
        chances = generator.lognormal(0, 0.35, items) * generator.lognormal(0, 0.35, (kinds, items))
        chances = np.minimum(chances * 0.0045 / float((weights @ chances).mean()), 1.0)
        return cls(weights, chances, generator.choice(kinds, size=visitors, p=weights))

    @classmethod
    def exchanged(cls, visitors: int, *, seed: int = 0) -> "World":
        """Draw one world for the first half of the visitors and another for the second half."""
        one, two = (cls.drawn(visitors // 2, seed=seed + more) for more in (0, 5000))
        types = np.concatenate([one.types, two.types + len(one.weights)])
        weights = np.concatenate([one.weights, two.weights]) / 2
        return cls(weights, np.concatenate([one.chances, two.chances]), types)

    @property
    def items(self) -> int:
        """Number of items."""
        return int(self.chances.shape[1])

    def rows(self, first: int, last: int) -> Floats:
        """Return the click probabilities of visitors `first` to `last` − 1, one row each."""
        return np.asarray(self.chances[self.types[first:last]], dtype=np.float64)

    def with_click_rate(self, rate: float) -> "World":
        """Return these visitors with click probabilities scaled to a mean of `rate` per item."""
        chances = self.chances
        for _ in range(20):  # probabilities are capped at 1, so scaling is repeated
            mean = float((self.weights @ chances).mean())
            chances = np.minimum(chances * (rate / mean), 1.0)
        return replace(self, chances=chances)

    def met(self, piece: range, releases: int) -> Integers:
        """Return the types of a piece of visitors; they do not depend on the learner's releases."""
        return self.types[piece.start : piece.stop]

    @cached_property
    def counts(self) -> Floats:
        """Number of visitors of each type."""
        return np.bincount(self.types, minlength=len(self.weights)).astype(np.float64)

    def worth(self, slate: Integers) -> float:
        """Return the expected clicks of all visitors on a fixed slate."""
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
        """Return the mean value of random slates."""
        generator = np.random.default_rng(1)
        items = self.chances.shape[1]
        slates = (generator.choice(items, size=slots, replace=False) for _ in range(draws))
        return float(np.mean([self.worth(slate) for slate in slates]))

    def regret(self, value: float, slots: int, *, factor: float = 1.0) -> float:
        """Return the regret of a value against greedy in hindsight, or `factor` times it.

        Greedy is within 1 − 1/e of the best fixed set, so with `factor=1 − 1/e` this is at most the
        (1 − 1/e)-regret of the theory.
        """
        return factor * self.worth(self.best_slate(slots)) - value

    def share(self, value: float, slots: int) -> float:
        """Return a value's share of the gain of greedy in hindsight over random slates."""
        low = self.random_worth(slots)
        high = self.worth(self.best_slate(slots))
        return (value - low) / (high - low)


@dataclass(frozen=True)
class Run:
    """Value of a run, in all and over time: `earned` after each number of `visitors`."""

    value: float
    visitors: Integers
    earned: Floats
    guarantee: str = ""
    """Privacy of a published algorithm's run."""


class Met(NamedTuple):
    """Visitors that a learner met: their types, and the values of their slates."""

    types: Integers
    worth: Floats


def meetings(
    learner: Learner, world: World, *, seed: int = 0, until: int | None = None
) -> Iterator[Met]:
    """Let a learner meet the visitors (up to number `until`), in pieces that cross no release."""
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
    """Let a learner meet all visitors and return the value over time, burn-in included.

    Parameters
    ----------
    seed
        Seed of the visitors' random clicks.
    report
        Called with the number of visitors of each piece when the piece is done.
    learn_until
        Number of visitors after which feedback ends and the slate stays the same.
    """
    total = len(world.types)
    learning = total if learn_until is None else min(learn_until, total)
    value = 0.0
    visitors = [0]
    earned = [0.0]
    for met in meetings(learner, world, seed=seed, until=learning):
        value += float(met.worth.sum())
        visitors.append(visitors[-1] + len(met.worth))
        earned.append(value)
        if report is not None:
            report(len(met.worth))
    if learning < total:
        rest = World(world.weights, world.chances, world.types[learning:])
        value += rest.worth(learner.preview(1)[0])
        visitors.append(total)
        earned.append(value)
    return Run(value, np.array(visitors), np.array(earned))


def first_clicks(slates: Integers, hits: Mask) -> Integers:
    """Return the first clicked item of each slate, −1 for none."""
    first = slates[np.arange(len(slates)), hits.argmax(axis=1)]
    return np.where(hits.any(axis=1), first, -1)


@dataclass(frozen=True)
class Display(Problem[World, SetMaximizer]):
    """The problem of the best `slots` items for a stream of visitors; its outcome is the value."""

    items: int
    slots: int
    feedback: Literal["full", "bandit", "clicks"] = "full"
    stream: Stream = "drifting"
    click_rate: float | None = None
    """Mean click probability of an item; None: as in the demo, about 6 % for 100 items."""

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
