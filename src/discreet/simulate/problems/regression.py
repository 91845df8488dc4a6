"""Coefficients of a linear model, from a stream of samples.

    SubOpt(θ) = (loss(θ) − loss(θ*)) / (loss(θ_0) − loss(θ*))        on 10,000 test samples
    share = 1 − SubOpt of the last coefficients

The share is 0 for the initial coefficients θ_0 of a learner, zeros on balls, and 1 for the
coefficients θ* that generated the samples.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.arrays import Floats
from discreet.learners.streaming_learner import StreamingLearner
from discreet.losses import LogisticLoss, SquaredLoss
from discreet.optim.domains import LpBall, Simplex
from discreet.simulate.problems.problem import Problem, made

Kind = Literal["drawn", "plain", "anisotropic", "correlated", "sparse", "noisy", "inner", "short"]
"""Kinds of simulated samples: those of the papers, or one of `Regression.varied`."""
JUDGES = 10_000
"""Number of test samples."""


@dataclass(frozen=True)
class Regression:
    """Training samples and test samples of a linear model."""

    domain: LpBall
    features: Floats
    targets: Floats
    truth: Floats
    test_features: Floats
    test_targets: Floats
    loss: SquaredLoss | LogisticLoss = SquaredLoss()

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
        """Draw samples as in the paper's experiments, which do not state their noise.

        `support` is the number of coefficients that are not 0.
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
    def varied(
        cls, kind: str, samples: int, dimension: int, p: float, *, seed: int = 0
    ) -> "Regression":
        """Draw samples of other kinds than the papers': random coefficients, rows of any length.

        Coefficients have length 0.9, and rows are at most 1 long. `kind`: plain, anisotropic
        (coordinates vary 30 : 1), correlated, sparse (a fifth of the features), noisy, inner
        (coefficients of length 0.3), short (rows a tenth as long as the bound allows).
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

    def suboptimality(self, coefficients: Floats, start: Floats | None = None) -> float:
        """Return SubOpt of coefficients; θ_0 is `start`, or zeros."""
        here = self._loss(coefficients)
        best = self._loss(self.truth)
        nothing = self._loss(np.zeros_like(self.truth) if start is None else start)
        return (here - best) / (nothing - best)

    def _loss(self, coefficients: Floats) -> float:
        margins = self.test_features @ coefficients
        if isinstance(self.loss, LogisticLoss):
            return float(self.loss.values(margins, self.test_targets).mean())
        return float(np.mean((self.test_targets - margins) ** 2))


@dataclass(frozen=True)
class Coefficients(Problem[Regression, StreamingLearner]):
    """The problem of coefficients in an l_p ball; its outcome is SubOpt of the last ones."""

    features: int
    once: bool = False
    """Whether coefficients are published once, after many passes, instead of repeatedly."""
    kind: Kind = "correlated"
    p: float = 2.0

    who = "samples"
    value = "the variation that the best coefficients explain"
    world = "features that go together"

    def people(self, seed: int) -> Regression:
        if self.kind == "drawn":
            return Regression.drawn(self.rounds, self.features, self.p, seed=seed)
        return Regression.varied(self.kind, self.rounds, self.features, self.p, seed=seed)

    def domain(self, people: Regression | None) -> LpBall | Simplex:
        """Return the domain of the coefficients."""
        return LpBall(self.features, self.p) if people is None else people.domain

    def learner(
        self, people: Regression | None = None, seed: int | None = None, *, mode: str = "auto"
    ) -> StreamingLearner:
        return made(
            StreamingLearner,
            mode,
            self.domain(people),
            SquaredLoss() if people is None else people.loss,
            self.rounds,
            self.privacy,
            feature_bound=1.0,
            target_bound=1.0,
            method="passes" if self.once else "auto",
            seed=seed,
        )

    def outcome(self, learner: StreamingLearner, people: Regression, seed: int = 0) -> float:
        learner.observe_stream(people.features, people.targets)
        return people.suboptimality(learner.coefficients)

    def share_of(self, outcome: float, people: Regression) -> float:
        return 1 - outcome
