"""Full information: one running total of everyone's subgradients, and the regularised leader on the cube.

A visitor's cost function gives a subgradient of its Lovász extension at the current point: what each item
adds along the chain. It is scaled to a length of at most CLIP times the bound (pure guarantees: PURE_CLIP, in
l₁) and added up. After each block the noisy total is released, and the next point follows from it. Each round
plays the set above a threshold that is a public coin, so the expected cost is the extension's value.

A submodular f in [−M, M] has a subgradient of length at most 2√2·M (l₁: 4·M); most are far shorter. A shorter
clip than that only weighs long ones less, and lowers the noise in proportion.

Guarantee   docs/guarantees/costs.md, Theorem 1
Runtime     O(n + numbers in a row) a visitor, a callable is asked n + 1 times; memory O(n)
References  Hazan, Kale (2012), "Online Submodular Minimization"
            Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization"
"""

from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.arrivals.feedback import as_callables, as_people
from discreet.arrivals.person import reading
from discreet.decide.extensions import chain
from discreet.decide.leader import Leader, LeaderMemory
from discreet.errors import ConfigError
from discreet.learners.set_minimizer.mode import CubeMode
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Rows
from discreet.turn.plan import Plan, State
from discreet.turn.questions import Batch, Block
from discreet.turn.schedule import EqualBlocks
from discreet.turn.states import flat, of_flat

__all__ = ["Gradients"]

CLIP, PURE_CLIP = 1.0, 2.0
"""The longest that a subgradient may be, in units of the bound: l₂, and l₁ for noise in the pure measure
(benchmarks/minimize.py)."""
NOISY = 0.4
"""If noise is more than this share of what gradients can add up to, steps of totals tell nothing: the bound
takes their place (benchmarks/ways.py)."""
CHUNK = 1024
"""How many people's subgradients are held at once."""


class Gradients(CubeMode):
    """Sets from a running total of subgradients; for whole cost functions."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.feedback == "full")

    def check(self) -> None:
        if self.settings.stream == "iid":
            raise ConfigError(
                "stream='iid' is for bandit feedback: with whole cost functions every stream is learned alike"
            )
        if self.settings.explore != "auto":
            raise ConfigError("explore is for bandit feedback: leave it as it is")

    @cached_property
    def gradient(self) -> RunningTotal[Any]:
        """The total with less noise: with l₁ clips for (ε, 0) or, if a δ is granted, l₂ clips for (ε, δ)."""
        pure = self._total(norm=1, usual=PURE_CLIP, pure=True)
        if self.settings.privacy.pure:
            return pure
        usual = self._total(norm=2, usual=CLIP, pure=False)
        return min(usual, pure, key=lambda total: total.usual_noise)

    def _total(self, *, norm: int, usual: float, pure: bool) -> RunningTotal[Any]:
        settings = self.settings
        block = ceil(sqrt(settings.rounds)) if settings.block == "auto" else settings.block
        schedule = EqualBlocks(settings.rounds, block, last=False)
        rows = Rows((settings.items,), settings.bound * usual, norm)
        return RunningTotal("gradient", rows, schedule, settings.privacy, people=schedule.block, pure=pure)

    @cached_property
    def leader(self) -> Leader:
        # T/B blocks of B visitors, ‖G_r‖ at most B · length.
        block = min(self.gradient.people, self.settings.rounds)
        most = self.settings.rounds * block * self.gradient.wanted.bound**2
        noise = self.settings.items * (self.gradient.noise * self.gradient.wanted.bound) ** 2
        # Only a stiffness known in advance has a bound against streams that react.
        is_asked_for = self.settings.mode == "bound" or self.settings.stream == "adversarial"
        is_stiff = is_asked_for or noise > NOISY * most
        return Leader(self.cube, most if is_stiff else None)

    @cached_property
    def plan(self) -> Plan:
        facts = {
            "method": "gradients" if self.leader.most is None else "bound",
            "why": f"noise for {'(ε, 0)' if self.gradient.pure else '(ε, δ)'} is least",
            "block": self.gradient.schedule.end(0),
            "releases": self.gradient.releases,
            "noise_in_visitors": self.gradient.noise,
        }
        return self.gradient.plan(facts)

    def start(self) -> tuple[State, State]:
        public, kept = self.gradient.start()
        public = self.gradient.named(public)
        return public | flat(self.leader.start()) | {"variance": 0.0}, kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"gradient": self.gradient.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        rows = self.gradient.gathering
        assert isinstance(rows, Rows)
        order = chain(public["point"])
        functions = self.settings.functions
        people: Any
        if functions is None:
            people = as_callables(batch)
        else:
            people = as_people(batch, functions, self.settings.items)
        for first in range(0, len(people), CHUNK):
            part = people[first : first + CHUNK]
            steps = self._called(part, order) if functions is None else functions.along(part, order)
            rows.add(block["gradient"], steps)

    def _called(self, people: list[Any], order: Integers) -> Floats:
        nothing = np.zeros(self.settings.items)
        with reading():
            return np.array(
                [nothing if one is None else one.along(order, self.settings.bound) for one in people]
            )

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        total = self.gradient.next(self.gradient.own(public), kept, block, door)
        memory = self.leader.follow(
            of_flat(LeaderMemory, public),
            total.values,
            variance=total.variance,
            step_variance=total.step_variance,
        )
        return self.gradient.named(total.public) | flat(memory) | {"variance": total.variance}, total.kept
