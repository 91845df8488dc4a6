"""Matroids: quotas on all items, on groups, on nested families; forests of a graph; any oracle.

Feasible sets are closed downwards, and if |A| < |B| then some item of B can be added to A. So all
maximal sets (bases) have the same size, the rank, and greedy finds the basis of largest weight. Of
items with equal weights the smaller number is taken.

Runtime     extensions O(items + rank), best O(items · log items); `OracleMatroid`: one call an item
References  Edmonds (1971), "Matroids and the greedy algorithm"
            Schrijver (2003), "Combinatorial Optimization", chapters 39 and 40
"""

from collections.abc import Callable, Iterable, Sequence
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


class _Matroid:
    """What all matroids share."""

    @property
    def dimension(self: Constraint) -> int:
        """How many numbers a point has: one an item."""
        return self.items

    def vertex(self: Constraint, weights: Floats) -> Floats:
        """The best basis as zeros and ones."""
        return indicator(self.best(weights), self.items)

    def is_inside(self: Constraint, point: Floats) -> bool:
        """Whether the point lies under a mixture of bases: some linear programs, for small
        matroids.
        """
        if not _in_cube(point):
            return False
        return (
            bool(np.max(point) <= 0)
            or largest_cover(self, np.maximum(point, 0.0)).scale >= 1 - TOLERANCE
        )


@dataclass(frozen=True, eq=False)
class _Tree:
    """Nested sets: which one each item is in most narrowly, and which one is around each.

    The last set stands for all items and has a quota that nobody reaches.
    """

    innermost: Integers
    parents: Integers
    quotas: Integers

    @classmethod
    def of_groups(cls, groups: Integers, quotas: Sequence[int]) -> "_Tree":
        """Sets that share no item."""
        return cls(
            groups, np.full(len(quotas) + 1, len(quotas)), np.array([*quotas, len(groups) + 1])
        )

    @cached_property
    def levels(self) -> list[Integers]:
        """The sets by depth, the widest first, without the last."""
        found, around = [], np.array([len(self.parents) - 1])
        others = np.arange(len(self.parents) - 1)
        while len(others):
            inside = np.isin(self.parents[others], around)
            around, others = others[inside], others[~inside]
            found.append(around)
        return found

    def sums(self, chosen: list[int] | slice, numbers: Floats | None = None) -> np.ndarray:
        """What is in each set: how many of the chosen items, or the sum of their numbers."""
        sums = np.bincount(self.innermost[chosen], numbers, minlength=len(self.parents))
        for sets in reversed(self.levels):
            np.add.at(sums, self.parents[sets], sums[sets])
        return sums


class Nest(NamedTuple):
    """One of nested sets: its items, those that no narrower set holds, the sets just inside it,
    its quota.
    """

    members: Integers
    own: Integers
    inside: list[int]
    quota: int
    outermost: bool
    """Whether no other set is around it."""


class _Nested(_Matroid):
    """Quotas on nested sets."""

    @cached_property
    def _tree(self) -> _Tree:
        raise NotImplementedError

    @cached_property
    def nests(self) -> dict[int, Nest]:
        """The sets by number, each after those inside it."""
        tree, found = self._tree, dict[int, Nest]()
        last = len(tree.parents) - 1
        for sets in reversed(tree.levels):
            for place in sets.tolist():
                own = np.flatnonzero(tree.innermost == place)
                inside = [other for other in found if tree.parents[other] == place]
                members = np.sort(
                    np.concatenate([own, *(found[other].members for other in inside)])
                )
                quota, outermost = int(tree.quotas[place]), bool(tree.parents[place] == last)
                found[place] = Nest(members, own, inside, quota, outermost)
        return found

    @cached_property
    def free(self) -> Integers:
        """The items that are in no set."""
        return np.flatnonzero(self._tree.innermost == len(self._tree.parents) - 1)

    def extensions(self, chosen: Sequence[int]) -> Mask:
        tree = self._tree
        full = tree.sums(list(chosen)) >= tree.quotas
        for sets in tree.levels:  # an item cannot be added if any set around it is full
            full[sets] |= full[tree.parents[sets]]
        allowed = ~full[tree.innermost]
        allowed[list(chosen)] = False
        return allowed

    def contains(self, chosen: Sequence[int]) -> bool:
        fine = are_items(chosen, len(self._tree.innermost))
        return fine and bool((self._tree.sums(list(chosen)) <= self._tree.quotas).all())

    def is_inside(self, point: Floats) -> bool:
        sums = self._tree.sums(np.s_[:], np.asarray(point))
        return _in_cube(point) and bool((sums <= self._tree.quotas * (1 + TOLERANCE)).all())

    def best(self, weights: Floats) -> list[int]:
        tree = self._tree
        falling = _falling(weights, len(tree.innermost))
        within = tree.innermost[falling]
        for sets in reversed(
            tree.levels
        ):  # the narrowest sets first: each keeps the best of its items
            here = np.isin(within, sets)
            kept = ~here
            kept[here] = _leading(within[here], tree.quotas)
            within = np.where(here, tree.parents[within], within)[kept]
            falling = falling[kept]
        return sorted(falling.tolist())


