"""One set by continuous greedy with noise, as printed ("DPCG"): K noisy gradients, K corners, their
mean.

    x^(1) = 0
    for k = 1 … K:
        draw Y^(k), one number an item: Lap(λ) each, or N(0, σ²) each
        v_k = the v in P with the largest ⟨v, ∇f(x^(k)) + Y^(k)⟩
        x^(k+1) = x^(k) + v_k / K
    x = x^(K+1), rounded to a set by coins that see no data

Symbols     V the items, F(S) what a set is worth to everybody, f its multilinear extension; P all mixtures of
            feasible sets; Δ how far one person can move F; rank(M) the size of a matroid's bases,
            c_min the least cost in a knapsack with budget 1; R the largest ‖x‖₁ in P: rank(M) or
            1/c_min m_F = max F({i}), which bounds the smoothness L of f; K the steps
Printed     λ = 2K|V|Δ/ε, or 4√(2K ln(1/δ))·|V|Δ/ε with a δ; σ = 2cK√|V|·Δ/ε with c² > 2 ln(1.25K/δ), ε < 1
            E f(x) ≥ (1 − 1/e)·f(x*) − 2R·E‖Y‖_∞ − L·R²/(2K)
Verdict     SOUND, with more noise than needed: with K = 6 and δ = 1e-6, what is called ε = 1 really is
            0.5 (Laplace, pure), 0.12 (Laplace, with δ) and 0.15 (Gaussian); see `epsilon_spent` K
            must be public: the default balances the bound for m_F ≤ people·Δ, as m_F itself is
            data. The bound is above 0 from 7.7 million people on, for 300 sites and 10 of them (see
            `utility_bound`)
Runtime     one gradient of everybody a step
References  Sadeghi, Fazel (2021), "Differentially Private Monotone Submodular Maximization Under Matroid and
            Knapsack Constraints", Algorithm 1 and appendix 1
"""

from dataclasses import dataclass
from math import e, inf, log, sqrt
from typing import Literal

import numpy as np

from discreet import require
from discreet.arrays import Floats
from discreet.budget.conversion import epsilon_of, rho_of
from discreet.errors import ConfigError
from discreet.functions.places import Nearby, Types
from discreet.functions.sets import SetFunctions
from discreet.optim.knapsack import Knapsack
from discreet.optim.rounding import Matroid, rounded_knapsack, swap_rounded
from discreet.papers.printed.arguments import checked, needs_sets
from discreet.papers.printed.population import Population
from discreet.papers.printed.promise import Noise, promise
from discreet.papers.printed.verdict import Verdict

Law = Literal["laplace", "gaussian"]
MOST_STEPS = 2**20


