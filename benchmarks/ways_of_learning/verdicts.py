"""Means of modes over worlds, and the distance of the default behind the best other mode.

Differences are paired by world. A share is better if it is larger, a loss if it is smaller; noise
is compared in proportion.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, sqrt
from typing import Literal

import numpy as np

Measure = Literal["share", "loss", "noise"]
Values = Sequence[Mapping[str, float]]
"""The value of every way, one mapping per world."""

CERTAIN, SUSPECT = 4.0, 2.0
"""Behind by more errors than the first number is certain, by fewer than the second is nothing."""
LEAST_WORLDS = 4
"""A cell with fewer worlds that have something to gain is dropped."""
SHARE_BEHIND, LOSS_BEHIND, RELATIVE_BEHIND = 0.02, 0.005, 0.1
"""Smaller differences do not matter; the last is a part of the loss, or of the noise."""
WORSE = 0.05
"""Worse than nothing by this much matters."""


@dataclass(frozen=True)
class Verdict:
    """Comparison of "auto" with the best other mode; `behind` is positive if "auto" is worse."""

    measure: Measure
    auto: float
    auto_error: float
    best: str
    behind: float
    error: float
    seeds: int

    @property
    def matters(self) -> bool:
        """Whether "auto" is behind by more than a user would mind, certain or not."""
        least = {"share": SHARE_BEHIND, "loss": max(LOSS_BEHIND, RELATIVE_BEHIND * self.auto)}
        return self.behind > least.get(self.measure, RELATIVE_BEHIND)

    @property
    def is_beaten(self) -> bool:
        """Whether "auto" is behind by a difference that matters and is certain."""
        return self.matters and self.behind > CERTAIN * self.error

    @property
    def is_unsettled(self) -> bool:
        """Whether "auto" may be behind by a difference that matters, which needs more worlds."""
        return self.matters and SUSPECT * self.error < self.behind <= CERTAIN * self.error

    @property
    def is_worse_than_nothing(self) -> bool:
        """Whether "auto" is certainly worse than not to learn: SubOpt or regret 1, share 0."""
        if self.measure == "noise":
            return False
        lost = -self.auto if self.measure == "share" else self.auto - 1
        return lost > WORSE and lost > CERTAIN * self.auto_error

    def plain(self) -> dict[str, object]:
        """Return the verdict as plain data."""
        return {name: value for name, value in asdict(self).items() if name != "measure"}


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and standard error; the error of a single value is infinite.

    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    if len(values) < 2:
        return float(np.mean(values)), inf
    return float(np.mean(values)), float(np.std(values, ddof=1)) / sqrt(len(values))


def verdict(worlds: Values, measure: Measure, *, best: str | None = None) -> Verdict | None:
    """Return the verdict over worlds, against mode `best` if it is named.

    None if too few worlds have something to gain.

    >>> worlds = [{"auto": 0.5, "sum": 0.9}, {"auto": 0.7, "sum": 0.9}] * 2
    >>> found = verdict(worlds, "share")
    >>> found.best, round(found.behind, 3), found.is_unsettled, found.is_beaten
    ('sum', 0.3, False, True)
    """
    worlds = [world for world in worlds if world]
    if measure == "noise":
        return _exact(worlds[0])
    if len(worlds) < LEAST_WORLDS:
        return None
    auto, auto_error = mean_and_error([world["auto"] for world in worlds])
    sign = 1 if measure == "share" else -1
    behind = {}
    for way in worlds[0]:
        if way != "auto":
            behind[way] = mean_and_error([sign * (world[way] - world["auto"]) for world in worlds])
    if not behind:
        return Verdict(measure, auto, auto_error, "auto", 0.0, 0.0, len(worlds))
    best = max(behind, key=lambda way: behind[way][0]) if best is None else best
    return Verdict(measure, auto, auto_error, best, *behind[best], len(worlds))


def _exact(noise: Mapping[str, float]) -> Verdict:
    """Return the verdict on computed noise, in proportion to that of the best mode."""
    best = min((way for way in noise if way != "auto"), key=lambda way: noise[way])
    return Verdict("noise", noise["auto"], 0.0, best, noise["auto"] / noise[best] - 1, 0.0, 1)
