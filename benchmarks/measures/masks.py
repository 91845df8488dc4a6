"""Time of a round with a mask over that of a round without."""

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from discreet import ContextualBandit, Privacy, SetMaximizer, SetMinimizer

ROUNDS = 2000
"""Rounds that are timed together."""
REPEATS = 9
"""Times that each is timed, plain and masked in turn; the median is reported."""
BEFORE = 3000
"""Rounds that come first: caches are warm, and slates are tried."""
USUAL = Privacy(1.0, 1e-6)


def masked_round_over_plain() -> float:
    """Seconds of act(available=mask) + observe over act() + observe: 100 items, 5 slots, clicks.

    Nine in ten items are available. Seconds are those of the process.
    """
    return round(_ratio(*_clicks()), 2)


def other_masked_rounds_over_plain() -> dict[str, float]:
    """The ratio for rewards of slates, single costs (SetMinimizer) and arms."""
    return {name: round(_ratio(*made()), 2) for name, made in OTHERS.items()}


def _clicks() -> tuple[Any, Any, int, None]:
    learner = SetMaximizer(100, 5, 1_000_000, USUAL, feedback="clicks", seed=1)
    return learner, lambda slate: slate[0], 100, None


def _rewards() -> tuple[Any, Any, int, None]:
    learner = SetMaximizer(100, 5, 1_000_000, USUAL, feedback="bandit", seed=1)
    return learner, lambda slate: 1.0, 100, None


def _costs() -> tuple[Any, Any, int, None]:
    learner = SetMinimizer(100, 1_000_000, USUAL, feedback="bandit", seed=1)
    return learner, lambda chosen: 0.5, 100, None


def _arms() -> tuple[Any, Any, int, Any]:
    learner = ContextualBandit(100, 10, 1_000_000, USUAL, seed=1)
    return learner, lambda arm: 0.5, 100, np.full(10, 0.3)


OTHERS: dict[str, Callable[[], tuple[Any, Any, int, Any]]] = {
    "rewards": _rewards,
    "costs": _costs,
    "arms": _arms,
}


def _ratio(learner: Any, answer: Callable[[Any], Any], candidates: int, context: Any) -> float:
    """Return the median time of masked rounds over that of plain ones, measured alternately."""
    masks = np.random.default_rng(3).random((ROUNDS, candidates)) < 0.9
    masks[:, 0] = True
    asked = () if context is None else (context,)

    def plain() -> float:
        began = process_time()
        for _ in range(ROUNDS):
            learner.observe(answer(learner.act(*asked)))
        return process_time() - began

    def masked() -> float:
        began = process_time()
        for mask in masks:
            learner.observe(answer(learner.act(*asked, available=mask)))
        return process_time() - began

    for _ in range(max(1, BEFORE // (2 * ROUNDS))):
        plain(), masked()
    pairs = [(plain(), masked()) for _ in range(REPEATS)]
    return median(second / first for first, second in pairs)
