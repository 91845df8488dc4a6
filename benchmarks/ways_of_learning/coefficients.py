"""Coefficients published at the end: SubOpt on test samples, as in problems/regression.py.

θ_0 is zero, or the middle of a simplex. SubOpt is cut at MOST: how bad a failure is does not
matter.
"""

from dataclasses import dataclass, replace

import numpy as np

from discreet.budget.privacy import Privacy
from discreet.domains import LpBall, Simplex
from discreet.learners.streaming_learner import StreamingLearner
from discreet.losses import LogisticLoss
from discreet.simulate.problems import Coefficients
from discreet.simulate.problems.regression import Kind, Regression
from ways_of_learning.modes import in_modes, values

MOST = 1.5
"""SubOpt above counts as this."""
RADIUS = 5.0
"""The radius of the ball in which the coefficients of classes lie."""


@dataclass(frozen=True)
class Regressed(Coefficients):
    """Regression in a ball or a simplex; with p = 1, a fifth of the coefficients is not 0."""

    simplex: bool = False

    def people(self, seed: int) -> Regression:
        if self.kind != "drawn" or self.p > 1:
            return super().people(seed)
        support = max(1, self.features // 5)
        return Regression.drawn(self.rounds, self.features, self.p, support=support, seed=seed)

    def domain(self, people: Regression | None) -> LpBall | Simplex:
        return Simplex(self.features) if self.simplex else super().domain(people)

    def outcome(self, learner: StreamingLearner, people: Regression, seed: int = 0) -> float:
        learner.observe_stream(people.features, people.targets)
        return min(MOST, people.suboptimality(learner.coefficients, self.domain(people).start()))


@dataclass(frozen=True)
class Classes(Regressed):
    """The problem of coefficients for classes 0 and 1, in logistic loss."""

    def people(self, seed: int) -> Regression:
        world = Regression.varied(self.kind, self.rounds, self.features, 2.0, seed=seed)
        truth = RADIUS * world.truth
        luck = np.random.default_rng([seed, 4])
        features = np.concatenate([world.features, world.test_features])
        chances = 1 / (1 + np.exp(-features @ truth))
        targets = (luck.random(len(chances)) < chances).astype(np.float64)
        return replace(
            world,
            domain=LpBall(self.features, 2.0, RADIUS),
            targets=targets[: self.rounds],
            truth=truth,
            test_targets=targets[self.rounds :],
            loss=LogisticLoss(),
        )


def over(p: str, kind: Kind, horizon: int, privacy: Privacy, dimension: int) -> Regressed:
    """Return the regression over the l_p ball, or over the simplex if `p` is "simplex"."""
    simplex = p == "simplex"
    order = 1.0 if simplex else float(p)
    return Regressed(horizon, privacy, dimension, kind=kind, p=order, simplex=simplex)


def modes_over(domain: LpBall | Simplex) -> tuple[str, ...]:
    """Return the modes that release coefficients over time, for a domain."""
    return ("leader", "frank-wolfe") if domain.corners else ("leader", "whitened", "frank-wolfe")


def coefficients(
    *,
    kind: Kind,
    p: str,
    dimension: int,
    epsilon: float,
    delta: float,
    horizon: int,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Return SubOpt of the last coefficients of a regression, by mode."""
    return _compared(over(p, kind, horizon, Privacy(epsilon, delta), dimension), seed, alone)


def classes(
    *,
    kind: Kind,
    dimension: int,
    epsilon: float,
    delta: float,
    horizon: int,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Return SubOpt of the last coefficients for classes, by mode."""
    return _compared(Classes(horizon, Privacy(epsilon, delta), dimension, kind=kind), seed, alone)


def _compared(problem: Regressed, seed: int, alone: bool) -> dict[str, float]:
    world = problem.people(seed)
    learners = in_modes(problem, world, seed, () if alone else modes_over(problem.domain(world)))
    return values(learners, lambda learner: problem.outcome(learner, world))
