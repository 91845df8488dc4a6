"""What both phases of the pairs mode have in common: answers, which are costs, and scores."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.arrivals.feedback import as_numbers
from discreet.learners.set_minimizer.mode import CubeView
from discreet.learners.set_minimizer.pairs.public import (
    Public,
    SettledPlan,
    TrialsPlan,
)
from discreet.learners.set_minimizer.settings import SetMinimizerSettings
from discreet.turn.plan import State
from discreet.turn.questions import Asked, Batch
from discreet.turn.readings import Scores
from discreet.turn.view import GROWING

if TYPE_CHECKING:
    from discreet.learners.set_minimizer.pairs.mode import NearAnchor

__all__ = ["Costs", "PairsPhase"]

OwnPlan = TypeVar("OwnPlan", TrialsPlan, SettledPlan)


@dataclass(eq=False, slots=True)
class Costs:
    """What the sets of some rounds cost."""

    rounds: Integers
    asked: Asked
    costs: Floats

    @property
    def earned(self) -> Floats:
        """What a report adds up: the costs, of rounds that masks changed too."""
        return self.costs


@dataclass(frozen=True, eq=False)
class PairsPhase(CubeView[Public], Generic[OwnPlan]):
    """A block of the pairs mode."""

    problem: "NearAnchor"
    plan: OwnPlan
    """The plan of this block: `public.phase`, by its own type."""

    growing: ClassVar[GROWING] = (
        ("belief.sets", "belief.means", "belief.precisions"),
        ("phase.sets", "phase.counts"),
    )

    @property
    def settings(self) -> SetMinimizerSettings:
        """The settings of the learner."""
        return self.problem.settings

    def layout(self) -> tuple[Public, State]:
        blank = self.plan.blank(self.settings.items)
        return replace(self.problem.planner.first, phase=blank), {}

    def read(self, batch: Batch) -> Costs:
        return Costs(batch.rounds, batch.asked, as_numbers(batch))

    def scores(self, context: Any) -> Scores:
        """Return what each item saves beside the rest of the anchor.

        That is the cost without it, less the cost with it.
        """
        belief, anchor = self.public.belief, self.plan.anchor
        if belief.is_empty:
            return Scores(np.zeros(belief.items), np.full(belief.items, 1.0))
        changed = anchor ^ np.eye(belief.items, dtype=np.bool_)
        more = belief.costs(changed).costs - belief.costs(anchor[None]).costs
        doubt = np.sqrt(belief.variances_of_differences(changed, anchor))
        bound = self.settings.bound
        return Scores(np.where(anchor, more, -more) * bound, doubt * bound)
