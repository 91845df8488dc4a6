"""Cases of `SetSelector`: each person is a round, and all people are one block.

`SetSelector` has no rounds, but its methods are problems like those of online learners; here they
get the API of one.
"""

import numpy as np

from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.audit.cases.parts import HORIZON, Budgets
from discreet.budget.privacy import Privacy
from discreet.domains import Knapsack, UniformMatroid
from discreet.engine.problem import Problem
from discreet.engine.settings import Settings
from discreet.functions import ClickModel, ConcaveOverModular, FacilityLocation, Nearby, Types
from discreet.learners import set_selector
from discreet.learners.base import Learner
from discreet.learners.set_selector.settings import SetSelectorSettings


class SetSelector(Learner):
    """The methods of `discreet.SetSelector` for people who come one by one."""

    settings_type = SetSelectorSettings

    @classmethod
    def problem_for(cls, settings: Settings) -> Problem:
        """Return the problem of the method that these settings choose."""
        assert isinstance(settings, SetSelectorSettings)
        return set_selector.SetSelector.problem_for(settings)


def choices(epsilon: float = 1.0, delta: float = 1e-6) -> list[Case]:
    """Return one case per method, at (ε, δ); pure methods are at (ε, 0)."""
    budgets = Budgets(epsilon, delta)
    usual = budgets.usual
    pure = budgets.pure
    corners = Nearby(((0.0, 0.0), (1.0, 0.0), (0.5, 1.0)), 0.8, ((0.0, 1.0), (0.0, 1.0)))
    table = Types(((1.0, 0.0, 0.2), (0.0, 1.0, 0.2), (0.0, 0.0, 1.0)))
    # More cheap items than can be afforded: at every step one is left that nobody wants.
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


def _choice(name: str, privacy: Privacy, function: object, width: int, **more: object) -> Case:
    """A case whose people bring `width` numbers each."""
    usual = {"domain": UniformMatroid(3, 2), "function": function, "people": HORIZON}
    settings = SetSelectorSettings.from_arguments(privacy, **(usual | more))

    def person(generator: np.random.Generator) -> Floats | list[float]:
        if isinstance(function, Types):
            return [float(generator.integers(3))]
        return generator.uniform(0, 1, size=width)

    return Case(name, lambda: SetSelector.from_settings(settings), person)
