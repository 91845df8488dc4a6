"""Private experts: follow the actions that gained most, by the exponential mechanism.

    P(a) ∝ exp(η · cumulative gain of a),   redrawn after every block of B rounds

One person moves every cumulative gain by at most 1 up or down, so the range of the privacy loss of a draw is 2η, and R draws
cost R·η²/2 of zCDP (2ηR pure): η = √(2ρ/R). The first block plays at random, which is free. Fewer, longer blocks allow a
sharper η but react later; `block="auto"` minimises the bound on the regret,

    E[gain of the best action − ours] ≤ ln(n)/η + η·B·T/8.

Guarantee   docs/guarantees/hedge.md
References  Freund, Schapire (1997); Perez-Salazar, Cummings (2021), Algorithm 1
"""

import os
from dataclasses import dataclass
from functools import cache
from math import ceil, inf, log, pi, sqrt
from typing import Any, Literal

import numpy as np

from discreet.errors import ConfigError
from discreet.release.calibrations.published import hedge_rate
from discreet.release.coins import Coin
from discreet.release.config import Config
from discreet.release.door import Door
from discreet.release.entrance import Entrance, as_row, as_rows
from discreet.release.journal import Journal
from discreet.release.learner import Learner
from discreet.release.privacy import Charge, Privacy
from discreet.release.schedule import EqualBlocks, Segments
from discreet.release.selection import Selection
from discreet.release.turn import Asked, Batch, Plan, State

__all__ = ["Hedge", "HedgeConfig", "best_block", "regret_bound"]

LEVELS = 2**20
"""How many integer steps a gain of `bound` has."""
FIRST_SEGMENT, SEGMENT_DRAWS = 1024, 32
"""Without a horizon: rounds of the first segment, each twice as long as the one before, and draws in each."""


@dataclass(frozen=True, kw_only=True)
class HedgeConfig(Config):
    """The public settings of private experts."""

    actions: int
    bound: float = 1.0
    block: int | str = "auto"


