"""Private selection: the exponential mechanism, drawn exactly on integers.

    P(a) ∝ W_a = max(2⁴⁰, ⌊2¹⁰⁰ · exp(−rate · gap_a)⌋),   gap_a = best score − score of a

If replacing one person moves the scores by changes that all lie in an interval of length `span`, the privacy loss of one draw
has range b = rate · span (plus what the integers cost), and one draw costs b, pure, or b²/8, zCDP. Scores are integers.

Guarantee   docs/guarantees/selection.md, Theorem 1 (bounded range), Lemma 2 (integer weights), Theorem 3 (bases)
Runtime     O(n) a draw; `SelectionTree` O(log n) a change and a draw while the best score stands
References  McSherry, Talwar (2007); Dong, Durfee, Rogers (2020); Cesar, Rogers (2021)
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.errors import ConfigError
from discreet.release.arrays import Integers, Mask
from discreet.release.privacy import Charge, pure, zcdp
from discreet.release.randomness import Words

__all__ = ["INTEGER_SLACK", "Selection", "SelectionTree", "checked_candidates"]

INTEGER_SLACK = 2.0**-39 + 4 * 2.0**-49
"""What integer weights add to the range: 2 · 2^−FLOOR for rounding down, 4 times the error of the computed exponential."""
_RATE_UNIT = 2.0**-57


@dataclass(frozen=True)
class Selection:
    """How sharply to select, and what one draw costs.

    Parameters
    ----------
    units
        The rate per integer of score, in whole multiples of 2⁻⁵⁷.
    span
        The length of the interval in which all score changes lie when one person is replaced.

    Examples
    --------
    >>> chosen = Selection.for_budget(zcdp(0.01), draws=50, span=2)
    >>> f"{chosen.rate:.4f}", f"{(chosen.charge('zcdp') * 50).amount:.6f}"
    ('0.0200', '0.010000')
    """

    units: int
    span: int

    def __post_init__(self) -> None:
        if not 1 <= self.units < 2**63:
            raise ConfigError(f"the rate must be between 2^-57 and 64 per unit of score, got {self.units * _RATE_UNIT:.3g}")
        if self.span < 1:
            raise ConfigError(f"span must be a whole number, at least 1, got {self.span}")

    @classmethod
    def at_rate(cls, rate: float, span: int) -> "Selection":
        """The selection with this rate per integer of score, rounded down to a multiple of 2⁻⁵⁷."""
        return cls(min(int(rate / _RATE_UNIT), 2**63 - 1), span)

    @classmethod
    def for_budget(cls, budget: Charge, *, draws: int, span: int) -> "Selection":
        """The sharpest selection of which this many draws can be paid.

        zCDP: draws · b²/8 = ρ; pure: draws · b = ε; with b = rate · span + INTEGER_SLACK.
        """
        whole = sqrt(8 * budget.amount / draws) if budget.measure == "zcdp" else budget.amount / draws
        # A little less, so that the rounding of this line cannot exceed the budget.
        return cls.at_rate((whole * (1 - 2**-45) - INTEGER_SLACK) / span, span)

    @property
    def rate(self) -> float:
        """The exponent per integer of score."""
        return self.units * _RATE_UNIT

    @property
    def range(self) -> float:
        """The range b of the privacy loss of one draw."""
        return (self.rate * self.span + INTEGER_SLACK) * (1 + 2**-48)  # rounded up for certain

    def charge(self, measure: str) -> Charge:
        """The price of one draw."""
        return zcdp(self.range**2 / 8) if measure == "zcdp" else pure(self.range)

    def weights(self, scores: Integers, available: Mask | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The integer weights, as high and low 64-bit words: the exact law of a draw."""
        from discreet.release import kernels

        high, low = np.empty(scores.size, dtype=np.uint64), np.empty(scores.size, dtype=np.uint64)
        kernels.fill_weights(scores, checked_candidates(scores, available), np.uint64(self.units), high, low)
        return high, low

    def draw(self, scores: Integers, words: Words, available: Mask | None = None) -> int:
        """One candidate. Publicly unavailable ones are never drawn."""
        from discreet.release import kernels

        return int(kernels.draw_weighted(*self.weights(scores, available), words.address, words.state))

    def draw_basis(self, scores: Integers, words: Words, extensions: Callable[[list[int]], Mask], rank: int) -> list[int]:
        """Up to `rank` successive draws, until no candidate is left: a basis of a matroid, at one charge a draw.

        `extensions(chosen)` says which candidates stay independent of those chosen; it must not read anyone's data. Always
        a full basis: stopping at a noisy threshold would not have a bounded range.
        """
        chosen: list[int] = []
        while len(chosen) < rank and (mask := extensions(chosen)).any():
            chosen.append(self.draw(scores, words, mask))
        return chosen


