"""PFTAL copies as printed: points with full information, by K private approximate leaders.

    K = (T/ln^2.5 T)^¼ copies E_0, …, E_{K−1}, each with privacy parameter ε′ = ε/K
    in round t = 1 … T:
        let v_t^k be the vector found using E_k, play x_t = (1/K) Σ_k v_t^k, see ∇f_t
        feed E_k the linear objective ℓ_k(v) = ∇f_t(x_t^k)ᵀv, where x_t^k = (1/K) Σ_{i<k} v_t^i
    PFTAL:  w_{t+1} = argmin over w ∈ C of ⟨v̂_t, w⟩ + (H/2) Σ_{τ≤t} ‖w − w_τ‖²
                    = the nearest point of C to mean(w_1, …, w_t) − v̂_t/(H·t)
            v̂_t the noisy sum of the gradients so far, over a tree (discreet/papers/noise.py)

The box prints ∇f_t(x_t) although it defines x_t^k, and its theorem needs x_t^k: here the gradient
at x_t^k is fed, with a minus, since PFTAL minimises. The paper says once that PFTAL's noise is
Gaussian, which could not be (ε, 0); PFTAL's own noise is meant, in a uniform direction with a
Gamma-distributed length. The first vector may be any point; here it is the one nearest to all ones.

Symbols     f_t a person, x_t the point, K `copies`, H `stiffness`, G `bound` (the longest
            gradient), C the domain, T the horizon, ε′ the budget of a copy; n items
Printed     K; noise of scale G(⌈log₂T⌉ + 1)/ε′ at every node. H is not printed: Theorem 10's form
            suggests H = √(n ln^2.5 T/(ε′T)), the default
Verdict     not private as printed: for replace-one neighbours a sum moves by up to √2·G, where the
            printed noise covers G (see `epsilon_spent`)
Sound       noise for a change of √2·G; pure ε, as printed
Runtime     O(K·n log n) per round
References  Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization",
            Algorithm 4; Thakurta, Smith (2013), "(Nearly) Optimal Algorithms for Private Online
            Learning"
"""

from math import log, sqrt

import numpy as np

from discreet import require
from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.functions.continuous import ContinuousFunctions
from discreet.optim.knapsack import Knapsack
from discreet.optim.matroids import PartitionMatroid, UniformMatroid
from discreet.papers.noise import TreeNoise, l2_gamma
from discreet.papers.printed.arguments import checked
from discreet.papers.printed.copies import play_copies
from discreet.papers.printed.lp_geometry import finite
from discreet.papers.printed.promise import Noise, Played, promise
from discreet.papers.printed.tbap import printed_scale, sound_scale
from discreet.papers.printed.verdict import Verdict
from discreet.release.randomness import RandomBits, seeded_bits


def copies_for(horizon: int) -> int:
    """Return the printed K = (T/ln^2.5 T)^¼, rounded to a whole number of at least 1.

    >>> copies_for(10**4), copies_for(10**5), copies_for(10**6)
    (2, 4, 6)
    """
    wanted: float = (horizon / log(max(horizon, 2)) ** 2.5) ** 0.25
    return max(1, round(wanted))


def stiffness_for(items: int, horizon: int, epsilon: float) -> float:
    """Return H = √(n ln^2.5 T/(ε′T)) for a copy with budget ε′, as Theorem 10 suggests.

    >>> round(stiffness_for(100, 10**4, 0.5), 3)
    2.269
    """
    return sqrt(items * log(max(horizon, 2)) ** 2.5 / (epsilon * horizon))


def noise_scale(bound: float, horizon: int, epsilon: float, noise: Noise = "sound") -> float:
    """Return the scale of the Gamma-distributed length of a node's noise, at copy budget ε′.

    Printed: G(⌈log₂T⌉ + 1)/ε′. Sound: √2·G(⌊log₂T⌋ + 1)/ε′, since two non-negative gradients of
    length at most G are up to √2·G apart, and a person lies in at most ⌊log₂T⌋ + 1 nodes.

    >>> noise_scale(1.0, 10**4, 0.5, "printed"), round(noise_scale(1.0, 10**4, 0.5), 2)
    (30.0, 39.6)
    """
    if require.one_of("noise", noise, ("sound", "printed")) == "printed":
        return printed_scale(bound, horizon, epsilon)
    return sound_scale(sqrt(2) * bound, horizon, epsilon)


def epsilon_spent(epsilon: float, horizon: int) -> float:
    """Return the ε of the printed noise for non-negative gradients clipped to G.

    A person with gradient G·e_1 everywhere, replaced by one with G·e_2, moves ⌊log₂T⌋ + 1 nodes of
    every copy by √2·G each, and far out in that direction the densities have exactly this ratio.

    >>> round(epsilon_spent(1.0, 10**4), 3), round(epsilon_spent(1.0, 2**14), 3)
    (1.32, 1.414)
    """
    return epsilon * noise_scale(1.0, horizon, 1.0) / noise_scale(1.0, horizon, 1.0, "printed")


