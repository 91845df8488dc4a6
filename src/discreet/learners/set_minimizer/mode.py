"""Base classes of the modes of `SetMinimizer`: sets as decisions, from a point of the cube."""

from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.labels import Label, Labels
from discreet.engine.problem import Problem
from discreet.engine.view import View
from discreet.learners.labels import names_by_number
from discreet.learners.set_minimizer.settings import SetMinimizerSettings


class Pointed(Protocol):
    """Public state with a point of the cube."""

    @property
    def point(self) -> Floats:
        """Probability that each item is chosen."""


Published = TypeVar("Published", bound=Pointed)


class CubeMode(Problem):
    """Base class of the modes of `SetMinimizer`."""

    proof = "costs.md"
    settings: SetMinimizerSettings

    @property
    def candidates(self) -> int:
        return self.settings.items

    @property
    def decision_size(self) -> int:
        return self.settings.items

    def single(self, decisions: Integers) -> Integers:
        chosen: Integers = decisions[0]
        return np.asarray(chosen[chosen >= 0])

    @cached_property
    def labels(self) -> Labels | None:
        """Translation of sets into labels; None if items are numbers."""
        return None if self.settings.labels is None else Labels(self.settings.labels, "set")


class CubeView(View[Published]):
    """View of a block whose sets follow from a point of the cube."""

    problem: CubeMode

    def names(self) -> list[Label]:
        settings = self.problem.settings
        return names_by_number(settings.items, settings.labels)

    @property
    def labels(self) -> Labels | None:
        return self.problem.labels

    def plain(self) -> dict[str, object]:
        return {"chances": dict(zip(self.names(), self.public.point.tolist(), strict=True))}


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
