"""Slates from rewards only as printed ("BanditDP"): k ordered private experts, redrawn after explorations.

    draw a first set S = {a_1, …, a_k}, one item from each copy
    in round t = 1 … T, with probability γ, explore:
        choose a copy i and an item a uniformly, show {a_1, …, a_{i−1}, a} and see the reward
        copy i adds the reward to its sum of a
        every copy draws again, an item with probability ∝ exp(η · its sum)
    else show S once more, and learn nothing

Here a reward is 1 if the visitor clicks something of what is shown, and else 0.

Symbols     η the rate, γ the exploration, k the slots, n the items, T the horizon
Printed     γ = k((16 n ln n)²/T)^(1/3), clipped to 1 here; η = ε/(k√(64 γ T ln(k/δ))): each copy is one of
            discreet/lab/published/hedge.py at (ε/k, δ/k) with 2γT draws
            More than 2γT redraws have a chance of at most e^(−2γ²T), printed as e^(−8γ²T).
Verdict     SOUND for replace-one neighbours only while at most 2γT redraws are made; γ is 1 in all practice
Runtime     O(k log n) a round, O(n) a reward; memory O(k·n)
References  Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization",
            Algorithm 3
"""

from math import ceil, log
from typing import Any

import numpy as np

from discreet.compiled import compiled
from discreet.errors import ConfigError
from discreet.lab.display import Run, World
from discreet.lab.progress import Report
from discreet.lab.published import hedge
from discreet.lab.published.stretches import STRETCHES, run_in_stretches

__all__ = ["printed_exploration", "rate", "run"]


def printed_exploration(items: int, slots: int, horizon: int) -> float:
    """The printed γ = k((16 n ln n)²/T)^(1/3), at most 1: with 100 items and 5 slots it is 1 until T ≈ 7·10⁹.

    >>> printed_exploration(100, 5, 10**6)
    1.0
    >>> round(printed_exploration(100, 5, 10**11), 2)
    0.41
    """
    return float(min(1.0, slots * ((16 * items * log(max(items, 2))) ** 2 / horizon) ** (1 / 3)))


def rate(epsilon: float, delta: float, slots: int, horizon: int, exploration: float) -> float:
    """The printed η = ε/(k√(64 γ T ln(k/δ))).

    >>> f"{rate(1.0, 1e-6, 5, 100_000, exploration=1.0):.7f}"
    '0.0000201'
    """
    return hedge.rate(epsilon / slots, delta / slots, 2 * exploration * horizon)


def run(
    world: World,
    slots: int,
    epsilon: float,
    delta: float,
    *,
    exploration: float | None = None,
    seed: int = 0,
    report: Report | None = None,
) -> Run:
    """What the printed algorithm earns from a world of visitors. `report(visitors)` is called as they pass.

    `exploration` replaces the printed γ, also in the rate.

    >>> world = World.drawn(2000, items=20, seed=1)
    >>> earned = run(world, 3, 1.0, 1e-6).value
    >>> bool(world.share(earned, 3) < 0)  # every round explores, and mostly with less than a whole slate
    True
    """
    if slots < 1:
        raise ConfigError(f"slots must be at least 1, got {slots!r}")
    horizon, items = len(world.types), world.chances.shape[1]
    if exploration is None:
        exploration = printed_exploration(items, slots, horizon)
    if not 0 < exploration <= 1:
        raise ConfigError(f"exploration must be above 0 and at most 1, got {exploration!r}")
    printed = rate(epsilon, delta, slots, horizon, exploration)
    sums = np.zeros((slots, items))
    weights = np.empty((slots, items))
    slate = np.empty(slots, dtype=np.int64)
    stretch = ceil(horizon / STRETCHES)
    _start(seed, printed, sums, weights, slate)
    return run_in_stretches(
        world.types,
        stretch,
        lambda types: _learn(types, world.chances, printed, exploration, sums, weights, slate),
        report,
    )


# Below: compiled. `weights` are added up along each copy's items.


@compiled
def _start(seed: Any, rate: Any, sums: Any, weights: Any, slate: Any) -> None:
    """The first set."""
    np.random.seed(seed)
    for slot in range(slate.size):
        _weigh(sums[slot], rate, weights[slot])
        slate[slot] = _draw(weights[slot])


@compiled
def _learn(types: Any, chances: Any, rate: Any, exploration: Any, sums: Any, weights: Any, slate: Any) -> Any:
    """Some rounds: updates the sums, their weights and the slate, returns what was earned."""
    slots, items = sums.shape
    earned = 0.0
    for kind in types:
        if np.random.random() >= exploration:
            earned += _worth(chances[kind], slate)
            continue
        slot = np.random.randint(slots)
        item = np.random.randint(items)
        slate[slot] = item  # in its own place, for all of the slate is drawn again below
        worth = _worth(chances[kind], slate[: slot + 1])
        earned += worth
        if np.random.random() < worth:
            sums[slot, item] += 1.0
            _weigh(sums[slot], rate, weights[slot])
        for copy in range(slots):
            slate[copy] = _draw(weights[copy])
    return earned


@compiled
def _worth(chances: Any, shown: Any) -> Any:
    """The chance that a visitor clicks something of what is shown, an item counted once."""
    missed = 1.0
    for place in range(shown.size):
        repeated = False
        for earlier in range(place):
            if shown[earlier] == shown[place]:
                repeated = True
        if not repeated:
            missed *= 1 - chances[shown[place]]
    return 1 - missed


@compiled
def _weigh(sums: Any, rate: Any, weights: Any) -> None:
    """One copy's weights exp(rate · sum), added up along its items."""
    highest = sums.max()  # taken off first: no weight exceeds 1
    total = 0.0
    for index in range(sums.size):
        total += np.exp(rate * (sums[index] - highest))
        weights[index] = total


@compiled
def _draw(weights: Any) -> Any:
    """An index, with probability ∝ its weight."""
    return np.searchsorted(weights, weights[-1] * np.random.random(), side="right")
