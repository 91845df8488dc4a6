"""Private experts: follow the actions that gained most, by the exponential mechanism.

    P(a) ∝ exp(η · cumulative gain of a),   redrawn after every block of B rounds

One person moves every cumulative gain by at most 1 up or down, so the range of the privacy loss of a draw is
2η, and R draws cost R·η²/2 of zCDP (2ηR pure): η = √(2ρ/R). The first block plays at random, which is free.
Fewer, longer blocks allow a sharper η but react later; `block="auto"` minimises the bound on the regret,

    E[gain of the best action − ours] ≤ ln(n)/η + η·B·T/8.

Guarantee   docs/guarantees/hedge.md
References  Freund, Schapire (1997); Perez-Salazar, Cummings (2021), Algorithm 1
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, log, pi, sqrt
from typing import Any, Literal, Self

import numpy as np

from discreet import require
from discreet.arrays import Integers
from discreet.arrivals.feedback import as_rows
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Charge
from discreet.errors import ConfigError
from discreet.learners.labels import Label, labelled, names_by_number
from discreet.limits import MOST_CANDIDATES
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Rows
from discreet.release.selection import Selection
from discreet.turn.coins import Coins
from discreet.turn.labels import Labels
from discreet.turn.plan import Plan, State
from discreet.turn.problem import Asked, Batch, Block, Problem
from discreet.turn.schedule import EqualBlocks, Segments
from discreet.turn.settings import Settings

__all__ = ["Draws", "HedgeSettings", "best_block", "regret_bound"]

LEVELS = 2**20
"""How many integer steps a gain of `bound` has."""
MOST_DRAWS = 1000
"""Of its own accord: what more draws gain in the bound is little, and each is a durable commit."""
FIRST_SEGMENT, SEGMENT_DRAWS = 1024, 32
"""Without a horizon: rounds of the first segment, each twice as long as the one before, and draws in each."""


@dataclass(frozen=True, kw_only=True)
class HedgeSettings(Settings):
    """What `Hedge` is made with: its parameters, as public data."""

    actions: int
    labels: tuple[Label, ...] | None = None
    bound: float = 1.0
    block: int | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        require.whole("actions", self.actions, 1, MOST_CANDIDATES)
        if self.labels is not None and labelled(self.labels, "actions")[0] != self.actions:
            raise ConfigError(
                f"there must be one label for each of the {self.actions} actions, got {len(self.labels)}"
            )
        require.number("bound", self.bound, 1e-280, 1e280)
        if self.block != "auto":
            require.whole("block", self.block)
            if self.horizon is None:
                raise ConfigError("without a horizon, block must be 'auto'")

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """Also with the labels in place of the number of actions."""
        if isinstance(plain.get("actions"), list):
            count, labels = labelled(plain["actions"], "actions")
            plain = plain | {"actions": count, "labels": labels}
        return super().from_plain(plain)


class Draws(Problem):
    """Actions drawn by the exponential mechanism from everyone's gains so far."""

    proof = "hedge.md"
    settings: HedgeSettings

    @property
    def assumes(self) -> str:
        return "gains that were fixed before the first round"

    @cached_property
    def gains(self) -> Rows:
        return Rows((self.settings.actions,), self.settings.bound, inf, nonnegative=True, levels=LEVELS)

    @cached_property
    def schedule(self) -> EqualBlocks | Segments:
        settings = self.settings
        if settings.horizon is None:
            return Segments(FIRST_SEGMENT, FIRST_SEGMENT // SEGMENT_DRAWS, growing=True)
        if settings.block != "auto":
            return EqualBlocks(settings.horizon, settings.block, last=False)
        best = best_block(settings.actions, settings.horizon, settings.privacy.budget)
        return EqualBlocks(settings.horizon, max(best, ceil(settings.horizon / MOST_DRAWS)), last=False)

    def selection(self, index: int) -> Selection:
        """The exponential mechanism of draw `index`."""
        segment = self.schedule.segment(index)[0] if isinstance(self.schedule, Segments) else 0
        if segment not in self._selections:
            self._selections[segment] = self._calibrated(segment)
        return self._selections[segment]

    @cached_property
    def _selections(self) -> dict[int, Selection]:
        return {}

    def _calibrated(self, segment: int) -> Selection:
        budget = self.settings.privacy.budget
        if isinstance(self.schedule, EqualBlocks):
            return Selection.for_budget(budget, self.gains, draws=max(1, self.schedule.releases))
        # Scores go on from segment to segment, so charges add up: Σ 6/(π²m²) = 1, the budget lasts for ever.
        share = Charge(budget.measure, budget.amount * 6 / (pi * (segment + 1)) ** 2)
        return Selection.for_budget(share, self.gains, draws=SEGMENT_DRAWS)

    def charge(self, index: int) -> Charge:
        """What draw `index` costs."""
        return self.selection(index).charge(self.settings.privacy.budget.measure)

    @cached_property
    def plan(self) -> Plan:
        schedule = self.schedule
        whole = self.settings.privacy.budget
        if isinstance(schedule, EqualBlocks):
            whole = self.charge(0) * schedule.releases
        facts: dict[str, Any] = {"method": "draws", "why": "actions are drawn by the exponential mechanism"}
        facts |= {"rate": self.selection(0).rate * LEVELS}
        facts |= {"draws": schedule.releases, "block": schedule.block}
        constants = (self.gains, self.selection(0))
        return Plan.scheduled(schedule, self.charge, Spending(whole), facts=facts, constants=constants)

    def start(self) -> tuple[State, State]:
        return {"action": -1}, {"gains": self.gains.empty().values}

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"gains": self.gains}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        self.gains.add(block["gains"], as_rows(batch, self.settings.actions))

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        total = self.gains.merge(self.gains.holding(kept["gains"]), block["gains"])
        return {"action": door.select(self.selection(door.index), total)}, {"gains": total.values}

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Integers:
        """The drawn action; before the first draw, a public coin."""
        if public["action"] < 0:
            return coins.below(self.settings.actions, rounds)
        return np.array([public["action"]]) if len(rounds) == 1 else np.full(len(rounds), public["action"])

    def single(self, decisions: Integers) -> int:
        return int(decisions[0])

    def blank(self) -> Any:
        return np.zeros(self.settings.actions)

    def names(self, public: State) -> list[Label]:
        return names_by_number(self.settings.actions, self.settings.labels)

    def labels(self, public: State) -> Labels | None:
        return self._labels

    @cached_property
    def _labels(self) -> Labels | None:
        return None if self.settings.labels is None else Labels(self.settings.labels, "one")

    def plain(self, public: State) -> dict[str, Any]:
        action = public["action"]
        return {"action": None if action < 0 else self.names(public)[action]}


def regret_bound(actions: int, horizon: int, block: int, budget: Charge) -> float:
    """Bound on the expected regret for gains fixed in advance, at the rate that the budget allows."""
    draws = ceil(horizon / block) - 1
    if draws == 0:
        return inf  # only random play: the bound says nothing
    rate = sqrt(2 * budget.amount / draws) if budget.measure == "zcdp" else budget.amount / (2 * draws)
    return log(actions) / rate + rate * block * horizon / 8


def best_block(actions: int, horizon: int, budget: Charge) -> int:
    """The block with the least bound on the regret.

    >>> from discreet.budget.privacy import zcdp
    >>> best_block(100, 100_000, zcdp(0.024356))
    16
    """
    require.whole("horizon", horizon)
    blocks = {int(block) for block in np.geomspace(1, horizon, 400).round()}
    return min(sorted(blocks), key=lambda block: regret_bound(actions, horizon, block, budget))
