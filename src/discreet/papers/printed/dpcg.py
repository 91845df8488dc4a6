"""DPCG as printed: one set by continuous greedy with noisy gradients.

    x^(1) = 0
    for k = 1 … K:
        draw Y^(k), one number per item: Lap(λ) each, or N(0, σ²) each
        v_k = the v in P with the largest ⟨v, ∇f(x^(k)) + Y^(k)⟩
        x^(k+1) = x^(k) + v_k / K
    x = x^(K+1), rounded to a set by coins that do not depend on data

Symbols     V the items, F(S) the sum of all people's values of a set, f its multilinear extension;
            P all mixtures of feasible sets; Δ the sensitivity of F; rank(M) the size of a matroid's
            bases, c_min the least cost in a knapsack with budget 1; R the largest ‖x‖₁ in P:
            rank(M) or 1/c_min; m_F = max F({i}), which bounds the smoothness L of f; K the steps
Printed     λ = 2K|V|Δ/ε, or 4√(2K ln(1/δ))·|V|Δ/ε with a δ;
            σ = 2cK√|V|·Δ/ε with c² > 2 ln(1.25K/δ), ε < 1
            E f(x) ≥ (1 − 1/e)·f(x*) − 2R·E‖Y‖_∞ − L·R²/(2K)
Verdict     private as printed, with more noise than needed: with K = 6 and δ = 1e-6, a claimed
            ε = 1 is 0.5 (Laplace, pure), 0.12 (Laplace, with δ) and 0.15 (Gaussian), see
            `epsilon_spent`. K must be public: the default balances the bound for m_F ≤ people·Δ,
            since m_F itself is data. The bound is above 0 from 7.7 million people on, for 10 of 300
            sites (see `utility_bound`)
Sound       noise for one person's change of the gradient, K steps composed by zCDP
Runtime     one gradient of all people per step
References  Sadeghi, Fazel (2021), "Differentially Private Monotone Submodular Maximization Under
            Matroid and Knapsack Constraints", Algorithm 1 and appendix 1
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
    """The noise of DPCG's steps, for people whose set functions lie in [0, Δ] with Δ = 1.

    Parameters
    ----------
    law
        "laplace" or "gaussian".
    noise
        "printed", or "sound": the noise that the same guarantee needs with tight accounting of the
        K steps. F is a sum over people, so one person moves a coordinate of ∇f by at most Δ, not
        2Δ.
    items
        |V|.
    epsilon, delta
        The privacy of all K steps. Gaussian noise needs a δ.
    clip
        With "sound", the length to which each person's gradient is clipped: in l_1 for Laplace
        noise, in l_2 for Gaussian noise. Gradients are not negative, so that two of them are at
        most 2·clip or √2·clip apart.

    Examples
    --------
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
            raise ConfigError("Gaussian noise needs delta > 0: set it, or take law='laplace'")
        if self.clip is not None and (self.noise == "printed" or not self.clip > 0):
            raise ConfigError(
                f"clip must be above 0, and is for noise='sound' only, got {self.clip!r}"
            )

    @property
    def norm(self) -> int:
        """Index of the norm in which gradients are measured."""
        return 1 if self.law == "laplace" else 2

    @property
    def moved(self) -> float:
        """Sensitivity of the gradient in that norm: at most |V|Δ or √|V|·Δ, less if clipped."""
        most = float(self.items) if self.law == "laplace" else sqrt(self.items)
        apart = 2.0 if self.law == "laplace" else sqrt(2)
        return most if self.clip is None else min(most, apart * self.clip)

    def scale(self, steps: int) -> float:
        """Return λ of Laplace noise, or σ of Gaussian noise, for K steps."""
        return self._printed_scale(steps) if self.noise == "printed" else self._sound_scale(steps)

    def _printed_scale(self, steps: int) -> float:
        if self.law == "gaussian":
            factor = sqrt(2 * log(1.25 * steps / self.delta))
            return 2 * factor * steps * sqrt(self.items) / self.epsilon
        if self.delta > 0:
            return 4 * sqrt(2 * steps * log(1 / self.delta)) * self.items / self.epsilon
        return 2 * steps * self.items / self.epsilon

    def _sound_scale(self, steps: int) -> float:
        by_zcdp = inf
        if self.delta:
            by_zcdp = self.moved * sqrt(steps / (2 * rho_of(self.epsilon, self.delta)))
        if self.law == "gaussian":
            return by_zcdp
        pure = self.moved * steps / self.epsilon
        return min(by_zcdp, pure)

    def epsilon_spent(self, steps: int) -> float:
        """Return the ε that the K steps cost at this δ.

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
        """Return E‖Y‖_∞: exactly λ·H_|V|, or at most σ√(2 ln 2|V|)."""
        if self.law == "laplace":
            return self.scale(steps) * float(np.sum(1 / np.arange(1, self.items + 1)))
        return self.scale(steps) * sqrt(2 * log(2 * self.items))

    def loss(self, steps: int, largest_sum: float, smoothness: float) -> float:
        """Return the loss in the bound, below (1 − 1/e)·f(x*): 2R·E‖Y‖_∞ + L·R²/(2K)."""
        noise = 2 * largest_sum * self.largest_noise(steps)
        discretisation = smoothness * largest_sum**2 / (2 * steps)
        return noise + discretisation

    def balanced_steps(self, largest_sum: float, smoothness: float) -> int:
        """Return the K with the least loss in the bound (no K is printed).

        >>> Calibration("gaussian", "printed", 300, 1.0, 1e-6).balanced_steps(10, 10_000)
        6
        """
        low = 1
        high = MOST_STEPS
        while low < high:  # the loss falls, then rises
            middle = (low + high) // 2
            loss_after = self.loss(middle + 1, largest_sum, smoothness)
            if loss_after >= self.loss(middle, largest_sum, smoothness):
                high = middle
            else:
                low = middle + 1
        return low


VERDICT = Verdict(
    private=True,
    text="noise is for twice what a person moves a gradient by, and the ε of K steps are added up "
    "(K = 6)",
    epsilon=Calibration("gaussian", "printed", 300, 1.0, 1e-6).epsilon_spent(6),
)


def largest_sum(domain: Matroid | Knapsack) -> float:
    """Return R, the largest ‖x‖₁ of a point: the rank of a matroid, 1/c_min of a knapsack.

    >>> largest_sum(Knapsack((1.0, 2.0, 4.0), budget=4.0))
    4.0
    """
    if not isinstance(domain, Knapsack):
        return float(domain.rank)
    least = float(domain.shares[:, domain.affordable].min(axis=1).max())
    if least <= 0:
        raise ConfigError(
            "the printed bound needs costs above 0, since a free item has no 1/c_min: leave it out"
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
    """Printed lower bound of f(x), with L ≤ m_F ≤ people; informative above 0.

    For 10⁴ people and 10 of 300 sites, even if the best sites served all people in full:

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
    """Result of a run: the path of the points, the set, and the guarantee."""

    path: Floats
    """x^(1), …, x^(K+1), one row each."""
    chosen: list[int]
    """The set to which the last point was rounded."""
    scale: float
    """λ or σ of the noise."""
    guarantee: str
    """Privacy of the run."""

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
    """Run DPCG on people's rows, under a matroid or a knapsack of discreet.domains.

    Parameters
    ----------
    people, function
        One row per person, and the family of discreet.functions that reads it, with values in
        [0, 1].
    steps
        K; by default the K that balances the printed bound.
    clip
        With sound noise, the length to which each person's gradient is clipped (`Calibration`).
    sets
        Number of random sets over which gradients are averaged if they are not known exactly.

    Examples
    --------
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
    path = [np.zeros(domain.items)]
    bases = []
    for added in drawn_noise(law, scale, (steps, domain.items), generator):
        weights = population.gradient(path[-1], norm=calibration.norm, clip=clip) + added
        path.append(path[-1] + best_point(domain, weights) / steps)
        bases.append(domain.best(weights))
    if isinstance(domain, Knapsack):
        chosen = rounded_knapsack(domain, np.minimum(path[-1], 1.0), generator)
    else:
        # Bases that contain the corners: where a noisy gain is below 0 they have one item more,
        # which never lowers a monotone function.
        chosen = swap_rounded(domain, bases, [1 / steps] * steps, generator)
    return Found(np.array(path), chosen, scale, guarantee)


def drawn_noise(
    law: Law, scale: float, shape: tuple[int, int], generator: np.random.Generator
) -> Floats:
    """Draw the noise of all steps, one row per step."""
    draw = generator.laplace if law == "laplace" else generator.normal
    return np.asarray(draw(0.0, scale, size=shape))


def best_point(domain: Matroid | Knapsack, weights: Floats) -> Floats:
    """Return the point of P with the largest inner product with the weights.

    Items with negative weights stay out.

    >>> from discreet.domains import UniformMatroid
    >>> best_point(UniformMatroid(3, 2), np.array([-1.0, 2.0, -3.0]))
    array([0., 1., 0.])
    """
    return np.asarray(domain.vertex(weights) * (weights > 0), dtype=np.float64)
