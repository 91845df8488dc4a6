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
MOST_ACTIONS, MOST_ROUNDS = 2**27, 2**40
"""What selections and 64-bit scores can hold."""
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
        if config.actions > MOST_ACTIONS or (config.horizon or 0) > MOST_ROUNDS:
            raise ConfigError(f"at most {MOST_ACTIONS} actions and {MOST_ROUNDS} rounds, got {config.actions} and {config.horizon}")
        self._entrance = Entrance(config.actions, config.bound, inf, LEVELS, nonnegative=True)
        self._draws = draws = _Draws(config)
        budget, schedule = config.privacy.budget, draws.schedule
        total = draws.charge(0) * schedule.releases if isinstance(schedule, EqualBlocks) else budget
        facts = {"rate": draws.selection(0).rate * LEVELS, "draws": schedule.releases, "block": schedule.block}
        return Plan(schedule, draws.charge, total, facts=facts, constants=repr((LEVELS, draws.selection(0))))

    def start(self) -> tuple[State, State]:
        return {"action": -1}, {"scores": np.zeros(self.config.actions, dtype=np.int64)}

    def digest(self, public: State, secret: State, batch: Batch) -> State:
        actions = self.config.actions
        rows = as_row(batch.feedback, actions) if batch.single else as_rows(batch.feedback, actions, len(batch.rounds))
        self._entrance.add(rows, secret["scores"])
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        return {"action": door.select(self._draws.selection(door.index), secret["scores"])}, secret

    def decide(self, public: State, round: int, asked: Asked, coin: Coin) -> int:
        action: int = public["action"]
        return coin.below(self.config.actions) if action < 0 else action

    def blank(self) -> Any:
        return np.zeros(self.config.actions)


class _Draws:
    """When actions are drawn, how sharply, and what each draw costs."""

    def __init__(self, config: HedgeConfig) -> None:
        self._config = config
        self._known: dict[int, Selection] = {}
        self.schedule = self._make_schedule()

    def selection(self, index: int) -> Selection:
        """The exponential mechanism of draw `index`."""
        segment = self.schedule.segment(index)[0] if isinstance(self.schedule, Segments) else 0
        if segment not in self._known:
            self._known[segment] = self._calibrated(segment)
        return self._known[segment]

    def charge(self, index: int) -> Charge:
        """What draw `index` costs."""
        return self.selection(index).charge(self._config.privacy.budget.measure)

    def _make_schedule(self) -> EqualBlocks | Segments:
        config = self._config
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
        config, span = self._config, 2 * LEVELS
        if isinstance(self.schedule, Segments):  # Σ 6/(π²m²) = 1: the budget lasts for ever
            share = Charge(config.privacy.budget.measure, config.privacy.budget.amount * 6 / (pi * (segment + 1)) ** 2)
            return Selection.for_budget(share, draws=SEGMENT_DRAWS, span=span)
        if config.calibration == "published":
            return Selection.at_rate(hedge_rate(config.epsilon, config.delta, self.schedule.horizon) / LEVELS, span)
        return Selection.for_budget(config.privacy.budget, draws=max(1, self.schedule.releases), span=span)


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
