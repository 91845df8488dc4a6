"""Sets of least cost as printed, and without privacy: follow the leader over a tree of noisy sums.

    x_1 = 0
    in round t = 1 … T:
        draw τ uniformly, show the set {i : x_t(i) > τ} and see f_t, the visitor's cost of every set
        add g_t, a subgradient of the Lovász extension of f_t at x_t, to a tree, which gives a noisy sum v_t
        x_{t+1} = clip(−v_t/H, 0, 1)
    with bandit feedback:
        show B_j, the j highest items of x_t, with probability p_j = (1 − γ)(x_(j) − x_(j+1)) + γ/(n + 1)
        a fair coin picks g_t: 2 f_t(B_j)/p_j at the last item shown, or −2 f_t(B_j)/p_j at the first one not
        (j = 0 or n leaves one choice, without the 2)

A node of the tree (discreet/lab/noise.py) has noise in a uniform direction, of a Gamma-distributed length. As
printed, the sum of T = 2^h vectors would be released without noise; here the root is noised like every node.

Symbols     H the stiffness, γ the exploration, L the length of one vector, M = 1 the largest cost, n items
Printed     H = M√T, L = 4M; bandit: H = M·T^(2/3), γ = n^(3/2)/T^(1/3), L = 4Mn/√γ; noise L(⌈log₂T⌉ + 1)/ε
Verdict     UNSOUND for replace-one neighbours: a sum moves by up to 4√2·M (bandit: 4M(n + 1)/γ), not by L
References  Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization"
"""

from math import ceil, inf, log2, sqrt
from typing import Any

import numpy as np

from discreet.compiled import compiled
from discreet.lab.bundle import CHUNK, BundleWorld
from discreet.lab.noise import TreeNoise, l2_gamma
from discreet.release.randomness import seeded_words

__all__ = ["cost_as_published", "cost_without_privacy", "costs_bandit", "costs_full", "tree_noise_scale"]


def tree_noise_scale(bound: float, horizon: int, epsilon: float) -> float:
    """The printed scale L(⌈log₂T⌉ + 1)/ε of the Gamma-distributed length of a node's noise (Algorithm 4).

    UNSOUND with L the length of one vector: replacing it moves the sum by up to 2L.

    >>> tree_noise_scale(4.0, 100_000, 1.0)
    72.0
    """
    return bound * (ceil(log2(horizon)) + 1) / epsilon


def costs_full(horizon: int) -> tuple[float, float]:
    """The printed stiffness H = √T and length L = 4 of subgradients, for costs in [−1, 1].

    UNSOUND: a replacement moves the sum by up to 4√2, and by √24 in an example.

    >>> costs_full(10_000)
    (100.0, 4.0)
    """
    return sqrt(horizon), 4.0


def costs_bandit(items: int, horizon: int) -> tuple[float, float, float]:
    """The printed stiffness H = T^(2/3), exploration γ = n^(3/2)/T^(1/3) and length L = 4n/√γ of estimates.

    γ is at most 1 only if T ≥ n^4.5, and clipped otherwise. UNSOUND: L is a root mean square; an estimate can
    be as long as 2(n + 1)/γ, and a replacement moves the sum by up to twice that.

    >>> [round(value, 2) for value in costs_bandit(10, 10**6)]
    [10000.0, 0.32, 71.13]
    """
    exploration = min(1.0, items**1.5 / horizon ** (1 / 3))
    return horizon ** (2 / 3), exploration, 4 * items / sqrt(exploration)


def cost_as_published(world: BundleWorld, *, epsilon: float, bandit: bool, seed: int = 0) -> float:
    """What the printed algorithm's sets cost in all; with full information on average over its thresholds τ.

    >>> world = BundleWorld.drawn(1000, items=6)
    >>> cost = cost_as_published(world, epsilon=1.0, bandit=False)
    >>> bool(cost > world.cost_of(world.best))
    True
    """
    if bandit:
        stiffness, exploration, length = costs_bandit(world.items, world.visitors)
    else:
        stiffness, length = costs_full(world.visitors)
        exploration = inf
    scale = tree_noise_scale(length, world.visitors, epsilon)
    return _run(world, stiffness, 0.0, scale, exploration, seed)


def cost_without_privacy(world: BundleWorld, stiffness: float) -> float:
    """What the sets of the plain leader clip(½ − v/H, 0, 1) cost, with full information and no noise.

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
    """The loop of the module's docstring.

    `exploration` is infinite with full information, `scale` is 0 without noise.
    """
    words = seeded_words(seed, 0)
    tree = TreeNoise(world.items)
    edges = np.ascontiguousarray(world.edges.T)
    total = np.zeros(world.items)
    point = np.full(world.items, centre)
    cost = 0.0
    _seed(seed)
    for first in range(0, world.visitors, CHUNK):
        rows = world.rows(first, min(first + CHUNK, world.visitors))
        noise = np.zeros((len(rows), world.items))
        if scale > 0:
            noise = tree.of_sums(l2_gamma(world.items, scale, words, draws=len(rows)))
        cost += _follow(rows, edges, stiffness, centre, noise, exploration, total, point)
    return float(cost)


# Below: compiled.


@compiled
def _seed(seed: Any) -> None:
    np.random.seed(seed)


@compiled
def _follow(
    rows: Any,
    edges: Any,
    stiffness: Any,
    centre: Any,
    noise: Any,
    exploration: Any,
    total: Any,
    point: Any,
) -> Any:
    """A chunk of visitors, and the noise of the sum up to each: updates total and point, returns the cost."""
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
            cost += _one_point_estimate(point, order, exploration, gradient)
        for item in range(items):
            total[item] += gradient[item]
            noisy = total[item] + noise[row, item]
            point[item] = min(1.0, max(0.0, centre - noisy / stiffness))
    return cost


@compiled
def _subgradient(row: Any, tails: Any, heads: Any, order: Any, rank: Any, gradient: Any) -> None:
    """What each item adds to the cost of those before it in the order: edges cut, less what it brings."""
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
def _one_point_estimate(point: Any, order: Any, exploration: Any, gradient: Any) -> Any:
    """Draws a set of the chain, returns its cost, puts the estimate in the gradient's place."""
    items = point.size
    lot = np.random.random()
    shown = 0  # how many items of the order are in the set
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
