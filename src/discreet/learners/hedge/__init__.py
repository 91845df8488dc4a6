"""Private experts: one action per round, nearly as good as the best action in hindsight."""

from discreet.learners.hedge.learner import Hedge
from discreet.learners.hedge.settings import HedgeSettings

__all__ = ["Hedge", "HedgeSettings"]
