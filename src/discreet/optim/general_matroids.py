"""Matroids without quotas: forests of a graph, and any matroid given by an oracle.

Runtime     extensions and best: O(edges · log vertices) for graphs, one call per item for oracles
References  Edmonds (1971), "Matroids and the greedy algorithm"
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import check_fields
from discreet.errors import ConfigError
from discreet.limits import MOST_CANDIDATES
from discreet.optim.constraints import are_items
from discreet.optim.matroids import BasisPolytope, by_falling_weight


class Forest(NamedTuple):
    """Edges without a cycle, and the parent of every vertex that is no root."""

    edges: list[int]
    parents: dict[int, int]


@dataclass(frozen=True)
class GraphicMatroid(BasisPolytope):
    """The forests of a graph: {S : the edges of S have no cycle}; items are edges.

    An edge from a vertex to itself is a cycle and can never be chosen.

    Parameters
    ----------
    edges
        Pairs of vertices, numbered from 0; the numbers need not be dense.

    Examples
    --------
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
        """Number of edges."""
        return len(self.edges)

    @cached_property
    def rank(self) -> int:
        """Size of every spanning forest."""
        return len(self.best(np.zeros(self.items)))

    @cached_property
    def _ends(self) -> Integers:
        """The two ends of every edge, with the occurring vertices numbered from 0."""
        vertices = np.unique(np.array(self.edges))
        return np.searchsorted(vertices, np.array(self.edges))

    @cached_property
    def _pairs(self) -> list[list[int]]:
        """The two ends of every edge as lists, for loops in plain Python."""
        pairs: list[list[int]] = self._ends.tolist()
        return pairs

    def _forest(self, edges: Iterable[int]) -> Forest:
        """Return the forest of the edges that close no cycle with earlier ones."""
        parents: dict[int, int] = {}
        accepted = []
        for edge in edges:
            one, other = self._pairs[edge]
            first = _root(parents, one)
            second = _root(parents, other)
            if first != second:
                parents[second] = first
                accepted.append(edge)
        return Forest(accepted, parents)

    def extensions(self, chosen: Sequence[int]) -> Mask:
        """Return which edges close no cycle with the chosen ones."""
        parents = self._forest(chosen).parents
        roots = np.arange(int(self._ends.max()) + 1)
        joined = list(parents)
        roots[joined] = [_root(parents, vertex) for vertex in joined]
        return np.asarray(roots[self._ends[:, 0]] != roots[self._ends[:, 1]])

    def contains(self, chosen: Sequence[int]) -> bool:
        """Whether these are different edges without a cycle."""
        return are_items(chosen, self.items) and len(self._forest(chosen).edges) == len(chosen)

    def best(self, weights: Floats) -> list[int]:
        """Return the spanning forest of largest weight, in ascending order."""
        falling = by_falling_weight(weights, self.items).tolist()
        return sorted(self._forest(falling).edges)


@dataclass(frozen=True)
class OracleMatroid(BasisPolytope):
    """Any matroid, by its independence oracle: {S : independent(S)}.

    Callables are not saved to files.

    Parameters
    ----------
    items
        Number of items.
    independent
        Takes a list of items in ascending order, and returns whether they may be chosen together.
        It must be a pure function and define a matroid, which is not checked.

    Examples
    --------
    >>> pairs = OracleMatroid(4, lambda chosen: len(chosen) <= 2 and chosen != [0, 1])
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
                "an oracle matroid is not saved to files: make the learner with it and journal=path"
            )
        singles = ([item] for item in range(self.items))
        if not self._is_independent([]) or not any(map(self._is_independent, singles)):
            raise ConfigError("nothing can be chosen: no single item is independent")

    def _is_independent(self, chosen: list[int]) -> bool:
        assert self.independent is not None
        return bool(self.independent(sorted(chosen)))

    @cached_property
    def rank(self) -> int:
        """Size of every basis."""
        return len(self.best(np.zeros(self.items)))

    def extensions(self, chosen: Sequence[int]) -> Mask:
        """Return which items may be added to an independent set."""
        present = set(chosen)
        allowed = [
            item not in present and self._is_independent([*chosen, item])
            for item in range(self.items)
        ]
        return np.array(allowed)

    def contains(self, chosen: Sequence[int]) -> bool:
        """Whether these are different items that form an independent set."""
        return are_items(chosen, self.items) and self._is_independent(list(chosen))

    def best(self, weights: Floats) -> list[int]:
        """Return the basis of largest weight, in ascending order."""
        basis: list[int] = []
        for item in by_falling_weight(weights, self.items).tolist():
            if self._is_independent([*basis, item]):
                basis.append(item)
        return sorted(basis)


def _root(parents: dict[int, int], vertex: int) -> int:
    """Return the root of a vertex's tree, halving the path on the way."""
    while (parent := parents.get(vertex, vertex)) != vertex:
        parents[vertex] = vertex = parents.get(parent, parent)
    return vertex
