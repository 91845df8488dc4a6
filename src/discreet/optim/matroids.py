"""Matroids of quotas: on all items, on groups, on nested families of sets.

Feasible sets are closed downwards, and if |A| < |B| then some item of B can be added to A. So all
maximal sets (bases) have the same size, the rank, and greedy finds the basis of largest weight.
Among items of equal weight the smaller number is chosen.

Runtime     extensions O(items + rank), best O(items · log items)
References  Edmonds (1971), "Matroids and the greedy algorithm"
            Schrijver (2003), "Combinatorial Optimization", chapters 39 and 40
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discreet import require
from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import check_fields
from discreet.errors import ConfigError
from discreet.limits import MOST_CANDIDATES
from discreet.optim.constraints import (
    TOLERANCE,
    Constraint,
    are_items,
    finite_weights,
    indicator,
    largest_cover,
    onto_budget,
)


class BasisPolytope:
    """Points of a matroid: the mixtures of its bases, and all non-negative points below them."""

    @property
    def dimension(self: Constraint) -> int:
        """Number of coordinates of a point: one per item."""
        return self.items

    def vertex(self: Constraint, weights: Floats) -> Floats:
        """Return the best basis as a point of zeros and ones."""
        return indicator(self.best(weights), self.items)

    def is_inside(self: Constraint, point: Floats) -> bool:
        """Whether a mixture of bases covers the point, by linear programs; for small matroids."""
        if not _in_cube(point):
            return False
        if np.max(point) <= 0:
            return True
        return largest_cover(self, np.maximum(point, 0.0)).scale >= 1 - TOLERANCE


@dataclass(frozen=True, eq=False)
class _Tree:
    """Nested sets: the innermost set of each item, and the parent of each set.

    The last set stands for all items and has a quota that is never reached.
    """

    innermost: Integers
    parents: Integers
    quotas: Integers

    @classmethod
    def of_groups(cls, groups: Integers, quotas: Sequence[int]) -> "_Tree":
        """Return the tree of disjoint sets."""
        parents = np.full(len(quotas) + 1, len(quotas))
        return cls(groups, parents, np.array([*quotas, len(groups) + 1]))

    @cached_property
    def levels(self) -> list[Integers]:
        """The sets by depth, the widest first, without the last."""
        last = len(self.parents) - 1
        levels: list[Integers] = []
        level = np.array([last])
        remaining = np.arange(last)
        while len(remaining):
            is_inside = np.isin(self.parents[remaining], level)
            level = remaining[is_inside]
            remaining = remaining[~is_inside]
            levels.append(level)
        return levels

    def sums(self, chosen: list[int] | slice, numbers: Floats | None = None) -> np.ndarray:
        """Return the number of chosen items in each set, or the sum of their numbers."""
        sums = np.bincount(self.innermost[chosen], numbers, minlength=len(self.parents))
        for sets in reversed(self.levels):
            np.add.at(sums, self.parents[sets], sums[sets])
        return sums


class Nest(NamedTuple):
    """One of nested sets."""

    members: Integers
    """All items of the set."""
    own: Integers
    """The items that no narrower set holds."""
    inside: list[int]
    """The sets just inside this one."""
    quota: int
    outermost: bool
    """Whether no other set is around it."""


class _Nested(BasisPolytope):
    """Quotas on nested sets."""

    @cached_property
    def _tree(self) -> _Tree:
        """The nested sets."""
        raise NotImplementedError

    @cached_property
    def nests(self) -> dict[int, Nest]:
        """The sets by number, each after those inside it."""
        tree = self._tree
        last = len(tree.parents) - 1
        nests: dict[int, Nest] = {}
        for sets in reversed(tree.levels):
            for place in sets.tolist():
                own = np.flatnonzero(tree.innermost == place)
                inside = [other for other in nests if tree.parents[other] == place]
                of_inside = [nests[other].members for other in inside]
                members = np.sort(np.concatenate([own, *of_inside]))
                quota = int(tree.quotas[place])
                outermost = bool(tree.parents[place] == last)
                nests[place] = Nest(members, own, inside, quota, outermost)
        return nests

    @cached_property
    def free(self) -> Integers:
        """The items that are in no set."""
        return np.flatnonzero(self._tree.innermost == len(self._tree.parents) - 1)

    def extensions(self, chosen: Sequence[int]) -> Mask:
        """Return which items may be added to a feasible set."""
        tree = self._tree
        full = tree.sums(list(chosen)) >= tree.quotas
        for sets in tree.levels:  # an item cannot be added if any set around it is full
            full[sets] |= full[tree.parents[sets]]
        allowed = ~full[tree.innermost]
        allowed[list(chosen)] = False
        return allowed

    def contains(self, chosen: Sequence[int]) -> bool:
        """Whether these are different items that respect all quotas."""
        fine = are_items(chosen, len(self._tree.innermost))
        return fine and bool((self._tree.sums(list(chosen)) <= self._tree.quotas).all())

    def is_inside(self, point: Floats) -> bool:
        """Whether the point has 0 ≤ x ≤ 1 and no set is over its quota, up to rounding."""
        sums = self._tree.sums(np.s_[:], np.asarray(point))
        return _in_cube(point) and bool((sums <= self._tree.quotas * (1 + TOLERANCE)).all())

    def best(self, weights: Floats) -> list[int]:
        """Return the basis of largest weight, in ascending order."""
        tree = self._tree
        falling = by_falling_weight(weights, len(tree.innermost))
        within = tree.innermost[falling]
        for sets in reversed(tree.levels):  # the narrowest first: each retains its best items
            here = np.isin(within, sets)
            retained = ~here
            retained[here] = _leading(within[here], tree.quotas)
            within = np.where(here, tree.parents[within], within)[retained]
            falling = falling[retained]
        return sorted(falling.tolist())


class _Grouped(_Nested):
    """Quotas on disjoint sets: points are projected group by group."""

    @cached_property
    def parts(self) -> list[tuple[Integers, int]]:
        """The items of each group, and its quota."""
        tree = self._tree
        by_group = np.argsort(tree.innermost, kind="stable")
        ends = np.cumsum(np.bincount(tree.innermost, minlength=len(tree.parents)))
        members = np.split(by_group, ends)[: len(tree.parents) - 1]
        return list(zip(members, tree.quotas[:-1].tolist(), strict=True))

    def project(self, point: Floats) -> Floats:
        """Return the nearest point with 0 ≤ x ≤ 1 and no group over its quota."""
        nearest = np.clip(point, 0.0, 1.0)
        for part, quota in self.parts:
            if nearest[part].sum() > quota:
                ones = np.ones(len(part))
                nearest[part] = onto_budget(point[part], ones, quota, ones)
        return nearest


@dataclass(frozen=True)
class UniformMatroid(_Grouped):
    """At most `rank` of the items: {S : |S| ≤ rank}.

    Parameters
    ----------
    items
        Number of items.
    rank
        Largest size of a set.

    Examples
    --------
    >>> slate = UniformMatroid(items=4, rank=2)
    >>> slate.best(np.array([0.3, 0.9, 0.1, 0.4])), slate.extensions([1])
    ([1, 3], array([ True, False,  True,  True]))
    >>> slate.project(np.array([1.0, 0.75, 0.75, -1.0]))
    array([0.83333333, 0.58333333, 0.58333333, 0.        ])
    """

    items: int
    rank: int

    def __post_init__(self) -> None:
        check_fields(self)
        require.whole("items", self.items, 1, MOST_CANDIDATES)
        require.whole("rank", self.rank, 1, self.items)

    def contains(self, chosen: Sequence[int]) -> bool:
        """Whether these are at most `rank` different items."""
        return len(chosen) <= self.rank and are_items(chosen, self.items)

    @cached_property
    def _tree(self) -> _Tree:
        return _Tree.of_groups(np.zeros(self.items, dtype=np.int64), [self.rank])


@dataclass(frozen=True)
class PartitionMatroid(_Grouped):
    """A quota per group of items: {S : |S ∩ group g| ≤ quotas[g] for every g}.

    Parameters
    ----------
    groups
        The number of its group for every item, counted from 0.
    quotas
        One quota per group, at most the size of the group.

    Examples
    --------
    >>> shelves = PartitionMatroid(groups=(0, 0, 1, 1), quotas=(1, 1))
    >>> shelves.best(np.array([0.3, 0.9, 0.1, 0.4])), shelves.extensions([1])
    ([1, 3], array([False, False,  True,  True]))
    """

    groups: tuple[int, ...]
    quotas: tuple[int, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        require.whole("items", len(self.groups), 1, MOST_CANDIDATES)
        wrong = [group for group in self.groups if not 0 <= group < len(self.quotas)]
        if wrong:
            rule = f"the numbers of the {len(self.quotas)} quotas, counted from 0"
            raise ConfigError(f"groups must be {rule}, got {wrong[0]}")
        _check_quotas(self.quotas, np.bincount(self.groups, minlength=len(self.quotas)).tolist())
        if not self.rank:
            raise ConfigError("nothing can be chosen: all quotas are 0")

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.groups)

    @property
    def rank(self) -> int:
        """Size of every basis: the sum of the quotas."""
        return sum(self.quotas)

    @cached_property
    def _tree(self) -> _Tree:
        return _Tree.of_groups(np.array(self.groups, dtype=np.int64), self.quotas)


@dataclass(frozen=True)
class LaminarMatroid(_Nested):
    """A quota per set of a laminar family: {S : |S ∩ family[f]| ≤ quotas[f] for every f}.

    Any two sets of the family are nested or disjoint. Items in no set may always be chosen.

    Parameters
    ----------
    family
        Sets of items.
    quotas
        One quota per set, at most the size of the set.
    items
        Number of items.

    Examples
    --------
    >>> shop = LaminarMatroid(family=((0, 1, 2), (0, 1)), quotas=(2, 1), items=4)
    >>> shop.rank, shop.best(np.array([0.9, 0.8, 0.1, 0.4])), shop.extensions([0])
    (3, [0, 2, 3], array([False, False,  True,  True]))
    """

    family: tuple[tuple[int, ...], ...]
    quotas: tuple[int, ...]
    items: int

    def __post_init__(self) -> None:
        check_fields(self)
        require.whole("items", self.items, 1, MOST_CANDIDATES)
        for place, members in enumerate(self.family):
            if not members or not are_items(members, self.items):
                rule = f"different items from 0 to {self.items - 1}, at least one"
                raise ConfigError(f"family[{place}] must be {rule}, got {require.shown(members)}")
        _check_quotas(self.quotas, [len(members) for members in self.family])
        if not self.rank:
            raise ConfigError("nothing can be chosen: every item is in a set with a quota of 0")

    @cached_property
    def rank(self) -> int:
        """Size of every basis."""
        return len(self.best(np.zeros(self.items)))

    @cached_property
    def _tree(self) -> _Tree:
        around = len(self.family)
        innermost = np.full(self.items, around)
        parents = np.full(around + 1, around)
        # The widest first: a set that crosses no wider set has all its items in one innermost set.
        for place in sorted(range(around), key=lambda place: -len(self.family[place])):
            members = np.array(self.family[place])
            where = innermost[members]
            if (where != where[0]).any():
                crossed = max(where, key=lambda other: -1 if other == around else other)
                raise ConfigError(
                    f"the family is not laminar: family[{place}] crosses family[{crossed}]"
                )
            parents[place] = where[0]
            innermost[members] = place
        return _Tree(innermost, parents, np.array([*self.quotas, self.items + 1]))


def _in_cube(point: Floats) -> bool:
    return bool(np.min(point) >= -TOLERANCE and np.max(point) <= 1 + TOLERANCE)


def by_falling_weight(weights: ArrayLike, items: int) -> Integers:
    """Return the items from the largest weight to the smallest; ties go to the smaller number."""
    return np.argsort(-finite_weights(weights, items), kind="stable")


def _leading(groups: Integers, quotas: Integers) -> Mask:
    """Return which entries are among the first `quotas[g]` of their group g."""
    by_group = np.argsort(groups, kind="stable")
    together = groups[by_group]
    place = np.arange(len(groups)) - np.searchsorted(together, together)
    leading = np.empty(len(groups), dtype=np.bool_)
    leading[by_group] = place < quotas[together]
    return leading


def _check_quotas(quotas: Sequence[int], sizes: Sequence[int]) -> None:
    """Refuse quotas that are not one number per set, from 0 to the set's size."""
    if len(quotas) != len(sizes):
        raise ConfigError(f"quotas must be one per set, {len(sizes)}, got {len(quotas)}")
    for place, (quota, size) in enumerate(zip(quotas, sizes, strict=True)):
        require.whole(f"quotas[{place}]", quota, 0, size)
