"""What is believed about gains of items on top of others: post-processing of released sums.

    g(a | B) = e(B) · (m + d_a + μ_a · Σ_{b∈B} x_ab)      e(B) = Π_{b∈B} (1 − μ_b): who is left
    d_a ~ N(0, t²), x_ab ~ N(0, 0.12²)                    items are independent of each other

A cell is a released mean of g(a | B) with its public variance. Cells of one item in different
company B are read together: what an item gains behind one set tells about what it gains behind
another. m and t² come from the screening cells (empirical Bayes).

Runtime     O(items · contexts³) per question, for items that were met in company;
            memory O(items · contexts)
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED

CHUNK = 2**20
"""How many numbers of systems of equations are held at once."""


@dataclass(frozen=True)
class Gains:
    """Gains of all items behind some sets, one row per set, and their variances."""

    means: Floats
    variances: Floats


@dataclass(frozen=True, eq=False)
class Posterior:
    """Cells (context, item) with means and precisions, and the prior that they are read with.

    >>> posterior = Posterior.before(3, slots=2, interest=0.05)
    >>> posterior = posterior.with_cells([], np.full(3, 0.1), np.full(3, 1e-6)).with_interest()
    >>> posterior.gains([[], [0]]).means.round(3)                # behind item 0, which takes a tenth
    array([[0.1 , 0.1 , 0.1 ],
           [0.09, 0.09, 0.09]])
    """

    centre: float
    spread: float
    """The variance of items around the centre."""
    interest: Floats
    """What each item gains alone, as far as it is needed for e(B)."""
    contexts: Integers
    """One set of items per row, filled up with −1; the first is the empty set."""
    means: Floats
    """Released means: one row per context, one column per item."""
    precisions: Floats
    """Their precisions, 1 / variance; 0 where an item was never seen in that context."""

    @classmethod
    def before(cls, items: int, *, slots: int, interest: float) -> "Posterior":
        """Return the belief before anyone came: all items are alike, with a guessed interest."""
        nothing = np.zeros((0, items))
        contexts = np.zeros((0, slots), dtype=np.int64)
        spread = (0.8 * interest) ** 2
        posterior = cls(interest, spread, np.full(items, interest), contexts, nothing, nothing)
        return posterior.with_cells(
            [], np.zeros(items), np.ones(items), np.zeros(items, dtype=np.bool_)
        )

    @property
    def items(self) -> int:
        return len(self.interest)

    @property
    def least(self) -> float:
        """Least gain that an item is believed to have."""
        return 0.02 * self.centre

    # --- new cells --------------------------------------------------------------------------------

    def with_cells(
        self, context: Any, means: Floats, variances: Floats, seen: Mask | None = None
    ) -> "Posterior":
        """Return the belief with one more released mean of each seen item behind a context."""
        row = np.full((1, self.contexts.shape[1]), -1)
        row[0, : len(context)] = np.sort(np.asarray(context, dtype=np.int64))
        seen = np.ones(self.items, dtype=np.bool_) if seen is None else seen
        fresh = np.where(seen, 1 / variances, 0.0)
        known = np.flatnonzero((self.contexts == row).all(axis=1))
        if not len(known):
            return replace(
                self,
                contexts=np.concatenate([self.contexts, row]),
                means=np.concatenate([self.means, np.where(seen, means, 0.0)[None]]),
                precisions=np.concatenate([self.precisions, fresh[None]]),
            )._within_limits()
        place = int(known[0])
        old = self.precisions[place]
        total = old + fresh
        both = old * self.means[place] + fresh * np.where(seen, means, 0.0)
        mixed = both / np.maximum(total, 1e-300)
        all_means, all_precisions = self.means.copy(), self.precisions.copy()
        all_means[place] = np.where(total > 0, mixed, 0.0)
        all_precisions[place] = total
        return replace(self, means=all_means, precisions=all_precisions)

    def _within_limits(self) -> "Posterior":
        """Return the belief without its least precise context, if there are too many; the empty
        one stays.
        """
        if len(self.contexts) <= TUNED.most_contexts:
            return self
        says = self.precisions[1:-1].sum(axis=1)
        left = np.arange(len(self.contexts)) != 1 + int(np.argmin(says))
        return replace(
            self,
            contexts=self.contexts[left],
            means=self.means[left],
            precisions=self.precisions[left],
        )

    def faded(self, factor: float) -> "Posterior":
        """Return the belief with all precisions times a factor."""
        return replace(self, precisions=self.precisions * factor)

    def with_prior(self) -> "Posterior":
        """Return the belief with the centre and spread that the cells of items alone speak for."""
        seen = self.precisions[0] > 0
        if np.count_nonzero(seen) < 3:
            return self
        centre, spread = empirical_prior(self.means[0][seen], 1 / self.precisions[0][seen])
        return replace(self, centre=centre, spread=spread)

    def with_interest(self) -> "Posterior":
        """Return the belief with the interest of items from all cells."""
        alone = self.gains([[]]).means[0]
        return replace(self, interest=np.clip(alone, 0.2 * self.centre, TUNED.most_interest))

    # --- questions --------------------------------------------------------------------------------

    def remaining(self, context: Any) -> float:
        """Return e(B), the probability that a visitor clicks none of the items in the set."""
        return float(np.prod(1 - self.interest[np.asarray(context, dtype=np.int64)]))

    def gains(self, sets: Any) -> Gains:
        """Return the posterior gain of each item behind each of these sets, given all cells."""
        asked = np.zeros((len(sets), self.items))
        for row, chosen in zip(asked, sets, strict=True):
            row[np.asarray(chosen, dtype=np.int64)] = 1.0
        overlaps = self._overlaps(asked, self._members())
        company = (TUNED.company * np.maximum(self.interest, 0.5 * self.centre)) ** 2

        means = np.empty((len(asked), self.items))
        variances = np.empty((len(asked), self.items))
        in_company = (self.precisions[1:] > 0).any(axis=0)
        alone = np.flatnonzero(~in_company)
        found = self._posterior_alone(alone, company[alone], overlaps)
        means[:, alone], variances[:, alone] = found
        others = np.flatnonzero(in_company)
        size = max(1, CHUNK // len(self.contexts) ** 2)
        for first in range(0, len(others), size):
            some = others[first : first + size]
            means[:, some], variances[:, some] = self._posterior(some, company[some], overlaps)
        return Gains(np.maximum(means, self.least), np.maximum(variances, 1e-14))

    def _members(self) -> Floats:
        """Return which items are in each context, as zeros and ones."""
        met = np.zeros((len(self.contexts), self.items + 1))
        np.put_along_axis(met, self.contexts, 1.0, axis=1)  # −1 falls into the last column
        return met[:, :-1]

    def _overlaps(self, asked: Floats, met: Floats) -> "_Overlaps":
        return _Overlaps(
            asked_left=np.array([self.remaining(np.flatnonzero(row)) for row in asked]),
            met_left=np.array([self.remaining(np.flatnonzero(row)) for row in met]),
            asked_sizes=(asked @ asked.T).diagonal(),
            asked_met=asked @ met.T,
            met_met=met @ met.T,
        )

    def _posterior_alone(
        self, items: Integers, company: Floats, overlaps: "_Overlaps"
    ) -> tuple[Floats, Floats]:
        """Return means and variances of items that were seen in the empty context only: in
        closed form.
        """
        weight = self.precisions[0, items] * self.spread
        shrinkage = weight / (1 + weight)
        left = overlaps.asked_left[:, None]
        means = left * (self.centre + shrinkage * (self.means[0, items] - self.centre))
        own = overlaps.asked_sizes[:, None] * company
        return means, left**2 * (self.spread * (1 - shrinkage) + own)

    def _posterior(
        self, items: Integers, company: Floats, overlaps: "_Overlaps"
    ) -> tuple[Floats, Floats]:
        """Return means and variances of items that were seen behind other items: one linear system
        each.

        posterior mean      = prior mean + cross · observed⁻¹ · surprise
        posterior variance  = prior variance − cross · observed⁻¹ · crossᵀ
        """
        asked, met = overlaps.asked_left, overlaps.met_left
        shared = company[:, None, None]
        precisions = self.precisions[:, items].T

        prior_means = asked * self.centre
        prior_variances = asked**2 * (self.spread + company[:, None] * overlaps.asked_sizes)
        cross = asked[:, None] * met * (self.spread + shared * overlaps.asked_met)
        observed = met[:, None] * met * (self.spread + shared * overlaps.met_met)
        diagonal = np.arange(len(self.contexts))
        observed[:, diagonal, diagonal] += 1 / np.maximum(precisions, 1e-9)
        surprise = np.where(precisions > 0, self.means[:, items].T - met * self.centre, 0.0)

        right = np.concatenate([surprise[:, :, None], cross.transpose(0, 2, 1)], axis=2)
        solved = np.linalg.solve(observed, right)
        means = prior_means + (cross @ solved[:, :, :1])[:, :, 0]
        explained = (cross * solved[:, :, 1:].transpose(0, 2, 1)).sum(axis=2)
        return means.T, (prior_variances - explained).T


@dataclass(frozen=True)
class _Overlaps:
    """How the sets that are asked about overlap with the contexts of the belief: alike for all
    items.
    """

    asked_left: Floats
    """e(B) of the sets that are asked about."""
    met_left: Floats
    """e(B) of the contexts."""
    asked_sizes: Floats
    asked_met: Floats
    """How many items each pair of sets has in common."""
    met_met: Floats


def empirical_prior(means: Floats, variances: Floats) -> tuple[float, float]:
    """Return the centre and the spread (a variance) of a population, from noisy means of its
    members.
    """
    centre = float(np.average(means, weights=1 / variances))
    least = max((0.06 * centre) ** 2, 1e-12)
    spread = max(float(np.mean((means - centre) ** 2 - variances)), least)
    for _ in range(5):
        weights = 1 / (variances + spread)
        weights /= weights.sum()
        centre = float(weights @ means)
        spread = max(float(weights @ ((means - centre) ** 2 - variances)), least)
    return max(centre, 1e-4), spread
