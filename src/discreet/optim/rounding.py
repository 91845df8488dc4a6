"""Randomised rounding: from points to sets by public coins, with the point as the mean.

    swap_rounded        a mixture of bases of any matroid: two bases exchange items until they agree
    rounded_point       a point of any matroid: under quotas two items trade at a time; for other
                        matroids a mixture of bases that covers the point is rounded and thinned
    rounded_knapsack    a point under budgets: items trade so that no cost changes

Each step is a fair bet: a number that may rise by `rise` or fall by `fall` rises with probability
fall / (rise + fall). So every item is chosen with exactly the probability of the point (for
knapsacks: at most). For one budget or quota the expected value of a submodular function is no less
than that of independent choices, because two numbers that trade are never both raised.

Guarantee   public coins and released values only: post-processing for privacy
References  Chekuri, Vondrák, Zenklusen (2010), "Dependent randomized rounding via exchange
            properties"
            Gandhi, Khuller, Parthasarathy, Srinivasan (2006), "Dependent rounding"
"""

from collections.abc import Sequence
from math import inf
from typing import Protocol

import numpy as np

from discreet import require
from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.optim.constraints import TOLERANCE, Constraint, largest_cover
from discreet.optim.general_matroids import GraphicMatroid, OracleMatroid
from discreet.optim.knapsack import Knapsack
from discreet.optim.matroids import LaminarMatroid, PartitionMatroid, UniformMatroid

Matroid = UniformMatroid | PartitionMatroid | LaminarMatroid | GraphicMatroid | OracleMatroid
CLOSED = 1e-12
"""Distance from 0 or 1 below which a number is rounded to it."""


class UniformCoin(Protocol):
    """A public coin: `Coin`, or any other source of numbers in [0, 1)."""

    def uniform(self) -> float:
        """Return a number in [0, 1)."""


def swap_rounded(
    matroid: Constraint, bases: Sequence[Sequence[int]], weights: Sequence[float], coin: UniformCoin
) -> list[int]:
    """Return a random basis with the mixture Σ weight · basis as its mean.

    It holds each item with probability Σ of the weights of the bases that hold it. There are at
    most (bases − 1) · rank tosses. Each calls `extensions` once and `contains` at most
    `rank` times, except where groups determine the partner.

    >>> from discreet.optim.matroids import UniformMatroid
    >>> from discreet.engine.coins import Coin
    >>> slate, coin = UniformMatroid(items=4, rank=2), Coin(b"sixteen byte key", round=7)
    >>> swap_rounded(slate, [[0, 1], [1, 2], [1, 3]], [0.5, 0.25, 0.25], coin)
    [0, 1]
    """
    total = float(sum(weights))
    if len(bases) != len(weights) or not bases or min(weights) < 0 or abs(total - 1) > TOLERANCE:
        raise ConfigError("weights must be one per basis, not negative, and add up to 1")
    for basis in bases:
        if len(basis) != matroid.rank or not matroid.contains(basis):
            raise ConfigError(
                f"bases must be feasible sets of {matroid.rank} items, got "
                f"{require.shown(list(basis))}"
            )
    merged: set[int] = set()
    merged_weight = 0.0
    for basis, weight in zip(bases, weights, strict=True):
        if not weight > 0:
            continue
        if merged_weight:
            share = merged_weight / (merged_weight + weight)
            merged = _merged(matroid, merged, set(basis), share, coin)
        else:
            merged = set(basis)
        merged_weight += weight
    return sorted(merged)


def _merged(
    matroid: Constraint, first: set[int], second: set[int], share: float, coin: UniformCoin
) -> set[int]:
    """Merge two bases; where they differ the first one's item stays with probability `share`."""
    candidates = sorted(second - first)
    for item in sorted(first - second):
        partner = _partner(matroid, first, second, item, candidates)
        candidates.remove(partner)
        if coin.uniform() < share:
            second = second - {partner} | {item}
        else:
            first = first - {item} | {partner}
    return first


