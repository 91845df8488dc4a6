"""Gaussian posterior of the costs of sets, with weights of items, of pairs, and a term per set.

In ±1 coding z of a set,

    cost(S) = c + Σ_i a_i·z_i + Σ_{i<j} b_ij·z_i·z_j + own(S)

with Gaussian priors of a, b and own, whose standard deviations (sizes) are learned from released
means, by evidence and with floors. It is a Gaussian process: the covariance of two sets' costs
follows from z·z' alone, so no system of the size of all pairs is solved. `own`, the set-specific
term, corrects tried sets if costs are not quadratic.

Runtime     O(sets³ + sets · n²) per release, with at most 400 sets; memory O(sets · n + n²)
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.arrays import Floats, Mask
from discreet.learners.set_minimizer.pairwise_search.sizes import LEARNED, Sizes
from discreet.learners.set_minimizer.pairwise_search.tuning import TUNED
from discreet.learners.set_minimizer.pairwise_search.weights import Weights

LEAST_PRECISION = 1e-9
"""Least precision of a tried set's mean, however old it is."""
LEAST_VARIANCE = 1e-12
"""Least posterior variance: rounding may make variances negative."""
LEAST_INCREASE = 1e-6
"""Least increase of the log-likelihood for which sizes change."""


@dataclass(frozen=True, eq=False)
class TriedSets:
    """Sets that were tried in a block, with the released sums of their costs."""

    sets: Mask
    counts: Floats
    """Number of rounds of each set that were read."""
    sums: Floats
    """Noisy sum of the costs of each set, in units of the bound."""
    noise: float
    """Variance of the noise of each sum."""


@dataclass(frozen=True, eq=False)
class CostEstimates:
    """Posterior means of the costs of sets, and variances of their set-specific terms."""

    costs: Floats
    own_variances: Floats


@dataclass(frozen=True, eq=False)
class Products:
    """Inner products of the tried sets in ±1 coding, and sums over their items and pairs."""

    crossed: Floats
    """z·z' for each two sets."""
    items: Floats
    """Σ_i z_i per set."""
    pairs: Floats
    """Σ_{i<j} z_i·z_j per set."""


@dataclass(frozen=True, eq=False)
class _PriorDraws:
    """Draws of weights from the prior."""

    items: Floats
    """One row per draw."""
    pairs: Floats
    """One symmetric matrix per draw, after one of zeros."""
    common: Floats
    """Common weight of all pairs, per draw."""
    levels: Floats
    """The constant c, per draw."""


