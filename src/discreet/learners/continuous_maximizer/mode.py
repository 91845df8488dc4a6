"""Base classes of the modes of `ContinuousMaximizer`: typed rows, and decisions from a point."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers, repeated
from discreet.engine.coins import Coin
from discreet.engine.labels import Label, Labels
from discreet.engine.problem import Problem
from discreet.engine.request import Batch, Request
from discreet.engine.view import View
from discreet.errors import OutOfBounds
from discreet.feedback import as_rows
from discreet.functions.continuous import ContinuousFunctions, Multilinear
from discreet.functions.sampled_sets import SampledSets
from discreet.functions.sets import ClickModel, FacilityLocation, WeightedCoverage
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings
from discreet.learners.labels import names_by_number
from discreet.learners.streams import assumed_by
from discreet.optim.knapsack import Knapsack
from discreet.optim.rounding import rounded_knapsack

Family = ClickModel | FacilityLocation | WeightedCoverage
"""Built-in families of set functions."""

MOST_PEOPLE = 4096
"""Largest number of people in one chunk."""
MOST_NUMBERS = 2**22
"""Largest number of entries of people's rows in one chunk."""


class Pointed(Protocol):
    """Public state with a point of the domain."""

    @property
    def point(self) -> Floats:
        """Amount of each item in the decision."""


Published = TypeVar("Published", bound=Pointed)


@dataclass(eq=False, slots=True)
class People:
    """Admitted rows, one per person, with the rounds in which they came."""

    rounds: Integers
    rows: Floats

    def parts(self) -> Iterator[Floats]:
        """Yield the rows in chunks."""
        chunk = _chunk(self.rows.shape[1])
        if len(self.rows) <= chunk:
            yield self.rows
            return
        for first in range(0, len(self.rows), chunk):
            yield self.rows[first : first + chunk]


def built_in_family(function: ContinuousFunctions) -> Family | None:
    """Return the built-in family whose multilinear extension this function is; otherwise None."""
    if not isinstance(function, Multilinear) or isinstance(function.family, SampledSets):
        return None
    return function.family


def _chunk(width: int) -> int:
    """Return the number of people per chunk, given the width of their rows."""
    return max(1, min(MOST_PEOPLE, MOST_NUMBERS // width))


class PointMode(Problem):
    """Base class of modes that decide by a point of the domain, or by the set that it encodes."""

    proof = "continuous.md"
    settings: ContinuousMaximizerSettings

    @property
    def assumes(self) -> str:
        return assumed_by(self.settings.stream)

    @property
    def decision_size(self) -> int:
        return self.settings.domain.items

    @cached_property
    def width(self) -> int:
        """Number of entries of a person's row."""
        return self.settings.function.width(self.settings.domain.items)

    def blank(self) -> Floats:
        return np.zeros(self.width)

    def single(self, decisions: np.ndarray) -> np.ndarray:
        decision: np.ndarray = decisions[0]
        return decision if self.settings.play == "point" else decision[decision >= 0]

    def first_point(self) -> Floats:
        """Return the random vertex of the first round."""
        generator = Coin(self.name, 0).generator()
        return self.settings.domain.vertex(generator.random(self.settings.domain.items))

    @cached_property
    def labels(self) -> Labels | None:
        """Labels of sets; None for points, and if items have no labels."""
        settings = self.settings
        if settings.labels is None or settings.play == "point":
            return None
        return Labels(settings.labels, "set" if isinstance(settings.domain, Knapsack) else "slate")


class PointView(View[Published]):
    """A block in which all rounds get the same point, or a set that it encodes."""

    problem: PointMode

    @property
    def settings(self) -> ContinuousMaximizerSettings:
        """Settings of the learner."""
        return self.problem.settings

    def read(self, batch: Batch) -> object:
        """Return the rows of a batch, clipped to their range; a single malformed row is refused."""
        width = self.problem.width
        function = self.settings.function
        items = self.settings.domain.items
        rows = as_rows(batch, width)
        chunk = _chunk(width)
        with np.errstate(all="ignore"):  # a warning would reveal personal data
            if len(rows) <= chunk:
                admitted, is_valid = function.admit(rows, items)
                if batch.single and not is_valid.all():
                    raise OutOfBounds(
                        f"feedback must be {width} numbers in the range of "
                        f"{type(function).__name__}"
                    )
                return People(batch.rounds, admitted)
            admitted = np.empty(rows.shape)
            for first in range(0, len(rows), chunk):
                part = slice(first, first + chunk)
                admitted[part], _ = function.admit(rows[part], items)
        return People(batch.rounds, admitted)

    def decide(self, rounds: Integers, request: Request) -> np.ndarray:
        point = self.public.point
        domain = self.settings.domain
        if self.settings.play == "point":
            return np.asarray(repeated(point, len(rounds)))
        if not isinstance(domain, Knapsack):
            return np.asarray(repeated(np.flatnonzero(point > 0.5), len(rounds)))
        table = np.full((len(rounds), domain.rank), -1)
        for place, round in enumerate(rounds):
            chosen = rounded_knapsack(domain, point, Coin(self.coins.key, int(round)))
            table[place, : len(chosen)] = sorted(chosen)
        return table

    def names(self) -> list[Label]:
        return names_by_number(self.settings.domain.items, self.settings.labels)

    @property
    def labels(self) -> Labels | None:
        return self.problem.labels

    def plain(self) -> dict[str, object]:
        names = self.names()
        point = self.public.point
        return {"point": {names[item]: float(point[item]) for item in np.flatnonzero(point)}}
