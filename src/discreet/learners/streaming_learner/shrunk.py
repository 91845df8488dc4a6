"""Shrinkage of averages towards the start (discreet/optim/shrinkage.py)."""

from discreet.arrays import Floats
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.optim.domains import Simplex
from discreet.optim.shrinkage import threshold_shrinkage

LEAST_OF_CLASSES = 0.1
"""The smallest factor by which shrinkage multiplies a classifier: its predicted classes depend on
the direction of the coefficients only (benchmarks/ways.py)."""


def learned_part(settings: StreamingLearnerSettings, coefficients: Floats) -> Floats:
    """Return the difference of coefficients from the start, with 0 for intercepts."""
    moved = coefficients - settings.domain.start()
    if isinstance(settings.domain, Simplex):  # its coefficients have a fixed sum
        return moved
    moved.reshape(settings.shape)[..., settings.features :] = 0.0
    return moved


def shrunk(
    settings: StreamingLearnerSettings, average: Floats, learned: Floats, squared: float
) -> Floats:
    """Return the average with its learned part shrunk.

    `squared` is the squared norm of the learned part, in standard deviations of its noise.
    """
    factor = threshold_shrinkage(squared, settings.features * settings.classes)
    if settings.classifies:
        factor = max(factor, LEAST_OF_CLASSES)
    return average - (1 - factor) * learned