@dataclass(frozen=True, eq=False)
class PairPosterior:
    """Gaussian posterior: tried sets with mean costs and precisions, and the sizes of the prior."""

    sets: Mask
    means: Floats
    precisions: Floats
    sizes: Sizes
    variance: float
    """Variance of one visitor's cost, in units of the bound."""

    @classmethod
    def before(cls, items: int) -> "PairPosterior":
        """Return the prior, before any set was tried."""
        nothing = np.zeros(0)
        sets = np.zeros((0, items), dtype=np.bool_)
        return cls(sets, nothing, nothing, TUNED.first_sizes, TUNED.first_variance)

    @property
    def items(self) -> int:
        """Number of items."""
        return int(self.sets.shape[1])

    @property
    def is_empty(self) -> bool:
        """Whether no set was read so far."""
        return not len(self.sets)

    # --- trials -----------------------------------------------------------------------------------

    def with_trials(self, trials: TriedSets) -> "PairPosterior":
        """Return the posterior after one more block, from the sets of which a round was read."""
        is_read = trials.counts >= 1
        sets = trials.sets[is_read]
        counts = trials.counts[is_read]
        means = trials.sums[is_read] / counts
        variances = self.variance / counts + trials.noise / counts**2

        joined, place = np.unique(np.concatenate([self.sets, sets]), axis=0, return_inverse=True)
        place = place.reshape(-1)
        old = place[: len(self.sets)]
        new = place[len(self.sets) :]
        precisions = np.zeros(len(joined))
        weighted = np.zeros(len(joined))
        precisions[old] = self.precisions
        weighted[old] = self.precisions * self.means

        is_known = precisions[new] > 0
        before = weighted[new][is_known] / precisions[new][is_known]
        expected = variances[is_known] + 1 / precisions[new][is_known]
        variance = self._updated_variance((means[is_known] - before) ** 2 / expected)

        precisions[new] += 1 / variances
        weighted[new] += means / variances
        most_precise = np.sort(np.argsort(-precisions, kind="stable")[: TUNED.most_sets])
        return replace(
            self,
            sets=joined[most_precise],
            means=weighted[most_precise] / precisions[most_precise],
            precisions=precisions[most_precise],
            variance=variance,
        )

    def _updated_variance(self, residuals: Floats) -> float:
        """Return the variance of a cost after these squared residuals, given in variances."""
        residuals = np.minimum(residuals, TUNED.most_surprise)
        before = TUNED.variance_strength
        variance = self.variance * (before + residuals.sum()) / (before + len(residuals))
        return float(np.clip(variance, TUNED.least_variance, TUNED.most_variance))

    def faded(self, factor: float) -> "PairPosterior":
        """Return the posterior with all precisions multiplied by a factor."""
        return replace(self, precisions=np.maximum(self.precisions * factor, LEAST_PRECISION))

    # --- sizes ------------------------------------------------------------------------------------

    def with_sizes(self, sweeps: int) -> "PairPosterior":
        """Return the posterior with more likely sizes, by coordinate ascent of the evidence."""
        best = self._evidence(self.sizes)
        sizes = self.sizes
        for name in LEARNED * sweeps:
            least = TUNED.least_sizes.of(name)
            for factor in (TUNED.size_factor, 1 / TUNED.size_factor):
                while least <= sizes.of(name) * factor <= TUNED.largest_size:
                    changed = sizes.scaled(name, factor)
                    evidence = self._evidence(changed)
                    if evidence <= best + LEAST_INCREASE:
                        break
                    best = evidence
                    sizes = changed
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
        covariance = self._prior(sizes)
        covariance[np.diag_indices(len(covariance))] += 1 / self.precisions + sizes.own**2
        return covariance

    def _prior(self, sizes: Sizes) -> Floats:
        """Return the prior covariance matrix of the tried sets' costs, without own terms."""
        parts = sizes.variances
        products = self._products
        crossed = products.crossed
        in_items = np.outer(products.items, products.items)
        in_pairs = np.outer(products.pairs, products.pairs)
        covariance = parts.level + parts.common_item / self.items * in_items
        covariance += parts.common_pair / self._pairs * in_pairs
        covariance += parts.item / self.items * crossed
        return np.asarray(covariance + parts.pair / self._pairs * (crossed**2 - self.items) / 2)

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
        """Number of pairs of items, at least 1."""
        return max(1, self.items * (self.items - 1) // 2)

    @cached_property
    def _signs(self) -> Floats:
        """The tried sets in ±1 coding."""
        return np.where(self.sets, 1.0, -1.0)

    # --- predictions ------------------------------------------------------------------------------

    def covariances(self, here: Mask, there: Mask) -> Floats:
        """Return the prior covariances of the costs of two lists of sets, without own terms."""
        parts = self.sizes.variances
        signs_here = np.where(here, 1.0, -1.0)
        signs_there = np.where(there, 1.0, -1.0)
        totals_here = signs_here.sum(axis=1)
        totals_there = signs_there.sum(axis=1)
        crossed = signs_here @ signs_there.T
        in_items = np.outer(totals_here, totals_there)
        in_pairs = np.outer(self._pair_totals(totals_here), self._pair_totals(totals_there))
        covariances = parts.level + parts.common_item / self.items * in_items
        covariances += (
            parts.common_pair / self._pairs * in_pairs + parts.item / self.items * crossed
        )
        return np.asarray(covariances + parts.pair / self._pairs * (crossed**2 - self.items) / 2)

    @cached_property
    def _root(self) -> Floats:
        """Cholesky factor of the covariance matrix of the released means."""
        return np.asarray(np.linalg.cholesky(self._noisy(self.sizes)))

    def _solve(self, right: Floats) -> Floats:
        """Return the inverse covariance matrix of the released means, times a vector."""
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve((self._root, True), right))

    @cached_property
    def _explained(self) -> Floats:
        """Coefficients of the posterior mean: the inverse covariance matrix times the means."""
        return self._solve(self.means)

    @cached_property
    def _places(self) -> dict[bytes, int]:
        """Place of each tried set, by its bytes."""
        return {row.tobytes(): place for place, row in enumerate(self.sets)}

    def costs(self, sets: Mask) -> CostEstimates:
        """Return the posterior means of the costs of sets, and variances of their own terms."""
        means = self.covariances(sets, self.sets) @ self._explained
        own = self.sizes.own**2
        variances = np.full(len(sets), own)
        rows = np.ascontiguousarray(sets)
        places = np.array([self._places.get(row.tobytes(), -1) for row in rows], dtype=np.int64)
        is_known = places >= 0
        known = places[is_known]
        means[is_known] += own * self._explained[known]
        variances[is_known] = own / (1 + own * self.precisions[known])
        return CostEstimates(means, variances)

    def variances_of_differences(self, sets: Mask, incumbent: Mask) -> Floats:
        """Return posterior variances of the differences in cost between sets and the incumbent.

        Own terms are left out.
        """
        from scipy.linalg import solve_triangular

        across = self.covariances(sets, self.sets) - self.covariances(incumbent[None], self.sets)
        itself = self.covariances(incumbent[None], incumbent[None])[0, 0]
        own = np.array([self.covariances(row[None], row[None])[0, 0] for row in sets])
        prior = own + itself - 2 * self.covariances(sets, incumbent[None])[:, 0]
        solved = solve_triangular(self._root, across.T, lower=True)
        return np.asarray(np.maximum(prior - (solved**2).sum(axis=0), LEAST_VARIANCE))

    def variance_of(self, chosen: Mask) -> float:
        """Return the posterior variance of the cost of one set, without its own term."""
        from scipy.linalg import solve_triangular

        prior = self.covariances(self.sets, chosen[None])[:, 0]
        across = solve_triangular(self._root, prior, lower=True)
        itself = self.covariances(chosen[None], chosen[None])[0, 0]
        return max(float(itself - across @ across), LEAST_VARIANCE)

    # --- weights ----------------------------------------------------------------------------------

    def weights(self, draws: int, generator: np.random.Generator) -> Weights:
        """Return posterior means of the weights of items and pairs, then `draws` draws of them."""
        prior = self._prior_draws(draws, generator)
        noise = np.sqrt(1 / self.precisions + self.sizes.own**2)
        explained = [self._explained]
        for draw in range(draws):  # Matheron's rule: a prior draw, corrected by the data
            costs = self._prior_costs(prior, draw)
            costs += noise * generator.normal(size=len(costs))
            explained.append(self._solve(self.means - costs))
        linear = np.concatenate([np.zeros((1, self.items)), prior.items])
        for row, coefficients in enumerate(explained):
            correction = self._weights_of(coefficients)
            linear[row] += correction.linear
            prior.pairs[row] += correction.pairs
        return Weights(linear, prior.pairs)

    def _prior_draws(self, draws: int, generator: np.random.Generator) -> _PriorDraws:
        """Return draws from the prior; weights of pairs are standard normal, not yet scaled."""
        sizes = self.sizes
        items = self.items
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
        """Return the costs of the tried sets under one prior draw.

        The draw's weights of pairs are scaled in place, and made symmetric.
        """
        signs = self._signs
        above = prior.pairs[1 + draw]
        above *= self.sizes.pair
        above /= np.sqrt(self._pairs)
        above += prior.common[draw]
        above[np.tri(self.items, dtype=np.bool_)] = 0.0
        of_pairs = ((signs @ above) * signs).sum(axis=1)
        costs = prior.levels[draw] + signs @ prior.items[draw] + of_pairs
        above += above.T.copy()
        return np.asarray(costs)

    def _weights_of(self, explained: Floats) -> Weights:
        """Return the weights whose costs are this combination of the tried sets' covariances."""
        parts = self.sizes.variances
        signs = self._signs
        products = self._products
        common = parts.common_item * (explained @ products.items)
        of_items = parts.item * (explained @ signs) + common
        of_pairs = parts.pair * (signs.T * explained) @ signs
        of_pairs += parts.common_pair * (explained @ products.pairs)
        np.fill_diagonal(of_pairs, 0.0)
        return Weights(of_items / self.items, of_pairs / self._pairs)
