"""Lower bounds of the privacy loss: does an attacker learn more than the ledger charges?

A mechanism runs many times on two neighbouring inputs, each output is reduced to one number, and a
threshold guesses which input it was. The accuracy of the guess bounds the true privacy loss from
below, at a stated confidence. A sound mechanism stays under its charge; one with half the noise
must not.

References  Clopper, Pearson (1934);
            Jagielski, Ullman, Oprea (2020), "Auditing Differentially Private Machine Learning"
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
    """The result of an attack: the true charge is at least `shown`, at the audit's confidence."""

    claim: Charge
    shown: float

    @property
    def caught(self) -> bool:
        """Whether the mechanism spends more than it claims."""
        return self.shown > self.claim.amount


def through_doors(
    passage: Callable[[Door], float], claim: Charge, *, trials: int, seed: int, index: int = 0
) -> Floats:
    """Return the outputs of independent releases, all with number `index`.

    Each goes through its own door with the claimed charge; all draw from one seeded stream of
    random bits.
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

    The threshold is chosen on the first half of the outputs and tested on the second. A pure claim
    may fail with probability `delta`.

    >>> outputs = np.random.default_rng(0).normal(size=(2, 100_000)) + [[0.0], [0.5]]
    >>> audit(*outputs, Charge("zcdp", 0.125)).caught
    False
    >>> audit(*outputs, Charge("zcdp", 0.03)).caught
    True
    """
    if min(here.size, there.size) < 4:
        raise ConfigError(
            "an audit needs at least 4 outputs per input: run the mechanism more often"
        )
    shown = 0.0
    for likely, unlikely in ((here, there), (there, here)):
        for upper in (True, False):
            judge = Judge(claim.measure, delta, (1 - confidence) / 8)
            guess = _best_guess(likely[::2], unlikely[::2], upper, judge)
            shown = max(shown, guess.shows(likely[1::2], unlikely[1::2], judge))
    return Audit(claim, shown)


class Judge(NamedTuple):
    """The measure and the confidence in which an event bounds the privacy loss."""

    measure: str
    delta: float
    error: float
    """The error at each end of an interval: split over ends, sides and directions."""

    def interval(self, hits: int, trials: int) -> tuple[float, float]:
        """Return Clopper and Pearson's confidence interval of a probability."""
        from scipy.special import betaincinv  # scipy.stats.beta.ppf is slower

        low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, self.error))
        high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - self.error))
        return low, high


class Guess(NamedTuple):
    """An event: the output lies above a threshold, or not."""

    threshold: float
    upper: bool

    def shows(self, likely: Floats, unlikely: Floats, judge: Judge) -> float:
        """Return a lower bound of the charge, from how often the event occurred in each run."""
        low, _ = judge.interval(self._hits(likely), likely.size)
        _, high = judge.interval(self._hits(unlikely), unlikely.size)
        return _loss(low - judge.delta, high, judge.measure)

    def _hits(self, values: Floats) -> int:
        inside = values > self.threshold if self.upper else values <= self.threshold
        return int(np.count_nonzero(inside))


def _best_guess(likely: Floats, unlikely: Floats, upper: bool, judge: Judge) -> Guess:
    """Return the threshold that bounds the charge best on these outputs."""
    outputs = np.concatenate([likely, unlikely])
    thresholds = np.unique(np.quantile(outputs, np.linspace(0.002, 0.998, 200)))
    guesses = [Guess(float(threshold), upper) for threshold in thresholds]
    return max(guesses, key=lambda guess: guess.shows(likely, unlikely, judge))


def _loss(likely: float, unlikely: float, measure: str) -> float:
    """Return the smallest charge that allows an event of these two probabilities."""
    if likely <= unlikely or unlikely <= 0:
        return 0.0
    if measure == "pure":
        return float(np.log(likely / unlikely))
    orders = np.geomspace(1.001, 200, 60)
    event = orders * np.log(likely) + (1 - orders) * np.log(unlikely)
    complement = -np.inf
    if unlikely < 1:
        complement = orders * np.log1p(-likely) + (1 - orders) * np.log1p(-unlikely)
    return float(np.max(np.logaddexp(event, complement) / (orders - 1) / orders))
