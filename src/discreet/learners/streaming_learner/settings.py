"""The public settings of a streaming learner."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, inf, sqrt
from typing import Any, ClassVar, Literal, Self

import numpy as np

from discreet import require
from discreet.arrays import Floats
from discreet.engine.codec import OMITTED
from discreet.engine.schedule import EqualBlocks
from discreet.engine.settings import FOREIGN, UNWRITTEN, Settings
from discreet.errors import ConfigError
from discreet.learners.streaming_learner.from_columns import bound_of_features, completed, shifts
from discreet.losses import (
    AnyLoss,
    CallableLoss,
    GeneralisedLinearLoss,
    SoftmaxLoss,
    SquaredLoss,
)
from discreet.optim.domains import Box, LpBall, Simplex
from discreet.records.columns import Columns

MOST_NUMBERS = 10**7
"""The largest number of coefficients."""
LARGEST = 1e15
SMALLEST = 1e-15
"""The range of bounds and radii, far inside the range of floats: targets are in any unit."""
MOST_RELEASES = 200
"""The largest number of releases if `block` is "auto"."""
WHITENED = 2000
"""The number of samples from which on it pays to measure second moments."""
SIZES_OVER = 90.0
"""A histogram of sizes needs this number of samples over ε to exceed its noise
(benchmarks/ways.py)."""
CLASSES_MEASURED = 2000
"""The number of samples from which on classifiers gain from measuring. They need more than
regressions, since the slopes of their losses are bounded for every row."""
MOST_MEASURED = 0.1
"""The largest share of the samples that may measure sizes."""
MOST_MOMENTS = 0.13
"""The largest share of the samples that may measure second moments."""
CALLABLE_NOT_STORED = (
    "a callable loss is not stored in files: make the learner with it and journal=path"
)
CORNERS_LEAST = 1e5
CORNERS_MOST = 0.7
"""With a pure guarantee over an l₁ ball or a simplex, corners are drawn if ε · samples lies between
the first number and the second times d² (benchmarks/ways.py)."""


@dataclass(frozen=True, kw_only=True)
class StreamingLearnerSettings(Settings):
    """The parameters of `StreamingLearner`, as public data."""

    domain: LpBall | Box | Simplex
    loss: AnyLoss = SquaredLoss()
    columns: Columns | None = field(default=None, metadata=UNWRITTEN)
    feature_bound: float = None  # type: ignore[assignment]  # they follow from columns with bounds
    target_bound: float = None  # type: ignore[assignment]
    bound: float | Literal["auto"] = "auto"
    method: Literal["auto", "passes", "frank-wolfe"] = "auto"
    intercept: bool = False
    block: int | Literal["auto"] = "auto"
    report: float = field(default=0.0, metadata=OMITTED | UNWRITTEN)

    needs_horizon: ClassVar[bool] = True
    foreign: ClassVar[Mapping[str, str]] = FOREIGN | {
        "stream": "leave it out, value assumes people who are alike over time"
    }

    def __post_init__(self) -> None:
        _refuse_method(self.method)
        self._take_bounds_of_columns()
        super().__post_init__()
        self._check_columns()
        require.whole("dimension", self.domain.dimension, 1, MOST_NUMBERS)
        for name in ("feature_bound", "target_bound"):
            require.number(name, getattr(self, name), SMALLEST, LARGEST)
        self._check_gradient_bound()
        self._check_block()
        self._check_domain()
        self._check_classes()
        if self.intercept and self.width < 2:
            raise ConfigError(
                "an intercept needs a domain with one more dimension than there are features"
            )
        if isinstance(self.loss, CallableLoss) and self.loss.gradient is None:
            raise ConfigError(CALLABLE_NOT_STORED)

    def _take_bounds_of_columns(self) -> None:
        """Set the bounds of features and targets from those of the columns, if left out."""
        columns = self.columns
        if isinstance(columns, Columns) and columns.is_scaled:
            follow = {
                "feature_bound": bound_of_features(columns, self.domain),
                "target_bound": columns.target_bound(shifts=self.shifts),
            }
            for name, bound in follow.items():
                if getattr(self, name) not in (None, bound):
                    raise ConfigError(f"{name} follows from the bounds of columns: leave it out")
                object.__setattr__(self, name, bound)
        lacking = [n for n in ("feature_bound", "target_bound") if getattr(self, n) is None]
        if lacking:
            raise ConfigError(f"the settings lack {', '.join(lacking)}")

    def _check_columns(self) -> None:
        """Refuse columns that do not fit the domain, the loss or the intercept."""
        columns = self.columns
        if columns is None:
            return
        if columns.is_scaled and not self.intercept:
            raise ConfigError("columns with bounds need an intercept: leave intercept out")
        if len(columns.names) != self.features:
            raise ConfigError(
                f"the columns give {len(columns.names)} features, and the domain has room for "
                f"{self.features}: leave out its dimension"
            )
        if columns.classes is not None and not self.classifies:
            raise ConfigError(
                f"{columns.target} has categories: set loss to LogisticLoss or SoftmaxLoss"
            )
        if columns.classes is not None and columns.classes != max(2, self.classes):
            raise ConfigError(
                f"{columns.target} has {columns.classes} categories, and the loss "
                f"{max(2, self.classes)} classes"
            )

    @property
    def shifts(self) -> bool:
        """Whether targets are taken less the middle of the bounds that `columns` states."""
        return self.columns is not None and shifts(self.columns, self.loss)

    def _check_gradient_bound(self) -> None:
        """Refuse a bound on gradients that is out of range, or that the loss does not need."""
        if self.bound == "auto":
            return
        require.number("bound", self.bound, SMALLEST, LARGEST)
        if not isinstance(self.loss, CallableLoss):
            raise ConfigError(
                "bound is for a callable loss: leave it out, the bound of "
                f"{type(self.loss).__name__} follows from the others"
            )

    def _check_block(self) -> None:
        """Refuse a block that is not a positive number, or any for a method with one release."""
        if self.block == "auto":
            return
        if self.method == "passes":
            raise ConfigError("method='passes' releases once, at the end: leave out block")
        require.whole("block", self.block)

    def _check_domain(self) -> None:
        """Refuse a domain whose bounds are out of range."""
        if isinstance(self.domain, Box):
            require.number("low", self.domain.low, -LARGEST, LARGEST)
            require.number("high", self.domain.high, self.domain.low + SMALLEST, LARGEST)
        else:
            require.number("radius", self.radius, SMALLEST, LARGEST)

    def _check_classes(self) -> None:
        """Refuse several classes where the domain or the method does not allow them."""
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

    @property
    def radius(self) -> float:
        """The radius of a ball, the total of a simplex, infinity for a box."""
        if isinstance(self.domain, Simplex):
            return self.domain.total
        return self.domain.radius if isinstance(self.domain, LpBall) else inf

    @property
    def rounds(self) -> int:
        """The number of samples."""
        assert self.horizon is not None
        return self.horizon

    @property
    def classes(self) -> int:
        """The number of rows of coefficients: one per class, 1 for regressions and two classes."""
        return self.loss.classes if isinstance(self.loss, SoftmaxLoss) else 1

    @property
    def width(self) -> int:
        """The number of coefficients per row, with the one of the constant."""
        return self.domain.dimension // self.classes

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the coefficients."""
        return (self.width,) if self.classes == 1 else (self.classes, self.width)

    @property
    def directions(self) -> Floats | None:
        """A matrix that maps coefficients to the units of the columns; None without bounds.

        Standard errors are those of its rows: the error of a difference is no sum of errors.
        """
        if self.columns is None or not self.columns.is_scaled:
            return None
        of_class = self.columns.box.directions(self.constant)
        return np.asarray(np.kron(np.eye(self.classes), of_class), dtype=np.float64)

    @property
    def features(self) -> int:
        """The number of features of a sample."""
        return self.width - self.intercept

    @property
    def constant(self) -> float:
        """The value of the constant feature that carries the intercept; 0 without one.

        Beside scaled columns it is 1, the largest value of each. As long as a row, it would take
        half of the norm of all rows.
        """
        if not self.intercept:
            return 0.0
        is_scaled = self.columns is not None and self.columns.is_scaled
        return 1.0 if is_scaled else self.feature_bound

    @property
    def classifies(self) -> bool:
        """Whether targets are classes."""
        return not isinstance(self.loss, CallableLoss) and self.loss.classifies

    @property
    def learns(self) -> str:
        """The kind of prediction: "classes" or "regression"."""
        return "classes" if self.classifies else "regression"

    @property
    def counts(self) -> bool:
        """Whether targets are counts, whose loss has a curvature that grows with the prediction."""
        return isinstance(self.loss, GeneralisedLinearLoss) and self.loss.link == "log"

    @property
    def chosen_method(self) -> str:
        """The method that is used: the requested one, or the one that suits the public settings.

        Drawing corners pays only for a pure guarantee, and between two bounds: enough samples to
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
        """Whether this loss and domain allow rows to be measured first."""
        known = not isinstance(self.loss, CallableLoss | SoftmaxLoss) and not self.counts
        return known and not self.domain.corners

    @property
    def preparation(self) -> tuple[int, ...]:
        """The number of samples of each measuring phase: sizes, then second moments if that pays.

        It is empty where sizes would take more than MOST_MEASURED of the samples.
        """
        rounds = self.rounds
        sizes = self._sizes
        moments = self._moments
        is_requested = self.mode == "whitened"
        are_few = sizes > MOST_MEASURED * rounds or (self.classifies and rounds < CLASSES_MEASURED)
        if are_few and not is_requested:
            return ()
        pays = rounds >= WHITENED and moments <= MOST_MOMENTS * rounds
        has_moments = (pays or is_requested) and not self.privacy.pure
        phases = (sizes, moments) if has_moments else (sizes,)
        return phases if sum(phases) < rounds / 2 else tuple(max(1, rounds // 8) for _ in phases)

    @property
    def _sizes(self) -> int:
        """The number of samples for the histogram of sizes."""
        least = SIZES_OVER * self.contributions / self.epsilon
        return ceil(max(min(0.02 * self.rounds, 4000), least))

    @property
    def _moments(self) -> int:
        """The number of samples for second moments."""
        # With `resolving` samples the noise of eigenvalues is small.
        resolving = self.domain.dimension**1.5 * max(1.0, self.contributions / self.epsilon)
        return int(min(max(0.05 * self.rounds, 12 * resolving), 25 * resolving))

    @property
    def why(self) -> str:
        """The public numbers that decide the method, in one sentence."""
        if self.domain.corners and self.privacy.pure and self.classes == 1:
            signal = self.epsilon / self.contributions * self.rounds
            most = CORNERS_MOST * self.domain.dimension**2
            return f"ε · samples is {signal:g}: corners pay from {CORNERS_LEAST:g} to {most:g}"
        if not self.measures:
            return "with this loss or domain, rows are not measured"
        least = f" of at least {CLASSES_MEASURED}" if self.classifies else ""
        return (
            f"measuring sizes takes {self._sizes} of {self.rounds} samples: "
            f"it is worth at most a tenth{least}"
        )

    @property
    def clip(self) -> float:
        """The norm to which the gradient of a sample is clipped."""
        if self.bound != "auto":
            return self.bound
        largest = self.feature_bound * (1.0 if self.classifies else self.target_bound)
        return largest * (0.25 if self.chosen_method == "leader" else 0.5)

    @property
    def schedule(self) -> EqualBlocks:
        """The blocks; the last one ends with a release, which publishes the final coefficients.

        There are at most MOST_RELEASES by default: more do not improve value, and each takes time.
        """
        usual = max(ceil(1.5 * sqrt(self.rounds)), ceil(self.rounds / MOST_RELEASES))
        block = usual if self.block == "auto" else self.block
        return EqualBlocks(self.rounds, min(block, self.rounds))

    @classmethod
    def translated(cls, given: dict[str, object]) -> dict[str, object]:
        """Return the fields with a callable loss wrapped, and what follows from the columns."""
        loss = given.get("loss")
        # The losses of discreet.losses are not callable themselves.
        if callable(loss) and not isinstance(loss, type):
            given = given | {"loss": CallableLoss(loss)}
        return completed(given)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """Return settings from plain data; refuse callables and methods that cannot be chosen."""
        _refuse_method(plain.get("method"))
        if isinstance(plain.get("loss"), dict) and plain["loss"].get("kind") == "CallableLoss":
            raise ConfigError(CALLABLE_NOT_STORED)
        return super().from_plain(plain)


def _refuse_method(method: object) -> None:
    """Refuse methods that only the public settings choose."""
    if isinstance(method, str) and method in ("leader", "whitened"):
        raise ConfigError(
            f"method={method!r} cannot be chosen, it is used where it is best: leave it out"
        )