@dataclass(frozen=True)
class Calibration:
    """How much noise a step has, for people whose set functions lie in [0, Δ] with Δ = 1.

    Parameters
    ----------
    law
        "laplace" or "gaussian".
    noise
        "printed", or "sound": what the same guarantee needs if the K steps are accounted for
        tightly, and if F is a sum over people, so that one of them moves a coordinate of ∇f by at
        most Δ, not 2Δ.
    items
        |V|.
    epsilon, delta
        What is asked for. Gaussian noise needs a δ.
    clip
        With "sound", the length to which everybody's gradient is shortened: in l_1 for Laplace
        noise, in l_2 for Gaussian noise. Gradients are not negative, so that two of them are 2·clip
        or √2·clip apart.

    >>> Calibration("laplace", "printed", 300, 1.0).scale(steps=2)
    1200.0
    >>> round(Calibration("gaussian", "printed", 300, 1.0, 1e-6).scale(steps=6), 1)
    1169.5
    >>> round(Calibration("gaussian", "sound", 300, 1.0, 1e-6).scale(steps=6), 1)
    192.2
    """

    law: Law
    noise: Noise
    items: int
    epsilon: float
    delta: float = 0.0
    clip: float | None = None

    def __post_init__(self) -> None:
        require.one_of("law", self.law, ("laplace", "gaussian"))
        require.one_of("noise", self.noise, ("sound", "printed"))
        if self.law == "gaussian" and self.delta <= 0:
            raise ConfigError("Gaussian noise needs delta > 0: ask for it, or for law='laplace'")
        if self.clip is not None and (self.noise == "printed" or not self.clip > 0):
            raise ConfigError(
                f"clip must be above 0, and is for noise='sound' only, got {self.clip!r}"
            )

    @property
    def norm(self) -> int:
        """In which norm gradients are measured."""
        return 1 if self.law == "laplace" else 2

    @property
    def moved(self) -> float:
        """How far one person moves the gradient in that norm: |V|Δ or √|V|·Δ at most, less if
        clipped.
        """
        most = float(self.items) if self.law == "laplace" else sqrt(self.items)
        apart = 2.0 if self.law == "laplace" else sqrt(2)
        return most if self.clip is None else min(most, apart * self.clip)

    def scale(self, steps: int) -> float:
        """λ of Laplace, σ of Gaussian noise, for K steps."""
        if self.noise == "printed":
            if self.law == "gaussian":
                return (
                    2
                    * sqrt(2 * log(1.25 * steps / self.delta))
                    * steps
                    * sqrt(self.items)
                    / self.epsilon
                )
            factor = 4 * sqrt(2 * steps * log(1 / self.delta)) if self.delta > 0 else 2 * steps
            return factor * self.items / self.epsilon
        composed = (
            self.moved * sqrt(steps / (2 * rho_of(self.epsilon, self.delta))) if self.delta else inf
        )
        return (
            composed if self.law == "gaussian" else min(composed, self.moved * steps / self.epsilon)
        )

    def epsilon_spent(self, steps: int) -> float:
        """What the K steps really cost at this δ.

        A step of Laplace noise is moved/λ-DP, hence (moved/λ)²/2-zCDP; one of Gaussian noise
        (moved/σ)²/2-zCDP.

        >>> steps = 6
        >>> Calibration("laplace", "printed", 300, 1.0).epsilon_spent(steps)
        0.5
        >>> round(Calibration("laplace", "printed", 300, 1.0, 1e-6).epsilon_spent(steps), 3)
        0.116
        >>> round(Calibration("gaussian", "printed", 300, 1.0, 1e-6).epsilon_spent(steps), 3)
        0.146
        """
        each = self.moved / self.scale(steps)
        composed = epsilon_of(steps * each**2 / 2, self.delta)
        return composed if self.law == "gaussian" else min(composed, steps * each)

    def largest_noise(self, steps: int) -> float:
        """E‖Y‖_∞: λ·H_|V| exactly, or σ√(2 ln 2|V|) at most."""
        if self.law == "laplace":
            return self.scale(steps) * float(np.sum(1 / np.arange(1, self.items + 1)))
        return self.scale(steps) * sqrt(2 * log(2 * self.items))

    def loss(self, steps: int, largest_sum: float, smoothness: float) -> float:
        """What the bound takes off (1 − 1/e)·f(x*): 2R·E‖Y‖_∞ + L·R²/(2K)."""
        return 2 * largest_sum * self.largest_noise(steps) + smoothness * largest_sum**2 / (
            2 * steps
        )

    def balanced_steps(self, largest_sum: float, smoothness: float) -> int:
        """The K for which the bound takes off least (no K is printed).

        >>> Calibration("gaussian", "printed", 300, 1.0, 1e-6).balanced_steps(10, 10_000)
        6
        """
        low, high = 1, MOST_STEPS
        while low < high:  # it falls, then rises
            middle = (low + high) // 2
            rises = self.loss(middle + 1, largest_sum, smoothness) >= self.loss(
                middle, largest_sum, smoothness
            )
            low, high = (low, middle) if rises else (middle + 1, high)
        return low


VERDICT = Verdict(
    private=True,
    text="noise is for twice what a person moves a gradient by, and the ε of K steps are added up "
    "(K = 6)",
    epsilon=Calibration("gaussian", "printed", 300, 1.0, 1e-6).epsilon_spent(6),
)


def largest_sum(domain: Matroid | Knapsack) -> float:
    """R, the largest ‖x‖₁ of a point: the rank of a matroid, 1/c_min of a knapsack.

    >>> largest_sum(Knapsack((1.0, 2.0, 4.0), budget=4.0))
    4.0
    """
    if not isinstance(domain, Knapsack):
        return float(domain.rank)
    least = float(domain.shares[:, domain.affordable].min(axis=1).max())
    if least <= 0:
        raise ConfigError(
            "the printed bound needs costs above 0: an item that is free has no 1/c_min"
        )
    return 1 / least


