"""The bundle world: visitors with complements that they do not want torn apart; and how much of the possible gain is kept.

A visitor knows a few items. Items that belong together cost if only one of them is in the bundle (a cut); each item by itself
costs or brings something (a modular term). All costs lie in [−1, 1].
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrivals import GraphCut, MinusModular
from discreet.errors import ConfigError
from discreet.lab.minimum import least_cut
from discreet.learners.set_minimizer import SetMinimizer
from discreet.release.arrays import Floats, Integers

__all__ = ["BundleRun", "BundleWorld", "run_bundle"]

CHUNK = 10_000


@dataclass(frozen=True)
class BundleWorld:
    """Items in groups, with edges between complements; and visitors, made up in chunks as they are asked for."""

    visitors: int
    seed: int
    edges: Integers
    strength: Floats
    liking: Floats

    @classmethod
    def drawn(cls, visitors: int, *, items: int = 50, seed: int = 0) -> "BundleWorld":
        """Groups of about five items, all pairs within a group and a few across; every other group is liked on average."""
        if visitors < 1 or items < 1:
            raise ConfigError(f"visitors must be at least 1 and items too, got {visitors} and {items}")
        generator = np.random.default_rng(seed)
        groups = max(4, items // 5)
        group = generator.integers(groups, size=items)
        first, second = np.triu_indices(items, 1)
        together = group[first] == group[second]
        across = generator.choice(np.flatnonzero(~together), size=min(items, int(np.count_nonzero(~together))), replace=False)
        chosen = np.sort(np.concatenate([np.flatnonzero(together), across]))
        strength = np.where(together[chosen], generator.uniform(0.3, 1.0, len(chosen)), generator.uniform(0.0, 0.3, len(chosen)))
        liking = np.where(group % 2, 0.6, -0.6) * generator.uniform(0.5, 1.5, groups)[group] + generator.normal(0, 0.6, items)
        return cls(visitors, seed, np.stack([first, second], axis=1)[chosen], strength, liking - liking.mean() - 0.1)

    @property
    def items(self) -> int:
        return len(self.liking)

    @property
    def function(self) -> MinusModular:
        return MinusModular(GraphCut(tuple((int(a), int(b)) for a, b in self.edges)))

    def rows(self, first: int, last: int) -> Floats:
        """Some visitors' weights of all edges, then what each item brings them."""
        parts = [self._chunk(number) for number in range(first // CHUNK, -(-last // CHUNK))]
        start = first // CHUNK * CHUNK
        return (parts[0] if len(parts) == 1 else np.concatenate(parts))[first - start : last - start]

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
        torn = 0.8 * self.strength * generator.random((CHUNK, len(self.edges))) * (aware[:, self.edges[:, 0]] & aware[:, self.edges[:, 1]])
        brings = (self.liking + generator.normal(0, 0.7, (CHUNK, self.items))) * aware
        costliest = torn.sum(axis=1) + np.maximum(-brings, 0).sum(axis=1)
        scale = np.maximum(np.maximum(costliest, np.maximum(brings, 0).sum(axis=1)), 1e-9)
        return np.asarray(np.concatenate([torn, brings], axis=1) / scale[:, None], dtype=np.float64)

    def costs(self, rows: Floats, chosen: np.ndarray) -> Floats:
        """What sets, one a row as yes or no (or one point of the cube for all), cost these visitors."""
        torn, brings = rows[:, : len(self.edges)], rows[:, len(self.edges) :]
        apart = np.abs(chosen[..., self.edges[:, 0]] - chosen[..., self.edges[:, 1]])
        return np.asarray((torn * apart).sum(axis=1) - (brings * chosen).sum(axis=1), dtype=np.float64)

    @cached_property
    def totals(self) -> Floats:
        """The sum of all visitors' rows: costs are linear in rows, so this is all that hindsight needs."""
        return sum(
            (self.rows(first, min(first + CHUNK, self.visitors)).sum(axis=0) for first in range(0, self.visitors, CHUNK)), np.zeros(1)
        )

    def cost_of(self, chosen: Integers) -> float:
        """What a fixed set would have cost all visitors."""
        return float(self.costs(self.totals[None], np.isin(np.arange(self.items), chosen).astype(np.float64))[0])

    @cached_property
    def best(self) -> Integers:
        """The best fixed set in hindsight."""
        return least_cut(self.edges, self.totals[: len(self.edges)], -self.totals[len(self.edges) :])

    @cached_property
    def naive(self) -> float:
        """The least of what nothing, everything and random sets cost."""
        half = 0.5 * self.totals[: len(self.edges)].sum() - 0.5 * self.totals[len(self.edges) :].sum()
        return min(0.0, self.cost_of(np.arange(self.items)), float(half))


@dataclass(frozen=True)
class BundleRun:
    """What a learner's sets cost: in all, and up to some visitors."""

    cost: float
    visitors: Integers
    spent: Floats


def run_bundle(learner: SetMinimizer, world: BundleWorld, *, report: Any = None) -> BundleRun:
    """Let a learner meet all visitors, in full or by the cost of its own sets; burn-in counts."""
    position, visitors, spent = 0, [0], [0.0]
    while position < world.visitors:
        count = min(max(1, learner.rounds_until_release), CHUNK, world.visitors - position)
        rows = world.rows(position, position + count)
        sets = learner.preview(count)
        chosen = np.zeros((count, world.items + 1))
        np.put_along_axis(chosen, sets, 1.0, axis=1)  # −1 marks the column that is left out
        costs = world.costs(rows, chosen[:, :-1])
        learner.observe_many(rows if learner.config.feedback == "full" else costs)
        position += count
        visitors.append(position)
        spent.append(spent[-1] + float(costs.sum()))
        if report is not None:
            report(count)
    return BundleRun(spent[-1], np.array(visitors), np.array(spent))
