"""Full information: a running total of subgradients, and the regularised leader on the cube.

A visitor's cost function gives a subgradient of its Lovász extension at the current point: the
marginal cost of each item along the chain. It is clipped to a length of `clip` times the bound
(pure guarantees: `pure_clip`, in l₁) and aggregated. After each block the noisy total is released,
and the next point follows from it. Each round plays the items above a threshold, a public coin, so
the expected cost is the value of the extension.

A submodular f in [−M, M] has a subgradient of length at most 2√2·M (l₁: 4·M); most are far shorter.
A shorter clip gives less weight to long ones only, and lowers the noise in proportion.

Guarantee   docs/guarantees/costs.md, Theorem 1
Runtime     O(n + numbers in a row) per visitor, n + 1 calls of a callable; memory O(n)
References  Hazan, Kale (2012), "Online Submodular Minimization"
            Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization"
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.declarations import Answer, Promise
from discreet.engine.phases import Scheduled
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Block, Request
from discreet.engine.schedule import EqualBlocks
from discreet.engine.statistics import Released, RunningTotal
from discreet.errors import ConfigError
from discreet.feedback import as_callables, as_people
from discreet.functions.costs import CostFunctions
from discreet.functions.person import reading
from discreet.functions.sets import SetFunction
from discreet.learners.set_minimizer.mode import CubeMode, CubePhase, available_sets, one_set
from discreet.optim.domains import Box
from discreet.optim.leader import Leader, LeaderMemory
from discreet.optim.lovasz_extension import chain, padded_sets, threshold_sizes
from discreet.release.aggregators import Rows

CHUNK = 1024
"""Number of people whose subgradients are in memory at once."""


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode, each with the benchmark that measures it."""

    clip: float = 1.0
    """Longest subgradient, in units of the bound, in l₂ (benchmarks/minimize.py)."""
    pure_clip: float = 2.0
    """Longest subgradient, in units of the bound, in l₁ for pure noise (benchmarks/minimize.py)."""
    noisy: float = 0.4
    """Largest share of noise in totals that leaves the mode "gradients" (benchmarks/ways.py).

    If noise exceeds this share of the largest possible total, the steps of totals are mostly
    noise, and the mode "bound" regularises by the bound on gradients instead."""


TUNED = Tuning()


# --- what visitors bring --------------------------------------------------------------------------


class Costs(Answer):
    """Whole cost functions, one per visitor."""

    @abstractmethod
    def along(self, people: Any, order: Integers) -> Floats:
        """Return what each item adds along the chain, one row per visitor."""


@dataclass(frozen=True)
class RowCosts(Costs):
    """Cost functions given as rows of numbers for a family."""

    family: CostFunctions
    items: int

    @property
    def blank(self) -> Floats:
        """The row of a visitor to whom every set costs nothing."""
        return np.zeros(self.family.width(self.items))

    def read(self, batch: Batch) -> Floats:
        """Return one row per visitor, with every number clipped to its range."""
        return as_people(batch, self.family, self.items)

    def along(self, people: Floats, order: Integers) -> Floats:
        return self.family.along(people, order)


@dataclass(frozen=True)
class CallableCosts(Costs):
    """Cost functions given as callables."""

    items: int
    bound: float
    """Largest absolute cost; larger ones are clipped."""

    @property
    def blank(self) -> object:
        """The callable of a visitor to whom every set costs nothing."""
        return _free

    def read(self, batch: Batch) -> list[SetFunction | None]:
        """Return one callable per visitor; None if the visitor brought something else."""
        return as_callables(batch)

    def along(self, people: list[SetFunction | None], order: Integers) -> Floats:
        nothing = np.zeros(self.items)
        with reading():
            return np.array(
                [
                    nothing if person is None else person.along(order, self.bound)
                    for person in people
                ]
            )


def _free(chosen: Integers) -> float:
    """Return the cost 0 for any set."""
    return 0.0


# --- a block --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Public:
    """Public state: the total of subgradients, and the point that the leader derived from it."""

    memory: LeaderMemory
    variance: float
    """Variance of each number of the newest total."""

    @property
    def point(self) -> Floats:
        """Probability that each item is chosen."""
        return self.memory.point


