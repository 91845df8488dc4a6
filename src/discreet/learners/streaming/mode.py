"""What the methods of `StreamingLearner` share: their shape, and the entrance of samples."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
from typing import Any, Protocol

import numpy as np

from discreet.arrivals.losses import CallableLoss, Loss, Samples
from discreet.decide.domains import Domain
from discreet.errors import ConfigError
from discreet.release.arrays import Floats, Integers
from discreet.release.door import Door
from discreet.release.entrance import Entrance
from discreet.release.privacy import Charge
from discreet.release.schedule import EqualBlocks
from discreet.release.sums import PrefixSum, Stream, calibrate
from discreet.release.turn import Plan, State

__all__ = ["Mode", "NoisySum", "Setting", "SumOfGradients"]

LARGEST = 1e100
"""Features larger than this say nothing."""

MOST_NUMBERS, MOST_ROWS = 2**22, 4096
"""How many numbers, and how many samples, are held as dense rows at once."""


@dataclass(frozen=True)
class Setting:
    """The public facts that every method needs."""

    domain: Domain
    loss: Loss | CallableLoss
    horizon: int
    budget: Charge
    clip: float
    feature_bound: float
    targets: tuple[float, float]
    constant: float
    """The value of one more feature that is the same for everyone, or 0."""
    block: int | None
    pace: float

    @cached_property
    def schedule(self) -> EqualBlocks:
        # The last block ends with a release: the final coefficients are what people came for.
        block = ceil(1.5 * sqrt(self.horizon)) if self.block is None else self.block
        return EqualBlocks(self.horizon, min(block, self.horizon))


class Mode(Protocol):
    """The hooks of a learner, for one method."""

    @property
    def gradients(self) -> "SumOfGradients": ...

    def plan(self) -> Plan: ...

    def start(self) -> tuple[State, State]: ...

    def digest(self, public: State, secret: State, samples: Samples, index: int) -> State: ...

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]: ...


@dataclass(frozen=True)
class SumOfGradients:
    """Adds clipped and quantised gradients of samples: each moves the sum by an integer vector of bounded length."""

    setting: Setting
    entrance: Entrance

    def add(self, samples: Samples, here: Floats, before: Floats, weight: float, total: Integers) -> None:
        """Add ∇f(here) + weight·(∇f(here) − ∇f(before)) of every sample."""
        setting, loss = self.setting, self.setting.loss
        order, clipped = (0.0 if np.isinf(norm) else float(norm) for norm in (setting.domain.dual, self.entrance.norm))
        for features, targets in samples.dense(max(1, min(MOST_ROWS, MOST_NUMBERS // len(total)))):
            if isinstance(loss, CallableLoss):
                with np.errstate(all="ignore"):  # a warning would tell about the sample
                    for x, y in zip(features, targets, strict=True):
                        self.entrance.add(self._called(here, before, weight, x, y)[None], total)
                continue
            from discreet.arrivals import kernels

            rounded = np.zeros(len(total))
            kernels.add_gradients(
                features, targets, here, before, float(weight), loss.code, float(loss.parameter), order,
                setting.feature_bound, *setting.targets, setting.constant, clipped,
                1 / self.entrance.grid, self.limit, rounded,
            )  # fmt: skip
            total += rounded.astype(np.int64)

    @property
    def limit(self) -> float:
        """How long a gradient may be before rounding, in steps, so that it is at most as long as paid for after it."""
        size, norm = self.entrance.dimension, self.entrance.norm
        return self.entrance.levels - 1 - (size / 2 if norm == 1 else sqrt(size) / 2 if norm == 2 else 0.0)

    def check(self) -> None:
        """Refuse grids that are too coarse for so many coefficients."""
        if self.limit < self.entrance.levels / 2:
            raise ConfigError(
                f"{self.entrance.dimension} coefficients are too many for this budget: ask for fewer releases (a larger block), "
                "or use frank-wolfe over an l₁ ball or a simplex"
            )

    def _called(self, here: Floats, before: Floats, weight: float, x: Floats, y: float) -> Floats:
        """The gradient of one sample by the user's own function."""
        setting, loss = self.setting, self.setting.loss
        assert isinstance(loss, CallableLoss)
        largest = float(np.max(np.abs(x), initial=0.0))
        if not (largest <= LARGEST and np.isfinite(y)):
            return np.zeros_like(here)
        length = float(np.linalg.norm(x / max(largest, 1e-300), setting.domain.dual)) * largest
        x = x if length <= setting.feature_bound else x * (setting.feature_bound / length)
        x = np.append(x, setting.constant) if setting.constant else x
        y = float(np.clip(y, *setting.targets))
        newest = loss.of(here, x, y)
        return newest + weight * (newest - loss.of(before, x, y)) if weight else newest


@dataclass(frozen=True)
class NoisySum:
    """A method that stands on one noisy running sum of gradients, clipped to l₂ length (pure: l₁)."""

    setting: Setting

    @cached_property
    def sums(self) -> PrefixSum:
        setting, schedule = self.setting, self.setting.schedule
        stream = Stream(schedule.releases, setting.domain.dimension, self.norm, nonnegative=False, people=schedule.block)
        return calibrate("auto", setting.budget, stream)

    @property
    def norm(self) -> int:
        return 2 if self.setting.budget.measure == "zcdp" else 1

    @cached_property
    def gradients(self) -> SumOfGradients:
        return SumOfGradients(self.setting, Entrance(self.setting.domain.dimension, self.setting.clip, self.norm, self.sums.levels))

    def planned(self, **facts: Any) -> Plan:
        """The plan, with these facts and the usual ones."""
        schedule, setting = self.setting.schedule, self.setting
        noise = self.sums.variance(schedule.releases) ** 0.5 / self.sums.levels
        facts |= {"block": schedule.block, "releases": schedule.releases, "clip": setting.clip, "noise_in_samples": noise}
        spent = self.sums.spent(schedule.releases)
        return Plan(schedule, self.sums.charge, spent, facts=facts, constants=repr((setting.clip, self.sums)))
