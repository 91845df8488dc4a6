"""Public state of the pairs mode.

    screening (random sets) ──► trials near the incumbent ⟲ ──► settled

Each block is in one phase. `Public.phase` is the plan of that block, fixed by the release before
it. The screening is a block of trials whose sets are random.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.budget.privacy import pure
from discreet.engine.declarations import Stored
from discreet.engine.statistics import OneRelease
from discreet.learners.set_minimizer.pairwise_search.posterior import PairPosterior
from discreet.learners.set_minimizer.settings import SetMinimizerSettings
from discreet.release.aggregators import PublicCells

if TYPE_CHECKING:
    from discreet.learners.set_minimizer.pairwise_search.mode import PairwiseSearch


@dataclass(frozen=True, eq=False)
class TrialsPlan:
    """Plan of a block in which every round plays one of several sets."""

    sets: Mask
    """One set per row; the first is the incumbent."""
    counts: Integers
    """Number of rounds of each set; together they are the block."""

    @classmethod
    def blank(cls, items: int) -> "TrialsPlan":
        """Return an empty plan: it shows the dtypes and shapes that restored plans must have."""
        return cls(np.zeros((1, items), dtype=np.bool_), np.zeros(1, dtype=np.int64))

    @property
    def incumbent(self) -> Mask:
        """The set of least posterior mean cost."""
        return np.asarray(self.sets[0])

    @property
    def length(self) -> int:
        """Number of rounds of the block."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class SettledPlan:
    """Plan of the last block: the incumbent up to the horizon; nobody is read."""

    length: ClassVar[None] = None
    incumbent: Mask

    @classmethod
    def blank(cls, items: int) -> "SettledPlan":
        """Return an empty plan: it shows the dtypes and shapes that restored plans must have."""
        return cls(np.zeros(items, dtype=np.bool_))


@dataclass(frozen=True, eq=False)
class Public(Stored):
    """Public state: the posterior, and the plan of the current block."""

    growing = (
        ("posterior.sets", "posterior.means", "posterior.precisions"),
        ("phase.sets", "phase.counts"),
    )

    posterior: PairPosterior
    blocks: int
    """Number of blocks planned after the screening."""
    tried: int
    """Number of rounds up to the end of this block with another set than the incumbent."""
    phase: TrialsPlan | SettledPlan
    """The plan of the current block."""

    @property
    def point(self) -> Floats:
        """Probability of each item outside trials: 1 in the incumbent, 0 elsewhere."""
        return np.asarray(self.phase.incumbent.astype(float))

    def shape(self, mode: "PairwiseSearch", index: int) -> "Public":
        return replace(mode.first, phase=self.phase.blank(mode.settings.items))


def costs_release(settings: SetMinimizerSettings, sets: int) -> OneRelease[PublicCells]:
    """Return the release of the sums of costs of `sets` sets.

    Each visitor is in one of the sums, so pure noise is the least. It costs all of ε but the share
    of the report.
    """
    budget = pure(settings.epsilon / settings.contributions * (1 - settings.report))
    cells = PublicCells((sets,), -settings.bound, settings.bound)
    return OneRelease.for_budget("costs", budget, cells)
