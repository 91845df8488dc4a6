"""Greedy algorithms without noise, and local search by swaps, on public or released values.

    lazy_greedy            any gains, any constraint: earlier gains bound later ones
    improved_by_swaps      replaces one item by another, as long as that helps
    choose_facilities      greedy and swaps for Σ weight · max over the chosen of a worth

Values are monotone and submodular: gains are not negative and fall as more items are chosen, so
most gains are computed once. All algorithms choose what plain greedy would; among equal items the
smaller number wins. Kernels are compiled: import this module where it is used.

Runtime     lazy greedy: items + a few times the number of picks evaluations, and a heap
References  Nemhauser, Wolsey, Fisher (1978); Minoux (1978), "Accelerated greedy algorithms"
            Schubert, Rousseeuw (2019), "Faster k-medoids clustering" (all swaps in one pass)
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heapreplace

import numpy as np
from numpy.typing import ArrayLike

from discreet import require
from discreet.arrays import Floats, Integers
from discreet.compiled import compiled_sums
from discreet.errors import ConfigError
from discreet.optim.constraints import Constraint, Price, Priced

Gains = Callable[[list[int], Integers], Floats]
"""gains_of(chosen, items): what each of the items adds to the chosen ones."""
Changes = Callable[[list[int]], Floats]
"""changes_of(chosen): how the value changes if an item (column) replaces a chosen one (row)."""

WORTHWHILE = 1e-9
"""Least gain of a swap, as a share of the value: less is rounding, and could cycle."""


def lazy_greedy(
    gains_of: Gains, constraint: Constraint, *, chosen: Sequence[int] = (), price: Price = "density"
) -> list[int]:
    """Return the items of a greedy choice, in order: the largest gain first, while something fits.

    Under a knapsack gains are compared after multiplication by `factors(price)`.

    >>> from discreet.optim.matroids import UniformMatroid
    >>> worths = np.array([[5.0, 4.0, 0.0], [0.0, 4.0, 3.0]])
    >>> def gains_of(chosen, items):
    ...     covered = worths[:, chosen].max(axis=1, initial=0)
    ...     return np.maximum(worths[:, items] - covered[:, None], 0).sum(0)
    >>> lazy_greedy(gains_of, UniformMatroid(items=3, rank=2))
    [1, 0]
    """
    picks = list(chosen)
    allowed = constraint.extensions(picks)
    factors = _factors(constraint, price)
    items = np.flatnonzero(allowed)
    if not len(items):
        return picks
    scores = np.asarray(gains_of(picks, items)) * factors[items]
    # Entries are (−score, item, number of picks when the score was computed).
    heap = [
        (-score, item, len(picks))
        for score, item in zip(scores.tolist(), items.tolist(), strict=True)
    ]
    heapify(heap)
    while heap:
        _, item, computed_at = heap[0]
        if not allowed[item]:
            heappop(heap)
        elif computed_at == len(picks):
            heappop(heap)
            picks.append(item)
            allowed = constraint.extensions(picks)
        else:
            gain = float(gains_of(picks, np.array([item]))[0])
            heapreplace(heap, (-gain * float(factors[item]), item, len(picks)))
    return picks


def improved_by_swaps(
    gains_of: Gains,
    constraint: Constraint,
    chosen: Sequence[int],
    *,
    limit: int = 100,
    changes_of: Changes | None = None,
) -> list[int]:
    """Replace one chosen item by another, the best swap first, until none helps; return the items.

    At most `limit` swaps are made, items that still fit are added, and the value never falls.
    `changes_of` computes all swaps at once, where there is a faster way than by all gains without
    each of the chosen items.

    >>> from discreet.optim.matroids import UniformMatroid
    >>> worths = np.array([[5.0, 4.0, 0.0], [0.0, 4.0, 5.0]])
    >>> def gains_of(chosen, items):
    ...     covered = worths[:, chosen].max(axis=1, initial=0)
    ...     return np.maximum(worths[:, items] - covered[:, None], 0).sum(0)
    >>> improved_by_swaps(gains_of, UniformMatroid(items=3, rank=2), [1, 0])
    [2, 0]
    """
    items = constraint.items
    picks = lazy_greedy(gains_of, constraint, chosen=chosen)
    least = WORTHWHILE * _value(gains_of, picks)
    for _ in range(require.whole("limit", limit, 0)):
        changes = changes_of(picks) if changes_of else _changes(gains_of, picks, items)
        for slot in range(len(picks)):
            allowed = constraint.extensions(picks[:slot] + picks[slot + 1 :])
            allowed[picks] = False
            changes[slot, ~allowed] = -np.inf
        best = int(np.argmax(changes))
        if changes.flat[best] <= least:
            break
        slot, item = divmod(best, items)
        picks[slot] = item
        picks = lazy_greedy(gains_of, constraint, chosen=picks)  # under a knapsack more may fit now
    return picks


def _factors(constraint: Constraint, price: Price) -> Floats:
    """Return the factor of each item's gain, 1 where items have no price."""
    if isinstance(constraint, Priced):
        return constraint.factors(price)
    return np.ones(constraint.items)


