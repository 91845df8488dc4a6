"""If these fail, standard errors of streams do not follow from the released values."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from discreet.arrays import Floats
from discreet.optim.roots import Root, root_of_path, symmetric_noise

ROTATION = np.array([[1.0, 1.0], [1.0, -1.0]]) / 2**0.5


@dataclass(frozen=True, eq=False)
class Path:
    """The releases of a leader whose points react to noisy totals of gradients around a root."""

    points: Floats
    samples: Floats
    totals: Floats
    noise: Floats
    root: Floats

    def estimated(self) -> Root:
        """Return the estimate of the root from the releases."""
        root = root_of_path(self.points, self.samples, self.totals, self.noise, most_scatter=1.0)
        assert root is not None
        return root


def path_of(slopes: Floats, seed: int) -> Path:
    """Return 90 releases of 200 samples each, after the first ten."""
    generator = np.random.default_rng(seed)
    size, count, samples = len(slopes), 100, 200.0
    root = generator.normal(size=size)
    point = np.zeros(size)
    total = np.zeros(size)
    mean = np.zeros(size)
    points = []
    totals = []
    for release in range(1, count + 1):
        points.append(point)
        scatter = generator.normal(0, 0.2 * samples**0.5, size=size)
        noise = generator.normal(0, 5.0, size=size)
        step = samples * slopes @ (point - root) + scatter + noise
        totals.append(step)
        total = total + step
        mean = mean + (point - mean) / release
        point = mean - total / (0.1 * samples * release + 50)
    return Path(
        points=np.array(points)[10:],
        samples=np.full(count - 10, samples),
        totals=np.array(totals)[10:],
        noise=25.0 * np.eye(count - 10),
        root=root,
    )


@pytest.mark.statistical
@pytest.mark.parametrize("weak", [1.0, 0.3])
def test_intervals_contain_the_root_as_often_as_stated(weak: float) -> None:
    slopes = ROTATION @ np.diag([1.0, weak]) @ ROTATION
    inside = []
    for seed in range(200):
        path = path_of(slopes, seed)
        published = path.points[-1]
        errors = path.estimated().standard_errors(published, np.eye(2))
        inside.append(np.abs(published - path.root) <= 1.96 * errors)
    assert np.mean(inside) >= 0.9


def test_too_few_releases_give_no_root() -> None:
    path = path_of(np.eye(2), 0)
    few = slice(8)
    root = root_of_path(
        path.points[few],
        path.samples[few],
        path.totals[few],
        path.noise[few, few],
        most_scatter=1.0,
    )
    assert root is None


def test_a_slope_that_may_be_zero_makes_errors_large() -> None:
    nothing, sure = np.zeros(2), np.full(2, 0.01)
    slopes = np.diag([1.0, 0.1])
    known = Root(np.eye(2), nothing, nothing, sure, slopes, 0.01 * symmetric_noise(2))
    hidden = Root(np.eye(2), nothing, nothing, sure, slopes, 0.2 * symmetric_noise(2))
    before, after = (root.standard_errors(nothing, np.eye(2)) for root in (known, hidden))
    assert before == pytest.approx([0.01, 0.1], rel=0.15)
    assert after[1] > 5 * before[1]


def test_errors_do_not_depend_on_the_coordinates() -> None:
    path = path_of(np.diag([1.0, 0.5]), 1)
    rotated = replace(path, points=path.points @ ROTATION, totals=path.totals @ ROTATION)
    published = path.points[-1]

    errors = path.estimated().standard_errors(published, np.eye(2))
    errors_rotated = rotated.estimated().standard_errors(published, ROTATION)

    # Both draw roots of one distribution, in different bases.
    assert errors_rotated == pytest.approx(errors, rel=0.1)
