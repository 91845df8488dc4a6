"""What the modes of `SetMaximizer` share: their shape, and the gains of items on top of a slate."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.arrivals.set_functions import SetFunction, SetFunctions
from discreet.release.arrays import Floats, Integers, Mask
from discreet.release.coins import Coin
from discreet.release.door import Door
from discreet.release.privacy import Charge
from discreet.release.turn import Batch, Plan, State

__all__ = ["ConstantSlate", "Mode", "Setting", "distinct_leaders", "gains_along", "restricted", "shrunk"]

People = Floats | list[SetFunction]
"""Rows for a family of set functions, or one callable a person."""


@dataclass(frozen=True)
class Setting:
    """The public facts that every mode needs."""

    items: int
    slots: int
    horizon: int
    budget: Charge
    bound: float
    functions: SetFunctions | None
    block: int | str
    name: bytes
    """Tells this configuration from others: the source of the first, arbitrary slate."""

    @property
    def width(self) -> int:
        return self.items if self.functions is None else self.functions.width(self.items)

    def first_slate(self) -> Integers:
        """A slate that was chosen before anyone came."""
        coin, left = Coin(self.name[:16], 0), list(range(self.items))
        return np.array([left.pop(coin.below(len(left))) for _ in range(self.slots)])


class Mode(Protocol):
    """The hooks of a learner, for one way of learning. `people` are rows, callables, rewards or clicks that passed the entrance."""

    def plan(self) -> Plan: ...

    def start(self) -> tuple[State, State]: ...

    def digest(self, public: State, secret: State, people: Any, batch: Batch) -> State: ...

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]: ...

    def decide(self, public: State, round: int, available: Mask | None) -> Integers: ...

    def decide_many(self, public: State, rounds: range) -> Integers: ...


class ConstantSlate:
    """A mode that shows one slate a block."""

    def decide(self, public: State, round: int, available: Mask | None) -> Integers:
        """The slate without what is unavailable, filled up with other available items."""
        return restricted(public["slate"], available)

    def decide_many(self, public: State, rounds: range) -> Integers:
        """The slate, once a round."""
        slate: Integers = public["slate"]
        return np.broadcast_to(slate, (len(rounds), len(slate)))


def gains_along(setting: Setting, people: People, slate: Integers) -> Iterator[Floats]:
    """For each prefix of the slate: every person's gain of every item on top of it, in [0, 1].

    The gain of an item that is in the prefix is that on top of the *other* items: what the slot would see if it were free.
    """
    for slot in range(len(slate)):
        before = slate[:slot].tolist()
        gains = _gains(setting, people, before)
        for item in before:
            gains[:, item] = _gains(setting, people, [other for other in before if other != item])[:, item]
        yield np.clip(gains, 0.0, setting.bound) / setting.bound


def _gains(setting: Setting, people: People, chosen: list[int]) -> Floats:
    functions = setting.functions
    if functions is None:
        return np.array([person.gains(chosen, setting.items) for person in people])
    covered = functions.begin(people)  # type: ignore[arg-type]
    for item in chosen:
        covered = functions.add(people, covered, item)  # type: ignore[arg-type]
    return functions.gains(people, covered)  # type: ignore[arg-type]


def distinct_leaders(table: Floats, available: Mask | None = None) -> Integers:
    """Slot by slot the best item that is available and not shown yet; fewer than all slots if items run out."""
    left = np.ones(table.shape[1], dtype=np.bool_) if available is None else available.copy()
    slate: list[int] = []
    for scores in table:
        if not left.any():
            break
        slate.append(int(np.argmax(np.where(left, scores, -np.inf))))
        left[slate[-1]] = False
    return np.array(slate, dtype=np.int64)


def shrunk(table: Floats, variance: float) -> Floats:
    """A noisy table with what its slots have in common taken more seriously than how they differ.

    Every row is its items' common score plus its own deviation; deviations are scaled down as far as noise of this variance
    explains them (James and Stein's estimate). It reads released numbers only.
    """
    centred = table - table.mean(axis=1, keepdims=True)
    common = centred.mean(axis=0, keepdims=True)
    own = centred - common
    freedom = max(1, (table.shape[0] - 1) * (table.shape[1] - 1))
    spread = float(np.sum(own**2)) / freedom
    kept = max(0.0, 1 - variance / spread) if spread > 0 else 1.0
    return np.asarray(common + kept * own, dtype=np.float64)


def restricted(slate: Integers, available: Mask | None) -> Integers:
    """The slate without what is unavailable, filled up with other available items in order."""
    if available is None:
        return slate
    kept = slate[available[slate]]
    rest = available.copy()
    rest[kept] = False
    return np.concatenate([kept, np.flatnonzero(rest)[: len(slate) - len(kept)]])
