"""From points to sets, by public coins: what is drawn has the point as its mean.

    swap_rounded        a mixture of bases of any matroid; two bases at a time exchange items until they agree
    rounded_point       a point of any matroid; under quotas two items at a time move against each other, of
                        other matroids a mixture of bases over the point is rounded and thinned out
    rounded_knapsack    a point under budgets; items move against each other so that no cost changes

Each step is a fair bet: a number that may go up by `rise` or down by `fall` goes up with
probability fall / (rise + fall). So every item is chosen with exactly the probability that the
point says (of knapsacks: at most), and for one budget or quota the expected value of a submodular
function is no less than that of choosing independently, because two numbers that move against each
other are never both raised.

Guarantee   public coins and released values only: post-processing as far as privacy goes
References  Chekuri, Vondrák, Zenklusen (2010), "Dependent randomized rounding via exchange properties"
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
from discreet.optim.knapsack import Knapsack
from discreet.optim.matroids import (
    GraphicMatroid,
    LaminarMatroid,
    OracleMatroid,
    PartitionMatroid,
    UniformMatroid,
)

Matroid = UniformMatroid | PartitionMatroid | LaminarMatroid | GraphicMatroid | OracleMatroid
CLOSED = 1e-12
"""A number so near to 0 or 1 is that."""


class Tossed(Protocol):
    """A public coin: `Coin`, or anything else with numbers in [0, 1)."""

    def uniform(self) -> float:
        """A number in [0, 1)."""


def swap_rounded(
    matroid: Constraint, bases: Sequence[Sequence[int]], weights: Sequence[float], coin: Tossed
) -> list[int]:
    """A basis that holds each item with the probability Σ of the weights of the bases that hold it.

    At most (bases − 1) · rank tosses. Each asks once what can be added and at most `rank` times
    what is feasible, except where groups tell.

    >>> from discreet.optim.matroids import UniformMatroid
    >>> from discreet.engine.coins import Coin
    >>> slate, coin = UniformMatroid(items=4, rank=2), Coin(b"sixteen byte key", round=7)
    >>> swap_rounded(slate, [[0, 1], [1, 2], [1, 3]], [0.5, 0.25, 0.25], coin)
    [0, 1]
    """
    total = float(sum(weights))
    if len(bases) != len(weights) or not bases or min(weights) < 0 or abs(total - 1) > TOLERANCE:
        raise ConfigError("weights must be one a basis, not negative, and add up to 1")
    for basis in bases:
        if len(basis) != matroid.rank or not matroid.contains(basis):
            raise ConfigError(
                f"bases must be feasible sets of {matroid.rank} items, got "
                f"{require.shown(list(basis))}"
            )
    merged, held = set[int](), 0.0
    for basis, weight in zip(bases, weights, strict=True):
        if weight > 0:
            merged = (
                _merged(matroid, merged, set(basis), held / (held + weight), coin)
                if held
                else set(basis)
            )
            held += weight
    return sorted(merged)


def _merged(
    matroid: Constraint, first: set[int], second: set[int], share: float, coin: Tossed
) -> set[int]:
    """One basis for two: where they differ the first one's item stays with probability `share`."""
    others = sorted(second - first)
    for mine in sorted(first - second):
        theirs = _partner(matroid, first, second, mine, others)
        others.remove(theirs)
        if coin.uniform() < share:
            second = second - {theirs} | {mine}
        else:
            first = first - {mine} | {theirs}
    return first


def _partner(
    matroid: Constraint, first: set[int], second: set[int], mine: int, others: list[int]
) -> int:
    """One of the others, in the second basis only, that can change places with `mine`."""
    if isinstance(matroid, UniformMatroid):
        return others[0]
    if isinstance(matroid, PartitionMatroid):
        return next(item for item in others if matroid.groups[item] == matroid.groups[mine])
    fits_mine = matroid.extensions(sorted(first - {mine}))
    for theirs in others:
        if fits_mine[theirs] and matroid.contains([*(second - {theirs}), mine]):
            return theirs
    raise ConfigError(
        "these sets are no bases of a matroid: an item of one has no partner in the other"
    )


def rounded_point(matroid: Matroid, point: Floats, coin: Tossed) -> list[int]:
    """A feasible set that holds each item with the probability that the point says.

    Of each set with a quota it has as many items as the set's sum, rounded up or down, at one toss
    for every number strictly between 0 and 1. Graphic and other matroids take linear programs, as
    `is_inside` does.

    >>> class Fixed:
    ...     def uniform(self) -> float:
    ...         return 0.4
    >>> from discreet.optim.matroids import UniformMatroid
    >>> rounded_point(UniformMatroid(items=3, rank=2), np.array([0.5, 1.0, 0.5]), Fixed())
    [0, 1]
    """
    found = _inside(matroid, point)
    if isinstance(matroid, UniformMatroid | PartitionMatroid | LaminarMatroid):
        return _within_quotas(matroid, found, coin)
    if not found.any():
        return []
    cover = largest_cover(matroid, found)
    basis = swap_rounded(matroid, cover.bases, cover.shares, coin)
    covered = np.zeros(matroid.items)
    for other, share in zip(cover.bases, cover.shares, strict=True):
        covered[other] += share
    # Thinned out by independent coins: what is left has the point as its mean, and no less
    # submodular value
    # than independent choices, for thinning leaves a submodular function submodular.
    return [item for item in basis if coin.uniform() < found[item] / covered[item]]


