"""What a continual sum is: a mechanism that releases noisy prefixes of a stream of integer vectors.

`tree`, `honaker` (discreet/release/tree.py) and `toeplitz` (discreet/release/toeplitz.py) have this one shape. `calibrate`
gives the one with the least noise for a budget. All of them are exact: integers in, integer noise, and floats only after it.

Guarantee   docs/guarantees/sums.md
"""

from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, Protocol

from discreet.errors import ConfigError
from discreet.release.arrays import Integers
from discreet.release.entrance import unit_sensitivity
from discreet.release.privacy import Charge
from discreet.release.randomness import Words

__all__ = ["METHODS", "Method", "PrefixSum", "Stream", "calibrate"]

Method = Literal["tree", "honaker", "toeplitz"]
METHODS: tuple[Method, ...] = ("tree", "honaker", "toeplitz")

MOST_LEVELS = 2**24
"""Finer grids than a sixteen-millionth of the bound would be lost in the noise."""


@dataclass(frozen=True)
class Stream:
    """What is to be summed: `releases` integer vectors, each the sum of at most `people` people's contributions."""

    releases: int
    dimension: int
    norm: float
    nonnegative: bool
    people: int = 1
    touched: int | None = None
    """How many coordinates one person can move, if it is public which; None: all of them."""

    def unit_sensitivity(self, norm: int) -> float:
        """How far replacing one person can move one vector, in units of the bound."""
        return unit_sensitivity(self.cells, self.norm, self.nonnegative, norm)

    @property
    def cells(self) -> int:
        """How many coordinates of a vector can differ between neighbours."""
        return self.dimension if self.touched is None else self.touched

    @property
    def room(self) -> int:
        """The most levels with which all sums, noise included, stay far inside 64-bit integers."""
        return min(MOST_LEVELS, 2**60 // (self.releases * self.people))


class PrefixSum(Protocol):
    """A calibrated mechanism. State is two flat dictionaries; what `public` holds may be shown to anyone."""

    @property
    def levels(self) -> int:
        """How many integer steps the bound has: the grid at the entrance."""

    def spent(self, releases: int) -> Charge:
        """What the first `releases` releases cost the person who pays most."""

    def charge(self, index: int) -> Charge:
        """What release `index` adds to that."""

    def variance(self, releases: int) -> float:
        """The variance of one coordinate of prefix number `releases`, in integer steps."""

    def step_variance(self, releases: int) -> float:
        """The variance of one coordinate of what prefix number `releases` adds to the one before, or a bound on it."""

    def start(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Public and secret state before the first release."""

    def step(self, public: dict[str, Any], secret: dict[str, Any], addend: Integers, words: Words) -> tuple[dict[str, Any], dict[str, Any]]:
        """Release the next prefix; it is `public["prefix"]`, in integer steps. `secret["steps"]` counts them."""


def calibrate(method: str, budget: Charge, stream: Stream) -> PrefixSum:
    """The mechanism with the least noise at the noisiest prefix, or the one asked for.

    >>> from discreet.release.privacy import pure, zcdp
    >>> stream = Stream(releases=1000, dimension=3, norm=2, nonnegative=False)
    >>> type(calibrate("auto", zcdp(0.02), stream)).__name__, type(calibrate("auto", pure(1.0), stream)).__name__
    ('ToeplitzSum', 'TreeSum')
    """
    from discreet.release.toeplitz import ToeplitzSum
    from discreet.release.tree import TreeSum

    if method == "tree" or method == "honaker":
        return TreeSum.calibrate(budget, stream, refined=method == "honaker")
    if method == "toeplitz":
        return ToeplitzSum.calibrate(budget, stream)
    if method != "auto":
        raise ConfigError(f'method must be "auto", "tree", "honaker" or "toeplitz", got {method!r}')
    candidates: list[PrefixSum] = [TreeSum.calibrate(budget, stream, refined=True)]
    if budget.measure == "zcdp":
        with suppress(ConfigError):  # too many cells for its rounding: the tree has none
            candidates.append(ToeplitzSum.calibrate(budget, stream))
    return min(candidates, key=lambda candidate: _noisiest(candidate, stream.releases))


def _noisiest(candidate: PrefixSum, releases: int) -> float:
    """The largest standard deviation of a prefix, in units of the bound."""
    full = 2 ** ((releases + 1).bit_length() - 1) - 1  # 1…1 in binary: the noisiest prefix of a tree
    largest = max(candidate.variance(count) for count in {full, releases} if count > 0)
    return float(largest**0.5 / candidate.levels) if largest < inf else inf
