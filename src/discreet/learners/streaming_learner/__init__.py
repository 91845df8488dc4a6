"""Coefficients that are published again and again, while every sample stays private: one file a
method.
"""

from discreet.learners.streaming_learner.learner import StreamingLearner
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings

__all__ = ["StreamingLearner", "StreamingLearnerSettings"]
