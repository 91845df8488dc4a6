"""Follow the regularised leader: one running sum of clipped gradients, and the point that it calls for.

    convex             θ_{r+1} = argmin over C of ⟨v_r, θ⟩ + h·ψ(θ)
    strongly convex    θ_{r+1} = Proj_C((c·mean(θ_1 … θ_r) + h·start − v_r) / (c + h))

v_r is the noisy total of all gradients, h the stiffness of discreet/decide/leader.py and c = curvature ·
samples. The first line is dual averaging in the domain's own geometry. The second minimises

    ⟨v_r, θ⟩ + (h/2)‖θ − start‖² + (curvature/2)·Σ‖θ − θ_i‖²        (the sum over samples)

so that each gradient keeps the point it was taken at.

What is published is the average of the points with weights ∝ r: later ones count more, and averaging takes
out most of the noise. It is drawn towards the start as far as noise explains it (discreet/decide/fading.py).

Guarantee   docs/guarantees/streaming.md, Theorem 1
Runtime     O(d) a sample in one compiled pass; one noise vector a block
References  Kairouz et al. (2021), "Practical and Private (Deep) Learning without Sampling or Shuffling"
            Guha Thakurta, Smith (2013); Shamir, Zhang (2013), averaging
"""

from functools import cached_property
from math import inf, sqrt
from typing import Any

from discreet.arrays import Floats
from discreet.arrivals.losses import CallableLoss
from discreet.decide.leader import Leader, LeaderMemory
from discreet.learners.streaming_learner.gradients import NoisySum
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.release.door import Door
from discreet.release.gathering import Gathering
from discreet.turn.plan import Plan, State
from discreet.turn.questions import Batch, Block
from discreet.turn.states import flat, of_flat

__all__ = ["GradientLeader"]

FADED = {False: 2.0, True: 0.8}
"""Times the largest curvature of rows within their bound; True for many coefficients of an l_p ball."""
USUAL_TARGET = 0.3
"""The usual size of a target, as a share of its bound."""
FEW = 5
"""Coefficients: for no more than these the threshold is so high that good estimates would fade too."""


class GradientLeader(NoisySum):
    """Coefficients of the regularised leader on a noisy total of gradients; the default."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.chosen_method == "leader")

    @cached_property
    def leader(self) -> Leader:
        return Leader(self.settings.domain)

    @cached_property
    def curvature(self) -> float:
        return curvature_of(self.settings)

    @cached_property
    def plan(self) -> Plan:
        return self.planned(method="leader", curvature=self.curvature)

    def start(self) -> tuple[State, State]:
        public, kept = self.gradient.start()
        public = self.gradient.named(public)
        begin = self.settings.domain.start()
        return public | flat(self.leader.start()) | {
            "coefficients": begin,
            "mean": begin,
            "average": begin,
        }, kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"gradient": self.gradient.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        here = public["point"]
        self.add_gradients(self.gradient_rows, block["gradient"], self.samples(batch), here, here, 0.0)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        count = door.index + 1
        total = self.gradient.next(self.gradient.own(public), kept, block, door)
        mean = public["mean"] + (public["point"] - public["mean"]) / count
        samples = self.settings.schedule.end(door.index)
        bent = self.curvature * samples
        memory = self.leader.follow_curved(
            of_flat(LeaderMemory, public),
            total.values.reshape(-1),
            mean=mean,
            curvature=bent,
            variance=total.variance,
            step_variance=total.step_variance,
        )
        average = public["average"] + (memory.point - public["average"]) * (2 / (count + 1))
        published = self._faded(average, total.variance, samples, memory.steps.stiffness)
        found = {"mean": mean, "average": average, "coefficients": published}
        return self.gradient.named(total.public) | flat(memory) | found, total.kept

    def _faded(self, average: Floats, variance: float, samples: int, stiffness: float) -> Floats:
        """The average, drawn towards the start as far as noise explains it; intercepts stay.

        Nothing was measured, so the noise is reckoned with the largest curvature that rows within their bound
        can have: it is at least that. Where rows are shorter, less is faded than should be.
        """
        settings = self.settings
        if isinstance(settings.loss, CallableLoss):
            return average
        learned = self.learned(average)
        size = settings.features * settings.classes
        corners = settings.domain.corners > 0
        steep = FADED[size > FEW and not corners] * curvature_at_most(settings) * samples
        if corners:  # stiffness is of another norm there
            steep *= min(1.0, settings.clip / self._usual_gradient)
        else:
            steep += stiffness
        squared = float(learned @ learned) * steep**2 / variance
        return self.faded(average, learned, squared)

    @property
    def _usual_gradient(self) -> float:
        """The norm, as it is clipped, of a gradient of a row with entries spread evenly up to the bound."""
        settings = self.settings
        assert not isinstance(settings.loss, CallableLoss)
        width = settings.domain.dimension
        row = settings.feature_bound * (width / 2 if settings.privacy.pure else sqrt(width / 3))
        slope = settings.loss.curvature * (
            1.0 if settings.classifies else USUAL_TARGET * settings.target_bound
        )
        return float(slope * row)


def curvature_of(settings: StreamingLearnerSettings) -> float:
    """A sixteenth of what features of the largest length, spread evenly, would give.

    Too large a guess stops learning where features vary little; too small a one only leaves the work to the
    regulariser.
    """
    if isinstance(settings.loss, CallableLoss) or settings.domain.dual == inf:
        return 0.0
    return curvature_at_most(settings) / 16


def curvature_at_most(settings: StreamingLearnerSettings) -> float:
    """The curvature of the expected loss for features of the largest length, spread evenly."""
    assert not isinstance(settings.loss, CallableLoss)
    dimension = settings.domain.dimension
    squared_length = settings.feature_bound**2 * dimension ** (1 - 2 / settings.domain.dual)
    return float(settings.loss.curvature * squared_length / dimension)
