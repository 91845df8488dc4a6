"""Slates of a screening block, which cycles through a table, and the public counts of its items.

CountingViews    number of visitors who look at an item          FirstClicks, LaterClicks
CountingShows    number of rounds that show an item              FirstRewards
CountingGains    sums of weights, for a regression on rewards    LaterRewards
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.plan import State
from discreet.learners.set_maximizer.incumbent_search.shown import UNIT, NewestSlate
from discreet.learners.set_maximizer.slates import filled_up, kernels

ONCE = np.array([1])
"""Each slate counts once."""
MINUS_ONCE = np.array([-1])
"""Each slate is subtracted once."""


class SlateGains(NamedTuple):
    """Values of slates, 1 − Π(1 − interest), and their derivatives by the items' interest."""

    weights: Floats
    """One row per slate, one derivative per slot."""
    worth: Floats
    """One value per slate."""


def slate_gains(slates: Integers, interest: Floats) -> SlateGains:
    """Return the values of slates, and their derivatives by the interest of each shown item."""
    no_click = 1 - np.where(slates >= 0, interest[np.maximum(slates, 0)], 0.0)
    no_click_at_all = no_click.prod(axis=1)
    weights = np.where(slates >= 0, no_click_at_all[:, None] / no_click, 0.0)
    return SlateGains(weights, 1 - no_click_at_all)


@dataclass(frozen=True, eq=False)
class ScreeningSlates(ABC):
    """Slates from a table; each begins with the `prefix`, the leaders that are fixed.

    Subclasses differ in the numbers that they count per shown item.
    """

    table: Integers
    prefix: Integers
    interest: Floats
    order: Integers
    """Items by falling interest: the order in which they fill up slates under masks."""

    numbers: ClassVar[int] = 1
    """Number of counts per item."""

    @abstractmethod
    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        """Add the counts of these slates to `counts`, in steps.

        `times` is the number of rounds of each slate, or one number for all of them.
        """

    def slates(self, positions: Integers, available: Mask | None) -> Integers:
        """Return one slate per round, without unavailable items."""
        planned: Integers = self.table[positions % len(self.table)]
        return planned if available is None else filled_up(planned, available, self.order)

    def slate_of_one(self, position: int, available: Mask | None) -> Integers:
        """Return the slate of one round, without unavailable items."""
        slate: Integers = self.table[position % len(self.table)]
        if available is None:
            return slate
        newest = self._newest
        if newest.available is not available or newest.position != position:
            newest.slate = filled_up(slate[None], available, self.order)[0]
            newest.position = position
            newest.available = available
        return newest.slate

    @cached_property
    def _newest(self) -> NewestSlate:
        return NewestSlate()

    def candidates(self, slates: Integers) -> Integers:
        """Return the shown items, with −1 in place of those of the prefix."""
        return np.where(self._chosen[slates], -1, slates) if len(self.prefix) else slates

    @cached_property
    def _chosen(self) -> Mask:
        """Mask of the prefix; its additional last entry is that of −1, no item."""
        chosen = np.zeros(len(self.interest) + 1, dtype=np.bool_)
        chosen[self.prefix] = True
        return chosen

    def no_mask_counts(self) -> State:
        """Return the mask counts before any round has a mask."""
        return {"counts": np.zeros((self.numbers, len(self.interest)), dtype=np.int64)}

    def count_masked(self, positions: Integers, available: Mask, mask_counts: State) -> None:
        """Add the changes by masks to the counts of these rounds."""
        if len(positions) == 1:
            position = int(positions[0])
            masked = self.slate_of_one(position, available)[None]
            planned = self.slate_of_one(position, None)[None]
        else:
            masked = self.slates(positions, available)
            planned = self.slates(positions, None)
        self.count(masked, ONCE, mask_counts["counts"])
        self.count(planned, MINUS_ONCE, mask_counts["counts"])

    def planned(self, length: int) -> Integers:
        """Return the counts of a whole block of `length` rounds, without masks, in steps."""
        cycles, rest = divmod(length, len(self.table))
        times = cycles + (np.arange(len(self.table)) < rest)
        counts: Integers = self.no_mask_counts()["counts"]
        self.count(self.table, times, counts)
        return counts


class CountingViews(ScreeningSlates):
    """Counts, per item, the visitors who look at it, among those who pass the prefix."""

    @cached_property
    def _behind(self) -> float:
        """Probability that a visitor clicks none of the items of the prefix."""
        return float(np.prod(1 - self.interest[self.prefix]))

    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        kernels.count_views(slates, times, self.interest, self._chosen, self._behind, UNIT, counts)


class CountingShows(ScreeningSlates):
    """Counts, per item, the rounds that show it."""

    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        kernels.count_shown(slates, times, self._chosen, UNIT, counts)


class CountingGains(ScreeningSlates):
    """Counts, per item, Σx², Σx·worth and Σx, with x the weights of `slate_gains`."""

    numbers = 3

    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        kernels.count_gains(slates, times, self.interest, self._chosen, UNIT, counts)
