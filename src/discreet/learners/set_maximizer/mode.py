"""What the modes of `SetMaximizer` share: who comes in, and the gains of items on top of a slate."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask, repeated
from discreet.arrivals.feedback import as_callables, as_numbers, as_people
from discreet.arrivals.person import reading
from discreet.arrivals.set_functions import SetFunction
from discreet.errors import ConfigError, OutOfBounds, StateError
from discreet.learners.earnings import Earner, Units
from discreet.learners.set_maximizer.catalogue import (
    added,
    first_catalogue,
    joined,
    names_of,
    next_catalogue,
    retired,
)
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.set_maximizer.slates import filled_up
from discreet.learners.streams import assumed_by
from discreet.turn.coins import Coin, Coins
from discreet.turn.labels import Label, Labels
from discreet.turn.plan import State
from discreet.turn.questions import NOTHING, Asked, Batch

__all__ = ["ConstantSlate", "SetMode", "first_of", "item_of"]

People = Floats | list[SetFunction | None]
"""Rows for a family of set functions, or one callable a person."""
CHUNK = 256
"""How many people's gains are held at once, where no fused pass exists."""


class SetMode(Earner):
    """A way of learning which items to show."""

    proof = "sets.md"
    settings: SetMaximizerSettings
    _named: tuple[str, Labels] | None = None

    @property
    def assumes(self) -> str:
        return assumed_by(self.settings.stream)

    @property
    def candidates(self) -> int:
        return self.settings.room

    @property
    def decision_size(self) -> int:
        return self.settings.slots

    def first_slate(self) -> Integers:
        """A slate that was chosen before anyone came."""
        coin, left = Coin(self.name, 0), list(range(self.settings.items))
        return np.array([left.pop(coin.below(len(left))) for _ in range(self.settings.slots)])

    def single(self, decisions: Integers) -> Integers:
        slate: Integers = decisions[0]
        return slate if slate[-1] >= 0 else np.asarray(slate[slate >= 0])  # −1 stands at the end only

    def blank(self) -> Any:
        if self.settings.feedback != "full":
            return 0.0 if self.settings.feedback == "bandit" else None
        functions = self.settings.functions
        return _worthless if functions is None else np.zeros(functions.width(self.settings.room))

    def plain(self, public: State) -> dict[str, Any]:
        labels, slate = self.names(public), self.best(public)
        if public["gone"]:
            slate = filled_up(slate[None], public["living"], self.order(public))[0]
        return {"slate": [labels[item] for item in slate.tolist()]}

    def best(self, public: State) -> Integers:
        """The slate of a round that tries nothing."""
        slate: Integers = public["slate"]
        return slate

    def order(self, public: State) -> Integers:
        """Items from best to worst, as far as that is known: they fill up slates."""
        return np.arange(self.settings.room)

    # --- which items there are ----------------------------------------------------------------------------

    def first_catalogue(self) -> State:
        """The items that are there when nobody has come yet."""
        return first_catalogue(self.settings)

    def next_catalogue(self, public: State) -> State:
        """The items that the next block begins with."""
        return next_catalogue(public)

    def foreseen(self, public: State) -> State:
        return public | self.next_catalogue(public)

    def noted(self, public: State, event: dict[str, Any]) -> State:
        """More rounds, then new items, then retired ones: so that there is room for what comes."""
        if event["extend"]:
            public = self.extended(public, event["extend"])
        if event["add"] and not self.learns_on(public):
            raise StateError(
                "nothing is learned any more, so nothing of a new item: extend the horizon first"
            )
        for label in event["add"]:
            public = added(self.settings, public, label)
        for label in event["retire"]:
            public = retired(self.settings, public, label)
        return public

    def learns_on(self, public: State) -> bool:
        """Whether a release is planned after the next block."""
        return self.step(public["turns"] + 1, public) is not None

    def extended(self, public: State, rounds: int) -> State:
        """The public state with so many more rounds."""
        raise ConfigError(
            "this way of learning plans its noise for one horizon: make a new learner, "
            "or one that learns from clicks or rewards, which can be extended"
        )

    def admitted(self, public: State, asked: Asked) -> Asked:
        if asked is NOTHING and not public["gone"]:
            return asked
        allowed = joined(public, asked.available)
        return asked if allowed is asked.available else Asked(asked.context, allowed)

    def names(self, public: State) -> list[Label]:
        return list(self._catalogue(public).names)

    def labels(self, public: State) -> Labels | None:
        return None if self.settings.labels is None else self._catalogue(public)

    def _catalogue(self, public: State) -> Labels:
        """The names of all items, those of retired and of later ones included."""
        if self._named is None or self._named[0] != public["added"]:
            self._named = public["added"], Labels(tuple(names_of(self.settings, public)), "slate")
        return self._named[1]

    def living_names(self, public: State) -> list[Any]:
        """The names of the items that may be shown now."""
        names = self.names(public)
        return [names[item] for item in np.flatnonzero(public["living"])]

    def numbers(self, public: State) -> dict[Any, int]:
        """Items by their names."""
        return self._catalogue(public).numbers

    # --- who comes in -------------------------------------------------------------------------------------

    def rewards(self, batch: Batch) -> Floats:
        """One reward a person, in units of the bound."""
        numbers = as_numbers(batch)
        if self.settings.bound == 1:
            return numbers
        with np.errstate(all="ignore"):
            return np.asarray(numbers / self.settings.bound, dtype=np.float64)

    def clicks(self, public: State, batch: Batch, slates: Integers) -> Integers:
        """The clicked items, −1 for none; of several clicks on a slate the first in the order of slots.

        A click on something that was not shown is no answer.
        """
        numbers, clicks = self.numbers(public), batch.feedback
        if batch.single:
            item = first_of(numbers, clicks, slates[0])
            if item == -2:
                raise OutOfBounds(
                    "feedback must be a shown item by its label (its number if it has none), a list of them, "
                    "or None"
                )
            return np.array([item])
        if isinstance(clicks, np.ndarray) and clicks.ndim != 1:
            raise OutOfBounds("feedback must be one click a round, an item or None")
        if self.settings.labels is None and isinstance(clicks, np.ndarray) and clicks.dtype.kind == "i":
            items = clicks.astype(np.int64)
        else:
            items = _items_of(numbers, clicks, slates)
        return np.where((slates == items[:, None]).any(axis=1) & (items >= 0), items, -1)

    @property
    def units(self) -> Units:
        """What a visitor earns: a reward up to the bound, or 1 for a click; nothing if no answer came."""
        if self.settings.feedback == "clicks":
            return Units(low=0.0, high=1.0, what="share who clicked")
        return Units(low=0.0, high=1.0, scale=self.settings.bound)

    def clicked(self, clicks: Integers, slates: Integers) -> Floats:
        """1 for whoever clicked on something that was shown, otherwise 0."""
        shown = (slates == clicks[:, None]).any(axis=1) & (clicks >= 0)
        return np.asarray(shown, dtype=np.float64)

    def people(self, batch: Batch) -> People:
        """Whole preferences: rows for the family, or callables."""
        functions = self.settings.functions
        return as_callables(batch) if functions is None else as_people(batch, functions, self.settings.room)

    # --- gains --------------------------------------------------------------------------------------------

    def gains_along(self, people: People, slate: Integers, known: int | None = None) -> Iterator[Floats]:
        """Gains of items on top of each prefix of the slate, in [0, 1]: people × slots × items, in chunks.

        The gain of an item that is in the prefix is that on top of the *other* items: what the slot would see
        if it were free. Callables are asked about the first `known` items: nobody knows those yet to come.
        """
        known = self.settings.room if known is None else known
        for first in range(0, len(people), CHUNK):
            part = people[first : first + CHUNK]
            prefixes = [slate[:slot].tolist() for slot in range(len(slate))]
            yield np.stack([self._gains_on(part, before, known) for before in prefixes], axis=1)

    def _gains_on(self, people: People, before: list[int], known: int) -> Floats:
        gains = self._gains(people, before, known)
        for item in before:
            others = [other for other in before if other != item]
            gains[:, item] = self._gains(people, others, known)[:, item]
        return np.clip(gains, 0.0, self.settings.bound) / self.settings.bound

    def _gains(self, people: People, chosen: list[int], known: int) -> Floats:
        functions = self.settings.functions
        if functions is None:
            gains = np.zeros((len(people), self.settings.room))
            with reading():
                gains[:, :known] = [_gains_of(person, chosen, known) for person in people]
            return gains
        rows = np.asarray(people)
        covered = functions.begin(rows)
        for item in chosen:
            covered = functions.add(rows, covered, item)
        return functions.gains(rows, covered)


