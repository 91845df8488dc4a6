"""Total cost of the published minimisation algorithms in the bundle world, by compiled passes.

The algorithms are those of discreet/papers/printed/submod_prftl.py and bandit_submod_prftl.py, with
their printed constants, for streams that are too long for plain loops. Costs of the bundle world
lie within their bounds, so nothing is clipped. With full information the cost of a set is its
expectation over the threshold τ.

References  Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization"
"""

from math import inf

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.compiled import compiled
from discreet.papers.noise import TreeNoise, l2_gamma
from discreet.papers.printed import bandit_submod_prftl, submod_prftl
from discreet.papers.printed.promise import Noise
from discreet.papers.printed.tbap import calibrated
from discreet.release.randomness import seeded_bits
from discreet.simulate.problems.costs import CHUNK, BundleWorld


def cost_as_published(
    world: BundleWorld,
    *,
    epsilon: float,
    bandit: bool,
    noise: Noise = "sound",
    seed: int = 0,
) -> float:
    """Return the total cost of a published algorithm's sets in a world.

    With full information it is the expected cost over the thresholds τ.

    >>> world = BundleWorld.drawn(1000, items=6)
    >>> cost = cost_as_published(world, epsilon=1.0, bandit=False)
    >>> bool(cost > world.cost_of(world.best))
    True
    """
    if bandit:
        stiffness, exploration, length = bandit_submod_prftl.printed_constants(
            world.items, world.visitors
        )
        change = bandit_submod_prftl.sound_change(world.items, exploration)
    else:
        stiffness, length = submod_prftl.printed_constants(world.visitors)
        exploration, change = inf, submod_prftl.sound_change()
    scale, _ = calibrated(noise, epsilon, world.visitors, length, change, none=False)
    return _run(world, stiffness, 0.0, scale, exploration, seed)


def cost_without_privacy(world: BundleWorld, stiffness: float) -> float:
    """Return the total cost of the leader clip(½ − v/H, 0, 1) with full information, no noise.

    >>> world = BundleWorld.drawn(1000, items=6)
    >>> bool(cost_without_privacy(world, 10.0) < world.naive)
    True
    """
    return _run(world, stiffness, 0.5, 0.0, inf, 0)


def _run(
    world: BundleWorld,
    stiffness: float,
    centre: float,
    scale: float,
    exploration: float,
    seed: int,
) -> float:
    """Return the total cost of one run over all visitors, chunk by chunk.

    `exploration` is infinite with full information, `scale` is 0 without noise.
    """
    bits = seeded_bits(seed, 0)
    tree = TreeNoise(world.items)
    edges = np.ascontiguousarray(world.edges.T)
    total = np.zeros(world.items)
    point = np.full(world.items, centre)
    cost = 0.0
    seed_kernels(seed)
    for first in range(0, world.visitors, CHUNK):
        rows = world.rows(first, min(first + CHUNK, world.visitors))
        noise = np.zeros((len(rows), world.items))
        if scale > 0:
            noise = tree.of_sums(l2_gamma(world.items, scale, bits, draws=len(rows)))
        cost += _follow(rows, edges, stiffness, centre, noise, exploration, total, point)
    return float(cost)


# Below: compiled.


@compiled
def seed_kernels(seed: int) -> None:
    np.random.seed(seed)


@compiled
def _follow(
    rows: Floats,
    edges: Integers,
    stiffness: float,
    centre: float,
    noise: Floats,
    exploration: float,
    total: Floats,
    point: Floats,
) -> float:
    """Run the leader on a chunk of visitors: update `total` and `point`, return the cost.

    Row t of `noise` is the noise of the sum up to visitor t of the chunk.
    """
    tails, heads = edges
    items = point.size
    rank = np.empty(items, np.int64)
    gradient = np.empty(items)
    cost = 0.0
    for row in range(rows.shape[0]):
        order = np.argsort(-point, kind="mergesort")
        _subgradient(rows[row], tails, heads, order, rank, gradient)
        if np.isinf(exploration):
            cost += np.sum(gradient * point)
        else:
            cost += one_point_estimate(point, order, exploration, gradient)
        for item in range(items):
            total[item] += gradient[item]
            noisy = total[item] + noise[row, item]
            point[item] = min(1.0, max(0.0, centre - noisy / stiffness))
    return cost


@compiled
def _subgradient(
    row: Floats, tails: Integers, heads: Integers, order: Integers, rank: Integers, gradient: Floats
) -> None:
    """Write into `gradient` the cost that each item adds to the items before it in the order.

    The cost of a set is the weight of the edges that it cuts, less the values of its items.
    """
    edges = tails.size
    for place in range(order.size):
        rank[order[place]] = place
    gradient[:] = -row[edges:]
    for edge in range(edges):
        tail = tails[edge]
        head = heads[edge]
        first, second = (tail, head) if rank[tail] < rank[head] else (head, tail)
        gradient[first] += row[edge]
        gradient[second] -= row[edge]


@compiled
def one_point_estimate(
    point: Floats, order: Integers, exploration: float, gradient: Floats
) -> float:
    """Draw a set of the chain, return its cost, and overwrite `gradient` with the estimate."""
    items = point.size
    lot = np.random.random()
    shown = 0  # number of items of the order in the set
    cost = 0.0
    above = 1.0
    while True:
        here = point[order[shown]] if shown < items else 0.0
        chance = (1 - exploration) * (above - here) + exploration / (items + 1)
        if shown == items or lot < chance:
            break
        lot -= chance
        above = here
        cost += gradient[order[shown]]
        shown += 1
    gradient[:] = 0.0
    if shown == 0:
        gradient[order[0]] = -cost / chance
    elif shown == items:
        gradient[order[items - 1]] = cost / chance
    elif np.random.random() < 0.5:
        gradient[order[shown - 1]] = 2 * cost / chance
    else:
        gradient[order[shown]] = -2 * cost / chance
    return cost
