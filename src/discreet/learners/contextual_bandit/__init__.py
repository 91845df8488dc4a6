"""Private contextual bandits: see `ContextualBandit`."""

from discreet.learners.contextual_bandit.learner import ContextualBandit
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings

__all__ = ["ContextualBandit", "ContextualBanditSettings"]
