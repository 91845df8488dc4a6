"""A screening stage: its mechanisms, and how its budget is divided.

In every arm, `picks` features are drawn by the exponential mechanism with scores |Σ u·x_j|, then the sums of
those that were drawn are released; a small ridge re-estimates the features found before; and three scalars
(Σu², Σ x·clip(x), a count) turn sums into coefficients. All of it is paid by the people of this stage alone.
"""

from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from discreet.budget.privacy import Charge
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.release.gathering import ChosenRows, Moments, Rows
from discreet.release.noise import Once
from discreet.release.selection import Selection

__all__ = ["FIRST", "Stage"]


class Shares(NamedTuple):
    """How a screening stage divides its budget."""

    draws: float
    values: float
    ridge: float
    scalars: float


FIRST = Shares(0.6, 0.3, 0.08, 0.02)
LATER = Shares(0.6, 0.2, 0.18, 0.02)


@dataclass(frozen=True)
class Stage:
    """The mechanisms of one stage, and how many features each arm draws."""

    picks: int
    draw: Selection
    values: Once[Any]
    ridge: Once[Any]
    scalars: Once[Any]

    @classmethod
    def planned(cls, settings: ContextualBanditSettings, budget: Charge, number: int, width: int) -> "Stage":
        """Stage `number`, from 0; later ones draw fewer features. `width` is that of the small ridges."""
        shares = LATER if number else FIRST
        picks = min(settings.features, max(1, ceil(settings.expected * (1 - 0.2 * number))))
        values = Once.for_budget(budget * shares.values, ChosenRows((settings.slots, picks)))
        scores = ChosenRows((settings.slots, settings.features), values.gathering.levels)
        return cls(
            picks,
            Selection.for_budget(budget * shares.draws, scores, draws=picks),
            values,
            Once.for_budget(budget * shares.ridge, Moments.of(settings.slots, width)),
            Once.for_budget(budget * shares.scalars, Rows((3,), norm=np.inf, nonnegative=True)),
        )

    def scores(self, features: int) -> ChosenRows:
        """What features are drawn from: the same integers as the values', of all features."""
        return ChosenRows((self.values.gathering.shape[0], features), self.values.gathering.levels)

    @property
    def charge(self) -> Charge:
        """What the stage costs each of its people."""
        drawn = self.draw.charge("zcdp") * self.picks
        return drawn + self.values.charge + self.ridge.charge + self.scalars.charge
