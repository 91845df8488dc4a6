"""Base classes of the modes of `ContinuousMaximizer`: typed rows, and decisions from a point."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers, repeated
from discreet.engine.coins import Coin
from discreet.engine.declarations import Answer, DecisionForm, Promise, Readings
from discreet.engine.labels import Decides
from discreet.engine.mode import Mode
from discreet.engine.phase import Phase
from discreet.engine.request import Batch, Request
from discreet.errors import OutOfBounds
from discreet.feedback import as_rows
from discreet.functions.continuous import ContinuousFunctions, Multilinear
from discreet.functions.sampled_sets import SampledSets
from discreet.functions.sets import ClickModel, FacilityLocation, WeightedCoverage
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings
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


@dataclass(frozen=True)
class FunctionRow(Answer):
    """A row of numbers for the function, clipped to its range."""

    function: ContinuousFunctions
    items: int

    @cached_property
    def width(self) -> int:
        """Number of entries of a person's row."""
        return self.function.width(self.items)

    @property
    def blank(self) -> Floats:
        """A row of zeros."""
        return np.zeros(self.width)

    def read(self, batch: Batch) -> People:
        """Return the rows of a batch; a single malformed row is refused."""
        rows = as_rows(batch, self.width)
        chunk = _chunk(self.width)
        with np.errstate(all="ignore"):  # a warning would reveal personal data
            if len(rows) <= chunk:
                admitted, is_valid = self.function.admit(rows, self.items)
                if batch.single and not is_valid.all():
                    raise OutOfBounds(
                        f"feedback must be {self.width} numbers in the range of "
                        f"{type(self.function).__name__}"
                    )
                return People(batch.rounds, admitted)
            admitted = np.empty(rows.shape)
            for first in range(0, len(rows), chunk):
                part = slice(first, first + chunk)
                admitted[part], _ = self.function.admit(rows[part], self.items)
        return People(batch.rounds, admitted)


class PointMode(Mode):
    """Base class of modes that decide by a point of the domain, or by the set that it encodes."""

    settings: ContinuousMaximizerSettings

    @property
    def promise(self) -> Promise:
        return Promise("continuous.md", assumes=assumed_by(self.settings.stream))

    @cached_property
    def answer(self) -> Answer:
        return FunctionRow(self.settings.function, self.settings.domain.items)

    @cached_property
    def decisions(self) -> DecisionForm:
        settings = self.settings
        items = settings.domain.items
        kind: Decides = "set" if isinstance(settings.domain, Knapsack) else "slate"
        form = DecisionForm.among(kind, items, settings.labels, size=items)
        return replace(form, kind="numbers", labels=None) if settings.play == "point" else form

    def first_point(self) -> Floats:
        """Return the random vertex of the first round."""
        generator = self.settings.coin(0).generator()
        return self.settings.domain.vertex(generator.random(self.settings.domain.items))


class PointPhase(Phase[Published]):
    """A block in which all rounds get the same point, or a set that it encodes."""

    mode: PointMode

    @property
    def settings(self) -> ContinuousMaximizerSettings:
        """Settings of the learner."""
        return self.mode.settings

    def decide(self, rounds: Integers, request: Request) -> np.ndarray:
        point = self.public.point
        domain = self.settings.domain
        if self.settings.play == "point":
            return np.asarray(repeated(point, len(rounds)))
        if not isinstance(domain, Knapsack):
            return np.asarray(repeated(np.flatnonzero(point > 0.5), len(rounds)))
        table = np.full((len(rounds), domain.rank), -1)
        for place, round in enumerate(rounds):
            chosen = rounded_knapsack(domain, point, Coin(self.at.coins.key, int(round)))
            table[place, : len(chosen)] = sorted(chosen)
        return table

    def readings(self) -> Readings:
        named = self.mode.decisions.named(self.public.point.tolist())
        return Readings({"point": {name: amount for name, amount in named.items() if amount}})
