"""Frank–Wolfe on a stream: a recursive gradient as a running sum, and one corner of the domain a block.

    g_i = ∇f(θ_r; x_i) + (r − 1)·(∇f(θ_r; x_i) − ∇f(θ_{r−1}; x_i))     each sample i of block r, clipped
    d_r = (1/rB)·noisy Σ g_i
    v_r = argmin over C of ⟨d_r, v⟩
    θ_{r+1} = θ_r + (v_r − θ_r)/(r + 1)

g_i is clipped as a whole. The sum telescopes: up to block r it estimates r·B·∇F(θ_r), without bias from older
points. (As printed, x_1 has another weight.)

Guarantee   docs/guarantees/streaming.md, Theorem 1
Runtime     O(d) a sample in one compiled pass; one noise vector a block
References  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications in High
            Dimensional Online Decision Making", Algorithm 1
            Xie et al. (2020), recursive Frank–Wolfe
"""

from functools import cached_property
from typing import Any

from discreet.arrays import Floats
from discreet.learners.streaming_learner.gradients import NoisySum
from discreet.release.door import Door
from discreet.release.gathering import Gathering
from discreet.turn.plan import Plan, State
from discreet.turn.problem import Batch, Block

__all__ = ["FrankWolfe", "towards"]


class FrankWolfe(NoisySum):
    """Coefficients that move towards one corner of the domain a block, by a noisy recursive gradient."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return settings.chosen_method == "frank-wolfe" and not settings.domain.corners

    @cached_property
    def plan(self) -> Plan:
        return self.planned(method="frank-wolfe")

    def start(self) -> tuple[State, State]:
        public, kept = self.gradient.start()
        begin = self.settings.domain.start()
        return public | {"coefficients": begin, "before": begin}, kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"gradient": self.gradient.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        here, before = public["coefficients"], public["before"]
        samples = self.samples(batch)
        self.add_gradients(self.gradient_rows, block["gradient"], samples, here, before, float(batch.index))

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        total = self.gradient.next(public, kept, block, door)
        corner = self.settings.domain.corner(total.values)
        return total.public | towards(corner, public, self.settings.pace, door.index), total.kept


def towards(corner: Floats, public: State, pace: float, index: int) -> State:
    """One step of Frank–Wolfe, number `index` + 1."""
    here = public["coefficients"]
    step = min(1.0, pace / (index + 2))
    return {"coefficients": here + step * (corner - here), "before": here}
