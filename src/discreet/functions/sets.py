"""Set functions: what a set of items is worth to a person.

A family of set functions computes the marginal gains of many people, one row per person, at once.
For the items chosen so far it maintains an array `covered`, from which the next gains follow, so a
chain of k choices costs k passes over the rows. Every family is monotone, submodular and 0 for the
empty set; with rows in the documented range its values lie in [0, 1]. `SetFunctions` documents the
methods that all families have.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import check_fields
from discreet.errors import ConfigError, OutOfBounds
from discreet.functions.person import result_or
from discreet.optim.lovasz_extension import chain_values

TOLERANCE = 1e-9
"""Rounding error that `check_set_function` allows."""


class SetFunctions(Protocol):
    """The set functions of many people over the same items, one row per person."""

    def width(self, items: int) -> int:
        """Return how many numbers describe one person."""

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        """Return the rows clipped to the family's range, and which rows were in it already."""

    def begin(self, rows: Floats) -> np.ndarray:
        """Return `covered` for the empty set."""

    def gains(self, rows: Floats, covered: np.ndarray) -> Floats:
        """Return f(S + a) − f(S) per person (row) and item a (column); `covered` belongs to S."""

    def gain(self, rows: Floats, covered: np.ndarray, item: int) -> Floats:
        """Return f(S + item) − f(S) per person: bit for bit one column of `gains`."""

    def add(self, rows: Floats, covered: np.ndarray, item: int) -> np.ndarray:
        """Return `covered` after one more item."""

    def along(self, rows: Floats, order: Integers) -> Floats:
        """Return what each item (column) adds per person (row), added in this order."""


def _gains_along(values: np.ndarray, order: Integers) -> Floats:
    """Return the gain per item (column), from the values f(B_1), …, f(B_n) along an order."""
    gains = np.empty(values.shape)
    gains[:, order] = np.diff(values, axis=1, prepend=0.0)
    return gains


def _clip(rows: Floats, high: float = 1.0) -> tuple[Floats, Mask]:
    """Return rows clipped to [0, high], and which were in it; rows that are not finite become 0."""
    fine = np.asarray(((rows >= 0) & (rows <= high)).all(axis=1))
    if fine.all():
        return rows, fine
    with np.errstate(all="ignore"):  # a warning would reveal a person's data
        finite = np.asarray(np.isfinite(rows).all(axis=1))
        clipped = np.clip(np.nan_to_num(rows), 0.0, high)
        return np.where(finite[:, None], clipped, 0.0), fine


@dataclass(frozen=True)
class ClickModel:
    """A person clicks items independently: f(S) = 1 − ∏_{a∈S} (1 − p_a), P(any click).

    A row holds the n probabilities p_a, each clipped to [0, 1].

    Examples
    --------
    >>> shop, visitor = ClickModel(), np.array([[0.5, 0.4, 0.0]])
    >>> shop.gains(visitor, shop.add(visitor, shop.begin(visitor), 0)).round(3)
    array([[0.25, 0.2 , 0.  ]])
    """

    def width(self, items: int) -> int:
        return items

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        return _clip(rows)

    def begin(self, rows: Floats) -> Floats:
        return np.ones(len(rows))

    def gains(self, rows: Floats, covered: Floats) -> Floats:
        return covered[:, None] * rows

    def gain(self, rows: Floats, covered: Floats, item: int) -> Floats:
        return covered * rows[:, item]

    def add(self, rows: Floats, covered: Floats, item: int) -> Floats:
        return np.asarray(covered * (1 - rows[:, item]), dtype=np.float64)

    def along(self, rows: Floats, order: Integers) -> Floats:
        return _gains_along(1 - np.cumprod(1 - rows[:, order], axis=1), order)


@dataclass(frozen=True)
class FacilityLocation:
    """A person uses the best item of the set: f(S) = max_{a∈S} u_a.

    A row holds the n utilities u_a, each clipped to [0, 1].

    Examples
    --------
    >>> shop, visitor = FacilityLocation(), np.array([[0.5, 0.75, 0.0]])
    >>> shop.gains(visitor, shop.add(visitor, shop.begin(visitor), 0))
    array([[0.  , 0.25, 0.  ]])
    """

    def width(self, items: int) -> int:
        return items

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        return _clip(rows)

    def begin(self, rows: Floats) -> Floats:
        return np.zeros(len(rows))

    def gains(self, rows: Floats, covered: Floats) -> Floats:
        return np.maximum(rows - covered[:, None], 0.0)

    def gain(self, rows: Floats, covered: Floats, item: int) -> Floats:
        return np.maximum(rows[:, item] - covered, 0.0)

    def add(self, rows: Floats, covered: Floats, item: int) -> Floats:
        return np.maximum(covered, rows[:, item])

    def along(self, rows: Floats, order: Integers) -> Floats:
        return _gains_along(np.maximum.accumulate(rows[:, order], axis=1), order)


