"""A private running sum: after every person, the total so far, without giving any of them away.

Guarantee   docs/guarantees/sums.md
"""

import os
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np

from discreet.errors import ConfigError
from discreet.release.arrays import Floats
from discreet.release.coins import Coin
from discreet.release.config import Config
from discreet.release.door import Door
from discreet.release.entrance import Entrance, as_row, as_rows
from discreet.release.journal import Journal
from discreet.release.learner import Learner
from discreet.release.privacy import Charge, Privacy
from discreet.release.schedule import EqualBlocks, Segments
from discreet.release.sums import PrefixSum, Stream, calibrate
from discreet.release.turn import Asked, Batch, Plan, State

__all__ = ["RunningSum", "RunningSumConfig"]

FIRST_SEGMENT = 256
"""Without a horizon, the sum starts afresh after this many releases, then after twice as many, and so on."""


@dataclass(frozen=True, kw_only=True)
class RunningSumConfig(Config):
    """The public settings of a running sum."""

    dimension: int
    bound: float
    norm: float | str = 2
    nonnegative: bool = False
    method: str = "auto"
    block: int = 1


class RunningSum(Learner):
    """The sum of everyone's vectors so far, released again and again.

    Each person adds one vector. After each (or each `block`), the noisy total is published. The noise grows only with the
    logarithm of the number of releases, because each release reuses the noise of those before.

    Guarantee: docs/guarantees/sums.md, Theorems 2 and 3.
    Runtime: one exact noise vector a release (two for "honaker"); state of at most 17 vectors, whatever the horizon.

    Parameters
    ----------
    dimension
        How many numbers a person adds.
    horizon
        How many people there will be; None if nobody knows (somewhat more noise).
    privacy
        What is asked for; `delta=0` gives the pure guarantee and much more noise.
    bound, norm
        The most one person may add, in the l₁, l₂ (default) or l_∞ norm (1, 2, "inf"). More is clipped.
    nonnegative
        Negative entries count as zero; saves noise: a factor √2, or 2 for single numbers.
    method
        "toeplitz" (least noise), "honaker" or "tree"; "auto" takes the one with the least noise.
    block
        Release after every so many people only.

    Examples
    --------
    >>> from discreet import Privacy, RunningSum
    >>> clicks = RunningSum(dimension=1, horizon=1000, privacy=Privacy(1.0, 1e-6), bound=1.0, nonnegative=True, seed=1)
    >>> for person in range(1000):
    ...     total = clicks.add([1.0])
    >>> total.round(1), round(clicks.standard_deviation, 1)
    (array([994.1]), 14.8)

    References
    ----------
    Dwork, Naor, Pitassi, Rothblum (2010), "Differential Privacy under Continual Observation";
    Fichtenberger, Henzinger, Upadhyay (2023), "Constant Matters"; Dvijotham et al. (2024), "Efficient and Near-Optimal
    Noise Generation for Streaming Differential Privacy".
    """

    configuration = RunningSumConfig
    proof = "sums.md"
    config: RunningSumConfig

    def __init__(
        self,
        dimension: int,
        horizon: int | None,
        privacy: Privacy,
        *,
        bound: float,
        norm: float | str = 2,
        nonnegative: bool = False,
        method: str = "auto",
        block: int = 1,
        seed: int | None = None,
        journal: Journal | str | os.PathLike[str] | None = None,
    ) -> None:
        config = RunningSumConfig(
            epsilon=privacy.epsilon, delta=privacy.delta, contributions=privacy.contributions, horizon=horizon, seed=seed,
            dimension=dimension, bound=bound, norm="inf" if norm == inf else norm, nonnegative=nonnegative, method=method,
            block=block,
        )  # fmt: skip
        super().__init__(config, journal)

    # --- the one verb of its own ----------------------------------------------------------------------------------------------

    def add(self, vector: Any) -> Floats:
        """Add one person's vector and get the newest total: `open`, `close` and `turn` in one."""
        as_row(vector, self.config.dimension)  # refuse before the clock ticks
        with self._lock:
            self.close(self.open(), vector)
            self.turn()
            return self.total

    @property
    def total(self) -> Floats:
        """The newest released total."""
        total: Floats = self._turn.public["total"]
        return total.copy()

    @property
    def standard_deviation(self) -> float:
        """How far each coordinate of the newest total is from the truth, typically: known in advance, the same for any data."""
        if self._turn.index == 0:
            return 0.0
        parts = self._segments
        number, position = parts.place(self._turn.index - 1)
        whole = [parts.sums(earlier).variance(parts.releases(earlier)) * parts.grid(earlier) ** 2 for earlier in range(number)]
        return sqrt(sum(whole) + parts.sums(number).variance(position + 1) * parts.grid(number) ** 2)

    # --- the hooks ------------------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        config = self.config
        if not isinstance(config.dimension, int) or config.dimension < 1:
            raise ConfigError(f"dimension must be a whole number, at least 1, got {config.dimension!r}")
        self._segments = parts = _Segments(config)
        sums = parts.sums(0)
        total = config.privacy.budget if config.horizon is None else sums.spent(parts.releases(0))
        facts = {"mechanism": type(sums).__name__, "grid": parts.grid(0), "noise": sums.variance(1) ** 0.5 * parts.grid(0)}
        return Plan(parts.schedule, parts.charge, total, parts.cohort, facts, constants=repr(sums))

    def start(self) -> tuple[State, State]:
        zeros = np.zeros(self.config.dimension)
        return {"total": zeros, "closed": zeros}, {"addend": zeros.astype(np.int64)}

    def digest(self, public: State, secret: State, batch: Batch) -> State:
        dimension = self.config.dimension
        rows = as_row(batch.feedback, dimension) if batch.single else as_rows(batch.feedback, dimension, len(batch.rounds))
        number, _ = self._segments.place(batch.index)
        self._segments.entrance(number).add(rows, secret["addend"])
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        number, position = self._segments.place(door.index)
        sums = self._segments.sums(number)
        addend = secret["addend"]
        if position == 0:
            closed = public["total"]
            public, secret = sums.start()
        else:
            closed = public["closed"]
            public, secret = _without(public, "total", "closed"), _without(secret, "addend")
        public, secret = door.prefix(sums, public, secret, addend)
        total = closed + public["prefix"] * self._segments.grid(number)
        return public | {"total": total, "closed": closed}, secret | {"addend": np.zeros_like(addend)}

    def decide(self, public: State, round: int, asked: Asked, coin: Coin) -> Floats:
        total: Floats = public["total"]
        return total

    def blank(self) -> Floats:
        return np.zeros(self.config.dimension)


