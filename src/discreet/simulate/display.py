"""The product-display world: visitors of a few types, each with favourite items.

share = (value − random slates) / (greedy in hindsight − random slates)        of the value that was possible
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.learners.learner import Learner
from discreet.progress import Report
from discreet.simulate.visits import pieces

__all__ = ["Log", "Run", "World", "run_display"]

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
        """Dirichlet(1) weights; types click favourites with Beta(4, 6) and the rest with Beta(1, 30) chances.

        `stream` is "iid", "drifting" (weights change slowly from one draw to another) or "switching" (they
        change four times).
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

    def rows(self, first: int, last: int) -> Floats:
        """The click probabilities of some visitors, one row each."""
        return np.asarray(self.chances[self.types[first:last]], dtype=np.float64)

    def chances_of(self, first: int, last: int, slates: Integers) -> Floats:
        """The probabilities with which some visitors click each item of their slates; 0 for −1, no item."""
        shown = self.chances[self.types[first:last, None], np.maximum(slates, 0)]
        return np.where(slates >= 0, shown, 0.0)

    @cached_property
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
        slates = (generator.choice(items, size=slots, replace=False) for _ in range(draws))
        return float(np.mean([self.worth(slate) for slate in slates]))

    def regret(self, value: float, slots: int, *, factor: float = 1.0) -> float:
        """What a value falls short of greedy in hindsight, or of `factor` times it.

        Greedy is within 1 − 1/e of the best fixed set, so with `factor=1 − 1/e` this is at most the
        (1 − 1/e)-regret of the theory.
        """
        return factor * self.worth(self.best_slate(slots)) - value

    def share(self, value: float, slots: int) -> float:
        """How much of what greedy in hindsight gains over random slates a value keeps."""
        low = self.random_worth(slots)
        high = self.worth(self.best_slate(slots))
        return (value - low) / (high - low)


@dataclass(frozen=True)
class Log:
    """What another policy showed to other visitors of a world: slates, first clicks (−1: none), and chances.

    `chances` has the chance of each shown item to stand at its place; None if slates were uniform.
    """

    slates: Integers
    clicks: Integers
    chances: Floats | None

    @classmethod
    def drawn(
        cls, world: World, rows: int, slots: int, *, favourites: Integers | None = None, seed: int = 0
    ) -> "Log":
        """Uniform slates; or, with favourites, every second time one of these slates, equally likely."""
        generator = np.random.default_rng([seed, 11])
        items = world.chances.shape[1]
        slates = np.argsort(generator.random((rows, items)), axis=1)[:, :slots]
        chances = None
        if favourites is not None:
            liked = favourites[generator.integers(len(favourites), size=rows)]
            slates = np.where(generator.random(rows)[:, None] < 0.5, liked, slates)
            often = np.array([np.bincount(place, minlength=items) for place in favourites.T]) / len(
                favourites
            )
            chances = 0.5 / items + 0.5 * often[np.arange(slots), slates]
        types = generator.choice(len(world.weights), size=rows, p=world.weights)
        likes = world.chances[types[:, None], slates]
        clicks = _first_clicks(slates, generator.random(likes.shape) < likes)
        return cls(slates, clicks, chances)

    def rows(self, feedback: str) -> list[tuple[list[int], Any]]:
        """As `SetMaximizer.warm_start` takes them."""
        answers = self.clicks.tolist()
        if feedback == "clicks":
            answers = [None if click < 0 else click for click in answers]
        else:
            answers = [float(click >= 0) for click in answers]
        return list(zip(self.slates.tolist(), answers, strict=True))


@dataclass(frozen=True)
class Run:
    """What was earned from a world: in all, and up to some visitors."""

    value: float
    visitors: Integers
    earned: Floats
    guarantee: str = ""
    """What a published algorithm promises."""


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
    generator = np.random.default_rng([seed, 7])
    everyone = len(world.types)
    learning = everyone if learn_until is None else min(learn_until, everyone)
    value = 0.0
    visitors = [0]
    earned = [0.0]
    feedback = getattr(learner.settings, "feedback", "full")
    at_once = CHUNK if feedback != "full" else min(CHUNK, max(1, NUMBERS // world.chances.shape[1]))
    for piece in pieces(learner, learning, at_once):
        tickets = learner.open_many(len(piece))
        slates = tickets.numbers
        shown = world.chances_of(piece.start, piece.stop, slates)
        worth = 1 - np.prod(1 - shown, axis=1)
        if feedback == "full":
            learner.close_many(tickets, world.rows(piece.start, piece.stop))
        elif feedback == "bandit":
            learner.close_many(tickets, (generator.random(len(piece)) < worth).astype(np.float64))
        else:
            learner.close_many(tickets, _first_clicks(slates, generator.random(shown.shape) < shown))
        value += float(worth.sum())
        visitors.append(piece.stop)
        earned.append(value)
        if report is not None:
            report(len(piece))
    if learning < everyone:
        rest = World(world.weights, world.chances, world.types[learning:])
        value += rest.worth(learner.preview(1)[0])
        visitors.append(everyone)
        earned.append(value)
    return Run(value, np.array(visitors), np.array(earned))


def _first_clicks(slates: Integers, hits: np.ndarray) -> Integers:
    """The first item of each slate that was clicked, −1 for none."""
    first = slates[np.arange(len(slates)), hits.argmax(axis=1)]
    return np.where(hits.any(axis=1), first, -1)
