"""PFTAL on the simplex as printed: a tree-based private expert that may replace Hedge.

    w_1 = (1/n, …, 1/n)
    in round t = 1 … T:
        draw action a with probability w_t(a)
        add the gains g_t to a tree (discreet/papers/printed/tbap.py), which gives a noisy sum v_t
        w_{t+1} = the point w of the simplex with the least −⟨v_t, w⟩ + (H/2)·Σ_{τ≤t} ‖w − w_τ‖₂²
                = the projection of mean(w_1, …, w_t) + v_t/(H·t)

Symbols     g_t in [0, 1]^n, so ‖g_t‖₂ ≤ L = √n; H the stiffness; n actions; T the horizon
Printed     noise for L = √n. H is not printed; its theorem suggests √(n ln^2.5(T)/(εT)), the
            default
Verdict     private as printed: a sum of gains moves by at most √n when one person is replaced,
            since every coordinate of g − g′ is within [−1, 1]; so L bounds the change as well
Sound       coincides with printed, up to the number of levels
References  Thakurta, Smith (2013), "(Nearly) Optimal Algorithms for Private Online Learning in
            Full-information and Bandit Settings", Algorithm PFTAL; Perez-Salazar, Cummings (2021),
            Section 3
"""

from math import log, sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.optim.domains import Simplex
from discreet.papers.printed.lp_geometry import finite
from discreet.papers.printed.tbap import TreeSums, gamma_nodes, printed_levels, printed_scale


def printed_stiffness(actions: int, horizon: int, epsilon: float) -> float:
    """Return the stiffness √(n ln^2.5(T)/(εT)) that the form of Theorem 10 suggests.

    >>> round(printed_stiffness(10, 1000, 1.0), 3)
    1.12
    """
    return sqrt(actions * log(max(horizon, 2)) ** 2.5 / (epsilon * horizon))


def tree_epsilon_spent(epsilon: float, horizon: int) -> float:
    """Return the ε of the printed noise: a person is in ⌊log₂T⌋ + 1 of the printed levels.

    >>> tree_epsilon_spent(1.0, 8), tree_epsilon_spent(1.0, 7)
    (1.0, 0.75)
    """
    return epsilon * horizon.bit_length() / printed_levels(horizon)


def regret_bound(actions: int, slots: int, horizon: int, epsilon: float) -> float:
    """Printed regret k²√(|U| T ln^2.5 T)/ε of FI-DP with these experts, with 1 for O(·).

    >>> round(regret_bound(100, 5, 100_000, 1.0))
    1676572
    """
    return slots**2 * sqrt(actions * horizon * log(horizon) ** 2.5) / epsilon


class TreeExpert:
    """One copy of PFTAL on the simplex, with pure ε.

    >>> expert = TreeExpert(3, 4, epsilon=1e9)
    >>> expert.feed(np.array([0.0, 1.0, 0.2]))
    >>> expert.chances.round(2)
    array([0., 1., 0.])
    """

    def __init__(
        self,
        actions: int,
        horizon: int,
        epsilon: float,
        *,
        stiffness: float | None = None,
        seed: int = 0,
    ) -> None:
        self.chances: Floats = np.full(actions, 1 / actions)
        if stiffness is None:
            stiffness = printed_stiffness(actions, horizon, epsilon)
        self._stiffness = float(stiffness)
        scale = printed_scale(sqrt(actions), horizon, epsilon)
        self._tree = TreeSums(actions, horizon, gamma_nodes(actions, scale, seed))
        self._simplex = Simplex(actions)
        self._visited = np.zeros(actions)

    def draw(self, generator: np.random.Generator) -> int:
        """Draw an action."""
        return int(generator.choice(len(self.chances), p=self.chances))

    def feed(self, gains: Floats) -> None:
        """Add the gains of a round, one per action, clipped to [0, 1]."""
        noisy = self._tree.add(np.clip(finite(gains), 0.0, 1.0))
        self._visited += self.chances
        rounds = self._tree.clock
        point = self._simplex.project((self._visited + noisy / self._stiffness) / rounds)
        positive = np.maximum(point, 0.0)
        self.chances = positive / positive.sum()
