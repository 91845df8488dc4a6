"""If these fail, a sample says something else than it should, or weighs more than is paid for."""

from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.arrivals import GeneralisedLinearLoss, HuberLoss, LogisticLoss, SquaredLoss
from discreet.arrivals.losses import CallableLoss, Samples
from discreet.errors import ConfigError, OutOfBounds

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
    numeric = (loss.values(margins + step, targets) - loss.values(margins - step, targets)) / (2 * step)
    assert np.allclose(loss.slopes(margins, targets), numeric, atol=1e-6)


def plain(
    loss: Any,
    row: np.ndarray,
    target: float,
    here: np.ndarray,
    before: np.ndarray,
    weight: float,
    dual: float,
    constant: float,
) -> Any:
    """The gradient of one sample, in NumPy."""
    if not (np.isfinite(row).all() and np.isfinite(target)):
        return np.zeros_like(here)
    length = np.linalg.norm(row, dual)
    row = row * min(1.0, 1.0 / length) if length > 0 else row
    row = np.append(row, constant) if constant else row
    target = float(np.clip(target, -2, 2))
    slope = loss.slopes(np.array([row @ here]), np.array([target]))[0]
    older = loss.slopes(np.array([row @ before]), np.array([target]))[0]
    return (slope + weight * (slope - older)) * row


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.sampled_from(LOSSES),
    st.sampled_from([1.0, 1.5, 2.0, 3.0, inf]),
    st.sampled_from([0, 1, 2]),
    st.booleans(),
)
def test_the_compiled_entrance_is_the_plain_one(
    seed: int, loss: Any, dual: float, norm: int, constant: bool
) -> None:
    from discreet.arrivals import kernels

    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(5, 3)) * generator.choice([0.1, 1.0, 100.0], size=(5, 1))
    rows[generator.random((5, 3)) < 0.05] = generator.choice([np.nan, np.inf])
    targets, size = generator.normal(size=5) * 3, 3 + constant
    here, before, weight = (
        generator.normal(size=size),
        generator.normal(size=size),
        float(generator.integers(0, 4)),
    )
    total, unit = np.zeros(size), 2.0**20
    limit = generator.choice([0.2, 5.0]) * unit
    arguments = (
        here,
        before,
        weight,
        loss.code,
        float(loss.parameter),
        0.0 if dual == inf else dual,
        1.0,
        -2.0,
        2.0,
        1.0 if constant else 0.0,
        float(norm),
        unit,
        limit,
    )
    kernels.add_gradients(rows, targets, *arguments, total)
    expected = np.zeros(size)
    for row, target in zip(rows, targets, strict=True):
        gradient = plain(loss, row, target, here, before, weight, dual, 1.0 if constant else 0.0) * unit
        length = np.linalg.norm(gradient, inf if norm == 0 else norm)
        expected += gradient * min(1.0, limit / length) if length > 0 else 0.0
    assert np.abs(total - expected).max() <= 5 * (0.5 + 1e-6 * unit)
    for row in rows:  # and one sample alone is no longer than its limit, rounding included
        alone = np.zeros(size)
        kernels.add_gradients(row[None], np.array([1.0]), *arguments, alone)
        room = {0: 0.5, 1: size / 2, 2: sqrt(size) / 2}[norm]
        assert np.linalg.norm(alone, inf if norm == 0 else norm) <= limit + room + 0.5


def test_sparse_rows_are_rows() -> None:
    from scipy.sparse import csr_matrix

    dense = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    parts = [list(Samples(matrix, [1.0, 2.0, 3.0])[1:].dense(1)) for matrix in (dense, csr_matrix(dense))]
    assert all(
        np.array_equal(a, b) for one, two in zip(*parts, strict=True) for a, b in zip(one, two, strict=True)
    )


@pytest.mark.parametrize(
    "pair",
    [("ab", [1.0]), (np.ones((2, 2)), [1.0]), (np.ones(2), [1.0, 2.0]), ([[1.0], [2.0, 3.0]], [1.0, 2.0])],
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
    "make", [lambda: HuberLoss(0.0), lambda: HuberLoss(inf), lambda: GeneralisedLinearLoss("probit")]
)  # type: ignore[arg-type]
def test_wrong_parameters_are_refused(make: Any) -> None:
    with pytest.raises(ConfigError):
        make()