class ConstantSlate(SetMode):
    """A mode that shows one slate a block."""

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Integers:
        """The slate, once a round; without what is unavailable, filled up with other available items."""
        slate: Integers = public["slate"]
        if asked.available is None:
            return np.asarray(repeated(slate, len(rounds)))
        if asked.available.ndim == 1:
            return np.asarray(repeated(self.restricted(public, asked.available), len(rounds)))
        return np.stack([self.restricted(public, mask) for mask in asked.available])

    def restricted(self, public: State, available: Mask) -> Integers:
        """The slate of a round with a mask, filled up with −1 if items run out."""
        filled = filled_up(public["slate"][None], available, self.order(public))
        return np.asarray(filled[0])


def _items_of(numbers: dict[Any, int], clicks: Any, slates: Integers) -> Integers:
    """The clicked item of each person, read one by one; negative for none and for something else."""
    if isinstance(clicks, np.ndarray):
        clicks = clicks.tolist()
    # A label or None, which nearly all are, needs one look; whatever else somebody brings is read below.
    found = [
        -1 if click is None else numbers.get(click, -2) if type(click) in (str, int) else -2
        for click in clicks
    ]
    items = np.array(found, dtype=np.int64)
    for place in np.flatnonzero(items == -2):
        items[place] = first_of(numbers, clicks[place], slates[place])
    return items


def first_of(numbers: dict[Any, int], click: Any, slate: Integers) -> int:
    """The number of the shown item that was clicked, or of the first of several; −1 for none.

    −2 for something else, and for items that were not shown.
    """
    clicks = click if isinstance(click, list | tuple) else [] if click is None else [click]
    items, shown = [item_of(numbers, single) for single in clicks], slate.tolist()
    if any(item < 0 or item not in shown for item in items):
        return -2
    return min(items, key=shown.index, default=-1)


def item_of(numbers: dict[Any, int], click: Any) -> int:
    """The number of an item, −1 for none, −2 for something else."""
    if click is None:
        return -1
    if isinstance(click, np.generic):
        click = click.item()
    if type(click) is str and click not in numbers:  # as in a column that one person made text
        with suppress(ValueError):
            click = float(click)
    if type(click) is float and click.is_integer():  # as in a column with missing values
        click = int(click)
    if type(click) not in (str, int):
        return -2
    return numbers.get(click, -2)


def _gains_of(person: Any, chosen: list[int], items: int) -> Floats:
    gains: Floats = np.zeros(items) if person is None else person.gains(chosen, items)
    return gains


def _worthless(chosen: Integers) -> float:
    return 0.0
