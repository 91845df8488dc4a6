"""What the modes of `SetMinimizer` share: their shape, and sets drawn from a point of the cube."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.arrivals.cost_functions import CostFunctions
from discreet.decide.extensions import chain, threshold_sizes
from discreet.release.arrays import Floats, Integers
from discreet.release.coins import Coin
from discreet.release.door import Door
from discreet.release.privacy import Charge
from discreet.release.turn import Batch, Plan, State

__all__ = ["Mode", "Setting", "drawn_sizes"]


@dataclass(frozen=True)
class Setting:
    """The public facts that every mode needs."""

    items: int
    horizon: int
    budget: Charge
    bound: float
    functions: CostFunctions | None
    name: bytes
    """Tells this configuration from others: the source of public shuffles."""


class Mode(Protocol):
    """The hooks of a learner, for one way of learning. `people` are rows, callables or numbers that passed the entrance."""

    def plan(self) -> Plan: ...

    def start(self) -> tuple[State, State]: ...

    def digest(self, public: State, secret: State, people: Any, batch: Batch) -> State: ...

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]: ...

    def sizes(self, public: State, rounds: range | list[int], coin_key: bytes) -> tuple[Integers, Integers]:
        """The chain, and how many of its items are chosen in each round."""


def drawn_sizes(point: Floats, rounds: range | list[int], coin_key: bytes) -> tuple[Integers, Integers]:
    """The chain of a point, and how many of its items lie above each round's threshold, a public coin."""
    thresholds = np.array([Coin(coin_key, round).uniform() for round in rounds])
    return chain(point), threshold_sizes(point, thresholds)
