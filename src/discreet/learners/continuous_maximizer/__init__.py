"""Sets and points under constraints, decided online: see `ContinuousMaximizer`."""

from discreet.learners.continuous_maximizer.learner import ContinuousMaximizer
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings

__all__ = ["ContinuousMaximizer", "ContinuousMaximizerSettings"]