class Hedge(Learner):
    """Choose one of several actions each round, nearly as well as the best of them in hindsight.

    Guarantee: docs/guarantees/hedge.md. Any stream: nothing is assumed, not even for the value.
    Runtime: O(actions) a round and a release.

    Parameters
    ----------
    actions
        How many there are to choose from.
    horizon
        How many rounds; None if nobody knows.
    privacy
        What is asked for.
    bound
        Gains lie between 0 and `bound`; anything else is clipped.
    block
        How many rounds an action is kept; "auto" minimises the bound on the regret.
    calibration
        "tight", or "published" for the paper's own rate, redrawn every round.

    Examples
    --------
    >>> from discreet import Hedge, Privacy
    >>> experts = Hedge(actions=3, horizon=2000, privacy=Privacy(1.0, 1e-6), seed=1)
    >>> chosen = experts.replay(np.tile([0.2, 0.9, 0.4], (2000, 1)))
    >>> int((chosen == 1).sum()) > 1500
    True
    """

    configuration = HedgeConfig
    proof = "hedge.md"
    config: HedgeConfig

    def __init__(
        self,
        actions: int,
        horizon: int | None,
        privacy: Privacy,
        *,
        bound: float = 1.0,
        block: int | Literal["auto"] = "auto",
        calibration: Literal["tight", "published"] = "tight",
        seed: int | None = None,
        journal: Journal | str | os.PathLike[str] | None = None,
    ) -> None:
        config = HedgeConfig(
            epsilon=privacy.epsilon, delta=privacy.delta, contributions=privacy.contributions, horizon=horizon, seed=seed,
            calibration=calibration, actions=actions, bound=bound, block=block,
        )  # fmt: skip
        super().__init__(config, journal)

    # --- the hooks ------------------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        config = self.config
        if not isinstance(config.actions, int) or config.actions < 1:
            raise ConfigError(f"actions must be a whole number, at least 1, got {config.actions!r}")
        if config.calibration not in ("tight", "published"):
            raise ConfigError(f'calibration must be "tight" or "published", got {config.calibration!r}')
        self._entrance = Entrance(config.actions, config.bound, inf, LEVELS, nonnegative=True)
        self._selection = cache(self._calibrated)
        self._schedule = self._make_schedule()
        budget = config.privacy.budget
        total = budget
        if isinstance(self._schedule, EqualBlocks):
            draws = self._schedule.releases
            total = self._selection(0).charge(budget.measure) * draws if draws else budget * 0
        facts = {"rate": self._selection(0).rate * LEVELS, "draws": self._schedule.releases, "block": self._schedule.block}
        return Plan(self._schedule, self._charge, total, facts=facts)

    def start(self) -> tuple[State, State]:
        return {"action": -1}, {"scores": np.zeros(self.config.actions, dtype=np.int64)}

    def digest(self, public: State, secret: State, batch: Batch) -> State:
        actions = self.config.actions
        rows = as_row(batch.feedback, actions) if batch.single else as_rows(batch.feedback, actions)
        self._entrance.add(rows, secret["scores"])
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        return {"action": door.select(self._selection(self._segment(door.index)), secret["scores"])}, secret

    def decide(self, public: State, round: int, asked: Asked, coin: Coin) -> int:
        action: int = public["action"]
        return coin.below(self.config.actions) if action < 0 else action

    def blank(self) -> Any:
        return np.zeros(self.config.actions)

    # --- the calibration --------------------------------------------------------------------------------------------------------

    def _make_schedule(self) -> EqualBlocks | Segments:
        config = self.config
        if config.horizon is None:
            if config.calibration == "published" or config.block != "auto":
                raise ConfigError("without a horizon, calibration must be 'tight' and block 'auto'")
            return Segments(FIRST_SEGMENT, FIRST_SEGMENT // SEGMENT_DRAWS, growing=True)
        if config.calibration == "published":
            return EqualBlocks(config.horizon, 1, last=False)
        if config.block == "auto":
            return EqualBlocks(config.horizon, best_block(config.actions, config.horizon, config.privacy.budget), last=False)
        return EqualBlocks(config.horizon, config.block, last=False)  # type: ignore[arg-type]

    def _calibrated(self, segment: int) -> Selection:
        config, span = self.config, 2 * LEVELS
        if isinstance(self._schedule, Segments):  # Σ 6/(π²m²) = 1: the budget lasts for ever
            share = config.privacy.budget * (6 / (pi * (segment + 1)) ** 2)
            return Selection.for_budget(share, draws=SEGMENT_DRAWS, span=span)
        if config.calibration == "published":
            return Selection.at_rate(hedge_rate(config.epsilon, config.delta, self._schedule.horizon) / LEVELS, span)
        return Selection.for_budget(config.privacy.budget, draws=max(1, self._schedule.releases), span=span)

    def _segment(self, index: int) -> int:
        return self._schedule.segment(index)[0] if isinstance(self._schedule, Segments) else 0

    def _charge(self, index: int) -> Charge:
        return self._selection(self._segment(index)).charge(self.config.privacy.budget.measure)


def regret_bound(actions: int, horizon: int, block: int, budget: Charge) -> float:
    """The bound on the expected regret for any stream, with the rate that the budget allows at this block."""
    draws = ceil(horizon / block) - 1
    if draws == 0:
        return inf  # only random play: the bound says nothing
    rate = sqrt(2 * budget.amount / draws) if budget.measure == "zcdp" else budget.amount / (2 * draws)
    return log(actions) / rate + rate * block * horizon / 8


def best_block(actions: int, horizon: int, budget: Charge) -> int:
    """The block with the least bound on the regret.

    >>> from discreet.release.privacy import zcdp
    >>> best_block(100, 100_000, zcdp(0.024356))
    16
    """
    if not isinstance(horizon, int) or horizon < 1:
        raise ConfigError(f"horizon must be a whole number, at least 1, got {horizon!r}")
    blocks = {int(block) for block in np.geomspace(1, horizon, 400).round()}
    return min(sorted(blocks), key=lambda block: regret_bound(actions, horizon, block, budget))
