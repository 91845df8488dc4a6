"""Posterior of the gain of an item behind a set of other items: post-processing of released sums.

    g(a | B) = e(B) · (m + d_a + μ_a · Σ_{b∈B} x_ab)      gain of item a behind the set B
    e(B)     = Π_{b∈B} (1 − μ_b)                          probability that nothing in B is clicked
    d_a ~ N(0, t²)        deviation of item a from the mean gain m
    x_ab ~ N(0, 0.12²)    relative effect of b on the gain of a
    μ_a                   `interest`: gain of a behind the empty set

Items are independent of each other. A *cell* is one released mean of g(a | B) with its public
variance; B is its *context*. All cells of an item enter its posterior, so its gain behind one set
informs its gain behind another. m (`centre`) and t² (`spread`) are estimated from the cells of the
empty context (empirical Bayes).

Runtime     O(items · contexts³) per call of `gains`, for items with cells behind other items;
            memory O(items · contexts)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED

CHUNK = 2**20
"""Largest number of entries of linear systems in memory at once."""
LEAST_VARIANCE = 1e-14
"""Posterior variances are never taken to be smaller."""
LEAST_PRECISION = 1e-9
"""Precision with which an item without a cell enters the linear system of its posterior."""
LEAST_TOTAL = 1e-300
"""Avoids a division by zero where no cell has a precision."""

ItemSet = Sequence[int] | Integers
"""Numbers of items; their order does not matter."""


@dataclass(frozen=True)
class Gains:
    """Posterior gains of all items behind some sets: one row per set, one column per item."""

    means: Floats
    variances: Floats


class Prior(NamedTuple):
    """Prior distribution of the gains of items behind the empty set."""

    centre: float
    spread: float
    """Variance of the items around the centre."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Released cells (context, item), and the prior that they are combined with.

    >>> posterior = Posterior.before(3, slots=2, interest=0.05)
    >>> posterior = posterior.with_cells([], np.full(3, 0.1), np.full(3, 1e-6)).with_interest()
    >>> posterior.gains([[], [0]]).means.round(3)       # one visitor in ten clicks item 0
    array([[0.1 , 0.1 , 0.1 ],
           [0.09, 0.09, 0.09]])
    """

    centre: float
    spread: float
    """Variance of the items around the centre."""
    interest: Floats
    """Gain μ of each item behind the empty set, from which e(B) follows."""
    contexts: Integers
    """One set of items per row, filled up with −1; the first row is the empty set."""
    means: Floats
    """Released means: one row per context, one column per item."""
    precisions: Floats
    """Precisions of these means, 1 / variance; 0 where the context has no cell of the item."""

    @classmethod
    def before(cls, items: int, *, slots: int, interest: float) -> "Posterior":
        """Return the posterior before any release: the prior, alike for all items."""
        no_cells = np.zeros((0, items))
        no_contexts = np.zeros((0, slots), dtype=np.int64)
        spread = (TUNED.first_spread * interest) ** 2
        prior = cls(interest, spread, np.full(items, interest), no_contexts, no_cells, no_cells)
        nothing_seen = np.zeros(items, dtype=np.bool_)
        return prior.with_cells([], np.zeros(items), np.ones(items), nothing_seen)

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.interest)

    @property
    def least(self) -> float:
        """Smallest posterior mean gain of an item."""
        return TUNED.least_gain * self.centre

    # --- new cells --------------------------------------------------------------------------------

    def with_cells(
        self, context: ItemSet, means: Floats, variances: Floats, seen: Mask | None = None
    ) -> "Posterior":
        """Return the posterior with one more released mean per seen item behind a context."""
        row = np.full((1, self.contexts.shape[1]), -1)
        row[0, : len(context)] = np.sort(np.asarray(context, dtype=np.int64))
        seen = np.ones(self.items, dtype=np.bool_) if seen is None else seen
        means = np.where(seen, means, 0.0)
        precisions = np.where(seen, 1 / variances, 0.0)
        known = np.flatnonzero((self.contexts == row).all(axis=1))
        if len(known):
            return self._with_precise(int(known[0]), means, precisions)
        return replace(
            self,
            contexts=np.concatenate([self.contexts, row]),
            means=np.concatenate([self.means, means[None]]),
            precisions=np.concatenate([self.precisions, precisions[None]]),
        )._within_limits()

    def _with_precise(self, context: int, means: Floats, precisions: Floats) -> "Posterior":
        """Return the posterior with these means averaged into the cells of a known context."""
        before = self.precisions[context]
        total = before + precisions
        weighted = before * self.means[context] + precisions * means
        average = weighted / np.maximum(total, LEAST_TOTAL)
        all_means = self.means.copy()
        all_means[context] = np.where(total > 0, average, 0.0)
        all_precisions = self.precisions.copy()
        all_precisions[context] = total
        return replace(self, means=all_means, precisions=all_precisions)

    def _within_limits(self) -> "Posterior":
        """Return the posterior without its least precise context, if there are too many.

        The empty context and the newest one always stay.
        """
        if len(self.contexts) <= TUNED.most_contexts:
            return self
        total_precisions = self.precisions[1:-1].sum(axis=1)
        stays = np.arange(len(self.contexts)) != 1 + int(np.argmin(total_precisions))
        return replace(
            self,
            contexts=self.contexts[stays],
            means=self.means[stays],
            precisions=self.precisions[stays],
        )

    def faded(self, factor: float) -> "Posterior":
        """Return the posterior with the precisions of all cells multiplied by a factor."""
        return replace(self, precisions=self.precisions * factor)

    def with_prior(self) -> "Posterior":
        """Return the posterior with the prior estimated from the cells of the empty context."""
        seen = self.precisions[0] > 0
        if np.count_nonzero(seen) < TUNED.fewest_for_prior:
            return self
        prior = empirical_prior(self.means[0][seen], 1 / self.precisions[0][seen])
        return replace(self, centre=prior.centre, spread=prior.spread)

    def with_interest(self) -> "Posterior":
        """Return the posterior with the interest of all items updated from their cells."""
        alone = self.gains([[]]).means[0]
        least = TUNED.least_interest * self.centre
        return replace(self, interest=np.clip(alone, least, TUNED.most_interest))

    # --- posterior gains --------------------------------------------------------------------------

    def remaining(self, context: ItemSet) -> float:
        """Return e(B), the probability that a visitor clicks none of the items in the set."""
        return float(np.prod(1 - self.interest[np.asarray(context, dtype=np.int64)]))

    @property
    def effect_scale(self) -> Floats:
        """Interest of each item, bounded below: other items change its gain in proportion to it."""
        return np.maximum(self.interest, TUNED.least_company_interest * self.centre)

    def gains(self, sets: Sequence[ItemSet]) -> Gains:
        """Return the posterior gain of each item behind each of these sets, given all cells."""
        targets = np.zeros((len(sets), self.items))
        for row, items in zip(targets, sets, strict=True):
            row[np.asarray(items, dtype=np.int64)] = 1.0
        overlaps = self._overlaps(targets, self._context_members())
        company = (TUNED.company * self.effect_scale) ** 2

        means = np.empty((len(targets), self.items))
        variances = np.empty((len(targets), self.items))
        in_company = (self.precisions[1:] > 0).any(axis=0)
        alone = np.flatnonzero(~in_company)
        gains = self._posterior_alone(alone, company[alone], overlaps)
        means[:, alone] = gains.means
        variances[:, alone] = gains.variances
        together = np.flatnonzero(in_company)
        size = max(1, CHUNK // len(self.contexts) ** 2)
        for first in range(0, len(together), size):
            part = together[first : first + size]
            gains = self._posterior(part, company[part], overlaps)
            means[:, part] = gains.means
            variances[:, part] = gains.variances
        return Gains(np.maximum(means, self.least), np.maximum(variances, LEAST_VARIANCE))

    def _context_members(self) -> Floats:
        """Return one row per context: 1 for the items in it, otherwise 0."""
        members = np.zeros((len(self.contexts), self.items + 1))
        np.put_along_axis(members, self.contexts, 1.0, axis=1)  # −1 is the last column
        return members[:, :-1]

    def _overlaps(self, targets: Floats, contexts: Floats) -> "_Overlaps":
        """Return the sizes of sets and intersections, given one row of zeros and ones per set."""
        return _Overlaps(
            target_remaining=np.array([self.remaining(np.flatnonzero(row)) for row in targets]),
            context_remaining=np.array([self.remaining(np.flatnonzero(row)) for row in contexts]),
            target_sizes=(targets @ targets.T).diagonal(),
            target_context=targets @ contexts.T,
            context_context=contexts @ contexts.T,
        )

    def _posterior_alone(self, items: Integers, company: Floats, overlaps: "_Overlaps") -> Gains:
        """Return the posterior of items with a cell in the empty context at most: closed form."""
        weight = self.precisions[0, items] * self.spread
        shrinkage = weight / (1 + weight)
        remaining = overlaps.target_remaining[:, None]
        means = remaining * (self.centre + shrinkage * (self.means[0, items] - self.centre))
        effects = overlaps.target_sizes[:, None] * company
        return Gains(means, remaining**2 * (self.spread * (1 - shrinkage) + effects))

    def _posterior(self, items: Integers, company: Floats, overlaps: "_Overlaps") -> Gains:
        """Return the posterior of items with cells behind other items: one linear system each.

        posterior mean      = prior mean + cross · observed⁻¹ · surprise
        posterior variance  = prior variance − cross · observed⁻¹ · crossᵀ

        `prior`: gains behind the target sets; `observed`: covariance of the released means;
        `cross`: covariance of both; `surprise`: released means minus their prior means.
        """
        target = overlaps.target_remaining
        context = overlaps.context_remaining
        effect = company[:, None, None]
        precisions = self.precisions[:, items].T

        prior_means = target * self.centre
        prior_variances = target**2 * (self.spread + company[:, None] * overlaps.target_sizes)
        cross = target[:, None] * context * (self.spread + effect * overlaps.target_context)
        observed = context[:, None] * context * (self.spread + effect * overlaps.context_context)
        diagonal = np.arange(len(self.contexts))
        observed[:, diagonal, diagonal] += 1 / np.maximum(precisions, LEAST_PRECISION)
        surprise = np.where(precisions > 0, self.means[:, items].T - context * self.centre, 0.0)

        right = np.concatenate([surprise[:, :, None], cross.transpose(0, 2, 1)], axis=2)
        solved = np.linalg.solve(observed, right)
        means = prior_means + (cross @ solved[:, :, :1])[:, :, 0]
        explained = (cross * solved[:, :, 1:].transpose(0, 2, 1)).sum(axis=2)
        return Gains(means.T, (prior_variances - explained).T)


@dataclass(frozen=True)
class _Overlaps:
    """Sizes of the target sets and contexts, and of their intersections: alike for all items."""

    target_remaining: Floats
    """e(B) of the sets whose gains are computed."""
    context_remaining: Floats
    """e(B) of the contexts."""
    target_sizes: Floats
    """Number of items in each target set."""
    target_context: Floats
    """Number of common items of each target set and each context."""
    context_context: Floats
    """Number of common items of each pair of contexts."""


def empirical_prior(means: Floats, variances: Floats) -> Prior:
    """Return the prior of a population, estimated from noisy means of its members."""
    centre = float(np.average(means, weights=1 / variances))
    least = max((TUNED.least_spread * centre) ** 2, 1e-12)
    spread = max(float(np.mean((means - centre) ** 2 - variances)), least)
    for _ in range(TUNED.prior_iterations):
        weights = 1 / (variances + spread)
        weights /= weights.sum()
        centre = float(weights @ means)
        spread = max(float(weights @ ((means - centre) ** 2 - variances)), least)
    return Prior(max(centre, TUNED.least_centre), spread)
