"""The set of least cost in hindsight, for cuts plus a modular term, by maximum flow.

References  Picard, Ratliff (1975), "Minimum Cuts and Related Problems"
"""

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError

RESOLUTION = 2**29
"""Weights are rounded to this fraction of the largest: SciPy's flow takes 32-bit capacities."""


def least_cut(
    edges: Integers, weights: Floats, modular: Floats, *, directed: bool = False
) -> Integers:
    """Return the smallest set that minimises (weights of cut edges) + Σ modular, up to rounding.

    >>> least_cut(np.array([[0, 1], [1, 2]]), np.array([0.5, 0.1]), np.array([-1.0, 0.2, 0.3]))
    array([0, 1])
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    items = len(modular)
    source, sink = items, items + 1
    if (np.asarray(weights) < 0).any():
        raise ConfigError("weights of edges must not be negative: cuts would not be submodular")
    tails, heads = np.asarray(edges, dtype=np.int64).reshape(-1, 2).T
    gains = np.flatnonzero(modular < 0)
    losses = np.flatnonzero(modular > 0)
    # An item on the source's side is chosen: the edge of its gain is not cut, that of its loss is.
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
