"""The package of each learner, by name; it imports nothing, so that shells complete at once."""

HOMES = {
    "ContextualBandit": "discreet.learners.contextual_bandit",
    "ContinuousMaximizer": "discreet.learners.continuous_maximizer",
    "Hedge": "discreet.learners.hedge",
    "RunningSum": "discreet.learners.running_sum",
    "SetMaximizer": "discreet.learners.set_maximizer",
    "SetMinimizer": "discreet.learners.set_minimizer",
    "StreamingLearner": "discreet.learners.streaming_learner",
}
