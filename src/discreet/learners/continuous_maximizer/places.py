"""The points that boosted gradients lead to: a vertex of the domain, or a point between vertices.

VertexPlace    argmax of ⟨v, x⟩                              v: the noisy total of all gradients
MixedPlace     argmax of ⟨v, x⟩ − stiffness · ½‖x − middle‖²                    (optim/leader.py)
"""

from dataclasses import dataclass

from discreet.arrays import Floats
from discreet.domains import SetDomain
from discreet.engine.statistics import Total
from discreet.optim.euclidean import Euclidean
from discreet.optim.leader import Leader, LeaderMemory, Steps


@dataclass(frozen=True, eq=False)
class Gradients:
    """The newest released total of gradients, and the one before."""

    total: Total
    """The newest total, in units of the bound."""
    bound: float
    """Length to which gradients were clipped."""
    before: Floats
    """The total before, in the units of the functions."""

    @property
    def values(self) -> Floats:
        """The newest total, in the units of the functions."""
        return self.total.values * self.bound

    @property
    def variance(self) -> float:
        """Variance of the noise of each number of the total."""
        return self.total.variance * self.bound**2

    @property
    def step_variance(self) -> float:
        """Variance of the noise of each number of the difference from the total before."""
        return self.total.step_variance * self.bound**2


@dataclass(frozen=True, eq=False)
class VertexPlace:
    """A vertex of the domain; a vertex of a matroid is a set, so it needs no rounding."""

    point: Floats

    def next(self, domain: SetDomain, gradients: Gradients) -> "VertexPlace":
        """Return the best vertex for a new total."""
        return VertexPlace(domain.vertex(gradients.total.values))


@dataclass(frozen=True, eq=False)
class MixedPlace:
    """A point between vertices, with the memory of the Euclidean leader."""

    point: Floats
    steps: Steps

    @classmethod
    def first(cls, domain: SetDomain) -> "MixedPlace":
        """Return the first point: the middle of the domain."""
        memory = _leader(domain).start()
        return cls(memory.point, memory.steps)

    def next(self, domain: SetDomain, gradients: Gradients) -> "MixedPlace":
        """Return the point after a new total; the leader minimises, so gradients are negated."""
        memory = _leader(domain).follow(
            LeaderMemory(self.point, -gradients.before, self.steps),
            -gradients.values,
            variance=gradients.variance,
            step_variance=gradients.step_variance,
        )
        return MixedPlace(memory.point, memory.steps)


def _leader(domain: SetDomain) -> Leader:
    return Leader(Euclidean(domain))  # type: ignore[arg-type]
