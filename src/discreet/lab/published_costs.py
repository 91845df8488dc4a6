"""Online submodular minimisation as it is printed, and without privacy: for comparison only, in floating point.

Each round's subgradient (or one-point estimate) goes into the paper's tree with l₂-Gamma noise, and the next point is
clip(centre − v/H, 0, 1). With the paper's constants the result is NOT ε-differentially private as claimed:

* replacing one visitor moves a subgradient by up to 4√2·M (bandit: 4M(n + 1)/γ), and the noise is scaled to 4M (4Mn/√γ);
* what is printed as the sum of T = 2^h vectors would be released without noise; here the root is noised like every node.

References  Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization"
"""

from math import inf
from typing import Any

import numpy as np

from discreet.lab.bundle import CHUNK, BundleWorld
from discreet.release.calibrations.published import costs_bandit, costs_full, tree_noise_scale
from discreet.release.kernels import compiled

__all__ = ["cost_as_published", "cost_without_privacy"]


def cost_as_published(world: BundleWorld, *, epsilon: float, bandit: bool, seed: int = 0) -> float:
    """What the printed algorithm's sets cost in all, on average over its thresholds."""
    if bandit:
        stiffness, explore, length = costs_bandit(world.items, world.visitors)
    else:
        (stiffness, length), explore = costs_full(world.visitors), inf
    return _run(world, stiffness, 0.0, tree_noise_scale(length, world.visitors, epsilon), explore, seed)


def cost_without_privacy(world: BundleWorld, stiffness: float) -> float:
    """What the sets of the plain leader cost, with full information and a new point every round."""
    return _run(world, stiffness, 0.5, 0.0, inf, 0)


def _run(world: BundleWorld, stiffness: float, centre: float, noise: float, explore: float, seed: int) -> float:
    levels = world.visitors.bit_length() + 1
    exact, noised = np.zeros((2, levels, world.items))
    tails, heads = np.ascontiguousarray(world.edges.T)
    point, cost = np.full(world.items, centre), 0.0
    _seed(seed)
    for first in range(0, world.visitors, CHUNK):
        rows = world.rows(first, min(first + CHUNK, world.visitors))
        cost += float(_follow(rows, tails, heads, first, stiffness, centre, noise, explore, exact, noised, point))
    return cost


@compiled
def _seed(seed: Any) -> None:
    np.random.seed(seed)


@compiled
def _follow(
    rows: Any, tails: Any, heads: Any, before: Any, stiffness: Any, centre: Any, noise: Any, explore: Any, exact: Any, noised: Any,
    point: Any,
) -> Any:  # fmt: skip
    """One chunk of visitors; `explore` is infinite with full information. Updates the tree and the point, returns the cost."""
    items, edges, cost = point.size, tails.size, 0.0
    rank, values, gradient, chances = np.empty(items, np.int64), np.empty(items + 1), np.empty(items), np.empty(items + 1)
    for row in range(rows.shape[0]):
        order = np.argsort(-point, kind="mergesort")
        for place in range(items):
            rank[order[place]] = place
        gradient[:] = -rows[row, edges:]
        for edge in range(edges):
            tail, head, weight = tails[edge], heads[edge], rows[row, edge]
            first, second = (tail, head) if rank[tail] < rank[head] else (head, tail)
            gradient[first] += weight
            gradient[second] -= weight
        if np.isinf(explore):
            cost += np.sum(gradient * point)
        else:
            values[0] = 0.0
            for place in range(items):
                values[place + 1] = values[place] + gradient[order[place]]
            above = 1.0
            for place in range(items + 1):
                here = point[order[place]] if place < items else 0.0
                chances[place] = (1 - explore) * (above - here) + explore / (items + 1)
                above = here
            lot, index = np.random.random(), 0
            while index < items and lot >= chances[index]:
                lot -= chances[index]
                index += 1
            cost += values[index]
            gradient[:] = 0.0
            if index == 0:
                gradient[order[0]] = -values[0] / chances[0]
            elif index == items:
                gradient[order[items - 1]] = values[items] / chances[items]
            elif np.random.random() < 0.5:
                gradient[order[index - 1]] = 2 * values[index] / chances[index]
            else:
                gradient[order[index]] = -2 * values[index] / chances[index]
        time, level = before + row + 1, 0
        while time >> level & 1 == 0:  # all smaller nodes end here: they become one
            gradient += exact[level]
            exact[level] = 0.0
            noised[level] = 0.0
            level += 1
        exact[level] = gradient
        noised[level] = gradient
        if noise > 0:
            direction = np.random.standard_normal(items)
            noised[level] += direction / np.sqrt(np.sum(direction**2)) * np.random.gamma(items, noise)
        for item in range(items):
            point[item] = min(1.0, max(0.0, centre - np.sum(noised[:, item]) / stiffness))
    return cost
