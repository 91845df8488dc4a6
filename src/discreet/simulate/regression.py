"""The linear regression of the papers: rows of unit l_q norm, coefficients ∝ 1 of unit l_p norm.

    SubOpt(θ) = (loss(θ) − loss(θ*)) / (loss(0) − loss(θ*))        on 10,000 fresh samples

0 is perfect, 1 is no better than nothing.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.decide.domains import LpBall

__all__ = ["Regression"]

JUDGES = 10_000
"""How many fresh samples an estimate is judged by."""


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
        cls,
        samples: int,
        dimension: int,
        p: float,
        *,
        noise: float = 0.05,
        support: int | None = None,
        seed: int = 0,
    ) -> "Regression":
        """As in the paper's experiments, which do not state their noise.

        `support` leaves only so many coefficients that are not 0.
        """
        generator = np.random.default_rng(seed)
        domain = LpBall(dimension, p)
        truth = np.zeros(dimension)
        truth[: dimension if support is None else support] = 1.0
        truth /= np.linalg.norm(truth, p)
        parts = []
        for count in (samples, JUDGES):
            features = generator.normal(0, 0.05, size=(count, dimension))
            features /= np.linalg.norm(features, domain.dual, axis=1, keepdims=True)
            targets = features @ truth + generator.normal(0, noise, size=count)
            parts += [features, targets]
        return cls(domain, parts[0], parts[1], truth, parts[2], parts[3])

    @classmethod
    def varied(cls, kind: str, samples: int, dimension: int, p: float, *, seed: int = 0) -> "Regression":
        """Other regressions than the papers': random coefficients of length 0.9, rows of differing lengths.

        Most rows are at most 1 long. `kind`: plain, anisotropic (coordinates vary 30 : 1), correlated, sparse
        (a fifth of the features), noisy, inner (coefficients of length 0.3), short (rows a tenth as long as
        the bound allows).
        """
        generator = np.random.default_rng([seed, 1])
        domain = LpBall(dimension, p)
        count = samples + JUDGES
        features = generator.normal(size=(count, dimension))
        if kind == "anisotropic":
            features = features * np.geomspace(1, 0.03, dimension)
        if kind == "correlated":
            features = features @ (0.3 * np.eye(dimension) + 0.7 / np.sqrt(dimension))
        if kind == "sparse":
            features *= generator.random((count, dimension)) < 0.2
        usual = np.quantile(np.linalg.norm(features, domain.dual, axis=1), 0.95)
        features /= usual * (10.0 if kind == "short" else 1.0)
        lengths = np.linalg.norm(features, domain.dual, axis=1)
        features *= np.minimum(1.0, 1 / np.maximum(lengths, 1e-12))[:, None]
        truth = generator.normal(size=dimension)
        truth *= (0.3 if kind == "inner" else 0.9) / np.linalg.norm(truth, p)
        noise = {"noisy": 0.3, "short": 0.02}.get(kind, 0.1)
        targets = features @ truth + generator.normal(0, noise, size=count)
        return cls(
            domain,
            features[:samples],
            targets[:samples],
            truth,
            features[samples:],
            targets[samples:],
        )

    def suboptimality(self, coefficients: Floats) -> float:
        """SubOpt."""
        here = self._loss(coefficients)
        best = self._loss(self.truth)
        nothing = self._loss(np.zeros_like(self.truth))
        return (here - best) / (nothing - best)

    def _loss(self, coefficients: Floats) -> float:
        return float(np.mean((self.test_targets - self.test_features @ coefficients) ** 2))
