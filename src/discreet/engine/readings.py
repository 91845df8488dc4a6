"""What a learner tells from released values: scores of candidates, and reports of what was
earned.
"""

from dataclasses import dataclass

from discreet.arrays import Floats, Integers
from discreet.engine.labels import Label


@dataclass(frozen=True)
class Scores:
    """How good each candidate is, from released values only, and how far off the noise makes that.

    One entry per candidate, in the order of `labels` (their numbers if they have no labels); for
    slates, one row per slot.
    """

    values: Floats
    standard_deviations: Floats | None
    labels: tuple[Label, ...] = ()

    def as_dict(self) -> dict[Label, float] | list[dict[Label, float]]:
        """Values by label: a dictionary; for slates, a list with one per slot.

        >>> import numpy as np
        >>> Scores(np.array([0.25, 0.5]), None, ("tea", "milk")).as_dict()
        {'tea': 0.25, 'milk': 0.5}
        """
        if self.values.ndim == 1:
            return dict(zip(self.labels, self.values.tolist(), strict=True))
        return [dict(zip(self.labels, row, strict=True)) for row in self.values.tolist()]


@dataclass(frozen=True)
class Report:
    """What was earned, from released values only: one entry a release.

    `value` is the mean reward (clicks: the share who clicked; costs: the mean cost) of the people
    between two releases, up to `rounds`. Whoever gave no answer counts with what a missing answer
    is taken for: the middle of the rewards' range (ContextualBandit), or 0 (sets: no reward, no
    click, no cost).
    """

    rounds: Integers
    value: Floats
    standard_deviation: Floats
    what: str = "mean reward"
    """What the values are, in words."""
