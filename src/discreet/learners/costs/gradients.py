"""Full information: one running sum of everyone's subgradients, and the regularised leader on the cube.

A visitor's cost function gives a subgradient of its Lovász extension at the current point: what each item adds along the chain.
It is scaled to length at most `clip` (in units of the bound; l₁ for pure guarantees) and added up. After each block the noisy
total is released, and the next point follows from it. Each round plays the set above a threshold that is a public coin, so the
expected cost is the extension's value.

A submodular f in [−M, M] has a subgradient of length at most 2√2·M (l₁: 4·M); most are far shorter. A shorter clip than that
only weighs long ones less, and lowers the noise in proportion.

Guarantee   docs/guarantees/costs.md, Theorem 1
Runtime     O(n + numbers in a row) a visitor; a callable is asked n + 1 times. Memory O(n)
References  Hazan, Kale (2012); Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization"
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from discreet.decide.domains import Box
from discreet.decide.extensions import chain
from discreet.decide.leader import Leader
from discreet.learners.costs.mode import Setting, drawn_sizes
from discreet.learners.totals import next_total
from discreet.release.arrays import Integers
from discreet.release.door import Door
from discreet.release.entrance import Entrance
from discreet.release.schedule import EqualBlocks
from discreet.release.sums import PrefixSum, Stream, calibrate
from discreet.release.turn import Batch, Plan, State

__all__ = ["Gradients"]

CHUNK = 1024
"""How many people's subgradients are held at once."""


@dataclass(frozen=True)
class Gradients:
    """See the module's docstring."""

    setting: Setting
    block: int | None = None
    clip: float | None = None
    adaptive: bool = True

    @property
    def norm(self) -> int:
        return 2 if self.setting.budget.measure == "zcdp" else 1

    @property
    def length(self) -> float:
        """The most one visitor may contribute."""
        usual = 1.0 if self.norm == 2 else 2.0  # measured: benchmarks/minimize.py
        return self.setting.bound * (usual if self.clip is None else self.clip)

    @cached_property
    def schedule(self) -> EqualBlocks:
        block = ceil(sqrt(self.setting.horizon)) if self.block is None else self.block
        return EqualBlocks(self.setting.horizon, block, last=False)

    @cached_property
    def sums(self) -> PrefixSum:
        stream = Stream(max(1, self.schedule.releases), self.setting.items, self.norm, nonnegative=False, people=self.schedule.block)
        return calibrate("auto", self.setting.budget, stream)

    @cached_property
    def entrance(self) -> Entrance:
        return Entrance(self.setting.items, self.length, self.norm, self.sums.levels)

    @cached_property
    def leader(self) -> Leader:
        # T/B blocks of B visitors, each with ‖G_r‖ at most B · length.
        most = None if self.adaptive else self.setting.horizon * self.schedule.block * self.length**2
        return Leader(Box(self.setting.items, 0.0, 1.0), most)

    def plan(self) -> Plan:
        releases = self.schedule.releases
        noise = self.sums.variance(max(1, releases)) ** 0.5 * self.entrance.grid
        facts: dict[str, Any] = {"expert": "subgradients", "block": self.schedule.block, "releases": releases}
        facts["noise_in_visitors"] = noise / self.length
        return Plan(self.schedule, self.sums.charge, self.sums.spent(releases), facts=facts, constants=repr((self.length, self.sums)))

    def start(self) -> tuple[State, State]:
        return self.leader.start(), {"gradient": np.zeros(self.setting.items, dtype=np.int64)}

    def digest(self, public: State, secret: State, people: Any, batch: Batch) -> State:
        order, functions, bound = chain(public["point"]), self.setting.functions, self.setting.bound
        for first in range(0, len(people), CHUNK):
            part = people[first : first + CHUNK]
            steps = np.array([person.along(order, bound) for person in part]) if functions is None else functions.along(part, order)
            self.entrance.add(steps, secret["gradient"])
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        gradient = secret["gradient"]
        total, public_sum, secret_sum = next_total(self.sums, public, secret, gradient, door)
        count, unit = door.index + 1, self.entrance.grid**2
        variances = {"variance": self.sums.variance(count) * unit, "step_variance": self.sums.step_variance(count) * unit}
        memory = self.leader.follow(public, total * self.entrance.grid, **variances)
        return memory | public_sum, secret_sum | {"gradient": np.zeros_like(gradient)}

    def sizes(self, public: State, rounds: range | list[int], coin_key: bytes) -> tuple[Integers, Integers]:
        return drawn_sizes(public["point"], rounds, coin_key)
