"""The rounds of one block: which slate each shows, and which cells its answer is for.

A `ScreeningBlock` goes through a table of slates, again and again. An `ExchangeBlock` shows the anchor slate,
and in shuffled rounds the anchor with one slot exchanged. Everything here follows from what was released
before the block began, from public coins and from public masks; what masks change is counted when rounds are
opened. Counts are whole numbers of steps of 2⁻¹⁶, so that they add up the same in any order.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.allotment import Allotment
from discreet.learners.set_maximizer.slates import filled_up, kernels, one_row_each
from discreet.turn.plan import State

__all__ = ["UNIT", "ExchangeBlock", "ScreeningBlock", "shared_gains"]

UNIT = 2**16
"""Steps of counts."""
ONCE = np.array([1])
MINUS_ONCE = np.array([-1])
"""All slates count once, or are taken off once."""


def shared_gains(slates: Integers, interest: Floats) -> tuple[Floats, Floats]:
    """How each shown item's interest moves the worth of its slate, and that worth: 1 − Π(1 − interest)."""
    passed = 1 - _interest_of(slates, interest)
    nobody = passed.prod(axis=1)
    return np.where(slates >= 0, nobody[:, None] / passed, 0.0), 1 - nobody


def _interest_of(slates: Integers, interest: Floats) -> Floats:
    return np.where(slates >= 0, interest[np.maximum(slates, 0)], 0.0)


@dataclass(eq=False, slots=True)
class _Newest:
    """The slate of the newest single round with a mask, which is asked for again when its answer comes."""

    position: int = -1
    available: Mask | None = None
    slate: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


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

    def slate_of_one(self, position: int, available: Mask | None) -> Integers:
        """The same for one round."""
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
        """The shown items, −1 in place of those that are chosen already."""
        return np.where(self._chosen[slates], -1, slates) if len(self.prefix) else slates

    @cached_property
    def _chosen(self) -> Mask:
        """Whether each item is chosen already; the entry behind the last one is for no item, −1."""
        chosen = np.zeros(len(self.interest) + 1, dtype=np.bool_)
        chosen[self.prefix] = True
        return chosen

    @cached_property
    def _behind(self) -> float:
        """The share of visitors who get past the prefix."""
        return float(np.prod(1 - self.interest[self.prefix]))

    def no_counts(self) -> State:
        """Counts before anything is shown."""
        shape = 3 if self.kind == "gains" else 1, len(self.interest)
        return {"counts": np.zeros(shape, dtype=np.int64)}

    def count(self, slates: Integers, times: Integers, counts: Integers) -> None:
        """Add what these slates, so often each (or all so often), count for every item, in steps: see `kind`.

        views    how often a visitor behind the prefix looks at it
        shown    how often it is shown
        gains    Σx², Σx·worth and Σx, x as in `shared_gains`
        """
        if self.kind == "views":
            kernels().count_views(slates, times, self.interest, self._chosen, self._behind, UNIT, counts)
        elif self.kind == "shown":
            kernels().count_shown(slates, times, self._chosen, UNIT, counts)
        else:
            kernels().count_gains(slates, times, self.interest, self._chosen, UNIT, counts)

    def count_masked(self, positions: Integers, available: Mask, tally: State) -> None:
        """Add to the tally what masks change of the counts of these rounds."""
        if len(positions) == 1:
            position = int(positions[0])
            masked, planned = (self.slate_of_one(position, mask)[None] for mask in (available, None))
        else:
            masked, planned = (self.slates(positions, mask) for mask in (available, None))
        self.count(masked, ONCE, tally["counts"])
        self.count(planned, MINUS_ONCE, tally["counts"])

    def planned(self, length: int) -> Integers:
        """The same for the whole block, without masks."""
        sweeps, rest = divmod(length, len(self.table))
        counts: Integers = self.no_counts()["counts"]
        self.count(self.table, sweeps + (np.arange(len(self.table)) < rest), counts)
        return counts

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

    def slate_of_one(self, position: int, available: Mask | None) -> Integers:
        """The slate of one round."""
        thing = self.allotment.of_one(position)
        slate: Integers = self.shown[thing]
        if available is None:
            return slate
        newest = self._newest
        if newest.available is not available or newest.position != position:
            masked = np.empty(len(slate), dtype=np.int64)
            kernels().fill_up_before_last(slate, available.reshape(-1), self.order, masked)
            newest.position, newest.available, newest.slate = position, available, masked
        return newest.slate

    def slates(self, positions: Integers, available: Mask | None) -> Integers:
        """One slate a round.

        Without what is unavailable; the last place goes to another item of merit, if need be.
        """
        things = self.things(positions)
        if available is None:
            return self.shown[things]
        slates = np.empty((len(things), len(self.anchor)), dtype=np.int64)
        kernels().fill_up_all_before_last(self.shown, things, one_row_each(available), self.order, slates)
        return slates

    @cached_property
    def _newest(self) -> _Newest:
        return _Newest()

    def read(self, positions: Integers, slates: Integers | None) -> tuple[Integers, Integers]:
        """The cell of each round, its slot and the item that is shown last; and that item.

        `slates` is what rounds with masks show.
        """
        things = self.things(positions)
        if slates is None:
            return self.planned_cells[things], self.places[things, 1]
        last = _last(slates)
        return self._first_cells[things] + last, last

    @cached_property
    def _first_cells(self) -> Integers:
        """The first cell of each thing's slot."""
        return np.asarray(self.places[:, 0] * len(self.interest))

    @cached_property
    def _expected(self) -> Floats:
        """The share of visitors who get past the items before the last, for each thing."""
        return np.asarray((1 - self.interest[self.shown[:, :-1]]).prod(axis=1))

    def no_counts(self) -> State:
        """Counts before any round has a mask."""
        shape = len(self.anchor), len(self.interest)
        return {name: np.zeros(shape, dtype=np.int64) for name in ("views", "more")}

    def count_masked(self, positions: Integers, available: Mask, tally: State) -> None:
        """Add to the tally what masks change of what these rounds count in their cells, in steps.

        Behind other items than the anchor's, more or fewer visitors are left to look at the last place
        (`views`); and the slate is worth more or less than the anchor with the same item last (`more`).
        """
        counting = self.interest, self.by_clicks, UNIT, tally["views"], tally["more"]
        if len(positions) == 1:
            position = int(positions[0])
            thing, slate = self.allotment.of_one(position), self.slate_of_one(position, available)
            kernels().count_exchanged(slate, self.planned_cells[thing], self._expected[thing], *counting)
            return
        things, slates = self.things(positions), self.slates(positions, available)
        kernels().count_all_exchanged(slates, self.planned_cells[things], self._expected[things], *counting)

    def planned(self) -> Integers:
        """The views of the whole block, without masks, in steps."""
        views = np.zeros((len(self.anchor), len(self.interest)), dtype=np.int64)
        np.add.at(views.reshape(-1), self.planned_cells, self.allotment.counts * UNIT)
        return views


def _last(slates: Integers) -> Integers:
    """The item that stands last in each slate, which may be short."""
    if len(slates) == 1 and slates[0, -1] >= 0:
        return slates[:, -1]
    count = (slates >= 0).sum(axis=1)
    return np.take_along_axis(slates, np.maximum(count - 1, 0)[:, None], axis=1)[:, 0]
