"""Running sums over a tree of noisy partial sums.

The leaves of a binary tree hold the vectors. A node is noised once, when its last leaf arrives; prefix t is the sum of the
nodes named by the 1-bits of t. A leaf lies in at most N.bit_length() released nodes, each of which pays its share. At t = 2^h
the root itself is a noisy node, so the total always carries noise; a partial node never leaves.

`refined` (Honaker) also noises right children and averages each node with the sum of its two children, best weights first:
the node of height h then has variance σ²/(2 − 2^−h), at the same price. The plain tree draws half as much noise.

Guarantee   docs/guarantees/sums.md, Theorem 2
Runtime     plain: one noise vector a step; refined: two on average, log₂ N + 1 at most. State O(d · log N)
References  Chan, Shi, Song (2011); Dwork, Naor, Pitassi, Rothblum (2010); Honaker (2015)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.release.arrays import Floats, Integers
from discreet.release.noise import Noise, noise_for
from discreet.release.privacy import Charge
from discreet.release.randomness import Words
from discreet.release.sums import Stream

__all__ = ["TreeSum"]


@dataclass(frozen=True)
class TreeSum:
    """A calibrated tree; see the module's docstring."""

    stream: Stream
    levels: int
    noise: Noise
    sensitivity: float
    refined: bool

    @classmethod
    def calibrate(cls, budget: Charge, stream: Stream, *, refined: bool) -> "TreeSum":
        """zCDP: σ = s₂·√(height/2ρ); pure: scale = s₁·height/ε, with height = N.bit_length() nodes above a leaf."""
        height = stream.releases.bit_length()
        moves = stream.unit_sensitivity(1), stream.unit_sensitivity(2)
        levels, noise = noise_for(budget / height, *moves, stream.room)
        return cls(stream, levels, noise, levels * moves[budget.measure == "zcdp"], refined)

    def spent(self, releases: int) -> Charge:
        # The first person lies in the nodes that end at 1, 2, 4, …, and nobody lies in more nodes up to any time.
        return self.noise.charge(self.sensitivity) * releases.bit_length()

    def charge(self, index: int) -> Charge:
        is_power_of_two = index & (index + 1) == 0
        return self.noise.charge(self.sensitivity) * is_power_of_two

    def variance(self, releases: int) -> float:
        heights = [height for height in range(releases.bit_length()) if releases >> height & 1]
        shares = [1 / (2 - 2.0**-height) if self.refined else 1.0 for height in heights]
        return self.noise.variance * sum(shares)

    def step_variance(self, releases: int) -> float:
        # One node comes and those it is made of go; averaging a node with its children only makes the two more alike.
        return self.noise.variance * (releases & -releases).bit_length()

    def start(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"prefix": np.zeros(self.stream.dimension)}, {"steps": 0}

    def step(self, public: dict[str, Any], secret: dict[str, Any], addend: Integers, words: Words) -> tuple[dict[str, Any], dict[str, Any]]:
        count = secret["steps"] + 1
        height = (count & -count).bit_length() - 1
        exact = addend
        if self.refined:
            estimate = self._noised(exact, words)
            for level in range(height):
                exact = exact + secret[f"node{level}"]
                own = 1 / (2 - 2.0 ** -(level + 1))
                estimate = own * self._noised(exact, words) + (1 - own) * (estimate + public[f"node{level}"])
        else:
            for level in range(height):
                exact = exact + secret[f"node{level}"]
            estimate = self._noised(exact, words)
        above = [f"node{level}" for level in range(height + 1, count.bit_length()) if count >> level & 1]
        nodes = {name: public[name] for name in above} | {f"node{height}": estimate}
        secret = {name: secret[name] for name in above} | {f"node{height}": exact, "steps": count}
        return nodes | {"prefix": sum(nodes.values())}, secret

    def _noised(self, exact: Integers, words: Words) -> Floats:
        return (exact + self.noise.draw(exact.size, words)).astype(np.float64)
