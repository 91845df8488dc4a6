"""Sets of least cost from whole costs as printed ("SUBMODPRFTL"): follow a leader over a tree of
noisy sums.

    x_1 = 0
    in round t = 1 … T:
        draw τ uniformly from [0, 1], show the set S_t = {i : x_t(i) > τ} and see f_t, the cost of
        every set with the items in falling order of x_t, B_i the first i of them:
            g_t(i-th item) = f_t(B_i) − f_t(B_{i−1}), a subgradient of the Lovász extension of f_t
            at x_t
        add g_t to a tree (discreet/papers/printed/tbap.py), which gives a noisy sum v_t
        x_{t+1} = the point x of the cube with the least ⟨v_t, x⟩ + (H/2)‖x‖₂² = clip(−v_t/H, 0, 1)

Equal coordinates of x_t keep the order of the items: the order must not depend on anything but x_t.

Symbols     f_t in [−M, M] (`bound`), submodular; H the stiffness; L the length of a subgradient; n items
Printed     H = M√T, L = 4M, noise of a node for L. Its Theorem 7 prints M², its proof gives M
Sound       subgradients have positive and negative parts of at most 2M in l_1 each (both are scaled to that,
            for clipping f_t may spoil it), so one person moves a sum by at most 4√2·M As the text
            stresses, the guarantee holds against adaptive adversaries: noise of the past is known
            to them only through what was shown, and whatever f_t they choose, its subgradient is
            bounded.
Runtime     O(n log n) a round and n + 1 values of f_t; memory O(n log T)
References  Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization", Theorems 6, 7
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
    """What is printed."""

    stiffness: float
    """H"""
    length: float
    """L"""


def printed_constants(horizon: int, bound: float = 1.0) -> Constants:
    """H = M√T and L = 4M.

    >>> printed_constants(10_000)
    Constants(stiffness=100.0, length=4.0)
    """
    return Constants(bound * sqrt(horizon), 4.0 * bound)


def sound_change(bound: float = 1.0) -> float:
    """How far one person can move a sum of subgradients in l_2: at most 4√2·M, and √24·M in an
    example.
    """
    return 4 * sqrt(2) * bound


def regret_bound(items: int, horizon: int, epsilon: float, bound: float = 1.0) -> float:
    """The last line of Theorem 7's proof, 2TL²/H + Hn/2 + 4nL²T ln^1.5(T)/(εH), with the printed H
    and L.

    >>> round(regret_bound(10, 10_000, 1.0))                # there are 2T = 20,000 to lose
    1792631
    """
    stiffness, length = printed_constants(horizon, bound)
    learning = 2 * horizon * length**2 / stiffness + stiffness * items / 2
    return learning + 4 * items * length**2 * horizon * float(log(horizon) ** 1.5) / (
        epsilon * stiffness
    )


# T = 10⁵: a change of at most 4√2·M, where L = 4M is printed, in 17 nodes above a person of 18
# printed.
VERDICT = Verdict(
    private=False,
    text="costs (−M, M, −M, −M) against (−M, −M, M, −M) along B_0 … B_3 move a sum by √24·M, "
    "others by up to "
    "4√2·M; the printed noise covers 4M",
    epsilon=sound_scale(sound_change(), 100_000, 1.0) / printed_scale(4.0, 100_000, 1.0),
)


def falling_order(point: Floats) -> Integers:
    """The items, those with the largest coordinates first."""
    return np.argsort(-point, kind="stable")


def subgradient(function: SetValue, order: Integers) -> Floats:
    """f(B_i) − f(B_{i−1}) for the i-th item of an order.

    >>> subgradient(lambda chosen: float(len(chosen)) ** 2, np.array([2, 0, 1]))
    array([3., 5., 1.])
    """
    values = [value_of(function, order[:count]) for count in range(len(order) + 1)]
    gradient = np.empty(len(order))
    gradient[order] = np.diff(values)
    return gradient


def _within_bounds(gradient: Floats, bound: float) -> Floats:
    """The positive and the negative part, each scaled to 2M in l_1 if it is more: genuine ones
    stay.
    """
    rises, falls = np.maximum(gradient, 0.0), np.maximum(-gradient, 0.0)
    fewer = [min(1.0, 2 * bound / max(float(part.sum()), 1e-300)) for part in (rises, falls)]
    return np.asarray(fewer[0] * rises - fewer[1] * falls, dtype=np.float64)


class SubmodPrftl:
    """The algorithm, one round at a time: `act` shows a set, `observe` takes f_t.

    Costs lie in [−`bound`, `bound`]; `guarantee` says what the noise promises.
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
        """The items above a threshold that is drawn uniformly."""
        return np.flatnonzero(self.point > self._generator.random())

    def observe(self, function: SetValue) -> None:
        """What every set would have cost."""
        gradient = subgradient(function, falling_order(self.point))
        if self._clips:
            gradient = _within_bounds(gradient, self._bound)
        self.point = np.clip(-self._tree.add(gradient) / self._stiffness, 0.0, 1.0)


def play(arrivals: Arrivals, items: int, horizon: int, epsilon: float, **settings: Any) -> Episode:
    """Every set that the algorithm shows, for any stream of costs in [−M, M], adaptive or not.

    `settings` are those of `SubmodPrftl`.

    >>> spoils = [lambda chosen: 0.5 * len(chosen) - 1.5 * (1 in chosen)] * 30
    >>> play(spoils, 2, 30, 1000.0).sets[-1]
    array([1])
    """
    learner = SubmodPrftl(items, horizon, epsilon, **settings)
    return meet(learner, arrivals, horizon, learner.guarantee)
