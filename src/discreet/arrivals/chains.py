"""People along a path of choices: a family of set functions as the door's paths need it.

The worth of a growing set is the sum of its gains, kept beside what the family remembers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.arrivals.set_functions import SetFunctions

__all__ = ["FamilyChain", "PresentChain"]


@dataclass(frozen=True)
class FamilyChain:
    """Rows of people of one family, along a path.

    >>> from discreet.arrivals import ClickModel
    >>> chain, rows = FamilyChain(ClickModel()), np.array([[0.5, 0.4]])
    >>> chain.worths(rows, chain.take(rows, chain.begin(rows), 0))
    array([[0.75, 0.7 ]])
    """

    family: SetFunctions

    def begin(self, rows: Floats) -> Any:
        """Worth nothing so far, and what the family remembers of the empty set."""
        return np.zeros(len(rows)), self.family.begin(rows)

    def worths(self, rows: Floats, state: Any) -> Floats:
        """The worth of the set with one more item, people × items."""
        worth, covered = state
        return np.asarray(worth[:, None] + self.family.gains(rows, covered), dtype=np.float64)

    def take(self, rows: Floats, state: Any, item: int) -> Any:
        """The worth and what the family remembers after this item was taken."""
        worth, covered = state
        gained = self.family.gains(rows, covered)[:, item]
        return worth + gained, self.family.add(rows, covered, item)


@dataclass(frozen=True)
class PresentChain:
    """The same, for rows with one more number in front: 1 if somebody is there, 0 if the place is empty.

    Nobody is worth nothing, also in families where a row of zeros is somebody.
    """

    family: SetFunctions

    @property
    def _chain(self) -> FamilyChain:
        return FamilyChain(self.family)

    def begin(self, rows: Floats) -> Any:
        """What is known of these rows with the empty set."""
        return self._chain.begin(rows[:, 1:])

    def worths(self, rows: Floats, state: Any) -> Floats:
        """The worth of the set with one more item, people × items."""
        return np.asarray(rows[:, :1] * self._chain.worths(rows[:, 1:], state), dtype=np.float64)

    def take(self, rows: Floats, state: Any, item: int) -> Any:
        """What is known after this item was taken."""
        return self._chain.take(rows[:, 1:], state, item)