def _partner(
    matroid: Constraint, first: set[int], second: set[int], item: int, candidates: list[int]
) -> int:
    """Return a candidate, in the second basis only, that can be exchanged for `item`."""
    if isinstance(matroid, UniformMatroid):
        return candidates[0]
    if isinstance(matroid, PartitionMatroid):
        groups = matroid.groups
        return next(partner for partner in candidates if groups[partner] == groups[item])
    fits_first = matroid.extensions(sorted(first - {item}))
    for partner in candidates:
        if fits_first[partner] and matroid.contains([*(second - {partner}), item]):
            return partner
    raise ConfigError(
        "these sets are no bases of a matroid: an item has no exchange partner, check the oracle"
    )


def rounded_point(matroid: Matroid, point: Floats, coin: UniformCoin) -> list[int]:
    """Return a feasible set that holds each item with the probability of the point.

    From each set with a quota it holds as many items as the set's sum, rounded up or down, at one
    toss per number strictly between 0 and 1. Graphic and oracle matroids need linear programs, as
    for `is_inside`.

    >>> class Fixed:
    ...     def uniform(self) -> float:
    ...         return 0.4
    >>> from discreet.optim.matroids import UniformMatroid
    >>> rounded_point(UniformMatroid(items=3, rank=2), np.array([0.5, 1.0, 0.5]), Fixed())
    [0, 1]
    """
    numbers = _checked_copy(matroid, point)
    if isinstance(matroid, UniformMatroid | PartitionMatroid | LaminarMatroid):
        return _within_quotas(matroid, numbers, coin)
    if not numbers.any():
        return []
    cover = largest_cover(matroid, numbers)
    basis = swap_rounded(matroid, cover.bases, cover.shares, coin)
    covered = np.zeros(matroid.items)
    for other, share in zip(cover.bases, cover.shares, strict=True):
        covered[other] += share
    # Thinning by independent coins makes the point the mean. The value of a submodular function is
    # no less than that of independent choices, because it stays submodular under thinning.
    return [item for item in basis if coin.uniform() < numbers[item] / covered[item]]


def _within_quotas(
    matroid: UniformMatroid | PartitionMatroid | LaminarMatroid,
    numbers: Floats,
    coin: UniformCoin,
) -> list[int]:
    """Return a rounded set under nested quotas, the narrowest sets first.

    An item that stays fractional in a set is passed on to the set around it.
    """
    chosen: dict[int, list[int]] = {}
    fractional: dict[int, list[int]] = {}
    for place, nest in matroid.nests.items():
        items = nest.own.tolist()
        items += [item for other in nest.inside for item in fractional.pop(other)]
        of_items = numbers[items].tolist()
        last = _settle(of_items, [1.0] * len(items), coin)
        members = [item for item, number in zip(items, of_items, strict=True) if number == 1.0]
        members += [item for other in nest.inside for item in chosen.pop(other)]
        chosen[place] = members
        fractional[place] = []
        if last is not None and len(members) < nest.quota:
            item = items[last]
            numbers[item] = of_items[last]
            if not nest.outermost:
                fractional[place].append(item)
            elif coin.uniform() < numbers[item]:
                members.append(item)
    alone = [item for item in matroid.free.tolist() if coin.uniform() < numbers[item]]
    return sorted(alone + [item for members in chosen.values() for item in members])


