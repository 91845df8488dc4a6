"""A set that is chosen once, from people's records: homes in a city, or a log of liked films.

    share = value of the chosen set / value of the greedy set without noise

A share of 0, the baseline, is the empty set; 1 is the greedy set without noise, which stands for
the best set.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from discreet.arrays import Floats
from discreet.functions import ClickModel, Nearby
from discreet.learners.set_selector import SetSelector
from discreet.optim.constraints import Constraint, Priced
from discreet.optim.knapsack import Knapsack
from discreet.optim.matroids import PartitionMatroid, UniformMatroid
from discreet.simulate.problems.problem import Problem, made

BOX = ((0.0, 1.0), (0.0, 1.0))
CHUNK = 512
"""Number of people that are drawn or served at once."""


@dataclass(frozen=True, eq=False)
class City:
    """Homes around eight centres, one in ten anywhere; sites on a grid of 20 × 15.

    >>> homes = City.drawn(1000, seed=3).homes
    >>> homes.shape, bool((homes >= 0).all() and (homes <= 1).all())
    ((1000, 2), True)
    """

    homes: Floats

    @classmethod
    def drawn(cls, people: int, *, seed: int = 0) -> "City":
        """Draw homes around centres within the box, each with its own spread and weight."""
        generator = np.random.default_rng([seed, 8])
        centres = generator.uniform(0.1, 0.9, size=(8, 2))
        spreads = generator.uniform(0.02, 0.1, size=8)
        weights = generator.dirichlet(np.full(8, 2.0))
        which = generator.choice(8, size=people, p=weights)
        homes = centres[which] + generator.normal(size=(people, 2)) * spreads[which, None]
        anywhere = generator.random(people) < 0.1
        homes[anywhere] = generator.uniform(size=(int(anywhere.sum()), 2))
        return cls(np.clip(homes, 0.0, 1.0))

    @property
    def records(self) -> Floats:
        """The records that a selector reads: the homes."""
        return self.homes

    @cached_property
    def function(self) -> Nearby:
        """Value of a site to a home: 1 at distance 0, and 0 from distance 0.15 on."""
        return Nearby(self.sites, 0.15, BOX)

    @property
    def sites(self) -> tuple[tuple[float, float], ...]:
        """Centres of the cells of a 20 × 15 grid."""
        return tuple(((x + 0.5) / 20, (y + 0.5) / 15) for x in range(20) for y in range(15))

    def domain(self, kind: str) -> UniformMatroid | PartitionMatroid | Knapsack:
        """Return ten sites, ten in four strips with quotas 3, 3, 2, 2, or a budget of 1."""
        if kind == "uniform":
            return UniformMatroid(300, 10)
        if kind == "partition":
            return PartitionMatroid(tuple(min(3, int(x * 4)) for x, _ in self.sites), (3, 3, 2, 2))
        costs = np.random.default_rng(5).uniform(0.05, 0.2, size=300)
        return Knapsack(tuple(costs.tolist()), 1.0)

    @property
    def worths(self) -> Floats:
        """Value of each site to each home, one row per home."""
        return self.function.worths(self.function.admit(self.homes, 300)[0])


@dataclass(frozen=True, eq=False)
class FilmLog:
    """Titles (300 by default) that each person liked: a few each, by popularity and taste."""

    liked: np.ndarray

    @classmethod
    def drawn(
        cls, people: int, *, items: int = 300, seed: int = 0, kind: type[np.generic] = np.float64
    ) -> "FilmLog":
        """Draw people who differ in activity and taste; titles are the same for every seed.

        `kind` is the type of the numbers: np.uint8 takes an eighth of the memory.
        """
        titles = np.random.default_rng(7)
        popularity = np.sort(titles.lognormal(0, 0.8, size=items))[::-1]
        vectors = titles.normal(size=(items, 4))
        generator = np.random.default_rng(seed)
        activity = generator.lognormal(0, 0.9, size=people)
        tastes = generator.normal(size=(people, 4))
        typical = 0.18 * popularity / popularity.mean()
        liked = np.empty((people, items), dtype=kind)
        for first in range(0, people, CHUNK):  # in chunks, whose intermediates stay in the cache
            some = slice(first, first + CHUNK)
            keenness = np.exp(0.5 * tastes[some] @ vectors.T - 0.5)
            rates = typical * activity[some, None] * keenness
            chances = (1 - np.exp(-rates)) * 0.15
            liked[some] = generator.random(chances.shape) < chances
        return cls(liked)

    @property
    def records(self) -> np.ndarray:
        """The records that a selector reads: one row of likes per person."""
        return self.liked

    @property
    def worths(self) -> np.ndarray:
        """Value of each title to each person: 1 if they liked it."""
        return self.liked

    @property
    def function(self) -> ClickModel:
        """The set function of a row: a person is served by any title that they liked."""
        return ClickModel()


Records = City | FilmLog


def value_to(worths: Floats, chosen: list[int]) -> float:
    """Return the value of a set to all people, each of whom uses the best item."""
    return float(worths[:, chosen].max(axis=1).sum()) if chosen else 0.0


def greedy_without_noise(worths: Floats, domain: Constraint) -> list[int]:
    """Return the greedy set (by density under a knapsack), the reference of private choices."""
    prices = domain.factors("density") if isinstance(domain, Priced) else np.ones(worths.shape[1])
    reached = np.zeros(len(worths))
    chosen: list[int] = []
    while len(chosen) < domain.rank and (left := domain.extensions(chosen)).any():
        gains = np.zeros(worths.shape[1])
        unserved = np.flatnonzero(reached < 1.0)  # no item has a value above 1
        for first in range(0, len(unserved), CHUNK):
            some = unserved[first : first + CHUNK]
            gains += np.maximum(worths[some] - reached[some, None], 0.0).sum(axis=0)
        gains *= prices
        chosen.append(int(np.argmax(np.where(left, gains, -np.inf))))
        reached = np.maximum(reached, worths[:, chosen[-1]])
    return chosen


def share_of_greedy(value: float, worths: Floats, domain: Constraint) -> float:
    """Return a value over that of the greedy set without noise; 0 if all values are 0."""
    best = value_to(worths, greedy_without_noise(worths, domain))
    return value / best if best > 0 else 0.0


@dataclass(frozen=True)
class Selection(Problem[Records, SetSelector]):
    """The problem of a set of `slots` items, chosen once; its outcome is the total value."""

    items: int
    slots: int
    source: Literal["films", "city"] = "films"
    """Source of the records; a city has 300 sites."""

    who = "people"
    value = "how many people the greedy set without noise serves"
    world = "people who liked a few items each"

    @property
    def domain(self) -> UniformMatroid:
        """The sets that may be chosen."""
        return UniformMatroid(self.items, self.slots)

    def people(self, seed: int) -> Records:
        if self.source == "city":
            return City.drawn(self.rounds, seed=seed)
        return FilmLog.drawn(self.rounds, items=self.items, seed=seed, kind=np.uint8)

    def learner(
        self, people: Records | None = None, seed: int | None = None, *, mode: str = "auto"
    ) -> SetSelector:
        function = ClickModel() if people is None else people.function
        return made(SetSelector, mode, self.domain, self.privacy, function=function, seed=seed)

    def outcome(self, learner: SetSelector, people: Records, seed: int = 0) -> float:
        return value_to(people.worths, learner.fit(people.records).numbers)

    def share_of(self, outcome: float, people: Records) -> float:
        return share_of_greedy(outcome, people.worths, self.domain)