class _Segments:
    """Where each release lies: in the one sum if the horizon is known, in one of the doubling sums if it is not."""

    def __init__(self, config: RunningSumConfig) -> None:
        self._config = config
        self._known: dict[int, tuple[PrefixSum, Entrance]] = {}
        block, horizon = config.block, config.horizon
        self.schedule = Segments(FIRST_SEGMENT * block, block) if horizon is None else EqualBlocks(horizon, block)

    def place(self, index: int) -> tuple[int, int]:
        """The segment of a release, and its position there."""
        return self.schedule.segment(index) if isinstance(self.schedule, Segments) else (0, index)

    def releases(self, number: int) -> int:
        """How many releases a segment has."""
        return self.schedule.length(number) if isinstance(self.schedule, Segments) else self.schedule.releases

    def cohort(self, index: int) -> int | None:
        """People of different segments pay side by side."""
        return self.place(index)[0] if isinstance(self.schedule, Segments) else None

    def charge(self, index: int) -> Charge:
        """What a release costs."""
        number, position = self.place(index)
        return self.sums(number).charge(position)

    def sums(self, number: int) -> PrefixSum:
        """The calibrated sum of a segment."""
        return self._calibrated(number)[0]

    def entrance(self, number: int) -> Entrance:
        """The entrance of a segment, with the grid of its sum."""
        return self._calibrated(number)[1]

    def grid(self, number: int) -> float:
        """What an integer step of a segment is worth."""
        return self.entrance(number).grid

    def _calibrated(self, number: int) -> tuple[PrefixSum, Entrance]:
        if number not in self._known:
            config, norm = self._config, float(self._config.norm)
            stream = Stream(self.releases(number), config.dimension, norm, config.nonnegative, config.block)
            sums = calibrate(config.method, config.privacy.budget, stream)
            self._known[number] = sums, Entrance(config.dimension, config.bound, norm, sums.levels, config.nonnegative)
        return self._known[number]


def _without(state: State, *names: str) -> State:
    return {name: value for name, value in state.items() if name not in names}
