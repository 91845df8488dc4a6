"""DPMFW as printed: sets with full information, by K private follow-the-regularised-leaders.

    K = Θ(√T) copies of the leader below; in round t = 1 … T:
        v_t^k the vector of copy k, x_t^k = (1/K) Σ_{i<k} v_t^i
        play x_t = (1/K) Σ_k v_t^k (or a set rounded from it)
        see ∇f_t and feed copy k the loss ℓ_t = −∇f_t(x_t^k)
    FTRL template (Agarwal, Singh):
        L̃_0 = Σ_{i=1}^{⌈ln T⌉} n_0^i, the n drawn from D
        x_t = argmin over x ∈ P of η⟨x, L̃_{t−1}⟩ + Σ_i x_i ln x_i
        L̃_t the sum of ℓ_1, …, ℓ_t over a tree whose nodes have noise from D, padded with further
            draws from D where fewer nodes than ⌈ln T⌉ make up a sum: every L̃ then carries equally
            much noise

⌈ln T⌉ is too few: a sum consists of up to ⌊log₂T⌋ + 1 nodes. With printed noise, sums of more nodes
than ⌈ln T⌉ are left unpadded here (none can lose a node's noise); noise="sound" pads to
⌊log₂T⌋ + 1.

Symbols     f_t a person's multilinear extension, K `copies`, η `rate`, D `law`, m_F `bound` (the
            largest value of one item), P the domain, T the horizon; |V| = n items
Printed     Laplace λ = 2 m_F|V| ln T·√(2K ln(1/δ))/ε, or
            Gaussian σ² = 8β²K ln(1/δ) ln²T·ln(K ln T/δ′)/ε² for (ε, δ + δ′)
            β is undefined: the longest gradient √|V|·m_F here. K = ⌈√T⌉ and δ′ = δ unless given. η
            is not printed: √(ln|V|/T)/m_F, the usual one
Verdict     private as printed for replace-one neighbours if T ≥ 3 and ε ≤ 3 ln(1/δ), with more
            noise than needed (see `epsilon_spent`)
Sound       spends exactly (ε, δ), by zCDP
Runtime     O(60·K·n) per round under quotas and one budget, K·n linear programs for graphic and
            other matroids, which suit few people or a long `block`
References  Sadeghi, Fazel (2021), "Differentially Private Monotone Submodular Maximization Under
            Matroid and Knapsack Constraints", main text; Agarwal, Singh (2017), "The Price of
            Differential Privacy for Online Learning", Algorithm 1
"""

from math import ceil, inf, log, sqrt

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers
from discreet.budget.conversion import epsilon_of
from discreet.budget.privacy import Privacy
from discreet.engine.coins import Coin
from discreet.functions.continuous import ContinuousFunctions
from discreet.optim.knapsack import Knapsack
from discreet.optim.rounding import rounded_knapsack, rounded_point
from discreet.papers.noise import TreeNoise
from discreet.papers.printed.arguments import checked, needs_sets
from discreet.papers.printed.copies import play_copies
from discreet.papers.printed.dpcg import Law
from discreet.papers.printed.entropic import Domain, entropic_leaders
from discreet.papers.printed.promise import Noise, Played, needs_delta, promise
from discreet.papers.printed.verdict import Verdict
from discreet.release.randomness import RandomBits, seeded_bits


def copies_for(horizon: int) -> int:
    """Return K = ⌈√T⌉, printed as Θ(√T).

    >>> copies_for(10_000)
    100
    """
    return ceil(sqrt(horizon))


def rate_for(items: int, horizon: int, bound: float = 1.0) -> float:
    """Return the usual η = √(ln|V|/T)/m_F; none is printed.

    >>> round(rate_for(100, 10_000), 4)
    0.0215
    """
    return sqrt(log(max(items, 2)) / horizon) / bound