class _Grouped(_Nested):
    """Quotas on sets that share no item: projections go group by group."""

    @cached_property
    def parts(self) -> list[tuple[Integers, int]]:
        """The items of each group, and its quota."""
        tree = self._tree
        by_group = np.argsort(tree.innermost, kind="stable")
        ends = np.cumsum(np.bincount(tree.innermost, minlength=len(tree.parents)))
        members = np.split(by_group, ends)[: len(tree.parents) - 1]
        return list(zip(members, tree.quotas[:-1].tolist(), strict=True))

    def project(self, point: Floats) -> Floats:
        """The nearest point with 0 ≤ x ≤ 1 and no group over its quota."""
        found = np.clip(point, 0.0, 1.0)
        for part, quota in self.parts:
            if found[part].sum() > quota:
                ones = np.ones(len(part))
                found[part] = onto_budget(point[part], ones, quota, ones)
        return found


@dataclass(frozen=True)
class UniformMatroid(_Grouped):
    """Any `rank` of the items.

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
        return len(chosen) <= self.rank and are_items(chosen, self.items)

    @cached_property
    def _tree(self) -> _Tree:
        return _Tree.of_groups(np.zeros(self.items, dtype=np.int64), [self.rank])


@dataclass(frozen=True)
class PartitionMatroid(_Grouped):
    """At most `quotas[g]` items of group g; `groups` has the number of its group for every item.

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
        """How many items there are."""
        return len(self.groups)

    @property
    def rank(self) -> int:
        """The size of every basis: the sum of the quotas."""
        return sum(self.quotas)

    @cached_property
    def _tree(self) -> _Tree:
        return _Tree.of_groups(np.array(self.groups, dtype=np.int64), self.quotas)


