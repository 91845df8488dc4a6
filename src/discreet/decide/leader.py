"""Follow the regularised leader on the cube [0, 1]^n, with a regulariser that is read off released totals.

    x = argmin ⟨v, x⟩ + (h/2)·‖x − ½‖²  =  clip(½ − v/h, 0, 1)             coordinate by coordinate

v is the noisy total of all gradients so far. Its regret is at most (modular costs fixed in advance; others: see the proof)

    n·h/8 + (Σ_r ‖G_r‖² + n·σ²)/(2h),                 least at             h = 2·√(σ² + Σ_r ‖G_r‖²/n)

G_r the gradient of block r and σ² the variance of a coordinate of the newest total. `most` replaces Σ‖G_r‖² by a bound known in
advance. Without it the sum is estimated: what the steps of the released totals show beyond their known noise, three standard
deviations deducted. That reads released numbers only.

Guarantee   docs/guarantees/costs.md, Theorem 3 (regret); post-processing as far as privacy goes
References  Hazan, Kale (2012); Agarwal, Singh (2017); Duchi, Hazan, Singer (2011), "Adaptive Subgradient Methods"
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from discreet.release.arrays import Floats

__all__ = ["CubeLeader"]


@dataclass(frozen=True)
class CubeLeader:
    """The leader and its memory, a flat dictionary.

    >>> leader = CubeLeader(items=2)
    >>> memory = leader.follow(leader.start(), np.array([40.0, -4.0]), variance=25.0, step_variance=25.0)
    >>> memory["point"].round(2)
    array([0.  , 0.57])
    """

    items: int
    most: float | None = None
    """A bound on Σ_r ‖G_r‖², or None to estimate it."""

    def start(self) -> dict[str, Any]:
        """In the middle, before anything was released."""
        return {"point": np.full(self.items, 0.5), "total": np.zeros(self.items), "steps": np.zeros(4)}

    def follow(self, memory: dict[str, Any], total: Floats, *, variance: float, step_variance: float) -> dict[str, Any]:
        """The memory after one more released total; `step_variance` is that of its difference from the one before."""
        released, shown, noise, stiffness = (float(value) for value in memory["steps"])
        released += 1
        shown += float(np.sum((total - memory["total"]) ** 2))
        noise += self.items * step_variance
        beyond = max(0.0, shown - noise - 3 * sqrt(2 * self.items * released) * step_variance) if self.most is None else self.most
        stiffness = max(stiffness, 2 * sqrt(variance + beyond / self.items))
        point = np.clip(0.5 - total / stiffness, 0.0, 1.0)
        return {"point": point, "total": total, "steps": np.array([released, shown, noise, stiffness])}