def noise_scale(
    items: int,
    horizon: int,
    epsilon: float,
    delta: float,
    *,
    copies: int,
    law: Law = "laplace",
    noise: Noise = "sound",
    bound: float = 1.0,
) -> float:
    """Return λ of Laplace noise, or σ of Gaussian noise, for each coordinate of a node.

    Sound: a person moves ⌊log₂T⌋ + 1 nodes of K copies, each of |V| numbers by at most m_F. A
    number moved by m costs (m/λ)²/2 or m²/2σ² of zCDP: so λ = σ = m_F·√(|V|·K·(⌊log₂T⌋ + 1)/2ρ),
    with the ρ of (ε, δ).

    >>> round(noise_scale(100, 10_000, 1.0, 1e-6, copies=100))
    1695
    >>> round(noise_scale(100, 10_000, 1.0, 1e-6, copies=100, noise="printed"))
    96829
    """
    require.one_of("noise", noise, ("sound", "printed"))
    require.one_of("law", law, ("laplace", "gaussian"))
    needs_delta(delta)
    if noise == "sound":
        rho = Privacy(epsilon, delta).budget.rho
        return bound * sqrt(items * copies * horizon.bit_length() / (2 * rho))
    logs = log(horizon)
    if law == "laplace":
        return 2 * bound * items * logs * sqrt(2 * copies * log(1 / delta)) / epsilon
    longest = sqrt(items) * bound
    return longest * logs * sqrt(8 * copies * log(1 / delta) * log(copies * logs / delta)) / epsilon


def epsilon_spent(
    items: int, horizon: int, epsilon: float, delta: float, *, copies: int, law: Law = "laplace"
) -> float:
    """Return the ε that the printed noise costs at this δ.

    >>> round(epsilon_spent(100, 10_000, 1.0, 1e-6, copies=100), 3)
    0.013
    """
    scale = noise_scale(items, horizon, epsilon, delta, copies=copies, law=law, noise="printed")
    if scale == 0:
        return inf
    return epsilon_of(items * copies * horizon.bit_length() / (2 * scale**2), delta)


VERDICT = Verdict(
    private=True,
    text="a person moves |V| numbers of each of K(⌊log₂T⌋ + 1) nodes by m_F; if T ≥ 3, noise is "
    "for far more",
    epsilon=epsilon_spent(100, 10_000, 1.0, 1e-6, copies=100),
)


def regret_bound(
    items: int,
    horizon: int,
    epsilon: float,
    delta: float,
    *,
    rank: float,
    copies: int,
    law: Law = "laplace",
    bound: float = 1.0,
) -> float:
    """The theorem's bound on the (1 − 1/e)-regret, with 1 for every constant that O(·) hides.

    R√(T ln|V|) + m_F·R²·T/(2K) + R·⌈ln T⌉·E‖Y‖_∞; R is the rank (knapsacks: 1/c_min), E‖Y‖_∞ =
    λ·ln|V| or σ·√(ln|V|). The largest possible regret here is 10⁴:

    >>> regret_bound(100, 10_000, 1.0, 1e-6, rank=5, copies=100) > 1e6
    True
    """
    scale = noise_scale(items, horizon, epsilon, delta, copies=copies, law=law, noise="printed")
    logs = log(max(items, 2))
    largest = scale * (logs if law == "laplace" else sqrt(logs))
    linear = rank * sqrt(horizon * logs) + rank * ceil(log(horizon)) * largest
    return linear + bound * rank**2 * horizon / (2 * copies)


