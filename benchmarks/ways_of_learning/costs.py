"""Sets of least cost: the share of the best fixed set's saving over random sets.

The problem is that of discreet/simulate/problems/costs.py, with another baseline: random sets are
what a learner starts with. A world in which the best fixed set saves less than LEAST_GAIN per
visitor has nothing to learn: the share would be 0/0, and the world is left out.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Privacy
from discreet.learners.set_minimizer import SetMinimizer
from discreet.learners.streams import Stream
from discreet.simulate.problems import Costs
from discreet.simulate.problems.costs import BundleWorld, meetings
from discreet.simulate.problems.least_cut import least_cut
from ways_of_learning.mixing import APART, Data, Mixing
from ways_of_learning.modes import in_modes, values

LEAST_GAIN = 0.03
"""Per visitor, in units of the bound on costs."""
MODES = {"full": ("bound",), "bandit": ()}
"""The modes that read a feedback, besides what is taken by default."""


@dataclass(frozen=True)
class ChangingBundles(BundleWorld):
    """Visitors of two bundle worlds with the edges of both."""

    other: BundleWorld
    mixing: Mixing

    def met(self, piece: range, releases: int) -> Floats:
        """Return the rows of a piece of visitors, from either world by the releases so far."""
        of_other = self.mixing.of_other(piece, releases)
        if not of_other.any():
            return self.rows(piece.start, piece.stop)
        rows = self.other.rows(piece.start, piece.stop)
        if of_other.all():
            return rows
        return np.where(of_other[:, None], rows, self.rows(piece.start, piece.stop))


def drawn(data: Data, visitors: int, *, items: int, seed: int) -> BundleWorld:
    """Draw one world, or two if costs change, each with the edges of both (strength 0 if new)."""
    one = BundleWorld.drawn(visitors, items=items, seed=seed)
    if data == "iid":
        return one
    other = BundleWorld.drawn(visitors, items=items, seed=seed + APART)
    edges = np.unique(np.concatenate([one.edges, other.edges]), axis=0)
    one, other = _with_edges(one, edges), _with_edges(other, edges)
    mixing = Mixing(data, visitors, seed)
    return ChangingBundles(visitors, seed, edges, one.strength, one.liking, other, mixing)


def _with_edges(world: BundleWorld, edges: Integers) -> BundleWorld:
    """Return a world with more edges, which cost nothing."""
    strength = {
        (int(a), int(b)): value for (a, b), value in zip(world.edges, world.strength, strict=True)
    }
    strengths = [strength.get((int(a), int(b)), 0.0) for a, b in edges]
    return replace(world, edges=edges, strength=np.array(strengths))


@dataclass(frozen=True, eq=False)
class Hindsight:
    """Costs of fixed sets to the visitors that came; costs are linear in the sum of their rows."""

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
        """Return the share of the possible gain of a cost; None if it is below LEAST_GAIN."""
        gain = self.random - self.best
        return None if gain < LEAST_GAIN * self.visitors else (self.random - cost) / gain


def spent(learner: SetMinimizer, world: BundleWorld) -> tuple[float, Hindsight]:
    """Return the cost of all sets that a learner chose, and what fixed sets would have cost."""
    cost, visitors = 0.0, 0
    totals = np.zeros(len(world.edges) + world.items)
    for met in meetings(learner, world):
        cost += float(met.costs.sum())
        totals += met.rows.sum(axis=0)
        visitors += len(met.rows)
    return cost, Hindsight(world.edges, totals, visitors)


def costs(
    *,
    feedback: Literal["full", "bandit"],
    word: Stream,
    epsilon: float,
    delta: float,
    horizon: int,
    items: int,
    data: Data,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Return the shares of `SetMinimizer` by mode."""
    world = drawn(data, horizon, items=items, seed=seed)
    problem = Costs(horizon, Privacy(epsilon, delta), items, feedback, word)

    def share(learner: SetMinimizer) -> float | None:
        cost, hindsight = spent(learner, world)
        return hindsight.share(cost)

    return values(in_modes(problem, world, seed, () if alone else MODES[feedback]), share)
