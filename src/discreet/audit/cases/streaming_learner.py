"""Cases of `StreamingLearner`: by mode, by domain, and by loss."""

import numpy as np

from discreet import Privacy, StreamingLearner
from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.audit.cases.parts import HORIZON, INFINITE, MARKER, NAN, Arguments, Budgets, maker
from discreet.domains import LpBall, Simplex
from discreet.losses import LogisticLoss, SoftmaxLoss, SquaredLoss


def cases(budgets: Budgets) -> list[Case]:
    """Return one case per mode."""
    usual = budgets.usual
    pure = budgets.pure
    # At this budget a dozen samples are many.
    loose = Privacy(1000 * budgets.epsilon, budgets.delta)
    logistic: Arguments = {"loss": LogisticLoss(), "intercept": True, "domain": LpBall(4)}
    classes: Arguments = {"loss": SoftmaxLoss(2), "domain": LpBall(6)}
    corners = LpBall(3, 1)
    return [
        _streaming("streaming", usual, block=4),
        _streaming("streaming, one feature", usual, features=1, block=4),
        _streaming("streaming, pure", pure, block=5),
        _streaming("streaming, frank-wolfe", usual, block=4, mode="frank-wolfe"),
        _streaming("streaming, corners", usual, block=4, mode="frank-wolfe", domain=corners),
        _streaming(
            "streaming, simplex, pure", pure, block=3, mode="frank-wolfe", domain=Simplex(3)
        ),
        _streaming("streaming, logistic, intercept", usual, block=4, **logistic),
        _streaming("streaming, whitened", usual, block=4, mode="whitened"),
        _streaming("streaming, scaled, pure", pure, block=4, mode="whitened"),
        _streaming("streaming, passes", loose, mode="passes"),
        _streaming("streaming, passes, classes", usual, mode="passes", **classes),
    ]


def keyed_cases(budgets: Budgets) -> list[Case]:
    """Return one case per mode whose rounds name their person."""
    thrice = budgets.returning(3)
    return [
        _streaming("keyed, streaming, whitened", thrice, block=4, mode="whitened"),
        _streaming("keyed, streaming, passes", thrice, mode="passes"),
    ]


def long_cases(budgets: Budgets) -> list[Case]:
    """Return a case whose loss is a function of the operator."""
    return [_streaming("streaming, callable", budgets.usual, block=4, loss=_gradient, bound=0.5)]


def _gradient(coefficients: Floats, x: Floats, y: float) -> Floats:
    """The gradient of half the squared error."""
    return x * (x @ coefficients - y)


def _streaming(name: str, privacy: Privacy, *, features: int = 3, **settings: object) -> Case:
    usual = {
        "domain": LpBall(features),
        "loss": SquaredLoss(),
        "feature_bound": 1.0,
        "target_bound": 1.0,
        "horizon": HORIZON,
        "privacy": privacy,
    }
    merged: Arguments = usual | settings

    def person(generator: np.random.Generator) -> tuple[Floats, float]:
        target = generator.uniform(-1, 1)
        if isinstance(merged["loss"], SoftmaxLoss):
            target = target > 0  # a class
        return generator.uniform(-1, 1, size=features), float(target)

    return Case(
        name,
        maker(StreamingLearner, merged),
        person,
        refused=(
            [MARKER],
            ([MARKER] * (features + 1), 0.1),
            ([MARKER] * features, NAN),
            ([INFINITE] * features, 0.1),
            "abc",
            ([MARKER] * features, "y"),
        ),
        broken=([NAN] * features, 0.3),
    )
