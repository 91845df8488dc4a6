"""Running totals of a made-up month, published after every shopper; and what each mechanism is worth."""

import time
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from discreet import warm_up
from discreet.arrays import Floats, Integers
from discreet.budget.guarantee import Guarantee
from discreet.budget.privacy import Privacy
from discreet.lab.progress import Bar, silent
from discreet.lab.streams import CATEGORIES, shoppers
from discreet.learners.running_sum import RunningSum
from discreet.release.gathering import Rows
from discreet.release.sums import METHODS, Stream, calibrate

__all__ = ["AFRESH", "TotalsResult", "compute_totals", "deviations"]

PIECE = 100
"""Progress is reported after so many shoppers."""
MOST_RELEASES = 10**7
AFRESH = "afresh"
"""Every total is noised by itself, and everyone is in all later ones: what no method of ours does."""


@dataclass(frozen=True)
class TotalsResult:
    """True and published totals, one row a shopper."""

    people: int
    privacy: Privacy
    truth: Floats
    published: Floats
    standard_deviation: float
    """Of the last totals."""
    guarantee: Guarantee
    releases: Integers
    """Numbers of releases for which mechanisms are compared."""
    deviations: dict[str, Floats]
    """By method, the standard deviation of the last total after so many releases, in people."""
    seconds: float
    simulated: bool

    def report(self) -> dict[str, Any]:
        """The numbers, as plain data."""
        return {
            "people": self.people,
            "epsilon": self.privacy.epsilon,
            "delta": self.privacy.delta,
            "standard_deviation": self.standard_deviation,
            "seconds": self.seconds,
            "true": dict(zip(CATEGORIES, self.truth[-1].tolist(), strict=True)),
            "published": dict(zip(CATEGORIES, self.published[-1].tolist(), strict=True)),
            "simulated": self.simulated,
        }


def compute_totals(people: int, privacy: Privacy, *, seed: int | None, bar: Bar = silent) -> TotalsResult:
    """Publish private running totals of a made-up month."""
    totals = RunningSum(len(CATEGORIES), people, privacy, bound=1.0, norm="inf", nonnegative=True, seed=seed)
    warm_up()
    bought = shoppers(people)
    published = np.empty_like(bought)
    began = time.perf_counter()
    with bar("shoppers", people) as report:
        for first in range(0, people, PIECE):
            piece = range(first, min(first + PIECE, people))
            for person in piece:
                published[person] = totals.add(bought[person])
            report(len(piece))
    seconds = time.perf_counter() - began
    releases = np.unique(np.geomspace(1, MOST_RELEASES, 60).astype(int))
    return TotalsResult(
        people=people,
        privacy=privacy,
        truth=bought.cumsum(axis=0),
        published=published,
        standard_deviation=totals.standard_deviation,
        guarantee=totals.guarantee,
        releases=releases,
        deviations=deviations(privacy, releases),
        seconds=seconds,
        simulated=seed is not None,
    )


def deviations(privacy: Privacy, releases: Integers) -> dict[str, Floats]:
    """The standard deviation of the last of so many totals of one count, by method."""
    found: dict[str, Floats] = {}
    for method in METHODS:
        if method == "toeplitz" and privacy.pure:
            continue  # its noise is Gaussian
        found[method] = np.array([_deviation(privacy, int(count), method) for count in releases])
    return found | {AFRESH: _afresh(privacy, releases)}


def _deviation(privacy: Privacy, count: int, method: str) -> float:
    sums = calibrate(privacy, Stream(Rows((1,), nonnegative=True), count), method)
    return sqrt(sums.variance(count)) * sums.gathering.grid


def _afresh(privacy: Privacy, releases: Integers) -> Floats:
    """Of totals that are all noised by themselves: a count is in every one, and they share the budget."""
    counts, budget = releases.astype(np.float64), privacy.budget.amount
    return sqrt(2) * counts / budget if privacy.pure else np.sqrt(counts / (2 * budget))
