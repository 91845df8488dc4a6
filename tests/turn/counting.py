"""The smallest problem there is: how many say yes, and how many say no. Closed shops take no votes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.release.door import Door
from discreet.release.gathering import Gathering
from discreet.release.gathering.one_choice import OneChoice
from discreet.release.noise import Once
from discreet.turn.coins import Coins
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.problem import Asked, Batch, Block, Problem
from discreet.turn.schedule import EqualBlocks
from discreet.turn.settings import Settings


@dataclass(frozen=True, kw_only=True)
class CountingSettings(Settings):
    """How many people a release counts."""

    block: int = 3


class Counting(Problem):
    """Everyone says 0 or 1; each block is counted with noise. Shops that closed are a public event."""

    proof = "turn.md"
    settings: CountingSettings

    @cached_property
    def once(self) -> Once:
        return Once.calibrate(self.settings.privacy, OneChoice(2))

    @cached_property
    def plan(self) -> Plan:
        assert self.settings.horizon is not None
        total = paid_by_cohorts(self.settings.privacy, [self.once.charge])
        return Plan.scheduled(
            EqualBlocks(self.settings.horizon, self.settings.block),
            lambda index: self.once.charge,
            total,
            cohort=lambda index: index,
            facts={},
            constants=(self.once,),
        )

    def start(self) -> tuple[State, State]:
        return {"counts": np.zeros(2), "closed": 0}, {}

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"votes": self.once.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        votes = [batch.feedback] if batch.single else batch.feedback
        self.once.gathering.add(block["votes"], np.array(votes, dtype=np.int64))  # type: ignore[attr-defined]

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        noisy = door.add_noise(self.once.noise, block["votes"]) * self.once.gathering.grid
        return public | {"counts": public["counts"] + noisy}, kept

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Any:
        closed = public["closed"]
        return np.stack([rounds, np.full(len(rounds), closed)], axis=1)

    def noted(self, public: State, event: dict[str, Any]) -> State:
        return public | {"closed": public["closed"] + int(event["closed"])}

    def blank(self) -> Any:
        return -1

    def plain(self, public: State) -> dict[str, Any]:
        return {"counts": public["counts"].tolist()}


def settings(**more: Any) -> CountingSettings:
    return CountingSettings(**({"epsilon": 1.0, "delta": 0.0, "horizon": 12} | more))
