"""BANDITSUBMODPRFTL as printed: sets of least cost with bandit feedback.

    x_1 = 0
    in round t = 1 … T, with the items in falling order of x_t, x_(0) = 1 and x_(n+1) = 0:
        show B_i, the first i items, with probability ρ_i = (1 − γ)(x_(i) − x_(i+1)) + γ/(n + 1)
        see only its cost f = f_t(B_i)
        i = 0:  ĝ = −f/ρ_0 at the first item of the order
        i = n:  ĝ = +f/ρ_n at the last item
        else a fair coin:  ĝ = +2f/ρ_i at the i-th item, or ĝ = −2f/ρ_i at the (i + 1)-th
        add ĝ to a tree (discreet/papers/printed/tbap.py), which gives a noisy sum v_t
        x_{t+1} = clip(−v_t/H, 0, 1)

The expectation of ĝ is the subgradient of discreet/papers/printed/submod_prftl.py. The index i and
the side of the coin are public: they do not depend on the person, and privacy is conditional on
them.

Symbols     f_t in [−M, M] (`bound`), submodular; H the stiffness; γ the exploration; L the length
            of ĝ; n items
Printed     H = M·T^(2/3), γ = n^(3/2)/T^(1/3) (clipped to 1 here: it needs T ≥ n^4.5), L = 4Mn/√γ
            L is a root mean square; ĝ can be as long as 2M(n + 1)/γ. Theorem 9 prints n; the last
            line of its proof gives n^(3/2)
Verdict     not private as printed: one person moves a sum by 4M(n + 1)/γ, the noise covers L
Sound       noise for a change of 4M(n + 1)/γ (both neighbours move the same coordinate); costs are
            clipped
Runtime     O(n log n) per round; memory O(n log T)
References  Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization",
            main text, Theorems 8 and 9
"""

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.papers.printed.arguments import checked
from discreet.papers.printed.episode import Arrivals, Episode, meet
from discreet.papers.printed.promise import AnyNoise
from discreet.papers.printed.submod_prftl import falling_order
from discreet.papers.printed.tbap import (
    TreeSums,
    calibrated,
    gamma_nodes,
    printed_scale,
    sound_scale,
)
from discreet.papers.printed.verdict import Verdict


class Constants(NamedTuple):
    """The printed constants H, γ and L."""

    stiffness: float
    """H"""
    exploration: float
    """γ"""
    length: float
    """L"""


def printed_constants(items: int, horizon: int, bound: float = 1.0) -> Constants:
    """Return the printed H = M·T^(2/3), γ = n^(3/2)/T^(1/3) (at most 1) and L = 4Mn/√γ.

    >>> [round(value, 2) for value in printed_constants(10, 10**6)]
    [10000.0, 0.32, 71.13]
    """
    exploration = min(1.0, items**1.5 / horizon ** (1 / 3))
    return Constants(bound * horizon ** (2 / 3), exploration, 4 * bound * items / sqrt(exploration))


def sound_change(items: int, exploration: float, bound: float = 1.0) -> float:
    """Sensitivity of a sum of estimates: 4M(n + 1)/γ, at one coordinate.

    >>> round(sound_change(10, 0.32))
    138
    """
    return 4 * bound * (items + 1) / exploration


def regret_bound(items: int, horizon: int, epsilon: float, bound: float = 1.0) -> float:
    """Regret bound of Theorem 9's last proof line, with the printed H and γ.

    The largest possible regret is 2T.

    >>> regret_bound(10, 10**6, 1.0) > 2 * 10**6
    True
    """
    stiffness, gamma, _ = printed_constants(items, horizon, bound)
    leader = 32 * bound**2 * items**2 * horizon / (stiffness * gamma) + items * stiffness
    exploring = 2 * gamma * bound * horizon + 8 * bound * items * sqrt(horizon / gamma)
    logarithms = float(log(horizon) ** 1.5)
    noise = 64 * items**3 * bound**2 * horizon * logarithms / (epsilon * gamma * stiffness)
    return leader + exploring + noise


