"""Losses of a linear predictor, and the samples that they are evaluated on.

A loss is ℓ(m, y) for a margin m = ⟨x, θ⟩ and a target y. Its gradient in θ is ℓ′(m, y)·x, so all
that a learner needs is the slope ℓ′, the derivative in m. `StreamingLearner` clips every sample's
features to `feature_bound` and its target to `target_bound`. `Loss` documents the methods that all
losses have.

A new loss is a class here, and a member of `AnyLoss` and `MARGIN_LOSSES`. It states its slope once,
as a function of NumPy operations, which is compiled into the pass over samples.

>>> SquaredLoss().slopes(np.array([0.5]), np.array([1.0]))
array([-1.])
>>> LogisticLoss().slopes(np.array([0.0]), np.array([1.0]))
array([-0.5])
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from discreet import require
from discreet.arrays import Floats, Mask
from discreet.engine.signals import held
from discreet.errors import OutOfBounds
from discreet.functions.person import result_or

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


Numbers = TypeVar("Numbers", float, Floats)
"""A number in compiled code, or an array of them."""


class Slope(Protocol):
    """The derivative ℓ′(m, y) in the margin, as a function of NumPy operations only.

    NumPy calls it with arrays, and the compiled pass over samples with numbers. So the law of a
    loss is stated once.
    """

    def __call__(self, margin: Numbers, target: Numbers, parameter: float, /) -> Numbers:
        """Return ℓ′(margin, target) of the loss with this parameter."""


class Loss(ABC):
    """Base class of the losses of one margin; `SoftmaxLoss` has one margin per class instead."""

    @property
    @abstractmethod
    def slope(self) -> Slope:
        """Derivative of the loss in the margin."""

    @property
    def parameter(self) -> float:
        """Parameter of the slope; 0 if it has none."""
        return 0.0

    @property
    @abstractmethod
    def curvature(self) -> float:
        """Approximate second derivative ℓ″, where it is not 0."""

    @property
    def classifies(self) -> bool:
        """Whether targets lie in [0, 1], so that slopes lie in [−1, 1]."""
        return False

    def slopes(self, margins: Floats, targets: Floats) -> Floats:
        """Return the derivative ℓ′(m, y) in the margin, per sample."""
        return self.slope(margins, targets, self.parameter)

    @abstractmethod
    def values(self, margins: Floats, targets: Floats) -> Floats:
        """Return the loss ℓ(m, y), per sample."""

    @abstractmethod
    def predict(self, margins: Floats) -> Floats:
        """Return the predicted target, per margin."""


@dataclass(frozen=True)
class SquaredLoss(Loss):
    """Squared loss: ℓ(m, y) = (m − y)².

    Examples
    --------
    >>> SquaredLoss().values(np.array([0.5]), np.array([1.0]))
    array([0.25])
    """

    curvature = 2.0

    @staticmethod
    def slope(margin: Numbers, target: Numbers, parameter: float) -> Numbers:
        return 2.0 * (margin - target)

    def values(self, margins: Floats, targets: Floats) -> Floats:
        return np.square(margins - targets)

    def predict(self, margins: Floats) -> Floats:
        return margins


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """Logistic loss: ℓ(m, y) = log(1 + e^m) − y·m, for targets y in {0, 1} or between.

    Examples
    --------
    >>> LogisticLoss().predict(np.array([0.0]))
    array([0.5])
    """

    curvature = 0.2
    classifies = True

    @staticmethod
    def slope(margin: Numbers, target: Numbers, parameter: float) -> Numbers:
        bent: Numbers = np.tanh(0.5 * margin)
        return 0.5 * (1.0 + bent) - target

    def values(self, margins: Floats, targets: Floats) -> Floats:
        return np.logaddexp(0.0, margins) - targets * margins

    def predict(self, margins: Floats) -> Floats:
        return self.slope(margins, np.zeros_like(margins), self.parameter)  # ℓ′ is p(m) − y


@dataclass(frozen=True)
class HuberLoss(Loss):
    """Huber loss: ℓ(m, y) = (m − y)²/2 for |m − y| ≤ width, else width·(|m − y| − width/2).

    Large errors count less than in the squared loss.

    Parameters
    ----------
    width
        Error from which on the loss is linear.

    Examples
    --------
    >>> HuberLoss(0.5).slopes(np.array([0.25, 3.0]), np.array([0.0, 0.0]))
    array([0.25, 0.5 ])
    """

    width: float = 1.0
    curvature = 1.0

    def __post_init__(self) -> None:
        require.number("width", self.width, 1e-15, 1e15)

    @property
    def parameter(self) -> float:
        return self.width

    @staticmethod
    def slope(margin: Numbers, target: Numbers, parameter: float) -> Numbers:
        clipped: Numbers = np.minimum(parameter, np.maximum(-parameter, margin - target))
        return clipped

    def values(self, margins: Floats, targets: Floats) -> Floats:
        error = np.abs(margins - targets)
        linear = self.width * (error - self.width / 2)
        return np.where(error <= self.width, error**2 / 2, linear)

    def predict(self, margins: Floats) -> Floats:
        return margins


@dataclass(frozen=True)
class GeneralisedLinearLoss(Loss):
    """Negative log-likelihood of a generalised linear model: ℓ(m, y) = A(m) − y·m.

    A is the log-partition function of the canonical link: m²/2 for "identity", log(1 + e^m) for
    "logistic", e^m for "log".

    Parameters
    ----------
    link
        The canonical link: "identity", "logistic", or "log" (for counts).

    Examples
    --------
    >>> GeneralisedLinearLoss("log").predict(np.array([0.0]))
    array([1.])
    """

    link: Literal["identity", "logistic", "log"] = "identity"

    def __post_init__(self) -> None:
        require.one_of("link", self.link, ("identity", "logistic", "log"))

    @property
    def slope(self) -> Slope:
        slopes: dict[str, Slope] = {
            "identity": _identity_slope,
            "logistic": LogisticLoss.slope,
            "log": _log_slope,
        }
        return slopes[self.link]

    @property
    def classifies(self) -> bool:
        return self.link == "logistic"

    @property
    def curvature(self) -> float:
        return {"identity": 1.0, "logistic": 0.2, "log": 1.0}[self.link]

    def values(self, margins: Floats, targets: Floats) -> Floats:
        log_partition = {
            "identity": margins**2 / 2,
            "logistic": np.logaddexp(0.0, margins),
            "log": np.exp(np.minimum(margins, 30.0)),
        }[self.link]
        return np.asarray(log_partition - targets * margins, dtype=np.float64)

    def predict(self, margins: Floats) -> Floats:
        return self.slope(margins, np.zeros_like(margins), self.parameter)  # ℓ′ is A′(m) − y


def _identity_slope(margin: Numbers, target: Numbers, parameter: float) -> Numbers:
    return margin - target


def _log_slope(margin: Numbers, target: Numbers, parameter: float) -> Numbers:
    expected: Numbers = np.exp(np.minimum(margin, 30.0))
    return expected - target


@dataclass(frozen=True)
class SoftmaxLoss:
    """Softmax loss: ℓ(m, y) = log Σ_c e^{m_c} − m_y, for targets y in {0, …, classes − 1}.

    There is one row of coefficients per class. All classes share one gradient, so they share the
    budget: there is no ε per class.

    Parameters
    ----------
    classes
        Number of classes.

    Examples
    --------
    >>> SoftmaxLoss(3).predict(np.zeros((1, 3))).round(2)
    array([[0.33, 0.33, 0.33]])
    """

    classes: int
    curvature = 0.2
    classifies = True

    def __post_init__(self) -> None:
        require.whole("classes", self.classes, 2, 2**16)

    def predict(self, margins: Floats) -> Floats:
        """Return the probability of each class, one row per sample."""
        weights = np.exp(margins - margins.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)

    @staticmethod
    def class_slopes(margins: Floats, target: Numbers) -> None:
        """Overwrite margins, one entry per class, by the derivatives in them.

        An entry is a number in compiled code, for one sample, and an array in NumPy, for many. A
        target that is no class gives slopes of zero.
        """
        classes = len(margins)
        largest = margins[0]
        for place in range(1, classes):
            largest = np.maximum(largest, margins[place])
        total = 0.0 * largest
        for place in range(classes):
            margins[place] = np.exp(margins[place] - largest)
            total = total + margins[place]
        is_class = (target >= 0.0) & (target < classes) & (target == np.floor(target))
        for place in range(classes):
            chance = np.divide(margins[place], total)  # unlike /, it never raises: faster
            margins[place] = (chance - (target == place)) * is_class

    def slopes(self, margins: Floats, targets: Floats) -> Floats:
        """Return the derivative in each class's margin, one row per sample."""
        by_class = np.array(margins.T, dtype=np.float64, order="C")
        self.class_slopes(by_class, targets)
        return np.ascontiguousarray(by_class.T)


