"""Any set function, by public random sets: what an item adds to sets that a point stands for.

    ∂f/∂x_a (x) = E[F(R + a) − F(R − a)]        item b is in R with probability x_b

The mean over `samples` sets stands for the expectation. The sets are public: they are drawn from a
hash of the point alone, so they are the same for everybody who is asked at that point, and new at
the next one. A person's answer stays a function of their own row and of what is public.

With values in [0, 1] an answer is off by a random error of mean 0 and variance at most
1/(4·samples) in every number, common to all who are asked at the same point. Boosting averages six
points, blocks some 150.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import check_fields
from discreet.functions.person import asked_of, reading


@dataclass(frozen=True)
class SampledSets:
    """Any set function for `Multilinear`: `value(chosen, row)` gives a number in [0, 1]. Not kept
    in files.

    `chosen` is an array of items in ascending order. A value that cannot be had adds nothing, and
    values outside [0, 1] are clipped. A row has `numbers` numbers; a person costs samples · (items
    + 1) calls at a point, six points each.

    >>> from discreet.functions import Multilinear
    >>> function = Multilinear(SampledSets(lambda chosen, row: min(1.0, row[chosen].sum()), numbers=2))
    >>> function.gradients(np.array([[0.5, 0.75]]), np.array([1.0, 0.0]))
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
        """The public random sets of a point, one a row."""
        key = blake2b(np.ascontiguousarray(point, dtype="<f8").tobytes(), digest_size=16).digest()
        generator = np.random.default_rng(int.from_bytes(key, "little"))
        return np.asarray(generator.random((self.samples, len(point))) < point)

    def gradients(self, rows: Floats, point: Floats) -> Floats:
        """What each item adds to the sets of this point, on average, one row a person."""
        sets = self.sets(point)
        found = np.zeros((len(rows), len(point)))
        with reading():
            for place, row in enumerate(rows):
                found[place] = np.mean([self._gains(row, there) for there in sets], axis=0)
        return found

    def _gains(self, row: Floats, there: Mask) -> Floats:
        """F(R + a) − F(R − a) for every item, from items + 1 values; what cannot be had is 0."""
        here = self._worth(row, there)
        gains = np.zeros(len(there))
        for item in range(len(there)):
            other = there.copy()
            other[item] = not there[item]
            changed = self._worth(row, other) - here
            gains[item] = -changed if there[item] else changed
        return np.nan_to_num(gains)

    def _worth(self, row: Floats, there: Mask) -> float:
        """One value, clipped to [0, 1]; not a number if it cannot be had."""
        found = asked_of(lambda: float(self.value(np.flatnonzero(there), row.copy())), np.nan)
        return float(np.clip(found, 0.0, 1.0)) if np.isfinite(found) else float("nan")
