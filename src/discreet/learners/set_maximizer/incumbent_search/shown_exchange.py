"""Slates of an exchange block: the incumbent, and trials of it in shuffled rounds.

A trial exchanges one slot. The exchanged item stands last, behind the rest of the incumbent:

    incumbent (3, 7, 5)    item 9 in slot 0    shows (7, 5, 9)    cell (slot 0, item 9)
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.plan import State
from discreet.learners.set_maximizer.incumbent_search.shown import UNIT, NewestSlate
from discreet.learners.set_maximizer.incumbent_search.trials import Trials
from discreet.learners.set_maximizer.slates import kernels, one_row_each
from discreet.learners.trial_allotment import TrialAllotment


class LastPlaces(NamedTuple):
    """The last item of each round, and the cell that its answer enters."""

    cells: Integers
    """The cell (slot, item) of each round, as slot · items + item."""
    items: Integers
    """The last shown item of each round."""


@dataclass(frozen=True, eq=False)
class ExchangeSlates:
    """Slates of an exchange block: the incumbent, and trials with one slot exchanged.

    Each round shows one *arm*: a trial, or the incumbent with one of its own items last.
    """

    incumbent: Integers
    trials: Trials
    length: int
    key: bytes
    interest: Floats
    order: Integers
    takes_turns: bool
    """Whether all slots take turns in being last in rounds without a trial; otherwise slot 0 is."""

    # --- the arms ---------------------------------------------------------------------------------

    @cached_property
    def own_slots(self) -> Integers:
        """Slots of the incumbent that are last in rounds without a trial."""
        return np.arange(len(self.incumbent) if self.takes_turns else 1)

    @cached_property
    def allotment(self) -> TrialAllotment:
        """Allotment of rounds to arms: trials first; the incumbent's slots share the rest."""
        turns = len(self.own_slots)
        rest = self.length - int(self.trials.rounds.sum())
        own = rest // turns + (self.own_slots < rest % turns)
        return TrialAllotment(np.concatenate([self.trials.rounds, own]), self.length, self.key)

    @cached_property
    def arm_slots(self) -> Integers:
        """The slot that each arm exchanges or has last."""
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
        """The cell of each arm, as slot · items + item."""
        return np.asarray(self._first_cells + self.arm_items)

    @cached_property
    def _first_cells(self) -> Integers:
        """The first cell of each arm's slot."""
        return np.asarray(self.arm_slots * len(self.interest))

    @cached_property
    def _expected(self) -> Floats:
        """Probability, per arm, that a visitor clicks none of the items before the last."""
        return np.asarray((1 - self.interest[self.arm_slates[:, :-1]]).prod(axis=1))

    def arms(self, positions: Integers) -> Integers:
        """Return the arm that each round shows."""
        if len(positions) == 1:
            return np.array([self.allotment.of_one(int(positions[0]))])
        return self.allotment.of(positions)

    # --- slates and cells -------------------------------------------------------------------------

    def slate_of_one(self, position: int, available: Mask | None) -> Integers:
        """Return the slate of one round, without unavailable items."""
        slate: Integers = self.arm_slates[self.allotment.of_one(position)]
        if available is None:
            return slate
        newest = self._newest
        if newest.available is not available or newest.position != position:
            masked = np.empty(len(slate), dtype=np.int64)
            kernels.fill_up_before_last(slate, available.reshape(-1), self.order, masked)
            newest.position = position
            newest.available = available
            newest.slate = masked
        return newest.slate

    @cached_property
    def _newest(self) -> NewestSlate:
        return NewestSlate()

    def slates(self, positions: Integers, available: Mask | None) -> Integers:
        """Return one slate per round, without unavailable items.

        If the last item of an arm is unavailable, the best item that is left takes its place.
        """
        arms = self.arms(positions)
        if available is None:
            return self.arm_slates[arms]
        masks = one_row_each(available)
        slates = np.empty((len(arms), len(self.incumbent)), dtype=np.int64)
        kernels.fill_up_all_before_last(self.arm_slates, arms, masks, self.order, slates)
        return slates

    def last_places(self, positions: Integers, slates: Integers | None) -> LastPlaces:
        """Return the last items and their cells; `slates` are those of rounds with masks."""
        arms = self.arms(positions)
        if slates is None:
            return LastPlaces(self.arm_cells[arms], self.arm_items[arms])
        last = _last(slates)
        return LastPlaces(self._first_cells[arms] + last, last)

    # --- counts -----------------------------------------------------------------------------------

    def no_mask_counts(self) -> State:
        """Return the mask counts before any round has a mask."""
        shape = len(self.incumbent), len(self.interest)
        return {name: np.zeros(shape, dtype=np.int64) for name in ("views", "more")}

    def count_masked(self, positions: Integers, available: Mask, mask_counts: State) -> None:
        """Add the changes by masks to the counts of the rounds' cells, in steps.

        Behind other items than the incumbent's, more or fewer visitors look at the last place
        (`views`), and the value of the slate differs from that of the incumbent with the same item
        last (`more`).
        """
        shared = self.interest, self.takes_turns, UNIT, mask_counts["views"], mask_counts["more"]
        if len(positions) == 1:
            position = int(positions[0])
            arm = self.allotment.of_one(position)
            slate = self.slate_of_one(position, available)
            kernels.count_exchanged(slate, self.arm_cells[arm], self._expected[arm], *shared)
            return
        arms = self.arms(positions)
        slates = self.slates(positions, available)
        expected = self._expected[arms]
        kernels.count_all_exchanged(slates, self.arm_cells[arms], expected, *shared)

    def planned(self) -> Integers:
        """Return the views per cell (slot, item) of the whole block without masks, in steps."""
        views = np.zeros((len(self.incumbent), len(self.interest)), dtype=np.int64)
        np.add.at(views.reshape(-1), self.arm_cells, self.allotment.counts * UNIT)
        return views


def _last(slates: Integers) -> Integers:
    """Return the last item of each slate; short slates end with −1."""
    if len(slates) == 1 and slates[0, -1] >= 0:
        return slates[:, -1]
    count = (slates >= 0).sum(axis=1)
    return np.take_along_axis(slates, np.maximum(count - 1, 0)[:, None], axis=1)[:, 0]
