"""Set functions: what a set of items is worth to a person.

A family of set functions turns many people, one row each, into marginal gains at once. Each family
keeps, for the items chosen so far, what it needs to tell the next gains (`covered`), so that a
chain of k choices costs k passes over the rows. All are monotone, submodular and zero for the empty
set; with rows as documented they lie in [0, 1].
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import check_fields
from discreet.errors import ConfigError, OutOfBounds
from discreet.functions.person import asked_of
from discreet.optim.lovasz_extension import chain_values


class SetFunctions(Protocol):
    """Many people's set functions over the same items."""

    def width(self, items: int) -> int:
        """How many numbers describe one person."""

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        """The rows with every number in its range, and which of them were in range to begin
        with.
        """

    def begin(self, rows: Floats) -> np.ndarray:
        """What is covered by the empty set."""

    def gains(self, rows: Floats, covered: np.ndarray) -> Floats:
        """f(S + a) − f(S) for every person (row) and item (column), where `covered` belongs to
        S.
        """

    def gain(self, rows: Floats, covered: np.ndarray, item: int) -> Floats:
        """The same for one item: bit for bit this column of `gains`."""

    def add(self, rows: Floats, covered: np.ndarray, item: int) -> np.ndarray:
        """What is covered after one more item."""

    def along(self, rows: Floats, order: Integers) -> Floats:
        """What each item (column) adds for each person (row) when items are added in this order."""


def _steps(values: np.ndarray, order: Integers) -> Floats:
    """What each item (column) adds, from the values f(B_1), …, f(B_n) along an order."""
    steps = np.empty(values.shape)
    steps[:, order] = np.diff(values, axis=1, prepend=0.0)
    return steps


def _clip(rows: Floats, high: float = 1.0) -> tuple[Floats, Mask]:
    """Rows clipped to [0, high], rows that are not finite as zeros; and which needed neither."""
    fine = np.asarray(((rows >= 0) & (rows <= high)).all(axis=1))
    if fine.all():
        return rows, fine
    with np.errstate(all="ignore"):  # a warning would tell about a person
        finite = np.asarray(np.isfinite(rows).all(axis=1))
        return np.where(finite[:, None], np.clip(np.nan_to_num(rows), 0.0, high), 0.0), fine


@dataclass(frozen=True)
class ClickModel:
    """A person clicks items independently: f(S) = 1 − ∏(1 − p_a), the chance of any click.

    A row holds the n probabilities p_a.

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
        return _steps(1 - np.cumprod(1 - rows[:, order], axis=1), order)


@dataclass(frozen=True)
class FacilityLocation:
    """A person uses the best item of the set: f(S) = max of u_a. A row holds the n utilities in
    [0, 1].
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
        return _steps(np.maximum.accumulate(rows[:, order], axis=1), order)


@dataclass(frozen=True)
class ConcaveOverModular:
    """Diminishing returns of a sum: f(S) = curve(Σ w_a), with a row of n weights in [0, 1].

    `curve` is "sqrt" (√(s/n), so that f ≤ 1) or "cap" (min(1, s)).
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
        return self._worth(covered[:, None] + rows, items) - self._worth(covered, items)[:, None]

    def gain(self, rows: Floats, covered: Floats, item: int) -> Floats:
        items = rows.shape[1]
        return self._worth(covered + rows[:, item], items) - self._worth(covered, items)

    def add(self, rows: Floats, covered: Floats, item: int) -> Floats:
        return np.asarray(covered + rows[:, item], dtype=np.float64)

    def along(self, rows: Floats, order: Integers) -> Floats:
        return _steps(self._worth(np.cumsum(rows[:, order], axis=1), rows.shape[1]), order)

    def _worth(self, total: Floats, items: int) -> Floats:
        return np.minimum(total, 1.0) if self.curve == "cap" else np.sqrt(total / items)


@dataclass(frozen=True)
class WeightedCoverage:
    """Items cover topics, for which a person has weights: f(S) = Σ of the weights that S covers.

    `covers[a][t]` says publicly whether item a covers topic t. A row holds the weights,
    non-negative; if they add up to more than 1 they are scaled down.

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
        first = np.where(covers.any(axis=0), earliest, -1)  # the item that covers a topic first
        steps = np.zeros((len(rows), len(order)))
        kernels.add_topics(rows, first, steps)
        return steps


