"""Readings of released values: scores of candidates, and reports of what decisions earned."""

from dataclasses import dataclass

from discreet.arrays import Floats, Integers
from discreet.engine.labels import Label


@dataclass(frozen=True)
class Scores:
    """Estimated value of each candidate and its standard deviation, from released values only.

    One entry per candidate, in the order of `labels` (their numbers if they have no labels); for
    slates, one row per slot.
    """

    values: Floats
    standard_deviations: Floats | None
    labels: tuple[Label, ...] = ()

    def as_dict(self) -> dict[Label, float] | list[dict[Label, float]]:
        """Return the values by label: a dictionary; for slates, a list with one per slot.

        >>> import numpy as np
        >>> Scores(np.array([0.25, 0.5]), None, ("tea", "milk")).as_dict()
        {'tea': 0.25, 'milk': 0.5}
        """
        if self.values.ndim == 1:
            return dict(zip(self.labels, self.values.tolist(), strict=True))
        return [dict(zip(self.labels, row, strict=True)) for row in self.values.tolist()]


@dataclass(frozen=True)
class Report:
    """What decisions earned, from released values only: one entry per release.

    `value` is the mean reward (clicks: the share of people who clicked; costs: the mean cost) of
    the people between two releases, up to `rounds`. People who gave no answer count with the value
    of a missing answer: the middle of the rewards' range (ContextualBandit), or 0 (sets: no reward,
    no click, no cost).
    """

    rounds: Integers
    value: Floats
    standard_deviation: Floats
    what: str = "mean reward"
    """Name of the quantity in `value`."""
