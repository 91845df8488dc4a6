"""Base phase of the modes that read whole preferences: one slate per block, and gains along it."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers, Mask, repeated
from discreet.engine.declarations import Answer, Readings, Stored
from discreet.engine.phase import Phase
from discreet.engine.phases import Scheduled
from discreet.engine.request import Batch, Request
from discreet.errors import StateError
from discreet.feedback import as_callables, as_people
from discreet.functions.person import reading
from discreet.functions.sets import SetFunction
from discreet.learners.set_maximizer.catalogue import Catalogue
from discreet.learners.set_maximizer.events import PreferenceEvents
from discreet.learners.set_maximizer.mode import SetMode
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.set_maximizer.slates import filled_up

People = Floats | list[SetFunction | None]
"""Rows for a family of set functions, or one callable per person."""
CHUNK = 256
"""Number of people whose gains are in memory at once, where no fused kernel exists."""


@dataclass(frozen=True, eq=False)
class SlateState(Stored):
    """Public state with a catalogue, and the slate chosen from released values."""

    catalogue: Catalogue
    slate: Integers

    def check(self, mode: SetMode) -> None:
        self.catalogue.check_items(mode.settings.slots, self.slate)
        if len(np.unique(self.slate)) < len(self.slate):  # gains of one item would count twice
            raise StateError("a slate must not show an item twice")


OwnState = TypeVar("OwnState", bound=SlateState)


class PreferenceMode(SetMode):
    """Base class of the modes that read whole preferences, in blocks fixed in advance."""

    @property
    @abstractmethod
    def phases(self) -> Scheduled:
        """The blocks, and what is measured of each."""

    @cached_property
    def answer(self) -> "Preferences":
        return Preferences(self.settings)


class PreferencePhase(Phase[OwnState], Generic[OwnState]):
    """A block of whole preferences; by default all its rounds show the same slate."""

    mode: PreferenceMode

    @property
    def settings(self) -> SetMaximizerSettings:
        """Settings of the learner."""
        return self.mode.settings

    @property
    def learns_on(self) -> bool:
        """Whether a release is planned after the next block."""
        return self.mode.phases.is_released(self.at.index + 1)

    # --- decisions --------------------------------------------------------------------------------

    def decide(self, rounds: Integers, request: Request) -> Integers:
        if request.available is None:
            return np.asarray(repeated(self.public.slate, len(rounds)))
        if request.available.ndim == 1:
            return np.asarray(repeated(self.restricted(request.available), len(rounds)))
        return np.stack([self.restricted(mask) for mask in request.available])

    def restricted(self, available: Mask) -> Integers:
        """Return the slate of a round with a mask, filled up with −1 if items run out."""
        return np.asarray(filled_up(self.public.slate[None], available, self.order)[0])

    @property
    def order(self) -> Integers:
        """Items in the order in which they fill up slates."""
        return np.arange(self.settings.room)

    @property
    def known(self) -> int:
        """Number of items that exist by now."""
        return len(self.mode.labels_of(self.public.catalogue).names)

    # --- public events, and what may be read ------------------------------------------------------

    @property
    def events(self) -> PreferenceEvents:
        return PreferenceEvents(self)

    def readings(self) -> Readings:
        return Readings(self.mode.plain_slate(self.public.slate, self.public.catalogue, self.order))


# --- whole preferences ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Preferences(Answer):
    """Whole preferences: rows for a family of set functions, or callables."""

    settings: SetMaximizerSettings

    @property
    def blank(self) -> object:
        """Preferences to which every slate is worth nothing."""
        functions = self.settings.functions
        return _worthless if functions is None else np.zeros(functions.width(self.settings.room))

    def read(self, batch: Batch) -> People:
        """Return one row or callable per person."""
        functions = self.settings.functions
        if functions is None:
            return as_callables(batch)
        return as_people(batch, functions, self.settings.room)


def _worthless(chosen: Integers) -> float:
    return 0.0


def gains_along(
    people: People, slate: Integers, settings: SetMaximizerSettings, known: int
) -> Iterator[Floats]:
    """Yield gains in [0, 1] on top of each prefix of the slate: people × slots × items, in chunks.

    The gain of an item in the prefix is that on top of the *other* items of the prefix, as if the
    item were not there. Callables are evaluated on the first `known` items only: later items do not
    exist yet.
    """
    prefixes = [slate[:slot].tolist() for slot in range(len(slate))]
    for first in range(0, len(people), CHUNK):
        part = people[first : first + CHUNK]
        yield np.stack([_gains_on(part, before, settings, known) for before in prefixes], axis=1)


def _gains_on(
    people: People, before: list[int], settings: SetMaximizerSettings, known: int
) -> Floats:
    """Return gains in [0, 1] on top of a prefix, one row per person."""
    gains = _gains(people, before, settings, known)
    for item in before:
        others = [other for other in before if other != item]
        gains[:, item] = _gains(people, others, settings, known)[:, item]
    return np.clip(gains, 0.0, settings.bound) / settings.bound


def _gains(people: People, chosen: list[int], settings: SetMaximizerSettings, known: int) -> Floats:
    """Return the gains of all items on top of a set, one row per person."""
    functions = settings.functions
    if functions is None:
        gains = np.zeros((len(people), settings.room))
        with reading():
            gains[:, :known] = [_gains_of(person, chosen, known) for person in people]
        return gains
    rows = np.asarray(people)
    covered = functions.begin(rows)
    for item in chosen:
        covered = functions.add(rows, covered, item)
    return functions.gains(rows, covered)


def _gains_of(person: SetFunction | None, chosen: list[int], items: int) -> Floats:
    """Return the gains of a callable; zeros for a person without one."""
    gains: Floats = np.zeros(items) if person is None else person.gains(chosen, items)
    return gains