VERDICT = Verdict(
    private=False,
    text="a gradient G·e_1 replaced by G·e_2 moves every node above it by √2·G; the printed noise "
    "covers G",
    epsilon=epsilon_spent(1.0, 100_000),
)


def regret_bound(
    items: int, horizon: int, epsilon: float, *, bound: float, diameter: float, smoothness: float
) -> float:
    """Lemma 5's bound on the (1 − 1/e)-regret, with 1 for the constant that O(·) hides.

    K·√(n ln^2.5 T)·(G + √(K·n ln^2.5 T/(εT))·diam)²·√T/ε + β·R²·T/(2K), with R at most the
    diameter. The largest possible regret here is 10⁴:

    >>> regret_bound(100, 10**4, 1.0, bound=1.0, diameter=3.0, smoothness=1.0) > 1e6
    True
    """
    copies = copies_for(horizon)
    logs = items * log(max(horizon, 2)) ** 2.5
    length = bound + sqrt(copies * logs / (epsilon * horizon)) * diameter
    linear = sqrt(logs) * length**2 * sqrt(horizon) * copies / epsilon
    return linear + smoothness * diameter**2 * horizon / (2 * copies)


@checked
def run(
    people: Floats,
    function: ContinuousFunctions,
    domain: UniformMatroid | PartitionMatroid | Knapsack,
    epsilon: float,
    *,
    noise: Noise = "sound",
    bound: float | None = None,
    copies: int | None = None,
    stiffness: float | None = None,
    block: int = 1,
    seed: int = 0,
) -> Played:
    """Run the PFTAL copies and return the point of every round, one row per person.

    Parameters
    ----------
    people, function
        One row per person, and the continuous function of discreet.functions that reads it.
    domain
        A domain with `project`: a matroid of quotas, or a knapsack with one budget.
    bound
        G; longer gradients are clipped. By default √n, the longest gradient of functions with
        slopes of at most 1.
    copies, stiffness
        K and H; by default the printed K and the suggested H.
    block
        Number of people per point: 1 is as printed. With the same noise, a longer block is faster
        and at least as private.

    Examples
    --------
    >>> from discreet.functions import BudgetAllocation
    >>> from discreet.domains import UniformMatroid
    >>> people = np.tile([0.2, 0.9, 0.4], (50, 1))
    >>> played = run(people, BudgetAllocation(), UniformMatroid(3, 1), 1e6, stiffness=1.0)
    >>> played.decisions[-1].round(2)
    array([0., 1., 0.])
    """
    if not hasattr(domain, "project"):
        raise ConfigError(
            f"PFTAL needs a domain with a projection, got {type(domain).__name__}: take quotas on "
            "groups, a knapsack with one budget, or DPMFW"
        )
    items = domain.dimension
    horizon = len(people)
    copies = copies_for(horizon) if copies is None else copies
    stiffness = stiffness_for(items, horizon, epsilon / copies) if stiffness is None else stiffness
    longest = sqrt(items) if bound is None else bound
    scale = noise_scale(longest, horizon, epsilon / copies, noise)
    guarantee = promise(noise, epsilon, 0.0, lambda: epsilon_spent(epsilon, horizon))
    leaders = _ApproximateLeaders(domain, copies, stiffness, longest, scale, seeded_bits(seed, 0))
    return Played(play_copies(people, function, leaders, block=block), guarantee)


class _ApproximateLeaders:
    """K copies of PFTAL side by side."""

    def __init__(
        self,
        domain: UniformMatroid | PartitionMatroid | Knapsack,
        copies: int,
        stiffness: float,
        bound: float,
        scale: float,
        bits: RandomBits,
    ) -> None:
        self._domain = domain
        self._stiffness = stiffness
        self._bound = bound
        self._scale = scale
        self._bits = bits
        first = domain.project(np.ones(domain.dimension))
        self._vectors = np.tile(first, (copies, 1))
        self._played = np.zeros_like(self._vectors)
        self._sums = np.zeros_like(self._vectors)
        self._rounds = 0
        self._tree = TreeNoise(self._vectors.size)

    def vectors(self) -> Floats:
        return self._vectors

    def clipped(self, gradients: Floats) -> Floats:
        gradients = np.maximum(finite(gradients), 0.0)
        lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
        return np.asarray(gradients * np.minimum(1.0, self._bound / np.maximum(lengths, 1e-300)))

    def feed(self, gradients: Floats) -> None:
        copies, items = gradients.shape
        self._rounds += 1
        self._played += self._vectors
        self._sums -= gradients  # PFTAL minimises
        nodes = l2_gamma(items, self._scale, self._bits, draws=copies)
        noisy = self._sums + self._tree.of_sums(nodes.reshape(1, -1)).reshape(copies, items)
        wanted = (self._played - noisy / self._stiffness) / self._rounds
        self._vectors = np.array([self._domain.project(vector) for vector in wanted])
