"""Follow the regularised leader, with a regulariser that is read off released totals.

    x = argmin over the domain of ⟨v, x⟩ + h·ψ(x)        for the cube: clip(½ − v/h, 0, 1)

v is the noisy total of all gradients so far. For linear costs fixed in advance (others: see the proof) the
regret is at most

    h·spread + (Σ_r ‖G_r‖² + κσ²)/(2h),        least at        h = √((Σ_r ‖G_r‖² + κσ²) / (2·spread))

with `spread` the range of ψ on the domain, in which ψ is strongly convex in the norm dual to ‖·‖; G_r the
gradient of block r, σ² the variance of a coordinate of the newest total, and κ = E‖z‖² for standard normal z
(n for the Euclidean norm). `most` replaces Σ‖G_r‖² by a bound known in advance. Without it the sum is
estimated: what the steps of the released totals show beyond their known noise, about three standard
deviations deducted. That reads released numbers only.

Guarantee   docs/guarantees/costs.md, Theorem 3 (regret on the cube); post-processing as far as privacy goes
References  Hazan, Kale (2012); Agarwal, Singh (2017)
            Duchi, Hazan, Singer (2011), "Adaptive Subgradient Methods"
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.decide.domains import Domain

__all__ = ["Leader"]


@dataclass(frozen=True)
class Leader:
    """The regularised leader over a domain. Its memory is a flat dictionary.

    >>> from discreet.decide.domains import Box
    >>> leader = Leader(Box(2, low=0.0, high=1.0))
    >>> memory = leader.follow(leader.start(), np.array([40.0, -4.0]), variance=25.0, step_variance=25.0)
    >>> memory["point"].round(2)
    array([0.  , 0.57])
    """

    domain: Domain
    most: float | None = None
    """A bound on Σ_r ‖G_r‖², or None to estimate it."""

    def start(self) -> dict[str, Any]:
        """In the middle, before anything was released."""
        return {"point": self.domain.start(), "total": np.zeros(self.domain.dimension), "steps": np.zeros(4)}

    def follow(
        self, memory: dict[str, Any], total: Floats, *, variance: float, step_variance: float
    ) -> dict[str, Any]:
        """The memory after one more released total; `step_variance` is of what it adds to the one before."""
        memory = self.stiffened(memory, total, variance=variance, step_variance=step_variance)
        return memory | {"point": self.domain.lead(total, self.stiffness(memory))}

    def bent(
        self, memory: dict[str, Any], total: Floats, mean: Floats, bent: float, **variances: float
    ) -> dict[str, Any]:
        """The same where losses curve: each gradient keeps the point it was taken at.

        `mean` is that of these points, `bent` the curvature of all losses together; with 0 as `follow`.
        """
        if bent == 0:
            return self.follow(memory, total, **variances)
        memory = self.stiffened(memory, total, **variances)
        stiffness = self.stiffness(memory)
        pulled = bent * mean + stiffness * self.domain.start() - total
        return memory | {"point": self.domain.project(pulled / (bent + stiffness))}

    def stiffness(self, memory: dict[str, Any]) -> float:
        """h, as of the newest total."""
        return float(memory["steps"][3])

    def stiffened(
        self, memory: dict[str, Any], total: Floats, *, variance: float, step_variance: float
    ) -> dict[str, Any]:
        """The memory after one more released total, but for the point."""
        size = self.domain.noise_square
        swings, shown, noise, stiffness = (float(value) for value in memory["steps"])
        swings += 2 * size * step_variance**2  # the variance of `shown`, if steps are independent
        shown += self.domain.dual_norm(total - memory["total"]) ** 2
        noise += size * step_variance
        beyond = max(0.0, shown - noise - 3 * sqrt(swings)) if self.most is None else self.most
        stiffness = max(stiffness, sqrt((beyond + size * variance) / (2 * self.domain.spread)))
        return {"total": total, "steps": np.array([swings, shown, noise, stiffness])}