def checked_candidates(scores: Integers, available: Mask | None) -> Mask:
    """The mask of available candidates, or a `ConfigError` if there is nothing to select from."""
    if scores.dtype != np.int64 or scores.ndim != 1:
        raise ConfigError(f"scores must be one row of int64, got {scores.dtype} of shape {scores.shape}: quantise at the entrance")
    if not 1 <= scores.size <= 2**27:
        raise ConfigError(f"a selection needs between 1 and 2^27 candidates, got {scores.size}")
    if available is None:
        return np.ones(scores.size, dtype=np.bool_)
    if available.shape != scores.shape:
        raise ConfigError(f"available must have one entry a candidate ({scores.size}), got shape {available.shape}")
    if not available.any():
        raise ConfigError("no candidate is available: make at least one available")
    return available


class SelectionTree:
    """The same law for large candidate sets in which single scores change between draws.

    A tree of exact 128-bit sums of weights. Weights are relative to the best score, so a change of the best score
    rebuilds the tree; any other change mends one path.

    >>> from discreet.release.randomness import seeded_words
    >>> tree = SelectionTree(Selection.at_rate(0.5, span=2), np.zeros(5, dtype=np.int64))
    >>> tree.change(3, 40)
    >>> tree.draw(seeded_words(1, 0))
    3
    """

    def __init__(self, selection: Selection, scores: Integers) -> None:
        available = checked_candidates(scores, None)
        self.selection = selection
        self._leaves = 1 << (scores.size - 1).bit_length()
        self._best = np.full(2 * self._leaves, np.iinfo(np.int64).min, dtype=np.int64)
        self._best[self._leaves : self._leaves + scores.size] = scores
        level = self._best[self._leaves :]
        while level.size > 1:
            level = level.reshape(-1, 2).max(axis=1)
            self._best[level.size : 2 * level.size] = level
        self._high = np.zeros(2 * self._leaves, dtype=np.uint64)
        self._low = np.zeros(2 * self._leaves, dtype=np.uint64)
        self._available = available
        self._build()

    @property
    def scores(self) -> Integers:
        """The current scores."""
        return self._best[self._leaves : self._leaves + self._available.size].copy()

    def change(self, candidate: int, score: int) -> None:
        """Give one candidate another score."""
        from discreet.release import kernels

        if not 0 <= candidate < self._available.size:
            raise ConfigError(f"candidate must be between 0 and {self._available.size - 1}, got {candidate}")
        before = self._best[1]
        node = self._leaves + candidate
        self._best[node] = score
        while node > 1:
            node //= 2
            self._best[node] = max(self._best[2 * node], self._best[2 * node + 1])
        if self._best[1] != before:
            self._build()
        else:
            gap = np.uint64(int(before) - int(score))
            kernels.change_leaf(candidate, gap, np.uint64(self.selection.units), self._high, self._low)

    def draw(self, words: Words) -> int:
        """One candidate, with the law of `Selection.draw` on the current scores."""
        from discreet.release import kernels

        return int(kernels.draw_from_tree(self._high, self._low, words.address, words.state))

    def _build(self) -> None:
        from discreet.release import kernels

        kernels.build_tree(self.scores, self._available, np.uint64(self.selection.units), self._high, self._low)
