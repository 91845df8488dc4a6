"""Sets of least cost: the share of what the best fixed set saves over random sets, on the stream that came.

Random sets are what a learner starts with. A world in which the best fixed set saves less than LEAST_GAIN per
visitor has nothing to learn: the share would be 0/0, and the world is left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Privacy
from discreet.learners.learner import Learner
from discreet.learners.set_minimizer import SetMinimizer
from discreet.simulate.bundle import CHUNK, BundleWorld
from discreet.simulate.minimum import least_cut
from discreet.simulate.visits import pieces
from discreet.simulate.ways.mixing import APART, Data, Mixing
from discreet.simulate.ways.way import Way, compared, modes

__all__ = ["LEAST_GAIN", "Bundles", "Hindsight", "costs", "spent"]

LEAST_GAIN = 0.03
"""Per visitor, in units of the bound on costs."""
MODES = {"full": ("bound",), "bandit": ()}
"""The modes that read a feedback, besides what is taken by default."""


@dataclass(frozen=True, eq=False)
class Bundles:
    """Visitors of two bundle worlds with the edges of both."""

    one: BundleWorld
    other: BundleWorld
    mixing: Mixing

    @classmethod
    def drawn(cls, data: Data, visitors: int, *, items: int, seed: int) -> "Bundles":
        """Two worlds of `BundleWorld.drawn`; an edge that is not a world's own has strength 0 there."""
        one = BundleWorld.drawn(visitors, items=items, seed=seed)
        mixing = Mixing(data, visitors, seed)
        if data == "iid":
            return cls(one, one, mixing)
        other = BundleWorld.drawn(visitors, items=items, seed=seed + APART)
        edges = np.unique(np.concatenate([one.edges, other.edges]), axis=0)
        return cls(_with_edges(one, edges), _with_edges(other, edges), mixing)

    def met(self, learner: Learner) -> Iterator[Floats]:
        """The rows of the visitors that a learner meets next, in pieces that cross no release."""
        for piece in pieces(learner, self.one.visitors, CHUNK):
            other = self.mixing.of_other(piece, learner.releases)
            if not other.any():
                yield self.one.rows(piece.start, piece.stop)
                continue
            rows = self.other.rows(piece.start, piece.stop)
            if not other.all():
                rows = np.where(other[:, None], rows, self.one.rows(piece.start, piece.stop))
            yield rows


def _with_edges(world: BundleWorld, edges: Integers) -> BundleWorld:
    """The same world with more edges, which cost nothing."""
    strength = {(int(a), int(b)): value for (a, b), value in zip(world.edges, world.strength, strict=True)}
    strengths = [strength.get((int(a), int(b)), 0.0) for a, b in edges]
    return replace(world, edges=edges, strength=np.array(strengths))


@dataclass(frozen=True, eq=False)
class Hindsight:
    """What fixed sets would have cost the visitors that came: costs are linear in the sum of their rows."""

    edges: Integers
    totals: Floats
    visitors: int

    def cost(self, inside: Floats) -> float:
        """The cost of a set, given as 0 and 1 per item."""
        torn, brings = self.totals[: len(self.edges)], self.totals[len(self.edges) :]
        apart = np.abs(inside[self.edges[:, 0]] - inside[self.edges[:, 1]])
        return float(torn @ apart - brings @ inside)

    @property
    def random(self) -> float:
        """The expected cost of random sets."""
        torn, brings = self.totals[: len(self.edges)], self.totals[len(self.edges) :]
        return 0.5 * float(torn.sum() - brings.sum())

    @property
    def best(self) -> float:
        """The cost of the best fixed set."""
        torn, brings = self.totals[: len(self.edges)], self.totals[len(self.edges) :]
        chosen = least_cut(self.edges, torn, -brings)
        return self.cost(np.isin(np.arange(len(brings)), chosen).astype(np.float64))

    def share(self, cost: float) -> float | None:
        """The share of the possible gain that a cost keeps; None if there is less than LEAST_GAIN."""
        gain = self.random - self.best
        return None if gain < LEAST_GAIN * self.visitors else (self.random - cost) / gain


def spent(learner: SetMinimizer, bundles: Bundles) -> tuple[float, Hindsight]:
    """The cost of all sets that a learner chose, and what fixed sets would have cost."""
    world = bundles.one
    cost, visitors = 0.0, 0
    totals = np.zeros(len(world.edges) + world.items)
    for rows in bundles.met(learner):
        chosen = np.zeros((len(rows), world.items + 1))
        np.put_along_axis(chosen, learner.preview(len(rows)), 1.0, axis=1)  # −1 is the column left out
        each = world.costs(rows, chosen[:, :-1])
        cost += float(each.sum())
        totals += rows.sum(axis=0)
        visitors += len(rows)
        learner.observe_many(rows if learner.settings.feedback == "full" else each)
    return cost, Hindsight(world.edges, totals, visitors)


def costs(
    *,
    feedback: str,
    word: str,
    epsilon: float,
    delta: float,
    horizon: int,
    items: int,
    data: Data,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Shares of `SetMinimizer` by mode."""
    bundles = Bundles.drawn(data, horizon, items=items, seed=seed)
    function = bundles.one.function if feedback == "full" else None
    settings: dict[str, Any] = {"feedback": feedback, "stream": word, "function": function, "seed": seed}

    def make(way: Way) -> SetMinimizer:
        return way.learner(SetMinimizer, items, horizon, Privacy(epsilon, delta), **settings)

    def share(learner: SetMinimizer) -> float | None:
        cost, hindsight = spent(learner, bundles)
        return hindsight.share(cost)

    return compared(make, share, () if alone else modes(*MODES[feedback]))
