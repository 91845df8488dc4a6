"""Sets of least cost: visitors with complements that they do not want torn apart.

A visitor knows a few items. Items that belong together cost if only one of them is in the bundle (a
cut); each item by itself costs or brings something (a modular term). All costs lie in [−1, 1].

    share = (naive − cost) / (naive − cost of the best set in hindsight)

0 is the naive cost, the least of what nothing, everything and random sets cost; 1 is the best fixed set.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.functions import GraphCut, MinusModular
from discreet.learners.set_minimizer import SetMinimizer
from discreet.learners.streams import Stream
from discreet.simulate.problems.least_cut import least_cut
from discreet.simulate.problems.problem import Problem, made, pieces

CHUNK = 10_000
"""How many visitors are made up at once."""


@dataclass(frozen=True)
class BundleWorld:
    """Items in groups, with edges between complements; and visitors, made up in chunks when
    asked for.
    """

    visitors: int
    seed: int
    edges: Integers
    strength: Floats
    liking: Floats

    @classmethod
    def drawn(cls, visitors: int, *, items: int = 50, seed: int = 0) -> "BundleWorld":
        """Draw groups of about five items: all pairs within and a few across; every other group
        is liked.
        """
        if visitors < 1 or items < 1:
            raise ConfigError(
                f"visitors must be at least 1 and items too, got {visitors} and {items}"
            )
        generator = np.random.default_rng(seed)
        groups = max(4, items // 5)
        group = generator.integers(groups, size=items)
        first, second = np.triu_indices(items, 1)
        together = group[first] == group[second]
        apart = np.flatnonzero(~together)
        across = generator.choice(apart, size=min(items, len(apart)), replace=False)
        chosen = np.sort(np.concatenate([np.flatnonzero(together), across]))
        strong = generator.uniform(0.3, 1.0, len(chosen))
        weak = generator.uniform(0.0, 0.3, len(chosen))
        strength = np.where(together[chosen], strong, weak)
        liking = np.where(group % 2, 0.6, -0.6) * generator.uniform(0.5, 1.5, groups)[group]
        liking = liking + generator.normal(0, 0.6, items)
        edges = np.stack([first, second], axis=1)[chosen]
        return cls(visitors, seed, edges, strength, liking - liking.mean() - 0.1)

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self.liking)

    @property
    def function(self) -> MinusModular:
        """What a visitor's row means."""
        return MinusModular(GraphCut(tuple((int(a), int(b)) for a, b in self.edges)))

    def rows(self, first: int, last: int) -> Floats:
        """Return some visitors' weights of all edges, then what each item brings them."""
        parts = [self._chunk(number) for number in range(first // CHUNK, -(-last // CHUNK))]
        start = first // CHUNK * CHUNK
        joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return joined[first - start : last - start]

    def met(self, piece: range, releases: int) -> Floats:
        """The rows of some visitors, whatever the learner that they meet has released."""
        return self.rows(piece.start, piece.stop)

    @cached_property
    def _newest(self) -> dict[int, Floats]:
        return {}

    def _chunk(self, number: int) -> Floats:
        newest = self._newest
        if number not in newest:
            newest.clear()
            newest[number] = self._make_chunk(number)
        return newest[number]

    def _make_chunk(self, number: int) -> Floats:
        generator = np.random.default_rng([self.seed, number])
        aware = generator.random((CHUNK, self.items)) < min(1.0, 10 / self.items)
        of_both = aware[:, self.edges[:, 0]] & aware[:, self.edges[:, 1]]
        torn = 0.8 * self.strength * generator.random((CHUNK, len(self.edges))) * of_both
        brings = (self.liking + generator.normal(0, 0.7, (CHUNK, self.items))) * aware
        costliest = torn.sum(axis=1) + np.maximum(-brings, 0).sum(axis=1)
        dearest = np.maximum(brings, 0).sum(axis=1)
        scale = np.maximum(np.maximum(costliest, dearest), 1e-9)
        return np.asarray(np.concatenate([torn, brings], axis=1) / scale[:, None], dtype=np.float64)

    def costs(self, rows: Floats, chosen: np.ndarray) -> Floats:
        """Return what sets cost these visitors: one row of 0 and 1 per visitor, or one point of
        the cube.
        """
        torn, brings = rows[:, : len(self.edges)], rows[:, len(self.edges) :]
        apart = np.abs(chosen[..., self.edges[:, 0]] - chosen[..., self.edges[:, 1]])
        return np.asarray(
            (torn * apart).sum(axis=1) - (brings * chosen).sum(axis=1), dtype=np.float64
        )

    @cached_property
    def totals(self) -> Floats:
        """The sum of all visitors' rows: costs are linear in rows, so this is all that hindsight
        needs.
        """
        starts = range(0, self.visitors, CHUNK)
        parts = (
            self.rows(first, min(first + CHUNK, self.visitors)).sum(axis=0) for first in starts
        )
        return sum(parts, np.zeros(1))

    def cost_of(self, chosen: Integers) -> float:
        """Return what a fixed set would have cost all visitors."""
        inside = np.isin(np.arange(self.items), chosen).astype(np.float64)
        return float(self.costs(self.totals[None], inside)[0])

    @cached_property
    def best(self) -> Integers:
        """The best fixed set in hindsight."""
        torn, brings = self.totals[: len(self.edges)], self.totals[len(self.edges) :]
        return least_cut(self.edges, torn, -brings)

    @cached_property
    def naive(self) -> float:
        """The least of what nothing, everything and random sets cost."""
        torn, brings = self.totals[: len(self.edges)], self.totals[len(self.edges) :]
        random = 0.5 * float(torn.sum()) - 0.5 * float(brings.sum())
        return min(0.0, self.cost_of(np.arange(self.items)), random)

    def share(self, cost: float) -> float:
        """Return the share of the best set's gain over naive sets that a cost keeps; 0 without a
        gain.
        """
        gain = self.naive - self.cost_of(self.best)
        return (self.naive - cost) / gain if gain > 0 else 0.0


class CostWorld(Protocol):
    """Visitors whose costs can be asked for."""

    @property
    def visitors(self) -> int:
        """How many there are."""

    @property
    def items(self) -> int:
        """How many items there are."""

    def met(self, piece: range, releases: int) -> np.ndarray:
        """Some visitors, one row each, given the number of releases of the learner that they
        meet.
        """

    def costs(self, rows: np.ndarray, chosen: np.ndarray) -> Floats:
        """What sets, one per row, cost them."""


class Met(NamedTuple):
    """Some visitors that a learner met: their rows, and what their sets cost them."""

    rows: np.ndarray
    costs: Floats


def meetings(learner: SetMinimizer, world: CostWorld) -> Iterator[Met]:
    """Let a learner meet all visitors, in pieces that cross no release; feedback is as its
    settings say.
    """
    for piece in pieces(learner, world.visitors, CHUNK):
        rows = world.met(piece, learner.releases)
        tickets = learner.open_many(len(piece))
        chosen = np.zeros((len(piece), world.items + 1))
        np.put_along_axis(
            chosen, tickets.numbers, 1.0, axis=1
        )  # −1 marks the column that is left out
        costs = world.costs(rows, chosen[:, :-1])
        learner.close_many(tickets, rows if learner.settings.feedback == "full" else costs)
        yield Met(rows, costs)


def run_bundle(learner: SetMinimizer, world: CostWorld) -> float:
    """Let a learner meet all visitors; return what its sets cost them, burn-in included."""
    spent = 0.0
    for met in meetings(learner, world):
        spent += float(met.costs.sum())
    return spent


@dataclass(frozen=True)
class Costs(Problem[BundleWorld, SetMinimizer]):
    """The set of items of least cost. The outcome is the cost of all sets."""

    items: int
    feedback: Literal["full", "bandit"] = "full"
    stream: Stream = "drifting"

    value = "what the best fixed set saves over nothing, everything and random sets"
    world = "items in groups that visitors do not want torn apart"

    def people(self, seed: int) -> BundleWorld:
        return BundleWorld.drawn(self.rounds, items=self.items, seed=seed)

    def learner(
        self, people: BundleWorld | None = None, seed: int | None = None, *, mode: str = "auto"
    ) -> SetMinimizer:
        return made(
            SetMinimizer,
            mode,
            self.items,
            self.rounds,
            self.privacy,
            feedback=self.feedback,
            stream=self.stream,
            function=None if people is None or self.feedback == "bandit" else people.function,
            seed=seed,
        )

    def outcome(self, learner: SetMinimizer, people: CostWorld, seed: int = 0) -> float:
        return run_bundle(learner, people)

    def share_of(self, outcome: float, people: BundleWorld) -> float:
        return people.share(outcome)
