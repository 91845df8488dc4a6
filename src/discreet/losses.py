"""What a sample says about coefficients: losses of a linear predictor, and samples themselves.

A loss is ℓ(m, y) for a margin m = ⟨x, θ⟩ and a target y; its gradient is ℓ′(m, y)·x, so all a
learner needs is the slope ℓ′.

>>> SquaredLoss().slopes(np.array([0.5]), np.array([1.0]))
array([-1.])
>>> LogisticLoss().slopes(np.array([0.0]), np.array([1.0]))
array([-0.5])
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet import require
from discreet.arrays import Floats, Mask
from discreet.engine.signals import held
from discreet.errors import OutOfBounds
from discreet.functions.person import asked_of

__all__ = [
    "CallableLoss",
    "GeneralisedLinearLoss",
    "HuberLoss",
    "LogisticLoss",
    "Loss",
    "Samples",
    "SoftmaxLoss",
    "SquaredLoss",
]


class Loss(Protocol):
    """A loss of one margin; classes (`SoftmaxLoss`) have one margin each."""

    @property
    def code(self) -> int:
        """Which slope the compiled pass takes."""

    @property
    def parameter(self) -> float:
        """Its parameter."""

    @property
    def curvature(self) -> float:
        """About how much the slope rises per unit of margin, where it does."""

    @property
    def classifies(self) -> bool:
        """Whether targets are 0 and 1, and slopes at most 1."""

    def slopes(self, margins: Floats, targets: Floats) -> Floats:
        """ℓ′ for each sample."""

    def values(self, margins: Floats, targets: Floats) -> Floats:
        """ℓ for each sample."""

    def predict(self, margins: Floats) -> Floats:
        """The target that a margin stands for."""


@dataclass(frozen=True)
class SquaredLoss:
    """(m − y)²."""

    code, parameter, curvature, classifies = 0, 0.0, 2.0, False

    def slopes(self, margins: Floats, targets: Floats) -> Floats:
        return 2 * (margins - targets)

    def values(self, margins: Floats, targets: Floats) -> Floats:
        return np.square(margins - targets)

    def predict(self, margins: Floats) -> Floats:
        return margins


@dataclass(frozen=True)
class LogisticLoss:
    """log(1 + e^m) − y·m, for targets y in {0, 1} (or in between)."""

    code, parameter, curvature, classifies = 1, 0.0, 0.2, True

    def slopes(self, margins: Floats, targets: Floats) -> Floats:
        return self.predict(margins) - targets

    def values(self, margins: Floats, targets: Floats) -> Floats:
        return np.logaddexp(0.0, margins) - targets * margins

    def predict(self, margins: Floats) -> Floats:
        return np.asarray(0.5 * (1 + np.tanh(0.5 * margins)), dtype=np.float64)


@dataclass(frozen=True)
class HuberLoss:
    """(m − y)²/2 up to `width`, then linear: large errors count less."""

    width: float = 1.0
    code, curvature, classifies = 2, 1.0, False

    def __post_init__(self) -> None:
        require.number("width", self.width, 1e-8, 1e8)

    @property
    def parameter(self) -> float:
        return self.width

    def slopes(self, margins: Floats, targets: Floats) -> Floats:
        return np.clip(margins - targets, -self.width, self.width)

    def values(self, margins: Floats, targets: Floats) -> Floats:
        error = np.abs(margins - targets)
        return np.where(error <= self.width, error**2 / 2, self.width * (error - self.width / 2))

    def predict(self, margins: Floats) -> Floats:
        return margins


@dataclass(frozen=True)
class GeneralisedLinearLoss:
    """The negative log-likelihood of a generalised linear model.

    `link` is its canonical link: "identity", "logistic" or "log" (for counts).
    """

    link: Literal["identity", "logistic", "log"] = "identity"

    def __post_init__(self) -> None:
        require.one_of("link", self.link, ("identity", "logistic", "log"))

    @property
    def code(self) -> int:
        return {"identity": 3, "logistic": 1, "log": 4}[self.link]

    @property
    def parameter(self) -> float:
        return 0.0

    @property
    def classifies(self) -> bool:
        return self.link == "logistic"

    @property
    def curvature(self) -> float:
        return {"identity": 1.0, "logistic": 0.2, "log": 1.0}[self.link]

    def slopes(self, margins: Floats, targets: Floats) -> Floats:
        return self.predict(margins) - targets

    def values(self, margins: Floats, targets: Floats) -> Floats:
        whole = {
            "identity": margins**2 / 2,
            "logistic": np.logaddexp(0.0, margins),
            "log": np.exp(np.minimum(margins, 30.0)),
        }[self.link]
        return np.asarray(whole - targets * margins, dtype=np.float64)

    def predict(self, margins: Floats) -> Floats:
        if self.link == "identity":
            return margins
        if self.link == "logistic":
            return LogisticLoss().predict(margins)
        return np.exp(np.minimum(margins, 30.0))


@dataclass(frozen=True)
class SoftmaxLoss:
    """log Σ_c e^{m_c} − m_y for targets y in {0, …, classes − 1}: one row of coefficients a class.

    All classes share one gradient, so they share the budget: there is no ε per class.

    >>> SoftmaxLoss(3).predict(np.zeros((1, 3))).round(2)
    array([[0.33, 0.33, 0.33]])
    """

    classes: int
    curvature, classifies = 0.2, True

    def __post_init__(self) -> None:
        require.whole("classes", self.classes, 2, 2**16)

    def predict(self, margins: Floats) -> Floats:
        """The chance of each class, one row a sample."""
        weights = np.exp(margins - margins.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)

    def slopes(self, margins: Floats, targets: Floats) -> Floats:
        """The slope in each class's margin, one row a sample; zeros for a target that is no
        class.
        """
        known = np.isin(targets, np.arange(self.classes))
        chances = self.predict(margins)
        chances[np.flatnonzero(known), targets[known].astype(np.int64)] -= 1.0
        return np.asarray(chances * known[:, None], dtype=np.float64)


@dataclass(frozen=True)
class CallableLoss:
    """Any gradient: `gradient(coefficients, x, y)` gives as many numbers as there are coefficients.

    It is called once a sample, which is slower than the losses above. A sample for which it raises,
    or gives something that is not finite, counts as zero. It must not remember anything from one
    sample to the next.
    """

    gradient: Callable[[Floats, Floats, float], ArrayLike] | None = None
    curvature, classifies = 0.0, False  # nothing is known of its curvature

    def of(self, coefficients: Floats, x: Floats, y: float) -> Floats:
        """The gradient of one sample, zeros if it fails."""
        found = asked_of(lambda: self._asked(coefficients, x, y), None)
        fine = (
            found is not None
            and found.shape == coefficients.shape
            and bool(np.isfinite(found).all())
        )
        return found if fine and found is not None else np.zeros_like(coefficients)

    def _asked(self, coefficients: Floats, x: Floats, y: float) -> Floats | None:
        if self.gradient is None:
            return None
        # Copied: a function may give the same array again and again.
        return np.array(self.gradient(coefficients.copy(), x.copy(), float(y)), dtype=np.float64)


class Samples:
    """Features and targets of many people, one a row; features may be a SciPy sparse matrix.

    `shares` says how much each sample counts, from 0 to 1; None: all the same.

    >>> len(Samples(np.ones((3, 2)), np.ones(3))[1:])
    2
    """

    def __init__(self, features: Any, targets: Any, shares: Floats | None = None) -> None:
        self.features, self.targets = features, targets
        if not all(
            type(part) is np.ndarray and part.dtype == np.float64 for part in (features, targets)
        ):
            self._convert()
        self.shares: Floats = np.ones(self.targets.size) if shares is None else shares
        if (
            self.features.ndim != 2
            or self.targets.ndim != 1
            or self.features.shape[0] != len(self.targets)
        ):
            raise OutOfBounds(
                "feedback must be a pair (features, targets): one row of features and one target "
                "a round"
            )

    @held
    def _convert(self) -> None:
        try:
            with np.errstate(all="ignore"):  # a warning would tell about a sample
                if hasattr(self.features, "tocsr"):
                    self.features = self.features.tocsr()
                    if self.features.dtype.kind not in "biuf":
                        raise TypeError
                    self.features = self.features.astype(np.float64)
                else:
                    self.features = np.asarray(self.features, dtype=np.float64)
                self.targets = np.asarray(self.targets, dtype=np.float64)
        except Exception:  # its text may hold a person's data
            raise OutOfBounds("feedback must be a pair (features, targets) of numbers") from None

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, part: slice | Mask) -> "Samples":
        return Samples(self.features[part], self.targets[part], self.shares[part])

    def dense(self, rows: int) -> "Iterator[Samples]":
        """So many samples at a time, with features as an array."""
        for first in range(0, len(self), rows):
            part = self[first : first + rows]
            dense = part.features.toarray() if hasattr(part.features, "toarray") else part.features
            part.features = np.ascontiguousarray(dense, dtype=np.float64)
            yield part
