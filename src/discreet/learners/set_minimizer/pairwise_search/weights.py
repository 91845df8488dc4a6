"""Quadratic costs of sets, and local search for the sets that cost least."""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of items and pairs in quadratic costs of signs ±1, one cost per row."""

    linear: Floats
    """Weights of items."""
    pairs: Floats
    """Weights of pairs: a symmetric matrix per row, or one for all rows."""

    def slice(self, first: int, end: int) -> "Weights":
        """Return the costs of rows `first` up to `end`."""
        return Weights(self.linear[first:end], self.pairs[first:end])

    def repeated(self, count: int) -> "Weights":
        """Return one cost repeated in `count` rows, which share the weights of pairs."""
        return Weights(np.repeat(self.linear, count, axis=0), self.pairs)


@dataclass(frozen=True, eq=False)
class Forced:
    """One item per row and its prescribed sign: 1 in the set, −1 outside."""

    items: Integers
    signs: Floats


def least_sets(weights: Weights, starts: Mask, forced: Forced | None = None) -> Mask:
    """Return the cheapest set per row that single-item descent finds from any of the starts."""
    from discreet.optim import kernels

    linear = weights.linear.copy()
    rows = np.arange(len(linear))
    items = linear.shape[1]
    if forced is not None:
        linear[rows, forced.items] -= 10.0 * forced.signs
    signs = np.repeat(np.where(starts, 1.0, -1.0)[None], len(rows), axis=0)
    field = linear[:, None] + signs @ weights.pairs
    kernels.descend(signs, field, weights.pairs, 8 * items)
    costs = (signs * (linear[:, None] + field)).sum(axis=2)
    return np.asarray(signs[rows, costs.argmin(axis=1)] > 0)
