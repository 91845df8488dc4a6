"""Frank–Wolfe on a stream: a recursive gradient as a running sum, and one corner of the domain a block.

    g_i = ∇f(θ_r; x_i) + (r − 1)·(∇f(θ_r; x_i) − ∇f(θ_{r−1}; x_i))          for each sample i of block r, clipped as a whole
    d_r = (1/rB)·noisy Σ g_i,    v_r = argmin over C of ⟨d_r, v⟩,    θ_{r+1} = θ_r + (v_r − θ_r)/(r + 1)

The sum telescopes: up to block r it estimates r·B·∇F(θ_r), without bias from older points. (As printed, x_1 has another weight.)

Guarantee   docs/guarantees/streaming.md, Theorem 1
Runtime     O(d) a sample in one compiled pass; one noise vector a block
References  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications in High Dimensional Online Decision Making",
            Algorithm 1; Xie et al. (2020), recursive Frank–Wolfe
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrivals.losses import Samples
from discreet.learners.streaming.mode import NoisySum
from discreet.learners.totals import next_total
from discreet.release.arrays import Floats
from discreet.release.door import Door
from discreet.release.turn import Plan, State

__all__ = ["FrankWolfe", "towards"]


@dataclass(frozen=True)
class FrankWolfe(NoisySum):
    """See the module's docstring."""

    def plan(self) -> Plan:
        return self.planned(method="frank-wolfe")

    def start(self) -> tuple[State, State]:
        begin = self.setting.domain.start()
        return {"coefficients": begin, "before": begin}, {"gradient": np.zeros(self.setting.domain.dimension, dtype=np.int64)}

    def digest(self, public: State, secret: State, samples: Samples, index: int) -> State:
        self.gradients.add(samples, public["coefficients"], public["before"], float(index), secret["gradient"])
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        steps, public_sum, secret_sum = next_total(self.sums, public, secret, secret["gradient"], door)
        corner = self.setting.domain.corner(steps)
        return towards(corner, public, self.setting.pace, door.index) | public_sum, secret_sum | {
            "gradient": np.zeros_like(secret["gradient"])
        }


def towards(corner: Floats, public: State, pace: float, index: int) -> State:
    """One step of Frank–Wolfe, number `index` + 1."""
    here = public["coefficients"]
    return {"coefficients": here + min(1.0, pace / (index + 2)) * (corner - here), "before": here}
