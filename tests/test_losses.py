"""If these fail, a sample says something else than it should, or weighs more than is paid for."""

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
    Samples,
    SquaredLoss,
)

LOSSES: list[Any] = [
    SquaredLoss(),
    LogisticLoss(),
    HuberLoss(0.7),
    *(GeneralisedLinearLoss(link) for link in ("identity", "logistic", "log")),
]  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_are_derivatives(loss: Any, crowd: np.random.Generator) -> None:
    margins, targets = crowd.uniform(-3, 3, size=200), crowd.uniform(0, 1, size=200)
    step = 1e-6
    numeric = (loss.values(margins + step, targets) - loss.values(margins - step, targets)) / (
        2 * step
    )
    assert np.allclose(loss.slopes(margins, targets), numeric, atol=1e-6)


def test_sparse_rows_are_rows() -> None:
    from scipy.sparse import csr_matrix

    dense = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    parts = [
        list(Samples(matrix, [1.0, 2.0, 3.0])[1:].dense(1)) for matrix in (dense, csr_matrix(dense))
    ]
    assert [len(part) for part in parts] == [2, 2]
    for one, two in zip(*parts, strict=True):
        assert np.array_equal(one.features, two.features)
        assert np.array_equal(one.targets, two.targets)


@pytest.mark.parametrize(
    "pair",
    [
        ("ab", [1.0]),
        (np.ones((2, 2)), [1.0]),
        (np.ones(2), [1.0, 2.0]),
        ([[1.0], [2.0, 3.0]], [1.0, 2.0]),
    ],
)
def test_samples_of_the_wrong_shape_are_refused(pair: Any) -> None:
    with pytest.raises(OutOfBounds):
        Samples(*pair)


def test_a_callable_gradient_that_fails_counts_as_nothing() -> None:
    point = np.ones(2)
    for gradient in (
        lambda c, x, y: 1 / 0,
        lambda c, x, y: [np.nan, 0.0],
        lambda c, x, y: [1.0],
        lambda c, x, y: "no",
    ):
        assert not CallableLoss(gradient).of(point, np.ones(2), 1.0).any()


@pytest.mark.parametrize(
    "make",
    [lambda: HuberLoss(0.0), lambda: HuberLoss(inf), lambda: GeneralisedLinearLoss("probit")],
)  # type: ignore[arg-type]
def test_wrong_parameters_are_refused(make: Any) -> None:
    with pytest.raises(ConfigError):
        make()
