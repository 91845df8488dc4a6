"""The tree of noisy partial sums as printed ("TBAP"): every prefix of a stream of vectors, almost.

    put the vectors z_1, …, z_T on the leaves of a binary tree with ⌈log₂T⌉ + 1 levels
    in round t = 1 … T:
        add z_t to every node on its path to the root
        Λ = the first left child on that path; the nodes from the leaf up to Λ get noise γ,
            of density ∝ exp(−‖γ‖₂·ε/(μ(⌈log₂T⌉ + 1)))
        release v_t, the sum of the nodes that the 1-bits of t name

So a node is noised exactly once, when its last leaf has come. A streaming form needs no tree: one
buffer a level holds the noisy nodes of the newest prefix, and carrying 1-bits of t over joins them
(`TreeSums`).

Symbols     z_t a vector, ‖z_t‖₂ ≤ μ (`bound`), of dimension d; T the horizon; γ a node's noise: a uniform
            direction times a Gamma(d, μ(⌈log₂T⌉ + 1)/ε) length; Han et al. take a generalised
            Gaussian (discreet/papers/printed/streaming_frank_wolfe.py)
Printed     one vector is replaced by another, so a sum moves by 2μ, not by μ. And at t = T = 2^h no node on
            the path is a left child: read literally, nothing is noised and v_T is the exact total
Corrected   coincides with printed: the box prints the density. (Proofs swap shape and scale of its Gamma.)
Sound       scale 2μ·lev/ε, where a leaf is in at most lev = T.bit_length() released nodes; a longer vector is
            shortened to μ; the root is noised like a left child
Runtime     amortised two nodes a round; memory O(d log T)
References  Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization", Algorithm 4;
            Han et al. (2022), Algorithm 4; Chan, Shi, Song (2011); Dwork, Naor, Pitassi, Rothblum
            (2010)
"""

from collections.abc import Callable
from math import ceil, log, log2
from typing import Literal

import numpy as np

from discreet import require
from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.papers.noise import l2_gamma
from discreet.papers.printed.arguments import checked
from discreet.papers.printed.lp_geometry import clipped
from discreet.papers.printed.promise import AnyNoise, Played, promise
from discreet.papers.printed.verdict import Verdict
from discreet.release.randomness import seeded_bits

Reading = Literal["mended", "literal"]

VERDICT = Verdict(
    private=False,
    text="replacing one vector by its opposite moves every node above it by 2μ, and noise is for μ",
    epsilon=2.0,
)


def printed_levels(horizon: int) -> int:
    """⌈log₂T⌉ + 1: one more than needed unless T is a power of two.

    >>> printed_levels(1024), printed_levels(1025)
    (11, 12)
    """
    if horizon < 1:
        raise ConfigError(f"horizon must be at least 1, got {horizon!r}")
    return ceil(log2(horizon)) + 1


def printed_scale(bound: float, horizon: int, epsilon: float) -> float:
    """The printed scale μ(⌈log₂T⌉ + 1)/ε of a node's Gamma-distributed length.

    >>> printed_scale(4.0, 100_000, 1.0)
    72.0
    """
    return bound * printed_levels(horizon) / epsilon


def sound_scale(change: float, horizon: int, epsilon: float) -> float:
    """s·lev/ε, if one person moves a node by at most s: lev = T.bit_length() nodes cost ε/lev each.

    >>> sound_scale(8.0, 100_000, 1.0)
    136.0
    """
    return change * horizon.bit_length() / epsilon


def calibrated(
    noise: str, epsilon: float, horizon: int, length: float, change: float, *, none: bool = True
) -> tuple[float, str]:
    """The scale of a node's noise, and what it promises.

    It is printed for vectors of this `length`; one person moves a node by at most `change`. Noise
    may be left out where `none` says so.

    >>> calibrated("sound", 1.0, 100_000, 4.0, 8.0)
    (136.0, 'sound noise: DP with ε = 1 (simulated: seeded, in floating point)')
    """
    scales = {
        "sound": sound_scale(change, horizon, epsilon),
        "printed": printed_scale(length, horizon, epsilon),
        "none": 0.0,
    }
    accepted = list(scales)[: 3 if none else 2]
    given = epsilon * scales["sound"] / scales["printed"]
    guarantee = promise(noise, epsilon, 0.0, lambda: given, accepted=accepted)
    return scales[noise], guarantee


