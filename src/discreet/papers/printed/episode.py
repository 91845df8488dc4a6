"""A printed algorithm meets a stream of set functions, which may be fixed or answer what was shown
before.

An arrival is any callable on sorted arrays of items. An adaptive adversary is a callable too: it is
given all sets shown so far and names the next function, before it knows the next set.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError

SetValue = Callable[[Integers], float]
"""One person's value, or cost, of every set."""
Adversary = Callable[[list[Integers]], SetValue]
Arrivals = Sequence[SetValue] | Adversary


class FromWholeFunctions(Protocol):
    """Decides on a set, then sees what every set would have been worth."""

    def act(self) -> Integers:
        """The set that is shown."""

    def observe(self, function: SetValue) -> None:
        """What the person thinks of any set."""


class FromValues(Protocol):
    """Decides on a set, then sees what this set was worth."""

    def act(self) -> Integers:
        """The set that is shown."""

    def observe_value(self, value: float) -> None:
        """What the person thinks of what was shown."""


@dataclass(frozen=True)
class Episode:
    """Every decision, what it was worth, and what the run promises."""

    sets: list[Integers]
    values: Floats
    guarantee: str

    @property
    def total(self) -> float:
        """What all sets together were worth."""
        return float(self.values.sum())


def value_of(function: SetValue, items: Sequence[int] | Integers) -> float:
    """What a set is worth; an item counts once."""
    return float(function(np.unique(np.asarray(items, dtype=np.int64))))


def meet(
    learner: FromWholeFunctions | FromValues,
    arrivals: Arrivals,
    horizon: int,
    guarantee: str,
    *,
    bound: float = 1.0,
) -> Episode:
    """Let an algorithm that promises this meet `horizon` people, one by one.

    The learner is told values in units of `bound`.
    """
    if not callable(arrivals) and len(arrivals) != horizon:
        raise ConfigError(
            f"there must be one arrival a round, got {len(arrivals)} for {horizon} rounds"
        )
    sets: list[Integers] = []
    values = np.empty(horizon)
    for time in range(horizon):
        function = arrivals(list(sets)) if callable(arrivals) else arrivals[time]
        shown = learner.act()
        values[time] = value_of(function, shown)
        sets.append(np.unique(shown))
        if hasattr(learner, "observe_value"):
            learner.observe_value(float(values[time]) / bound)
        else:
            learner.observe(_in_units(function, bound))
    return Episode(sets, values, guarantee)


def _in_units(function: SetValue, bound: float) -> SetValue:
    return lambda items: function(items) / bound
