"""Schedules: when data is released, fixed in advance and independent of the data.

Rounds are numbered from 0. Block `index` ends after `end(index)` rounds; release `index` reads the
people up to there, and decisions change only then. `last=False` leaves out the release after the
final round, which no decision would use.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import inf
from typing import Protocol

from discreet import require
from discreet.errors import ConfigError


class Schedule(Protocol):
    """The rounds after which a learner releases."""

    @property
    def horizon(self) -> int | None:
        """Number of rounds (None: without end)."""

    @property
    def releases(self) -> int | None:
        """Number of releases (None: without end)."""

    def end(self, index: int) -> int:
        """Return the number of rounds before release `index`."""


@dataclass(frozen=True)
class EqualBlocks:
    """A release after every `block` rounds, and after the last round.

    >>> [EqualBlocks(10, 4).end(index) for index in range(EqualBlocks(10, 4).releases)]
    [4, 8, 10]
    >>> EqualBlocks(10, 4, last=False).releases
    2
    """

    horizon: int
    block: int = 1
    last: bool = True

    def __post_init__(self) -> None:
        require.whole("horizon", self.horizon)
        require.whole("block", self.block)

    @property
    def releases(self) -> int:
        return -(-self.horizon // self.block) - (not self.last)

    def end(self, index: int) -> int:
        return min((index + 1) * self.block, self.horizon)


@dataclass(frozen=True)
class DoublingBlocks:
    """Blocks of `first`, 2·`first`, 4·`first`, … rounds.

    >>> [DoublingBlocks(100, 10).end(index) for index in range(DoublingBlocks(100, 10).releases)]
    [10, 30, 70, 100]
    """

    horizon: int
    first: int = 1
    last: bool = True

    def __post_init__(self) -> None:
        require.whole("horizon", self.horizon)
        require.whole("first", self.first)

    @property
    def releases(self) -> int:
        blocks = (-(-self.horizon // self.first)).bit_length()
        return blocks - (not self.last)

    def end(self, index: int) -> int:
        return min(self.first * ((1 << (index + 1)) - 1), self.horizon)


@dataclass(frozen=True)
class ListedBlocks:
    """Blocks of given lengths, then one that lasts to the horizon and ends without a release.

    >>> [ListedBlocks(100, (10, 30)).end(index) for index in range(2)]
    [10, 40]
    """

    horizon: int
    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        require.whole("horizon", self.horizon)
        if sum(self.lengths) > self.horizon or min(self.lengths, default=1) < 1:
            raise ConfigError(
                f"blocks of {list(self.lengths)} rounds do not fit a horizon of {self.horizon}"
            )

    @property
    def releases(self) -> int:
        return len(self.lengths)

    def end(self, index: int) -> int:
        return self._ends[index]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(self.lengths))


def growing_blocks(rounds: int, first: float, growth: float, most: float = inf) -> tuple[int, ...]:
    """Return lengths of blocks that grow by a factor up to `most` and end before the last round.

    >>> growing_blocks(100, 10, 1.5)
    (10, 15, 22, 33)
    """
    lengths: list[int] = []
    while sum(lengths) + max(1, int(first)) < rounds:
        lengths.append(max(1, int(first)))
        first = min(first * growth, most)
    return tuple(lengths)


@dataclass(frozen=True)
class Segments:
    """Segments of `first`, 2·`first`, 4·`first`, … rounds without end, in blocks of `block`.

    >>> [Segments(4, 2).end(index) for index in range(6)]
    [2, 4, 6, 8, 10, 12]
    >>> [Segments(4, 2).segment(index) for index in range(6)]
    [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (1, 3)]
    """

    first: int
    block: int = 1

    def __post_init__(self) -> None:
        require.whole("first", self.first)
        require.whole("block", self.block)
        if self.first % self.block:
            raise ConfigError(
                f"the first segment ({self.first}) must be a multiple of the block ({self.block})"
            )

    @property
    def horizon(self) -> None:
        return None

    @property
    def releases(self) -> None:
        return None

    def segment(self, index: int) -> tuple[int, int]:
        """Return the segment of release `index` and its position there, both counted from 0."""
        in_first = self.first // self.block
        number = (index // in_first + 1).bit_length() - 1
        return number, index - (in_first << number) + in_first

    def length(self, number: int) -> int:
        """Return the number of releases of segment `number`."""
        return self.first // self.block << number

    def end(self, index: int) -> int:
        return (index + 1) * self.block