@dataclass(frozen=True)
class ConcaveOverModular:
    """Diminishing returns of a sum: f(S) = curve(Σ_{a∈S} w_a).

    A row holds the n weights w_a, each clipped to [0, 1].

    Parameters
    ----------
    curve
        "cap" is min(1, s), "sqrt" is √(s/n), so that f ≤ 1.

    Examples
    --------
    >>> shop, visitor = ConcaveOverModular("cap"), np.array([[0.5, 0.75, 0.25]])
    >>> shop.gains(visitor, shop.add(visitor, shop.begin(visitor), 0))
    array([[0.5 , 0.5 , 0.25]])
    """

    curve: Literal["sqrt", "cap"] = "cap"

    def __post_init__(self) -> None:
        require.one_of("curve", self.curve, ("sqrt", "cap"))

    def width(self, items: int) -> int:
        return items

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        return _clip(rows)

    def begin(self, rows: Floats) -> Floats:
        return np.zeros(len(rows))

    def gains(self, rows: Floats, covered: Floats) -> Floats:
        items = rows.shape[1]
        return self._value(covered[:, None] + rows, items) - self._value(covered, items)[:, None]

    def gain(self, rows: Floats, covered: Floats, item: int) -> Floats:
        items = rows.shape[1]
        return self._value(covered + rows[:, item], items) - self._value(covered, items)

    def add(self, rows: Floats, covered: Floats, item: int) -> Floats:
        return np.asarray(covered + rows[:, item], dtype=np.float64)

    def along(self, rows: Floats, order: Integers) -> Floats:
        values = self._value(np.cumsum(rows[:, order], axis=1), rows.shape[1])
        return _gains_along(values, order)

    def _value(self, total: Floats, items: int) -> Floats:
        return np.minimum(total, 1.0) if self.curve == "cap" else np.sqrt(total / items)


@dataclass(frozen=True)
class WeightedCoverage:
    """Items cover topics: f(S) = Σ of a person's weights of the topics that some item of S covers.

    A row holds one weight per topic, each clipped to [0, 1]; a row whose weights add up to more
    than 1 is divided by their sum.

    Parameters
    ----------
    covers
        Public: `covers[a][t]` is 1 if item a covers topic t, else 0.

    Examples
    --------
    >>> coverage = WeightedCoverage(((1, 1, 0), (0, 1, 1)))
    >>> person = np.array([[0.5, 0.3, 0.2]])
    >>> coverage.gains(person, coverage.add(person, coverage.begin(person), 0)).round(3)
    array([[0. , 0.2]])
    """

    covers: tuple[tuple[int | bool, ...], ...]

    def __post_init__(self) -> None:
        check_fields(self)

    def width(self, items: int) -> int:
        if len(self.covers) != items or len({len(row) for row in self.covers}) != 1:
            raise ConfigError(
                f"covers must have a row of equal length for each of the {items} items, "
                f"got {len(self.covers)} rows"
            )
        return len(self.covers[0])

    @property
    def _matrix(self) -> Floats:
        return np.array(self.covers, dtype=np.float64)

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        rows, fine = _clip(rows)
        total = rows.sum(axis=1)
        return rows / np.maximum(total, 1.0)[:, None], fine & (total <= 1 + 1e-12)

    def begin(self, rows: Floats) -> Floats:
        return rows

    def gains(self, rows: Floats, covered: Floats) -> Floats:
        return topics_covered(covered, self._matrix)

    def gain(self, rows: Floats, covered: Floats, item: int) -> Floats:
        return topics_covered(covered, self._matrix[item : item + 1])[:, 0]

    def add(self, rows: Floats, covered: Floats, item: int) -> Floats:
        return np.asarray(covered * (1 - self._matrix[item]), dtype=np.float64)

    def along(self, rows: Floats, order: Integers) -> Floats:
        from discreet.functions import kernels

        covers = self._matrix[order] > 0
        earliest = order[covers.argmax(axis=0)]
        # Per topic, the first item in the order that covers it.
        first = np.where(covers.any(axis=0), earliest, -1)
        gains = np.zeros((len(rows), len(order)))
        kernels.add_topics(rows, first, gains)
        return gains


def topics_covered(weights: Floats, covers: Floats) -> Floats:
    """Return the total weight that each item (a row of `covers`) covers, people × items.

    Each person is computed separately, so other people do not change the last bits of a sum.
    """
    from discreet.functions import kernels

    gains = np.empty((len(weights), len(covers)))
    kernels.weigh_items(np.ascontiguousarray(weights), np.ascontiguousarray(covers), gains)
    return gains


@dataclass(frozen=True)
class AnyFunction:
    """Visitors bring callables: `function=SetFunction` in Python, "AnyFunction" in TOML."""


