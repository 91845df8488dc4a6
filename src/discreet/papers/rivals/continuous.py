"""Visitors whose tastes may drift, and what non-private meta-Frank–Wolfe earns from them.

share = value of the sets that were played / value of the points of non-private meta-Frank–Wolfe

References  Chen, Hassani, Karbasi (2018), "Online Continuous Submodular Maximization"
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.arrivals.continuous import ContinuousFunctions, Multilinear
from discreet.domains import UniformMatroid
from discreet.learners.continuous_maximizer import ContinuousMaximizer
from discreet.papers.printed import continuous, dpmfw
from discreet.papers.printed.promise import Noise, compared
from discreet.simulate.visits import pieces

__all__ = ["Tastes", "click_value", "meta_frank_wolfe", "played_value", "printed_value"]

COPIES, BLOCKS = 20, 200


@dataclass(frozen=True, eq=False)
class Tastes:
    """Click probabilities of a stream of visitors, one row each: alike over time, drifting, or switching."""

    rows: Floats

    @classmethod
    def drawn(cls, visitors: int, *, items: int = 100, stream: str = "iid", seed: int = 0) -> "Tastes":
        """Items and visitors are vectors; what moves is the mean of the visitors."""
        world = np.random.default_rng(1000 + seed)
        vectors, appeal = world.normal(size=(items, 5)), world.normal(size=items) * 0.8
        shift = world.normal(size=5) * 1.2
        people = np.random.default_rng(seed).normal(size=(visitors, 5))
        time = np.arange(visitors)
        if stream == "drift":
            people += np.sin(2 * np.pi * time / visitors)[:, None] * shift
        elif stream == "switch":
            people += np.where((time // max(visitors // 20, 1)) % 2, 1, -1)[:, None] * shift
        return cls(0.8 / (1 + np.exp(-(people @ vectors.T * 0.7 + appeal - 3))))


def click_value(rows: Floats, point: Floats) -> float:
    """Expected clicks of these visitors, if each item is shown with so much probability."""
    return float((1 - np.prod(1 - rows * point, axis=1)).sum())


def meta_frank_wolfe(
    rows: Floats, function: ContinuousFunctions, vertex: Callable[[Floats], Floats], start: Floats
) -> float:
    """What K = 20 stacked copies of follow-the-leader earn without noise, decided anew 200 times."""
    visitors = len(rows)
    ends = np.unique(np.round(visitors * (np.arange(1, BLOCKS + 1) / BLOCKS) ** 1.5).astype(int))
    totals, corners = np.zeros((COPIES, len(start))), np.tile(start, (COPIES, 1))
    earned, first = 0.0, 0
    for end in ends[ends > 0].tolist():
        part = rows[first:end]
        earned += click_value(part, corners.mean(axis=0))
        along = np.vstack([np.zeros(len(start)), np.cumsum(corners, axis=0)[:-1] / COPIES])
        for copy in range(COPIES):
            totals[copy] += function.gradients(part, along[copy]).sum(axis=0)
        corners = np.array([vertex(total) for total in totals])
        first = end
    return earned


def played_value(learner: ContinuousMaximizer, rows: Floats) -> float:
    """What the sets that a learner plays are worth, burn-in counted."""
    earned = 0.0
    for piece in pieces(learner, len(rows), 50_000):
        part = rows[piece.start : piece.stop]
        sets: Integers = learner.preview(len(piece))
        shown = np.where(sets >= 0, np.take_along_axis(part, np.maximum(sets, 0), axis=1), 0.0)
        earned += float((1 - np.prod(1 - shown, axis=1)).sum())
        learner.observe_many(part)
    return earned


@compared()
def printed_value(
    name: str, rows: Floats, domain: UniformMatroid, epsilon: float, *, noise: Noise, seed: int
) -> float:
    """What the papers' algorithms earn: "alg4" by its points, "dpmfw" by sets rounded from them.

    A point of DPMFW is kept for 20 people, which is faster, and as private.
    """
    if name == "alg4":
        played = continuous.run(rows, Multilinear(), domain, epsilon, noise=noise, seed=seed)
        return float((1 - np.prod(1 - rows * played.decisions, axis=1)).sum())
    played = dpmfw.run(rows, Multilinear(), domain, epsilon, 1e-6, noise=noise, block=20, seed=seed)
    shown = np.take_along_axis(rows, dpmfw.sets_of(domain, played.decisions, seed=seed), axis=1)
    return float((1 - np.prod(1 - shown, axis=1)).sum())