class GradientPhase(CubePhase[Public]):
    """Phase of a block, in which the point of the cube stays the same."""

    mode: "Gradients"

    @cached_property
    def order(self) -> Integers:
        """The chain: items by descending probability."""
        return chain(self.public.point)

    def decide(self, rounds: Integers, request: Request) -> Integers:
        """Return one set per row, in ascending order, padded with −1, without unavailable items.

        A set holds the items whose probability exceeds the round's public coin.
        """
        sizes = threshold_sizes(self.public.point, self.at.coins.uniform(rounds))
        if len(rounds) == 1:  # faster, for a visitor who waits
            sets = one_set(np.sort(self.order[: int(sizes[0])]), self.mode.settings.items)
        else:
            sets = padded_sets(self.order, sizes)
        return available_sets(sets, request.available)

    def gather(self, block: Block, answers: Any) -> None:
        gradient = self.mode.gradient
        for first in range(0, len(answers), CHUNK):
            rows = self.mode.answer.along(answers[first : first + CHUNK], self.order)
            gradient.aggregator.add(gradient.of(block), rows)

    def update(self, released: Released) -> Public:
        total = released[self.mode.gradient]
        memory = self.mode.leader.follow(
            self.public.memory,
            total.values,
            variance=total.variance,
            step_variance=total.step_variance,
        )
        return Public(memory, total.variance)

    def _scores(self, context: object) -> Scores:
        """Return the total saving of each item on top of those before it in the chain.

        That is the negated total of its subgradients.
        """
        total = self.public.memory.total
        return Scores(-total, np.full(len(total), np.sqrt(self.public.variance)))


# --- the mode -------------------------------------------------------------------------------------


class Gradients(CubeMode):
    """Mode for whole cost functions: sets from a running total of subgradients."""

    def check(self) -> None:
        if self.settings.stream == "iid":
            raise ConfigError(
                "stream='iid' is for bandit feedback: with whole cost functions leave it out"
            )
        if self.settings.explore != "auto":
            raise ConfigError("explore is for bandit feedback: leave it out")

    @property
    def promise(self) -> Promise:
        promise = super().promise
        return replace(promise, assumes=f"submodular costs, and {promise.assumes}")

    @cached_property
    def answer(self) -> Costs:
        settings = self.settings
        if settings.functions is None:
            return CallableCosts(settings.items, settings.bound)
        return RowCosts(settings.functions, settings.items)

    # --- the plan ---------------------------------------------------------------------------------

    @cached_property
    def gradient(self) -> RunningTotal[Rows]:
        """The running total with less noise: pure with l₁ clips, or (ε, δ) with l₂ clips."""
        pure = self._total(norm=1, clip=TUNED.pure_clip, pure=True)
        if self.settings.privacy.pure:
            return pure
        approximate = self._total(norm=2, clip=TUNED.clip, pure=False)
        return min(approximate, pure, key=lambda total: total.usual_noise)

    def _total(self, *, norm: int, clip: float, pure: bool) -> RunningTotal[Rows]:
        """Return the running total of subgradients clipped to `clip` times the bound."""
        settings = self.settings
        block = ceil(sqrt(settings.rounds)) if settings.block == "auto" else settings.block
        schedule = EqualBlocks(settings.rounds, block, last=False)
        rows = Rows((settings.items,), settings.bound * clip, norm)
        return RunningTotal(
            "gradient", rows, schedule, settings.privacy, people=schedule.block, pure=pure
        )

    @cached_property
    def leader(self) -> Leader:
        """The regularised leader on the cube."""
        # T/B blocks of B visitors; each block's total has length at most B · clip.
        block = min(self.gradient.people, self.settings.rounds)
        most = self.settings.rounds * block * self.gradient.wanted.bound**2
        noise = self.settings.items * (self.gradient.noise * self.gradient.wanted.bound) ** 2
        # Only a regularisation fixed in advance has a bound against streams that react.
        is_required = self.settings.mode == "bound" or self.settings.stream == "adversarial"
        is_fixed = is_required or noise > TUNED.noisy * most
        return Leader(Box(self.settings.items, 0.0, 1.0), most if is_fixed else None)

    @cached_property
    def phases(self) -> Scheduled:
        return Scheduled.one(GradientPhase, self.gradient.schedule, self.gradient)

    @property
    def facts(self) -> dict[str, object]:
        return {
            "method": "gradients" if self.leader.most is None else "bound",
            "why": f"noise for {'(ε, 0)' if self.gradient.pure else '(ε, δ)'} is least",
            "block": self.gradient.schedule.end(0),
            "releases": self.gradient.releases,
            "noise_in_visitors": self.gradient.noise,
        }

    @property
    def first(self) -> Public:
        return Public(self.leader.start(), variance=0.0)
