"""If these fail, the gradient of a sample is wrong, or a malformed sample stops learning."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import pytest

from discreet import Privacy, StreamingLearner
from discreet.arrays import Floats
from discreet.domains import LpBall
from discreet.errors import ConfigError, OutOfBounds
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.losses import (
    MARGIN_LOSSES,
    CallableLoss,
    GeneralisedLinearLoss,
    HuberLoss,
    Loss,
    Numbers,
    Samples,
    SoftmaxLoss,
)

NO_LINK: Any = "probit"


@pytest.mark.parametrize("loss", [*MARGIN_LOSSES, HuberLoss(0.7)], ids=repr)
def test_slopes_are_derivatives(loss: Loss, generator: np.random.Generator) -> None:
    margins = generator.uniform(-3, 3, size=200)
    targets = generator.uniform(0, 1, size=200)
    step = 1e-6

    above = loss.values(margins + step, targets)
    below = loss.values(margins - step, targets)

    numeric = (above - below) / (2 * step)
    assert np.allclose(loss.slopes(margins, targets), numeric, atol=1e-6)


def test_slopes_of_classes_are_derivatives(generator: np.random.Generator) -> None:
    loss = SoftmaxLoss(4)
    margins = generator.uniform(-3, 3, size=(50, 4))
    targets = generator.integers(0, 4, size=50).astype(np.float64)

    chances = np.exp(margins) / np.exp(margins).sum(axis=1, keepdims=True)
    chances[np.arange(50), targets.astype(np.int64)] -= 1

    assert np.allclose(loss.slopes(margins, targets), chances, atol=1e-12)
    for no_class in (-1.0, 0.5, 4.0, np.nan, inf):
        assert not loss.slopes(margins, np.full(50, no_class)).any()


def test_sparse_features_are_read_like_dense_ones() -> None:
    from scipy.sparse import csr_matrix

    matrix = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    targets = [1.0, 2.0, 3.0]

    of_dense = list(Samples(matrix, targets)[1:].dense(1))
    of_sparse = list(Samples(csr_matrix(matrix), targets)[1:].dense(1))

    assert len(of_dense) == len(of_sparse) == 2
    for dense, sparse in zip(of_dense, of_sparse, strict=True):
        assert np.array_equal(dense.features, sparse.features)
        assert np.array_equal(dense.targets, sparse.targets)


@pytest.mark.parametrize(
    "pair",
    [
        ("ab", [1.0]),
        (np.ones((2, 2)), [1.0]),
        (np.ones(2), [1.0, 2.0]),
        ([[1.0], [2.0, 3.0]], [1.0, 2.0]),
    ],
)
def test_samples_of_the_wrong_shape_are_refused(pair: tuple[Any, Any]) -> None:
    with pytest.raises(OutOfBounds):
        Samples(*pair)


@pytest.mark.parametrize(
    "gradient",
    [
        lambda coefficients, x, y: 1 / 0,
        lambda coefficients, x, y: [np.nan, 0.0],
        lambda coefficients, x, y: [1.0],
        lambda coefficients, x, y: "no",
    ],
)
def test_a_callable_gradient_that_fails_counts_as_zero(gradient: Any) -> None:
    assert not CallableLoss(gradient).of(np.ones(2), np.ones(2), 1.0).any()


@pytest.mark.parametrize(
    "make",
    [lambda: HuberLoss(0.0), lambda: HuberLoss(inf), lambda: GeneralisedLinearLoss(NO_LINK)],
)
def test_wrong_parameters_are_refused(make: Callable[[], Loss]) -> None:
    with pytest.raises(ConfigError):
        make()


# --- a loss of one's own


@dataclass(frozen=True)
class LogCosh(Loss):
    """ℓ(m, y) = log cosh(m − y): all that a new loss states."""

    curvature = 1.0

    @staticmethod
    def slope(margin: Numbers, target: Numbers, parameter: float) -> Numbers:
        bent: Numbers = np.tanh(margin - target)
        return bent

    def values(self, margins: Floats, targets: Floats) -> Floats:
        return np.asarray(np.log(np.cosh(margins - targets)), dtype=np.float64)

    def predict(self, margins: Floats) -> Floats:
        return margins


@dataclass(frozen=True, kw_only=True)
class OwnSettings(StreamingLearnerSettings):
    """Settings with one more loss in the list."""

    loss: Any = LogCosh()


class OwnLearner(StreamingLearner):
    """A learner that takes it."""

    settings_type = OwnSettings


@pytest.mark.parametrize("method", ["auto", "passes"])
def test_a_new_loss_needs_its_class_only(method: Any, generator: np.random.Generator) -> None:
    features = generator.uniform(-0.5, 0.5, size=(8000, 2))
    learner = OwnLearner(
        LpBall(2),
        LogCosh(),
        8000,
        Privacy(4.0, 1e-6),
        feature_bound=1.0,
        target_bound=1.0,
        method=method,
        seed=1,
    )
    learner.replay((features, features @ [0.6, -0.4]))
    learner.release_if_due()
    assert np.allclose(learner.coefficients, [0.6, -0.4], atol=0.1)
