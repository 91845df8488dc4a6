"""Which items there are: they come and go while visitors come, as public events that cost nothing.

Settings say how many items there may ever be; the catalogue says which of them live. An item that
is retired is never shown again, from the next question on: until the block ends, as if masks
forbade it. An item that is added, or comes back, is shown from the next block on. Whether and when
must not depend on anyone's answers.

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

NO_LEARNING = "nothing is learned any more, so nothing of a new item: extend the horizon first"
"""Why an item is not added."""


@dataclass(frozen=True)
class Change:
    """A public event: more rounds, new items, retired items, applied in this order.

    None adds an item without a name.
    """

    extend: int = 0
    add: Sequence[Label | None] = ()
    retire: Sequence[Label | None] = ()


@dataclass(frozen=True, eq=False)
class Catalogue:
    """The items of one block."""

    active: Mask
    """May be shown now."""
    began: Mask
    """Lived when this block began."""
    announced: Mask
    """May be shown from the next block on."""
    gone: int
    """How many were retired that this block was going to show."""
    added: str
    """Names of the items that were not there at the start: a JSON list."""

    @classmethod
    def first(cls, settings: SetMaximizerSettings) -> "Catalogue":
        """Return the items that are there before anyone came."""
        active = np.arange(settings.room) < settings.items
        return cls(active, active.copy(), active.copy(), gone=0, added="[]")

    def check_items(self, slots: int, *items: Integers) -> None:
        """Refuse numbers of items that there cannot be, and too few items for the slots."""
        for numbers in items:
            if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(self.active):
                raise StateError("there are no such items")
        if min(self.active.sum(), self.announced.sum()) < slots:
            raise StateError("there are fewer items than slots")

    def next(self) -> "Catalogue":
        """Return the items that the next block begins with."""
        return replace(self, active=self.announced.copy(), began=self.announced.copy(), gone=0)

    @property
    def size(self) -> int:
        """How many items may be shown now."""
        return int(self.active.sum())

    @property
    def is_first(self) -> bool:
        """Whether no item has come that was not there at the start."""
        return self.added == "[]"

    def names(self, settings: SetMaximizerSettings) -> list[Label]:
        """Return the items' names by number, those of retired and of later ones included."""
        return [*names_by_number(settings.items, settings.labels), *json.loads(self.added)]

    # --- questions --------------------------------------------------------------------------------

    def admitted(self, request: Request) -> Request:
        """Return what is asked for, without retired items."""
        if request is EMPTY_REQUEST and not self.gone:
            return request
        allowed = self.joined(request.available)
        return request if allowed is request.available else Request(request.context, allowed)

    def joined(self, available: Mask | None) -> Mask | None:
        """Return what may be shown now to a visitor with this mask."""
        if available is None:
            return self.active if self.gone else None
        if np.count_nonzero(self.active) == len(self.active):
            return available
        found: Mask = available & self.active
        if not all_leave_some(found):
            raise ConfigError("available must leave at least one item that is not retired")
        return found

    # --- public events ----------------------------------------------------------------------------

    def changed(self, change: Change, settings: SetMaximizerSettings) -> "Catalogue":
        """Return the catalogue after an event."""
        found = self
        for label in change.add:
            found = found.with_item(label, settings)
        for label in change.retire:
            found = found.without_item(label, settings)
        return found

    def with_item(self, label: Label | None, settings: SetMaximizerSettings) -> "Catalogue":
        """Return the catalogue with one more item, or with one that comes back.

        None is the next number.
        """
        names = self.names(settings)
        known = [str(name) for name in names]
        if label is None and settings.labels is not None:
            raise ConfigError("this learner's items have names: give one")
        if label is not None and settings.labels is None and str(label) not in known:
            raise ConfigError("this learner's items have numbers: leave out the name of a new one")
        label = len(names) if label is None else label
        announced = self.announced.copy()
        if str(label) in known:
            item = known.index(str(label))
            if announced[item]:
                raise ConfigError(f"there is an item {label!r} already")
            announced[item] = True
            return replace(self, announced=announced)
        if len(names) >= settings.room:
            raise ConfigError(
                f"there is room for {settings.room} items, retired ones included: "
                "give a larger max_items from the start"
            )
        announced[len(names)] = True
        added = json.dumps([*json.loads(self.added), label])
        return replace(self, announced=announced, added=added)

    def without_item(self, label: Label | None, settings: SetMaximizerSettings) -> "Catalogue":
        """Return the catalogue without an item."""
        known = [str(name) for name in self.names(settings)]
        item = known.index(str(label)) if str(label) in known else -1
        if item < 0 or not self.announced[item]:
            raise ConfigError(f"there is no item {label!r}, or it is retired already")
        active, announced = self.active.copy(), self.announced.copy()
        was_shown = bool(active[item])
        active[item] = announced[item] = False
        if min(active.sum(), announced.sum()) < settings.slots:
            raise ConfigError(
                f"{settings.slots} slots need as many items: add one, and let its block begin, "
                f"before you retire {label!r}"
            )
        return replace(self, active=active, announced=announced, gone=self.gone + was_shown)
