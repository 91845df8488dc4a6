"""People along a path of choices: a family of set functions as the door's paths need it.

The worth of a growing set is the sum of its gains, kept beside what the family remembers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.functions.person import asked_of, reading
from discreet.functions.sets import SetFunctions

Known = tuple[Floats, np.ndarray]
"""What each person finds the set worth, and what the family remembers of it."""


@dataclass(frozen=True)
class FamilyChain:
    """Rows of people of one family, along a path.

    >>> from discreet.functions import ClickModel
    >>> chain, rows = FamilyChain(ClickModel()), np.array([[0.5, 0.4]])
    >>> chain.worths(rows, chain.take(rows, chain.begin(rows), 0))
    array([[0.75, 0.7 ]])
    """

    family: SetFunctions

    def begin(self, rows: Floats) -> Known:
        """Worth nothing so far, and what the family remembers of the empty set."""
        return np.zeros(len(rows)), self.family.begin(rows)

    def worths(self, rows: Floats, state: Known) -> Floats:
        """The worth of the set with one more item, people × items."""
        worth, covered = state
        return np.asarray(worth[:, None] + self.family.gains(rows, covered), dtype=np.float64)

    def worth(self, rows: Floats, state: Known, item: int) -> Floats:
        """The worth of the set with this item."""
        worth, covered = state
        return np.asarray(worth + self.family.gain(rows, covered, item), dtype=np.float64)

    def take(self, rows: Floats, state: Known, item: int) -> Known:
        """The worth and what the family remembers after this item was taken."""
        return self.worth(rows, state, item), self.family.add(rows, state[1], item)


@dataclass(frozen=True)
class PresentChain:
    """The same, for rows with one more number in front: 1 if somebody is there, 0 if the place is
    empty.

    Nobody is worth nothing, also in families where a row of zeros is somebody.
    """

    family: SetFunctions

    @property
    def _chain(self) -> FamilyChain:
        return FamilyChain(self.family)

    def begin(self, rows: Floats) -> Known:
        """What is known of these rows with the empty set."""
        return self._chain.begin(rows[:, 1:])

    def worths(self, rows: Floats, state: Known) -> Floats:
        """The worth of the set with one more item, people × items."""
        return np.asarray(rows[:, :1] * self._chain.worths(rows[:, 1:], state), dtype=np.float64)

    def worth(self, rows: Floats, state: Known, item: int) -> Floats:
        """The worth of the set with this item."""
        return np.asarray(
            rows[:, 0] * self._chain.worth(rows[:, 1:], state, item), dtype=np.float64
        )

    def take(self, rows: Floats, state: Known, item: int) -> Known:
        """What is known after this item was taken."""
        return self._chain.take(rows[:, 1:], state, item)


class PersonFunction:
    """The callable of one person along a path: what entered the scores is what is remembered.

    A callable may answer differently when it is asked again; so answers are kept, those on top of
    the newest set and those of the items that were taken. They are clipped to [0, 1]; if it raises
    an exception, or gives no finite number, that is worth 0.

    >>> person = PersonFunction(lambda chosen: 0.4 * len(chosen))
    >>> person.worths((), 3), person.worth((), 1), person.worths((1,), 3)
    (array([0.4, 0.4, 0.4]), 0.4, array([0.8, 0.4, 0.8]))
    """

    def __init__(self, function: Callable[[Integers], float] | None) -> None:
        self._function = function
        self._newest: tuple[tuple[int, ...], Floats] | None = None
        self._taken: dict[tuple[int, ...], float] = {}

    def worths(self, chosen: tuple[int, ...], items: int) -> Floats:
        """The worth of the set with one more item."""
        if self._newest is None or self._newest[0] != chosen:
            self._newest = chosen, np.array([self._asked((*chosen, item)) for item in range(items)])
        return self._newest[1]

    def worth(self, chosen: tuple[int, ...], item: int, items: int = 0) -> float:
        """The worth of the set with this item, as it was among all."""
        if (*chosen, item) not in self._taken:
            self._taken[*chosen, item] = float(self.worths(chosen, items)[item])
        return self._taken[*chosen, item]

    def _asked(self, chosen: tuple[int, ...]) -> float:
        function = self._function
        if function is None:
            return 0.0
        items = np.array(sorted(set(chosen)), dtype=np.int64)
        worth = asked_of(lambda: float(function(items)), 0.0)
        return min(max(worth, 0.0), 1.0) if isfinite(worth) else 0.0


@dataclass(frozen=True)
class PersonFunctionsChain:
    """People who bring callables, along a path: rows are an array of `PersonFunction`."""

    items: int

    def begin(self, rows: NDArray[np.object_]) -> tuple[int, ...]:
        """The empty set."""
        return ()

    def worths(self, rows: NDArray[np.object_], state: tuple[int, ...]) -> Floats:
        """The worth of the set with one more item, people × items."""
        with reading():
            return np.array([person.worths(state, self.items) for person in rows]).reshape(
                -1, self.items
            )

    def worth(self, rows: NDArray[np.object_], state: tuple[int, ...], item: int) -> Floats:
        """The worth of the set with this item."""
        with reading():
            return np.array(
                [person.worth(state, item, self.items) for person in rows], dtype=np.float64
            )

    def take(self, rows: NDArray[np.object_], state: tuple[int, ...], item: int) -> tuple[int, ...]:
        """The set with this item."""
        return (*state, item)
