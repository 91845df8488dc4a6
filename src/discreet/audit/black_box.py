"""The attack on outputs: the attacker knows all people but one, and sees all that a learner shows.

The pair is the worst one of the exact audit; only the replaced person answers. Both of its streams
are lived many times, with the same public coins and with noise from the operating system.
Everything visible becomes numbers. Half of the lives train a linear rule that tells the streams
apart, the other half test it. Its accuracy bounds ε from below (Clopper and Pearson); its two kinds
of errors are the trade-off curve that the attacker reached, beside the one that (ε, δ) allows.

The attack does not depend on how a learner works, so it sees what the exact audit cannot: the law
of the noise.

References  Dong, Roth, Su (2022), "Gaussian Differential Privacy";
            Nasr et al. (2023), "Tight Auditing of Differentially Private Machine Learning"
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.audit.life import Life
from discreet.audit.lower_bound import audit
from discreet.audit.pair import Pair
from discreet.audit.transcript import neighbours
from discreet.budget.privacy import Charge, Privacy, pure
from discreet.release.door import Door
from discreet.release.randomness import RandomBits, system_bits

MOST = 60
"""Largest number of features of a rule."""
LARGEST = 1e100
"""Larger numbers are clipped, so that their squares can be added up."""
SHRINKAGE = 0.001
"""Shrinkage of the covariances of the features."""
POINTS = 41
"""Number of points of a trade-off curve."""


@dataclass(frozen=True)
class Attacked:
    """The result of an attack on one learner."""

    epsilon: float
    """A lower bound of the true ε, at a confidence of 95 %."""
    caught: bool
    """Whether the true ε exceeds the claim, at a confidence of 1 − 10⁻⁶."""
    false_alarms: list[float]
    """The rates of false alarms of the rule on test lives, one per threshold."""
    misses: list[float]
    """The rates of misses of the rule on test lives, one per threshold."""


def attack(case: Case, privacy: Privacy, *, runs: int, pair: int, seed: int = 0) -> Attacked:
    """Tell the two streams of the pair of this number apart, from `runs` lives of each."""
    streams = neighbours(case, case.make(), seed=seed, number=pair).alone()
    outputs = [_lives(streams, runs, replaced=replaced) for replaced in (False, True)]
    width = max(len(life) for side in outputs for life in side)
    here, there = (
        np.array([np.pad(life, (0, width - len(life))) for life in side]) for side in outputs
    )
    rule = _trained(here[::2], there[::2])
    scores_here = here @ rule
    scores_there = there @ rule
    claim = pure(privacy.epsilon)
    likely = audit(scores_here, scores_there, claim, delta=privacy.delta, confidence=0.95)
    surely = audit(scores_here, scores_there, claim, delta=privacy.delta)
    curve = trade_off(scores_here[1::2], scores_there[1::2])
    return Attacked(
        epsilon=likely.shown,
        caught=surely.caught,
        false_alarms=curve.false_alarms.tolist(),
        misses=curve.misses.tolist(),
    )


class TradeOff(NamedTuple):
    """Rates of false alarms and misses, one per threshold."""

    false_alarms: Floats
    misses: Floats


def trade_off(here: Floats, there: Floats) -> TradeOff:
    """Return both errors of the rule "the other stream, if the score exceeds a threshold".

    >>> curve = trade_off(np.array([0.0, 1.0]), np.array([2.0, 3.0]))
    >>> curve.misses[0]  # at no false alarm
    np.float64(0.0)
    """
    levels = np.linspace(0, 1, POINTS)
    thresholds = np.quantile(here, 1 - levels, method="higher")
    false_alarms = np.array([np.mean(here > threshold) for threshold in thresholds])
    misses = np.array([np.mean(there <= threshold) for threshold in thresholds])
    return TradeOff(false_alarms, misses)


def allowed_misses(false_alarms: Floats, privacy: Privacy) -> Floats:
    """Return the lowest rates of misses that (ε, δ) allows at rates α of false alarms.

        max(0, 1 − δ − e^ε·α, e^−ε·(1 − δ − α))

    >>> allowed_misses(np.array([0.0, 0.5]), Privacy(1.0)).round(3)
    array([1.   , 0.184])
    """
    left = 1 - privacy.delta - np.exp(privacy.epsilon) * false_alarms
    right = np.exp(-privacy.epsilon) * (1 - privacy.delta - false_alarms)
    allowed: Floats = np.maximum(0, np.maximum(left, right))
    return allowed


def _lives(streams: Pair, runs: int, *, replaced: bool) -> list[list[float]]:
    """Return everything visible of each life, as numbers."""
    # The seed fixes the public coins; each life draws its own noise.
    settings = replace(streams.like.settings, seed=streams.seeds.public)
    lives = []
    for _ in range(runs):
        seen: list[float] = []
        learner = type(streams.like).from_settings(settings, door=_unseeded_door)
        note = partial(_note, seen)
        Life(streams, learner, note, replaced=replaced, closely=False).lead()
        lives.append(seen)
    return lives


def _unseeded_door(bits: RandomBits, reserved: Charge, index: int) -> Door:
    return Door(system_bits(), reserved, index)


def _note(seen: list[float], name: str, value: object) -> None:
    _collect(seen, value)


def _collect(seen: list[float], value: object) -> None:
    """Append the numbers of a visible value; chosen items become one indicator per item."""
    if isinstance(value, dict):
        for name in sorted(value):
            _collect(seen, value[name])
    elif isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.size <= 8:
        chosen = set(value.reshape(-1).tolist())
        seen.extend(float(item in chosen) for item in range(8))
        seen.extend(value.reshape(-1).astype(float))
    elif isinstance(value, np.ndarray | float | int) and np.asarray(value).dtype.kind in "biuf":
        numbers = np.nan_to_num(np.asarray(value, dtype=np.float64)).reshape(-1)
        seen.extend(np.clip(numbers, -LARGEST, LARGEST))


def _trained(here: Floats, there: Floats) -> Floats:
    """Return Fisher's linear discriminant on the features that differ most between the streams."""
    differences = there.mean(axis=0) - here.mean(axis=0)
    deviations = np.concatenate([here, there]).std(axis=0)
    distances = np.abs(differences) / np.where(deviations > 0, deviations, np.inf)
    best = np.argsort(-distances)[: max(1, min(MOST, len(here) // 4))]
    covariance = np.atleast_2d(np.cov(here[:, best].T) + np.cov(there[:, best].T)) / 2
    shrunk = covariance + SHRINKAGE * np.diag(np.diag(covariance)) + 1e-12 * np.eye(len(best))
    rule = np.zeros(here.shape[1])
    rule[best] = np.linalg.solve(shrunk, differences[best])
    return rule
