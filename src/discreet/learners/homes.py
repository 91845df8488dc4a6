"""Where learners are; nothing of the library is imported, so that shells complete at once."""

from types import MappingProxyType

HOMES = MappingProxyType(
    {
        "ContextualBandit": "discreet.learners.contextual_bandit",
        "ContinuousMaximizer": "discreet.learners.continuous_maximizer",
        "Hedge": "discreet.learners.hedge",
        "RunningSum": "discreet.learners.running_sum",
        "SetMaximizer": "discreet.learners.set_maximizer",
        "SetMinimizer": "discreet.learners.set_minimizer",
        "StreamingLearner": "discreet.learners.streaming_learner",
    }
)
"""The package of each learner, by name, in the order in which lists show them."""
