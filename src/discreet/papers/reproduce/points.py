"""Value of the printed algorithms for points and online sets, with visitors who click."""

import numpy as np

from discreet.arrays import Floats
from discreet.functions.continuous import Multilinear
from discreet.optim.matroids import UniformMatroid
from discreet.papers.printed import continuous, dpmfw
from discreet.papers.printed.promise import Noise, compared


@compared()
def printed_value(
    name: str, rows: Floats, domain: UniformMatroid, epsilon: float, *, noise: Noise, seed: int
) -> float:
    """Return the value of an algorithm: "alg4" by its points, "dpmfw" by sets rounded from them.

    A point of DPMFW serves 20 people, which is faster and as private.
    """
    if name == "alg4":
        played = continuous.run(rows, Multilinear(), domain, epsilon, noise=noise, seed=seed)
        return float((1 - np.prod(1 - rows * played.decisions, axis=1)).sum())
    played = dpmfw.run(rows, Multilinear(), domain, epsilon, 1e-6, noise=noise, block=20, seed=seed)
    shown = np.take_along_axis(rows, dpmfw.sets_of(domain, played.decisions, seed=seed), axis=1)
    return float((1 - np.prod(1 - shown, axis=1)).sum())
