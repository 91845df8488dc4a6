"""Audits: does an attacker learn more than the ledger says?

Run a mechanism many times on two neighbouring inputs, reduce each output to one number, and guess
from a threshold which input it was. How often the guess is right bounds the true privacy loss from
below, at a stated confidence. A sound mechanism stays under its charge; one with half the noise
must not.

References  Clopper, Pearson (1934); Jagielski, Ullman, Oprea (2020), "Auditing Differentially Private Machine
            Learning"
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Charge
from discreet.errors import ConfigError
from discreet.release.door import Door
from discreet.release.randomness import seeded_bits

CONFIDENCE = 1 - 1e-6


@dataclass(frozen=True)
class Audit:
    """What an attacker has shown: the true charge is at least `shown`, at the confidence of the
    audit.
    """

    claim: Charge
    shown: float

    @property
    def caught(self) -> bool:
        """Whether the mechanism spends more than it claims."""
        return self.shown > self.claim.amount


def through_doors(
    passage: Callable[[Door], float], claim: Charge, *, trials: int, seed: int, index: int = 0
) -> Floats:
    """The outputs of many independent turns, all release number `index`.

    Each goes through a door of its own that has the claimed charge; all draw from one stream of
    seeded words.
    """
    bits = seeded_bits(seed, 0)
    return np.array([passage(Door(bits, claim, index)) for _ in range(trials)])


def audit(
    here: Floats,
    there: Floats,
    claim: Charge,
    *,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
) -> Audit:
    """Bound the charge from below, from outputs on two neighbouring inputs.

    The threshold is chosen on the first half of the outputs and judged on the second. A pure claim
    may fail with probability `delta`.

    >>> outputs = np.random.default_rng(0).normal(size=(2, 100_000)) + [[0.0], [0.5]]
    >>> honest, wrong = audit(*outputs, Charge("zcdp", 0.125)), audit(*outputs, Charge("zcdp", 0.03))
    >>> honest.caught, wrong.caught
    (False, True)
    """
    if min(here.size, there.size) < 4:
        raise ConfigError("an audit needs at least 4 outputs on either side")
    shown = 0.0
    for likely, unlikely in ((here, there), (there, here)):
        for upper in (True, False):
            judge = Judge(claim.measure, delta, (1 - confidence) / 8)
            guess = _best_guess(likely[::2], unlikely[::2], upper, judge)
            shown = max(shown, guess.shows(likely[1::2], unlikely[1::2], judge))
    return Audit(claim, shown)


class Judge(NamedTuple):
    """What an event of two probabilities shows: in which measure, and how surely."""

    measure: str
    delta: float
    error: float
    """At each end of an interval: split over both ends, both sides and both directions."""

    def interval(self, hits: int, trials: int) -> tuple[float, float]:
        """Clopper and Pearson's interval."""
        from scipy.special import betaincinv  # as scipy.stats.beta.ppf, without its long way round

        low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, self.error))
        high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - self.error))
        return low, high


class Guess(NamedTuple):
    """An event: the output lies above a threshold, or not."""

    threshold: float
    upper: bool

    def shows(self, likely: Floats, unlikely: Floats, judge: Judge) -> float:
        """The least charge that allows the event to be as likely here, and as unlikely there, as
        was seen.
        """
        low, _ = judge.interval(self._hits(likely), likely.size)
        _, high = judge.interval(self._hits(unlikely), unlikely.size)
        return _loss(low - judge.delta, high, judge.measure)

    def _hits(self, values: Floats) -> int:
        return int(
            np.count_nonzero(values > self.threshold if self.upper else values <= self.threshold)
        )


def _best_guess(likely: Floats, unlikely: Floats, upper: bool, judge: Judge) -> Guess:
    together = np.concatenate([likely, unlikely])
    thresholds = np.unique(np.quantile(together, np.linspace(0.002, 0.998, 200)))
    guesses = [Guess(float(threshold), upper) for threshold in thresholds]
    return max(guesses, key=lambda guess: guess.shows(likely, unlikely, judge))


def _loss(likely: float, unlikely: float, measure: str) -> float:
    """The smallest charge that allows an event of these two probabilities."""
    if likely <= unlikely or unlikely <= 0:
        return 0.0
    if measure == "pure":
        return float(np.log(likely / unlikely))
    orders = np.geomspace(1.001, 200, 60)
    happens = orders * np.log(likely) + (1 - orders) * np.log(unlikely)
    not_so = (
        orders * np.log1p(-likely) + (1 - orders) * np.log1p(-unlikely) if unlikely < 1 else -np.inf
    )
    return float(np.max(np.logaddexp(happens, not_so) / (orders - 1) / orders))
