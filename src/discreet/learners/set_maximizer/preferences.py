"""Base view of the modes that read whole preferences: one slate per block, and gains along it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers, Mask, repeated
from discreet.engine.labels import Label, Labels
from discreet.engine.request import Batch, Request
from discreet.engine.view import View
from discreet.errors import ConfigError, StateError
from discreet.feedback import as_callables, as_people
from discreet.functions.person import reading
from discreet.functions.sets import SetFunction
from discreet.learners.set_maximizer.catalogue import NO_LEARNING, Catalogue, Change
from discreet.learners.set_maximizer.mode import SetMode
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.set_maximizer.slates import filled_up

People = Floats | list[SetFunction | None]
"""Rows for a family of set functions, or one callable per person."""
CHUNK = 256
"""Number of people whose gains are in memory at once, where no fused kernel exists."""


@dataclass(frozen=True, eq=False)
class SlateState:
    """Public state with a catalogue, and the slate chosen from released values."""

    catalogue: Catalogue
    slate: Integers


OwnState = TypeVar("OwnState", bound=SlateState)


class PreferenceView(View[OwnState], Generic[OwnState]):
    """A block of whole preferences; by default all its rounds show the same slate."""

    problem: SetMode

    @property
    def settings(self) -> SetMaximizerSettings:
        """Settings of the learner."""
        return self.problem.settings

    @property
    def learns_on(self) -> bool:
        """Whether a release is planned after the next block."""
        return replace(self, index=self.index + 1).step is not None

    def check_state(self) -> None:
        self.public.catalogue.check_items(self.settings.slots, self.public.slate)

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

    # --- public events and requests ---------------------------------------------------------------

    def noted(self, event: Change) -> OwnState:
        """Return the public state after a change of the catalogue."""
        if event.extend:
            raise ConfigError(
                "this mode plans its noise for one horizon: make a new learner, "
                "or one that learns from clicks or rewards, which can be extended"
            )
        if event.add and not self.learns_on:
            raise StateError(NO_LEARNING)
        catalogue = self.public.catalogue.changed(event, self.settings)
        return replace(self.public, catalogue=catalogue)

    def admitted(self, request: Request) -> Request:
        return self.public.catalogue.admitted(request)

    def refuse_next(self, request: Request) -> None:
        self.public.catalogue.next().admitted(request)

    # --- what may be read -------------------------------------------------------------------------

    @cached_property
    def _named(self) -> Labels:
        """Names of all items."""
        return self.problem.labels_of(self.public.catalogue)

    def names(self) -> list[Label]:
        return list(self._named.names)

    @property
    def labels(self) -> Labels | None:
        return None if self.settings.labels is None else self._named

    def plain(self) -> dict[str, object]:
        return self.problem.plain_slate(self.public.slate, self.public.catalogue, self.order)


# --- whole preferences ----------------------------------------------------------------------------


def people_of(batch: Batch, settings: SetMaximizerSettings) -> People:
    """Return the whole preferences of a batch: rows for the family, or callables."""
    functions = settings.functions
    return as_callables(batch) if functions is None else as_people(batch, functions, settings.room)


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
