"""SUBMODPRFTL as printed: sets of least cost with full information, by a leader over noisy sums.

    x_1 = 0
    in round t = 1 … T:
        draw τ uniformly from [0, 1] and show the set S_t = {i : x_t(i) > τ}
        see f_t, the cost of every set
        with the items in falling order of x_t, B_i the first i of them:
            g_t(i-th item) = f_t(B_i) − f_t(B_{i−1})
            a subgradient of the Lovász extension of f_t at x_t
        add g_t to a tree (discreet/papers/printed/tbap.py), which gives a noisy sum v_t
        x_{t+1} = the point x of the cube with the least ⟨v_t, x⟩ + (H/2)‖x‖₂² = clip(−v_t/H, 0, 1)

Ties among the coordinates of x_t follow the order of the items: the order must depend on x_t only.

Symbols     f_t in [−M, M] (`bound`), submodular; H the stiffness; L the length of a subgradient;
            n items
Printed     H = M√T, L = 4M, noise of a node for L. Theorem 7 prints M², its proof gives M
Verdict     not private as printed: one person moves a sum by up to 4√2·M, the noise covers 4M
Sound       The positive and the negative part of a subgradient are at most 2M in l_1 each. Both are
            scaled to that length, since clipping f_t may violate it, so one person moves a sum by
            at most 4√2·M. The guarantee holds against adaptive adversaries, as the text stresses:
            they know past noise only through the shown sets, and every f_t that they choose has a
            bounded subgradient.
Runtime     O(n log n) and n + 1 values of f_t per round; memory O(n log T)
References  Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization",
            main text, Theorems 6 and 7
"""

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.papers.printed.arguments import checked
from discreet.papers.printed.episode import Arrivals, Episode, SetValue, meet, value_of
from discreet.papers.printed.promise import AnyNoise
from discreet.papers.printed.tbap import (
    TreeSums,
    calibrated,
    gamma_nodes,
    printed_scale,
    sound_scale,
)
from discreet.papers.printed.verdict import Verdict


class Constants(NamedTuple):
    """The printed constants H and L."""

    stiffness: float
    """H"""
    length: float
    """L"""


def printed_constants(horizon: int, bound: float = 1.0) -> Constants:
    """Return the printed H = M√T and L = 4M.

    >>> printed_constants(10_000)
    Constants(stiffness=100.0, length=4.0)
    """
    return Constants(bound * sqrt(horizon), 4.0 * bound)


def sound_change(bound: float = 1.0) -> float:
    """l_2 sensitivity of a sum of subgradients: at most 4√2·M (an example reaches √24·M)."""
    return 4 * sqrt(2) * bound


def regret_bound(items: int, horizon: int, epsilon: float, bound: float = 1.0) -> float:
    """Regret bound of Theorem 7's last proof line, with the printed H and L.

    The line is 2TL²/H + Hn/2 + 4nL²T ln^1.5(T)/(εH); the largest possible regret is 2T.

    >>> round(regret_bound(10, 10_000, 1.0))
    1792631
    """
    stiffness, length = printed_constants(horizon, bound)
    learning = 2 * horizon * length**2 / stiffness + stiffness * items / 2
    noise = 4 * items * length**2 * horizon * float(log(horizon) ** 1.5) / (epsilon * stiffness)
    return learning + noise


# T = 10⁵: a change of at most 4√2·M, where L = 4M is printed; 17 nodes above a person, 18 printed.
VERDICT = Verdict(
    private=False,
    text="costs (−M, M, −M, −M) against (−M, −M, M, −M) along B_0 … B_3 move a sum by √24·M, "
    "others by up to 4√2·M; the printed noise covers 4M",
    epsilon=sound_scale(sound_change(), 100_000, 1.0) / printed_scale(4.0, 100_000, 1.0),
)


def falling_order(point: Floats) -> Integers:
    """Return the items in falling order of their coordinates; ties keep the items' order."""
    return np.argsort(-point, kind="stable")


def subgradient(function: SetValue, order: Integers) -> Floats:
    """Subgradient of the Lovász extension: f(B_i) − f(B_{i−1}) for the i-th item of an order.

    >>> subgradient(lambda chosen: float(len(chosen)) ** 2, np.array([2, 0, 1]))
    array([3., 5., 1.])
    """
    values = [value_of(function, order[:count]) for count in range(len(order) + 1)]
    gradient = np.empty(len(order))
    gradient[order] = np.diff(values)
    return gradient


def within_bounds(gradient: Floats, bound: float) -> Floats:
    """Scale the positive and the negative part of a subgradient to at most 2M in l_1 each.

    Subgradients of submodular functions in [−M, M] stay as they are.
    """
    rises = np.maximum(gradient, 0.0)
    falls = np.maximum(-gradient, 0.0)
    rise_factor = min(1.0, 2 * bound / max(float(rises.sum()), 1e-300))
    fall_factor = min(1.0, 2 * bound / max(float(falls.sum()), 1e-300))
    return np.asarray(rise_factor * rises - fall_factor * falls, dtype=np.float64)


class SubmodPrftl:
    """SUBMODPRFTL, one round at a time: `act` returns a set, `observe` takes f_t.

    Costs lie in [−`bound`, `bound`]; `guarantee` states the privacy of the run.
    """

    @checked
    def __init__(
        self,
        items: int,
        horizon: int,
        epsilon: float,
        *,
        bound: float = 1.0,
        noise: AnyNoise = "sound",
        seed: int = 0,
    ) -> None:
        self.point = np.zeros(items)
        """x_t"""
        self._stiffness, length = printed_constants(horizon, bound)
        scale, self.guarantee = calibrated(noise, epsilon, horizon, length, sound_change(bound))
        self._tree = TreeSums(items, horizon, gamma_nodes(items, scale, seed))
        self._clips = noise == "sound"
        self._bound = bound
        self._generator = np.random.default_rng([seed, 9])

    def act(self) -> Integers:
        """Return the items whose coordinates exceed a threshold drawn uniformly from [0, 1]."""
        return np.flatnonzero(self.point > self._generator.random())

    def observe(self, function: SetValue) -> None:
        """Take the person's cost of every set and move the point."""
        gradient = subgradient(function, falling_order(self.point))
        if self._clips:
            gradient = within_bounds(gradient, self._bound)
        noisy_sum = self._tree.add(gradient)
        self.point = np.clip(-noisy_sum / self._stiffness, 0.0, 1.0)


def play(arrivals: Arrivals, items: int, horizon: int, epsilon: float, **settings: Any) -> Episode:
    """Run SUBMODPRFTL on a stream of costs in [−M, M], fixed or adaptive.

    `settings` are those of `SubmodPrftl`.

    >>> costs = [lambda chosen: 0.5 * len(chosen) - 1.5 * (1 in chosen)] * 30
    >>> play(costs, 2, 30, 1000.0).sets[-1]
    array([1])
    """
    learner = SubmodPrftl(items, horizon, epsilon, **settings)
    return meet(learner, arrivals, horizon, learner.guarantee)
