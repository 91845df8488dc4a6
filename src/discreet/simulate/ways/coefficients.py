"""Coefficients that are published at the end: SubOpt on fresh samples.

    SubOpt = (loss − loss of the truth) / (loss of the start − loss of the truth)

The start is zero, or the middle of a simplex. SubOpt is cut at MOST: how bad a failure is does not matter.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.arrivals import LogisticLoss, SquaredLoss
from discreet.budget.privacy import Privacy
from discreet.domains import LpBall, Simplex
from discreet.learners.streaming_learner import StreamingLearner
from discreet.simulate.regression import Regression
from discreet.simulate.ways.way import Way, compared, modes

__all__ = ["MOST", "Judged", "classes", "coefficients", "drawn", "ways_over"]

MOST = 1.5
"""SubOpt above counts as this."""
RADIUS = 5.0
"""Of the ball in which the coefficients of classes lie."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Samples to learn from, fresh samples to judge by, the domain, and the coefficients that made them."""

    domain: LpBall | Simplex
    loss: SquaredLoss | LogisticLoss
    features: Floats
    targets: Floats
    fresh_features: Floats
    fresh_targets: Floats
    truth: Floats

    def suboptimality(self, found: Floats) -> float:
        """SubOpt of coefficients, at most MOST."""
        best = self._loss(self.truth)
        nothing = self._loss(self.domain.start())
        return min(MOST, (self._loss(found) - best) / (nothing - best))

    def _loss(self, found: Floats) -> float:
        margins = self.fresh_features @ found
        if isinstance(self.loss, LogisticLoss):
            return float(self.loss.values(margins, self.fresh_targets).mean())
        return float(np.mean((margins - self.fresh_targets) ** 2))

    def learner(self, way: Way, horizon: int, privacy: Privacy, seed: int) -> StreamingLearner:
        """The learner of this problem that learns in a way."""
        bounds: dict[str, Any] = {"feature_bound": 1.0, "target_bound": 1.0, "seed": seed}
        return way.learner(StreamingLearner, self.domain, self.loss, horizon, privacy, **bounds)


def drawn(kind: str, samples: int, dimension: int, p: str, seed: int) -> Judged:
    """A regression over the l_p ball, or over the simplex if `p` is "simplex".

    "drawn" is `Regression.drawn`, with a fifth of the coefficients over l₁ balls and simplices; other kinds
    are those of `Regression.varied`.
    """
    cornered = p in ("1", "simplex")
    order = 1.0 if cornered else float(p)
    if kind == "drawn":
        support = max(1, dimension // 5) if cornered else None
        world = Regression.drawn(samples, dimension, order, support=support, seed=seed)
    else:
        world = Regression.varied(kind, samples, dimension, order, seed=seed)
    domain = Simplex(dimension) if p == "simplex" else world.domain
    fresh = (world.test_features, world.test_targets)
    return Judged(domain, SquaredLoss(), world.features, world.targets, *fresh, world.truth)


def ways_over(domain: LpBall | Simplex) -> tuple[Way, ...]:
    """The modes that release coefficients as samples come, over a domain."""
    return modes("leader", "frank-wolfe") if domain.corners else modes("leader", "whitened", "frank-wolfe")


def coefficients(
    *,
    kind: str,
    p: str,
    dimension: int,
    epsilon: float,
    delta: float,
    horizon: int,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """SubOpt of the last coefficients of a regression by mode."""
    return _compared(drawn(kind, horizon, dimension, p, seed), epsilon, delta, seed, alone)


def classes(
    *, kind: str, dimension: int, epsilon: float, delta: float, horizon: int, seed: int, alone: bool = False
) -> dict[str, float]:
    """SubOpt of the last coefficients for classes 0 and 1, in logistic loss, by mode."""
    world = Regression.varied(kind, horizon, dimension, 2.0, seed=seed)
    truth = RADIUS * world.truth
    luck = np.random.default_rng([seed, 4])
    features = np.concatenate([world.features, world.test_features])
    chances = 1 / (1 + np.exp(-features @ truth))
    targets = (luck.random(len(chances)) < chances).astype(np.float64)
    parts = (features[:horizon], targets[:horizon], features[horizon:], targets[horizon:])
    judged = Judged(LpBall(dimension, 2.0, RADIUS), LogisticLoss(), *parts, truth)
    return _compared(judged, epsilon, delta, seed, alone)


def _compared(judged: Judged, epsilon: float, delta: float, seed: int, alone: bool) -> dict[str, float]:
    horizon, privacy = len(judged.targets), Privacy(epsilon, delta)

    def make(way: Way) -> StreamingLearner:
        return judged.learner(way, horizon, privacy, seed)

    def error(learner: StreamingLearner) -> float:
        learner.observe_stream(judged.features, judged.targets)
        return judged.suboptimality(learner.coefficients)

    return compared(make, error, () if alone else ways_over(judged.domain))
