"""Public state that both modes of the contextual bandit share.

    preparations ──► regressions ⟲        each preparation reads a disjoint block of people

    score of arm a = offset_a + ⟨weights_a, context⟩        from released values

Scores are relative to the middle of the range of rewards, in units of half the range.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.arrays import Floats
from discreet.engine.declarations import Stored
from discreet.errors import StateError
from discreet.learners.contextual_bandit.arms import Arms
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings

if TYPE_CHECKING:
    from discreet.learners.contextual_bandit.mode import ContextualMode

FAR_APART = 1e6
"""The variance between arms if there is only one: predictions are not shrunk then."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Linear scores of the arms, and their uncertainty."""

    weights: Floats
    """Weights on contexts in the user's units, features × arms."""
    offsets: Floats
    """One offset per arm."""
    covariances: Floats
    """The covariance matrix of the coefficients of each arm, on mapped contexts."""
    apart: float
    """The variance between the scores of arms in a usual context, without noise."""
    resolved: float = 1.0
    """The factor by which the ridge shrinks coefficients, on average over the arms."""

    @classmethod
    def none(cls, settings: ContextualBanditSettings, width: int) -> "Estimates":
        """Return the estimates before the first release: all arms are equal."""
        slots = settings.slots
        return cls(
            weights=np.zeros((settings.features, slots)),
            offsets=np.zeros(slots),
            covariances=np.zeros((slots, width, width)),
            apart=0.0,
        )


@dataclass(frozen=True, eq=False)
class ContextualPublic(Stored):
    """Public state of both modes."""

    arms: Arms
    estimates: Estimates

    def check(self, mode: "ContextualMode[Any]") -> None:
        slots = mode.settings.slots
        if not self.arms.fits(slots):
            raise StateError(f"there is room for {slots} arms")

    @abstractmethod
    def mapped(self, contexts: Floats, scales: Floats) -> Floats:
        """Return the mapped contexts that the regressions use: contexts × arms × entries."""


Published = TypeVar("Published", bound=ContextualPublic)