@dataclass(frozen=True)
class CallableLoss:
    """Any loss, by its gradient: `gradient(coefficients, x, y)` returns one number per coefficient.

    The callable is called once per sample, which is slower than the other losses. A sample for
    which it raises an exception, or returns something other than finite numbers of this shape,
    counts as zero. The callable must not carry state from one sample to the next.

    Parameters
    ----------
    gradient
        Takes the coefficients, one sample's features and its target.

    Examples
    --------
    >>> loss = CallableLoss(lambda coefficients, x, y: (x @ coefficients - y) * x)
    >>> loss.of(np.zeros(2), np.array([1.0, 0.5]), 1.0)
    array([-1. , -0.5])
    """

    gradient: Callable[[Floats, Floats, float], ArrayLike] | None = None
    curvature = 0.0  # unknown
    classifies = False

    def of(self, coefficients: Floats, x: Floats, y: float) -> Floats:
        """Return the gradient of one sample, zeros if the callable fails."""
        gradient = result_or(lambda: self._called(coefficients, x, y), None)
        if gradient is None or gradient.shape != coefficients.shape:
            return np.zeros_like(coefficients)
        return gradient if np.isfinite(gradient).all() else np.zeros_like(coefficients)

    def _called(self, coefficients: Floats, x: Floats, y: float) -> Floats | None:
        if self.gradient is None:
            return None
        # Copied: a function may return the same array again and again.
        return np.array(self.gradient(coefficients.copy(), x.copy(), float(y)), dtype=np.float64)


