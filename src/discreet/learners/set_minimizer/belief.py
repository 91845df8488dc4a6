"""What is believed about the cost of sets: items, pairs of them, and something of each set's own.

In ±1 coding z of a set,

    cost(S) = c + Σ_i a_i·z_i + Σ_{i<j} b_ij·z_i·z_j + own(S)

with Gaussian priors of a, b and own, whose sizes are learned from released means (by evidence, with floors).
It is a Gaussian process: the covariance of two sets' costs follows from z·z' alone, so nothing of the size of
all pairs is solved for. `own` corrects sets that were tried where costs are not quadratic.

Runtime     O(sets³ + sets · n²) a release, with at most 400 sets; memory O(sets · n + n²)
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.turn.plan import State

__all__ = ["PairBelief", "Sizes", "Weights", "least_sets"]

MOST_SETS = 400
"""Of those that were tried, the ones that say most are kept."""
FACTOR = 1.6
"""By which sizes are changed while they are learned."""
PRIOR_STRENGTH = 4.0
FLOORS = np.array([0.5, 0.01, 0.01, 0.045, 0.04, 0.005])
FIRST = np.array([0.5, 0.3, 0.2, 0.18, 0.083, 0.01])
LARGEST = 2.0
FIRST_VARIANCE, LEAST_VARIANCE, MOST_VARIANCE = 0.1, 0.01, 1.0
"""Of one visitor's cost, in units of the bound."""


class Sizes(NamedTuple):
    """Standard deviations of the parts of a cost, in units of the bound."""

    level: float
    common_item: float
    """What all items share."""
    common_pair: float
    item: float
    pair: float
    own: float


class Weights(NamedTuple):
    """Quadratic costs: what each item and each pair weighs, one a row."""

    linear: Floats
    pairs: Floats


