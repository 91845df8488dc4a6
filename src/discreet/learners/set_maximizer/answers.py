"""Typed answers of visitors to slates: clicked items, or rewards."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.labels import Label
from discreet.engine.request import Batch
from discreet.entries import exact_below, listed, plain_entry, whole_in
from discreet.errors import OutOfBounds
from discreet.feedback import as_numbers
from discreet.learners.set_maximizer.settings import SetMaximizerSettings

Numbers = dict[Label, int]
"""Item numbers by name."""
NO_CLICK = -1
"""Stands for no item."""
NOT_SHOWN = -2
"""Stands for an answer that names no shown item."""


@dataclass(eq=False, slots=True)
class Clicks:
    """The clicked item of each visitor: the first shown one, or −1 for none."""

    rounds: Integers
    slates: Integers
    """The slates that these visitors were shown."""
    is_masked: bool
    """Whether they came with masks."""
    items: Integers

    @property
    def earned(self) -> Floats:
        """Reward of each visitor: 1 for a click on a shown item, otherwise 0."""
        return np.asarray(self.items >= 0, dtype=np.float64)


@dataclass(eq=False, slots=True)
class Rewards:
    """The reward of each visitor, in units of the bound."""

    rounds: Integers
    slates: Integers
    """The slates that these visitors were shown."""
    is_masked: bool
    """Whether they came with masks."""
    rewards: Floats

    @property
    def earned(self) -> Floats:
        """Reward of each visitor, in units of the bound."""
        return self.rewards


Answers = Clicks | Rewards


# --- reading --------------------------------------------------------------------------------------


def _read_clicks(
    batch: Batch, slates: Integers, numbers: Numbers, settings: SetMaximizerSettings
) -> Clicks:
    items = _clicks_of(batch, slates, numbers, has_labels=settings.labels is not None)
    return Clicks(batch.rounds, slates, batch.request.available is not None, items)


def _read_rewards(
    batch: Batch, slates: Integers, numbers: Numbers, settings: SetMaximizerSettings
) -> Rewards:
    rewards = rewards_of(batch, settings.bound)
    return Rewards(batch.rounds, slates, batch.request.available is not None, rewards)


Reader = Callable[[Batch, Integers, Numbers, SetMaximizerSettings], Answers]
READERS: dict[str, Reader] = {"clicks": _read_clicks, "bandit": _read_rewards}
"""Functions that read answers to slates, by the kind of feedback."""


def rewards_of(batch: Batch, bound: float) -> Floats:
    """Return one reward per person, in units of the bound."""
    numbers = as_numbers(batch)
    if bound == 1:
        return numbers
    with np.errstate(all="ignore"):
        return np.asarray(numbers / bound, dtype=np.float64)


def _clicks_of(batch: Batch, slates: Integers, numbers: Numbers, *, has_labels: bool) -> Integers:
    """Return the clicked item per visitor, −1 for none.

    Several clicks on a slate count as the first in the order of slots. A click on an item that was
    not shown is no answer.
    """
    clicks = batch.feedback
    if batch.single:
        item = first_of(numbers, clicks, slates[0])
        if item == NOT_SHOWN:
            raise OutOfBounds(
                "feedback must be a shown item by its label (its number if it has none), "
                "a list of them, or None"
            )
        return np.array([item])
    if isinstance(clicks, np.ndarray) and clicks.ndim != 1:
        raise OutOfBounds("feedback must be one click per round: an item or None")
    if not has_labels and isinstance(clicks, np.ndarray) and clicks.dtype.kind == "i":
        items = clicks.astype(np.int64)
    else:
        items = _items_of(numbers, clicks, slates)
    is_shown = (slates == items[:, None]).any(axis=1) & (items >= 0)
    return np.where(is_shown, items, NO_CLICK)


def _items_of(numbers: Numbers, clicks: Any, slates: Integers) -> Integers:
    """Return the clicked item per person; a negative number for none, and for anything else."""
    if isinstance(clicks, np.ndarray):
        _refuse_inexact(numbers, clicks.dtype)
        clicks = listed(clicks)
    # Nearly all clicks are a label or None: one lookup each. Anything else is read below.
    looked_up = [
        NO_CLICK
        if click is None
        else numbers.get(click, NOT_SHOWN)
        if type(click) in (str, int)
        else NOT_SHOWN
        for click in clicks
    ]
    items = np.array(looked_up, dtype=np.int64)
    for place in np.flatnonzero(items == NOT_SHOWN):
        items[place] = first_of(numbers, clicks[place], slates[place])
    return items


def _refuse_inexact(numbers: Numbers, kind: np.dtype) -> None:
    """Raise if an array of this dtype cannot hold the whole numbers that name the items.

    To read what is left would drop the clicks of all visitors inside a release. A refusal comes
    before it and leaves the rounds open, so that the answers can be passed again as a list.
    """
    exact = exact_below(kind)
    if exact < inf and any(isinstance(name, int) and abs(name) >= exact for name in numbers):
        raise OutOfBounds(
            f"an array of {kind} does not tell the whole numbers of these items apart: pass a "
            "list, a series, or an array of whole numbers or objects"
        )


def first_of(numbers: Numbers, click: object, slate: Integers) -> int:
    """Return the number of the clicked item, the first in slot order if there are several.

    It is −1 for no click, and −2 if anything but shown items was clicked.
    """
    if click is None:
        return NO_CLICK
    shown = slate.tolist()
    if type(click) is int or type(click) is str:  # nearly all
        item = item_of(numbers, click)
        return item if item in shown else NOT_SHOWN
    # A logged slate may be as long as the list of clicks: neither must delay anybody.
    place_of = {item: place for place, item in reversed(list(enumerate(shown)))}
    places = []
    for single in click if isinstance(click, list | tuple) else [click]:
        item = item_of(numbers, single)
        if item < 0 or item not in place_of:
            return NOT_SHOWN  # at once: a list of a million others must not delay anybody
        places.append(place_of[item])
    return int(shown[min(places)]) if places else NO_CLICK


def item_of(numbers: Numbers, click: object) -> int:
    """Return the number of an item by its name; −1 for None, −2 for anything else."""
    if click is None:
        return NO_CLICK
    if type(click) is int or (type(click) is str and click in numbers):  # nearly all
        return numbers.get(click, NOT_SHOWN)
    click = plain_entry(click)
    # numbers as texts: one text in a column makes all of them texts
    if type(click) is str and click not in numbers:
        whole = whole_in(click)
        with suppress(ValueError):
            click = plain_entry(float(click)) if whole is None else whole
    if type(click) is str or type(click) is int:
        return numbers.get(click, NOT_SHOWN)
    return NOT_SHOWN
