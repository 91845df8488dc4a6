"""Sellers of flats, and what each way of learning says about prices as they come in."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import warm_up
from discreet.arrays import Floats, Integers
from discreet.arrivals.losses import SquaredLoss
from discreet.budget.guarantee import Guarantee
from discreet.budget.privacy import Privacy
from discreet.decide.domains import LpBall
from discreet.lab.progress import Bar, silent
from discreet.learners.streaming_learner import StreamingLearner

__all__ = ["FEATURES", "PRICES", "Path", "RegressionResult", "compute_regression", "flats"]

FEATURES = ("size", "rooms", "distance", "age", "floor", "balcony")
EFFECTS = (0.30, 0.05, -0.18, -0.10, 0.03, 0.06)
"""What a feature of 1 in place of 0 adds to a price, in halves of the range of prices."""
PRICES = (0.0, 1000.0)
"""The public range, in thousands."""
SCATTER = 0.12
"""Of prices around what features say, in halves of the range."""
TOGETHER = 0.9
"""How much larger flats have more rooms."""
BATCH = 20_000
"""So many sellers are made up at a time."""
DISCREET, LEAST_SQUARES, PLAIN = "discreet", "least squares", "leader, rows not measured"
JUDGES = 20_000


@dataclass(frozen=True, eq=False)
class Path:
    """Coefficients after some numbers of sellers, in thousands, and about how far off they are."""

    sellers: Integers
    coefficients: Floats
    errors: Floats

    @classmethod
    def of(cls, points: list[tuple[int, Floats, Floats]]) -> "Path":
        """From one triple a release."""
        sellers, coefficients, errors = zip(*points, strict=True)
        return cls(np.array(sellers), np.array(coefficients), np.array(errors))


@dataclass(frozen=True)
class RegressionResult:
    """What was published while sellers came in, beside what cannot be published."""

    sellers: int
    privacy: Privacy
    paths: dict[str, Path]
    explained: dict[str, float]
    """The share of the variance of prices, in the end."""
    facts: dict[str, Any]
    guarantee: Guarantee
    seconds: float
    simulated: bool

    def report(self) -> dict[str, Any]:
        """The numbers, as plain data."""
        return {
            "sellers": self.sellers,
            "epsilon": self.privacy.epsilon,
            "delta": self.privacy.delta,
            "explained": self.explained,
            "coefficients": {
                name: dict(zip(FEATURES, path.coefficients[-1].tolist(), strict=True))
                for name, path in self.paths.items()
            },
            "standard_errors": dict(zip(FEATURES, self.paths[DISCREET].errors[-1].tolist(), strict=True)),
            "method": self.facts["method"],
            "seconds": self.seconds,
            "simulated": self.simulated,
        }


def flats(count: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Flats with features in [−1, 1] and a constant, in rows of a length of at most 1; prices in [−1, 1]."""
    size = np.clip(generator.normal(-0.4, 0.25, size=count), -1, 1)
    rooms = np.clip(TOGETHER * size + generator.normal(0, 0.1, size=count), -1, 1)
    others = np.clip(generator.normal(-0.3, 0.35, size=(count, 3)), -1, 1)
    balcony = np.sign(generator.uniform(-1, 1, size=count))
    features = np.column_stack([size, rooms, others, balcony])
    prices = features @ np.array(EFFECTS) - 0.2 + generator.normal(0, SCATTER, size=count)
    return np.column_stack([features, np.ones(count)]) / _longest(), np.clip(prices, -1, 1)


def _longest() -> float:
    return float(np.sqrt(len(FEATURES) + 1))


def compute_regression(
    sellers: int, privacy: Privacy, *, seed: int | None, bar: Bar = silent
) -> RegressionResult:
    """Let the same sellers come to everybody."""
    learners = {DISCREET: _learner(sellers, privacy, seed, "auto")}
    learners[PLAIN] = _learner(sellers, privacy, seed, "leader")
    warm_up()
    began = time.perf_counter()
    generator = np.random.default_rng([0 if seed is None else seed, 7])
    sums = np.zeros((len(FEATURES) + 1, len(FEATURES) + 2))
    points: dict[str, list[tuple[int, Floats, Floats]]] = {name: [] for name in (*learners, LEAST_SQUARES)}
    with bar("sellers", sellers) as report:
        for first in range(0, sellers, BATCH):
            rows, prices = flats(min(BATCH, sellers - first), generator)
            for name, learner in learners.items():
                _fed(learner, rows, prices, points[name])
            sums += rows.T @ np.column_stack([rows, prices])
            plain = np.asarray(np.linalg.lstsq(sums[:, :-1], sums[:, -1], rcond=None)[0], dtype=np.float64)
            points[LEAST_SQUARES].append((first + len(prices), *_in_thousands(plain, np.zeros(len(plain)))))
            report(len(prices))
    found = {name: learner.coefficients for name, learner in learners.items()} | {LEAST_SQUARES: plain}
    rows, prices = flats(JUDGES, np.random.default_rng([0 if seed is None else seed, 8]))
    missed = {name: np.mean((rows @ coefficients - prices) ** 2) for name, coefficients in found.items()}
    return RegressionResult(
        sellers=sellers,
        privacy=privacy,
        paths={name: Path.of(path) for name, path in points.items()},
        explained={name: float(1 - miss / prices.var()) for name, miss in missed.items()},
        facts=learners[DISCREET].facts,
        guarantee=learners[DISCREET].guarantee,
        seconds=time.perf_counter() - began,
        simulated=seed is not None,
    )


def _learner(sellers: int, privacy: Privacy, seed: int | None, method: Any) -> StreamingLearner:
    domain = LpBall(len(FEATURES) + 1, 2.0, _longest())
    return StreamingLearner(
        domain, SquaredLoss(), sellers, privacy, feature_bound=1.0, target_bound=1.0, method=method, seed=seed
    )


def _fed(
    learner: StreamingLearner, rows: Floats, prices: Floats, points: list[tuple[int, Floats, Floats]]
) -> None:
    """Feed sellers, and note what is published on the way."""
    place = 0
    while place < len(prices):
        until = place + learner.rounds_until_release
        learner.observe_stream(rows[place:until], prices[place:until])
        place = min(until, len(prices))
        found, errors = _in_thousands(learner.coefficients, learner.standard_errors)
        points.append((learner.clock, found, errors))


def _in_thousands(coefficients: Floats, errors: Floats) -> tuple[Floats, Floats]:
    """What a feature of 1 in place of 0 adds to a price, without the constant."""
    worth = (PRICES[1] - PRICES[0]) / 2 / _longest()
    return coefficients[:-1] * worth, errors[:-1] * worth
