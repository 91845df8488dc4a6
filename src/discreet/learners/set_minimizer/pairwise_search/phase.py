"""Base class of both phases of the pairs mode: answers, which are costs, and scores."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Request
from discreet.feedback import as_numbers
from discreet.learners.set_minimizer.mode import CubePhase
from discreet.learners.set_minimizer.pairwise_search.public import Public, SettledPlan, TrialsPlan
from discreet.learners.set_minimizer.settings import SetMinimizerSettings

if TYPE_CHECKING:
    from discreet.learners.set_minimizer.pairwise_search.mode import PairwiseSearch


OwnPlan = TypeVar("OwnPlan", TrialsPlan, SettledPlan)


@dataclass(eq=False, slots=True)
class Costs:
    """Costs of the sets of some rounds."""

    rounds: Integers
    request: Request
    costs: Floats

    @property
    def earned(self) -> Floats:
        """Numbers that a report adds up: the costs, those of rounds changed by masks included."""
        return self.costs


class PairsPhase(CubePhase[Public], Generic[OwnPlan]):
    """Phase of a block of the pairs mode."""

    mode: "PairwiseSearch"

    @property
    def settings(self) -> SetMinimizerSettings:
        """The settings of the learner."""
        return self.mode.settings

    @cached_property
    def block_plan(self) -> OwnPlan:
        """The plan of this block: `public.phase` with its precise type."""
        return cast(OwnPlan, self.public.phase)

    def read(self, batch: Batch) -> Costs:
        return Costs(batch.rounds, batch.request, as_numbers(batch))

    def _scores(self, context: object) -> Scores:
        """Return the saving of each item, given the rest of the incumbent.

        That is the posterior mean cost without the item, minus the cost with it.
        """
        posterior = self.public.posterior
        incumbent = self.block_plan.incumbent
        if posterior.is_empty:
            return Scores(np.zeros(posterior.items), np.full(posterior.items, 1.0))
        changed = incumbent ^ np.eye(posterior.items, dtype=np.bool_)
        increase = posterior.costs(changed).costs - posterior.costs(incumbent[None]).costs
        deviation = np.sqrt(posterior.variances_of_differences(changed, incumbent))
        bound = self.settings.bound
        return Scores(np.where(incumbent, increase, -increase) * bound, deviation * bound)
