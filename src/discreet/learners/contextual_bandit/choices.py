"""Rules that choose arms: uniformly, by the best score, or with young arms in some rounds.

A choice is a function of public values, of the person's own context and mask, and of public coins.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.coins import Coins
from discreet.learners.contextual_bandit.arms import Arms


class Choice(Protocol):
    """Rule that chooses arms."""

    def chosen(self, rounds: Integers, scores: Floats, allowed: Mask | None) -> Integers:
        """Return one arm per round; `scores` has one row per round, and so has `allowed`."""


@dataclass(frozen=True)
class UniformChoice:
    """Rule that plays all arms equally likely, until scores are released."""

    arms: Arms
    coins: Coins = field(repr=False)

    def chosen(self, rounds: Integers, scores: Floats, allowed: Mask | None) -> Integers:
        return _uniform(allowed, self.arms.active, self.coins.uniform(rounds))


@dataclass(frozen=True)
class BestChoice:
    """Rule that plays the arm with the best score."""

    arms: Arms

    def chosen(self, rounds: Integers, scores: Floats, allowed: Mask | None) -> Integers:
        if allowed is not None:
            scores = np.where(allowed, scores, -np.inf)
        elif self.arms.active < scores.shape[1]:
            scores = scores[:, : self.arms.active]
        return np.asarray(scores.argmax(axis=1))


@dataclass(frozen=True)
class NewcomersChoice:
    """Rule that plays the best known arm, but young arms in an equal share of rounds."""

    arms: Arms
    coins: Coins = field(repr=False)

    def chosen(self, rounds: Integers, scores: Floats, allowed: Mask | None) -> Integers:
        active = self.arms.active
        young = self.arms.young
        known = self.arms.known
        coins = self.coins.uniform(rounds)
        if allowed is None:
            allowed = self.arms.every_row(scores.shape)
        best = np.where(allowed, scores, -np.inf)[:, :known].argmax(axis=1)
        tried = known + np.minimum((coins * active).astype(np.int64), young - 1)
        is_trial = coins < young / active
        is_allowed = allowed[np.arange(len(scores)), tried]
        chosen = np.where(is_trial & is_allowed, tried, best)
        without_known = ~allowed[:, :known].any(axis=1)
        return np.where(without_known, _uniform(allowed, active, coins), chosen)


def _uniform(allowed: Mask | None, active: int, coins: Floats) -> Integers:
    """Return one allowed arm per round, all equally likely."""
    if allowed is None:
        return (coins * active).astype(np.int64)
    places = (coins * allowed.sum(axis=1)).astype(np.int64)
    return np.asarray((np.cumsum(allowed, axis=1) > places[:, None]).argmax(axis=1))
