"""Noise of the papers in floating point: for simulation and comparison only.

A floating-point sample has gaps that depend on the noise and can disclose the data; no mechanism
of discreet uses these samplers. Both laws factor into a radius and a direction that is uniform in
the sense of the l_r ball (the cone measure). `TreeNoise` adds up either noise over a binary tree.

References  Hardt, Talwar (2010), the K-norm mechanism; Bassily, Guzmán, Nandi (2021), the
            generalised Gaussian; Chan, Shi, Song (2011) and Dwork, Naor, Pitassi, Rothblum (2010),
            the tree
"""

import numpy as np

from discreet.arrays import Floats
from discreet.compiled import compiled
from discreet.errors import ConfigError
from discreet.release.randomness import RandomBits


def l2_gamma(dimension: int, scale: float, bits: RandomBits, *, draws: int | None = None) -> Floats:
    """Draw noise with density ∝ exp(−‖z‖₂ / scale); with `draws`, one sample per row.

    The radius is Gamma(d, scale) distributed, the direction uniform. In exact arithmetic the noise
    is ε-differentially private for a change of at most ε·scale in the l₂ norm.
    """
    _check(dimension, scale)
    generator = bits.floats()
    directions = _directions(draws or 1, dimension, 2.0, generator)
    radii = generator.gamma(dimension, scale, size=len(directions))
    return _scaled(directions, radii, draws)


def generalised_gaussian(
    dimension: int, sigma: float, norm: float, bits: RandomBits, *, draws: int | None = None
) -> Floats:
    """Draw noise with density ∝ exp(−‖z‖_r² / 2σ²); with `draws`, one sample per row.

    The squared radius is Gamma(d/2, 2σ²) distributed, not Gamma(d/2, 2σ) as is sometimes printed.
    For r ≥ 2 and a change of at most s in the l_r norm the noise is (r − 1)·s²/2σ²-zCDP (in exact
    arithmetic).
    """
    _check(dimension, sigma)
    if not norm > 0:  # below 1 it is no norm, but printed indices are
        raise ConfigError(f"norm must be above 0, got {norm}")
    generator = bits.floats()
    directions = _directions(draws or 1, dimension, norm, generator)
    radii = np.sqrt(generator.gamma(dimension / 2, 2 * sigma**2, size=len(directions)))
    return _scaled(directions, radii, draws)


class TreeNoise:
    """The noise of running sums over a binary tree in which every node is noised once.

        noise of sum t = noise of the node that ends at t + noise of sum t′
        t′ = t without its lowest 1-bit

    Sums 1 to 8 consist of these numbers of nodes:

    >>> TreeNoise(dimension=1).of_sums(np.ones((8, 1)))[:, 0]
    array([1., 1., 2., 1., 2., 2., 3., 1.])
    """

    def __init__(self, dimension: int) -> None:
        self._sums = 0
        self._newest = np.zeros((LEVELS + 1, dimension))

    def of_sums(self, nodes: Floats) -> Floats:
        """Return the noise of the next sums, one per row, from that of the nodes ending there."""
        noise = np.array(nodes, dtype=np.float64)
        _add_up(noise, self._sums, self._newest)
        self._sums += len(noise)
        return noise


LEVELS = 63
"""Levels of a tree, more than any stream needs; row LEVELS of `newest`, the empty sum, stays 0."""


@compiled
def _add_up(noise: Floats, before: int, newest: Floats) -> None:
    """Replace the noise of nodes by the noise of sums, in place.

    `newest[level]` is the noise of the latest sum whose number has its lowest 1-bit at `level`.
    """
    for row in range(noise.shape[0]):
        time = before + row + 1
        level = _lowest_bit(time)
        noise[row] += newest[_lowest_bit(time & (time - 1))]
        newest[level] = noise[row]


@compiled
def _lowest_bit(time: int) -> int:
    """Position of the lowest 1-bit; LEVELS if there is none."""
    if time == 0:
        return LEVELS
    level = 0
    while time >> level & 1 == 0:
        level += 1
    return level


def _directions(draws: int, dimension: int, norm: float, generator: np.random.Generator) -> Floats:
    """Draw points of the unit l_r sphere: coordinates ∝ exp(−|x|^r), divided by their norm."""
    sizes = generator.gamma(1 / norm, size=(draws, dimension)) ** (1 / norm)
    points = sizes * generator.choice([-1.0, 1.0], size=(draws, dimension))
    lengths = np.linalg.norm(points, norm, axis=1, keepdims=True)
    return np.asarray(points / lengths, dtype=np.float64)


def _scaled(directions: Floats, radii: Floats, draws: int | None) -> Floats:
    vectors = directions * radii[:, None]
    return vectors[0] if draws is None else vectors


def _check(dimension: int, scale: float) -> None:
    if dimension < 1 or not (np.isfinite(scale) and scale > 0):
        raise ConfigError(
            f"dimension must be at least 1 and the scale greater than 0, got {dimension} and "
            f"{scale}"
        )