@checked
def run(
    people: Floats,
    function: ContinuousFunctions,
    domain: Domain,
    epsilon: float,
    delta: float,
    *,
    law: Law = "laplace",
    noise: Noise = "sound",
    bound: float = 1.0,
    copies: int | None = None,
    rate: float | None = None,
    block: int = 1,
    seed: int = 0,
) -> Played:
    """Run DPMFW and return the point of every round, one row per person; `sets_of` rounds them.

    Parameters
    ----------
    people, function
        One row per person, and the continuous function of discreet.functions that reads it.
    domain
        A matroid, or a knapsack with one budget.
    bound
        m_F; coordinates of a gradient are clipped to [0, m_F].
    copies, rate
        K and η; by default ⌈√T⌉ and the usual rate.
    block
        Number of people per point: 1 is as printed. With the same noise, a longer block is faster
        and at least as private.

    Examples
    --------
    >>> from discreet.functions import Multilinear
    >>> from discreet.domains import UniformMatroid
    >>> people = np.tile([0.2, 0.9, 0.4], (60, 1))
    >>> played = run(people, Multilinear(), UniformMatroid(3, 1), 1e6, 1e-6, rate=1.0)
    >>> played.decisions[-1].round(2)
    array([0., 1., 0.])
    """
    needs_sets(domain)
    horizon = len(people)
    items = domain.items
    copies = copies_for(horizon) if copies is None else copies
    scale = noise_scale(
        items, horizon, epsilon, delta, copies=copies, law=law, noise=noise, bound=bound
    )
    guarantee = promise(
        noise,
        epsilon,
        delta,
        lambda: epsilon_spent(items, horizon, epsilon, delta, copies=copies, law=law),
    )
    draws = ceil(log(horizon)) if noise == "printed" else horizon.bit_length()
    rate = rate_for(items, horizon, bound) if rate is None else rate
    tree = PaddedTree(copies * items, law, scale, draws, seeded_bits(seed, 0))
    leaders = _RegularisedLeaders(domain, copies, rate, bound, tree)
    return Played(play_copies(people, function, leaders, block=block), guarantee)


def sets_of(domain: Domain, points: Floats, *, seed: int = 0) -> Integers:
    """Round each point to a set, by public coins; rows of smaller sets end with −1.

    >>> from discreet.domains import UniformMatroid
    >>> sets_of(UniformMatroid(3, 1), np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]])).shape
    (2, 1)
    """
    table = np.full((len(points), domain.rank), -1)
    for round, point in enumerate(points):
        coin = Coin(f"dpmfw {seed}".encode(), round)
        if isinstance(domain, Knapsack):
            chosen = rounded_knapsack(domain, point, coin)
        else:
            chosen = rounded_point(domain, point, coin)
        table[round, : len(chosen)] = sorted(chosen)
    return table


class PaddedTree:
    """The noise of sums over a tree, padded with further draws to the same number for each sum."""

    def __init__(self, size: int, law: Law, scale: float, draws: int, bits: RandomBits) -> None:
        generator = bits.floats()
        self._drawn = generator.laplace if law == "laplace" else generator.normal
        self._size = size
        self._scale = scale
        self._draws = draws
        self._tree = TreeNoise(size)
        self._sums = 0

    def next(self) -> Floats:
        """Return the noise of the next sum; the first call is for the empty sum."""
        noise = np.zeros(self._size)
        if self._sums:
            noise = self._tree.of_sums(self._of(1))[0]
        missing = self._draws - self._sums.bit_count()
        self._sums += 1
        return np.asarray(noise + self._of(max(0, missing)).sum(axis=0))

    def _of(self, draws: int) -> Floats:
        return np.asarray(self._drawn(0.0, self._scale, size=(draws, self._size)), dtype=np.float64)


class _RegularisedLeaders:
    """K copies of the FTRL template side by side."""

    def __init__(
        self, domain: Domain, copies: int, rate: float, bound: float, tree: PaddedTree
    ) -> None:
        self._domain = domain
        self._rate = rate
        self._bound = bound
        self._tree = tree
        self._losses = np.zeros((copies, domain.items))
        self._vectors = self._leaders()

    def vectors(self) -> Floats:
        return self._vectors

    def clipped(self, gradients: Floats) -> Floats:
        return np.clip(gradients, 0.0, self._bound)

    def feed(self, gradients: Floats) -> None:
        self._losses -= gradients
        self._vectors = self._leaders()

    def _leaders(self) -> Floats:
        noisy = self._losses + self._tree.next().reshape(self._losses.shape)
        return entropic_leaders(self._domain, -self._rate * noisy)
