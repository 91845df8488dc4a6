"""Runs of regressions and classifiers."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet import Privacy, StreamingLearner
from discreet.domains import Box, LpBall, Simplex
from discreet.losses import GeneralisedLinearLoss, HuberLoss, LogisticLoss, SoftmaxLoss, SquaredLoss
from measures.equality.runs import Random, Scenario
from measures.equality.tools import HOW, NAN, PURE, RETURNING, USUAL, made


def samples() -> Iterator[Scenario]:
    """All modes and losses of StreamingLearner."""
    bounds = {"feature_bound": 1.0, "target_bound": 1.0}
    losses: list[tuple[str, Any]] = [
        ("squared", SquaredLoss()),
        ("logistic", LogisticLoss()),
        ("huber", HuberLoss(0.3)),
        ("identity", GeneralisedLinearLoss("identity")),
        ("log", GeneralisedLinearLoss("log")),
        ("softmax", SoftmaxLoss(3)),
        ("callable", _residual),
    ]
    truth = np.array([0.5, -0.3, 0.0, 0.2, 0.1, 0.0, -0.2, 0.4])

    def scenario(
        mode: str, name: str, loss: Any = None, rounds: int = 3000, **more: Any
    ) -> Scenario:
        loss = SquaredLoss() if loss is None else loss
        how = {key: more.pop(key) for key in HOW if key in more}
        features, noise = more.pop("features", 4), more.pop("noise", 0.1)
        intercept = int(more.get("intercept", False))
        classes = loss.classes if isinstance(loss, SoftmaxLoss) else 1
        domain = LpBall(classes * (features + intercept), 2, 2.0)
        shape: dict[str, Any] = (
            {"domain": domain, "loss": loss, "horizon": rounds, "privacy": USUAL} | bounds | more
        )

        def person(generator: Random, round: int) -> Any:
            row = generator.uniform(-0.5, 0.5, size=features)
            target = row @ truth[:features] + generator.normal(0, noise)
            if isinstance(loss, LogisticLoss):
                return row, float(target > 0)
            if isinstance(loss, SoftmaxLoss):
                return row, float((target > 0) + (target > 0.2))
            return row, abs(float(target)) if loss == GeneralisedLinearLoss("log") else float(
                target
            )

        return Scenario(
            name=f"StreamingLearner {mode}, {name}",
            make=made(StreamingLearner, mode=mode, **shape),
            person=person,
            rounds=rounds,
            refused=([0.777], ([0.7] * 5, 0.1), ([0.7] * 4, NAN), ([float("inf")] * 4, 0.1), "abc"),
            broken=([NAN] * features, 0.3),
            **how,
        )

    refused = {
        "whitened": ("log", "softmax", "callable"),
        "passes": ("log", "callable"),
        "frank-wolfe": ("softmax",),
    }
    for mode in ("leader", "whitened", "passes", "frank-wolfe"):
        for name, loss in losses:
            if name not in refused.get(mode, ()):
                yield scenario(mode, name, loss)
        yield scenario(mode, "intercept", intercept=True)
        yield scenario(mode, "box", domain=Box(4, -0.5, 0.5))
        yield scenario(mode, "keyed", privacy=RETURNING, keyed=True)
        yield scenario(mode, "replay", replay=True)
        yield scenario(mode, "resumed", resume=True)
        yield scenario(mode, "loose", None, 12_000, privacy=Privacy(8.0, 1e-6))
        if mode != "passes":
            yield scenario(mode, "pure", privacy=PURE)
            yield scenario(mode, "block", block=100, single=300)
        if mode != "whitened":
            yield scenario(mode, "l1 ball", domain=LpBall(4, 1))
        if mode in ("leader", "frank-wolfe"):
            yield scenario(mode, "simplex, pure", domain=Simplex(4), privacy=PURE)
    for mode in ("leader", "whitened", "passes"):
        yield scenario(mode, "shares", events=((500, _weighted),))
    yield scenario("leader", "p between 1 and 2", domain=LpBall(4, 1.5))
    yield scenario("frank-wolfe", "l1 ball, logistic", LogisticLoss(), domain=LpBall(4, 1))
    yield scenario("frank-wolfe", "l1 ball, resumed", domain=LpBall(4, 1), resume=True)
    yield scenario("leader", "eight features", features=8)
    yield scenario("whitened", "eight features, noisy", None, 12_000, features=8, noise=0.9)
    yield scenario("whitened", "heavy tails", HuberLoss(0.05), 12_000, noise=0.9)
    yield scenario("passes", "logistic, loose", LogisticLoss(), 12_000, privacy=Privacy(8.0, 1e-6))
    yield scenario("passes", "classes, intercept", SoftmaxLoss(3), intercept=True)
    yield scenario("whitened", "long", None, 40_000)
    yield scenario("whitened", "logistic, intercept", LogisticLoss(), 12_000, intercept=True)


def _weighted(learner: Any) -> None:
    """Hand in samples that count in part, across releases; some shares are none."""
    generator = np.random.default_rng(6)
    rows, shares = generator.uniform(-0.5, 0.5, size=(700, 4)), generator.uniform(0, 1, size=700)
    shares[::9] = NAN
    learner.observe_stream(rows, rows[:, 0] / 2, shares)


def _residual(coefficients: Any, row: Any, target: float) -> Any:
    return row * (row @ coefficients - target)