@dataclass(frozen=True, eq=False)
class PairBelief:
    """Tried sets with their mean costs and precisions, and the sizes that they speak for."""

    sets: Mask
    means: Floats
    precisions: Floats
    sizes: Floats
    variance: float

    @classmethod
    def before(cls, items: int) -> "PairBelief":
        """Before anything was tried."""
        nothing = np.zeros(0)
        sets = np.zeros((0, items), dtype=np.bool_)
        return cls(sets, nothing, nothing, FIRST.copy(), FIRST_VARIANCE)

    def state(self) -> State:
        """As entries of a flat dictionary."""
        names = ("sets", "means", "precisions", "sizes", "variance")
        return {f"belief.{name}": getattr(self, name) for name in names}

    @classmethod
    def of_state(cls, public: State) -> "PairBelief":
        """The inverse of `state`."""
        begin = "belief."
        return cls(**{name[len(begin) :]: value for name, value in public.items() if name.startswith(begin)})

    @property
    def items(self) -> int:
        return int(self.sets.shape[1])

    # --- what was tried -----------------------------------------------------------------------------------

    def with_trials(self, sets: Mask, counts: Floats, sums: Floats, noise: float) -> "PairBelief":
        """So many more rounds of each of these sets, their noisy costs, and the variance of the noise."""
        seen = counts >= 1
        sets, counts = sets[seen], counts[seen]
        fresh = sums[seen] / counts
        variances = self.variance / counts + noise / counts**2
        joined, place = np.unique(np.concatenate([self.sets, sets]), axis=0, return_inverse=True)
        place = place.reshape(-1)
        old, new = place[: len(self.sets)], place[len(self.sets) :]
        precisions, weighted = np.zeros(len(joined)), np.zeros(len(joined))
        precisions[old] = self.precisions
        weighted[old] = self.precisions * self.means
        known = precisions[new] > 0
        before = weighted[new][known] / precisions[new][known]
        expected = variances[known] + 1 / precisions[new][known]
        # A surprise counts for at most ten: a change of tastes must not pass for noise.
        surprise = np.minimum((fresh[known] - before) ** 2 / expected, 10.0)
        variance = self.variance * (16 + surprise.sum()) / (16 + len(surprise))
        precisions[new] += 1 / variances
        weighted[new] += fresh / variances
        kept = np.sort(np.argsort(-precisions, kind="stable")[:MOST_SETS])
        return replace(
            self,
            sets=joined[kept],
            means=weighted[kept] / precisions[kept],
            precisions=precisions[kept],
            variance=float(np.clip(variance, LEAST_VARIANCE, MOST_VARIANCE)),
        )

    def faded(self, factor: float) -> "PairBelief":
        """Everything tried so far counts for less."""
        return replace(self, precisions=np.maximum(self.precisions * factor, 1e-9))

    # --- sizes --------------------------------------------------------------------------------------------

    def with_sizes(self, sweeps: int) -> "PairBelief":
        """The sizes for which what was released is most likely, found by changing one at a time."""
        best, sizes = self._evidence(self.sizes), self.sizes.copy()
        for place in list(range(1, len(sizes))) * sweeps:
            for factor in (FACTOR, 1 / FACTOR):
                while FLOORS[place] <= sizes[place] * factor <= LARGEST:
                    changed = sizes.copy()
                    changed[place] *= factor
                    found = self._evidence(changed)
                    if found <= best + 1e-6:
                        break
                    best, sizes = found, changed
        return replace(self, sizes=sizes)

    def _evidence(self, sizes: Floats) -> float:
        """The log-likelihood of the released means, and of these sizes."""
        root = np.linalg.cholesky(self._noisy(sizes))
        from scipy.linalg import solve_triangular

        solved = solve_triangular(root, self.means, lower=True)
        prior = float((np.log(sizes / FIRST) ** 2).sum()) * PRIOR_STRENGTH / 2
        return -0.5 * float(solved @ solved) - float(np.log(root.diagonal()).sum()) - prior

    def _noisy(self, sizes: Floats) -> Floats:
        found = self._covariances(sizes)
        found[np.diag_indices(len(found))] += 1 / self.precisions + sizes[-1] ** 2
        return found

    def _covariances(self, sizes: Floats) -> Floats:
        """Between all tried sets."""
        parts = Sizes(*(sizes**2).tolist())
        crossed, totals, pair_totals = self._products
        found = parts.level + parts.common_item / self.items * np.outer(totals, totals)
        found += parts.common_pair / self._pairs * np.outer(pair_totals, pair_totals)
        found += parts.item / self.items * crossed
        return np.asarray(found + parts.pair / self._pairs * (crossed**2 - self.items) / 2)

    @cached_property
    def _products(self) -> tuple[Floats, Floats, Floats]:
        signs = self._signs
        totals = signs.sum(axis=1)
        return signs @ signs.T, totals, (totals**2 - self.items) / 2

    @property
    def _pairs(self) -> int:
        return max(1, self.items * (self.items - 1) // 2)

    @cached_property
    def _signs(self) -> Floats:
        return np.where(self.sets, 1.0, -1.0)

    # --- questions ----------------------------------------------------------------------------------------

    def covariances(self, here: Mask, there: Mask) -> Floats:
        """Of the costs of these sets with those, without what is each set's own."""
        parts = Sizes(*(self.sizes**2).tolist())
        one, two = np.where(here, 1.0, -1.0), np.where(there, 1.0, -1.0)
        crossed, totals, others = one @ two.T, one.sum(axis=1), two.sum(axis=1)
        found = parts.level + parts.common_item / self.items * np.outer(totals, others)
        in_pairs = np.outer((totals**2 - self.items) / 2, (others**2 - self.items) / 2)
        found += parts.common_pair / self._pairs * in_pairs + parts.item / self.items * crossed
        return np.asarray(found + parts.pair / self._pairs * (crossed**2 - self.items) / 2)

    @cached_property
    def _root(self) -> Floats:
        return np.asarray(np.linalg.cholesky(self._noisy(self.sizes)))

    def _solve(self, right: Floats) -> Floats:
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve((self._root, True), right))

    @cached_property
    def _explained(self) -> Floats:
        return self._solve(self.means)

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {row.tobytes(): place for place, row in enumerate(self.sets)}

    def costs(self, sets: Mask) -> tuple[Floats, Floats]:
        """What sets are believed to cost, and the variance of what is their own."""
        found = self.covariances(sets, self.sets) @ self._explained
        own, variance = self.sizes[-1] ** 2, np.full(len(sets), self.sizes[-1] ** 2)
        rows = np.ascontiguousarray(sets)
        places = np.array([self._places.get(row.tobytes(), -1) for row in rows], dtype=np.int64)
        known = places >= 0
        found[known] += own * self._explained[places[known]]
        variance[known] = own / (1 + own * self.precisions[places[known]])
        return found, variance

    def variances_of_differences(self, sets: Mask, anchor: Mask) -> Floats:
        """How uncertain it is by how much sets cost more than the anchor, without what is their own."""
        from scipy.linalg import solve_triangular

        across = self.covariances(sets, self.sets) - self.covariances(anchor[None], self.sets)
        itself = self.covariances(anchor[None], anchor[None])[0, 0]
        own = np.array([self.covariances(row[None], row[None])[0, 0] for row in sets])
        prior = own + itself - 2 * self.covariances(sets, anchor[None])[:, 0]
        solved = solve_triangular(self._root, across.T, lower=True)
        return np.asarray(np.maximum(prior - (solved**2).sum(axis=0), 1e-12))

    def variance_of(self, chosen: Mask) -> float:
        """How uncertain the cost of one set is, without what is its own."""
        from scipy.linalg import solve_triangular

        across = solve_triangular(self._root, self.covariances(self.sets, chosen[None])[:, 0], lower=True)
        return max(float(self.covariances(chosen[None], chosen[None])[0, 0] - across @ across), 1e-12)

    def weights(self, draws: int, generator: np.random.Generator) -> Weights:
        """The believed weights of items and pairs, then so many draws of them, one a row."""
        parts = Sizes(*self.sizes.tolist())
        known = [self._explained]
        items, pairs = self.items, self._pairs
        prior_items = generator.normal(size=(draws, items)) * parts.item / np.sqrt(items)
        prior_items += generator.normal(size=(draws, 1)) * parts.common_item / np.sqrt(items)
        # One draw at a time and in place: all together they may be half a gigabyte.
        both, below = np.zeros((1 + draws, items, items)), np.tri(items, dtype=np.bool_)
        for above in both[1:]:
            above[:] = generator.normal(size=(items, items))
        common = generator.normal(size=draws) * parts.common_pair / np.sqrt(pairs)
        levels = generator.normal(size=draws) * parts.level
        signs, noise = self._signs, np.sqrt(1 / self.precisions + parts.own**2)
        for draw in range(draws):  # Matheron's rule: a draw before, corrected by what was seen since
            above = both[1 + draw]
            above *= parts.pair
            above /= np.sqrt(pairs)
            above += common[draw]
            above[below] = 0.0
            before = levels[draw] + signs @ prior_items[draw] + ((signs @ above) * signs).sum(axis=1)
            before += noise * generator.normal(size=len(signs))
            known.append(self._solve(self.means - before))
            above += above.T.copy()
        linear = np.concatenate([np.zeros((1, items)), prior_items])
        for row, explained in enumerate(known):
            seen = self._weights_of(explained)
            linear[row] += seen.linear
            both[row] += seen.pairs
        return Weights(linear, both)

    def _weights_of(self, explained: Floats) -> Weights:
        """The weights whose costs have these covariances' combination."""
        parts = Sizes(*(self.sizes**2).tolist())
        signs = self._signs
        _, totals, pair_totals = self._products
        linear = (parts.item * (explained @ signs) + parts.common_item * (explained @ totals)) / self.items
        crossed = parts.pair * (signs.T * explained) @ signs + parts.common_pair * (explained @ pair_totals)
        np.fill_diagonal(crossed, 0.0)
        return Weights(linear, crossed / self._pairs)


def least_sets(weights: Weights, starts: Mask, forced: tuple[Integers, Floats] | None = None) -> Mask:
    """For each row of weights the cheapest set found by changing one item at a time from each start.

    `forced`: an item for each row, and the sign that it must have. Weights of pairs may be one for all rows.
    """
    from discreet.decide import kernels

    linear, rows = weights.linear.copy(), np.arange(len(weights.linear))
    items = linear.shape[1]
    if forced is not None:
        linear[rows, forced[0]] -= 10.0 * forced[1]
    signs = np.repeat(np.where(starts, 1.0, -1.0)[None], len(rows), axis=0)
    field = linear[:, None] + signs @ weights.pairs
    kernels.descend(signs, field, weights.pairs, 8 * items)
    costs = (signs * (linear[:, None] + field)).sum(axis=2)
    return np.asarray(signs[rows, costs.argmin(axis=1)] > 0)
