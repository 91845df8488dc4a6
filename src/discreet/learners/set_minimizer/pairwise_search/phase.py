"""What both phases of the pairs mode have in common: answers, which are costs, and scores."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.plan import State
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Request
from discreet.engine.view import GROWING
from discreet.feedback import as_numbers
from discreet.learners.set_minimizer.mode import CubeView
from discreet.learners.set_minimizer.pairwise_search.public import Public, SettledPlan, TrialsPlan
from discreet.learners.set_minimizer.settings import SetMinimizerSettings

if TYPE_CHECKING:
    from discreet.learners.set_minimizer.pairwise_search.mode import PairwiseSearch


OwnPlan = TypeVar("OwnPlan", TrialsPlan, SettledPlan)


@dataclass(eq=False, slots=True)
class Costs:
    """What the sets of some rounds cost."""

    rounds: Integers
    request: Request
    costs: Floats

    @property
    def earned(self) -> Floats:
        """What a report adds up: the costs, of rounds that masks changed too."""
        return self.costs


@dataclass(frozen=True, eq=False)
class PairsPhase(CubeView[Public], Generic[OwnPlan]):
    """A block of the pairs mode."""

    problem: "PairwiseSearch"
    plan: OwnPlan
    """The plan of this block: `public.phase`, by its own type."""

    growing: ClassVar[GROWING] = (
        ("posterior.sets", "posterior.means", "posterior.precisions"),
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
        return Costs(batch.rounds, batch.request, as_numbers(batch))

    def scores(self, context: Any) -> Scores:
        """Return what each item saves beside the rest of the anchor.

        That is the cost without it, less the cost with it.
        """
        posterior, incumbent = self.public.posterior, self.plan.incumbent
        if posterior.is_empty:
            return Scores(np.zeros(posterior.items), np.full(posterior.items, 1.0))
        changed = incumbent ^ np.eye(posterior.items, dtype=np.bool_)
        more = posterior.costs(changed).costs - posterior.costs(incumbent[None]).costs
        doubt = np.sqrt(posterior.variances_of_differences(changed, incumbent))
        bound = self.settings.bound
        return Scores(np.where(incumbent, more, -more) * bound, doubt * bound)
