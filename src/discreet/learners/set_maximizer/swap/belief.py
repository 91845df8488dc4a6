"""What is believed about gains of items on top of others: post-processing of released sums.

    g(a | B) = e(B) · (m + d_a + μ_a · Σ_{b∈B} x_ab)       e(B) = Π_{b∈B} (1 − μ_b): who is still there
    d_a ~ N(0, t²), x_ab ~ N(0, 0.12²)                     items are independent of each other

A cell is a released mean of g(a | B) with its public variance. Cells of one item in different company B are
read together: what an item gains behind one set tells about what it gains behind another. m and t² come from
the screening cells (empirical Bayes).

Runtime     O(items · contexts³) a question, for items that were met in company; memory O(items · contexts)
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.turn.plan import State

__all__ = ["Belief", "Gains", "empirical_prior"]

COMPANY = 0.12
"""How far the company that an item is in changes its gain, relative to it (a standard deviation an item)."""
MOST_CONTEXTS = 40
"""Of those that were met, the ones that say most are kept."""
MOST_INTEREST = 0.6
CHUNK = 2**20
"""How many numbers of systems of equations are held at once."""


@dataclass(frozen=True)
class Gains:
    """Gains of all items behind some sets, one row a set, and their variances."""

    means: Floats
    variances: Floats


@dataclass(frozen=True, eq=False)
class Belief:
    """Cells (context, item) with means and precisions, and the prior that they are read with.

    >>> belief = Belief.before(3, slots=2, interest=0.05).with_cells([], np.full(3, 0.1), np.full(3, 1e-6))
    >>> belief.with_interest().gains([[], [0]]).means.round(3)       # behind item 0, which takes a tenth
    array([[0.1 , 0.1 , 0.1 ],
           [0.09, 0.09, 0.09]])
    """

    centre: float
    spread: float
    """The variance of items around the centre."""
    interest: Floats
    """What each item gains alone, as far as it is needed for e(B)."""
    contexts: Integers
    """One set of items a row, filled up with −1."""
    means: Floats
    precisions: Floats

    @classmethod
    def before(cls, items: int, *, slots: int, interest: float) -> "Belief":
        """Before anyone came, all items are alike; `interest` is a guess that the first release corrects."""
        nothing = np.zeros((0, items))
        contexts = np.zeros((0, slots), dtype=np.int64)
        spread = (0.8 * interest) ** 2
        belief = cls(interest, spread, np.full(items, interest), contexts, nothing, nothing)
        return belief.with_cells([], np.zeros(items), np.ones(items), np.zeros(items, dtype=np.bool_))

    @property
    def items(self) -> int:
        return len(self.interest)

    @property
    def least(self) -> float:
        """What no item is believed to gain less than."""
        return 0.02 * self.centre

    # --- state --------------------------------------------------------------------------------------------

    def state(self) -> State:
        """As entries of a flat dictionary."""
        return {f"belief.{name}": value for name, value in vars(self).items()}

    @classmethod
    def of_state(cls, public: State) -> "Belief":
        """The inverse of `state`."""
        begin = "belief."
        return cls(**{name[len(begin) :]: value for name, value in public.items() if name.startswith(begin)})

    # --- new cells ----------------------------------------------------------------------------------------

    def with_cells(
        self, context: Any, means: Floats, variances: Floats, seen: Mask | None = None
    ) -> "Belief":
        """One more released mean of each seen item behind a context."""
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
        mixed = (old * self.means[place] + fresh * np.where(seen, means, 0.0)) / np.maximum(total, 1e-300)
        all_means, all_precisions = self.means.copy(), self.precisions.copy()
        all_means[place] = np.where(total > 0, mixed, 0.0)
        all_precisions[place] = total
        return replace(self, means=all_means, precisions=all_precisions)

    def _within_limits(self) -> "Belief":
        """Without the context that says least, if there are too many; never without the empty one."""
        if len(self.contexts) <= MOST_CONTEXTS:
            return self
        says = self.precisions[1:-1].sum(axis=1)
        left = np.arange(len(self.contexts)) != 1 + int(np.argmin(says))
        return replace(
            self,
            contexts=self.contexts[left],
            means=self.means[left],
            precisions=self.precisions[left],
        )

    def faded(self, factor: float) -> "Belief":
        """Everything known so far counts for less."""
        return replace(self, precisions=self.precisions * factor)

    def with_prior(self) -> "Belief":
        """The centre and spread that the cells of items alone speak for."""
        seen = self.precisions[0] > 0
        if np.count_nonzero(seen) < 3:
            return self
        centre, spread = empirical_prior(self.means[0][seen], 1 / self.precisions[0][seen])
        return replace(self, centre=centre, spread=spread)

    def with_interest(self) -> "Belief":
        """The interest of items from what is known by now."""
        alone = self.gains([[]]).means[0]
        return replace(self, interest=np.clip(alone, 0.2 * self.centre, MOST_INTEREST))

    # --- questions ----------------------------------------------------------------------------------------

    def remaining(self, context: Any) -> float:
        """e(B): the chance that nobody of a set is taken."""
        return float(np.prod(1 - self.interest[np.asarray(context, dtype=np.int64)]))

    def gains(self, sets: Any) -> Gains:
        """What each item gains behind each of these sets."""
        asked = np.zeros((len(sets), self.items))
        for place, chosen in enumerate(sets):
            asked[place, np.asarray(chosen, dtype=np.int64)] = 1.0
        met = self._membership()
        left_asked = np.array([self.remaining(np.flatnonzero(row)) for row in asked])
        left_met = np.array([self.remaining(np.flatnonzero(row)) for row in met])
        common = _Common(left_asked, left_met, asked @ asked.T, asked @ met.T, met @ met.T)
        own = (COMPANY * np.maximum(self.interest, 0.5 * self.centre)) ** 2
        means = np.empty((len(asked), self.items))
        variances = np.empty((len(asked), self.items))
        in_company = (self.precisions[1:] > 0).any(axis=0)
        alone = np.flatnonzero(~in_company)
        means[:, alone], variances[:, alone] = self._alone(alone, own, common)
        others, size = np.flatnonzero(in_company), max(1, CHUNK // len(self.contexts) ** 2)
        for first in range(0, len(others), size):
            some = others[first : first + size]
            means[:, some], variances[:, some] = self._in_company(some, own, common)
        return Gains(np.maximum(means, self.least), np.maximum(variances, 1e-14))

    def _membership(self) -> Floats:
        met = np.zeros((len(self.contexts), self.items + 1))
        np.put_along_axis(met, self.contexts, 1.0, axis=1)
        return met[:, :-1]

    def _alone(self, some: Integers, own: Floats, common: "_Common") -> tuple[Floats, Floats]:
        """Items that were met behind nothing only: in closed form."""
        weight = self.precisions[0, some] * self.spread
        kept = weight / (1 + weight)
        scale = common.left_asked[:, None]
        means = scale * (self.centre + kept * (self.means[0, some] - self.centre))
        itself = common.among_asked.diagonal()[:, None] * own[some]
        return means, scale**2 * (self.spread * (1 - kept) + itself)

    def _in_company(self, some: Integers, own: Floats, common: "_Common") -> tuple[Floats, Floats]:
        """Items that were met behind other sets: one small system of equations each."""
        own = own[some]
        precision = self.precisions[:, some].T
        between = common.left_met[:, None] * common.left_met
        known = between * (self.spread + own[:, None, None] * common.among_met)
        diagonal = np.arange(len(self.contexts))
        known[:, diagonal, diagonal] += 1 / np.maximum(precision, 1e-9)
        across = common.left_asked[:, None] * common.left_met
        towards = across * (self.spread + own[:, None, None] * common.asked_met)
        surprise = np.where(precision > 0, self.means[:, some].T - common.left_met * self.centre, 0.0)
        right = np.concatenate([surprise[:, :, None], towards.transpose(0, 2, 1)], axis=2)
        solved = np.linalg.solve(known, right)
        scale = common.left_asked
        means = scale * self.centre + (towards @ solved[:, :, :1])[:, :, 0]
        before = scale**2 * (self.spread + own[:, None] * common.among_asked.diagonal())
        explained = (towards * solved[:, :, 1:].transpose(0, 2, 1)).sum(axis=2)
        return means.T, (before - explained).T


@dataclass(frozen=True)
class _Common:
    """What questions have in common for all items: who is left behind sets, and how sets overlap."""

    left_asked: Floats
    left_met: Floats
    among_asked: Floats
    asked_met: Floats
    among_met: Floats


def empirical_prior(means: Floats, variances: Floats) -> tuple[float, float]:
    """The centre and the spread (a variance) of a population, from noisy means of its members."""
    centre = float(np.average(means, weights=1 / variances))
    least = max((0.06 * centre) ** 2, 1e-12)
    spread = max(float(np.mean((means - centre) ** 2 - variances)), least)
    for _ in range(5):
        weights = 1 / (variances + spread)
        weights /= weights.sum()
        centre = float(weights @ means)
        spread = max(float(weights @ ((means - centre) ** 2 - variances)), least)
    return max(centre, 1e-4), spread
