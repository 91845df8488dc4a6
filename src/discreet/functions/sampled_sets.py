"""Any set function, by public random sets: gradients of a multilinear extension without a formula.

    ∂F/∂x_a (x) = E[f(R + a) − f(R − a)]        item b is in R with probability x_b

The mean over `samples` sets estimates the expectation. The sets are public: they are drawn from a
hash of the point alone, so they are the same for all people at that point, and others at the next
point. A person's answer stays a function of the person's row and of public values.

With values in [0, 1] an answer has a random error of mean 0 and variance at most 1/(4·samples) per
number, common to all people at the same point. Boosting averages six points, blocks about 150.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import check_fields
from discreet.functions.person import reading, result_or


@dataclass(frozen=True)
class SampledSets:
    """Any set function for `Multilinear`: `value(chosen, row)` returns a number in [0, 1].

    A row is any `numbers` finite numbers; a row that is not finite counts as zeros. Values outside
    [0, 1] are clipped, and a call that fails adds nothing. Callables are not saved to files.

    Runtime: samples · (items + 1) calls per person and point; a person meets six points.

    Parameters
    ----------
    value
        Takes the items of a set as an integer array in ascending order, and one person's row.
    numbers
        Number of numbers per row.
    samples
        Number of random sets per point.

    Examples
    --------
    >>> from discreet.functions import Multilinear
    >>> capped = SampledSets(lambda chosen, row: min(1.0, row[chosen].sum()), numbers=2)
    >>> Multilinear(capped).gradients(np.array([[0.5, 0.75]]), np.array([1.0, 0.0]))
    array([[0.5, 0.5]])
    """

    value: Callable[[Integers, Floats], float]
    numbers: int
    samples: int = 4

    def __post_init__(self) -> None:
        check_fields(self)
        require.whole("numbers", self.numbers)
        require.whole("samples", self.samples, 1, 10_000)

    def width(self, items: int) -> int:
        return self.numbers

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        fine = np.asarray(np.isfinite(rows).all(axis=1))
        return np.where(fine[:, None], rows, 0.0), fine

    def sets(self, point: Floats) -> Mask:
        """Return the public random sets of a point, one mask per row."""
        key = blake2b(np.ascontiguousarray(point, dtype="<f8").tobytes(), digest_size=16).digest()
        generator = np.random.default_rng(int.from_bytes(key, "little"))
        return np.asarray(generator.random((self.samples, len(point))) < point)

    def gradients(self, rows: Floats, point: Floats) -> Floats:
        """Return the mean gain of each item on this point's random sets, one row per person."""
        sets = self.sets(point)
        gradients = np.zeros((len(rows), len(point)))
        with reading():
            for place, row in enumerate(rows):
                gradients[place] = np.mean([self._gains(row, chosen) for chosen in sets], axis=0)
        return gradients

    def _gains(self, row: Floats, chosen: Mask) -> Floats:
        """Return f(R + a) − f(R − a) per item a, from items + 1 values; 0 where a call fails."""
        value = self._value_of(row, chosen)
        gains = np.zeros(len(chosen))
        for item in range(len(chosen)):
            neighbour = chosen.copy()
            neighbour[item] = not chosen[item]
            change = self._value_of(row, neighbour) - value
            gains[item] = -change if chosen[item] else change
        return np.nan_to_num(gains)

    def _value_of(self, row: Floats, chosen: Mask) -> float:
        """Return one value clipped to [0, 1]; NaN if the call fails."""
        value = result_or(lambda: float(self.value(np.flatnonzero(chosen), row.copy())), np.nan)
        return float(np.clip(value, 0.0, 1.0)) if np.isfinite(value) else float("nan")
