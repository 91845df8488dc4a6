"""The linear regression of the papers: rows of unit l_q norm, coefficients ∝ 1 of unit l_p norm; and how far an estimate is off.

SubOpt(θ) = (loss(θ) − loss(θ*)) / (loss(0) − loss(θ*))        on 10,000 fresh samples; 0 is perfect, 1 no better than nothing
"""

from dataclasses import dataclass

import numpy as np

from discreet.decide.domains import LpBall
from discreet.release.arrays import Floats

__all__ = ["Regression"]


@dataclass(frozen=True)
class Regression:
    """Samples to learn from and samples to judge by."""

    domain: LpBall
    features: Floats
    targets: Floats
    truth: Floats
    test_features: Floats
    test_targets: Floats

    @classmethod
    def drawn(
        cls, samples: int, dimension: int, p: float, *, noise: float = 0.05, support: int | None = None, seed: int = 0
    ) -> "Regression":
        """As in the paper's experiments; `support` leaves only so many coefficients that are not 0. The paper does not state its noise."""
        generator, domain = np.random.default_rng(seed), LpBall(dimension, p)
        truth = np.zeros(dimension)
        truth[: dimension if support is None else support] = 1.0
        truth /= np.linalg.norm(truth, p)
        parts = []
        for count in (samples, 10_000):
            features = generator.normal(0, 0.05, size=(count, dimension))
            features /= np.linalg.norm(features, domain.dual, axis=1, keepdims=True)
            parts += [features, features @ truth + generator.normal(0, noise, size=count)]
        return cls(domain, parts[0], parts[1], truth, parts[2], parts[3])

    def suboptimality(self, coefficients: Floats) -> float:
        """SubOpt."""
        here, best, nothing = (self._loss(point) for point in (coefficients, self.truth, np.zeros_like(self.truth)))
        return (here - best) / (nothing - best)

    def _loss(self, coefficients: Floats) -> float:
        return float(np.mean((self.test_targets - self.test_features @ coefficients) ** 2))
