"""The rounds of one block: which slate each shows, and which cells its answer is for.

A `ScreeningBlock` goes through a table of slates, again and again. An `ExchangeBlock` shows the anchor slate,
and in shuffled rounds the anchor with one slot exchanged. Everything here follows from what was released
before the block began, from public coins and from public masks; what masks change is counted when rounds are
opened. Counts are whole numbers of steps of 2⁻¹⁶, so that they add up the same in any order.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.allotment import Allotment
from discreet.learners.set_maximizer.slates import filled_up

__all__ = ["UNIT", "ExchangeBlock", "ScreeningBlock", "shared_gains", "still_there"]

UNIT = 2**16
"""Steps of counts."""


def still_there(slates: Integers, interest: Floats) -> Floats:
    """The chance that a visitor looks at each place of these slates: nobody before it was taken."""
    passed = np.cumprod(1 - _interest_of(slates, interest), axis=1)
    return np.concatenate([np.ones((len(slates), 1)), passed[:, :-1]], axis=1)


def shared_gains(slates: Integers, interest: Floats) -> tuple[Floats, Floats]:
    """How each shown item's interest moves the worth of its slate, and that worth: 1 − Π(1 − interest)."""
    passed = 1 - _interest_of(slates, interest)
    nobody = passed.prod(axis=1)
    return np.where(slates >= 0, nobody[:, None] / passed, 0.0), 1 - nobody


def _interest_of(slates: Integers, interest: Floats) -> Floats:
    return np.where(slates >= 0, interest[np.maximum(slates, 0)], 0.0)


@dataclass(frozen=True, eq=False)
class ScreeningBlock:
    """Slates from a table; the first items of each are the `prefix`, chosen already."""

    table: Integers
    prefix: Integers
    interest: Floats
    order: Integers
    """Items in the order of their merit, which fill up slates under masks."""
    kind: str
    """What is counted of a shown item: "views", "shown" or "gains"."""

    def slates(self, positions: Integers, available: Mask | None) -> Integers:
        """One slate a round; positions are counted from the beginning of the block."""
        planned: Integers = self.table[positions % len(self.table)]
        return planned if available is None else filled_up(planned, available, self.order)

    def slate_of_one(self, position: int) -> Integers:
        """The same for one round without a mask."""
        slate: Integers = self.table[position % len(self.table)]
        return slate

    def candidates(self, slates: Integers) -> Integers:
        """The shown items, −1 in place of those that are chosen already."""
        return np.where(np.isin(slates, self.prefix), -1, slates) if len(self.prefix) else slates

    def counted(self, slates: Integers, times: Any = 1) -> Integers:
        """What these slates, so often each, count for every item, in steps: see `kind`.

        views    how often a visitor behind the prefix looks at it
        shown    how often it is shown
        gains    Σx², Σx·worth and Σx, x as in `shared_gains`
        """
        shown = self.candidates(slates)
        if self.kind == "views":
            looks = still_there(slates, self.interest) / np.prod(1 - self.interest[self.prefix])
            parts = [np.minimum(looks, 1.0)]
        elif self.kind == "shown":
            parts = [np.ones(slates.shape)]
        else:
            weights, worth = shared_gains(slates, self.interest)
            parts = [weights**2, weights * worth[:, None], weights]
        times = np.broadcast_to(np.asarray(times), (len(slates),))[:, None]
        there = shown >= 0
        found = np.zeros((len(parts), len(self.interest)), dtype=np.int64)
        for row, part in zip(found, parts, strict=True):
            np.add.at(row, shown[there], (np.rint(part * UNIT).astype(np.int64) * times)[there])
        return found

    def planned(self, length: int) -> Integers:
        """The same for the whole block, without masks."""
        sweeps, rest = divmod(length, len(self.table))
        times = sweeps + (np.arange(len(self.table)) < rest)
        return self.counted(self.table, times)

    @property
    def heaviest(self) -> float:
        """The most that Σx of one scheduled slate is."""
        return float(shared_gains(self.table, self.interest)[0].sum(axis=1).max())