# n = 10, T = 10⁵: two costs of opposite sign at the least probable B_i; 17 nodes, 18 printed.
_TYPICAL = printed_constants(10, 100_000)
VERDICT = Verdict(
    private=False,
    text="f_t(B_i) = M against −M moves a sum by 4M(n + 1)/γ at ρ_i = γ/(n + 1); the printed "
    "noise covers L",
    epsilon=sound_scale(sound_change(10, _TYPICAL.exploration), 100_000, 1.0)
    / printed_scale(_TYPICAL.length, 100_000, 1.0),
)


def chain_chances(point: Floats, order: Integers, exploration: float) -> Floats:
    """Return the probabilities ρ_0, …, ρ_n of the sets B_0, …, B_n.

    >>> chain_chances(np.array([0.25, 0.75]), np.array([1, 0]), 0.3).round(3)
    array([0.275, 0.45 , 0.275])
    """
    gaps = -np.diff(np.concatenate([[1.0], point[order], [0.0]]))
    return np.asarray((1 - exploration) * gaps + exploration / len(gaps), dtype=np.float64)


def estimate(order: Integers, chances: Floats, shown: int, heads: bool, cost: float) -> Floats:
    """Return ĝ from the cost of the set of the first `shown` items of the order."""
    items = len(order)
    gradient = np.zeros(items)
    if shown == 0:
        gradient[order[0]] = -cost / chances[0]
    elif shown == items:
        gradient[order[-1]] = cost / chances[-1]
    elif heads:
        gradient[order[shown - 1]] = 2 * cost / chances[shown]
    else:
        gradient[order[shown]] = -2 * cost / chances[shown]
    return gradient


class BanditSubmodPrftl:
    """BANDITSUBMODPRFTL, one round at a time: `act` returns a set, `observe_value` takes its cost.

    Costs lie in [−`bound`, `bound`]; `exploration` replaces the printed γ; `guarantee` states the
    privacy of the run.
    """

    @checked
    def __init__(
        self,
        items: int,
        horizon: int,
        epsilon: float,
        *,
        bound: float = 1.0,
        exploration: float | None = None,
        noise: AnyNoise = "sound",
        seed: int = 0,
    ) -> None:
        constants = printed_constants(items, horizon, bound)
        if exploration is not None:
            length = 4 * bound * items / sqrt(exploration)
            constants = Constants(constants.stiffness, exploration, length)
        self.constants = constants
        self.point = np.zeros(items)
        """x_t"""
        change = sound_change(items, constants.exploration, bound)
        scale, self.guarantee = calibrated(noise, epsilon, horizon, constants.length, change)
        self._tree = TreeSums(items, horizon, gamma_nodes(items, scale, seed))
        self._clip = bound if noise == "sound" else np.inf
        self._generator = np.random.default_rng([seed, 10])
        self._draw_set()

    def _draw_set(self) -> None:
        self._order = falling_order(self.point)
        self._chances = chain_chances(self.point, self._order, self.constants.exploration)
        chances = np.maximum(self._chances, 0.0)
        self._shown = int(self._generator.choice(len(chances), p=chances / chances.sum()))
        self._heads = bool(self._generator.random() < 0.5)

    def act(self) -> Integers:
        """Return the set B_i that was drawn when the point was computed."""
        return self._order[: self._shown]

    def observe_value(self, value: float) -> None:
        """Take the cost of the shown set and move the point."""
        cost = min(self._clip, max(-self._clip, value))
        gradient = estimate(self._order, self._chances, self._shown, self._heads, cost)
        noisy_sum = self._tree.add(gradient)
        self.point = np.clip(-noisy_sum / self.constants.stiffness, 0.0, 1.0)
        self._draw_set()


def play(arrivals: Arrivals, items: int, horizon: int, epsilon: float, **settings: Any) -> Episode:
    """Run BANDITSUBMODPRFTL on a stream of costs in [−M, M], fixed or adaptive.

    `settings` are those of `BanditSubmodPrftl`.

    >>> costs = [lambda chosen: 0.5 * len(chosen) - 1.5 * (1 in chosen)] * 30
    >>> len(play(costs, 2, 30, 1.0).sets)
    30
    """
    learner = BanditSubmodPrftl(items, horizon, epsilon, **settings)
    return meet(learner, arrivals, horizon, learner.guarantee)
