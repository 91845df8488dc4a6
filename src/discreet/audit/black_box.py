"""Attacks on outputs alone: an attacker knows everybody but one person, and sees all that a learner
shows.

Of two neighbouring streams (the pair that the exact audit found worst; nobody else answers) each is
lived many times, with the same public coins and noise from the operating system. Everything visible
becomes numbers; half of the lives teach a linear rule that tells the streams apart, the other half
judge it. How often it is right bounds ε from below (Clopper and Pearson); how often it is wrong
either way is the trade-off curve that the attacker reached, beside the one that (ε, δ) allows.

It knows nothing of how a learner works, so it sees what the exact audit cannot: the law of the
noise itself.

References  Dong, Roth, Su (2022), "Gaussian Differential Privacy"; Nasr et al. (2023), "Tight Auditing"
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.audit.life import Life
from discreet.audit.lower_bound import audit
from discreet.audit.transcript import AnyPair, neighbours
from discreet.budget.privacy import Charge, Privacy, pure
from discreet.release.door import Door
from discreet.release.randomness import RandomBits, system_bits

MOST = 60
"""How many numbers a rule may use."""
LARGEST = 1e100
"""Numbers beyond are cut, so that squares of them can be added up."""
SHRINKAGE = 0.001
"""How far their covariances are drawn to zero."""
POINTS = 41
"""Of a trade-off curve."""


@dataclass(frozen=True)
class Attacked:
    """What the attacker reached."""

    epsilon: float
    """The true ε is at least this, at a confidence of 95 %."""
    caught: bool
    """Whether it exceeds the claim, at a confidence of 1 − 10⁻⁶: beyond chance, whatever else is
    audited.
    """
    false_alarms: list[float]
    misses: list[float]
    """How often the rule is wrong either way, on lives that it was not taught with."""


def attack(case: Case, privacy: Privacy, *, runs: int, pair: int, seed: int = 0) -> Attacked:
    """Tell the two streams of a pair apart, from so many lives of each."""
    streams = neighbours(case, case.make(), seed=seed, number=pair).alone()
    outputs = [_lives(streams, runs, replaced=replaced) for replaced in (False, True)]
    width = max(len(life) for side in outputs for life in side)
    here, there = (
        np.array([np.pad(life, (0, width - len(life))) for life in side]) for side in outputs
    )
    rule = _taught(here[::2], there[::2])
    scores = here @ rule, there @ rule
    claim = pure(privacy.epsilon)
    likely = audit(*scores, claim, delta=privacy.delta, confidence=0.95)
    surely = audit(*scores, claim, delta=privacy.delta)
    false_alarms, misses = trade_off(scores[0][1::2], scores[1][1::2])
    return Attacked(likely.shown, surely.caught, false_alarms.tolist(), misses.tolist())


def trade_off(here: Floats, there: Floats) -> tuple[Floats, Floats]:
    """False alarms and misses of the rule "it was the other stream if the score exceeds a
    threshold".

    >>> trade_off(np.array([0.0, 1.0]), np.array([2.0, 3.0]))[1][0]  # told apart without any error
    np.float64(0.0)
    """
    levels = np.linspace(0, 1, POINTS)
    thresholds = np.quantile(here, 1 - levels, method="higher")
    false_alarms = np.array([np.mean(here > threshold) for threshold in thresholds])
    misses = np.array([np.mean(there <= threshold) for threshold in thresholds])
    return false_alarms, misses


def allowed_misses(false_alarms: Floats, privacy: Privacy) -> Floats:
    """The fewest misses that (ε, δ) allows an attacker: max(0, 1 − δ − e^ε·α, e^−ε·(1 − δ − α)).

    >>> allowed_misses(np.array([0.0, 0.5]), Privacy(1.0)).round(3)
    array([1.   , 0.184])
    """
    left = 1 - privacy.delta - np.exp(privacy.epsilon) * false_alarms
    right = np.exp(-privacy.epsilon) * (1 - privacy.delta - false_alarms)
    allowed: Floats = np.maximum(0, np.maximum(left, right))
    return allowed


def _lives(streams: AnyPair, runs: int, *, replaced: bool) -> list[list[float]]:
    """What was visible of each life, as numbers."""
    settings = replace(
        streams.like.settings, seed=streams.seeds[2]
    )  # of the coins; noise is drawn afresh
    lives = []
    for _ in range(runs):
        seen: list[float] = []
        learner = type(streams.like).from_settings(settings, door=_fresh_door)
        note = partial(_note, seen)
        Life(streams, learner, note, replaced=replaced, closely=False).lead()
        lives.append(seen)
    return lives


def _fresh_door(bits: RandomBits, reserved: Charge, index: int) -> Door:
    return Door(system_bits(), reserved, index)


def _note(seen: list[float], name: str, value: object) -> None:
    _collect(seen, value)


def _collect(seen: list[float], value: object) -> None:
    """Append the numbers of something visible; items that were chosen become one number an item."""
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


def _taught(here: Floats, there: Floats) -> Floats:
    """Fisher's linear rule on the numbers that lie farthest apart in the two streams."""
    apart = there.mean(axis=0) - here.mean(axis=0)
    deviations = np.concatenate([here, there]).std(axis=0)
    distances = np.abs(apart) / np.where(deviations > 0, deviations, np.inf)
    best = np.argsort(-distances)[: max(1, min(MOST, len(here) // 4))]
    spread = np.atleast_2d(np.cov(here[:, best].T) + np.cov(there[:, best].T)) / 2
    shrunk = spread + SHRINKAGE * np.diag(np.diag(spread)) + 1e-12 * np.eye(len(best))
    rule = np.zeros(here.shape[1])
    rule[best] = np.linalg.solve(shrunk, apart[best])
    return rule
