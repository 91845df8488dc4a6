"""Noise-free greedy, lazily, and swaps after it: for public weights, released histograms and baselines.

    lazy_greedy            any gains, any constraint: what was gained before bounds what is gained now
    improved_by_swaps      one item for another, as long as that helps
    choose_facilities      greedy and swaps for Σ weight · max over the chosen of a worth
    choose_clicks          greedy and swaps for Σ weight · (1 − ∏ over the chosen of (1 − probability))
    lazy_facilities        the first of these without weights, any `picks` items of a large table, compiled
    lazy_coverage          how much the chosen items cover, any `picks` of them, compiled

Values are monotone and submodular: gains are not negative and fall as more is chosen, so most need never be
looked at again. All algorithms choose what plain greedy would, of equal items the one with the smaller
number. Everything here is public or released. Kernels are compiled: import this where it is used.

Runtime     lazy greedy: items + a few times the number of picks evaluations, and a heap
References  Nemhauser, Wolsey, Fisher (1978); Minoux (1978), "Accelerated greedy algorithms"
            Schubert, Rousseeuw (2019), "Faster k-medoids clustering" (all swaps in one pass)
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Any

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers
from discreet.compiled import compiled, compiled_sums
from discreet.decide.constraints import Constraint, Price, Priced
from discreet.errors import ConfigError

__all__ = [
    "choose_clicks",
    "choose_facilities",
    "improved_by_swaps",
    "lazy_coverage",
    "lazy_facilities",
    "lazy_greedy",
]

Gains = Callable[[list[int], Integers], Floats]
"""gains_of(chosen, items): what each of the items adds to the chosen ones."""
Changes = Callable[[list[int]], Floats]
"""changes_of(chosen): how the value changes if an item (column) replaces a chosen one (row)."""

WORTHWHILE = 1e-9
"""A swap must gain this part of the value: less is rounding, and could go in circles."""


def lazy_greedy(
    gains_of: Gains, constraint: Constraint, *, chosen: Sequence[int] = (), price: Price = "density"
) -> list[int]:
    """Add what gains most, until nothing more fits; the items in the order of choice.

    Under a knapsack gains are compared after multiplication with `factors(price)`.

    >>> from discreet.decide.matroids import UniformMatroid
    >>> worths = np.array([[5.0, 4.0, 0.0], [0.0, 4.0, 3.0]])
    >>> def gains_of(chosen, items):
    ...     return np.maximum(worths[:, items] - worths[:, chosen].max(axis=1, initial=0)[:, None], 0).sum(0)
    >>> lazy_greedy(gains_of, UniformMatroid(items=3, rank=2))
    [1, 0]
    """
    found = list(chosen)
    allowed = constraint.extensions(found)
    factors = constraint.factors(price) if isinstance(constraint, Priced) else np.ones(constraint.items)
    items = np.flatnonzero(allowed)
    if not len(items):
        return found
    scores = np.asarray(gains_of(found, items)) * factors[items]
    heap = [(-score, item, len(found)) for score, item in zip(scores.tolist(), items.tolist(), strict=True)]
    heapify(heap)
    while heap:
        _, item, asked = heap[0]
        if not allowed[item]:
            heappop(heap)
        elif asked == len(found):
            heappop(heap)
            found.append(item)
            allowed = constraint.extensions(found)
        else:
            gain = float(gains_of(found, np.array([item]))[0])
            heapreplace(heap, (-gain * float(factors[item]), item, len(found)))
    return found


def improved_by_swaps(
    gains_of: Gains,
    constraint: Constraint,
    chosen: Sequence[int],
    *,
    limit: int = 100,
    changes_of: Changes | None = None,
) -> list[int]:
    """Swap one chosen item for another, the best swap first, until none helps or `limit` swaps are made.

    What then still fits is added. The value never falls. `changes_of` tells all swaps at once, where there is
    a faster way than asking for all gains without each of the chosen items.

    >>> from discreet.decide.matroids import UniformMatroid
    >>> worths = np.array([[5.0, 4.0, 0.0], [0.0, 4.0, 5.0]])
    >>> def gains_of(chosen, items):
    ...     return np.maximum(worths[:, items] - worths[:, chosen].max(axis=1, initial=0)[:, None], 0).sum(0)
    >>> improved_by_swaps(gains_of, UniformMatroid(items=3, rank=2), [1, 0])
    [2, 0]
    """
    found = lazy_greedy(gains_of, constraint, chosen=chosen)
    least = WORTHWHILE * _value(gains_of, found)
    for _ in range(require.whole("limit", limit, 0)):
        changes = changes_of(found) if changes_of else _changes(gains_of, found, constraint.items)
        for slot in range(len(found)):
            allowed = constraint.extensions(found[:slot] + found[slot + 1 :])
            allowed[found] = False
            changes[slot, ~allowed] = -np.inf
        best = int(np.argmax(changes))
        if changes.flat[best] <= least:
            break
        found[best // constraint.items] = best % constraint.items
        found = lazy_greedy(gains_of, constraint, chosen=found)  # under a knapsack more may fit now
    return found


def _changes(gains_of: Gains, chosen: list[int], items: int) -> Floats:
    changes = np.empty((len(chosen), items))
    for slot, item in enumerate(chosen):
        gains = np.asarray(gains_of(chosen[:slot] + chosen[slot + 1 :], np.arange(items)))
        changes[slot] = gains - gains[item]
    return changes


def _value(gains_of: Gains, chosen: list[int]) -> float:
    """What the chosen items gain one after the other."""
    return sum(float(gains_of(chosen[:place], np.array([item]))[0]) for place, item in enumerate(chosen))


def choose_facilities(
    worths: Any, weights: Any, constraint: Constraint, *, price: Price = "density", limit: int = 100
) -> list[int]:
    """A set of large Σ over cells of weight · max over its items of their worth in that cell.

    `worths` has a row a cell and a column an item; worths and weights below 0 count as 0, as noise may have
    them. Greedy, also from the best single item under a knapsack, then at most `limit` swaps.

    >>> from discreet.decide.matroids import UniformMatroid
    >>> choose_facilities([[5, 4, 0], [0, 4, 5]], [1.0, 1.0], UniformMatroid(items=3, rank=2))
    [0, 2]
    """
    table, counts = _histogram(worths, weights, constraint)
    # A weight that is not negative goes inside the maximum.
    rows = (np.maximum(table, 0.0) * counts[:, None]).T
    return _chosen(_Facilities(rows), constraint, price, limit)


def choose_clicks(
    worths: Any, weights: Any, constraint: Constraint, *, price: Price = "density", limit: int = 100
) -> list[int]:
    """A set of large Σ over cells of weight · (1 − ∏ over its items of (1 − probability in that cell)).

    `worths` has the probabilities, a row a cell and a column an item, clipped to [0, 1]; weights below 0
    count as 0. Greedy, also from the best single item under a knapsack, then at most `limit` swaps.

    >>> from discreet.decide.matroids import UniformMatroid
    >>> choose_clicks([[0.9, 0.8, 0.0], [0.0, 0.0, 0.5]], [1.0, 1.0], UniformMatroid(items=3, rank=2))
    [0, 2]
    """
    table, counts = _histogram(worths, weights, constraint)
    return _chosen(_Clicks(np.clip(table, 0.0, 1.0).T, counts), constraint, price, limit)


def _histogram(worths: Any, weights: Any, constraint: Constraint) -> tuple[Floats, Floats]:
    table, counts = np.asarray(worths, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if table.ndim != 2 or table.shape != (*counts.shape, constraint.items):
        rule = f"a row for each of the weights and a column for each of the {constraint.items} items"
        raise ConfigError(f"worths must have {rule}, got {table.shape} and {counts.shape}")
    if not (np.isfinite(table).all() and np.isfinite(counts).all()):
        raise ConfigError("worths and weights must be finite numbers")
    return table, np.maximum(counts, 0.0)


def _chosen(
    objective: "_Facilities | _Clicks", constraint: Constraint, price: Price, limit: int
) -> list[int]:
    starts: list[list[int]] = [[]]
    if isinstance(constraint, Priced):  # the best for its price may keep out one that is worth more than all
        alone = objective.gains([], np.arange(constraint.items))
        starts.append([int(np.argmax(np.where(constraint.extensions([]), alone, -1.0)))])
    ends = [lazy_greedy(objective.gains, constraint, chosen=start, price=price) for start in starts]
    best = max(ends, key=lambda end: _value(objective.gains, end))
    return sorted(
        improved_by_swaps(objective.gains, constraint, best, limit=limit, changes_of=objective.changes)
    )


class _Table:
    """A value of sets by a row an item and a column a cell; what is left to gain is remembered."""

    def __init__(self, rows: Floats) -> None:
        self._rows = np.ascontiguousarray(rows)
        self._newest: tuple[list[int], Floats] | None = None

    def cells(self, chosen: list[int]) -> Floats:
        """What the chosen items leave of each cell, or have covered."""
        raise NotImplementedError

    def _cells_of(self, chosen: list[int]) -> Floats:
        if self._newest is None or self._newest[0] != chosen:  # lazy greedy asks often about the same items
            self._newest = list(chosen), self.cells(chosen)
        return self._newest[1]


class _Facilities(_Table):
    """Every cell uses its best item; rows have worths times weights."""

    def cells(self, chosen: list[int]) -> Floats:
        return np.asarray(self._rows[chosen].max(axis=0, initial=0.0), dtype=np.float64)

    def gains(self, chosen: list[int], items: Integers) -> Floats:
        gains = np.empty(len(items))
        _facility_gains(self._rows, items, self._cells_of(chosen), gains)
        return gains

    def changes(self, chosen: list[int]) -> Floats:
        held = np.vstack([self._rows[chosen], np.zeros(self._rows.shape[1])])
        second, best = np.partition(held, len(chosen) - 1, axis=0)[-2:]
        changes = np.zeros((len(self._rows), len(chosen) + 1))  # the last is for cells that nobody covers
        _facility_changes(self._rows, best, second, np.argmax(held, axis=0), changes)
        return changes[:, :-1].T.copy()


class _Clicks(_Table):
    """Every item of a cell is clicked independently; rows have probabilities."""

    def __init__(self, rows: Floats, weights: Floats) -> None:
        super().__init__(rows)
        self._weights = weights

    def cells(self, chosen: list[int]) -> Floats:
        return np.asarray(self._weights * np.prod(1 - self._rows[chosen], axis=0), dtype=np.float64)

    def gains(self, chosen: list[int], items: Integers) -> Floats:
        gains = np.empty(len(items))
        _click_gains(self._rows, items, self._cells_of(chosen), gains)
        return gains

    def changes(self, chosen: list[int]) -> Floats:
        missed = 1 - self._rows[chosen]
        ones = np.ones((1, missed.shape[1]))
        before = np.cumprod(np.vstack([ones, missed[:-1]]), axis=0)
        after = np.cumprod(np.vstack([ones, missed[:0:-1]]), axis=0)[::-1]
        gains = (before * after * self._weights) @ self._rows.T  # without each of the chosen items
        return np.asarray(gains - gains[np.arange(len(chosen)), chosen][:, None], dtype=np.float64)


def lazy_facilities(similarities: Any, picks: int) -> list[int]:
    """The `picks` rows that greedily maximise Σ over columns of the largest number in them.

    Numbers below 0 count as 0. Sums are of 32-bit numbers, in blocks that are added up in 64 bits.

    >>> lazy_facilities([[5, 4, 0], [0, 4, 5], [3, 3, 3]], picks=2)
    [0, 1]
    """
    rows = np.ascontiguousarray(similarities, dtype=np.float32)
    if rows.ndim != 2:
        raise ConfigError(f"similarities must be a table, got an array of {rows.shape}")
    chosen = np.empty(require.whole("picks", picks, 1, len(rows)), dtype=np.int64)
    _lazy_facilities(rows, chosen)
    return [int(item) for item in chosen]


def lazy_coverage(starts: Any, members: Any, picks: int, weights: Any = None) -> list[int]:
    """The `picks` items that greedily cover most: item a covers `members[starts[a] : starts[a + 1]]`.

    As in a SciPy CSR matrix: `lazy_coverage(matrix.indptr, matrix.indices, 50)`; an item has each member
    once. `weights` has what each member is worth, 1 if left out.

    >>> lazy_coverage(starts=[0, 2, 5, 6], members=[0, 1, 1, 2, 3, 0], picks=2)
    [1, 0]
    """
    starts, members = np.asarray(starts, dtype=np.int64), np.asarray(members)
    members = members if members.dtype == np.int32 else members.astype(np.int64)  # SciPy's as they are
    size = int(members.max(initial=0)) + 1
    worth = np.ones(size) if weights is None else np.asarray(weights, dtype=np.float64)
    if starts.size < 2 or starts[0] != 0 or starts[-1] != members.size or (np.diff(starts) < 0).any():
        raise ConfigError("starts must rise from 0 to the number of members, one more than there are items")
    if members.min(initial=0) < 0 or worth.size < size or not ((worth >= 0) & (worth < np.inf)).all():
        raise ConfigError("members must be numbered from 0, and weights be one finite number ≥ 0 for each")
    chosen = np.empty(require.whole("picks", picks, 1, len(starts) - 1), dtype=np.int64)
    _lazy_coverage(starts, members, worth, chosen)
    return [int(item) for item in chosen]


BLOCK = 256
"""So many numbers are added up with the precision that they have."""


@compiled
def _sink(heap: Any, bounds: Any, place: int, size: int) -> None:
    """Let an entry of the heap sink to where it belongs: largest bound first, then smallest number."""
    item = heap[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            left, right = heap[child], heap[child + 1]
            if bounds[right] > bounds[left] or (bounds[right] == bounds[left] and right < left):
                child += 1
        below = heap[child]
        if bounds[below] < bounds[item] or (bounds[below] == bounds[item] and below > item):
            break
        heap[place] = below
        place = child
    heap[place] = item


@compiled_sums
def _facility_gain(row: Any, covered: Any) -> Any:
    """Σ max(row − covered, 0)."""
    total = 0.0
    for first in range(0, row.size, BLOCK):
        part: Any = np.float32(0)
        for cell in range(first, min(first + BLOCK, row.size)):
            more = row[cell] - covered[cell]
            part += more if more > 0 else np.float32(0)
        total += part
    return total


@compiled
def _lazy_facilities(rows: Any, chosen: Any) -> None:
    """Fill `chosen`. Rounding is monotone, so what was gained before stays a bound."""
    covered = np.zeros(rows.shape[1], dtype=rows.dtype)
    size = rows.shape[0]
    heap, bounds = np.arange(size), np.empty(size)
    for item in range(size):
        bounds[item] = _facility_gain(rows[item], covered)
    for place in range(size // 2 - 1, -1, -1):
        _sink(heap, bounds, place, size)
    for pick in range(chosen.size):
        while True:
            item = heap[0]
            gain = _facility_gain(rows[item], covered)
            if gain == bounds[item]:
                break
            bounds[item] = gain
            _sink(heap, bounds, 0, size)
        chosen[pick] = item
        covered = np.maximum(covered, rows[item])
        size -= 1
        heap[0] = heap[size]
        _sink(heap, bounds, 0, size)


@compiled_sums
def _uncovered(left: Any, members: Any, first: int, last: int) -> float:
    """What the members from first to last would add."""
    total = 0.0
    for place in range(first, last):
        total += left[members[place]]
    return total


@compiled
def _lazy_coverage(starts: Any, members: Any, weights: Any, chosen: Any) -> None:
    """The same for what is not yet covered."""
    left = weights.copy()
    size = starts.size - 1
    heap, bounds = np.arange(size), (starts[1:] - starts[:-1]) * weights.max()
    for place in range(size // 2 - 1, -1, -1):
        _sink(heap, bounds, place, size)
    for pick in range(chosen.size):
        while True:
            item = heap[0]
            gain = _uncovered(left, members, starts[item], starts[item + 1])
            if gain == bounds[item]:
                break
            bounds[item] = gain
            _sink(heap, bounds, 0, size)
        chosen[pick] = item
        for place in range(starts[item], starts[item + 1]):
            left[members[place]] = 0.0
        size -= 1
        heap[0] = heap[size]
        _sink(heap, bounds, 0, size)


@compiled
def _facility_gains(rows: Any, items: Any, covered: Any, gains: Any) -> None:
    for place in range(items.size):
        gains[place] = _facility_gain(rows[items[place]], covered)


@compiled_sums
def _click_gains(rows: Any, items: Any, left: Any, gains: Any) -> None:
    for place in range(items.size):
        total = 0.0
        row = rows[items[place]]
        for cell in range(row.size):
            total += row[cell] * left[cell]
        gains[place] = total


@compiled_sums
def _facility_changes(rows: Any, best: Any, second: Any, owner: Any, changes: Any) -> None:
    """How the value changes if an item (row) replaces the owner (column) of some cells.

    An item adds what it is worth above the best, whoever goes. Where the owner goes, the item or the second
    takes over, up to the best.
    """
    for item in range(rows.shape[0]):
        more = 0.0
        for cell in range(rows.shape[1]):
            worth = rows[item, cell]
            if worth > best[cell]:
                more += worth - best[cell]
            else:
                changes[item, owner[cell]] += max(worth, second[cell]) - best[cell]
        for slot in range(changes.shape[1]):
            changes[item, slot] += more
