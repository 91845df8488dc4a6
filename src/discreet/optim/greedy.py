"""Noise-free greedy, lazily, and swaps after it: for public weights, released histograms and
baselines.

    lazy_greedy            any gains, any constraint: what was gained before bounds what is gained now
    improved_by_swaps      one item for another, as long as that helps
    choose_facilities      greedy and swaps for Σ weight · max over the chosen of a worth

Values are monotone and submodular: gains are not negative and fall as more is chosen, so most need
never be looked at again. All algorithms choose what plain greedy would, of equal items the one with
the smaller number. Everything here is public or released. Kernels are compiled: import this where
it is used.

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
"""A swap must gain this part of the value: less is rounding, and could go in circles."""


def lazy_greedy(
    gains_of: Gains, constraint: Constraint, *, chosen: Sequence[int] = (), price: Price = "density"
) -> list[int]:
    """Add what gains most, until nothing more fits; the items in the order of choice.

    Under a knapsack gains are compared after multiplication with `factors(price)`.

    >>> from discreet.optim.matroids import UniformMatroid
    >>> worths = np.array([[5.0, 4.0, 0.0], [0.0, 4.0, 3.0]])
    >>> def gains_of(chosen, items):
    ...     return np.maximum(worths[:, items] - worths[:, chosen].max(axis=1, initial=0)[:, None], 0).sum(0)
    >>> lazy_greedy(gains_of, UniformMatroid(items=3, rank=2))
    [1, 0]
    """
    found = list(chosen)
    allowed = constraint.extensions(found)
    factors = (
        constraint.factors(price) if isinstance(constraint, Priced) else np.ones(constraint.items)
    )
    items = np.flatnonzero(allowed)
    if not len(items):
        return found
    scores = np.asarray(gains_of(found, items)) * factors[items]
    heap = [
        (-score, item, len(found))
        for score, item in zip(scores.tolist(), items.tolist(), strict=True)
    ]
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
    """Swap one chosen item for another, the best swap first, until none helps or `limit` swaps are
    made.

    What then still fits is added. The value never falls. `changes_of` tells all swaps at once,
    where there is a faster way than asking for all gains without each of the chosen items.

    >>> from discreet.optim.matroids import UniformMatroid
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
    """A set of large Σ over cells of weight · max over its items of their worth in that cell.

    `worths` has a row a cell and a column an item; worths and weights below 0 count as 0, as noise
    may have them. Greedy, also from the best single item under a knapsack, then at most `limit`
    swaps.

    >>> from discreet.optim.matroids import UniformMatroid
    >>> choose_facilities([[5, 4, 0], [0, 4, 5]], [1.0, 1.0], UniformMatroid(items=3, rank=2))
    [0, 2]
    """
    table, counts = _histogram(worths, weights, constraint)
    # A weight that is not negative goes inside the maximum.
    rows = (np.maximum(table, 0.0) * counts[:, None]).T
    return _chosen(_Facilities(rows), constraint, price, limit)


def _histogram(
    worths: ArrayLike, weights: ArrayLike, constraint: Constraint
) -> tuple[Floats, Floats]:
    table, counts = np.asarray(worths, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if table.ndim != 2 or table.shape != (*counts.shape, constraint.items):
        rule = (
            f"a row for each of the weights and a column for each of the {constraint.items} items"
        )
        raise ConfigError(f"worths must have {rule}, got {table.shape} and {counts.shape}")
    if not (np.isfinite(table).all() and np.isfinite(counts).all()):
        raise ConfigError("worths and weights must be finite numbers")
    return table, np.maximum(counts, 0.0)


def _chosen(
    objective: "_Facilities", constraint: Constraint, price: Price, limit: int
) -> list[int]:
    starts: list[list[int]] = [[]]
    if isinstance(
        constraint, Priced
    ):  # the best for its price may keep out one that is worth more than all
        alone = objective.gains([], np.arange(constraint.items))
        starts.append([int(np.argmax(np.where(constraint.extensions([]), alone, -1.0)))])
    ends = [lazy_greedy(objective.gains, constraint, chosen=start, price=price) for start in starts]
    best = max(ends, key=lambda end: _value(objective.gains, end))
    return sorted(
        improved_by_swaps(
            objective.gains, constraint, best, limit=limit, changes_of=objective.changes
        )
    )


class _Facilities:
    """Every cell uses its best item; a row per item has its worths times weights, a column per
    cell.
    """

    def __init__(self, rows: Floats) -> None:
        self._rows = np.ascontiguousarray(rows)
        self._newest: tuple[list[int], Floats] | None = None

    def _covered(self, chosen: list[int]) -> Floats:
        """What the chosen items cover of each cell: lazy greedy asks often about the same items."""
        if self._newest is None or self._newest[0] != chosen:
            self._newest = list(chosen), np.asarray(self._rows[chosen].max(axis=0, initial=0.0))
        return self._newest[1]

    def gains(self, chosen: list[int], items: Integers) -> Floats:
        gains = np.empty(len(items))
        _facility_gains(self._rows, items, self._covered(chosen), gains)
        return gains

    def changes(self, chosen: list[int]) -> Floats:
        held = np.vstack([self._rows[chosen], np.zeros(self._rows.shape[1])])
        second, best = np.partition(held, len(chosen) - 1, axis=0)[-2:]
        changes = np.zeros(
            (len(self._rows), len(chosen) + 1)
        )  # the last is for cells that nobody covers
        _facility_changes(self._rows, best, second, np.argmax(held, axis=0), changes)
        return changes[:, :-1].T.copy()


@compiled_sums
def _facility_gains(rows: Floats, items: Integers, covered: Floats, gains: Floats) -> None:
    """Σ max(row − covered, 0) of each item's row."""
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
    """How the value changes if an item (row) replaces the owner (column) of some cells.

    An item adds what it is worth above the best, whoever goes. Where the owner goes, the item or
    the second takes over, up to the best.
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
