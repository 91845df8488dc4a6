"""What a choice gains on average after the belief about it has moved: the price of a trial."""

import numpy as np

from discreet.arrays import Floats


def expected_improvement(better: Floats, step: Floats) -> Floats:
    """σ·(φ(u) + u·Φ(u)), u = d/σ: what is gained on average by a choice after the belief moved
    by σ.
    """
    from scipy.special import ndtr

    ratio = better / step
    density = np.exp(-(ratio**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(step * (density + ratio * ndtr(ratio)), dtype=np.float64)
