"""DPCG, curvature as printed (Lemma 5): continuous greedy with a linear part without noise.

    ℓ_i = F(V) − F(V∖i), the least gain of item i;  g(x) = f(x) − ⟨ℓ, x⟩, the remainder
    for each guess λ of ⟨ℓ, x*⟩:
        x^(1) = 0
        for k = 1 … K:
            v_k = the v in P ∩ {⟨ℓ, v⟩ ≥ λ} with the largest ⟨v, ∇g(x^(k)) + Y^(k)⟩
            x^(k+1) = x^(k) + v_k / K
    the best of the guesses

Symbols     as in discreet/papers/printed/dpcg.py, with the same noise Y;
            κ_F = 1 − min ℓ_i / F({i}), the curvature: 0 for sums, 1 if some item can become
            worthless
Printed     E f(x) ≥ (1 − κ_F/e)·f(x*) − 2R·E‖Y‖_∞ − L·R²/(2K), if λ = ⟨ℓ, x*⟩ is guessed
            No grid of guesses is printed; here it is even
Verdict     not private as printed, for any noise: ℓ and the choice of the best guess read the data
            without noise. Two data sets of one person each that lead to different sets with
            certainty are in tests/papers/printed/test_curvature.py
Sound       refused: a sound form would release ℓ with a margin and pay for the choice, or drop it;
            take DPCG (discreet/papers/printed/dpcg.py)
Runtime     guesses × K gradients of all people, and a few corners of P for each
References  Sadeghi, Fazel (2021), "Differentially Private Monotone Submodular Maximization Under
            Matroid and Knapsack Constraints", Lemma 5
"""

from dataclasses import dataclass
from math import e, inf

import numpy as np

from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.functions.places import Nearby, Types
from discreet.functions.sets import SetFunctions
from discreet.optim.knapsack import Knapsack
from discreet.optim.rounding import Matroid, rounded_knapsack, swap_rounded
from discreet.papers.printed.arguments import checked, needs_sets
from discreet.papers.printed.dpcg import (
    Calibration,
    Found,
    Law,
    best_point,
    drawn_noise,
    largest_sum,
)
from discreet.papers.printed.population import Population
from discreet.papers.printed.promise import Noise, promise
from discreet.papers.printed.verdict import Verdict

VERDICT = Verdict(
    private=False,
    text="ℓ and the choice of the best guess read the data without noise: one person can turn one "
    "set into another for certain",
    epsilon=inf,
)
CLOSE = 1e-9
"""Relative difference below which two numbers count as equal."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture of one or two corners of P, with shares that add up to 1."""

    weights: list[Floats]
    """For each corner, weights for which it is the best."""
    corners: list[Floats]
    shares: list[float]

    @property
    def point(self) -> Floats:
        """The mixture of the corners by their shares."""
        mixed = sum(share * corner for share, corner in zip(self.shares, self.corners, strict=True))
        return np.asarray(mixed, dtype=np.float64)


def best_mixture(
    domain: Matroid | Knapsack, weights: Floats, linear: Floats, level: float
) -> Mixture:
    """Return the v in P ∩ {⟨ℓ, v⟩ ≥ λ} with the largest ⟨v, weights⟩, exactly.

    The Lagrangian has corners for weights + μ·ℓ, with the μ ≥ 0 at which one corner below the level
    and one at or above it tie. Their mixture on the level is the best; a corner that beats both is
    the next one to try. A level that no point reaches is lowered to the highest reachable level.

    >>> from discreet.domains import UniformMatroid
    >>> best_mixture(UniformMatroid(2, 1), np.array([3.0, 1.0]), np.array([0.0, 2.0]), 0.5).point
    array([0.75, 0.25])
    """
    below = weights
    low = best_point(domain, weights)
    if linear @ low >= level:
        return Mixture([below], [low], [1.0])
    above = linear
    high = best_point(domain, linear)
    level = min(level, float(linear @ high))
    while linear @ high > linear @ low:
        price = float(weights @ (low - high)) / float(linear @ (high - low))
        tilted = weights + price * linear
        corner = best_point(domain, tilted)
        if tilted @ corner <= tilted @ low + CLOSE * (1 + abs(float(tilted @ low))):
            break
        if linear @ corner >= level:
            above, high = tilted, corner
        else:
            below, low = tilted, corner
    rise = float(linear @ (high - low))
    share = min(1.0, (level - float(linear @ low)) / rise) if rise > 0 else 1.0
    return Mixture([below, above], [low, high], [1 - share, share])