def rounded_knapsack(knapsack: Knapsack, point: Floats, coin: UniformCoin) -> list[int]:
    """Return a set that fits, and holds each item with at most the probability of the point.

    With r budgets, r + 1 items at a time trade so that no cost changes, until at most r items are
    fractional. Each of these is tossed for if it still fits, and left out otherwise: fewer than r
    items are lost in expectation, none if the point leaves room for the r items of largest cost.
    For several budgets the expected value of a submodular function may be less than that of
    independent choices.

    >>> class Fixed:
    ...     def uniform(self) -> float:
    ...         return 0.4
    >>> bag = Knapsack(costs=(2.0, 1.0, 1.0), budget=2.0)
    >>> rounded_knapsack(bag, np.array([0.5, 0.5, 0.5]), Fixed())
    [0]
    """
    numbers = _checked_copy(knapsack, point)
    if len(knapsack.shares) == 1:
        listed = numbers.tolist()
        last = _settle(listed, knapsack.shares[0].tolist(), coin)
        fractional = [] if last is None else [last]
        numbers = np.array(listed)
    else:
        fractional = _settle_together(numbers, knapsack.shares, coin)
    chosen = np.flatnonzero(numbers == 1.0).tolist()
    while not knapsack.contains(chosen):  # after a rounding error
        chosen.pop()
    for item in fractional:
        if knapsack.contains([*chosen, item]) and coin.uniform() < numbers[item]:
            chosen.append(item)
    return sorted(chosen)


def _checked_copy(domain: Matroid | Knapsack, point: Floats) -> Floats:
    """Return a copy of the point, which must belong to the domain."""
    point = np.array(point, dtype=np.float64)
    if point.shape != (domain.items,) or not domain.is_inside(point):
        raise ConfigError(
            f"only points of the domain can be rounded: {domain.items} numbers that satisfy it"
        )
    point[point < CLOSED] = 0.0
    point[point > 1 - CLOSED] = 1.0
    return point


def _settle(numbers: list[float], costs: list[float], coin: UniformCoin) -> int | None:
    """Trade two numbers at a time, in place, until at most one is fractional; return its place."""
    last = None
    for place, number in enumerate(numbers):
        if number in (0.0, 1.0):
            continue
        if last is None:
            last = place
            continue
        first, second = _traded(numbers[last], number, costs[last], costs[place], coin)
        numbers[last] = first
        numbers[place] = second
        if first in (0.0, 1.0):
            last = None if second in (0.0, 1.0) else place
    return last


def _traded(
    first: float, second: float, first_cost: float, second_cost: float, coin: UniformCoin
) -> tuple[float, float]:
    """Move two numbers in opposite directions at no cost until one is 0 or 1; the means stay."""
    # Per unit of the step the first rises by `up` and the second falls by `down`, at equal cost.
    up, down = (second_cost, first_cost) if first_cost or second_cost else (1.0, 1.0)
    rise = min((1 - first) / up if up else inf, second / down if down else inf)
    fall = min(first / up if up else inf, (1 - second) / down if down else inf)
    step = rise if coin.uniform() < fall / (rise + fall) else -fall
    return _closed(first + step * up), _closed(second - step * down)


def _closed(number: float) -> float:
    """Return 0 or 1 for a number that is almost that."""
    if number < CLOSED:
        return 0.0
    return 1.0 if number > 1 - CLOSED else number


def _settle_together(numbers: Floats, shares: Floats, coin: UniformCoin) -> list[int]:
    """Trade r + 1 numbers at a time for r budgets; return the fractional places, at most r."""
    fractional: list[int] = []
    for item in np.flatnonzero((numbers > 0) & (numbers < 1)).tolist():
        fractional.append(item)
        if len(fractional) > len(shares):
            direction = np.linalg.svd(shares[:, fractional])[2][-1]  # along which no cost changes
            moved = _moved(numbers[fractional], direction, coin)
            numbers[fractional] = moved
            pairs = zip(fractional, moved, strict=True)
            fractional = [place for place, number in pairs if 0 < number < 1]
    return fractional


def _moved(numbers: Floats, direction: Floats, coin: UniformCoin) -> list[float]:
    """Move along the direction or against it until a number is 0 or 1; the means stay."""
    sizes = np.maximum(np.abs(direction), 1e-300)
    ahead = np.where(direction > 0, 1 - numbers, numbers) / sizes
    behind = np.where(direction > 0, numbers, 1 - numbers) / sizes
    rise = float(ahead.min())
    fall = float(behind.min())
    step = rise if coin.uniform() < fall / (rise + fall) else -fall
    return [_closed(number) for number in (numbers + step * direction).tolist()]
