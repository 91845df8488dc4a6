"""The set of least cost, exactly: what an online learner is measured against.

`least_cut` finds it for cuts plus a modular term by maximum flow; `minimum_norm_point` for any submodular
function, by the point of least norm in the base polytope.

References  Picard, Ratliff (1975); Fujishige (1980); Wolfe (1976), "Finding the Nearest Point in a Polytope"
"""

from collections.abc import Callable

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError

__all__ = ["least_cut", "minimum_norm_point"]

RESOLUTION = 2**29
"""SciPy's maximum flow takes 32-bit capacities: weights are rounded to this fraction of the largest."""


def least_cut(edges: Integers, weights: Floats, modular: Floats, *, directed: bool = False) -> Integers:
    """The smallest set that minimises (weights of cut edges) + Σ modular, up to rounding of the weights.

    >>> least_cut(np.array([[0, 1], [1, 2]]), np.array([0.5, 0.1]), np.array([-1.0, 0.2, 0.3]))
    array([0, 1])
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    items = len(modular)
    source, sink = items, items + 1
    if (np.asarray(weights) < 0).any():
        raise ConfigError("the weights of edges must not be negative: cuts would not be submodular")
    tails, heads = np.asarray(edges, dtype=np.int64).reshape(-1, 2).T
    gains, losses = np.flatnonzero(modular < 0), np.flatnonzero(modular > 0)
    # An item on the source's side is chosen: it saves a gain that would be cut, and cuts its loss.
    rows = np.concatenate([tails, np.full(len(gains), source), losses])
    columns = np.concatenate([heads, gains, np.full(len(losses), sink)])
    capacities = np.concatenate([weights, -modular[gains], modular[losses]])
    if not directed:
        rows = np.concatenate([rows, heads])
        columns = np.concatenate([columns, tails])
        capacities = np.concatenate([capacities, weights])
    shape = (items + 2, items + 2)
    network = coo_matrix((capacities, (rows, columns)), shape=shape).tocsr()
    largest = max(network.data.max(initial=0.0), 1e-300)
    network.data = np.round(network.data * (RESOLUTION / largest))
    network = network.astype(np.int32)
    network.eliminate_zeros()
    residual = network - maximum_flow(network, source, sink).flow
    residual.data = np.maximum(residual.data, 0)
    residual.eliminate_zeros()
    reached = breadth_first_order(residual, source, return_predecessors=False)
    return np.sort(reached[reached < items]).astype(np.int64)


def minimum_norm_point(
    along: Callable[[Integers], Floats], items: int, *, tolerance: float = 1e-10
) -> Integers:
    """The smallest minimiser of a submodular function with f(∅) = 0.

    `along(order)` says what each item adds along an order. Wolfe's algorithm for the point of least norm in
    the base polytope: its negative coordinates are the minimiser.

    >>> joint, benefits = 1.0, np.array([0.8, 0.9, -0.1])    # a set costs 1, and brings its items' benefits
    >>> minimum_norm_point(lambda order: joint * (np.argsort(order) == 0) - benefits, 3)
    array([0, 1])
    """
    corners = along(np.arange(items))[None]
    shares = np.ones(1)
    while True:
        point = shares @ corners
        corner = along(np.argsort(point, kind="stable"))  # the vertex that is least in direction `point`
        scale = max(1.0, float(np.max(np.sum(corners**2, axis=1))))
        nearest = point @ (point - corner) <= tolerance * scale
        known = np.isclose(corners, corner, rtol=0, atol=1e-14 * scale).all(axis=1).any()
        if nearest or known:
            return np.flatnonzero(point < -tolerance * scale)
        corners = np.vstack([corners, corner])
        shares = np.append(shares, 0.0)
        corners, shares = _towards_least_norm(corners, shares, tolerance)


def _towards_least_norm(corners: Floats, shares: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """The point of least norm in the hull of these corners, as shares of those that are needed."""
    while True:
        affine = _least_in_affine_hull(corners)
        if (affine > tolerance).all():
            return corners, affine
        # As far towards it as all shares stay non-negative; whoever falls to zero is left out.
        falling = affine < np.minimum(shares, tolerance)
        step = min(1.0, float(np.min(shares[falling] / (shares - affine)[falling], initial=1.0)))
        shares = (1 - step) * shares + step * affine
        kept = shares > tolerance
        if kept.all():
            return corners, shares
        corners = corners[kept]
        shares = shares[kept] / shares[kept].sum()


def _least_in_affine_hull(corners: Floats) -> Floats:
    """Shares, some perhaps negative, of the point of least norm in the affine hull."""
    count = len(corners)
    bordered = np.zeros((count + 1, count + 1))
    bordered[0, 1:] = 1.0
    bordered[1:, 0] = 1.0
    bordered[1:, 1:] = corners @ corners.T
    wanted = np.zeros(count + 1)
    wanted[0] = 1.0
    return np.asarray(np.linalg.lstsq(bordered, wanted, rcond=None)[0][1:], dtype=np.float64)
