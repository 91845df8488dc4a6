"""Expected improvement of a choice after its posterior mean has moved: the value of a trial."""

import numpy as np

from discreet.arrays import Floats


def expected_improvement(better: Floats, step: Floats) -> Floats:
    """Return E max(0, d + σZ) = σ·(φ(u) + u·Φ(u)), u = d/σ, for standard normal Z.

    d (`better`) is the posterior mean gain of a choice over the incumbent, and σ (`step`) the
    standard deviation by which a trial moves it.
    """
    from scipy.special import ndtr

    ratio = better / step
    density = np.exp(-(ratio**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(step * (density + ratio * ndtr(ratio)), dtype=np.float64)
