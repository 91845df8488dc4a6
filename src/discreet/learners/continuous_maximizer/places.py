"""Where boosted gradients lead: to a vertex of the domain, or to a point between vertices.

VertexPlace    argmax of ⟨v, x⟩                                  v the noisy total of all gradients
MixedPlace     argmax of ⟨v, x⟩ − stiffness · ½‖x − middle‖²     (optim/leader.py)
"""

from dataclasses import dataclass

from discreet.arrays import Floats
from discreet.domains import SetDomain
from discreet.learners.running_total import Total
from discreet.optim.euclidean import Euclidean
from discreet.optim.leader import Leader, LeaderMemory, Steps


@dataclass(frozen=True, eq=False)
class Gradients:
    """A new released total of gradients, and the one before."""

    total: Total
    """In units of the bound."""
    bound: float
    before: Floats
    """The total before, in the functions' own units."""

    @property
    def values(self) -> Floats:
        """The total, in the functions' own units."""
        return self.total.values * self.bound

    @property
    def variance(self) -> float:
        """Variance of each of its numbers."""
        return self.total.variance * self.bound**2

    @property
    def step_variance(self) -> float:
        """Variance of what it adds to the total before."""
        return self.total.step_variance * self.bound**2


@dataclass(frozen=True, eq=False)
class VertexPlace:
    """A vertex: of a matroid it is a set, so nothing needs rounding."""

    point: Floats

    def next(self, domain: SetDomain, gradients: Gradients) -> "VertexPlace":
        """Return the best vertex for a new total."""
        return VertexPlace(domain.vertex(gradients.total.values))


@dataclass(frozen=True, eq=False)
class MixedPlace:
    """A point between vertices, and what the Euclidean leader remembers."""

    point: Floats
    steps: Steps

    @classmethod
    def first(cls, domain: SetDomain) -> "MixedPlace":
        """Return the middle of the domain."""
        memory = _leader(domain).start()
        return cls(memory.point, memory.steps)

    def next(self, domain: SetDomain, gradients: Gradients) -> "MixedPlace":
        """Return where a new total leads. The leader is of losses: gradients come with a minus."""
        memory = _leader(domain).follow(
            LeaderMemory(self.point, -gradients.before, self.steps),
            -gradients.values,
            variance=gradients.variance,
            step_variance=gradients.step_variance,
        )
        return MixedPlace(memory.point, memory.steps)


def _leader(domain: SetDomain) -> Leader:
    return Leader(Euclidean(domain))  # type: ignore[arg-type]