def topics_covered(weights: Floats, covers: Floats) -> Floats:
    """What each item (a row of `covers`) covers of the weights, people × items: each person by
    themselves.
    """
    from discreet.functions import kernels

    gains = np.empty((len(weights), len(covers)))
    kernels.weigh_items(np.ascontiguousarray(weights), np.ascontiguousarray(covers), gains)
    return gains


@dataclass(frozen=True)
class AnyFunction:
    """Visitors bring callables of their own: `function=SetFunction` in Python, "AnyFunction" in
    TOML.
    """


class SetFunction:
    """Any callable on integer arrays, as one person's set function; values are remembered.

    Marginal gains are differences of values: n calls for each item chosen. A callable that raises
    an exception, or gives something that is not a finite number, gains nothing on top of that set:
    one person must not stop others. One person's callable must not depend on another's (shared
    state would carry one person's influence to the next).

    >>> person = SetFunction(lambda chosen: min(1.0, 0.4 * len(chosen)))
    >>> person.gains([], 3), person.gains([0, 1], 3).round(2)
    (array([0.4, 0.4, 0.4]), array([0. , 0. , 0.2]))
    """

    def __init__(self, function: Callable[[Integers], float]) -> None:
        if not callable(function):
            raise OutOfBounds("feedback must be a callable on integer arrays")
        self._function = function
        self._known: dict[frozenset[int], float] = {}

    def value(self, chosen: Sequence[int]) -> float:
        """f of a set; may raise whatever the callable raises."""
        key = frozenset(int(item) for item in chosen)
        if key not in self._known:
            self._known[key] = float(self._function(np.array(sorted(key), dtype=np.int64)))
        return self._known[key]

    def gains(self, chosen: Sequence[int], items: int) -> Floats:
        """f(S + a) − f(S) for every item a, or zeros if the callable fails."""
        gains = asked_of(lambda: self._gains(chosen, items), None)
        return gains if gains is not None and np.isfinite(gains).all() else np.zeros(items)

    def _gains(self, chosen: Sequence[int], items: int) -> Floats | None:
        here = self.value(chosen)
        return np.array([self.value([*chosen, item]) - here for item in range(items)])

    def along(self, order: Integers, bound: float) -> Floats:
        """What each item adds along an order, values clipped to [−bound, bound]; zeros if it
        fails.
        """
        values = asked_of(lambda: self._values(order), None)
        if values is None or not np.isfinite(values).all():
            return np.zeros(len(order))
        steps = np.empty(len(order))
        steps[order] = np.diff(np.clip(values, -bound, bound))
        return steps

    def _values(self, order: Integers) -> Floats | None:
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
    """Try a callable on random sets; a list of what is wrong with it, empty if nothing was found.

    For values that are to be large (`SetMaximizer`) it must be monotone and 0 for the empty set;
    for costs (`SetMinimizer`) ask with `monotone=False`: submodular and between −bound and bound is
    enough.

    >>> check_set_function(lambda chosen: len(chosen) / 5, items=5)
    []
    >>> check_set_function(lambda chosen: len(chosen) ** 2 / 25, items=5)[0]
    'not submodular: item 3 gains more on top of [1, 2, 4] than on top of [1, 4]'
    """
    person = SetFunction(function)
    generator = np.random.default_rng(seed)
    problems: dict[str, str] = {}
    if monotone and abs(person.value([])) > 1e-9:
        problems["normalised"] = (
            f"not normalised: the empty set is worth {person.value([]):.4g}, not 0"
        )
    for _ in range(trials):
        order = generator.permutation(items)
        small, large = np.sort(generator.integers(0, items, size=2))
        inner, outer = order[:small].tolist(), order[:large].tolist()
        item = int(order[-1])
        here = person.value([*inner, item]) - person.value(inner)
        there = person.value([*outer, item]) - person.value(outer)
        if monotone and min(here, there) < -1e-9:
            problems.setdefault(
                "monotone",
                f"not monotone: adding item {item} to {sorted(outer)} or {sorted(inner)} loses "
                "value",
            )
        if there > here + 1e-9:
            problems.setdefault(
                "submodular",
                f"not submodular: item {item} gains more on top of {sorted(outer)} "
                f"than on top of {sorted(inner)}",
            )
        if (
            max(abs(person.value(chosen)) for chosen in (inner, outer, [*outer, item]))
            > bound + 1e-9
        ):
            problems.setdefault(
                "bounded",
                f"not bounded: a set is worth more than {bound:g} or less than {-bound:g}",
            )
    return list(problems.values())
