"""One vector per person, clipped to a length.

    Q(x) = ⌊x/g + ½⌋        on a grid g = bound / levels, after clipping

The norm bound is enforced on the INTEGER vector, so the sensitivity of the sum holds for integers,
without a term for rounding. A row that is not finite counts as zero and still uses up its round.

Guarantee   docs/guarantees/aggregators.md, Lemma 1
Runtime     O(d) per person, one compiled pass
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.release.aggregators.base import (
    Aggregate,
    Aggregator,
    as_shape,
    check_levels,
    kernels,
    passes,
)

if TYPE_CHECKING:
    from discreet.release.passes import ClassSlopes, SlateWeights, Slope

MOST_PASS_CELLS = 2**26
MOST_PASS_ROWS = 2**28
"""Up to these sizes a fused pass is exact: its sums of rounded floats stay below 2⁵³."""

People = tuple[Floats, Floats, Floats]
"""Features, targets and shares (0 to 1) of samples, one row per person."""


class SampleBounds(NamedTuple):
    """Public numbers that bound a sample and scale its gradient before the gradient is clipped."""

    dual: float
    """Order of the norm that bounds features; 0 stands for l_∞."""
    feature_bound: float
    target_bound: float
    constant: float
    """One more feature of every sample, not counted in its norm; 0: there is none."""
    worth: float
    """Factor of all gradients."""


@dataclass(frozen=True)
class Rows(Aggregator):
    """Sums of vectors of at most `length`, in the l₁, l₂ or l_∞ norm.

    Parameters
    ----------
    shape
        Shape of a vector, or its dimension.
    length
        The bound: the largest norm of a person's vector.
    norm
        1, 2 or infinity.
    nonnegative
        Whether entries below zero count as zero.
    levels
        The number of integer steps up to the bound.

    Examples
    --------
    >>> rows = Rows(2, length=1.0, levels=1000)
    >>> people = rows.empty()
    >>> rows.add(people, np.array([[0.6, 0.8], [30.0, 40.0], [np.nan, 1.0]]))
    >>> people.values, rows.sensitivity(2)
    (array([1200, 1600]), 2000.0)
    """

    shape: tuple[int, ...]
    length: float = 1.0
    norm: float = 2
    nonnegative: bool = False
    levels: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))
        if not (isfinite(self.length) and self.length > 0):
            raise ConfigError(f"bound must be finite and greater than 0, got {self.length}")
        if not 1e-280 <= self.length <= 1e280:
            raise ConfigError(
                f"bound must lie between 1e-280 and 1e280, got {self.length}: rescale the data"
            )
        if self.norm not in (1, 2, inf):
            raise ConfigError(f"norm must be 1, 2 or infinity, got {self.norm}")
        check_levels(self.levels)

    @property
    def bound(self) -> float:
        return self.length

    @property
    def cells(self) -> int:
        return self.size

    def unit_sensitivity(self, norm: int) -> float:
        """The entry of the table in docs/guarantees/aggregators.md, Lemma 1."""
        width = 1.0 if self.nonnegative else 2.0
        if self.size == 1:
            return width
        if self.norm == inf:
            return width * (self.size if norm == 1 else sqrt(self.size))
        if norm == 1 and self.norm == 1:
            return 2.0
        # Non-negative vectors are farthest apart if their supports are disjoint.
        across = sqrt(2) if self.nonnegative else 2.0
        return across if norm == 2 else across * sqrt(self.size)

    @property
    def span(self) -> int:
        """4 · levels, or 2 · levels for non-negative entries (Lemma 1)."""
        # Every entry moves by at most the width, up or down.
        return 2 * self.levels * (1 if self.nonnegative else 2)

    def add(self, aggregate: Aggregate, rows: Floats) -> None:
        """Clip, quantise and add one row per person."""
        if rows.ndim != 2 or rows.dtype != np.float64 or not rows.flags.c_contiguous:
            rows = np.ascontiguousarray(rows, dtype=np.float64).reshape(len(rows), self.size)
        scratch = np.empty(self.size, dtype=np.int64)
        total = aggregate.values.reshape(-1)
        aggregate.additions += 1
        kernels.admit_rows(
            rows,
            self._norm_code,
            float(self.levels),
            1 / self.grid,
            self.nonnegative,
            scratch,
            total,
        )

    def opposites(self, aggregate: Aggregate, *, both: bool) -> Aggregate:
        """Return the negated sum as scores of corners to minimise; with `both`, also the sum.

        The sum follows its negation. One person moves an entry and its negation apart by at most
        twice the change of the entry, so the span is the same.
        """
        self.check_own(aggregate)
        values = aggregate.values.reshape(-1)
        return Aggregate(self, np.concatenate([-values, values]) if both else -values)

    @cached_property
    def limit(self) -> float:
        """The largest norm of a row before rounding, in steps, so that it obeys the bound after.

        Rounding moves each entry by at most ½.
        """
        room = {1: self.size / 2, 2: sqrt(self.size) / 2, inf: 0.0}[self.norm]
        return self.levels - 1 - room

    @cached_property
    def is_fine(self) -> bool:
        """Whether the grid is so fine that fused passes clip at 7/8 of the bound or above."""
        return self.limit >= 0.875 * self.levels and self.size <= MOST_PASS_CELLS

    def add_gradients(
        self,
        aggregate: Aggregate,
        slope: "Slope",
        parameter: float,
        people: People,
        points: tuple[Floats, Floats, float],
        bounds: SampleBounds,
    ) -> None:
        """Add (s + weight·(s − s′))·x of every sample x, clipped and quantised.

        s and s′ are the slopes at the first and the second of `points`, which end with the weight.

        Guarantee   docs/guarantees/aggregators.md, Lemma 5
        """
        fused = passes.gradient_pass(slope)
        self._add_through(fused, aggregate, *people, *points, parameter, *bounds)

    def add_class_gradients(
        self,
        aggregate: Aggregate,
        slopes: "ClassSlopes",
        people: People,
        point: Floats,
        bounds: SampleBounds,
    ) -> None:
        """Add s ⊗ x of every sample x, clipped and quantised; s has one slope per class.

        Guarantee   docs/guarantees/aggregators.md, Lemma 5
        """
        clip = (bounds.dual, bounds.feature_bound, bounds.constant, bounds.worth)
        self._add_through(passes.class_gradient_pass(slopes), aggregate, *people, point, *clip)

    def add_slate_gains(
        self,
        aggregate: Aggregate,
        weigh: "SlateWeights",
        parameter: float,
        people: Floats,
        slate: Integers,
    ) -> None:
        """Add every person's numbers, once per slot of a slate, times what `weigh` writes.

        Guarantee   docs/guarantees/aggregators.md, Lemma 5
        """
        if self.norm != 2:
            raise ConfigError(f"gains over a slate are measured in l₂, got norm {self.norm}")
        self._add_through(passes.slate_pass(weigh), aggregate, people, slate, parameter)

    def _add_through(
        self,
        fused: Callable[..., None],
        aggregate: Aggregate,
        people: Floats,
        *others: Floats | Integers | float,
    ) -> None:
        """Add people by a pass of discreet/release/passes.py, which bounds each of them."""
        if self.limit <= 0 or self.size > MOST_PASS_CELLS or len(people) > MOST_PASS_ROWS:
            raise ConfigError(
                f"{self.size} numbers are too many for this budget: plan fewer releases, with a "
                "larger block"
            )
        rounded = np.zeros(self.shape)
        fused(people, *others, self._norm_code, 1 / self.grid, self.limit, rounded)
        aggregate.additions += 1
        aggregate.values[...] += rounded.astype(np.int64)

    @cached_property
    def _norm_code(self) -> int:
        """The norm as kernels take it: 0 stands for l_∞."""
        return 0 if self.norm == inf else int(self.norm)
