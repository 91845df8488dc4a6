"""A polytope with half the squared distance from its middle as regulariser, as `Leader` needs it.

    lead(total, stiffness)    argmin of ⟨total, x⟩ + stiffness · ½‖x − start‖²: a projection

The leader stands between the corners, and moves little when the total does.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.optim.knapsack import Knapsack
from discreet.optim.matroids import PartitionMatroid, UniformMatroid


def is_projected_onto(domain: object) -> bool:
    """Whether points are cheaply projected onto this domain."""
    if isinstance(domain, Knapsack):
        return len(domain.shares) == 1
    return isinstance(domain, UniformMatroid | PartitionMatroid)


@dataclass(frozen=True)
class Euclidean:
    """The polytope of quotas, or of a knapsack with one budget, with a Euclidean regulariser.

    >>> Euclidean(UniformMatroid(3, 1)).lead(np.array([-3.0, 0.0, 0.0]), stiffness=6.0).round(2)
    array([0.67, 0.17, 0.17])
    """

    domain: UniformMatroid | PartitionMatroid | Knapsack

    @property
    def dimension(self) -> int:
        return self.domain.items

    @property
    def spread(self) -> float:
        # ‖x − start‖² ≤ ‖x‖² + ‖start‖² for x ≥ 0, and ‖x‖² ≤ Σx ≤ rank + 1 in [0, 1]ⁿ.
        return (self.domain.rank + 1 + float(self._middle @ self._middle)) / 2

    @property
    def noise_square(self) -> float:
        return float(self.dimension)

    def dual_norm(self, vector: Floats) -> float:
        return float(np.linalg.norm(vector))

    @cached_property
    def _middle(self) -> Floats:
        return self.domain.project(np.ones(self.dimension))

    def start(self) -> Floats:
        return self._middle.copy()

    def lead(self, total: Floats, stiffness: float) -> Floats:
        return self.domain.project(self._middle - total / stiffness)
