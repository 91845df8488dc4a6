"""Averages drawn towards the start as far as noise explains them
(discreet/optim/shrinkage.py).
"""

from discreet.arrays import Floats
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.optim.domains import Simplex
from discreet.optim.shrinkage import threshold_shrinkage

LEAST_OF_CLASSES = 0.1
"""The least share that shrinkage leaves of a classifier, whose classes follow from directions alone
(benchmarks/ways.py)."""


def learned_part(settings: StreamingLearnerSettings, coefficients: Floats) -> Floats:
    """Return what coefficients learned from features: their distance from the start, but for
    intercepts.
    """
    moved = coefficients - settings.domain.start()
    if isinstance(settings.domain, Simplex):  # its coefficients only move together
        return moved
    moved.reshape(settings.shape)[..., settings.features :] = 0.0
    return moved


def shrunk(
    settings: StreamingLearnerSettings, average: Floats, learned: Floats, squared: float
) -> Floats:
    """Return the average with its learned part shrunk.

    `squared` is the squared length of the learned part, in standard deviations of its noise.
    """
    kept = threshold_shrinkage(squared, settings.features * settings.classes)
    if settings.classifies:
        kept = max(kept, LEAST_OF_CLASSES)
    return average - (1 - kept) * learned
