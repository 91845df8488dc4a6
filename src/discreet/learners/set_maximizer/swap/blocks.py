"""The rounds of one block: which slate each shows, and which cells its answer is for.

A `ScreeningBlock` goes through a table of slates, again and again. An `ExchangeBlock` shows the
incumbent slate, and in shuffled rounds the incumbent with one slot exchanged. Everything here
follows from what was released before the block began, from public coins and from public masks; what
masks change is counted when rounds are opened. Counts are whole numbers of steps of 2⁻¹⁶, so that
they add up the same in any order.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.allotment import Allotment
from discreet.learners.set_maximizer.slates import filled_up, kernels, one_row_each
from discreet.learners.set_maximizer.swap.trials import Trials
from discreet.turn.plan import State

__all__ = [
    "UNIT",
    "ExchangeBlock",
    "GainsBlock",
    "ScreeningBlock",
    "ShownBlock",
    "ViewsBlock",
    "slate_gains",
]

UNIT = 2**16
"""Steps of counts."""
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


@dataclass(eq=False, slots=True)
class _Newest:
    """The slate of the newest single round with a mask: asked for again when its answer comes."""

    position: int = -1
    available: Mask | None = None
    slate: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


# --- screening ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ScreeningBlock(ABC):
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
    def _newest(self) -> _Newest:
        return _Newest()

    def candidates(self, slates: Integers) -> Integers:
        """Return the shown items, −1 in place of those that are chosen already."""
        return np.where(self._chosen[slates], -1, slates) if len(self.prefix) else slates

    @cached_property
    def _chosen(self) -> Mask:
        """Whether each item is chosen already; the entry behind the last one is for no item, −1."""
        chosen = np.zeros(len(self.interest) + 1, dtype=np.bool_)
        chosen[self.prefix] = True
        return chosen

    def no_counts(self) -> State:
        """Return the counts before anything is shown."""
        return {"counts": np.zeros((self.numbers, len(self.interest)), dtype=np.int64)}

    def count_masked(self, positions: Integers, available: Mask, tally: State) -> None:
        """Add to the tally what masks change of the counts of these rounds."""
        if len(positions) == 1:
            position = int(positions[0])
            masked = self.slate_of_one(position, available)[None]
            planned = self.slate_of_one(position, None)[None]
        else:
            masked, planned = self.slates(positions, available), self.slates(positions, None)
        self.count(masked, ONCE, tally["counts"])
        self.count(planned, MINUS_ONCE, tally["counts"])

    def planned(self, length: int) -> Integers:
        """Return what the whole block counts, without masks, in steps."""
        sweeps, rest = divmod(length, len(self.table))
        counts: Integers = self.no_counts()["counts"]
        self.count(self.table, sweeps + (np.arange(len(self.table)) < rest), counts)
        return counts


class ViewsBlock(ScreeningBlock):
    """Counts how often a visitor behind the prefix looks at an item."""

    @cached_property
    def _behind(self) -> float:
        """The share of visitors who get past the prefix."""
        return float(np.prod(1 - self.interest[self.prefix]))

    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        kernels().count_views(slates, times, self.interest, self._chosen, self._behind, UNIT, counts)


class ShownBlock(ScreeningBlock):
    """Counts how often an item is shown."""

    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        kernels().count_shown(slates, times, self._chosen, UNIT, counts)


class GainsBlock(ScreeningBlock):
    """Counts Σx², Σx·worth and Σx, with x the weights of `slate_gains`."""

    numbers = 3

    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        kernels().count_gains(slates, times, self.interest, self._chosen, UNIT, counts)


# --- exchanges ------------------------------------------------------------------------------------


class Cells(NamedTuple):
    """The cell of each round (its slot and the item that is shown last), and that item."""

    cells: Integers
    last: Integers


@dataclass(frozen=True, eq=False)
class ExchangeBlock:
    """The incumbent slate, and trials with one slot exchanged; the exchanged item stands last.

    Each round shows one *arm*: a trial, or the incumbent with one of its own slots last.
    """

    incumbent: Integers
    trials: Trials
    length: int
    key: bytes
    interest: Floats
    order: Integers
    takes_turns: bool
    """Whether, without a trial, all slots take turns in being last; otherwise slot 0 is."""

    # --- the arms ---------------------------------------------------------------------------------

    @cached_property
    def own_slots(self) -> Integers:
        """The incumbent's slots that are last in rounds without a trial."""
        return np.arange(len(self.incumbent) if self.takes_turns else 1)

    @cached_property
    def allotment(self) -> Allotment:
        """Trials first, then the incumbent's own slots, which share the rest."""
        turns = len(self.own_slots)
        rest = self.length - int(self.trials.rounds.sum())
        own = rest // turns + (self.own_slots < rest % turns)
        return Allotment(np.concatenate([self.trials.rounds, own]), self.length, self.key)

    @cached_property
    def arm_slots(self) -> Integers:
        """The slot that each arm exchanges."""
        return np.concatenate([self.trials.slots, self.own_slots])

    @cached_property
    def arm_items(self) -> Integers:
        """The item that each arm has last."""
        return np.concatenate([self.trials.items, self.incumbent[self.own_slots]])

    @cached_property
    def arm_slates(self) -> Integers:
        """The slate of each arm."""
        slots = range(len(self.incumbent))
        others = np.array([np.delete(self.incumbent, slot) for slot in slots])
        return np.concatenate([others[self.arm_slots], self.arm_items[:, None]], axis=1)

    @cached_property
    def arm_cells(self) -> Integers:
        """The cell of each arm: slot · items + item."""
        return np.asarray(self._first_cells + self.arm_items)

    @cached_property
    def _first_cells(self) -> Integers:
        """The first cell of each arm's slot."""
        return np.asarray(self.arm_slots * len(self.interest))

    @cached_property
    def _expected(self) -> Floats:
        """The share of visitors who get past the items before the last, for each arm."""
        return np.asarray((1 - self.interest[self.arm_slates[:, :-1]]).prod(axis=1))

    def arms(self, positions: Integers) -> Integers:
        """Return the arm that each round shows."""
        if len(positions) == 1:
            return np.array([self.allotment.of_one(int(positions[0]))])
        return self.allotment.of(positions)

    # --- slates and cells -------------------------------------------------------------------------

    def slate_of_one(self, position: int, available: Mask | None) -> Integers:
        """Return the slate of one round."""
        slate: Integers = self.arm_slates[self.allotment.of_one(position)]
        if available is None:
            return slate
        newest = self._newest
        if newest.available is not available or newest.position != position:
            masked = np.empty(len(slate), dtype=np.int64)
            kernels().fill_up_before_last(slate, available.reshape(-1), self.order, masked)
            newest.position, newest.available, newest.slate = position, available, masked
        return newest.slate

    @cached_property
    def _newest(self) -> _Newest:
        return _Newest()

    def slates(self, positions: Integers, available: Mask | None) -> Integers:
        """Return one slate per round.

        Without what is unavailable; the last place goes to another item of merit, if need be.
        """
        arms = self.arms(positions)
        if available is None:
            return self.arm_slates[arms]
        masks = one_row_each(available)
        slates = np.empty((len(arms), len(self.incumbent)), dtype=np.int64)
        kernels().fill_up_all_before_last(self.arm_slates, arms, masks, self.order, slates)
        return slates

    def read(self, positions: Integers, slates: Integers | None) -> Cells:
        """Return the cells of some rounds; `slates` is what rounds with masks show."""
        arms = self.arms(positions)
        if slates is None:
            return Cells(self.arm_cells[arms], self.arm_items[arms])
        last = _last(slates)
        return Cells(self._first_cells[arms] + last, last)

    # --- counts -----------------------------------------------------------------------------------

    def no_counts(self) -> State:
        """Return the counts before any round has a mask."""
        shape = len(self.incumbent), len(self.interest)
        return {name: np.zeros(shape, dtype=np.int64) for name in ("views", "more")}

    def count_masked(self, positions: Integers, available: Mask, tally: State) -> None:
        """Add to the tally what masks change of what these rounds count in their cells, in steps.

        Behind other items than the incumbent's, more or fewer visitors are left to look at the last
        place (`views`); and the slate is worth more or less than the incumbent with the same item
        last (`more`).
        """
        counting = self.interest, self.takes_turns, UNIT, tally["views"], tally["more"]
        if len(positions) == 1:
            position = int(positions[0])
            arm, slate = self.allotment.of_one(position), self.slate_of_one(position, available)
            kernels().count_exchanged(slate, self.arm_cells[arm], self._expected[arm], *counting)
            return
        arms, slates = self.arms(positions), self.slates(positions, available)
        expected = self._expected[arms]
        kernels().count_all_exchanged(slates, self.arm_cells[arms], expected, *counting)

    def planned(self) -> Integers:
        """Return the views of the whole block, without masks, in steps."""
        views = np.zeros((len(self.incumbent), len(self.interest)), dtype=np.int64)
        np.add.at(views.reshape(-1), self.arm_cells, self.allotment.counts * UNIT)
        return views


def _last(slates: Integers) -> Integers:
    """Return the item that stands last in each slate, which may be short."""
    if len(slates) == 1 and slates[0, -1] >= 0:
        return slates[:, -1]
    count = (slates >= 0).sum(axis=1)
    return np.take_along_axis(slates, np.maximum(count - 1, 0)[:, None], axis=1)[:, 0]
