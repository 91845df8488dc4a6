"""What both modes of the contextual bandit publish.

    preparations ──► regressions ⟲        each preparation reads people of its own

    score of arm a = offset_a + ⟨weights_a, context⟩        from released values

Scores are in units of half the rewards' range, counted from its middle.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from discreet.arrays import Floats
from discreet.engine.plan import State
from discreet.learners.contextual_bandit.arms import Arms
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings

FAR_APART = 1e6
"""Variance of arms that cannot be compared, as one alone: scores are not drawn together then."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """What is known of the arms: linear scores of contexts, and their uncertainty."""

    weights: Floats
    """Weights on contexts as they come, features × arms."""
    offsets: Floats
    """One per arm."""
    covariances: Floats
    """Of each arm's coefficients on mapped contexts."""
    apart: float
    """Variance of the arms' scores for a usual context, beyond noise."""
    resolved: float = 1.0
    """Share of the truth that coefficients are shrunk to, on average over the arms."""

    @classmethod
    def none(cls, settings: ContextualBanditSettings, width: int) -> "Estimates":
        """Return the estimates before anything is learned: all arms are alike."""
        slots = settings.slots
        return cls(
            weights=np.zeros((settings.features, slots)),
            offsets=np.zeros(slots),
            covariances=np.zeros((slots, width, width)),
            apart=0.0,
        )


@dataclass(frozen=True, eq=False)
class ContextualPublic:
    """All that releases and public events have produced, in both modes."""

    arms: Arms
    estimates: Estimates
    moments: State
    """Running total of the second moments and moments of all blocks after the preparations."""

    @abstractmethod
    def mapped(self, contexts: Floats, scales: Floats) -> Floats:
        """Return contexts as the regressions see them: contexts × arms × numbers."""


Published = TypeVar("Published", bound=ContextualPublic)
