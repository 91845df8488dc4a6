"""Cases of `ContinuousMaximizer`: by domain, by function, and by what is played."""

import numpy as np

from discreet import ContinuousMaximizer, Privacy
from discreet.audit.cases.case import Case
from discreet.audit.cases.parts import (
    HORIZON,
    MARKER,
    NAN,
    Arguments,
    Budgets,
    maker,
    not_in_unit_range,
    not_numbers,
    numbers,
)
from discreet.domains import Knapsack, UniformMatroid
from discreet.functions import BudgetAllocation, ConcaveOfLinear, Quadratic


def cases(budgets: Budgets) -> list[Case]:
    """Return cases by mode, domain and function."""
    usual = budgets.usual
    prices = Knapsack((1.0, 2.0, 2.5), 3.0)
    logarithm = ConcaveOfLinear("log", 3.0)
    capped = ConcaveOfLinear("cap")
    return [
        _points("points", usual, block=3),
        _points("points, bound, pure", budgets.pure, block=4, bound=0.5, play="point"),
        _points("points, budget", usual, block=3, domain=prices, function=BudgetAllocation()),
        _points("points, iid", usual, block=8, stream="iid", domain=UniformMatroid(16, 2)),
        _points("points, euclidean", usual, block=3, play="point", function=logarithm),
        _points("points, capped", usual, block=3, play="point", function=capped),
        _quadratic("points, quadratic", budgets.twice, block=3, play="point"),
    ]


def _points(name: str, privacy: Privacy, **settings: object) -> Case:
    usual = {"domain": UniformMatroid(3, 2), "horizon": HORIZON, "privacy": privacy}
    merged: Arguments = usual | settings
    items: int = merged["domain"].items
    return Case(
        name,
        maker(ContinuousMaximizer, merged),
        person=numbers(items),
        refused=not_in_unit_range(items),
        broken=[NAN] * items,
    )


def _quadratic(name: str, privacy: Privacy, **settings: object) -> Case:
    """A case of two items; a person brings two gains and the three curvatures of the quadratic."""
    usual = {
        "domain": UniformMatroid(2, 1),
        "function": Quadratic(),
        "horizon": HORIZON,
        "privacy": privacy,
    }

    def person(generator: np.random.Generator) -> list[float]:
        curvatures = generator.uniform(0, 0.2, size=3)
        gains = generator.uniform(0.4, 1, size=2)
        return [*gains, *curvatures]

    return Case(
        name,
        maker(ContinuousMaximizer, usual | settings),
        person,
        refused=(
            *not_numbers(5),
            [MARKER] * 4,
            [MARKER, 0.5, 0.9, 0.9, 0.9],
            [MARKER, -0.1, 0.0, 0.0, 0.0],
        ),
        broken=[NAN] * 5,
    )
