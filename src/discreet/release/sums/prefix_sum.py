"""The protocol of continual sums, which release noisy prefixes of a stream of aggregates.

The mechanisms are "honaker" (discreet/release/sums/tree.py), "toeplitz"
(discreet/release/sums/toeplitz.py) and "disjoint" (discreet/release/sums/disjoint.py). `calibrate`
returns the one with the least noise for a budget, given the sensitivity that the aggregator states.
All of them are exact: integers in, integer noise, and floats only after it.

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

METHODS = ("honaker", "toeplitz", "disjoint")
"""The names of the mechanisms."""

MOST_LEVELS = 2**24
"""Grids finer than a sixteen-millionth of the bound would be lost in the noise."""


@dataclass(frozen=True)
class Stream:
    """A stream to be summed: `releases` blocks, each aggregated from at most `people` people."""

    aggregator: Aggregator
    releases: int
    people: int = 1
    goes_on: bool = False
    """Whether more blocks follow, without end, in a sum that starts anew."""

    @property
    def room(self) -> int:
        """The largest number of levels for which all noisy sums fit 64-bit integers with room."""
        return min(MOST_LEVELS, 2**60 // (self.releases * self.people))


State = dict[str, Any]
"""A flat dictionary of arrays and numbers, as a snapshot stores it."""
Noised = Callable[[Noise, Integers], Integers]
"""A function that adds noise of a law to integers: `Door.noised`."""


class PrefixSum(Protocol):
    """A calibrated continual sum.

    Its state is two flat dictionaries: `public` may be shown to anyone, `hidden` may not.
    """

    @property
    def aggregator(self) -> Aggregator:
        """The aggregator of the stream, on the grid of this sum."""

    @property
    def name(self) -> str:
        """The name of the mechanism, as in METHODS."""

    @property
    def has_cohorts(self) -> bool:
        """Whether each person enters one release only, so that releases compose in parallel."""

    def spent(self, releases: int) -> Charge:
        """Price of the first `releases` releases for the person who pays most."""

    def charge(self, index: int) -> Charge:
        """Increase of `spent` by release `index`."""

    def variance(self, releases: int) -> float:
        """Variance of one coordinate of prefix number `releases`, in squared integer steps."""

    def step_variance(self, releases: int) -> float:
        """Bound on the variance of the difference of prefix `releases` to the one before."""

    def covariance(self, releases: Integers) -> Floats:
        """Covariance matrix of one coordinate of the prefixes with these increasing numbers."""

    def start(self) -> tuple[State, State]:
        """Return the public and hidden state before the first release."""

    def step(
        self, public: State, hidden: State, addend: Integers, noised: Noised
    ) -> tuple[State, State]:
        """Release the next prefix; return the new public and hidden state.

        `public["prefix"]` is the prefix, in integer steps; `hidden["steps"]` counts the releases.
        """


def calibrate(
    privacy: Privacy,
    stream: Stream,
    method: str = "auto",
    *,
    disjoint: bool = True,
    share: float = 1.0,
) -> PrefixSum:
    """Return the mechanism with the least noise at the noisiest prefix, or the one named.

    Parameters
    ----------
    privacy
        The privacy asked for.
    stream
        The aggregator, the number of releases and the people per release.
    method
        "auto", or one of METHODS.
    disjoint
        Whether "auto" may take sums over disjoint blocks, whose people may pay in another measure.
    share
        The share of the budget that the sum may spend. The rest is for other releases of the same
        people, in the measure of this sum's charges.

    Examples
    --------
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
    if method == "disjoint":
        return DisjointSum.calibrate(privacy, stream, share)
    candidates: list[PrefixSum] = [TreeSum.calibrate(budget, stream)]
    if disjoint:
        candidates.append(DisjointSum.calibrate(privacy, stream, share))
    if not privacy.pure:
        with suppress(ConfigError):  # too many cells for its rounding; the tree does not round
            candidates.append(ToeplitzSum.calibrate(budget, stream))
    return min(candidates, key=lambda candidate: _noisiest(candidate, stream.releases))


def _noisiest(candidate: PrefixSum, releases: int) -> float:
    """The largest standard deviation of a prefix, in units of the bound."""
    # The noisiest prefix of a tree: 1…1 in binary.
    full = 2 ** ((releases + 1).bit_length() - 1) - 1
    largest = max(candidate.variance(count) for count in {full, releases} if count > 0)
    return float(largest**0.5 / candidate.aggregator.levels) if largest < inf else inf
