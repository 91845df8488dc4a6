"""Follow the regularised leader, with a regulariser that is estimated from released totals.

    x = argmin over the domain of ⟨v, x⟩ + h·ψ(x)        for the cube: clip(½ − v/h, 0, 1)

v is the noisy total of all gradients so far. For linear costs fixed in advance (others: see the
proof) the regret is at most

    h·spread + (Σ_r ‖G_r‖² + κσ²)/(2h),    least at    h = √((Σ_r ‖G_r‖² + κσ²) / (2·spread))

with `spread` the range of ψ on the domain, where ψ is strongly convex in the norm dual to ‖·‖; G_r
the gradient of block r, σ² the variance of a coordinate of the newest total, and κ = E‖z‖² for
standard normal z (n for the Euclidean norm). `most` replaces Σ‖G_r‖² by a bound known in advance.
Without it the sum is estimated from released numbers only: the squared steps of the released totals
minus their known noise, minus about three standard deviations.

Guarantee   docs/guarantees/costs.md, Theorem 3 (regret on the cube); post-processing for privacy
References  Hazan, Kale (2012); Agarwal, Singh (2017)
            Duchi, Hazan, Singer (2011), "Adaptive Subgradient Methods"
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.optim.domains import Domain


@dataclass(frozen=True)
class Steps:
    """Statistics of the steps between released totals, in squared dual norms."""

    swings: float
    """Variance of `shown`, if steps are independent."""
    shown: float
    """Sum of the squared lengths of all steps."""
    noise: float
    """Expected contribution of noise to that sum."""
    stiffness: float
    """h for the newest total; it never falls."""


@dataclass(frozen=True, eq=False)
class LeaderMemory:
    """The state of the leader between two released totals."""

    point: Floats
    """The leader's point."""
    total: Floats
    """The newest released total of gradients."""
    steps: Steps


@dataclass(frozen=True)
class Leader:
    """The regularised leader over a domain.

    >>> from discreet.optim.domains import Box
    >>> leader = Leader(Box(2, low=0.0, high=1.0))
    >>> total = np.array([40.0, -4.0])
    >>> memory = leader.follow(leader.start(), total, variance=25.0, step_variance=25.0)
    >>> memory.point.round(2)
    array([0.  , 0.57])
    """

    domain: Domain
    most: float | None = None
    """A bound on Σ_r ‖G_r‖², or None to estimate it."""

    def start(self) -> LeaderMemory:
        """Return the memory before the first release, with the domain's start as the point."""
        nothing = Steps(swings=0.0, shown=0.0, noise=0.0, stiffness=0.0)
        return LeaderMemory(self.domain.start(), np.zeros(self.domain.dimension), nothing)

    def follow(
        self, memory: LeaderMemory, total: Floats, *, variance: float, step_variance: float
    ) -> LeaderMemory:
        """Return the memory after one more released total, whose coordinates have this variance.

        `step_variance` is the variance of the difference to the total before.
        """
        steps = self._stiffened(memory, total, variance, step_variance)
        return LeaderMemory(self.domain.lead(total, steps.stiffness), total, steps)

    def follow_curved(
        self,
        memory: LeaderMemory,
        total: Floats,
        *,
        mean: Floats,
        curvature: float,
        variance: float,
        step_variance: float,
    ) -> LeaderMemory:
        """Return the memory after one more released total of gradients of strongly convex losses.

        Each gradient is linearised at the point where it was computed; `mean` is the mean of these
        points, `curvature` the sum of the curvatures of all losses. With a curvature of 0 this is
        `follow`.
        """
        if curvature == 0:
            return self.follow(memory, total, variance=variance, step_variance=step_variance)
        steps = self._stiffened(memory, total, variance, step_variance)
        pulled = curvature * mean + steps.stiffness * self.domain.start() - total
        point = self.domain.project(pulled / (curvature + steps.stiffness))
        return LeaderMemory(point, total, steps)

    def _stiffened(
        self, memory: LeaderMemory, total: Floats, variance: float, step_variance: float
    ) -> Steps:
        """Return the statistics of the steps after one more released total."""
        size = self.domain.noise_square
        before = memory.steps
        swings = before.swings + 2 * size * step_variance**2
        shown = before.shown + self.domain.dual_norm(total - memory.total) ** 2
        noise = before.noise + size * step_variance
        beyond = max(0.0, shown - noise - 3 * sqrt(swings)) if self.most is None else self.most
        stiffness = sqrt((beyond + size * variance) / (2 * self.domain.spread))
        return Steps(swings, shown, noise, max(before.stiffness, stiffness))