def _within_quotas(
    matroid: UniformMatroid | PartitionMatroid | LaminarMatroid, found: Floats, coin: Tossed
) -> list[int]:
    """The narrowest sets first: what is left between 0 and 1 goes on to the set around."""
    chosen: dict[int, list[int]] = {}
    left: dict[int, list[int]] = {}
    for place, nest in matroid.nests.items():
        open_items = nest.own.tolist() + [item for other in nest.inside for item in left.pop(other)]
        numbers = found[open_items].tolist()
        waiting = _settle(numbers, [1.0] * len(numbers), coin)
        members = [item for item, number in zip(open_items, numbers, strict=True) if number == 1.0]
        members += [item for other in nest.inside for item in chosen.pop(other)]
        chosen[place], left[place] = members, []
        if waiting is not None and len(members) < nest.quota:
            item = open_items[waiting]
            found[item] = numbers[waiting]
            if not nest.outermost:
                left[place].append(item)
            elif coin.uniform() < found[item]:
                members.append(item)
    alone = [item for item in matroid.free.tolist() if coin.uniform() < found[item]]
    return sorted(alone + [item for members in chosen.values() for item in members])


def rounded_knapsack(knapsack: Knapsack, point: Floats, coin: Tossed) -> list[int]:
    """A set that fits, and holds each item with at most the probability that the point says.

    With r budgets, r + 1 items at a time move so that no cost changes, until at most r of them are
    neither in nor out. Of these each is tossed for if it still fits and left out otherwise: fewer
    than r items are lost in expectation, none if the point leaves room for the r dearest. For
    several budgets the expected value of a submodular function may be less than that of choosing
    independently.

    >>> class Fixed:
    ...     def uniform(self) -> float:
    ...         return 0.4
    >>> rounded_knapsack(Knapsack(costs=(2.0, 1.0, 1.0), budget=2.0), np.array([0.5, 0.5, 0.5]), Fixed())
    [0]
    """
    found = _inside(knapsack, point)
    if len(knapsack.shares) == 1:
        numbers = found.tolist()
        last = _settle(numbers, knapsack.shares[0].tolist(), coin)
        waiting, found = [] if last is None else [last], np.array(numbers)
    else:
        waiting = _settle_together(found, knapsack.shares, coin)
    chosen = np.flatnonzero(found == 1.0).tolist()
    while not knapsack.contains(chosen):  # by a rounding error
        chosen.pop()
    for item in waiting:
        if knapsack.contains([*chosen, item]) and coin.uniform() < found[item]:
            chosen.append(item)
    return sorted(chosen)


def _inside(domain: Matroid | Knapsack, point: Floats) -> Floats:
    """A copy of the point, which must belong to the domain."""
    point = np.array(point, dtype=np.float64)
    if point.shape != (domain.items,) or not domain.is_inside(point):
        raise ConfigError(
            f"only points of the domain can be rounded: {domain.items} numbers that fit"
        )
    point[point < CLOSED] = 0.0
    point[point > 1 - CLOSED] = 1.0
    return point


def _settle(numbers: list[float], costs: list[float], coin: Tossed) -> int | None:
    """Move two numbers at a time, in place, until at most one is neither 0 nor 1: its place, or
    None.
    """
    waiting = None
    for place, number in enumerate(numbers):
        if number in (0.0, 1.0):
            continue
        if waiting is None:
            waiting = place
            continue
        pair = _against(numbers[waiting], number, costs[waiting], costs[place], coin)
        numbers[waiting], numbers[place] = pair
        if pair[0] in (0.0, 1.0):
            waiting = None if pair[1] in (0.0, 1.0) else place
    return waiting


def _against(
    here: float, there: float, here_cost: float, there_cost: float, coin: Tossed
) -> list[float]:
    """Two numbers moved against each other at no cost, until one of them is 0 or 1; the means
    stay.
    """
    forth, back = (there_cost, here_cost) if here_cost or there_cost else (1.0, 1.0)
    rise = min((1 - here) / forth if forth else inf, there / back if back else inf)
    fall = min(here / forth if forth else inf, (1 - there) / back if back else inf)
    step = rise if coin.uniform() < fall / (rise + fall) else -fall
    return [_closed(here + step * forth), _closed(there - step * back)]


def _closed(number: float) -> float:
    return 0.0 if number < CLOSED else 1.0 if number > 1 - CLOSED else number


def _settle_together(numbers: Floats, shares: Floats, coin: Tossed) -> list[int]:
    """The same for r rows of shares: r + 1 numbers at a time, until at most r are neither 0 nor
    1.
    """
    waiting: list[int] = []
    for item in np.flatnonzero((numbers > 0) & (numbers < 1)).tolist():
        waiting.append(item)
        if len(waiting) > len(shares):
            direction = np.linalg.svd(shares[:, waiting])[2][-1]  # in which no cost changes
            moved = _moved(numbers[waiting], direction, coin)
            numbers[waiting] = moved
            waiting = [
                place for place, number in zip(waiting, moved, strict=True) if 0 < number < 1
            ]
    return waiting


def _moved(numbers: Floats, direction: Floats, coin: Tossed) -> list[float]:
    """Along the direction or against it, until a number is 0 or 1; the means stay."""
    sizes = np.maximum(np.abs(direction), 1e-300)
    ahead = np.where(direction > 0, 1 - numbers, numbers) / sizes
    behind = np.where(direction > 0, numbers, 1 - numbers) / sizes
    rise, fall = float(ahead.min()), float(behind.min())
    step = rise if coin.uniform() < fall / (rise + fall) else -fall
    return [_closed(number) for number in (numbers + step * direction).tolist()]
