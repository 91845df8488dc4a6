"""Runs of a printed algorithm on a stream of set functions, fixed or adaptive.

An arrival is any callable on sorted arrays of items. An adaptive adversary is a callable as well:
it receives all sets shown so far and returns the next function before it knows the next set.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError

SetValue = Callable[[Integers], float]
"""One person's value or cost of a set, as a function of the set."""
Adversary = Callable[[list[Integers]], SetValue]
Arrivals = Sequence[SetValue] | Adversary


class FromWholeFunctions(Protocol):
    """An algorithm with full information: it chooses a set, then sees the person's function."""

    def act(self) -> Integers:
        """Choose the set to show."""

    def observe(self, function: SetValue) -> None:
        """Take the person's value of every set."""


class FromValues(Protocol):
    """An algorithm with bandit feedback: it chooses a set, then sees the value of this set."""

    def act(self) -> Integers:
        """Choose the set to show."""

    def observe_value(self, value: float) -> None:
        """Take the person's value of the shown set."""


@dataclass(frozen=True)
class Episode:
    """The sets shown in a run, their values, and the guarantee of the run."""

    sets: list[Integers]
    values: Floats
    guarantee: str

    @property
    def total(self) -> float:
        """Sum of the values of all shown sets."""
        return float(self.values.sum())


def value_of(function: SetValue, items: Sequence[int] | Integers) -> float:
    """Value of a set of items; a repeated item counts once."""
    return float(function(np.unique(np.asarray(items, dtype=np.int64))))


def meet(
    learner: FromWholeFunctions | FromValues,
    arrivals: Arrivals,
    horizon: int,
    guarantee: str,
    *,
    bound: float = 1.0,
) -> Episode:
    """Run an algorithm with this guarantee on `horizon` people, one by one.

    The algorithm observes values in units of `bound`.
    """
    if not callable(arrivals) and len(arrivals) != horizon:
        raise ConfigError(
            f"arrivals must have one entry per round, got {len(arrivals)} for {horizon} rounds"
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
