"""Cases of `ContextualBandit`: plain, with a report, and with screening of features."""

from collections.abc import Callable

import numpy as np

from discreet import ContextualBandit, Privacy
from discreet.arrays import Floats, Mask
from discreet.audit.cases.case import Case
from discreet.audit.cases.parts import HORIZON, NAN, NOT_A_NUMBER, Arguments, Budgets, maker


def cases(budgets: Budgets) -> list[Case]:
    """Return one case per mode."""
    usual = budgets.usual
    ample = Privacy(6 * budgets.epsilon, 1e-2)
    return [
        _arms("arms", usual, block=3),
        _arms("arms, report", usual, block=2, report=0.2),
        _arms(
            "arms, two contributions",
            budgets.twice,
            block=3,
            max_arms=4,
            context_bound=(1.0, 2.0),
            features=2,
        ),
        _arms("arms, whitened", ample, block=5, features=1, horizon=100),
        _arms("arms, screen", usual, block=2, relevant=1),
        _arms(
            "arms, screen, report",
            usual,
            block=4,
            relevant=2,
            report=0.5,
            context_length=1.0,
            features=4,
            horizon=24,
        ),
    ]


def keyed_cases(budgets: Budgets) -> list[Case]:
    """Return one case whose rounds name their person."""
    return [_arms("keyed, arms", budgets.returning(2), block=3)]


def _arms(name: str, privacy: Privacy, **settings: object) -> Case:
    usual = {"arms": 3, "features": 2, "horizon": HORIZON, "privacy": privacy}
    merged: Arguments = usual | settings
    features: int = merged["features"]

    def reward(generator: np.random.Generator) -> float:
        return float(generator.uniform())

    def context(generator: np.random.Generator) -> Floats:
        return generator.uniform(-1, 1, size=features)

    return Case(
        name,
        maker(ContextualBandit, merged),
        person=reward,
        refused=NOT_A_NUMBER,
        broken=NAN,
        context=context,
        available=_mask_of_arms(merged.get("max_arms", 3)),
        full=False,
        horizon=merged["horizon"],
    )


def _mask_of_arms(arms: int) -> Callable[[np.random.Generator], Mask]:
    """Return a function that draws a mask with at least one of the first three arms."""

    def mask(generator: np.random.Generator) -> Mask:
        available = generator.random(arms) < 0.7
        available[generator.integers(3)] = True
        return available

    return mask
