"""Sets of least cost: visitors with complementary items that should not be separated.

A visitor knows a few items. Complementary items cost if only one of them is in the bundle (a cut);
each item has a cost or value of its own (a modular term). All costs lie in [−1, 1].

    share = (naive − cost) / (naive − cost of the best set in hindsight)

A share of 0 is the naive cost, the least cost of nothing, everything and random sets; 1 is the best
fixed set.
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
"""Number of visitors that are drawn at once."""


@dataclass(frozen=True)
class BundleWorld:
    """Items in groups, with edges between complements, and visitors drawn in chunks on demand."""

    visitors: int
    seed: int
    edges: Integers
    strength: Floats
    liking: Floats

    @classmethod
    def drawn(cls, visitors: int, *, items: int = 50, seed: int = 0) -> "BundleWorld":
        """Draw groups of about five items; every other group is liked.

        All pairs within a group are complements, and a few pairs across groups.
        """
        if visitors < 1 or items < 1:
            raise ConfigError(f"visitors and items must be at least 1, got {visitors} and {items}")
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
        """Number of items."""
        return len(self.liking)

    @property
    def function(self) -> MinusModular:
        """The set function of a visitor's row."""
        return MinusModular(GraphCut(tuple((int(a), int(b)) for a, b in self.edges)))

    def rows(self, first: int, last: int) -> Floats:
        """Return rows of visitors: their weights of all edges, then their values of all items."""
        parts = [self._chunk(number) for number in range(first // CHUNK, -(-last // CHUNK))]
        start = first // CHUNK * CHUNK
        joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return joined[first - start : last - start]

    def met(self, piece: range, releases: int) -> Floats:
        """Return the rows of a piece of visitors; they do not depend on the learner's releases."""
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
        cuts = 0.8 * self.strength * generator.random((CHUNK, len(self.edges))) * of_both
        values = (self.liking + generator.normal(0, 0.7, (CHUNK, self.items))) * aware
        largest_cost = cuts.sum(axis=1) + np.maximum(-values, 0).sum(axis=1)
        largest_value = np.maximum(values, 0).sum(axis=1)
        scale = np.maximum(np.maximum(largest_cost, largest_value), 1e-9)
        return np.asarray(np.concatenate([cuts, values], axis=1) / scale[:, None], dtype=np.float64)

    def costs(self, rows: Floats, chosen: np.ndarray) -> Floats:
        """Return the cost of sets to visitors: one 0/1 row per visitor, or one point for all."""
        cuts = rows[:, : len(self.edges)]
        values = rows[:, len(self.edges) :]
        apart = np.abs(chosen[..., self.edges[:, 0]] - chosen[..., self.edges[:, 1]])
        cost = (cuts * apart).sum(axis=1) - (values * chosen).sum(axis=1)
        return np.asarray(cost, dtype=np.float64)

    @cached_property
    def totals(self) -> Floats:
        """Sum of all visitors' rows; costs are linear in rows, so hindsight needs only this."""
        starts = range(0, self.visitors, CHUNK)
        parts = (
            self.rows(first, min(first + CHUNK, self.visitors)).sum(axis=0) for first in starts
        )
        return sum(parts, np.zeros(1))

    def cost_of(self, chosen: Integers) -> float:
        """Return the cost of a fixed set to all visitors."""
        inside = np.isin(np.arange(self.items), chosen).astype(np.float64)
        return float(self.costs(self.totals[None], inside)[0])

    @cached_property
    def best(self) -> Integers:
        """The best fixed set in hindsight."""
        cuts = self.totals[: len(self.edges)]
        values = self.totals[len(self.edges) :]
        return least_cut(self.edges, cuts, -values)

    @cached_property
    def naive(self) -> float:
        """Least cost of nothing, everything and random sets."""
        cuts = self.totals[: len(self.edges)]
        values = self.totals[len(self.edges) :]
        random = 0.5 * float(cuts.sum()) - 0.5 * float(values.sum())
        return min(0.0, self.cost_of(np.arange(self.items)), random)

    def share(self, cost: float) -> float:
        """Return the share of the best set's gain over naive sets; 0 if there is no gain."""
        gain = self.naive - self.cost_of(self.best)
        return (self.naive - cost) / gain if gain > 0 else 0.0


class CostWorld(Protocol):
    """A world of visitors with costs, as `meetings` needs it."""

    @property
    def visitors(self) -> int:
        """Number of visitors."""

    @property
    def items(self) -> int:
        """Number of items."""

    def met(self, piece: range, releases: int) -> np.ndarray:
        """Return a piece of visitors, one row each, given the learner's number of releases."""

    def costs(self, rows: np.ndarray, chosen: np.ndarray) -> Floats:
        """Return the costs of sets, one per row, to these visitors."""


class Met(NamedTuple):
    """Visitors that a learner met: their rows, and the costs of their sets."""

    rows: np.ndarray
    costs: Floats


def meetings(learner: SetMinimizer, world: CostWorld) -> Iterator[Met]:
    """Let a learner meet all visitors, in pieces that cross no release.

    The feedback is that of the learner's settings.
    """
    for piece in pieces(learner, world.visitors, CHUNK):
        rows = world.met(piece, learner.releases)
        tickets = learner.open_many(len(piece))
        chosen = np.zeros((len(piece), world.items + 1))
        np.put_along_axis(chosen, tickets.numbers, 1.0, axis=1)  # −1 marks the dropped column
        costs = world.costs(rows, chosen[:, :-1])
        learner.close_many(tickets, rows if learner.settings.feedback == "full" else costs)
        yield Met(rows, costs)


def run_bundle(learner: SetMinimizer, world: CostWorld) -> float:
    """Let a learner meet all visitors; return the cost of its sets, burn-in included."""
    spent = 0.0
    for met in meetings(learner, world):
        spent += float(met.costs.sum())
    return spent


@dataclass(frozen=True)
class Costs(Problem[BundleWorld, SetMinimizer]):
    """The problem of the set of least cost; the outcome is the cost of all sets."""

    items: int
    feedback: Literal["full", "bandit"] = "full"
    stream: Stream = "drifting"

    value = "what the best fixed set saves over nothing, everything and random sets"
    world = "items in groups that visitors do not want separated"

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
