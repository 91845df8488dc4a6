"""If these fail, a person gets another arm alone than in a batch, or bounds are exceeded."""

from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discreet.optim import kernels


def admitted(contexts: np.ndarray, bounds: np.ndarray, length: float) -> np.ndarray:
    """Return the contexts as the kernel clips them."""
    out = np.full_like(contexts, 7.0)
    kernels.admit_contexts(contexts, bounds, length, out)
    return out


@settings(max_examples=100)
@given(
    arrays(
        np.float64,
        (2, 3),
        elements=st.floats(allow_nan=True, allow_infinity=True) | st.floats(-3, 3),
    ),
    st.sampled_from([0.5, 1.0, 2.5, 1e8]),
)
def test_admitted_contexts_are_within_their_bounds(contexts: np.ndarray, length: float) -> None:
    bounds = np.array([1.0, 0.25, 1e8])
    rows = admitted(contexts, bounds, length)
    for row, out in zip(contexts, rows, strict=True):
        if not np.isfinite(row).all():
            assert not out.any()
            continue
        clipped = np.clip(row, -bounds, bounds)
        scale = min(1.0, length / max(float(np.linalg.norm(clipped)), 1e-300))
        assert out == pytest.approx(clipped * scale, rel=1e-12, abs=1e-300)
        assert (np.abs(out) <= bounds).all()
        assert np.linalg.norm(out) <= length * (1 + 1e-12)
    if (np.abs(contexts) <= bounds).all() and (np.linalg.norm(contexts, axis=1) < length).all():
        assert np.array_equal(rows, contexts)


@pytest.mark.parametrize("number", [nan, inf, -inf, 1e308, -1e308, 1e200])
def test_a_hostile_context_does_not_change_other_rows(number: float) -> None:
    contexts = np.array([[0.1, 0.2], [number, 0.5], [0.3, -0.4]])
    rows = admitted(contexts, np.ones(2), 1.0)
    assert np.array_equal(rows[[0, 2]], contexts[[0, 2]])
    assert np.isfinite(rows).all()


@dataclass(frozen=True)
class Scene:
    """A kernel with its inputs, of which one has one row per person, and NumPy's result."""

    name: str
    rows: np.ndarray
    shared: tuple[Any, ...]
    expected: np.ndarray
    scratch: bool = False
    """Whether the kernel also writes the clipped contexts, before its result."""

    def run(self, rows: np.ndarray) -> np.ndarray:
        """Return the kernel's result for these rows."""
        out = np.full((len(rows), *self.expected.shape[1:]), nan)
        between = (np.full_like(rows, nan),) if self.scratch else ()
        getattr(kernels, self.name)(np.ascontiguousarray(rows), *self.shared, *between, out)
        return out


def scenes() -> list[Scene]:
    """Return one scene per kernel."""
    generator = np.random.default_rng(20260102)
    people, features, arms, size = 23, 17, 5, 6
    contexts = generator.normal(size=(people, features))
    contexts[3] = 0.0
    contexts[4] = nan
    bounds = generator.uniform(0.5, 2, features)
    clipped = np.nan_to_num(np.clip(contexts, -bounds, bounds))
    lengths = np.maximum(np.linalg.norm(clipped, axis=1), 1e-300)
    clipped = clipped * np.minimum(1.0, 2.0 / lengths)[:, None]
    scales = generator.uniform(0.1, 3, features)
    centre = generator.normal(size=features)
    matrix = generator.normal(size=(features, size))
    mapped = np.column_stack([np.full(people, 0.3), (clipped * scales - centre) @ matrix])
    weights = generator.normal(size=(features, arms))
    offsets = generator.normal(size=arms)
    roots = generator.normal(size=(arms, size, size))
    covariances = roots @ roots.transpose(0, 2, 1)
    vectors = generator.normal(size=(people, arms, size))
    spread = np.sqrt(np.einsum("pai,aij,paj->pa", vectors, covariances, vectors))
    scores = clipped @ weights + offsets
    return [
        Scene("admit_contexts", contexts, (bounds, 2.0), clipped),
        Scene("map_contexts", clipped, (scales, centre, matrix, 0.3), mapped),
        Scene("score_arms", contexts, (bounds, 2.0, weights, offsets), scores, scratch=True),
        Scene("spread_of_arms", vectors, (covariances,), spread),
    ]


every_kernel = pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)


@every_kernel
def test_kernels_compute_what_numpy_does(scene: Scene) -> None:
    assert np.allclose(scene.run(scene.rows), scene.expected, rtol=1e-12, atol=1e-12)


@every_kernel
def test_single_rows_equal_a_batch_bit_for_bit(scene: Scene) -> None:
    batch = scene.run(scene.rows)
    for parts in (len(scene.rows), 3):
        for part in np.array_split(np.arange(len(scene.rows)), parts):
            assert scene.run(scene.rows[part]).tobytes() == batch[part].tobytes()


def test_a_spread_is_never_imaginary() -> None:
    """Covariances from released values may have eigenvalues slightly below zero."""
    out = np.empty((1, 1))
    kernels.spread_of_arms(np.ones((1, 1, 2)), np.array([[[1.0, -1.0], [-1.0, 1.0 - 1e-12]]]), out)
    assert out[0, 0] == 0.0
