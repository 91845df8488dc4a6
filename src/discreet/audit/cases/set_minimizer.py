"""Cases of `SetMinimizer`: whole cost functions, or the cost of the chosen set."""

import numpy as np

from discreet import Privacy, SetMinimizer
from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.audit.cases.parts import (
    HORIZON,
    MARKER,
    NAN,
    NOT_A_NUMBER,
    Arguments,
    Budgets,
    failing,
    maker,
    mask_of,
    not_numbers,
    worth,
)
from discreet.functions import GraphCut, MinusModular


def cases(budgets: Budgets) -> list[Case]:
    """Return one case per mode."""
    usual = budgets.usual
    return [
        _costs("costs", usual, block=4),
        _costs("costs, many releases", usual, block=1),
        _costs("costs, pure, bound", budgets.pure, block=5, mode="bound"),
        _costs("costs, adversarial", usual, block=4, stream="adversarial"),
        _callables("costs, callables", usual, block=4),
        _single_costs("single costs", usual, explore=0.6, block=2),
        _single_costs(
            "single costs, iid, two contributions",
            budgets.twice,
            stream="iid",
            explore=0.8,
            block=3,
            bound=2.0,
        ),
        _single_costs("single costs, report", usual, explore=0.6, block=2, report=0.3),
    ]


def keyed_cases(budgets: Budgets) -> list[Case]:
    """Return one case whose rounds name their person."""
    return [_single_costs("keyed, single costs", budgets.returning(4), explore=0.6, block=2)]


def long_cases(budgets: Budgets) -> list[Case]:
    """Return a case that is long enough for trials of several sets."""
    settings: Arguments = {"items": 4, "horizon": 600, "explore": 0.3, "block": 70}
    return [_single_costs("long, trials", budgets.usual, **settings)]


def _costs(name: str, privacy: Privacy, **settings: object) -> Case:
    usual = {
        "items": 3,
        "horizon": HORIZON,
        "function": MinusModular(GraphCut(((0, 1), (1, 2)))),
        "privacy": privacy,
    }

    def person(generator: np.random.Generator) -> Floats:
        return generator.uniform(0, 0.3, size=5)

    return Case(
        name,
        maker(SetMinimizer, usual | settings),
        person,
        refused=(*not_numbers(5), [MARKER, -0.1, 0.0, 0.0, 0.0]),
        broken=[NAN] * 5,
        available=mask_of(3),
    )


def _callables(name: str, privacy: Privacy, **settings: object) -> Case:
    usual = {"items": 3, "horizon": HORIZON, "privacy": privacy}
    return Case(
        name,
        maker(SetMinimizer, usual | settings),
        person=worth(-0.3),
        refused=(MARKER,),
        broken=failing,
        available=mask_of(3),
    )


def _single_costs(name: str, privacy: Privacy, **settings: object) -> Case:
    usual = {"items": 2, "horizon": HORIZON, "feedback": "bandit", "privacy": privacy}
    merged: Arguments = usual | settings

    def person(generator: np.random.Generator) -> float:
        return float(generator.uniform(-1, 1))

    return Case(
        name,
        maker(SetMinimizer, merged),
        person,
        refused=NOT_A_NUMBER,
        broken=NAN,
        available=mask_of(merged["items"]),
        full=False,
        horizon=merged["horizon"],
    )
