"""Follow the regularised leader: one running sum of clipped gradients, and the point that it calls for.

    convex             θ_{r+1} = argmin over C of ⟨v_r, θ⟩ + h·ψ(θ)                     (dual averaging in the domain's own geometry)
    strongly convex    θ_{r+1} = Proj_C((c·mean(θ_1 … θ_r) + h·start − v_r) / (c + h)),    c = curvature · samples

v_r is the noisy total of all gradients, h the stiffness of discreet/decide/leader.py. The second line minimises ⟨v_r, θ⟩ +
(h/2)‖θ − start‖² + (curvature/2)·Σ‖θ − θ_i‖², the sum over samples: each gradient keeps the point it was taken at.

What is published is the average of the points with weights ∝ r: later ones count more, and averaging takes out most of the noise.

Guarantee   docs/guarantees/streaming.md, Theorem 1
Runtime     O(d) a sample in one compiled pass; one noise vector a block
References  Kairouz et al. (2021), "Practical and Private (Deep) Learning without Sampling or Shuffling"; Guha Thakurta, Smith (2013);
            Shamir, Zhang (2013), averaging
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrivals.losses import Samples
from discreet.decide.leader import Leader
from discreet.learners.streaming.mode import NoisySum
from discreet.learners.totals import next_total
from discreet.release.door import Door
from discreet.release.turn import Plan, State

__all__ = ["GradientLeader"]


@dataclass(frozen=True)
class GradientLeader(NoisySum):
    """See the module's docstring."""

    curvature: float = 0.0

    @cached_property
    def leader(self) -> Leader:
        return Leader(self.setting.domain, pace=self.setting.pace)

    def plan(self) -> Plan:
        return self.planned(method="leader", curvature=self.curvature)

    def start(self) -> tuple[State, State]:
        memory, begin = self.leader.start(), self.setting.domain.start()
        zeros = np.zeros(self.setting.domain.dimension, dtype=np.int64)
        return memory | {"coefficients": begin, "mean": begin}, {"gradient": zeros}

    def digest(self, public: State, secret: State, samples: Samples, index: int) -> State:
        self.gradients.add(samples, public["point"], public["point"], 0.0, secret["gradient"])
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        setting, count, grid = self.setting, door.index + 1, self.gradients.entrance.grid
        steps, public_sum, secret_sum = next_total(self.sums, public, secret, secret["gradient"], door)
        total, mean = steps * grid, public["mean"] + (public["point"] - public["mean"]) / count
        variances = {"variance": self.sums.variance(count) * grid**2, "step_variance": self.sums.step_variance(count) * grid**2}
        if self.curvature == 0:
            memory = self.leader.follow(public, total, **variances)
        else:
            memory = self.leader.stiffened(public, total, **variances)
            stiffness, bent = self.leader.stiffness(memory), self.curvature * setting.schedule.end(door.index)
            pulled = bent * mean + stiffness * setting.domain.start() - setting.pace * total
            memory["point"] = setting.domain.project(pulled / (bent + stiffness))
        average = public["coefficients"] + (memory["point"] - public["coefficients"]) * (2 / (count + 1))
        return memory | public_sum | {"mean": mean, "coefficients": average}, secret_sum | {"gradient": np.zeros_like(secret["gradient"])}
