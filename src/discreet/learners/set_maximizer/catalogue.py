"""The catalogue: items are added and retired between rounds, as public events that cost nothing.

Settings fix the largest number of items; the catalogue has those that are active. A retired item is
not shown from the next round on: until the block ends, as if it were masked. An added item, or one
that comes back, may be shown from the next block on. Whether and when this happens must not depend
on answers.

Guarantee   docs/guarantees/sets.md, Theorem 5
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.request import EMPTY_REQUEST, Request, all_leave_some
from discreet.errors import ConfigError, StateError
from discreet.learners.labels import Label, names_by_number
from discreet.learners.set_maximizer.settings import SetMaximizerSettings

NO_LEARNING = "no later block would learn about a new item: extend the horizon first"
"""Why an item is not added."""


@dataclass(frozen=True)
class Change:
    """A public event: more rounds, new items and retired items, applied in this order.

    None in `add` is an item without a name.
    """

    extend: int = 0
    add: Sequence[Label | None] = ()
    retire: Sequence[Label | None] = ()


@dataclass(frozen=True, eq=False)
class Catalogue:
    """The items of one block: masks over all items that there may ever be."""

    active: Mask
    """Items that may be shown now."""
    began: Mask
    """Items that were active when this block began."""
    announced: Mask
    """Items that may be shown from the next block on."""
    gone: int
    """Number of items retired since this block began."""
    added: str
    """Names of the items that were added after the start: a JSON list."""

    @classmethod
    def first(cls, settings: SetMaximizerSettings) -> "Catalogue":
        """Return the catalogue before the first visitor."""
        active = np.arange(settings.room) < settings.items
        return cls(active, active.copy(), active.copy(), gone=0, added="[]")

    def check_items(self, slots: int, *items: Integers) -> None:
        """Refuse numbers that are no items, and catalogues with fewer items than slots."""
        for numbers in items:
            if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(self.active):
                raise StateError(f"item numbers must be between 0 and {len(self.active) - 1}")
        if min(self.active.sum(), self.announced.sum()) < slots:
            raise StateError(f"a catalogue must have at least {slots} active items, one per slot")

    def next(self) -> "Catalogue":
        """Return the catalogue that the next block begins with."""
        return replace(self, active=self.announced.copy(), began=self.announced.copy(), gone=0)

    @property
    def size(self) -> int:
        """Number of items that may be shown now."""
        return int(self.active.sum())

    def names(self, settings: SetMaximizerSettings) -> list[Label]:
        """Return the names of all items by number, including retired and added ones."""
        return [*names_by_number(settings.items, settings.labels), *json.loads(self.added)]

    # --- requests ---------------------------------------------------------------------------------

    def admitted(self, request: Request) -> Request:
        """Return a request with retired items masked."""
        if request is EMPTY_REQUEST and not self.gone:
            return request
        allowed = self.joined(request.available)
        return request if allowed is request.available else Request(request.context, allowed)

    def joined(self, available: Mask | None) -> Mask | None:
        """Return the mask of items that may be shown now to a visitor with this mask."""
        if available is None:
            return self.active if self.gone else None
        if np.count_nonzero(self.active) == len(self.active):
            return available
        joined: Mask = available & self.active
        if not all_leave_some(joined):
            raise ConfigError("available must leave at least one item that is not retired")
        return joined

    # --- public events ----------------------------------------------------------------------------

    def changed(self, change: Change, settings: SetMaximizerSettings) -> "Catalogue":
        """Return the catalogue after an event."""
        catalogue = self
        for label in change.add:
            catalogue = catalogue.with_item(label, settings)
        for label in change.retire:
            catalogue = catalogue.without_item(label, settings)
        return catalogue

    def with_item(self, label: Label | None, settings: SetMaximizerSettings) -> "Catalogue":
        """Return the catalogue with one more item, or with a retired one that comes back.

        A label of None stands for the next number.
        """
        names = self.names(settings)
        known = [str(name) for name in names]
        if label is None and settings.labels is not None:
            raise ConfigError("the items of this learner have labels: give one")
        if label is not None and settings.labels is None and str(label) not in known:
            raise ConfigError("the items of this learner have numbers: leave the label out")
        label = len(names) if label is None else label
        announced = self.announced.copy()
        if str(label) in known:
            item = known.index(str(label))
            if announced[item]:
                raise ConfigError(f"there is an item {label!r} already: choose another label")
            announced[item] = True
            return replace(self, announced=announced)
        if len(names) >= settings.room:
            raise ConfigError(
                f"there is room for {settings.room} items, retired ones included: "
                "make the learner with a larger max_items"
            )
        announced[len(names)] = True
        added = json.dumps([*json.loads(self.added), label])
        return replace(self, announced=announced, added=added)

    def without_item(self, label: Label | None, settings: SetMaximizerSettings) -> "Catalogue":
        """Return the catalogue with one item retired."""
        known = [str(name) for name in self.names(settings)]
        item = known.index(str(label)) if str(label) in known else -1
        if item < 0 or not self.announced[item]:
            raise ConfigError(f"there is no item {label!r}, or it is retired already")
        active = self.active.copy()
        announced = self.announced.copy()
        was_active = bool(active[item])
        active[item] = False
        announced[item] = False
        if min(active.sum(), announced.sum()) < settings.slots:
            raise ConfigError(
                f"{settings.slots} slots need as many items: add one, and wait for the next block, "
                f"before you retire {label!r}"
            )
        return replace(self, active=active, announced=announced, gone=self.gone + was_active)
