"""Visitors' answers to slates, read and typed: clicked items, or rewards."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.labels import Label
from discreet.engine.request import Batch
from discreet.errors import OutOfBounds
from discreet.feedback import as_numbers
from discreet.learners.set_maximizer.settings import SetMaximizerSettings

Numbers = dict[Label, int]
"""The items' numbers by name."""


@dataclass(eq=False, slots=True)
class Clicks:
    """The clicked item of each visitor, −1 for none; a click is on a shown item."""

    rounds: Integers
    slates: Integers
    """The slates that these visitors were shown."""
    is_masked: bool
    """Whether they came with masks."""
    items: Integers

    @property
    def earned(self) -> Floats:
        """1 per visitor who clicked on a shown item, otherwise 0."""
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
        """The rewards themselves."""
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
"""How answers to slates are read, by the kind of feedback."""


def rewards_of(batch: Batch, bound: float) -> Floats:
    """Return one reward per person, in units of the bound."""
    numbers = as_numbers(batch)
    if bound == 1:
        return numbers
    with np.errstate(all="ignore"):
        return np.asarray(numbers / bound, dtype=np.float64)


def _clicks_of(batch: Batch, slates: Integers, numbers: Numbers, *, has_labels: bool) -> Integers:
    """Return the clicked items, −1 for none; of several clicks on a slate the first in slot order.

    A click on something that was not shown is no answer.
    """
    clicks = batch.feedback
    if batch.single:
        item = first_of(numbers, clicks, slates[0])
        if item == -2:
            raise OutOfBounds(
                "feedback must be a shown item by its label (its number if it has none), "
                "a list of them, or None"
            )
        return np.array([item])
    if isinstance(clicks, np.ndarray) and clicks.ndim != 1:
        raise OutOfBounds("feedback must be one click a round, an item or None")
    if not has_labels and isinstance(clicks, np.ndarray) and clicks.dtype.kind == "i":
        items = clicks.astype(np.int64)
    else:
        items = _items_of(numbers, clicks, slates)
    return np.where((slates == items[:, None]).any(axis=1) & (items >= 0), items, -1)


def _items_of(numbers: Numbers, clicks: Any, slates: Integers) -> Integers:
    """Return each person's clicked item; negative for none and for something else."""
    if isinstance(clicks, np.ndarray):
        clicks = clicks.tolist()
    # A label or None, which nearly all are, needs one look; anything else is read below.
    found = [
        -1 if click is None else numbers.get(click, -2) if type(click) in (str, int) else -2
        for click in clicks
    ]
    items = np.array(found, dtype=np.int64)
    for place in np.flatnonzero(items == -2):
        items[place] = first_of(numbers, clicks[place], slates[place])
    return items


def first_of(numbers: Numbers, click: Any, slate: Integers) -> int:
    """Return the number of the shown item that was clicked, or of the first of several.

    −1 for none; −2 for something else, and for items that were not shown.
    """
    clicks = click if isinstance(click, list | tuple) else [] if click is None else [click]
    items, shown = [item_of(numbers, single) for single in clicks], slate.tolist()
    if any(item < 0 or item not in shown for item in items):
        return -2
    return min(items, key=shown.index, default=-1)


def item_of(numbers: Numbers, click: Any) -> int:
    """Return the number of an item; −1 for none, −2 for something else."""
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
