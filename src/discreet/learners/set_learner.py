"""What learners of sets share: labels, and hooks that a mode fills."""

from abc import abstractmethod
from typing import Any

import numpy as np

from discreet.arrivals.interrupts import raise_interrupts
from discreet.release.door import Door
from discreet.release.learner import Learner
from discreet.release.turn import Batch, State

__all__ = ["SetLearner"]


class SetLearner(Learner):
    """A learner whose ways of learning are modes, each in a file of its own."""

    config: Any
    _mode: Any

    @property
    def labels(self) -> Any:
        """The items' names, to be indexed with a set."""
        return np.arange(self.config.items) if self.config.labels is None else np.array(self.config.labels)

    def start(self) -> tuple[State, State]:
        state: tuple[State, State] = self._mode.start()
        return state

    def digest(self, public: State, secret: State, batch: Batch) -> State:
        changed: State = self._mode.digest(public, secret, self._people(batch), batch)
        return changed

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        released: tuple[State, State] = self._mode.release(public, secret, door)
        return released

    @abstractmethod
    def _people(self, batch: Batch) -> Any:
        """Feedback as the mode wants it, every number in its range; `OutOfBounds` if it is of the wrong kind."""

    def _digest(self, batch: Batch) -> None:
        super()._digest(batch)
        raise_interrupts()
