"""Chains: families of set functions along a path of choices, as `GainPath` evaluates them.

The value of a growing set is the sum of its gains; the state has it beside the family's `covered`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.functions.person import reading, result_or
from discreet.functions.sets import SetFunctions


class ChainState(NamedTuple):
    """The value of the chosen set to each person, and the family's `covered` array."""

    worth: Floats
    covered: np.ndarray


@dataclass(frozen=True)
class FamilyChain:
    """Rows of people of one family, along a path of choices.

    >>> from discreet.functions import ClickModel
    >>> chain, rows = FamilyChain(ClickModel()), np.array([[0.5, 0.4]])
    >>> chain.worths(rows, chain.take(rows, chain.begin(rows), 0))
    array([[0.75, 0.7 ]])
    """

    family: SetFunctions

    def begin(self, rows: Floats) -> ChainState:
        """Return the state for the empty set."""
        return ChainState(np.zeros(len(rows)), self.family.begin(rows))

    def worths(self, rows: Floats, state: ChainState) -> Floats:
        """Return the value of the set with each further item, people × items."""
        gains = self.family.gains(rows, state.covered)
        return np.asarray(state.worth[:, None] + gains, dtype=np.float64)

    def worth(self, rows: Floats, state: ChainState, item: int) -> Floats:
        """Return the value of the set with this item, per person."""
        gain = self.family.gain(rows, state.covered, item)
        return np.asarray(state.worth + gain, dtype=np.float64)

    def take(self, rows: Floats, state: ChainState, item: int) -> ChainState:
        """Return the state after this item was added."""
        worth = self.worth(rows, state, item)
        return ChainState(worth, self.family.add(rows, state.covered, item))


@dataclass(frozen=True)
class PresentChain:
    """Rows with one more number in front: 1 if the row is a person, 0 if the place is empty.

    An empty place has the value 0, also in families where a row of zeros does not.
    """

    family: SetFunctions

    @property
    def _chain(self) -> FamilyChain:
        return FamilyChain(self.family)

    def begin(self, rows: Floats) -> ChainState:
        """Return the state for the empty set."""
        return self._chain.begin(rows[:, 1:])

    def worths(self, rows: Floats, state: ChainState) -> Floats:
        """Return the value of the set with each further item, people × items."""
        worths = self._chain.worths(rows[:, 1:], state)
        return np.asarray(rows[:, :1] * worths, dtype=np.float64)

    def worth(self, rows: Floats, state: ChainState, item: int) -> Floats:
        """Return the value of the set with this item, per person."""
        worth = self._chain.worth(rows[:, 1:], state, item)
        return np.asarray(rows[:, 0] * worth, dtype=np.float64)

    def take(self, rows: Floats, state: ChainState, item: int) -> ChainState:
        """Return the state after this item was added."""
        return self._chain.take(rows[:, 1:], state, item)


class PersonFunction:
    """The callable of one person along a path; every value is computed once and then cached.

    A callable may answer differently when it is called again, so the values on top of the newest
    set and those of the added items are cached: the values in the scores are the values used later.
    Values are clipped to [0, 1]; a call that raises an exception, or returns no finite number,
    counts as 0.

    >>> person = PersonFunction(lambda chosen: 0.4 * len(chosen))
    >>> person.worths((), 3), person.worth((), 1), person.worths((1,), 3)
    (array([0.4, 0.4, 0.4]), 0.4, array([0.8, 0.4, 0.8]))
    """

    def __init__(self, function: Callable[[Integers], float] | None) -> None:
        self._function = function
        self._newest: tuple[tuple[int, ...], Floats] | None = None
        self._taken: dict[tuple[int, ...], float] = {}

    def worths(self, chosen: tuple[int, ...], items: int) -> Floats:
        """Return the value of the set with each further item."""
        if self._newest is None or self._newest[0] != chosen:
            worths = [self._called((*chosen, item)) for item in range(items)]
            self._newest = chosen, np.array(worths)
        return self._newest[1]

    def worth(self, chosen: tuple[int, ...], item: int, items: int = 0) -> float:
        """Return the value of the set with this item, as it was in `worths`."""
        if (*chosen, item) not in self._taken:
            self._taken[*chosen, item] = float(self.worths(chosen, items)[item])
        return self._taken[*chosen, item]

    def _called(self, chosen: tuple[int, ...]) -> float:
        function = self._function
        if function is None:
            return 0.0
        items = np.array(sorted(set(chosen)), dtype=np.int64)
        worth = result_or(lambda: float(function(items)), 0.0)
        return min(max(worth, 0.0), 1.0) if isfinite(worth) else 0.0


@dataclass(frozen=True)
class PersonFunctionsChain:
    """Callables of people along a path of choices; rows are an array of `PersonFunction`."""

    items: int

    def begin(self, rows: NDArray[np.object_]) -> tuple[int, ...]:
        """Return the empty set."""
        return ()

    def worths(self, rows: NDArray[np.object_], state: tuple[int, ...]) -> Floats:
        """Return the value of the set with each further item, people × items."""
        with reading():
            worths = [person.worths(state, self.items) for person in rows]
            return np.array(worths).reshape(-1, self.items)

    def worth(self, rows: NDArray[np.object_], state: tuple[int, ...], item: int) -> Floats:
        """Return the value of the set with this item, per person."""
        with reading():
            worths = [person.worth(state, item, self.items) for person in rows]
            return np.array(worths, dtype=np.float64)

    def take(self, rows: NDArray[np.object_], state: tuple[int, ...], item: int) -> tuple[int, ...]:
        """Return the set with this item."""
        return (*state, item)