AnyLoss: TypeAlias = (
    SquaredLoss | LogisticLoss | HuberLoss | GeneralisedLinearLoss | SoftmaxLoss | CallableLoss
)
"""The losses that `StreamingLearner` takes, by name in TOML."""

MARGIN_LOSSES: tuple[Loss, ...] = (
    SquaredLoss(),
    LogisticLoss(),
    HuberLoss(),
    GeneralisedLinearLoss("identity"),
    GeneralisedLinearLoss("logistic"),
    GeneralisedLinearLoss("log"),
)
"""Losses that have every slope of one margin."""


class Samples:
    """Features and targets of many people, one row per person.

    Parameters
    ----------
    features
        A matrix, one row per person; it may be a SciPy sparse matrix.
    targets
        One number per person.
    shares
        How much each sample counts, from 0 to 1; None: all samples count 1.

    Examples
    --------
    >>> len(Samples(np.ones((3, 2)), np.ones(3))[1:])
    2
    """

    def __init__(self, features: Any, targets: Any, shares: Floats | None = None) -> None:
        self.features = features
        self.targets = targets
        if not (_is_float_array(features) and _is_float_array(targets)):
            self._convert()
        self.shares: Floats = np.ones(self.targets.size) if shares is None else shares
        is_table = self.features.ndim == 2 and self.targets.ndim == 1
        if not is_table or self.features.shape[0] != len(self.targets):
            raise OutOfBounds(
                "feedback must be a pair (features, targets): one row of features and one target "
                "per round"
            )

    @held
    def _convert(self) -> None:
        try:
            with np.errstate(all="ignore"):  # a warning would reveal a person's data
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
        """Yield the samples in parts of `rows` samples, with features as a dense array."""
        for first in range(0, len(self), rows):
            part = self[first : first + rows]
            dense = part.features.toarray() if hasattr(part.features, "toarray") else part.features
            part.features = np.ascontiguousarray(dense, dtype=np.float64)
            yield part


def _is_float_array(values: object) -> bool:
    return type(values) is np.ndarray and values.dtype == np.float64