def utility_bound(
    optimum: float,
    people: int,
    domain: Matroid | Knapsack,
    calibration: Calibration,
    *,
    steps: int | None = None,
) -> float:
    """What the printed guarantee promises of f(x), with L ≤ m_F ≤ people: informative above 0.

    10⁴ people, 300 sites, 10 of them, even if the best sites served everybody in full:

    >>> from discreet.domains import UniformMatroid
    >>> gaussian = Calibration("gaussian", "printed", 300, 1.0, 1e-6)
    >>> f"{utility_bound(1e4, 10**4, UniformMatroid(300, 10), gaussian):,.0f} of 10,000"
    '-160,675 of 10,000'
    >>> [utility_bound(n, n, UniformMatroid(300, 10), gaussian) > 0 for n in (7_600_000, 7_700_000)]
    [False, True]
    """
    most = largest_sum(domain)
    taken = calibration.balanced_steps(most, people) if steps is None else steps
    return (1 - 1 / e) * optimum - calibration.loss(taken, most, people)


@dataclass(frozen=True, eq=False)
class Found:
    """Where the steps led."""

    path: Floats
    """x^(1), …, x^(K+1), one row each."""
    chosen: list[int]
    """The set that the last point was rounded to."""
    scale: float
    """Of the noise."""
    guarantee: str
    """What the run promises."""

    @property
    def point(self) -> Floats:
        """x^(K+1)."""
        last: Floats = self.path[-1]
        return last

    @property
    def steps(self) -> int:
        """K."""
        return len(self.path) - 1


@checked
def run(
    people: Floats,
    function: SetFunctions | Nearby | Types,
    domain: Matroid | Knapsack,
    epsilon: float,
    delta: float = 0.0,
    *,
    law: Law = "gaussian",
    noise: Noise = "sound",
    steps: int | None = None,
    clip: float | None = None,
    sets: int = 100,
    seed: int = 0,
) -> Found:
    """The algorithm on people's rows, under a matroid or a knapsack of discreet.domains.

    `function` is a family of discreet.functions, with worths in [0, 1]; K = `steps` is balanced if
    left out. Where gradients are not known exactly they are means over `sets` random sets.

    >>> from discreet.functions import ClickModel
    >>> from discreet.domains import UniformMatroid
    >>> likes = np.tile([0.1, 0.9, 0.2, 0.7], (100_000, 1))
    >>> run(likes, ClickModel(), UniformMatroid(4, 2), 1.0, law="laplace", steps=3).chosen
    [1, 3]
    """
    needs_sets(domain)
    population = Population(people, function, domain.items, sets=sets, seed=seed)
    calibration = Calibration(law, noise, domain.items, epsilon, delta, clip)
    if steps is None:
        steps = calibration.balanced_steps(largest_sum(domain), len(population))
    scale = calibration.scale(steps)
    guarantee = promise(noise, epsilon, delta, lambda: calibration.epsilon_spent(steps))
    generator = np.random.default_rng(seed)
    path, bases = [np.zeros(domain.items)], []
    for added in drawn_noise(law, scale, (steps, domain.items), generator):
        weights = population.gradient(path[-1], norm=calibration.norm, clip=clip) + added
        path.append(path[-1] + best_point(domain, weights) / steps)
        bases.append(domain.best(weights))
    if isinstance(domain, Knapsack):
        chosen = rounded_knapsack(domain, np.minimum(path[-1], 1.0), generator)
    else:
        # Bases around the corners: where a noisy gain is below 0 they have an item more, which
        # never hurts.
        chosen = swap_rounded(domain, bases, [1 / steps] * steps, generator)
    return Found(np.array(path), chosen, scale, guarantee)


def drawn_noise(
    law: Law, scale: float, shape: tuple[int, int], generator: np.random.Generator
) -> Floats:
    """One row of noise a step."""
    draw = generator.laplace if law == "laplace" else generator.normal
    return np.asarray(draw(0.0, scale, size=shape))


def best_point(domain: Matroid | Knapsack, weights: Floats) -> Floats:
    """The point of P with the largest product with the weights: items that count below 0 stay out.

    >>> from discreet.domains import UniformMatroid
    >>> best_point(UniformMatroid(3, 2), np.array([-1.0, 2.0, -3.0]))
    array([0., 1., 0.])
    """
    return np.asarray(domain.vertex(weights) * (weights > 0), dtype=np.float64)
