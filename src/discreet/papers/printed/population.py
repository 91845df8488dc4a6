"""The sum of many people's set functions: its values and the gradients of its extension.

    F(S) = Σ F_p(S)        f(x) = E F(R), where item i is in R with probability x_i
    ∂f/∂x_i = E[F(R + i) − F(R − i)]        f is the multilinear extension of F

Gradients are exact for families with known gradients, and at corners for every family. Otherwise
they are means over random sets R that all people share and that do not depend on data.
"""

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.functions.continuous import Multilinear
from discreet.functions.places import Nearby, Types
from discreet.functions.sets import ClickModel, FacilityLocation, SetFunctions, WeightedCoverage
from discreet.optim.constraints import indicator

CHUNK = 2048
"""Number of people whose gradients are held in memory at once."""


class Population:
    """The summed set function of people with one row each, of one family of discreet.functions.

    >>> both = Population(np.array([[0.5, 0.4], [0.0, 1.0]]), ClickModel(), items=2)
    >>> both.value([0]), both.value([0, 1])
    (0.5, 1.7)
    >>> both.gradient(np.array([1.0, 0.0]))
    array([0.5, 1.2])
    """

    def __init__(
        self,
        people: ArrayLike,
        function: SetFunctions | Nearby | Types,
        items: int,
        *,
        sets: int = 100,
        seed: int = 0,
    ) -> None:
        rows = np.asarray(people, dtype=np.float64)
        rows = rows[:, None] if rows.ndim == 1 else rows
        admitted = function.admit(rows, items)[0]
        self.items = items
        self._family: SetFunctions
        if isinstance(function, Nearby | Types):  # each person uses the best item
            self._family = FacilityLocation()
            self._rows = function.worths(admitted)
        else:
            self._family = function
            self._rows = np.nan_to_num(admitted)
        self._sets = sets
        self._generator = np.random.default_rng([seed, 1])

    def __len__(self) -> int:
        return len(self._rows)

    def value(self, chosen: list[int]) -> float:
        """F of a set."""
        if not chosen:
            return 0.0
        members = set(chosen)
        others = [item for item in range(self.items) if item not in members]
        order = np.array([*chosen, *others])
        return float(self._family.along(self._rows, order)[:, chosen].sum())

    def gradient(self, point: Floats, *, norm: int = 2, clip: float | None = None) -> Floats:
        """∇f, with each person's gradient clipped to length `clip` in this norm."""
        total = np.zeros(self.items)
        mixture = self._mixture(point)
        for first in range(0, len(self._rows), CHUNK):
            rows = self._rows[first : first + CHUNK]
            if isinstance(self._family, ClickModel | FacilityLocation | WeightedCoverage):
                parts = Multilinear(self._family).gradients(rows, point)
            else:
                parts = np.zeros((len(rows), self.items))
                for weight, chosen in mixture:
                    parts += weight * _gains_around(self._family, rows, chosen)
            if clip is not None:
                lengths = np.linalg.norm(parts, ord=norm, axis=1, keepdims=True)
                parts = parts * np.minimum(1.0, clip / np.maximum(lengths, 1e-300))
            total += parts.sum(axis=0)
        return total

    def _mixture(self, point: Floats) -> list[tuple[float, list[int]]]:
        """Random sets with their empirical frequencies."""
        drawn = self._generator.random((self._sets, self.items)) < point
        distinct, counts = np.unique(drawn, axis=0, return_counts=True)
        return [
            (count / self._sets, np.flatnonzero(row).tolist())
            for row, count in zip(distinct, counts.tolist(), strict=True)
        ]

    @property
    def alone(self) -> Floats:
        """F({i}) of every item i: the gradient at 0."""
        return self.gradient(np.zeros(self.items))

    @property
    def last(self) -> Floats:
        """F(V) − F(V∖i) of every item i: the gradient at 1."""
        return self.gradient(indicator(range(self.items), self.items))


def _gains_around(family: SetFunctions, rows: Floats, chosen: list[int]) -> Floats:
    """F_p(R + i) − F_p(R − i) for every person and item i."""

    def state_of(items: list[int]) -> np.ndarray:
        state = family.begin(rows)
        for item in items:
            state = family.add(rows, state, item)
        return state

    gains = family.gains(rows, state_of(chosen)).copy()
    for item in chosen:
        without = state_of([other for other in chosen if other != item])
        gains[:, item] = family.gains(rows, without)[:, item]
    return gains
