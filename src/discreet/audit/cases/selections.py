"""Choices of one set as the audit sees them: whoever comes is a round, and all of them are one
block.

`SetSelector` has no rounds, but its methods are problems like any other; here they get the face of
a learner.
"""

from typing import Any

import numpy as np

from discreet.audit import Case
from discreet.budget.privacy import Privacy
from discreet.domains import Knapsack, UniformMatroid
from discreet.engine.problem import Problem
from discreet.engine.settings import Settings
from discreet.functions import ClickModel, ConcaveOverModular, FacilityLocation, Nearby, Types
from discreet.learners import set_selector
from discreet.learners.base import Learner
from discreet.learners.set_selector.settings import SetSelectorSettings

HORIZON = 12


class SetSelector(Learner):
    """The methods of `discreet.SetSelector` with people who come one by one."""

    settings_type = SetSelectorSettings

    @classmethod
    def problem_for(cls, settings: Settings) -> Problem:
        """The method that these settings ask for."""
        assert isinstance(settings, SetSelectorSettings)
        return set_selector.SetSelector.problem_for(settings)


def choices(epsilon: float = 1.0, delta: float = 1e-6) -> list[Case]:
    """One case for each method, at this guarantee; those that are pure at (ε, 0)."""
    usual, pure = Privacy(epsilon, delta), Privacy(epsilon)
    corners = Nearby(((0.0, 0.0), (1.0, 0.0), (0.5, 1.0)), 0.8, ((0.0, 1.0), (0.0, 1.0)))
    table = Types(((1.0, 0.0, 0.2), (0.0, 1.0, 0.2), (0.0, 0.0, 1.0)))
    # More cheap items than can be afforded: one that nobody takes is there at every step.
    prices = Knapsack((1.0, 1.0, 1.0, 2.5), 2.0)
    return [
        _choice("choice, histogram", usual, corners, 2),
        _choice("choice, histogram of types", pure, table, 1),
        _choice("choice, sampled", pure, FacilityLocation(), 3),
        _choice(
            "choice, sampled, knapsack, report", usual, ClickModel(), 4, domain=prices, report=0.3
        ),
        _choice("choice, sampled, concave", usual, ConcaveOverModular(), 3),
    ]


def _choice(name: str, privacy: Privacy, function: Any, width: int, **more: Any) -> Case:
    usual = {"domain": UniformMatroid(3, 2), "function": function, "people": HORIZON}
    settings = SetSelectorSettings.from_arguments(privacy, **(usual | more))

    def person(generator: np.random.Generator) -> Any:
        types = isinstance(function, Types)
        return [float(generator.integers(3))] if types else generator.uniform(0, 1, size=width)

    return Case(name, lambda: SetSelector.from_settings(settings), person)
