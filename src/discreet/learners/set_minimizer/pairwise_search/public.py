"""What the pairs mode publishes.

    screening (random sets) ──► trials near the anchor ⟲ ──► settled

Each block is in one phase. `Public.phase` is the plan of that block, fixed by the release before
it. The screening is a block of trials, whose sets are random.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.budget.privacy import pure
from discreet.learners.one_release import OneRelease
from discreet.learners.set_minimizer.pairwise_search.posterior import PairBelief
from discreet.learners.set_minimizer.settings import SetMinimizerSettings
from discreet.release.aggregators import PublicCells


@dataclass(frozen=True, eq=False)
class TrialsPlan:
    """A block in which every round plays one of some sets."""

    sets: Mask
    """One set per row; the first is the anchor."""
    counts: Integers
    """Rounds that play each set: together they are the block."""

    @classmethod
    def blank(cls, items: int) -> "TrialsPlan":
        """Return an empty plan: it shows the dtypes and shapes that restored plans must have."""
        return cls(np.zeros((1, items), dtype=np.bool_), np.zeros(1, dtype=np.int64))

    @property
    def incumbent(self) -> Mask:
        """The set that is believed to cost least."""
        return np.asarray(self.sets[0])

    @property
    def length(self) -> int:
        """The rounds of the block."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class SettledPlan:
    """The last block: the anchor is played up to the horizon, and nobody is read."""

    incumbent: Mask

    @classmethod
    def blank(cls, items: int) -> "SettledPlan":
        """Return an empty plan: it shows the dtypes and shapes that restored plans must have."""
        return cls(np.zeros(items, dtype=np.bool_))


@dataclass(frozen=True, eq=False)
class Public:
    """All that releases have produced."""

    posterior: PairBelief
    blocks: int
    """Blocks planned after the screening."""
    tried: int
    """Rounds that met, or will meet in this block, another set than the anchor."""
    phase: TrialsPlan | SettledPlan
    """The plan of the block that people are in."""

    @property
    def point(self) -> Floats:
        """How likely each item is to be chosen in most rounds: 1 in the anchor, 0 outside."""
        return np.asarray(self.phase.incumbent.astype(float))


def costs_release(settings: SetMinimizerSettings, sets: int) -> OneRelease[PublicCells]:
    """Return the release of the sums of costs of some sets.

    Each visitor is in one of them: the whole ε but for the report, pure, which needs the least
    noise.
    """
    budget = pure(settings.epsilon / settings.contributions * (1 - settings.report))
    cells = PublicCells((sets,), -settings.bound, settings.bound)
    return OneRelease.for_budget("costs", budget, cells)
