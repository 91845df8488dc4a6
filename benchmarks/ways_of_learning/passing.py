"""Mean squared loss of the coefficients that each sample meets, on a stream that may change.

    excess = (loss − loss of the best fixed coefficients) / (loss of zeros − loss of the best fixed
    ones)

The best fixed coefficients in hindsight are those of the stream that came. A world in which they
lower the loss of zeros by less than LEAST_GAIN of it has nothing to learn, and is left out.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.domains import LpBall, Simplex
from discreet.learners.streaming_learner import StreamingLearner
from discreet.simulate.problems.problem import pieces
from discreet.simulate.problems.regression import Kind, Regression
from ways_of_learning.coefficients import MOST, modes_over, over
from ways_of_learning.mixing import APART, Data, Mixing
from ways_of_learning.modes import in_modes, values

LEAST_GAIN = 0.05
STEPS = 1000
"""How many steps of projected gradient descent find the best coefficients in hindsight."""
CHUNK = 20_000


@dataclass(eq=False)
class Moments:
    """Sums over samples from which the squared loss of any fixed coefficients follows."""

    gram: Floats
    cross: Floats
    square: float = 0.0
    samples: int = 0

    @classmethod
    def none(cls, dimension: int) -> "Moments":
        """Return the moments before the first sample."""
        return cls(np.zeros((dimension, dimension)), np.zeros(dimension))

    def add(self, features: Floats, targets: Floats) -> None:
        """Add more samples."""
        self.gram += features.T @ features
        self.cross += features.T @ targets
        self.square += float(targets @ targets)
        self.samples += len(targets)

    def loss(self, found: Floats) -> float:
        """Return the mean squared loss of fixed coefficients."""
        total = found @ self.gram @ found - 2 * float(self.cross @ found) + self.square
        return float(total) / self.samples


def best_fixed(domain: LpBall | Simplex, moments: Moments) -> Floats:
    """Return the coefficients of least squared loss in a domain, by accelerated descent."""
    step = 1 / max(float(np.linalg.eigvalsh(moments.gram)[-1]), 1e-12)
    point = ahead = domain.project(np.zeros(domain.dimension))
    for number in range(STEPS):
        before = point
        point = domain.project(ahead - step * (moments.gram @ ahead - moments.cross))
        ahead = point + (point - before) * number / (number + 3)
    return point


def passing(
    *,
    kind: Kind,
    p: str,
    dimension: int,
    epsilon: float,
    delta: float,
    horizon: int,
    data: Data,
    seed: int,
    alone: bool = False,
) -> dict[str, float]:
    """Return the excess loss of a regression over time, by mode."""
    problem = over(p, kind, horizon, Privacy(epsilon, delta), dimension)
    one = problem.people(seed)
    other = one if data == "iid" else problem.people(seed + APART)
    domain, mixing = problem.domain(one), Mixing(data, horizon, seed)

    def excess(learner: StreamingLearner) -> float | None:
        loss, moments = _met(learner, one, other, mixing)
        best = moments.loss(best_fixed(domain, moments))
        zeros = moments.square / moments.samples
        if zeros - best < LEAST_GAIN * zeros:
            return None
        return min(MOST, (loss - best) / (zeros - best))

    return values(in_modes(problem, one, seed, () if alone else modes_over(domain)), excess)


def _met(
    learner: StreamingLearner, one: Regression, other: Regression, mixing: Mixing
) -> tuple[float, Moments]:
    """Return the mean loss of the coefficients that each sample met, and the moments."""
    total = 0.0
    moments = Moments.none(len(one.truth))
    for piece in pieces(learner, mixing.people, CHUNK):
        part = slice(piece.start, piece.stop)
        of_other = mixing.of_other(piece, learner.releases)
        features = np.where(of_other[:, None], other.features[part], one.features[part])
        targets = np.where(of_other, other.targets[part], one.targets[part])
        total += float(np.sum((features @ learner.coefficients - targets) ** 2))
        moments.add(features, targets)
        learner.observe_many((features, targets))
    return total / moments.samples, moments
