"""Drifting streams under a quota: the slates of `SetMaximizer`, as sets.

A set of a fixed number of items is a slate whose order does not matter. One running total of what items gain
on top of the set so far (discreet/learners/set_maximizer/sum_expert.py) keeps more than boosted gradients do
where a guarantee is pure or people are few: benchmarks/ways.py.

Guarantee   docs/guarantees/sets.md, Theorem 1
Runtime     O(rank · n) a person
"""

from dataclasses import replace
from functools import cached_property
from typing import Any

from discreet.arrivals.continuous import Multilinear
from discreet.arrivals.sampled_sets import SampledSets
from discreet.decide.constraints import indicator
from discreet.domains import UniformMatroid
from discreet.errors import ConfigError
from discreet.learners.continuous_maximizer.mode import PointMode
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.set_maximizer.sum_expert import Public, SumExpert
from discreet.release.door import Door
from discreet.release.gathering import Gathering
from discreet.turn.coins import Coins
from discreet.turn.plan import Plan, State
from discreet.turn.questions import Batch, Block
from discreet.turn.readings import Scores
from discreet.turn.states import flat

__all__ = ["QuotaSets"]


class QuotaSets(PointMode):
    """Sets of a fixed number of items, from a running total of gains."""

    proof = "sets.md"

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.play == "set" and settings.bound == "auto" and _is_slate(settings))

    def check(self) -> None:
        if self.settings.play != "set" or not _is_slate(self.settings):
            raise ConfigError("slates are sets of a UniformMatroid, worth what a built-in family says")

    @cached_property
    def slates(self) -> SumExpert:
        """The way of learning slates that decides."""
        settings, function = self.settings, self.settings.function
        assert isinstance(function, Multilinear)
        assert not isinstance(function.family, SampledSets)
        return SumExpert(
            SetMaximizerSettings(
                epsilon=settings.epsilon,
                delta=settings.delta,
                contributions=settings.contributions,
                keyed=settings.keyed,
                horizon=settings.horizon,
                seed=settings.seed,
                items=settings.domain.items,
                slots=settings.domain.rank,
                function=function.family,
                block=settings.block,
            )
        )

    @cached_property
    def plan(self) -> Plan:
        found = self.slates.plan
        facts = {name: found.facts[name] for name in ("block", "releases")}
        facts |= {"method": "slates", "why": "sets under a quota are slates whose order does not matter"}
        return replace(found, facts=facts | {"noise_in_people": found.facts["noise_in_visitors"]})

    def start(self) -> tuple[State, State]:
        public, kept = self.slates.start()
        return self._as_point(public), kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {self.slates.gains.name: self.slates.gains.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        view = self.slates.view(public, batch.index, batch.begin, batch.coins)
        view.gather(block, view.read(batch))

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        schedule = self.slates.schedule
        begin = schedule.end(door.index - 1) if door.index else 0
        view = self.slates.view(public, door.index, begin, Coins(b""))
        found, kept = view.release(tally, kept, block, door)
        return self._as_point(found), kept

    def _as_point(self, public: Public) -> State:
        chosen = public.slate.tolist()
        return flat(public) | {"point": indicator(chosen, self.settings.domain.items)}

    def scores(self, public: State, index: int, context: Any) -> Scores:
        """What each item gains on top of nothing, in all."""
        found = self.slates.view(public, index, 0, Coins(b"")).scores(context)
        assert found.standard_deviations is not None
        return Scores(found.values[0], found.standard_deviations[0])


def _is_slate(settings: Any) -> bool:
    """Whether sets are slates: a fixed number of items, worth what a built-in family says."""
    function = settings.function
    known = isinstance(function, Multilinear) and not isinstance(function.family, SampledSets)
    return known and isinstance(settings.domain, UniformMatroid) and settings.domain.rank > 0