def _changes(gains_of: Gains, chosen: list[int], items: int) -> Floats:
    """Return how the value changes if an item (column) replaces a chosen one (row)."""
    changes = np.empty((len(chosen), items))
    for slot, item in enumerate(chosen):
        gains = np.asarray(gains_of(chosen[:slot] + chosen[slot + 1 :], np.arange(items)))
        changes[slot] = gains - gains[item]
    return changes


def _value(gains_of: Gains, chosen: list[int]) -> float:
    """Return the value of the chosen items: the sum of their gains one after the other."""
    return sum(
        float(gains_of(chosen[:place], np.array([item]))[0]) for place, item in enumerate(chosen)
    )


def choose_facilities(
    worths: ArrayLike,
    weights: ArrayLike,
    constraint: Constraint,
    *,
    price: Price = "density",
    limit: int = 100,
) -> list[int]:
    """Return a set of large Σ over cells of weight · max over its items of their worth in the cell.

    `worths` has one row per cell and one column per item. Worths and weights below 0, which noise
    may cause, count as 0. The algorithm is greedy, under a knapsack also from the best single item,
    and then makes at most `limit` swaps.

    >>> from discreet.optim.matroids import UniformMatroid
    >>> choose_facilities([[5, 4, 0], [0, 4, 5]], [1.0, 1.0], UniformMatroid(items=3, rank=2))
    [0, 2]
    """
    table, counts = _histogram(worths, weights, constraint)
    # A weight that is not negative goes inside the maximum.
    rows = (np.maximum(table, 0.0) * counts[:, None]).T
    return _greedy_and_swaps(_Facilities(rows), constraint, price, limit)


def _histogram(
    worths: ArrayLike, weights: ArrayLike, constraint: Constraint
) -> tuple[Floats, Floats]:
    """Return the checked table of worths, and the weights clipped at 0."""
    table = np.asarray(worths, dtype=np.float64)
    counts = np.asarray(weights, dtype=np.float64)
    if table.ndim != 2 or table.shape != (*counts.shape, constraint.items):
        rule = f"one row per weight and one column for each of the {constraint.items} items"
        raise ConfigError(f"worths must have {rule}, got {table.shape} and {counts.shape}")
    if not (np.isfinite(table).all() and np.isfinite(counts).all()):
        raise ConfigError("worths and weights must be finite numbers")
    return table, np.maximum(counts, 0.0)


def _greedy_and_swaps(
    objective: "_Facilities", constraint: Constraint, price: Price, limit: int
) -> list[int]:
    """Return the better of two greedy sets, from nothing and from one item, improved by swaps."""
    gains_of = objective.gains
    starts: list[list[int]] = [[]]
    if isinstance(constraint, Priced):
        # The best item for its price may exclude a single item that is worth more than all others.
        alone = gains_of([], np.arange(constraint.items))
        starts.append([int(np.argmax(np.where(constraint.extensions([]), alone, -1.0)))])
    ends = [lazy_greedy(gains_of, constraint, chosen=start, price=price) for start in starts]
    best = max(ends, key=lambda end: _value(gains_of, end))
    improved = improved_by_swaps(
        gains_of, constraint, best, limit=limit, changes_of=objective.changes
    )
    return sorted(improved)


class _Facilities:
    """Value of sets where every cell uses its best item; rows are items, columns are cells.

    Entries are worths times weights.
    """

    def __init__(self, rows: Floats) -> None:
        self._rows = np.ascontiguousarray(rows)
        self._newest: tuple[list[int], Floats] | None = None

    def _covered(self, chosen: list[int]) -> Floats:
        """Return the largest entry of the chosen items per cell, cached for repeated calls."""
        if self._newest is None or self._newest[0] != chosen:
            self._newest = list(chosen), np.asarray(self._rows[chosen].max(axis=0, initial=0.0))
        return self._newest[1]

    def gains(self, chosen: list[int], items: Integers) -> Floats:
        """Return what each of the items adds to the chosen ones."""
        gains = np.empty(len(items))
        _facility_gains(self._rows, items, self._covered(chosen), gains)
        return gains

    def changes(self, chosen: list[int]) -> Floats:
        """Return how the value changes if an item (column) replaces a chosen one (row)."""
        # The last row stands for cells that no chosen item covers.
        held = np.vstack([self._rows[chosen], np.zeros(self._rows.shape[1])])
        second, best = np.partition(held, len(chosen) - 1, axis=0)[-2:]
        owner = np.argmax(held, axis=0)
        changes = np.zeros((len(self._rows), len(chosen) + 1))
        _facility_changes(self._rows, best, second, owner, changes)
        return changes[:, :-1].T.copy()


@compiled_sums
def _facility_gains(rows: Floats, items: Integers, covered: Floats, gains: Floats) -> None:
    """Write Σ max(row − covered, 0) for each item's row."""
    for place in range(items.size):
        row, total = rows[items[place]], 0.0
        for cell in range(row.size):
            more = row[cell] - covered[cell]
            total += more if more > 0 else 0.0
        gains[place] = total


@compiled_sums
def _facility_changes(
    rows: Floats, best: Floats, second: Floats, owner: Integers, changes: Floats
) -> None:
    """Write how the value changes if an item (row) replaces the owner (column) of some cells.

    An item adds its worth above the best, whichever item it replaces. Where the owner is replaced,
    the item or the second best takes over, up to the best.
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