@dataclass(frozen=True, eq=False)
class ExchangeBlock:
    """The anchor slate, and trials: the others first, the exchanged item last."""

    anchor: Integers
    slots: Integers
    items: Integers
    rounds: Integers
    """How often each trial (a slot and an item) is made."""
    length: int
    key: bytes
    interest: Floats
    order: Integers
    by_clicks: bool

    @property
    def turns(self) -> int:
        """How many of the anchor's slots take turns in being last, in rounds without a trial."""
        return len(self.anchor) if self.by_clicks else 1

    @cached_property
    def allotment(self) -> Allotment:
        """Trials first, then the anchor's slots, which share the rest."""
        sharing = np.arange(self.turns)
        rest = self.length - int(self.rounds.sum())
        own = rest // self.turns + (sharing < rest % self.turns)
        return Allotment(np.concatenate([self.rounds, own]), self.length, self.key)

    @cached_property
    def places(self) -> Integers:
        """The slot and the item that each thing of the allotment has last, one a row."""
        sharing = np.arange(self.turns)
        slots = np.concatenate([self.slots, sharing])
        return np.stack([slots, np.concatenate([self.items, self.anchor[sharing]])], axis=1)

    @cached_property
    def shown(self) -> Integers:
        """The slate of each thing."""
        others = np.array([np.delete(self.anchor, slot) for slot in range(len(self.anchor))])
        return np.concatenate([others[self.places[:, 0]], self.places[:, 1:]], axis=1)

    @cached_property
    def planned_cells(self) -> Integers:
        """The cell of each thing: slot · items + item."""
        return np.asarray(self.places[:, 0] * len(self.interest) + self.places[:, 1])

    def things(self, positions: Integers) -> Integers:
        """What each round shows."""
        if len(positions) == 1:
            return np.array([self.allotment.of_one(int(positions[0]))])
        return self.allotment.of(positions)

    def slate_of_one(self, position: int) -> Integers:
        """The slate of one round without a mask."""
        slate: Integers = self.shown[self.allotment.of_one(position)]
        return slate

    def slates(self, positions: Integers, available: Mask | None) -> Integers:
        """One slate a round."""
        things = self.things(positions)
        return self.shown[things] if available is None else self._masked(things, available)

    def last(self, slates: Integers) -> Integers:
        """The item that stands last in each slate, which may be short."""
        count = (slates >= 0).sum(axis=1)
        return np.take_along_axis(slates, np.maximum(count - 1, 0)[:, None], axis=1)[:, 0]

    def read(self, positions: Integers, available: Mask | None) -> tuple[Integers, Integers]:
        """The cell of each round, its slot and the item that is shown last; and that item."""
        if available is None:
            things = self.things(positions)
            return self.planned_cells[things], self.places[things, 1]
        slates = self.slates(positions, available)
        return self.cells(positions, slates), self.last(slates)

    def cells(self, positions: Integers, slates: Integers) -> Integers:
        """The cell of each round, from what was shown."""
        slots = self.places[self.things(positions), 0]
        return np.asarray(slots * len(self.interest) + self.last(slates))

    def _masked(self, things: Integers, available: Mask) -> Integers:
        """Without what is unavailable; the last place goes to another item of merit, if need be."""
        slates = np.full((len(things), len(self.anchor)), -1, dtype=np.int64)
        masks = np.broadcast_to(available, (len(things), len(self.interest)))
        for place, (thing, mask) in enumerate(zip(things, masks, strict=True)):
            planned = self.shown[thing]
            first = planned[:-1][mask[planned[:-1]]]
            left = mask.copy()
            left[first] = False
            left[planned[-1]] = False
            fill = self.order[left[self.order]]
            last, fill = (planned[-1:], fill) if mask[planned[-1]] else (fill[:1], fill[1:])
            first = np.concatenate([first, fill[: len(planned) - 1 - len(first)]])
            found = np.concatenate([first, last])
            slates[place, : len(found)] = found
        return slates

    def counted(self, positions: Integers, slates: Integers) -> tuple[Integers, Integers]:
        """What these rounds count in their cells, in steps: views, and by how much slates are worth more.

        Behind other items than the anchor's, more or fewer visitors are left to look at the last place; and
        the slate is worth more or less than the anchor with the same item last.
        """
        things, last = self.things(positions), self.last(slates)
        others = self.shown[things, :-1]
        first = np.where(slates == last[:, None], -1, slates)
        expected = (1 - _interest_of(others, self.interest)).prod(axis=1)
        met = (1 - _interest_of(first, self.interest)).prod(axis=1)
        passed = 1 - self.interest[np.maximum(last, 0)]
        cells = self.cells(positions, slates)
        shape = len(self.anchor), len(self.interest)
        views = np.zeros(shape, dtype=np.int64)
        more = np.zeros(shape, dtype=np.int64)
        looks = met / expected if self.by_clicks else np.ones(len(cells))
        np.add.at(views.reshape(-1), cells, np.rint(looks * UNIT).astype(np.int64))
        np.add.at(more.reshape(-1), cells, np.rint((expected - met) * passed * UNIT).astype(np.int64))
        return views, more

    def planned(self) -> Integers:
        """The views of the whole block, without masks, in steps."""
        views = np.zeros((len(self.anchor), len(self.interest)), dtype=np.int64)
        np.add.at(views.reshape(-1), self.planned_cells, self.allotment.counts * UNIT)
        return views
