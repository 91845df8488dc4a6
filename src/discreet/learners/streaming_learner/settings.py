"""The public settings of a streaming learner."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, inf, sqrt
from typing import Any, ClassVar, Literal, Self

from discreet import require
from discreet.engine.schedule import EqualBlocks
from discreet.engine.settings import Settings
from discreet.errors import ConfigError
from discreet.losses import (
    CallableLoss,
    GeneralisedLinearLoss,
    HuberLoss,
    LogisticLoss,
    SoftmaxLoss,
    SquaredLoss,
)
from discreet.optim.domains import Box, LpBall, Simplex

MOST_NUMBERS = 10**7
"""The most coefficients."""
LARGEST, SMALLEST = 1e8, 1e-8
"""Of bounds: far inside what floats can hold."""
MOST_RELEASES = 200
"""If nobody says how many."""
WHITENED = 2000
"""From this number of samples on it pays to measure second moments."""
SIZES_OVER = 90.0
"""A histogram of sizes needs this number of samples over ε to exceed its noise
(benchmarks/ways.py).
"""
CLASSES_MEASURED = 2000
"""From this number of samples on classes gain from measuring: slopes are bounded, whatever rows
are.
"""
MOST_MEASURED, MOST_MOMENTS = 0.1, 0.13
"""The largest shares of samples that are measured, for sizes and for second moments."""
CORNERS_LEAST, CORNERS_MOST = 1e5, 0.7
"""Pure guarantees over l₁ balls and simplices: corners are drawn if ε · samples lies between the
first number
and the second times d² (benchmarks/ways.py)."""


@dataclass(frozen=True, kw_only=True)
class StreamingLearnerSettings(Settings):
    """What `StreamingLearner` is made with: its parameters, as public data."""

    domain: LpBall | Box | Simplex
    loss: (
        SquaredLoss | LogisticLoss | HuberLoss | GeneralisedLinearLoss | SoftmaxLoss | CallableLoss
    ) = SquaredLoss()
    feature_bound: float
    target_bound: float
    bound: float | Literal["auto"] = "auto"
    method: Literal["auto", "passes", "frank-wolfe"] = "auto"
    intercept: bool = False
    block: int | Literal["auto"] = "auto"

    removed: ClassVar[Mapping[str, str]] = {
        "curvature": "leave it out, it follows from the loss, the bounds and released values",
        "pace": "leave it out, steps are as long as released values call for",
        "allocation": "leave it out, the last coefficients count",
        "stream": "leave it out, value assumes people that are alike over time",
    }

    def __post_init__(self) -> None:
        _refuse_method(self.method)
        super().__post_init__()
        require.whole("horizon", self.horizon)
        require.whole("dimension", self.domain.dimension, 1, MOST_NUMBERS)
        for name in ("feature_bound", "target_bound"):
            require.number(name, getattr(self, name), SMALLEST, LARGEST)
        if self.bound != "auto":
            require.number("bound", self.bound, SMALLEST, LARGEST)
            if not isinstance(self.loss, CallableLoss):
                raise ConfigError(
                    "bound is for a loss that is a callable: leave it out, "
                    f"{type(self.loss).__name__} has its own"
                )
        if self.method == "passes" and self.block != "auto":
            raise ConfigError("method='passes' publishes once, at the end: leave out block")
        if self.block != "auto":
            require.whole("block", self.block)
        if isinstance(self.domain, Box):
            require.number("low", self.domain.low, -LARGEST, LARGEST)
            require.number("high", self.domain.high, self.domain.low + SMALLEST, LARGEST)
        else:
            require.number("radius", self.radius, SMALLEST, LARGEST)
        if self.domain.dimension % self.classes:
            raise ConfigError(
                f"dimension must be a multiple of the {self.classes} classes, got "
                f"{self.domain.dimension}"
            )
        if self.classes > 1 and self.chosen_method in ("whitened", "frank-wolfe"):
            raise ConfigError(
                f"{self.chosen_method} learns one margin, not {self.classes} classes: leave out "
                "method"
            )
        if self.intercept and self.width < 2:
            raise ConfigError(
                "an intercept needs a domain with one more dimension than there are features"
            )
        if isinstance(self.loss, CallableLoss) and self.loss.gradient is None:
            raise ConfigError(
                "a loss that is a callable is not kept in files: make the learner with it and "
                "journal=path"
            )

    @property
    def radius(self) -> float:
        """How far from its middle the domain reaches."""
        if isinstance(self.domain, Simplex):
            return self.domain.total
        return self.domain.radius if isinstance(self.domain, LpBall) else inf

    @property
    def rounds(self) -> int:
        """How many samples."""
        assert self.horizon is not None
        return self.horizon

    @property
    def classes(self) -> int:
        """How many rows of coefficients there are."""
        return self.loss.classes if isinstance(self.loss, SoftmaxLoss) else 1

    @property
    def width(self) -> int:
        """How many coefficients there are in a row, with the constant's."""
        return self.domain.dimension // self.classes

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the coefficients."""
        return (self.width,) if self.classes == 1 else (self.classes, self.width)

    @property
    def features(self) -> int:
        """How many numbers a sample has besides its target."""
        return self.width - self.intercept

    @property
    def constant(self) -> float:
        """The value of one more feature that is the same for everyone, or 0."""
        return self.feature_bound if self.intercept else 0.0

    @property
    def classifies(self) -> bool:
        """Whether targets are classes."""
        return not isinstance(self.loss, CallableLoss) and self.loss.classifies

    @property
    def learns(self) -> str:
        """What: classes, or a regression."""
        return "classes" if self.classifies else "regression"

    @property
    def counts(self) -> bool:
        """Whether targets are counts, whose loss curves the more the larger they are."""
        return isinstance(self.loss, GeneralisedLinearLoss) and self.loss.link == "log"

    @property
    def chosen_method(self) -> str:
        """The method: as given, or by public numbers.

        Draws of corners pay only for a pure guarantee, and between two bounds: enough samples to
        draw good corners, and too few for the noise of d coordinates. Measuring rows first pays
        where there are enough samples for it.
        """
        if self.mode != "auto":
            return self.mode
        if self.method != "auto":
            return self.method
        pure_corners = self.domain.corners and self.privacy.pure and self.classes == 1
        signal = self.epsilon / self.contributions * self.rounds
        if pure_corners and CORNERS_LEAST <= signal <= CORNERS_MOST * self.domain.dimension**2:
            return "frank-wolfe"
        return "whitened" if self.measures and self.preparation else "leader"

    @property
    def measures(self) -> bool:
        """Whether rows may be measured first."""
        known = not isinstance(self.loss, CallableLoss | SoftmaxLoss) and not self.counts
        return known and not self.domain.corners

    @property
    def preparation(self) -> tuple[int, ...]:
        """How many samples each stage measures: sizes; then second moments, if that pays.

        Nothing is measured where sizes would take more than MOST_MEASURED of the samples.
        """
        rounds, least = self.rounds, self.contributions / self.epsilon
        named, sizes = self.mode == "whitened", self._sizes
        resolving = self.domain.dimension**1.5 * max(
            1.0, least
        )  # with these samples the noise of eigenvalues is small
        moments = int(min(max(0.05 * rounds, 12 * resolving), 25 * resolving))
        few = sizes > MOST_MEASURED * rounds or (self.classifies and rounds < CLASSES_MEASURED)
        if few and not named:
            return ()
        pays = rounds >= WHITENED and moments <= MOST_MOMENTS * rounds
        whole = (sizes, moments) if (pays or named) and not self.privacy.pure else (sizes,)
        return whole if sum(whole) < rounds / 2 else tuple(max(1, rounds // 8) for _ in whole)

    @property
    def _sizes(self) -> int:
        """How many samples tell sizes."""
        least = SIZES_OVER * self.contributions / self.epsilon
        return ceil(max(min(0.02 * self.rounds, 4000), least))

    @property
    def why(self) -> str:
        """The public numbers by which a method is taken."""
        if self.domain.corners and self.privacy.pure and self.classes == 1:
            signal = self.epsilon / self.contributions * self.rounds
            most = CORNERS_MOST * self.domain.dimension**2
            return f"ε · samples is {signal:g}: corners pay from {CORNERS_LEAST:g} to {most:g}"
        if not self.measures:
            return "with this loss or domain, rows are not measured"
        least = f" of at least {CLASSES_MEASURED}" if self.classifies else ""
        return f"to tell sizes takes {self._sizes} of {self.rounds} samples: a tenth{least} is worth it"

    @property
    def clip(self) -> float:
        """The longest that a sample's gradient may be."""
        if self.bound != "auto":
            return self.bound
        largest = self.feature_bound * (1.0 if self.classifies else self.target_bound)
        return largest * (0.25 if self.chosen_method == "leader" else 0.5)

    @property
    def schedule(self) -> EqualBlocks:
        """The last block ends with a release: the final coefficients are what people came for.

        More than MOST_RELEASES teach nothing more, and each takes some time.
        """
        usual = max(ceil(1.5 * sqrt(self.rounds)), ceil(self.rounds / MOST_RELEASES))
        block = usual if self.block == "auto" else self.block
        return EqualBlocks(self.rounds, min(block, self.rounds))

    @classmethod
    def translated(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Return fields for a callable in place of a loss."""
        loss = given.get("loss")
        # The losses of discreet.functions are not callable themselves.
        if callable(loss) and not isinstance(loss, type):
            return given | {"loss": CallableLoss(loss)}
        return given

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """Refuses a callable, and methods that are no choice, with the remedy."""
        _refuse_method(plain.get("method"))
        if isinstance(plain.get("loss"), dict) and plain["loss"].get("kind") == "CallableLoss":
            raise ConfigError(
                "a loss that is a callable is not kept in files: make the learner with it and "
                "journal=path"
            )
        return super().from_plain(plain)


def _refuse_method(method: Any) -> None:
    """Refuse methods that only public numbers choose."""
    if isinstance(method, str) and method in ("leader", "whitened"):
        raise ConfigError(
            f"method={method!r} cannot be chosen, it is used where it is best: leave it out"
        )
