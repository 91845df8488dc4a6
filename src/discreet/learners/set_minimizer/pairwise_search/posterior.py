"""What is believed about the cost of sets: items, pairs of them, and something of each set's own.

In ±1 coding z of a set,

    cost(S) = c + Σ_i a_i·z_i + Σ_{i<j} b_ij·z_i·z_j + own(S)

with Gaussian priors of a, b and own, whose sizes are learned from released means (by evidence, with
floors). It is a Gaussian process: the covariance of two sets' costs follows from z·z' alone, so
nothing of the size of all pairs is solved for. `own` corrects sets that were tried where costs are
not quadratic.

Runtime     O(sets³ + sets · n²) a release, with at most 400 sets; memory O(sets · n + n²)
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.arrays import Floats, Mask
from discreet.learners.set_minimizer.pairwise_search.sizes import LEARNED, Sizes
from discreet.learners.set_minimizer.pairwise_search.tuning import TUNED
from discreet.learners.set_minimizer.pairwise_search.weights import Weights

LEAST_PRECISION = 1e-9
LEAST_DOUBT = 1e-12
"""Variances of the belief are never taken to be smaller: rounding may make them negative."""
LEAST_BETTER = 1e-6
"""Sizes change only where that raises the log-likelihood by more than this."""


@dataclass(frozen=True, eq=False)
class TriedSets:
    """Sets that were tried in a block, and what was released of them."""

    sets: Mask
    counts: Floats
    """Rounds of each set that were read."""
    sums: Floats
    """Noisy sum of the costs of each set, in units of the bound."""
    noise: float
    """Variance of the noise of each sum."""


@dataclass(frozen=True, eq=False)
class Believed:
    """Posterior means of the costs of sets, and the variances of their own parts."""

    costs: Floats
    own_variances: Floats


@dataclass(frozen=True, eq=False)
class Products:
    """Inner products of the tried sets, and sums over their items and pairs."""

    crossed: Floats
    items: Floats
    pairs: Floats


@dataclass(frozen=True, eq=False)
class _PriorDraws:
    """Draws of weights from the prior."""

    items: Floats
    """One row per draw."""
    pairs: Floats
    """One symmetric matrix per draw, after one of zeros."""
    common: Floats
    """What all pairs of a draw have in common."""
    levels: Floats
    """The cost of a set of half the items, per draw."""


@dataclass(frozen=True, eq=False)
class PairBelief:
    """Tried sets with their mean costs and precisions, and the sizes that they speak for."""

    sets: Mask
    means: Floats
    precisions: Floats
    sizes: Sizes
    variance: float
    """Variance of one visitor's cost, in units of the bound."""

    @classmethod
    def before(cls, items: int) -> "PairBelief":
        """Return the belief before anything was tried."""
        nothing = np.zeros(0)
        sets = np.zeros((0, items), dtype=np.bool_)
        return cls(sets, nothing, nothing, TUNED.first_sizes, TUNED.first_variance)

    @property
    def items(self) -> int:
        """The number of items."""
        return int(self.sets.shape[1])

    @property
    def is_empty(self) -> bool:
        """Whether no set was ever read."""
        return not len(self.sets)

    # --- what was tried ---------------------------------------------------------------------------

    def with_trials(self, trials: TriedSets) -> "PairBelief":
        """Return the belief after one more block; sets that were never read are left out."""
        read = trials.counts >= 1
        sets, counts = trials.sets[read], trials.counts[read]
        fresh = trials.sums[read] / counts
        variances = self.variance / counts + trials.noise / counts**2

        joined, place = np.unique(np.concatenate([self.sets, sets]), axis=0, return_inverse=True)
        place = place.reshape(-1)
        old, new = place[: len(self.sets)], place[len(self.sets) :]
        precisions, weighted = np.zeros(len(joined)), np.zeros(len(joined))
        precisions[old] = self.precisions
        weighted[old] = self.precisions * self.means

        known = precisions[new] > 0
        before = weighted[new][known] / precisions[new][known]
        expected = variances[known] + 1 / precisions[new][known]
        variance = self._updated_variance((fresh[known] - before) ** 2 / expected)

        precisions[new] += 1 / variances
        weighted[new] += fresh / variances
        kept = np.sort(np.argsort(-precisions, kind="stable")[: TUNED.most_sets])
        return replace(
            self,
            sets=joined[kept],
            means=weighted[kept] / precisions[kept],
            precisions=precisions[kept],
            variance=variance,
        )

    def _updated_variance(self, surprises: Floats) -> float:
        """Return the variance of a cost after means that are off by this, squared, in variances."""
        surprises = np.minimum(surprises, TUNED.most_surprise)
        before = TUNED.variance_strength
        variance = self.variance * (before + surprises.sum()) / (before + len(surprises))
        return float(np.clip(variance, TUNED.least_variance, TUNED.most_variance))

    def faded(self, factor: float) -> "PairBelief":
        """Return the belief in which everything tried so far counts for less."""
        return replace(self, precisions=np.maximum(self.precisions * factor, LEAST_PRECISION))

    # --- sizes ------------------------------------------------------------------------------------

    def with_sizes(self, sweeps: int) -> "PairBelief":
        """Return the belief with more likely sizes, found by changing one of them at a time."""
        best, sizes = self._evidence(self.sizes), self.sizes
        for name in LEARNED * sweeps:
            least = TUNED.least_sizes.of(name)
            for factor in (TUNED.size_factor, 1 / TUNED.size_factor):
                while least <= sizes.of(name) * factor <= TUNED.largest_size:
                    changed = sizes.scaled(name, factor)
                    found = self._evidence(changed)
                    if found <= best + LEAST_BETTER:
                        break
                    best, sizes = found, changed
        return replace(self, sizes=sizes)

    def _evidence(self, sizes: Sizes) -> float:
        """Return the log-likelihood of the released means, plus the log-prior of these sizes."""
        from scipy.linalg import solve_triangular

        root = np.linalg.cholesky(self._noisy(sizes))
        solved = solve_triangular(root, self.means, lower=True)
        prior = sizes.distance(TUNED.first_sizes) * TUNED.size_strength / 2
        return -0.5 * float(solved @ solved) - float(np.log(root.diagonal()).sum()) - prior

    def _noisy(self, sizes: Sizes) -> Floats:
        """Return the covariance matrix of the released means of the tried sets."""
        found = self._prior(sizes)
        found[np.diag_indices(len(found))] += 1 / self.precisions + sizes.own**2
        return found

    def _prior(self, sizes: Sizes) -> Floats:
        """Return the prior covariance matrix of the tried sets, without their own parts."""
        parts, products = sizes.variances, self._products
        crossed = products.crossed
        found = parts.level + parts.common_item / self.items * np.outer(
            products.items, products.items
        )
        found += parts.common_pair / self._pairs * np.outer(products.pairs, products.pairs)
        found += parts.item / self.items * crossed
        return np.asarray(found + parts.pair / self._pairs * (crossed**2 - self.items) / 2)

    @cached_property
    def _products(self) -> Products:
        signs = self._signs
        totals = signs.sum(axis=1)
        return Products(signs @ signs.T, totals, self._pair_totals(totals))

    def _pair_totals(self, totals: Floats) -> Floats:
        """Return Σ_{i<j} z_i·z_j from Σ_i z_i."""
        return np.asarray((totals**2 - self.items) / 2)

    @property
    def _pairs(self) -> int:
        return max(1, self.items * (self.items - 1) // 2)

    @cached_property
    def _signs(self) -> Floats:
        return np.where(self.sets, 1.0, -1.0)

    # --- questions --------------------------------------------------------------------------------

    def covariances(self, here: Mask, there: Mask) -> Floats:
        """Return prior covariances of the costs of these sets with those, without own parts."""
        parts = self.sizes.variances
        one, two = np.where(here, 1.0, -1.0), np.where(there, 1.0, -1.0)
        crossed, totals, others = one @ two.T, one.sum(axis=1), two.sum(axis=1)
        found = parts.level + parts.common_item / self.items * np.outer(totals, others)
        in_pairs = np.outer(self._pair_totals(totals), self._pair_totals(others))
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

    def costs(self, sets: Mask) -> Believed:
        """Return what sets are believed to cost, and the variances of their own parts."""
        found = self.covariances(sets, self.sets) @ self._explained
        own = self.sizes.own**2
        variances = np.full(len(sets), own)
        rows = np.ascontiguousarray(sets)
        places = np.array([self._places.get(row.tobytes(), -1) for row in rows], dtype=np.int64)
        known = places >= 0
        found[known] += own * self._explained[places[known]]
        variances[known] = own / (1 + own * self.precisions[places[known]])
        return Believed(found, variances)

    def variances_of_differences(self, sets: Mask, incumbent: Mask) -> Floats:
        """Return variances of the differences between the costs of sets and of the anchor.

        Own parts are left out.
        """
        from scipy.linalg import solve_triangular

        across = self.covariances(sets, self.sets) - self.covariances(incumbent[None], self.sets)
        itself = self.covariances(incumbent[None], incumbent[None])[0, 0]
        own = np.array([self.covariances(row[None], row[None])[0, 0] for row in sets])
        prior = own + itself - 2 * self.covariances(sets, incumbent[None])[:, 0]
        solved = solve_triangular(self._root, across.T, lower=True)
        return np.asarray(np.maximum(prior - (solved**2).sum(axis=0), LEAST_DOUBT))

    def variance_of(self, chosen: Mask) -> float:
        """Return the variance of the cost of one set, without its own part."""
        from scipy.linalg import solve_triangular

        prior = self.covariances(self.sets, chosen[None])[:, 0]
        across = solve_triangular(self._root, prior, lower=True)
        itself = self.covariances(chosen[None], chosen[None])[0, 0]
        return max(float(itself - across @ across), LEAST_DOUBT)

    # --- weights ----------------------------------------------------------------------------------

    def weights(self, draws: int, generator: np.random.Generator) -> Weights:
        """Return posterior means of the weights of items and pairs, then `draws` draws of them."""
        prior = self._prior_draws(draws, generator)
        noise = np.sqrt(1 / self.precisions + self.sizes.own**2)
        explained = [self._explained]
        for draw in range(draws):  # Matheron's rule: a prior draw, corrected by what was seen
            costs = self._prior_costs(prior, draw)
            costs += noise * generator.normal(size=len(costs))
            explained.append(self._solve(self.means - costs))
        linear = np.concatenate([np.zeros((1, self.items)), prior.items])
        for row, right in enumerate(explained):
            seen = self._weights_of(right)
            linear[row] += seen.linear
            prior.pairs[row] += seen.pairs
        return Weights(linear, prior.pairs)

    def _prior_draws(self, draws: int, generator: np.random.Generator) -> _PriorDraws:
        """Return draws from the prior; of pairs only standard normal numbers, not yet scaled."""
        sizes, items = self.sizes, self.items
        linear = generator.normal(size=(draws, items)) * sizes.item / np.sqrt(items)
        linear += generator.normal(size=(draws, 1)) * sizes.common_item / np.sqrt(items)
        # One draw at a time and in place: all together they may be half a gigabyte.
        pairs = np.zeros((1 + draws, items, items))
        for above in pairs[1:]:
            above[:] = generator.normal(size=(items, items))
        common = generator.normal(size=draws) * sizes.common_pair / np.sqrt(self._pairs)
        levels = generator.normal(size=draws) * sizes.level
        return _PriorDraws(linear, pairs, common, levels)

    def _prior_costs(self, prior: _PriorDraws, draw: int) -> Floats:
        """Return the costs of the tried sets under one prior draw, whose pairs are scaled on the
        way.
        """
        signs, above = self._signs, prior.pairs[1 + draw]
        above *= self.sizes.pair
        above /= np.sqrt(self._pairs)
        above += prior.common[draw]
        above[np.tri(self.items, dtype=np.bool_)] = 0.0
        costs = (
            prior.levels[draw] + signs @ prior.items[draw] + ((signs @ above) * signs).sum(axis=1)
        )
        above += above.T.copy()
        return np.asarray(costs)

    def _weights_of(self, explained: Floats) -> Weights:
        """Return the weights whose costs have this combination of the tried sets' covariances."""
        parts, signs, products = self.sizes.variances, self._signs, self._products
        of_items = parts.item * (explained @ signs) + parts.common_item * (
            explained @ products.items
        )
        of_pairs = parts.pair * (signs.T * explained) @ signs
        of_pairs += parts.common_pair * (explained @ products.pairs)
        np.fill_diagonal(of_pairs, 0.0)
        return Weights(of_items / self.items, of_pairs / self._pairs)
