"""One case per problem of `discreet plan`: facts of the plan, and the time of a simulation.

The worlds, the learners and the shares are those of discreet/simulate/problems.
"""

from dataclasses import dataclass, replace

from discreet.learners.base import Learner
from discreet.learners.set_selector import SetSelector
from discreet.simulate.planning.search import Case
from discreet.simulate.problems import (
    Coefficients,
    Contextual,
    Continuous,
    Costs,
    Display,
    Selection,
)

NUMBERS = 2**27
"""Largest number of floats of a simulated world that are held at once: 1 GB."""


class OnlineCase(Case):
    """Base class of cases whose learner decides for one person after another."""

    def facts(self) -> dict[str, object]:
        learner: Learner = self.learner()
        return learner.facts | {"epsilon": learner.guarantee.total.epsilon(self.privacy)}


@dataclass(frozen=True)
class DisplayCase(Display, OnlineCase):
    """Plan of slates for one visitor after another."""

    @property
    def seconds(self) -> float:
        table = self.items * self.slots
        if self.feedback != "full":
            return 0.1 + 5e-5 * table + self.rounds * (8e-7 + 8e-8 * self.slots)
        if self.stream == "adversarial":
            return 0.1 + self.rounds * (2e-6 + 7e-8 * table)
        if self.stream == "iid":
            return 0.1 + self.rounds * (5e-7 + 7e-9 * self.items)
        return 0.1 + self.rounds * (4e-7 + (5e-10 if self.privacy.delta else 1e-8) * table)


@dataclass(frozen=True)
class CostsCase(Costs, OnlineCase):
    """Plan of sets of least cost."""

    @property
    def seconds(self) -> float:
        if self.feedback == "full":
            return 0.1 + self.rounds * (2e-6 + 1.2e-7 * self.items + 7e-10 * self.items**2)
        # The posterior of pairs takes time that does not depend on the number of visitors.
        return 0.1 + 2e-4 * self.items**2 + self.rounds * (3e-6 + 6e-8 * self.items)


@dataclass(frozen=True)
class RegressionCase(Coefficients, OnlineCase):
    """Plan of coefficients of a linear model."""

    @property
    def most_people(self) -> int:
        return max(1, NUMBERS // (self.features + 1))

    @property
    def seconds(self) -> float:
        passes = 1.8e-7 * self.features if self.once else 0.0
        return 0.1 + self.rounds * (5e-7 + 6.5e-8 * self.features + passes)


@dataclass(frozen=True)
class ContextualCase(Contextual, OnlineCase):
    """Plan of arms for people with contexts."""

    @property
    def seconds(self) -> float:
        per_person = 4e-7 + 3.5e-8 * self.features + 4e-10 * self.features * self.arms
        is_ridge = self.relevant == "all" or (self.relevant is None and self.features <= 64)
        squares = 6e-10 * self.features**2 if is_ridge else 0.0
        return 0.1 + self.rounds * (per_person + squares)


@dataclass(frozen=True)
class SelectionCase(Selection, Case):
    """Plan of a set that is chosen once."""

    def facts(self) -> dict[str, object]:
        settings = replace(self.learner().settings, people=self.rounds)
        problem = SetSelector.problem_for(settings)
        return problem.facts | {"epsilon": problem.plan.total.epsilon(self.privacy)}

    @property
    def most_people(self) -> int:
        return max(1, 8 * NUMBERS // self.items)

    @property
    def seconds(self) -> float:
        return 0.1 + self.rounds * (1e-6 + 3e-8 * self.items + 4e-9 * self.items * self.slots)


@dataclass(frozen=True)
class ContinuousCase(Continuous, OnlineCase):
    """Plan of points of a polytope, played as sets."""

    @property
    def seconds(self) -> float:
        return 0.1 + self.rounds * (6e-7 + 5e-9 * self.items)
