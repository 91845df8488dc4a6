"""The public settings of a contextual bandit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import ClassVar, Literal

import numpy as np

from discreet import require
from discreet.arrays import Floats
from discreet.engine.settings import FOREIGN, UNWRITTEN, Settings
from discreet.errors import ConfigError
from discreet.learners.labels import Label, labelled, with_labels

MANY_FEATURES = 64
"""The largest number of features that are all expected to matter, if `relevant` is None."""
USUAL_RELEVANT = 5
"""The number of features that an arm is expected to need, if `relevant` is None."""
MOST_NUMBERS = 2**19
"""The largest number of moments of a ridge over all features; every commit writes about 90 bytes
for each."""
SMALLEST = 1e-8
LARGEST = 1e8
"""The range of bounds, far inside the range of floats."""


@dataclass(frozen=True, kw_only=True)
class ContextualBanditSettings(Settings):
    """The parameters of `ContextualBandit`, as public data."""

    arms: int
    labels: tuple[Label, ...] | None = field(default=None, metadata=UNWRITTEN)
    features: int
    feature_labels: tuple[Label, ...] | None = field(default=None, metadata=UNWRITTEN)
    relevant: int | Literal["all"] | None = None
    reward_range: tuple[float, float] = (0.0, 1.0)
    context_bound: float | tuple[float, ...] = 1.0
    context_length: float | None = None
    max_arms: int | None = None
    block: int | Literal["auto"] = "auto"

    foreign: ClassVar[Mapping[str, str]] = FOREIGN | {
        "stream": "leave it out, value assumes people who are alike over time"
    }
    needs_horizon: ClassVar[bool] = True
    by_label: ClassVar[Mapping[str, str]] = {"arms": "labels", "features": "feature_labels"}

    def __post_init__(self) -> None:
        super().__post_init__()
        require.whole("arms", self.arms, 1, 2**16)
        require.whole("features", self.features, 1, 2**20)
        _check_labels("arms", self.labels, self.arms)
        _check_labels("features", self.feature_labels, self.features)
        low, high = self.reward_range
        require.number("reward_range", low, -LARGEST, LARGEST)
        require.number("reward_range", high, low + SMALLEST, LARGEST)
        self._check_bounds()
        if self.max_arms is not None:
            require.whole("max_arms", self.max_arms, self.arms, 2**16)
        if self.block != "auto":
            require.whole("block", self.block)
        if isinstance(self.relevant, int):
            require.whole("relevant", self.relevant, 1, self.features)
        if self.privacy.pure:
            raise ConfigError(
                "a contextual bandit needs delta > 0: a pure guarantee would hide second moments "
                "in noise"
            )

    def _check_bounds(self) -> None:
        """Refuse bounds of contexts that are out of range, or not one per feature."""
        bounds = self.context_bound
        for bound in bounds if isinstance(bounds, tuple) else (bounds,):
            require.number("context_bound", bound, SMALLEST, LARGEST)
        if isinstance(bounds, tuple) and len(bounds) != self.features:
            raise ConfigError(
                f"context_bound must be one number, or one for each of {self.features} features, "
                f"got {len(bounds)}"
            )
        if self.context_length is not None:
            require.number("context_length", self.context_length, SMALLEST, LARGEST)

    # --- derived values ---------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """The number of people."""
        assert self.horizon is not None
        return self.horizon

    @property
    def slots(self) -> int:
        """The number of arms there may ever be."""
        return self.arms if self.max_arms is None else self.max_arms

    @property
    def screens(self) -> bool:
        """Whether features are screened: on request, or if there are many."""
        if self.mode != "auto":
            return self.mode == "screen"
        return isinstance(self.relevant, int) or (
            self.relevant is None and self.features > MANY_FEATURES
        )

    @property
    def why(self) -> str:
        """The public numbers that decide whether features are screened, in one sentence."""
        if self.relevant is not None:
            return f"relevant is {self.relevant}"
        return (
            f"there are {self.features} features: "
            f"beyond {MANY_FEATURES}, few are expected to matter"
        )

    @property
    def expected(self) -> int:
        """The number of features that an arm is expected to need, if features are screened."""
        if isinstance(self.relevant, int):
            return self.relevant
        return min(USUAL_RELEVANT, self.features)

    @cached_property
    def bounds(self) -> Floats:
        """The largest absolute value of each feature."""
        declared = np.asarray(self.context_bound, dtype=np.float64)
        return np.array(np.broadcast_to(declared, self.features))

    @cached_property
    def scales(self) -> Floats:
        """The factors that scale each feature to [−1, 1]."""
        return 1 / self.bounds

    @cached_property
    def length(self) -> float:
        """The largest norm of a context, in its own units."""
        longest = float(np.linalg.norm(self.bounds))
        return longest if self.context_length is None else min(longest, self.context_length)

    @cached_property
    def scaled_length(self) -> float:
        """The largest norm of a context whose features are divided by their bounds."""
        return min(sqrt(self.features), self.length / float(self.bounds.min()))

    @cached_property
    def middle(self) -> float:
        """The middle of the range of rewards."""
        return sum(self.reward_range) / 2

    @cached_property
    def half_range(self) -> float:
        """Half the length of the range of rewards."""
        return (self.reward_range[1] - self.reward_range[0]) / 2

    @property
    def earns(self) -> bool:
        return True

    def as_plain(self) -> dict[str, object]:
        """Return plain data, which always contains `report`, as in files of all versions."""
        return super().as_plain() | {"report": self.report}

    @classmethod
    def translated(cls, given: dict[str, object]) -> dict[str, object]:
        """Return the fields with labels of arms and features split from their numbers."""
        return with_labels(given, cls.by_label)


def _check_labels(what: str, labels: tuple[Label, ...] | None, count: int) -> None:
    """Refuse labels that are not one per arm or feature."""
    if labels is not None and labelled(labels, what)[0] != count:
        raise ConfigError(
            f"there must be one label for each of the {count} {what}, got {len(labels)}"
        )