def curvature_of(population: Population) -> float:
    """Return the curvature κ_F = 1 − min ℓ_i / F({i}), over items with a positive value.

    >>> from discreet.functions import ClickModel
    >>> round(curvature_of(Population(np.array([[0.5, 0.1, 0.0]]), ClickModel(), items=3)), 9)
    0.5
    """
    alone = population.alone
    last = population.last
    positive = alone > 0
    return float(1 - (last[positive] / alone[positive]).min()) if positive.any() else 0.0


def utility_bound(
    optimum: float,
    curvature: float,
    people: int,
    domain: Matroid | Knapsack,
    calibration: Calibration,
    steps: int,
) -> float:
    """Printed lower bound of f(x), with L ≤ m_F ≤ people; informative above 0.

    >>> from discreet.domains import UniformMatroid
    >>> gaussian = Calibration("gaussian", "printed", 300, 1.0, 1e-6)
    >>> f"{utility_bound(1e4, 0.9, 10**4, UniformMatroid(300, 10), gaussian, 6):,.0f} of 10,000"
    '-160,307 of 10,000'
    """
    return (1 - curvature / e) * optimum - calibration.loss(steps, largest_sum(domain), people)


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
    guesses: int = 5,
    sets: int = 100,
    seed: int = 0,
) -> Found:
    """Run the curvature variant of DPCG as printed, which is not private.

    The guesses are evenly spaced from 0 to the largest ⟨ℓ, v⟩ in P. noise="sound" is refused:

    >>> from discreet.functions import ClickModel
    >>> from discreet.domains import UniformMatroid
    >>> likes = np.tile([0.1, 0.9, 0.2, 0.7], (100_000, 1))
    >>> run(likes, ClickModel(), UniformMatroid(4, 2), 1.0, law="laplace")
    Traceback (most recent call last):
    discreet.errors.ConfigError: the curvature variant reads ℓ and its best guess without noise: ...
    """
    if noise == "sound":
        raise ConfigError(
            "the curvature variant reads ℓ and its best guess without noise: set "
            "noise='printed', or take DPCG (dpcg.run) with noise='sound'"
        )
    guarantee = promise(noise, epsilon, delta, lambda: inf, accepted=("printed",))
    needs_sets(domain)
    population = Population(people, function, domain.items, sets=sets, seed=seed)
    calibration = Calibration(law, noise, domain.items, epsilon, delta)
    if steps is None:
        steps = calibration.balanced_steps(largest_sum(domain), len(population))
    scale = calibration.scale(steps)
    generator = np.random.default_rng(seed)
    added = [drawn_noise(law, scale, (steps, domain.items), generator) for _ in range(guesses)]
    path, chosen = from_noise(population, domain, np.array(added), generator)
    return Found(path, chosen, scale, guarantee)


def from_noise(
    population: Population, domain: Matroid | Knapsack, added: Floats, coins: np.random.Generator
) -> tuple[Floats, list[int]]:
    """Return the path and the set of the best guess, for given noise (guesses × steps × items)."""
    linear = population.last
    most = float(linear @ best_point(domain, linear))
    candidates = []
    for level, noise in zip(np.linspace(0.0, most, len(added)), added, strict=True):
        path = [np.zeros(domain.items)]
        mixtures = []
        for row in noise:
            weights = population.gradient(path[-1]) - linear + row
            mixture = best_mixture(domain, weights, linear, float(level))
            path.append(path[-1] + mixture.point / len(noise))
            mixtures.append(mixture)
        chosen = _rounded(domain, path[-1], mixtures, coins)
        candidates.append((population.value(chosen), np.array(path), chosen))
    _, best_path, best_set = max(candidates, key=lambda each: each[0])
    return best_path, best_set


def _rounded(
    domain: Matroid | Knapsack, point: Floats, mixtures: list[Mixture], coins: np.random.Generator
) -> list[int]:
    if isinstance(domain, Knapsack):
        return rounded_knapsack(domain, np.clip(point, 0.0, 1.0), coins)
    bases = [domain.best(weights) for mixture in mixtures for weights in mixture.weights]
    shares = [share / len(mixtures) for mixture in mixtures for share in mixture.shares]
    return swap_rounded(domain, bases, shares, coins)
