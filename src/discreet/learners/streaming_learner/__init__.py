"""Private online regression and classification with released coefficients; one file per method."""

from discreet.learners.streaming_learner.learner import StreamingLearner
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings

__all__ = ["StreamingLearner", "StreamingLearnerSettings"]
