"""The Lovász extension: the convex extension of a set function from the corners to the cube.

Sort x in descending order by π; B_i is the set of the first i items, and

    μ_0 = 1 − x_π(1),  μ_i = x_π(i) − x_π(i+1),  μ_n = x_π(n)
    f̂(x) = Σ μ_i f(B_i) = E f({a : x_a > τ}),  τ uniform on [0, 1)
    g_π(i) = f(B_i) − f(B_{i−1})                      a subgradient of f̂ at x if f is submodular

Runtime     O(n log n) and n + 1 values of f
References  Lovász (1983), "Submodular Functions and Convexity"
            Hazan, Kale (2012), "Online Submodular Minimization"
"""

from collections.abc import Callable

import numpy as np

from discreet.arrays import Floats, Integers

Function = Callable[[Integers], float]
"""A set function: takes the items of a set as an integer array in ascending order."""


def chain(point: Floats) -> Integers:
    """Return the items in descending order of their coordinates; ties go to the smaller number."""
    return np.argsort(-np.asarray(point), kind="stable")


def combination(point: Floats, order: Integers) -> Floats:
    """Return the weights μ_0 … μ_n of the chain's sets in the point.

    >>> combination(np.array([0.25, 0.75]), chain(np.array([0.25, 0.75])))
    array([0.25, 0.5 , 0.25])
    """
    return -np.diff(np.concatenate([[1.0], np.asarray(point)[order], [0.0]]))


def chain_values(function: Function, order: Integers) -> Floats:
    """Return f(B_0), …, f(B_n), by n + 1 calls."""
    chosen = np.zeros(len(order), dtype=np.bool_)
    values = [float(function(np.flatnonzero(chosen)))]
    for item in order:
        chosen[item] = True
        values.append(float(function(np.flatnonzero(chosen))))
    return np.array(values)


def lovasz_extension(function: Function, point: Floats) -> float:
    """Return f̂(x).

    >>> cut = lambda chosen: float(len(chosen) == 1)      # a graph with two items and one edge
    >>> lovasz_extension(cut, np.array([0.25, 0.75]))
    0.5
    """
    order = chain(point)
    return float(combination(point, order) @ chain_values(function, order))


def subgradient(function: Function, point: Floats) -> Floats:
    """Return g, what each item adds when the chain reaches it.

    >>> subgradient(lambda chosen: float(len(chosen) == 1), np.array([0.25, 0.75]))
    array([-1.,  1.])
    """
    order = chain(point)
    gradient = np.empty(len(order))
    gradient[order] = np.diff(chain_values(function, order))
    return gradient


def threshold_sizes(point: Floats, thresholds: Floats) -> Integers:
    """Return the number of items above each threshold, which is the size of the drawn set.

    >>> threshold_sizes(np.array([0.25, 0.75, 1.0]), np.array([0.0, 0.25, 0.9]))
    array([3, 2, 1])
    """
    return len(point) - np.searchsorted(np.sort(point), thresholds, side="right")


def padded_sets(order: Integers, sizes: Integers) -> Integers:
    """Return the chain's sets of these sizes, one per row, in ascending order and padded with −1.

    >>> padded_sets(np.array([2, 0, 1]), np.array([0, 2]))
    array([[-1, -1, -1],
           [ 0,  2, -1]])
    """
    distinct, which = np.unique(sizes, return_inverse=True)
    table = np.full((len(distinct), len(order)), -1, dtype=np.int64)
    for row, size in zip(table, distinct, strict=True):
        row[:size] = np.sort(order[:size])
    return np.asarray(table[which], dtype=np.int64)
