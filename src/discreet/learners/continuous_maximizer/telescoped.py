"""K copies along a path, telescoped: sums of how gradients fall, from which every copy's total is read.

    x_j = (v_1 + … + v_{j−1})/K,   g_j = ∇f_t(x_j)     for copies j = 1 … K, v_j the vertex of copy j
    e_j = g_j − g_{j+1} ≥ 0,  e_K = g_K                gradients fall along the path: g_j = e_j + … + e_K
    added, per item:  U·e  with  U_jl = c_{l−j} for l ≥ j,    c the coefficients of 1/√(1 − z)
    read:  totals of all copies = U · (noisy sum of U·e),     since U·U adds up from each copy to the last

The point that is played is the mean of the K vertices. U·e is not negative and no longer than ‖c‖·‖g_1‖,
whatever K: the noise of a copy grows like ‖c‖² (1.8 at K = 10), not like √K as for K copies side by side.

Guarantee   docs/guarantees/continuous.md, Theorem 3
Runtime     O(K·n) a person
References  Chen, Hassani, Karbasi (2018), "Online Continuous Submodular Maximization"
            Fichtenberger, Henzinger, Upadhyay (2023), the square root of a running sum
"""

from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.learners.continuous_maximizer.boosted import Boosted
from discreet.learners.totals import Total
from discreet.turn.plan import State

__all__ = ["Telescoped"]


class Telescoped(Boosted):
    """The mean of K vertices, each of which climbs on from where those before it stand."""

    method = "telescoped"

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.copies > 1)

    @property
    def copies(self) -> int:
        return self.settings.copies

    @cached_property
    def root(self) -> Floats:
        """U: twice applied, it adds up from each copy to the last."""
        coefficients = np.ones(self.copies)
        for place in range(1, self.copies):
            coefficients[place] = coefficients[place - 1] * (2 * place - 1) / (2 * place)
        apart = np.arange(self.copies)[None, :] - np.arange(self.copies)[:, None]
        return np.where(apart >= 0, coefficients[np.abs(apart)], 0.0)

    @property
    def stretch(self) -> float:
        return float(np.linalg.norm(self.root[0]))

    def first(self) -> State:
        vertices = np.tile(self.first_point(), (self.copies, 1))
        return {"point": vertices[0], "vertices": vertices}

    def added(self, public: State, rows: Floats) -> Floats:
        vertices = public["vertices"]
        along = (np.cumsum(vertices, axis=0) - vertices) / self.copies
        falling = np.array([self.settings.function.gradients(rows, point) for point in along])
        falling = np.minimum.accumulate(np.maximum(falling, 0.0), axis=0)
        drops = falling.copy()
        drops[:-1] -= falling[1:]
        mixed = np.zeros_like(drops)
        for copy in range(self.copies):  # in a fixed order, person by person
            for other in range(copy, self.copies):
                mixed[copy] += self.root[copy, other] * drops[other]
        return mixed.transpose(1, 0, 2).reshape(len(rows), -1)

    def led(self, public: State, total: Total) -> State:
        released = total.values.reshape(self.copies, -1)
        totals = self.root @ released
        vertices = np.array([self.settings.domain.vertex(row) for row in totals])
        bound = public["bound"]
        return {
            "point": vertices.mean(axis=0),
            "vertices": vertices,
            "total": totals.mean(axis=0) * bound,
            # The mean of the copies reads each row of what was released with a weight of its own.
            "variance": total.variance * float(np.sum(self.root.mean(axis=0) ** 2)) * bound**2,
        }
