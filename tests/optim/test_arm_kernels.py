"""If these fail, a person alone gets another arm than in a crowd, or contexts leave their
bounds.
"""

from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discreet.optim import kernels

HOSTILE = [nan, inf, -inf, 1e308, -1e308, 1e200, 5e-324, -0.0, 0.3, -2.0]


def admitted(contexts: np.ndarray, bounds: np.ndarray, length: float) -> np.ndarray:
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
    found = admitted(contexts, bounds, length)
    for row, out in zip(contexts, found, strict=True):
        if not np.isfinite(row).all():
            assert not out.any()
            continue
        clipped = np.clip(row, -bounds, bounds)
        scale = min(1.0, length / max(np.linalg.norm(clipped), 1e-300))
        assert out == pytest.approx(clipped * scale, rel=1e-12, abs=1e-300)
        assert (np.abs(out) <= bounds).all()
        assert np.linalg.norm(out) <= length * (1 + 1e-12)
    if (np.abs(contexts) <= bounds).all() and (np.linalg.norm(contexts, axis=1) < length).all():
        assert np.array_equal(found, contexts)


def test_a_hostile_context_does_not_touch_its_neighbours() -> None:
    for number in HOSTILE[:6]:
        contexts = np.array([[0.1, 0.2], [number, 0.5], [0.3, -0.4]])
        found = admitted(contexts, np.ones(2), 1.0)
        assert np.array_equal(found[[0, 2]], contexts[[0, 2]])
        assert np.isfinite(found).all()


@dataclass(frozen=True)
class Scene:
    """A kernel with its inputs, one row a person first, and what NumPy makes of them."""

    name: str
    rows: np.ndarray
    shared: tuple[Any, ...]
    expected: np.ndarray
    scratch: bool = False
    """Whether the admitted contexts are wanted, too, before what comes out."""

    def run(self, rows: np.ndarray) -> np.ndarray:
        out = np.full((len(rows), *self.expected.shape[1:]), nan)
        between = (np.full_like(rows, nan),) if self.scratch else ()
        getattr(kernels, self.name)(np.ascontiguousarray(rows), *self.shared, *between, out)
        return out


def scenes() -> list[Scene]:
    generator = np.random.default_rng(20260102)
    people, features, arms, size = 23, 17, 5, 6
    contexts = generator.normal(size=(people, features))
    contexts[3], contexts[4] = 0.0, nan
    bounds = generator.uniform(0.5, 2, features)
    clipped = np.nan_to_num(np.clip(contexts, -bounds, bounds))
    clipped = (
        clipped
        * np.minimum(1.0, 2.0 / np.maximum(np.linalg.norm(clipped, axis=1), 1e-300))[:, None]
    )
    scales, centre = generator.uniform(0.1, 3, features), generator.normal(size=features)
    matrix = generator.normal(size=(features, size))
    mapped = np.column_stack([np.full(people, 0.3), (clipped * scales - centre) @ matrix])
    weights, offsets = generator.normal(size=(features, arms)), generator.normal(size=arms)
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
def test_one_by_one_equals_many_at_once_bit_for_bit(scene: Scene) -> None:
    together = scene.run(scene.rows)
    for parts in (len(scene.rows), 3):
        for some in np.array_split(np.arange(len(scene.rows)), parts):
            assert scene.run(scene.rows[some]).tobytes() == together[some].tobytes()


def test_a_spread_is_never_imaginary() -> None:
    """Covariances from released values may have eigenvalues a little below zero."""
    out = np.empty((1, 1))
    kernels.spread_of_arms(np.ones((1, 1, 2)), np.array([[[1.0, -1.0], [-1.0, 1.0 - 1e-12]]]), out)
    assert out[0, 0] == 0.0
