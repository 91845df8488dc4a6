"""What a continual sum is: a mechanism that releases noisy prefixes of a stream of aggregated
integers.

`tree`, `honaker` (discreet/release/sums/tree.py), `toeplitz` (discreet/release/sums/toeplitz.py)
and `disjoint` (discreet/release/sums/disjoint.py) have this one shape. `calibrate` gives the one
with the least noise for a budget, from what the aggregator says that a person can move. All of them
are exact: integers in, integer noise, and floats only after it.

Guarantee   docs/guarantees/sums.md
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

from discreet import require
from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Charge, Privacy
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregator
from discreet.release.noise import Noise

METHODS = ("honaker", "toeplitz", "fresh")

MOST_LEVELS = 2**24
"""Finer grids than a sixteen-millionth of the bound would be lost in the noise."""


@dataclass(frozen=True)
class Stream:
    """What is to be summed: `releases` blocks, each aggregated from at most `people` people."""

    aggregator: Aggregator
    releases: int
    people: int = 1
    goes_on: bool = False
    """Whether other such blocks follow, without end, in a sum that starts afresh."""

    @property
    def room(self) -> int:
        """The most levels with which all sums, noise included, stay far inside 64-bit integers."""
        return min(MOST_LEVELS, 2**60 // (self.releases * self.people))


State = dict[str, Any]
"""A flat dictionary of arrays and numbers."""
Noised = Callable[[Noise, Integers], Integers]
"""What a door does: add noise of this law to these integers."""


class PrefixSum(Protocol):
    """A calibrated continual sum.

    Its state is two flat dictionaries: what `public` holds may be shown to anyone, `hidden` may
    not.
    """

    @property
    def aggregator(self) -> Aggregator:
        """The aggregator that was asked for, on this sum's grid."""

    @property
    def name(self) -> str:
        """The mechanism, as in METHODS."""

    @property
    def has_cohorts(self) -> bool:
        """Whether each person enters one release only, so that releases are paid side by side."""

    def spent(self, releases: int) -> Charge:
        """What the first `releases` releases cost the person who pays most."""

    def charge(self, index: int) -> Charge:
        """What release `index` adds to that."""

    def variance(self, releases: int) -> float:
        """The variance of one coordinate of prefix number `releases`, in integer steps."""

    def step_variance(self, releases: int) -> float:
        """The same, or a bound on it, for what prefix number `releases` adds to the one before."""

    def covariance(self, releases: Integers) -> Floats:
        """The covariance matrix of one coordinate of the prefixes with these numbers, which
        grow.
        """

    def start(self) -> tuple[State, State]:
        """Public and kept state before the first release."""

    def step(
        self, public: State, hidden: State, addend: Integers, noised: Noised
    ) -> tuple[State, State]:
        """Release the next prefix: new public and kept state.

        `public["prefix"]` holds it, in integer steps; `hidden["steps"]` counts the releases.
        """


def calibrate(
    privacy: Privacy,
    stream: Stream,
    method: str = "auto",
    *,
    disjoint: bool = True,
    share: float = 1.0,
) -> PrefixSum:
    """The mechanism with the least noise at the noisiest prefix, or the one asked for.

    Without `disjoint`, "auto" leaves out separate releases, whose people may pay in another
    measure. With a `share` below 1 it gets that much of the budget, and the same people's other
    releases get the rest, in the measure of its charges.

    >>> from discreet.release.aggregators import OneChoice, Rows
    >>> type(calibrate(Privacy(1.0, 1e-6), Stream(Rows(3), releases=1000))).__name__
    'ToeplitzSum'
    >>> type(calibrate(Privacy(1.0), Stream(Rows(3), releases=1000))).__name__
    'TreeSum'
    >>> type(calibrate(Privacy(1.0, 1e-6), Stream(OneChoice(100), releases=10))).__name__
    'DisjointSum'
    """
    from discreet.release.sums.disjoint import DisjointSum
    from discreet.release.sums.toeplitz import ToeplitzSum
    from discreet.release.sums.tree import TreeSum

    require.one_of("method", method, ("auto", *METHODS))
    require.number("share", share, 1e-6, 1.0)
    budget = privacy.budget * share
    if method == "honaker":
        return TreeSum.calibrate(budget, stream)
    if method == "toeplitz":
        return ToeplitzSum.calibrate(budget, stream)
    if method == "fresh":
        return DisjointSum.calibrate(privacy, stream, share)
    candidates: list[PrefixSum] = [TreeSum.calibrate(budget, stream)]
    if disjoint:
        candidates.append(DisjointSum.calibrate(privacy, stream, share))
    if not privacy.pure:
        with suppress(ConfigError):  # too many cells for its rounding: the tree has none
            candidates.append(ToeplitzSum.calibrate(budget, stream))
    return min(candidates, key=lambda candidate: _noisiest(candidate, stream.releases))


def _noisiest(candidate: PrefixSum, releases: int) -> float:
    """The largest standard deviation of a prefix, in units of the bound."""
    full = (
        2 ** ((releases + 1).bit_length() - 1) - 1
    )  # 1…1 in binary: the noisiest prefix of a tree
    largest = max(candidate.variance(count) for count in {full, releases} if count > 0)
    return float(largest**0.5 / candidate.aggregator.levels) if largest < inf else inf
