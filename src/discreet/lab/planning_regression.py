"""What a budget buys for regressions.

The worlds have features that go together, as in real tables, and rows about as long as they were declared.
What is kept is 1 − SubOpt: the share of what the best coefficients explain that the released ones explain.
"""

from dataclasses import dataclass
from typing import Any

from discreet.arrivals.losses import SquaredLoss
from discreet.budget.privacy import Privacy
from discreet.decide.domains import LpBall
from discreet.lab.planning import Case
from discreet.lab.regression import Regression
from discreet.learners.streaming_learner import StreamingLearner

__all__ = ["RegressionCase"]


@dataclass(frozen=True)
class RegressionCase(Case):
    """Coefficients of so many features from so many samples."""

    features: int
    rounds: int
    privacy: Privacy
    method: str = "stream"
    """stream: published again and again; batch: once, after many passes."""

    world = "features that go together"

    def learner(self, seed: int | None = None) -> StreamingLearner:
        """The learner that would be used."""
        return StreamingLearner(
            LpBall(self.features),
            SquaredLoss(),
            self.rounds,
            self.privacy,
            feature_bound=1.0,
            target_bound=1.0,
            method="passes" if self.method == "batch" else "auto",
            seed=seed,
        )

    def facts(self) -> dict[str, Any]:
        learner = self.learner()
        return learner.facts | {"epsilon": learner.guarantee.total.epsilon(self.privacy)}

    def share(self, seed: int) -> float:
        world = Regression.varied("correlated", self.rounds, self.features, 2.0, seed=seed)
        learner = self.learner(seed)
        learner.observe_stream(world.features, world.targets)
        return 1 - world.suboptimality(learner.coefficients)

    @property
    def seconds_a_person(self) -> float:
        a_pass = 2e-6 + 6e-8 * self.features
        return a_pass + (4.5e-7 * self.features if self.method == "batch" else 0.0)
