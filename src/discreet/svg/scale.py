"""Positions of numbers along an axis, and the round numbers that are written beside it."""

from collections.abc import Sequence
from functools import cached_property
from math import ceil, floor, log10
from typing import NamedTuple

from discreet.errors import ConfigError
from discreet.svg.data import Axis
from discreet.texts import is_known, with_decimals

TINY = 1e-200
"""Ranges up to this length, and up to 10⁻¹² of their numbers, count as a single number."""


class Tick(NamedTuple):
    """A position along an axis, and the text beside it."""

    place: float
    text: str


class Scale:
    """Positions of numbers along an axis, between two pixels.

    >>> scale = Scale(Axis(), [0.0, 2500.0], start=0.0, end=100.0)
    >>> scale.at(500.0), [tick.text for tick in scale.ticks(3)]
    (20.0, ['0', '1,000', '2,000'])
    """

    def __init__(self, axis: Axis, numbers: Sequence[float], start: float, end: float) -> None:
        self._axis = axis
        self.start = start
        self.end = end
        known = [number for number in axis.within or numbers if self.shows(number)]
        if not known:
            raise ConfigError("a picture needs at least one number that can be shown")
        self._low = min(known)
        self._high = max(known)
        if self._high - self._low <= max(1e-12 * abs(self._high), TINY):
            self._widen()

    def _widen(self) -> None:
        """Make room around a single number."""
        if self._axis.logarithmic:
            self._low, self._high = self._low / 2, self._high * 2
        else:
            room = abs(self._high) / 10 if abs(self._high) > TINY else 1.0
            self._low, self._high = self._low - room, self._high + room

    def shows(self, number: float) -> bool:
        """Return whether a number has a position."""
        return is_known(number) and (number > TINY or not self._axis.logarithmic)

    def at(self, number: float) -> float:
        """Return the position of a number; of one outside the range, the border."""
        number = min(max(number, self._low), self._high)
        if self._axis.logarithmic:
            share = log10(number / self._low) / log10(self._high / self._low)
        else:
            share = (number - self._low) / (self._high - self._low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int) -> list[Tick]:
        """Return the positions of round numbers, about `most` or fewer, with their texts."""
        unit, sign = (100, " %") if self._axis.percent else (1, "")
        if self._axis.logarithmic:
            return [
                Tick(
                    self.at(one), with_decimals(unit * one, -floor(log10(unit * one) + 1e-9)) + sign
                )
                for one in self._powers
            ]
        low, high = unit * self._low, unit * self._high
        decimals = -floor(log10((high - low) / most))
        steps = [digit * 10.0**-decimals for digit in (1, 2, 5, 10)]
        step = next(step for step in steps if step * most >= high - low or step == steps[-1])
        rows = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
        decimals -= step == steps[-1]
        return [
            Tick(self.at(row * step / unit), with_decimals(row * step, decimals) + sign)
            for row in rows
        ]

    @cached_property
    def _powers(self) -> list[float]:
        """Powers of ten in the range, thinned if there are many, and numbers between if few."""
        first = floor(log10(self._low))
        last = ceil(log10(self._high))
        digits = {0: (1, 2, 5), 1: (1, 2, 5), 2: (1, 2, 5), 3: (1, 3)}.get(last - first, (1,))
        powers = range(first, last + 1, max(1, ceil((last - first) / 8)))
        found = [digit * 10.0**power for power in powers for digit in digits]
        return [one for one in found if self._low * 0.999 <= one <= self._high * 1.001]
