"""Slates of a screening block: a table that rounds go through again and again; and what is counted.

CountingViews    how often visitors look at an item              FirstClicks, LaterClicks
CountingShows    how often an item is shown                      FirstRewards
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
MINUS_ONCE = np.array([-1])
"""All slates count once, or are taken off once."""


class SlateGains(NamedTuple):
    """The worth of slates, 1 − Π(1 − interest), and its derivatives by their items' interest."""

    weights: Floats
    worth: Floats


def slate_gains(slates: Integers, interest: Floats) -> SlateGains:
    """Return how each shown item's interest moves the worth of its slate, and that worth."""
    passed = 1 - np.where(slates >= 0, interest[np.maximum(slates, 0)], 0.0)
    nobody = passed.prod(axis=1)
    weights = np.where(slates >= 0, nobody[:, None] / passed, 0.0)
    return SlateGains(weights, 1 - nobody)


@dataclass(frozen=True, eq=False)
class ScreeningSlates(ABC):
    """Slates from a table; the first items of each are the `prefix`, chosen already.

    The kinds of blocks differ in what is counted of a shown item.
    """

    table: Integers
    prefix: Integers
    interest: Floats
    order: Integers
    """Items in the order of their merit, which fill up slates under masks."""

    numbers: ClassVar[int] = 1
    """How many numbers are counted of an item."""

    @abstractmethod
    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        """Add what these slates count for every item, in steps.

        `times` says how often each of them is shown, or all of them.
        """

    def slates(self, positions: Integers, available: Mask | None) -> Integers:
        """Return one slate per round; positions are counted from the beginning of the block."""
        planned: Integers = self.table[positions % len(self.table)]
        return planned if available is None else filled_up(planned, available, self.order)

    def slate_of_one(self, position: int, available: Mask | None) -> Integers:
        """Return the slate of one round."""
        slate: Integers = self.table[position % len(self.table)]
        if available is None:
            return slate
        newest = self._newest
        if newest.available is not available or newest.position != position:
            newest.slate = filled_up(slate[None], available, self.order)[0]
            newest.position, newest.available = position, available
        return newest.slate

    @cached_property
    def _newest(self) -> NewestSlate:
        return NewestSlate()

    def candidates(self, slates: Integers) -> Integers:
        """Return the shown items, −1 in place of those that are chosen already."""
        return np.where(self._chosen[slates], -1, slates) if len(self.prefix) else slates

    @cached_property
    def _chosen(self) -> Mask:
        """Whether each item is chosen already; the entry behind the last one is for no item, −1."""
        chosen = np.zeros(len(self.interest) + 1, dtype=np.bool_)
        chosen[self.prefix] = True
        return chosen

    def no_mask_counts(self) -> State:
        """Return the counts before anything is shown."""
        return {"counts": np.zeros((self.numbers, len(self.interest)), dtype=np.int64)}

    def count_masked(self, positions: Integers, available: Mask, mask_counts: State) -> None:
        """Add to the tally what masks change of the counts of these rounds."""
        if len(positions) == 1:
            position = int(positions[0])
            masked = self.slate_of_one(position, available)[None]
            planned = self.slate_of_one(position, None)[None]
        else:
            masked, planned = self.slates(positions, available), self.slates(positions, None)
        self.count(masked, ONCE, mask_counts["counts"])
        self.count(planned, MINUS_ONCE, mask_counts["counts"])

    def planned(self, length: int) -> Integers:
        """Return the counts of a whole block of `length` rounds, without masks, in steps."""
        sweeps, rest = divmod(length, len(self.table))
        counts: Integers = self.no_mask_counts()["counts"]
        self.count(self.table, sweeps + (np.arange(len(self.table)) < rest), counts)
        return counts


class CountingViews(ScreeningSlates):
    """Counts how often a visitor behind the prefix looks at an item."""

    @cached_property
    def _behind(self) -> float:
        """The share of visitors who get past the prefix."""
        return float(np.prod(1 - self.interest[self.prefix]))

    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        kernels.count_views(slates, times, self.interest, self._chosen, self._behind, UNIT, counts)


class CountingShows(ScreeningSlates):
    """Counts how often an item is shown."""

    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        kernels.count_shown(slates, times, self._chosen, UNIT, counts)


class CountingGains(ScreeningSlates):
    """Counts Σx², Σx·worth and Σx, with x the weights of `slate_gains`."""

    numbers = 3

    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        kernels.count_gains(slates, times, self.interest, self._chosen, UNIT, counts)