def error_bound(dimension: int, bound: float, horizon: int, epsilon: float) -> float:
    """The printed bound 4·d·μ·ln^1.5(T)/ε of E‖v_t − Σz‖₂ (in the proof of Theorem 5).

    >>> round(error_bound(10, 1.0, 1000, 1.0))
    726
    """
    return 4 * dimension * bound * float(log(horizon) ** 1.5) / epsilon


class TreeSums:
    """The streaming form: `add` a vector, get the noisy sum of all so far.

    `node_noise()` gives the noise of one node; it is asked once a node, when the node is complete.
    With reading="literal" the sum of T = 2^h vectors leaves without any, as the box has it.

    >>> exact = TreeSums(1, 4, lambda: np.zeros(1))
    >>> [float(exact.add(np.ones(1))[0]) for _ in range(4)]
    [1.0, 2.0, 3.0, 4.0]
    """

    def __init__(
        self,
        dimension: int,
        horizon: int,
        node_noise: Callable[[], Floats],
        *,
        reading: Reading = "mended",
    ) -> None:
        self.clock = 0
        self.nodes = 0
        """How many were noised."""
        self._horizon = horizon
        self._node_noise = node_noise
        require.one_of("reading", reading, ("mended", "literal"))
        self._literal = reading == "literal" and horizon & (horizon - 1) == 0
        self._raw = np.zeros((horizon.bit_length() + 1, dimension))
        self._noisy = np.zeros_like(self._raw)

    def add(self, vector: Floats) -> Floats:
        """The noisy sum of all vectors so far, this one included."""
        if self.clock >= self._horizon:
            raise ConfigError(f"the tree is for {self._horizon} vectors: all of them have come")
        self.clock += 1
        without_noise = self._literal and self.clock == self._horizon
        node = np.array(vector, dtype=np.float64)
        level = 0
        while True:  # a 1-bit of the time before is a left sibling: join it, one level up
            noisy = node if without_noise else node + self._node_noise()
            self.nodes += not without_noise
            if self.clock >> level & 1:
                break
            node = node + self._raw[level]
            self._raw[level] = self._noisy[level] = 0.0
            level += 1
        self._raw[level] = node
        self._noisy[level] = noisy
        return np.asarray(self._noisy.sum(axis=0), dtype=np.float64)


def gamma_nodes(dimension: int, scale: float, seed: int) -> Callable[[], Floats]:
    """Noise of nodes with density ∝ exp(−‖γ‖₂/scale); none at a scale of 0."""
    if scale == 0:
        return lambda: np.zeros(dimension)
    bits = seeded_bits(seed, 0)
    return lambda: l2_gamma(dimension, scale, bits)


def shortened(vector: Floats, bound: float) -> Floats:
    """A vector, shortened to the bound if it is longer in l_2."""
    return clipped(vector, bound, 2.0)


@checked
def play(
    vectors: Floats, bound: float, epsilon: float, *, noise: AnyNoise = "sound", seed: int = 0
) -> Played:
    """The noisy sum after every vector, one per row.

    >>> vectors = np.ones((8, 2)) / np.sqrt(2)
    >>> noisy = play(vectors, 1.0, 1.0)
    >>> bool(np.allclose(noisy.decisions, vectors.cumsum(axis=0), atol=1.0))
    False
    >>> noisy.guarantee
    'sound noise: DP with ε = 1 (simulated: seeded, in floating point)'
    """
    rows = np.asarray(vectors, dtype=np.float64)
    horizon, dimension = rows.shape
    scale, guarantee = calibrated(noise, epsilon, horizon, bound, 2 * bound)
    tree = TreeSums(dimension, horizon, gamma_nodes(dimension, scale, seed))
    if noise == "sound":
        rows = np.array([shortened(row, bound) for row in rows])
    return Played(np.array([tree.add(row) for row in rows]), guarantee)
