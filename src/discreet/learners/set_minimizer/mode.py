"""Base classes of the modes of `SetMinimizer`: sets as decisions, from a point of the cube."""

from abc import abstractmethod
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.declarations import DecisionForm, Promise, Questions, Readings
from discreet.engine.mode import Mode
from discreet.engine.phase import Phase
from discreet.engine.readings import Scores
from discreet.learners.set_minimizer.settings import SetMinimizerSettings
from discreet.learners.streams import assumed_by


class Pointed(Protocol):
    """Public state with a point of the cube."""

    @property
    def point(self) -> Floats:
        """Probability that each item is chosen."""


Published = TypeVar("Published", bound=Pointed)


class CubeMode(Mode):
    """Base class of the modes of `SetMinimizer`."""

    settings: SetMinimizerSettings

    @property
    def promise(self) -> Promise:
        return Promise("costs.md", assumes=assumed_by(self.settings.stream))

    @cached_property
    def questions(self) -> Questions:
        return Questions(self.settings.items)

    @cached_property
    def decisions(self) -> DecisionForm:
        settings = self.settings
        return DecisionForm.among(
            "set",
            settings.items,
            settings.labels,
            size=settings.items,
            previews=settings.stream != "adversarial",
        )


class CubePhase(Phase[Published]):
    """Phase of a block whose sets follow from a point of the cube."""

    mode: CubeMode

    def readings(self) -> Readings:
        chances = self.mode.decisions.named(self.public.point.tolist())
        return Readings({"chances": chances}, self._scores)

    @abstractmethod
    def _scores(self, context: object) -> Scores:
        """Return the estimated saving of each item."""


# --- sets as rows of numbers ----------------------------------------------------------------------


def one_set(chosen: Integers, items: int) -> Integers:
    """Return a table with one set, padded with −1.

    >>> one_set(np.array([1, 2]), 4)
    array([[ 1,  2, -1, -1]])
    """
    sets = np.full((1, items), -1)
    sets[0, : len(chosen)] = chosen
    return sets


def available_sets(sets: Integers, available: Mask | None) -> Integers:
    """Return these sets without unavailable items, padded with −1.

    >>> available_sets(np.array([[0, 2], [1, -1]]), np.array([False, True, True]))
    array([[ 2, -1],
           [ 1, -1]])
    """
    if available is None:
        return sets
    items = available.shape[-1]
    if len(sets) == 1:  # faster, for a visitor who waits
        chosen = sets[0][sets[0] >= 0]
        return one_set(chosen[available.reshape(-1)[chosen]], items)
    masks = np.broadcast_to(available, (len(sets), items))
    is_unavailable = (sets >= 0) & ~np.take_along_axis(masks, np.maximum(sets, 0), axis=1)
    with_last = np.where(is_unavailable | (sets < 0), items, sets)  # these sort to the end
    sets = np.sort(with_last, axis=1)
    return np.where(sets == items, -1, sets)
