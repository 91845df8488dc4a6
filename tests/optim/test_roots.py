"""If these fail, standard errors of streams do not follow from what was released."""

import numpy as np
import pytest

from discreet.optim.roots import Root, root_of_path, symmetric_noise


def path_of(slopes: np.ndarray, seed: int) -> tuple[np.ndarray, ...]:
    """Points that follow noisy totals of gradients around a root, as a leader's do."""
    generator = np.random.default_rng(seed)
    size, count, samples = len(slopes), 100, 200.0
    root = generator.normal(size=size)
    point, total, mean = np.zeros(size), np.zeros(size), np.zeros(size)
    points, totals = [], []
    for release in range(1, count + 1):
        points.append(point)
        scatter = generator.normal(0, 0.2 * samples**0.5, size=size)
        seen = samples * slopes @ (point - root) + scatter + generator.normal(0, 5.0, size=size)
        totals.append(seen)
        total, mean = total + seen, mean + (point - mean) / release
        point = mean - total / (0.1 * samples * release + 50)
    rest = slice(10, None)
    noise = 25.0 * np.eye(count)[rest, rest]
    return np.array(points)[rest], np.full(count - 10, samples), np.array(totals)[rest], noise, root


@pytest.mark.statistical
@pytest.mark.parametrize("weak", [1.0, 0.3])
def test_the_root_of_a_path_is_inside_as_often_as_said(weak: float) -> None:
    turned = np.array([[1.0, 1.0], [1.0, -1.0]]) / 2**0.5
    slopes = turned @ np.diag([1.0, weak]) @ turned
    inside = []
    for seed in range(200):
        points, samples, totals, noise, truth = path_of(slopes, seed)
        root = root_of_path(points, samples, totals, noise, most_scatter=1.0)
        assert root is not None
        published = points[-1]
        errors = root.standard_errors(published, np.eye(2))
        inside.append(np.abs(published - truth) <= 1.96 * errors)
    assert np.mean(inside) >= 0.9


def test_few_releases_say_nothing() -> None:
    points, samples, totals, noise, _ = path_of(np.eye(2), 0)
    assert (
        root_of_path(points[:8], samples[:8], totals[:8], noise[:8, :8], most_scatter=1.0) is None
    )


def test_a_slope_that_may_be_zero_makes_errors_large() -> None:
    nothing, sure = np.zeros(2), np.full(2, 0.01)
    slopes = np.diag([1.0, 0.1])
    known = Root(np.eye(2), nothing, nothing, sure, slopes, 0.01 * symmetric_noise(2))
    hidden = Root(np.eye(2), nothing, nothing, sure, slopes, 0.2 * symmetric_noise(2))
    before, after = (root.standard_errors(nothing, np.eye(2)) for root in (known, hidden))
    assert before == pytest.approx([0.01, 0.1], rel=0.15)
    assert after[1] > 5 * before[1]


def test_errors_do_not_depend_on_the_coordinates() -> None:
    points, samples, totals, noise, _ = path_of(np.diag([1.0, 0.5]), 1)
    turned = np.array([[1.0, 1.0], [1.0, -1.0]]) / 2**0.5
    here = root_of_path(points, samples, totals, noise, most_scatter=1.0)
    there = root_of_path(points @ turned, samples, totals @ turned, noise, most_scatter=1.0)
    assert here is not None
    assert there is not None
    # The same roots, drawn in another basis: equal but for what draws differ by.
    found = there.standard_errors(points[-1], turned)
    assert found == pytest.approx(here.standard_errors(points[-1], np.eye(2)), rel=0.1)
