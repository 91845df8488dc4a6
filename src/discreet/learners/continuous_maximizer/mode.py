"""What the modes of `ContinuousMaximizer` share: people who come in, and decisions off a point."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

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
"""Families that say what each set is worth to a person."""

MOST_PEOPLE, MOST_NUMBERS = 4096, 2**22
"""Most people, and most of their numbers, that are computed with at once."""


class Pointed(Protocol):
    """Public state that leads to a point of the domain."""

    @property
    def point(self) -> Floats:
        """How much of each item is decided."""


Published = TypeVar("Published", bound=Pointed)


@dataclass(eq=False, slots=True)
class People:
    """Admitted rows, one per person, with the rounds in which they came."""

    rounds: Integers
    rows: Floats

    def parts(self) -> Iterator[Floats]:
        """Yield the rows, some at a time."""
        chunk = _chunk(self.rows.shape[1])
        if len(self.rows) <= chunk:
            yield self.rows
            return
        for first in range(0, len(self.rows), chunk):
            yield self.rows[first : first + chunk]


def built_in_family(function: ContinuousFunctions) -> Family | None:
    """Return the family of which a function is the multilinear extension; None if it is of none."""
    if not isinstance(function, Multilinear) or isinstance(function.family, SampledSets):
        return None
    return function.family


def _chunk(width: int) -> int:
    """Return the number of people of this width that are computed with at once."""
    return max(1, min(MOST_PEOPLE, MOST_NUMBERS // width))


class PointMode(Problem):
    """A way of deciding by a point of the domain: the point itself, or a set that it stands for."""

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
        """How many numbers describe one person."""
        return self.settings.function.width(self.settings.domain.items)

    def blank(self) -> Floats:
        return np.zeros(self.width)

    def single(self, decisions: Any) -> Any:
        found = decisions[0]
        return found if self.settings.play == "point" else found[found >= 0]

    def first_point(self) -> Floats:
        """Return a vertex that was chosen before anyone came."""
        generator = Coin(self.name, 0).generator()
        return self.settings.domain.vertex(generator.random(self.settings.domain.items))

    @cached_property
    def labels(self) -> Labels | None:
        """How sets are told in labels; None for points, and if items are numbers."""
        settings = self.settings
        if settings.labels is None or settings.play == "point":
            return None
        return Labels(settings.labels, "set" if isinstance(settings.domain, Knapsack) else "slate")


class PointView(View[Published]):
    """A block in which everyone gets the same point, or a set that it stands for."""

    problem: PointMode

    @property
    def settings(self) -> ContinuousMaximizerSettings:
        """The settings of the learner."""
        return self.problem.settings

    def read(self, batch: Batch) -> Any:
        """Admit everyone's row; a single row that cannot be read is refused."""
        settings, width = self.problem.settings, self.problem.width
        function, items = settings.function, settings.domain.items
        rows = as_rows(batch, width)
        with np.errstate(all="ignore"):  # a warning would tell about a person
            if len(rows) <= (chunk := _chunk(width)):
                admitted, fine = function.admit(rows, items)
                if batch.single and not fine.all():
                    raise OutOfBounds(
                        f"feedback must be {width} numbers in the range of "
                        f"{type(function).__name__}"
                    )
                return People(batch.rounds, admitted)
            admitted = np.empty(rows.shape)
            for first in range(0, len(rows), chunk):
                admitted[first : first + chunk] = function.admit(
                    rows[first : first + chunk], items
                )[0]
        return People(batch.rounds, admitted)

    def decide(self, rounds: Integers, request: Request) -> Any:
        point, domain = self.public.point, self.settings.domain
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

    def plain(self) -> dict[str, Any]:
        names, point = self.names(), self.public.point
        return {"point": {names[item]: float(point[item]) for item in np.flatnonzero(point)}}
