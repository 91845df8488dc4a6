"""If these fail, the gradient of a sample is wrong, or a malformed sample stops learning."""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest

from discreet.errors import ConfigError, OutOfBounds
from discreet.losses import (
    CallableLoss,
    GeneralisedLinearLoss,
    HuberLoss,
    LogisticLoss,
    Loss,
    Samples,
    SquaredLoss,
)

LOSSES: list[Loss] = [
    SquaredLoss(),
    LogisticLoss(),
    HuberLoss(0.7),
    GeneralisedLinearLoss("identity"),
    GeneralisedLinearLoss("logistic"),
    GeneralisedLinearLoss("log"),
]
NO_LINK: Any = "probit"


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_are_derivatives(loss: Loss, generator: np.random.Generator) -> None:
    margins = generator.uniform(-3, 3, size=200)
    targets = generator.uniform(0, 1, size=200)
    step = 1e-6

    above = loss.values(margins + step, targets)
    below = loss.values(margins - step, targets)

    numeric = (above - below) / (2 * step)
    assert np.allclose(loss.slopes(margins, targets), numeric, atol=1e-6)


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