@dataclass(frozen=True)
class LaminarMatroid(_Nested):
    """At most `quotas[f]` items of the f-th set of a family in which any two sets are nested or
    disjoint.

    Items in no set may always be chosen.

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
        """The size of every basis."""
        return len(self.best(np.zeros(self.items)))

    @cached_property
    def _tree(self) -> _Tree:
        around = len(self.family)
        innermost = np.full(self.items, around)
        parents = np.full(around + 1, around)
        # The widest first: a set that crosses none of them lies inside one of what they cut out.
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


@dataclass(frozen=True)
class GraphicMatroid(_Matroid):
    """Items are edges, pairs of vertices; those without a cycle may be chosen together.

    An edge from a vertex to itself is a cycle and can never be chosen.

    >>> roads = GraphicMatroid(edges=((0, 1), (1, 2), (2, 0), (2, 3)))
    >>> roads.rank, roads.best(np.array([0.1, 0.8, 0.9, 0.4])), roads.extensions([1, 2])
    (3, [1, 2, 3], array([False, False, False,  True]))
    """

    edges: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        check_fields(self)
        require.whole("items", len(self.edges), 1, MOST_CANDIDATES)
        for place, (first, second) in enumerate(self.edges):
            if not (0 <= first < 2**62 and 0 <= second < 2**62):
                raise ConfigError(
                    f"edges[{place}] must be two vertices, numbered from 0, got {first, second}"
                )
        if all(first == second for first, second in self.edges):
            raise ConfigError("nothing can be chosen: every edge goes from a vertex to itself")

    @property
    def items(self) -> int:
        """How many edges there are."""
        return len(self.edges)

    @cached_property
    def rank(self) -> int:
        """The size of every spanning forest."""
        return len(self.best(np.zeros(self.items)))

    @cached_property
    def _ends(self) -> Integers:
        """Both ends of every edge, with the vertices that occur numbered from 0."""
        vertices = np.unique(np.array(self.edges))
        return np.searchsorted(vertices, np.array(self.edges))

    @cached_property
    def _pairs(self) -> list[list[int]]:
        """The same for steps in plain Python."""
        pairs: list[list[int]] = self._ends.tolist()
        return pairs

    def _grown(self, edges: Iterable[int]) -> tuple[list[int], dict[int, int]]:
        """Those of the edges that close no cycle with earlier ones, and each vertex's way to its
        root.
        """
        ways: dict[int, int] = {}
        kept = []
        for edge in edges:
            one, other = self._pairs[edge]
            first, second = _root(ways, one), _root(ways, other)
            if first != second:
                ways[second] = first
                kept.append(edge)
        return kept, ways

    def extensions(self, chosen: Sequence[int]) -> Mask:
        _, ways = self._grown(chosen)
        roots = np.arange(int(self._ends.max()) + 1)
        joined = list(ways)
        roots[joined] = [_root(ways, vertex) for vertex in joined]
        return np.asarray(roots[self._ends[:, 0]] != roots[self._ends[:, 1]])

    def contains(self, chosen: Sequence[int]) -> bool:
        return are_items(chosen, self.items) and len(self._grown(chosen)[0]) == len(chosen)

    def best(self, weights: Floats) -> list[int]:
        return sorted(self._grown(_falling(weights, self.items).tolist())[0])


@dataclass(frozen=True)
class OracleMatroid(_Matroid):
    """Any matroid: `independent(chosen)` says of a list of items whether they may be chosen
    together.

    It must be a pure function, and a matroid's, which is not checked. A callable is not kept in
    files.

    >>> pairs = OracleMatroid(items=4, independent=lambda chosen: len(chosen) <= 2 and chosen != [0, 1])
    >>> pairs.rank, pairs.extensions([0])
    (2, array([False, False,  True,  True]))
    """

    items: int
    independent: Callable[[list[int]], object] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        require.whole("items", self.items, 1, MOST_CANDIDATES)
        if self.independent is None:
            raise ConfigError(
                "a matroid that is a callable is not kept in files: make the learner with it and "
                "journal=path"
            )
        if not self._asked([]) or not any(self._asked([item]) for item in range(self.items)):
            raise ConfigError("nothing can be chosen: no single item is independent")

    def _asked(self, chosen: list[int]) -> bool:
        assert self.independent is not None
        return bool(self.independent(sorted(chosen)))

    @cached_property
    def rank(self) -> int:
        """The size of every basis."""
        return len(self.best(np.zeros(self.items)))

    def extensions(self, chosen: Sequence[int]) -> Mask:
        held = set(chosen)
        return np.array(
            [item not in held and self._asked([*chosen, item]) for item in range(self.items)]
        )

    def contains(self, chosen: Sequence[int]) -> bool:
        return are_items(chosen, self.items) and self._asked(list(chosen))

    def best(self, weights: Floats) -> list[int]:
        kept: list[int] = []
        for item in _falling(weights, self.items).tolist():
            if self._asked([*kept, item]):
                kept.append(item)
        return sorted(kept)


def _in_cube(point: Floats) -> bool:
    return bool(np.min(point) >= -TOLERANCE and np.max(point) <= 1 + TOLERANCE)


def _falling(weights: ArrayLike, items: int) -> Integers:
    """The items from the largest weight to the smallest."""
    return np.argsort(-finite_weights(weights, items), kind="stable")


def _leading(groups: Integers, quotas: Integers) -> Mask:
    """Which entries are among the first `quotas[g]` of their group g."""
    by_group = np.argsort(groups, kind="stable")
    together = groups[by_group]
    place = np.arange(len(groups)) - np.searchsorted(together, together)
    leading = np.empty(len(groups), dtype=np.bool_)
    leading[by_group] = place < quotas[together]
    return leading


def _root(ways: dict[int, int], vertex: int) -> int:
    """The root of a vertex's tree; the way there is halved."""
    while (above := ways.get(vertex, vertex)) != vertex:
        ways[vertex] = vertex = ways.get(above, above)
    return vertex


def _check_quotas(quotas: Sequence[int], sizes: Sequence[int]) -> None:
    if len(quotas) != len(sizes):
        raise ConfigError(f"quotas must be one a set, {len(sizes)}, got {len(quotas)}")
    for place, (quota, size) in enumerate(zip(quotas, sizes, strict=True)):
        require.whole(f"quotas[{place}]", quota, 0, size)
