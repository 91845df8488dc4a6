"""The spiked-covariance model: second moments with a few resolved directions over a flat rest.

    H = rest·I + Σ_j (value_j − rest)·u_j·u_jᵀ        u_j: directions that noise does not hide

All directions that noise hides have the same second moment, so that a direction of unknown variance
is not scaled up. Powers of H are applied in O(spikes · d), so whitening a row is cheap if there are
few spikes.

All of it is computed from released values.

References  Kamath et al. (2019), "Privately Learning High-Dimensional Distributions"
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.arrays import Floats

RESOLVED = 1.2
"""Distance from the median eigenvalue, in noise edges, from which on an eigenvalue is a spike."""


@dataclass(frozen=True, eq=False)
class SpikedCovariance:
    """Directions (one per row) with their second moments, and the second moment of the rest.

    >>> covariance = SpikedCovariance.read(np.diag([9.0, 1.0, 1.1, 0.9, 1.0]), noise=0.05)
    >>> len(covariance.values), round(covariance.rest, 2)
    (1, 1.0)
    >>> covariance.times(np.array([9.0, 2.0, 0.0, 0.0, 0.0]), -0.5).round(2)
    array([3., 2., 0., 0., 0.])
    """

    vectors: Floats
    values: Floats
    rest: float

    @classmethod
    def flat(cls, size: int, moment: float) -> "SpikedCovariance":
        """Return the model in which all directions have this second moment."""
        return cls(np.empty((0, size)), np.empty(0), moment)

    @classmethod
    def read(cls, matrix: Floats, *, noise: float) -> "SpikedCovariance":
        """Return the model of a matrix whose noise has this standard deviation off the diagonal."""
        size = len(matrix)
        values, vectors = np.linalg.eigh(matrix)
        edge = 2 * sqrt(size) * noise
        middle = max(0.0, float(np.median(values)))
        above = values > middle + RESOLVED * edge
        below = np.maximum(values, edge) < middle - RESOLVED * edge
        resolved = above | below
        rest = float(values[~resolved].mean()) if not resolved.all() else middle
        least = max(float(np.trace(matrix)) / size * 1e-3, noise / sqrt(size), 1e-300)
        spikes = np.maximum(values[resolved], edge)
        return cls(vectors.T[resolved].copy(), spikes, max(rest, least))

    @property
    def spikes(self) -> int:
        """Number of eigenvalues beyond the noise edge."""
        return len(self.values)

    def times(self, vector: Floats, power: float) -> Floats:
        """Return H^power · vector."""
        return self.shaped(vector, self.rest**power, self.values**power)

    def scaled(self, vector: Floats, factor: Callable[[Floats], Floats]) -> Floats:
        """Return the vector with each direction multiplied by a function of its second moment."""
        factors = factor(np.append(self.values, self.rest))
        return self.shaped(vector, float(factors[-1]), factors[:-1])

    def shaped(self, vector: Floats, rest: float, values: Floats) -> Floats:
        """Return the vector with spikes multiplied by `values` and other directions by `rest`."""
        along = self.vectors @ vector
        spikes = self.vectors.T @ ((values - rest) * along)
        return np.asarray(rest * vector + spikes, dtype=np.float64)

    def nearest(self, point: Floats, radius: float) -> Floats:
        """Return the point of the Euclidean ball that is nearest in the norm of H.

        H(x − point) + λx = 0, with the λ for which x has this length: bisection in log λ.
        """
        along = self.vectors @ point
        across = float(point @ point) - float(along @ along)

        def length(weight: float) -> float:
            shrunk = self.values / (self.values + weight) * along
            rest = across * (self.rest / (self.rest + weight)) ** 2
            return sqrt(max(0.0, float(shrunk @ shrunk) + rest))

        if length(0.0) <= radius:
            return point
        largest = max(float(self.values.max(initial=self.rest)), self.rest)
        low = np.log(largest) - 40.0
        high = np.log(largest) + 40.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if length(float(np.exp(middle))) > radius else (low, middle)
        weight = float(np.exp(high))
        return self.shaped(
            point, self.rest / (self.rest + weight), self.values / (self.values + weight)
        )


def noise_edge(size: int, noise: float) -> float:
    """Return the largest eigenvalue that noise alone makes in a symmetric matrix with `size` rows.

    `noise` is the standard deviation on the diagonal; off the diagonal it is 1/√2 of that.
    """
    return sqrt(2 * size) * noise


def fourth_root_map(matrix: Floats, edge: float) -> Floats:
    """Return the map H^(−1/4), scaled so that mapped rows have a mean squared length of 1.

    Eigenvalues up to `edge`, which noise hides, are replaced by their mean.

    >>> fourth_root_map(np.diag([16.0, 1.0]), edge=0.1).round(3)
    array([[0.224, 0.   ],
           [0.   , 0.447]])
    """
    values, vectors = np.linalg.eigh(matrix)
    resolved = values > edge
    total = max(float(values.sum()), 0.05)
    if not resolved.all():
        rest = (total - float(values[resolved].sum())) / float((~resolved).sum())
        values = np.where(resolved, values, max(rest, 1e-4 * total / len(matrix)))
    length = sqrt(float(np.sqrt(values).sum()))
    return np.asarray((vectors * values**-0.25) @ vectors.T / length)