class SetFunction:
    """A callable on integer arrays as one person's set function; values are cached per set.

    Marginal gains are differences of values: n calls per chosen item. A callable that raises an
    exception, or returns something other than a finite number, gains nothing on top of that set:
    one person must not stop others. The callable of one person must not depend on another person's:
    shared state would carry one person's influence to the next.

    Parameters
    ----------
    function
        Takes the items of a set as an integer array in ascending order, and returns a number.

    Raises
    ------
    OutOfBounds
        If `function` is not callable.

    Examples
    --------
    >>> person = SetFunction(lambda chosen: min(1.0, 0.4 * len(chosen)))
    >>> person.gains([], 3), person.gains([0, 1], 3).round(2)
    (array([0.4, 0.4, 0.4]), array([0. , 0. , 0.2]))
    """

    def __init__(self, function: Callable[[Integers], float]) -> None:
        if not callable(function):
            raise OutOfBounds("feedback must be a callable on integer arrays")
        self._function = function
        self._values: dict[frozenset[int], float] = {}

    def value(self, chosen: Sequence[int]) -> float:
        """Return f(S); an exception of the callable is not caught."""
        key = frozenset(int(item) for item in chosen)
        if key not in self._values:
            self._values[key] = float(self._function(np.array(sorted(key), dtype=np.int64)))
        return self._values[key]

    def gains(self, chosen: Sequence[int], items: int) -> Floats:
        """Return f(S + a) − f(S) per item a, or zeros if the callable fails."""
        gains = result_or(lambda: self._gains(chosen, items), None)
        return gains if gains is not None and np.isfinite(gains).all() else np.zeros(items)

    def _gains(self, chosen: Sequence[int], items: int) -> Floats | None:
        here = self.value(chosen)
        return np.array([self.value([*chosen, item]) - here for item in range(items)])

    def along(self, order: Integers, bound: float) -> Floats:
        """Return what each item adds along an order, or zeros if the callable fails.

        Values are clipped to [−bound, bound] before the differences are taken.
        """
        values = result_or(lambda: self._chain_values(order), None)
        if values is None or not np.isfinite(values).all():
            return np.zeros(len(order))
        gains = np.empty(len(order))
        gains[order] = np.diff(np.clip(values, -bound, bound))
        return gains

    def _chain_values(self, order: Integers) -> Floats | None:
        return chain_values(self._function, order)


def check_set_function(
    function: Callable[[Integers], float],
    items: int,
    *,
    bound: float = 1.0,
    monotone: bool = True,
    trials: int = 200,
    seed: int = 0,
) -> list[str]:
    """Return a list of the problems of a callable, found on random sets; empty if none was found.

    A value for `SetMaximizer` must be submodular, monotone and 0 for the empty set. A cost for
    `SetMinimizer` must be submodular and between −bound and bound: pass `monotone=False`.

    Parameters
    ----------
    function
        Takes the items of a set as an integer array in ascending order, and returns a number.
    items
        Number of items.
    bound
        Largest absolute value that a set may have.
    monotone
        Whether to require a monotone function that is 0 for the empty set.
    trials, seed
        Number of random chains of sets, and the seed that draws them.

    Examples
    --------
    >>> check_set_function(lambda chosen: len(chosen) / 5, items=5)
    []
    >>> check_set_function(lambda chosen: len(chosen) ** 2 / 25, items=5)[0]
    'not submodular: item 3 gains more on top of [1, 2, 4] than on top of [1, 4]'
    """
    person = SetFunction(function)
    generator = np.random.default_rng(seed)
    problems: dict[str, str] = {}
    if monotone and abs(person.value([])) > TOLERANCE:
        problems["normalised"] = (
            f"not normalised: the empty set is worth {person.value([]):.4g}, not 0"
        )
    for _ in range(trials):
        order = generator.permutation(items)
        small, large = np.sort(generator.integers(0, items, size=2))
        inner = order[:small].tolist()
        outer = order[:large].tolist()
        item = int(order[-1])
        inner_gain = person.value([*inner, item]) - person.value(inner)
        outer_gain = person.value([*outer, item]) - person.value(outer)
        if monotone and min(inner_gain, outer_gain) < -TOLERANCE:
            problems.setdefault(
                "monotone",
                f"not monotone: adding item {item} to {sorted(outer)} or {sorted(inner)} loses "
                "value",
            )
        if outer_gain > inner_gain + TOLERANCE:
            problems.setdefault(
                "submodular",
                f"not submodular: item {item} gains more on top of {sorted(outer)} "
                f"than on top of {sorted(inner)}",
            )
        largest = max(abs(person.value(chosen)) for chosen in (inner, outer, [*outer, item]))
        if largest > bound + TOLERANCE:
            problems.setdefault(
                "bounded",
                f"not bounded: a set is worth more than {bound:g} or less than {-bound:g}",
            )
    return list(problems.values())
