"""Audits: does an attacker learn more than the ledger says?

Run a mechanism many times on two neighbouring inputs, reduce each output to one number, and guess from a threshold which input
it was. How often the guess is right bounds the true privacy loss from below, at a stated confidence. A sound mechanism stays
under its charge; one with half the noise must not.

References  Clopper, Pearson (1934); Jagielski, Ullman, Oprea (2020), "Auditing Differentially Private Machine Learning"
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.errors import ConfigError
from discreet.release.arrays import Floats
from discreet.release.door import Door
from discreet.release.privacy import Charge
from discreet.release.randomness import seeded_words

__all__ = ["Audit", "audit", "through_doors"]

CONFIDENCE = 1 - 1e-6


@dataclass(frozen=True)
class Audit:
    """What an attacker has shown: the true charge is at least `shown`, with probability 1 − 10⁻⁶."""

    claim: Charge
    shown: float

    @property
    def caught(self) -> bool:
        """Whether the mechanism spends more than it claims."""
        return self.shown > self.claim.amount


def through_doors(passage: Callable[[Door], float], claim: Charge, *, trials: int, seed: int) -> Floats:
    """The outputs of many independent turns, each through a seeded door of its own that has the claimed charge."""
    return np.array([passage(Door(seeded_words(seed, trial), claim, trial)) for trial in range(trials)])


def audit(here: Floats, there: Floats, claim: Charge) -> Audit:
    """Bound the charge from below, from outputs on two neighbouring inputs.

    The threshold is chosen on the first half of the outputs and judged on the second.

    >>> outputs = np.random.default_rng(0).normal(size=(2, 100_000)) + [[0.0], [0.5]]
    >>> honest, wrong = audit(*outputs, Charge("zcdp", 0.125)), audit(*outputs, Charge("zcdp", 0.03))
    >>> honest.caught, wrong.caught
    (False, True)
    """
    if min(here.size, there.size) < 4:
        raise ConfigError("an audit needs at least 4 outputs on either side")
    shown = 0.0
    for first, second in ((here, there), (there, here)):
        halves = [values[part] for values in (first, second) for part in (slice(None, None, 2), slice(1, None, 2))]
        for upper in (True, False):
            threshold = _best_threshold(halves[0], halves[2], claim.measure, upper)
            low, _ = _interval(_hits(halves[1], threshold, upper), halves[1].size)
            _, high = _interval(_hits(halves[3], threshold, upper), halves[3].size)
            shown = max(shown, _loss(low, high, claim.measure))
    return Audit(claim, shown)


def _hits(values: Floats, threshold: float, upper: bool) -> int:
    return int(np.count_nonzero(values > threshold if upper else values <= threshold))


def _best_threshold(first: Floats, second: Floats, measure: str, upper: bool) -> float:
    candidates = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0.002, 0.998, 200)))

    def pessimistic(threshold: float) -> float:
        low, _ = _interval(_hits(first, threshold, upper), first.size)
        _, high = _interval(_hits(second, threshold, upper), second.size)
        return _loss(low, high, measure)

    return float(max(candidates, key=pessimistic))


def _interval(hits: int, trials: int) -> tuple[float, float]:
    """Clopper and Pearson's interval; the error is split over both ends, both sides and both directions."""
    from scipy.stats import beta

    error = (1 - CONFIDENCE) / 8
    low = 0.0 if hits == 0 else float(beta.ppf(error, hits, trials - hits + 1))
    high = 1.0 if hits == trials else float(beta.ppf(1 - error, hits + 1, trials - hits))
    return low, high


def _loss(likely: float, unlikely: float, measure: str) -> float:
    """The smallest charge that allows an event of these two probabilities."""
    if likely <= unlikely or unlikely <= 0:
        return 0.0
    if measure == "pure":
        return float(np.log(likely / unlikely))
    orders = np.geomspace(1.001, 200, 60)
    happens = orders * np.log(likely) + (1 - orders) * np.log(unlikely)
    not_so = orders * np.log1p(-likely) + (1 - orders) * np.log1p(-unlikely) if unlikely < 1 else -np.inf
    return float(np.max(np.logaddexp(happens, not_so) / (orders - 1) / orders))
