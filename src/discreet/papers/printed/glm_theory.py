"""Theorems about the printed GLM bandit, with all their constants.

The algorithm is in discreet/papers/printed/glm_bandit.py.

References  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications in
            High Dimensional Online Decision Making", Section 4 and Appendix B
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, log, sqrt

import numpy as np

from discreet.budget.conversion import epsilon_of
from discreet.papers.printed.streaming_frank_wolfe_l1 import printed_scale


def printed_warm_up_by_order(features: int, horizon: int, epsilon: float) -> int:
    """Return the printed order of t_0, ln(dT)·ln T/ε² pulls per arm, with 1 for its constant.

    >>> printed_warm_up_by_order(100, 100_000, 1.0)
    186
    """
    return ceil(log(features * horizon) * log(horizon) / epsilon**2)


def printed_warm_up_by_theorem(
    features: int, horizon: int, epsilon: float, delta: float = 1e-6
) -> float:
    """Return the least t_0 of Theorem 4.8's proof and Lemma B.3, in the kindest world (`Theory`).

    >>> printed_warm_up_by_theorem(100, 100_000, 1.0) > 5e7 > 100_000
    True
    """
    return max(Theory(features, horizon, epsilon, delta).least_warm_ups.values())


def epsilon_of_warm_up(
    arms: int, warm_up: int, horizon: int, epsilon: float, delta: float
) -> float:
    """Return the ε for a person of the warm-up, if steps are numbered as in line 17.

    After t_0 steps of an arm the person has weight 1/(t_0 + 1) in its d, and then weight
    (K·t_0 + 1)/((t_0 + 1)(t + 1)) in round t, with the noise of step t. A draw is ε_t-private with
    ε_t = ε√t·weight/(2√(ln T·ln(1/δ))), as in the proof, whose weight is 1/(t + 1).

    >>> [round(epsilon_of_warm_up(arms, 186, 100_000, 1.0, 1e-6), 2) for arms in (1, 5, 20)]
    [0.56, 2.08, 7.89]
    """
    if horizon < 2:  # ln 1 = 0: no noise
        return inf
    steps = np.arange(1, warm_up + 1)
    rounds = np.arange(arms * warm_up + 1, horizon + 1)
    weights = (arms * warm_up + 1) / ((warm_up + 1) * (rounds + 1))
    squares = float(np.sum(steps / (steps + 1) ** 2)) + float(np.sum(rounds * weights**2))
    return epsilon_of(squares * epsilon**2 / (8 * log(horizon) * log(1 / delta)), delta)


@dataclass(frozen=True)
class Theory:
    """The bounds of the text's Section 4 with all constants; the default world is the kindest.

    Two steps of the proofs need more. Assumption 4.3 makes the loss strongly convex in l_2; in l_1,
    as in Lemma B.3, λ would have to be divided by d, and the regret is not logarithmic in d.
    Furthermore γ, the distance of θ* from the boundary, at most D/2, has to be at least
    3·G_1/(2√2·μ), which is an assumption.

    >>> kind = Theory(100, 100_000, 1.0, 1e-6)
    >>> [f"{name}: {least:.0e}" for name, least in kind.least_warm_ups.items() if least > 100_000]
    ['G_2²/ln: 4e+06', 'G_4/ln: 4e+08', 'C_in/(9 ln): 4e+06', 'B.3: 1e+10']
    """

    features: int
    horizon: int
    epsilon: float
    delta: float
    diameter: float = 1.0
    """D"""
    context_bound: float = 1.0
    """M"""
    steepest: float = 1.0
    """β ≥ ζ′"""
    flattest: float = 1.0
    """μ ≤ ζ′"""
    lipschitz: float = 1.0
    """L, and G, the distance of a gradient from its mean"""
    eigenvalue: float = 1.0
    """λ of Assumption 4.3"""
    chance: float = 1.0
    """u of Assumption 4.2"""
    margin: float = 1.0
    """ν of Assumption 4.4"""
    gap: float = 1.0
    """h_sub"""
    alpha: float = 0.05
    """Probability that a bound fails"""

    def warm_up_error(self, alpha: float) -> float:
        """C_sc(α) of Lemma B.2 without the γ of Theorem 3.13: ‖θ − θ*‖₁ ≤ C_sc/√t in warm-up."""
        d, n = self.features, self.horizon
        reach = self.steepest * self.diameter + self.lipschitz
        sampling = 8 * self.diameter * reach * sqrt(log(8 * d * n / alpha))
        noise = 16 * self.diameter * reach * log(4 * d * n / alpha) / self.epsilon
        noise *= sqrt(log(n) * log(1 / self.delta))
        convexity = self.chance * self.flattest * self.eigenvalue
        return 3 * (self.steepest * self.diameter**2 + sampling + noise) / sqrt(convexity)

    @property
    def drift(self) -> float:
        """G_1."""
        product = 2 * self.steepest * self.diameter**2 * self.context_bound * self.margin
        return product / sqrt(self.flattest)

    @property
    def excess(self) -> float:
        """C_in(α) of Theorem 4.8: F_t(θ_t) − F_t(θ*) ≤ C_in/t after the warm-up."""
        logarithm = log(self.features * self.horizon)
        quick = max(
            4.0,
            9 * logarithm / self.epsilon**2,
            36 * (logarithm / (self.epsilon * self.drift)) ** 2,
        )
        known = self.warm_up_error(self.alpha)
        return max(quick, self.eigenvalue * self.steepest * self.flattest * known**2)

    def regret_bound(self, warm_up: float) -> float:
        """Bound of Theorem 4.9, t_0 + νM²β²C_in ln T + 2Mβ√(C_in ln T ln(4/α)), with its proof's ν.

        The warm-up takes K·t_0 rounds, of which the bound counts t_0. The largest regret here is
        10⁵:

        >>> f"{Theory(100, 100_000, 1.0, 1e-6).regret_bound(186):.0e}"
        '7e+09'
        """
        gain = self.context_bound * self.steepest
        spent = self.excess * log(self.horizon)
        spread = 2 * gain * sqrt(spent * log(4 / self.alpha))
        return warm_up + self.margin * gain**2 * spent + spread

    @cached_property
    def least_warm_ups(self) -> dict[str, float]:
        """Lower bounds of t_0 at the end of Appendix B.1 and in Lemma B.3, by their names there."""
        d = self.features
        n = self.horizon
        beta = self.steepest
        bound = self.context_bound
        diameter = self.diameter
        failing = self.alpha / (2 * self.horizon)
        logarithm = log(d * n / self.alpha)
        known = self.warm_up_error(self.alpha)
        first = self.drift
        noise = printed_scale(
            1, beta * diameter + self.lipschitz, diameter, n, self.epsilon, self.delta
        )
        second = noise * 4 * log(2 * d / failing)
        root = sqrt(log((d + n) / failing))
        third = diameter * (bound * diameter + beta) * root
        fourth = 1.0
        for _ in range(50):  # the text's G_4 contains √t_0: the least t_0 ≥ G_4/ln, from below
            error = self.warm_up_error(failing / (2 * (d + fourth)))
            most = diameter * beta * (bound * diameter + error * (bound + root) * sqrt(fourth))
            fourth = max(1.0, (most + self.lipschitz * diameter**2 / 2) / logarithm)
        return {
            "G_1²": first**2,
            "G_2²/ln": second**2 / logarithm,
            "G_3²": third**2,
            "G_4/ln": fourth,
            "C_in/(9 ln)": self.excess / (9 * logarithm),
            "B.3": (known * 4 * beta * bound / self.gap) ** 2,
        }
