"""Drifting streams under a quota: the slates of `SetMaximizer`, as sets.

A set of a fixed number of items is a slate whose order does not matter. One running total of the
gains of items on top of the set so far (discreet/learners/set_maximizer/gain_sum.py) yields more
value than boosted gradients if the guarantee is pure or people are few (benchmarks/ways.py).

Guarantee   docs/guarantees/sets.md, Theorem 1
Runtime     O(rank · n) per person
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from discreet.arrays import Floats
from discreet.domains import UniformMatroid
from discreet.engine.declarations import Answer, Promise, Readings, Stored
from discreet.engine.phases import Scheduled
from discreet.engine.readings import Scores
from discreet.engine.request import Block
from discreet.engine.statistics import Released
from discreet.errors import ConfigError
from discreet.learners.continuous_maximizer.mode import (
    Family,
    PointMode,
    PointPhase,
    built_in_family,
)
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings
from discreet.learners.set_maximizer.gain_sum import GainSum, SumPhase
from discreet.learners.set_maximizer.gain_sum import Public as Slates
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.optim.constraints import indicator


@dataclass(frozen=True, eq=False)
class Public(Stored):
    """Everything that releases have produced."""

    slates: Slates
    """What the slates' mode publishes."""
    point: Floats
    """Indicator of the newest slate."""

    def check(self, mode: "QuotaSets") -> None:
        self.slates.check(mode.slates)


class QuotaPhase(PointPhase[Public]):
    """A block of slates that are decided as sets."""

    mode: "QuotaSets"

    @cached_property
    def slates(self) -> SumPhase:
        """The phase of the slates' mode in this block."""
        mode = self.mode.slates
        return SumPhase(mode, self.public.slates, self.at)

    def gather(self, block: Block, answers: Any) -> None:
        self.slates.gather(block, answers)

    def update(self, released: Released) -> Public:
        return self.mode.published(self.slates.update(released))

    def readings(self) -> Readings:
        return replace(super().readings(), scores=self._scores)

    def _scores(self, context: object) -> Scores:
        """Return the total gain of each item on top of the empty set."""
        scores = self.slates.readings().scores_of(context)
        deviations = scores.standard_deviations
        return Scores(scores.values[0], None if deviations is None else deviations[0])


class QuotaSets(PointMode):
    """Sets of a fixed number of items, from a running total of gains."""

    @property
    def promise(self) -> Promise:
        return replace(super().promise, proof="sets.md")

    @cached_property
    def answer(self) -> Answer:
        return self.slates.answer

    def check(self) -> None:
        self._family()

    def _family(self) -> Family:
        """Return the family of set functions; settings whose sets are no slates are refused."""
        family = built_in_family(self.settings.function)
        if family is None or self.settings.play != "set" or not is_slate(self.settings):
            raise ConfigError(
                "mode 'quota-sets' is for sets of a UniformMatroid under a built-in family: "
                "leave the mode out"
            )
        return family

    @cached_property
    def slates(self) -> GainSum:
        """The mode of `SetMaximizer` that decides the slates."""
        settings = self.settings
        return GainSum(
            SetMaximizerSettings(
                epsilon=settings.epsilon,
                delta=settings.delta,
                contributions=settings.contributions,
                keyed=settings.keyed,
                horizon=settings.horizon,
                seed=settings.seed,
                items=settings.domain.items,
                slots=settings.domain.rank,
                function=self._family(),
                block=settings.block,
            )
        )

    @cached_property
    def phases(self) -> Scheduled:
        return Scheduled.one(QuotaPhase, self.slates.schedule, self.slates.gains)

    @property
    def facts(self) -> dict[str, object]:
        gains = self.slates.gains
        return {
            "block": self.slates.first_block,
            "releases": gains.releases,
            "method": "quota-sets",
            "why": "sets under a quota are slates whose order does not matter",
            "noise_in_people": gains.noise,
        }

    @property
    def first(self) -> Public:
        return self.published(self.slates.first)

    def published(self, slates: Slates) -> Public:
        """Return the public state, given that of the slates' mode."""
        return Public(slates, indicator(slates.slate.tolist(), self.settings.domain.items))


def is_slate(settings: ContinuousMaximizerSettings) -> bool:
    """Return whether sets are slates: a fixed number of items, under a built-in family."""
    is_known = built_in_family(settings.function) is not None
    return is_known and isinstance(settings.domain, UniformMatroid) and settings.domain.rank > 0
