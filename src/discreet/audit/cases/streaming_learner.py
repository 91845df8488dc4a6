"""Cases of `StreamingLearner`: by mode, by domain, and by loss."""

from importlib.util import find_spec

import numpy as np

from discreet import Columns, Privacy, StreamingLearner
from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.audit.cases.parts import HORIZON, INFINITE, MARKER, NAN, Arguments, Budgets, maker
from discreet.audit.hostile_tables import tables
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
        *(_table_cases(usual, loose) if find_spec("polars") else ()),
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


TABLE = 12
"""Number of people who may come in one table."""
COLUMNS = Columns(
    features=["size", "kind", "since", "weight"],
    target="spent",
    bounds={"size": (-1, 1), "since": (-1, 1), "weight": (-1, 1), "spent": (-1, 1)},
    categories={"kind": ["a", "b"]},
    dates={"since": "years since 2024-01-01"},
    fill={"weight": 0.5},
)


def _table_cases(usual: Privacy, loose: Privacy) -> list[Case]:
    """Return cases of people with cells; tables need Polars."""
    return [
        _columns("streaming, columns", usual, block=TABLE),
        _columns("streaming, columns, passes", loose, mode="passes"),
    ]


def _columns(name: str, privacy: Privacy, **settings: object) -> Case:
    """Return a case of people with cells, who come in lists and in tables of several kinds."""
    merged: Arguments = {
        "domain": LpBall,
        "loss": SquaredLoss(),
        "horizon": 2 * TABLE,
        "privacy": privacy,
        "columns": COLUMNS,
        **settings,
    }

    def person(generator: np.random.Generator) -> dict[str, object]:
        size, weight, spent = generator.uniform(-1, 1, size=3).tolist()
        return {
            "size": size,
            "kind": str(generator.choice(["a", "b"])),
            "since": f"2024-0{generator.integers(1, 10)}-01",
            "weight": weight,
            "spent": spent,
        }

    fine = {"size": 0.1, "kind": "a", "since": "2024-05-01", "weight": 0.1, "spent": MARKER}
    return Case(
        name,
        maker(StreamingLearner, merged),
        person,
        refused=(
            fine | {"size": "x"},
            fine | {"kind": "c"},
            fine | {"since": "soon"},
            fine | {"spent": NAN, "size": MARKER},
            [MARKER],
            "abc",
        ),
        broken=fine | {"spent": NAN},
        horizon=2 * TABLE,
        at_once=TABLE,
        tables=tables(COLUMNS.read),
    )
